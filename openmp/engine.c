/* The OpenMP engine: molecular dynamics on all cores of a host, with cells and Verlet lists. This file makes the
 * engine, runs steps, measures, and hands out positions and forces.
 *
 * 1. A rebin (rebin.c) bins the particles, sorts them by cell, fills cell_start and makes the list.
 * 2. A step (step.c) computes forces and moves the particles, in one pass over all of them (openmp/force/pass.c).
 * 3. Steps follow until the list ends. Then comes a new list from the same cells, or the next rebin.
 *
 * A list is valid as long as no particle has moved by more than half the skin since the list was made. Every move
 * measures this distance. So the list never decides a result. The number of threads, the cell size and the skin
 * decide none either.
 *
 * Trade-offs and costs stand in rebin.c (lists) and step.c (steps).
 */
#include "openmp/engine.h"
#include "common/compute/measure.h"
#include "common/ranks/domains.h"
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"
#include "common/step/host_step.h"
#include "openmp/openmp.h"
#include "openmp/plan.h"

#include <omp.h>
#include <stdlib.h>

static void destroy(md_engine *e)
{
  cell_index_free(&e->owned);
  cell_index_free(&e->ghost);
  for (int d = 0; d < 3; ++d) free(e->near.x[d]);
  free(e->type);
  free(e->subtype);
  free(e->molecule);
  free(e->half.record);
  free(e->half.memory);
  free(e->density.slope);
  free(e->density.kept);
  free(e->density.embedding);
  md_partners_free(&e->partners);
  if (e->list.arenas)
    for (int t = 0; t < e->threads; ++t) {
      free(e->list.arenas[t].entry);
      for (int l = 0; l < BLOCK; ++l) free(e->list.arenas[t].lane[l]);
    }
  free(e->list.arenas);
  queues_free(&e->queues);
  free(e->list.at);
  free(e->list.arena);
  free(e->list.entries);
  free(e->list.rows);
  free(e->list.inner);
  free(e->list.early);
  if (e->options.threads > 0) omp_set_num_threads(e->options.threads);
  free(e);
}

/* Gives every rank its domain, and moves each particle to its owner. */
static md_status divide(const md_model *model, md_particles *p, md_comm *comm)
{
  comm->domains->prefer_slabs(comm, openmp_slab(model));
  MD_TRY(
      comm->domains->decompose(comm, model, model->reach > 0.0 ? model->reach + md_model_skin(model) : 0.0));
  return comm->exchange->migrate(comm, model, p);
}

static md_status create(md_engine **engine, md_model *model, md_particles *p, md_comm *comm,
                        const md_engine_options *options)
{
  const char *isa;
  MD_TRY(md_openmp_wanted_isa(&isa));
  if (comm->size > 1) MD_TRY(divide(model, p, comm));
  /* A thread without a chunk has no work, and the other threads would wait for it at the end of every pass. */
  const int64_t chunks = (p->n + CHUNK - 1) / CHUNK;
  const int threads = options->threads > 0 ? options->threads : omp_get_num_procs();
  omp_set_num_threads(chunks < threads ? (int)(chunks > 1 ? chunks : 1) : threads);
  md_engine *e = calloc(1, sizeof *e);
  if (!e) return md_error(MD_RUNTIME, "out of memory: the OpenMP engine");
  e->model = model;
  e->p = p;
  e->comm = comm;
  e->options = *options;
  e->kernels = kernels_choose(isa);
  e->threads = omp_get_max_threads();
  e->list.arenas = calloc((size_t)e->threads, sizeof *e->list.arenas);
  md_status status = queues_new(&e->queues, e->threads);
  if (!e->list.arenas) status = md_error(MD_RUNTIME, "out of memory: the OpenMP engine");
  if (status != MD_OK) {
    destroy(e);
    return status;
  }
  e->positions_step = e->present_step = model->step;
  e->skin = md_model_skin(model);
  e->reach = model->cutoff + e->skin;
  e->list.halves = openmp_halves(model, model->natoms);
  e->list.row_lengths = e->list.halves ? 2 * CHUNK : CHUNK_BLOCKS;
  *engine = e;
  return MD_OK;
}

