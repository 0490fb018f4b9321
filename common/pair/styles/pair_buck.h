/* The potential of Buckingham: U(r) = A e^(-r/rho) - C/r^6 [- U(rc) if shifted], r < rc. Nearer than the top of its
 * barrier the attraction has no bound.
 *
 * Coefficients, s being the caller's scale of forces:
 *   k0 = rc^2         k3 = 6 s C                                                  k5 = A
 *   k1 = s A/rho      k4 = (rc 1e-6)^2, the least r^2 of which a root is taken    k6 = C
 *   k2 = 1/rho                                                                    k7 = U(rc) if shifted, else 0
 *
 * Trade-off: the softer wall of ions and noble gases, for an exponential and a reciprocal root for each pair.
 * Reference: Buckingham, Proc. R. Soc. A 168 (1938) 264.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(buck, "buck")

#elif defined MD_PAIR_SHARED

MD_PAIR_SHARED(buck)

#elif defined MD_PAIR_HOST

static void buck_prepare(const double *parameter, bool shift, double scale, double *k)
{
  const double a = parameter[0], rho = parameter[1], c = parameter[2], rc = parameter[3];
  k[0] = rc * rc;
  k[1] = a / rho * scale;
  k[2] = 1.0 / rho;
  k[3] = 6.0 * c * scale;
  k[4] = rc * rc * 1e-12;
  k[5] = a;
  k[6] = c;
  if (shift && rc > 0.0) k[7] = md_buck_energy(k[0], k);
}

static double buck_tail(const double *parameter)
{
  const double rho = parameter[1], rc = parameter[3];
  const double wall = rho * (rc * rc + 2.0 * rho * rc + 2.0 * rho * rho) * md_exp(-rc / rho);
  return parameter[0] * wall - parameter[2] / (3.0 * rc * rc * rc);
}

static const md_pair_style buck_style = {
    .name = "buck",
    .summary = "Buckingham potential A exp(-r/rho) - C/r^6; no mixing",
    .nparameter = 4,
    .nglobal = 1,
    .parameter = {{"A", MD_ANY}, {"rho", MD_POSITIVE}, {"C", MD_ANY}, {"rc", MD_NOT_NEGATIVE}},
    .global_required = 1,
    .rc_parameter = 3,
    .length_parameter = MD_AT_ZERO_ENERGY,
    .length_factor = 0.4,
    .takes_shift = true,
    .tail = buck_tail,
    .prepare = buck_prepare,
};

#elif defined MD_T

/* F/r times the scale, for r2 < rc^2. Reads k1 to k4. */
MD_FN real MD_T(md_buck_force)(real r2, const real *k)
{
  const real inverse = MD_T(md_rsqrt)(MD_T(md_max)(r2, k[4])), inverse2 = inverse * inverse;
  const real e = MD_T(md_exp)(-k[2] * (r2 * inverse)), inverse6 = inverse2 * inverse2 * inverse2;
  return MD_T(md_fms)(k[1] * e, inverse, k[3] * inverse6 * inverse2);
}

/* U(r), for r2 < rc^2. Reads k2, and k4 to k7. */
MD_FN real MD_T(md_buck_energy)(real r2, const real *k)
{
  const real inverse = MD_T(md_rsqrt)(MD_T(md_max)(r2, k[4])), inverse2 = inverse * inverse;
  const real e = MD_T(md_exp)(-k[2] * (r2 * inverse));
  return MD_T(md_fms)(k[5], e, k[6] * inverse2 * inverse2 * inverse2) - k[7];
}

#endif
