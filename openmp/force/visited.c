/* Pair styles whose forces need more than distances in the OpenMP engine: what they need before every pass of forces,
 * and their sums. Those with a density need slopes, of pass 1, and three-body ones the sums over legs. Dissipative ones
 * need the velocities of ghosts.
 *
 * Pass 1 needs the positions of ghosts and a list that holds. Every ghost gets the slope, the sums, or the velocity, of
 * its owner. So nothing is done while messages are under way, and there are no speculative forces.
 *
 * Cost with a density: 16 bytes a particle, 8 a ghost, and a message for each face of the domain in a step. Of
 * three-body styles: 88 bytes a particle and a ghost, and as many messages. Cost of
 * dissipative styles: 8 dim bytes a particle and ghost, and dim messages for each face.
 */
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"
#include "openmp/engine.h"

#include <stdlib.h>

static visit_args args_of(const md_engine *e, bool output)
{
  const bool velocities = md_pair_is_dissipative(&e->model->pair);
  visit_args a = {.model = e->model,
                  .eam = md_model_pair(e->model)->eam,
                  .three = md_model_pair(e->model)->three,
                  .type = engine_subtypes(e),
                  .id = e->p->id,
                  .slope = e->density.slope,
                  .kept = e->density.kept,
                  .record = e->half.record,
                  .sum = e->half.sum,
                  .reach2 = e->model->cutoff * e->model->cutoff,
                  .scale = output ? e->model->force_scale : e->model->impulse_scale,
                  .k = output ? e->model->force_k : e->model->impulse_k,
                  .total = e->p->n + e->p->nghost};
  for (int d = 0; d < e->p->dim; ++d) {
    a.x[d] = e->p->x[d];
    a.u[d] = e->p->v_pair[d];
  }
  if (velocities) a.dissipation = md_model_dissipation(e->model, e->present_step);
  return a;
}

static md_status reserve(md_engine *e)
{
  const int64_t need = e->p->n + e->p->nghost;
  if (need + BLOCK + 1 <= e->density.capacity) return MD_OK;
  e->density.capacity = need + need / 8 + BLOCK + 1; /* whole vectors, and the far particle of lists */
  free(e->density.slope);
  free(e->density.kept);
  free(e->density.embedding);
  e->density.slope = e->density.kept = e->density.embedding = NULL;
  if (md_pair_is_three_body(&e->model->pair))
    MD_TRY(md_array_new_zero(&e->density.kept, e->density.capacity * MD_THREE_SUMS, sizeof *e->density.kept,
                             "sums over angles"));
  else
    MD_TRY(md_array_new_zero(&e->density.slope, e->density.capacity, sizeof *e->density.slope,
                             "slopes of embeddings"));
  return md_array_new(&e->density.embedding, e->density.capacity, sizeof *e->density.embedding,
                      "energies of embeddings");
}

static void embed(md_engine *e, int64_t i, int64_t count)
{
  const md_eam *eam = md_model_pair(e->model)->eam;
  e->density.embedding[i] =
      md_eam_embedding(eam, eam->element[engine_subtypes(e)[i] - 1], count, &e->density.slope[i]);
}

static void sum_densities(md_engine *e, const visit_args *a)
{
#pragma omp parallel for schedule(dynamic, 4)
  for (int64_t c = 0; c < e->list.nchunk; ++c) {
    int64_t count[CHUNK];
    const int64_t first = c * CHUNK, last = chunk_end(e, c);
    e->kernels->density(a, first, last, chunk_list(e, c), chunk_rows(e, c), count);
    for (int64_t i = first; i < last; ++i) embed(e, i, count[i - first]);
  }
}

/* The same by a half list: the densities of a chunk are complete when the rows of its thread before it are done. */
static void sum_densities_by_halves(md_engine *e, const visit_args *a)
{
  engine_fill_records(e);
#pragma omp parallel for schedule(static, 1)
  for (int t = 0; t < e->threads; ++t)
    for (int64_t c = e->queues.begin[t]; c < e->queues.begin[t + 1]; ++c) {
      const int64_t first = c * CHUNK, last = chunk_end(e, c);
      e->kernels->half_density(a, first, last, chunk_list(e, c), chunk_rows(e, c));
      for (int64_t i = first; i < last; ++i) {
        embed(e, i, e->half.sum[4 * i]);
        e->half.sum[4 * i] = 0;
      }
    }
}

