/* The sums over full lists: impulses, and energies and virials in kernels of their own that only thermo output calls;
 * kernels.c includes this file once for each instruction set. Half lists have loops of their own (half_kernels.h).
 *
 * Lanes are particles, rows are neighbours (kernels.h). Positions of neighbours are gathered. Particles are in cell
 * order, so that the gathers hit the first-level cache. An impulse is rounded by the fma that forms it, and its bits
 * are added as an integer (common/arithmetic/exact.h).
 *
 * Cost: a pair takes about 27 vector operations in 3D, of which exactness takes three. On a core with AVX-512 this is
 * about 1 ns a listed pair.
 */
#ifndef MD_OPENMP_FORCE_FORCE_KERNELS_H
#define MD_OPENMP_FORCE_FORCE_KERNELS_H

#include "openmp/force/kernels.h"
#include "openmp/force/simd.h"

typedef simd_d (*force_formula)(simd_d r2, const simd_d *k);

/* The coefficients of the first pair of types. With one type these are the coefficients of every pair. A coefficient
 * that the formula does not use costs nothing, because the compiler leaves its load out. */
MD_FN void broadcast_coefficients(const force_args *a, simd_d *k)
{
  for (int c = 0; c < MD_PAIR_K; ++c) k[c] = simd_set(a->k[c]);
}

MD_FN void load_coefficients(const force_args *a, simd_x pair, simd_d *k)
{
  const simd_x at = simd_scale_x(pair, MD_PAIR_K);
  for (int c = 0; c < MD_PAIR_K; ++c) k[c] = simd_gather(a->k + c, at);
}

/* Forces on one vector of particles of a block, from all rows of the block's list. m: NULL. Returns the least squared
 * distances. */
MD_FN simd_d force_lanes(const force_args *a, force_formula formula, int dim, bool typed, int64_t i,
                         const int32_t *entry, int32_t rows, double *const *force, simd_d least,
                         md_measure *m)
{
  (void)m;
  const simd_d rounder = simd_set(MD_ROUND);
  simd_d xi[3], k[MD_PAIR_K];
  simd_i sum[3];
  simd_x type_row = simd_set_x(0);
  for (int d = 0; d < dim; ++d) {
    xi[d] = simd_load(a->x[d] + i);
    sum[d] = simd_zero_i();
  }
  broadcast_coefficients(a, k);
  if (typed) type_row = simd_scale_x(simd_load_x(a->type + i), a->ntypes);
  for (int32_t r = 0; r < rows; ++r) {
    const simd_x j = simd_load_x(entry + (int64_t)r * BLOCK);
    simd_d delta[3];
    for (int d = 0; d < dim; ++d) delta[d] = xi[d] - simd_gather(a->x[d], j);
    simd_d r2 = simd_set(0.0);
    for (int d = 0; d < dim; ++d) r2 = simd_fma(delta[d], delta[d], r2);
    if (typed) load_coefficients(a, simd_add_x(type_row, simd_gather_x(a->type, j)), k);
    least = simd_min(least, r2);
    const simd_d f = simd_keep(simd_less(r2, k[0]), formula(r2, k));
    for (int d = 0; d < dim; ++d) sum[d] = simd_add_bits(sum[d], simd_fma(f, delta[d], rounder));
  }
  const uint64_t bias = (uint64_t)rows * (uint64_t)md_bits(MD_ROUND);
  for (int d = 0; d < dim; ++d) simd_store(force[d], simd_difference(sum[d], bias));
  return least;
}

/* Of one vector: force_lanes, force_virial_lanes or output_lanes. */
typedef simd_d (*lanes_force)(const force_args *, force_formula, int dim, bool typed, int64_t i,
                              const int32_t *entry, int32_t rows, double *const *force, simd_d least,
                              md_measure *);

MD_FN double force_chunk(lanes_force add, const force_args *a, force_formula formula, int dim, bool typed,
                         int64_t first, int64_t last, const int32_t *entry, const int32_t *rows,
                         double (*force)[CHUNK], md_measure *m)
{
  simd_d least = simd_set(MD_FAR);
  for (int64_t block = first; block < last; block += BLOCK) {
    const int32_t n = rows[(block - first) / BLOCK];
    for (int l = 0; l < BLOCK && block + l < a->n; l += MD_SIMD_WIDTH) {
      const int64_t k = block - first + l;
      double *const out[3] = {force[0] + k, force[1] + k, dim == 3 ? force[2] + k : NULL};
      least = add(a, formula, dim, typed, block + l, entry + l, n, out, least, m);
    }
    entry += (int64_t)n * BLOCK;
  }
  return simd_least(least);
}

