/* A Gaussian well: U(r) = -A e^(-B r^2) [- U(rc) if shifted], r < rc. With A < 0 it is a soft repulsion.
 *
 * Coefficients, s being the caller's scale of forces:
 *   k0 = rc^2     k1 = -2 s A B     k2 = B     k3 = -A     k4 = U(rc) if shifted, else 0
 *
 * Trade-off: finite at r = 0, for coils of polymers and traps. Cost: one exponential for each pair, no root.
 * Reference: Stillinger, J. Chem. Phys. 65 (1976) 3968.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(gauss, "gauss")

#elif defined MD_PAIR_SHARED

MD_PAIR_SHARED(gauss)

#elif defined MD_PAIR_HOST

/* LAMMPS mixes A as the energy and B^(-1/2) as the distance. A repulsion remains one. */
static void gauss_mix(const double *a, const double *b, md_mixing mixing, double *ab)
{
  const double si = sqrt(0.5 / a[1]), sj = sqrt(0.5 / b[1]), sij = mix_distance(mixing, si, sj);
  const double sign = a[0] < 0.0 || b[0] < 0.0 ? -1.0 : 1.0;
  ab[0] = sign * mix_energy(mixing, fabs(a[0]), fabs(b[0]), si, sj);
  ab[1] = 0.5 / (sij * sij);
  ab[2] = mix_distance(mixing, a[2], b[2]);
}

static void gauss_prepare(const double *parameter, bool shift, double scale, double *k)
{
  const double a = parameter[0], b = parameter[1], rc = parameter[2];
  k[0] = rc * rc;
  k[1] = -2.0 * a * b * scale;
  k[2] = b;
  k[3] = -a;
  if (shift) k[4] = md_gauss_energy(k[0], k);
}

static const md_pair_style gauss_style = {
    .name = "gauss",
    .summary = "Gaussian well -A exp(-B r^2); a repulsion if A is negative",
    .nparameter = 3,
    .nglobal = 1,
    .parameter = {{"A", MD_ANY}, {"B", MD_POSITIVE}, {"rc", MD_NOT_NEGATIVE}},
    .global_required = 1,
    .rc_parameter = 2,
    .length_parameter = MD_AT_ZERO_ENERGY,
    .length_factor = 0.4,
    .takes_shift = true,
    .mix = gauss_mix,
    .prepare = gauss_prepare,
};

#elif defined MD_T

/* F/r times the scale, for r2 < rc^2. Reads k1 and k2. */
MD_FN real MD_T(md_gauss_force)(real r2, const real *k) { return k[1] * MD_T(md_exp)(-k[2] * r2); }

/* U(r), for r2 < rc^2. Reads k2 to k4. */
MD_FN real MD_T(md_gauss_energy)(real r2, const real *k)
{
  return MD_T(md_fms)(k[3], MD_T(md_exp)(-k[2] * r2), k[4]);
}

#endif
