/* The OpenMP engine: bin, sort by cell, cell_start, Verlet list; then force and move until the next rebuild.
 *
 * At a rebuild the particles are physically put into cell order (cells.c), ghosts are made by the communicator
 * and binned too, and a list of all neighbours within cutoff + skin is built (kernels.c). It stays valid while no
 * particle has moved by more than half the skin since, which every move measures; the first step that would
 * break it rebuilds before any force is taken from it. So the list never decides a result, and neither do
 * threads, cell size or skin.
 *
 * Trade-off: full lists (each pair evaluated by both partners) cost twice the arithmetic of half lists and need
 * no scatter, no atomics and no per-thread force arrays. Cost: 4 bytes a stored neighbour and 8 dim bytes each
 * for impulses and for positions at the rebuild, besides the particles.
 */
#include "common/faults.h"
#include "openmp/kernels.h"
#include "openmp/openmp.h"
#include "openmp/plan.h"

#include <omp.h>
#include <stdlib.h>

/* In the order in which a step finds them: forces come before the move. */
typedef enum fault { NO_FAULT, FLYER, OVERLAP } fault;

struct md_engine {
  md_model *model;
  md_particles *p;
  md_comm *comm;
  md_engine_options options;
  const kernels *kernels;
  int threads;
  double skin, reach; /* reach = cutoff + skin, the list radius */

  bool built;   /* list, ghosts and impulse arrays fit the particles */
  bool coming;  /* new positions of ghosts are under way */
  bool current; /* impulse belongs to the present positions */
  double owed;  /* kicks by impulse that are due before the next drift */
  bool moved;   /* since the rebuild */
  fault fault;  /* found on this rank, until all ranks know of it */
  md_status fault_status;

  cell_grid grid;
  cell_index owned, ghost;
  float *near_x[3]; /* owned, then ghosts in cell order: positions in single precision for the list */
  int64_t near_capacity;
  double *from[3];    /* positions at the rebuild */
  double *impulse[3]; /* in quanta of grids.v */
  int64_t capacity;   /* of from and impulse */
  int32_t *type;      /* 0-based, owned and ghosts; only with several types */
  int64_t type_capacity;
  arena *arenas; /* [threads] */
  int64_t nchunk, chunk_capacity;
  int64_t *chunk_at;    /* where a chunk's list begins in its arena ... */
  int32_t *chunk_arena; /* ... and which that is */
  int32_t *rows;        /* [nchunk * CHUNK_BLOCKS] */
  bool *inner;          /* no ghost is in the chunk's lists */
  int64_t *share;       /* [threads + 1]: thread t works on the chunks [share[t], share[t + 1]) */

  md_timers timers;
  int64_t steps, rebuilds;
};

/* Cells and halo are a hair wider than the list radius, so that rounding cannot put neighbours out of reach. */
#define HAIR (1.0 + 1e-6)

/* The particles of chunk c are [c * CHUNK, chunk_end(e, c)). */
static int64_t chunk_end(const md_engine *e, int64_t c)
{
  return (c + 1) * CHUNK < e->p->n ? (c + 1) * CHUNK : e->p->n;
}

static void free_arrays(double *array[3])
{
  for (int d = 0; d < 3; ++d) {
    free(array[d]);
    array[d] = NULL;
  }
}

static void destroy(md_engine *e)
{
  cell_index_free(&e->owned);
  cell_index_free(&e->ghost);
  for (int d = 0; d < 3; ++d) free(e->near_x[d]);
  free_arrays(e->from);
  free_arrays(e->impulse);
  free(e->type);
  if (e->arenas)
    for (int t = 0; t < e->threads; ++t) {
      free(e->arenas[t].entry);
      for (int l = 0; l < BLOCK; ++l) free(e->arenas[t].lane[l]);
    }
  free(e->arenas);
  free(e->share);
  free(e->chunk_at);
  free(e->chunk_arena);
  free(e->rows);
  free(e->inner);
  if (e->options.threads > 0) omp_set_num_threads(e->options.threads);
  free(e);
}

