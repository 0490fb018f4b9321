/* Several pair styles in one model: one of them, or none, for each pair of types; see hybrid.h.
 *
 * Reference: the LAMMPS manual, pair_style hybrid.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(hybrid, "hybrid")

#elif defined MD_PAIR_HYBRID

MD_PAIR_HYBRID(hybrid)

#elif defined MD_PAIR_HOST

static const md_pair_style hybrid_style = {
    .name = "hybrid",
    .summary = "several of these styles in one model, one or none for each pair of types",
    .hybrid = true,
};

#endif
