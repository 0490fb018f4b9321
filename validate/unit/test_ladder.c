/* What the ladder's programs share: bodies that are the same on every machine, the oracle, and the checks, which must
 * fail where something is wrong. */
#include "common/ladder/bodies.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 1000 };
static const ladder_study square = {"square", SHAPE_SQUARE, 1e-4f, false, NULL};
static const ladder_study cluster = {"cluster", SHAPE_PLUMMER, 1e-4f, true, NULL};

static uint64_t digest(const float *at, int n)
{
  uint64_t sum = 14695981039346656037u;
  for (int i = 0; i < n; ++i) {
    uint32_t bits;
    memcpy(&bits, &at[i], sizeof bits);
    sum = (sum ^ bits) * 1099511628211u;
  }
  return sum;
}

static void test_bodies_are_the_same_everywhere(void **state)
{
  (void)state;
  ladder_case *c = ladder_make_case(&cluster, N);
  assert_true(digest(c->x, N) == 1516250851097736606u);
  assert_true(digest(c->z, N) == 15837044085815967183u);
  for (int i = 0; i < N; ++i)
    assert_true(hypotf(hypotf(c->x[i], c->y[i]), c->z[i]) <= 10.001f && c->m[i] == 1.0f);
  ladder_free_case(c);
  c = ladder_make_case(&square, N);
  assert_true(digest(c->y, N) == 11543918085538949153u);
  assert_true(digest(c->m, N) == 9676956920441196776u);
  double mass = 0.0;
  for (int i = 0; i < N; ++i) mass += (double)c->m[i];
  assert_true(fabs(mass - 1.0) < 0.1);
  ladder_free_case(c);
}

/* Half of the mass of Plummer's cluster is within 1.30 scale lengths. */
static void test_half_of_the_mass(void **state)
{
  (void)state;
  enum { MANY = 40000 };
  ladder_case *c = ladder_make_case(&cluster, MANY);
  int inside = 0, above = 0;
  for (int i = 0; i < MANY; ++i) {
    inside += c->x[i] * c->x[i] + c->y[i] * c->y[i] + c->z[i] * c->z[i] < 1.305f * 1.305f;
    above += c->z[i] > 0.0f;
  }
  assert_true(abs(inside - MANY / 2) < MANY / 50);
  assert_true(abs(above - MANY / 2) < MANY / 50);
  ladder_free_case(c);
}

static void test_two_bodies(void **state)
{
  (void)state;
  ladder_case *c = ladder_make_case(&square, 2);
  const double dx = (double)c->x[1] - (double)c->x[0], dy = (double)c->y[1] - (double)c->y[0];
  const double pull = pow(dx * dx + dy * dy + (double)1e-4f, -1.5);
  double ax[2] = {pull * (double)c->m[1] * dx, -pull * (double)c->m[0] * dx};
  double ay[2] = {pull * (double)c->m[1] * dy, -pull * (double)c->m[0] * dy};
  assert_int_equal(c->samples, 2);
  assert_true(ladder_error(c, ax, ay, NULL) < 1e-14);
  ax[1] *= 1.01;
  ay[1] *= 1.01;
  assert_true(fabs(ladder_error(c, ax, ay, NULL) - 0.01) < 1e-6);
  ax[1] = (double)NAN;
  assert_true(isinf(ladder_error(c, ax, ay, NULL)));
  ladder_free_case(c);
}

static void test_samples_have_the_first_and_the_last(void **state)
{
  (void)state;
  ladder_case *c = ladder_make_case(&square, N);
  assert_int_equal(c->samples, LADDER_SAMPLES);
  assert_int_equal(c->sample[0], 0);
  assert_int_equal(c->sample[LADDER_SAMPLES - 1], N - 1);
  for (int k = 1; k < c->samples; ++k) assert_true(c->sample[k] > c->sample[k - 1]);
  ladder_free_case(c);
}

static void test_moves(void **state)
{
  (void)state;
  static float x[N], y[N], u[N], v[N];
  ladder_case *c = ladder_make_case(&square, N);
  for (int i = 0; i < N; ++i) {
    u[i] = 1.0f;
    v[i] = (float)i / N - 0.5f;
    x[i] = c->x[i] + c->dt * u[i];
    y[i] = c->y[i] + c->dt * v[i];
  }
  assert_true(ladder_moved(c, x, y, NULL, u, v, NULL));
  y[N - 1] = c->y[N - 1];
  assert_false(ladder_moved(c, x, y, NULL, u, v, NULL));
  ladder_free_case(c);
}

static void test_map(void **state)
{
  (void)state;
  static unsigned map[MAP_CELLS * MAP_CELLS];
  const float x[3] = {0.0f, 1.0f, 0.999f}, y[3] = {0.0f, 0.5f, 0.5f};
  ladder_case *c = ladder_make_case(&square, 3);
  map[0] = 1;
  map[128 * MAP_CELLS + 255] = 1;
  assert_true(ladder_mapped(c, x, y, map));
  map[1] = 1;
  assert_false(ladder_mapped(c, x, y, map));
  ladder_free_case(c);
}

static void test_median(void **state)
{
  (void)state;
  double odd[3] = {5.0, 1.0, 2.0}, even[4] = {4.0, 1.0, 3.0, 9.0};
  assert_true(ladder_median(odd, 3) == 2.0);
  assert_true(ladder_median(even, 4) == 3.5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bodies_are_the_same_everywhere),
      cmocka_unit_test(test_half_of_the_mass),
      cmocka_unit_test(test_two_bodies),
      cmocka_unit_test(test_samples_have_the_first_and_the_last),
      cmocka_unit_test(test_moves),
      cmocka_unit_test(test_map),
      cmocka_unit_test(test_median),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
