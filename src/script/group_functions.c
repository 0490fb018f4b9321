/* Functions of groups in formulas; see group_functions.h.
 *
 * The definitions are those of LAMMPS (`variable`, group functions), of all particles of a group, or of those that are
 * in a region too. Sums are exact (src/sums/exact_sum.h). What needs a centre of mass needs unwrapped positions along
 * periodic axes (src/follow/images.h). Forces, with those of fixes, are only known while a run shows a step.
 *
 * A value outside a run depends on the present particles. These are not there while a deck that is resumed is followed
 * up to its restart, so such values are recorded in the history (src/deck/history.h), and then read from the restart.
 */
#include "src/script/group_functions.h"
#include "common/ranks/reductions.h"
#include "common/rotation.h"
#include "src/edit/group_motion.h"
#include "src/follow/images.h"
#include "src/group/groups.h"
#include "src/region/region.h"
#include "src/restart/resume.h"
#include "src/sums/exact_sum.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum quantity {
  COUNT,
  MASS,
  CENTRE,
  MOMENTUM,
  KINETIC,
  SPREAD,
  ANGULAR,
  FORCE,
  TORQUE,
  INERTIA
} quantity;

/* What is measured. */
typedef struct asked {
  md_sim *sim;
  const char *name;        /* of the function */
  uint32_t bit;            /* of the group */
  const md_region *region; /* NULL: none */
  quantity what;
  int axis, other;        /* other: the second axis of an element of the tensor of inertia */
  bool low;               /* of a bound: the least value */
  const double *place[3]; /* of what needs a centre: positions, unwrapped */
  double centre[3];
} asked;

static bool is_in(const asked *a, int64_t i)
{
  const md_particles *p = &a->sim->particles;
  return md_particles_in_group(p, a->bit, i) && (!a->region || md_region_has(a->region, p, i));
}

/* Outside a run the particles have velocities, and within one momenta. */
static double velocity(const asked *a, int d, int64_t i)
{
  const md_sim *sim = a->sim;
  if (d >= sim->particles.dim) return 0.0;
  return sim->view ? md_model_velocity(&sim->model, &sim->particles, d, i) : sim->particles.v[d][i];
}

static double from_centre(const asked *a, int d, int64_t i)
{
  return d < a->sim->particles.dim ? a->place[d][i] - a->centre[d] : 0.0;
}

static double force(const asked *a, int d, int64_t i)
{
  return d < a->sim->particles.dim ? a->sim->view->force[d][i] : 0.0;
}

static double square(double x) { return x * x; }

static double value_of(const asked *a, int64_t i)
{
  const md_sim *sim = a->sim;
  const double mass = md_mass_of(&sim->model, &sim->particles, i);
  const int u = (a->axis + 1) % 3, w = (a->axis + 2) % 3;
  switch (a->what) {
  case COUNT: return 1.0;
  case MASS: return mass;
  case CENTRE: return mass * a->place[a->axis][i];
  case MOMENTUM: return mass * velocity(a, a->axis, i);
  case KINETIC:
    return 0.5 * mass * (square(velocity(a, 0, i)) + square(velocity(a, 1, i)) + square(velocity(a, 2, i)));
  case SPREAD:
    return mass *
           (square(from_centre(a, 0, i)) + square(from_centre(a, 1, i)) + square(from_centre(a, 2, i)));
  case ANGULAR:
    return mass * (from_centre(a, u, i) * velocity(a, w, i) - from_centre(a, w, i) * velocity(a, u, i));
  case FORCE: return force(a, a->axis, i);
  case TORQUE: return from_centre(a, u, i) * force(a, w, i) - from_centre(a, w, i) * force(a, u, i);
  case INERTIA:
    return a->axis == a->other ? mass * (square(from_centre(a, u, i)) + square(from_centre(a, w, i)))
                               : -mass * from_centre(a, a->axis, i) * from_centre(a, a->other, i);
  }
  return 0.0;
}

static void term_of(const void *context, const md_particles *p, int64_t i, double *term)
{
  (void)p;
  *term = is_in(context, i) ? value_of(context, i) : 0.0;
}

static md_status sum_of(asked *a, quantity what, double *sum)
{
  a->what = what;
  return md_exact_sums(a->sim->comm, &a->sim->particles, 1, term_of, a, a->name, sum);
}

/* A sum over the mass of the group; 0 for an empty group, as in LAMMPS. */
static md_status mean_of(asked *a, quantity what, double *mean)
{
  double mass, sum;
  MD_TRY(sum_of(a, MASS, &mass));
  MD_TRY(sum_of(a, what, &sum));
  *mean = mass > 0.0 ? sum / mass : 0.0;
  return MD_OK;
}

static md_status centre_along(asked *a, int axis, double *value)
{
  *value = 0.0;
  if (axis >= a->sim->model.box.dim) return MD_OK;
  a->axis = axis;
  return mean_of(a, CENTRE, value);
}

static md_status find_centre(asked *a)
{
  const int axis = a->axis;
  for (int d = 0; d < 3; ++d) MD_TRY(centre_along(a, d, &a->centre[d]));
  a->axis = axis;
  return MD_OK;
}

