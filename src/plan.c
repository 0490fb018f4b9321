/* `myriad plan`: bytes per particle, their total, and the largest number of particles that fits; see plan.h.
 *
 * 1. The engine says what each of its arrays costs per particle. The call allocates nothing.
 * 2. For a number of particles that differs from the deck's, the box is scaled to the same density and the same
 *    shape. Cells and lists then keep their share of the bytes.
 * 3. The largest number that fits is found by bisection, because fixed costs weigh less on more particles. The
 *    bisection calls the engine's plan about 30 times.
 * 4. With several ranks, the plan is for one rank: for its domain, as common/ranks/decompose.h divides the box, with
 *    ghosts on all sides that have a neighbour.
 *
 * Units: bytes, 1 KiB = 1024.
 */
#include "src/plan.h"
#include "common/base/memory.h"
#include "common/base/name_list.h"
#include "common/ranks/decompose.h"
#include "common/ranks/reductions.h"
#include "src/engines/engines.h"
#include "src/follow/followed.h"
#include "src/region/users.h"
#include "src/sums/masses.h"

#include <math.h>
#include <string.h>

md_status md_plan_check(const md_sim *sim)
{
  if (sim->engine->plan) return MD_OK;
  char others[256] = "";
  for (int k = 0; k < md_engines_count; ++k) {
    const md_engine_kind *kind;
    if (md_engine_get(&md_engines[k], &kind) != MD_OK || !kind->plan) continue;
    md_name_list_add(others, sizeof others, " ", md_engines[k].name);
  }
  return md_error(MD_USAGE, "engine %s has no plan; engines of this build that have one: %s",
                  sim->engine->name, others[0] ? others : "none");
}

/* The division of n particles among the ranks that are planned for. */
typedef struct division {
  int count[3];
  md_model domain; /* of one rank; periodic also along axes where the rank has neighbours */
  int64_t n;       /* particles of a rank */
  bool slab;       /* only the last axis is cut, and no axis of the box was periodic */
} division;

/* Divides the box. `whole` is the plan for the whole box, or all zeros for a division into one rank. MD_USAGE: the
 * domains would be thinner than the halo. */
static md_status divide(const md_sim *sim, int64_t n, int ranks, const md_engine_plan *whole, division *part)
{
  static const int any[3] = {0, 0, 0};
  part->domain = sim->model;
  md_box *box = &part->domain.box;
  for (int d = 0; d < 3; ++d) part->count[d] = 1;
  if (sim->model.natoms > 0 && n != sim->model.natoms) {
    const double scale = pow((double)n / (double)sim->model.natoms, 1.0 / box->dim);
    for (int d = 0; d < box->dim; ++d) box->length[d] *= scale;
  }
  if (!md_decomposition_choose(box, ranks, any, whole->halo, whole->slab, part->count)) {
    char near[MD_NEAR_TEXT];
    md_decomposition_near(box, ranks, whole->halo, near);
    return md_error(
        MD_USAGE,
        "plan: the domains of %d ranks would be thinner than the halo of %.4g in a box of %.4g x %.4g x "
        "%.4g: %s",
        ranks, whole->halo, box->length[0], box->length[1], box->dim == 3 ? box->length[2] : 0.0, near);
  }
  const int dim = box->dim == 2 ? 2 : 3;
  part->slab = ranks > 1 && part->count[dim - 1] == ranks;
  for (int d = 0; d < dim; ++d) {
    part->slab = part->slab && !box->periodic[d];
    box->periodic[d] = box->periodic[d] || part->count[d] > 1;
    box->length[d] /= part->count[d];
    box->hi[d] = box->lo[d] + box->length[d];
  }
  part->n = (n - 1) / ranks + 1;
  part->domain.natoms = part->n;
  return MD_OK;
}

/* The particles to plan for on a rank: at most MD_PARTICLES_MAX, since a rank cannot hold more. */
static int64_t held(const division *part) { return part->n < MD_PARTICLES_MAX ? part->n : MD_PARTICLES_MAX; }

