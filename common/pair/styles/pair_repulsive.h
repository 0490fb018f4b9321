/* The soft repulsion of the CS267 particle homework.
 *
 * The force on i is (1 - rc/r)/r^2 (x_j - x_i), with r = max(|x_j - x_i|, rmin). Its energy is
 *   rmin <= r < rc   U(r) = ln(r/rc) + rc/r - 1
 *   r < rmin         U(r) = k6 - k5 r^2, because the force falls linearly with the distance.
 *
 * Coefficients, s being the caller's scale of forces:
 *   k0 = rc^2      k2 = s           k4 = rc                           k6 = U(rmin) + k5 rmin^2
 *   k1 = s rc      k3 = rmin^2      k5 = rmin^-2 (rc/rmin - 1)/2
 *
 * Cost: one reciprocal square root and 5 operations for each pair; the energy also takes one logarithm.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(repulsive, "repulsive")

#elif defined MD_PAIR_CUT

MD_PAIR_CUT(repulsive)

#elif defined MD_PAIR_HOST

static void repulsive_mix(const double *a, const double *b, md_mixing mixing, double *ab)
{
  (void)mixing;
  ab[0] = 0.5 * (a[0] + b[0]);
  ab[1] = 0.5 * (a[1] + b[1]);
}

static const char *repulsive_refuse(const double *parameter)
{
  return parameter[1] >= parameter[0] ? "rmin must be smaller than rc" : NULL;
}

static void repulsive_prepare(const double *parameter, bool shift, double scale, double *k)
{
  (void)shift;
  const double rc = parameter[0];
  const double rmin = isnan(parameter[1]) ? rc / 100.0 : parameter[1];
  k[0] = rc * rc;
  k[1] = scale * rc;
  k[2] = scale;
  k[3] = rmin * rmin;
  k[4] = rc;
  k[5] = 0.5 * (rc / rmin - 1.0) / (rmin * rmin);
  k[6] = md_ln(rmin / rc) + rc / rmin - 1.0 + k[5] * rmin * rmin;
}

static const md_pair_style repulsive_style = {
    .name = "repulsive",
    .summary = "soft repulsion (rc/r - 1)/r of the CS267 homework, clamped below rmin (default rc/100)",
    .nparameter = 2,
    .nglobal = 2,
    .parameter = {{"rc", MD_POSITIVE}, {"rmin", MD_POSITIVE}},
    .global_required = 1,
    .rc_parameter = 0,
    .length_parameter = 0,
    .length_factor = 0.5,
    .needs_no_coeff = true,
    .refuse = repulsive_refuse,
    .mix = repulsive_mix,
    .prepare = repulsive_prepare,
};

#elif defined MD_T

/* F/r times the scale, for r2 < rc^2. Reads k1 to k3. */
MD_FN real MD_T(md_repulsive_force)(real r2, const real *k)
{
  const real inverse = MD_T(md_rsqrt)(MD_T(md_max)(r2, k[3]));
  return MD_T(md_fms)(k[1], inverse, k[2]) * (inverse * inverse);
}

/* U(r), for r2 < rc^2. Reads k3 to k6. */
MD_FN real MD_T(md_repulsive_energy)(real r2, const real *k)
{
  const real ratio = k[4] * MD_T(md_rsqrt)(r2);
  const real inner = k[6] - k[5] * r2;
  return MD_T(md_select_less)(r2, k[3], inner, (ratio - 1.0) - MD_T(md_ln)(ratio));
}

#endif
