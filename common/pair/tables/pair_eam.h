/* The embedded-atom method with funcfl files, one for each element.
 *
 * Formulas and reference: eam.h. The parameters are those of the potential (src/potential/potential.c makes it): its
 * cutoff, and a checksum by which decks are compared. Coefficients: k0 = rc^2.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(eam, "eam")

#elif defined MD_PAIR_DENSITY

MD_PAIR_DENSITY(eam)

#elif defined MD_PAIR_HOST

static const md_pair_style eam_style = {
    .name = "eam",
    .summary = "embedded atoms: a sum over pairs and a function of the density; funcfl files",
    .nparameter = 2,
    .parameter = {{"rc", MD_POSITIVE}, {"checksum", MD_ANY}},
    .length_factor = 0.5,
    .density = true,
    .prepare = density_prepare,
};

#endif
