/* All pairs, for the instruction set this file is compiled for (-DMD_ISA=generic, avx2 or avx512).
 *
 * Lanes are the bodies that feel the force, and the loop goes over the bodies that exert it, which are the same for all
 * lanes:
 *
 *   1  A tile of ALL_TILE bodies stays in the first-level cache, and all vectors of a thread's bodies pass over it.
 *   2  A vector meets the tile in batches, in three stages: squared distances, forces, impulses. One loop does a
 *      different batch in each stage, so that no stage waits for another one, and the divider is never idle.
 *   3  An impulse is rounded by the fma that forms it, and its bits are added as an integer
 *      (common/arithmetic/exact.h).
 *   4  The pairs of the bodies of one vector with one another are summed one at a time, so that no body feels itself.
 *      If a pair of a vector and a tile may be beyond the fast rounding, their sum is made again, one pair at a time.
 *
 * Trade-off: there are no lists, gathers and branches in the loops. But both bodies of a pair evaluate it, because
 * adding to the other one would need a second sum for each body and thread.
 * Cost: in 3D 28 vector operations a pair, and a root and a division in single precision, which take 11 cycles of the
 * divider for 8 pairs with AVX-512. 14 of the operations multiply. So the ports allow 8 pairs in 14 cycles where two
 * ports take vectors of 512 bits (Intel), in 15 where one of these multiplies and divides (Zen 4), and in 11 where two
 * multiply and two others add (Zen 5). A Zen 5 takes 12.3.
 */
#include "common/pair/all_pairs.h"
#include "common/pair/formulas.h"
#include "openmp/all_pairs/all_pairs.h"
#include "openmp/force/simd.h"
#include "openmp/force/table_rows.h"

#define real simd_d
#define MD_T(name) name##_v
#include "common/pair/pair_styles.h"
#undef real
#undef MD_T

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define STRING_(a) #a
#define STRING(a) STRING_(a)

typedef simd_d (*pair_formula)(simd_d r2, const simd_d *k);
typedef double (*plain_formula)(double r2, const double *k);

/* The difference of positions of bodies i of `own` and j of `other`; returns its square, softened. */
MD_FN double separation(const all_args *a, int dim, int64_t i, int64_t j, double *delta)
{
  double r2 = a->k[2];
  for (int d = 0; d < dim; ++d) {
    delta[d] = a->own->x[d][i] - a->other->x[d][j];
    r2 = fma(delta[d], delta[d], r2);
  }
  return r2;
}

/* ---- impulses ---- */

/* The bodies [j0, j1) on the bodies [i0, i1), one pair at a time. */
MD_FN void impulse_each(const all_args *a, plain_formula formula, int dim, int64_t i0, int64_t i1, int64_t j0,
                        int64_t j1, int64_t *const sum[3], md_overlap *overlap)
{
  for (int64_t i = i0; i < i1; ++i)
    for (int64_t j = j0; j < j1; ++j) {
      if (a->same && i == j) continue;
      double delta[3], k[MD_PAIR_K];
      const double r2 = separation(a, dim, i, j, delta);
      md_all_coefficients(a->k, a->own->mass[i], a->other->mass[j], k);
      const double f = formula(r2, k);
      if (md_all_overlaps(f, delta, dim, r2, a->range))
        md_overlap_add(overlap, a->own->id[i], a->other->id[j], r2);
      else
        for (int d = 0; d < dim; ++d) sum[d][i] += (int64_t)md_round_product(f, delta[d]);
    }
}

/* A vector of bodies that feels others one after another. */
typedef struct feeling_vector {
  simd_d x[3], minus_mass, k[MD_PAIR_K], least; /* least: the smallest squared distance */
  simd_i total[3];
} feeling_vector;

MD_FN simd_d square_to(feeling_vector *v, const all_args *a, int dim, bool careful, int64_t j)
{
  simd_d r2 = simd_set(a->k[2]);
  for (int d = 0; d < dim; ++d) {
    const simd_d delta = v->x[d] - simd_set(a->other->x[d][j]);
    r2 = simd_fma(delta, delta, r2);
  }
  if (careful) v->least = simd_min(v->least, r2);
  return r2;
}

MD_FN simd_d force_of(feeling_vector *v, const all_args *a, pair_formula formula, simd_d r2, int64_t j)
{
  v->k[1] = v->minus_mass * simd_set(a->other->mass[j]);
  return formula(r2, v->k);
}

MD_FN void add_impulse(feeling_vector *v, const all_args *a, int dim, simd_d force, int64_t j)
{
  for (int d = 0; d < dim; ++d) {
    const simd_d delta = v->x[d] - simd_set(a->other->x[d][j]);
    v->total[d] = simd_add_bits(v->total[d], simd_fma(force, delta, simd_set(MD_ROUND)));
  }
}

