/* The velocities of pair forces between runs; see pair_velocities.h. */
#include "src/particles/pair_velocities.h"
#include "common/base/mix.h"
#include "src/sums/checksum.h"

#include <string.h>

static uint64_t then(uint64_t hash, uint64_t number)
{
  return md_mix(hash + UINT64_C(0x9e3779b97f4a7c15) + number);
}

/* The sum over all particles of a hash of id and velocity. */
static md_status find_mark(md_sim *sim, uint64_t *mark)
{
  const md_particles *p = &sim->particles;
  uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int64_t i = 0; i < p->n; ++i) {
    uint64_t hash = md_mix((uint64_t)p->id[i]);
    for (int d = 0; d < p->dim; ++d) {
      const double v = p->v[d][i] + 0.0; /* of -0 and 0 this makes 0 */
      uint64_t bits;
      memcpy(&bits, &v, sizeof bits);
      hash = then(hash, bits);
    }
    sum += hash;
  }
  *mark = sum;
  return md_checksums_sum(sim->comm, 1, mark);
}

md_status md_pair_velocities_mark(md_sim *sim)
{
  return sim->particles.has_v_pair ? find_mark(sim, &sim->pair_velocities_mark) : MD_OK;
}

md_status md_pair_velocities_check(md_sim *sim)
{
  uint64_t mark;
  if (!sim->particles.has_v_pair) return MD_OK;
  MD_TRY(find_mark(sim, &mark));
  if (mark != sim->pair_velocities_mark) md_particles_forget_v_pair(&sim->particles);
  return MD_OK;
}
