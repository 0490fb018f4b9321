/* Rebins of the OpenMP engine: a rebin wraps the particles, sorts them by cell, and makes ghosts, cell_start and
 * list.
 *
 * 1. The communicator wraps the particles and sends each to its owner (migrate).
 * 2. The particles are moved in memory into cell order (cells.c).
 * 3. The communicator makes the ghosts (halo_build), and the ghosts are binned too.
 * 4. The list of all neighbours within the list radius, cutoff + skin, is built (openmp/force/list_kernels.h).
 *
 * Where cells hold few particles, the cells are made wider than the list radius by twice the slack. Then several
 * lists are built from the same cells and the same ghosts, before the next rebin. The life of the lists:
 *
 *    rebin              relist             relist             rebin
 *      |----- list 1 ---->|----- list 2 ---->|----- list 3 ---->|----- list 1 ----> steps
 *      |              list ended         list ended        list and cells ended
 *   drifted = 0          = d1               = d1 + d2          = 0
 *
 * Every move measures the distance: how far a particle of any rank is, at most, from where it was when the list was
 * built. The list has ended when distance > skin / 2. Then the cells have ended too if drifted + distance > slack,
 * and a rebin follows, else a relist. `drifted` is the sum of the distances d1, d2 ... at which earlier lists ended.
 *
 * Lists are half or full (plan.c: openmp_halves). Trade-off: full lists, which both partners of a pair have, need no
 * scatter and no second copy of the particles, and their chunks can be taken in any order. They cost twice the
 * arithmetic of half lists (openmp/force/half_kernels.h). Both give the same bits.
 *
 * Cost: 4 bytes a stored neighbour, 72 bytes a particle of half lists, and 4 dim bytes a particle for the positions at
 * the rebin.
 */
#include "common/ranks/domains.h"
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"
#include "openmp/engine.h"

#include <stdio.h>
#include <stdlib.h>

/* Cells and halo are wider than they must be by a factor of 1 + 10^-6, so that rounding cannot put neighbours out of
 * reach of the stencil. */
#define ROUNDING_MARGIN (1.0 + 1e-6)

/* Room for what the engine keeps of each chunk's list. */
static md_status reserve(md_engine *e)
{
  e->list.nchunk = (e->p->n + CHUNK - 1) / CHUNK;
  if (e->list.nchunk > e->list.capacity) {
    e->list.capacity = e->list.nchunk + e->list.nchunk / 16 + 1;
    free(e->list.at);
    free(e->list.arena);
    free(e->list.entries);
    free(e->list.rows);
    free(e->list.inner);
    free(e->list.early);
    e->list.at = NULL, e->list.arena = e->list.entries = e->list.rows = NULL,
    e->list.inner = e->list.early = NULL;
    MD_TRY(md_array_new(&e->list.at, e->list.capacity, sizeof *e->list.at, "the neighbour list"));
    MD_TRY(md_array_new(&e->list.arena, e->list.capacity, sizeof *e->list.arena, "the neighbour list"));
    MD_TRY(md_array_new(&e->list.entries, e->list.capacity, sizeof *e->list.entries, "the neighbour list"));
    MD_TRY(md_array_new(&e->list.rows, e->list.capacity * e->list.row_lengths, sizeof *e->list.rows,
                        "the neighbour list"));
    MD_TRY(md_array_new(&e->list.inner, e->list.capacity, sizeof *e->list.inner, "the neighbour list"));
    MD_TRY(md_array_new(&e->list.early, e->list.capacity, sizeof *e->list.early, "the neighbour list"));
  }
  return MD_OK;
}

/* Shrinks the space lo..hi to the part that the particles take, but to at least a width. Ghosts may be outside. */
static void shrink(const md_particles *p, double width, double lo[3], double hi[3])
{
  for (int d = 0; d < p->dim; ++d) {
    double least, most;
    md_particles_extent(p->x[d], p->n, &least, &most);
    lo[d] = md_max(lo[d], md_min(hi[d], least));
    hi[d] = md_max(md_min(hi[d], most), lo[d] + width);
  }
}

