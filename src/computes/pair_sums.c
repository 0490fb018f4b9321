/* Sums over the pairs of each particle; see pair_sums.h. Formulas and rounding are those of the engines' measures
 * (measure_pair in src/engines/naive.c). Cost: that of the search of pairs, with both orders of each pair. */
#include "src/computes/pair_sums.h"
#include "common/faults.h"
#include "common/ranks/reductions.h"
#include "src/computes/neighbours.h"

#include <stdlib.h>

typedef struct summing {
  const md_model *model;
  int n;
  md_pair_terms terms;
  md_fine *sum; /* [particle][n] */
  md_overlap overlap;
} summing;

static void visit(void *context, int thread, const md_neighbour *i, const md_neighbour *j,
                  const double delta[3], double r2)
{
  summing *s = context;
  const md_model *model = s->model;
  const int64_t row = (int64_t)md_subtype(model, i->type, i->group) * md_model_subtypes(model) +
                      md_subtype(model, j->type, j->group);
  const double *k = model->force_k + row * MD_PAIR_K;
  (void)thread;
  if (r2 < model->overlap2[row]) {
#pragma omp critical(pair_sums)
    md_overlap_add(&s->overlap, i->id, j->id, r2);
  } else if (r2 < k[0]) {
    s->terms(model, delta, r2, k, s->sum + (int64_t)i->index * s->n);
  }
}

md_status md_pair_sums(md_sim *sim, int group, int n, md_pair_terms terms, md_fine **sum)
{
  const md_model *model = &sim->model;
  summing s = {model, n, terms, NULL, md_overlap_none()};
  const md_neighbour_search search = {model->cutoff, md_group_bit(group), MD_GROUP_ALL, visit, &s};
  *sum = NULL;
  if (md_pair_is_all(&model->pair))
    return md_error(MD_USAGE, "pair style %s has no cutoff, which sums over the pairs of each particle need",
                    md_pair_style_of(model->pair.kind)->name);
  if (md_pair_has_density(&model->pair))
    return md_error(
        MD_USAGE,
        "pair style %s: energy and stress of each particle are not available, because this search of pairs "
        "has no densities",
        md_pair_style_of(model->pair.kind)->name);
  if (md_pair_is_three_body(&model->pair))
    return md_error(
        MD_USAGE,
        "pair style %s: energy and stress of each particle are not available, because this search "
        "of pairs has no angles",
        md_pair_style_of(model->pair.kind)->name);
  if (model->bonds.ntypes > 0)
    return md_error(MD_USAGE,
                    "energy and stress of each particle are not available in a system with bonds, because "
                    "this search of pairs has no bonds");
  if (model->molecules.n > 0)
    return md_error(
        MD_USAGE, "energy and stress of each particle are not available with neigh_modify exclude molecule, "
                  "because this search of pairs has no molecules");
  MD_TRY(md_comm_agree(
      sim->comm, md_array_new_zero(&s.sum, sim->particles.n * n + 1, sizeof *s.sum, "sums over pairs")));
  md_status status = model->cutoff > 0.0 ? md_neighbours_visit(sim, &search) : MD_OK;
  if (status == MD_OK) status = md_comm_agree(sim->comm, md_overlap_status(&s.overlap, model));
  if (status == MD_OK)
    *sum = s.sum;
  else
    free(s.sum);
  return status;
}
