/* compute ke/atom: the kinetic energy of each particle, m v^2/2. Dumps take it as a column, and maps as a weight. */
#if defined MD_COMPUTE_STYLE

MD_COMPUTE_STYLE(ke_atom, "ke/atom")

#elif defined MD_COMPUTE_EACH

MD_COMPUTE_EACH(ke_atom)

#elif defined MD_COMPUTE_HOST

static double ke_atom_largest(const md_model *model)
{
  return 1.5 * model->mass_reference * model->speed_limit * model->speed_limit;
}

static const md_compute_style ke_atom_style = {
    .name = "ke/atom",
    .usage = "ke/atom",
    .help = "kinetic energy of each particle, a column of dumps and a weight of maps",
    .terms_of = MD_COMPUTE_KINDS,
    .largest = ke_atom_largest,
};

#elif defined MD_COMPUTE_FORMULAS

/* v: the velocity of the particle. */
MD_FN double md_ke_atom_of(const md_particle *p, const double *v, int dim)
{
  double v2 = 0.0;
  for (int d = 0; d < dim; ++d) v2 = fma(v[d], v[d], v2);
  return 0.5 * p->mass * v2;
}

#endif