static md_status run(md_engine *e, int64_t n)
{
  e->after_step.summed = (md_wanted){.pairs = false};
  for (int64_t s = 0; s < n; ++s) {
    MD_TRY(engine_step(e));
    e->model->step = md_model_step_after(e->model, 1);
    ++e->steps;
  }
  MD_TRY(engine_act_on_verdict(e));
  MD_TRY(engine_settle(e));
  return e->fault_status;
}

/* ---- measure ---- */

/* Adds the terms of all particles to a measure. */
static void measure_terms(const md_engine *e, uint64_t summands, md_measure *total)
{
  const md_model *model = e->model;
#pragma omp parallel
  {
    md_measure mine = {.count = 0};
#pragma omp for schedule(static)
    for (int64_t i = 0; i < e->p->n; ++i) md_measure_particle(model, summands, e->p, i, &mine);
#pragma omp critical
    md_measure_merge(model, total, &mine);
  }
}

md_status engine_sum_chunks(const md_engine *e, chunk_sum sum_chunk, const void *context, md_measure *total)
{
  md_overlap overlap = md_overlap_none();
#pragma omp parallel
  {
    md_measure mine = {.count = 0};
    md_overlap bad = md_overlap_none();
#pragma omp for schedule(static)
    for (int64_t c = 0; c < e->list.nchunk; ++c) sum_chunk(e, context, c, &mine, &bad);
#pragma omp critical
    {
      md_measure_merge(e->model, total, &mine);
      md_overlap_add(&overlap, bad.a, bad.b, bad.r2);
    }
  }
  return md_overlap_status(&overlap, e->model);
}

typedef struct pair_sums {
  force_args args;
  bool tensor; /* the components of the virial, else energies and virials */
} pair_sums;

static void sum_pairs(const md_engine *e, const void *context, int64_t c, md_measure *m, md_overlap *near)
{
  const pair_sums *s = context;
  const kernels *k = e->kernels;
  const md_pair_kind kind = e->model->pair.kind;
  const int64_t first = c * CHUNK, last = chunk_end(e, c);
  const int32_t *list = chunk_list(e, c), *rows = chunk_rows(e, c);
  const double least = e->list.half ? k->half_measure(&s->args, kind, s->tensor, first, last, list, rows, m)
                                    : (s->tensor ? k->tensor : k->measure)[kind](&s->args, e->p->dim, first,
                                                                                 last, list, rows, m);
  if (least < e->model->close2) engine_find_overlap(e, c, near);
}

/* Adds the sums of all pairs to a measure. */
static md_status measure_pairs(md_engine *e, bool tensor, md_measure *total)
{
  const md_model *model = e->model;
  if (model->pair.kind == MD_PAIR_NONE) return MD_OK;
  if (md_pair_needs_more(&model->pair)) return engine_visited_measure(e, tensor, total);
  engine_fill_records(e);
  pair_sums s = {.args = engine_force_args(e, model->force_k), .tensor = tensor};
  s.args.per_e = 1.0 / (model->grids.e * MD_FINE);
  s.args.per_w = model->grids.f / model->grids.w;
  s.args.near2 = -1.0;
  return engine_sum_chunks(e, sum_pairs, &s, total);
}

/* context: whether the components of the virial are wanted. */
static void sum_bonds(const md_engine *e, const void *context, int64_t c, md_measure *m, md_overlap *broken)
{
  const bool *tensor = context;
  for (int64_t i = c * CHUNK; i < chunk_end(e, c); ++i)
    md_partners_measure(&e->partners, e->model, e->p, NULL, *tensor, i, m, broken);
}

