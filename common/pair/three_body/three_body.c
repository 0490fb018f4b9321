/* Three-body potentials: weights and coefficients from the values of a file; see three_body.h. */
#include "common/pair/three_body/three_body.h"
#include "common/base/memory.h"

#include <stdlib.h>

static const char *const sw_names[] = {"epsilon", "sigma", "a", "lambda", "gamma", "costheta0",
                                       "A",       "B",     "p", "q",      "tol"};
static const char *const vashishta_names[] = {"H", "eta", "Zi", "Zj",    "lambda1", "D", "lambda4",
                                              "W", "rc",  "B",  "gamma", "r0",      "C", "costheta0"};
enum { EPSILON, SIGMA, A_CUT, LAMBDA, GAMMA, SW_COSINE, A, B, P, Q, TOL, SW_COUNT };
enum {
  H,
  ETA,
  ZI,
  ZJ,
  LAMBDA1,
  D,
  LAMBDA4,
  W,
  RC,
  STRENGTH,
  DECAY,
  R0,
  C,
  VASHISHTA_COSINE,
  VASHISHTA_COUNT
};

/* How much the strength of two legs may differ from the product of their weights: files have six or seven digits. */
static const double PRODUCT_ERROR = 1e-5;

int md_three_value_count(md_three_form form) { return form == MD_THREE_SW ? SW_COUNT : VASHISHTA_COUNT; }

const char *md_three_value_name(md_three_form form, int value)
{
  return (form == MD_THREE_SW ? sw_names : vashishta_names)[value];
}

void md_three_body_free(md_three_body *three)
{
  if (!three) return;
  free(three->leg);
  free(three->phi);
  free(three->element);
  free(three);
}

static const double *entry(const md_three_values *v, int a, int b, int c)
{
  return v->value[(a * v->nelement + b) * v->nelement + c];
}

static double strength(const md_three_values *v, const double *of)
{
  return v->form == MD_THREE_SW ? of[LAMBDA] * of[EPSILON] : of[STRENGTH];
}

static double cosine_of(const md_three_values *v, const double *of)
{
  return of[v->form == MD_THREE_SW ? SW_COSINE : VASHISHTA_COSINE];
}

/* ---- what a potential must be ---- */

static md_status check_domain(const md_three_values *v, int a, int b, int c)
{
  const double *of = entry(v, a, b, c);
  const bool sw = v->form == MD_THREE_SW;
  for (int k = 0; k < md_three_value_count(v->form); ++k) {
    const bool any_sign = k == (sw ? (int)SW_COSINE : (int)VASHISHTA_COSINE) || (!sw && (k == ZI || k == ZJ));
    if (!any_sign && of[k] < 0.0)
      return md_error(MD_USAGE, "the entry %s %s %s has %s %g, which must not be negative", v->name[a],
                      v->name[b], v->name[c], md_three_value_name(v->form, k), of[k]);
  }
  if (!(fabs(cosine_of(v, of)) <= 1.0))
    return md_error(MD_USAGE, "the entry %s %s %s has costheta0 %g, which must be from -1 to 1", v->name[a],
                    v->name[b], v->name[c], cosine_of(v, of));
  if (!sw && of[C] != 0.0 && of[STRENGTH] != 0.0)
    return md_error(MD_USAGE,
                    "the entry %s %s %s has C %g, and only C 0 is available: its energy is no function of "
                    "sums over neighbours",
                    v->name[a], v->name[b], v->name[c], of[C]);
  return MD_OK;
}

static md_status check_powers(const md_three_values *v, int a, int b)
{
  const double *of = entry(v, a, b, b);
  const int first = v->form == MD_THREE_SW ? (int)P : (int)ETA,
            last = v->form == MD_THREE_SW ? (int)Q : (int)ETA;
  for (int k = first; k <= last; ++k)
    if (!(of[k] <= 15.0) || of[k] != floor(of[k]))
      return md_error(MD_USAGE,
                      "the entry %s %s %s has %s %g, and only whole numbers from 0 to 15 are available",
                      v->name[a], v->name[b], v->name[b], md_three_value_name(v->form, k), of[k]);
  if (v->form == MD_THREE_VASHISHTA && of[RC] > 0.0 && !(of[LAMBDA1] > 0.0 && of[LAMBDA4] > 0.0))
    return md_error(MD_USAGE, "the entry %s %s %s needs lambda1 and lambda4 above 0", v->name[a], v->name[b],
                    v->name[b]);
  return MD_OK;
}

