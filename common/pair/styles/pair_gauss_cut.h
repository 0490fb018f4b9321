/* A Gaussian well or wall around a distance: U(r) = H/(sigma sqrt(2 pi)) e^(-(r - r0)^2/(2 sigma^2)) [- U(rc) if
 * shifted], r < rc. r0 is rmh, sigma is sigmah.
 *
 * Coefficients, s being the caller's scale of forces, and A = H/(sigma sqrt(2 pi)):
 *   k0 = rc^2            k2 = -1/(2 sigma^2)     k4 = (rc 1e-6)^2, the least r^2 of which a root is taken
 *   k1 = s A/sigma^2     k3 = r0                 k5 = A     k6 = U(rc) if shifted, else 0
 *
 * Trade-off: with H < 0 a well of any place and width, as shells of ions in water have it. Cost: an exponential and a
 * reciprocal root for each pair. References: Jusufi, Hynninen and Panagiotopoulos, J. Phys. Chem. B 112 (2008) 13783;
 * the LAMMPS manual, pair_style gauss/cut.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(gauss_cut, "gauss/cut")

#elif defined MD_PAIR_SHARED

MD_PAIR_SHARED(gauss_cut)

#elif defined MD_PAIR_HOST

/* H mixes as an energy, whose distance is sigma. A repulsion remains one. */
static void gauss_cut_mix(const double *a, const double *b, md_mixing mixing, double *ab)
{
  const double sign = a[0] >= 0.0 || b[0] >= 0.0 ? 1.0 : -1.0;
  ab[0] = sign * mix_energy(mixing, fabs(a[0]), fabs(b[0]), a[2], b[2]);
  for (int p = 1; p < 4; ++p) ab[p] = mix_distance(mixing, a[p], b[p]);
}

static void gauss_cut_prepare(const double *parameter, bool shift, double scale, double *k)
{
  const double sigma = parameter[2], rc = parameter[3];
  const double a = parameter[0] / (0x1.40d931ff62705p+1 * sigma); /* sqrt(2 pi) */
  k[0] = rc * rc;
  k[1] = a / (sigma * sigma) * scale;
  k[2] = -0.5 / (sigma * sigma);
  k[3] = parameter[1];
  k[4] = rc * rc * 1e-12;
  k[5] = a;
  if (shift && rc > 0.0) k[6] = md_gauss_cut_energy(k[0], k);
}

static const md_pair_style gauss_cut_style = {
    .name = "gauss/cut",
    .summary =
        "Gaussian H/(sigmah sqrt(2 pi)) exp(-(r - rmh)^2/(2 sigmah^2)): a wall, or a well if H is negative",
    .nparameter = 4,
    .nglobal = 1,
    .parameter = {{"H", MD_ANY}, {"rmh", MD_NOT_NEGATIVE}, {"sigmah", MD_POSITIVE}, {"rc", MD_NOT_NEGATIVE}},
    .global_required = 1,
    .rc_parameter = 3,
    .length_parameter = MD_AT_ZERO_ENERGY,
    .length_factor = 0.4,
    .takes_shift = true,
    .mix = gauss_cut_mix,
    .prepare = gauss_cut_prepare,
};

#elif defined MD_T

/* F/r times the scale, for r2 < rc^2. Reads k1 to k4. */
MD_FN real MD_T(md_gauss_cut_force)(real r2, const real *k)
{
  const real inverse = MD_T(md_rsqrt)(MD_T(md_max)(r2, k[4])), t = r2 * inverse - k[3];
  return k[1] * t * MD_T(md_exp)(k[2] * (t * t)) * inverse;
}

/* U(r), for r2 < rc^2. Reads k2 to k6. */
MD_FN real MD_T(md_gauss_cut_energy)(real r2, const real *k)
{
  const real t = r2 * MD_T(md_rsqrt)(MD_T(md_max)(r2, k[4])) - k[3];
  return MD_T(md_fms)(k[5], MD_T(md_exp)(k[2] * (t * t)), k[6]);
}

#endif
