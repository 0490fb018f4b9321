/* The screened Coulomb potential of Yukawa: U(r) = A e^(-kappa r)/r [- U(rc) if shifted], r < rc. kappa is the same for
 * all pairs of types.
 *
 * Coefficients, s being the caller's scale of forces:
 *   k0 = rc^2     k2 = kappa                                             k4 = A
 *   k1 = s A      k3 = (rc 1e-6)^2, the least r^2 of which a root is taken     k5 = U(rc) if shifted, else 0
 *
 * Trade-off: charges in a medium with salt or a plasma, without sums over images. Cost: an exponential and a reciprocal
 * root for each pair. Reference: Hamaguchi, Farouki and Dubin, Phys. Rev. E 56 (1997) 4671.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(yukawa, "yukawa")

#elif defined MD_PAIR_SHARED

MD_PAIR_SHARED(yukawa)

#elif defined MD_PAIR_HOST

static void yukawa_mix(const double *a, const double *b, md_mixing mixing, double *ab)
{
  ab[0] = mix_energy(mixing, a[0], b[0], 1.0, 1.0);
  ab[1] = a[1];
  ab[2] = mix_distance(mixing, a[2], b[2]);
}

static void yukawa_prepare(const double *parameter, bool shift, double scale, double *k)
{
  const double rc = parameter[2];
  k[0] = rc * rc;
  k[1] = parameter[0] * scale;
  k[2] = parameter[1];
  k[3] = rc * rc * 1e-12;
  k[4] = parameter[0];
  if (shift && rc > 0.0) k[5] = md_yukawa_energy(k[0], k);
}

static const md_pair_style yukawa_style = {
    .name = "yukawa",
    .summary = "screened Coulomb potential A exp(-kappa r)/r; kappa is the first number of pair_style",
    .nparameter = 3,
    .nglobal = 2,
    .parameter = {{"A", MD_ANY}, {"kappa", MD_NOT_NEGATIVE}, {"rc", MD_NOT_NEGATIVE}},
    .global_required = 2,
    .rc_parameter = 2,
    .length_parameter = MD_AT_ZERO_ENERGY,
    .length_factor = 0.4,
    .nfixed = 1,
    .takes_shift = true,
    .mix = yukawa_mix,
    .prepare = yukawa_prepare,
};

#elif defined MD_T

/* F/r times the scale, for r2 < rc^2. Reads k1 to k3. */
MD_FN real MD_T(md_yukawa_force)(real r2, const real *k)
{
  const real inverse = MD_T(md_rsqrt)(MD_T(md_max)(r2, k[3])), e = MD_T(md_exp)(-k[2] * (r2 * inverse));
  return k[1] * e * (k[2] + inverse) * (inverse * inverse);
}

/* U(r), for r2 < rc^2. Reads k2 to k5. */
MD_FN real MD_T(md_yukawa_energy)(real r2, const real *k)
{
  const real inverse = MD_T(md_rsqrt)(MD_T(md_max)(r2, k[3])), e = MD_T(md_exp)(-k[2] * (r2 * inverse));
  return MD_T(md_fms)(k[4] * e, inverse, k[5]);
}

#endif