/* The force of a pair does not depend on which particle is named first. */
static md_status check_symmetry(const md_three_values *v, int a, int b)
{
  static const int of_sw[] = {EPSILON, SIGMA, A_CUT, A, B, P, Q, TOL};
  static const int of_vashishta[] = {H, ETA, LAMBDA1, D, LAMBDA4, W, RC};
  const bool sw = v->form == MD_THREE_SW;
  const int n = sw ? (int)(sizeof of_sw / sizeof *of_sw) : (int)(sizeof of_vashishta / sizeof *of_vashishta);
  const double *one = entry(v, a, b, b), *two = entry(v, b, a, a);
  const char *differs = NULL;
  for (int k = 0; k < n && !differs; ++k) {
    const int value = (sw ? of_sw : of_vashishta)[k];
    if (one[value] != two[value]) differs = md_three_value_name(v->form, value);
  }
  if (!differs && !sw && one[ZI] * one[ZJ] != two[ZI] * two[ZJ]) differs = "Zi Zj";
  if (!differs && sw && one[TOL] > 0.0 && one[GAMMA] != two[GAMMA]) differs = "gamma (tol is not 0)";
  if (!differs) return MD_OK;
  return md_error(MD_USAGE,
                  "the entries %s %s %s and %s %s %s differ in %s, which must be the same for a pair",
                  v->name[a], v->name[b], v->name[b], v->name[b], v->name[a], v->name[a], differs);
}

/* Are the strengths of the legs b and c of centre a a product of weights, with one angle? */
static md_status check_product(const md_three_values *v, int a, int b, int c, double cosine)
{
  const double *of = entry(v, a, b, c), s = strength(v, of);
  const double product = sqrt(strength(v, entry(v, a, b, b))) * sqrt(strength(v, entry(v, a, c, c)));
  if (!(fabs(s - product) <= PRODUCT_ERROR * product))
    return md_error(
        MD_USAGE,
        "the entry %s %s %s has the three-body strength %g, and only the root of those of %s %s %s "
        "and %s %s %s, %g, is available: its energy is no function of sums over neighbours",
        v->name[a], v->name[b], v->name[c], s, v->name[a], v->name[b], v->name[b], v->name[a], v->name[c],
        v->name[c], product);
  if (s > 0.0 && cosine_of(v, of) != cosine)
    return md_error(
        MD_USAGE,
        "the entry %s %s %s has costheta0 %g, and another entry of a centre %s has %g: all legs of "
        "a centre must have one angle",
        v->name[a], v->name[b], v->name[c], cosine_of(v, of), v->name[a], cosine);
  return MD_OK;
}

/* The cosine of the first legs of centre a that have a strength; 0: there are none. */
static double first_cosine(const md_three_values *v, int a)
{
  for (int b = 0; b < v->nelement; ++b)
    if (strength(v, entry(v, a, b, b)) > 0.0) return cosine_of(v, entry(v, a, b, b));
  return 0.0;
}

static md_status check(const md_three_values *v)
{
  const int n = v->nelement;
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b)
      for (int c = 0; c < n; ++c) MD_TRY(check_domain(v, a, b, c));
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b) {
      MD_TRY(check_powers(v, a, b));
      MD_TRY(check_symmetry(v, a, b));
      for (int c = 0; c < n; ++c) MD_TRY(check_product(v, a, b, c, first_cosine(v, a)));
    }
  return MD_OK;
}

/* ---- coefficients ---- */

static void set_bits(double power, double *bit)
{
  for (int k = 0; k < 4; ++k) bit[k] = ((int)power >> k) & 1;
}

static double whole_power(double a, double power)
{
  double product = 1.0;
  for (int k = 0; k < (int)power; ++k) product *= a;
  return product;
}

/* The cutoff of sw: with tol, where the exponential has become tol, as in LAMMPS. */
static double cutoff_of_sw(const double *of)
{
  const double cut = of[SIGMA] * of[A_CUT];
  if (!(of[TOL] > 0.0)) return cut;
  return md_max(0.0, cut + md_min(of[GAMMA], 1.0) * of[SIGMA] / log(md_min(of[TOL], 0.01)));
}

static void phi_of_sw(const double *of, double *k)
{
  const double scale = of[A] * of[EPSILON], rc = cutoff_of_sw(of);
  k[0] = rc * rc;
  k[2] = of[SIGMA] * of[A_CUT];
  k[3] = of[SIGMA];
  k[4] = scale * of[B] * whole_power(of[SIGMA], of[P]);
  k[5] = scale * whole_power(of[SIGMA], of[Q]);
  set_bits(of[P], k + 6);
  set_bits(of[Q], k + 10);
}

