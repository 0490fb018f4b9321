/* Moves, energies, forces and sums of minimisers; see minimizer.h. */
#include "src/minimize/minimizer.h"
#include "common/ranks/reductions.h"
#include "src/box/faces.h"
#include "src/fixes/fix_vary.h"
#include "src/minimize/relax.h"
#include "src/minimize/rows.h"
#include "src/run/loop.h"
#include "src/sums/exact_sum.h"

#include <stdlib.h>
#include <string.h>

/* LAMMPS's least energy for the relative tolerance. */
#define LEAST_ENERGY 1e-8

enum { MOST_PRODUCTS = 4 };

/* ---- the present state ---- */

static md_status evaluate(md_minimizer *m)
{
  md_sim *sim = m->sim;
  m->view = (md_view){.sim = sim, .kind = m->run->kind, .engine = m->run->engine, .step = sim->model.step};
  MD_TRY(md_fix_vary(sim, 0)); /* the step is another one than in the last evaluation */
  MD_TRY(md_view_forces(&m->view));
  MD_TRY(md_comm_agree(sim->comm, md_view_order(&m->view)));
  for (int d = 0; d < 3; ++d) m->force.x[d] = m->view.force[d];
  MD_TRY(md_view_energy(&m->view, &m->energy));
  MD_TRY(md_min_relax_evaluate(m));
  m->energy += m->relax.energy;
  if (md_thermo_is_normed(sim) && sim->model.natoms > 0) m->energy /= (double)sim->model.natoms;
  return MD_OK;
}

static md_status allocate(md_minimizer *m)
{
  const md_particles *p = &m->sim->particles;
  for (int v = 0; v < m->nvector; ++v)
    for (int d = 0; d < p->dim; ++d)
      MD_TRY(md_array_new_zero(&m->vector[v].x[d], p->n, sizeof(double), "vectors of a minimiser"));
  return MD_OK;
}

/* The engines of GPU ranks choose domains of their own: the first evaluation says which particles this rank has. */
md_status md_minimizer_begin(md_minimizer *m)
{
  md_min_relax_begin(m);
  MD_TRY(evaluate(m));
  return md_comm_agree(m->sim->comm, allocate(m));
}

void md_minimizer_end(md_minimizer *m)
{
  md_view_close(&m->view);
  for (int v = 0; v < MD_MIN_VECTORS; ++v)
    for (int d = 0; d < 3; ++d) free(m->vector[v].x[d]);
}

/* ---- moves ---- */

static void displace(md_minimizer *m, double from, double to)
{
  md_particles *p = &m->sim->particles;
  const double quantum = m->sim->model.grids.x;
  for (int d = 0; d < p->dim; ++d) {
    double *x = p->x[d];
    const double *u = m->vector[MD_MIN_U].x[d];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; ++i)
      x[i] += md_round_to(to * u[i], quantum) - md_round_to(from * u[i], quantum);
  }
}

static md_status move(md_minimizer *m, double from, double to)
{
  if (m->relax.on) {
    if (from == 0.0) md_min_relax_keep(m);
    return md_min_relax_move(m, to);
  }
  displace(m, from, to);
  return MD_OK;
}

void md_minimizer_kick(md_minimizer *m, double t)
{
  const md_particles *p = &m->sim->particles;
  for (int d = 0; d < p->dim; ++d) {
    double *u = m->vector[MD_MIN_U].x[d];
    const double *f = m->force.x[d];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; ++i) u[i] += t / md_mass_of(&m->sim->model, p, i) * f[i];
  }
}

/* The velocities of a damped dynamics become those of the particles. A velocity may be above the limit of the grids,
 * because dmax limits the displacement and not the velocity. What output shows is then the limit. */
static void give_velocities(md_minimizer *m)
{
  md_particles *p = &m->sim->particles;
  const double limit = m->sim->model.speed_limit;
  for (int d = 0; d < p->dim; ++d) {
    const double *u = m->vector[MD_MIN_U].x[d];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; ++i) {
      p->v[d][i] = md_max(-limit, md_min(limit, u[i]));
      if (p->wide) p->v_low[d][i] = 0;
    }
  }
  m->stale = false;
}

/* Puts the particles, which have moved, on their grids and with their owners. rows: the vectors, by id. */
static md_status place(md_minimizer *m, md_min_rows *rows)
{
  md_sim *sim = m->sim;
  md_model *model = &sim->model;
  MD_TRY(md_comm_agree(sim->comm, md_min_rows_fill(rows, m)));
  md_view_close(&m->view);
  md_run_destroy_engine(m->run);
  md_model_leave(model, &sim->particles);
  if (m->dynamics) give_velocities(m);
  if (md_box_follows(&model->box)) MD_TRY(md_faces_widen(sim, 0));
  MD_TRY(md_comm_agree(sim->comm, md_model_enter(model, &sim->particles)));
  if (sim->comm->size == 1 || md_pair_is_all(&model->pair)) return MD_OK;
  if (md_box_follows(&model->box) || m->relax.on) MD_TRY(md_run_decompose(sim));
  return md_min_rows_migrate(rows, m);
}

