/* The preparation of a model, and how particles enter and leave its grids; see model.h.
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
#include "common/model.h"
#include "common/pair/all_pairs.h"
#include "common/pair/hybrid/hybrid.h"
#include "common/step/motion.h"

#include <stdio.h>
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

/* ---- boxes that change ---- */

/* The room of a box that only fixes change, in reaches of the box with which it begins. */
#define BOX_GROWS 16.0

static double reach_of(const md_box *box)
{
  double reach = 0.0;
  for (int d = 0; d < box->dim; ++d) {
    reach = md_max(reach, box->length[d]);
    if (box->changes[d] || md_box_face_follows(box, d, 0)) reach = md_max(reach, fabs(box->lo[d]));
    if (box->changes[d] || md_box_face_follows(box, d, 1)) reach = md_max(reach, fabs(box->hi[d]));
  }
  return reach;
}

void md_box_forget_room(md_box *box)
{
  if (box->room < 2.0 * reach_of(box)) box->room = 0.0;
}

void md_model_widen_box(md_model *model, const md_box *shown, int grown)
{
  md_box *box = &model->box;
  for (int d = 0; d < box->dim; ++d)
    for (int side = 0; side < 2; ++side) {
      if (!md_box_face_follows(box, d, side)) continue;
      const double out = side ? 1.0 : -1.0, face = side ? shown->hi[d] : shown->lo[d];
      /* Without particles nothing would move the faces back to where they are shown. */
      const double more =
          model->natoms > 0 ? ldexp(0.125 * shown->length[d] + 2.0 * model->cutoff, grown) : 0.0;
      double at = out * face + more;
      if (model->wall[d][side]) at = md_max(at, out * model->wall_at[d][side]);
      md_box_move_face(box, d, side, md_round_to(out * md_min(at, box->room), model->grids.x));
    }
}

/* The box from which the grids follow. */
static void take_room(md_model *model)
{
  md_box *box = &model->box;
  const double follows = md_box_follows(box) ? md_max(64.0 * reach_of(box), 1024.0 * model->cutoff) : 0.0;
  if (box->room == 0.0) box->room = md_power_above(md_max(BOX_GROWS * reach_of(box), follows));
  for (int d = 0; d < box->dim; ++d)
    for (int side = 0; side < 2; ++side)
      if (md_box_face_follows(box, d, side)) md_box_move_face(box, d, side, side ? box->room : -box->room);
}

void md_model_find_changes(md_model *model)
{
  memset(model->box.changes, 0, sizeof model->box.changes);
  memset(model->box.shears, 0, sizeof model->box.shears);
  for (int f = 0; f < model->nfix; ++f) {
    const md_fix_style *style = md_fix_style_of(model->fix[f].kind);
    if (style->changes) style->changes(&model->fix[f], model, model->box.changes);
    if (style->shears) style->shears(&model->fix[f], model->box.shears);
  }
}

md_box md_model_shown_box(const md_model *model)
{
  md_box box = model->box;
  for (int d = 0; d < box.dim && model->move.pending; ++d)
    for (int side = 0; side < 2; ++side)
      if (!md_box_face_follows(&box, d, side))
        md_box_move_face(&box, d, side, side ? model->move.hi[d] : model->move.lo[d]);
  if (model->move.pending && box.triclinic) md_box_follow_tilt(&box, &model->box, model->move.tilt);
  return box;
}

void md_model_take_box(md_model *model)
{
  model->box = md_model_shown_box(model);
  model->move.pending = false;
}

static md_status check_next_tilt(md_model *model)
{
  md_box_move *move = &model->move;
  for (int k = 0; k < 3 && model->box.triclinic; ++k) {
    const int axis = k == MD_YZ ? 1 : 0;
    move->tilt[k] = md_round_to(move->tilt[k], model->grids.x);
    if (!(fabs(move->tilt[k]) <= MD_TILT_MOST * (move->hi[axis] - move->lo[axis])))
      return md_error(MD_PHYSICS, "step %lld: a tilt factor would be %g, more than %g sides of the box",
                      (long long)model->step, move->tilt[k], MD_TILT_MOST);
  }
  return MD_OK;
}

/* Must periodic sides be at least two cutoffs during the run? */
static bool needs_two_cutoffs(const md_model *model)
{
  const bool *changes = model->box.changes;
  return model->bonds.ntypes > 0 || md_pair_is_dissipative(&model->pair) ||
         (model->box.triclinic && (changes[0] || changes[1] || changes[2]));
}

static md_status check_next_side(const md_model *model, int axis, double length)
{
  const long long step = model->step;
  const bool two = needs_two_cutoffs(model);
  const double most = two ? 0.5 : model->sides_most > 0.0 ? model->sides_most : MD_SIDES_MOST;
  if (length > 0.0 && model->reach <= most * length) return MD_OK;
  if (most == 0.5)
    return md_error(MD_PHYSICS, "step %lld: the box would be %g long along %c, less than two cutoffs of %g%s",
                    step, length, "xyz"[axis], model -> reach,
                    two ? "" : "; engine openmp can go on from here");
  return md_error(MD_PHYSICS,
                  "step %lld: the box would be %g long along %c, and the cutoff %g is more than %g times "
                  "as long%s",
                  step, length, "xyz"[axis], model -> reach, most,
                  most < MD_SIDES_MOST ? "; engine openmp can go on from here" : "");
}

