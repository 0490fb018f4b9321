/* Softened gravity between all pairs, without a cutoff: F(r) = -G m_i m_j r/(r^2 + eps^2)^(3/2), U(r) = -G m_i m_j/(r^2
 * + eps^2)^(1/2).
 *
 * The softening length eps keeps the force of a close encounter finite (a body is a Plummer sphere of this size). With
 * eps 0 the force is Newton's.
 *
 * Coefficients as md_pair_table completes them, s being the caller's scale of forces (common/pair/pair.h: styles
 * without a cutoff):
 *   k0 = infinity                           k2 = eps^2
 *   k1 = -(m_i c)(m_j c), c = sqrt(s G)     k4 = -G m_i m_j
 *
 * The formulas take the softened squared distance, r^2 + k2. k2 is at least 2^-120, so that a body has no force on
 * itself, and not 0/0.
 *
 * Cost: one square root and one reciprocal in single precision, and 7 operations for each pair (md_rsqrt3).
 * Reference: Aarseth, Mon. Not. R. Astron. Soc. 126 (1963) 223.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(gravity, "gravity")

#elif defined MD_PAIR_ALL

MD_PAIR_ALL(gravity)

#elif defined MD_PAIR_HOST

static void gravity_prepare(const double *parameter, bool shift, double scale, double *k)
{
  (void)shift;
  const double eps = parameter[0], g = isnan(parameter[1]) ? 1.0 : parameter[1];
  k[0] = (double)INFINITY;
  k[1] = sqrt(scale * g);
  k[2] = md_max(eps * eps, 0x1p-120);
  k[4] = -g;
}

static const md_pair_style gravity_style = {
    .name = "gravity",
    .summary = "softened gravity between all pairs: -G m m/sqrt(r^2 + eps^2)",
    .nparameter = 2,
    .nglobal = 2,
    .parameter = {{"eps", MD_NOT_NEGATIVE}, {"G", MD_POSITIVE}},
    .global_required = 1,
    .rc_parameter = MD_NO_CUTOFF,
    .length_parameter = 0,
    .length_factor = 0.70710678118654752,
    .needs_no_coeff = true,
    .prepare = gravity_prepare,
};

#elif defined MD_T

/* F/r times the scale, of the softened r2. Reads k1. */
MD_FN real MD_T(md_gravity_force)(real r2, const real *k) { return k[1] * MD_T(md_rsqrt3)(r2); }

/* U(r), of the softened r2. Reads k4. */
MD_FN real MD_T(md_gravity_energy)(real r2, const real *k) { return k[4] * MD_T(md_rsqrt)(r2); }

#endif
