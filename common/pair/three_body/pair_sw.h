/* The potential of Stillinger and Weber, with a file of LAMMPS:
 *
 *   phi(r) = A eps (B (sigma/r)^p - (sigma/r)^q) exp(sigma/(r - a sigma)),  r < a sigma
 *   E_c: three_body.h, with strengths lambda eps, decay gamma sigma and cut a sigma
 *
 * The parameters are those of the potential (src/potential/three_body_file.c makes it): its reach, and a checksum by
 * which decks are compared. Coefficients of phi, s being the caller's scale of forces:
 *   k0 = rc^2, of the file's tol     k3 = sigma              k6 to k9 the bits of p
 *   k1 = s                           k4 = A eps B sigma^p    k10 to k13 those of q
 *   k2 = a sigma                     k5 = A eps sigma^q
 * Reference: Stillinger and Weber, Phys. Rev. B 31 (1985) 5262; the LAMMPS manual, pair_style sw.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(sw, "sw")

#elif defined MD_PAIR_THREE_BODY

MD_PAIR_THREE_BODY(sw)

#elif defined MD_PAIR_HOST

static const md_pair_style sw_style = {
    .name = "sw",
    .summary = "Stillinger-Weber: a sum over pairs, and one over angles; a file of LAMMPS",
    .nparameter = 2,
    .parameter = {{"rc", MD_NOT_NEGATIVE}, {"checksum", MD_ANY}},
    .length_parameter = MD_AT_ZERO_ENERGY,
    .length_factor = 0.5,
    .three_body = true,
    .prepare = three_body_prepare,
};

#elif defined MD_T

/* exp(sigma/(r - a sigma)). *inverse: 1/(a sigma - r). The smallest distance to the cutoff keeps it finite. */
MD_FN real MD_T(sw_decay)(real r, const real *k, real *inverse)
{
  *inverse = MD_T(md_recip)(MD_T(md_max)(k[2] - r, k[2] * 0x1p-30));
  return MD_T(md_exp)(-(k[3] * *inverse));
}

/* F/r times the scale, for r2 < k0. */
MD_FN real MD_T(md_sw_force)(real r2, const real *k)
{
  const real inverse = MD_T(md_rsqrt)(r2), r = r2 * inverse;
  real to_cut;
  const real decay = MD_T(sw_decay)(r, k, &to_cut);
  const real repulsion = k[4] * MD_T(md_whole_power)(inverse, k + 6);
  const real attraction = k[5] * MD_T(md_whole_power)(inverse, k + 10);
  const real p = (k[6] + 2.0 * k[7]) + (4.0 * k[8] + 8.0 * k[9]);
  const real q = (k[10] + 2.0 * k[11]) + (4.0 * k[12] + 8.0 * k[13]);
  const real slope = (p * repulsion - q * attraction) * inverse;
  const real slope_of_decay = (repulsion - attraction) * (k[3] * to_cut * to_cut);
  return k[1] * ((slope + slope_of_decay) * decay * inverse);
}

/* phi(r). */
MD_FN real MD_T(md_sw_energy)(real r2, const real *k)
{
  const real inverse = MD_T(md_rsqrt)(r2), r = r2 * inverse;
  real to_cut;
  const real decay = MD_T(sw_decay)(r, k, &to_cut);
  const real repulsion = k[4] * MD_T(md_whole_power)(inverse, k + 6);
  return (repulsion - k[5] * MD_T(md_whole_power)(inverse, k + 10)) * decay;
}

#endif
