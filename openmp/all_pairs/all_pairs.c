/* The OpenMP engine for pair styles without a cutoff, such as gravity: every body feels every other body.
 *
 *   1. Each rank owns an equal share of the bodies, wherever they are. There are no domains, cells, lists and ghosts.
 *   2. A step sums the impulses (points 1 and 4 of common/step/step.h), and kicks and drifts all bodies
 *      (common/step/host_step.h).
 *   3. For the sums the blocks of bodies travel around a ring of ranks. A rank computes with one block while it sends
 *      this block to the next rank and receives another block from the rank before:
 *
 *             hop 0      hop 1      hop 2
 *      rank 0   A          C          B
 *      rank 1   B          A          C
 *      rank 2   C          B          A
 *
 * Impulses are whole numbers of quanta, so that neither the order of the blocks nor the number of threads and ranks
 * changes a bit.
 *
 * Trade-off: the ring needs memory for two blocks only, and each message has a whole block's work to hide behind. But
 * both bodies of a pair evaluate it (kernels.c here).
 * Cost: n^2 pairs a step; on P ranks P - 1 messages of 8 (dim + 2) n/P bytes each; 8 (2 dim + 2) bytes a body,
 * 8 (4 dim + 6) on several ranks.
 */
#include "common/pair/all_pairs.h"
#include "common/base/memory.h"
#include "common/compute/measure.h"
#include "common/faults.h"
#include "common/force/forces.h"
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"
#include "common/step/host_step.h"
#include "openmp/all_pairs/all_pairs.h"
#include "openmp/openmp.h"
#include "openmp/plan.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

/* Bodies whose sums a thread takes at a time; a multiple of ALL_PAD. */
enum { BODIES_MOST = 256, PARTS = 8 };

struct md_engine {
  md_model *model;
  md_particles *p;
  md_comm *comm;
  const all_kernels *kernels;
  int threads, threads_before;
  int64_t capacity;    /* length of a row of a block: the most bodies of a rank, padded */
  double *own;         /* a message: the number of bodies, and the rows of this rank's block */
  double *visitor[2];  /* the messages of the block that is here, and of the one that is coming */
  int64_t *impulse[3]; /* of the pair forces, in quanta of grids.v; padded as blocks are */
  bool current;        /* these are the impulses at the present positions */
  md_timers timers;
  int64_t steps;
};

static void destroy(md_engine *e)
{
  free(e->own);
  for (int k = 0; k < 2; ++k) free(e->visitor[k]);
  for (int d = 0; d < 3; ++d) free(e->impulse[d]);
  omp_set_num_threads(e->threads_before);
  free(e);
}

/* ---- blocks of bodies ---- */

/* A message begins with a row's start of its own, so that rows are aligned. */
static int64_t message_length(const md_engine *e) { return ALL_PAD + e->capacity * (e->p->dim + 2); }

static body_block block_of(const md_engine *e, const double *message)
{
  const double *row = message + ALL_PAD;
  body_block b = {.n = (int64_t)message[0]};
  for (int d = 0; d < e->p->dim; ++d, row += e->capacity) b.x[d] = row;
  b.mass = row;
  const void *ids = row + e->capacity;
  b.id = ids;
  return b;
}

/* Writes this rank's bodies to its block; the masses are multiplied by `charge`. */
static void pack(md_engine *e, double charge)
{
  const md_particles *p = e->p;
  double *row = e->own + ALL_PAD;
  e->own[0] = (double)p->n;
  for (int d = 0; d < p->dim; ++d, row += e->capacity)
    if (p->n > 0) memcpy(row, p->x[d], (size_t)p->n * sizeof *row);
  for (int64_t i = 0; i < p->n; ++i) row[i] = md_mass_of(e->model, p, i) * charge;
  if (p->n > 0) memcpy(row + e->capacity, p->id, (size_t)p->n * sizeof *p->id);
}

/* Calls `work` with the block of every rank, in parts. `from` and `parts`: the work is part `from` of `parts`. */
typedef void (*block_work)(md_engine *, const body_block *own, const body_block *other, bool same, int64_t i0,
                           int64_t i1, void *to);