typedef simd_d (*energy_formula)(simd_d r2, const simd_d *k);

/* A fine sum (common/arithmetic/exact.h) in every lane. It adds the bits of doubles that contain MD_ROUND, so that each
 * row leaves an offset of MD_ROUND's bits in the sum. fine_lanes_total subtracts these offsets. */
typedef struct fine_lanes {
  simd_i coarse, rest;
} fine_lanes;

/* Adds a * scale, in coarse quanta. The scale is a power of two, so that the rest is exact. */
MD_FN void fine_lanes_add(fine_lanes *sum, simd_d a, simd_d scale)
{
  const simd_d rounder = simd_set(MD_ROUND), rounded = simd_fma(a, scale, rounder);
  const simd_d rest = md_fms_v(a, scale, rounded - rounder);
  sum->coarse = simd_add_bits(sum->coarse, rounded);
  sum->rest = simd_add_bits(sum->rest, simd_fma(rest, simd_set(MD_FINE), rounder));
}

/* The sum of each lane, of `rows` rows. */
MD_FN void fine_lanes_store(const fine_lanes *sum, int32_t rows, md_fine lane[MD_SIMD_WIDTH])
{
  const uint64_t bias = (uint64_t)rows * (uint64_t)md_bits(MD_ROUND);
  int64_t coarse[MD_SIMD_WIDTH], rest[MD_SIMD_WIDTH];
  simd_store_i(coarse, sum->coarse);
  simd_store_i(rest, sum->rest);
  for (int l = 0; l < MD_SIMD_WIDTH; ++l)
    lane[l] = (md_fine){(int64_t)((uint64_t)coarse[l] - bias), (int64_t)((uint64_t)rest[l] - bias)};
}

/* Adds the sums of the lanes to *total. Only the first n lanes hold owned particles. */
MD_FN void fine_lanes_total(const fine_lanes *sum, int32_t rows, int64_t n, md_wide *total)
{
  md_fine lane[MD_SIMD_WIDTH];
  fine_lanes_store(sum, rows, lane);
  for (int64_t l = 0; l < MD_SIMD_WIDTH && l < n; ++l) md_wide_add(total, md_fine_count(lane[l]));
}

/* Adds sums of the lanes, of `rows` products each that were rounded by `rounder`, to *total as coarse quanta. */
MD_FN void counts_total(simd_i sum, int32_t rows, double rounder, int64_t n, md_wide *total)
{
  const uint64_t bias = (uint64_t)rows * (uint64_t)md_bits(rounder);
  int64_t lane[MD_SIMD_WIDTH];
  simd_store_i(lane, sum);
  for (int64_t l = 0; l < MD_SIMD_WIDTH && l < n; ++l)
    md_wide_add(total, md_fine_count((md_fine){(int64_t)((uint64_t)lane[l] - bias), 0}));
}

/* Forces for output on one vector of particles of a block, as fine sums. Returns the least squared distances. */
MD_FN simd_d output_lanes(const force_args *a, force_formula formula, int dim, bool typed, int64_t i,
                          const int32_t *entry, int32_t rows, double *const *force, simd_d least,
                          md_measure *m)
{
  (void)m;
  const simd_d one = simd_set(1.0);
  simd_d xi[3], k[MD_PAIR_K];
  fine_lanes sum[3];
  simd_x type_row = simd_set_x(0);
  for (int d = 0; d < dim; ++d) {
    xi[d] = simd_load(a->x[d] + i);
    sum[d] = (fine_lanes){simd_zero_i(), simd_zero_i()};
  }
  broadcast_coefficients(a, k);
  if (typed) type_row = simd_scale_x(simd_load_x(a->type + i), a->ntypes);
  for (int32_t r = 0; r < rows; ++r) {
    const simd_x j = simd_load_x(entry + (int64_t)r * BLOCK);
    simd_d r2 = simd_set(0.0), delta[3];
    for (int d = 0; d < dim; ++d) {
      delta[d] = xi[d] - simd_gather(a->x[d], j);
      r2 = simd_fma(delta[d], delta[d], r2);
    }
    if (typed) load_coefficients(a, simd_add_x(type_row, simd_gather_x(a->type, j)), k);
    least = simd_min(least, r2);
    const simd_d f = simd_keep(simd_less(r2, k[0]), formula(r2, k));
    for (int d = 0; d < dim; ++d) fine_lanes_add(&sum[d], f * delta[d], one);
  }
  md_fine lane[MD_SIMD_WIDTH];
  for (int d = 0; d < dim; ++d) {
    fine_lanes_store(&sum[d], rows, lane);
    for (int l = 0; l < MD_SIMD_WIDTH; ++l) force[d][l] = md_fine_value(lane[l]) * a->quantum;
  }
  return least;
}

