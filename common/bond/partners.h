/* The partners of bonds as indices, for engines on the host, and the terms of a particle's bonds.
 *
 * A table of chains holds the indices of all particles and ghosts, by their ids. A slot has the index of the first
 * particle of its chain, and each particle that of the next one. Ids that are next to one another are next to one
 * another in the table, in blocks of 16: the beads of a polymer are neighbours both in memory and by their ids. All
 * threads fill the table, by exchanges. Of several images of a partner the nearest one counts, which is unique, because
 * no bond is longer than half of a periodic side.
 *
 * Cost: 4 bytes a bond slot and particle, 8 to 12 bytes a particle or ghost for the table; a look-up a bond and rebin.
 */
#ifndef MD_COMMON_BOND_PARTNERS_H
#define MD_COMMON_BOND_PARTNERS_H

#include "common/faults.h"
#include "common/model.h"

/* Instead of an index: the slot has no bond; the partner is not among particles and ghosts. */
enum { MD_NO_PARTNER = -1, MD_PARTNER_LOST = -2 };

/* The number of entries after those of the last particle. They are MD_NO_PARTNER. Engines read whole vectors of
 * entries, which may end after the last particle. */
enum { MD_PARTNERS_PADDING = 8 };

/* All zero: empty. */
typedef struct md_partners {
  int64_t capacity;
  int32_t *index[MD_BONDS_MAX];
  int64_t nslot;
  int32_t *slot; /* of the table: index + 1 of the first particle of its chain, or 0 */
  int64_t next_capacity;
  int32_t *next; /* index + 1 of the next particle of the chain, or 0 */
} md_partners;

/* Finds the partners of the owned particles. The structure owns its arrays. MD_RUNTIME: out of memory. */
md_status md_partners_find(md_partners *partners, const md_particles *p, int threads) MD_CHECKED;

void md_partners_free(md_partners *partners);

/* The memory of the arrays. */
int64_t md_partners_bytes(const md_partners *partners);

/* Bond k of owned particle i, with coefficients of one of the model's tables. image: the box whose nearest image
 * counts, for an engine without ghosts; else NULL. Returns false if there is no such bond, or it is an error, which is
 * noted. */
static inline bool md_partners_term(const md_partners *partners, const md_model *model, const md_particles *p,
                                    const md_box *image, const double (*table)[MD_BOND_K], int64_t i, int k,
                                    md_bond_term *t, md_overlap *overlap)
{
  const int64_t j = partners->index[k][i];
  if (j == MD_NO_PARTNER) return false;
  *t = (md_bond_term){.r2 = 0.0};
  for (int d = 0; d < p->dim && j >= 0; ++d) t->delta[d] = p->x[d][i] - p->x[d][j];
  if (image && j >= 0) md_box_image(image, t->delta);
  for (int d = 0; d < p->dim && j >= 0; ++d) t->r2 = fma(t->delta[d], t->delta[d], t->r2);
  if (j >= 0 && md_bond_evaluate(model->bonds.kind, table[p->bond_type[k][i]], p->dim, t)) return true;
  md_overlap_add(overlap, p->id[i], p->bond[k][i], MD_OVERLAP_OF_BOND);
  return false;
}

/* Adds the impulses of the bonds of particle i, in quanta. */
static inline void md_partners_impulse(const md_partners *partners, const md_model *model,
                                       const md_particles *p, const md_box *image, int64_t i, int64_t sum[3],
                                       md_overlap *overlap)
{
  md_bond_term t = {.r2 = 0.0};
  for (int k = 0; k < p->bonds; ++k)
    if (md_partners_term(partners, model, p, image, model->bonds.impulse_k, i, k, &t, overlap))
      for (int d = 0; d < p->dim; ++d) sum[d] += (int64_t)md_round_product(t.f, t.delta[d]);
}

/* The force of the bonds of particle i, for output. */
static inline void md_partners_force(const md_partners *partners, const md_model *model,
                                     const md_particles *p, const md_box *image, int64_t i, double force[3],
                                     md_overlap *overlap)
{
  md_bond_term t = {.r2 = 0.0};
  md_fine sum[3] = {{0, 0}};
  for (int k = 0; k < p->bonds; ++k)
    if (md_partners_term(partners, model, p, image, model->bonds.force_k, i, k, &t, overlap))
      for (int d = 0; d < p->dim; ++d) md_fine_add(&sum[d], t.f * t.delta[d]);
  for (int d = 0; d < p->dim; ++d) force[d] = md_fine_value(sum[d]) * model->grids.f;
}

/* Adds energies and virials of the bonds of particle i to a measure, or with `tensor` the components of virials. */
void md_partners_measure(const md_partners *partners, const md_model *model, const md_particles *p,
                         const md_box *image, bool tensor, int64_t i, md_measure *m, md_overlap *overlap);

/* The ids of particles that have no pair force with a particle: ids[k][i], k below the number that is returned. */
static inline int md_excluded_ids(const md_model *model, const md_particles *p, int64_t *const **ids)
{
  const bool *excluded = model->bonds.excluded;
  *ids = excluded[1] || excluded[2] ? p->special : p->bond;
  if (model->bonds.ntypes == 0) return 0;
  return excluded[1] || excluded[2] ? p->specials : excluded[0] ? p->bonds : 0;
}

#endif
