/* Pair formulas. Forces are the negative gradient of the energy for every style, in two and three dimensions. Values
 * are those known in closed form. Scaling, shift, cutoff and mixing are tested, and 1/a, 1/sqrt(a) and ln(a) of
 * common/arithmetic/real.h are compared with the C library.
 *
 * The styles come from the list of styles, and their parameters are chosen by name. So a new style is tested without a
 * new line here. */
#include "common/pair/formulas.h"
#include "common/pair/hybrid/hybrid.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { STEPS = 400 };

static const double mass[] = {0.0, 1.5}; /* by type, from 1 */

static bool has_cutoff(md_pair_kind kind) { return md_pair_style_of(kind)->rc_parameter != MD_NO_CUTOFF; }

/* A value for any parameter: rc is 1.6, rmin is a quarter of it, and others are about 1. */
static double value_of(const char *name)
{
  if (strcmp(name, "rc") == 0) return 1.6;
  if (strcmp(name, "rmin") == 0) return 0.4;
  if (strcmp(name, "sigma") == 0) return 0.9;
  if (strcmp(name, "inner") == 0) return 1.2;
  if (strcmp(name, "sigmah") == 0) return 0.3;
  if (strncmp(name, "Z_", 2) == 0) return 12.0;
  if (strcmp(name, "delta") == 0) return 0.1;
  if (strcmp(name, "rho") == 0) return 0.3;
  if (strcmp(name, "gammaR") == 0) return 11.5;
  if (strcmp(name, "gammaA") == 0) return 4.25;
  return 1.3;
}

static void coefficients(md_pair_kind kind, bool shift, double scale, double *k)
{
  const md_pair_style *style = md_pair_style_of(kind);
  double value[MD_PAIR_PARAMETERS] = {0};
  for (int p = 0; p < style->nparameter; ++p) value[p] = value_of(style->parameter[p].name);
  md_pair pair = {.kind = MD_PAIR_NONE, .shift = shift};
  assert_int_equal(md_pair_start(&pair, kind, 1, value + style->nparameter - style->nglobal, style->nglobal),
                   MD_OK);
  /* pair_coeff does not take the fixed ones. */
  double own[MD_PAIR_PARAMETERS] = {0};
  const int least = style->nparameter - style->nglobal;
  for (int p = 0; p < style->nparameter - style->nfixed; ++p)
    own[p] = value[p < least ? p : p + style->nfixed];
  if (has_cutoff(kind))
    assert_int_equal(md_pair_set(&pair, 1, 1, own, style->nparameter - style->nfixed), MD_OK);
  assert_int_equal(md_pair_complete(&pair), MD_OK);
  const double rc = style->reach ? style->reach(value) : 1.6;
  assert_true(md_pair_cutoff(&pair) == (has_cutoff(kind) ? rc : 0.0));
  if (has_cutoff(kind))
    assert_true(md_pair_length(&pair, 0, 0, 1.0) > 0.1 && md_pair_length(&pair, 0, 0, 1.0) < rc);
  assert_true(md_pair_is_all(&pair) == !has_cutoff(kind));
  md_pair_table(&pair, mass, scale, k);
  md_pair_free(&pair);
  assert_true(k[0] == (has_cutoff(kind) ? rc * rc : (double)INFINITY));
  assert_true(!has_cutoff(kind) || k[MD_PAIR_FORMULA] == (double)kind);
}

static double energy_at(md_pair_kind kind, const double *k, const double *delta, int dim)
{
  double r2 = has_cutoff(kind) ? 0.0 : k[2];
  for (int d = 0; d < dim; ++d) r2 += delta[d] * delta[d];
  return md_pair_energy(kind, r2, k);
}

