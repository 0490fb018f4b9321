/* The loops over lists for pair styles with a density (common/pair/tables/eam.h): densities, and then forces. kernels.c
 * includes this file once for each instruction set.
 *
 * The lists are those of all kernels: full, so that each pair is evaluated twice, and no lane writes to another
 * particle. The two passes of a step take a vector of particles of a block at once, by density_vectors.h. The sums for
 * output, and particles for which a vector's rounding does not do, are evaluated one pair at a time, by the functions
 * of common/.
 *
 * Cost: about 60 operations a listed pair in both passes, two square roots and a division.
 */
#ifndef MD_OPENMP_FORCE_DENSITY_KERNELS_H
#define MD_OPENMP_FORCE_DENSITY_KERNELS_H

#include "openmp/force/density_vectors.h"

/* Called for a pair of the list. delta: from j to i. */
typedef void (*density_visit)(const density_args *, int64_t i, int64_t j, const double *delta, double r2,
                              void *to);

/* Visits the partners of particle i, which has lane l of its block with the list `entry`. */
MD_FN void visit_lane(const density_args *a, int64_t i, const int32_t *entry, int32_t rows,
                      density_visit visit, void *to)
{
  const int dim = a->model->box.dim;
  for (int32_t r = 0; r < rows; ++r) {
    const int64_t j = entry[(int64_t)r * BLOCK];
    double delta[3], r2 = 0.0;
    if (j >= a->total) continue;
    for (int d = 0; d < dim; ++d) {
      delta[d] = a->x[d][i] - a->x[d][j];
      r2 = fma(delta[d], delta[d], r2);
    }
    if (r2 < a->reach2) visit(a, i, j, delta, r2, to);
  }
}

MD_FN void visit_density(const density_args *a, int64_t i, int64_t j, const double *delta, double r2,
                         void *to)
{
  int64_t *count = to;
  (void)delta;
  const md_eam *eam = a->model->pair.eam;
  *count += md_density_term(eam, eam->element[a->type[i] - 1], eam->element[a->type[j] - 1], r2);
}

static void density_chunk(const density_args *a, int64_t first, int64_t last, const int32_t *entry,
                          const int32_t *rows, int64_t *count)
{
  for (int64_t block = first; block < last; block += BLOCK) {
    const int32_t n = rows[(block - first) / BLOCK];
    for (int l = 0; l < BLOCK && block + l < last; l += MD_SIMD_WIDTH) {
      int64_t lane[MD_SIMD_WIDTH];
      const bool done = density_lanes(a, block + l, entry + l, n, lane);
      for (int k = 0; k < MD_SIMD_WIDTH && block + l + k < last; ++k) {
        const int64_t i = block + l + k;
        count[i - first] = done ? lane[k] : 0;
        if (!done) visit_lane(a, i, entry + l + k, n, visit_density, &count[i - first]);
      }
    }
    entry += (int64_t)n * BLOCK;
  }
}

MD_FN md_density_pair density_pair(const density_args *a, int64_t i, int64_t j, const double *delta,
                                   double r2)
{
  const md_eam *eam = a->model->pair.eam;
  return md_density_force(eam, eam->element[a->type[i] - 1], eam->element[a->type[j] - 1], a->slope[i],
                          a->slope[j], delta, a->model->box.dim, r2, a->scale);
}

/* What the visits of pass 2 fill, for one particle. */
typedef struct density_sums {
  int64_t impulse[3];
  md_fine force[3], tensor[MD_TENSOR], energy, virial;
  md_overlap *overlap;
} density_sums;

MD_FN bool noted(const density_args *a, int64_t i, int64_t j, double r2, const md_density_pair *pair,
                 density_sums *sums)
{
  if (pair->overlap) md_overlap_add(sums->overlap, a->id[i], a->id[j], r2);
  return pair->overlap;
}

MD_FN void visit_impulse(const density_args *a, int64_t i, int64_t j, const double *delta, double r2,
                         void *to)
{
  density_sums *sums = to;
  const md_density_pair pair = density_pair(a, i, j, delta, r2);
  if (noted(a, i, j, r2, &pair, sums)) return;
  for (int d = 0; d < a->model->box.dim; ++d) sums->impulse[d] += (int64_t)md_round_product(pair.f, delta[d]);
}

MD_FN void visit_force(const density_args *a, int64_t i, int64_t j, const double *delta, double r2, void *to)
{
  density_sums *sums = to;
  const md_density_pair pair = density_pair(a, i, j, delta, r2);
  if (noted(a, i, j, r2, &pair, sums)) return;
  for (int d = 0; d < a->model->box.dim; ++d) md_fine_add(&sums->force[d], pair.f * delta[d]);
}

