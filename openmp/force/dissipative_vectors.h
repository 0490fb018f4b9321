/* The impulses of dissipative styles (common/pair/dissipative/dissipative.h) on the particles of a block.
 *
 * 1. The pairs within the cutoff are packed: vectors of distances, and a list of the pairs that are near.
 * 2. Random numbers, forces and rounded impulses are computed in loops over the packed pairs, of which the compiler
 *    makes vectors. The formulas are those of common/, so that the bits are the same.
 * 3. The impulses are added to the particles.
 *
 * The fast rounding needs terms below MD_ROUND_RANGE. Where one is larger the function returns false, and the block is
 * done again one pair at a time.
 *
 * If the style is one of several (common/pair/hybrid/hybrid.h), the terms of each plane are added in the order of
 * sub-styles: those of other styles by vectors of pairs, as in hybrid_kernels.h.
 *
 * Trade-off: packing costs a pass, but random numbers are made for pairs within the cutoff only, half of those in the
 * list. Cost: about 150 bytes a packed pair, in the first-level cache.
 */
#ifndef MD_OPENMP_FORCE_DISSIPATIVE_VECTORS_H
#define MD_OPENMP_FORCE_DISSIPATIVE_VECTORS_H

#include "openmp/force/hybrid_kernels.h"
#include "openmp/force/kernels.h"
#include "openmp/force/simd.h"

enum { PACKED = 128, PACKED_K = 7 };

typedef struct packed_pairs {
  int n;
  int32_t lane[PACKED + BLOCK], other[PACKED + BLOCK]; /* of the block; index of the partner */
  uint64_t low[PACKED], high[PACKED];                  /* the smaller and the larger id */
  double delta[3][PACKED], r2[PACKED], along[PACKED], z[PACKED], f[PACKED];
  double k[PACKED_K][PACKED]; /* coefficients of the dissipative style */
  double own[PACKED];         /* its terms */
  int32_t types[PACKED];      /* where the rows of a pair of types are in a plane of coefficients */
} packed_pairs;

/* Packs the near ones of a row of the list. x: of the particles of the block. */
MD_FN void pack_row(const visit_args *a, packed_pairs *p, int dim, const double (*x)[BLOCK], int32_t lanes,
                    const int32_t *entry)
{
  const simd_d reach2 = simd_set(a->reach2);
  double near[BLOCK];
  for (int l = 0; l < BLOCK; l += MD_SIMD_WIDTH) {
    const simd_x j = simd_load_x(entry + l);
    simd_d r2 = simd_set(0.0);
    for (int d = 0; d < dim; ++d) {
      const simd_d delta = simd_load(x[d] + l) - simd_gather(a->x[d], j);
      r2 = simd_fma(delta, delta, r2);
    }
    simd_store(near + l, simd_choose(simd_less(r2, reach2), simd_set(1.0), simd_set(0.0)));
  }
  int n = p->n;
  for (int32_t l = 0; l < lanes; ++l) {
    p->lane[n] = l;
    p->other[n] = entry[l];
    n += near[l] > 0.0;
  }
  p->n = n;
}

/* Vectors, velocities along them, ids and coefficients of the packed pairs of particles from `first` on. */
MD_FN void load_packed(const visit_args *a, packed_pairs *restrict p, int dim, int64_t first)
{
  const int n = p->n, ntypes = md_model_subtypes(a->model);
  const int64_t *restrict id = a->id;
  for (int d = 0; d < dim; ++d) {
    const double *restrict x = a->x[d], *restrict u = a->u[d];
    double *restrict delta = p->delta[d], *restrict r2 = p->r2, *restrict along = p->along;
#pragma omp simd
    for (int l = 0; l < n; ++l) {
      const int64_t i = first + p->lane[l], j = p->other[l];
      delta[l] = x[i] - x[j];
      r2[l] = fma(delta[l], delta[l], d > 0 ? r2[l] : 0.0);
      along[l] = fma(delta[l], u[i] - u[j], d > 0 ? along[l] : 0.0);
    }
  }
  if (dim == 2) memset(p->delta[2], 0, (size_t)n * sizeof(double));
#pragma omp simd
  for (int l = 0; l < n; ++l) {
    const int64_t of = id[first + p->lane[l]], by = id[p->other[l]];
    p->low[l] = (uint64_t)(of < by ? of : by);
    p->high[l] = (uint64_t)(of < by ? by : of);
  }
  for (int l = 0; l < n; ++l)
    p->types[l] =
        ((a->type[first + p->lane[l]] - 1) * ntypes + (a->type[p->other[l]] - 1)) * (int32_t)MD_PAIR_K;
}

/* The coefficients of the packed pairs in one plane of the table. */
MD_FN void load_packed_coefficients(const double *restrict plane, int ntypes, packed_pairs *restrict p)
{
  const int n = p->n;
  for (int c = 0; c < PACKED_K; ++c) {
    double *restrict k = p->k[c];
    if (ntypes == 1)
      for (int l = 0; l < n; ++l) k[l] = plane[c];
    else
      for (int l = 0; l < n; ++l) k[l] = plane[p->types[l] + c];
  }
}

MD_FN void random_numbers(const md_dissipation *d, packed_pairs *restrict p)
{
  const uint64_t key = d->key;
  const int n = p->n;
#pragma omp simd
  for (int l = 0; l < n; ++l) p->z[l] = md_dissipation_number(key, p->low[l], p->high[l]);
}

