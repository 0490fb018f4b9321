/* Dissipative particle dynamics: a soft repulsion, friction along the line between two particles, and noise.
 *   F(r) = A w - gamma w^2 (e . u) + sqrt(2 gamma kB T/dt) w z,   w = 1 - r/rc,   U(r) = A rc w^2/2,   r < rc,
 * e is the unit vector from j to i, u the velocity of i relative to j, and z a random number of the pair and the step.
 * Friction and noise together are a thermostat that keeps the momentum of each pair, and so that of the whole system.
 *
 * Parameters: A, gamma, and of pair_style T twice (START and STOP of dpd/tstat), the seed, rc.
 *
 * Coefficients, s being the caller's scale of forces:
 *   k0 = rc^2     k2 = 1/rc                                                  k4 = A rc/2     k6 = s sqrt(2 gamma)
 *   k1 = s A      k3 = (rc 1e-6)^2, the least r^2 of which a root is taken   k5 = s gamma
 * The formulas here are those of the repulsion alone. dissipative.h has the whole force.
 *
 * Trade-off: large timesteps and a right hydrodynamics, for random numbers of each pair. Reference: Groot and Warren,
 * J. Chem. Phys. 107 (1997) 4423.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(dpd, "dpd")

#elif defined MD_PAIR_DISSIPATIVE

MD_PAIR_DISSIPATIVE(dpd)

#elif defined MD_PAIR_HOST

static void dpd_prepare(const double *parameter, bool shift, double scale, double *k)
{
  (void)shift;
  dissipative_coefficients(parameter[0], parameter[1], parameter[5], scale, k);
}

static const md_pair_style dpd_style = {
    .name = "dpd",
    .summary = "dissipative particle dynamics: soft repulsion, friction and noise; no mixing",
    .nparameter = 6,
    .nglobal = 4,
    .parameter = {{"A", MD_ANY},
                  {"gamma", MD_NOT_NEGATIVE},
                  {"T", MD_NOT_NEGATIVE},
                  {"T", MD_NOT_NEGATIVE},
                  {"seed", MD_POSITIVE},
                  {"rc", MD_POSITIVE}},
    .global_required = 4,
    .nfixed = 3,
    .rc_parameter = 5,
    .length_parameter = 5,
    .length_factor = 0.5,
    .dissipative = true,
    .prepare = dpd_prepare,
};

#elif defined MD_T

/* F/r of the repulsion times the scale, for r2 < rc^2. Reads k1 to k3. */
MD_FN real MD_T(md_dpd_force)(real r2, const real *k)
{
  const real inverse = MD_T(md_rsqrt)(MD_T(md_max)(r2, k[3]));
  return k[1] * inverse * (1.0 - k[2] * r2 * inverse);
}

/* U(r), for r2 < rc^2. Reads k2 to k4. */
MD_FN real MD_T(md_dpd_energy)(real r2, const real *k)
{
  const real w = 1.0 - k[2] * r2 * MD_T(md_rsqrt)(MD_T(md_max)(r2, k[3]));
  return k[4] * (w * w);
}

#endif
