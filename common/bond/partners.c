/* The partners of bonds as indices; see partners.h. */
#include "common/bond/partners.h"
#include "common/base/mix.h"
#include "common/bond/indices.h"
#include "common/tensor.h"

#include <omp.h>
#include <stdlib.h>

enum { BLOCK_BITS = 4 };

static int64_t slot_of(const md_partners *partners, int64_t id)
{
  const uint64_t block = md_mix((uint64_t)id >> BLOCK_BITS) << BLOCK_BITS;
  return (int64_t)((block | ((uint64_t)id & ((1u << BLOCK_BITS) - 1u))) & (uint64_t)(partners->nslot - 1));
}

/* Makes room for the table. */
static md_status reserve_table(md_partners *partners, const md_particles *p)
{
  const int64_t total = p->n + p->nghost;
  if (partners->nslot < total || !partners->slot) {
    free(partners->slot);
    partners->slot = NULL;
    partners->nslot = 1024;
    while (partners->nslot < total) partners->nslot *= 2;
    MD_TRY(md_array_new(&partners->slot, partners->nslot, sizeof *partners->slot, "a table of ids"));
  }
  if (partners->next_capacity < total || !partners->next) {
    free(partners->next);
    partners->next = NULL;
    partners->next_capacity = total + total / 8;
    MD_TRY(md_array_new(&partners->next, partners->next_capacity, sizeof *partners->next, "a table of ids"));
  }
  return MD_OK;
}

static md_status reserve_indices(md_partners *partners, const md_particles *p)
{
  if (p->n + MD_PARTNERS_PADDING <= partners->capacity) return MD_OK;
  partners->capacity = p->n + p->n / 8 + MD_PARTNERS_PADDING;
  for (int k = 0; k < p->bonds; ++k) {
    free(partners->index[k]);
    partners->index[k] = NULL;
    MD_TRY(md_array_new(&partners->index[k], partners->capacity, sizeof *partners->index[k],
                        "partners of bonds"));
  }
  return MD_OK;
}

/* alone: no other thread fills the table. An exchange costs as much as the rest. */
static void put(const md_partners *partners, int64_t id, int32_t index, bool alone)
{
  int32_t *first = &partners->slot[slot_of(partners, id)];
  if (alone) {
    partners->next[index] = *first;
    *first = index + 1;
  } else
    partners->next[index] = __atomic_exchange_n(first, index + 1, __ATOMIC_RELAXED);
}

/* The nearest particle or ghost with this id. */
static int32_t nearest(const md_partners *partners, const md_particles *p, int64_t i, int64_t id)
{
  int32_t found = MD_PARTNER_LOST;
  double least = (double)INFINITY;
  for (int32_t at = partners->slot[slot_of(partners, id)]; at != 0; at = partners->next[at - 1]) {
    const int32_t j = at - 1;
    if (p->id[j] != id) continue;
    double r2 = 0.0;
    for (int d = 0; d < p->dim; ++d) r2 += (p->x[d][i] - p->x[d][j]) * (p->x[d][i] - p->x[d][j]);
    if (r2 < least) {
      least = r2;
      found = j;
    }
  }
  return found;
}

/* The partner with this id of particle i. id: 0 if the slot of the bond is empty. */
static int32_t partner_of(const md_partners *partners, const md_particles *p, int64_t i, int64_t id)
{
  return id > 0 ? nearest(partners, p, i, id) : MD_NO_PARTNER;
}

/* Puts particles and ghosts into the table. */
static void fill_table(md_partners *partners, const md_particles *p, int threads)
{
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static)
    for (int64_t s = 0; s < partners->nslot; ++s) partners->slot[s] = 0;
#pragma omp for schedule(static)
    for (int64_t i = 0; i < p->n + p->nghost; ++i) put(partners, p->id[i], (int32_t)i, threads == 1);
  }
}

