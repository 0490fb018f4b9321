/* The naive engine: all pairs, one thread, nothing clever. It is the oracle the others are compared with.
 *
 * Every pair of particles is looked at in every step, at its minimum image, and the formulas of common/ are
 * applied as they stand. Cost: n^2/2 pair distances a step. Exactness: impulses are sums of whole numbers of
 * quanta (common/exact.h), so the order of this double loop does not matter.
 */
#include "validate/naive.h"
#include "common/faults.h"
#include "common/formulas.h"
#include "common/motion.h"

#include <stdlib.h>

struct md_engine {
  md_model *model;
  md_particles *p;
  int64_t *sum[3];    /* of quanta, while forces are summed */
  double *impulse[3]; /* of the pair forces at the present positions, in quanta of grids.v */
  bool current;       /* impulse belongs to the present positions */
  md_timers timers;
  int64_t steps;
};

static void destroy(md_engine *e)
{
  for (int d = 0; d < 3; ++d) {
    free(e->sum[d]);
    free(e->impulse[d]);
  }
  free(e);
}

static md_status create(md_engine **engine, md_model *model, md_particles *p, md_comm *comm,
                        const md_engine_options *options)
{
  (void)options;
  if (comm->size > 1) return md_error(MD_USAGE, "the naive engine runs on one rank; use --engine openmp");
  md_engine *e = calloc(1, sizeof *e);
  if (!e) return md_error(MD_RUNTIME, "out of memory: the naive engine");
  e->model = model;
  e->p = p;
  md_status status = MD_OK;
  for (int d = 0; d < p->dim && status == MD_OK; ++d) {
    status = md_array_new(&e->impulse[d], p->n, sizeof(double), "impulses");
    if (status == MD_OK) status = md_array_new(&e->sum[d], p->n, sizeof(int64_t), "impulses");
  }
  if (status != MD_OK) {
    destroy(e);
    return status;
  }
  *engine = e;
  return MD_OK;
}

/* The vector from j to i at the minimum image; returns its square. */
static double separation(const md_engine *e, int64_t i, int64_t j, double delta[3])
{
  const md_box *box = &e->model->box;
  double r2 = 0.0;
  for (int d = 0; d < box->dim; ++d) {
    delta[d] = e->p->x[d][i] - e->p->x[d][j];
    if (box->periodic[d]) delta[d] = md_minimum_image(delta[d], box->length[d]);
    r2 = fma(delta[d], delta[d], r2);
  }
  return r2;
}

static size_t pair_index(const md_engine *e, int64_t i, int64_t j)
{
  return (size_t)(e->p->type[i] - 1) * (size_t)e->model->ntypes + (size_t)(e->p->type[j] - 1);
}

/* Gives every pair's force to both partners: force[d][i] in quanta of the table's scale. */
static md_status sum_forces(md_engine *e, const double *table, double *const force[3])
{
  const md_model *model = e->model;
  const int dim = model->box.dim;
  for (int d = 0; d < dim; ++d) {
    memset(force[d], 0, (size_t)e->p->n * sizeof(double));
    memset(e->sum[d], 0, (size_t)e->p->n * sizeof(int64_t));
  }
  if (model->pair.kind == MD_PAIR_NONE) return MD_OK;
  md_overlap overlap = md_overlap_none();
  for (int64_t i = 0; i < e->p->n; ++i)
    for (int64_t j = i + 1; j < e->p->n; ++j) {
      double delta[3];
      const double r2 = separation(e, i, j, delta);
      const size_t pair = pair_index(e, i, j);
      if (r2 < model->overlap2[pair]) {
        md_overlap_add(&overlap, e->p->id[i], e->p->id[j], r2);
        continue; /* its impulse is beyond every range */
      }
      const double *k = table + pair * MD_PAIR_K;
      if (!(r2 < k[0])) continue;
      const double f = md_pair_force(model->pair.kind, r2, k);
      for (int d = 0; d < dim; ++d) {
        const int64_t quanta = (int64_t)md_round_product(f, delta[d]);
        e->sum[d][i] += quanta;
        e->sum[d][j] -= quanta;
      }
    }
  for (int d = 0; d < dim; ++d)
    for (int64_t i = 0; i < e->p->n; ++i) force[d][i] = (double)e->sum[d][i];
  return md_overlap_status(&overlap, model);
}

static void kick(md_engine *e)
{
  for (int d = 0; d < e->p->dim; ++d)
    for (int64_t i = 0; i < e->p->n; ++i)
      e->p->v[d][i] = md_kick(e->p->v[d][i], e->impulse[d][i], e->model->grids.v);
}

