/* The preparation of a model; see model.h.
 *
 * md_model_prepare works in this order:
 *   1  masses;
 *   2  pairs of types without coefficients get mixed ones;
 *   3  scales: the usual sizes of forces and energies, which the grids must resolve;
 *   4  positions: the quantum, box and walls on the grid;
 *   5  momenta: the quantum, the speed limit, one word or two;
 *   6  pairs: the quanta of output, the coefficient tables, the distances of close pairs and overlaps;
 *   7  the numbers of fixes that act within a step.
 *
 * The grids follow from the model alone, by operations with the same bits on every machine. So every engine and every
 * rank chooses the same grids.
 */
#include "common/model_parts.h"
#include "common/pair/all_pairs.h"

#include <stdlib.h>

void md_model_init(md_model *model)
{
  *model = (md_model){.units = &md_units_lj,
                      .ntypes = 0,
                      .dt = md_units_lj.dt,
                      .skin = md_units_lj.skin,
                      .pair = {.kind = MD_PAIR_NONE},
                      .bonds = {.kind = MD_BOND_NONE, .excluded = {true, true, true}}};
  model->box.dim = 3;
  for (int d = 0; d < 3; ++d) model->box.periodic[d] = true;
  model->groups.n = 1;
  memcpy(model->groups.name[0], "all", sizeof "all");
  model->moving = MD_GROUP_ALL;
  md_computes_init(model);
}

static void free_tables(md_model *model)
{
  free(model->impulse_k);
  free(model->force_k);
  free(model->overlap2);
  free(model->force_row);
  md_subtypes_free(&model->subtypes);
  model->force_row = NULL;
  model->impulse_k = model->force_k = model->overlap2 = NULL;
}

void md_model_free(md_model *model)
{
  free_tables(model);
  md_pair_free(&model->pair);
}

static md_status check_box(const md_box *box)
{
  for (int d = 0; d < box->dim; ++d)
    if (!(box->hi[d] > box->lo[d]) || !isfinite(box->hi[d] - box->lo[d]))
      return md_error(MD_USAGE, "there is no box yet, or it is empty: lo %g, hi %g along %c", box->lo[d],
                      box->hi[d], "xyz"[d]);
  return MD_OK;
}

/* Makes the largest mass that of all types; 1 if there are no particles. */
static md_status take_own_masses(md_model *model)
{
  const md_pair_style *style = md_pair_style_of(model->pair.kind);
  if (!md_pair_is_all(&model->pair))
    return md_error(MD_USAGE,
                    "atom_style sphere gives each particle a mass of its own, and this needs a pair style "
                    "without a cutoff, such as gravity, not %s; for masses by type use atom_style atomic",
                    style ? style->name : "none");
  if (!(model->mass_least > 0.0)) model->mass_least = model->mass_most = 1.0;
  for (int t = 1; t <= model->ntypes; ++t) model->mass[t] = model->mass_most;
  return MD_OK;
}

static md_status prepare_masses(md_model *model)
{
  if (model->massed) MD_TRY(take_own_masses(model));
  for (int t = 1; t <= model->ntypes; ++t)
    if (!(model->mass[t] > 0.0)) return md_error(MD_USAGE, "type %d has no mass: add `mass %d VALUE`", t, t);
  model->mass_reference = 0.0;
  for (int t = 1; t <= model->ntypes; ++t)
    model->mass_reference = md_max(model->mass_reference, model->mass[t]);
  model->one_mass = !model->massed || model->mass_least == model->mass_most;
  for (int t = 1; t <= model->ntypes; ++t) {
    model->velocity_per_v[t] = model->mass_reference / model->mass[t];
    if (model->mass[t] != model->mass_reference) model->one_mass = false;
  }
  return MD_OK;
}

/* The least quantum of which 2^53 reach to `most`. */
static double covering(double most) { return md_power_above(most) * 0x1p-53; }

static double power_below(double a)
{
  const double above = md_power_above(a);
  return above == a ? a : 0.5 * above;
}

