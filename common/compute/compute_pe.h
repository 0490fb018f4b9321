/* compute pe: the potential energy of all pairs and bonds, of fixes whose energy counts, and of the tail, which belongs
 * to the pairs; or of those that keywords name. The engines' sums hold each pair twice, once for each partner.
 * Cost: a pass over all pairs, beside that of the forces. Reference: the LAMMPS manual, compute pe.
 *
 * Numbers of the compute: k0 is 1 without the energy of pairs, k1 without that of bonds, k2 without that of fixes. */
#if defined MD_COMPUTE_STYLE

MD_COMPUTE_STYLE(pe, "pe")

#elif defined MD_COMPUTE_HOST

/* The other keywords of LAMMPS are of energies that are 0 here. */
static md_status pe_parse(md_compute *compute, const md_words *words, const md_compute_scope *scope)
{
  static const char *const known[] = {"pair", "bond", "fix", "angle", "dihedral", "improper", "kspace"};
  enum { KNOWN = sizeof known / sizeof known[0], COUNTED = 3 };
  (void)scope;
  for (int k = 0; k < COUNTED && words->n > 0; ++k) compute->k[k] = 1.0;
  for (int w = 0; w < words->n; ++w) {
    int k = 0;
    while (k < KNOWN && strcmp(words->word[w], known[k]) != 0) ++k;
    if (k == KNOWN)
      return md_error(
          MD_USAGE,
          "compute pe: unknown keyword '%.64s'; accepted are pair, bond, angle, dihedral, improper, "
          "kspace, fix",
          words->word[w]);
    if (k < COUNTED) compute->k[k] = 0.0;
  }
  return MD_OK;
}

static void pe_value(const md_model *model, const md_compute *compute, const md_compute_sums *sums,
                     double *value)
{
  const md_measure *all = sums->all;
  value[0] = 0.0;
  if (compute->k[0] == 0.0) value[0] = 0.5 * md_wide_value(&all->pair_energy2, model->grids.e);
  if (compute->k[1] == 0.0) value[0] += md_bond_energy_of(model, all);
  if (compute->k[2] == 0.0) value[0] += all->fix_energy;
  if (compute->k[0] == 0.0) value[0] += md_model_tail_energy(model);
}

static const md_compute_style pe_style = {
    .name = "pe",
    .usage = "pe [pair] [bond] [fix]",
    .help = "potential energy of the group all, or only the parts that are named, not divided by the number "
            "of particles",
    .nvalue = 1,
    .extensive = true,
    .all_only = true,
    .of_pairs = true,
    .terms_of = MD_COMPUTE_KINDS,
    .parse = pe_parse,
    .value = pe_value,
};

#endif
