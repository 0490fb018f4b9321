/* The commands minimize, min_style and min_modify.
 *
 * A minimisation is a run whose steps are iterations (src/run/run.h). It needs no integrator; of the fixes only those
 * that act on forces act, as in LAMMPS. Its number of steps is not known before its end: the history of the deck, by
 * which --resume knows what was done, gets the last step then.
 */
#include "common/base/name_list.h"
#include "src/box/faces.h"
#include "src/deck/check.h"
#include "src/follow/images.h"
#include "src/minimize/minimizer.h"
#include "src/plan.h"
#include "src/restart/cmd_restart.h"
#include "src/restart/resume.h"
#include "src/run/cmd_run.h"

#include <stdio.h>
#include <string.h>

static const md_min_style *const styles[MD_MIN_KINDS] = {
#define MD_MIN_STYLE(symbol, name) [MD_MIN_##symbol] = &md_min_##symbol,
#include "src/minimize/styles/min_styles.def"
#undef MD_MIN_STYLE
};

/* ---- minimize ---- */

/* What the summary tells of the forces at the beginning. */
typedef struct start {
  double energy, two, largest;
} start;

static md_status find_norms(const md_minimizer *m, double *two, double *largest)
{
  MD_TRY(md_minimizer_norm(m, MD_NORM_TWO, two));
  MD_TRY(md_minimizer_norm(m, MD_NORM_INF, largest));
  *two = sqrt(*two);
  *largest = sqrt(*largest);
  return MD_OK;
}

/* Writes the lines of LAMMPS into the summary of the run. */
static md_status describe(const md_minimizer *m, const start *s)
{
  static const char *const reason[] = {[MD_MIN_GOES_ON] = "",
                                       [MD_MIN_MAXITER] = "max iterations",
                                       [MD_MIN_MAXEVAL] = "max force evaluations",
                                       [MD_MIN_ETOL] = "energy tolerance",
                                       [MD_MIN_FTOL] = "force tolerance",
                                       [MD_MIN_NOT_DOWNHILL] = "search direction is not downhill",
                                       [MD_MIN_ZERO_ALPHA] = "linesearch alpha is zero",
                                       [MD_MIN_ZERO_FORCE] = "forces are zero",
                                       [MD_MIN_ZERO_QUADRATIC] = "quadratic factors are zero",
                                       [MD_MIN_UPHILL_STEPS] = "max iterations with v.f negative",
                                       [MD_MIN_STOPPED] = "walltime limit reached"};
  double two, largest;
  MD_TRY(find_norms(m, &two, &largest));
  snprintf(m->run->result, sizeof m->run->result,
           "\nMinimization stats:\n"
           "  Stopping criterion = %s\n"
           "  Energy initial, next-to-last, final = \n"
           "    %18.15g %18.15g %18.15g\n"
           "  Force two-norm initial, final = %#.8g %#.8g\n"
           "  Force max component initial, final = %#.8g %#.8g\n"
           "  Final line search alpha, max atom move = %#.8g %#.8g\n"
           "  Iterations, force evaluations = %lld %lld\n",
           reason[m->stop], s->energy, m->energy_before, m->energy, s->two, two, s->largest, largest,
           m->alpha, m->alpha * largest, (long long)m->iterations, (long long)m->evaluations);
  return MD_OK;
}

static md_status iterate(md_minimizer *m)
{
  start s;
  MD_TRY(md_minimizer_begin(m));
  s.energy = m->energy_before = m->energy;
  MD_TRY(find_norms(m, &s.two, &s.largest));
  m->looked = md_time();
  MD_TRY(styles[m->set->style]->iterate(m));
  if (m->stop != MD_MIN_MAXITER && m->stop != MD_MIN_STOPPED) MD_TRY(md_minimizer_show_last(m));
  return describe(m, &s);
}

/* The work of the run (src/run/run.h). */
static md_status work(md_run *run)
{
  md_minimizer *m = run->minimizer;
  md_sim *sim = run->sim;
  m->run = run;
  const int64_t every = sim->comm->balance.every;
  if (md_run_is_stopped(run)) return MD_OK;
  sim->comm->balance.every = 0; /* vectors go to the ranks that own the places now (rows.c) */
  const md_status status = iterate(m);
  sim->comm->balance.every = every;
  md_minimizer_end(m);
  return status;
}