/* Adds the sums of all bonds to a measure. */
static md_status measure_bonds(md_engine *e, bool tensor, md_measure *total)
{
  return e->model->bonds.ntypes > 0 ? engine_sum_chunks(e, sum_bonds, &tensor, total) : MD_OK;
}

static md_status measure_forces(md_engine *e, bool tensor, md_measure *total)
{
  if (!e->structure_fits) MD_TRY(engine_rebin(e));
  MD_TRY(engine_finish_halo(e));
  MD_TRY(measure_pairs(e, tensor, total));
  return measure_bonds(e, tensor, total);
}

static void sum_impulse_virial(const md_engine *e, const void *context, int64_t c, md_measure *m,
                               md_overlap *overlap)
{
  const force_args *a = context;
  const md_pair_kind kind = e->model->pair.kind;
  const int64_t first = c * CHUNK, last = chunk_end(e, c);
  const int32_t *list = chunk_list(e, c), *rows = chunk_rows(e, c);
  double impulse[3][CHUNK];
  const double least =
      e->list.half ? e->kernels->half_impulse_virial(a, kind, first, last, list, rows, m)
                   : e->kernels->force_virial[kind](a, e->p->dim, first, last, list, rows, impulse, m);
  if (least < e->model->close2) engine_find_overlap(e, c, overlap);
}

/* The virial of impulses, or its components along the axes. */
static md_status measure_impulses(md_engine *e, bool axes, md_measure *total)
{
  if (!e->structure_fits) MD_TRY(engine_rebin(e));
  MD_TRY(engine_finish_halo(e));
  engine_fill_records(e);
  force_args args = engine_force_args(e, e->model->impulse_k);
  args.axes = axes;
  args.near2 = -1.0;
  return engine_sum_chunks(e, sum_impulse_virial, &args, total);
}

/* Sums that the last pass of a run has made are there. */
static md_status measure_virial(md_engine *e, md_wanted wanted, md_measure *total)
{
  const md_wanted *summed = &e->after_step.summed;
  if (!wanted.impulses) {
    if (md_wants_virial(wanted)) MD_TRY(measure_forces(e, false, total));
    return wanted.tensor ? measure_forces(e, true, total) : MD_OK;
  }
  if (wanted.virial && !summed->virial) MD_TRY(measure_impulses(e, false, total));
  if (wanted.tensor && !summed->tensor) MD_TRY(measure_impulses(e, true, total));
  if (wanted.virial && summed->virial) total->virial2 = e->after_step.sums.virial2;
  if (wanted.tensor && summed->tensor)
    memcpy(total->tensor2, e->after_step.sums.tensor2, sizeof total->tensor2);
  return MD_OK;
}

static md_status measure(md_engine *e, md_wanted wanted, md_measure *total)
{
  double mark = md_time();
  const bool terms_there = (wanted.summands & ~e->after_step.summed.summands) == 0;
  *total = (md_measure){.count = 0};
  MD_TRY(measure_virial(e, wanted, total));
  if (terms_there)
    memcpy(total->term, e->after_step.sums.term, sizeof total->term);
  else {
    engine_do_owed_actions(e);
    measure_terms(e, wanted.summands, total);
  }
  total->count = e->p->n;
  /* Terms alone are wanted by a fix, not by output. */
  if (!md_wants_virial(wanted) && !wanted.tensor) md_timers_lap(&e->timers, MD_PHASE_MOVE, &mark);
  return MD_OK;
}

static md_status act(md_engine *e, const md_action *action)
{
  double mark = md_time();
  e->after_step.summed = (md_wanted){.pairs = false};
  if (!engine_owe_action(e, action)) {
    engine_do_owed_actions(e);
    md_host_act(e->model, e->p, action, e->threads);
  }
  md_timers_lap(&e->timers, MD_PHASE_MOVE, &mark);
  return MD_OK;
}

/* ---- output ---- */