static md_status drift(md_engine *e)
{
  const md_model *model = e->model;
  const md_motion motion = md_motion_of(model);
  md_particles *p = e->p;
  md_flyer flyer = md_flyer_none();
  for (int64_t i = 0; i < p->n; ++i) {
    const double velocity_per_v = model->velocity_per_v[p->type[i]];
    double noise = 0.0;
    md_random random = {{0}};
    if (motion.thermostat) {
      noise =
          md_langevin_noise(motion.temperature, motion.keep, model->mass[p->type[i]], model->mass_reference);
      random = md_random_at(motion.seed, (uint64_t)p->id[i], motion.step, MD_STREAM_LANGEVIN);
    }
    for (int d = 0; d < p->dim; ++d) {
      double *x = &p->x[d][i], *v = &p->v[d][i];
      const double speed = *v;
      const double moved =
          md_motion_axis(&motion, d, motion.time * velocity_per_v, noise, random.word[d], x, v);
      if (!(fabs(moved) <= motion.move_limit))
        md_flyer_add(&flyer, p->id[i], d, *x, speed, velocity_per_v);
      else if (motion.periodic[d])
        *x = md_wrap(*x, motion.box_lo[d], motion.box_hi[d], motion.length[d]);
      else if (*x < motion.box_lo[d] || *x > motion.box_hi[d])
        md_flyer_add(&flyer, p->id[i], d, *x, *v, velocity_per_v);
    }
  }
  return md_flyer_status(&flyer, model);
}

static md_status refresh(md_engine *e)
{
  if (!e->current) MD_TRY(sum_forces(e, e->model->impulse_k, e->impulse));
  e->current = true;
  return MD_OK;
}

static md_status step(md_engine *e)
{
  const md_integrator integrator = e->model->integrator;
  double mark = md_time();
  if (integrator == MD_NVE || integrator == MD_LEAPFROG) {
    MD_TRY(refresh(e));
    md_timers_lap(&e->timers, MD_PHASE_FORCE, &mark);
    kick(e);
  }
  if (integrator != MD_STATIC) {
    MD_TRY(drift(e));
    e->current = false;
  }
  md_timers_lap(&e->timers, MD_PHASE_MOVE, &mark);
  if (integrator == MD_NVE || integrator == MD_LEAPFROG_MIRROR) {
    MD_TRY(refresh(e));
    md_timers_lap(&e->timers, MD_PHASE_FORCE, &mark);
    kick(e);
    md_timers_lap(&e->timers, MD_PHASE_MOVE, &mark);
  }
  return MD_OK;
}

static md_status run(md_engine *e, int64_t n)
{
  for (int64_t s = 0; s < n; ++s) {
    MD_TRY(step(e));
    ++e->model->step;
    ++e->steps;
  }
  return MD_OK;
}

static md_status measure(md_engine *e, md_measure *m)
{
  const md_model *model = e->model;
  *m = (md_measure){.count = e->p->n};
  for (int64_t i = 0; i < e->p->n; ++i) {
    md_motion_measure(model, e->p, i, m);
    if (model->pair.kind == MD_PAIR_NONE) continue;
    for (int64_t j = 0; j < e->p->n; ++j) {
      if (j == i) continue;
      double delta[3];
      const double r2 = separation(e, i, j, delta);
      const double *k = model->force_k + pair_index(e, i, j) * MD_PAIR_K;
      if (!(r2 < k[0])) continue;
      md_wide_add(&m->pair_energy2, md_count(md_pair_energy(model->pair.kind, r2, k) / model->grids.e));
      md_wide_add(&m->virial2,
                  md_count(md_pair_force(model->pair.kind, r2, k) * model->grids.f * r2 / model->grids.w));
    }
  }
  return MD_OK;
}

static md_status download(md_engine *e, double *const force[3])
{
  if (!force) return MD_OK;
  MD_TRY(sum_forces(e, e->model->force_k, force));
  for (int d = 0; d < e->p->dim; ++d)
    for (int64_t i = 0; i < e->p->n; ++i) force[d][i] *= e->model->grids.f;
  return MD_OK;
}

static void report(const md_engine *e, md_engine_report *r)
{
  *r = (md_engine_report){.timers = e->timers,
                          .steps = e->steps,
                          .neighbours = (double)(e->p->n - 1),
                          .bytes =
                              e->p->n * (md_particles_bytes(e->p->dim) + e->p->dim * (int64_t)sizeof(double)),
                          .isa = "plain",
                          .threads = 1};
}

const md_engine_kind md_engine_naive = {
    .name = "naive",
    .summary = "all pairs on one thread: the oracle, for small systems",
    .create = create,
    .run = run,
    .measure = measure,
    .download = download,
    .report = report,
    .destroy = destroy,
};
