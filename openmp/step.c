/* Steps of the OpenMP engine: the kicks and the drift of a step, in one pass over the particles.
 *
 *   1. For each chunk, a pass sums the impulses and moves the particles of the chunk at once. New positions go into the
 *      spare arrays, because other chunks still need the old positions of these particles. At the end of the pass the
 *      spare arrays and the position arrays change places.
 *   2. Every move measures how far particles are from where the list was built, and tells all ranks (messages.c).
 *   3. The next step begins while the answer is under way, with speculative forces (openmp/force/pass.c). If the list
 *      may miss a pair, the verdict is a relist or a rebin, and the speculative forces are thrown away.
 *
 * With a half list and no bonds new positions stay in place, because forces read the records
 * (openmp/force/half_kernels.h).
 *
 * Trade-off: forces are used while they are in the cache, and usually no array of forces travels through memory. But
 * the spare arrays take memory.
 *
 * Some velocities are needed before the next drift: at the end of a run with velocity Verlet. Then engine_settle()
 * gives the kicks without a drift, and keeps the impulses in the spare arrays. The next drift is a pass without
 * forces, and it is in place.
 *
 * Cost: 8 dim bytes a particle of memory for the spare arrays. A pass moves these bytes a particle: 16 dim for
 * positions, 16 dim for velocities, 16 dim for new positions (a write first reads what was there), 4 dim for the
 * positions at which the list was built, and the list.
 */
#include "common/force/forces.h"
#include "common/step/host_step.h"
#include "openmp/engine.h"

/* ---- faults ---- */

/* Keeps a physics error until the ranks agree on one. If this rank returned at once, the other ranks would wait for it
 * forever. */
static void note_fault(md_engine *e, fault kind, md_status status)
{
  if (status == MD_OK || e->fault != NO_FAULT) return;
  e->fault = kind;
  e->fault_status = status;
}

/* Notes a pair that overlaps. The error names the step that led to the present positions, if the integrator kicks after
 * the drift. Otherwise the force is the first part of a step, and the error names that step. */
static void note_overlap(md_engine *e, const md_overlap *overlap)
{
  if (overlap->a == INT64_MAX) return;
  md_model then = *e->model;
  if (md_step_of(e->model).kicks_after != 0) then.step = e->positions_step;
  note_fault(e, OVERLAP, md_overlap_status(overlap, &then));
}

/* ---- move ---- */

/* The second word of a momentum component, or NULL if momenta are not wide. */
static int64_t *low_word(const md_particles *p, int d, int64_t i) { return p->wide ? &p->v_low[d][i] : NULL; }

/* The general move, one particle at a time: for several masses, wide momenta, or fixes that act in the middle of a
 * drift. The arguments are those of kernels.move. */
static bool move_each(const md_engine *e, const move_args *a, const double *const *impulse, int64_t first,
                      int64_t last, double *largest2)
{
  const md_step *step = a->step;
  const md_particles *p = e->p;
  bool sane = true;
  for (int64_t i = first; i < last; ++i) {
    md_particle m = md_particle_of(e->model, p, i);
    const bool moves = (m.group & step->moving) != 0;
    for (int d = 0; impulse && moves && d < p->dim; ++d) {
      md_step_kick(a->kicks * impulse[d][i - first], a->quantum, m.v_step, &m.v[d],
                   m.wide ? &m.low[d] : NULL);
      m.impulse[d] = a->quantum * impulse[d][i - first];
    }
    double moved[3] = {0.0}, distance2 = 0.0;
    md_step_move(step, &m, moved);
    for (int d = 0; d < p->dim; ++d) {
      sane = sane && md_step_allows(step, d, moved[d], m.x[d]);
      const double delta = m.x[d] - a->corner[d] - e->near.scale[d] * (double)a->from[d][i];
      distance2 += delta * delta;
      a->to[d][i] = m.x[d];
      a->v[d][i] = m.v[d];
      if (m.wide) p->v_low[d][i] = m.low[d];
    }
    *largest2 = md_max(*largest2, distance2);
  }
  return sane;
}

