/* The bond of Kremer and Grest: a spring that cannot be longer than R0, and a repulsion of the two beads.
 *   U(r) = -K R0^2/2 ln(1 - (r/R0)^2) + [4 eps ((sigma/r)^12 - (sigma/r)^6) + eps, r < 2^(1/6) sigma]
 *
 * LAMMPS makes the spring softer where 1 - (r/R0)^2 is below 0.1, with a warning. Here the formula holds up to R0, and
 * a longer bond is an error.
 *
 * Coefficients, s being the caller's scale of forces:
 *   k0 = R0^2           k2 = 2^(1/3) sigma^2     k4 = 24 s eps sigma^6     k6 = 4 eps sigma^12   k8 = eps
 *   k1 = s K R0^2       k3 = 48 s eps sigma^12   k5 = K R0^2/2             k7 = 4 eps sigma^6
 *
 * Cost: a division and a reciprocal; the energy also takes a logarithm.
 * Reference: Kremer and Grest, J. Chem. Phys. 92 (1990) 5057; the LAMMPS manual, command bond_style fene.
 */
#if defined MD_BOND_STYLE

MD_BOND_STYLE(fene, "fene")

#elif defined MD_BOND_HOST

static double fene_reach(const double *parameter) { return parameter[1]; }

static double fene_force_usual(const double *parameter) { return parameter[0] * parameter[1] / 1.5; }

static double fene_energy_most(const double *parameter, double reach)
{
  (void)reach;
  /* The logarithm of the least number that 1 - (r/R0)^2 can be, 2^-53. */
  return 0.5 * parameter[0] * parameter[1] * parameter[1] * 37.0;
}

static void fene_prepare(const double *parameter, double reach, double scale, double *k)
{
  const double K = parameter[0], R0 = parameter[1], epsilon = parameter[2], sigma = parameter[3];
  const double s2 = sigma * sigma, s6 = s2 * s2 * s2;
  (void)reach;
  k[0] = R0 * R0;
  k[1] = scale * K * k[0];
  k[2] = 0x1.428a2f98d728bp0 * s2;
  k[3] = 48.0 * scale * epsilon * s6 * s6;
  k[4] = 24.0 * scale * epsilon * s6;
  k[5] = 0.5 * K * k[0];
  k[6] = 4.0 * epsilon * s6 * s6;
  k[7] = 4.0 * epsilon * s6;
  k[8] = epsilon;
}

static const md_bond_style fene_style = {
    .name = "fene",
    .summary = "K R0 EPSILON SIGMA: a spring that ends at R0, and a repulsion of the two beads",
    .nparameter = 4,
    .parameter = {{"K", MD_NOT_NEGATIVE},
                  {"R0", MD_POSITIVE},
                  {"epsilon", MD_NOT_NEGATIVE},
                  {"sigma", MD_NOT_NEGATIVE}},
    .ends = true,
    .reach = fene_reach,
    .force_usual = fene_force_usual,
    .energy_most = fene_energy_most,
    .prepare = fene_prepare,
};

#elif defined MD_T

/* F/r times the scale, for r2 < R0^2. */
MD_FN real MD_T(md_fene_force)(real r2, const real *k)
{
  const real spring = -k[1] / (k[0] - r2);
  const real inverse2 = MD_T(md_recip)(r2), inverse6 = inverse2 * inverse2 * inverse2;
  const real both = MD_T(md_fma)(inverse6 * MD_T(md_fms)(k[3], inverse6, k[4]), inverse2, spring);
  return MD_T(md_select_less)(r2, k[2], both, spring);
}

/* U(r), for r2 < R0^2. */
MD_FN real MD_T(md_fene_energy)(real r2, const real *k)
{
  const real spring = -k[5] * MD_T(md_ln)((k[0] - r2) / k[0]);
  const real inverse2 = MD_T(md_recip)(r2), inverse6 = inverse2 * inverse2 * inverse2;
  const real both = spring + MD_T(md_fma)(inverse6, MD_T(md_fms)(k[6], inverse6, k[7]), k[8]);
  return MD_T(md_select_less)(r2, k[2], both, spring);
}

#endif