md_status md_minimizer_move(md_minimizer *m, double from, double to, double kick)
{
  md_min_rows rows = {0};
  md_status status = move(m, from, to);
  if (status == MD_OK && kick != 0.0) md_minimizer_kick(m, kick);
  if (status == MD_OK) status = place(m, &rows);
  if (status == MD_OK) status = md_run_create_engine(m->run);
  if (status == MD_OK) status = evaluate(m);
  if (status == MD_OK) status = md_comm_agree(m->sim->comm, md_min_rows_empty(&rows, m));
  md_min_rows_free(&rows);
  return status;
}

/* ---- sums ---- */

typedef struct products {
  int n, dim;
  const md_min_product *of;
} products;

static void product_terms(const void *context, const md_particles *p, int64_t i, double *term)
{
  const products *all = context;
  (void)p;
  for (int k = 0; k < all->n; ++k) {
    term[k] = 0.0;
    for (int d = 0; d < all->dim; ++d) term[k] += all->of[k].a->x[d][i] * all->of[k].b->x[d][i];
  }
}

md_status md_minimizer_products(const md_minimizer *m, int n, const md_min_product *of, double *sum)
{
  const products all = {n, m->sim->particles.dim, of};
  double whole[MD_EXACT_SUMS_MAX];
  MD_TRY(md_exact_sums(m->sim->comm, &m->sim->particles, n, product_terms, &all, "a force of the minimiser",
                       whole));
  for (int k = 0; k < n; ++k) {
    sum[k] = whole[k];
    for (int d = 0; d < 3 && m->relax.on; ++d) sum[k] += of[k].a->box[d] * of[k].b->box[d];
  }
  return MD_OK;
}

md_status md_minimizer_largest(const md_minimizer *m, const md_min_vector *vector, double *largest)
{
  const md_particles *p = &m->sim->particles;
  double most = 0.0;
  for (int d = 0; d < p->dim; ++d) {
    const double *u = vector->x[d];
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t i = 0; i < p->n; ++i) most = fabs(u[i]) > most ? fabs(u[i]) : most;
  }
  MD_TRY(m->sim->comm->reduce->max(m->sim->comm, &most, 1));
  *largest = most;
  return MD_OK;
}

/* The square of the largest force on a particle. */
static md_status largest_force(const md_minimizer *m, double *square)
{
  const md_particles *p = &m->sim->particles;
  double *const *f = m->force.x, most = 0.0;
#pragma omp parallel for schedule(static) reduction(max : most)
  for (int64_t i = 0; i < p->n; ++i) {
    double f2 = 0.0;
    for (int d = 0; d < p->dim; ++d) f2 += f[d][i] * f[d][i];
    most = f2 > most ? f2 : most;
  }
  MD_TRY(m->sim->comm->reduce->max(m->sim->comm, &most, 1));
  *square = most;
  return MD_OK;
}

md_status md_minimizer_norm(const md_minimizer *m, md_min_norm norm, double *square)
{
  if (norm == MD_NORM_TWO)
    return md_minimizer_products(m, 1, &(md_min_product){&m->force, &m->force}, square);
  if (norm == MD_NORM_MAX) {
    MD_TRY(largest_force(m, square));
  } else {
    MD_TRY(md_minimizer_largest(m, &m->force, square));
    *square *= *square;
  }
  for (int d = 0; d < 3; ++d) *square = md_max(*square, m->force.box[d] * m->force.box[d]);
  return MD_OK;
}

/* ---- when to stop ---- */

bool md_minimizer_energy_is_steady(const md_minimizer *m)
{
  const double scale = 0.5 * (fabs(m->energy) + fabs(m->energy_before) + LEAST_ENERGY);
  return fabs(m->energy - m->energy_before) < m->etol * scale;
}

md_status md_minimizer_test_forces(md_minimizer *m)
{
  double square;
  if (!(m->ftol > 0.0)) return MD_OK;
  MD_TRY(md_minimizer_norm(m, m->set->norm, &square));
  if (square < m->ftol * m->ftol) m->stop = MD_MIN_FTOL;
  return MD_OK;
}

bool md_minimizer_next(md_minimizer *m)
{
  if (m->stop != MD_MIN_GOES_ON) return false;
  if (m->iterations == m->most_iterations) {
    m->stop = MD_MIN_MAXITER;
    return false;
  }
  ++m->iterations;
  ++m->sim->model.step;
  return true;
}

/* ---- output ---- */

/* Velocities that changed after the move reach the engine by a new one. */
static md_status show_run(md_minimizer *m)
{
  if (m->stale) MD_TRY(md_minimizer_move(m, 0.0, 0.0, 0.0));
  return md_run_show(m->run);
}

md_status md_minimizer_show(md_minimizer *m)
{
  md_run *run = m->run;
  const int64_t step = m->sim->model.step;
  if (md_run_next_due(run, step) == step) MD_TRY(show_run(m));
  const double mark = md_time();
  double seconds = mark - m->looked;
  MD_TRY(md_run_look(run, &seconds));
  m->looked = mark;
  if (md_run_is_stopped(run)) m->stop = MD_MIN_STOPPED;
  return MD_OK;
}

md_status md_minimizer_show_last(md_minimizer *m)
{
  md_run *run = m->run;
  run->last = m->sim->model.step;
  run->ended = true;
  return show_run(m);
}