/* dU/dx by Richardson's extrapolation of two central differences: error h^4. */
static double gradient(md_pair_kind kind, const double *k, const double *delta, int dim, int axis)
{
  double slope[2];
  for (int level = 0; level < 2; ++level) {
    const double h = level == 0 ? 2e-4 : 1e-4;
    double plus[3], minus[3];
    memcpy(plus, delta, sizeof plus);
    memcpy(minus, delta, sizeof minus);
    plus[axis] += h;
    minus[axis] -= h;
    slope[level] = (energy_at(kind, k, plus, dim) - energy_at(kind, k, minus, dim)) / (2.0 * h);
  }
  return (4.0 * slope[1] - slope[0]) / 3.0;
}

static void check_gradient(md_pair_kind kind, int dim)
{
  static const double direction[2][3] = {{0.6, -0.8, 0.0}, {-0.48, 0.6, 0.64}};
  double k[MD_PAIR_K];
  coefficients(kind, false, 1.0, k);
  double largest = 0.0;
  for (int s = 0; s < STEPS; ++s) {
    const double r = 0.3 + 1.29 * s / STEPS;
    /* rmin and inner: the force is continuous there, its slope is not. */
    if (fabs(r - 0.4) < 1e-3 || fabs(r - 1.2) < 1e-3) continue;
    double delta[3], r2 = has_cutoff(kind) ? 0.0 : k[2];
    for (int d = 0; d < 3; ++d) delta[d] = r * direction[dim - 2][d];
    for (int d = 0; d < dim; ++d) r2 += delta[d] * delta[d];
    const double over_r = md_pair_force(kind, r2, k);
    largest = md_max(largest, fabs(over_r * r));
    for (int d = 0; d < dim; ++d) {
      const double expected = -gradient(kind, k, delta, dim, d), got = over_r * delta[d];
      if (!(fabs(got - expected) <= 1e-8 * (1.0 + fabs(over_r * r))))
        fail_msg("%s in %d dimensions at r = %g, axis %d: force %.15g, minus the gradient %.15g",
                 md_pair_style_of(kind)->name, dim, r, d, got, expected);
    }
  }
  assert_true(largest > 0.5);
}

/* Other styles have files or sub-styles, or no energy; tests in validate/physics/pairs have them. */
static bool has_formulas(int kind)
{
  const md_pair_style *style = md_pair_style_of((md_pair_kind)kind);
  return !style->density && !style->three_body && !style->tabulated && !style->hybrid &&
         kind != MD_PAIR_dpd_tstat;
}

static void force_is_minus_the_gradient(void **state)
{
  (void)state;
  assert_true(MD_PAIR_KINDS >= 3);
  for (int kind = 0; kind < MD_PAIR_KINDS; ++kind)
    for (int dim = 2; dim <= 3 && has_formulas(kind); ++dim) check_gradient((md_pair_kind)kind, dim);
}

static void nothing_at_and_beyond_the_cutoff(void **state)
{
  (void)state;
  for (int kind = 0; kind < MD_PAIR_KINDS; ++kind) {
    if (!has_cutoff((md_pair_kind)kind) || !has_formulas(kind)) continue;
    double k[MD_PAIR_K];
    coefficients((md_pair_kind)kind, false, 1.0, k);
    const double inside = nextafter(k[0], 0.0);
    assert_true(md_pair_force((md_pair_kind)kind, k[0], k) == 0.0);
    assert_true(md_pair_energy((md_pair_kind)kind, k[0], k) == 0.0);
    assert_true(md_pair_force((md_pair_kind)kind, 2.0 * k[0], k) == 0.0);
    if (kind == MD_PAIR_lj_cut) assert_true(md_pair_force((md_pair_kind)kind, inside, k) != 0.0);
  }
}

static void force_scales_and_energy_does_not(void **state)
{
  (void)state;
  for (int kind = 0; kind < MD_PAIR_KINDS; ++kind) {
    if (!has_formulas(kind)) continue;
    double one[MD_PAIR_K], many[MD_PAIR_K];
    coefficients((md_pair_kind)kind, false, 1.0, one);
    coefficients((md_pair_kind)kind, false, 1024.0, many);
    for (double r2 = 0.1; r2 < 2.5; r2 += 0.03125) {
      assert_true(md_pair_force((md_pair_kind)kind, r2, many) ==
                  1024.0 * md_pair_force((md_pair_kind)kind, r2, one));
      assert_true(md_pair_energy((md_pair_kind)kind, r2, many) ==
                  md_pair_energy((md_pair_kind)kind, r2, one));
    }
  }
}

