/* compute temp/region: the temperature of the particles of the group that are in a region at the time,
 * T = 2 K / (dim N - extra), where extra is dim (compute_modify).
 *
 * Trade-off: every region style is possible, because the value is made of the places of all particles on the host
 * (src/sums/temperature.c). So it cannot be the temperature of a thermostat. Cost: a copy of all particles from the
 * engine, where it is shown.
 */
#if defined MD_COMPUTE_STYLE

MD_COMPUTE_STYLE(temp_region, "temp/region")

#elif defined MD_COMPUTE_HOST

static md_status temp_region_parse(md_compute *compute, const md_words *words, const md_compute_place *place)
{
  (void)place;
  if (words->n != 1)
    return md_error(MD_USAGE, "compute temp/region takes the ID of a region behind its name, not %d words",
                    words->n);
  return md_compute_set_of(compute, words->word[0]);
}

static const md_compute_style temp_region_style = {
    .name = "temp/region",
    .usage = "temp/region ID",
    .help = "temperature of those particles of the group that are in the region ID at the time",
    .nvalue = 1,
    .temperature = true,
    .of_places = true,
    .terms_of = MD_COMPUTE_KINDS,
    .parse = temp_region_parse,
};

#endif