/* Bodies of a batch. The squares and forces of two batches fit into the first-level cache beside a tile. */
enum { BATCH = 16 };

/* The bodies [j0, j1) on the vector of bodies that begins at i. Returns false, and adds nothing, if a pair is so close
 * that the sum needs care. */
MD_FN bool impulse_lanes(const all_args *a, pair_formula formula, int dim, bool careful, int64_t i,
                         int64_t j0, int64_t j1, int64_t *const sum[3])
{
  feeling_vector v;
  simd_d r2[2][BATCH], force[2][BATCH];
  v.least = simd_set(0x1p200);
  v.minus_mass = simd_set(0.0) - simd_load(a->own->mass + i);
  for (int c = 0; c < MD_PAIR_K; ++c) v.k[c] = simd_set(a->k[c]);
  for (int d = 0; d < dim; ++d) {
    v.x[d] = simd_load(a->own->x[d] + i);
    v.total[d] = simd_zero_i();
  }
  const int64_t batches = (j1 - j0) / BATCH;
  for (int64_t k = 0; k < batches + 2; ++k) {
    const int64_t j = j0 + k * BATCH;
    const int even = (int)(k & 1), odd = even ^ 1;
    const bool square = k < batches, evaluate = k != 0 && k <= batches, add = k >= 2;
    if (square && evaluate && add) {
      for (int b = 0; b < BATCH; ++b) {
        force[odd][b] = force_of(&v, a, formula, r2[odd][b], j - BATCH + b);
        add_impulse(&v, a, dim, force[even][b], j - 2 * BATCH + b);
        r2[even][b] = square_to(&v, a, dim, careful, j + b);
      }
      continue;
    }
    for (int b = 0; b < BATCH; ++b) {
      if (evaluate) force[odd][b] = force_of(&v, a, formula, r2[odd][b], j - BATCH + b);
      if (add) add_impulse(&v, a, dim, force[even][b], j - 2 * BATCH + b);
      if (square) r2[even][b] = square_to(&v, a, dim, careful, j + b);
    }
  }
  for (int64_t j = j0 + batches * BATCH; j < j1; ++j)
    add_impulse(&v, a, dim, force_of(&v, a, formula, square_to(&v, a, dim, careful, j), j), j);
  if (careful && simd_least(v.least) < a->close2 + a->k[2]) return false;
  const uint64_t bias = (uint64_t)(j1 - j0) * (uint64_t)md_bits(MD_ROUND);
  for (int d = 0; d < dim; ++d) {
    int64_t lane[MD_SIMD_WIDTH];
    simd_store_i(lane, v.total[d]);
    for (int l = 0; l < MD_SIMD_WIDTH; ++l) sum[d][i + l] += (int64_t)((uint64_t)lane[l] - bias);
  }
  return true;
}

MD_FN void impulse_tile(const all_args *a, pair_formula formula, plain_formula plain, int dim, bool careful,
                        int64_t i, int64_t j0, int64_t j1, int64_t *const sum[3], md_overlap *overlap)
{
  const int64_t last = i + MD_SIMD_WIDTH < a->own->n ? i + MD_SIMD_WIDTH : a->own->n;
  if (j0 < j1 && !impulse_lanes(a, formula, dim, careful, i, j0, j1, sum))
    impulse_each(a, plain, dim, i, last, j0, j1, sum, overlap);
}

MD_FN void impulse_all(const all_args *a, pair_formula formula, plain_formula plain, int dim, bool careful,
                       int64_t i0, int64_t i1, int64_t j0, int64_t j1, int64_t *const sum[3],
                       md_overlap *overlap)
{
  for (int64_t tile = j0; tile < j1; tile += ALL_TILE) {
    const int64_t end = tile + ALL_TILE < j1 ? tile + ALL_TILE : j1;
    for (int64_t i = i0; i < i1; i += MD_SIMD_WIDTH) {
      /* The bodies of the vector itself, as far as they are in the tile. */
      const int64_t last = i + MD_SIMD_WIDTH < a->own->n ? i + MD_SIMD_WIDTH : a->own->n;
      int64_t own0 = i > tile ? i : tile, own1 = last < end ? last : end;
      if (!a->same || own0 >= own1) own0 = own1 = end;
      impulse_tile(a, formula, plain, dim, careful, i, tile, own0, sum, overlap);
      impulse_each(a, plain, dim, i, last, own0, own1, sum, overlap);
      impulse_tile(a, formula, plain, dim, careful, i, own1, end, sum, overlap);
    }
  }
}

