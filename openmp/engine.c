/* The OpenMP engine: bin, sort by cell, cell_start, Verlet list; then force and move, in one pass over the particles,
 * until the next rebuild.
 *
 * At a rebuild the particles are physically put into cell order (cells.c), ghosts are made by the communicator
 * and binned too, and a list of all neighbours within cutoff + skin is built (kernels.c). It stays valid while no
 * particle has moved by more than half the skin since, which every move measures; the first step that would
 * break it rebuilds before any force is taken from it. So the list never decides a result, and neither do
 * threads, cell size or skin. Where cells hold few particles they are made wider than the list radius, and several lists
 * are built from them, and with the same ghosts, before the particles are sorted again.
 *
 * A pass takes the particles in chunks, which threads share (shares.h): the impulses of a chunk stay in the first-level
 * cache until they have moved its particles. New positions go into the spare arrays, which change places with the
 * positions at the end, so that a neighbour's old position is there for whoever comes later. Where velocities are wanted
 * before the next drift, at the end of a run by velocity Verlet, impulses are kept in the spare arrays, and that drift is
 * a pass without forces.
 *
 * Trade-off: full lists (each pair evaluated by both partners) cost twice the arithmetic of half lists and need
 * no scatter, no atomics and no per-thread force arrays. Cost: 4 bytes a stored neighbour, 4 dim bytes for positions
 * at the rebuild and 8 dim bytes for the spare arrays, besides the particles. A pass moves 16 dim bytes of positions,
 * the same of velocities and of new positions with what a write reads first, 4 dim of those at the rebuild, and the
 * list.
 */
#include "common/faults.h"
#include "openmp/kernels.h"
#include "openmp/openmp.h"
#include "openmp/plan.h"
#include "openmp/shares.h"

#include <omp.h>
#include <stdio.h>
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
  double halo;        /* width of cells and ghosts: reach and twice the slack */

  bool built;      /* list, ghosts and impulse arrays fit the particles */
  bool coming;     /* new positions of ghosts are under way */
  bool current;    /* the spare arrays hold the impulses of the present positions */
  double owed;     /* kicks by those impulses that are due before the next drift */
  int64_t arrived; /* the step that led to the present positions; the first one of the engine */
  bool moved;      /* since the particles were sorted */
  double slack;    /* how far particles may be from where they were sorted, for the cells to hold ... */
  double drifted;  /* ... and how far they are, at most, where the list was built */
  fault fault;     /* found on this rank, until all ranks know of it */
  md_status fault_status;

  cell_grid grid;
  cell_index owned, ghost;
  /* Positions that the list was built from, relative to the domain's corner: owned, then ghosts in cell order. */
  float *near_x[3];
  int64_t near_capacity;
  double near_error; /* of a distance from there, at most */
  int32_t *type;     /* 0-based, owned and ghosts; only with several types */
  int64_t type_capacity;
  arena *arenas; /* [threads] */
  int64_t nchunk, chunk_capacity;
  int64_t *chunk_at;      /* where a chunk's list begins in its arena, ... */
  int32_t *chunk_arena;   /* ... which that is, ... */
  int32_t *chunk_entries; /* ... and the list's length */
  int32_t *rows;          /* [nchunk * CHUNK_BLOCKS] */
  bool *inner;            /* no ghost is in the chunk's lists */
  shares shares;          /* of threads, in chunks */

  md_timers timers;
  int64_t steps, rebuilds, sorts;
  char details[64];
};

/* Cells and halo are a hair wider than the list radius, so that rounding cannot put neighbours out of reach. */
#define HAIR (1.0 + 1e-6)

/* The particles of chunk c are [c * CHUNK, chunk_end(e, c)). */
static int64_t chunk_end(const md_engine *e, int64_t c)
{
  return (c + 1) * CHUNK < e->p->n ? (c + 1) * CHUNK : e->p->n;
}

