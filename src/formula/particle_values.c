/* The values of particles in formulas; see particle_values.h. The names are those of LAMMPS (`variable`, atom style).
 *
 * A name becomes an array with a number for each particle of this rank. While a step is observed, the array comes from
 * its view. Between runs it comes from the particles as they are. Forces are only known while a step is observed.
 *
 * Positions are those in the box. Cost: a pass over the particles for each name. */
#include "src/formula/particle_values.h"
#include "common/compute/measure.h"
#include "common/ranks/reductions.h"
#include "common/sums/each.h"
#include "src/averages/output_fix.h"
#include "src/computes/computes.h"
#include "src/computes/host_compute.h"
#include "src/group/groups.h"
#include "src/properties/property.h"
#include "src/region/region.h"
#include "src/restart/resume.h"

#include <stdlib.h>
#include <string.h>

typedef enum attribute { ID, TYPE, MOLECULE, MASS, PLACE, VELOCITY, FORCE } attribute;

static const struct {
  const char *name;
  attribute what;
  int axis;
} attributes[] = {
    {"id", ID, 0},    {"type", TYPE, 0},   {"mass", MASS, 0},    {"x", PLACE, 0},     {"y", PLACE, 1},
    {"z", PLACE, 2},  {"vx", VELOCITY, 0}, {"vy", VELOCITY, 1},  {"vz", VELOCITY, 2}, {"fx", FORCE, 0},
    {"fy", FORCE, 1}, {"fz", FORCE, 2},    {"mol", MOLECULE, 0},
};
enum { ATTRIBUTES = sizeof attributes / sizeof attributes[0] };

/* While a run is observed the particles have momenta, and otherwise velocities. */
static double velocity(const md_sim *sim, int axis, int64_t i)
{
  if (axis >= sim->particles.dim) return 0.0;
  return sim->view ? md_model_velocity(&sim->model, &sim->particles, axis, i) : sim->particles.v[axis][i];
}

static double force_on(const md_sim *sim, int axis, int64_t i)
{
  const double *force = sim->view && axis < sim->particles.dim ? sim->view->force[axis] : NULL;
  return force ? force[i] : 0.0;
}

static double place(const md_sim *sim, int axis, int64_t i)
{
  const md_particles *p = &sim->particles;
  double x[3];
  if (!sim->model.box.triclinic) return axis < p->dim ? p->x[axis][i] : 0.0;
  md_particle_shown(p, &sim->model.box, i, x);
  return x[axis];
}

static double attribute_of(const md_sim *sim, attribute what, int axis, int64_t i)
{
  const md_particles *p = &sim->particles;
  switch (what) {
  case ID: return (double)p->id[i];
  case TYPE: return p->type[i];
  case MOLECULE: return p->molecule[i];
  case MASS: return md_shown_mass_of(&sim->model, p, i);
  case PLACE: return place(sim, axis, i);
  case VELOCITY: return velocity(sim, axis, i);
  case FORCE: return force_on(sim, axis, i);
  }
  return 0.0;
}

static md_status fill_attribute(md_sim *sim, int a, double *value)
{
  if (attributes[a].what == ID && !md_sim_ids_are_exact(sim))
    return md_error(
        MD_USAGE,
        "id is a number of a formula, where ids above 2^53 are not told apart, and there is the id %lld",
        (long long)sim->max_id);
  if (sim->view) MD_TRY(md_view_particles(sim->view));
  if (attributes[a].what == FORCE && sim->planning.on) {
    for (int64_t i = 0; i < sim->particles.n; ++i) value[i] = 1.0;
    return MD_OK;
  }
  if (attributes[a].what == FORCE) {
    if (!sim->view) return md_error(MD_USAGE, "%s is only known at an output of a run", attributes[a].name);
    MD_TRY(md_view_forces(sim->view));
  }
  for (int64_t i = 0; i < sim->particles.n; ++i)
    value[i] = attribute_of(sim, attributes[a].what, attributes[a].axis, i);
  return MD_OK;
}

/* A compute with a value for each particle; 0 for a particle that is not in its group. */
static md_status fill_compute(md_sim *sim, const md_compute *compute, double *value)
{
  const md_particles *p = &sim->particles;
  if (sim->view) MD_TRY(md_view_particles(sim->view));
  for (int64_t i = 0; i < p->n; ++i) {
    const md_particle one = {.id = (uint64_t)p->id[i], .mass = md_mass_of(&sim->model, p, i)};
    const double v[3] = {velocity(sim, 0, i), velocity(sim, 1, i), velocity(sim, 2, i)};
    value[i] = md_particles_in_group(p, md_group_bit(compute->group), i)
                   ? md_compute_each(compute->kind, &one, v, p->dim)
                   : 0.0;
  }
  return MD_OK;
}

/* A column of a host compute with values for each particle. `myriad check` gets ones. */
static md_status fill_each(md_sim *sim, const char *name, double *value)
{
  int column;
  md_host_compute *compute = md_host_compute_each(sim, name, &column);
  if (!sim->planning.on) MD_TRY(md_host_compute_update(sim, compute));
  for (int64_t i = 0; i < sim->particles.n; ++i)
    value[i] = compute->each ? compute->each[i * compute->columns + column] : 1.0;
  return MD_OK;
}

