/* The softer Lennard-Jones potential: U(r) = 4 eps ((sigma/r)^9 - (sigma/r)^6) [- U(rc) if shifted], r < rc.
 *
 * Coefficients, s being the caller's scale of forces:
 *   k0 = rc^2                 k2 = 24 s eps sigma^6     k4 = 4 eps sigma^6
 *   k1 = 36 s eps sigma^9     k3 = 4 eps sigma^9        k5 = U(rc) if shifted, else 0
 * If eps, sigma or rc is 0, all are 0, as those of lj/cut.
 *
 * Cost: one reciprocal root and 7 operations for each pair. Reference: Hagler, Lifson and Dauber, J. Am. Chem. Soc. 101
 * (1979) 5122.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(lj96_cut, "lj96/cut")

#elif defined MD_PAIR_SHARED

MD_PAIR_SHARED(lj96_cut)

#elif defined MD_PAIR_HOST

static void lj96_cut_mix(const double *a, const double *b, md_mixing mixing, double *ab)
{
  mix_energy_and_lengths(3, a, b, mixing, ab);
}

static void lj96_cut_prepare(const double *parameter, bool shift, double scale, double *k)
{
  const double epsilon = parameter[0], sigma = parameter[1], rc = parameter[2];
  const double s3 = sigma * sigma * sigma, s6 = s3 * s3;
  if (!(epsilon > 0.0 && sigma > 0.0 && rc > 0.0)) return;
  k[0] = rc * rc;
  k[1] = 36.0 * epsilon * s6 * s3 * scale;
  k[2] = 24.0 * epsilon * s6 * scale;
  k[3] = 4.0 * epsilon * s6 * s3;
  k[4] = 4.0 * epsilon * s6;
  if (shift) k[5] = md_lj96_cut_energy(k[0], k);
}

static double lj96_cut_tail(const double *parameter)
{
  const double sigma = parameter[1], rc = parameter[2], s3 = sigma * sigma * sigma, x3 = s3 / (rc * rc * rc);
  return 4.0 * parameter[0] * s3 * (x3 * x3 / 6.0 - x3 / 3.0);
}

static const md_pair_style lj96_cut_style = {
    .name = "lj96/cut",
    .summary = "Lennard-Jones with a repulsion of the power 9",
    .nparameter = 3,
    .nglobal = 1,
    .parameter = {{"epsilon", MD_NOT_NEGATIVE}, {"sigma", MD_NOT_NEGATIVE}, {"rc", MD_NOT_NEGATIVE}},
    .global_required = 1,
    .rc_parameter = 2,
    .length_parameter = 1,
    .length_factor = 1.0,
    .takes_shift = true,
    .tail = lj96_cut_tail,
    .mix = lj96_cut_mix,
    .prepare = lj96_cut_prepare,
};

#elif defined MD_T

/* F/r times the scale, for r2 < rc^2. Reads k1 and k2. */
MD_FN real MD_T(md_lj96_cut_force)(real r2, const real *k)
{
  const real inverse = MD_T(md_rsqrt)(r2), inverse2 = inverse * inverse, inverse3 = inverse2 * inverse;
  return inverse3 * inverse3 * MD_T(md_fms)(k[1], inverse3, k[2]) * inverse2;
}

/* U(r), for r2 < rc^2. Reads k3 to k5. */
MD_FN real MD_T(md_lj96_cut_energy)(real r2, const real *k)
{
  const real inverse = MD_T(md_rsqrt)(r2), inverse3 = inverse * inverse * inverse;
  return inverse3 * inverse3 * MD_T(md_fms)(k[3], inverse3, k[4]) - k[5];
}

#endif
