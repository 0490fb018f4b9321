/* Masses of particles: what they are, their sum and range, and the inertia that follows from a mass, against the table
 * of types. */
#include "src/particles/extent.h"
#include "src/sums/masses.h"
#include "validate/unit/support/sim_fixture.h"

#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N = 5000 };

static fixture f;

static void begin(bool massed)
{
  assert_int_equal(fixture_begin(&f, 3), MD_OK);
  f.sim.model.massed = massed;
  for (int d = 0; d < 3; ++d) f.sim.model.box.periodic[d] = false;
  assert_int_equal(fixture_run(&f, "region box block 0 1 0 1 0 1"), MD_OK);
  assert_int_equal(fixture_run(&f, "create_box 2 box"), MD_OK);
  assert_int_equal(fixture_run(&f, "create_atoms 1 random %d 1 NULL", N), MD_OK);
}

static int tear_down(void **state)
{
  (void)state;
  fixture_end(&f);
  omp_set_num_threads(omp_get_num_procs());
  return 0;
}

static void test_spheres(void **state)
{
  (void)state;
  begin(true);
  assert_true(md_mass_of_sphere(0.0, 2.5) == 2.5);
  assert_true(md_mass_of_sphere(1.0, 1.0) == MD_MASS_OF_SPHERE);
  assert_true(fabs(md_mass_of_sphere(3.0, 2.0) / (9.0 * 3.14159265358979323846) - 1.0) < 1e-15);
  for (int64_t i = 0; i < N; ++i) assert_true(f.sim.particles.mass[i] == MD_MASS_OF_SPHERE);
  assert_int_equal(md_masses_need(&f.sim, "set mass"), MD_OK);
}

static void test_a_mass_is_set(void **state)
{
  (void)state;
  begin(true);
  md_particles *p = &f.sim.particles;
  static const double wrong[] = {0.0, -1.0, (double)INFINITY, (double)NAN};
  assert_int_equal(md_particles_widen(p, true), MD_OK);
  p->v_low[1][7] = p->v_low[1][8] = 5;
  p->v[1][7] = 0.25;
  assert_int_equal(md_particles_set_mass(p, 7, 3.0), MD_OK);
  assert_true(p->mass[7] == 3.0 && p->v[1][7] == 0.25 && p->mass[8] == MD_MASS_OF_SPHERE);
  assert_true(p->v_low[1][7] == 0 && p->v_low[1][8] == 5);
  for (int k = 0; k < 4; ++k) {
    assert_int_equal(md_particles_set_mass(p, 7, wrong[k]), MD_USAGE);
    assert_non_null(strstr(md_error_text(), "particle 8 is not a positive number"));
  }
  assert_true(p->mass[7] == 3.0);
}

static void test_masses_by_type_are_not_their_own(void **state)
{
  (void)state;
  begin(false);
  assert_int_equal(md_masses_need(&f.sim, "set mass"), MD_USAGE);
  assert_non_null(strstr(md_error_text(), "set mass: "));
  assert_non_null(strstr(md_error_text(), "atom_style sphere"));
  assert_null(f.sim.particles.mass);
  for (int64_t i = 0; i < N; i += 3) f.sim.particles.type[i] = 2;
  f.sim.model.mass[1] = 0.3;
  f.sim.model.mass[2] = 1e-9;
  double total;
  assert_int_equal(md_masses_total(&f.sim, &total), MD_OK);
  assert_true(total == 3333.0 * 0.3 + 1667.0 * 1e-9);
}

/* The reference is an integer sum: masses are whole multiples of 2^-40 up to 2^20. */
static void test_total_and_range(void **state)
{
  (void)state;
  begin(true);
  md_particles *p = &f.sim.particles;
  int64_t sum = 0, most = 0, least = INT64_MAX;
  for (int64_t i = 0; i < N; ++i) {
    const int64_t mass = i % 17 == 0 ? (INT64_C(1) << 50) + 3 * i : i + 2;
    assert_int_equal(md_particles_set_mass(p, i, (double)mass * 0x1p-40), MD_OK);
    sum += mass;
    if (mass > most) most = mass;
    if (mass < least) least = mass;
  }
  for (int threads = 1; threads <= 3; ++threads) {
    double total;
    omp_set_num_threads(threads);
    assert_int_equal(md_masses_total(&f.sim, &total), MD_OK);
    assert_true(total == (double)sum * 0x1p-40);
    assert_int_equal(md_masses_find_range(&f.sim), MD_OK);
    assert_true(f.sim.model.mass_most == (double)most * 0x1p-40);
    assert_true(f.sim.model.mass_least == (double)least * 0x1p-40);
  }
  p->n = 0;
  assert_int_equal(md_masses_find_range(&f.sim), MD_OK);
  assert_true(f.sim.model.mass_most == 0.0 && f.sim.model.mass_least == 0.0);
}

/* A prepared model of two types, and a particle of its own mass beside each: the inertia is the same to the bit. */
static void assert_inertia_of_types(double light, double dt, bool wide)
{
  begin(false);
  md_model *model = &f.sim.model;
  const double eps = 0.05;
  model->mass[1] = 1.7;
  model->mass[2] = light;
  model->dt = dt;
  model->integrator = MD_NVE;
  assert_int_equal(md_pair_start(&model->pair, md_pair_find("gravity"), 2, &eps, 1), MD_OK);
  assert_int_equal(md_extent_find(&f.sim), MD_OK);
  assert_int_equal(md_model_prepare(model), MD_OK);
  assert_int_equal(model->wide, wide);
  md_particles *p = &f.sim.particles;
  const md_inertia typed[2] = {md_inertia_of(model, p, 0), (p->type[0] = 2, md_inertia_of(model, p, 0))};
  assert_int_equal(md_particles_make_masses(p), MD_OK);
  for (int t = 0; t < 2; ++t) {
    p->mass[0] = model->mass[t + 1];
    const md_inertia own = md_inertia_of(model, p, 0);
    assert_true(own.mass == typed[t].mass && own.mass == md_mass_of(model, p, 0));
    assert_true(own.v_step == typed[t].v_step && own.velocity_per_v == typed[t].velocity_per_v);
    assert_true(own.v_step * 0x1p53 >= model->speed_limit / own.velocity_per_v);
    assert_true(wide ? own.v_step >= model->grids.v : own.v_step == model->grids.v);
  }
  fixture_end(&f);
}

static void test_inertia(void **state)
{
  (void)state;
  assert_inertia_of_types(1.7, 0.3, false);
  assert_inertia_of_types(1e-7, 1e-5, true);
  begin(false);
}

static void test_powers_of_two(void **state)
{
  (void)state;
  begin(false);
  assert_true(md_power_above(1.0) == 1.0 && md_power_above(0.75) == 1.0 &&
              md_power_above(1.0 + 0x1p-52) == 2.0);
  assert_true(md_power_above(3e-300) == ldexp(1.0, (int)ceil(log2(3e-300))) &&
              md_power_above(0x1p1023) == 0x1p1023);
  assert_true(md_power_above(0x1p-1060) == 0x1p-1022);
}

#define TEST(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(test_spheres),         TEST(test_a_mass_is_set), TEST(test_masses_by_type_are_not_their_own),
      TEST(test_total_and_range), TEST(test_inertia),       TEST(test_powers_of_two),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
