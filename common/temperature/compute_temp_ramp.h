/* compute temp/ramp: the temperature of the motion relative to a flow that goes linearly with one coordinate, such as
 * that between two moving walls. T = 2 K / (dim N - extra), where extra is dim (compute_modify).
 *
 * Numbers of the compute: those of its bias (bias.h). Reference: the LAMMPS manual, compute temp/ramp.
 */
#if defined MD_COMPUTE_STYLE

MD_COMPUTE_STYLE(temp_ramp, "temp/ramp")

#elif defined MD_COMPUTE_HOST

/* The axis that a word names, with `before` in front of its letter. */
static md_status parse_axis(const char *word, const char *before, const md_box *box, double *axis)
{
  const size_t n = strlen(before);
  for (int d = 0; d < box->dim; ++d)
    if (strncmp(word, before, n) == 0 && word[n] == "xyz"[d] && word[n + 1] == '\0') {
      *axis = d;
      return MD_OK;
    }
  return md_error(MD_USAGE, "compute temp/ramp: '%.64s' is not %sx, %sy%s", word, before, before,
                  box->dim == 2 ? ""
                  : before[0]   ? " or vz"
                                : " or z");
}

static md_status temp_ramp_parse(md_compute *compute, const md_words *words, const md_compute_scope *scope)
{
  const bool box_units =
      words->n == 8 && strcmp(words->word[6], "units") == 0 && strcmp(words->word[7], "box") == 0;
  const bool lattice =
      words->n == 8 && strcmp(words->word[6], "units") == 0 && strcmp(words->word[7], "lattice") == 0;
  double *k = compute->bias.k;
  if (words->n > 6 && !box_units && !lattice)
    return md_error(MD_USAGE,
                    "compute temp/ramp: unexpected '%.64s'; accepted are units box and units lattice",
                    words->word[words->n > 7 && strcmp(words->word[6], "units") == 0 ? 7 : 6]);
  if (words->n < 6)
    return md_error(MD_USAGE, "compute temp/ramp takes six words, vx|vy|vz VLO VHI x|y|z CLO CHI, not %d",
                    words->n);
  compute->bias.kind = MD_BIAS_RAMP;
  MD_TRY(parse_axis(words->word[0], "v", scope->box, &k[0]));
  MD_TRY(parse_axis(words->word[3], "", scope->box, &k[1]));
  for (int n = 0; n < 2; ++n) {
    MD_TRY(md_word_double(words->word[1 + n], "a velocity of compute temp/ramp", &k[2 + n]));
    MD_TRY(md_word_double(words->word[4 + n], "a coordinate of compute temp/ramp", &k[4 + n]));
    if (box_units) continue;
    k[2 + n] *= scope->lattice[(int)k[0]];
    k[4 + n] *= scope->lattice[(int)k[1]];
  }
  if (k[4] < k[5]) return MD_OK;
  return md_error(MD_USAGE, "compute temp/ramp: the coordinates from '%.64s' to '%.64s' do not increase",
                  words->word[4], words->word[5]);
}

static const md_compute_style temp_ramp_style = {
    .name = "temp/ramp",
    .usage = "temp/ramp vx|vy|vz VLO VHI x|y|z CLO CHI [units lattice|box]",
    .help = "temperature of the motion relative to a flow: its velocity along one axis goes from VLO to VHI\n"
            "between the coordinates CLO and CHI; in lattice units unless units box is given",
    .nvalue = 1,
    .temperature = true,
    .terms_of = MD_COMPUTE_ke,
    .parse = temp_ramp_parse,
    .value = temperature_value,
};

#endif