static void close_to(double got, double expected)
{
  if (!(fabs(got - expected) <= 4.0 * DBL_EPSILON * fabs(expected)))
    fail_msg("%.17g is not %.17g", got, expected);
}

/* Makes the table of one type. value: all parameters of the style. */
static void table_of(md_pair_kind kind, const double *value, bool shift, double *k)
{
  md_pair pair = {.kind = MD_PAIR_NONE, .shift = shift};
  const md_pair_style *style = md_pair_style_of(kind);
  const int least = style->nparameter - style->nglobal;
  assert_int_equal(md_pair_start(&pair, kind, 1, value + least, style->nglobal), MD_OK);
  assert_int_equal(md_pair_set(&pair, 1, 1, value, style->nparameter), MD_OK);
  md_pair_table(&pair, mass, 1.0, k);
  md_pair_free(&pair);
}

static void values_of_lj_cut(void **state)
{
  (void)state;
  double k[MD_PAIR_K];
  table_of(MD_PAIR_lj_cut, (const double[]){2.0, 1.0, 2.5}, false, k);
  close_to(md_pair_force(MD_PAIR_lj_cut, 1.0, k), 48.0);
  assert_true(md_pair_energy(MD_PAIR_lj_cut, 1.0, k) == 0.0);
  close_to(md_pair_energy(MD_PAIR_lj_cut, 4.0, k), 8.0 * (0x1p-12 - 0x1p-6));
  close_to(md_pair_force(MD_PAIR_lj_cut, 4.0, k), 48.0 * (2.0 * 0x1p-12 - 0x1p-6) / 4.0);
  /* Shifted, the energy is zero at the cutoff and the force is the same. */
  double shifted[MD_PAIR_K];
  table_of(MD_PAIR_lj_cut, (const double[]){2.0, 1.0, 2.5}, true, shifted);
  assert_true(fabs(md_pair_energy(MD_PAIR_lj_cut, 6.25 * (1.0 - DBL_EPSILON), shifted)) < 1e-15);
  assert_true(md_pair_force(MD_PAIR_lj_cut, 1.7, shifted) == md_pair_force(MD_PAIR_lj_cut, 1.7, k));
  const double c6 = 1.0 / (6.25 * 6.25 * 6.25);
  assert_true(fabs(md_pair_energy(MD_PAIR_lj_cut, 1.7, k) - md_pair_energy(MD_PAIR_lj_cut, 1.7, shifted) -
                   8.0 * (c6 * c6 - c6)) < 1e-15);
}

/* a^(-3/2), and the force and energy of two masses of 1.5 at a softened distance. */
static void values_of_gravity(void **state)
{
  (void)state;
  for (double a = 1e-30; a < 1e30; a *= 1.37) {
    const double expected = 1.0 / (a * sqrt(a));
    if (!(fabs(md_rsqrt3(a) - expected) <= 4.0 * DBL_EPSILON * expected))
      fail_msg("%g^(-3/2): %.17g is not %.17g", a, md_rsqrt3(a), expected);
  }
  double k[MD_PAIR_K];
  md_pair pair = {.kind = MD_PAIR_NONE};
  assert_int_equal(md_pair_start(&pair, MD_PAIR_gravity, 1, (const double[]){3.0, 2.0}, 2), MD_OK);
  assert_int_equal(md_pair_set(&pair, 1, 1, (const double[]){1.0}, 1), MD_USAGE);
  assert_int_equal(md_pair_complete(&pair), MD_OK);
  md_pair_table(&pair, mass, 4.0, k);
  assert_true(md_pair_softening2(&pair) == 9.0 && k[2] == 9.0);
  const double r2 = k[2] + 16.0; /* r = 4: the softened distance is 5 */
  close_to(md_pair_force(MD_PAIR_gravity, r2, k), -4.0 * 2.0 * 1.5 * 1.5 / 125.0);
  close_to(md_pair_energy(MD_PAIR_gravity, r2, k), -2.0 * 1.5 * 1.5 / 5.0);
  close_to(md_pair_charge(&pair, 4.0), sqrt(8.0));
  md_pair_free(&pair);
}

