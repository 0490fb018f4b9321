/* Kicks of momenta of two words (common/step/motion.h), against sums of 128 bits. */
#include "common/step/motion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint64_t state_of_random = 1;

static uint64_t random_word(void)
{
  state_of_random ^= state_of_random << 13;
  state_of_random ^= state_of_random >> 7;
  state_of_random ^= state_of_random << 17;
  return state_of_random;
}

/* A whole number of any size below 2^bits. */
static int64_t random_count(int bits)
{
  const int64_t n = (int64_t)(random_word() >> (64 - bits)) >> (random_word() % (uint64_t)bits);
  return random_word() % 2 ? -n : n;
}

/* v_step is 2^bits quanta. */
static void assert_kick(int64_t steps, int64_t low, int64_t impulse, int bits)
{
  const double quantum = 0x1p-70, v_step = ldexp(quantum, bits);
  const md_int128 before = (md_int128)steps * ((md_int128)1 << bits) + low;
  double v, expected_v;
  int64_t rest, expected_rest;
  md_momentum_split(before, quantum, v_step, &v, &rest);
  md_momentum_split(before + impulse, quantum, v_step, &expected_v, &expected_rest);
  md_kick_wide_count(&v, &rest, impulse, quantum, v_step);
  assert_true(md_bits(v) == md_bits(expected_v) && rest == expected_rest);
}

static void test_kicks(void **state)
{
  (void)state;
  for (int bits = 0; bits <= 60; ++bits)
    for (int k = 0; k < 2000; ++k) {
      const int64_t low = bits > 1 ? random_count(bits - 1) : 0;
      assert_kick(random_count(52), low, random_count(62 < 50 + bits ? 62 : 50 + bits), bits);
    }
}

/* Halves of a step, on both sides of zero. */
static void test_kicks_to_halves(void **state)
{
  (void)state;
  for (int bits = 1; bits <= 59; ++bits) {
    const int64_t half = INT64_C(1) << (bits - 1);
    for (int64_t steps = -2; steps <= 2; ++steps)
      for (int64_t impulse = -4 * half; impulse <= 4 * half; impulse += half)
        for (int64_t more = -1; more <= 1; ++more) {
          assert_kick(steps, 0, impulse + more, bits);
          assert_kick(steps, half - 1, impulse + more, bits);
        }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kicks),
      cmocka_unit_test(test_kicks_to_halves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
