/* What the grids of a model must resolve; see model_parts.h.
 *
 * Cost: O(types^2).
 */
#include "common/model_parts.h"
#include "common/pair/hybrid/hybrid.h"

double md_lightest_mass(const md_model *model)
{
  double lightest = model->massed ? model->mass_least : model->mass[1];
  for (int t = 2; t <= model->ntypes; ++t) lightest = md_min(lightest, model->mass[t]);
  return lightest;
}

/* Without a cutoff every particle attracts every other one. The usual force is that of the whole system on a lightest
 * particle, at the distance of its extent, or if that is unknown of a quarter of the box. A sum of N rounded impulses
 * has the rounding errors of about sqrt(N) of them, so that this part of the total force decides the grids. */
static md_scales scales_of_all(const md_model *model, const double *unit_k)
{
  const md_box *box = &model->box;
  double longest = 0.0;
  for (int d = 0; d < box->dim; ++d) longest = md_max(longest, box->hi[d] - box->lo[d]);
  const double lightest = md_lightest_mass(model);
  const double n = md_max(2.0, (double)model->natoms), *k = unit_k;
  const double r = model->extent > 0.0 ? model->extent : 0.25 * longest;
  const double total = model->total_mass > 0.0 ? model->total_mass : n * lightest;
  const double r2 = fma(r, r, md_pair_softening2(&model->pair)), mass = model->mass[1];
  const double pair = fabs(md_pair_force(model->pair.kind, r2, k) * r); /* of two particles of type 1 */
  const double all = pair * (lightest / mass) * (total / mass);
  return (md_scales){.strongest = all / sqrt(n),
                     .weakest = all / sqrt(n),
                     .energy = md_max(all * r, model->hottest),
                     .least_energy = md_max(all * r, model->hottest),
                     .lightest = lightest,
                     .length = r};
}

/* The usual force between types with a density: the largest that it may be at distance r, if each particle has twelve
 * neighbours there. */
static double density_force(const md_eam *eam, int a, int b, double r)
{
  enum { NEIGHBOURS = 12 };
  double slope[2], energy, none;
  (void)md_eam_embedding(eam, a, NEIGHBOURS * md_eam_density(eam, a, b, r * r), &slope[0]);
  (void)md_eam_embedding(eam, b, NEIGHBOURS * md_eam_density(eam, b, a, r * r), &slope[1]);
  const double pair = fabs(md_eam_force(eam, a, b, 0.0, 0.0, r * r, &energy)) * r;
  return pair + fabs(md_eam_force(eam, a, b, slope[0], 0.0, r * r, &none)) * r +
         fabs(md_eam_force(eam, a, b, 0.0, slope[1], r * r, &none)) * r;
}

/* The usual force between types of a dissipative style at distance r: repulsion, noise, and friction at a usual
 * speed. */
static double dissipative_force(const md_model *model, const double *k, double r)
{
  const double w = 1.0 - r * k[2], hot = model->units->boltz * md_pair_hottest(&model->pair);
  const double speed = md_max(model->units->speed, sqrt(hot / md_lightest_mass(model)));
  const double noise = model->dt > 0.0 ? k[6] * sqrt(hot / model->dt) : 0.0;
  return w * (fabs(k[1]) + noise + k[5] * w * speed);
}

bool md_friction_of_term(const double *head, double alone[MD_PAIR_K])
{
  const double *row = md_hybrid_dissipative_row(head);
  if (row) memcpy(alone, row, MD_PAIR_K * sizeof *row);
  alone[1] = 0.0;
  return row;
}

static double usual_with_friction(const md_model *model, const double *k, double r)
{
  double alone[MD_PAIR_K];
  if (model->pair.nsub == 0) return dissipative_force(model, k, r);
  const double all = fabs(md_pair_force(model->pair.kind, r * r, k) * r);
  return md_friction_of_term(k, alone) && r * r < alone[0] ? all + dissipative_force(model, alone, r) : all;
}