MD_FN void visit_energy(const density_args *a, int64_t i, int64_t j, const double *delta, double r2, void *to)
{
  density_sums *sums = to;
  const md_density_pair pair = density_pair(a, i, j, delta, r2);
  if (noted(a, i, j, r2, &pair, sums)) return;
  md_fine_add(&sums->energy, pair.energy / (a->model->grids.e * MD_FINE));
  md_fine_add(&sums->virial, pair.f * r2 * (a->model->grids.f / a->model->grids.w));
}

MD_FN void visit_tensor(const density_args *a, int64_t i, int64_t j, const double *delta, double r2, void *to)
{
  density_sums *sums = to;
  const double per_w = a->model->grids.f / a->model->grids.w;
  const md_density_pair pair = density_pair(a, i, j, delta, r2);
  if (noted(a, i, j, r2, &pair, sums)) return;
  for (int c = 0; c < MD_TENSOR; ++c)
    if (md_tensor_column(c) < a->model->box.dim)
      md_fine_add(&sums->tensor[c], pair.f * delta[md_tensor_row(c)] * delta[md_tensor_column(c)] * per_w);
}

/* Visits the pairs of a chunk, and then calls `done` for each particle. */
typedef void (*density_done)(const density_args *, int64_t k, const density_sums *, void *to);

MD_FN void visit_chunk(const density_args *a, int64_t first, int64_t last, const int32_t *entry,
                       const int32_t *rows, density_visit visit, density_done done, md_overlap *overlap,
                       void *to)
{
  for (int64_t i = first; i < last; ++i) {
    const int64_t b = (i - first) / BLOCK;
    density_sums sums = {.overlap = overlap};
    visit_lane(a, i, entry + (i - first) % BLOCK, rows[b], visit, &sums);
    done(a, i - first, &sums, to);
    if ((i - first) % BLOCK == BLOCK - 1) entry += (int64_t)rows[b] * BLOCK;
  }
}

MD_FN void store_impulse(const density_args *a, int64_t k, const density_sums *sums, void *to)
{
  double(*force)[CHUNK] = to;
  for (int d = 0; d < a->model->box.dim; ++d) force[d][k] = (double)sums->impulse[d];
}

/* Pass 2 of a step. */
static void density_force(const density_args *a, int64_t first, int64_t last, const int32_t *entry,
                          const int32_t *rows, md_overlap *overlap, double (*force)[CHUNK])
{
  for (int64_t block = first; block < last; block += BLOCK) {
    const int32_t n = rows[(block - first) / BLOCK];
    for (int l = 0; l < BLOCK && block + l < last; l += MD_SIMD_WIDTH) {
      const int64_t at = block - first + l;
      double *const to[3] = {force[0] + at, force[1] + at, a->model->box.dim == 3 ? force[2] + at : NULL};
      if (density_impulse_lanes(a, block + l, entry + l, n, to)) continue;
      for (int k = 0; k < MD_SIMD_WIDTH && block + l + k < last; ++k) {
        density_sums sums = {.overlap = overlap};
        visit_lane(a, block + l + k, entry + l + k, n, visit_impulse, &sums);
        store_impulse(a, at + k, &sums, force);
      }
    }
    entry += (int64_t)n * BLOCK;
  }
}

MD_FN void store_force(const density_args *a, int64_t k, const density_sums *sums, void *to)
{
  double(*force)[CHUNK] = to;
  for (int d = 0; d < a->model->box.dim; ++d) force[d][k] = md_fine_value(sums->force[d]) * a->model->grids.f;
}

MD_FN void add_energy(const density_args *a, int64_t k, const density_sums *sums, void *to)
{
  md_measure *m = to;
  (void)a;
  (void)k;
  md_wide_add(&m->pair_energy2, md_fine_count(sums->energy));
  md_wide_add(&m->virial2, md_fine_count(sums->virial));
}

MD_FN void add_tensor(const density_args *a, int64_t k, const density_sums *sums, void *to)
{
  md_measure *m = to;
  (void)a;
  (void)k;
  for (int c = 0; c < MD_TENSOR; ++c) md_wide_add(&m->tensor2[c], md_fine_count(sums->tensor[c]));
}

#define DENSITY_SUM(name, visit, done, type)                                                                 \
  static void name(const density_args *a, int64_t first, int64_t last, const int32_t *entry,                 \
                   const int32_t *rows, md_overlap *overlap, type)                                           \
  {                                                                                                          \
    visit_chunk(a, first, last, entry, rows, visit, done, overlap, to);                                      \
  }
DENSITY_SUM(density_output, visit_force, store_force, double (*to)[CHUNK])
DENSITY_SUM(density_measure, visit_energy, add_energy, md_measure *to)
DENSITY_SUM(density_tensor, visit_tensor, add_tensor, md_measure *to)
#undef DENSITY_SUM

#endif
