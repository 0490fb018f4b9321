/* Velocities: temperature, momentum and distribution are those that the deck gives. The bits are the same for any
 * number of threads and any order of the particles. Every error has its message. */
#include "validate/unit/support/sim_fixture.h"

#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

static fixture f;

enum { N = 20000 };

static int set_up(void **state)
{
  (void)state;
  if (fixture_begin(&f, 3) != MD_OK) return -1;
  if (fixture_run(&f, "region box block 0 1 0 1 0 1") != MD_OK) return -1;
  if (fixture_run(&f, "create_box 2 box") != MD_OK) return -1;
  if (fixture_run(&f, "create_atoms 1 random %d 1 NULL", N) != MD_OK) return -1;
  for (int64_t i = 0; i < N; i += 3) f.sim.particles.type[i] = 2;
  f.sim.model.mass[1] = 1.0;
  f.sim.model.mass[2] = 5.0;
  return 0;
}

static int tear_down(void **state)
{
  (void)state;
  fixture_end(&f);
  omp_set_num_threads(omp_get_num_procs());
  return 0;
}

static void good(const char *line)
{
  const md_status status = fixture_run(&f, "%s", line);
  if (status != MD_OK) print_error("%s: %s\n", line, md_error_text());
  assert_int_equal(status, MD_OK);
}

static void bad(const char *line, const char *reason)
{
  assert_int_equal(fixture_run(&f, "%s", line), MD_USAGE);
  if (!strstr(md_error_text(), reason))
    print_error("%s: '%s' does not say '%s'\n", line, md_error_text(), reason);
  assert_non_null(strstr(md_error_text(), reason));
}

static double mass_of(int64_t i) { return f.sim.model.mass[f.sim.particles.type[i]]; }

static double temperature(void)
{
  const md_particles *p = &f.sim.particles;
  long double sum = 0.0L;
  for (int64_t i = 0; i < p->n; ++i)
    for (int d = 0; d < 3; ++d) sum += (long double)(mass_of(i) * p->v[d][i] * p->v[d][i]);
  return (double)(sum / (3 * p->n - 3));
}

static double momentum(int d)
{
  const md_particles *p = &f.sim.particles;
  long double sum = 0.0L;
  for (int64_t i = 0; i < p->n; ++i) sum += (long double)(mass_of(i) * p->v[d][i]);
  return (double)sum;
}

/* Mean of (v / sqrt(T/m))^k over all components of one type. */
static double moment(int type, int k, double t)
{
  const md_particles *p = &f.sim.particles;
  double sum = 0.0, count = 0.0;
  for (int64_t i = 0; i < p->n; ++i)
    for (int d = 0; d < 3 && p->type[i] == type; ++d, count += 1.0)
      sum += pow(p->v[d][i] / sqrt(t / mass_of(i)), k);
  return sum / count;
}

static void check_create(const char *line, double fourth)
{
  good(line);
  assert_true(fabs(temperature() / 1.44 - 1.0) < 1e-14);
  for (int d = 0; d < 3; ++d) assert_true(fabs(momentum(d)) < 1e-9);
  for (int type = 1; type <= 2; ++type) {
    assert_true(fabs(moment(type, 2, 1.44) - 1.0) < 0.05);
    assert_true(fabs(moment(type, 3, 1.44)) < 0.1);
    assert_true(fabs(moment(type, 4, 1.44) - fourth) < 0.15);
  }
}

/* The fourth moment of a uniform distribution is 9/5, of a normal one 3. */
static void test_create_uniform(void **state)
{
  (void)state;
  check_create("velocity all create 1.44 87287 loop geom", 1.8);
}

static void test_create_gaussian(void **state)
{
  (void)state;
  check_create("velocity all create 1.44 87287 dist gaussian rot no mom yes", 3.0);
}

static void test_momentum_kept(void **state)
{
  (void)state;
  good("velocity all create 1.0 3 mom no");
  assert_true(fabs(temperature() - 1.0) < 1e-14);
  assert_true(fabs(momentum(0)) > 1.0);
}

static double *velocities_by_id(void)
{
  const md_particles *p = &f.sim.particles;
  double *v = calloc(3 * N, sizeof *v);
  assert_non_null(v);
  for (int64_t i = 0; i < N; ++i)
    for (int d = 0; d < 3; ++d) v[3 * (p->id[i] - 1) + d] = p->v[d][i];
  return v;
}