static md_status create(md_engine **engine, md_model *model, md_particles *p, md_comm *comm,
                        const md_engine_options *options)
{
  const kernels *chosen = kernels_choose(getenv("MYRIAD_ISA"));
  if (!chosen)
    return md_error(MD_USAGE, "MYRIAD_ISA=%s: this build and processor have no such instruction set",
                    getenv("MYRIAD_ISA"));
  /* A thread without a chunk of its own would only be waited for. */
  const int64_t chunks = (p->n + CHUNK - 1) / CHUNK;
  const int threads = options->threads > 0 ? options->threads : omp_get_num_procs();
  omp_set_num_threads(chunks < threads ? (int)(chunks > 1 ? chunks : 1) : threads);
  md_engine *e = calloc(1, sizeof *e);
  if (!e) return md_error(MD_RUNTIME, "out of memory: the OpenMP engine");
  e->model = model;
  e->p = p;
  e->comm = comm;
  e->options = *options;
  e->kernels = chosen;
  e->threads = omp_get_max_threads();
  e->arenas = calloc((size_t)e->threads, sizeof *e->arenas);
  e->share = calloc((size_t)e->threads + 1, sizeof *e->share);
  if (!e->arenas || !e->share) {
    destroy(e);
    return md_error(MD_RUNTIME, "out of memory: the OpenMP engine");
  }
  e->skin = openmp_skin(model);
  e->reach = model->cutoff + e->skin;
  *engine = e;
  return MD_OK;
}

/* ---- rebuild ---- */

static md_status reserve_doubles(double *array[3], int dim, int64_t count, const char *what)
{
  free_arrays(array);
  for (int d = 0; d < dim; ++d) MD_TRY(md_array_new(&array[d], count, sizeof(double), what));
  return MD_OK;
}

static md_status reserve(md_engine *e)
{
  const int dim = e->p->dim;
  if (e->p->n + CHUNK > e->capacity) {
    e->capacity = e->p->n + e->p->n / 16 + CHUNK;
    MD_TRY(reserve_doubles(e->from, dim, e->capacity, "positions at the rebuild"));
    MD_TRY(reserve_doubles(e->impulse, dim, e->capacity, "impulses"));
  }
  e->nchunk = (e->p->n + CHUNK - 1) / CHUNK;
  if (e->nchunk > e->chunk_capacity) {
    e->chunk_capacity = e->nchunk + e->nchunk / 16 + 1;
    free(e->chunk_at);
    free(e->chunk_arena);
    free(e->rows);
    free(e->inner);
    e->chunk_at = NULL, e->chunk_arena = NULL, e->rows = NULL, e->inner = NULL;
    MD_TRY(md_array_new(&e->chunk_at, e->chunk_capacity, sizeof *e->chunk_at, "the neighbour list"));
    MD_TRY(md_array_new(&e->chunk_arena, e->chunk_capacity, sizeof *e->chunk_arena, "the neighbour list"));
    MD_TRY(md_array_new(&e->rows, e->chunk_capacity * CHUNK_BLOCKS, sizeof *e->rows, "the neighbour list"));
    MD_TRY(md_array_new(&e->inner, e->chunk_capacity, sizeof *e->inner, "the neighbour list"));
  }
  return MD_OK;
}

static void copy_positions(md_engine *e)
{
#pragma omp parallel
  for (int d = 0; d < e->p->dim; ++d) {
    const double *x = e->p->x[d];
    double *from = e->from[d];
#pragma omp for simd schedule(static) nowait
    for (int64_t i = 0; i < e->p->n; ++i) from[i] = x[i];
  }
}

static md_status sort_owned(md_engine *e)
{
  md_particles *p = e->p;
  double lo[3], hi[3];
  e->comm->domain(e->comm, &e->model->box, lo, hi);
  const double width = md_max(e->reach * HAIR, e->options.cell_size);
  e->grid = cell_grid_of(p->dim, lo, hi, width > 0.0 ? width : hi[0] - lo[0], p->n);
  double seconds[2] = {0};
  MD_TRY(cell_index_build(&e->owned, &e->grid, p->x, p->n, 1, seconds));
  const double mark = md_time();
  MD_TRY(md_particles_permute(p, e->owned.order));
  e->timers.seconds[MD_PHASE_BIN] += seconds[0];
  e->timers.seconds[MD_PHASE_SORT] += seconds[1] + md_time() - mark;
  return MD_OK;
}