static md_status sort_owned(md_engine *e)
{
  md_particles *p = e->p;
  double lo[3], hi[3], fit = 1.0;
  e->comm->domains->domain(e->comm, &e->model->box, lo, hi);
  const double least = md_max(e->halo, e->options.cell_size), width = least > 0.0 ? least : hi[0] - lo[0];
  for (int d = 0; d < p->dim; ++d) fit *= md_max(1.0, (hi[d] - lo[d]) / width);
  if (fit > CELLS_A_PARTICLE * (double)p->n && p->n > 0) shrink(p, width, lo, hi);
  e->grid = cell_grid_of(p->dim, lo, hi, width, p->n);
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
  for (int d = 0; d < p->dim; ++d)
    x[d] = p->n > 0 ? p->x[d] + p->n : p->x[d]; /* without particles it may be NULL */
  double seconds[2] = {0};
  MD_TRY(cell_index_build(&e->ghost, &e->grid, x, p->nghost, 0, seconds));
  e->timers.seconds[MD_PHASE_BIN] += seconds[0];
  e->timers.seconds[MD_PHASE_SORT] += seconds[1];
  return MD_OK;
}

/* Fills the subtypes of owned particles and ghosts, if groups divide types. */
static md_status divide_types(md_engine *e)
{
  const int64_t total = e->p->n + e->p->nghost;
  if (e->model->subtypes.n == 0) return MD_OK;
  if (total > e->subtype_capacity) {
    free(e->subtype);
    e->subtype = NULL;
    e->subtype_capacity = total + total / 16;
    MD_TRY(md_array_new(&e->subtype, e->subtype_capacity, sizeof *e->subtype, "types"));
  }
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < total; ++i) e->subtype[i] = (uint16_t)(md_subtype_of(e->model, e->p, i) + 1);
  return MD_OK;
}

/* Fills the molecules of owned particles and ghosts, if these exclude pairs. Their numbers are exact as doubles. */
static md_status find_molecules(md_engine *e)
{
  const md_particles *p = e->p;
  const int64_t total = p->n + p->nghost;
  if (e->model->exclusions.molecules.n == 0) return MD_OK;
  if (total > e->molecule_capacity) {
    free(e->molecule);
    e->molecule = NULL;
    e->molecule_capacity = total + total / 16;
    MD_TRY(md_array_new(&e->molecule, e->molecule_capacity, sizeof *e->molecule, "molecules"));
  }
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) e->molecule[i] = p->molecule[i];
  return e->comm->exchange->halo_values(e->comm, p, e->molecule, 1);
}

/* Writes two things after the ghosts, in x and in the spare arrays, because these change places in a step:
 *
 *   | owned: n | ghosts: nghost | padding: BLOCK at -MD_FAR | far particle: 1 at MD_FAR |
 *
 * Kernels read whole vectors, which may end in the padding. Short lanes of the list point to the far particle.
 * Padding and far particle lie at opposite ends, so that a kernel never sees them as a near pair. Also fills the
 * 0-based types. */
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
  MD_TRY(divide_types(e));
  if (md_model_subtypes(e->model) == 1) return MD_OK;
  if (total + BLOCK + 1 > e->type_capacity) {
    free(e->type);
    e->type = NULL;
    e->type_capacity = total + total / 16 + BLOCK + 1;
    MD_TRY(md_array_new(&e->type, e->type_capacity, sizeof *e->type, "types"));
  }
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < total; ++i) e->type[i] = engine_subtypes(e)[i] - 1;
  for (int64_t i = total; i <= total + BLOCK; ++i) e->type[i] = 0;
  return MD_OK;
}

/* Arrays of records of the same alignment would share sets of the cache, so that one is shifted. */
enum { SUM_SHIFT = 256 };