/* ---- the functions ---- */

static md_status get_count(asked *a, double *value) { return sum_of(a, COUNT, value); }
static md_status get_mass(asked *a, double *value)
{
  MD_TRY(sum_of(a, MASS, value));
  *value /= a->sim->model.units->mvv2e;
  return MD_OK;
}
static md_status get_xcm(asked *a, double *value) { return centre_along(a, a->axis, value); }
static md_status get_vcm(asked *a, double *value) { return mean_of(a, MOMENTUM, value); }
static md_status get_ke(asked *a, double *value) { return sum_of(a, KINETIC, value); }

static md_status get_angmom(asked *a, double *value)
{
  MD_TRY(find_centre(a));
  MD_TRY(sum_of(a, ANGULAR, value));
  *value /= a->sim->model.units->mvv2e;
  return MD_OK;
}

static md_status get_gyration(asked *a, double *value)
{
  MD_TRY(find_centre(a));
  MD_TRY(mean_of(a, SPREAD, value));
  *value = sqrt(*value);
  return MD_OK;
}

static md_status get_fcm(asked *a, double *value) { return sum_of(a, FORCE, value); }

static md_status get_torque(asked *a, double *value)
{
  MD_TRY(find_centre(a));
  return sum_of(a, TORQUE, value);
}

static md_status get_inertia(asked *a, double *value)
{
  MD_TRY(find_centre(a));
  MD_TRY(sum_of(a, INERTIA, value));
  *value /= a->sim->model.units->mvv2e;
  return MD_OK;
}

