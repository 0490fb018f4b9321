/* The embedded-atom method with a file of Finnis and Sinclair, with a density for each pair of elements.
 *
 * Formulas and reference: eam.h. The parameters are those of the potential (src/potential/potential.c makes it): its
 * cutoff, and a checksum by which decks are compared. Coefficients: k0 = rc^2.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(eam_fs, "eam/fs")

#elif defined MD_PAIR_DENSITY

MD_PAIR_DENSITY(eam_fs)

#elif defined MD_PAIR_HOST

static const md_pair_style eam_fs_style = {
    .name = "eam/fs",
    .summary = "embedded atoms: a sum over pairs and a function of the density; a setfl file of Finnis and "
               "Sinclair, with a density for each pair of elements",
    .nparameter = 2,
    .parameter = {{"rc", MD_POSITIVE}, {"checksum", MD_ANY}},
    .length_factor = 0.5,
    .density = true,
    .prepare = density_prepare,
};

#endif