static md_status sort_ghosts(md_engine *e)
{
  md_particles *p = e->p;
  double *x[3] = {0};
  for (int d = 0; d < p->dim; ++d) x[d] = p->x[d] + p->n;
  double seconds[2] = {0};
  MD_TRY(cell_index_build(&e->ghost, &e->grid, x, p->nghost, 0, seconds));
  e->timers.seconds[MD_PHASE_BIN] += seconds[0];
  e->timers.seconds[MD_PHASE_SORT] += seconds[1];
  return MD_OK;
}

/* Behind the ghosts: a block of padding, so that whole vectors may be read, then the far particle. The two lie
 * apart so that padding never seems to touch it. */
static md_status pad(md_engine *e, int32_t *far)
{
  md_particles *p = e->p;
  const int64_t total = p->n + p->nghost;
  MD_TRY(md_particles_reserve(p, total + BLOCK + 1));
  for (int d = 0; d < p->dim; ++d) {
    for (int l = 0; l < BLOCK; ++l) p->x[d][total + l] = -MD_FAR;
    p->x[d][total + BLOCK] = MD_FAR;
  }
  *far = (int32_t)(total + BLOCK);
  if (e->model->ntypes == 1) return MD_OK;
  if (total + BLOCK + 1 > e->type_capacity) {
    free(e->type);
    e->type = NULL;
    e->type_capacity = total + total / 16 + BLOCK + 1;
    MD_TRY(md_array_new(&e->type, e->type_capacity, sizeof *e->type, "types"));
  }
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < total; ++i) e->type[i] = p->type[i] - 1;
  for (int64_t i = total; i <= total + BLOCK; ++i) e->type[i] = 0;
  return MD_OK;
}

/* Positions relative to the domain's corner in single precision, owned and then ghosts in cell order. */
static md_status round_positions(md_engine *e)
{
  const md_particles *p = e->p;
  const int64_t need = p->n + p->nghost + 2 * CHUNK;
  if (need > e->near_capacity) {
    e->near_capacity = need + need / 16;
    for (int d = 0; d < p->dim; ++d) {
      free(e->near_x[d]);
      e->near_x[d] = NULL;
      MD_TRY(
          md_array_new(&e->near_x[d], e->near_capacity, sizeof(float), "positions for the neighbour list"));
    }
  }
#pragma omp parallel
  for (int d = 0; d < p->dim; ++d) {
    const double *x = p->x[d], corner = e->grid.lo[d];
    const int32_t *order = e->ghost.order;
    float *owned = e->near_x[d], *ghost = owned + p->n + CHUNK;
#pragma omp for simd schedule(static) nowait
    for (int64_t i = 0; i < p->n; ++i) owned[i] = (float)(x[i] - corner);
#pragma omp for schedule(static) nowait
    for (int64_t k = 0; k < p->nghost; ++k) ghost[k] = (float)(x[p->n + order[k]] - corner);
  }
  return MD_OK;
}

/* The square of a distance that two particles within reach do not exceed in single precision: a coordinate up
 * to `extent` is off by 2^-24 of it, a difference by two of those, and the sum of squares by some 2^-24. */
static float single_reach2(const md_engine *e)
{
  double extent = 0.0;
  for (int d = 0; d < e->p->dim; ++d) extent = md_max(extent, (double)e->grid.count[d] * e->grid.width[d]);
  const double reach = e->reach * (1.0 + 0x1p-20) + 4.0 * extent * 0x1p-24;
  return (float)(reach * reach * (1.0 + 0x1p-20));
}

/* Deals out consecutive chunks of equal work, counted in rows. The list is built with the shares of the last
 * one, so that a thread finds its lists in its own cache. */