md_status md_model_check_move(md_model *model)
{
  md_box_move *move = &model->move;
  for (int d = 0; d < model->box.dim; ++d) {
    move->lo[d] = md_round_to(move->lo[d], model->grids.x);
    move->hi[d] = md_round_to(move->hi[d], model->grids.x);
    const double length = move->hi[d] - move->lo[d], reach = md_max(fabs(move->lo[d]), fabs(move->hi[d]));
    if (md_box_has_room(&model->box) && !(md_max(reach, length) <= model->box.room))
      return md_error(
          MD_PHYSICS,
          "step %lld: the box would reach from %g to %g along %c, beyond the room of its positions, %g; "
          "end the run before, and begin another one with a larger box",
          (long long)model->step, move->lo[d], move->hi[d], "xyz"[d], model -> box.room);
    MD_TRY(check_next_side(model, d, length));
  }
  return check_next_tilt(model);
}

static md_status check_box(const md_box *box)
{
  for (int d = 0; d < box->dim; ++d)
    if (!(box->hi[d] > box->lo[d]) || !isfinite(box->hi[d] - box->lo[d]))
      return md_error(MD_USAGE, "there is no box yet, or it is empty: lo %g, hi %g along %c", box->lo[d],
                      box->hi[d], "xyz"[d]);
  return MD_OK;
}

md_status md_box_check_tilt(const md_box *box)
{
  static const char *const name[] = {"xy", "xz", "yz"};
  static const int of[3][2] = {{0, 1}, {0, 2}, {1, 2}};
  if (!box->triclinic) return MD_OK;
  if (md_box_follows(box))
    return md_error(MD_USAGE,
                    "a tilted box cannot have faces that follow the particles: use boundary p or f");
  for (int k = 0; k < 3; ++k) {
    const int a = of[k][0], b = of[k][1];
    if (box->tilt[k] == 0.0) continue;
    if (b >= box->dim)
      return md_error(MD_USAGE, "the tilt factor %s must be 0 in two dimensions, not %g", name[k],
                      box->tilt[k]);
    if (!box->periodic[a] || !box->periodic[b])
      return md_error(MD_USAGE, "the tilt factor %s is %g: the box must be periodic along %c and %c", name[k],
                      box->tilt[k], "xyz"[a], "xyz"[b]);
    if (!(fabs(box->tilt[k]) <= MD_TILT_MOST * box->length[a]))
      return md_error(MD_USAGE, "the tilt factor %s, %g, is more than %g sides of the box", name[k],
                      box->tilt[k], MD_TILT_MOST);
  }
  return MD_OK;
}

/* ---- scales: what the grids must resolve ---- */

/* Values of pairs are below this. Quanta are powers of two above the largest values, and the end of the doubles has
 * none. */
#define LARGEST 0x1p960

/* The usual sizes of forces and energies, from pair style and thermostat. Zero: unknown, because there is neither. */
typedef struct scales {
  double strongest, weakest; /* force of a pair at its usual distance, over the types that interact */
  double energy;   /* largest of that force times the distance, and of the thermostat's temperature */
  double lightest; /* the smallest mass */
  double length;   /* a usual length: the cutoff, or the size of a system without a cutoff */
} scales;

static double lightest_of(const md_model *model)
{
  double lightest = model->massed ? model->mass_least : model->mass[1];
  for (int t = 2; t <= model->ntypes; ++t) lightest = md_min(lightest, model->mass[t]);
  return lightest;
}

/* Without a cutoff every particle attracts every other one. The usual force is that of the whole system on a lightest
 * particle, at the distance of its extent, or if that is unknown of a quarter of the box. A sum of N rounded impulses
 * has the rounding errors of about sqrt(N) of them, so that this part of the total force decides the grids. */
static scales scales_of_all(const md_model *model, const double *unit_k)
{
  const md_box *box = &model->box;
  double longest = 0.0;
  for (int d = 0; d < box->dim; ++d) longest = md_max(longest, box->hi[d] - box->lo[d]);
  const double lightest = lightest_of(model);
  const double n = md_max(2.0, (double)model->natoms), *k = unit_k;
  const double r = model->extent > 0.0 ? model->extent : 0.25 * longest;
  const double total = model->total_mass > 0.0 ? model->total_mass : n * lightest;
  const double r2 = fma(r, r, md_pair_softening2(&model->pair)), mass = model->mass[1];
  const double pair = fabs(md_pair_force(model->pair.kind, r2, k) * r); /* of two particles of type 1 */
  const double all = pair * (lightest / mass) * (total / mass);
  return (scales){.strongest = all / sqrt(n),
                  .weakest = all / sqrt(n),
                  .energy = md_max(all * r, model->hottest),
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
  const double speed = md_max(model->units->speed, sqrt(hot / lightest_of(model)));
  const double noise = model->dt > 0.0 ? k[6] * sqrt(hot / model->dt) : 0.0;
  return w * (fabs(k[1]) + noise + k[5] * w * speed);
}

/* The coefficients of the friction and noise among the terms of a head, without the repulsion of the same style.
 * Returns false if there are none. */
static bool friction_of_term(const double *head, double alone[MD_PAIR_K])
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
  return friction_of_term(k, alone) && r * r < alone[0] ? all + dissipative_force(model, alone, r) : all;
}