/* F = (1 - rc/r)/r^2 (x_j - x_i), so the force on i along x_i - x_j is (rc/r - 1)/r^2 of it. */
static void values_of_repulsive(void **state)
{
  (void)state;
  double k[MD_PAIR_K];
  md_pair pair = {.kind = MD_PAIR_NONE};
  assert_int_equal(md_pair_start(&pair, MD_PAIR_repulsive, 1, (const double[]){0.01}, 1), MD_OK);
  assert_int_equal(md_pair_complete(&pair), MD_OK);
  md_pair_table(&pair, mass, 1.0, k);
  md_pair_free(&pair);
  close_to(md_pair_force(MD_PAIR_repulsive, 0.005 * 0.005, k), 1.0 / (0.005 * 0.005));
  assert_true(fabs(md_pair_energy(MD_PAIR_repulsive, 0.005 * 0.005, k) - (1.0 - log(2.0))) < 1e-15);
  /* Below rmin = rc/100 the factor of the distance no longer grows. */
  const double factor = (100.0 - 1.0) / (1e-4 * 1e-4);
  assert_true(fabs(md_pair_force(MD_PAIR_repulsive, 1e-10, k) / factor - 1.0) < 1e-14);
  assert_true(md_pair_force(MD_PAIR_repulsive, 0.0, k) == md_pair_force(MD_PAIR_repulsive, 1e-10, k));
  const double outer = md_pair_energy(MD_PAIR_repulsive, 1e-8 * (1.0 + 1e-12), k);
  const double inner = md_pair_energy(MD_PAIR_repulsive, 1e-8 * (1.0 - 1e-12), k);
  assert_true(fabs(outer - inner) < 1e-9);
}

static void values_of_soft(void **state)
{
  (void)state;
  double k[MD_PAIR_K];
  table_of(MD_PAIR_soft, (const double[]){25.0, 2.0}, false, k);
  close_to(md_pair_force(MD_PAIR_soft, 1.0, k), 25.0 * 0.5);
  close_to(md_pair_force(MD_PAIR_soft, 2.25, k) * 1.5, 25.0 * 0.25);
  close_to(md_pair_energy(MD_PAIR_soft, 1.0, k), 25.0 * 2.0 * 0.25 / 2.0);
  close_to(md_pair_energy(MD_PAIR_soft, 0.0, k), 25.0);
  assert_true(isfinite(md_pair_force(MD_PAIR_soft, 0.0, k)));
}

/* gA = 6 and gR = 12 are lj/cut; a Morse bond at its minimum, at a finite wall, and at no distance at all. */
static void values_of_mie_and_morse(void **state)
{
  (void)state;
  double mie[MD_PAIR_K], lj[MD_PAIR_K], k[MD_PAIR_K];
  table_of(MD_PAIR_mie_cut, (const double[]){2.0, 1.1, 12.0, 6.0, 2.5}, true, mie);
  table_of(MD_PAIR_lj_cut, (const double[]){2.0, 1.1, 2.5}, true, lj);
  for (double r2 = 0.5; r2 < 6.0; r2 += 0.21) {
    const double e = md_pair_energy(MD_PAIR_lj_cut, r2, lj), f = md_pair_force(MD_PAIR_lj_cut, r2, lj);
    assert_true(fabs(md_pair_energy(MD_PAIR_mie_cut, r2, mie) - e) <= 1e-14 * (fabs(e) + 1.0));
    assert_true(fabs(md_pair_force(MD_PAIR_mie_cut, r2, mie) - f) <= 2e-14 * (fabs(f) + 1.0));
  }
  table_of(MD_PAIR_morse, (const double[]){3.0, 2.0, 1.5, 2.5}, false, k);
  close_to(md_pair_energy(MD_PAIR_morse, 2.25, k), -3.0);
  assert_true(fabs(md_pair_force(MD_PAIR_morse, 2.25, k)) < 1e-14);
  close_to(md_pair_energy(MD_PAIR_morse, 0.0, k), 3.0 * (exp(6.0) - 2.0 * exp(3.0)));
  assert_true(isfinite(md_pair_force(MD_PAIR_morse, 0.0, k)));
}

