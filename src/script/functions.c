/* Functions of formulas that look at the simulation; see functions.h. The definitions are those of LAMMPS (`variable`).
 *
 * ramp, vdisplace, swiggle and cwiggle follow the present run, whose steps are those of `run start stop`. stagger,
 * logfreq, logfreq2 and stride give the next step of a sequence.
 */
#include "src/script/functions.h"
#include "common/base/name_list.h"
#include "common/compute/compute.h"
#include "common/fix/fix.h"
#include "src/averages/output_fix.h"
#include "src/computes/host_compute.h"
#include "src/create/lattice.h"
#include "src/region/region.h"
#include "src/script/group_functions.h"

#include <math.h>
#include <string.h>

enum { ARGUMENTS_MAX = 3 };

/* What LAMMPS gives for a step that never comes. */
static const double NEVER = 0x1p63;

static const double PI = 3.14159265358979323846;

/* ---- functions of the step ---- */

typedef struct moment {
  double step, begin, end, dt; /* the present step, the first and last one of the run; the timestep */
} moment;

static double get_ramp(const moment *m, const double *a)
{
  const double part = m->end > m->begin ? (m->step - m->begin) / (m->end - m->begin) : 0.0;
  return a[0] + part * (a[1] - a[0]);
}

static double get_vdisplace(const moment *m, const double *a)
{
  return a[0] + a[1] * (m->step - m->begin) * m->dt;
}

static double get_swiggle(const moment *m, const double *a)
{
  return a[0] + a[1] * sin(2.0 * PI / a[2] * (m->step - m->begin) * m->dt);
}

static double get_cwiggle(const moment *m, const double *a)
{
  return a[0] + a[1] * (1.0 - cos(2.0 * PI / a[2] * (m->step - m->begin) * m->dt));
}

static double get_stagger(const moment *m, const double *a)
{
  const double lower = floor(m->step / a[0]) * a[0];
  return m->step - lower < a[1] ? lower + a[1] : lower + a[0];
}

static double get_logfreq(const moment *m, const double *a)
{
  if (m->step < a[0]) return a[0];
  double lower = a[0];
  while (m->step >= a[2] * lower) lower *= a[2];
  const double multiple = floor(m->step / lower);
  return multiple < a[1] ? (multiple + 1.0) * lower : lower * a[2];
}

static double get_logfreq2(const moment *m, const double *a)
{
  double value = a[0], delta = a[0] * (a[2] - 1.0) / a[1];
  for (int64_t count = 1; m->step >= value; ++count) {
    value += delta;
    if (count % (int64_t)a[1] == 0) delta *= a[2];
  }
  return ceil(value);
}

static double get_stride(const moment *m, const double *a)
{
  if (m->step < a[0]) return a[0];
  if (m->step >= a[1]) return NEVER;
  const double next = a[0] + (floor((m->step - a[0]) / a[2]) + 1.0) * a[2];
  return next > a[1] ? NEVER : next;
}

static bool is_step(double x) { return x >= 1.0 && x <= 0x1p53 && x == floor(x); }

static bool fits_any(const double *a)
{
  (void)a;
  return true;
}
static bool fits_period(const double *a) { return a[2] != 0.0; }
static bool fits_stagger(const double *a) { return is_step(a[0]) && is_step(a[1]) && a[0] > a[1]; }
static bool fits_logfreq(const double *a)
{
  return is_step(a[0]) && is_step(a[1]) && is_step(a[2]) && a[1] < a[2];
}
static bool fits_logfreq2(const double *a)
{
  return is_step(a[0]) && is_step(a[1]) && is_step(a[2]) && a[2] > 1.0 && a[1] <= 1e6;
}
static bool fits_stride(const double *a)
{
  return (a[0] == 0.0 || is_step(a[0])) && is_step(a[1]) && is_step(a[2]) && a[1] > a[0];
}

static const struct {
  const char *name;
  int arguments;
  bool in_run; /* the value belongs to a run */
  double (*get)(const moment *m, const double *a);
  bool (*fits)(const double *a);
  const char *needs; /* in the message if the arguments do not fit */
} of_step[] = {
    {"ramp", 2, true, get_ramp, fits_any, ""},
    {"vdisplace", 2, true, get_vdisplace, fits_any, ""},
    {"swiggle", 3, true, get_swiggle, fits_period, "a period, its last argument, that is not 0"},
    {"cwiggle", 3, true, get_cwiggle, fits_period, "a period, its last argument, that is not 0"},
    {"stagger", 2, false, get_stagger, fits_stagger, "positive whole numbers, the first one larger"},
    {"logfreq", 3, false, get_logfreq, fits_logfreq,
     "positive whole numbers, the second smaller than the third"},
    {"logfreq2", 3, false, get_logfreq2, fits_logfreq2,
     "positive whole numbers, the second at most a million, the third larger than 1"},
    {"stride", 3, false, get_stride, fits_stride,
     "whole numbers, the second larger than the first, the third positive"},
};
enum { OF_STEP = sizeof of_step / sizeof of_step[0] };

static md_status call_of_step(md_sim *sim, int f, int n, char *const *argument, double *value)
{
  const char *name = of_step[f].name;
  const md_model *m = &sim->model;
  double a[ARGUMENTS_MAX] = {0};
  if (n != of_step[f].arguments)
    return md_error(MD_USAGE, "%s() takes %d arguments, not %d", name, of_step[f].arguments, n);
  for (int k = 0; k < n; ++k) MD_TRY(md_variables_formula(sim->variables, argument[k], &a[k]));
  if (!of_step[f].fits(a)) return md_error(MD_USAGE, "%s() takes %s", name, of_step[f].needs);
  if (of_step[f].in_run && !sim->view && !sim->planning.on && !sim->foretells)
    return md_error(MD_USAGE, "%s() has a value within a run only, as in the columns of thermo_style", name);
  const double step = (double)(sim->view ? sim->view->step : m->step);
  const moment now = {step, (double)m->run_begin, (double)m->run_end, m->dt};
  *value = of_step[f].get(&now, a);
  return MD_OK;
}

