/* The harmonic bond: U(r) = K (r - r0)^2, without the factor 1/2, as in LAMMPS.
 *
 * Coefficients, s being the caller's scale of forces:
 *   k0  the square of the longest bond (bond.h)     k1 = 2 s K     k2 = r0     k3 = K
 *
 * Cost: a square root and a division. Reference: the LAMMPS manual, command bond_style harmonic.
 */
#if defined MD_BOND_STYLE

MD_BOND_STYLE(harmonic, "harmonic")

#elif defined MD_BOND_HOST

static double harmonic_reach(const double *parameter) { return 2.0 * parameter[1]; }

/* At a tenth of its length; of a spring whose length at rest is 0, at 1/10. */
static double harmonic_force_usual(const double *parameter)
{
  return 0.2 * parameter[0] * (parameter[1] > 0.0 ? parameter[1] : 1.0);
}

static double harmonic_energy_most(const double *parameter, double reach)
{
  const double longest = reach + parameter[1];
  return parameter[0] * longest * longest;
}

static void harmonic_prepare(const double *parameter, double reach, double scale, double *k)
{
  k[0] = reach * reach;
  k[1] = 2.0 * scale * parameter[0];
  k[2] = parameter[1];
  k[3] = parameter[0];
}

static const md_bond_style harmonic_style = {
    .name = "harmonic",
    .summary = "K R0: a spring K (r - R0)^2",
    .nparameter = 2,
    .parameter = {{"K", MD_NOT_NEGATIVE}, {"R0", MD_NOT_NEGATIVE}},
    .reach = harmonic_reach,
    .force_usual = harmonic_force_usual,
    .energy_most = harmonic_energy_most,
    .prepare = harmonic_prepare,
};

#elif defined MD_T

/* F/r times the scale. At r = 0 it is no number, unless r0 is 0 too. */
MD_FN real MD_T(md_harmonic_force)(real r2, const real *k)
{
  const real zero = MD_T(md_broadcast)(0.0), one = MD_T(md_broadcast)(1.0);
  return MD_T(md_select_less)(zero, k[2], k[1] * (k[2] / MD_T(md_sqrt)(r2) - one), -k[1]);
}

/* U(r). */
MD_FN real MD_T(md_harmonic_energy)(real r2, const real *k)
{
  const real longer = MD_T(md_sqrt)(r2) - k[2];
  return k[3] * longer * longer;
}

#endif
