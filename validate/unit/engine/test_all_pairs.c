/* The kernels of all pairs, in every instruction set: the same bits as sums of one pair at a time by the scalar recipes
 * of common/arithmetic/real.h, for any number of bodies, blocks of one's own and of another rank, and pairs near and
 * far. */
#include "common/arithmetic/exact.h"
#include "common/pair/all_pairs.h"
#include "common/pair/formulas.h"
#include "openmp/all_pairs/all_pairs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 1040, SCALES = 60 };

/* A block with its arrays. */
typedef struct bodies {
  double x[3][MOST], mass[MOST];
  int64_t id[MOST];
  body_block block;
} bodies;

static uint64_t random_state = 88172645463325252u;

static double uniform(void)
{
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (double)(random_state >> 11) * 0x1p-53;
}

/* Bodies in a cube of this side. The charges are masses over four orders of magnitude times 2^15: two masses of 1 at a
 * distance of 1 have an impulse of 2^30 quanta. */
static void make(bodies *b, int64_t n, double side, int64_t first_id)
{
  *b = (bodies){.block = {.n = n}};
  for (int64_t i = 0; i < n; ++i) {
    for (int d = 0; d < 3; ++d) b->x[d][i] = side * uniform();
    b->mass[i] = 0x1p15 * pow(10.0, 4.0 * uniform() - 2.0);
    b->id[i] = first_id + i;
  }
  for (int d = 0; d < 3; ++d) b->block.x[d] = b->x[d];
  b->block.mass = b->mass;
  b->block.id = b->id;
}

static double separation(const all_args *a, int64_t i, int64_t j, double delta[3])
{
  double r2 = a->k[2];
  for (int d = 0; d < a->dim; ++d) {
    delta[d] = a->own->x[d][i] - a->other->x[d][j];
    r2 = fma(delta[d], delta[d], r2);
  }
  return r2;
}

static void sum_plainly(const all_args *a, int64_t *sum[3], md_overlap *overlap)
{
  for (int64_t i = 0; i < a->own->n; ++i)
    for (int64_t j = 0; j < a->other->n; ++j) {
      if (a->same && i == j) continue;
      double delta[3], k[MD_PAIR_K];
      const double r2 = separation(a, i, j, delta);
      md_all_coefficients(a->k, a->own->mass[i], a->other->mass[j], k);
      const double f = md_gravity_force(r2, k);
      if (md_all_overlaps(f, delta, a->dim, r2, a->range)) {
        md_overlap_add(overlap, a->own->id[i], a->other->id[j], r2);
        continue;
      }
      for (int d = 0; d < a->dim; ++d) sum[d][i] += (int64_t)md_round_product(f, delta[d]);
    }
}

static int64_t impulses[3][MOST], expected[3][MOST];

/* Compares the impulses on all bodies of `own`, made in pieces, in every instruction set. Returns whether there were
 * overlaps. */
static bool assert_impulses(const all_args *a)
{
  static const char *const isa[] = {"generic", "avx2", "avx512"};
  int64_t *sum[3] = {impulses[0], impulses[1], impulses[2]},
          *plain[3] = {expected[0], expected[1], expected[2]};
  md_overlap all = md_overlap_none();
  memset(expected, 0, sizeof expected);
  sum_plainly(a, plain, &all);
  for (size_t s = 0; s < sizeof isa / sizeof isa[0]; ++s) {
    const all_kernels *kernels = all_kernels_choose(isa[s]);
    if (!kernels) continue;
    assert_string_equal(kernels->isa, isa[s]);
    assert_int_equal(ALL_PAD % kernels->lanes, 0);
    md_overlap found = md_overlap_none();
    memset(impulses, 0, sizeof impulses);
    for (int64_t i = 0; i < a->own->n; i += 5 * ALL_PAD)
      kernels->impulse[MD_PAIR_gravity](a, i, i + 5 * ALL_PAD < a->own->n ? i + 5 * ALL_PAD : a->own->n, 0,
                                        a->other->n, sum, &found);
    for (int d = 0; d < a->dim; ++d)
      for (int64_t i = 0; i < a->own->n; ++i)
        if (sum[d][i] != plain[d][i])
          fail_msg("%s, body %d, axis %d: %lld, not %lld", isa[s], (int)i, d, (long long)sum[d][i],
                   (long long)plain[d][i]);
    assert_int_equal(found.a, all.a);
    assert_int_equal(found.b, all.b);
    assert_true(found.r2 == all.r2);
  }
  return all.a != INT64_MAX;
}