/* The usual distance of a well is where its energy is zero: sigma of mie, and r0 - log(2)/alpha of morse. */
static void usual_distances(void **state)
{
  (void)state;
  md_pair pair = {.kind = MD_PAIR_NONE};
  assert_int_equal(md_pair_start(&pair, MD_PAIR_morse, 1, (const double[]){2.5}, 1), MD_OK);
  assert_int_equal(md_pair_set(&pair, 1, 1, (const double[]){3.0, 5.0, 1.1}, 3), MD_OK);
  assert_true(fabs(md_pair_length(&pair, 0, 0, 1.0) / (1.1 - log(2.0) / 5.0) - 1.0) < 0.016);
  md_pair_free(&pair);
  assert_int_equal(md_pair_start(&pair, MD_PAIR_yukawa, 1, (const double[]){2.0, 2.5}, 2), MD_OK);
  assert_int_equal(md_pair_set(&pair, 1, 1, (const double[]){3.0, 5.0, 1.1}, 3), MD_USAGE);
  assert_int_equal(md_pair_set(&pair, 1, 1, (const double[]){3.0}, 1), MD_OK);
  assert_true(pair.parameter[1] == 2.0 && pair.parameter[2] == 2.5);
  close_to(md_pair_length(&pair, 0, 0, 1.0), 1.0);
  md_pair_free(&pair);
}

static double mixed(md_mixing mixing, int parameter)
{
  md_pair pair = {.kind = MD_PAIR_NONE, .mixing = mixing};
  assert_int_equal(md_pair_start(&pair, MD_PAIR_lj_cut, 2, (const double[]){2.5}, 1), MD_OK);
  assert_int_equal(md_pair_set(&pair, 1, 1, (const double[]){4.0, 1.0, 2.0}, 3), MD_OK);
  assert_int_equal(md_pair_set(&pair, 2, 2, (const double[]){1.0, 2.0, 3.0}, 3), MD_OK);
  assert_int_equal(md_pair_complete(&pair), MD_OK);
  const double *ij = pair.parameter + 1 * MD_PAIR_PARAMETERS, *ji = pair.parameter + 2 * MD_PAIR_PARAMETERS;
  assert_true(ij[parameter] == ji[parameter]);
  const double value = ij[parameter];
  md_pair_free(&pair);
  return value;
}

static void mixing_rules(void **state)
{
  (void)state;
  close_to(mixed(MD_MIX_GEOMETRIC, 0), 2.0);
  close_to(mixed(MD_MIX_GEOMETRIC, 1), sqrt(2.0));
  close_to(mixed(MD_MIX_GEOMETRIC, 2), sqrt(6.0));
  close_to(mixed(MD_MIX_ARITHMETIC, 0), 2.0);
  close_to(mixed(MD_MIX_ARITHMETIC, 1), 1.5);
  close_to(mixed(MD_MIX_ARITHMETIC, 2), 2.5);
  close_to(mixed(MD_MIX_SIXTHPOWER, 0), 2.0 * 2.0 * 8.0 / 65.0);
  close_to(mixed(MD_MIX_SIXTHPOWER, 1), pow(32.5, 1.0 / 6.0));
  close_to(mixed(MD_MIX_SIXTHPOWER, 2), pow(0.5 * (64.0 + 729.0), 1.0 / 6.0));
}

