/* Several pair styles in one model: any number of them for each pair of types, whose forces and energies are added; see
 * hybrid.h.
 *
 * Reference: the LAMMPS manual, pair_style hybrid/overlay.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(hybrid_overlay, "hybrid/overlay")

#elif defined MD_PAIR_HYBRID

MD_PAIR_HYBRID(hybrid_overlay)

#elif defined MD_PAIR_HOST

static const md_pair_style hybrid_overlay_style = {
    .name = "hybrid/overlay",
    .summary = "sums of these styles, any number of them for each pair of types",
    .hybrid = true,
};

#endif