/* The usual force between two types at distance r. k: their row. */
static double usual_force(const md_model *model, int i, int j, const double *k, double r)
{
  const md_eam *eam = model->pair.eam;
  if (md_pair_is_dissipative(&model->pair)) return k[0] > 0.0 ? usual_with_friction(model, k, r) : 0.0;
  if (!eam) return fabs(md_pair_force(model->pair.kind, r * r, k) * r);
  return k[0] > 0.0 ? density_force(eam, eam->element[i], eam->element[j], r) : 0.0;
}

static void add_force(scales *s, double force, double r)
{
  if (!(force < LARGEST)) force = (double)INFINITY; /* check_scales() refuses it */
  if (!(force > 0.0)) return;
  s->strongest = md_max(s->strongest, force);
  s->weakest = s->weakest > 0.0 ? md_min(s->weakest, force) : force;
  s->energy = md_max(s->energy, force * r);
}

/* Of a bond: its usual force, at half of its reach. */
static void add_bonds(const md_model *model, scales *s)
{
  const md_bond_style *style = md_bond_style_of(model->bonds.kind);
  for (int t = 1; t <= model->bonds.ntypes; ++t) {
    const double *parameter = model->bonds.parameter[t], reach = style->reach(parameter);
    add_force(s, style->force_usual(parameter), reach > 0.0 ? 0.5 * reach : 1.0);
  }
}

static scales scales_of(const md_model *model, const double *unit_k)
{
  if (md_pair_is_all(&model->pair)) return scales_of_all(model, unit_k);
  scales s = {.lightest = lightest_of(model),
              .length = model->reach,
              .energy = md_max(model->hottest, model->units->boltz * md_pair_hottest(&model->pair))};
  for (int i = 0; i < model->ntypes; ++i)
    for (int j = 0; j < model->ntypes; ++j) {
      const double r = md_pair_length(&model->pair, i, j);
      if (!(r > 0.0)) continue;
      const double *k = unit_k + ((size_t)i * (size_t)model->ntypes + (size_t)j) * MD_PAIR_K;
      add_force(&s, usual_force(model, i, j, k, r), r);
    }
  add_bonds(model, &s);
  return s;
}

static const char *pair_name(const md_model *model)
{
  const md_pair_style *style = md_pair_style_of(model->pair.kind);
  return style ? style->name : "none";
}

static md_status check_scales(const md_model *model, const scales *s)
{
  if (s->strongest < LARGEST) return MD_OK;
  return md_error(MD_USAGE,
                  "pair style %s: the force of particles at their usual distance is not a number, or is "
                  "above %.0e: check the coefficients of pairs and bonds",
                  pair_name(model), LARGEST);
}

/* ---- positions ---- */

/* The position quantum in three dimensions that packed layouts allow: 2^42 quanta are at least three cutoffs, so that
 * three coordinates fit into 16 bytes (gpu/particle/layout.cuh). 0 if drifts need a finer quantum. */
static double packed_quantum(const md_model *model, const scales *s)
{
  if (model->box.dim != 3 || !(model->reach > 0.0) || model->float_drift) return 0.0;
  const double quantum = md_power_above(1.5 * model->reach) * 0x1p-41;
  const double move = model->dt * sqrt(s->energy / model->mass_reference);
  return move > 0.0 && 0.5 * quantum > MD_DRIFT_ERROR * move ? 0.0 : quantum;
}

/* How far beyond the box coordinates must be exact. A particle may be beyond a face until it is reflected, or until the
 * rebin wraps it. Its ghosts are within reach of it, and at most one box length away, or in a small box within cutoff
 * and skin. Engines with wide cells have ghosts farther away, but these interact with no particle. */
static double beyond_box(const md_model *model, double longest, bool images)
{
  const double most = images ? md_max(longest, 2.0 * model->reach) : 0.25 * longest;
  const int layers = md_box_most_layers(&model->box, 2.0 * model->reach);
  /* An image across a face of a tilted box is first shifted by up to a side, and then wrapped. Of several layers it is
   * the sum of as many shifts. */
  if (model->box.triclinic) return layers > 1 ? 4.0 * longest * layers : 2.0 * longest;
  return model->reach > 0.0 ? md_min(most, 8.0 * MD_REACH_CUTOFFS * model->reach) : most;
}

/* Refuses a timestep if even plain doubles would not resolve its drifts. The grid may have one bit less than doubles,
 * because it must also cover images. */
