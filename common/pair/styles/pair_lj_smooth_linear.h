/* The shifted-force Lennard-Jones potential: lj/cut with force and energy moved to zero at the cutoff. With
 * L(r) = 4 eps ((sigma/r)^12 - (sigma/r)^6) and C = -L'(rc), the force of lj/cut at the cutoff,
 *   F(r) = -L'(r) - C,   U(r) = L(r) - L(rc) + C (r - rc),   r < rc.
 *
 * Coefficients, s being the caller's scale of forces: k0 = rc^2, k1 = 48 s eps sigma^12, k2 = 24 s eps sigma^6,
 * k3 = s C, k4 = 4 eps sigma^12, k5 = 4 eps sigma^6, k6 = C, k7 = L(rc) + C rc. If eps, sigma or rc is 0, all are 0, as
 * those of lj/cut.
 *
 * Trade-off: a particle crosses the cutoff without a jump of its force, so that energy drifts less with long timesteps.
 * But the well is less deep than that of lj/cut. Cost: that of lj/cut and a reciprocal root for each pair.
 * Reference: Toxvaerd and Dyre, J. Chem. Phys. 134 (2011) 081102.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(lj_smooth_linear, "lj/smooth/linear")

#elif defined MD_PAIR_CUT

MD_PAIR_CUT(lj_smooth_linear)

#elif defined MD_PAIR_HOST

static void lj_smooth_linear_prepare(const double *parameter, bool shift, double scale, double *k)
{
  (void)shift;
  const double epsilon = parameter[0], sigma = parameter[1], rc = parameter[2];
  const double s2 = sigma * sigma, s6 = s2 * s2 * s2;
  if (!(epsilon > 0.0 && sigma > 0.0 && rc > 0.0)) return;
  const double c2 = s2 / (rc * rc), c6 = c2 * c2 * c2;
  const double force = 24.0 * epsilon * (2.0 * c6 * c6 - c6) / rc;
  k[0] = rc * rc;
  k[1] = 48.0 * epsilon * s6 * s6 * scale;
  k[2] = 24.0 * epsilon * s6 * scale;
  k[3] = force * scale;
  k[4] = 4.0 * epsilon * s6 * s6;
  k[5] = 4.0 * epsilon * s6;
  k[6] = force;
  k[7] = 4.0 * epsilon * (c6 * c6 - c6) + force * rc;
}

static const md_pair_style lj_smooth_linear_style = {
    .name = "lj/smooth/linear",
    .other_name = "lj/sf",
    .summary = "Lennard-Jones whose force and energy are moved to zero at rc; also lj/sf",
    .nparameter = 3,
    .nglobal = 1,
    .parameter = {{"epsilon", MD_NOT_NEGATIVE}, {"sigma", MD_NOT_NEGATIVE}, {"rc", MD_NOT_NEGATIVE}},
    .global_required = 1,
    .rc_parameter = 2,
    .length_parameter = 1,
    .length_factor = 1.0,
    .mix = lj_cut_mix,
    .prepare = lj_smooth_linear_prepare,
};

#elif defined MD_T

/* F/r times the scale, for r2 < rc^2. Reads k1 to k3. */
MD_FN real MD_T(md_lj_smooth_linear_force)(real r2, const real *k)
{
  const real inverse2 = MD_T(md_recip)(r2);
  const real inverse6 = inverse2 * inverse2 * inverse2;
  return inverse6 * MD_T(md_fms)(k[1], inverse6, k[2]) * inverse2 - k[3] * MD_T(md_rsqrt)(r2);
}

/* U(r), for r2 < rc^2. Reads k4 to k7. */
MD_FN real MD_T(md_lj_smooth_linear_energy)(real r2, const real *k)
{
  const real inverse2 = MD_T(md_recip)(r2);
  const real inverse6 = inverse2 * inverse2 * inverse2;
  return inverse6 * MD_T(md_fms)(k[4], inverse6, k[5]) + (k[6] * (r2 * MD_T(md_rsqrt)(r2)) - k[7]);
}

#endif