/* Finds the fix that relaxes the box, if there is one. */
static md_status find_relaxing(md_minimizer *m)
{
  md_model *model = &m->sim->model;
  for (int f = 0; f < model->nfix; ++f) {
    const md_fix_style *style = md_fix_style_of(model->fix[f].kind);
    if (!style->relax) continue;
    if (m->relax.on) return md_error(MD_USAGE, "minimize: only one fix %s may be there", style->name);
    if (m->dynamics)
      return md_error(MD_USAGE, "min_style %s moves particles alone: with fix %s use min_style cg or sd",
                      styles[m->set->style]->name, style->name);
    m->relax = (md_min_relax){.on = true, .fix = f, .start = m->nvector};
    style->relax(&model->fix[f], &m->relax.said);
    ++m->nvector;
  }
  return MD_OK;
}

static md_status check(const md_sim *sim)
{
  const md_min_settings *set = &sim->minimize;
  const char *name = styles[set->style]->name;
  if (md_pair_is_dissipative(&sim->model.pair))
    return md_error(
        MD_USAGE,
        "minimize: the forces of pair style %s are not those of an energy; use pair_style soft, its "
        "repulsion alone",
        md_pair_style_of(sim->model.pair.kind)->name);
  if (sim->model.float_drift)
    return md_error(MD_USAGE,
                    "minimize needs positions on a grid: use fix nve/leapfrog without drift float, or unfix "
                    "it before");
  if (styles[set->style]->dynamics && !(sim->model.dt > 0.0))
    return md_error(MD_USAGE, "min_style %s moves particles in time: set a timestep above 0 before minimize",
                    name);
  if (set->style != MD_MIN_fire) return MD_OK;
  if (set->tmax < set->tmin)
    return md_error(MD_USAGE, "min_style fire: tmax, %g, must not be below tmin, %g (min_modify)", set->tmax,
                    set->tmin);
  return MD_OK;
}

static md_status minimize(md_sim *sim, md_minimizer *m)
{
  md_model *model = &sim->model;
  md_run run = {.sim = sim, .whole_first = model->step, .thermo_shown = -1, .work = work, .minimizes = true};
  bool passed;
  run.last = model->step + m->most_iterations;
  run.minimizer = m;
  MD_TRY(md_sim_count(sim));
  MD_TRY(md_images_expect(sim, true));
  MD_TRY(md_resume_begin(sim, run.whole_first, -1, &passed));
  if (passed) return MD_OK;
  if (sim->restarts.every > 0)
    md_sim_explain(sim, "restart",
                   "no restart is written within a minimisation; --resume repeats it as a whole");
  model->run_begin = sim->run_first = run.whole_first;
  model->run_end = sim->run_last = run.last;
  sim->has_first_energy = false;
  /* Damped dynamics begin at rest. */
  run.stops = m->dynamics;
  if (m->relax.on) model->fix[m->relax.fix].state[0] = 0.0; /* the first row shows it */
  const md_status status = md_run_execute(&run);
  if (status != MD_OK) return md_run_refused(sim, status);
  md_run_note(sim, model->step);
  return MD_OK;
}

static md_status read_tolerance(const char *word, const char *what, double *value)
{
  MD_TRY(md_word_double(word, what, value));
  if (*value >= 0.0) return MD_OK;
  return md_error(MD_USAGE, "%s must be 0 or more, not %s", what, word);
}

md_status md_do_minimize(md_sim *sim, const md_words *words)
{
  const md_min_style *style = styles[sim->minimize.style];
  md_minimizer m = {
      .sim = sim, .set = &sim->minimize, .dynamics = style->dynamics, .nvector = style->nvector};
  char *const *word = words->word;
  const int64_t step = sim->model.step;
  MD_TRY(md_sim_need_box(sim, "minimize"));
  MD_TRY(read_tolerance(word[0], "the tolerance of the energy", &m.etol));
  MD_TRY(read_tolerance(word[1], "the tolerance of the forces", &m.ftol));
  MD_TRY(md_word_int64(word[2], "the number of iterations", 0, INT64_MAX - step, &m.most_iterations));
  MD_TRY(md_word_int64(word[3], "the number of force evaluations", 0, INT64_MAX, &m.most_evaluations));
  MD_TRY(check(sim));
  MD_TRY(find_relaxing(&m));
  if (sim->planning.checking) {
    MD_TRY(md_images_expect(sim, true));
    return md_check_run(sim, 0); /* how many steps it takes is not known */
  }
  if (sim->planning.on) return md_plan_print(sim);
  if (md_run_is_left_out(sim, "minimize")) return MD_OK;
  return minimize(sim, &m);
}

/* ---- min_style and min_modify ---- */