static void destroy(md_engine *e)
{
  cell_index_free(&e->owned);
  cell_index_free(&e->ghost);
  for (int d = 0; d < 3; ++d) free(e->near_x[d]);
  free(e->type);
  if (e->arenas)
    for (int t = 0; t < e->threads; ++t) {
      free(e->arenas[t].entry);
      for (int l = 0; l < BLOCK; ++l) free(e->arenas[t].lane[l]);
    }
  free(e->arenas);
  shares_free(&e->shares);
  free(e->chunk_at);
  free(e->chunk_arena);
  free(e->chunk_entries);
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
  md_status status = shares_new(&e->shares, e->threads);
  if (!e->arenas) status = md_error(MD_RUNTIME, "out of memory: the OpenMP engine");
  if (status != MD_OK) {
    destroy(e);
    return status;
  }
  e->arrived = model->step;
  e->skin = openmp_skin(model);
  e->reach = model->cutoff + e->skin;
  *engine = e;
  return MD_OK;
}

/* ---- rebuild ---- */

static md_status reserve(md_engine *e)
{
  e->nchunk = (e->p->n + CHUNK - 1) / CHUNK;
  if (e->nchunk > e->chunk_capacity) {
    e->chunk_capacity = e->nchunk + e->nchunk / 16 + 1;
    free(e->chunk_at);
    free(e->chunk_arena);
    free(e->chunk_entries);
    free(e->rows);
    free(e->inner);
    e->chunk_at = NULL, e->chunk_arena = e->chunk_entries = e->rows = NULL, e->inner = NULL;
    MD_TRY(md_array_new(&e->chunk_at, e->chunk_capacity, sizeof *e->chunk_at, "the neighbour list"));
    MD_TRY(md_array_new(&e->chunk_arena, e->chunk_capacity, sizeof *e->chunk_arena, "the neighbour list"));
    MD_TRY(
        md_array_new(&e->chunk_entries, e->chunk_capacity, sizeof *e->chunk_entries, "the neighbour list"));
    MD_TRY(md_array_new(&e->rows, e->chunk_capacity * CHUNK_BLOCKS, sizeof *e->rows, "the neighbour list"));
    MD_TRY(md_array_new(&e->inner, e->chunk_capacity, sizeof *e->inner, "the neighbour list"));
  }
  return MD_OK;
}

