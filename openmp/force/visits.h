/* The loops over lists for pair styles whose force needs more than distances: those with a density or three bodies, in
 * pass 2, and dissipative ones. kernels.c includes this file once for each instruction set.
 *
 * The lists are those of all kernels: full, so that each pair is evaluated twice, and no lane writes to another
 * particle. The impulses of a step are vectors: with a density of particles of a block (density_vectors.h), of
 * dissipative styles of pairs within the cutoff (dissipative_vectors.h). All else is evaluated one pair at a time, by
 * the functions of common/.
 *
 * Cost: with a density about 60 operations a listed pair in both passes, two square roots and a division. Of a
 * dissipative style about 120 operations a pair within the cutoff.
 */
#ifndef MD_OPENMP_FORCE_VISITS_H
#define MD_OPENMP_FORCE_VISITS_H

#include "openmp/force/density_vectors.h"
#include "openmp/force/dissipative_vectors.h"
#include "openmp/force/three_body_visits.h"
#include "openmp/force/visit_lane.h"

MD_FN md_pair_term term_of(const visit_args *a, int64_t i, int64_t j, const double *delta, double r2)
{
  const md_eam *eam = a->eam;
  const int dim = a->model->box.dim, of = a->type[i] - 1, by = a->type[j] - 1;
  double u[3] = {0.0};
  if (eam)
    return md_density_force(eam, eam->element[of], eam->element[by], a->slope[i], a->slope[j], delta, dim, r2,
                            a->scale);
  for (int d = 0; d < dim; ++d) u[d] = a->u[d][i] - a->u[d][j];
  const md_model *model = a->model;
  const int64_t types = (int64_t)of * md_model_subtypes(model) + by;
  const double *k = a->k + types * MD_PAIR_K;
  if (model->pair.nsub == 0)
    return md_dissipative_force(&a->dissipation, k, a->id[i], a->id[j], delta, u, dim, r2);
  md_pair_term pair = md_hybrid_term(&a->dissipation, k, a->id[i], a->id[j], delta, u, dim, r2);
  pair.overlap = pair.overlap || r2 < model->overlap2[types];
  return pair;
}

/* What the visits fill, for one particle. */
typedef struct visit_sums {
  int64_t impulse[3];
  md_fine force[3], tensor[MD_TENSOR], energy, virial;
  md_overlap *overlap;
} visit_sums;

MD_FN bool noted(const visit_args *a, int64_t i, int64_t j, double r2, bool overlap, visit_sums *sums)
{
  if (overlap) md_overlap_add(sums->overlap, a->id[i], a->id[j], r2);
  return overlap;
}

MD_FN void visit_impulse(const visit_args *a, int64_t i, int64_t j, const double *delta, double r2, void *to)
{
  visit_sums *sums = to;
  const md_pair_term pair = term_of(a, i, j, delta, r2);
  if (noted(a, i, j, r2, pair.overlap, sums)) return;
  for (int d = 0; d < a->model->box.dim; ++d) sums->impulse[d] += (int64_t)md_round_product(pair.f, delta[d]);
}

MD_FN void visit_force(const visit_args *a, int64_t i, int64_t j, const double *delta, double r2, void *to)
{
  visit_sums *sums = to;
  const md_pair_term pair = term_of(a, i, j, delta, r2);
  if (noted(a, i, j, r2, pair.overlap, sums)) return;
  for (int d = 0; d < a->model->box.dim; ++d) md_fine_add(&sums->force[d], pair.f * delta[d]);
}

MD_FN void visit_energy(const visit_args *a, int64_t i, int64_t j, const double *delta, double r2, void *to)
{
  visit_sums *sums = to;
  const md_pair_term pair = term_of(a, i, j, delta, r2);
  if (noted(a, i, j, r2, pair.overlap, sums)) return;
  md_fine_add(&sums->energy, pair.energy / (a->model->grids.e * MD_FINE));
  md_fine_add(&sums->virial, pair.f * r2 * (a->model->grids.f / a->model->grids.w));
}

MD_FN void visit_tensor(const visit_args *a, int64_t i, int64_t j, const double *delta, double r2, void *to)
{
  visit_sums *sums = to;
  const double per_w = a->model->grids.f / a->model->grids.w;
  const md_pair_term pair = term_of(a, i, j, delta, r2);
  if (noted(a, i, j, r2, pair.overlap, sums)) return;
  for (int c = 0; c < MD_TENSOR; ++c)
    if (md_tensor_column(c) < a->model->box.dim)
      md_fine_add(&sums->tensor[c], pair.f * delta[md_tensor_row(c)] * delta[md_tensor_column(c)] * per_w);
}

/* The same of three-body styles, whose forces are vectors. */
MD_FN void visit_vector_impulse(const visit_args *a, int64_t i, int64_t j, const double *delta, double r2,
                                void *to)
{
  visit_sums *sums = to;
  const md_vector_term pair = vector_term_of(a, i, j, delta, r2);
  if (noted(a, i, j, r2, pair.overlap, sums)) return;
  for (int d = 0; d < a->model->box.dim; ++d) sums->impulse[d] += md_vector_count(pair.f[d]);
}

MD_FN void visit_vector_force(const visit_args *a, int64_t i, int64_t j, const double *delta, double r2,
                              void *to)
{
  visit_sums *sums = to;
  const md_vector_term pair = vector_term_of(a, i, j, delta, r2);
  if (noted(a, i, j, r2, pair.overlap, sums)) return;
  for (int d = 0; d < a->model->box.dim; ++d) md_fine_add(&sums->force[d], pair.f[d]);
}