static void test_threads_and_order(void **state)
{
  (void)state;
  static const char *const lines[] = {
      "velocity all create 1.44 87287", "velocity all create 0.7 5 dist gaussian mom no",
      "velocity all uniform -1 3 8", "velocity all zero linear", "velocity all scale 2"};
  int32_t *shuffled = calloc(N, sizeof *shuffled);
  assert_non_null(shuffled);
  for (int32_t i = 0; i < N; ++i) shuffled[i] = (int32_t)((int64_t)i * 7919 % N);
  for (size_t k = 0; k < sizeof lines / sizeof *lines; ++k) {
    double *start = velocities_by_id();
    omp_set_num_threads(1);
    good(lines[k]);
    double *one = velocities_by_id();
    for (int threads = 2; threads <= 4; ++threads) {
      md_particles *p = &f.sim.particles;
      for (int64_t i = 0; i < N; ++i)
        for (int d = 0; d < 3; ++d) p->v[d][i] = start[3 * (p->id[i] - 1) + d];
      assert_int_equal(md_particles_permute(p, shuffled), MD_OK);
      omp_set_num_threads(threads);
      good(lines[k]);
      double *many = velocities_by_id();
      assert_memory_equal(one, many, 3 * N * sizeof *one);
      free(many);
    }
    free(one);
    free(start);
  }
  free(shuffled);
}

static void test_uniform(void **state)
{
  (void)state;
  good("velocity all uniform -1 3 8");
  const md_particles *p = &f.sim.particles;
  double mean = 0.0, least = 9.0, most = -9.0;
  for (int64_t i = 0; i < N; ++i) {
    mean += p->v[1][i] / N;
    least = fmin(least, p->v[1][i]);
    most = fmax(most, p->v[1][i]);
  }
  assert_true(least > -1.0 && least < -0.99 && most < 3.0 && most > 2.99);
  assert_true(fabs(mean - 1.0) < 0.05);
}

/* Only particles in a region get velocities, and each gets the same as it would without the region. */
static void test_uniform_in_a_region(void **state)
{
  (void)state;
  md_particles *p = &f.sim.particles;
  good("region ball sphere 0.25 0.375 0.5 0.3125 units box");
  good("region rod cylinder y 0.25 0.5 0.1875 INF INF units box");
  good("region slice block 0.125 0.5 INF INF INF INF units box");
  double *all;
  assert_int_equal(md_array_new(&all, N, sizeof *all, "velocities"), MD_OK);
  good("velocity all uniform -1 1 8");
  memcpy(all, p->v[2], N * sizeof *all);
  static const char *const lines[] = {"velocity all uniform -1 1 8 region ball",
                                      "velocity all uniform -1 1 8 region rod",
                                      "velocity all uniform -1 1 8 region slice"};
  for (int k = 0; k < 3; ++k) {
    good("velocity all set 7 7 7 units box");
    good(lines[k]);
    int inside = 0;
    for (int64_t i = 0; i < N; ++i) {
      const double x = p->x[0][i] - 0.25, y = p->x[1][i] - 0.375, z = p->x[2][i] - 0.5;
      const bool in = k == 0   ? x * x + y * y + z * z <= 0.3125 * 0.3125
                      : k == 1 ? x * x + z * z <= 0.1875 * 0.1875
                               : x >= -0.125 && x <= 0.25;
      assert_true(p->v[2][i] == (in ? all[i] : 7.0));
      inside += in;
    }
    assert_in_range(inside, 1, N - 1);
  }
  free(all);
  bad("velocity all uniform 0 1 5 region none", "no region 'none'");
  bad("velocity all uniform 0 1 5 region", "needs 5 words after it");
  bad("velocity all uniform 0 1 5 region ball now", "'now'");
}

static void test_set(void **state)
{
  (void)state;
  const md_particles *p = &f.sim.particles;
  good("velocity all set 1 -2 3 units box");
  good("velocity all set NULL 5 NULL");
  assert_true(p->v[0][17] == 1.0 && p->v[1][17] == 5.0 && p->v[2][17] == 3.0);
  good("lattice sc scale 2");
  good("velocity all set 1 NULL NULL");
  assert_true(p->v[0][17] == 2.0 && p->v[1][17] == 5.0);
  good("velocity all negate");
  assert_true(p->v[0][17] == -2.0 && p->v[1][17] == -5.0 && p->v[2][17] == -3.0);
  good("velocity all zero linear");
  for (int d = 0; d < 3; ++d) assert_true(p->v[d][17] == 0.0);
}

