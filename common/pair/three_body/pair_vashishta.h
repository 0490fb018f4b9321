/* The potential of Vashishta and others, with a file of LAMMPS:
 *
 *   U(r) = H/r^eta + Z_i Z_j e^2/r exp(-r/lambda1) - D/r^4 exp(-r/lambda4) - W/r^6
 *   phi(r) = U(r) - U(rc) - (r - rc) U'(rc),  r < rc
 *   E_c: three_body.h, with strengths B, decay gamma and cut r0
 *
 * The parameters are those of the potential (src/potential/three_body_file.c makes it): its reach, and a checksum by
 * which decks are compared. Coefficients of phi, s being the caller's scale of forces:
 *   k0 = rc^2    k3 to k6 the bits of eta    k9 = D             k12 = U'(rc)
 *   k1 = s       k7 = Z_i Z_j e^2            k10 = 1/lambda4    k13 = rc U'(rc) - U(rc)
 *   k2 = H       k8 = 1/lambda1              k11 = W
 * Reference: Vashishta, Kalia, Rino and Ebbsjo, Phys. Rev. B 41 (1990) 12197; the LAMMPS manual, pair_style vashishta.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(vashishta, "vashishta")

#elif defined MD_PAIR_THREE_BODY

MD_PAIR_THREE_BODY(vashishta)

#elif defined MD_PAIR_HOST

static const md_pair_style vashishta_style = {
    .name = "vashishta",
    .summary =
        "Vashishta: screened charges, dipoles and repulsion of pairs, and a sum over angles; a file of "
        "LAMMPS",
    .nparameter = 2,
    .parameter = {{"rc", MD_NOT_NEGATIVE}, {"checksum", MD_ANY}},
    .length_parameter = MD_AT_ZERO_ENERGY,
    .length_factor = 0.4,
    .three_body = true,
    .prepare = three_body_prepare,
};

#elif defined MD_T

/* F/r times the scale, for r2 < k0. */
MD_FN real MD_T(md_vashishta_force)(real r2, const real *k)
{
  const real inverse = MD_T(md_rsqrt)(r2), r = r2 * inverse, inverse2 = inverse * inverse;
  const real inverse4 = inverse2 * inverse2;
  const real eta = (k[3] + 2.0 * k[4]) + (4.0 * k[5] + 8.0 * k[6]);
  const real repulsion = eta * k[2] * MD_T(md_whole_power)(inverse, k + 3) * inverse;
  const real charges = k[7] * MD_T(md_exp)(-(r * k[8])) * inverse * (inverse + k[8]);
  const real dipoles = k[9] * MD_T(md_exp)(-(r * k[10])) * inverse4 * (4.0 * inverse + k[10]);
  const real dispersion = 6.0 * k[11] * (inverse4 * inverse2) * inverse;
  return k[1] * ((((repulsion + charges) - (dipoles + dispersion)) + k[12]) * inverse);
}

/* phi(r). */
MD_FN real MD_T(md_vashishta_energy)(real r2, const real *k)
{
  const real inverse = MD_T(md_rsqrt)(r2), r = r2 * inverse, inverse2 = inverse * inverse;
  const real inverse4 = inverse2 * inverse2;
  const real repulsion = k[2] * MD_T(md_whole_power)(inverse, k + 3);
  const real charges = k[7] * MD_T(md_exp)(-(r * k[8])) * inverse;
  const real dipoles = k[9] * MD_T(md_exp)(-(r * k[10])) * inverse4;
  const real dispersion = k[11] * (inverse4 * inverse2);
  return ((repulsion + charges) - (dipoles + dispersion)) + (k[13] - r * k[12]);
}

#endif
