/* Harmonic soft repulsion: F(r) = a (1 - r/rc), U(r) = a rc (1 - r/rc)^2 / 2, r < rc.
 *
 * This is the conservative force of dissipative particle dynamics (Groot and Warren, J. Chem. Phys. 107 (1997) 4423).
 * It is not the style with the shape of a cosine that LAMMPS calls soft. Two particles at the same place have no force
 * on each other.
 *
 * Coefficients, s being the caller's scale of forces:
 *   k0 = rc^2     k2 = s a/rc            k4 = a rc/2
 *   k1 = s a      k3 = (rc 1e-6)^2       k5 = 1/rc
 * k3 is the least r^2 of which a reciprocal square root is taken.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(soft, "soft")

#elif defined MD_PAIR_CUT

MD_PAIR_CUT(soft)

#elif defined MD_PAIR_HOST

static void soft_mix(const double *a, const double *b, md_mixing mixing, double *ab)
{
  (void)mixing;
  ab[0] = sqrt(a[0] * b[0]);
  ab[1] = 0.5 * (a[1] + b[1]);
}

static void soft_prepare(const double *parameter, bool shift, double scale, double *k)
{
  (void)shift;
  const double a = parameter[0], rc = parameter[1];
  k[0] = rc * rc;
  k[1] = scale * a;
  k[2] = scale * a / rc;
  k[3] = rc * rc * 1e-12;
  k[4] = 0.5 * a * rc;
  k[5] = 1.0 / rc;
}

static const md_pair_style soft_style = {
    .name = "soft",
    .summary = "harmonic repulsion a (1 - r/rc) of dissipative particle dynamics",
    .nparameter = 2,
    .nglobal = 1,
    .parameter = {{"a", MD_NOT_NEGATIVE}, {"rc", MD_POSITIVE}},
    .global_required = 1,
    .rc_parameter = 1,
    .length_parameter = 1,
    .length_factor = 0.5,
    .mix = soft_mix,
    .prepare = soft_prepare,
};

#elif defined MD_T

/* F/r times the scale, for r2 < rc^2. Reads k1 to k3. */
MD_FN real MD_T(md_soft_force)(real r2, const real *k)
{
  return MD_T(md_fms)(k[1], MD_T(md_rsqrt)(MD_T(md_max)(r2, k[3])), k[2]);
}

/* U(r), for r2 < rc^2. Reads k3 to k5. */
MD_FN real MD_T(md_soft_energy)(real r2, const real *k)
{
  const real overlap = 1.0 - k[5] * r2 * MD_T(md_rsqrt)(MD_T(md_max)(r2, k[3]));
  return k[4] * (overlap * overlap);
}

#endif