static void share_work(md_engine *e)
{
  int64_t total = 0, done = 0;
  for (int64_t b = 0; b * BLOCK < e->p->n; ++b) total += e->rows[b] + 1;
  int t = 1;
  for (int64_t c = 0; c < e->nchunk; ++c) {
    for (int64_t b = c * CHUNK_BLOCKS; b < (c + 1) * CHUNK_BLOCKS && b * BLOCK < e->p->n; ++b)
      done += e->rows[b] + 1;
    while (t < e->threads && done * e->threads >= total * t) e->share[t++] = c + 1;
  }
  e->share[e->threads] = e->nchunk;
}

static md_status build_list(md_engine *e, int32_t far)
{
  md_particles *p = e->p;
  MD_TRY(round_positions(e));
  list_args a = {.dim = p->dim,
                 .n = p->n,
                 .reach2 = single_reach2(e),
                 .grid = &e->grid,
                 .owned = &e->owned,
                 .ghost = &e->ghost,
                 .far = far};
  for (int d = 0; d < p->dim; ++d) {
    a.x[d] = e->near_x[d];
    a.ghost_x[d] = e->near_x[d] + p->n + CHUNK;
  }
  if (e->share[e->threads] != e->nchunk)
    for (int t = 0; t <= e->threads; ++t) e->share[t] = e->nchunk * t / e->threads;
  bool ok = true;
#pragma omp parallel for schedule(static, 1) reduction(&& : ok)
  for (int t = 0; t < e->threads; ++t) {
    /* A copy of its own: neighbours in the array would share cache lines that every block writes. */
    arena mine = e->arenas[t];
    mine.used = 0;
    for (int64_t c = e->share[t]; c < e->share[t + 1]; ++c) {
      const int64_t first = c * CHUNK, last = chunk_end(e, c);
      e->chunk_at[c] = mine.used;
      e->chunk_arena[c] = t;
      ok = ok && e->kernels->list(&a, first, last, &mine, e->rows + c * CHUNK_BLOCKS);
    }
    e->arenas[t] = mine;
  }
  return ok ? MD_OK
            : md_error(MD_RUNTIME,
                       "out of memory: the neighbour list of %lld particles within %g; use a smaller skin or "
                       "more ranks",
                       (long long)p->n, e->reach);
}

static const int32_t *chunk_list(const md_engine *e, int64_t chunk)
{
  return e->arenas[e->chunk_arena[chunk]].entry + e->chunk_at[chunk];
}

/* Which chunks can be worked on before the ghosts' new positions are there. Padding lies behind the ghosts. */
static void find_inner(md_engine *e)
{
  const int32_t ghosts = (int32_t)e->p->n, end = (int32_t)(e->p->n + e->p->nghost);
#pragma omp parallel for schedule(static, 1)
  for (int t = 0; t < e->threads; ++t)
    for (int64_t c = e->share[t]; c < e->share[t + 1]; ++c) {
      const int32_t *entry = chunk_list(e, c);
      int64_t entries = 0;
      for (int64_t b = 0; b < CHUNK_BLOCKS && c * CHUNK + b * BLOCK < e->p->n; ++b)
        entries += (int64_t)e->rows[c * CHUNK_BLOCKS + b] * BLOCK;
      bool inner = true;
      for (int64_t k = 0; k < entries && inner; ++k) inner = entry[k] < ghosts || entry[k] >= end;
      e->inner[c] = inner;
    }
}

static md_status rebuild(md_engine *e)
{
  double mark = md_time();
  const double balanced = e->comm->balancing;
  e->coming = false;
  MD_TRY(e->comm->migrate(e->comm, e->model, e->p));
  const double balancing = e->comm->balancing - balanced;
  e->timers.seconds[MD_PHASE_BALANCE] += balancing;
  mark += balancing;
  md_timers_lap(&e->timers, MD_PHASE_MIGRATE, &mark);
  MD_TRY(sort_owned(e));
  mark = md_time();
  MD_TRY(e->comm->halo_build(e->comm, &e->model->box, e->model->cutoff > 0.0 ? e->reach * HAIR : 0.0, e->p));
  md_timers_lap(&e->timers, MD_PHASE_BORDERS, &mark);
  MD_TRY(sort_ghosts(e));
  mark = md_time();
  MD_TRY(reserve(e));
  copy_positions(e);
  int32_t far;
  MD_TRY(pad(e, &far));
  if (e->model->pair.kind != MD_PAIR_NONE) {
    MD_TRY(build_list(e, far));
    share_work(e);
    if (e->comm->size > 1) find_inner(e);
  }
  md_timers_lap(&e->timers, MD_PHASE_LIST, &mark);
  e->built = true;
  e->moved = false;
  ++e->rebuilds;
  return MD_OK;
}

