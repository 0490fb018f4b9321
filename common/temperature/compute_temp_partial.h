/* compute temp/partial: the temperature of the motion along some axes, T = 2 K / f. K is the kinetic energy along these
 * n axes, and f = n N - n/dim extra, where extra is dim (compute_modify).
 *
 * A flow along an axis that does not count is no heat. Reference: the LAMMPS manual, compute temp/partial.
 * Numbers of the compute: those of its bias (bias.h), one for each axis.
 */
#if defined MD_COMPUTE_STYLE

MD_COMPUTE_STYLE(temp_partial, "temp/partial")

#elif defined MD_COMPUTE_HOST

static md_status temp_partial_parse(md_compute *compute, const md_words *words, const md_compute_scope *scope)
{
  if (words->n != 3)
    return md_error(MD_USAGE,
                    "compute temp/partial takes three words after its name, 0 or 1 for x, y and z, not %d",
                    words->n);
  compute->bias.kind = MD_BIAS_AXES;
  for (int d = 0; d < 3; ++d) {
    int64_t counts;
    MD_TRY(md_word_int64(words->word[d], "an axis of compute temp/partial", 0, 1, &counts));
    compute->bias.k[d] = (double)counts;
  }
  if (scope->box->dim == 2 && compute->bias.k[2] != 0.0)
    return md_error(MD_USAGE, "compute temp/partial: z must be 0 in two dimensions, not '%.64s'",
                    words->word[2]);
  return MD_OK;
}

static const md_compute_style temp_partial_style = {
    .name = "temp/partial",
    .usage = "temp/partial X Y Z",
    .help = "temperature of the motion along the axes with 1; 0 leaves an axis out",
    .nvalue = 1,
    .temperature = true,
    .terms_of = MD_COMPUTE_ke,
    .parse = temp_partial_parse,
    .value = temperature_value,
};

#endif