/* Error in units of the last place of `exact`. */
static double ulps(double got, double exact)
{
  return fabs(got - exact) / (nextafter(fabs(exact), DBL_MAX) - fabs(exact));
}

static void recipes_are_accurate(void **state)
{
  (void)state;
  double worst[3] = {0};
  double a = 1e-18;
  for (int s = 0; s < 200000; ++s, a *= 1.0004141) {
    worst[0] = md_max(worst[0], ulps(md_recip(a), 1.0 / a));
    worst[1] = md_max(worst[1], ulps(md_rsqrt(a), (double)(1.0L / sqrtl((long double)a))));
    worst[2] = md_max(worst[2], ulps(md_ln(a), (double)logl((long double)a)));
  }
  assert_true(a > 1e17);
  assert_true(worst[0] <= 1.0);
  assert_true(worst[1] <= 2.0);
  assert_true(worst[2] <= 2.0);
  /* Near 1, where the logarithm loses its leading digits. */
  for (int s = -1000; s <= 1000; ++s)
    if (s != 0)
      assert_true(ulps(md_ln(1.0 + s * 1e-7), (double)logl(1.0L + (long double)(1.0 + s * 1e-7 - 1.0))) <=
                  2.0);
  assert_true(md_ln(1.0) == 0.0);
}

/* Error in units of the last place, against long double, which has eleven bits more. */
static double long_ulps(double got, long double exact)
{
  const double near = (double)exact;
  return (double)(fabsl((long double)got - exact) /
                  (long double)(nextafter(fabs(near), DBL_MAX) - fabs(near)));
}

static void exponentials_are_accurate(void **state)
{
  (void)state;
  double worst = 0.0;
  for (double a = -699.9; a < 699.9; a += 0.01371)
    worst = md_max(worst, long_ulps(md_exp(a), expl((long double)a)));
  for (double a = 1e-17; a < 1.0; a *= 1.001) {
    worst = md_max(worst, long_ulps(md_exp(a), expl((long double)a)));
    worst = md_max(worst, long_ulps(md_exp(-a), expl(-(long double)a)));
  }
  assert_true(worst > 0.4 && worst <= 1.0);
  assert_true(md_exp(0.0) == 1.0 && md_exp(1e9) == md_exp(700.0) && md_exp(-1e9) == md_exp(-700.0));
}

/* a^y = e^(y log a) over the whole range of both: the exponent reaches 700. */
static void powers_are_accurate(void **state)
{
  (void)state;
  double worst = 0.0;
  for (double a = 1e-300; a < 1e300; a *= 1.57)
    for (double share = -0.99; share < 1.0; share += 0.0191) {
      const double most = 700.0 / fabs(log(a)), y = share * (most < 300.0 ? most : 300.0);
      worst = md_max(worst, long_ulps(md_pow(a, y), powl((long double)a, (long double)y)));
    }
  for (double a = 0.9; a < 1.1; a += 0.000123) {
    const double y = 20.0 - 300.0 * (a - 0.9);
    worst = md_max(worst, long_ulps(md_pow(a, y), powl((long double)a, (long double)y)));
  }
  assert_true(worst > 0.4 && worst <= 1.0);
  assert_true(md_pow(4.0, 0.5) == 2.0 && md_pow(3.0, 0.0) == 1.0 && md_pow(1.0, 123.4) == 1.0);
}

/* Two sub-styles for types 1 and 2, of two cutoffs: 1 1 has both terms, 2 2 the second, and 1 2 none. */
static void start_hybrid(md_pair *pair, md_pair_kind kind)
{
  const md_sub_style sub[] = {{MD_PAIR_lj_cut, {2.5}, 1}, {MD_PAIR_morse, {1.5}, 1}};
  *pair = (md_pair){.kind = MD_PAIR_NONE};
  assert_int_equal(md_hybrid_start(pair, kind, 2, sub, 2), MD_OK);
  for (int t = 1; t <= 2; ++t) {
    assert_int_equal(md_pair_set(&pair->sub[0], t, t, (const double[]){1.0, 0.9}, 2), MD_OK);
    assert_int_equal(md_pair_set(&pair->sub[1], t, t, (const double[]){2.0, 5.0, 1.1}, 3), MD_OK);
  }
  md_hybrid_use(pair, 0, 1, 1);
  md_hybrid_use(pair, 1, 1, 1);
  md_hybrid_use(pair, 1, 2, 2);
  md_hybrid_use(pair, MD_HYBRID_NONE, 1, 2);
}

