/* Messages of physics errors; see faults.h. */
#include "common/faults.h"
#include "common/kick_range.h"

#include <stdio.h>

/* What can be done about a force out of range. Where a quantum of impulses is as coarse as the forces between particles
 * allow, or momenta are wide, it is a fixed part of these forces, and a shorter timestep does not change the range. */
static const char *force_advice(const md_model *model, char *text, size_t size)
{
  if (model->wide || model->resolution.impulse > 0.5 * MD_IMPULSE_ERROR)
    snprintf(text, size, "use a weaker force: the range follows the forces between particles here");
  else
    snprintf(text, size, "use a timestep smaller than %g, which widens the range", model->dt);
  return text;
}

static md_status force_of_fix(const md_overlap *o, const md_model *model)
{
  const md_fix *fix = &model->fix[-1 - o->a];
  char advice[128];
  const md_status status = md_error(
      MD_PHYSICS,
      md_fix_style_of(fix->kind)->anchors
          ? "step %lld: particle %lld: fix %s ties it to a place that is 7/16 of a periodic side away or "
            "more, or to no place, because the particle is new; use a larger K, or %s"
      : md_fix_style_of(fix->kind)->external
          ? "step %lld: particle %lld: the force that fix %s gets from the program leaves the exact range, "
            "or is not a number; %s"
          : "step %lld: particle %lld: the force of fix %s leaves the exact range; at a wall or an indenter "
            "this means that the particle is on the surface or behind it: move the particle; or %s",
      (long long)model->step, (long long)o->b, md_fix_style_of(fix->kind)->name,
      force_advice(model, advice, sizeof advice));
  md_error_about(o->a, o->b);
  return status;
}

static md_status broken_bond(const md_overlap *o, const md_model *model)
{
  const md_status status =
      md_error(MD_PHYSICS,
               "step %lld: the bond of particles %lld and %lld is too long (%s, at most %g), or its force "
               "leaves the exact range; use a timestep smaller than %g, start from shorter bonds, or, with "
               "bond_style harmonic, choose a larger comm_modify cutoff",
               (long long)model->step, (long long)o->a, (long long)o->b,
               md_bond_style_of(model->bonds.kind)->name, model->bonds.reach, model->dt);
  md_error_about(o->a, o->b);
  return status;
}

/* Of two particles at distance r whose impulse is out of range. */
static md_status too_near(const md_overlap *o, const md_model *model, double r)
{
  const double range = md_kick_range(model);
  if (range > 0.0 && range < 1.0)
    return md_error(
        MD_PHYSICS,
        "step %lld: particles %lld and %lld at distance %.6g: the timestep %g is too long for "
        "these masses, because the impulse of a usual pair leaves the exact range; use a timestep "
        "below %.2g",
        (long long)model->step, (long long)o->a, (long long)o->b, r, model->dt,
        0.1 * model->dt * sqrt(range));
  return md_error(
      MD_PHYSICS,
      "step %lld: particles %lld and %lld overlap at distance %.6g: their force leaves the exact "
      "range (about %.0g times the force of a usual pair); start from separated particles, or use "
      "a timestep smaller than %g",
      (long long)model->step, (long long)o->a, (long long)o->b, r, range, model->dt);
}

md_status md_overlap_status(const md_overlap *o, const md_model *model)
{
  if (o->a == INT64_MAX) return MD_OK;
  if (o->a < 0) return force_of_fix(o, model);
  if (o->r2 < 0.0) return broken_bond(o, model);
  const double r = sqrt(md_max(o->r2 - md_pair_softening2(&model->pair), 0.0));
  const md_status status =
      md_pair_is_all(&model->pair)
          ? md_error(MD_PHYSICS,
                     "step %lld: particles %lld and %lld overlap at distance %.6g: their force leaves the "
                     "exact range, which ends far above the force of the whole system on a lightest "
                     "particle; use a larger softening length, or masses that are closer to one another",
                     (long long)model->step, (long long)o->a, (long long)o->b, r)
      : r == 0.0 ? md_error(MD_PHYSICS,
                            "step %lld: particles %lld and %lld overlap at distance 0: their force has no "
                            "direction; move one of the two, or remove one by delete_atoms overlap",
                            (long long)model->step, (long long)o->a, (long long)o->b)
                 : too_near(o, model, r);
  md_error_about(o->a, o->b);
  return status;
}

static md_status describe(const md_runaway *f, const md_model *model)
{
  const double speed = fabs(f->v * f->velocity_per_v);
  const char axis = "xyz"[f->axis];
  if (!isfinite(f->x) || !isfinite(f->v))
    return md_error(MD_PHYSICS,
                    "step %lld: particle %lld has no finite position or velocity: %c = %g, v%c = %g; use a "
                    "timestep smaller than %g",
                    (long long)model->step, (long long)f->id, axis, f->x, axis, speed, model->dt);
  if (!(speed * model->dt <= model->move_limit))
    return md_error(MD_PHYSICS,
                    "step %lld: particle %lld is too fast: the speed %.6g along %c would move it by %.3g in "
                    "one step, and the limit is %.3g; use a timestep smaller than %.2g",
                    (long long)model->step, (long long)f->id, speed, axis, speed * model->dt,
                    model->move_limit,
                    model->dt * md_max(1e-6, 0.1 * model->move_limit / (speed * model->dt)));
  if (md_box_face_follows(&model->box, f->axis, f->x > model->box.lo[f->axis]))
    return md_error(MD_OUTGROWN,
                    "step %lld: particle %lld went to %c = %.9g, and the position grid of this run ends at "
                    "%g; divide the run into two: each run chooses its grid by the box at its beginning",
                    (long long)model->step, (long long)f->id, axis, f->x, model->box.room);
  return md_error(
      MD_PHYSICS,
      "step %lld: particle %lld is lost: %c = %.9g is outside the box [%g, %g] with speed %.6g; make the "
      "axis periodic or add fix wall/reflect",
      (long long)model->step, (long long)f->id, axis, f->x, model->box.lo[f->axis], model->box.hi[f->axis],
      speed);
}

md_status md_runaway_status(const md_runaway *f, const md_model *model)
{
  if (f->id == INT64_MAX) return MD_OK;
  const md_status status = describe(f, model);
  md_error_about(f->id, f->id);
  return status;
}
