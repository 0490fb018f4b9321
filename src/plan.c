/* `myriad plan`: bytes per particle, their total, and the most particles that fit; see plan.h.
 *
 * The engine says what each of its arrays costs a particle. Another number of particles than the deck's is planned in a
 * box of the same density and the same shape, so that cells and lists keep their share. The most particles that fit
 * are found by bisection, since fixed costs weigh less on more particles: some 30 calls of the engine's plan, which
 * makes nothing. Units: bytes, 1 KiB = 1024.
 */
#include "src/plan.h"
#include "src/engines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { AMOUNT_CHARS = 32 };

md_status md_plan_check(const md_sim *sim)
{
  if (sim->engine->plan) return MD_OK;
  char others[256] = "";
  for (int k = 0; k < md_engines_count; ++k) {
    if (!md_engines[k]->plan) continue;
    const size_t used = strlen(others);
    snprintf(others + used, sizeof others - used, " %s", md_engines[k]->name);
  }
  return md_error(MD_USAGE, "engine %s has no plan; engines of this build that have one:%s",
                  sim->engine->name, others[0] ? others : " none");
}

/* The plan for n particles at the deck's density. */
static md_status plan_of(const md_sim *sim, int64_t n, md_engine_plan *plan)
{
  md_model model = sim->model;
  if (model.natoms > 0 && n != model.natoms) {
    const double scale = pow((double)n / (double)model.natoms, 1.0 / model.box.dim);
    for (int d = 0; d < model.box.dim; ++d) {
      model.box.length[d] *= scale;
      model.box.hi[d] = model.box.lo[d] + model.box.length[d];
    }
    model.natoms = n;
  }
  *plan = (md_engine_plan){0};
  return sim->engine->plan(&model, n, &sim->options, plan);
}

/* The most particles of one rank that `available` bytes hold. */
static int64_t most_that_fit(const md_sim *sim, int64_t available)
{
  int64_t fit = 0, too_many = MD_PARTICLES_MAX + 1;
  while (too_many - fit > 1) {
    const int64_t n = fit + (too_many - fit) / 2;
    md_engine_plan plan;
    /* A number that the engine refuses does not fit either. */
    if (plan_of(sim, n, &plan) == MD_OK && plan.bytes * (double)n <= (double)available)
      fit = n;
    else
      too_many = n;
  }
  return fit;
}

/* "22.9 MiB". */
static const char *amount(double bytes, char text[AMOUNT_CHARS])
{
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  enum { LARGEST = sizeof units / sizeof units[0] - 1 };
  int unit = 0;
  for (; bytes >= 1024.0 && unit < LARGEST; ++unit) bytes /= 1024.0;
  snprintf(text, AMOUNT_CHARS, "%.1f %s", bytes, units[unit]);
  return text;
}

static void print_row(md_log *log, const char *name, double bytes, int64_t n)
{
  char total[AMOUNT_CHARS];
  md_log_print(log, "%-32s | %18.2f | %12s\n", name, bytes, amount(bytes * (double)n, total));
}

static void print_room(const md_sim *sim, const md_engine_plan *plan, int64_t n)
{
  char room[AMOUNT_CHARS];
  if (plan->available <= 0) {
    md_log_print(sim->log, "Memory available: unknown\n");
    return;
  }
  const int64_t most = most_that_fit(sim, plan->available);
  md_log_print(sim->log, "Memory available: %s%s%s\n", amount((double)plan->available, room),
               plan->device[0] ? " on " : "", plan->device);
  md_log_print(sim->log, "Largest number of particles that fits: %lld%s\n", (long long)most,
               most == MD_PARTICLES_MAX ? ", the limit of a rank" : "");
  if (most == 0 || n <= most) return;
  const int64_t ranks = (n - 1) / most + 1;
  md_log_print(sim->log, "%lld particles do not fit: they need at least %lld ranks, each with such memory\n",
               (long long)n, (long long)ranks);
}

md_status md_plan_print(md_sim *sim)
{
  MD_TRY(md_sim_need_box(sim, "plan"));
  MD_TRY(md_sim_count(sim));
  MD_TRY(md_model_prepare(&sim->model));
  const int64_t n = sim->planning.particles > 0 ? sim->planning.particles : sim->model.natoms;
  if (n == 0) return md_error(MD_USAGE, "plan: the deck has made no particles; say --particles N");
  md_engine_plan plan;
  /* Beyond what one rank may hold, its costs are those of a full rank. */
  MD_TRY(plan_of(sim, n < MD_PARTICLES_MAX ? n : MD_PARTICLES_MAX, &plan));
  md_log *log = sim->log;
  md_log_print(log, "Plan of engine %s for %lld particles in %d dimensions, cutoff %g\n", sim->engine->name,
               (long long)n, sim->model.box.dim, sim->model.cutoff);
  md_log_print(log, "Neighbours: %s\n\n", plan.method);
  md_log_print(log, "%-32s | %18s | %12s\n", "item", "bytes per particle", "total");
  md_log_print(log, "--------------------------------------------------------------------\n");
  for (int k = 0; k < plan.nitem; ++k) print_row(log, plan.item[k].name, plan.item[k].bytes, n);
  print_row(log, "all", plan.bytes, n);
  md_log_print(log, "\n");
  print_room(sim, &plan, n);
  sim->planning.done = true;
  return MD_OK;
}