/* Values that fixes keep for each particle: a property such as d_WEIGHT, or f_ID or f_ID[K]. NULL: the name is of
 * none. */
static const md_id_values *kept_values(const md_sim *sim, const char *name, int *column)
{
  md_property property;
  if (md_property_find(sim, name, &property)) {
    *column = property.column;
    return property.values;
  }
  const md_output_fix *fix = md_output_fix_each(sim, name, column);
  return fix ? fix->each : NULL;
}

/* gmask(GROUP), rmask(REGION), grmask(GROUP,REGION): 1 for the particles that are in both, else 0. */
static md_status fill_mask(md_sim *sim, const char *name, int n, char *const *argument, double *value)
{
  const bool of_group = *name == 'g', of_region = name[0] == 'r' || name[1] == 'r';
  const md_region *region = NULL;
  int group = 0;
  if (n != of_group + of_region)
    return md_error(MD_USAGE, "%s() takes %s, not %d arguments", name,
                    of_group && of_region ? "a group and a region"
                    : of_group            ? "a group"
                                          : "a region",
                    n);
  if (of_group) MD_TRY(md_group_find(sim, argument[0], &group));
  if (of_region) MD_TRY(md_region_find(sim, argument[n - 1], &region));
  if (sim->view) MD_TRY(md_view_particles(sim->view));
  const md_particles *p = &sim->particles;
  for (int64_t i = 0; i < p->n; ++i)
    value[i] = md_particles_in_group(p, md_group_bit(group), i) && (!region || md_region_has(region, p, i));
  return MD_OK;
}

static bool is_mask(const char *name)
{
  return strcmp(name, "gmask") == 0 || strcmp(name, "rmask") == 0 || strcmp(name, "grmask") == 0;
}

/* ATTRIBUTES: the particles have no such one. */
static int attribute_named(const md_sim *sim, const char *name)
{
  int a = 0;
  while (a < ATTRIBUTES && strcmp(attributes[a].name, name) != 0) ++a;
  return a < ATTRIBUTES && attributes[a].what == MOLECULE && !sim->model.bonded ? ATTRIBUTES : a;
}

/* The compute of a name, if it has a value for each particle; else NULL. */
static const md_compute *compute_of_particles(const md_sim *sim, const char *name)
{
  const md_compute *compute;
  int k;
  if (!md_is_compute(name) || md_compute_named(sim, name, &compute, &k) != MD_OK) return NULL;
  return md_compute_style_of(compute->kind)->nvalue == 0 ? compute : NULL;
}

/* Fills the values of a known name. */
static md_status fill(md_sim *sim, const char *name, int n, char *const *argument, double *value)
{
  MD_TRY(md_sim_need_box(sim, name));
  const int a = attribute_named(sim, name);
  int column;
  if (n > 0) return fill_mask(sim, name, n, argument, value);
  if (md_host_compute_each(sim, name, &column)) return fill_each(sim, name, value);
  const md_id_values *kept = kept_values(sim, name, &column);
  if (kept) return md_id_values_get_column(kept, column, value);
  return a < ATTRIBUTES ? fill_attribute(sim, a, value)
                        : fill_compute(sim, compute_of_particles(sim, name), value);
}

static bool is_known(const md_sim *sim, const char *name, int n)
{
  int column;
  if (n > 0) return is_mask(name);
  return attribute_named(sim, name) < ATTRIBUTES || compute_of_particles(sim, name) ||
         md_host_compute_each(sim, name, &column) || kept_values(sim, name, &column);
}

static md_status each(void *context, const char *name, int n, char *const *argument, double **value,
                      bool *known)
{
  md_sim *sim = context;
  double *values;
  *known = is_known(sim, name, n);
  if (!*known) return MD_OK;
  if (sim->follow) return md_error(MD_USAGE, "%s is not known before the deck runs", name);
  if (sim->view) MD_TRY(md_view_particles(sim->view));
  MD_TRY(md_comm_agree(sim->comm,
                       md_array_new(&values, sim->particles.n, sizeof *values, "the values of a formula")));
  const md_status status = fill(sim, name, n, argument, values);
  if (status == MD_OK)
    *value = values;
  else
    free(values);
  return status;
}

/* One particle. */
typedef struct wanted {
  md_sim *sim;
  int64_t id;
  const double *each;
} wanted;

/* The value of the particle with that id, from the rank that has it. No two ranks have it. */
static md_status find_value(void *context, double *value)
{
  const wanted *w = context;
  const md_particles *p = &w->sim->particles;
  int64_t found[2] = {0, 0};
  for (int64_t i = 0; i < p->n; ++i) {
    if (p->id[i] != w->id) continue;
    found[0] = 1;
    memcpy(&found[1], &w->each[i], sizeof *w->each);
  }
  MD_TRY(w->sim->comm->reduce->sum(w->sim->comm, found, 2));
  if (found[0] == 0) return md_error(MD_USAGE, "there is no particle %lld", (long long)w->id);
  memcpy(value, &found[1], sizeof *value);
  return MD_OK;
}