static void download_chunk(const md_engine *e, const pass *s, int64_t c, finding *f)
{
  const int64_t first = c * CHUNK, n = chunk_end(e, c) - first;
  double force[3][CHUNK];
  engine_output_forces(e, &s->force, c, force, &f->overlap);
  for (int d = 0; d < e->p->dim; ++d) memcpy(s->out[d] + first, force[d], (size_t)n * sizeof(double));
}

/* The positions that leave the engine must be wrapped. Wrapping moves particles by whole box lengths, and the ghosts
 * of the present list do not follow. So a rebin wraps the particles, and makes ghosts and list anew. Forces for output
 * need a full list, which then also serves the steps until it ends. It is made from the cells of a rebin that was made
 * at the present positions, by this call or by the last one, so that the order of the last call stays. */
static md_status download(md_engine *e, double *const force[3])
{
  const bool *periodic = e->model->box.periodic;
  engine_do_owed_actions(e);
  e->after_step.summed = (md_wanted){.pairs = false};
  const bool wrap = periodic[0] || periodic[1] || (e->p->dim == 3 && periodic[2]);
  MD_TRY(engine_finish_halo(e));
  e->list.full_wanted = force != NULL;
  if (!e->structure_fits || (e->moved && (wrap || e->list.half)))
    MD_TRY(engine_rebin(e));
  else if (force && e->list.half)
    MD_TRY(engine_relist(e, 0.0));
  e->list.full_wanted = false;
  if (!force) return MD_OK;
  MD_TRY(engine_prepare_pairs(e));
  pass s = {.force = engine_force_args(e, e->model->force_k),
            .out = {force[0], force[1], force[2]},
            .chunk = download_chunk,
            .forces = true};
  s.force.quantum = e->model->grids.f;
  finding f = finding_none();
  MD_TRY(engine_pass(e, &s, MD_PHASE_FORCE, &f));
  return md_comm_agree(e->comm, md_overlap_status(&f.overlap, e->model));
}

static void report(const md_engine *e, md_engine_report *r)
{
  int64_t entries = 0,
          bytes = e->p->capacity * md_particles_bytes(e->p) + e->p->spare_capacity * e->p->dim * 8;
  for (int t = 0; t < e->threads; ++t) {
    entries += e->list.arenas[t].used;
    bytes +=
        (e->list.arenas[t].capacity + BLOCK * e->list.arenas[t].lane_capacity) * (int64_t)sizeof(int32_t);
  }
  bytes += cell_index_bytes(&e->owned) + cell_index_bytes(&e->ghost);
  bytes += e->density.capacity * (e->density.kept ? 1 + MD_THREE_SUMS : 2) * (int64_t)sizeof(double);
  bytes += md_partners_bytes(&e->partners);
  bytes += e->molecule_capacity * (int64_t)sizeof(double);
  bytes += e->near.capacity * e->p->dim * (int64_t)sizeof(float);
  bytes += e->type_capacity * (int64_t)sizeof(int32_t) + e->subtype_capacity * 2 +
           e->list.capacity * (18 + e->list.row_lengths * 4);
  bytes += e->half.capacity * (int64_t)(4 * (sizeof *e->half.record + sizeof *e->half.sum));
  *r = (md_engine_report){.timers = e->timers,
                          .rebins = e->lists,
                          .steps = e->steps,
                          .neighbours = e->p->n > 0 ? (double)entries / (double)e->p->n : 0.0,
                          .ghosts = e->p->nghost,
                          .bytes = bytes,
                          .isa = e->kernels->isa,
                          .isa_note = md_openmp_isa_note(),
                          .details = e->sorts > 0 ? e->details : NULL,
                          .threads = e->threads};
}

const md_engine_kind md_engine_openmp = {
    .name = "openmp",
    .summary = "cells, Verlet lists and vector instructions on all cores",
    .create = create,
    .run = run,
    .measure = measure,
    .act = act,
    .download = download,
    .plan = md_openmp_plan,
    .report = report,
    .destroy = destroy,
    .on_host = true,
    .all_pairs = &md_engine_openmp_all_pairs,
};