static void terms_are_added(void **state)
{
  (void)state;
  md_pair pair;
  start_hybrid(&pair, MD_PAIR_hybrid_overlay);
  assert_int_equal(md_pair_complete(&pair), MD_OK);
  assert_true(md_pair_cutoff(&pair) == 2.5 && md_pair_rows(&pair) == 12);
  double k[12 * MD_PAIR_K], lj[MD_PAIR_K], morse[MD_PAIR_K];
  md_pair_table(&pair, NULL, 3.0, k);
  md_pair_row(&pair.sub[0], 0, 0, false, 3.0, lj);
  md_pair_row(&pair.sub[1], 0, 0, false, 3.0, morse);
  const double *both = k, *none = k + MD_PAIR_K, *one = k + 3 * MD_PAIR_K;
  assert_true(both[0] == 6.25 && none[0] == 0.0 && one[0] == 2.25);
  for (double r2 = 0.5; r2 < 7.0; r2 += 0.0625) {
    const double of_morse = md_pair_force(MD_PAIR_morse, r2, morse);
    assert_true(md_pair_force(pair.kind, r2, both) == md_pair_force(MD_PAIR_lj_cut, r2, lj) + of_morse);
    assert_true(md_pair_energy(pair.kind, r2, both) ==
                md_pair_energy(MD_PAIR_lj_cut, r2, lj) + md_pair_energy(MD_PAIR_morse, r2, morse));
    assert_true(md_pair_force(pair.kind, r2, one) == of_morse);
    assert_true(md_pair_force(pair.kind, r2, none) == 0.0 && md_pair_energy(pair.kind, r2, none) == 0.0);
  }
  /* Where the sum passes zero: nearer than the minimum of morse. */
  assert_true(md_pair_length(&pair, 0, 0, 1.0) > 0.85 && md_pair_length(&pair, 0, 0, 1.0) < 0.97);
  assert_true(md_pair_length(&pair, 1, 1, 1.0) == md_pair_length(&pair.sub[1], 1, 1, 1.0) &&
              md_pair_length(&pair, 0, 1, 1.0) == 0.0);
  md_pair_exclude(&pair, k, 0, 0);
  assert_true(md_pair_force(pair.kind, 1.0, both) == 0.0 && md_pair_force(pair.kind, 1.0, one) != 0.0);
  md_pair_free(&pair);
}

static void hybrid_has_one_term(void **state)
{
  (void)state;
  md_pair pair;
  start_hybrid(&pair, MD_PAIR_hybrid);
  assert_true(!md_hybrid_uses(&pair, 0, 0, 0) && md_hybrid_uses(&pair, 1, 0, 0));
  assert_int_equal(md_pair_complete(&pair), MD_USAGE); /* sub-style 0 is not used */
  md_hybrid_use(&pair, 0, 1, 1);
  assert_int_equal(md_pair_complete(&pair), MD_OK);
  md_hybrid_use(&pair, 0, 1, 2);
  assert_int_equal(md_pair_complete(&pair), MD_OK); /* mixed within lj/cut */
  assert_true(pair.sub[0].parameter[1 * MD_PAIR_PARAMETERS] == 1.0);
  assert_int_equal(md_pair_settle(&pair, 3), MD_OK);
  assert_true(pair.ntypes == 3 && pair.sub[1].ntypes == 3 && pair.sub[1].global[0] == 1.5);
  assert_int_equal(md_pair_complete(&pair), MD_USAGE);
  md_pair_free(&pair);
  assert_true(md_hybrid_refuses(MD_PAIR_gravity) && md_hybrid_refuses(MD_PAIR_eam) &&
              md_hybrid_refuses(MD_PAIR_hybrid));
  assert_true(!md_hybrid_refuses(MD_PAIR_table) && !md_hybrid_refuses(MD_PAIR_zbl));
}