/* ---- energies, virials, and forces for output ---- */

/* Adds a * scale, in coarse quanta, to the fine sums of the lanes. The scale is a power of two. */
MD_FN void add_fine(simd_i *coarse, simd_i *rest, simd_d a, simd_d scale)
{
  const simd_d rounder = simd_set(MD_ROUND), rounded = simd_fma(a, scale, rounder);
  const simd_d left = md_fms_v(a, scale, rounded - rounder);
  *coarse = simd_add_bits(*coarse, rounded);
  *rest = simd_add_bits(*rest, simd_fma(left, simd_set(MD_FINE), rounder));
}

/* What one vector of bodies sums: energy, virial, and forces along each axis. */
typedef struct fine_vector {
  simd_i coarse[5], rest[5];
} fine_vector;

MD_FN fine_vector nothing(int dim)
{
  fine_vector sum;
  for (int q = 0; q < 2 + dim; ++q) sum.coarse[q] = sum.rest[q] = simd_zero_i();
  return sum;
}

/* The bodies [j0, j1), none of which is in the vector that begins at i. Returns false, and leaves *sum undefined, if a
 * pair is so close that its terms may be beyond the fast rounding. */
MD_FN bool measure_lanes(const all_args *a, pair_formula force, pair_formula energy, int dim, bool forces,
                         int64_t i, int64_t j0, int64_t j1, fine_vector *sum)
{
  const body_block *other = a->other;
  const simd_d per_e = simd_set(a->per_e), per_w = simd_set(a->per_w), one = simd_set(1.0);
  const simd_d mass = simd_load(a->own->mass + i), charge = simd_set(a->k[1]);
  const simd_d minus_charge = simd_set(0.0) - mass * charge;
  simd_d x[3], k[MD_PAIR_K], least = simd_set(0x1p200);
  for (int c = 0; c < MD_PAIR_K; ++c) k[c] = simd_set(a->k[c]);
  for (int d = 0; d < dim; ++d) x[d] = simd_load(a->own->x[d] + i);
  for (int64_t j = j0; j < j1; ++j) {
    simd_d delta[3], r2 = simd_set(a->k[2]);
    for (int d = 0; d < dim; ++d) {
      delta[d] = x[d] - simd_set(other->x[d][j]);
      r2 = simd_fma(delta[d], delta[d], r2);
    }
    least = simd_min(least, r2);
    const simd_d mass_j = simd_set(other->mass[j]);
    k[1] = minus_charge * (mass_j * charge);
    k[4] = simd_set(a->k[4]) * (mass * mass_j);
    const simd_d f = force(r2, k);
    add_fine(&sum->coarse[0], &sum->rest[0], energy(r2, k), per_e);
    add_fine(&sum->coarse[1], &sum->rest[1], f * (r2 - simd_set(a->k[2])), per_w);
    for (int d = 0; forces && d < dim; ++d)
      add_fine(&sum->coarse[2 + d], &sum->rest[2 + d], f * delta[d], one);
  }
  return !(simd_least(least) < a->close2 + a->k[2]);
}

/* A fine sum of one lane, to which `rows` terms were added. */
MD_FN md_fine lane_of(const fine_vector *sum, int q, int lane, int64_t rows)
{
  const uint64_t bias = (uint64_t)rows * (uint64_t)md_bits(MD_ROUND);
  int64_t coarse[MD_SIMD_WIDTH], rest[MD_SIMD_WIDTH];
  simd_store_i(coarse, sum->coarse[q]);
  simd_store_i(rest, sum->rest[q]);
  return (md_fine){(int64_t)((uint64_t)coarse[lane] - bias), (int64_t)((uint64_t)rest[lane] - bias)};
}

/* What bodies of one vector sum: energy, virial, and forces along each axis. */
typedef md_fine each_vector[5][ALL_PAD];

/* The bodies [j0, j1) on the bodies [i0, i1) of one vector, one pair at a time. */
MD_FN void measure_each(const all_args *a, plain_formula force, plain_formula energy, int dim, int64_t i0,
                        int64_t i1, int64_t j0, int64_t j1, each_vector sum, md_overlap *overlap)
{
  for (int64_t i = i0; i < i1; ++i)
    for (int64_t j = j0; j < j1; ++j) {
      if (a->same && i == j) continue;
      double delta[3], k[MD_PAIR_K];
      const double r2 = separation(a, dim, i, j, delta);
      md_all_coefficients_of_masses(a->k, a->own->mass[i], a->other->mass[j], k);
      const double f = force(r2, k);
      if (md_all_overlaps(f, delta, dim, r2, a->range)) {
        md_overlap_add(overlap, a->own->id[i], a->other->id[j], r2);
        continue;
      }
      md_fine_add(&sum[0][i - i0], energy(r2, k) * a->per_e);
      md_fine_add(&sum[1][i - i0], f * (r2 - a->k[2]) * a->per_w);
      for (int d = 0; d < dim; ++d) md_fine_add(&sum[2 + d][i - i0], f * delta[d]);
    }
}