/* The usual force between two types at distance r. k: their row. */
static double usual_force(const md_model *model, int i, int j, const double *k, double r)
{
  const md_eam *eam = model->pair.eam;
  if (md_pair_is_dissipative(&model->pair)) return k[0] > 0.0 ? usual_with_friction(model, k, r) : 0.0;
  if (!eam) return fabs(md_pair_force(model->pair.kind, r * r, k) * r);
  return k[0] > 0.0 ? density_force(eam, eam->element[i], eam->element[j], r) : 0.0;
}

/* A usual energy of two types: of their thermostat, or else that of the lighter one at a usual speed. */
static double usual_energy(const md_model *model, int i, int j)
{
  const double speed = model->units->speed, mass = md_min(model->mass[i + 1], model->mass[j + 1]);
  return model->hottest > 0.0 ? model->hottest : mass * speed * speed;
}

static void add_force(md_scales *s, double force, double r)
{
  if (!(force < MD_PAIR_LARGEST)) force = (double)INFINITY; /* md_scales_check() refuses it */
  if (!(force > 0.0)) return;
  s->strongest = md_max(s->strongest, force);
  s->weakest = s->weakest > 0.0 ? md_min(s->weakest, force) : force;
  s->energy = md_max(s->energy, force * r);
  s->least_energy = s->least_energy > 0.0 ? md_min(s->least_energy, force * r) : force * r;
  s->shortest = s->shortest > 0.0 ? md_min(s->shortest, r) : r;
}

/* Of a bond: its usual force, at half of its reach. */
static void add_bonds(const md_model *model, md_scales *s)
{
  const md_bond_style *style = md_bond_style_of(model->bonds.kind);
  for (int t = 1; t <= model->bonds.ntypes; ++t) {
    const double *parameter = model->bonds.parameter[t], reach = style->reach(parameter);
    add_force(s, style->force_usual(parameter), reach > 0.0 ? 0.5 * reach : 1.0);
  }
}

/* Usual forces of fixes: the weakest, on a lightest particle, and the strongest, on a heaviest one. */
static void add_fixes(const md_model *model, md_scales *s)
{
  double weak = 0.0, strong = 0.0;
  for (int f = 0; f < model->nfix; ++f) {
    const md_fix *fix = &model->fix[f];
    const md_fix_style *style = md_fix_style_of(fix->kind);
    if (!style->prepare_force) continue;
    if (!style->usual_force || fix->nvaried > 0) return;
    const double least = style->usual_force(fix, model, s->lightest);
    if (least > 0.0) weak = weak > 0.0 ? md_min(weak, least) : least;
    strong = md_max(strong, style->usual_force(fix, model, model->mass_reference));
  }
  s->weak_fix = weak;
  s->strong_fix = strong;
}

md_scales md_scales_of(const md_model *model, const double *unit_k)
{
  if (md_pair_is_all(&model->pair)) return scales_of_all(model, unit_k);
  const double hot = md_max(model->hottest, model->units->boltz * md_pair_hottest(&model->pair));
  md_scales s = {.lightest = md_lightest_mass(model), .length = model->reach, .energy = hot};
  for (int i = 0; i < model->ntypes; ++i)
    for (int j = 0; j < model->ntypes; ++j) {
      const double r = md_pair_length(&model->pair, i, j, usual_energy(model, i, j));
      if (!(r > 0.0)) continue;
      const double *k = unit_k + ((size_t)i * (size_t)model->ntypes + (size_t)j) * MD_PAIR_K;
      add_force(&s, usual_force(model, i, j, k, r), r);
    }
  add_bonds(model, &s);
  s.least_energy = md_max(s.least_energy, hot);
  add_fixes(model, &s);
  return s;
}

const char *md_model_pair_name(const md_model *model)
{
  const md_pair_style *style = md_pair_style_of(model->pair.kind);
  return style ? style->name : "none";
}

md_status md_scales_check(const md_model *model, const md_scales *s)
{
  if (s->strongest < MD_PAIR_LARGEST) return MD_OK;
  return md_error(MD_USAGE,
                  "pair style %s: the force of particles at their usual distance is not a number, or is "
                  "above %.0e: check the coefficients of pairs and bonds",
                  md_model_pair_name(model), MD_PAIR_LARGEST);
}
