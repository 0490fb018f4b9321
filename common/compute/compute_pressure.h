/* compute pressure: P = (f T + sum of r.f over pairs) / (dim V), with the f = dim N - dim degrees of freedom of the
 * temperature, as in LAMMPS.
 *
 * Reference: Allen and Tildesley, Computer Simulation of Liquids, 2nd ed. (2017), section 2.4.
 */
#if defined MD_COMPUTE_STYLE

MD_COMPUTE_STYLE(pressure, "pressure")

#elif defined MD_COMPUTE_HOST

static md_status pressure_parse(md_compute *compute, const md_words *words)
{
  (void)compute;
  if (words->n == 0 || (words->n == 1 && strcmp(words->word[0], "thermo_temp") == 0)) return MD_OK;
  return md_error(MD_USAGE, "compute pressure takes thermo_temp or nothing behind its name, not '%.64s'",
                  words->word[words->n - 1]);
}

static void pressure_value(const md_model *model, const md_compute *compute, const md_compute_sums *sums,
                           double *value)
{
  (void)compute;
  const double virial = 0.5 * md_wide_value(&sums->all->virial2, model->grids.w);
  value[0] = (freedom_of(model, sums) * temperature_of(model, sums) + virial) /
             ((double)model->box.dim * md_box_volume(&model->box));
}

static const md_compute_style pressure_style = {
    .name = "pressure",
    .usage = "pressure [thermo_temp]",
    .help = "pressure of pairs and of motion; of the group all; c_ID[1] to c_ID[6]: xx yy zz xy xz yz",
    .nvalue = 1,
    .all_only = true,
    .of_pairs = true,
    .tensor = true,
    .terms_of = MD_COMPUTE_ke,
    .parse = pressure_parse,
    .value = pressure_value,
};

#endif
