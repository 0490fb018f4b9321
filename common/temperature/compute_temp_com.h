/* compute temp/com: the temperature of the motion relative to the centre of mass of the group,
 *   T = 2 (K - P^2/(2 M)) / (dim N - extra),
 * with the momentum P and the mass M of the group. extra is dim (compute_modify).
 *
 * All sums are exact, so that the difference has the same bits everywhere. Of a flow that is faster than the thermal
 * motion by a factor q, the difference loses 2 log2 q of 53 bits.
 */
#if defined MD_COMPUTE_STYLE

MD_COMPUTE_STYLE(temp_com, "temp/com")

#elif defined MD_COMPUTE_SUMS

MD_COMPUTE_SUMS(temp_com)

#elif defined MD_COMPUTE_HOST

static md_status temp_com_parse(md_compute *compute, const md_words *words, const md_compute_scope *scope)
{
  (void)scope;
  compute->bias.kind = MD_BIAS_SHIFT;
  if (words->n == 0) return MD_OK;
  return md_error(MD_USAGE, "compute temp/com: unexpected '%.64s'", words->word[0]);
}

/* Sums: the kinetic energy, the mass, the momentum. */
static void temp_com_prepare(const md_model *model, md_summand *s)
{
  s->unit[0] = model->grids.k;
  s->unit[1] = md_compute_unit(model->mass_reference);
  for (int d = 0; d < 3; ++d) s->unit[2 + d] = model->grids.v;
}

static void temp_com_value(const md_model *model, const md_compute *compute, const md_compute_sums *sums,
                           double *value)
{
  const double mass = md_compute_sum(sums, 1);
  double kinetic = md_compute_sum(sums, 0);
  for (int d = 0; d < model->box.dim; ++d) {
    const double momentum = md_compute_sum(sums, 2 + d) * model->mass_reference;
    const double velocity = mass > 0.0 ? momentum / mass : 0.0;
    value[MD_TEMPERATURE_FLOW + d] = velocity;
    kinetic -= 0.5 * momentum * velocity;
  }
  md_temperature_set(model, compute, sums->count, kinetic, value);
}

static const md_compute_style temp_com_style = {
    .name = "temp/com",
    .usage = "temp/com",
    .help = "temperature of the motion relative to the centre of mass of the group",
    .nvalue = 1,
    .temperature = true,
    .terms_of = MD_COMPUTE_temp_com,
    .nterm = 5,
    .parse = temp_com_parse,
    .prepare = temp_com_prepare,
    .value = temp_com_value,
};

#elif defined MD_COMPUTE_FORMULAS

MD_FN void md_temp_com_add(const md_summand *s, const md_particle *p, md_fine *sum)
{
  if (!md_bias_counts(&s->bias, p->x)) return;
  md_ke_add(s, p, sum);
  md_fine_add(&sum[1], p->mass * s->per_unit[1]);
  md_momentum_add(s, p, sum + 2);
}

#endif