static void phi_of_vashishta(const double *of, double charges, double *k)
{
  const double rc = of[RC], z = of[ZI] * of[ZJ] * charges;
  if (!(rc > 0.0)) return;
  const double repulsion = of[H] / whole_power(rc, of[ETA]), screened = z / rc * exp(-rc / of[LAMBDA1]);
  const double dipoles = of[D] / whole_power(rc, 4) * exp(-rc / of[LAMBDA4]),
               rest = of[W] / whole_power(rc, 6);
  const double slope = dipoles * (4.0 / rc + 1.0 / of[LAMBDA4]) + 6.0 * rest / rc - of[ETA] * repulsion / rc -
                       screened * (1.0 / rc + 1.0 / of[LAMBDA1]);
  k[0] = rc * rc;
  k[2] = of[H];
  set_bits(of[ETA], k + 3);
  k[7] = z;
  k[8] = 1.0 / of[LAMBDA1];
  k[9] = of[D];
  k[10] = 1.0 / of[LAMBDA4];
  k[11] = of[W];
  k[12] = slope;
  k[13] = rc * slope - ((repulsion + screened) - (dipoles + rest));
}

static md_leg leg_of(const md_three_values *v, const double *of)
{
  md_leg leg = {.weight = sqrt(strength(v, of))};
  const bool sw = v->form == MD_THREE_SW;
  const double reach = sw ? cutoff_of_sw(of) : of[R0];
  if (!(leg.weight > 0.0)) return leg;
  leg.cut2 = reach * reach;
  leg.cut = sw ? of[SIGMA] * of[A_CUT] : of[R0];
  leg.decay = sw ? of[GAMMA] * of[SIGMA] : of[DECAY];
  return leg;
}

static double checksum_of(const md_three_body *t)
{
  uint64_t sum = UINT64_C(0xcbf29ce484222325);
  for (int p = 0; p < t->nelement * t->nelement; ++p) {
    const double leg[] = {t->leg[p].cut2, t->leg[p].cut, t->leg[p].decay, t->leg[p].weight,
                          t->cosine[p / t->nelement]};
    for (int k = 0; k < MD_THREE_K + 5; ++k)
      sum = (sum ^ (uint64_t)md_bits(k < MD_THREE_K ? t->phi[p][k] : leg[k - MD_THREE_K])) *
            UINT64_C(0x100000001b3);
  }
  return (double)(sum >> 11);
}

/* Powers of two, so that 2^12 legs stay below 2^62 quanta. g is largest where particles touch. */
static void choose_quanta(md_three_body *t)
{
  double most = 0x1p-400;
  int exponent;
  for (int p = 0; p < t->nelement * t->nelement; ++p)
    if (t->leg[p].cut2 > 0.0) most = md_max(most, t->leg[p].weight * exp(-t->leg[p].decay / t->leg[p].cut));
  (void)frexp(most, &exponent);
  t->quanta = ldexp(1.0, 50 - exponent);
  t->quanta_square = ldexp(1.0, 50 - 2 * exponent);
}

static md_status fill(md_three_body *t, const md_three_values *v, int ntypes)
{
  const int n = v->nelement;
  double longest = 0.0;
  t->nelement = n;
  MD_TRY(md_array_new_zero(&t->leg, n * n, sizeof *t->leg, "a potential"));
  MD_TRY(md_array_new_zero(&t->phi, n * n, sizeof *t->phi, "a potential"));
  MD_TRY(md_array_new(&t->element, ntypes, sizeof *t->element, "elements of types"));
  for (int type = 0; type < ntypes; ++type) t->element[type] = -1;
  for (int a = 0; a < n; ++a) {
    t->cosine[a] = first_cosine(v, a);
    for (int b = 0; b < n; ++b) {
      const double *of = entry(v, a, b, b);
      double *k = t->phi[a * n + b];
      t->leg[a * n + b] = leg_of(v, of);
      if (v->form == MD_THREE_SW)
        phi_of_sw(of, k);
      else
        phi_of_vashishta(of, v->charges, k);
      k[1] = 1.0;
      for (int c = 0; c < MD_THREE_K; ++c)
        if (!isfinite(k[c]))
          return md_error(MD_USAGE, "the entry %s %s %s has coefficients that are not finite", v->name[a],
                          v->name[b], v->name[b]);
    }
  }
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b) longest = md_max(longest, md_three_reach(t, a, b));
  t->overlap2 = longest * longest * 1e-6;
  choose_quanta(t);
  t->checksum = checksum_of(t);
  return MD_OK;
}

md_status md_three_body_new(md_three_body **made, const md_three_values *values, int ntypes)
{
  *made = NULL;
  MD_TRY(check(values));
  md_three_body *t = calloc(1, sizeof *t);
  if (!t) return md_error(MD_RUNTIME, "out of memory: a potential");
  const md_status status = fill(t, values, ntypes);
  if (status == MD_OK)
    *made = t;
  else
    md_three_body_free(t);
  return status;
}

double md_three_reach(const md_three_body *t, int a, int b)
{
  const int one = a * t->nelement + b, two = b * t->nelement + a;
  return sqrt(md_max(t->phi[one][0], md_max(t->leg[one].cut2, t->leg[two].cut2)));
}

double md_three_largest_energy(const md_three_body *t)
{
  const double all = 0x1p62 / t->quanta; /* the largest sum of weights */
  return 4.0 * all * all;
}
