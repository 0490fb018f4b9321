/* Migration: every particle goes to its owner, the rank in whose domain it lies, however far away this rank is.
 *
 * 1. All particles are wrapped into the box.
 * 2. The cuts are moved if rebalancing is due.
 * 3. Migrants, the particles outside the domain, are packed: field by field, from the one list of fields.
 * 4. A sparse exchange (sparse_exchange.c) takes each migrant directly to its owner, not from neighbour to
 *    neighbour.
 * 5. The vacated slots of the migrants are filled with particles from the end, and the arrivals are appended.
 * 6. The particles of all ranks are counted. A number other than the model's is an error, and so is a particle
 *    outside the box.
 *
 * Cost: one pass over the owned particles, and the messages.
 */
#include "common/base/timer.h"
#include "common/faults.h"
#include "mpi/state.h"

#include <stdlib.h>
#include <string.h>

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

/* Fills the vacated slots of the migrants with particles from the end. The particles that stay may lose their order,
 * and nothing depends on it. `migrant`: indices of the migrants, increasing; `record`: scratch for one record. */
static void fill_vacated_slots(md_particles *p, const int32_t *migrant, int64_t count, char *record)
{
  int64_t last = p->n - 1, left = count;
  for (int64_t k = 0; k < left; ++k) {
    while (left > k && last == migrant[left - 1]) --left, --last;
    if (left <= k) break;
    md_particles_pack(p, last--, record);
    md_particles_unpack(p, migrant[k], record);
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

static md_status take_in(md_particles *p, const char *records, int64_t count, int64_t size)
{
  MD_TRY(md_particles_reserve(p, p->n + count));
  for (int64_t k = 0; k < count; ++k) md_particles_unpack(p, p->n + k, records + k * size);
  p->n += count;
  return MD_OK;
}

static md_status send_migrants(md_comm *c, md_particles *p, const int32_t *migrant, int64_t count)
{
  const int64_t size = md_particles_bytes(p);
  int32_t *to = NULL;
  char *records = NULL;
  void *received = NULL;
  int64_t arrived = 0;
  md_status status = md_array_new(&to, count, sizeof *to, "owners of particles that leave");
  if (status == MD_OK)
    status = md_array_new(&records, count + 1, (unsigned long)size, "particles that leave");
  if (status == MD_OK) {
    pack(c, p, migrant, count, size, to, records);
    status = md_mpi_sparse_exchange(c, count, to, records, size, &received, &arrived);
  }
  if (status == MD_OK) {
    fill_vacated_slots(p, migrant, count, records);
    status = take_in(p, received, arrived, size);
  }
  free(to);
  free(records);
  free(received);
  return status;
}

/* Returns MD_PHYSICS on every rank if a rank has a lost particle, or if particles are missing. */
static md_status check(md_comm *c, const md_model *model, const md_particles *p, const md_runaway *lost)
{
  int64_t values[2] = {p->n, lost->id != INT64_MAX};
  MD_TRY(md_mpi_sum(c, values, 2));
  if (values[1] > 0) return md_mpi_agree_surely(c, md_runaway_status(lost, model));
  if (values[0] == model->natoms) return MD_OK;
  return md_error(MD_PHYSICS, "step %lld: %lld particles of %lld are left after moving between ranks",
                  (long long)model->step, (long long)values[0], (long long)model->natoms);
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
  MD_TRY(send_migrants(c, p, s->found, count));
  return check(c, model, p, &lost);
}