static void test_scale(void **state)
{
  (void)state;
  good("velocity all uniform -1 1 8");
  const double before = f.sim.particles.v[2][5], t = temperature();
  good("velocity all scale 0.25");
  assert_true(fabs(temperature() / 0.25 - 1.0) < 1e-14);
  assert_true(fabs(f.sim.particles.v[2][5] / (before * sqrt(0.25 / t)) - 1.0) < 1e-14);
  good("velocity all create 0 8");
  assert_true(temperature() == 0.0);
}

static void test_two_dimensions(void **state)
{
  (void)state;
  fixture_end(&f);
  assert_int_equal(fixture_begin(&f, 2), MD_OK);
  good("region box block 0 1 0 1 -1 1");
  good("create_box 1 box");
  good("create_atoms 1 random 3 1 NULL");
  f.sim.model.mass[1] = 2.0;
  good("velocity all create 1.5 9 dist gaussian");
  double sum = 0.0;
  for (int64_t i = 0; i < 3; ++i)
    for (int d = 0; d < 2; ++d) sum += 2.0 * f.sim.particles.v[d][i] * f.sim.particles.v[d][i];
  assert_true(fabs(sum / (2 * 3 - 2) - 1.5) < 1e-14);
  good("velocity all set 1 1 0");
  bad("velocity all set 1 1 1", "two dimensions");
}

static void test_refuses(void **state)
{
  (void)state;
  bad("velocity some negate", "some");
  bad("velocity all rump vx 0 1 x 0 1", "'rump'");
  bad("velocity all ramp vx 0 1 x 0", "needs 6 words after it");
  bad("velocity all ramp x 0 1 x 0 1", "'x' is not vx, vy or vz");
  bad("velocity all ramp vx 0 1 w 0 1", "'w' is not an axis");
  bad("velocity all ramp vx 0 1 x 1 1", "do not increase");
  bad("velocity all create 1", "needs 2 words after it, not 1");
  bad("velocity all create -1 5", "negative");
  bad("velocity all create 1 0", "seed");
  bad("velocity all create 1 1.5", "seed");
  bad("velocity all create 1 5 dist flat", "'flat'");
  bad("velocity all create 1 5 mom", "'mom'");
  bad("velocity all create 1 5 rot maybe", "'maybe'");
  bad("velocity all create 1 5 temp thermo_pe", "is not a temperature");
  bad("velocity all create 1 5 loop none", "'none'");
  bad("velocity all create 1 5 bias yes", "bias no");
  bad("velocity all set 1 2", "needs 3 words");
  bad("velocity all set 1 2 x", "'x'");
  bad("velocity all set 1 2 3 units si", "'si'");
  bad("velocity all uniform 1 -1 5", "increasing");
  bad("velocity all uniform 0 1 5 mom yes", "'mom'");
  bad("velocity all zero angle", "'angle'");
  bad("velocity all negate now", "'now'");
  bad("velocity all scale 1", "at rest");
  f.sim.model.mass[2] = 0.0;
  bad("velocity all create 1 5", "mass of type 2");
  bad("velocity all zero linear", "mass of type 2");
  f.sim.model.mass[2] = 5.0;
  f.sim.particles.n = 1;
  assert_int_equal(md_sim_count(&f.sim), MD_OK);
  bad("velocity all create 1 5", "at least 2");
  f.sim.has_box = false;
  bad("velocity all negate", "needs a box");
}

static void test_unusable_velocities(void **state)
{
  (void)state;
  f.sim.particles.v[1][7] = (double)NAN;
  assert_int_equal(fixture_run(&f, "velocity all zero linear"), MD_PHYSICS);
  good("velocity all set 1e200 0 0 units box");
  assert_int_equal(fixture_run(&f, "velocity all scale 1"), MD_PHYSICS);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_create_uniform),
      TEST(test_create_gaussian),
      TEST(test_momentum_kept),
      TEST(test_threads_and_order),
      TEST(test_uniform),
      TEST(test_uniform_in_a_region),
      TEST(test_set),
      TEST(test_scale),
      TEST(test_two_dimensions),
      TEST(test_refuses),
      TEST(test_unusable_velocities),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
