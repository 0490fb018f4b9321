/* fix balance: moves the cuts between the domains of ranks during a run, every N steps.
 *
 * Particles alike, or with weights of groups, are counted where particles migrate (mpi/domains.c), without a look of
 * the program. Other weights need it: at every N-th step, and at the beginning of a run, the fix makes weights of the
 * particles, and moves the cuts if the imbalance is above the threshold. The particles follow at the next rebin. No
 * bit of the results changes.
 *
 * Cost: that of a rebin, and with such weights particles come from the engine. Reference: the LAMMPS manual, fix
 * balance. */
#include "common/ranks/balance.h"
#include "common/ranks/domains.h"
#include "src/averages/output_fix.h"
#include "src/balance/balance.h"
#include "src/steps.h"

#include <stdlib.h>

typedef struct fix_balance {
  md_output_fix base;
  md_sim *sim;
  int64_t every; /* 0: it does not look itself */
  int64_t first; /* step of the beginning of the run; -1: it was looked at */
  md_balance_weights weights;
  double work, steps; /* seconds of lists and forces, and steps, at the last look of this run */
} fix_balance;

/* Is there no other fix balance than this one? */
static bool is_alone(const md_sim *sim, const fix_balance *fix)
{
  for (const md_observer *o = sim->observers; o && md_is_output_fix(o); o = o->next)
    if (((const md_output_fix *)o)->style == &md_fix_balance_style && o != &fix->base.observer) return false;
  return true;
}

/* Shows the loads as the particles are now, until the first look. */
static md_status show_beginning(md_sim *sim)
{
  double imbalance[2];
  int64_t total;
  MD_TRY(md_balance_now(sim, &imbalance[0], &total));
  imbalance[1] = imbalance[0];
  md_balance_note(sim->comm, total, imbalance, false);
  return MD_OK;
}

/* A run of one rank weighs nothing, and must not pass what a run of several refuses. */
static md_status check(md_observer *observer, md_sim *sim)
{
  const fix_balance *fix = (const fix_balance *)observer;
  for (int k = 0; k < fix->weights.n; ++k) {
    const char *name = fix->weights.of[k].variable;
    if (fix->weights.of[k].kind == MD_BALANCE_VARIABLE && !md_variables_is_defined(sim->variables, name))
      return md_error(MD_USAGE, "fix balance: there is no variable '%.64s' for its weights", name);
  }
  return MD_OK;
}

static md_status parse(md_output_fix *base, md_sim *sim, const md_words *words)
{
  fix_balance *fix = (fix_balance *)base;
  md_balance balance = {0};
  if (!is_alone(sim, fix))
    return md_error(MD_USAGE, "fix balance: another fix balance is at work already; unfix it first");
  if (words->n < 2)
    return md_error(MD_USAGE,
                    "fix balance takes N and THRESHOLD, and perhaps shift [AXES] or rcb, not %d word%s",
                    words->n, words->n == 1 ? "" : "s");
  MD_TRY(md_sim_need_box(sim, "fix balance"));
  MD_TRY(md_word_int64(words->word[0], "the number of steps between looks at the balance", 1, INT64_MAX,
                       &fix->every));
  MD_TRY(md_balance_read(sim, "fix balance", words, 1, &balance, &fix->weights));
  balance.every = fix->every;
  if (fix->weights.n > 0 || fix->weights.store[0])
    balance.every = 0;
  else
    fix->every = 0;
  fix->sim = sim;
  fix->first = -1;
  sim->comm->balance = balance;
  base->observer.check = check;
  MD_TRY(show_beginning(sim));
  base->values = (md_values){.scalar = &sim->comm->balanced.imbalance,
                             .has_vector = true,
                             .nvector = 3,
                             .vector = sim->comm->balanced.vector};
  return MD_OK;
}

static void begin(md_output_fix *base, int64_t step)
{
  fix_balance *fix = (fix_balance *)base;
  fix->first = step;
  fix->work = fix->steps = 0.0;
}

static int64_t due(const md_output_fix *base, int64_t step)
{
  const fix_balance *fix = (const fix_balance *)base;
  if (fix->every == 0) return INT64_MAX;
  return fix->first == step ? step : md_step_multiple(step, fix->every);
}

static int64_t due_back(const md_output_fix *base, int64_t step)
{
  const fix_balance *fix = (const fix_balance *)base;
  if (fix->every == 0) return -1;
  return fix->first == step ? step : md_step_multiple_back(step, fix->every, -1);
}

/* The work since the last look. At the beginning of a run that of the last run counts. */
static void find_work(fix_balance *fix, md_view *view)
{
  md_engine_report report = {0};
  if (!view->engine) return;
  view->kind->report(view->engine, &report);
  const double work = report.timers.seconds[MD_PHASE_FORCE] + report.timers.seconds[MD_PHASE_LIST];
  if ((double)report.steps > fix->steps) {
    view->sim->run_work = work - fix->work;
    view->sim->run_neighbours = report.neighbours * (double)view->sim->particles.n;
  }
  fix->work = work;
  fix->steps = (double)report.steps;
}

/* Moves the cuts, with the weights of comm->balance, if the ranks are out of balance. */
static md_status move_cuts(md_sim *sim)
{
  md_comm *comm = sim->comm;
  double imbalance[2];
  int64_t total;
  MD_TRY(md_balance_now(sim, &imbalance[0], &total));
  imbalance[1] = imbalance[0];
  const bool moves = imbalance[0] > comm->balance.threshold && comm->size > 1;
  if (moves) MD_TRY(comm->domains->rebalance(comm, &sim->model, &sim->particles, imbalance));
  comm->recut += moves;
  md_balance_note(comm, total, imbalance, moves);
  return MD_OK;
}

static md_status look(md_output_fix *base, md_view *view)
{
  fix_balance *fix = (fix_balance *)base;
  md_comm *comm = view->sim->comm;
  double *each;
  fix->first = -1;
  MD_TRY(md_view_particles(view));
  find_work(fix, view);
  MD_TRY(md_balance_weigh(view->sim, &comm->balance, &fix->weights, &each));
  comm->balance.each = each;
  const md_status status = move_cuts(view->sim);
  comm->balance.each = NULL;
  free(each);
  return status;
}

static void stop(md_output_fix *base)
{
  const fix_balance *fix = (const fix_balance *)base;
  /* It may be replaced by another one, whose settings these are. */
  if (fix->sim && is_alone(fix->sim, fix)) fix->sim->comm->balance = (md_balance){0};
}

const md_output_fix_style md_fix_balance_style = {
    .name = "balance",
    .usage = "balance N THRESHOLD [shift [AXES [ITERATIONS STOP]] | rcb] [weight STYLE ...]",
    .help = "every N steps, where the largest load of a rank, over the average, is above THRESHOLD, moves\n"
            "the cuts between the domains of ranks; AXES such as xy, all without it, or rcb; weights as for\n"
            "balance. f_ID is the imbalance, f_ID[1] the largest load of a rank, f_ID[2] whether cuts\n"
            "moved, f_ID[3] the imbalance before, of the ranks of this job. No bit of the results changes",
    .size = sizeof(fix_balance),
    .parse = parse,
    .begin = begin,
    .due = due,
    .due_back = due_back,
    .look = look,
    .free = stop,
};