/* Chooses the grid of wide momenta, which have two words. The speed limit is the one that the timestep allows. The
 * quantum is as fine as close encounters allow: their impulses must stay below 2^52 quanta. Where fixes have far
 * stronger forces it is coarser, so that theirs stay below, too, as far as `allowed` goes. Without a cutoff it is as
 * coarse as it may be, because then a particle has many close encounters at once. strongest, of_fixes: usual impulses.
 */
static md_status widen(md_model *model, double fastest, double strongest, double of_fixes, double allowed)
{
  enum { BELOW = 37, FIXES_BELOW = 47, LOW_BITS = 60 };
  model->wide = true;
  model->speed_limit = fastest;
  if (!md_pair_is_all(&model->pair))
    model->grids.v = power_below(
        strongest > 0.0 ? md_max(ldexp(strongest, -BELOW), md_min(ldexp(of_fixes, -FIXES_BELOW), allowed))
                        : allowed);
  model->grids.v = md_max(model->grids.v, ldexp(covering(fastest), -LOW_BITS));
  for (int t = 1; t <= model->ntypes; ++t)
    model->v_step[t] =
        md_inertia_of_mass(model->mass[t], model->mass_reference, model->grids.v, fastest).v_step;
  if (model->grids.v <= allowed) return MD_OK;
  return md_error(
      MD_USAGE,
      "the masses are too far apart: the heaviest, %g, leaves no digits for impulses in a step of %g; "
      "use a mass below %.2g",
      model->mass_reference, model->dt, 0.5 * model->mass_reference * allowed / model->grids.v);
}

/* The largest quantum of momenta without forces of pairs and bonds. Velocities of the lightest particles keep 36 bits
 * of a usual one, and weak forces of fixes their digits, as far as strong ones stay in range. */
static double allowed_without_pairs(const md_model *model, const md_scales *s, double h)
{
  const double m = model->mass_reference;
  const double velocity = 0x1p-35 * model->units->speed * (s->lightest / m);
  const double force = h / m * md_max(2.0 * MD_IMPULSE_ERROR * s->weak_fix, 0x1p-42 * s->strong_fix);
  return force > 0.0 ? md_min(velocity, force) : velocity;
}

/* Chooses the grid of momenta and the speed limit. h: the length of a kick, in units of time. */
static md_status prepare_momenta(md_model *model, const md_scales *s, double h)
{
  const double usual = sqrt(s->energy / s->lightest), m = model->mass_reference;
  /* Weak forces say little about speeds, and a model without forces says nothing. Speeds in reduced units are about
   * 1. */
  const double speed = model->units->speed;
  const double hot = s->energy > 0.0 ? 0x1p8 * md_max(usual, speed) : 0x1p16 * speed;
  double fastest = model->dt > 0.0 ? model->move_limit / model->dt : 2.0 * hot;
  if (!model->float_drift) fastest = md_min(fastest, 2.0 * hot);
  model->speed_most = 2.0 * hot;
  const double strongest = h * s->strongest / m;
  const double allowed = s->strongest > 0.0
                             ? 2.0 * MD_IMPULSE_ERROR * h * md_max(s->weakest, s->strongest / 16.0) / m
                             : allowed_without_pairs(model, s, h);
  model->wide = false;
  model->grids.v = covering(fastest);
  if (s->strongest > 0.0 && md_pair_is_all(&model->pair))
    model->grids.v = power_below(allowed);
  else if (!model->float_drift)
    model->grids.v = md_min(model->grids.v, power_below(allowed));
  model->speed_limit = md_min(fastest, 0x1p53 * model->grids.v);
  for (int t = 1; t <= model->ntypes; ++t) model->v_step[t] = model->grids.v;
  if (model->speed_limit < md_min(fastest, hot))
    MD_TRY(widen(model, fastest, strongest, h * s->strong_fix / m, allowed));
  model->move_limit = md_min(model->move_limit, model->speed_limit * model->dt);
  if (model->dt == 0.0) model->move_limit = model->speed_limit;
  model->resolution = (md_resolution){.drift = 0.0};
  if (usual > 0.0)
    model->resolution = (md_resolution){
        .drift = model->dt > 0.0 ? 0.5 * model->grids.x / (model->dt * sqrt(s->energy / m)) : 0.0,
        .impulse = s->strongest > 0.0 ? MD_IMPULSE_ERROR * model->grids.v / allowed : 0.0,
        .weakest = s->weakest > 0.0 ? 0.5 * model->grids.v * m / (h * s->weakest) : 0.0,
        .speed = 0.5 * model->grids.v * m / s->lightest / sqrt(s->least_energy / s->lightest)};
  /* At least twice the largest kinetic energy of a particle. A particle adds one term, so that 2^60 coarse quanta may
   * cover the energy. */
  model->grids.k = md_power_above(3.0 * m * model->speed_limit * model->speed_limit) * 0x1p-60 / MD_FINE;
  return MD_OK;
}

