/* compute pe: the potential energy of all pairs and bonds, of fixes whose energy counts, and of the tail. The engines'
 * sums hold each pair twice, once for each partner. Cost: a pass over all pairs, beside that of the forces. */
#if defined MD_COMPUTE_STYLE

MD_COMPUTE_STYLE(pe, "pe")

#elif defined MD_COMPUTE_HOST

static void pe_value(const md_model *model, const md_compute *compute, const md_compute_sums *sums,
                     double *value)
{
  (void)compute;
  value[0] = 0.5 * md_wide_value(&sums->all->pair_energy2, model->grids.e) +
             md_bond_energy_of(model, sums->all) + sums->all->fix_energy + md_model_tail_energy(model);
}

static const md_compute_style pe_style = {
    .name = "pe",
    .usage = "pe",
    .help = "potential energy, not divided by the number of particles; of the group all",
    .nvalue = 1,
    .extensive = true,
    .all_only = true,
    .of_pairs = true,
    .terms_of = MD_COMPUTE_KINDS,
    .value = pe_value,
};

#endif
