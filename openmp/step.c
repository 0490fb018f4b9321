/* Steps of the OpenMP engine: kicks and a drift, in one pass.
 *
 * The impulses of a chunk move its particles as soon as they are summed. New positions go into the spare arrays, which
 * change places with the positions at the end, so that a neighbour's old position is there for whoever comes later. Where
 * velocities are wanted before the next drift, at the end of a run by velocity Verlet, impulses are kept in the spare
 * arrays, and that drift is a pass without forces.
 *
 * Every move measures how far particles are from where the list was built, and tells all ranks (messages.c); the first step
 * that would take a pair out of its sight rebins. What was summed by the list while the answer was under way is then
 * forgotten.
 *
 * Cost: 8 dim bytes a particle for the spare arrays. A pass moves 16 dim bytes of positions, the same of velocities and
 * of new positions with what a write reads first, 4 dim of those at the rebin, and the list.
 */
#include "openmp/engine.h"

/* ---- faults ---- */

/* Keeps a physics error until the ranks agree on one: returning at once would leave the others waiting. */
static void note_fault(md_engine *e, fault kind, md_status status)
{
  if (status == MD_OK || e->fault != NO_FAULT) return;
  e->fault = kind;
  e->fault_status = status;
}

/* Pairs that overlap are those of the step that led to their places, unless forces are a step's first part. */
static void note_overlap(md_engine *e, const md_overlap *overlap)
{
  if (overlap->a == INT64_MAX) return;
  md_model then = *e->model;
  if (md_step_of(e->model).kicks_after > 0) then.step = e->positions_step;
  note_fault(e, OVERLAP, md_overlap_status(overlap, &then));
}

/* ---- move ---- */

/* Names the particle of the smallest id that moved too far in the present step or left the box. */
static md_status find_runaway(const md_engine *e, const md_step *step)
{
  const md_particles *p = e->p;
  md_runaway runaway = md_runaway_none();
  for (int64_t i = 0; i < p->n; ++i)
    for (int d = 0; d < p->dim; ++d) {
      const double ratio = e->model->velocity_per_v[p->type[i]], x = p->x[d][i], v = p->v[d][i];
      if (!md_step_allows(step, d, md_drift(v, step->time * ratio, step->round_x), x))
        md_runaway_add(&runaway, p->id[i], d, x, v, ratio);
    }
  return md_runaway_status(&runaway, e->model);
}

/* The second word of a momentum, or NULL. */
static int64_t *low_word(const md_particles *p, int d, int64_t i) { return p->wide ? &p->v_low[d][i] : NULL; }

/* The general move, a particle at a time: several masses, wide momenta, or fixes that act in the middle. */
static bool move_each(const md_engine *e, const move_args *a, const double *const *impulse, int64_t first,
                      int64_t last, double *largest2)
{
  const md_model *model = e->model;
  const md_step *step = a->step;
  const md_particles *p = e->p;
  bool sane = true;
  for (int64_t i = first; i < last; ++i) {
    const int type = p->type[i];
    md_moving m = {.id = (uint64_t)p->id[i],
                   .mass = model->mass[type],
                   .v_step = model->v_step[type],
                   .velocity_per_v = model->velocity_per_v[type],
                   .wide = p->wide};
    for (int d = 0; d < p->dim; ++d) {
      m.x[d] = a->x[d][i];
      m.v[d] = a->v[d][i];
      if (m.wide) m.low[d] = p->v_low[d][i];
      if (impulse)
        md_step_kick(a->kicks * impulse[d][i - first], a->quantum, m.v_step, &m.v[d],
                     m.wide ? &m.low[d] : NULL);
    }
    double moved[3], distance2 = 0.0;
    md_step_move(step, &m, moved);
    for (int d = 0; d < p->dim; ++d) {
      sane = sane && md_step_allows(step, d, moved[d], m.x[d]);
      const double delta = m.x[d] - a->corner[d] - (double)a->from[d][i];
      distance2 += delta * delta;
      a->to[d][i] = m.x[d];
      a->v[d][i] = m.v[d];
      if (m.wide) p->v_low[d][i] = m.low[d];
    }
    *largest2 = md_max(*largest2, distance2);
  }
  return sane;
}

static void move_chunk(const md_engine *e, const move_args *a, const double *const *impulse, int64_t c,
                       finding *f)
{
  const bool plain = e->model->one_mass && !e->model->wide && a->step->middles == 0;
  const int64_t first = c * CHUNK, last = chunk_end(e, c);
  const bool sane = plain ? e->kernels->move(a, impulse, first, last, &f->largest2)
                          : move_each(e, a, impulse, first, last, &f->largest2);
  f->sane = f->sane && sane;
}

static void push_chunk(const md_engine *e, const pass *s, int64_t c, finding *f)
{
  double impulse[3][CHUNK];
  engine_sum_chunk(e, &s->force, c, impulse, &f->overlap);
  move_chunk(e, &s->move, (const double *const[3]){impulse[0], impulse[1], impulse[2]}, c, f);
}