MD_FN void visit_vector_energy(const visit_args *a, int64_t i, int64_t j, const double *delta, double r2,
                               void *to)
{
  visit_sums *sums = to;
  const md_vector_term pair = vector_term_of(a, i, j, delta, r2);
  if (noted(a, i, j, r2, pair.overlap, sums)) return;
  md_fine_add(&sums->energy, pair.energy / (a->model->grids.e * MD_FINE));
  md_fine_add(&sums->virial,
              md_vector_virial(&pair, delta, a->model->box.dim) * (a->model->grids.f / a->model->grids.w));
}

MD_FN void visit_vector_tensor(const visit_args *a, int64_t i, int64_t j, const double *delta, double r2,
                               void *to)
{
  visit_sums *sums = to;
  const double per_w = a->model->grids.f / a->model->grids.w;
  const md_vector_term pair = vector_term_of(a, i, j, delta, r2);
  if (noted(a, i, j, r2, pair.overlap, sums)) return;
  for (int c = 0; c < MD_TENSOR; ++c)
    if (md_tensor_column(c) < a->model->box.dim)
      md_fine_add(&sums->tensor[c], pair.f[md_tensor_row(c)] * delta[md_tensor_column(c)] * per_w);
}

/* Visits the pairs of a chunk, and then calls `done` for each particle. */
typedef void (*visits_done)(const visit_args *, int64_t k, const visit_sums *, void *to);

MD_FN void visit_chunk(const visit_args *a, int64_t first, int64_t last, const int32_t *entry,
                       const int32_t *rows, pair_visit visit, visits_done done, md_overlap *overlap, void *to)
{
  for (int64_t i = first; i < last; ++i) {
    const int64_t b = (i - first) / BLOCK;
    visit_sums sums = {.overlap = overlap};
    visit_lane(a, i, entry + (i - first) % BLOCK, rows[b], visit, &sums);
    done(a, i - first, &sums, to);
    if ((i - first) % BLOCK == BLOCK - 1) entry += (int64_t)rows[b] * BLOCK;
  }
}

MD_FN void store_impulse(const visit_args *a, int64_t k, const visit_sums *sums, void *to)
{
  double(*force)[CHUNK] = to;
  for (int d = 0; d < a->model->box.dim; ++d) force[d][k] = (double)sums->impulse[d];
}

/* The impulses on a block of a dissipative style, if vectors do. */
static bool block_of_dissipation(const visit_args *a, int64_t block, int64_t last, const int32_t *entry,
                                 int32_t rows, double (*force)[CHUNK], int64_t at)
{
  const int64_t end = block + BLOCK < last ? block + BLOCK : last;
  return a->model->box.dim == 3 ? dissipative_block(a, 3, block, end, entry, rows, force, at)
                                : dissipative_block(a, 2, block, end, entry, rows, force, at);
}

/* The impulses of a step. */
static void visited_force(const visit_args *a, int64_t first, int64_t last, const int32_t *entry,
                          const int32_t *rows, md_overlap *overlap, double (*force)[CHUNK])
{
  for (int64_t block = first; block < last; block += BLOCK) {
    const int32_t n = rows[(block - first) / BLOCK];
    const bool done =
        !a->eam && !a->three && block_of_dissipation(a, block, last, entry, n, force, block - first);
    for (int l = 0; l < BLOCK && block + l < last && !done; l += MD_SIMD_WIDTH) {
      const int64_t at = block - first + l;
      double *const to[3] = {force[0] + at, force[1] + at, a->model->box.dim == 3 ? force[2] + at : NULL};
      if (a->eam && density_impulse_lanes(a, block + l, entry + l, n, to)) continue;
      for (int k = 0; k < MD_SIMD_WIDTH && block + l + k < last; ++k) {
        visit_sums sums = {.overlap = overlap};
        if (a->three)
          visit_lane(a, block + l + k, entry + l + k, n, visit_vector_impulse, &sums);
        else
          visit_lane(a, block + l + k, entry + l + k, n, visit_impulse, &sums);
        store_impulse(a, at + k, &sums, force);
      }
    }
    entry += (int64_t)n * BLOCK;
  }
}

MD_FN void store_force(const visit_args *a, int64_t k, const visit_sums *sums, void *to)
{
  double(*force)[CHUNK] = to;
  for (int d = 0; d < a->model->box.dim; ++d) force[d][k] = md_fine_value(sums->force[d]) * a->model->grids.f;
}

MD_FN void add_energy(const visit_args *a, int64_t k, const visit_sums *sums, void *to)
{
  md_measure *m = to;
  (void)a;
  (void)k;
  md_wide_add(&m->pair_energy2, md_fine_count(sums->energy));
  md_wide_add(&m->virial2, md_fine_count(sums->virial));
}

MD_FN void add_tensor(const visit_args *a, int64_t k, const visit_sums *sums, void *to)
{
  md_measure *m = to;
  (void)a;
  (void)k;
  for (int c = 0; c < MD_TENSOR; ++c) md_wide_add(&m->tensor2[c], md_fine_count(sums->tensor[c]));
}

#define VISITED_SUM(name, sum, done, type)                                                                   \
  static void name(const visit_args *a, int64_t first, int64_t last, const int32_t *entry,                   \
                   const int32_t *rows, md_overlap *overlap, type)                                           \
  {                                                                                                          \
    if (a->three)                                                                                            \
      visit_chunk(a, first, last, entry, rows, visit_vector_##sum, done, overlap, to);                       \
    else                                                                                                     \
      visit_chunk(a, first, last, entry, rows, visit_##sum, done, overlap, to);                              \
  }
VISITED_SUM(visited_output, force, store_force, double (*to)[CHUNK])
VISITED_SUM(visited_measure, energy, add_energy, md_measure *to)
VISITED_SUM(visited_tensor, tensor, add_tensor, md_measure *to)
#undef VISITED_SUM

#endif