/* A copy of the table, and of the tables of style table, for another memory. */
static void tables_are_placed_for_another_memory(void **state)
{
  (void)state;
  double r[] = {0.5, 1.0, 1.5, 2.0}, u[] = {3.0, 1.0, 0.5, 0.0}, f[] = {6.0, 3.0, 1.0, 0.5};
  const md_table_values values = {.n = 4, .r = r, .energy = u, .force = f};
  const md_sub_style sub[] = {
      {MD_PAIR_table, {0.0, 8.0}, 2}, {MD_PAIR_lj_cut, {1.8}, 1}, {MD_PAIR_table, {1.0, 20.0}, 2}};
  const int all[] = {1, 1};
  md_pair pair = {.kind = MD_PAIR_NONE};
  assert_int_equal(md_hybrid_start(&pair, MD_PAIR_hybrid_overlay, 1, sub, 3), MD_OK);
  for (int s = 0; s < 3; s += 2)
    assert_int_equal(md_pair_add_table(&pair.sub[s], all, all, &values, 2.0), MD_OK);
  assert_int_equal(md_pair_set(&pair.sub[1], 1, 1, (const double[]){1.0, 1.0}, 2), MD_OK);
  for (int s = 0; s < 3; ++s) md_hybrid_use(&pair, s, 1, 1);
  assert_int_equal(md_pair_complete(&pair), MD_OK);
  double k[4 * MD_PAIR_K], copy[4 * MD_PAIR_K];
  md_pair_table(&pair, NULL, 1.0, k);
  const int64_t numbers = md_pair_table_numbers(&pair);
  assert_true(numbers == (7 + 19) * 2 * MD_TABLE_ROW && md_pair_least2(k) == 0.25);
  double *tables = malloc((size_t)numbers * sizeof *tables);
  assert_non_null(tables);
  md_pair_copy_tables(&pair, tables);
  memcpy(copy, k, sizeof k);
  md_pair_set_addresses(&pair, copy, 4, tables, copy, sizeof *copy);
  for (double r2 = 0.3; r2 < 4.0; r2 += 0.1)
    assert_true(md_pair_force(pair.kind, r2, copy) == md_pair_force(pair.kind, r2, k));
  assert_true(md_hybrid_first(copy) == copy + MD_PAIR_K && md_hybrid_first(k) == k + MD_PAIR_K);
  /* Other numbers in the copy give another force: both tables are read there. */
  const double before = md_pair_force(pair.kind, 1.0, copy);
  for (int64_t n = 0; n < numbers; ++n) tables[n] *= 2.0;
  close_to(md_pair_force(pair.kind, 1.0, copy) - before,
           before - md_pair_force(MD_PAIR_lj_cut, 1.0, k + 2 * MD_PAIR_K));
  free(tables);
  md_pair_free(&pair);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(force_is_minus_the_gradient),
      cmocka_unit_test(nothing_at_and_beyond_the_cutoff),
      cmocka_unit_test(force_scales_and_energy_does_not),
      cmocka_unit_test(values_of_lj_cut),
      cmocka_unit_test(values_of_gravity),
      cmocka_unit_test(values_of_repulsive),
      cmocka_unit_test(values_of_soft),
      cmocka_unit_test(values_of_mie_and_morse),
      cmocka_unit_test(usual_distances),
      cmocka_unit_test(mixing_rules),
      cmocka_unit_test(terms_are_added),
      cmocka_unit_test(hybrid_has_one_term),
      cmocka_unit_test(tables_are_placed_for_another_memory),
      cmocka_unit_test(recipes_are_accurate),
      cmocka_unit_test(exponentials_are_accurate),
      cmocka_unit_test(powers_are_accurate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
