/* compute temp/region: the temperature of the particles of the group that are in a region at the time,
 * T = 2 K / (dim N - extra), where extra is dim (compute_modify).
 *
 * Of a block the value is made of sums, by every engine: the bias of the temperature is the block (bias.h), which may
 * be the temperature of a thermostat. Of any other region, and in a box that may be tilted, it is made of the places of
 * all particles on the host (src/sums/temperature.c), and is only for output. Cost: that of a temperature, or else a
 * copy of all particles from the engine, where it is shown.
 */
#if defined MD_COMPUTE_STYLE

MD_COMPUTE_STYLE(temp_region, "temp/region")

#elif defined MD_COMPUTE_SUMS

MD_COMPUTE_SUMS(temp_region)

#elif defined MD_COMPUTE_HOST

static md_status temp_region_parse(md_compute *compute, const md_words *words, const md_compute_scope *scope)
{
  (void)scope;
  if (words->n != 1)
    return md_error(MD_USAGE, "compute temp/region takes the ID of a region after its name, not %d words",
                    words->n);
  return md_compute_set_of(compute, words->word[0]);
}

/* Sums: the kinetic energy and the number of particles in the block. */
static void temp_region_prepare(const md_model *model, md_summand *s)
{
  s->unit[0] = model->grids.k;
  s->unit[1] = md_compute_unit(1.0);
}

static void temp_region_value(const md_model *model, const md_compute *compute, const md_compute_sums *sums,
                              double *value)
{
  if (!sums->term) return;
  md_temperature_set(model, compute, (int64_t)md_compute_sum(sums, 1), md_compute_sum(sums, 0), value);
}

static const md_compute_style temp_region_style = {
    .name = "temp/region",
    .usage = "temp/region ID",
    .help = "temperature of those particles of the group that are in the region ID at the time; of a block\n"
            "with side in, and without tilt, also for thermostats (fix_modify temp)",
    .nvalue = 1,
    .temperature = true,
    .of_places = true,
    .terms_of = MD_COMPUTE_temp_region,
    .nterm = 2,
    .parse = temp_region_parse,
    .prepare = temp_region_prepare,
    .value = temp_region_value,
};

#elif defined MD_COMPUTE_FORMULAS

MD_FN void md_temp_region_add(const md_summand *s, const md_particle *p, md_fine *sum)
{
  if (!md_bias_counts(&s->bias, p->x)) return;
  md_ke_add(s, p, sum);
  md_fine_add(&sum[1], s->per_unit[1]);
}

#endif
