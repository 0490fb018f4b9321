/* The terms of the virial of impulses: rounded alike whatever the sum is to which they are added. */
#include "common/compute/impulse_virial.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint64_t draw(uint64_t *state)
{
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 11;
}

/* A number of 53 bits or of 12, and a length on a grid of 2^-39, of which every other one is a power of two. */
static double factor(uint64_t *state)
{
  const uint64_t bits = draw(state) % 2 ? draw(state) : (draw(state) % 4095 + 1) << 41;
  return ldexp((double)bits, -20 - (int)(draw(state) % 16));
}

static double length(uint64_t *state)
{
  const int order = (int)(draw(state) % 16);
  const double power = ldexp(1.0, -order);
  return draw(state) % 2 ? power : power + ldexp((double)(draw(state) % 4096), -39);
}

/* The nearest whole number to a f/q, all of them doubles, from the integers that they are multiples of. */
static int64_t nearest(double f, double a, double q)
{
  int order_f, order_a, order_q;
  const md_int128 product =
      (md_int128)(int64_t)ldexp(frexp(f, &order_f), 53) * (md_int128)(int64_t)ldexp(frexp(a, &order_a), 53);
  (void)frexp(q, &order_q);
  const int down = 106 - order_f - order_a + order_q - 1;
  assert_in_range(down, 1, 125);
  assert_true((product & (((md_int128)1 << down) - 1)) != (md_int128)1 << (down - 1)); /* not halfway */
  return (int64_t)((product + ((md_int128)1 << (down - 1))) >> down);
}

static void terms_are_rounded_to_nearest(void **state)
{
  (void)state;
  uint64_t seed = 7;
  for (int k = 0; k < 200000; ++k) {
    const double f = factor(&seed), a = length(&seed), q = ldexp(1.0, (int)(draw(&seed) % 8));
    const int64_t count = md_odd_count(f, a, MD_ROUND * q);
    assert_int_equal(count, nearest(md_odd(f), a, q));
    assert_int_equal(md_odd_count(-f, a, MD_ROUND * q), -count);
  }
}

/* As kernels of the GPU add them. */
static void a_running_sum_has_the_same_terms(void **state)
{
  (void)state;
  uint64_t seed = 8;
  for (int k = 0; k < 50000; ++k) {
    const double q = ldexp(1.0, (int)(draw(&seed) % 8)), rounder = MD_ROUND * q;
    double sum = rounder;
    int64_t counts = 0;
    for (int pair = 0; pair < 4; ++pair) {
      const double f = factor(&seed), a = length(&seed);
      sum = fma(md_odd(f), a, sum);
      counts += md_odd_count(f, a, rounder);
    }
    assert_int_equal(md_bits(sum) - md_bits(rounder), counts);
  }
}

/* One and a half quanta go to the even side, which depends on the sum, unless the last bit is set. */
static void what_the_last_bit_is_for(void **state)
{
  (void)state;
  const double even = MD_ROUND, odd = MD_ROUND + 1.0;
  assert_true(fma(3.0, 0.5, even) - even == 2.0);
  assert_true(fma(3.0, 0.5, odd) - odd == 1.0);
  assert_true(fma(md_odd(3.0), 0.5, even) - even == 2.0);
  assert_true(fma(md_odd(3.0), 0.5, odd) - odd == 2.0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(terms_are_rounded_to_nearest),
      cmocka_unit_test(a_running_sum_has_the_same_terms),
      cmocka_unit_test(what_the_last_bit_is_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