int64_t md_model_pair_numbers(const md_model *model)
{
  if (model->pair.kind == MD_PAIR_NONE) return (int64_t)model->ntypes * model->ntypes * MD_PAIR_K;
  return md_pair_rows(md_model_pair(model)) * MD_PAIR_K;
}

void md_model_type_table(const md_model *model, double scale, double *k)
{
  md_pair_table(&model->pair, model->mass, scale, k);
  for (int e = 0; e < model->exclusions.ntypes; ++e)
    md_pair_exclude(&model->pair, k, model->exclusions.types[e][0] - 1, model->exclusions.types[e][1] - 1);
}

/* Takes a term into the largest energy, virial and force of a pair at this distance. */
static void note_largest(double largest[3], double energy, double force, double distance)
{
  largest[0] = md_max(largest[0], energy);
  largest[1] = md_max(largest[1], force * distance);
  largest[2] = md_max(largest[2], force);
}

/* The distance below which the force of a pair exceeds `range`; zero for a style whose force stays in range. The search
 * starts at the cutoff and goes inwards. largest: receives the largest energy, virial and force of the search. unit_k:
 * coefficients for forces in units of force. */
static double closest_approach(const md_model *model, const double *unit_k, double range, double largest[3])
{
  const double rc = sqrt(unit_k[0]);
  double reached = rc;
  for (double r = rc * (1.0 - 0x1p-20); r > rc * 0x1p-60; r *= 1.0 - 0x1p-6) {
    const double force = fabs(md_pair_force(model->pair.kind, r * r, unit_k) * r);
    if (!(force < range)) return reached;
    reached = r;
    note_largest(largest, fabs(md_pair_energy(model->pair.kind, r * r, unit_k)), force, r);
  }
  return 0.0;
}

/* The same for a style without a cutoff, with the range of its impulses for the largest terms and MD_ROUND_RANGE for
 * the distance. The search covers all distances in the box: within the softening length the force falls again, so that
 * pairs there may be in range where farther ones are not. quantum: the force whose impulse is a quantum. */
static double closest_of_all(const md_model *model, const double *unit_k, double quantum, double largest[3])
{
  const double soft2 = md_pair_softening2(&model->pair), range = md_all_range(model->wide) * quantum;
  double diagonal = 0.0, near = 0.0;
  for (int d = 0; d < model->box.dim; ++d) diagonal += model->box.length[d];
  for (double r = diagonal; r > diagonal * 0x1p-60; r *= 1.0 - 0x1p-6) {
    const double r2 = fma(r, r, soft2);
    const double force = fabs(md_pair_force(model->pair.kind, r2, unit_k) * r);
    if (!(force < MD_ROUND_RANGE * quantum)) near = md_max(near, r * (1.0 + 0x1p-5));
    if (!(force < range)) continue;
    note_largest(largest, fabs(md_pair_energy(model->pair.kind, r2, unit_k)), force, r);
  }
  return near;
}

