/* The step: what happens to every particle between two states, and in which order. Every engine computes this.
 *
 *   1  force   impulses of the pairs at the present positions       if kicks_before != 0
 *              with fixes that act on forces, such as a wall: these act on the sums of the pairs, in the order of the
 *              deck (common/force/forces.h)
 *   2  kick    v += kicks_before impulses
 *   3  drift   x += v dt, reflected at walls                        if moves
 *              with fixes that act before the drift, such as a limit of speed: these come first. Such a fix may change
 *              the velocity, shift the particle, or move it in place of the integrator
 *              if a fix changes the box in this step, first every particle goes to its place in the new box, and the
 *              drift is stretched; from here on the box is the new one
 *              with fixes that act in the middle, such as a thermostat: half a drift, these fixes in the order of
 *              the deck, half a drift; each half is reflected
 *   4  force   as 1, at the new positions                           if kicks_after != 0
 *   5  kick    v += kicks_after impulses
 *   6  end     fixes that act after this step, in the order of the deck. Each gets values of exact sums over all
 *              particles, in which the fixes before it have acted, and changes velocities
 *
 *   integrator            kicks_before  kicks_after  moves   an impulse is the force times
 *   nve                   1             1            yes     dt/2 (velocity Verlet)
 *   nve/leapfrog          1             0            yes     dt
 *   nve/leapfrog mirror   0             1            yes     dt (the time reversal of the line above)
 *   none                  0             0            no
 *
 * A step back (model->backwards) has the time and the kicks with the opposite sign, and the kicks before and after the
 * drift change places. So it undoes a step: it takes away the same impulses at the same positions, and drifts by the
 * same displacement, because all roundings are odd. In a box that is sheared at a constant rate it then takes the
 * change of the box back too.
 *
 * Kick 5 and kick 2 of the next step have the same impulses, so that an engine may do both at once. But the steps of an
 * engine end where a fix acts at point 6 (src/fixes/fix_end.h). Every addition is of multiples of a quantum and
 * therefore exact, so that a run with reversed velocities returns to the same bits. `v` is p/m_reference
 * (common/model.h), or the first word of a wide momentum. C and CUDA.
 */
#ifndef MD_COMMON_STEP_STEP_H
#define MD_COMMON_STEP_STEP_H

#include "common/arithmetic/rng.h"
#include "common/particle.h"
#include "common/wall/wall.h"

/* The numbers of one step, for engines. */
typedef struct md_step {
  int kicks_before, kicks_after; /* -1 in a step back */
  bool moves;
  int dim;
  double time;    /* of one drift: dt, or dt/2 with fixes that act in the middle; negative in a step back */
  double round_x; /* md_drift's rounder for positions; 0 if these are plain doubles */
  double quantum; /* of positions; 0 if these are plain doubles */
  double lo[3], hi[3];           /* reflecting walls, or infinite */
  double stay_lo[3], stay_hi[3]; /* bounds after a move: walls, faces that are not periodic, or infinite */
  bool periodic[3];
  /* The change of the box in this step: see md_step_carry. Without one the new faces are those of the box. */
  bool changes_box;
  uint32_t carried[3];
  double box_lo[3], box_hi[3], length[3];
  double scale[3], stretch[3], new_lo[3], new_hi[3], new_length[3];
  /* The same of a triclinic box: tilt factors, offsets, and by how much the change shears the box. */
  bool triclinic;
  uint32_t sheared;
  double tilt[3], offset[3], new_offset[3], shear[3];
  /* a step back in a box that is sheared: see md_step_move_back. tilt and shear are of the step forwards */
  bool back;
  md_flow flow;
  double move_limit;
  double mass_reference;
  uint32_t moving; /* bits of the groups that get kicks and drift; the others stay where they are */
  uint32_t placed; /* bits of the groups that a fix moves in place of the integrator */
  int middles;
  bool halves; /* some of the actions act in two halves */
  md_action middle[MD_MIDDLES_MAX];
  int64_t ramp_done, ramp_span; /* number of steps of the run before this one, and of all */
  uint64_t number;              /* model->step before this step */
  uint64_t draw;                /* md_model_draw before this step, for random numbers */
} md_step;

