/* The Lennard-Jones potential with a cutoff: U(r) = 4 eps ((sigma/r)^12 - (sigma/r)^6) [- U(rc) if shifted], r < rc.
 *
 * Coefficients, s being the caller's scale of forces:
 *   k0 = rc^2                  k2 = 24 s eps sigma^6      k4 = 4 eps sigma^6
 *   k1 = 48 s eps sigma^12     k3 = 4 eps sigma^12        k5 = U(rc) if shifted, else 0
 * If eps, sigma or rc is 0, the pair of types does not interact, and all its coefficients are 0. With k0 = 0 no
 * particle is within the cutoff, not even one at the same place, for which 0 times 1/r would not be a number.
 *
 * Cost: one reciprocal and 6 operations for each pair. Reference: Allen and Tildesley, ch. 1.4.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(lj_cut, "lj/cut")

#elif defined MD_PAIR_CUT

MD_PAIR_CUT(lj_cut)

#elif defined MD_PAIR_HOST

static void lj_cut_mix(const double *a, const double *b, md_mixing mixing, double *ab)
{
  mix_energy_and_lengths(3, a, b, mixing, ab);
}

static void lj_cut_prepare(const double *parameter, bool shift, double scale, double *k)
{
  const double epsilon = parameter[0], sigma = parameter[1], rc = parameter[2];
  const double s2 = sigma * sigma, s6 = s2 * s2 * s2;
  if (!(epsilon > 0.0 && sigma > 0.0 && rc > 0.0)) return;
  k[0] = rc * rc;
  k[1] = 48.0 * epsilon * s6 * s6 * scale;
  k[2] = 24.0 * epsilon * s6 * scale;
  k[3] = 4.0 * epsilon * s6 * s6;
  k[4] = 4.0 * epsilon * s6;
  const double c2 = s2 / (rc * rc), c6 = c2 * c2 * c2;
  k[5] = shift ? 4.0 * epsilon * (c6 * c6 - c6) : 0.0;
}

static double lj_cut_tail(const double *parameter)
{
  const double sigma = parameter[1], rc = parameter[2], s3 = sigma * sigma * sigma, x3 = s3 / (rc * rc * rc);
  return 4.0 * parameter[0] * s3 * (x3 * x3 * x3 / 9.0 - x3 / 3.0);
}

static const md_pair_style lj_cut_style = {
    .name = "lj/cut",
    .summary =
        "Lennard-Jones 4 eps ((sigma/r)^12 - (sigma/r)^6), cut at rc; pair_modify shift moves U(rc) to zero",
    .nparameter = 3,
    .nglobal = 1,
    .parameter = {{"epsilon", MD_NOT_NEGATIVE}, {"sigma", MD_NOT_NEGATIVE}, {"rc", MD_NOT_NEGATIVE}},
    .global_required = 1,
    .rc_parameter = 2,
    .length_parameter = 1,
    .length_factor = 1.0,
    .takes_shift = true,
    .tail = lj_cut_tail,
    .mix = lj_cut_mix,
    .prepare = lj_cut_prepare,
};

#elif defined MD_T

/* F/r times the scale, for r2 < rc^2. Reads k1 and k2. */
MD_FN real MD_T(md_lj_cut_force)(real r2, const real *k)
{
  const real inverse2 = MD_T(md_recip)(r2);
  const real inverse6 = inverse2 * inverse2 * inverse2;
  return inverse6 * MD_T(md_fms)(k[1], inverse6, k[2]) * inverse2;
}

/* U(r), for r2 < rc^2. Reads k3 to k5. */
MD_FN real MD_T(md_lj_cut_energy)(real r2, const real *k)
{
  const real inverse2 = MD_T(md_recip)(r2);
  const real inverse6 = inverse2 * inverse2 * inverse2;
  return inverse6 * MD_T(md_fms)(k[3], inverse6, k[4]) - k[5];
}

#endif