MD_FN void measure_vector(const all_args *a, pair_formula force, pair_formula energy,
                          plain_formula force_each, plain_formula energy_each, int dim, bool forces,
                          int64_t i, md_wide *energy2, md_wide *virial2, md_fine (*const out)[ALL_PAD],
                          md_overlap *overlap)
{
  const int64_t last = i + MD_SIMD_WIDTH < a->own->n ? i + MD_SIMD_WIDTH : a->own->n, n = a->other->n;
  const int64_t own0 = a->same ? i : n, own1 = a->same ? last : n;
  int64_t rows = own0 + (n - own1);
  fine_vector sum = nothing(dim);
  each_vector each = {{{0, 0}}};
  if (measure_lanes(a, force, energy, dim, forces, i, 0, own0, &sum) &&
      measure_lanes(a, force, energy, dim, forces, i, own1, n, &sum)) {
    measure_each(a, force_each, energy_each, dim, i, last, own0, own1, each, overlap);
  } else {
    rows = 0;
    sum = nothing(dim);
    measure_each(a, force_each, energy_each, dim, i, last, 0, n, each, overlap);
  }
  for (int l = 0; l < MD_SIMD_WIDTH && i + l < last; ++l) {
    const md_fine e = lane_of(&sum, 0, l, rows), w = lane_of(&sum, 1, l, rows);
    md_wide_add(energy2, md_fine_count(e) + md_fine_count(each[0][l]));
    md_wide_add(virial2, md_fine_count(w) + md_fine_count(each[1][l]));
    for (int d = 0; forces && d < dim; ++d) {
      const md_fine f = lane_of(&sum, 2 + d, l, rows);
      out[d][l].coarse += f.coarse + each[2 + d][l].coarse;
      out[d][l].rest += f.rest + each[2 + d][l].rest;
    }
  }
}

/* The compiler makes one loop for each style, for each dimension, and with and without the test for close pairs. */
#define MD_PAIR_ALL(symbol)                                                                                  \
  static void impulse_##symbol(const all_args *a, int64_t i0, int64_t i1, int64_t j0, int64_t j1,            \
                               int64_t *const sum[3], md_overlap *overlap)                                   \
  {                                                                                                          \
    const bool careful = a->close2 > 0.0;                                                                    \
    if (a->dim == 3 && !careful)                                                                             \
      impulse_all(a, md_##symbol##_force_v, md_##symbol##_force, 3, false, i0, i1, j0, j1, sum, overlap);    \
    else if (a->dim == 3)                                                                                    \
      impulse_all(a, md_##symbol##_force_v, md_##symbol##_force, 3, true, i0, i1, j0, j1, sum, overlap);     \
    else if (!careful)                                                                                       \
      impulse_all(a, md_##symbol##_force_v, md_##symbol##_force, 2, false, i0, i1, j0, j1, sum, overlap);    \
    else                                                                                                     \
      impulse_all(a, md_##symbol##_force_v, md_##symbol##_force, 2, true, i0, i1, j0, j1, sum, overlap);     \
  }                                                                                                          \
  static void measure_##symbol(const all_args *a, int64_t i, md_wide *energy2, md_wide *virial2,             \
                               md_fine(*const sum)[ALL_PAD], md_overlap *overlap)                            \
  {                                                                                                          \
    measure_vector(a, md_##symbol##_force_v, md_##symbol##_energy_v, md_##symbol##_force,                    \
                   md_##symbol##_energy, a->dim, sum != NULL, i, energy2, virial2, sum, overlap);            \
  }
#include "common/pair/pair_styles.h"
#undef MD_PAIR_ALL

extern const all_kernels JOIN(md_all_pairs_kernels_, MD_ISA);
const all_kernels JOIN(md_all_pairs_kernels_, MD_ISA) = {
    .isa = STRING(MD_ISA),
    .lanes = MD_SIMD_WIDTH,
    .impulse =
        {
#define MD_PAIR_ALL(symbol) [MD_PAIR_##symbol] = impulse_##symbol,
#include "common/pair/pair_styles.h"
#undef MD_PAIR_ALL
        },
    .measure =
        {
#define MD_PAIR_ALL(symbol) [MD_PAIR_##symbol] = measure_##symbol,
#include "common/pair/pair_styles.h"
#undef MD_PAIR_ALL
        },
};