/* The numbers of a triclinic box, and of its change. Its tilt factors change even if they stay, where sides change. */
static inline void md_step_shear_box(md_step *s, const md_model *model)
{
  const md_box *now = &model->box, next = md_model_shown_box(model);
  const bool undoes = model->move.pending && model->move.undoes;
  s->flow = model->flow;
  s->back = undoes || (model->backwards && model->flow.group != 0);
  s->sheared = s->changes_box ? model->move.sheared | s->carried[0] | s->carried[1] | s->carried[2] : 0;
  for (int k = 0; k < 3; ++k) {
    s->tilt[k] = undoes ? next.tilt[k] : now->tilt[k];
    s->offset[k] = now->offset[k];
    s->new_offset[k] = next.offset[k];
  }
  static const double same_sides[3] = {1.0, 1.0, 1.0};
  if (undoes)
    md_tilt_change(next.tilt, now->tilt, same_sides, now->length, s->shear);
  else
    md_tilt_change(now->tilt, next.tilt, s->scale, next.length, s->shear);
}

/* The numbers of the change of the box. */
static inline void md_step_change_box(md_step *s, const md_model *model)
{
  const md_box_move *move = &model->move;
  s->changes_box = move->pending;
  for (int d = 0; d < 3; ++d) {
    const bool changes = move->pending && s->periodic[d] && d < s->dim;
    s->box_lo[d] = model->box.lo[d];
    s->box_hi[d] = model->box.hi[d];
    s->length[d] = model->box.length[d];
    s->carried[d] = changes ? move->carried[d] : 0;
    s->stretch[d] = changes ? move->stretch[d] : 1.0;
    s->new_lo[d] = changes ? move->lo[d] : s->box_lo[d];
    s->new_hi[d] = changes ? move->hi[d] : s->box_hi[d];
    s->new_length[d] = s->new_hi[d] - s->new_lo[d];
    s->scale[d] = changes ? s->new_length[d] / s->length[d] : 1.0;
  }
  s->triclinic = model->box.triclinic;
  if (s->triclinic) md_step_shear_box(s, model);
}

/* The step that begins at model->step, of a prepared model. */
static inline md_step md_step_of(const md_model *model)
{
  const md_integrator integrator = model->integrator;
  const int sign = model->backwards ? -1 : 1;
  const md_integrator first = model->backwards ? MD_LEAPFROG_MIRROR : MD_LEAPFROG;
  const md_integrator after = model->backwards ? MD_LEAPFROG : MD_LEAPFROG_MIRROR;
  md_step s = {.kicks_before = integrator == MD_NVE || integrator == first ? sign : 0,
               .kicks_after = integrator == MD_NVE || integrator == after ? sign : 0,
               .moves = integrator != MD_STATIC || model->placed != 0,
               .dim = model->box.dim,
               .time = sign * (model->nmiddle > 0 ? 0.5 * model->dt : model->dt),
               .round_x = model->float_drift ? 0.0 : MD_ROUND * model->grids.x,
               .quantum = model->float_drift ? 0.0 : model->grids.x,
               .move_limit = model->move_limit,
               .mass_reference = model->mass_reference,
               .moving = integrator != MD_STATIC ? model->moving : 0,
               .placed = model->placed,
               .middles = model->nmiddle,
               .ramp_done = model->step - model->run_begin,
               .ramp_span = model->run_end - model->run_begin,
               .number = (uint64_t)model->step,
               .draw = md_model_draw(model)};
  for (int a = 0; a < MD_MIDDLES_MAX; ++a) s.middle[a] = model->middle[a];
  for (int a = 0; a < model->nmiddle; ++a) s.halves = s.halves || model->middle[a].halves;
  for (int d = 0; d < 3; ++d) {
    s.lo[d] = model->wall[d][0] ? model->wall_at[d][0] : (double)-INFINITY;
    s.hi[d] = model->wall[d][1] ? model->wall_at[d][1] : (double)INFINITY;
    s.stay_lo[d] = model->box.periodic[d] ? s.lo[d] : md_max(s.lo[d], model->box.lo[d]);
    s.stay_hi[d] = model->box.periodic[d] ? s.hi[d] : md_min(s.hi[d], model->box.hi[d]);
    s.periodic[d] = model->box.periodic[d];
  }
  md_step_change_box(&s, model);
  return s;
}

/* The value of a quantity that goes linearly from start to stop in a run, `done` steps after s. */
MD_FN double md_step_ramp(const md_step *s, double start, double stop, int64_t done)
{
  const int64_t span = s->ramp_span;
  return span > 0 ? start + (stop - start) * ((double)(s->ramp_done + done) / (double)span) : stop;
}