/* The squared distances for which md_rsqrt3 has the range: see common/arithmetic/real.h. */
static md_status check_all_pairs(const md_model *model)
{
  const md_box *box = &model->box;
  const char *name = md_pair_style_of(model->pair.kind)->name;
  if (model->units != &md_units_lj)
    return md_error(MD_USAGE,
                    "pair style %s: its constant is known in units lj only, where it is 1, and not in units "
                    "%s; use units lj",
                    name, model->units->name);
  if (model->exclusions.ntypes > 0 || model->exclusions.ngroups > 0 || model->exclusions.molecules.n > 0)
    return md_error(MD_USAGE,
                    "neigh_modify exclude: pair style %s acts between all pairs of particles, so that no "
                    "pair can be excluded; use neigh_modify exclude none",
                    name);
  for (int d = 0; d < box->dim; ++d) {
    if (box->periodic[d])
      return md_error(
          MD_USAGE,
          "pair style %s has no cutoff, so that each particle would interact with infinitely many images "
          "along the periodic axis %c: use `boundary f` there, and walls if particles must stay",
          name, "xyz"[d]);
    const double length = box->hi[d] - box->lo[d];
    if (!(length < 0x1p30))
      return md_error(MD_USAGE,
                      "pair style %s: the box must be shorter than 10^9 along each axis, and %c has %g", name,
                      "xyz"[d], length);
  }
  if (!(md_pair_softening2(&model->pair) < 0x1p60))
    return md_error(MD_USAGE, "pair style %s: the softening length must be below 10^9", name);
  return MD_OK;
}

/* What cannot be where a particle has several images within the cutoff along an axis. */
static md_status check_images(const md_model *model, int axis)
{
  const md_box *box = &model->box;
  const double length = box->length[axis];
  const bool longer = model->reach > model->cutoff;
  if (model->bonds.ntypes > 0)
    return md_error(MD_USAGE,
                    "the %s %g is larger than half of the periodic box along %c (%g): use a larger box%s",
                    longer ? "longest bond" : "cutoff", model->reach, "xyz"[axis], length,
                    longer ? ", or shorter bonds and a smaller comm_modify cutoff" : "");
  if (md_pair_is_dissipative(&model->pair))
    return md_error(MD_USAGE,
                    "pair style %s: the cutoff %g is larger than half of the periodic box along %c (%g), and "
                    "several images of "
                    "a pair would have the same random number; use a larger box",
                    md_pair_style_of(model->pair.kind)->name, model->cutoff, "xyz"[axis], length);
  if (md_model_needs_two_cutoffs(model))
    return md_error(
        MD_USAGE,
        "the cutoff %g is larger than half of the periodic box along %c (%g): the sides of a tilted box "
        "this small cannot change during a run; use a larger box",
        model->cutoff, "xyz"[axis], length);
  if (model->cutoff > MD_SIDES_MOST * length)
    return md_error(MD_USAGE,
                    "the cutoff %g is larger than %g times the periodic box along %c (%g): use a larger box",
                    model->cutoff, MD_SIDES_MOST, "xyz"[axis], length);
  return MD_OK;
}

static md_status check_cutoff(const md_model *model)
{
  const md_box *box = &model->box;
  for (int d = 0; d < box->dim; ++d)
    if (box->periodic[d] && 2.0 * model->reach > box->length[d]) MD_TRY(check_images(model, d));
  return MD_OK;
}

/* What the tables of two elements say of the distances from r to r + dr: the energy of a pair, its force, and the
 * slope of the density, each the larger of those at the ends. */
typedef struct interval {
  double energy, force, slope;
} interval;

static interval interval_of(const md_eam *eam, const double *row, double r)
{
  const md_spline z = md_spline_load(row + MD_SPLINE), rho = md_spline_load(row);
  interval most = {0.0, 0.0, 0.0};
  for (int p = 0; p < 2; ++p) {
    const double at = r + p * eam->dr, phi = md_spline_value(z, p) / at;
    most.energy = md_max(most.energy, fabs(phi));
    most.force = md_max(most.force, fabs(md_spline_rise(z, p) * eam->per_r - phi) / at);
    most.slope = md_max(most.slope, fabs(md_spline_slope(rho, p)));
  }
  return most;
}