static md_status check_drift(const md_model *model, const scales *s, double extent)
{
  const double move = model->dt * sqrt(s->energy / s->lightest),
               last_digit = md_power_above(extent) * 0x1p-53;
  if (!(move > 0.0) || model->integrator == MD_STATIC || model->float_drift) return MD_OK;
  const double excess = 0.5 * last_digit / (MD_DRIFT_ERROR * move);
  if (!(excess > 1.0)) return MD_OK;
  return md_error(MD_USAGE,
                  "the timestep %g is too short for a box that reaches to %g: the last digit of a position "
                  "there is %.2g, and a step moves a particle by about %.2g, so that fewer than six digits "
                  "of that would be kept; use a timestep of %.2g or more, or a box within %.2g of the origin",
                  model->dt, extent, last_digit, move, model->dt * 2.0 * excess, 0.5 * extent / excess);
}

static md_status round_walls(md_model *model, int d)
{
  const md_box *box = &model->box;
  for (int side = 0; side < 2; ++side) {
    if (!model->wall[d][side]) continue;
    double *at = &model->wall_at[d][side];
    const double face = side ? box->hi[d] : box->lo[d];
    *at = md_round_to(*at, model->grids.x);
    /* The box may have been rounded to a coarser grid before: a wall on its face stays there. */
    if (!(fabs(*at - face) > 0x1p-30 * box->length[d])) *at = face;
    if (!(*at >= box->lo[d] && *at <= box->hi[d]))
      return md_error(MD_USAGE, "fix wall/reflect: the wall at %c = %g lies outside the box", "xyz"[d], *at);
  }
  if (model->wall[d][0] && model->wall[d][1] && !(model->wall_at[d][0] < model->wall_at[d][1]))
    return md_error(MD_USAGE, "fix wall/reflect: the lower wall along %c is not below the upper one",
                    "xyz"[d]);
  return MD_OK;
}

/* Rounds faces, walls and tilt factors to the grid of positions. longest: the longest side. */
static md_status round_box(md_model *model, double longest)
{
  md_box *box = &model->box;
  const double q = model->grids.x;
  for (int d = 0; d < box->dim; ++d) {
    box->lo[d] = md_round_to(box->lo[d], q);
    box->hi[d] = md_round_to(box->hi[d], q);
    box->length[d] = box->hi[d] - box->lo[d];
    if (!(box->length[d] > 0.0) && model->reach > longest)
      return md_error(MD_USAGE,
                      "the cutoff %g is too large for a box whose longest side is %g: use a larger box",
                      model->reach, longest);
    if (!(box->length[d] > 0.0))
      return md_error(MD_USAGE, "the box is too thin along %c to be resolved next to its other sides",
                      "xyz"[d]);
    MD_TRY(round_walls(model, d));
  }
  if (box->dim == 2) box->length[2] = box->hi[2] - box->lo[2];
  double tilt[3];
  for (int k = 0; k < 3; ++k) tilt[k] = md_round_to(box->tilt[k], q);
  if (box->triclinic) md_box_set_tilt(box, tilt);
  return MD_OK;
}

/* Chooses the move limit and the grid of positions, and rounds the box to it. */
static md_status prepare_box(md_model *model, const scales *s)
{
  const md_box *box = &model->box;
  double extent = 0.0, longest = 0.0;
  bool images = false;
  for (int d = 0; d < box->dim; ++d) {
    longest = md_max(longest, box->hi[d] - box->lo[d]);
    extent = md_max(extent, md_max(fabs(box->lo[d]), fabs(box->hi[d])));
    images = images || box->periodic[d];
  }
  /* Nothing that follows here may depend on how large the box is at the moment. */
  const bool changes = box->changes[0] || box->changes[1] || box->changes[2];
  if (changes) {
    extent = box->room;
    longest = 2.0 * box->room / BOX_GROWS;
  }
  if (model->float_drift && images)
    return md_error(MD_USAGE, "fix nve/leapfrog drift float needs a box without periodic axes");
  model->move_limit = 0.25 * longest;
  if (model->reach > 0.0) model->move_limit = md_min(model->move_limit, 8.0 * model->reach);
  /* Positions that are plain doubles resolve finer velocities than positions on a grid. A lower limit of movement
   * leaves these bits to the momenta. Without a cutoff momenta get these bits anyway. */
  if (model->float_drift && !md_pair_is_all(&model->pair))
    model->move_limit = md_max(0.25 * model->cutoff, 0x1p-20 * (0.25 * longest));
  model->grids.x = md_power_above(md_max(extent + beyond_box(model, longest, images), longest)) * 0x1p-53;
  MD_TRY(check_drift(model, s, extent));
  model->grids.x = md_max(model->grids.x, packed_quantum(model, s));
  return round_box(model, longest);
}

/* ---- momenta ---- */

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
 * quantum is as fine as close encounters allow: their impulses must stay below 2^52 quanta. Without a cutoff it is as
 * coarse as it may be, because then a particle has many close encounters at once. */