/* Impulses, where they are needed, are in the spare arrays. */
static void drift_chunk(const md_engine *e, const pass *s, int64_t c, finding *f)
{
  const double *impulse[3] = {NULL, NULL, NULL};
  for (int d = 0; d < e->p->dim; ++d) impulse[d] = s->out[d] + c * CHUNK;
  move_chunk(e, &s->move, s->move.kicks > 0.0 ? impulse : NULL, c, f);
}

static move_args move_args_of(const md_engine *e, const md_step *step, bool push)
{
  move_args a = {.kicks = e->owed,
                 .quantum = e->model->grids.v,
                 .time_scale = step->time * e->model->velocity_per_v[1],
                 .step = step};
  for (int d = 0; d < e->p->dim; ++d) {
    a.x[d] = e->p->x[d];
    a.to[d] = push ? e->p->spare[d] : e->p->x[d];
    a.v[d] = e->p->v[d];
    a.from[d] = e->near_x[d];
    a.corner[d] = e->grid.lo[d];
  }
  return a;
}

md_status engine_act_on_verdict(md_engine *e)
{
  list_verdict verdict;
  MD_TRY(engine_verdict(e, &verdict));
  switch (verdict) {
  case LIST_RELIST: return engine_relist(e, e->most[0]);
  case LIST_REBIN: return engine_rebin(e);
  case LIST_HOLDS: break;
  }
  return MD_OK;
}

/* Gives the owed kicks and drifts, and tells the other ranks. */
static md_status drift(md_engine *e, const md_step *step)
{
  if (!e->built) MD_TRY(engine_rebin(e));
  const bool push = e->owed > 0.0 && !e->impulses_kept;
  const int64_t list = e->rebins;
  finding f = finding_none();
  int summed = 0;
  if (push) MD_TRY(engine_speculative_force(e, &summed, &f));
  MD_TRY(engine_act_on_verdict(e));
  if (e->rebins != list) {
    f = finding_none();
    summed = 0;
  }
  md_particles *p = e->p;
  pass s = {.force = engine_force_args(e, e->model->impulse_k),
            .move = move_args_of(e, step, push),
            .chunk = push ? push_chunk : drift_chunk,
            .summed_chunk = drift_chunk,
            .summed = summed};
  for (int d = 0; d < p->dim; ++d) s.out[d] = p->spare[d];
  MD_TRY(engine_pass(e, &s, push ? MD_PHASE_FORCE : MD_PHASE_MOVE, &f));
  if (push)
    for (int d = 0; d < p->dim; ++d) {
      void *old = p->x[d];
      p->x[d] = p->spare[d];
      p->spare[d] = old;
    }
  note_overlap(e, &f.overlap);
  if (!f.sane && e->fault == NO_FAULT) note_fault(e, RUNAWAY, find_runaway(e, step));
  e->owed = 0.0;
  e->impulses_kept = false;
  e->moved = true;
  e->positions_step = e->model->step;
  return engine_tell(e, sqrt(f.largest2) + e->near_error);
}

static void settle_chunk(const md_engine *e, const pass *s, int64_t c, finding *f)
{
  const double gain = s->move.kicks * s->move.quantum;
  const int64_t first = c * CHUNK, n = chunk_end(e, c) - first;
  double impulse[3][CHUNK];
  engine_sum_chunk(e, &s->force, c, impulse, &f->overlap);
  for (int d = 0; d < e->p->dim; ++d) {
    double *v = s->move.v[d] + first, *out = s->out[d] + first;
    memcpy(out, impulse[d], (size_t)n * sizeof *out);
    if (e->p->wide) {
      for (int64_t i = 0; i < n; ++i)
        md_step_kick(s->move.kicks * impulse[d][i], s->move.quantum, e->model->v_step[e->p->type[first + i]],
                     &v[i], low_word(e->p, d, first + i));
      continue;
    }
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) v[i] = fma(impulse[d][i], gain, v[i]);
  }
}

md_status engine_settle(md_engine *e)
{
  if (e->owed == 0.0) return MD_OK;
  pass s = {.force = engine_force_args(e, e->model->impulse_k),
            .move = {.kicks = e->owed, .quantum = e->model->grids.v},
            .chunk = settle_chunk};
  for (int d = 0; d < e->p->dim; ++d) {
    s.move.v[d] = e->p->v[d];
    s.out[d] = e->p->spare[d];
  }
  finding f = finding_none();
  MD_TRY(engine_pass(e, &s, MD_PHASE_FORCE, &f));
  note_overlap(e, &f.overlap);
  e->owed = 0.0;
  e->impulses_kept = true;
  return MD_OK;
}

md_status engine_step(md_engine *e)
{
  const md_step step = md_step_of(e->model);
  if (!step.moves) return MD_OK;
  e->owed += step.kicks_before;
  MD_TRY(drift(e, &step));
  e->owed += step.kicks_after;
  return MD_OK;
}