/* ---- force ---- */

/* Forces on one chunk, a pair at a time, for chunks in which a pair is too near for the fast rounding of the
 * kernels; also finds pairs that overlap. */
static void sum_near(const md_engine *e, const double *table, double *const force[3], int64_t c,
                     md_overlap *overlap)
{
  const md_model *model = e->model;
  const md_particles *p = e->p;
  const int32_t *entry = chunk_list(e, c);
  for (int64_t b = 0; b < CHUNK_BLOCKS && c * CHUNK + b * BLOCK < p->n; ++b) {
    const int32_t rows = e->rows[c * CHUNK_BLOCKS + b];
    for (int64_t l = 0; l < BLOCK && c * CHUNK + b * BLOCK + l < p->n; ++l) {
      const int64_t i = c * CHUNK + b * BLOCK + l;
      int64_t sum[3] = {0};
      for (int32_t r = 0; r < rows; ++r) {
        const int64_t j = entry[(int64_t)r * BLOCK + l];
        if (j >= p->n + p->nghost) continue;
        double delta[3], r2 = 0.0;
        for (int d = 0; d < p->dim; ++d) {
          delta[d] = p->x[d][i] - p->x[d][j];
          r2 = fma(delta[d], delta[d], r2);
        }
        const size_t pair = (size_t)(p->type[i] - 1) * (size_t)model->ntypes + (size_t)(p->type[j] - 1);
        if (r2 < model->overlap2[pair]) {
          md_overlap_add(overlap, p->id[i], p->id[j], r2);
          continue; /* its impulse is beyond every range */
        }
        const double f = md_pair_force(model->pair.kind, r2, table + pair * MD_PAIR_K);
        for (int d = 0; d < p->dim; ++d) sum[d] += (int64_t)md_round_product(f, delta[d]);
      }
      for (int d = 0; d < p->dim; ++d) force[d][i] = (double)sum[d];
    }
    entry += (int64_t)rows * BLOCK;
  }
}

static force_args force_args_of(const md_engine *e, const double *table)
{
  force_args a = {.k = table, .type = e->type, .ntypes = e->model->ntypes, .n = e->p->n};
  for (int d = 0; d < e->p->dim; ++d) a.x[d] = e->p->x[d];
  return a;
}

static void sum_chunk(const md_engine *e, const force_args *a, int64_t c, md_overlap *overlap)
{
  const md_model *model = e->model;
  const double least = e->kernels->force[model->pair.kind](a, e->p->dim, c * CHUNK, chunk_end(e, c),
                                                           chunk_list(e, c), e->rows + c * CHUNK_BLOCKS);
  if (least >= model->close2) return;
  md_overlap mine = md_overlap_none();
  sum_near(e, a->k, a->force, c, &mine);
#pragma omp critical
  md_overlap_add(overlap, mine.a, mine.b, mine.r2);
}

/* A thread's share of the chunks that need no ghost, part `part` of `parts`; or, with parts 0, those that do. */
static void sum_some(const md_engine *e, const force_args *a, int part, int parts, md_overlap *overlap)
{
#pragma omp parallel for schedule(static, 1)
  for (int t = 0; t < e->threads; ++t) {
    const int64_t begin = e->share[t], n = e->share[t + 1] - begin;
    const int64_t first = parts > 0 ? begin + n * part / parts : begin;
    const int64_t last = parts > 0 ? begin + n * (part + 1) / parts : begin + n;
    for (int64_t c = first; c < last; ++c)
      if (e->inner[c] == (parts > 0)) sum_chunk(e, a, c, overlap);
  }
}

