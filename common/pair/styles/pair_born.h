/* The potential of Born, Mayer and Huggins without charges: U(r) = A e^((sigma - r)/rho) - C/r^6 + D/r^8 [- U(rc) if
 * shifted], r < rc.
 *
 * Coefficients, s being the caller's scale of forces:
 *   k0 = rc^2         k3 = 6 s C        k6 = (rc 1e-6)^2, the least r^2 of which a root is taken
 *   k1 = s A/rho      k4 = 8 s D        k7 = A    k8 = C    k9 = D
 *   k2 = 1/rho        k5 = sigma/rho    k10 = U(rc) if shifted, else 0
 *
 * Trade-off: as buck, with a second power law for molten salts. Cost: an exponential and a reciprocal root for each
 * pair. Reference: Fumi and Tosi, J. Phys. Chem. Solids 25 (1964) 31.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(born, "born")

#elif defined MD_PAIR_SHARED

MD_PAIR_SHARED(born)

#elif defined MD_PAIR_HOST

static void born_prepare(const double *parameter, bool shift, double scale, double *k)
{
  const double a = parameter[0], rho = parameter[1], c = parameter[3], d = parameter[4], rc = parameter[5];
  k[0] = rc * rc;
  k[1] = a / rho * scale;
  k[2] = 1.0 / rho;
  k[3] = 6.0 * c * scale;
  k[4] = 8.0 * d * scale;
  k[5] = parameter[2] / rho;
  k[6] = rc * rc * 1e-12;
  k[7] = a;
  k[8] = c;
  k[9] = d;
  if (shift && rc > 0.0) k[10] = md_born_energy(k[0], k);
}

static double born_tail(const double *parameter)
{
  const double rho = parameter[1], rc = parameter[5], rc3 = rc * rc * rc;
  const double wall = rho * (rc * rc + 2.0 * rho * rc + 2.0 * rho * rho) * md_exp((parameter[2] - rc) / rho);
  return parameter[0] * wall - parameter[3] / (3.0 * rc3) + parameter[4] / (5.0 * rc3 * rc * rc);
}

static const md_pair_style born_style = {
    .name = "born",
    .summary = "Born-Mayer-Huggins potential A exp((sigma - r)/rho) - C/r^6 + D/r^8; no mixing",
    .nparameter = 6,
    .nglobal = 1,
    .parameter = {{"A", MD_ANY},
                  {"rho", MD_POSITIVE},
                  {"sigma", MD_ANY},
                  {"C", MD_ANY},
                  {"D", MD_ANY},
                  {"rc", MD_NOT_NEGATIVE}},
    .global_required = 1,
    .rc_parameter = 5,
    .length_parameter = MD_AT_ZERO_ENERGY,
    .length_factor = 0.4,
    .takes_shift = true,
    .tail = born_tail,
    .prepare = born_prepare,
};

#elif defined MD_T

/* F/r times the scale, for r2 < rc^2. Reads k1 to k6. */
MD_FN real MD_T(md_born_force)(real r2, const real *k)
{
  const real inverse = MD_T(md_rsqrt)(MD_T(md_max)(r2, k[6])), inverse2 = inverse * inverse;
  const real e = MD_T(md_exp)(k[5] - k[2] * (r2 * inverse)), inverse6 = inverse2 * inverse2 * inverse2;
  return MD_T(md_fms)(k[1] * e, inverse, (k[3] - k[4] * inverse2) * inverse6 * inverse2);
}

/* U(r), for r2 < rc^2. Reads k2, and k5 to k10. */
MD_FN real MD_T(md_born_energy)(real r2, const real *k)
{
  const real inverse = MD_T(md_rsqrt)(MD_T(md_max)(r2, k[6])), inverse2 = inverse * inverse;
  const real e = MD_T(md_exp)(k[5] - k[2] * (r2 * inverse)), inverse6 = inverse2 * inverse2 * inverse2;
  return MD_T(md_fms)(k[7], e, (k[8] - k[9] * inverse2) * inverse6) - k[10];
}

#endif