static md_status sort_owned(md_engine *e)
{
  md_particles *p = e->p;
  double lo[3], hi[3];
  e->comm->domain(e->comm, &e->model->box, lo, hi);
  const double width = md_max(e->halo, e->options.cell_size);
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

/* Behind the ghosts, in both arrays that are positions in turn: a block of padding, so that whole vectors may be read,
 * then the far particle. The two lie apart so that padding never seems to touch it. */
static md_status pad(md_engine *e)
{
  md_particles *p = e->p;
  const int64_t total = p->n + p->nghost;
  MD_TRY(md_particles_reserve(p, total + BLOCK + 1));
  MD_TRY(md_particles_spare(p));
  for (int d = 0; d < p->dim; ++d)
    for (int turn = 0; turn < 2; ++turn) {
      double *x = turn == 0 ? p->x[d] : p->spare[d];
      for (int l = 0; l < BLOCK; ++l) x[total + l] = -MD_FAR;
      x[total + BLOCK] = MD_FAR;
    }
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
      MD_TRY(md_array_new(&e->near_x[d], e->near_capacity, sizeof(float), "positions at the rebuild"));
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

/* A coordinate up to `extent` is off by 2^-24 of it in single precision, and a distance in space by no more than twice
 * that. */
static double near_error(const md_engine *e)
{
  double extent = 0.0;
  for (int d = 0; d < e->p->dim; ++d) extent = md_max(extent, (double)e->grid.count[d] * e->grid.width[d]);
  return 2.0 * extent * 0x1p-24;
}

/* The square of a distance that two particles within reach do not exceed in single precision: both are off, and the
 * sum of squares by some 2^-24. */
static float single_reach2(const md_engine *e)
{
  const double reach = e->reach * (1.0 + 0x1p-20) + 2.0 * e->near_error;
  return (float)(reach * reach * (1.0 + 0x1p-20));
}

static const int32_t *chunk_list(const md_engine *e, int64_t chunk)
{
  return e->arenas[e->chunk_arena[chunk]].entry + e->chunk_at[chunk];
}

/* Shares of equal work, counted in rows. The list is built with the shares of the last one, so that a thread finds its
 * lists in its own cache. */
static void share_work(md_engine *e)
{
  int64_t total = e->nchunk * CHUNK, done = 0;
  for (int t = 0; t < e->threads; ++t) total += e->arenas[t].used;
  int t = 1;
  for (int64_t c = 0; c < e->nchunk; ++c) {
    done += CHUNK + e->chunk_entries[c];
    while (t < e->threads && done * e->threads >= total * t) e->shares.begin[t++] = c + 1;
  }
  e->shares.begin[e->threads] = e->nchunk;
}

/* Gives back what a thread no longer needs that once helped much. */
static void trim(arena *a)
{
  if (a->capacity <= a->used + a->used / 4 + 1024) return;
  const int64_t less = a->used + a->used / 8 + 1;
  int32_t *entry = realloc(a->entry, (size_t)less * sizeof *entry);
  if (!entry) return;
  a->entry = entry;
  a->capacity = less;
}

static md_status build_list(md_engine *e)
{
  md_particles *p = e->p;
  list_args a = {.dim = p->dim,
                 .n = p->n,
                 .reach2 = single_reach2(e),
                 .grid = &e->grid,
                 .owned = &e->owned,
                 .ghost = &e->ghost,
                 .far = (int32_t)(p->n + p->nghost + BLOCK)};
  for (int d = 0; d < p->dim; ++d) {
    a.x[d] = e->near_x[d];
    a.ghost_x[d] = e->near_x[d] + p->n + CHUNK;
  }
  bool ok = true;
  shares_restart(&e->shares);
#pragma omp parallel for schedule(static, 1) reduction(&& : ok)
  for (int t = 0; t < e->threads; ++t) {
    /* A copy of its own: neighbours in the array would share cache lines that every block writes. */
    arena memory = e->arenas[t];
    memory.used = 0;
    for (piece mine = {.owner = t}; shares_take(&e->shares, 0, 1, &mine);)
      for (int64_t c = mine.first; c < mine.last; ++c) {
        e->chunk_at[c] = memory.used;
        e->chunk_arena[c] = t;
        ok = ok && e->kernels->list(&a, c * CHUNK, chunk_end(e, c), &memory, e->rows + c * CHUNK_BLOCKS);
        e->chunk_entries[c] = (int32_t)(memory.used - e->chunk_at[c]);
      }
    trim(&memory);
    e->arenas[t] = memory;
  }
  return ok ? MD_OK
            : md_error(MD_RUNTIME,
                       "out of memory: the neighbour list of %lld particles within %g; use a smaller skin or "
                       "more ranks",
                       (long long)p->n, e->reach);
}

/* Which chunks can be worked on before the ghosts' new positions are there. Padding lies behind the ghosts. */
static void find_inner(md_engine *e)
{
  const int32_t ghosts = (int32_t)e->p->n, end = (int32_t)(e->p->n + e->p->nghost);
#pragma omp parallel for schedule(static)
  for (int64_t c = 0; c < e->nchunk; ++c) {
    const int32_t *entry = chunk_list(e, c);
    bool inner = true;
    for (int32_t k = 0; k < e->chunk_entries[c] && inner; ++k) inner = entry[k] < ghosts || entry[k] >= end;
    e->inner[c] = inner;
  }
}

/* From the present positions, in the cells they were sorted into. */
static md_status renew_list(md_engine *e)
{
  double mark = md_time();
  MD_TRY(round_positions(e));
  e->near_error = near_error(e);
  if (e->shares.begin[e->threads] != e->nchunk) shares_evenly(&e->shares, e->nchunk);
  if (e->model->pair.kind != MD_PAIR_NONE) {
    MD_TRY(build_list(e));
    share_work(e);
    if (e->comm->size > 1) find_inner(e);
  }
  md_timers_lap(&e->timers, MD_PHASE_LIST, &mark);
  e->built = true;
  ++e->rebuilds;
  return MD_OK;
}

/* Several lists can come from the same cells if these are so wide that what has moved since is still next door. That
 * costs nothing while a row of the stencil, three cells, holds no more candidates than are tested at a time. The same on
 * all ranks, as all must rebuild together. */
static md_status choose_slack(md_engine *e)
{
  enum { LISTS_MORE = 3 }; /* a wider halo would cost more than sorting */
  const int dim = e->p->dim;
  double lo[3], hi[3], volume = 1.0, width = MD_FAR;
  e->comm->domain(e->comm, &e->model->box, lo, hi);
  for (int d = 0; d < dim; ++d) {
    volume *= hi[d] - lo[d];
    width = md_min(width, 0.25 * (hi[d] - lo[d])); /* few ghosts */
  }
  const double room = e->kernels->lanes * volume / (3.0 * (double)(e->p->n + 1));
  width = md_min(width, pow(room, 1.0 / dim));
  /* A list ends with the first step beyond half the skin. */
  const double life = 0.65 * e->skin;
  const double lists = life > 0.0 ? floor(0.5 * (width - e->reach) / life) : 0.0;
  double fewest = -md_max(md_min(lists, LISTS_MORE), 0.0); /* as ranks have a maximum only */
  MD_TRY(e->comm->max(e->comm, &fewest, 1));
  e->slack = -fewest * life;
  e->halo = (e->reach + 2.0 * e->slack) * HAIR;
  return MD_OK;
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
  MD_TRY(choose_slack(e));
  md_timers_lap(&e->timers, MD_PHASE_REDUCE, &mark);
  MD_TRY(sort_owned(e));
  mark = md_time();
  MD_TRY(e->comm->halo_build(e->comm, &e->model->box, e->model->cutoff > 0.0 ? e->halo : 0.0, e->p));
  md_timers_lap(&e->timers, MD_PHASE_BORDERS, &mark);
  MD_TRY(sort_ghosts(e));
  mark = md_time();
  MD_TRY(reserve(e));
  MD_TRY(pad(e));
  md_timers_lap(&e->timers, MD_PHASE_LIST, &mark);
  e->moved = false;
  e->current = false;
  e->drifted = 0.0;
  snprintf(e->details, sizeof e->details, "Sorted: %lld times\n", (long long)++e->sorts);
  return renew_list(e);
}

/* A list from the cells of the last rebuild, for particles that are `distance` from where the last list was built. */
static md_status relist(md_engine *e, double distance)
{
  double mark = md_time();
  e->drifted += distance;
  MD_TRY(md_comm_halo_update(e->comm, e->p));
  md_timers_lap(&e->timers, MD_PHASE_HALO, &mark);
  return renew_list(e);
}

/* ---- force ---- */

/* Forces on one chunk, a pair at a time, for chunks in which a pair is too near for the fast rounding of the
 * kernels; also finds pairs that overlap. */
static void sum_near(const md_engine *e, const double *table, double (*force)[CHUNK], int64_t c,
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
      for (int d = 0; d < p->dim; ++d) force[d][i - c * CHUNK] = (double)sum[d];
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

/* Forces on one chunk in quanta of the table's scale. */
static void sum_chunk(const md_engine *e, const force_args *a, int64_t c, double (*force)[CHUNK],
                      md_overlap *overlap)
{
  const md_model *model = e->model;
  if (model->pair.kind == MD_PAIR_NONE) {
    memset(force, 0, sizeof *force * (size_t)e->p->dim);
    return;
  }
  const double least = e->kernels->force[model->pair.kind](
      a, e->p->dim, c * CHUNK, chunk_end(e, c), chunk_list(e, c), e->rows + c * CHUNK_BLOCKS, force);
  if (least < model->close2) sum_near(e, a->k, force, c, overlap);
}

/* ---- passes ---- */

/* What a thread finds in a pass. */
typedef struct finding {
  md_overlap overlap; /* a pair that is too near */
  double largest2;    /* squared displacement since the rebuild */
  bool sane;          /* no particle flew */
} finding;

/* Which chunks: all, those that need no ghost, or the others. */
typedef enum selection { EVERY, INNER, OUTER } selection;

/* One pass over all chunks: forces on each, and what they are for. */
typedef struct pass {
  force_args force;
  move_args move;
  double *out[3]; /* impulses or forces of all particles */
  void (*chunk)(const md_engine *, const struct pass *, int64_t c, finding *);
} pass;

static finding finding_none(void)
{
  return (finding){.overlap = md_overlap_none(), .largest2 = 0.0, .sane = true};
}

static void finding_merge(finding *f, const finding *other)
{
  md_overlap_add(&f->overlap, other->overlap.a, other->overlap.b, other->overlap.r2);
  f->largest2 = md_max(f->largest2, other->largest2);
  f->sane = f->sane && other->sane;
}

/* Part `part` of `parts` of the chunks of every share, those that are to be. */
static void pass_some(const md_engine *e, const pass *s, selection which, int part, int parts, finding *f)
{
  shares_restart(&e->shares);
#pragma omp parallel for schedule(static, 1)
  for (int t = 0; t < e->threads; ++t) {
    finding found = finding_none();
    for (piece mine = {.owner = t}; shares_take(&e->shares, part, parts, &mine);)
      for (int64_t c = mine.first; c < mine.last; ++c)
        if (which == EVERY || e->inner[c] == (which == INNER)) s->chunk(e, s, c, &found);
#pragma omp critical
    finding_merge(f, &found);
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

/* While ghosts are on their way: between two axes of the exchange, chunks that do without. */
static md_status pass_around_halo(md_engine *e, const pass *s, finding *f)
{
  const int parts = e->p->dim;
  double mark = md_time();
  for (int part = 0; part < parts; ++part) {
    bool done;
    pass_some(e, s, INNER, part, parts, f);
    md_timers_lap(&e->timers, MD_PHASE_FORCE, &mark);
    MD_TRY(e->comm->halo_next(e->comm, e->p, &done));
    md_timers_lap(&e->timers, MD_PHASE_HALO, &mark);
    e->coming = !done;
  }
  MD_TRY(finish_halo(e));
  mark = md_time();
  pass_some(e, s, OUTER, 0, 1, f);
  md_timers_lap(&e->timers, MD_PHASE_FORCE, &mark);
  return MD_OK;
}

static md_status pass_all(md_engine *e, const pass *s, md_phase phase, finding *f)
{
  *f = finding_none();
  if (e->model->pair.kind == MD_PAIR_NONE) MD_TRY(finish_halo(e));
  if (e->coming) return pass_around_halo(e, s, f);
  double mark = md_time();
  pass_some(e, s, EVERY, 0, 1, f);
  md_timers_lap(&e->timers, phase, &mark);
  return MD_OK;
}

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
  if (then.integrator != MD_LEAPFROG) then.step = e->arrived;
  note_fault(e, OVERLAP, md_overlap_status(overlap, &then));
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
static bool move_each(const md_engine *e, const move_args *a, const double *const *impulse, int64_t first,
                      int64_t last, double *largest2)
{
  const md_model *model = e->model;
  const md_motion *m = a->motion;
  const md_particles *p = e->p;
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
      double x = a->x[d][i], v = a->v[d][i];
      if (impulse) v = md_kick(v, a->kicks * impulse[d][i - first], a->quantum);
      const double moved = md_motion_axis(m, d, m->time * ratio, noise, random.word[d], &x, &v);
      sane = sane && fabs(moved) <= m->move_limit && x >= m->stay_lo[d] && x <= m->stay_hi[d];
      const double delta = x - a->corner[d] - (double)a->from[d][i];
      distance2 += delta * delta;
      a->to[d][i] = x;
      a->v[d][i] = v;
    }
    *largest2 = md_max(*largest2, distance2);
  }
  return sane;
}

static void move_chunk(const md_engine *e, const move_args *a, const double *const *impulse, int64_t c,
                       finding *f)
{
  const bool plain = e->model->one_mass && !a->motion->thermostat;
  const int64_t first = c * CHUNK, last = chunk_end(e, c);
  const bool sane = plain ? e->kernels->move(a, impulse, first, last, &f->largest2)
                          : move_each(e, a, impulse, first, last, &f->largest2);
  f->sane = f->sane && sane;
}

static void push_chunk(const md_engine *e, const pass *s, int64_t c, finding *f)
{
  double impulse[3][CHUNK];
  sum_chunk(e, &s->force, c, impulse, &f->overlap);
  move_chunk(e, &s->move, (const double *const[3]){impulse[0], impulse[1], impulse[2]}, c, f);
}

/* Impulses, where they are needed, are in the spare arrays. */
static void drift_chunk(const md_engine *e, const pass *s, int64_t c, finding *f)
{
  const double *impulse[3] = {NULL, NULL, NULL};
  for (int d = 0; d < e->p->dim; ++d) impulse[d] = s->out[d] + c * CHUNK;
  move_chunk(e, &s->move, s->move.kicks > 0.0 ? impulse : NULL, c, f);
}

static move_args move_args_of(const md_engine *e, const md_motion *motion, bool push)
{
  move_args a = {.kicks = e->owed,
                 .quantum = e->model->grids.v,
                 .time_scale = motion->time * e->model->velocity_per_v[1],
                 .motion = motion};
  for (int d = 0; d < e->p->dim; ++d) {
    a.x[d] = e->p->x[d];
    a.to[d] = push ? e->p->spare[d] : e->p->x[d];
    a.v[d] = e->p->v[d];
    a.from[d] = e->near_x[d];
    a.corner[d] = e->grid.lo[d];
  }
  return a;
}

/* Gives the owed kicks and drifts; then makes sure that list and ghosts fit the new positions. */
static md_status drift(md_engine *e)
{
  if (!e->built) MD_TRY(rebuild(e));
  const md_motion motion = md_motion_of(e->model);
  const bool push = e->owed > 0.0 && !e->current;
  md_particles *p = e->p;
  pass s = {.force = force_args_of(e, e->model->impulse_k),
            .move = move_args_of(e, &motion, push),
            .chunk = push ? push_chunk : drift_chunk};
  for (int d = 0; d < p->dim; ++d) s.out[d] = p->spare[d];
  finding f;
  MD_TRY(pass_all(e, &s, push ? MD_PHASE_FORCE : MD_PHASE_MOVE, &f));
  if (push)
    for (int d = 0; d < p->dim; ++d) {
      void *old = p->x[d];
      p->x[d] = p->spare[d];
      p->spare[d] = old;
    }
  note_overlap(e, &f.overlap);
  if (!f.sane && e->fault == NO_FAULT) note_fault(e, FLYER, find_flyer(e, &motion));
  e->owed = 0.0;
  e->current = false;
  e->moved = true;
  e->arrived = e->model->step;
  double mark = md_time();
  double most[2] = {sqrt(f.largest2) + e->near_error, e->fault};
  MD_TRY(e->comm->max(e->comm, most, 2));
  md_timers_lap(&e->timers, MD_PHASE_REDUCE, &mark);
  if (most[1] > 0.0) return e->comm->agree(e->comm, e->fault == (fault)most[1] ? e->fault_status : MD_OK);
  if (most[0] > 0.5 * e->skin) return e->drifted + most[0] > e->slack ? rebuild(e) : relist(e, most[0]);
  if (e->comm->size > 1) {
    MD_TRY(e->comm->halo_begin(e->comm, p));
    e->coming = true;
  } else {
    MD_TRY(md_comm_halo_update(e->comm, p));
  }
  md_timers_lap(&e->timers, MD_PHASE_HALO, &mark);
  return MD_OK;
}

static void settle_chunk(const md_engine *e, const pass *s, int64_t c, finding *f)
{
  const double gain = s->move.kicks * s->move.quantum;
  const int64_t first = c * CHUNK, n = chunk_end(e, c) - first;
  double impulse[3][CHUNK];
  sum_chunk(e, &s->force, c, impulse, &f->overlap);
  for (int d = 0; d < e->p->dim; ++d) {
    double *v = s->move.v[d] + first, *out = s->out[d] + first;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      out[i] = impulse[d][i];
      v[i] = fma(impulse[d][i], gain, v[i]);
    }
  }
}

/* Gives the owed kicks, and keeps their impulses for the next drift. */
static md_status settle(md_engine *e)
{
  if (e->owed == 0.0) return MD_OK;
  pass s = {.force = force_args_of(e, e->model->impulse_k),
            .move = {.kicks = e->owed, .quantum = e->model->grids.v},
            .chunk = settle_chunk};
  for (int d = 0; d < e->p->dim; ++d) {
    s.move.v[d] = e->p->v[d];
    s.out[d] = e->p->spare[d];
  }
  finding f;
  MD_TRY(pass_all(e, &s, MD_PHASE_FORCE, &f));
  note_overlap(e, &f.overlap);
  e->owed = 0.0;
  e->current = true;
  return MD_OK;
}

static md_status step(md_engine *e)
{
  const md_integrator integrator = e->model->integrator;
  if (integrator == MD_STATIC) return MD_OK;
  if (integrator == MD_NVE || integrator == MD_LEAPFROG) e->owed += 1.0;
  MD_TRY(drift(e));
  if (integrator == MD_NVE || integrator == MD_LEAPFROG_MIRROR) e->owed += 1.0;
  return MD_OK;
}

static md_status run(md_engine *e, int64_t n)
{
  for (int64_t s = 0; s < n; ++s) {
    MD_TRY(step(e));
    ++e->model->step;
    ++e->steps;
  }
  MD_TRY(settle(e));
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

static void download_chunk(const md_engine *e, const pass *s, int64_t c, finding *f)
{
  const int64_t first = c * CHUNK, n = chunk_end(e, c) - first;
  const double quantum = e->model->grids.f;
  double force[3][CHUNK];
  sum_chunk(e, &s->force, c, force, &f->overlap);
  for (int d = 0; d < e->p->dim; ++d)
    for (int64_t i = 0; i < n; ++i) s->out[d][first + i] = force[d][i] * quantum;
}

/* Wrapping moves particles by whole boxes, which the list's ghosts do not follow: it must be rebuilt. */
static md_status download(md_engine *e, double *const force[3])
{
  const bool *periodic = e->model->box.periodic;
  const bool wrap = periodic[0] || periodic[1] || (e->p->dim == 3 && periodic[2]);
  MD_TRY(finish_halo(e));
  if (!e->built || (wrap && e->moved)) MD_TRY(rebuild(e));
  if (!force) return MD_OK;
  pass s = {.force = force_args_of(e, e->model->force_k),
            .out = {force[0], force[1], force[2]},
            .chunk = download_chunk};
  finding f;
  MD_TRY(pass_all(e, &s, MD_PHASE_FORCE, &f));
  return e->comm->agree(e->comm, md_overlap_status(&f.overlap, e->model));
}

static void report(const md_engine *e, md_engine_report *r)
{
  int64_t entries = 0,
          bytes = e->p->capacity * md_particles_bytes(e->p->dim) + e->p->spare_capacity * e->p->dim * 8;
  for (int t = 0; t < e->threads; ++t) {
    entries += e->arenas[t].used;
    bytes += (e->arenas[t].capacity + BLOCK * e->arenas[t].lane_capacity) * (int64_t)sizeof(int32_t);
  }
  bytes += cell_index_bytes(&e->owned) + cell_index_bytes(&e->ghost);
  bytes += e->near_capacity * e->p->dim * (int64_t)sizeof(float);
  bytes += e->type_capacity * (int64_t)sizeof(int32_t) + e->chunk_capacity * (17 + CHUNK_BLOCKS * 4);
  *r = (md_engine_report){.timers = e->timers,
                          .rebuilds = e->rebuilds,
                          .steps = e->steps,
                          .neighbours = e->p->n > 0 ? (double)entries / (double)e->p->n : 0.0,
                          .ghosts = e->p->nghost,
                          .bytes = bytes,
                          .isa = e->kernels->isa,
                          .details = e->sorts > 0 ? e->details : NULL,
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