/* A component of a velocity whose part without the bias b is multiplied by a factor. It is on the grid of v_step. */
MD_FN double md_step_scaled(double v, double b, double factor, double v_step)
{
  return md_round_to(b + factor * (v - b), v_step);
}

/* Multiplies the velocity of a particle, without its bias, by a factor. The new v is on the grid of v_step. */
MD_FN void md_step_scale(const md_step *s, const md_bias *bias, double factor, md_particle *p)
{
  for (int d = 0; d < 3 && d < s->dim; ++d)
    p->v[d] =
        md_step_scaled(p->v[d], md_bias_of(bias, d, p->x, p->v[d], p->velocity_per_v), factor, p->v_step);
}

/* The largest component that an action after a step leaves to a velocity. A particle as fast as this is a runaway in
 * the next step. Until then it must not leave the range of sums. */
MD_FN double md_step_most(const md_step *s, double velocity_per_v)
{
  return 1.25 * s->move_limit / (fabs(s->time) * velocity_per_v);
}

/* A component of a velocity that is at most `most`. */
MD_FN double md_step_limited(double v, double most, double v_step)
{
  return fabs(v) <= most ? v : md_round_to(copysign(most, v), v_step);
}

#define MD_FIX_FORMULAS
#include "common/fix/fix_styles.h"
#undef MD_FIX_FORMULAS

/* The actions of all fixes on one particle before its drift and after the kick, `done` steps after s. by: receives
 * the sum of their shifts, whole quanta. Returns whether the particle then drifts with its velocity. */