/* The same as force_lanes, and adds the virial of impulses to *m (common/compute/impulse_virial.h), or its components
 * along the axes. */
MD_FN simd_d force_virial_lanes(const force_args *a, force_formula formula, int dim, bool typed, int64_t i,
                                const int32_t *entry, int32_t rows, double *const *force, simd_d least,
                                md_measure *m)
{
  const simd_d rounder = simd_set(MD_ROUND), virial_rounder = simd_set(a->virial_rounder);
  const int sums = a->axes ? dim : 1;
  simd_d xi[3], k[MD_PAIR_K];
  simd_i sum[3], virial[3] = {simd_zero_i(), simd_zero_i(), simd_zero_i()};
  simd_x type_row = simd_set_x(0);
  for (int d = 0; d < dim; ++d) {
    xi[d] = simd_load(a->x[d] + i);
    sum[d] = simd_zero_i();
  }
  broadcast_coefficients(a, k);
  if (typed) type_row = simd_scale_x(simd_load_x(a->type + i), a->ntypes);
  for (int32_t r = 0; r < rows; ++r) {
    const simd_x j = simd_load_x(entry + (int64_t)r * BLOCK);
    simd_d delta[3], r2 = simd_set(0.0);
    for (int d = 0; d < dim; ++d) {
      delta[d] = xi[d] - simd_gather(a->x[d], j);
      r2 = simd_fma(delta[d], delta[d], r2);
    }
    if (typed) load_coefficients(a, simd_add_x(type_row, simd_gather_x(a->type, j)), k);
    least = simd_min(least, r2);
    const simd_m near = simd_less(r2, k[0]);
    const simd_d f = simd_keep(near, formula(r2, k));
    for (int d = 0; d < dim; ++d) sum[d] = simd_add_bits(sum[d], simd_fma(f, delta[d], rounder));
    if (!a->axes) virial[0] = simd_add_bits(virial[0], simd_fma(simd_keep_odd(near, f), r2, virial_rounder));
    for (int d = 0; a->axes && d < dim; ++d) {
      const simd_d part = simd_keep_odd(near, f * delta[d]);
      virial[d] = simd_add_bits(virial[d], simd_fma(part, delta[d], virial_rounder));
    }
  }
  const uint64_t bias = (uint64_t)rows * (uint64_t)md_bits(MD_ROUND);
  for (int d = 0; d < dim; ++d) simd_store(force[d], simd_difference(sum[d], bias));
  for (int c = 0; c < sums; ++c)
    counts_total(virial[c], rows, a->virial_rounder, a->n - i, a->axes ? &m->tensor2[c] : &m->virial2);
  return least;
}

/* Adds energy and virial of one vector of particles of a block to *m. Returns the least squared distances. */
MD_FN simd_d measure_lanes(const force_args *a, force_formula force, energy_formula energy, int dim,
                           bool typed, int64_t i, const int32_t *entry, int32_t rows, simd_d least,
                           md_measure *m)
{
  const simd_d per_e = simd_set(a->per_e), per_w = simd_set(a->per_w);
  simd_d xi[3], k[MD_PAIR_K];
  fine_lanes sum_e = {simd_zero_i(), simd_zero_i()}, sum_w = sum_e;
  simd_x type_row = simd_set_x(0);
  for (int d = 0; d < dim; ++d) xi[d] = simd_load(a->x[d] + i);
  broadcast_coefficients(a, k);
  if (typed) type_row = simd_scale_x(simd_load_x(a->type + i), a->ntypes);
  for (int32_t r = 0; r < rows; ++r) {
    const simd_x j = simd_load_x(entry + (int64_t)r * BLOCK);
    simd_d r2 = simd_set(0.0);
    for (int d = 0; d < dim; ++d) {
      const simd_d delta = xi[d] - simd_gather(a->x[d], j);
      r2 = simd_fma(delta, delta, r2);
    }
    if (typed) load_coefficients(a, simd_add_x(type_row, simd_gather_x(a->type, j)), k);
    least = simd_min(least, r2);
    const simd_m near = simd_less(r2, k[0]);
    fine_lanes_add(&sum_e, simd_keep(near, energy(r2, k)), per_e);
    fine_lanes_add(&sum_w, simd_keep(near, force(r2, k) * r2), per_w);
  }
  fine_lanes_total(&sum_e, rows, a->n - i, &m->pair_energy2);
  fine_lanes_total(&sum_w, rows, a->n - i, &m->virial2);
  return least;
}