/* The bodies of part `part` of `parts`: [*i0, *i1). Bounds between parts are multiples of ALL_PAD. */
static void part_bounds(int64_t n, int part, int parts, int64_t *i0, int64_t *i1)
{
  const int64_t vectors = (n + ALL_PAD - 1) / ALL_PAD;
  *i0 = vectors * part / parts * ALL_PAD;
  *i1 = vectors * (part + 1) / parts * ALL_PAD;
  if (*i1 > n) *i1 = n;
}

/* Takes the blocks of all ranks around the ring, and does `work` on this rank's bodies with each of them. While
 * messages are under way, looks at them after every part of the work. Collective. */
static md_status go_round(md_engine *e, double charge, block_work work, void *to)
{
  const md_comm_exchange *exchange = e->comm->exchange;
  const int64_t bytes = message_length(e) * (int64_t)sizeof(double);
  pack(e, charge);
  const body_block own = block_of(e, e->own);
  const double *here = e->own;
  for (int hop = 0; hop < e->comm->size; ++hop) {
    const bool last = hop + 1 == e->comm->size;
    const int parts = last ? 1 : PARTS;
    bool done = last;
    double mark = md_time();
    if (!last) MD_TRY(exchange->ring_begin(e->comm, here, e->visitor[hop & 1], bytes));
    const body_block other = block_of(e, here);
    for (int part = 0; part < parts; ++part) {
      int64_t i0, i1;
      part_bounds(own.n, part, parts, &i0, &i1);
      work(e, &own, &other, hop == 0, i0, i1, to);
      if (!done) MD_TRY(exchange->ring_next(e->comm, false, &done));
    }
    md_timers_lap(&e->timers, MD_PHASE_FORCE, &mark);
    if (!done) MD_TRY(exchange->ring_next(e->comm, true, &done));
    md_timers_lap(&e->timers, MD_PHASE_HALO, &mark);
    here = e->visitor[hop & 1];
  }
  return MD_OK;
}

/* ---- create ---- */

static md_status make_arrays(md_engine *e)
{
  double most = (double)e->p->n;
  MD_TRY(e->comm->reduce->max(e->comm, &most, 1));
  e->capacity = ((int64_t)most / ALL_PAD + 1) * ALL_PAD;
  md_status status = md_array_new_zero(&e->own, message_length(e), sizeof(double), "block of bodies");
  for (int k = 0; k < 2 && e->comm->size > 1 && status == MD_OK; ++k)
    status = md_array_new_zero(&e->visitor[k], message_length(e), sizeof(double), "block of bodies");
  for (int d = 0; d < e->p->dim && status == MD_OK; ++d)
    status = md_array_new_zero(&e->impulse[d], e->capacity, sizeof(int64_t), "impulses");
  return status;
}

static md_status create(md_engine **engine, md_model *model, md_particles *p, md_comm *comm,
                        const md_engine_options *options)
{
  const char *isa;
  MD_TRY(md_openmp_wanted_isa(&isa));
  md_engine *e = calloc(1, sizeof *e);
  if (!e) return md_error(MD_RUNTIME, "out of memory: the OpenMP engine");
  e->model = model;
  e->p = p;
  e->comm = comm;
  e->kernels = all_kernels_choose(isa);
  e->threads_before = omp_get_max_threads();
  e->threads = options->threads > 0 ? options->threads : omp_get_num_procs();
  omp_set_num_threads(e->threads);
  const md_status status = make_arrays(e);
  if (status != MD_OK) {
    destroy(e);
    return status;
  }
  *engine = e;
  return MD_OK;
}

/* ---- steps ---- */

static all_args args_of(const md_engine *e, const body_block *own, const body_block *other, bool same,
                        double scale, double range)
{
  const md_model *model = e->model;
  all_args a = {.own = own,
                .other = other,
                .same = same,
                .dim = model->box.dim,
                .close2 = model->close2,
                .range = range,
                .per_e = 1.0 / (model->grids.e * MD_FINE),
                .per_w = model->grids.f / model->grids.w};
  md_pair_unit_coefficients(&model->pair, scale, a.k);
  return a;
}