/* The index of a word in a list of n names, or MD_USAGE with the names. */
static md_status find_name(const char *what, const char *word, int n, const char *const *name, int *index)
{
  char all[256] = "";
  for (int k = 0; k < n; ++k) {
    if (strcmp(word, name[k]) == 0) {
      *index = k;
      return MD_OK;
    }
    md_name_list_add(all, sizeof all, ", ", name[k]);
  }
  return md_error(MD_USAGE, "%s: unknown '%.80s'; accepted are %s", what, word, all);
}

md_status md_do_min_style(md_sim *sim, const md_words *words)
{
  const char *name[MD_MIN_KINDS];
  int kind = 0;
  for (int k = 0; k < MD_MIN_KINDS; ++k) name[k] = styles[k]->name;
  MD_TRY(find_name("min_style", words->word[0], MD_MIN_KINDS, name, &kind));
  /* A new style has the defaults, as in LAMMPS. */
  sim->minimize = md_min_settings_default();
  sim->minimize.style = (md_min_kind)kind;
  return MD_OK;
}

static md_status read_line(const char *word, md_min_settings *set)
{
  static const char *const name[] = {"backtrack", "quadratic", "forcezero"};
  int index = 0;
  MD_TRY(find_name("min_modify line", word, 3, name, &index));
  set->line = (md_min_line)index;
  return MD_OK;
}

static md_status read_norm(const char *word, md_min_settings *set)
{
  static const char *const name[] = {"two", "max", "inf"};
  int index = 0;
  MD_TRY(find_name("min_modify norm", word, 3, name, &index));
  set->norm = (md_min_norm)index;
  return MD_OK;
}

static md_status read_integrator(const char *word, md_min_settings *set)
{
  static const char *const name[] = {"eulerimplicit", "verlet", "leapfrog", "eulerexplicit"};
  int index = 0;
  MD_TRY(find_name("min_modify integrator", word, 4, name, &index));
  set->integrator = (md_min_integrator)index;
  return MD_OK;
}

/* Reads a number from `least` to `most`. */
static md_status read_number(const char *word, const char *keyword, double least, double most, double *value)
{
  char what[64];
  snprintf(what, sizeof what, "min_modify %s", keyword);
  MD_TRY(md_word_double(word, what, value));
  if (*value >= least && *value <= most) return MD_OK;
  if (most < 1e300) return md_error(MD_USAGE, "%s must be from %g to %g, not %.80s", what, least, most, word);
  return md_error(MD_USAGE, "%s must be %g or more, not %.80s", what, least, word);
}

/* The keywords, in the order of their numbers in modify. */
static const char *const keywords[] = {"dmax",   "line",   "norm",         "integrator",  "delaystep",
                                       "vdfmax", "dtgrow", "dtshrink",     "alpha0",      "alphashrink",
                                       "tmax",   "tmin",   "halfstepback", "initialdelay"};

static md_status modify(md_min_settings *set, const char *keyword, const char *word)
{
  enum { N = sizeof keywords / sizeof keywords[0] };
  int index = 0;
  MD_TRY(find_name("min_modify", keyword, N, keywords, &index));
  switch (index) {
  case 0: return md_word_positive(word, "min_modify dmax", &set->dmax);
  case 1: return read_line(word, set);
  case 2: return read_norm(word, set);
  case 3: return read_integrator(word, set);
  case 4: return md_word_int64(word, "min_modify delaystep", 0, INT64_MAX, &set->delaystep);
  case 5: return md_word_int64(word, "min_modify vdfmax", 0, INT64_MAX, &set->vdfmax);
  case 6: return read_number(word, keyword, 1.0, (double)INFINITY, &set->dtgrow);
  case 7: return read_number(word, keyword, 0.0, 1.0, &set->dtshrink);
  case 8: return read_number(word, keyword, 0.0, 1.0, &set->alpha0);
  case 9: return read_number(word, keyword, 0.0, 1.0, &set->alphashrink);
  case 10: return md_word_positive(word, "min_modify tmax", &set->tmax);
  case 11: return read_number(word, keyword, 0.0, (double)INFINITY, &set->tmin);
  case 12: return md_word_bool(word, "min_modify halfstepback", &set->halfstepback);
  default: return md_word_bool(word, "min_modify initialdelay", &set->initialdelay);
  }
}

md_status md_do_min_modify(md_sim *sim, const md_words *words)
{
  md_min_settings now = sim->minimize;
  for (int w = 0; w < words->n; w += 2) {
    const char *keyword = words->word[w];
    if (w + 1 == words->n) return md_error(MD_USAGE, "min_modify %.80s: its value is missing", keyword);
    MD_TRY(modify(&now, keyword, words->word[w + 1]));
  }
  sim->minimize = now;
  return MD_OK;
}