/* Waits for the ghosts' positions. */
static md_status finish_halo(md_engine *e)
{
  double mark = md_time();
  for (bool done = !e->coming; !done;) MD_TRY(e->comm->halo_next(e->comm, e->p, &done));
  e->coming = false;
  md_timers_lap(&e->timers, MD_PHASE_HALO, &mark);
  return MD_OK;
}

/* Forces while ghosts are on their way: between two axes of the exchange, chunks that do without. */
static md_status sum_around_halo(md_engine *e, const force_args *a, md_overlap *overlap)
{
  const int parts = e->p->dim;
  double mark = md_time();
  for (int part = 0; part < parts; ++part) {
    bool done;
    sum_some(e, a, part, parts, overlap);
    md_timers_lap(&e->timers, MD_PHASE_FORCE, &mark);
    MD_TRY(e->comm->halo_next(e->comm, e->p, &done));
    md_timers_lap(&e->timers, MD_PHASE_HALO, &mark);
    e->coming = !done;
  }
  MD_TRY(finish_halo(e));
  mark = md_time();
  sum_some(e, a, 0, 0, overlap);
  md_timers_lap(&e->timers, MD_PHASE_FORCE, &mark);
  return MD_OK;
}

/* Forces in quanta of a coefficient table's scale; *overlap: a pair that is too near. */
static md_status sum_forces(md_engine *e, const double *table, double *const force[3], md_overlap *overlap)
{
  const md_particles *p = e->p;
  const md_model *model = e->model;
  *overlap = md_overlap_none();
  if (model->pair.kind == MD_PAIR_NONE) {
    for (int d = 0; d < p->dim; ++d) memset(force[d], 0, (size_t)p->n * sizeof(double));
    return finish_halo(e);
  }
  force_args a = force_args_of(e, table);
  for (int d = 0; d < p->dim; ++d) a.force[d] = force[d];
  if (e->coming) return sum_around_halo(e, &a, overlap);
  double mark = md_time();
#pragma omp parallel for schedule(static, 1)
  for (int t = 0; t < e->threads; ++t)
    for (int64_t c = e->share[t]; c < e->share[t + 1]; ++c) sum_chunk(e, &a, c, overlap);
  md_timers_lap(&e->timers, MD_PHASE_FORCE, &mark);
  return MD_OK;
}

/* Keeps a physics error until the ranks agree on one: returning at once would leave the others waiting. */
static void note_fault(md_engine *e, fault kind, md_status status)
{
  if (status == MD_OK || e->fault != NO_FAULT) return;
  e->fault = kind;
  e->fault_status = status;
}

static md_status refresh(md_engine *e)
{
  if (e->current) return MD_OK;
  md_overlap overlap;
  if (!e->built) MD_TRY(rebuild(e));
  MD_TRY(sum_forces(e, e->model->impulse_k, e->impulse, &overlap));
  e->current = true;
  note_fault(e, OVERLAP, md_overlap_status(&overlap, e->model));
  return MD_OK;
}

/* ---- move ---- */

/* Names the particle of the smallest id that moved too far in the present step or left the box. */
static md_status find_flyer(const md_engine *e, const md_motion *m)
{
  const md_particles *p = e->p;
  md_flyer flyer = md_flyer_none();
  for (int64_t i = 0; i < p->n; ++i)
    for (int d = 0; d < p->dim; ++d) {
      const double ratio = e->model->velocity_per_v[p->type[i]], x = p->x[d][i], v = p->v[d][i];
      if (!(fabs(md_drift(v, m->time * ratio, m->round_x)) <= m->move_limit) ||
          !(x >= m->stay_lo[d] && x <= m->stay_hi[d]))
        md_flyer_add(&flyer, p->id[i], d, x, v, ratio);
    }
  return md_flyer_status(&flyer, e->model);
}

