/* Lennard-Jones around a core: lj/cut of the distance d = r - delta, for particles of several sizes with one range of
 * interaction. U(r) = 4 eps ((sigma/d)^12 - (sigma/d)^6) [- U(rc + delta) if shifted], d < rc.
 *
 * Coefficients, s being the caller's scale of forces:
 *   k0 = (rc + delta)^2        k3 = delta                         k5 = 4 eps sigma^12
 *   k1 = 48 s eps sigma^12     k4 = sigma 1e-3, the least d       k6 = 4 eps sigma^6
 *   k2 = 24 s eps sigma^6      k8 = k0 1e-12, the least r^2       k7 = U(rc + delta) if shifted, else 0
 * If eps, sigma, rc or rc + delta is not positive, all are 0, as those of lj/cut.
 *
 * Cost: that of lj/cut, and a reciprocal root for each pair.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(lj_expand, "lj/expand")

#elif defined MD_PAIR_SHARED

MD_PAIR_SHARED(lj_expand)

#elif defined MD_PAIR_HOST

static double lj_expand_reach(const double *parameter)
{
  return parameter[3] > 0.0 ? md_max(parameter[3] + parameter[2], 0.0) : 0.0;
}

static void lj_expand_mix(const double *a, const double *b, md_mixing mixing, double *ab)
{
  mix_energy_and_lengths(4, a, b, mixing, ab);
  ab[2] = 0.5 * (a[2] + b[2]);
}

static void lj_expand_prepare(const double *parameter, bool shift, double scale, double *k)
{
  const double epsilon = parameter[0], sigma = parameter[1], reach = lj_expand_reach(parameter);
  const double s2 = sigma * sigma, s6 = s2 * s2 * s2;
  if (!(epsilon > 0.0 && sigma > 0.0 && reach > 0.0)) return;
  k[0] = reach * reach;
  k[1] = 48.0 * epsilon * s6 * s6 * scale;
  k[2] = 24.0 * epsilon * s6 * scale;
  k[3] = parameter[2];
  k[4] = sigma * 1e-3;
  k[5] = 4.0 * epsilon * s6 * s6;
  k[6] = 4.0 * epsilon * s6;
  k[8] = k[0] * 1e-12;
  if (shift) k[7] = md_lj_expand_energy(k[0], k);
}

static const md_pair_style lj_expand_style = {
    .name = "lj/expand",
    .summary = "Lennard-Jones of the distance r - delta, for delta + rc",
    .nparameter = 4,
    .nglobal = 1,
    .parameter = {{"epsilon", MD_NOT_NEGATIVE},
                  {"sigma", MD_NOT_NEGATIVE},
                  {"delta", MD_ANY},
                  {"rc", MD_NOT_NEGATIVE}},
    .global_required = 1,
    .rc_parameter = 3,
    .length_parameter = MD_AT_ZERO_ENERGY,
    .length_factor = 0.4,
    .takes_shift = true,
    .reach = lj_expand_reach,
    .mix = lj_expand_mix,
    .prepare = lj_expand_prepare,
};

#elif defined MD_T

/* F/r times the scale, for r2 < k0. Reads k1 to k4, and k8. */
MD_FN real MD_T(md_lj_expand_force)(real r2, const real *k)
{
  const real inverse_r = MD_T(md_rsqrt)(MD_T(md_max)(r2, k[8]));
  const real inverse = MD_T(md_recip)(MD_T(md_max)(r2 * inverse_r - k[3], k[4])),
             inverse2 = inverse * inverse;
  const real inverse6 = inverse2 * inverse2 * inverse2;
  return inverse6 * MD_T(md_fms)(k[1], inverse6, k[2]) * inverse * inverse_r;
}

/* U(r), for r2 < k0. Reads k3 to k8. */
MD_FN real MD_T(md_lj_expand_energy)(real r2, const real *k)
{
  const real r = r2 * MD_T(md_rsqrt)(MD_T(md_max)(r2, k[8]));
  const real inverse = MD_T(md_recip)(MD_T(md_max)(r - k[3], k[4])), inverse2 = inverse * inverse;
  const real inverse6 = inverse2 * inverse2 * inverse2;
  return inverse6 * MD_T(md_fms)(k[5], inverse6, k[6]) - k[7];
}

#endif