static md_status of_id(void *context, const char *name, int64_t id, double *value, bool *known)
{
  md_sim *sim = context;
  double *values = NULL;
  *known = is_known(sim, name, 0);
  if (!*known) return MD_OK;
  MD_TRY(md_sim_need_present(sim, name));
  MD_TRY(each(sim, name, 0, NULL, &values, known));
  *value = 1.0;
  md_status status = MD_OK;
  if (!sim->planning.on) status = md_resume_measure(sim, find_value, &(wanted){sim, id, values}, value);
  if (status != MD_OK) md_error_prefix("%.64s[%lld]: ", name, (long long)id);
  free(values);
  return status;
}

static int64_t count(void *context)
{
  const md_sim *sim = context;
  return sim->particles.n;
}

static const int64_t *ids(void *context)
{
  const md_sim *sim = context;
  return sim->particles.id;
}

static md_status record(void *context, const char *name, md_each_code *code, bool *known)
{
  const md_sim *sim = context;
  md_each each;
  *known = is_known(sim, name, 0);
  if (!*known) return MD_OK;
  const int a = attribute_named(sim, name);
  if (a < ATTRIBUTES && attributes[a].what == ID && md_sim_ids_are_exact(sim)) {
    *code = (md_each_code){.n = 1, .depth = 1, .step = {{.op = MD_OP_ID}}};
    return MD_OK;
  }
  const bool made = md_particle_values_in_place(sim, name, &each);
  if (made && each.kind == MD_EACH_FORMULA) {
    *code = each.code;
    return MD_OK;
  }
  if (!made || each.kind > MD_EACH_VELOCITY)
    return md_error(MD_USAGE, "engines do not know %.64s of particles", name);
  md_each_step *step = &code->step[0];
  code->n = code->depth = 1;
  step->op = each.kind == MD_EACH_TYPE    ? MD_OP_TYPE
             : each.kind == MD_EACH_MASS  ? MD_OP_MASS
             : each.kind == MD_EACH_PLACE ? MD_OP_PLACE
                                          : MD_OP_VELOCITY;
  step->axis = each.axis;
  step->number = each.divisor;
  return MD_OK;
}

const md_formula_particles md_particle_values = {
    .count = count, .ids = ids, .each = each, .of_id = of_id, .record = record};

bool md_particle_values_has(const md_sim *sim, const char *name)
{
  return is_known(sim, name, 0) ||
         (strncmp(name, "v_", 2) == 0 && md_variables_is_atom(sim->variables, name + 2));
}

/* Engines know ids and comparisons only beside values of neighbours. */
static bool is_complete(const md_each_code *code)
{
  bool alone = false;
  for (int k = 0; k < code->n; ++k)
    alone = alone || code->step[k].op == MD_OP_ID || code->step[k].op == MD_OP_COMPARE;
  return code->environment || !alone;
}

/* The same for a compute of which engines may find the values by neighbours. */
static bool environment_in_place(const md_sim *sim, const char *name, md_each *each)
{
  int column;
  md_host_compute *compute = md_host_compute_each(sim, name, &column);
  const md_environment *environment = md_host_compute_environment(compute, sim);
  if (!environment) return false;
  each->kind = MD_EACH_FORMULA;
  each->code = (md_each_code){.n = 1,
                              .depth = 1,
                              .columns = environment->columns,
                              .step = {{.op = MD_OP_ENVIRONMENT, .axis = column}},
                              .environment = environment};
  return true;
}

bool md_particle_values_in_place(const md_sim *sim, const char *name, md_each *each)
{
  const int a = attribute_named(sim, name);
  const md_compute *compute = a < ATTRIBUTES ? NULL : compute_of_particles(sim, name);
  int column;
  *each = (md_each){.divisor = 1.0, .factor = 1.0};
  if (strncmp(name, "v_", 2) == 0) {
    each->kind = MD_EACH_FORMULA;
    return md_variables_record(sim->variables, name + 2, &each->code) == MD_OK && is_complete(&each->code);
  }
  if (md_host_compute_each(sim, name, &column)) return environment_in_place(sim, name, each);
  if (compute) {
    each->kind = MD_EACH_COMPUTE;
    each->compute = compute->kind;
    each->of_group = md_group_bit(compute->group);
    return true;
  }
  if (a == ATTRIBUTES) return false;
  each->axis = attributes[a].axis;
  switch (attributes[a].what) {
  case TYPE: each->kind = MD_EACH_TYPE; return true;
  case MASS:
    each->kind = MD_EACH_MASS;
    each->divisor = sim->model.units->mvv2e;
    return true;
  case PLACE: each->kind = MD_EACH_PLACE; return !sim->model.box.triclinic;
  case VELOCITY: each->kind = MD_EACH_VELOCITY; return true;
  case ID:
  case MOLECULE:
  case FORCE: break;
  }
  return false;
}