static void sum_part(md_engine *e, const body_block *own, const body_block *other, bool same, int64_t i0,
                     int64_t i1, void *to)
{
  md_overlap *overlap = to;
  const double range = md_all_range(e->model->wide);
  const all_args a = args_of(e, own, other, same, e->model->impulse_scale, range);
  const int64_t share = (i1 - i0) / (4 * (int64_t)e->threads) / ALL_PAD * ALL_PAD;
  const int64_t bodies = share < ALL_PAD ? ALL_PAD : share > BODIES_MOST ? BODIES_MOST : share;
#pragma omp parallel
  {
    md_overlap found = md_overlap_none();
#pragma omp for schedule(dynamic)
    for (int64_t i = i0; i < i1; i += bodies)
      e->kernels->impulse[e->model->pair.kind](&a, i, i + bodies < i1 ? i + bodies : i1, 0, other->n,
                                               e->impulse, &found);
#pragma omp critical
    md_overlap_add(overlap, found.a, found.b, found.r2);
  }
}

/* Point 1 or 4 of the step. step: the one after which the positions are. */
static md_status sum_impulses(md_engine *e, int64_t step)
{
  md_overlap overlap = md_overlap_none();
  for (int d = 0; d < e->p->dim; ++d) memset(e->impulse[d], 0, (size_t)e->capacity * sizeof(int64_t));
  MD_TRY(go_round(e, md_pair_charge(&e->model->pair, e->model->impulse_scale), sum_part, &overlap));
  MD_TRY(md_forces_on_impulses(e->model, e->comm, e->p, step, 0, (md_impulses){.whole = e->impulse},
                               e->threads, &overlap));
  e->current = true;
  return md_comm_agree(e->comm, md_overlap_status(&overlap, e->model));
}

/* Points 1 and 2 of the step, or 4 and 5. */
static md_status push(md_engine *e, int kicks, int64_t step)
{
  if (kicks == 0) return MD_OK;
  if (!e->current) MD_TRY(sum_impulses(e, step));
  double mark = md_time();
  md_host_kick(e->model, e->p, e->impulse, kicks, e->threads);
  md_timers_lap(&e->timers, MD_PHASE_MOVE, &mark);
  return MD_OK;
}

static md_status take_step(md_engine *e)
{
  const md_step step = md_step_of(e->model);
  MD_TRY(push(e, step.kicks_before, e->model->step));
  if (step.moves) {
    double mark = md_time();
    const md_status status = md_host_drift(e->model, e->p, &step, e->impulse, e->threads);
    e->current = false;
    md_timers_lap(&e->timers, MD_PHASE_MOVE, &mark);
    MD_TRY(md_comm_agree(e->comm, status));
    md_timers_lap(&e->timers, MD_PHASE_REDUCE, &mark);
  }
  return push(e, step.kicks_after, md_model_step_after(e->model, 1));
}

static md_status run(md_engine *e, int64_t n)
{
  for (int64_t s = 0; s < n; ++s) {
    MD_TRY(take_step(e));
    e->model->step = md_model_step_after(e->model, 1);
    ++e->steps;
  }
  return MD_OK;
}

/* ---- output ---- */

/* What a round for output adds up. */
typedef struct output_sums {
  md_measure *total;
  md_fine *force[3]; /* NULL: none */
  md_overlap overlap;
} output_sums;

static void measure_part(md_engine *e, const body_block *own, const body_block *other, bool same, int64_t i0,
                         int64_t i1, void *to)
{
  output_sums *s = to;
  const all_args a = args_of(e, own, other, same, 1.0 / (e->model->grids.f * MD_FINE), e->model->force_range);
#pragma omp parallel
  {
    md_measure mine = {.count = 0};
    md_overlap found = md_overlap_none();
#pragma omp for schedule(dynamic)
    for (int64_t i = i0; i < i1; i += ALL_PAD)
      for (int64_t v = i; v < i + ALL_PAD && v < i1; v += e->kernels->lanes) {
        md_fine force[3][ALL_PAD] = {{{0, 0}}};
        e->kernels->measure[e->model->pair.kind](&a, v, &mine.pair_energy2, &mine.virial2,
                                                 s->force[0] ? force : NULL, &found);
        for (int d = 0; s->force[0] && d < e->p->dim; ++d)
          for (int64_t l = 0; l < e->kernels->lanes && v + l < i1; ++l) {
            s->force[d][v + l].coarse += force[d][l].coarse;
            s->force[d][v + l].rest += force[d][l].rest;
          }
      }
#pragma omp critical
    {
      md_measure_merge(e->model, s->total, &mine);
      md_overlap_add(&s->overlap, found.a, found.b, found.r2);
    }
  }
}

