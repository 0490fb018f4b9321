/* The screened repulsion of two nuclei of Ziegler, Biersack and Littmark: U(r) = E(r) + S(r), r < rc,
 *   E(r) = Z_i Z_j q/r sum of c_n e^(-d_n r/a),     a = 0.4685 Angstrom/(Z_i^0.23 + Z_j^0.23),
 * q being the energy of two elementary charges times their distance. S(r) is the switch of lj/gromacs between r1 and
 * rc, which are the same for all pairs: with t = max(r - r1, 0) and w = rc - r1,
 *   S(r) = A t^3/3 + B t^4/4 + C,                         A = (-3 E'(rc) + w E''(rc))/w^2,
 *   B = (2 E'(rc) - w E''(rc))/w^3,                       C = -E(rc) + w E'(rc)/2 - w^2 E''(rc)/12.
 *
 * Coefficients, s being the caller's scale of forces:
 *   k0 = rc^2             k2 = 1/a     k4 = s A     k6 = (rc 1e-6)^2, the least r^2 of which a root is taken
 *   k1 = s Z_i Z_j q      k3 = r1      k5 = s B     k7 = Z_i Z_j q     k8 = A/3     k9 = B/4     k10 = C
 *
 * Trade-off: for collisions of high energy, beside a potential of condensed matter. Cost: four exponentials and a
 * reciprocal root for each pair. References: Ziegler, Biersack and Littmark, The Stopping and Range of Ions in Matter
 * 1 (1985); the LAMMPS manual, pair_style zbl.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(zbl, "zbl")

#elif defined MD_PAIR_SHARED

MD_PAIR_SHARED(zbl)

#elif defined MD_PAIR_HOST

static const char *zbl_refuse(const double *parameter)
{
  return parameter[2] < parameter[3] ? NULL : "inner must be smaller than rc";
}

static void zbl_mix(const double *a, const double *b, md_mixing mixing, double *ab)
{
  (void)mixing;
  memcpy(ab, a, MD_PAIR_PARAMETERS * sizeof *ab);
  ab[1] = b[1];
}

/* Energy, slope and bend of E at r, for charges of 1. per_a: 1/a. */
static void zbl_derivatives(double r, double per_a, double e[3])
{
  static const double c[] = {0.18175, 0.50986, 0.28022, 0.02817}, d[] = {3.19980, 0.94229, 0.40290, 0.20162};
  e[0] = e[1] = e[2] = 0.0;
  for (int n = 0; n < 4; ++n) {
    const double decay = d[n] * per_a, term = c[n] * md_exp(-decay * r) / r, slope = decay + 1.0 / r;
    e[0] += term;
    e[1] -= term * slope;
    e[2] += term * (slope * slope + 1.0 / (r * r));
  }
}

static void zbl_prepare(const double *parameter, bool shift, double scale, double *k)
{
  (void)shift;
  const double inner = parameter[2], rc = parameter[3], w = rc - inner;
  const double charges = parameter[0] * parameter[1] * parameter[4];
  double e[3];
  k[0] = rc * rc;
  k[1] = charges * scale;
  k[2] = (md_pow(parameter[0], 0.23) + md_pow(parameter[1], 0.23)) / (0.46850 * parameter[5]);
  zbl_derivatives(rc, k[2], e);
  const double a = charges * (w * e[2] - 3.0 * e[1]) / (w * w);
  const double b = charges * (2.0 * e[1] - w * e[2]) / (w * w * w);
  k[3] = inner;
  k[4] = a * scale;
  k[5] = b * scale;
  k[6] = rc * rc * 1e-12;
  k[7] = charges;
  k[8] = a / 3.0;
  k[9] = 0.25 * b;
  k[10] = charges * (0.5 * w * e[1] - e[0] - w * w * e[2] / 12.0);
}

static const md_pair_style zbl_style = {
    .name = "zbl",
    .summary =
        "screened repulsion of nuclei (Ziegler, Biersack, Littmark), switched to zero between inner and rc",
    .nparameter = 6,
    .nglobal = 4,
    .parameter = {{"Z_i", MD_POSITIVE},
                  {"Z_j", MD_POSITIVE},
                  {"inner", MD_POSITIVE},
                  {"rc", MD_POSITIVE},
                  {"charges", MD_POSITIVE},
                  {"Angstrom", MD_POSITIVE}},
    .global_required = 4,
    .nunit = 2,
    .nfixed = 4,
    .rc_parameter = 3,
    .length_parameter = MD_AT_ZERO_ENERGY,
    .length_factor = 0.4,
    .by_type = true,
    .refuse = zbl_refuse,
    .mix = zbl_mix,
    .prepare = zbl_prepare,
};

#elif defined MD_T

/* The four terms of E at r, for charges of 1 and without 1/r: their sum, and minus a times the slope of the sum. */
MD_FN real MD_T(zbl_terms)(real r, real per_a, real *slope)
{
  const real x = -per_a * r;
  const real e1 = MD_T(md_broadcast)(0.18175) * MD_T(md_exp)(MD_T(md_broadcast)(3.19980) * x);
  const real e2 = MD_T(md_broadcast)(0.50986) * MD_T(md_exp)(MD_T(md_broadcast)(0.94229) * x);
  const real e3 = MD_T(md_broadcast)(0.28022) * MD_T(md_exp)(MD_T(md_broadcast)(0.40290) * x);
  const real e4 = MD_T(md_broadcast)(0.02817) * MD_T(md_exp)(MD_T(md_broadcast)(0.20162) * x);
  *slope = (MD_T(md_broadcast)(3.19980) * e1 + MD_T(md_broadcast)(0.94229) * e2) +
           (MD_T(md_broadcast)(0.40290) * e3 + MD_T(md_broadcast)(0.20162) * e4);
  return (e1 + e2) + (e3 + e4);
}

/* F/r times the scale, for r2 < rc^2. Reads k1 to k6. */
MD_FN real MD_T(md_zbl_force)(real r2, const real *k)
{
  const real inverse = MD_T(md_rsqrt)(MD_T(md_max)(r2, k[6])), r = r2 * inverse;
  const real t = MD_T(md_max)(r - k[3], MD_T(md_broadcast)(0.0));
  real slope;
  const real sum = MD_T(zbl_terms)(r, k[2], &slope);
  return (k[1] * inverse * (sum * inverse + slope * k[2]) - (k[4] + k[5] * t) * (t * t)) * inverse;
}

/* U(r), for r2 < rc^2. Reads k2, k3 and k6 to k10. */
MD_FN real MD_T(md_zbl_energy)(real r2, const real *k)
{
  const real inverse = MD_T(md_rsqrt)(MD_T(md_max)(r2, k[6])), r = r2 * inverse;
  const real t = MD_T(md_max)(r - k[3], MD_T(md_broadcast)(0.0));
  real slope;
  return k[7] * inverse * MD_T(zbl_terms)(r, k[2], &slope) + ((k[8] + k[9] * t) * (t * t * t) + k[10]);
}

#endif