/* The distance below which the force of a pair of elements, as its tables have it, exceeds `range`; a step of the
 * tables if none does. Files have any number at distances that are impossible. value, slope: of the embedding, at
 * most. */
static double closest_in_tables(const md_eam *eam, const double *force, double value, double slope,
                                double range, double largest[3])
{
  for (int64_t k = eam->nr - 2; k > 0; --k) {
    const double r = (double)k * eam->dr, end = r + eam->dr;
    const interval at = interval_of(eam, force + k * MD_SPLINE_ROW, r);
    if (!(at.force < range)) return end;
    note_largest(largest, 2.0 * (value + at.energy), at.force + 2.0 * slope * at.slope, end);
  }
  return eam->dr;
}

/* Finds near2 and overlap2 of a potential, and overlap2 of the model. */
static void closest_of_potential(md_model *model, const double *unit_k, double range, double largest[3])
{
  md_eam *eam = model->pair.eam;
  double slope = 0.0, value = 0.0;
  for (int64_t k = 0; k < (int64_t)eam->nelement * eam->nrho; ++k) {
    const double *row = eam->embedding + k * MD_SPLINE_ROW;
    slope = md_max(slope, fabs(row[2]));
    value = md_max(value, fabs(row[MD_SPLINE + 3]));
  }
  eam->overlap2 = 0.0;
  for (int64_t pair = 0; pair < (int64_t)eam->nelement * eam->nelement; ++pair) {
    const double *force = eam->force + pair * eam->nr * MD_SPLINE_ROW;
    const double near = closest_in_tables(eam, force, value, slope, range, largest);
    eam->near2[pair] = near * near;
    eam->overlap2 = md_max(eam->overlap2, eam->near2[pair]);
  }
  for (int p = 0; p < model->ntypes * model->ntypes; ++p) {
    const int a = eam->element[p / model->ntypes], b = eam->element[p % model->ntypes];
    model->overlap2[p] = unit_k[(int64_t)p * MD_PAIR_K] > 0.0 ? eam->near2[md_eam_pair(eam, a, b)] : 0.0;
  }
}

/* The largest energy, virial and force of a bond. force: the largest that is in range. */
static void largest_of_bonds(const md_model *model, double force, double largest[3])
{
  const md_bonds *bonds = &model->bonds;
  for (int t = 1; t <= bonds->ntypes; ++t) {
    const double spring = md_bond_style_of(bonds->kind)->energy_most(bonds->parameter[t], bonds->reach);
    note_largest(largest, spring + force * bonds->reach, force, bonds->reach);
  }
}

/* The largest virial and force of a pair of a dissipative style at the speed limit. The random number of a pair is at
 * most 3.5. */
static void largest_of_dissipation(const md_model *model, const double *k, double largest[3])
{
  const double hot = model->units->boltz * md_pair_hottest(&model->pair);
  const double speed = model->speed_limit * (model->mass_reference / md_lightest_mass(model));
  const double noise = model->dt > 0.0 ? k[6] * sqrt(hot / model->dt) : 0.0;
  const double force = fabs(k[1]) + 3.5 * noise + k[5] * (4.0 * speed);
  note_largest(largest, 0.0, force, sqrt(k[0]));
}

static md_status check_largest(const md_model *model, const double largest[3])
{
  static const char *const names[] = {"energies", "virials", "forces"};
  for (int q = 0; q < 3; ++q)
    if (!(largest[q] < MD_PAIR_LARGEST))
      return md_error(MD_USAGE,
                      "pair style %s: its coefficients or tables give %s of up to %g, and no sum can hold "
                      "more than %.0e: check them",
                      md_model_pair_name(model), names[q], largest[q], MD_PAIR_LARGEST);
  return MD_OK;
}

