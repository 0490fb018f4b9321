/* Long sums: exact for terms of any size, in any order, and rounded once. */
#include "common/arithmetic/long_sum.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static double sum_of(const double *term, int n)
{
  md_long_sum sum = {.terms = 0};
  for (int k = 0; k < n; ++k) md_long_add(&sum, term[k]);
  md_long_normalise(&sum);
  return md_long_value(&sum);
}

static void test_one_term_comes_back(void **state)
{
  (void)state;
  const double term[] = {0.0,     1.0,     -1.0,    0.1,         -1e-20,    1e300,          -DBL_MAX, DBL_MAX,
                         DBL_MIN, 0x1p-30, 0x1p-31, 0x1.8p-1074, 0x1p-1074, -0x1.fffp-1050, 12345.678};
  for (size_t k = 0; k < sizeof term / sizeof *term; ++k) assert_true(sum_of(&term[k], 1) == term[k]);
}

static void test_small_terms_stay_beside_large_ones(void **state)
{
  (void)state;
  assert_true(sum_of((double[]){1e300, 1e-300, -1e300}, 3) == 1e-300);
  assert_true(sum_of((double[]){DBL_MAX, -0x1p-1074, -DBL_MAX}, 3) == -0x1p-1074);
  assert_true(sum_of((double[]){DBL_MAX, DBL_MAX, -DBL_MAX}, 3) == DBL_MAX);
  assert_true(sum_of((double[]){1.0, -0x1p-60}, 2) == 1.0);
  assert_true(sum_of((double[]){-1.0, 0x1p-60, 1.0}, 3) == 0x1p-60);
}

static void test_a_sum_is_rounded_once_to_the_nearest(void **state)
{
  (void)state;
  const double half = 0x1p-53;
  assert_true(sum_of((double[]){1.0, half}, 2) == 1.0); /* a tie, to even */
  assert_true(sum_of((double[]){1.0, half, 0x1p-1074}, 3) == 1.0 + 0x1p-52);
  assert_true(sum_of((double[]){1.0, half, -0x1p-1074}, 3) == 1.0);
  assert_true(sum_of((double[]){-1.0, -half, -0x1p-1074}, 3) == -1.0 - 0x1p-52);
  assert_true(sum_of((double[]){1.0 + 0x1p-52, half}, 2) == 1.0 + 0x1p-51);
}

static void test_the_order_does_not_matter(void **state)
{
  (void)state;
  enum { N = 20000 };
  static double term[N];
  srand(7);
  for (int k = 0; k < N; ++k)
    term[k] = ldexp(rand() - RAND_MAX / 2, rand() % 1900 - 1000) * (1.0 + ldexp(rand(), -40));
  const double forward = sum_of(term, N);
  for (int k = N - 1; k > 0; --k) {
    const int other = rand() % (k + 1);
    const double kept = term[k];
    term[k] = term[other];
    term[other] = kept;
  }
  assert_true(sum_of(term, N) == forward && forward != 0.0);
}

/* 2^30 terms of 0x1.fffffffffffffp52 fill limbs to within 2^62; so terms that carry must be carried in time. */
static void test_many_terms(void **state)
{
  (void)state;
  md_long_sum sum = {.terms = (INT64_C(1) << 30) - 3};
  for (int k = 0; k < MD_LONG_LIMBS - 3; ++k) sum.limb[k] = (INT64_C(1) << 62) - 1;
  md_long_sum carried = sum;
  md_long_normalise(&carried);
  for (int k = 0; k < 5; ++k) md_long_add(&sum, DBL_MAX);
  for (int k = 0; k < 5; ++k) md_long_add(&carried, DBL_MAX);
  assert_int_equal(sum.terms, 2);
  md_long_normalise(&sum);
  md_long_normalise(&carried);
  assert_memory_equal(&sum, &carried, sizeof sum);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_term_comes_back),
      cmocka_unit_test(test_small_terms_stay_beside_large_ones),
      cmocka_unit_test(test_a_sum_is_rounded_once_to_the_nearest),
      cmocka_unit_test(test_the_order_does_not_matter),
      cmocka_unit_test(test_many_terms),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