/* May the kernels move the particles? */
static bool moves_alike(const md_engine *e, const md_step *step)
{
  bool alike = e->model->one_mass && !e->model->wide && step->moving == MD_GROUP_ALL &&
               !(step->changes_box && step->triclinic) && step->flow.group == 0;
  for (int d = 0; d < step->dim; ++d) alike = alike && (step->carried[d] & ~MD_GROUP_ALL) == 0;
  return alike;
}

static bool move_in_bath(const md_engine *e, const move_args *a, const double *const *impulse, int64_t first,
                         int64_t last, double *largest2)
{
  const md_step *step = a->step;
  const md_action *act = &step->middle[0];
  if (step->middles != 1 || step->changes_box || !md_langevin_alike(act)) return false;
  const bath b = {.keep = act->k[0],
                  .noise = md_langevin_noise(act, step, 0, act->k[0], e->model->mass[1]),
                  .v_step = e->model->v_step[1],
                  .seed = act->seed,
                  .draw = step->draw,
                  .id = e->p->id};
  return e->kernels->move_in_bath(a, &b, impulse, first, last, largest2);
}

static void move_chunk(const md_engine *e, const move_args *a, const double *const *impulse, int64_t c,
                       finding *f)
{
  const md_step *step = a->step;
  const bool alike = moves_alike(e, step);
  const int64_t first = c * CHUNK, last = chunk_end(e, c);
  for (int k = 0; k < e->after_step.scalings; ++k)
    e->kernels->scale(&e->after_step.scaling[k], step->dim, a->v, first, last);
  if (alike && move_in_bath(e, a, impulse, first, last, &f->largest2)) return;
  const bool sane = alike && step->middles == 0 ? e->kernels->move(a, impulse, first, last, &f->largest2)
                                                : move_each(e, a, impulse, first, last, &f->largest2);
  f->sane = f->sane && sane;
}

/* Sums the impulses on one chunk and moves it. */
static void push_chunk(const md_engine *e, const pass *s, int64_t c, finding *f)
{
  double impulse[3][CHUNK];
  engine_sum_chunk(e, &s->force, c, impulse, &f->overlap);
  move_chunk(e, &s->move, (const double *const[3]){impulse[0], impulse[1], impulse[2]}, c, f);
}

/* Moves one chunk without summing its impulses. If they are needed, they are in the spare arrays. */
static void drift_chunk(const md_engine *e, const pass *s, int64_t c, finding *f)
{
  const double *impulse[3] = {NULL, NULL, NULL};
  for (int d = 0; d < e->p->dim; ++d) impulse[d] = s->out[d] + c * CHUNK;
  move_chunk(e, &s->move, s->move.kicks != 0.0 ? impulse : NULL, c, f);
}

