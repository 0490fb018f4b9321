/* compute ke: the kinetic energy, sum of m v^2/2. Cost: one fine sum (common/arithmetic/exact.h) over the particles of
 * the group. */
#if defined MD_COMPUTE_STYLE

MD_COMPUTE_STYLE(ke, "ke")

#elif defined MD_COMPUTE_SUMS

MD_COMPUTE_SUMS(ke)

#elif defined MD_COMPUTE_HOST

static void ke_prepare(const md_model *model, md_summand *s) { s->unit[0] = model->grids.k; }

static void ke_value(const md_model *model, const md_compute *compute, const md_compute_sums *sums,
                     double *value)
{
  (void)model;
  (void)compute;
  value[0] = md_compute_sum(sums, 0);
}

static const md_compute_style ke_style = {
    .name = "ke",
    .usage = "ke",
    .help = "kinetic energy of the group, not divided by the number of particles",
    .nvalue = 1,
    .extensive = true,
    .terms_of = MD_COMPUTE_ke,
    .nterm = 1,
    .prepare = ke_prepare,
    .value = ke_value,
};

#elif defined MD_COMPUTE_FORMULAS

MD_FN void md_ke_add(const md_summand *s, const md_particle *p, md_fine *sum)
{
  double v2 = 0.0;
  for (int d = 0; d < 3 && d < s->dim; ++d) {
    const double v = md_particle_thermal(p, d, s->quantum, &s->bias);
    v2 = fma(v, v, v2);
  }
  md_fine_add(sum, md_kinetic(v2, p->velocity_per_v, s->mass_reference) * s->per_unit[0]);
}

#endif