/* Adds the components r_a f_b of the virial of one vector of particles of a block to *m. Returns the least squared
 * distances. */
MD_FN simd_d tensor_lanes(const force_args *a, force_formula force, energy_formula energy, int dim,
                          bool typed, int64_t i, const int32_t *entry, int32_t rows, simd_d least,
                          md_measure *m)
{
  const simd_d per_w = simd_set(a->per_w);
  simd_d xi[3], k[MD_PAIR_K];
  fine_lanes sum[MD_TENSOR];
  simd_x type_row = simd_set_x(0);
  (void)energy;
  for (int c = 0; c < MD_TENSOR; ++c) sum[c] = (fine_lanes){simd_zero_i(), simd_zero_i()};
  for (int d = 0; d < dim; ++d) xi[d] = simd_load(a->x[d] + i);
  broadcast_coefficients(a, k);
  if (typed) type_row = simd_scale_x(simd_load_x(a->type + i), a->ntypes);
  for (int32_t r = 0; r < rows; ++r) {
    const simd_x j = simd_load_x(entry + (int64_t)r * BLOCK);
    simd_d r2 = simd_set(0.0), delta[3];
    for (int d = 0; d < dim; ++d) {
      delta[d] = xi[d] - simd_gather(a->x[d], j);
      r2 = simd_fma(delta[d], delta[d], r2);
    }
    if (typed) load_coefficients(a, simd_add_x(type_row, simd_gather_x(a->type, j)), k);
    least = simd_min(least, r2);
    const simd_d f = simd_keep(simd_less(r2, k[0]), force(r2, k));
    for (int c = 0; c < MD_TENSOR; ++c)
      if (md_tensor_column(c) < dim)
        fine_lanes_add(&sum[c], f * delta[md_tensor_row(c)] * delta[md_tensor_column(c)], per_w);
  }
  for (int c = 0; c < MD_TENSOR; ++c)
    if (md_tensor_column(c) < dim) fine_lanes_total(&sum[c], rows, a->n - i, &m->tensor2[c]);
  return least;
}

/* Of one vector: measure_lanes or tensor_lanes. */
typedef simd_d (*lanes_sum)(const force_args *, force_formula, energy_formula, int dim, bool typed, int64_t i,
                            const int32_t *entry, int32_t rows, simd_d least, md_measure *);

MD_FN double measure_chunk(lanes_sum add, const force_args *a, force_formula force, energy_formula energy,
                           int dim, bool typed, int64_t first, int64_t last, const int32_t *entry,
                           const int32_t *rows, md_measure *m)
{
  simd_d least = simd_set(MD_FAR);
  for (int64_t block = first; block < last; block += BLOCK) {
    const int32_t n = rows[(block - first) / BLOCK];
    for (int l = 0; l < BLOCK && block + l < a->n; l += MD_SIMD_WIDTH)
      least = add(a, force, energy, dim, typed, block + l, entry + l, n, least, m);
    entry += (int64_t)n * BLOCK;
  }
  return simd_least(least);
}

/* The sums NAME of a style, in each dimension. */
#define MEASURE_OF(name, symbol)                                                                             \
  static double name##_##symbol(const force_args *a, int dim, int64_t first, int64_t last,                   \
                                const int32_t *entry, const int32_t *rows, md_measure *m)                    \
  {                                                                                                          \
    const bool typed = a->type != NULL;                                                                      \
    if (dim == 3)                                                                                            \
      return measure_chunk(name##_lanes, a, md_##symbol##_force_v, md_##symbol##_energy_v, 3, typed, first,  \
                           last, entry, rows, m);                                                            \
    return measure_chunk(name##_lanes, a, md_##symbol##_force_v, md_##symbol##_energy_v, 2, typed, first,    \
                         last, entry, rows, m);                                                              \
  }