static int ranks_planned(const md_sim *sim) { return sim->planning.ranks > 0 ? (int)sim->planning.ranks : 1; }

/* Adds what computes of displacements hold, where the engine has the memory of the host. */
static void add_followed(const md_sim *sim, const md_engine_kind *kind, md_engine_plan *plan)
{
  double records, look;
  md_followed_bytes(sim, &records, &look);
  if (kind->on_host) md_plan_add(plan, "places of displacements", records + look);
}

/* Makes the plan of one of the ranks that share n particles. */
static md_status plan_of(const md_sim *sim, int64_t n, int ranks, division *part, md_engine_plan *plan)
{
  const md_engine_kind *kind = md_engine_for(sim->engine, &sim->model, &sim->options, ranks);
  md_engine_options options = sim->options;
  options.ranks = ranks;
  *plan = (md_engine_plan){0};
  /* The width of the halo follows from the whole box. */
  MD_TRY(divide(sim, n, 1, plan, part));
  MD_TRY(kind->plan(&part->domain, held(part), &options, plan));
  if (ranks > 1) {
    MD_TRY(divide(sim, n, ranks, plan, part));
    options.slab = part->slab;
    MD_TRY(kind->plan(&part->domain, held(part), &options, plan));
  }
  add_followed(sim, kind, plan);
  return MD_OK;
}

/* The largest number of particles of one rank that `available` bytes hold. */
static int64_t most_that_fit(const md_sim *sim, int ranks, double available)
{
  int64_t fit = 0, too_many = MD_PARTICLES_MAX + 1;
  while (too_many - fit > 1) {
    const int64_t n = fit + (too_many - fit) / 2;
    md_engine_plan plan;
    division part;
    /* A number of particles that the engine refuses counts as too many. */
    if (plan_of(sim, n * ranks, ranks, &part, &plan) == MD_OK && plan.bytes * (double)n <= available)
      fit = n;
    else
      too_many = n;
  }
  return fit;
}

static void print_row(md_log *log, const char *name, double bytes, int64_t n)
{
  char total[MD_AMOUNT_CHARS];
  md_log_print(log, "%-32s | %18.2f | %12s\n", name, bytes, md_memory_amount(bytes * (double)n, total));
}

static void print_room(const md_sim *sim, const md_engine_plan *plan, int64_t n)
{
  char room[MD_AMOUNT_CHARS];
  const int64_t ranks = sim->planning.ranks > 0 ? sim->planning.ranks : 1;
  if (plan->available <= 0) {
    md_log_print(sim->log, "Memory available: unknown\n");
    return;
  }
  const int64_t most = most_that_fit(sim, ranks_planned(sim), (double)plan->available);
  md_log_print(sim->log, "Memory available: %s%s%s\n", md_memory_amount((double)plan->available, room),
               plan->device[0] ? " on " : "", plan->device);
  md_log_print(sim->log, "Largest number of particles that fits: %lld%s%s\n", (long long)most * ranks,
               ranks > 1 ? " on all ranks" : "", most == MD_PARTICLES_MAX ? ", the limit of a rank" : "");
  if (most == 0 || n <= most * ranks) return;
  const int64_t needed = (n - 1) / most + 1;
  md_log_print(sim->log, "%lld particles do not fit: they need at least %lld ranks, each with such memory\n",
               (long long)n, (long long)needed);
}

/* The bytes that each particle takes of the host while a run with a device begins: the arrays of particles, with the
 * fields that the run adds, and what the engine takes besides. */
static double host_bytes(const md_sim *sim, const md_engine_kind *kind, int ranks)
{
  md_particles like = sim->particles;
  like.wide = sim->model.wide;
  like.has_v_pair = md_pair_is_dissipative(&sim->model.pair);
  return md_particles_bytes(&like) + (kind->host_bytes ? kind->host_bytes(&sim->model, ranks) : 0.0);
}

static double held_bytes(const md_sim *sim)
{
  return (double)sim->particles.capacity * md_particles_bytes(&sim->particles);
}