/* Room for the records, and impulses of zero. */
static md_status reserve_records(md_engine *e)
{
  const int64_t need = engine_far(e, e->threads);
  if (need > INT32_MAX)
    return md_error(MD_RUNTIME,
                    "half lists of %d threads have no room for %lld particles and ghosts: use more ranks",
                    e->threads, (long long)(e->p->n + e->p->nghost));
  if (need > e->half.capacity) {
    e->half.capacity = need + need / 16;
    free(e->half.record);
    free(e->half.memory);
    e->half.record = NULL, e->half.memory = NULL;
    MD_TRY(md_array_new(&e->half.record, e->half.capacity, 4 * sizeof *e->half.record,
                        "positions for half lists"));
    MD_TRY(md_array_new(&e->half.memory, e->half.capacity + SUM_SHIFT / 4, 4 * sizeof *e->half.sum,
                        "impulses of half lists"));
    e->half.sum = e->half.memory + SUM_SHIFT;
  }
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < need; ++i) memset(e->half.sum + 4 * i, 0, 4 * sizeof *e->half.sum);
  if (e->list.nchunk > 0) memset(e->list.early, 0, (size_t)e->list.nchunk * sizeof *e->list.early);
  return MD_OK;
}

/* Fills near.x: positions relative to the domain's corner in single precision, first of the owned particles, then of
 * the ghosts in cell order. */
static md_status round_positions(md_engine *e)
{
  const md_particles *p = e->p;
  const int64_t need = p->n + p->nghost + 2 * CHUNK;
  if (need > e->near.capacity) {
    e->near.capacity = need + need / 16;
    for (int d = 0; d < p->dim; ++d) {
      free(e->near.x[d]);
      e->near.x[d] = NULL;
      MD_TRY(md_array_new(&e->near.x[d], e->near.capacity, sizeof(float), "positions of the list"));
    }
  }
#pragma omp parallel
  for (int d = 0; d < p->dim; ++d) {
    const double *x = p->x[d], corner = e->grid.lo[d];
    const int32_t *order = e->ghost.order;
    float *owned = e->near.x[d], *ghost = owned + p->n + CHUNK;
#pragma omp for simd schedule(static) nowait
    for (int64_t i = 0; i < p->n; ++i) owned[i] = (float)(x[i] - corner);
#pragma omp for schedule(static) nowait
    for (int64_t k = 0; k < p->nghost; ++k) ghost[k] = (float)(x[p->n + order[k]] - corner);
  }
  return MD_OK;
}

/* The largest error of a distance to a position of near.x. In single precision a coordinate up to `extent` has an
 * error of at most 2^-24 extent. A distance in space has at most twice this error. In a small box the ghosts reach
 * beyond the padding of the grid. */
static double near_error(const md_engine *e)
{
  double extent = 0.0;
  for (int d = 0; d < e->p->dim; ++d) {
    const double width = e->grid.width[d], padded = (double)e->grid.count[d] * width;
    extent = md_max(extent, padded + md_max(e->halo - width, 0.0));
  }
  return 2.0 * extent * 0x1p-24;
}

/* Square of the reach for the test in single precision: particles within reach always pass it. The positions of both
 * particles have an error, and the sum of squares has a relative error of some 2^-24. */
static float single_reach2(const md_engine *e)
{
  const double reach = e->reach * (1.0 + 0x1p-20) + 2.0 * e->near.error;
  return (float)(reach * reach * (1.0 + 0x1p-20));
}

/* Divides the chunks into queues of equal work. The work of a chunk is CHUNK plus the number of its list entries.
 * The next list will be built with these queues too, so that a thread finds most of its lists in its own cache. */
static void share_work(md_engine *e)
{
  int64_t total = e->list.nchunk * CHUNK, done = 0;
  for (int t = 0; t < e->threads; ++t) total += e->list.arenas[t].used;
  int t = 1;
  for (int64_t c = 0; c < e->list.nchunk; ++c) {
    done += CHUNK + e->list.entries[c];
    while (t < e->threads && done * e->threads >= total * t) e->queues.begin[t++] = c + 1;
  }
  e->queues.begin[e->threads] = e->list.nchunk;
}

/* Gives back memory that an arena no longer needs: a thread may have stolen many chunks at an earlier list. */
static void trim(arena *a)
{
  if (a->capacity <= a->used + a->used / 4 + 1024) return;
  const int64_t less = a->used + a->used / 8 + 1;
  int32_t *entry = realloc(a->entry, (size_t)less * sizeof *entry);
  if (!entry) return;
  a->entry = entry;
  a->capacity = less;
}