static md_status widen(md_model *model, double fastest, double strongest, double allowed)
{
  enum { BELOW = 37, LOW_BITS = 60 };
  model->wide = true;
  model->speed_limit = fastest;
  if (!md_pair_is_all(&model->pair)) model->grids.v = power_below(ldexp(strongest, -BELOW));
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

/* Chooses the grid of momenta and the speed limit. h: the length of a kick, in units of time. */
static md_status prepare_momenta(md_model *model, const scales *s, double h)
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
  const double allowed = 2.0 * MD_IMPULSE_ERROR * h * md_max(s->weakest, s->strongest / 16.0) / m;
  model->wide = false;
  model->grids.v = covering(fastest);
  if (allowed > 0.0 && md_pair_is_all(&model->pair))
    model->grids.v = power_below(allowed);
  else if (allowed > 0.0 && !model->float_drift)
    model->grids.v = md_min(model->grids.v, power_below(allowed));
  model->speed_limit = md_min(fastest, 0x1p53 * model->grids.v);
  for (int t = 1; t <= model->ntypes; ++t) model->v_step[t] = model->grids.v;
  if (model->speed_limit < md_min(fastest, hot)) MD_TRY(widen(model, fastest, strongest, allowed));
  model->move_limit = md_min(model->move_limit, model->speed_limit * model->dt);
  if (model->dt == 0.0) model->move_limit = model->speed_limit;
  model->resolution = (md_resolution){.drift = 0.0};
  if (usual > 0.0)
    model->resolution = (md_resolution){
        .drift = model->dt > 0.0 ? 0.5 * model->grids.x / (model->dt * sqrt(s->energy / m)) : 0.0,
        .impulse = allowed > 0.0 ? MD_IMPULSE_ERROR * model->grids.v / allowed : 0.0,
        .speed = 0.5 * model->grids.v * m / s->lightest / usual};
  /* At least twice the largest kinetic energy of a particle. A particle adds one term, so that 2^60 coarse quanta may
   * cover the energy. */
  model->grids.k = md_power_above(3.0 * m * model->speed_limit * model->speed_limit) * 0x1p-60 / MD_FINE;
  return MD_OK;
}

/* ---- pairs ---- */

int64_t md_model_pair_numbers(const md_model *model)
{
  if (model->pair.kind == MD_PAIR_NONE) return (int64_t)model->ntypes * model->ntypes * MD_PAIR_K;
  return md_pair_rows(md_model_pair(model)) * MD_PAIR_K;
}

void md_model_type_table(const md_model *model, double scale, double *k)
{
  md_pair_table(&model->pair, model->mass, scale, k);
  for (int e = 0; e < model->nexcluded; ++e)
    md_pair_exclude(&model->pair, k, model->excluded[e][0] - 1, model->excluded[e][1] - 1);
}

/* The distance below which the force of a pair exceeds `range`; zero for a style whose force stays in range. The search
 * starts at the cutoff and goes inwards. largest: receives the largest energy, virial and force of the search. unit_k:
 * coefficients for forces in units of force. */