/* For an engine whose memory is that of a device: what the host holds. The ranks are taken to be on one host. */
static md_status print_host(const md_sim *sim, const md_engine_kind *kind, int64_t n)
{
  char amounts[2][MD_AMOUNT_CHARS];
  md_memory memory;
  const double each = host_bytes(sim, kind, ranks_planned(sim));
  MD_TRY(md_memory_look("", 1, &memory));
  const double there = memory.bytes + held_bytes(sim);
  md_log_print(sim->log, "Memory of the host: %.2f bytes per particle, %s for all ranks", each,
               md_memory_amount(each * (double)n, amounts[0]));
  if (isfinite(there))
    md_log_print(sim->log, "; %s are available (%s), for %lld particles", md_memory_amount(there, amounts[1]),
                 memory.limit, (long long)(there / each));
  md_log_print(sim->log, "\n");
  return MD_OK;
}

/* Prints what ranks send to each other: the ghosts' positions in every step, through the faces that are cut. */
static void print_ranks(const md_sim *sim, const division *part, const md_engine_plan *plan)
{
  const md_box *box = &part->domain.box;
  const int dim = box->dim;
  double sent = 0.0, before = 1.0, alone = 1.0;
  int messages = 0, touching = 1;
  char total[MD_AMOUNT_CHARS];
  md_log_print(sim->log, "Ranks: %d x %d x %d, domains of %.6g x %.6g x %.6g, %lld particles each\n",
               part->count[0], part->count[1], part->count[2], box->length[0], box->length[1],
               dim == 3 ? box->length[2] : 0.0, (long long)part->n);
  /* If the axes are exchanged one after the other, ghosts received along one axis are sent on along the next. */
  for (int d = 0; d < dim; ++d) {
    const double layers = box->periodic[d] ? 2.0 * plan->halo / box->length[d] : 0.0;
    if (part->count[d] > 1) {
      messages += 2;
      touching *= part->count[d] == 2 ? 2 : 3;
      sent += (double)part->n * before * layers;
    } else {
      alone *= 1.0 + layers;
    }
    before *= 1.0 + layers;
  }
  if (plan->direct) {
    messages = touching - 1;
    sent = (double)part->n * (before - alone);
  }
  md_log_print(sim->log, "Halo: %.6g wide, %.6g ghosts a rank, of which %.6g come from other ranks\n",
               plan->halo, plan->ghosts, sent);
  md_log_print(sim->log, "Messages: %d a rank and step, %s in all\n", messages,
               md_memory_amount(sent * plan->ghost_bytes, total));
}

/* The same for a pair style without a cutoff. */
static void print_ring(const md_sim *sim, const division *part, const md_engine_plan *plan)
{
  char bytes[MD_AMOUNT_CHARS];
  md_log_print(sim->log, "Ranks: %d, %lld particles each, wherever they are\n", ranks_planned(sim),
               (long long)part->n);
  md_log_print(sim->log, "Messages: in every step blocks of %s travel around the ring of ranks\n",
               md_memory_amount(plan->ghost_bytes * (double)part->n, bytes));
}

md_status md_plan_print(md_sim *sim)
{
  MD_TRY(md_sim_need_box(sim, "plan"));
  MD_TRY(md_sim_count(sim));
  MD_TRY(md_masses_find_range(sim));
  MD_TRY(md_regions_take(sim));
  MD_TRY(md_model_prepare(&sim->model));
  const int64_t n = sim->planning.particles > 0 ? sim->planning.particles : sim->model.natoms;
  if (n == 0) return md_error(MD_USAGE, "plan: the deck has made no particles; say --particles N");
  md_engine_plan plan;
  division part;
  MD_TRY(plan_of(sim, n, ranks_planned(sim), &part, &plan));
  md_log *log = sim->log;
  const md_engine_kind *kind = md_engine_for(sim->engine, &sim->model, &sim->options, ranks_planned(sim));
  md_log_print(log, "Plan of engine %s for %lld particles in %d dimensions, cutoff %g\n", kind->name,
               (long long)n, sim->model.box.dim, sim->model.cutoff);
  md_log_print(log, "Neighbours: %s\n", plan.method);
  if (sim->planning.ranks > 0 && md_pair_is_all(&sim->model.pair))
    print_ring(sim, &part, &plan);
  else if (sim->planning.ranks > 0)
    print_ranks(sim, &part, &plan);
  md_log_print(log, "\n%-32s | %18s | %12s\n", "item", "bytes per particle",
               sim->planning.ranks > 1 ? "total a rank" : "total");
  md_log_print(log, "--------------------------------------------------------------------\n");
  for (int k = 0; k < plan.nitem; ++k) print_row(log, plan.item[k].name, plan.item[k].bytes, part.n);
  print_row(log, "all", plan.bytes, part.n);
  md_log_print(log, "\n");
  print_room(sim, &plan, n);
  if (!kind->on_host) MD_TRY(print_host(sim, kind, n));
  sim->planning.done = true;
  return MD_OK;
}