/* owner: the thread of the chunk. */
static bool build_chunk(const md_engine *e, const list_args *a, int owner, int64_t c, arena *memory)
{
  int32_t *rows = e->list.rows + c * e->list.row_lengths;
  if (!e->list.half) return e->kernels->list(a, c * CHUNK, chunk_end(e, c), memory, rows, e->list.inner + c);
  list_args half = *a;
  half.first = e->queues.begin[owner] * CHUNK;
  half.last = chunk_end(e, e->queues.begin[owner + 1] - 1);
  half.far = (int32_t)engine_far(e, owner);
  return e->kernels->half_list(&half, c * CHUNK, chunk_end(e, c), memory, rows, e->list.inner + c);
}

/* Has a particle of chunk c a bond to a ghost? */
static bool has_ghost_partner(const md_engine *e, int64_t c)
{
  const int bonds = e->model->bonds.ntypes > 0 ? e->p->bonds : 0;
  bool found = false;
  for (int k = 0; k < bonds; ++k)
    for (int64_t i = c * CHUNK; i < chunk_end(e, c); ++i) found = found || e->partners.index[k][i] >= e->p->n;
  return found;
}

static list_args list_args_of(md_engine *e)
{
  md_particles *p = e->p;
  list_args a = {.dim = p->dim,
                 .n = p->n,
                 .reach2 = single_reach2(e),
                 .grid = &e->grid,
                 .owned = &e->owned,
                 .ghost = &e->ghost,
                 .far = (int32_t)(p->n + p->nghost + BLOCK),
                 .id = p->id,
                 .molecules = &e->model->exclusions.molecules,
                 .molecule = e->molecule,
                 .group = p->group};
  a.nexcluded = md_excluded_ids(e->model, p, &a.excluded);
  for (int d = 0; d < p->dim; ++d) {
    a.x[d] = e->near.x[d];
    a.ghost_x[d] = e->near.x[d] + p->n + CHUNK;
  }
  return a;
}

/* Lists the chunks that thread t takes. Returns false if memory is short. */
static bool build_chunks(md_engine *e, const list_args *a, int t)
{
  bool ok = true;
  /* Each thread works on a copy of its arena: arenas that are neighbours in the array share cache lines, and every
   * block of particles writes to its arena. */
  arena memory = e->list.arenas[t];
  memory.used = 0;
  for (piece mine = {.owner = t}; queues_take(&e->queues, ALL_PARTS, &mine);)
    for (int64_t c = mine.first; c < mine.last; ++c) {
      e->list.at[c] = memory.used;
      e->list.arena[c] = t;
      ok = ok && build_chunk(e, a, mine.owner, c, &memory);
      if (has_ghost_partner(e, c)) e->list.inner[c] = false;
      e->list.entries[c] = (int32_t)(memory.used - e->list.at[c]);
    }
  trim(&memory);
  e->list.arenas[t] = memory;
  return ok;
}

static md_status build_list(md_engine *e)
{
  const list_args a = list_args_of(e);
  bool ok = true;
  queues_restart(&e->queues);
#pragma omp parallel for schedule(static, 1) reduction(&& : ok)
  for (int t = 0; t < e->threads; ++t) ok = build_chunks(e, &a, t) && ok;
  return ok ? MD_OK
            : md_error(MD_RUNTIME,
                       "out of memory: the neighbour list of %lld particles within %g; use a smaller skin or "
                       "more ranks",
                       (long long)e->p->n, e->reach);
}

/* Makes the list from the present positions, with the cells of the last rebin. */
static md_status renew_list(md_engine *e)
{
  double mark = md_time();
  MD_TRY(round_positions(e));
  e->near.error = near_error(e);
  e->near.shrunk = e->near.grown = 1.0;
  e->near.sheared = 0.0;
  for (int d = 0; d < 3; ++d) {
    e->near.scale[d] = 1.0;
    e->near.corner[d] = e->grid.lo[d];
  }
  const bool known = e->queues.begin[e->threads] == e->list.nchunk;
  if (!known) queues_evenly(&e->queues, e->list.nchunk);
  if (e->model->pair.kind != MD_PAIR_NONE) {
    /* The queues of a half list must stay, so that the lengths of the last list share the work. */
    e->list.half = e->list.halves && !e->list.full_wanted;
    if (e->list.half) MD_TRY(reserve_records(e));
    if (e->list.half && known) share_work(e);
    MD_TRY(build_list(e));
    if (!e->list.half) share_work(e);
  }
  md_timers_lap(&e->timers, MD_PHASE_LIST, &mark);
  e->structure_fits = true;
  ++e->lists;
  return MD_OK;
}