static all_args args_of(const bodies *own, const bodies *other, int dim, double softening2)
{
  all_args a = {
      .own = &own->block, .other = &other->block, .same = own == other, .dim = dim, .range = MD_ALL_RANGE};
  a.k[2] = softening2;
  return a;
}

static void impulses_are_those_of_the_scalar_code(void **state)
{
  (void)state;
  static bodies own, other;
  static const int64_t number[] = {1, 2, 7, 8, 9, 63, 64, 520, 1033};
  for (size_t k = 0; k < sizeof number / sizeof number[0]; ++k)
    for (int dim = 2; dim <= 3; ++dim) {
      make(&own, number[k], 1.0, 1);
      make(&other, number[sizeof number / sizeof number[0] - 1 - k], 1.0, 5000);
      for (int64_t i = 0; i < other.block.n; ++i) other.x[0][i] += 1.5;
      all_args a = args_of(&own, &own, dim, 0.01);
      assert_false(assert_impulses(&a));
      a = args_of(&own, &other, dim, 0.01);
      assert_false(assert_impulses(&a));
    }
}

/* A body beside another one, at distances that need the careful sum, and at some that overlap. */
static void close_pairs_are_summed_with_care(void **state)
{
  (void)state;
  static bodies own, other;
  int overlaps = 0, apart = 0;
  for (int s = 0; s < SCALES; ++s) {
    make(&own, 100, 1.0, 1);
    make(&other, 90, 1.0, 5000);
    for (int64_t i = 0; i < MOST; ++i) own.mass[i] = other.mass[i] = 0x1p15;
    const double gap = ldexp(1.0, -s);
    own.x[0][s] = own.x[0][99 - s] + gap;
    for (int d = 1; d < 3; ++d) own.x[d][s] = own.x[d][99 - s];
    other.x[0][s] = own.x[0][7] - gap;
    for (int d = 1; d < 3; ++d) other.x[d][s] = own.x[d][7];
    all_args a = args_of(&own, &own, 2 + s % 2, 0x1p-120);
    a.close2 = 0x1p-20;
    const bool itself = assert_impulses(&a);
    a = args_of(&own, &other, a.dim, 0x1p-120);
    a.close2 = 0x1p-20;
    a.range = s % 3 ? MD_ALL_RANGE : MD_ALL_WIDE_RANGE;
    overlaps += itself + assert_impulses(&a);
    apart += !itself;
  }
  assert_true(overlaps > 20 && apart > 5);
}

/* md_rsqrt3 over its whole range, through a kernel: two bodies on the first axis, a difference of 1, any softening. */
static void every_softened_distance(void **state)
{
  (void)state;
  static bodies own, other;
  make(&own, 9, 1.0, 1);
  make(&other, 1, 1.0, 100);
  for (int64_t i = 0; i < 9; ++i) {
    own.x[0][i] = 0x1p-10 * (1.0 + (double)i);
    own.x[1][i] = own.x[2][i] = 0.0;
    own.mass[i] = 1.0;
  }
  for (int d = 0; d < 3; ++d) other.x[d][0] = 0.0;
  for (int s = 0; s < 20000; ++s) {
    const all_args a = args_of(&own, &other, 3, ldexp(1.0 + uniform(), s % 240 - 118));
    other.mass[0] = ldexp(a.k[2] * sqrt(a.k[2]) + 1e-9, 40);
    assert_false(assert_impulses(&a));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(impulses_are_those_of_the_scalar_code),
      cmocka_unit_test(close_pairs_are_summed_with_care),
      cmocka_unit_test(every_softened_distance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