/* ---- what is defined, present and in use ---- */

static bool has_compute(const md_sim *sim, const char *id)
{
  for (int c = 0; c < sim->model.ncompute; ++c)
    if (strcmp(sim->model.compute[c].id, id) == 0) return true;
  return md_host_compute_find(sim, id, strlen(id));
}

static bool has_fix(const md_sim *sim, const char *id)
{
  for (const md_fix_name *f = sim->fixes; f; f = f->next)
    if (strcmp(f->id, id) == 0) return true;
  return false;
}

static bool has_dump(const md_sim *sim, const char *id)
{
  for (const md_observer *o = sim->observers; o; o = o->next)
    if (strcmp(o->id, id) == 0) return true;
  return false;
}

static bool has_group(const md_sim *sim, const char *id)
{
  for (int g = 0; g < sim->model.groups.n; ++g)
    if (strcmp(sim->model.groups.name[g], id) == 0) return true;
  return false;
}

static bool has_region(const md_sim *sim, const char *id)
{
  for (const md_region *r = sim->regions; r; r = r->next)
    if (strcmp(r->id, id) == 0) return true;
  return false;
}

static bool has_variable(const md_sim *sim, const char *id)
{
  return md_variables_is_defined(sim->variables, id);
}

static bool knows_command(const md_sim *sim, const char *name)
{
  (void)sim;
  return md_command_find(name) != NULL;
}

static bool knows_compute(const md_sim *sim, const char *name)
{
  (void)sim;
  return md_compute_find(name) != MD_COMPUTE_KINDS || md_host_compute_style_find(name);
}

static bool knows_fix(const md_sim *sim, const char *name)
{
  (void)sim;
  return md_fix_find(name) != MD_FIX_KINDS || md_output_fix_style_find(name);
}

static bool knows_pair(const md_sim *sim, const char *name)
{
  (void)sim;
  return md_pair_find(name) != MD_PAIR_KINDS || strcmp(name, "zero") == 0;
}

static bool uses_pair(const md_sim *sim, const char *name)
{
  const md_pair_style *style = md_pair_style_of(sim->model.pair.kind);
  const bool zero = sim->model.pair.zero_cutoff > 0.0;
  return strcmp(style ? style->name : zero ? "zero" : "none", name) == 0;
}

static bool uses_atom(const md_sim *sim, const char *name)
{
  return strcmp(name, sim->model.massed ? "sphere" : sim->model.bonded ? "bond" : "atomic") == 0;
}

static bool uses_run(const md_sim *sim, const char *name)
{
  (void)sim;
  return strcmp(name, "verlet") == 0;
}

static const struct {
  const char *function, *category;
  bool (*test)(const md_sim *sim, const char *name);
} tests[] = {
    {"is_defined", "compute", has_compute},
    {"is_defined", "dump", has_dump},
    {"is_defined", "fix", has_fix},
    {"is_defined", "group", has_group},
    {"is_defined", "region", has_region},
    {"is_defined", "variable", has_variable},
    {"is_available", "command", knows_command},
    {"is_available", "compute", knows_compute},
    {"is_available", "fix", knows_fix},
    {"is_available", "pair_style", knows_pair},
    {"is_active", "pair_style", uses_pair},
    {"is_active", "atom_style", uses_atom},
    {"is_active", "run_style", uses_run},
};
enum { TESTS = sizeof tests / sizeof tests[0] };

/* Calls is_defined, is_available or is_active; *known = false: `name` is none of them. */
static md_status call_test(const md_sim *sim, const char *name, int n, char *const *argument, double *value,
                           bool *known)
{
  char accepted[256] = "";
  *known = false;
  for (int k = 0; k < TESTS; ++k) {
    if (strcmp(tests[k].function, name) != 0) continue;
    *known = true;
    if (n == 2 && strcmp(tests[k].category, argument[0]) == 0) {
      *value = tests[k].test(sim, argument[1]) ? 1.0 : 0.0;
      return MD_OK;
    }
    md_name_list_add(accepted, sizeof accepted, " ", tests[k].category);
  }
  if (!*known) return MD_OK;
  if (n != 2) return md_error(MD_USAGE, "%s() takes a category and a name, not %d arguments", name, n);
  return md_error(MD_USAGE, "%s(): the category '%.32s' is unknown; accepted are %s", name, argument[0],
                  accepted);
}

md_status md_script_function(void *context, const char *name, int n, char *const *argument, double *value,
                             bool *known)
{
  md_sim *sim = context;
  if (sim->follow) return md_error(MD_USAGE, "%s() is not known before the deck runs", name);
  for (int f = 0; f < OF_STEP; ++f) {
    *known = strcmp(of_step[f].name, name) == 0;
    if (*known) return call_of_step(sim, f, n, argument, value);
  }
  MD_TRY(call_test(sim, name, n, argument, value, known));
  if (*known) return MD_OK;
  MD_TRY(md_sim_need_present(sim, name));
  MD_TRY(md_vector_function(sim, name, n, argument, value, known));
  return *known ? MD_OK : md_group_function(sim, name, n, argument, value, known);
}