/* Pass 1 of a three-body style: the energy of each centre, and what it keeps. */
static void sum_legs(md_engine *e, const visit_args *a)
{
#pragma omp parallel for schedule(dynamic, 4)
  for (int64_t c = 0; c < e->list.nchunk; ++c) {
    int64_t sum[CHUNK][MD_THREE_SUMS];
    const int64_t first = c * CHUNK, last = chunk_end(e, c);
    e->kernels->three_body_sums(a, first, last, chunk_list(e, c), chunk_rows(e, c), sum);
    for (int64_t i = first; i < last; ++i)
      e->density.embedding[i] = md_three_centre(a->three, a->three->element[a->type[i] - 1], sum[i - first],
                                                e->density.kept + i * MD_THREE_SUMS);
  }
}

static md_status find_slopes(md_engine *e)
{
  MD_TRY(md_comm_agree(e->comm, reserve(e)));
  double mark = md_time();
  const visit_args a = args_of(e, false);
  if (a.three)
    sum_legs(e, &a);
  else if (e->list.half)
    sum_densities_by_halves(e, &a);
  else
    sum_densities(e, &a);
  md_timers_lap(&e->timers, MD_PHASE_FORCE, &mark);
  const md_comm_exchange *exchange = e->comm->exchange;
  _Static_assert((int)MD_THREE_SUMS <= (int)MD_HALO_WIDTH, "ghosts get all sums of a three-body style");
  MD_TRY(a.three ? exchange->halo_values(e->comm, e->p, e->density.kept, MD_THREE_SUMS)
                 : exchange->halo_values(e->comm, e->p, e->density.slope, 1));
  md_timers_lap(&e->timers, MD_PHASE_HALO, &mark);
  return MD_OK;
}

/* Gives ghosts the velocities of their owners. */
static md_status spread_velocities(md_engine *e)
{
  double mark = md_time();
  for (int d = 0; d < e->p->dim; ++d)
    MD_TRY(e->comm->exchange->halo_values(e->comm, e->p, e->p->v_pair[d], 1));
  md_timers_lap(&e->timers, MD_PHASE_HALO, &mark);
  return MD_OK;
}

md_status engine_prepare_pairs(md_engine *e)
{
  const md_pair *pair = &e->model->pair;
  if (!md_pair_needs_more(pair)) return MD_OK;
  MD_TRY(engine_finish_halo(e));
  return md_pair_is_dissipative(pair) ? spread_velocities(e) : find_slopes(e);
}

void engine_note_velocities(md_engine *e)
{
  if (!e->p->has_v_pair) return;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < e->p->n; ++i) md_model_note_velocity(e->model, e->p, i);
}

void engine_add_density_half(const md_engine *e, int64_t c, md_overlap *overlap)
{
  const visit_args a = args_of(e, false);
  e->kernels->half_density_force(&a, c * CHUNK, chunk_end(e, c), chunk_list(e, c), chunk_rows(e, c), overlap);
}

void engine_visited_forces(const md_engine *e, bool output, int64_t c, double (*force)[CHUNK],
                           md_overlap *overlap)
{
  const visit_args a = args_of(e, output);
  (output ? e->kernels->visited_output : e->kernels->visited_force)(
      &a, c * CHUNK, chunk_end(e, c), chunk_list(e, c), chunk_rows(e, c), overlap, force);
}

typedef struct visited_sums {
  visit_args args;
  bool tensor;
} visited_sums;

static void sum_chunk(const md_engine *e, const void *context, int64_t c, md_measure *m, md_overlap *near)
{
  const visited_sums *s = context;
  const md_model *model = e->model;
  const int64_t first = c * CHUNK, last = chunk_end(e, c);
  const int32_t *list = chunk_list(e, c), *rows = chunk_rows(e, c);
  if (e->list.half)
    e->kernels->half_density_measure(&s->args, s->tensor, first, last, list, rows, near, m);
  else
    (s->tensor ? e->kernels->visited_tensor : e->kernels->visited_measure)(&s->args, first, last, list, rows,
                                                                           near, m);
  for (int64_t i = first; i < last && !s->tensor && (model->pair.eam || model->pair.three); ++i)
    md_wide_add(&m->pair_energy2,
                md_fine_count(md_embedding_twice(e->density.embedding[i], 1.0 / (model->grids.e * MD_FINE))));
}

md_status engine_visited_measure(md_engine *e, bool tensor, md_measure *total)
{
  MD_TRY(engine_prepare_pairs(e));
  const visited_sums s = {.args = args_of(e, true), .tensor = tensor};
  return engine_sum_chunks(e, sum_chunk, &s, total);
}
