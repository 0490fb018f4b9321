/* The hash of a state; see state_hash.h. */
#include "src/backwards/state_hash.h"
#include "common/base/mix.h"
#include "src/sums/checksum.h"

#include <string.h>

/* The hash of what came before, and one more number: a step of SplitMix64. */
static uint64_t then(uint64_t hash, uint64_t number)
{
  return md_mix(hash + UINT64_C(0x9e3779b97f4a7c15) + number);
}

static uint64_t then_real(uint64_t hash, double number)
{
  uint64_t bits;
  number += 0.0; /* of -0 and 0 this makes 0 */
  memcpy(&bits, &number, sizeof bits);
  return then(hash, bits);
}

uint64_t md_particle_hash(const md_particles *p, int64_t i)
{
  uint64_t hash = then((uint64_t)p->id[i], p->type[i]);
  for (int d = 0; d < p->dim; ++d) hash = then_real(then_real(hash, p->x[d][i]), p->v[d][i]);
  for (int d = 0; d < p->dim && p->wide; ++d) hash = then(hash, (uint64_t)p->v_low[d][i]);
  if (p->group) hash = then(hash, p->group[i]);
  return p->mass ? then_real(hash, p->mass[i]) : hash;
}

md_status md_state_hash(md_comm *comm, const md_particles *p, uint64_t *hash)
{
  uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int64_t i = 0; i < p->n; ++i) sum += md_particle_hash(p, i);
  *hash = sum;
  return md_checksums_sum(comm, 1, hash);
}