static md_status measure(md_engine *e, md_wanted wanted, md_measure *total)
{
  *total = (md_measure){.count = e->p->n};
  for (int64_t i = 0; i < e->p->n; ++i) md_measure_particle(e->model, wanted.summands, e->p, i, total);
  if (!md_wants_virial(wanted)) return MD_OK;
  output_sums s = {.total = total, .overlap = md_overlap_none()};
  MD_TRY(go_round(e, 1.0, measure_part, &s));
  return md_overlap_status(&s.overlap, e->model);
}

static md_status act(md_engine *e, const md_action *action)
{
  double mark = md_time();
  md_host_act(e->model, e->p, action, e->threads);
  md_timers_lap(&e->timers, MD_PHASE_MOVE, &mark);
  return MD_OK;
}

static md_status output_forces(md_engine *e, md_fine *sum, double *const force[3])
{
  const md_particles *p = e->p;
  md_measure unused = {.count = 0};
  output_sums s = {.total = &unused, .overlap = md_overlap_none()};
  for (int d = 0; d < p->dim; ++d) s.force[d] = sum + d * p->n;
  MD_TRY(go_round(e, 1.0, measure_part, &s));
  for (int d = 0; d < p->dim; ++d)
    for (int64_t i = 0; i < p->n; ++i) force[d][i] = md_fine_value(s.force[d][i]) * e->model->grids.f;
  return md_comm_agree(e->comm, md_overlap_status(&s.overlap, e->model));
}

static md_status download(md_engine *e, double *const force[3])
{
  if (!force) return MD_OK;
  md_fine *sum;
  const md_status enough = md_array_new_zero(&sum, e->p->n * e->p->dim + 1, sizeof *sum, "forces");
  MD_TRY(md_comm_agree(e->comm, enough));
  const md_status status = output_forces(e, sum, force);
  free(sum);
  return status;
}

static int64_t bytes_of(const md_model *model, int64_t bodies, int blocks)
{
  const int dim = model->box.dim;
  const md_particles like = md_model_fields(model);
  return bodies * (md_particles_bytes(&like) + 8 * (dim + 2) * blocks + 8 * dim);
}

static md_status plan(const md_model *model, int64_t n, const md_engine_options *options,
                      md_engine_plan *plan)
{
  (void)n;
  const int dim = model->box.dim, blocks = options->ranks > 1 ? 3 : 1;
  const md_particles like = md_model_fields(model);
  *plan = (md_engine_plan){.ghost_bytes = 8 * (dim + 2)};
  md_plan_add(plan, "particles", md_particles_bytes(&like));
  md_plan_add(plan, "blocks of bodies", 8.0 * (dim + 2) * blocks);
  md_plan_add(plan, "impulses", 8.0 * dim);
  snprintf(plan->method, sizeof plan->method, "all pairs");
  snprintf(plan->device, sizeof plan->device, "this machine");
  md_memory memory;
  MD_TRY(md_memory_look("", 1, &memory));
  plan->available = memory.bytes < 0x1p62 ? (int64_t)memory.bytes : 0;
  return MD_OK;
}

static void report(const md_engine *e, md_engine_report *r)
{
  *r = (md_engine_report){.timers = e->timers,
                          .steps = e->steps,
                          .neighbours = (double)(e->model->natoms - 1),
                          .bytes = bytes_of(e->model, e->capacity, e->comm->size > 1 ? 3 : 1),
                          .isa = e->kernels->isa,
                          .isa_note = md_openmp_isa_note(),
                          .threads = e->threads};
}

const md_engine_kind md_engine_openmp_all_pairs = {
    .name = "openmp",
    .summary = "all pairs with vector instructions on all cores",
    .create = create,
    .run = run,
    .measure = measure,
    .act = act,
    .download = download,
    .plan = plan,
    .report = report,
    .destroy = destroy,
    .on_host = true,
};
