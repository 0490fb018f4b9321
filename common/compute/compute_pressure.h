/* compute pressure: P = (f T + sum of r.f over pairs) / (dim V), with the f degrees of freedom of the temperature T, as
 * in LAMMPS.
 *
 * The keywords ke, pair and fix choose terms; virial is pair, bonds and fix. Tail corrections belong to pair. Of fixes,
 * external alone has a virial. The virials of pairs and bonds are one sum, so that pair alone is refused where there
 * are bonds. Reference: Allen and Tildesley, Computer Simulation of Liquids, 2nd ed. (2017), section 2.4.
 *
 * Numbers of the compute: k0 is 1 without the kinetic term, k1 is 1 without the virial of pairs, k2 without that
 * of fixes, k3 is 1 if pair was given and virial was not. `of` is the ID of the temperature, or empty without one.
 */
#if defined MD_COMPUTE_STYLE

MD_COMPUTE_STYLE(pressure, "pressure")

#elif defined MD_COMPUTE_HOST

static md_status pressure_parse(md_compute *compute, const md_words *words, const md_compute_scope *scope)
{
  (void)scope;
  const char *id = words->n > 0 ? words->word[0] : "thermo_temp";
  const bool none = strcmp(id, "NULL") == 0;
  if (words->n > 1) compute->k[0] = compute->k[1] = compute->k[2] = 1.0;
  for (int w = 1; w < words->n; ++w) {
    const char *word = words->word[w];
    if (strcmp(word, "ke") == 0)
      compute->k[0] = 0.0;
    else if (strcmp(word, "pair") == 0) {
      if (compute->k[1] != 0.0) compute->k[3] = 1.0;
      compute->k[1] = 0.0;
    } else if (strcmp(word, "fix") == 0)
      compute->k[2] = 0.0;
    else if (strcmp(word, "virial") == 0)
      compute->k[1] = compute->k[2] = compute->k[3] = 0.0;
    else
      return md_error(MD_USAGE,
                      "compute pressure: unknown keyword '%.64s'; accepted are ke, pair, virial, fix", word);
  }
  if (none && compute->k[0] == 0.0)
    return md_error(MD_USAGE,
                    "compute pressure: with NULL there is no kinetic term; name a temperature, or add the "
                    "keyword virial");
  return none ? MD_OK : md_compute_set_of(compute, id);
}

static void pressure_value(const md_model *model, const md_compute *compute, const md_compute_sums *sums,
                           double *value)
{
  double temperature[MD_COMPUTE_TERMS] = {0.0}, kinetic2 = 0.0, virial = 0.0;
  if (compute->k[0] == 0.0) {
    md_compute_evaluate(model, &model->compute[compute->temperature], sums->all, temperature);
    kinetic2 = 2.0 * temperature[MD_TEMPERATURE_KINETIC];
  }
  if (compute->k[1] == 0.0)
    virial = 0.5 * md_wide_value(&sums->all->virial2, model->grids.w) + 3.0 * md_model_tail_virial(model);
  if (compute->k[2] == 0.0) virial += md_trace(sums->all->fix_virial);
  const md_box box = md_model_shown_box(model);
  value[0] = (kinetic2 + virial) / ((double)box.dim * md_box_volume(&box)) * model->units->nktv2p;
}

static const md_compute_style pressure_style = {
    .name = "pressure",
    .usage = "pressure [TEMP|NULL [ke] [pair] [virial] [fix]]",
    .help = "pressure of the group all: of motion, with the temperature TEMP (thermo_temp), and of pairs;\n"
            "or only the terms that are named; of fixes, external alone has one; c_ID[1] to c_ID[6]: xx yy\n"
            "zz xy xz yz",
    .nvalue = 1,
    .all_only = true,
    .of_pairs = true,
    .tensor = true,
    .terms_of = MD_COMPUTE_KINDS,
    .parse = pressure_parse,
    .value = pressure_value,
};

#endif
