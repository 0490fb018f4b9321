/* Migration: every particle goes to its owner, the rank in whose domain it lies, however far away this rank is.
 *
 * 1. All particles are wrapped into the box.
 * 2. The cuts are moved if rebalancing is due.
 * 3. Migrants, the particles outside the domain, are packed: field by field, from the one list of fields.
 * 4. A sparse exchange (sparse_exchange.c) takes each migrant directly to its owner, not from neighbour to
 *    neighbour.
 * 5. Arrivals fill the vacated slots of the migrants, and the rest of them are appended. Slots that stay vacated are
 *    filled with particles from the end.
 * 6. The particles of all ranks are counted. A number other than the model's is an error, and so is a particle
 *    outside the box.
 *
 * Points 3 to 6 are repeated in rounds of at most ROUND migrants of a rank. So records take little memory, also when
 * the domains are new and most particles change their rank. Usually there is one round.
 *
 * Trade-off: another round costs a sum over all ranks. But without rounds the copies of the migrants would take twice
 * the memory of the particles.
 *
 * Cost: one pass over the owned particles, the messages, and 4 bytes for each migrant.
 */
#include "common/base/timer.h"
#include "common/faults.h"
#include "mpi/state.h"

#include <stdlib.h>
#include <string.h>

/* Migrants that a rank sends at once. */
#define ROUND (INT64_C(1) << 17)

/* Finds the particles that are not in [lo, hi) of this domain, NaN included: s->found gets their *count indices. A
 * particle at the upper end of the box is among them, although this rank may be its owner. *lost gets the particle of
 * the smallest id that is outside the box. */
static md_status find_migrants(md_comm *c, const md_box *box, const md_particles *p, int64_t *count,
                               md_runaway *lost)
{
  mpi_state *s = mpi_state_of(c);
  bounds own = {.first = 0, .last = p->dim};
  c->domains->domain(c, box, own.lo, own.hi);
  MD_TRY(md_mpi_outside(s, p, p->n, &own, count));
  for (int64_t k = 0; k < *count; ++k)
    for (int d = 0; d < p->dim; ++d) {
      const int64_t i = s->found[k];
      if (!(p->x[d][i] >= box->lo[d] && p->x[d][i] <= box->hi[d]))
        md_runaway_add(lost, p->id[i], d, p->x[d][i], p->v[d][i], 1.0);
    }
  return MD_OK;
}

/* Fills vacated slots with particles from the end. The particles that stay may lose their order, and nothing depends on
 * it. `vacated`: increasing indices; `record`: scratch for one record. */
static void fill_vacated_slots(md_particles *p, const int32_t *vacated, int64_t count, char *record)
{
  int64_t last = p->n - 1, left = count;
  for (int64_t k = 0; k < left; ++k) {
    while (left > k && last == vacated[left - 1]) --left, --last;
    if (left <= k) break;
    md_particles_pack(p, last--, record);
    md_particles_unpack(p, vacated[k], record);
  }
  p->n -= count;
}

/* Packs the migrants, and writes their owners to `to`. */
static void pack(md_comm *c, const md_particles *p, const int32_t *migrant, int64_t count, int64_t size,
                 int32_t *to, char *records)
{
  const md_decomposition *division = &mpi_state_of(c)->division;
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < count; ++k) {
    double x[3] = {0.0, 0.0, 0.0};
    for (int d = 0; d < p->dim; ++d) x[d] = p->x[d][migrant[k]];
    to[k] = md_decomposition_owner(division, p->dim, x);
    md_particles_pack(p, migrant[k], records + k * size);
  }
}

/* Puts the arrivals into the slots of the migrants that have left, and the rest of them behind the last particle.
 * `migrant`: indices of the migrants, increasing; `record`: scratch for one record. */
static md_status take_in(md_particles *p, const char *received, int64_t arrived, const int32_t *migrant,
                         int64_t count, int64_t size, char *record)
{
  const int64_t end = p->n, reused = arrived < count ? arrived : count;
  MD_TRY(md_particles_reserve(p, end + arrived - reused));
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < arrived; ++k)
    md_particles_unpack(p, k < reused ? migrant[k] : end + k - reused, received + k * size);
  p->n += arrived - reused;
  if (count > reused) fill_vacated_slots(p, migrant + reused, count - reused, record);
  return MD_OK;
}

/* Sends up to ROUND migrants, and takes in what comes. `to` and `records` have room for ROUND + 1. */
static md_status send_round(md_comm *c, md_particles *p, const int32_t *migrant, int64_t count, int32_t *to,
                            char *records)
{
  const int64_t size = md_particles_bytes(p);
  void *received = NULL;
  int64_t arrived = 0;
  pack(c, p, migrant, count, size, to, records);
  MD_TRY(md_mpi_sparse_exchange(c, count, to, records, size, &received, &arrived));
  const md_status status = take_in(p, received, arrived, migrant, count, size, records);
  free(received);
  return status;
}

/* *more: whether a rank has migrants left for another round; `left` are those of this rank. Returns MD_PHYSICS on every
 * rank if a rank has a lost particle, or if particles are missing. */
static md_status check(md_comm *c, const md_model *model, const md_particles *p, const md_runaway *lost,
                       int64_t left, bool *more)
{
  int64_t values[3] = {p->n, lost->id != INT64_MAX, left};
  MD_TRY(md_mpi_sum(c, values, 3));
  *more = values[2] > 0;
  if (values[1] > 0) return md_mpi_agree_surely(c, md_runaway_status(lost, model));
  if (*more || values[0] == model->natoms) return MD_OK;
  return md_error(MD_PHYSICS, "step %lld: %lld particles of %lld are left after moving between ranks",
                  (long long)model->step, (long long)values[0], (long long)model->natoms);
}

/* The last migrants of the list go first: then the particles that fill their slots from the end are with their owner
 * already. */
static md_status send_migrants(md_comm *c, const md_model *model, md_particles *p, const int32_t *migrant,
                               int64_t count, const md_runaway *lost)
{
  const int64_t most = count < ROUND ? count : ROUND;
  int32_t *to = NULL;
  char *records = NULL;
  md_status status = md_array_new(&to, most + 1, sizeof *to, "owners of particles that leave");
  if (status == MD_OK)
    status = md_array_new(&records, most + 1, (unsigned long)md_particles_bytes(p), "particles that leave");
  int64_t left = count;
  for (bool more = true; more && status == MD_OK;) {
    const int64_t n = left < ROUND ? left : ROUND;
    left -= n;
    status = send_round(c, p, migrant + left, n, to, records);
    if (status == MD_OK) status = check(c, model, p, lost, left, &more);
  }
  free(to);
  free(records);
  return status;
}

/* The list of migrants is kept for the next call, unless it was exceptionally long. */
static void shorten_list(mpi_state *s, int64_t count)
{
  if (count <= ROUND) return;
  free(s->found);
  s->found = NULL;
  s->found_capacity = 0;
}

md_status md_mpi_migrate(md_comm *c, const md_model *model, md_particles *p)
{
  mpi_state *s = mpi_state_of(c);
  int64_t count = 0;
  md_runaway lost = md_runaway_none();
  p->nghost = 0;
  md_particles_wrap(p, &model->box);
  MD_TRY(md_decomposition_fit(&s->division, &model->box));
  const double mark = md_time();
  MD_TRY(md_mpi_rebalance_if_due(c, model, p));
  if (c->balance.every > 0) c->balancing += md_time() - mark;
  MD_TRY(find_migrants(c, &model->box, p, &count, &lost));
  const md_status status = send_migrants(c, model, p, s->found, count, &lost);
  shorten_list(s, count);
  return status;
}