/* The general move, a particle at a time: several masses, or a thermostat. */
static bool move_each(md_engine *e, const move_args *a, int64_t first, int64_t last, double *largest2)
{
  const md_model *model = e->model;
  const md_motion *m = a->motion;
  md_particles *p = e->p;
  bool sane = true;
  for (int64_t i = first; i < last; ++i) {
    const double ratio = model->velocity_per_v[p->type[i]];
    double noise = 0.0, distance2 = 0.0;
    md_random random = {{0}};
    if (m->thermostat) {
      noise = md_langevin_noise(m->temperature, m->keep, model->mass[p->type[i]], model->mass_reference);
      random = md_random_at(m->seed, (uint64_t)p->id[i], m->step, MD_STREAM_LANGEVIN);
    }
    for (int d = 0; d < p->dim; ++d) {
      if (a->impulse[d]) a->v[d][i] = md_kick(a->v[d][i], a->kicks * a->impulse[d][i], a->quantum);
      const double moved =
          md_motion_axis(m, d, m->time * ratio, noise, random.word[d], &a->x[d][i], &a->v[d][i]);
      sane =
          sane && fabs(moved) <= m->move_limit && a->x[d][i] >= m->stay_lo[d] && a->x[d][i] <= m->stay_hi[d];
      const double delta = a->x[d][i] - a->from[d][i];
      distance2 += delta * delta;
    }
    *largest2 = md_max(*largest2, distance2);
  }
  return sane;
}

static move_args move_args_of(md_engine *e, const md_motion *motion)
{
  move_args a = {.kicks = e->owed,
                 .quantum = e->model->grids.v,
                 .time_scale = motion->time * e->model->velocity_per_v[1],
                 .motion = motion};
  for (int d = 0; d < e->p->dim; ++d) {
    a.x[d] = e->p->x[d];
    a.v[d] = e->p->v[d];
    a.from[d] = e->from[d];
    a.impulse[d] = e->owed > 0.0 ? e->impulse[d] : NULL;
  }
  return a;
}

/* Gives the owed kicks and drifts; then makes sure that list and ghosts fit the new positions. */
static md_status drift(md_engine *e)
{
  if (!e->built) MD_TRY(rebuild(e));
  double mark = md_time();
  const md_motion motion = md_motion_of(e->model);
  const move_args a = move_args_of(e, &motion);
  const bool plain = e->model->one_mass && !motion.thermostat;
  double largest2 = 0.0;
  bool sane = true;
  if (e->fault == NO_FAULT) {
#pragma omp parallel for schedule(static) reduction(max : largest2) reduction(&& : sane)
    for (int64_t c = 0; c < e->nchunk; ++c) {
      const int64_t first = c * CHUNK, last = chunk_end(e, c);
      const bool ok =
          plain ? e->kernels->move(&a, first, last, &largest2) : move_each(e, &a, first, last, &largest2);
      sane = sane && ok;
    }
    if (!sane) note_fault(e, FLYER, find_flyer(e, &motion));
  }
  e->owed = 0.0;
  e->current = false;
  md_timers_lap(&e->timers, MD_PHASE_MOVE, &mark);
  e->moved = true;
  double most[2] = {largest2, e->fault};
  MD_TRY(e->comm->max(e->comm, most, 2));
  md_timers_lap(&e->timers, MD_PHASE_REDUCE, &mark);
  if (most[1] > 0.0) return e->comm->agree(e->comm, e->fault == (fault)most[1] ? e->fault_status : MD_OK);
  if (most[0] > 0.25 * e->skin * e->skin) return rebuild(e);
  if (e->comm->size > 1) {
    MD_TRY(e->comm->halo_begin(e->comm, e->p));
    e->coming = true;
  } else {
    MD_TRY(md_comm_halo_update(e->comm, e->p));
  }
  md_timers_lap(&e->timers, MD_PHASE_HALO, &mark);
  return MD_OK;
}

static void settle(md_engine *e)
{
  if (e->owed == 0.0) return;
  const double gain = e->owed * e->model->grids.v;
  for (int d = 0; d < e->p->dim; ++d) {
    double *v = e->p->v[d];
    const double *impulse = e->impulse[d];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < e->p->n; ++i) v[i] = fma(impulse[i], gain, v[i]);
  }
  e->owed = 0.0;
}