/* spare: new positions go into the spare arrays, because the pass also sums impulses. Otherwise they stay in place. */
static move_args move_args_of(const md_engine *e, const md_step *step, bool spare)
{
  move_args a = {.kicks = e->owed,
                 .quantum = e->model->grids.v,
                 .time_scale = step->time * e->model->velocity_per_v[1],
                 .step = step};
  for (int d = 0; d < e->p->dim; ++d) {
    a.x[d] = e->p->x[d];
    a.to[d] = spare ? e->p->spare[d] : e->p->x[d];
    a.v[d] = e->p->v[d];
    a.from[d] = e->near.x[d];
    a.corner[d] = e->near.corner[d];
    a.scale[d] = e->near.scale[d];
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

/* Does a fix take the mean of forces? */
static bool takes_mean(const md_engine *e)
{
  const int n = e->model->nforce_action;
  return md_forces_next_mean(e->model->force_action, 0, n) < n;
}

static void keep_chunk(const md_engine *e, const pass *s, int64_t c, finding *f)
{
  const int64_t first = c * CHUNK, n = chunk_end(e, c) - first;
  double impulse[3][CHUNK];
  engine_sum_chunk(e, &s->force, c, impulse, &f->overlap);
  for (int d = 0; d < e->p->dim; ++d) memcpy(s->out[d] + first, impulse[d], (size_t)n * sizeof(double));
}

/* Sums the impulses into the spare arrays, where fixes that take a mean need those of all particles. */
static md_status keep_impulses(md_engine *e)
{
  if (e->impulses_kept) return MD_OK;
  MD_TRY(engine_act_on_verdict(e));
  MD_TRY(engine_prepare_pairs(e));
  pass s = {.force = engine_force_args(e, e->model->impulse_k), .chunk = keep_chunk, .forces = true};
  double *impulse[3] = {NULL, NULL, NULL};
  for (int d = 0; d < e->p->dim; ++d) impulse[d] = s.out[d] = e->p->spare[d];
  finding f = finding_none();
  MD_TRY(engine_pass(e, &s, MD_PHASE_FORCE, &f));
  const int first = md_forces_next_mean(e->model->force_action, 0, e->model->nforce_action);
  MD_TRY(md_forces_on_impulses(e->model, e->comm, e->p, e->present_step, first,
                               (md_impulses){.real = impulse}, e->threads, &f.overlap));
  note_overlap(e, &f.overlap);
  e->impulses_kept = true;
  return MD_OK;
}

/* The drift of this step changes the box, and takes the places from which distances are measured with it. */
static void change_box(md_engine *e, const md_step *step)
{
  if (!step->changes_box) return;
  for (int d = 0; d < e->p->dim; ++d) {
    e->near.corner[d] = fma(e->near.corner[d] - step->box_lo[d], step->scale[d], step->new_lo[d]);
    e->near.scale[d] *= step->scale[d];
    e->near.shrunk = md_min(e->near.shrunk, e->near.scale[d] * (1.0 - 0x1p-40));
    e->near.grown = md_max(e->near.grown, e->near.scale[d] * (1.0 + 0x1p-40));
  }
  /* An image across a y face of an image across a z face is shifted twice by the one along y, and one of a farther
   * layer as many times more. */
  const double shifts = 2.0 * md_box_most_layers(&e->model->box, e->halo);
  for (int k = 0; k < 3 && step->triclinic; ++k)
    e->near.sheared += shifts * fabs(step->new_offset[k] - step->offset[k]);
  md_model_take_box(e->model);
}

static void swap_positions(md_particles *p)
{
  for (int d = 0; d < p->dim; ++d) {
    void *old = p->x[d];
    p->x[d] = p->spare[d];
    p->spare[d] = old;
  }
}

/* Gives the owed kicks, drifts the particles, and tells the other ranks. */
static md_status drift(md_engine *e, const md_step *step)
{
  if (!e->structure_fits) MD_TRY(engine_rebin(e));
  if (e->owed != 0.0 && takes_mean(e)) MD_TRY(keep_impulses(e));
  const bool push = e->owed != 0.0 && !e->impulses_kept;
  const int64_t list = e->lists;
  finding f = finding_none();
  int summed = 0;
  if (push) MD_TRY(engine_speculative_force(e, &summed, &f));
  MD_TRY(engine_act_on_verdict(e));
  if (e->lists != list) {
    f = finding_none();
    summed = 0;
  }
  if (push) MD_TRY(engine_prepare_pairs(e));
  md_particles *p = e->p;
  /* The forces of half lists read the records, those of bonds the positions. */
  const bool spare = push && (!e->list.half || e->model->bonds.ntypes > 0);
  change_box(e, step);
  pass s = {.force = engine_force_args(e, e->model->impulse_k),
            .move = move_args_of(e, step, spare),
            .chunk = push ? push_chunk : drift_chunk,
            .forces = push,
            .summed_chunk = drift_chunk,
            .summed = summed};
  for (int d = 0; d < p->dim; ++d) s.out[d] = p->spare[d];
  MD_TRY(engine_pass(e, &s, push ? MD_PHASE_FORCE : MD_PHASE_MOVE, &f));
  if (spare) swap_positions(p);
  engine_note_velocities(e);
  note_overlap(e, &f.overlap);
  if (!f.sane && e->fault == NO_FAULT) note_fault(e, RUNAWAY, md_host_find_runaway(e->model, e->p, step));
  e->owed = 0.0;
  e->after_step.scalings = 0;
  e->impulses_kept = false;
  e->moved = true;
  e->positions_step = e->model->step;
  e->present_step = md_model_step_after(e->model, 1);
  return engine_tell(e, sqrt(f.largest2) + e->near.grown * e->near.error);
}

/* Sums the impulses on one chunk, kicks it without a drift, and keeps the impulses in `out`. */
static void settle_chunk(const md_engine *e, const pass *s, int64_t c, finding *f)
{
  const double gain = s->move.kicks * s->move.quantum;
  const int64_t first = c * CHUNK, n = chunk_end(e, c) - first;
  double impulse[3][CHUNK];
  if (f->sums && e->after_step.summed.impulses)
    engine_sum_virial_chunk(e, &s->force, c, impulse, &f->overlap, f->sums);
  else
    engine_sum_chunk(e, &s->force, c, impulse, &f->overlap);
  for (int d = 0; d < e->p->dim; ++d) {
    double *v = s->move.v[d] + first, *out = s->out[d] + first;
    memcpy(out, impulse[d], (size_t)n * sizeof *out);
    if (e->p->wide || e->model->moving != MD_GROUP_ALL) {
      for (int64_t i = 0; i < n; ++i)
        if (md_step_moves(e->model->moving, e->p, first + i))
          md_step_kick(s->move.kicks * impulse[d][i], s->move.quantum,
                       e->model->v_step[e->p->type[first + i]], &v[i], low_word(e->p, d, first + i));
      continue;
    }
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) v[i] = fma(impulse[d][i], gain, v[i]);
  }
  if (f->sums) engine_add_terms(e, e->after_step.summed.summands, c, f->sums);
}

/* Gives one chunk the impulses that are in `out`. */
static void kick_chunk(const md_engine *e, const pass *s, int64_t c, finding *f)
{
  (void)f;
  for (int d = 0; d < e->p->dim; ++d)
    for (int64_t i = c * CHUNK; i < chunk_end(e, c); ++i)
      if (md_step_moves(e->model->moving, e->p, i))
        md_step_kick(s->move.kicks * s->out[d][i], s->move.quantum, e->model->v_step[e->p->type[i]],
                     &s->move.v[d][i], low_word(e->p, d, i));
}

md_status engine_settle(md_engine *e)
{
  if (e->owed == 0.0) return MD_OK;
  if (takes_mean(e))
    MD_TRY(keep_impulses(e));
  else
    MD_TRY(engine_prepare_pairs(e));
  pass s = {.force = engine_force_args(e, e->model->impulse_k),
            .move = {.kicks = e->owed, .quantum = e->model->grids.v},
            .chunk = takes_mean(e) ? kick_chunk : settle_chunk,
            .forces = !takes_mean(e)};
  for (int d = 0; d < e->p->dim; ++d) {
    s.move.v[d] = e->p->v[d];
    s.out[d] = e->p->spare[d];
  }
  if (s.chunk == settle_chunk) e->after_step.summed = engine_awaited(e);
  if (e->after_step.summed.impulses || e->after_step.summed.summands) s.sums = &e->after_step.sums;
  e->after_step.sums = (md_measure){.count = 0};
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
  if (!step.moves) {
    e->present_step = md_model_step_after(e->model, 1); /* forces may depend on the step */
    return MD_OK;
  }
  e->owed += step.kicks_before;
  MD_TRY(drift(e, &step));
  e->owed += step.kicks_after;
  return MD_OK;
}