/* Chooses slack and halo. Several lists can be made from the same cells if the cells are so wide that a neighbour
 * which has moved since the rebin is still in the stencil. Wider cells cost nothing as long as a row of the stencil
 * (three cells) holds no more candidates than a kernel tests at a time. All ranks take the smallest slack of all,
 * because they must rebin together. */
static md_status choose_slack(md_engine *e)
{
  enum { LISTS_MORE = 3 }; /* with more lists, the wider halo would cost more than the saved sorting */
  const int dim = e->p->dim;
  double lo[3], hi[3], volume = 1.0, width = MD_FAR;
  e->comm->domains->domain(e->comm, &e->model->box, lo, hi);
  for (int d = 0; d < dim; ++d) {
    volume *= hi[d] - lo[d];
    width = md_min(width, 0.25 * (hi[d] - lo[d])); /* so that ghosts stay few */
  }
  const double room = e->kernels->lanes * volume / (3.0 * (double)(e->p->n + 1));
  width = md_min(width, pow(room, 1.0 / dim));
  /* 0.65 and not 0.5: the step that ends a list takes a particle beyond half the skin, by up to the way of a step. */
  const double life = 0.65 * e->skin;
  const double lists = life > 0.0 ? floor(0.5 * (width - e->reach) / life) : 0.0;
  double fewest = -md_max(md_min(lists, LISTS_MORE), 0.0); /* negative: the communicator has no minimum */
  MD_TRY(e->comm->reduce->max(e->comm, &fewest, 1));
  e->slack = -fewest * life;
  e->halo = (e->reach + 2.0 * e->slack) * ROUNDING_MARGIN;
  return MD_OK;
}

/* A bond must end among the ghosts now. It keeps its ghost until the next rebin. */
static double halo_width(const md_engine *e)
{
  if (!(e->model->reach > 0.0)) return 0.0;
  return md_max(e->halo, e->model->bonds.reach * ROUNDING_MARGIN);
}

md_status engine_rebin(md_engine *e)
{
  MD_TRY(engine_finish_halo(e));
  md_box_shorten(&e->model->box);
  double mark = md_time();
  const double balanced = e->comm->balancing;
  MD_TRY(e->comm->exchange->migrate(e->comm, e->model, e->p));
  const double balancing = e->comm->balancing - balanced;
  e->timers.seconds[MD_PHASE_BALANCE] += balancing;
  mark += balancing;
  md_timers_lap(&e->timers, MD_PHASE_MIGRATE, &mark);
  MD_TRY(choose_slack(e));
  md_timers_lap(&e->timers, MD_PHASE_REDUCE, &mark);
  MD_TRY(sort_owned(e));
  mark = md_time();
  MD_TRY(e->comm->exchange->halo_build(e->comm, &e->model->box, halo_width(e), e->p));
  md_timers_lap(&e->timers, MD_PHASE_BORDERS, &mark);
  MD_TRY(sort_ghosts(e));
  mark = md_time();
  MD_TRY(reserve(e));
  MD_TRY(pad(e));
  MD_TRY(find_molecules(e));
  if (e->model->bonds.ntypes > 0) MD_TRY(md_partners_find(&e->partners, e->p, e->threads));
  md_timers_lap(&e->timers, MD_PHASE_LIST, &mark);
  e->moved = false;
  e->impulses_kept = false;
  e->drifted = 0.0;
  snprintf(e->details, sizeof e->details, "Sorted: %lld times\n", (long long)++e->sorts);
  return renew_list(e);
}

md_status engine_relist(md_engine *e, double distance)
{
  e->drifted += distance;
  MD_TRY(engine_finish_halo(e));
  return renew_list(e);
}