/* Do fixes take the virial of impulses? Bonds and styles in more than one pass have only that of forces, and so has a
 * model that is not moved. */
static bool sums_impulse_virial(const md_model *model)
{
  return model->pair.kind != MD_PAIR_NONE && !md_pair_needs_more(&model->pair) &&
         !md_pair_is_all(&model->pair) && model->bonds.ntypes == 0 && model->kick_time > 0.0;
}

/* Finds close2 and overlap2 of the pair p of types, whose coefficients are k. */
static void closest_of_types(md_model *model, long long p, const double *k, double quantum, double largest[3])
{
  /* Without a cutoff the impulse itself decides what overlaps (common/pair/all_pairs.h). */
  const bool all = md_pair_is_all(&model->pair);
  const double near = all ? closest_of_all(model, k, quantum, largest)
                          : closest_approach(model, k, MD_ROUND_RANGE * quantum, largest);
  const double nearest = all ? 0.0 : closest_approach(model, k, 0x1p52 * quantum, largest);
  const double least2 = md_pair_least2(k);
  model->close2 = md_max(model->close2, md_max(near * near, least2));
  model->overlap2[p] = md_max(nearest * nearest, least2);
}

/* Finds close2 and overlap2, and with them the largest energy, virial and force that sums for output must hold.
 * quantum: the force whose impulse is a quantum. */
static void find_closest(md_model *model, const double *unit_k, double quantum, double largest[3])
{
  const long long npair = (long long)model->ntypes * model->ntypes;
  const bool each = model->pair.kind != MD_PAIR_NONE && !model->pair.eam;
  double friction[3] = {0.0, 0.0, 0.0}, alone[MD_PAIR_K];
  for (int q = 0; q < 3; ++q) largest[q] = 0x1p-40;
  model->close2 = 0.0;
  if (model->pair.eam) closest_of_potential(model, unit_k, MD_TERM_RANGE * quantum, largest);
  for (long long p = 0; p < npair && each; ++p) {
    const double *k = unit_k + p * MD_PAIR_K;
    if (model->pair.nsub == 0) {
      if (md_pair_is_dissipative(&model->pair)) largest_of_dissipation(model, k, largest);
    } else if (md_friction_of_term(k, alone)) {
      largest_of_dissipation(model, alone, friction);
    }
    closest_of_types(model, p, k, quantum, largest);
  }
  for (int q = 0; q < 3; ++q) largest[q] += friction[q]; /* beside the other terms of a pair */
  largest_of_bonds(model, 0x1p52 * quantum, largest);
}

/* The same for a three-body style, whose forces for output have a range of their own: that of impulses, or if that is
 * less, as with a very small mass, 2^30 usual forces. */
static void largest_of_three_body(const md_model *model, const double *unit_k, const md_scales *s,
                                  double quantum, double largest[3])
{
  const long long npair = (long long)model->ntypes * model->ntypes;
  const double force = md_max(0x1p52 * quantum, 0x1p30 * s->strongest);
  if (!model->pair.three) return;
  for (long long p = 0; p < npair; ++p) (void)closest_approach(model, unit_k + p * MD_PAIR_K, force, largest);
  note_largest(largest, md_three_largest_energy(model->pair.three), force, model->cutoff);
}

/* The grids of energies, virials and forces, out of the largest of each. A particle with a cutoff has fewer than 2^11
 * neighbours at a close distance. Without a cutoff all particles may be that close at once, within a softening length,
 * and the coarse sum of a particle holds 2^62 quanta. */
static void choose_output_grids(md_model *model, const md_scales *s, double quantum, const double largest[3])
{
  const double others = md_pair_is_all(&model->pair) ? 0x1p-11 * (double)model->natoms : 0.0;
  const double unit = md_power_above(md_max(1.0, others)) * 0x1p-50 / MD_FINE;
  model->grids.e = md_power_above(largest[0]) * unit;
  model->grids.w = md_power_above(largest[1]) * unit;
  /* The quantum is not as fine as possible. So a sum below 2^7 usual forces of the weakest pair is exact in a double,
   * and such forces add up to zero exactly. It is at most that of impulses: a stiff pair may never be at its usual
   * distance. */
  model->grids.f = md_power_above(largest[2]) * unit;
  if (s->weakest > 0.0)
    model->grids.f = md_max(model->grids.f, power_below(md_min(0x1p-46 * s->weakest, quantum)));
  model->force_range = md_all_range(model->wide) * (quantum / (model->grids.f * MD_FINE));
}