/* Whether the particles of this rank fit into the host for an engine whose memory is that of a device. */
static md_status check_host(const md_sim *sim, const md_engine_kind *kind)
{
  const int ranks = sim->comm->size;
  const int64_t share = (sim->model.natoms - 1) / ranks + 1,
                n = sim->particles.n > share ? sim->particles.n : share;
  char amounts[2][MD_AMOUNT_CHARS];
  md_memory memory;
  const double held = held_bytes(sim), each = host_bytes(sim, kind, ranks), needed = each * (double)n;
  if (needed - held < MD_MEMORY_SMALL) return MD_OK;
  MD_TRY(md_memory_look("", sim->comm->local_size, &memory));
  if (needed - held <= memory.bytes) return MD_OK;
  return md_error(MD_RUNTIME,
                  "run: engine %s needs %s of the host's memory for %lld particles%s, and %s are "
                  "available (%s): %lld would fit; %s",
                  kind->name, md_memory_amount(needed, amounts[0]), (long long)n,
                  ranks > 1 ? " of a rank" : "", md_memory_amount(memory.bytes + held, amounts[1]),
                  memory.limit, (long long)((memory.bytes + held) / each), md_memory_advice);
}

/* Whether this rank's share of the plan fits. Its particle arrays and the records of displacements exist already, so
 * their bytes are no longer available and are not needed again. */
static md_status check_room(const md_sim *sim, const md_engine_kind *kind)
{
  const int ranks = sim->comm->size;
  double records, look;
  md_followed_bytes(sim, &records, &look);
  const double held = held_bytes(sim) + (double)sim->particles.n * records;
  division part;
  md_engine_plan plan;
  md_memory memory;
  /* The engine and the communicator report such an error themselves, with a better message. */
  if (plan_of(sim, sim->model.natoms, ranks, &part, &plan) != MD_OK) return MD_OK;
  const double needed = plan.bytes * (double)part.n;
  if (needed - held < MD_MEMORY_SMALL) return MD_OK;
  MD_TRY(md_memory_look("", sim->comm->local_size, &memory));
  if (needed - held <= memory.bytes) return MD_OK;
  char amounts[2][MD_AMOUNT_CHARS];
  const int64_t most = most_that_fit(sim, ranks, memory.bytes + held);
  return md_error(
      MD_RUNTIME,
      "run: engine %s needs %s of memory for %lld particles%s, and %s are available (%s): %lld would fit; %s",
      kind->name, md_memory_amount(needed, amounts[0]), (long long)part.n, ranks > 1 ? " of a rank" : "",
      md_memory_amount(memory.bytes + held, amounts[1]), memory.limit, (long long)most, md_memory_advice);
}

md_status md_plan_check_room(md_sim *sim)
{
  const md_engine_kind *kind = md_engine_for(sim->engine, &sim->model, &sim->options, sim->comm->size);
  const bool looks = kind->plan && sim->model.natoms > 0;
  if (!looks) return md_comm_agree(sim->comm, MD_OK);
  return md_comm_agree(sim->comm, kind->on_host ? check_room(sim, kind) : check_host(sim, kind));
}