static md_status step(md_engine *e)
{
  const md_integrator integrator = e->model->integrator;
  if (integrator == MD_STATIC) return MD_OK;
  if (integrator == MD_NVE || integrator == MD_LEAPFROG) {
    MD_TRY(refresh(e));
    e->owed += 1.0;
  }
  MD_TRY(drift(e));
  if (integrator == MD_NVE || integrator == MD_LEAPFROG_MIRROR) {
    MD_TRY(refresh(e));
    e->owed += 1.0;
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
  double mark = md_time();
  settle(e);
  md_timers_lap(&e->timers, MD_PHASE_MOVE, &mark);
  return e->fault_status;
}

/* ---- measure ---- */

static md_status measure(md_engine *e, md_measure *total)
{
  if (!e->built) MD_TRY(rebuild(e));
  MD_TRY(finish_halo(e));
  const md_model *model = e->model;
  const md_particles *p = e->p;
  *total = (md_measure){.count = p->n};
  force_args a = force_args_of(e, model->force_k);
  a.per_e = 1.0 / model->grids.e;
  a.per_w = model->grids.f / model->grids.w;
#pragma omp parallel
  {
    md_measure mine = {.count = 0};
#pragma omp for schedule(static)
    for (int64_t c = 0; c < e->nchunk; ++c) {
      const int64_t first = c * CHUNK, last = chunk_end(e, c);
      for (int64_t i = first; i < last; ++i) md_motion_measure(model, p, i, &mine);
      if (model->pair.kind != MD_PAIR_NONE)
        e->kernels->measure[model->pair.kind](&a, p->dim, first, last, chunk_list(e, c),
                                              e->rows + c * CHUNK_BLOCKS, &mine);
    }
#pragma omp critical
    md_measure_merge(total, &mine);
  }
  return MD_OK;
}

/* ---- output ---- */

/* Wrapping moves particles by whole boxes, which the list's ghosts do not follow: it must be rebuilt. */
static md_status download(md_engine *e, double *const force[3])
{
  const bool *periodic = e->model->box.periodic;
  const bool wrap = periodic[0] || periodic[1] || (e->p->dim == 3 && periodic[2]);
  MD_TRY(finish_halo(e));
  if (!e->built || (wrap && e->moved)) {
    const bool current = e->current;
    MD_TRY(rebuild(e));
    e->current = false;
    if (current) MD_TRY(refresh(e));
  }
  if (!force) return MD_OK;
  md_overlap overlap;
  MD_TRY(sum_forces(e, e->model->force_k, force, &overlap));
  MD_TRY(e->comm->agree(e->comm, md_overlap_status(&overlap, e->model)));
  for (int d = 0; d < e->p->dim; ++d)
    for (int64_t i = 0; i < e->p->n; ++i) force[d][i] *= e->model->grids.f;
  return MD_OK;
}

static void report(const md_engine *e, md_engine_report *r)
{
  int64_t entries = 0, bytes = e->p->capacity * md_particles_bytes(e->p->dim) + e->p->spare_capacity * 8;
  for (int t = 0; t < e->threads; ++t) {
    entries += e->arenas[t].used;
    bytes += (e->arenas[t].capacity + BLOCK * e->arenas[t].lane_capacity) * (int64_t)sizeof(int32_t);
  }
  bytes += cell_index_bytes(&e->owned) + cell_index_bytes(&e->ghost);
  bytes += 2 * e->capacity * e->p->dim * (int64_t)sizeof(double);
  bytes += e->near_capacity * e->p->dim * (int64_t)sizeof(float);
  bytes += e->type_capacity * (int64_t)sizeof(int32_t) + e->chunk_capacity * (13 + CHUNK_BLOCKS * 4);
  *r = (md_engine_report){.timers = e->timers,
                          .rebuilds = e->rebuilds,
                          .steps = e->steps,
                          .neighbours = e->p->n > 0 ? (double)entries / (double)e->p->n : 0.0,
                          .ghosts = e->p->nghost,
                          .bytes = bytes,
                          .isa = e->kernels->isa,
                          .threads = e->threads};
}

const md_engine_kind md_engine_openmp = {
    .name = "openmp",
    .summary = "cells, Verlet lists and vector instructions on all cores",
    .create = create,
    .run = run,
    .measure = measure,
    .download = download,
    .plan = md_openmp_plan,
    .report = report,
    .destroy = destroy,
};