md_status md_partners_find(md_partners *partners, const md_particles *p, int threads)
{
  MD_TRY(reserve_table(partners, p));
  MD_TRY(reserve_indices(partners, p));
  fill_table(partners, p, threads);
  for (int k = 0; k < p->bonds; ++k)
    for (int l = 0; l < MD_PARTNERS_PADDING; ++l) partners->index[k][p->n + l] = MD_NO_PARTNER;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < p->n; ++i)
    for (int k = 0; k < p->bonds; ++k) partners->index[k][i] = partner_of(partners, p, i, p->bond[k][i]);
  return MD_OK;
}

/* Makes indices[k * n + i] of ids[k][i]. */
static md_status find_indices(const md_partners *partners, const md_particles *p, int count,
                              int64_t *const *ids, int threads, int32_t **indices)
{
  MD_TRY(md_array_new(indices, count * p->n, sizeof **indices, "partners of bonds"));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < p->n; ++i)
    for (int k = 0; k < count; ++k) (*indices)[k * p->n + i] = partner_of(partners, p, i, ids[k][i]);
  return MD_OK;
}

md_status md_bond_indices_find(md_bond_indices *indices, const md_model *model, const md_particles *p)
{
  const int threads = omp_get_max_threads();
  md_partners table = {0};
  int64_t *const *excluded;
  indices->nexcluded = md_excluded_ids(model, p, &excluded);
  md_status status = reserve_table(&table, p);
  if (status == MD_OK) {
    fill_table(&table, p, threads);
    status = find_indices(&table, p, p->bonds, p->bond, threads, &indices->partner);
  }
  if (status == MD_OK)
    status = find_indices(&table, p, indices->nexcluded, excluded, threads, &indices->excluded);
  md_partners_free(&table);
  return status;
}

void md_bond_indices_free(md_bond_indices *indices)
{
  free(indices->partner);
  free(indices->excluded);
  *indices = (md_bond_indices){0};
}

void md_partners_free(md_partners *partners)
{
  for (int k = 0; k < MD_BONDS_MAX; ++k) free(partners->index[k]);
  free(partners->slot);
  free(partners->next);
  *partners = (md_partners){0};
}

int64_t md_partners_bytes(const md_partners *partners)
{
  int64_t bytes = (partners->nslot + partners->next_capacity) * (int64_t)sizeof *partners->slot;
  for (int k = 0; k < MD_BONDS_MAX; ++k)
    bytes += partners->index[k] ? partners->capacity * (int64_t)sizeof *partners->index[k] : 0;
  return bytes;
}

static void add_term(const md_model *model, const md_bond_term *t, double energy, md_measure *m)
{
  md_fine e = {0, 0}, w = {0, 0};
  md_fine_add(&e, energy / (model->grids.e * MD_FINE));
  md_fine_add(&w, t->f * t->r2 * (model->grids.f / model->grids.w));
  md_wide_add(&m->bond_energy2, md_fine_count(e));
  md_wide_add(&m->virial2, md_fine_count(w));
}

static void add_tensor(const md_model *model, const md_bond_term *t, md_measure *m)
{
  const double per_w = model->grids.f / model->grids.w;
  for (int c = 0; c < MD_TENSOR; ++c) {
    const int a = md_tensor_row(c), b = md_tensor_column(c);
    md_fine term = {0, 0};
    if (b >= model->box.dim) continue;
    md_fine_add(&term, t->f * t->delta[a] * t->delta[b] * per_w);
    md_wide_add(&m->tensor2[c], md_fine_count(term));
  }
}

void md_partners_measure(const md_partners *partners, const md_model *model, const md_particles *p,
                         const md_box *image, bool tensor, int64_t i, md_measure *m, md_overlap *overlap)
{
  md_bond_term t = {.r2 = 0.0};
  for (int k = 0; k < p->bonds; ++k) {
    const int type = p->bond_type[k][i];
    if (!md_partners_term(partners, model, p, image, model->bonds.force_k, i, k, &t, overlap)) continue;
    if (tensor)
      add_tensor(model, &t, m);
    else
      add_term(model, &t, md_bond_energy(model->bonds.kind, t.r2, model->bonds.force_k[type]), m);
  }
}
