/* Masses of particles; see masses.h.
 *
 * Masses by type are summed from the counts of types, and masses of particles by integers (exact_sum.h). Cost: one or
 * two passes over the particles. Reference: the LAMMPS manual, atom_style sphere and read_data. */
#include "src/sums/masses.h"
#include "common/ranks/reductions.h"
#include "src/sums/exact_sum.h"

#include <string.h>

double md_mass_of_sphere(double diameter, double density)
{
  const double radius = 0.5 * diameter;
  return radius > 0.0 ? 4.0 * 3.14159265358979323846 / 3.0 * radius * radius * radius * density : density;
}

md_status md_masses_need(const md_sim *sim, const char *command)
{
  if (sim->model.massed) return MD_OK;
  return md_error(
      MD_USAGE,
      "%s: particles have masses of their own only with atom_style sphere; with atom_style atomic "
      "give `mass TYPE VALUE`",
      command);
}

md_status md_particles_set_mass(md_particles *p, int64_t i, double mass)
{
  if (!(mass > 0.0) || !isfinite(mass))
    return md_error(MD_USAGE, "the mass %g of particle %lld is not a positive number", mass,
                    (long long)p->id[i]);
  p->mass[i] = mass;
  /* The quanta that the velocity as a double lacks are those of the old mass. */
  for (int d = 0; p->wide && d < p->dim; ++d) p->v_low[d][i] = 0;
  return MD_OK;
}

md_status md_types_count(md_sim *sim, uint32_t bit, int64_t count[MD_TYPES_MAX + 1])
{
  const md_particles *p = &sim->particles;
  int64_t of_type[MD_TYPES_MAX + 1] = {0};
#pragma omp parallel for schedule(static) reduction(+ : of_type)
  for (int64_t i = 0; i < p->n; ++i)
    if (md_particles_in_group(p, bit, i)) ++of_type[p->type[i]];
  for (int t = 1; t <= sim->model.ntypes; ++t) of_type[0] += of_type[t];
  MD_TRY(sim->comm->reduce->sum(sim->comm, of_type, sim->model.ntypes + 1));
  memcpy(count, of_type, sizeof of_type);
  return MD_OK;
}

/* Counts are summed, because integers have the same sum on any number of ranks. */
static md_status total_by_type(md_sim *sim, double *total)
{
  const md_model *model = &sim->model;
  int64_t count[MD_TYPES_MAX + 1];
  MD_TRY(md_types_count(sim, MD_GROUP_ALL, count));
  *total = 0.0;
  for (int t = 1; t <= model->ntypes; ++t) *total += (double)count[t] * model->mass[t];
  *total /= model->units->mvv2e;
  return MD_OK;
}

static void own_mass(const void *context, const md_particles *p, int64_t i, double *term)
{
  (void)context;
  *term = p->mass[i];
}

md_status md_masses_total(md_sim *sim, double *total)
{
  if (!sim->model.massed) return total_by_type(sim, total);
  return md_exact_sums(sim->comm, &sim->particles, 1, own_mass, NULL, "the mass", total);
}

md_status md_masses_find_range(md_sim *sim)
{
  const md_particles *p = &sim->particles;
  double most = 0.0, least = (double)INFINITY;
  if (!sim->model.massed) return MD_OK;
  for (int64_t i = 0; i < p->n; ++i) {
    most = md_max(most, p->mass[i]);
    least = md_min(least, p->mass[i]);
  }
  double found[2] = {most, -least};
  MD_TRY(sim->comm->reduce->max(sim->comm, found, 2));
  sim->model.mass_most = found[0];
  sim->model.mass_least = found[0] > 0.0 ? -found[1] : 0.0;
  return MD_OK;
}
