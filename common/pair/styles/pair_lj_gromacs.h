/* Lennard-Jones with the switch of GROMACS: force and energy go to zero smoothly between r1 and rc. With L(r) =
 * 4 eps ((sigma/r)^12 - (sigma/r)^6), t = max(r - r1, 0) and w = rc - r1,
 *   U(r) = L(r) + A t^3/3 + B t^4/4 + C,                  A = (-3 L'(rc) + w L''(rc))/w^2,
 *   B = (2 L'(rc) - w L''(rc))/w^3,                       C = -L(rc) + w L'(rc)/2 - w^2 L''(rc)/12,
 * so that U, U' and U'' are zero at rc.
 *
 * Coefficients, s being the caller's scale of forces:
 *   k0 = rc^2                  k3 = r1      k6 = 4 eps sigma^12     k8 = A/3
 *   k1 = 48 s eps sigma^12     k4 = s A     k7 = 4 eps sigma^6      k9 = B/4
 *   k2 = 24 s eps sigma^6      k5 = s B                             k10 = C
 * If eps, sigma or rc is 0, all are 0, as those of lj/cut.
 *
 * Cost: that of lj/cut, a reciprocal root and 6 operations for each pair. Reference: van der Spoel et al., GROMACS
 * manual, version 3.2 (2004), section 4.1.5.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(lj_gromacs, "lj/gromacs")

#elif defined MD_PAIR_SHARED

MD_PAIR_SHARED(lj_gromacs)

#elif defined MD_PAIR_HOST

static const char *lj_gromacs_refuse(const double *parameter)
{
  return parameter[2] < parameter[3] ? NULL : "inner must be smaller than rc";
}

static void lj_gromacs_mix(const double *a, const double *b, md_mixing mixing, double *ab)
{
  mix_energy_and_lengths(4, a, b, mixing, ab);
}

static void lj_gromacs_prepare(const double *parameter, bool shift, double scale, double *k)
{
  (void)shift;
  const double epsilon = parameter[0], sigma = parameter[1], rc = parameter[3], w = rc - parameter[2];
  const double s2 = sigma * sigma, s6 = s2 * s2 * s2, c2 = s2 / (rc * rc), c6 = c2 * c2 * c2;
  if (!(epsilon > 0.0 && sigma > 0.0)) return;
  const double energy = 4.0 * epsilon * (c6 * c6 - c6), slope = -24.0 * epsilon * (2.0 * c6 * c6 - c6) / rc;
  const double bend = 24.0 * epsilon * (26.0 * c6 * c6 - 7.0 * c6) / (rc * rc);
  const double a = (w * bend - 3.0 * slope) / (w * w), b = (2.0 * slope - w * bend) / (w * w * w);
  k[0] = rc * rc;
  k[1] = 48.0 * epsilon * s6 * s6 * scale;
  k[2] = 24.0 * epsilon * s6 * scale;
  k[3] = parameter[2];
  k[4] = a * scale;
  k[5] = b * scale;
  k[6] = 4.0 * epsilon * s6 * s6;
  k[7] = 4.0 * epsilon * s6;
  k[8] = a / 3.0;
  k[9] = 0.25 * b;
  k[10] = 0.5 * w * slope - energy - w * w * bend / 12.0;
}

static const md_pair_style lj_gromacs_style = {
    .name = "lj/gromacs",
    .summary = "Lennard-Jones, switched to zero between inner and rc",
    .nparameter = 4,
    .nglobal = 2,
    .parameter = {{"epsilon", MD_NOT_NEGATIVE},
                  {"sigma", MD_NOT_NEGATIVE},
                  {"inner", MD_POSITIVE},
                  {"rc", MD_POSITIVE}},
    .global_required = 2,
    .rc_parameter = 3,
    .length_parameter = 1,
    .length_factor = 1.0,
    .refuse = lj_gromacs_refuse,
    .mix = lj_gromacs_mix,
    .prepare = lj_gromacs_prepare,
};

#elif defined MD_T

/* F/r times the scale, for r2 < rc^2. Reads k1 to k5. */
MD_FN real MD_T(md_lj_gromacs_force)(real r2, const real *k)
{
  const real inverse = MD_T(md_rsqrt)(r2), inverse2 = inverse * inverse;
  const real inverse6 = inverse2 * inverse2 * inverse2;
  const real t = MD_T(md_max)(r2 * inverse - k[3], MD_T(md_broadcast)(0.0));
  return inverse6 * MD_T(md_fms)(k[1], inverse6, k[2]) * inverse2 - (k[4] + k[5] * t) * (t * t) * inverse;
}

/* U(r), for r2 < rc^2. Reads k3, and k6 to k10. */
MD_FN real MD_T(md_lj_gromacs_energy)(real r2, const real *k)
{
  const real inverse = MD_T(md_rsqrt)(r2), inverse2 = inverse * inverse;
  const real inverse6 = inverse2 * inverse2 * inverse2;
  const real t = MD_T(md_max)(r2 * inverse - k[3], MD_T(md_broadcast)(0.0));
  return inverse6 * MD_T(md_fms)(k[6], inverse6, k[7]) + ((k[8] + k[9] * t) * (t * t * t) + k[10]);
}

#endif