/* Computes F/r of the dissipative style for the packed pairs. */
MD_FN void own_terms(double amplitude, packed_pairs *restrict p)
{
  const int n = p->n;
#pragma omp simd
  for (int l = 0; l < n; ++l) {
    const double k[] = {0.0, p->k[1][l], p->k[2][l], p->k[3][l], 0.0, p->k[5][l], p->k[6][l]};
    double w;
    const double force = md_dissipative_over_r(k, p->r2[l], p->along[l], k[6] * amplitude * p->z[l], &w);
    p->own[l] = p->r2[l] < p->k[0][l] ? force : 0.0;
  }
}

/* Adds the terms of another style in one plane. The last vector goes on with copies of the first pair. */
MD_FN void add_terms(plane_terms of, const double *plane, packed_pairs *restrict p)
{
  for (int l = 0; l < p->n; l += MD_SIMD_WIDTH) {
    const simd_d term = of(simd_load(p->r2 + l), plane, simd_load_x(p->types + l));
    simd_store(p->f + l, simd_load(p->f + l) + term);
  }
}

/* F/r of the packed pairs: the sum of all terms in the order of sub-styles. */
MD_FN void sum_packed(const visit_args *a, packed_pairs *restrict p)
{
  const md_pair *pair = md_model_pair(a->model);
  const int64_t types2 = (int64_t)pair->ntypes * pair->ntypes;
  for (int l = p->n; l % MD_SIMD_WIDTH != 0; ++l) {
    p->r2[l] = p->r2[0];
    p->types[l] = p->types[0];
  }
  memset(p->f, 0, sizeof p->f);
  for (int s = 0; s < pair->nsub; ++s) {
    const double *plane = a->k + (s + 1) * types2 * MD_PAIR_K;
    const md_pair_kind kind = pair->sub[s].kind;
    if (!md_pair_style_of(kind)->dissipative) {
      add_terms(terms_force[kind], plane, p);
      continue;
    }
    load_packed_coefficients(plane, pair->ntypes, p);
    own_terms(a->dissipation.noise, p);
    for (int l = 0; l < p->n; ++l) p->f[l] += p->own[l];
  }
}

/* Computes F/r of the packed pairs. Returns whether all impulses are in the range of fast rounding, and no pair is too
 * near for it. */
MD_FN bool packed_forces(const visit_args *a, packed_pairs *restrict p)
{
  const int n = p->n;
  int64_t beyond = 0;
  if (a->model->pair.nsub > 0)
    sum_packed(a, p);
  else {
    load_packed_coefficients(a->k, md_model_subtypes(a->model), p);
    own_terms(a->dissipation.noise, p);
  }
  const double *force = a->model->pair.nsub > 0 ? p->f : p->own;
  const double close2 = a->model->close2;
#pragma omp simd reduction(+ : beyond)
  for (int l = 0; l < n; ++l) {
    const double f = force[l];
    const double x = fabs(f * p->delta[0][l]), y = fabs(f * p->delta[1][l]), z = fabs(f * p->delta[2][l]);
    beyond += md_max(md_max(x, y), z) < MD_ROUND_RANGE ? 0 : 1;
    beyond += p->r2[l] < close2 ? 1 : 0;
    p->f[l] = f;
  }
  return beyond == 0;
}

/* Adds the impulses of the packed pairs of particles from `first` on, and forgets the pairs. A function of its own:
 * inlined at each of its calls it would be a seventh of this file's code. */
static __attribute__((noinline)) bool add_packed(const visit_args *a, packed_pairs *restrict p, int dim,
                                                 int64_t first, int64_t (*sum)[3])
{
  const int n = p->n;
  load_packed(a, p, dim, first);
  if (a->dissipation.noise > 0.0)
    random_numbers(&a->dissipation, p);
  else
    memset(p->z, 0, (size_t)n * sizeof *p->z);
  if (!packed_forces(a, p)) return false;
  for (int d = 0; d < dim; ++d) {
    double *restrict delta = p->delta[d];
#pragma omp simd
    for (int l = 0; l < n; ++l) delta[l] = fma(p->f[l], delta[l], MD_ROUND) - MD_ROUND;
    for (int l = 0; l < n; ++l) sum[p->lane[l]][d] += (int64_t)delta[l];
  }
  p->n = 0;
  return true;
}

/* The impulses on the particles [first, last) of a block, in quanta: force[d][at + lane]. Returns false, and changes
 * nothing, if one is too large for the fast rounding. */
MD_FN bool dissipative_block(const visit_args *a, int dim, int64_t first, int64_t last, const int32_t *entry,
                             int32_t rows, double (*force)[CHUNK], int64_t at)
{
  packed_pairs p;
  int64_t sum[BLOCK][3] = {{0}};
  double x[3][BLOCK];
  p.n = 0;
  for (int d = 0; d < dim; ++d) memcpy(x[d], a->x[d] + first, sizeof x[d]);
  for (int32_t r = 0; r < rows; ++r) {
    pack_row(a, &p, dim, (const double(*)[BLOCK])x, (int32_t)(last - first), entry + (int64_t)r * BLOCK);
    if (p.n > PACKED - BLOCK && !add_packed(a, &p, dim, first, sum)) return false;
  }
  if (!add_packed(a, &p, dim, first, sum)) return false;
  for (int d = 0; d < dim; ++d)
    for (int64_t l = 0; l < last - first; ++l) force[d][at + l] = (double)sum[l][d];
  return true;
}

#endif