/* The angular velocity is that of a stiff body with the angular momentum and the inertia of the group. */
static md_status get_omega(asked *a, double *value)
{
  static const int element[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  const int axis = a->axis;
  double inertia[6], angular[3], omega[3];
  MD_TRY(find_centre(a));
  for (int k = 0; k < 6; ++k) {
    a->axis = element[k][0];
    a->other = element[k][1];
    MD_TRY(sum_of(a, INERTIA, &inertia[k]));
  }
  for (a->axis = 0; a->axis < 3; ++a->axis) MD_TRY(sum_of(a, ANGULAR, &angular[a->axis]));
  a->axis = axis;
  md_rotation_of(inertia, angular, omega);
  *value = omega[axis];
  return MD_OK;
}

static md_status get_bound(asked *a, double *value)
{
  const md_particles *p = &a->sim->particles;
  const double sign = a->low ? -1.0 : 1.0;
  double most = -(double)INFINITY;
  for (int64_t i = 0; i < p->n; ++i) {
    double x[3];
    if (!is_in(a, i)) continue;
    md_particle_shown(p, &a->sim->model.box, i, x);
    most = md_max(most, sign * x[a->axis]);
  }
  MD_TRY(a->sim->comm->reduce->max(a->sim->comm, &most, 1));
  *value = sign * most;
  return isfinite(most) ? MD_OK : md_error(MD_USAGE, "bound(): there is no particle in the group");
}

typedef enum place { NOTHING, AXIS, AXES, FACE } place; /* what stands after the group */

/* The centre of mass that a function needs: none, along the axis after the group, or along all axes. */
typedef enum centre { NO_CENTRE, CENTRE_ALONG, CENTRE_WHOLE } centre;

typedef struct group_function {
  const char *name;
  place after;
  bool needs_mass, needs_forces;
  centre centre;
  md_status (*get)(asked *a, double *value); /* NULL: refused */
} group_function;

static const group_function functions[] = {
    {"count", NOTHING, false, false, NO_CENTRE, get_count},
    {"mass", NOTHING, true, false, NO_CENTRE, get_mass},
    {"xcm", AXIS, true, false, CENTRE_ALONG, get_xcm},
    {"vcm", AXIS, true, false, NO_CENTRE, get_vcm},
    {"fcm", AXIS, false, true, NO_CENTRE, get_fcm},
    {"bound", FACE, false, false, NO_CENTRE, get_bound},
    {"gyration", NOTHING, true, false, CENTRE_WHOLE, get_gyration},
    {"ke", NOTHING, true, false, NO_CENTRE, get_ke},
    {"angmom", AXIS, true, false, CENTRE_WHOLE, get_angmom},
    {"torque", AXIS, true, true, CENTRE_WHOLE, get_torque},
    {"inertia", AXES, true, false, CENTRE_WHOLE, get_inertia},
    {"omega", AXIS, true, false, CENTRE_WHOLE, get_omega},
    {"charge", NOTHING, false, false, NO_CENTRE, NULL},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

/* Reads an axis, two axes or a face. */
static md_status read_place(const group_function *f, const char *word, asked *a)
{
  static const char *const accepted[] = {[AXIS] = "x, y and z",
                                         [AXES] = "xx, yy, zz, xy, yz and xz",
                                         [FACE] = "xmin, xmax, ymin, ymax, zmin and zmax"};
  const char *axis = *word ? strchr("xyz", *word) : NULL;
  const char *rest = axis ? word + 1 : word;
  const char *other = *rest ? strchr("xyz", *rest) : NULL;
  a->low = strcmp(rest, "min") == 0;
  const bool good = f->after == AXIS   ? *rest == '\0'
                    : f->after == AXES ? other && rest[1] == '\0'
                                       : a->low || strcmp(rest, "max") == 0;
  if (!axis || !good)
    return md_error(MD_USAGE, "%s(): '%.32s' is unknown; accepted are %s", f->name, word, accepted[f->after]);
  a->axis = (int)(axis - "xyz");
  if (f->after == AXES) a->other = (int)(other - "xyz");
  return MD_OK;
}

/* Does the function need unwrapped positions? In a tilted box a flag of one axis shifts others. */
static bool needs_images(const group_function *f, const asked *a)
{
  const md_box *box = &a->sim->model.box;
  if (f->centre == NO_CENTRE || !md_images_can_be(box)) return false;
  return f->centre == CENTRE_WHOLE || box->periodic[a->axis] || (box->triclinic && a->axis < box->dim);
}

/* MD_USAGE: the function needs image flags, which were not counted. */
static md_status need_images(const group_function *f, const asked *a)
{
  char what[32];
  snprintf(what, sizeof what, "%s()", f->name);
  return needs_images(f, a) ? md_images_need(a->sim, what) : MD_OK;
}

static md_status read_arguments(const group_function *f, int n, char *const *argument, asked *a)
{
  int group;
  const int least = f->after == NOTHING ? 1 : 2;
  if (n < least || n > least + 1)
    return md_error(MD_USAGE, "%s() takes a group%s, and perhaps a region, not %d arguments", f->name,
                    f->after == AXIS   ? ", an axis"
                    : f->after == AXES ? ", two axes"
                    : f->after == FACE ? ", a face"
                                       : "",
                    n);
  MD_TRY(md_sim_need_box(a->sim, f->name));
  MD_TRY(md_group_find(a->sim, argument[0], &group));
  a->bit = md_group_bit(group);
  if (least == 2) MD_TRY(read_place(f, argument[1], a));
  if (n > least) MD_TRY(md_region_find(a->sim, argument[n - 1], &a->region));
  for (int t = 1; f->needs_mass && !a->sim->model.massed && t <= a->sim->model.ntypes; ++t)
    if (!(a->sim->model.mass[t] > 0.0))
      return md_error(MD_USAGE, "%s() needs the mass of type %d; give `mass %d VALUE` first", f->name, t, t);
  return need_images(f, a);
}

/* Calls a function that needs a centre, with the positions of the particles. */
static md_status get_from_centre(const group_function *f, asked *a, double *value)
{
  double *made[3] = {NULL, NULL, NULL};
  const bool unwrapped = needs_images(f, a);
  md_status status = unwrapped ? md_images_unwrap(a->sim, made) : MD_OK;
  for (int d = 0; d < 3; ++d) a->place[d] = unwrapped ? made[d] : a->sim->particles.x[d];
  if (status == MD_OK) status = f->get(a, value);
  for (int d = 0; d < 3; ++d) free(made[d]);
  return status;
}

/* A function, with what it is asked for. */
typedef struct call {
  const group_function *function;
  asked *asked;
} call;

static md_status measure(void *context, double *value)
{
  const call *c = context;
  md_view *view = c->asked->sim->view;
  if (view) MD_TRY(md_view_particles(view));
  char what[32];
  snprintf(what, sizeof what, "%s()", c->function->name);
  if (c->function->needs_forces) MD_TRY(md_sim_need_forces(c->asked->sim, what));
  return c->function->centre == NO_CENTRE ? c->function->get(c->asked, value)
                                          : get_from_centre(c->function, c->asked, value);
}

md_status md_group_function(md_sim *sim, const char *name, int n, char *const *argument, double *value,
                            bool *known)
{
  int k = 0;
  while (k < FUNCTIONS && strcmp(functions[k].name, name) != 0) ++k;
  *known = k < FUNCTIONS;
  if (!*known) return MD_OK;
  const group_function *f = &functions[k];
  asked a = {.sim = sim, .name = f->name};
  if (!f->get)
    return md_error(MD_USAGE,
                    "the function %s() does not exist here; those of groups are count, mass, xcm, vcm, fcm, "
                    "bound, gyration, ke, angmom, torque, inertia and omega",
                    name);
  MD_TRY(read_arguments(f, n, argument, &a));
  *value = 1.0;
  return sim->planning.on ? MD_OK : md_resume_measure(sim, measure, &(call){f, &a}, value);
}

bool md_group_functions_unwrap(const char *text)
{
  for (int k = 0; k < FUNCTIONS; ++k) {
    if (functions[k].centre == NO_CENTRE) continue;
    for (const char *at = strstr(text, functions[k].name); at; at = strstr(at + 1, functions[k].name))
      if (at[strlen(functions[k].name) + strspn(at + strlen(functions[k].name), " ")] == '(') return true;
  }
  return false;
}
