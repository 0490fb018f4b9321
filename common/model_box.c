/* The box of a model: its change in runs, and the grid of positions; see model.h and model_parts.h. */
#include "common/model_parts.h"

/* The room of a box that only fixes change, in reaches of the box with which it begins. */
#define BOX_GROWS 16.0

/* The grid of positions is one for all axes. In a box that changes it follows from the room alone, so that the places
 * of all axes count. */
static double reach_of(const md_box *box)
{
  const bool changes = md_box_sides_change(box);
  double reach = 0.0;
  for (int d = 0; d < box->dim; ++d) {
    reach = md_max(reach, box->length[d]);
    if (changes || md_box_face_follows(box, d, 0)) reach = md_max(reach, fabs(box->lo[d]));
    if (changes || md_box_face_follows(box, d, 1)) reach = md_max(reach, fabs(box->hi[d]));
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

void md_model_take_room(md_model *model)
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

bool md_model_needs_two_cutoffs(const md_model *model)
{
  return model->bonds.ntypes > 0 || md_pair_is_dissipative(&model->pair) ||
         (model->box.triclinic && md_box_sides_change(&model->box));
}

static md_status check_next_side(const md_model *model, int axis, double length)
{
  const long long step = model->step;
  const char name = "xyz"[axis];
  const bool two = md_model_needs_two_cutoffs(model);
  const double most = two ? 0.5 : model->sides_most > 0.0 ? model->sides_most : MD_SIDES_MOST;
  if (length > 0.0 && model->reach <= most * length) return MD_OK;
  if (most == 0.5)
    return md_error(MD_PHYSICS, "step %lld: the box would be %g long along %c, less than two cutoffs of %g%s",
                    step, length, name, model->reach, two ? "" : "; engine openmp can go on from here");
  return md_error(MD_PHYSICS,
                  "step %lld: the box would be %g long along %c, and the cutoff %g is more than %g times "
                  "as long%s",
                  step, length, name, model->reach, most,
                  most < MD_SIDES_MOST ? "; engine openmp can go on from here" : "");
}

md_status md_model_check_move(md_model *model)
{
  md_box_move *move = &model->move;
  for (int d = 0; d < model->box.dim; ++d) {
    move->lo[d] = md_round_to(move->lo[d], model->grids.x);
    move->hi[d] = md_round_to(move->hi[d], model->grids.x);
    const double length = move->hi[d] - move->lo[d], reach = md_max(fabs(move->lo[d]), fabs(move->hi[d]));
    const double room = model->box.room;
    if (md_box_has_room(&model->box) && !(md_max(reach, length) <= room))
      return md_error(
          MD_PHYSICS,
          "step %lld: the box would reach from %g to %g along %c, beyond the room of its positions, %g; "
          "end the run before, and begin another one with a larger box",
          (long long)model->step, move->lo[d], move->hi[d], "xyz"[d], room);
    MD_TRY(check_next_side(model, d, length));
  }
  return check_next_tilt(model);
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

/* The position quantum in three dimensions that packed layouts allow: 2^42 quanta are at least three cutoffs, so that
 * three coordinates fit into 16 bytes (gpu/particle/layout.cuh). 0 if drifts need a finer quantum, or distances of
 * particles that are small beside the longest cutoff. */
static double packed_quantum(const md_model *model, const md_scales *s)
{
  if (model->box.dim != 3 || !(model->reach > 0.0) || model->float_drift) return 0.0;
  const double quantum = md_power_above(1.5 * model->reach) * 0x1p-41;
  const double move = model->dt * sqrt(s->energy / model->mass_reference);
  if (s->shortest > 0.0 && quantum > 0x1p-36 * s->shortest) return 0.0;
  return move > 0.0 && 0.5 * quantum > MD_DRIFT_ERROR * move ? 0.0 : quantum;
}

/* How far beyond the box coordinates must be exact. A particle may be beyond a face until it is reflected, or until the
 * rebin wraps it. Its ghosts are within reach of it, and at most one box length away, or in a small box within cutoff
 * and skin. Engines with wide cells have ghosts farther away, but these interact with no particle. */
static double beyond_box(const md_model *model, double longest, bool images)
{
  const double most = images ? md_max(longest, 2.0 * model->reach) : 0.25 * longest;
  const int layers =
      md_model_needs_two_cutoffs(model) ? 1 : md_box_most_layers(&model->box, 2.0 * model->reach);
  /* An image across a face of a tilted box is first shifted by up to a side, and then wrapped. Of several layers it is
   * the sum of as many shifts. */
  if (model->box.triclinic) return layers > 1 ? 4.0 * longest * layers : 2.0 * longest;
  return model->reach > 0.0 ? md_min(most, 8.0 * MD_REACH_CUTOFFS * model->reach) : most;
}

/* Refuses a timestep if even plain doubles would not resolve its drifts. The grid may have one bit less than doubles,
 * because it must also cover images. */
static md_status check_drift(const md_model *model, const md_scales *s, double extent)
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
static md_status place_box(md_model *model, const md_scales *s)
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
  if (md_box_sides_change(box)) {
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

md_status md_model_prepare_box(md_model *model, const md_scales *s)
{
  double before;
  model->grids.x = 0.0;
  /* The rounded box may have another grid, where a side is at a power of two or at two cutoffs. The next run begins
   * with that box, and must not choose again. This ends, because a finer grid has all places of a coarser one. */
  do {
    before = model->grids.x;
    MD_TRY(place_box(model, s));
  } while (model->grids.x != before);
  return MD_OK;
}