static double closest_approach(const md_model *model, const double *unit_k, double range, double largest[3])
{
  const bool all = md_pair_is_all(&model->pair);
  const double soft2 = md_pair_softening2(&model->pair);
  double diagonal = 0.0;
  for (int d = 0; all && d < model->box.dim; ++d) diagonal += model->box.length[d];
  const double rc = all ? diagonal : sqrt(unit_k[0]);
  double reached = rc;
  for (double r = rc * (1.0 - 0x1p-20); r > rc * 0x1p-24; r *= 1.0 - 0x1p-6) {
    const double r2 = fma(r, r, soft2);
    const double force = fabs(md_pair_force(model->pair.kind, r2, unit_k) * r);
    if (!(force < range)) return reached;
    reached = r;
    largest[0] = md_max(largest[0], fabs(md_pair_energy(model->pair.kind, r2, unit_k)));
    largest[1] = md_max(largest[1], force * r);
    largest[2] = md_max(largest[2], force);
  }
  return 0.0;
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
  if (model->nexcluded > 0 || model->nexcluded_groups > 0 || model->molecules.n > 0)
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
  if (needs_two_cutoffs(model))
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

/* The largest energy, virial and force of a pair and of an embedding, from the tables of a potential. Nearer than an
 * interval of the tables, particles overlap. */
static void largest_of_potential(const md_eam *eam, double largest[3])
{
  const int64_t pairs = (int64_t)eam->nelement * eam->nelement * eam->nr;
  double slope = 0.0, density = 0.0, value = 0.0, pair = 0.0;
  for (int64_t k = 0; k < (int64_t)eam->nelement * eam->nrho; ++k) {
    const double *row = eam->embedding + k * MD_SPLINE_ROW;
    slope = md_max(slope, fabs(row[2]));
    value = md_max(value, fabs(row[MD_SPLINE + 3]));
  }
  for (int64_t k = 0; k < pairs; ++k) {
    const double *row = eam->force + k * MD_SPLINE_ROW;
    density = md_max(density, fabs(row[2]));
    pair = md_max(pair, md_max(fabs(row[MD_SPLINE + 2]), fabs(row[MD_SPLINE + 3])) / eam->dr);
  }
  const double force = 2.0 * (slope * density + pair / eam->dr);
  largest[0] = md_max(largest[0], 2.0 * (value + pair));
  largest[1] = md_max(largest[1], force * eam->cutoff);
  largest[2] = md_max(largest[2], force);
}

/* The largest energy, virial and force of a bond. force: the largest that is in range. */
static void largest_of_bonds(const md_model *model, double force, double largest[3])
{
  const md_bonds *bonds = &model->bonds;
  for (int t = 1; t <= bonds->ntypes; ++t) {
    const double spring = md_bond_style_of(bonds->kind)->energy_most(bonds->parameter[t], bonds->reach);
    largest[0] = md_max(largest[0], spring + force * bonds->reach);
    largest[1] = md_max(largest[1], force * bonds->reach);
    largest[2] = md_max(largest[2], force);
  }
}

/* The largest virial and force of a pair of a dissipative style at the speed limit. The random number of a pair is at
 * most 3.5. */
static void largest_of_dissipation(const md_model *model, const double *k, double largest[3])
{
  const double hot = model->units->boltz * md_pair_hottest(&model->pair);
  const double speed = model->speed_limit * (model->mass_reference / lightest_of(model));
  const double noise = model->dt > 0.0 ? k[6] * sqrt(hot / model->dt) : 0.0;
  const double force = fabs(k[1]) + 3.5 * noise + k[5] * (4.0 * speed);
  largest[1] = md_max(largest[1], force * sqrt(k[0]));
  largest[2] = md_max(largest[2], force);
}

static md_status check_largest(const md_model *model, const double largest[3])
{
  static const char *const names[] = {"energies", "virials", "forces"};
  for (int q = 0; q < 3; ++q)
    if (!(largest[q] < LARGEST))
      return md_error(MD_USAGE,
                      "pair style %s: its coefficients or tables give %s of up to %g, and no sum can hold "
                      "more than %.0e: check them",
                      pair_name(model), names[q], largest[q], LARGEST);
  return MD_OK;
}

/* Do fixes take the virial of impulses? Bonds and styles in more than one pass have only that of forces, and so has a
 * model that is not moved. */
static bool sums_impulse_virial(const md_model *model)
{
  return model->pair.kind != MD_PAIR_NONE && !md_pair_needs_more(&model->pair) &&
         !md_pair_is_all(&model->pair) && model->bonds.ntypes == 0 && model->kick_time > 0.0;
}

/* Finds close2 and overlap2, and with them the largest energy, virial and force that sums for output must hold.
 * quantum: the force whose impulse is a quantum. */
static void find_closest(md_model *model, const double *unit_k, double quantum, double largest[3])
{
  const long long npair = (long long)model->ntypes * model->ntypes;
  double friction[3] = {0.0, 0.0, 0.0}, alone[MD_PAIR_K];
  for (int q = 0; q < 3; ++q) largest[q] = 0x1p-40;
  model->close2 = 0.0;
  for (long long p = 0; p < npair && model->pair.kind != MD_PAIR_NONE; ++p) {
    const double *k = unit_k + p * MD_PAIR_K;
    if (model->pair.eam) {
      model->overlap2[p] = k[0] > 0.0 ? model->pair.eam->overlap2 : 0.0;
      continue;
    }
    if (model->pair.nsub == 0) {
      if (md_pair_is_dissipative(&model->pair)) largest_of_dissipation(model, k, largest);
    } else if (friction_of_term(k, alone)) {
      largest_of_dissipation(model, alone, friction);
    }
    const double near = closest_approach(model, k, MD_ROUND_RANGE * quantum, largest);
    const double nearest = closest_approach(model, k, 0x1p52 * quantum, largest);
    model->close2 = md_max(model->close2, near * near);
    /* Without a cutoff the impulse itself decides (common/pair/all_pairs.h). */
    model->overlap2[p] = md_pair_is_all(&model->pair) ? 0.0 : nearest * nearest;
    const double least2 = md_pair_least2(k);
    model->overlap2[p] = md_max(model->overlap2[p], least2);
    model->close2 = md_max(model->close2, least2);
  }
  if (model->pair.eam) largest_of_potential(model->pair.eam, largest);
  for (int q = 0; q < 3; ++q) largest[q] += friction[q]; /* beside the other terms of a pair */
  largest_of_bonds(model, 0x1p52 * quantum, largest);
}

/* The same for a three-body style, whose forces for output have a range of their own: that of impulses, or if that is
 * less, as with a very small mass, 2^30 usual forces. */
static void largest_of_three_body(const md_model *model, const double *unit_k, const scales *s,
                                  double quantum, double largest[3])
{
  const long long npair = (long long)model->ntypes * model->ntypes;
  const double force = md_max(0x1p52 * quantum, 0x1p30 * s->strongest);
  if (!model->pair.three) return;
  for (long long p = 0; p < npair; ++p) (void)closest_approach(model, unit_k + p * MD_PAIR_K, force, largest);
  largest[0] = md_max(largest[0], md_three_largest_energy(model->pair.three));
  largest[1] = md_max(largest[1], force * model->cutoff);
  largest[2] = md_max(largest[2], force);
}

/* The grids of energies, virials and forces, out of the largest of each. */
static void choose_output_grids(md_model *model, const scales *s, double quantum, const double largest[3])
{
  model->grids.e = md_power_above(largest[0]) * 0x1p-50 / MD_FINE;
  model->grids.w = md_power_above(largest[1]) * 0x1p-50 / MD_FINE;
  /* The quantum is not as fine as possible. So a sum below 2^7 usual forces is exact in a double, and such forces
   * add up to zero exactly. It is at most that of impulses: a stiff pair may never be at its usual distance. */
  model->grids.f = md_power_above(largest[2]) * 0x1p-50 / MD_FINE;
  if (s->strongest > 0.0)
    model->grids.f = md_max(model->grids.f, power_below(md_min(0x1p-46 * s->strongest, quantum)));
  const double range = model->wide ? MD_ALL_WIDE_RANGE : MD_ALL_RANGE;
  model->force_range = range * (quantum / (model->grids.f * MD_FINE));
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

static md_status prepare_pair(md_model *model, const double *unit_k, const scales *s, double h)
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
  const scales s = scales_of(model, unit_k);
  MD_TRY(check_scales(model, &s));
  MD_TRY(prepare_box(model, &s));
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
  if (model->molecules.n > 0 && !model->bonded)
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
  if (md_box_has_room(&shown)) take_room(model);
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

/* ---- entering and leaving the grids ---- */

/* The exact product a b, rounded to a multiple of q, a power of two. If the product as a double lies half way between
 * two multiples, the rest that this double lacks decides between them. */
static double round_product_to(double a, double b, double q)
{
  const double scaled = a / q, product = scaled * b, rest = fma(scaled, b, -product);
  double whole = rint(product);
  if (product - whole == 0.5 && rest > 0.0) whole += 1.0;
  if (product - whole == -0.5 && rest < 0.0) whole -= 1.0;
  return whole * q;
}

/* The exact product a b, rounded to a count of quanta q. The count may exceed 2^53. */
static md_int128 count_product(double a, double b, double q)
{
  const double scaled = a / q, product = scaled * b, rest = fma(scaled, b, -product);
  const double whole = rint(product);
  return (md_int128)whole + (md_int128)rint((product - whole) + rest);
}

/* Notes that the recorded message is about a particle. */
static md_status about(int64_t id, md_status status)
{
  md_error_about(id, id);
  return status;
}

/* Makes the momentum of particle i along axis d from its velocity. */
static void enter_velocity(const md_model *model, md_particles *p, int d, int64_t i)
{
  const md_inertia inertia = md_inertia_of(model, p, i);
  const double q = model->grids.v, mass_ratio = 1.0 / inertia.velocity_per_v;
  double *v = &p->v[d][i];
  if (model->wide)
    md_momentum_split(count_product(*v, mass_ratio, q) + p->v_low[d][i], q, inertia.v_step, v,
                      &p->v_low[d][i]);
  else
    *v = model->one_mass ? md_round_to(*v, q) : round_product_to(*v, mass_ratio, q);
}

static md_status too_fast(const md_model *model, int64_t id, int axis, double speed)
{
  const double dt = model->dt, safe = 0.1 * dt * model->speed_limit / speed;
  char advice[160];
  if (!(speed < 0.5 * model->speed_most))
    snprintf(advice, sizeof advice, "with these interactions no timestep allows more than %.3g",
             model->speed_most);
  else if (safe < 1e-3 * dt && model->reach > 0.0)
    snprintf(advice, sizeof advice,
             "a particle may move at most 8 cutoffs of %.3g in one step: use a larger cutoff, or a timestep "
             "below %.3g",
             model->reach, safe);
  else
    snprintf(advice, sizeof advice, "use a timestep below %.3g", safe);
  return md_error(
      MD_PHYSICS,
      "step %lld: particle %lld has speed %g along %c and would move %g in one step; the limit is a "
      "speed of %.3g: %s",
      (long long)model->step, (long long)id, speed, "xyz"[axis], speed * dt, model -> speed_limit, advice);
}

/* Gives particles second words if momenta are wide. The counts that an earlier run left in v_low are kept if they have
 * the same unit, and set to zero otherwise. */
static md_status widen_particles(const md_model *model, md_particles *p)
{
  const double unit = model->wide ? model->grids.v * model->mass_reference : 0.0;
  if (p->wide && p->v_low_unit != unit) MD_TRY(md_particles_widen(p, false));
  MD_TRY(md_particles_widen(p, model->wide));
  p->v_low_unit = unit;
  return MD_OK;
}

/* The velocities of pair forces: those that an earlier run left, or the present ones. */
static md_status enter_pair_velocities(const md_model *model, md_particles *p)
{
  const bool kept = p->has_v_pair;
  MD_TRY(md_particles_make_v_pair(p, md_pair_is_dissipative(&model->pair)));
  if (kept || !p->has_v_pair) return MD_OK;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) md_model_note_velocity(model, p, i);
  return MD_OK;
}

/* Enters positions and velocities along axis d. out: how far beyond the faces a position may be, along each axis.
 * Returns the least id of a particle that cannot enter, or INT64_MAX. */
static int64_t enter_axis(const md_model *model, md_particles *p, int d, const double out[3])
{
  const md_box *box = &model->box;
  const double qx = model->grids.x, speed_limit = model->speed_limit;
  const double lo = box->lo[d], hi = box->hi[d], length = box->length[d], least = lo - out[d],
               most = hi + out[d];
  const bool wraps = box->periodic[d] && !box->triclinic;
  double *restrict x = p->x[d];
  const double *v = p->v[d];
  int64_t bad = INT64_MAX;
#pragma omp parallel for schedule(static) reduction(min : bad)
  for (int64_t i = 0; i < p->n; ++i) {
    const bool sane = x[i] >= least && x[i] <= most;
    if (!sane || !(fabs(v[i]) <= speed_limit)) {
      if (p->id[i] < bad) bad = p->id[i];
      continue;
    }
    if (!model->float_drift) x[i] = md_round_to(x[i], qx);
    if (wraps) x[i] = md_wrap(x[i], lo, hi, length);
    enter_velocity(model, p, d, i);
    /* -0 becomes 0: engines differ in whether they add nothing to it. */
    x[i] += 0.0;
    p->v[d][i] += 0.0;
  }
  return bad;
}

/* Why the particle `bad` cannot enter. */
static md_status entry_error(const md_model *model, const md_particles *p, int64_t bad)
{
  const int dim = model->box.dim;
  int64_t i = 0;
  while (p->id[i] != bad) ++i;
  for (int d = 0; d < dim; ++d)
    if (!(fabs(p->v[d][i]) <= model->speed_limit))
      return about(bad, too_fast(model, bad, d, fabs(p->v[d][i])));
  return about(bad, md_error(MD_PHYSICS,
                             "step %lld: particle %lld at (%g, %g, %g) is outside the box or not a number",
                             (long long)model->step, (long long)bad, p->x[0][i], p->x[1][i],
                             dim == 3 ? p->x[2][i] : 0.0));
}

md_status md_model_enter(const md_model *model, md_particles *p)
{
  const md_box *box = &model->box;
  int64_t bad = INT64_MAX;
  double out[3];
  MD_TRY(widen_particles(model, p));
  md_box_image_reach(box, out);
  for (int d = 0; d < box->dim; ++d) {
    const int64_t found = enter_axis(model, p, d, out);
    if (found < bad) bad = found;
  }
  if (bad != INT64_MAX) return entry_error(model, p, bad);
  if (box->triclinic) md_particles_wrap(p, box);
  return enter_pair_velocities(model, p);
}

/* The velocity from which md_model_enter makes the momentum p again. Where p is large, the velocity nearest to the
 * exact quotient may give a momentum that differs from p by a quantum. The momenta of neighbouring doubles are at
 * most a quantum apart. So a neighbour of this velocity gives p. */
static double velocity_of(double p, double velocity_per_v, double q)
{
  const double mass_ratio = 1.0 / velocity_per_v;
  double v = p * velocity_per_v;
  while (round_product_to(v, mass_ratio, q) < p) v = nextafter(v, (double)INFINITY);
  while (round_product_to(v, mass_ratio, q) > p) v = nextafter(v, -(double)INFINITY);
  return v;
}

/* Makes of a wide momentum the velocity as a double in v, and in v_low the quanta that this velocity lacks. */
static void leave_wide(const md_model *model, md_particles *p, int d, int64_t i)
{
  const md_inertia inertia = md_inertia_of(model, p, i);
  const double q = model->grids.v, velocity_per_v = inertia.velocity_per_v;
  double *v = &p->v[d][i];
  int64_t *low = &p->v_low[d][i];
  const md_int128 count = md_momentum_count(*v, *low, q, inertia.v_step);
  *v = md_momentum_value(*v, *low, q) * velocity_per_v;
  *low = (int64_t)(count - count_product(*v, 1.0 / velocity_per_v, q));
}

void md_model_leave(const md_model *model, md_particles *p)
{
  md_particles_show(p, &model->box);
  if (model->one_mass && !model->wide) return;
  for (int d = 0; d < model->box.dim; ++d) {
    double *v = p->v[d];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; ++i) {
      if (model->wide)
        leave_wide(model, p, d, i);
      else
        v[i] = velocity_of(v[i], md_inertia_of(model, p, i).velocity_per_v, model->grids.v);
    }
  }
}

double md_model_velocity(const md_model *model, const md_particles *p, int d, int64_t i)
{
  const int64_t low = p->wide ? p->v_low[d][i] : 0;
  return md_momentum_value(p->v[d][i], low, model->grids.v) * md_inertia_of(model, p, i).velocity_per_v;
}

md_dissipation_course md_model_dissipation_course(const md_model *model)
{
  const double *global = md_pair_dissipative_of(&model->pair)->global;
  return (md_dissipation_course){.seed = (uint64_t)md_min(global[2], 0x1p53),
                                 .start = global[0],
                                 .stop = global[1],
                                 .boltz = model->units->boltz,
                                 .dt = model->dt,
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
