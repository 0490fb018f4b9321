/* fix nph: fix npt without a thermostat of the particles. The masses of the barostat follow from ptemp, or else from
 * the temperature with which the first run begins.
 *
 * Numbers and state: those of fix npt.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(nph, "nph")

#elif defined MD_FIX_END

MD_FIX_END(nph)

#elif defined MD_FIX_HOST

static const md_fix_style nph_style = {
    .name = "nph",
    .usage = "nph iso|aniso|x|y|z PSTART PSTOP PDAMP ... [couple none|xyz|xy|yz|xz] [pchain N] [ploop N] "
             "[mtk yes|no] "
             "[drag D] [nreset N] [fixedpoint X Y Z] [ptemp T] [dilate all]",
    .help = "fix nve in a box whose sides a barostat moves, as fix npt has it, without a thermostat",
    .forgets = "the places and velocities that its barostat scales are rounded",
    .needs_box = true,
    .all_only = true,
    .nstate = MD_FIX_STATE,
    .parse = npt_parse,
    .join = npt_join,
    .prepare = nvt_prepare,
    .every = nvt_every,
    .scaling = MD_SCALES_AXES,
    .measures = MD_COMPUTE_temp,
    .parts = baro_parts,
    .half = npt_half,
    .integrates = true,
    .changes = baro_changes,
    .move_box = npt_move_box,
    .begin = npt_begin,
    .coupled = npt_coupled,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_nph_end(const md_action *a, const md_step *s, md_particle *p) { md_npt_end(a, s, p); }

#endif