/* The tables of coefficients that engines read, and their scales. */
static void make_tables(md_model *model)
{
  model->impulse_scale = model->kick_time / (model->mass_reference * model->grids.v);
  model->force_scale = 1.0 / (model->grids.f * MD_FINE);
  md_bonds_prepare(&model->bonds, model->impulse_scale, model->force_scale);
  model->virial_quantum = 0.0;
  /* The impulse of a pair that is no overlap is below 2^52 quanta, so that its virial is below 2^49 quanta of this. */
  if (sums_impulse_virial(model)) model->virial_quantum = 8.0 * md_power_above(model->cutoff);
  if (model->pair.kind == MD_PAIR_NONE) return;
  md_model_pair_table(model, model->impulse_scale, model->impulse_k);
  md_model_pair_table(model, model->force_scale, model->force_k);
}

static md_status prepare_pair(md_model *model, const double *unit_k, const md_scales *s, double h)
{
  const double quantum = model->mass_reference * model->grids.v / h;
  double largest[3];
  find_closest(model, unit_k, quantum, largest);
  largest_of_three_body(model, unit_k, s, quantum, largest);
  MD_TRY(check_largest(model, largest));
  choose_output_grids(model, s, quantum, largest);
  make_tables(model);
  return MD_OK;
}

static md_status prepare_grids(md_model *model, double *unit_k)
{
  if (model->pair.kind != MD_PAIR_NONE) md_model_pair_table(model, 1.0, unit_k);
  if (md_pair_is_all(&model->pair)) MD_TRY(check_all_pairs(model));
  const md_scales s = md_scales_of(model, unit_k);
  MD_TRY(md_scales_check(model, &s));
  MD_TRY(md_model_prepare_box(model, &s));
  MD_TRY(check_cutoff(model));
  const bool leapfrog = model->integrator == MD_LEAPFROG || model->integrator == MD_LEAPFROG_MIRROR;
  model->kick_time = leapfrog ? model->dt : 0.5 * model->dt;
  /* With a timestep of zero there are no kicks. The grids are then those of a usual timestep. */
  const double usual = s.energy > 0.0 ? 0x1p-10 * s.length * sqrt(s.lightest / s.energy) : 1.0;
  const double h = model->kick_time > 0.0 ? model->kick_time : usual;
  MD_TRY(prepare_momenta(model, &s, h));
  return prepare_pair(model, unit_k, &s, h);
}

/* What bonds cannot go together with. */
static md_status check_bonds(const md_model *model)
{
  if (model->exclusions.molecules.n > 0 && !model->bonded)
    return md_error(MD_USAGE,
                    "neigh_modify exclude molecule: particles have no molecules; use atom_style bond");
  if (model->bonds.ntypes == 0) return MD_OK;
  if (md_pair_is_all(&model->pair) || md_pair_has_density(&model->pair) ||
      md_pair_is_three_body(&model->pair))
    return md_error(
        MD_USAGE,
        "pair style %s cannot be used with bonds: it cannot leave the pairs of bonded particles out",
        md_pair_style_of(model->pair.kind)->name);
  if (model->float_drift)
    return md_error(MD_USAGE, "fix nve/leapfrog drift float cannot be used with bonds; use drift grid");
  return MD_OK;
}

