/* The potential of Morse: U(r) = D0 (e^(-2 alpha (r - r0)) - 2 e^(-alpha (r - r0))) [- U(rc) if shifted], r < rc.
 *
 * Coefficients, s being the caller's scale of forces:
 *   k0 = rc^2               k2 = alpha       k4 = (rc 1e-6)^2, the least r^2 of which a root is taken
 *   k1 = 2 s D0 alpha       k3 = alpha r0    k5 = D0                 k6 = U(rc) if shifted, else 0
 *
 * Trade-off: bonds of metals and molecules in three numbers, with a finite energy at r = 0. Cost: an exponential and a
 * reciprocal root for each pair. Reference: Morse, Phys. Rev. 34 (1929) 57.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(morse, "morse")

#elif defined MD_PAIR_SHARED

MD_PAIR_SHARED(morse)

#elif defined MD_PAIR_HOST

static void morse_prepare(const double *parameter, bool shift, double scale, double *k)
{
  const double depth = parameter[0], alpha = parameter[1], r0 = parameter[2], rc = parameter[3];
  k[0] = rc * rc;
  k[1] = 2.0 * depth * alpha * scale;
  k[2] = alpha;
  k[3] = alpha * r0;
  k[4] = rc * rc * 1e-12;
  k[5] = depth;
  if (shift) k[6] = md_morse_energy(k[0], k);
}

static const md_pair_style morse_style = {
    .name = "morse",
    .summary = "Morse potential; LAMMPS has no mixing for it: give all pairs of types",
    .nparameter = 4,
    .nglobal = 1,
    .parameter = {{"D0", MD_ANY}, {"alpha", MD_POSITIVE}, {"r0", MD_NOT_NEGATIVE}, {"rc", MD_NOT_NEGATIVE}},
    .global_required = 1,
    .rc_parameter = 3,
    .length_parameter = MD_AT_ZERO_ENERGY,
    .length_factor = 0.4,
    .takes_shift = true,
    .prepare = morse_prepare,
};

#elif defined MD_T

/* F/r times the scale, for r2 < rc^2. Reads k1 to k4. */
MD_FN real MD_T(md_morse_force)(real r2, const real *k)
{
  const real inverse = MD_T(md_rsqrt)(MD_T(md_max)(r2, k[4]));
  const real e = MD_T(md_exp)(k[3] - k[2] * (r2 * inverse));
  return k[1] * MD_T(md_fms)(e, e, e) * inverse;
}

/* U(r), for r2 < rc^2. Reads k2 to k6. */
MD_FN real MD_T(md_morse_energy)(real r2, const real *k)
{
  const real r = r2 * MD_T(md_rsqrt)(MD_T(md_max)(r2, k[4])), e = MD_T(md_exp)(k[3] - k[2] * r);
  return k[5] * MD_T(md_fms)(e, e, 2.0 * e) - k[6];
}

#endif
