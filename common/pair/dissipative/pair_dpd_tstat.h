/* The thermostat of dissipative particle dynamics without its repulsion: friction and noise of pair_dpd.h, with a
 * temperature that goes linearly from START to STOP in a run.
 *
 * Parameters: gamma, and of pair_style START, STOP, the seed, rc. Coefficients: those of pair_dpd.h, with A = 0.
 *
 * Trade-off: alone it is a gas without energy that keeps its momentum. LAMMPS adds it to other styles, which needs
 * several styles at once.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(dpd_tstat, "dpd/tstat")

#elif defined MD_PAIR_DISSIPATIVE

MD_PAIR_DISSIPATIVE(dpd_tstat)

#elif defined MD_PAIR_HOST

static void dpd_tstat_prepare(const double *parameter, bool shift, double scale, double *k)
{
  (void)shift;
  dissipative_coefficients(0.0, parameter[0], parameter[4], scale, k);
}

static const md_pair_style dpd_tstat_style = {
    .name = "dpd/tstat",
    .summary = "the friction and noise of dpd alone; its temperature ramps in a run; no mixing",
    .nparameter = 5,
    .nglobal = 4,
    .parameter = {{"gamma", MD_NOT_NEGATIVE},
                  {"Tstart", MD_NOT_NEGATIVE},
                  {"Tstop", MD_NOT_NEGATIVE},
                  {"seed", MD_POSITIVE},
                  {"rc", MD_POSITIVE}},
    .global_required = 4,
    .nfixed = 3,
    .rc_parameter = 4,
    .length_parameter = 4,
    .length_factor = 0.5,
    .dissipative = true,
    .prepare = dpd_tstat_prepare,
};

#elif defined MD_T

MD_FN real MD_T(md_dpd_tstat_force)(real r2, const real *k) { return MD_T(md_dpd_force)(r2, k); }

MD_FN real MD_T(md_dpd_tstat_energy)(real r2, const real *k) { return MD_T(md_dpd_energy)(r2, k); }

#endif