MD_FN bool md_step_before_drift(const md_step *s, int64_t done, md_particle *p, double by[3])
{
  bool drifts = (p->group & s->moving) != 0;
  for (int a = 0; a < s->middles; ++a) {
#define MD_FIX_DRIFT(symbol)                                                                                 \
  if (s->middle[a].kind == MD_FIX_##symbol && (p->group & s->middle[a].group))                               \
    drifts = md_##symbol##_drift(&s->middle[a], s, done, p, by) && drifts;
#include "common/fix/fix_styles.h"
#undef MD_FIX_DRIFT
  }
  return drifts;
}

/* The actions of all fixes on one particle in the middle of its drift, `done` steps after s. First halves come before
 * the whole actions, and second halves after them, in reverse order. So the step stays the same if time is reversed,
 * and its error is of second order (Strang, SIAM J. Numer. Anal. 5 (1968) 506). After them v is a multiple of v_step,
 * and the second word of a wide momentum is 0. */
MD_FN void md_step_act(const md_step *s, int64_t done, md_particle *p)
{
  const int n = s->middles, last = s->halves ? 3 * n - 1 : n - 1;
  for (int k = 0; k <= last; ++k) {
    const int a = k < n ? k : k < 2 * n ? k - n : last - k;
    if (s->halves && s->middle[a].halves != (k < n || k >= 2 * n)) continue;
#define MD_FIX_MIDDLE(symbol)                                                                                \
  if (s->middle[a].kind == MD_FIX_##symbol && (p->group & s->middle[a].group))                               \
    md_##symbol##_middle(&s->middle[a], s, done, k >= 2 * n, p);
#include "common/fix/fix_styles.h"
#undef MD_FIX_MIDDLE
  }
}

/* Point 6 of the step for one fix and one particle, after the last step that was done. s: of the step that begins
 * now. After the action v is a multiple of v_step, and the second word of a wide momentum is 0. */
MD_FN void md_step_end(const md_action *a, const md_step *s, md_particle *p)
{
  if (!(p->group & a->group)) return;
#define MD_FIX_END(symbol)                                                                                   \
  if (a->kind == MD_FIX_##symbol) md_##symbol##_end(a, s, p);
#include "common/fix/fix_styles.h"
#undef MD_FIX_END
  const double most = md_step_most(s, p->velocity_per_v);
  for (int d = 0; d < 3 && d < s->dim; ++d) {
    p->v[d] = md_step_limited(p->v[d], most, p->v_step);
    p->low[d] = 0;
  }
}

/* Where the change of a side from lo to new_lo takes the coordinate `in` of the box, if it is carried. */
MD_FN double md_step_carried(double in, double lo, double scale, double new_lo, double quantum)
{
  return md_round_to(fma(in - lo, scale, new_lo), quantum);
}

/* Where the change of the box takes the coordinate x of a particle of these groups, on any image. Images stay whole new
 * box lengths apart, so that the result is the same on each of them. */
MD_FN double md_step_carry(const md_step *s, int d, uint32_t group, double x)
{
  if (!s->changes_box || !s->periodic[d]) return x;
  const double in = md_wrap(x, s->box_lo[d], s->box_hi[d], s->length[d]);
  const double to =
      group & s->carried[d] ? md_step_carried(in, s->box_lo[d], s->scale[d], s->new_lo[d], s->quantum) : in;
  if (in == x) return to + 0.0; /* never a negative zero, as below */
  const double images = rint((x - in) / s->length[d]);
  return fma(images, s->new_length[d], to);
}

/* By how many edges of the box the image of the point x in the brick is away from it; x becomes this image. */
MD_FN void md_step_brick(const md_step *s, const double *lo, const double *hi, const double *length,
                         const double *offset, double x[3], int n[3])
{
  for (int d = 2; d >= 0; --d)
    n[d] = d < s->dim && s->periodic[d] ? md_lattice_wrap_along(lo, hi, length, offset, d, x) : 0;
}

/* md_step_carry for a triclinic box. The image in the brick goes to its place in the new box, and other images stay
 * whole new edges apart. Particles that are carried keep the fractions of the edges at which they are. */
MD_FN void md_step_carry_tilted(const md_step *s, uint32_t group, double x[3])
{
  int n[3];
  double to[3] = {0.0, 0.0, 0.0};
  md_step_brick(s, s->box_lo, s->box_hi, s->length, s->offset, x, n);
  const double c = s->dim == 3 ? (x[2] - s->box_lo[2]) / s->length[2] : 0.0;
  const double b = (x[1] - s->box_lo[1] - s->tilt[MD_YZ] * c) / s->length[1];
  for (int d = 0; d < 3 && d < s->dim; ++d)
    to[d] = group & s->carried[d]
                ? md_round_to(fma(x[d] - s->box_lo[d], s->scale[d], s->new_lo[d]), s->quantum)
                : x[d];
  if (group & s->sheared) {
    to[0] += md_round_to(fma(s->shear[MD_XY], b, s->shear[MD_XZ] * c), s->quantum);
    to[1] += md_round_to(s->shear[MD_YZ] * c, s->quantum);
  }
  for (int d = 0; d < 3 && d < s->dim; ++d)
    md_lattice_shift(s->new_length, s->new_offset, d, (double)-n[d], to);
  for (int d = 0; d < 3 && d < s->dim; ++d) x[d] = to[d];
}

/* Undoes md_step_carry_tilted where tilt factors alone have changed: the point x, on any image, goes back to the box
 * before. The shift along x follows from y and z before it, and that along y from z; so z, y and x are found in this
 * order, each within the faces, as they were then. Exact. */
MD_FN void md_step_uncarry(const md_step *s, uint32_t group, double x[3])
{
  const bool sheared = (group & s->sheared) != 0;
  int n[3] = {0, 0, 0};
  double b = 0.0, c = 0.0;
  for (int d = 2; d >= 0; --d) {
    if (d >= s->dim) continue;
    if (sheared && d == 0) x[0] -= md_round_to(fma(s->shear[MD_XY], b, s->shear[MD_XZ] * c), s->quantum);
    if (sheared && d == 1) x[1] -= md_round_to(s->shear[MD_YZ] * c, s->quantum);
    if (s->periodic[d]) n[d] = md_lattice_wrap_along(s->box_lo, s->box_hi, s->length, s->offset, d, x);
    if (d == 2) c = (x[2] - s->box_lo[2]) / s->length[2];
    if (d == 1) b = (x[1] - s->box_lo[1] - s->tilt[MD_YZ] * c) / s->length[1];
  }
  for (int d = 0; d < 3 && d < s->dim; ++d)
    md_lattice_shift(s->new_length, s->new_offset, d, (double)-n[d], x);
}

/* Where the change of the box takes the point x[0..dim). */
MD_FN void md_step_carry_point(const md_step *s, uint32_t group, double x[3])
{
  if (s->triclinic && s->changes_box)
    md_step_carry_tilted(s, group, x);
  else
    for (int d = 0; d < 3 && d < s->dim; ++d) x[d] = md_step_carry(s, d, group, x[d]);
}

/* A particle went from a to b in the new box: changes its velocity v by that of the faces that it went through, if
 * there is a flow. v has the unit 1/velocity_per_v, and is a multiple of v_step. */
MD_FN void md_step_cross(const md_step *s, uint32_t group, const double a[3], const double b[3],
                         double velocity_per_v, double v_step, double v[3])
{
  int n[3], m[3];
  double from[3] = {a[0], a[1], s->dim == 3 ? a[2] : 0.0}, to[3] = {b[0], b[1], s->dim == 3 ? b[2] : 0.0};
  if (!s->triclinic || !(group & s->flow.group)) return;
  md_step_brick(s, s->new_lo, s->new_hi, s->new_length, s->new_offset, from, n);
  md_step_brick(s, s->new_lo, s->new_hi, s->new_length, s->new_offset, to, m);
  const int through_y = m[1] - n[1], through_z = m[2] - n[2];
  v[0] += through_y * md_round_to(s->flow.rate[MD_XY] / velocity_per_v, v_step);
  v[0] += through_z * md_round_to(s->flow.rate[MD_XZ] / velocity_per_v, v_step);
  v[1] += through_z * md_round_to(s->flow.rate[MD_YZ] / velocity_per_v, v_step);
}

/* Undoes md_step_cross, before the drift to x is undone. The faces of z change no velocity along z, and those of y none
 * along y: so the places from where the particle came along z and y are known in this order, and with them the faces.
 * time_scale: of the drift back. */
MD_FN void md_step_uncross(const md_step *s, uint32_t group, const double x[3], double time_scale,
                           double velocity_per_v, double v_step, double v[3])
{
  int n[3], m[3];
  double to[3] = {x[0], x[1], s->dim == 3 ? x[2] : 0.0}, z = to[2], y;
  if (!s->triclinic || !(group & s->flow.group)) return;
  for (int d = 0; d < 3 && d < s->dim; ++d)
    if (!(fabs(v[d] * time_scale) <= 2.0 * s->move_limit)) return;
  md_step_brick(s, s->box_lo, s->box_hi, s->length, s->offset, to, m);
  if (s->dim == 3) {
    z = x[2] + md_drift(v[2], time_scale, s->round_x);
    double from[3] = {x[0], x[1], z};
    md_step_brick(s, s->box_lo, s->box_hi, s->length, s->offset, from, n);
    v[0] -= (m[2] - n[2]) * md_round_to(s->flow.rate[MD_XZ] / velocity_per_v, v_step);
    v[1] -= (m[2] - n[2]) * md_round_to(s->flow.rate[MD_YZ] / velocity_per_v, v_step);
  }
  y = x[1] + md_drift(v[1], time_scale, s->round_x);
  double from[3] = {x[0], y, z};
  md_step_brick(s, s->box_lo, s->box_hi, s->length, s->offset, from, n);
  v[0] -= (m[1] - n[1]) * md_round_to(s->flow.rate[MD_XY] / velocity_per_v, v_step);
}

/* One drift along one axis, with its reflection. Returns the displacement. If this is beyond move_limit or a NaN, there
 * is no reflection, because that might never end. */
MD_FN double md_step_drift_once(const md_step *s, int d, double time_scale, double *x, double *v)
{
  const double moved = md_drift(*v, time_scale, s->round_x);
  *x += moved;
  if (!(fabs(moved) <= s->move_limit)) return moved;
  if (*x < s->lo[d] || *x > s->hi[d]) md_reflect(x, v, s->lo[d], s->hi[d], s->quantum);
  return moved;
}

/* Shifts a coordinate by whole quanta. Returns whether it may drift after that. */
MD_FN bool md_step_shift(const md_step *s, double by, double *x, double *moved)
{
  *x += by;
  *moved = fabs(by);
  return *moved <= s->move_limit;
}

/* Point 3 of a step back in a box that is sheared: faces, drift and change of the box are undone in the opposite
 * order. No fix acts before or in the middle of such a drift. */
MD_FN void md_step_move_back(const md_step *s, md_particle *p, double moved[3])
{
  const double time_scale = s->time * p->velocity_per_v, before[3] = {p->v[0], p->v[1], p->v[2]};
  for (int d = 0; d < 3 && d < s->dim; ++d) moved[d] = 0.0;
  if (p->group & s->moving) {
    md_step_uncross(s, p->group, p->x, time_scale, p->velocity_per_v, p->v_step, p->v);
    for (int d = 0; d < 3 && d < s->dim; ++d) {
      moved[d] = md_step_drift_once(s, d, time_scale, &p->x[d], &p->v[d]);
      if (p->wide) p->low[d] = md_momentum_turned(before[d], p->v[d], p->low[d]);
    }
  }
  bool sane = true;
  for (int d = 0; d < 3 && d < s->dim; ++d) sane = sane && fabs(moved[d]) <= s->move_limit;
  if (sane && s->changes_box) md_step_uncarry(s, p->group, p->x);
}

/* Point 3 of the step for one particle. moved: receives for each axis the larger displacement of the step's drifts,
 * with the shift by fixes in the first. After a displacement beyond move_limit there is no second drift along this
 * axis. */
MD_FN void md_step_move(const md_step *s, md_particle *p, double moved[3])
{
  for (int d = 0; d < 3 && d < s->dim; ++d) moved[d] = 0.0;
  if (s->back) {
    md_step_move_back(s, p, moved);
    return;
  }
  md_step_carry_point(s, p->group, p->x);
  if (!(p->group & (s->moving | s->placed))) return;
  const double from[3] = {p->x[0], p->x[1], p->x[2]};
  double before[3], middle[3], by[3] = {0.0, 0.0, 0.0};
  const bool drifts = s->middles == 0 || md_step_before_drift(s, 0, p, by);
  const double time_scale = drifts ? s->time * p->velocity_per_v : 0.0;
  for (int d = 0; d < 3 && d < s->dim; ++d) {
    before[d] = p->v[d];
    if (md_step_shift(s, by[d], &p->x[d], &moved[d])) {
      const double shift = moved[d];
      moved[d] = md_step_drift_once(s, d, s->stretch[d] * time_scale, &p->x[d], &p->v[d]);
      if (shift > 0.0) moved[d] = fabs(moved[d]) + shift;
    }
    middle[d] = p->v[d];
  }
  if (s->middles > 0) {
    md_step_act(s, 0, p);
    for (int d = 0; d < 3 && d < s->dim; ++d) {
      if (!(fabs(moved[d]) <= s->move_limit)) {
        p->v[d] = middle[d];
        continue;
      }
      const double more = md_step_drift_once(s, d, s->stretch[d] * time_scale, &p->x[d], &p->v[d]);
      if (fabs(more) > fabs(moved[d]) || !(fabs(more) <= s->move_limit)) moved[d] = more;
    }
  }
  bool sane = true;
  for (int d = 0; d < 3 && d < s->dim; ++d) sane = sane && fabs(moved[d]) <= s->move_limit;
  if (sane) md_step_cross(s, p->group, from, p->x, p->velocity_per_v, p->v_step, p->v);
  if (p->wide)
    for (int d = 0; d < 3 && d < s->dim; ++d)
      p->low[d] = s->middles > 0 ? 0 : md_momentum_turned(before[d], p->v[d], p->low[d]);
}

/* May a particle be at x along axis d after a drift by `moved`? If not, the particle is a runaway. */
MD_FN bool md_step_allows(const md_step *s, int d, double moved, double x)
{
  return fabs(moved) <= s->move_limit && x >= s->stay_lo[d] && x <= s->stay_hi[d];
}

/* Does owned particle i of the host's arrays get kicks and drift? moving: of the model. */
static inline bool md_step_moves(uint32_t moving, const md_particles *p, int64_t i)
{
  return ((p->group ? p->group[i] : MD_GROUP_ALL) & moving) != 0;
}

/* Points 2 and 5 of the step for one coordinate: adds `impulse` quanta, a whole number; md_step_kick_count takes it
 * as an integer, which may be beyond 2^53 if momenta are wide. low: the second word of a wide momentum, or NULL.
 * v_step: used with low only. */
MD_FN void md_step_kick(double impulse, double quantum, double v_step, double *v, int64_t *low)
{
  if (low)
    md_kick_wide(v, low, impulse, quantum, v_step);
  else
    *v = md_kick(*v, impulse, quantum);
}

MD_FN void md_step_kick_count(int64_t impulse, double quantum, double v_step, double *v, int64_t *low)
{
  if (low)
    md_kick_wide_count(v, low, impulse, quantum, v_step);
  else
    *v = md_kick(*v, (double)impulse, quantum);
}

#endif