/* The forces NAME of a style. The compiler makes one loop for each dimension, and for one or several types. */
#define FORCE_LOOPS(name, symbol, m)                                                                         \
  const force_formula f = md_##symbol##_force_v;                                                             \
  if (dim == 3 && !a->type)                                                                                  \
    return force_chunk(name##_lanes, a, f, 3, false, first, last, entry, rows, force, m);                    \
  if (dim == 3) return force_chunk(name##_lanes, a, f, 3, true, first, last, entry, rows, force, m);         \
  if (!a->type) return force_chunk(name##_lanes, a, f, 2, false, first, last, entry, rows, force, m);        \
  return force_chunk(name##_lanes, a, f, 2, true, first, last, entry, rows, force, m);

#define FORCE_OF(name, symbol)                                                                               \
  static double name##_##symbol(const force_args *a, int dim, int64_t first, int64_t last,                   \
                                const int32_t *entry, const int32_t *rows, double(*force)[CHUNK])            \
  {                                                                                                          \
    FORCE_LOOPS(name, symbol, NULL)                                                                          \
  }

#define FORCE_VIRIAL_OF(symbol)                                                                              \
  static double force_virial_##symbol(const force_args *a, int dim, int64_t first, int64_t last,             \
                                      const int32_t *entry, const int32_t *rows, double(*force)[CHUNK],      \
                                      md_measure *m)                                                         \
  {                                                                                                          \
    FORCE_LOOPS(force_virial, symbol, m)                                                                     \
  }

#define MD_PAIR_CUT(symbol)                                                                                  \
  FORCE_OF(force, symbol)                                                                                    \
  FORCE_VIRIAL_OF(symbol)                                                                                    \
  FORCE_OF(output, symbol)                                                                                   \
  MEASURE_OF(measure, symbol) MEASURE_OF(tensor, symbol)
#include "common/pair/pair_styles.h"
MD_PAIR_CUT(hybrid)
#undef MD_PAIR_CUT

/* Styles with shared kernels have a loop of their own for impulses only. The sums for output call the formulas, which
 * is slower, and takes a tenth of the code. */
static double output_shared(force_formula f, const force_args *a, int dim, int64_t first, int64_t last,
                            const int32_t *entry, const int32_t *rows, double (*force)[CHUNK])
{
  return force_chunk(output_lanes, a, f, dim, a->type, first, last, entry, rows, force, NULL);
}

static double measure_shared(force_formula f, energy_formula e, const force_args *a, int dim, int64_t first,
                             int64_t last, const int32_t *entry, const int32_t *rows, md_measure *m)
{
  return measure_chunk(measure_lanes, a, f, e, dim, a->type, first, last, entry, rows, m);
}

static double tensor_shared(force_formula f, energy_formula e, const force_args *a, int dim, int64_t first,
                            int64_t last, const int32_t *entry, const int32_t *rows, md_measure *m)
{
  return measure_chunk(tensor_lanes, a, f, e, dim, a->type, first, last, entry, rows, m);
}

#define SHARED_MEASURE_OF(name, symbol)                                                                      \
  static double name##_##symbol(const force_args *a, int dim, int64_t first, int64_t last,                   \
                                const int32_t *entry, const int32_t *rows, md_measure *m)                    \
  {                                                                                                          \
    return name##_shared(symbol##_force, symbol##_energy, a, dim, first, last, entry, rows, m);              \
  }

#define MD_PAIR_SHARED(symbol)                                                                               \
  FORCE_OF(force, symbol)                                                                                    \
  FORCE_VIRIAL_OF(symbol)                                                                                    \
  static simd_d symbol##_force(simd_d r2, const simd_d *k) { return md_##symbol##_force_v(r2, k); }          \
  static simd_d symbol##_energy(simd_d r2, const simd_d *k) { return md_##symbol##_energy_v(r2, k); }        \
  static double output_##symbol(const force_args *a, int dim, int64_t first, int64_t last,                   \
                                const int32_t *entry, const int32_t *rows, double(*force)[CHUNK])            \
  {                                                                                                          \
    return output_shared(symbol##_force, a, dim, first, last, entry, rows, force);                           \
  }                                                                                                          \
  SHARED_MEASURE_OF(measure, symbol) SHARED_MEASURE_OF(tensor, symbol)
#include "common/pair/pair_styles.h"
#undef MD_PAIR_SHARED

#endif
