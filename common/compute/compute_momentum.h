/* compute momentum: the total momentum along each axis.
 *
 * The terms are whole quanta, so that the sum has no rounding at all. In a periodic box without thermostats it never
 * changes by a bit. Cost: dim sums over the particles of the group.
 */
#if defined MD_COMPUTE_STYLE

MD_COMPUTE_STYLE(momentum, "momentum")

#elif defined MD_COMPUTE_SUMS

MD_COMPUTE_SUMS(momentum)

#elif defined MD_COMPUTE_HOST

static void momentum_prepare(const md_model *model, md_summand *s)
{
  for (int d = 0; d < s->dim; ++d) s->unit[d] = model->grids.v;
}

static void momentum_value(const md_model *model, const md_compute *compute, const md_compute_sums *sums,
                           double *value)
{
  (void)compute;
  for (int d = 0; d < model->box.dim; ++d)
    value[d] = md_compute_sum(sums, d) * (model->mass_reference / model->units->mvv2e);
}

static const md_compute_style momentum_style = {
    .name = "momentum",
    .usage = "momentum",
    .help = "total momentum of the group: three values",
    .nvalue = 3,
    .extensive = true,
    .terms_of = MD_COMPUTE_momentum,
    .nterm = 3,
    .prepare = momentum_prepare,
    .value = momentum_value,
};

#elif defined MD_COMPUTE_FORMULAS

MD_FN void md_momentum_add(const md_summand *s, const md_particle *p, md_fine *sum)
{
  for (int d = 0; d < 3 && d < s->dim; ++d) {
    if (!p->wide) {
      sum[d].rest += md_count(p->v[d] * md_inverse_power(s->quantum));
      continue;
    }
    const md_int128 count = md_momentum_count(p->v[d], p->low[d], s->quantum, p->v_step);
    sum[d].coarse += (int64_t)(count >> MD_FINE_BITS);
    sum[d].rest += (int64_t)(count & ((INT64_C(1) << MD_FINE_BITS) - 1));
  }
}

#endif