/* What friction and noise cannot go together with. */
static md_status check_dissipation(const md_model *model)
{
  const md_pair_style *style = md_pair_style_of(model->pair.kind);
  if (!md_pair_is_dissipative(&model->pair)) return MD_OK;
  if (model->integrator != MD_NVE && model->integrator != MD_STATIC)
    return md_fix_wants_verlet("pair style", style->name);
  if (!(model->dt > 0.0) && md_pair_hottest(&model->pair) > 0.0)
    return md_error(MD_USAGE, "pair style %s: the noise of a temperature above 0 needs a timestep above 0",
                    style->name);
  if (model->flow.group != 0)
    return md_error(MD_USAGE,
                    "pair style %s: its friction needs the velocities of images, which fix deform with remap "
                    "v changes; use remap x",
                    style->name);
  return MD_OK;
}

static md_status prepare_tail(md_model *model)
{
  model->tail = md_pair_tail(&model->pair, model->count);
  if (model->box.dim == 3 || !md_pair_has_tail(&model->pair)) return MD_OK;
  return md_error(MD_USAGE, "pair_modify tail yes: the corrections are those of three dimensions");
}

md_status md_model_prepare(md_model *model)
{
  md_model_find_changes(model);
  if (model->ntypes < 1) return md_error(MD_USAGE, "there is no box yet: use create_box or read_data first");
  MD_TRY(check_box(&model->box));
  MD_TRY(md_box_check_tilt(&model->box));
  MD_TRY(prepare_masses(model));
  MD_TRY(md_pair_complete(&model->pair));
  MD_TRY(prepare_tail(model));
  model->cutoff = md_pair_cutoff(&model->pair);
  MD_TRY(check_bonds(model));
  MD_TRY(md_bonds_reach(&model->bonds, model->cutoff));
  model->reach = md_max(model->cutoff, model->bonds.reach);
  free_tables(model);
  const long long npair = (long long)model->ntypes * model->ntypes;
  const long long numbers = md_model_pair_numbers(model);
  double *unit_k = NULL;
  MD_TRY(md_array_new_zero(&model->impulse_k, numbers, sizeof(double), "pair coefficients"));
  MD_TRY(md_array_new_zero(&model->force_k, numbers, sizeof(double), "pair coefficients"));
  MD_TRY(md_array_new_zero(&model->overlap2, npair, sizeof(double), "pair coefficients"));
  MD_TRY(md_array_new_zero(&unit_k, numbers, sizeof(double), "pair coefficients"));
  const md_box shown = model->box;
  if (md_box_has_room(&shown)) md_model_take_room(model);
  const md_status status = prepare_grids(model, unit_k);
  free(unit_k);
  if (status == MD_OK)
    md_model_widen_box(model, &shown, 0);
  else
    model->box = shown;
  MD_TRY(status);
  MD_TRY(md_fixes_find_flow(model));
  MD_TRY(check_dissipation(model));
  MD_TRY(md_computes_prepare(model));
  return md_fixes_prepare(model);
}

md_dissipation_course md_model_dissipation_course(const md_model *model)
{
  const double *global = md_pair_dissipative_of(&model->pair)->global;
  return (md_dissipation_course){.seed = (uint64_t)md_min(global[2], 0x1p53),
                                 .start = global[0],
                                 .stop = global[1],
                                 .boltz = model->units->boltz,
                                 .dt = model->dt,
                                 .draw_shift = (uint64_t)model->draw_shift,
                                 .run_begin = model->run_begin,
                                 .run_end = model->run_end};
}

double md_model_skin(const md_model *model)
{
  return model->skin < model->reach ? model->skin : model->reach;
}

void md_measure_merge(const md_model *model, md_measure *a, const md_measure *b)
{
  md_wide_merge(&a->pair_energy2, &b->pair_energy2);
  md_wide_merge(&a->bond_energy2, &b->bond_energy2);
  md_wide_merge(&a->virial2, &b->virial2);
  for (int c = 0; c < MD_TENSOR; ++c) md_wide_merge(&a->tensor2[c], &b->tensor2[c]);
  for (int t = 0; t < model->nterm; ++t) md_wide_merge(&a->term[t], &b->term[t]);
  a->count += b->count;
}
