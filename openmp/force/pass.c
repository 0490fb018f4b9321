/* Passes of the OpenMP engine: a pass computes the forces on each chunk of particles and uses them at once.
 *
 * Threads share the chunks (openmp/chunk_queues.h). openmp/step.c and openmp/engine.c give the function that uses the
 * forces on a chunk. It runs while these forces are still in the first-level cache.
 *
 * On several ranks the positions of ghosts may still be under way (openmp/messages.c). An inner chunk has no ghost in
 * its lists and need not wait for them; an outer chunk must wait. A pass divides each queue into `of` parts, and looks
 * at the messages between two parts. The order of the work, from 1 to 4:
 *
 *                      first parts (summed)    parts taken while          all other parts
 *                                              ghosts are under way
 *      inner chunks    1: forces are there     2                          3: all chunks
 *      outer chunks    4                       4                             in order
 *
 * Once the ghosts' positions are there, all chunks of a part are taken in order: particles that are next to one
 * another in memory are best read at the same time.
 *
 * While the ranks' answer to the last move is under way, it is unknown whether the list still holds. Then the engine
 * sums speculative forces: impulses of inner chunks, which it keeps in the spare arrays (1 above). They are used if
 * the list holds, and thrown away if not.
 *
 * With a half list (half_kernels.h) every thread takes the chunks of its own queue in order, because the impulses on a
 * chunk are complete only when all rows before it are done. What is summed early, 1 and 2 above, is added to the
 * records of impulses. Then all chunks are used in order, and the rows of the others are summed.
 *
 * Trade-off: messages travel while the engine works. But chunks are not all taken in order, and speculative forces
 * may be lost work.
 */
#include "common/compute/impulse_virial.h"
#include "common/force/forces.h"
#include "openmp/engine.h"

/* ---- fetching ahead ---- */

/* Of a cache line. */
enum { LINE_DOUBLES = 8, LINE_FLOATS = 16, LINE_RECORDS = 2 };

/* Asks for the positions of the particles at the end of a row of the stencil, `offset` cells after those of chunk c. A
 * half list also needs the sums there. */
MD_FN void fetch_partners(const md_engine *e, int64_t c, int64_t offset)
{
  const int32_t *cell = e->owned.cell, *start = e->owned.start;
  const int64_t first = start[cell[c * CHUNK] + offset], end = start[cell[(c + 1) * CHUNK] + offset];
  for (int64_t k = first / LINE_RECORDS * LINE_RECORDS; e->list.half && k < end; k += LINE_RECORDS) {
    fetch_line(e->half.record + 4 * k);
    fetch_line(e->half.sum + 4 * k);
  }
  for (int d = 0; !e->list.half && d < e->p->dim; ++d)
    for (int64_t k = first; k < end; k += LINE_DOUBLES) fetch_line(e->p->x[d] + k);
}

/* Asks for the list of chunk c. Kernels of half lists do this while they read (half_kernels.h). */
MD_FN void fetch_list(const md_engine *e, int64_t c)
{
  const int32_t *list = chunk_list(e, c);
  for (int32_t k = 0; k < e->list.entries[c]; k += LINE_FLOATS) fetch_line(list + k);
}

/* Asks for what the move of chunk c reads and writes. */
MD_FN void fetch_particles(const md_engine *e, int64_t c)
{
  for (int d = 0; d < e->p->dim; ++d)
    for (int64_t k = c * CHUNK; k < (c + 1) * CHUNK; k += LINE_DOUBLES) {
      fetch_line(e->p->x[d] + k);
      fetch_line(e->p->v[d] + k);
      if (!e->list.half) fetch_line((const double *)e->p->spare[d] + k);
      if (k % LINE_FLOATS == 0) fetch_line(e->near.x[d] + k);
    }
}

/* The next chunk's data are asked for while chunk c is summed. There are a dozen arrays, of which most lie beyond the
 * caches, and a processor follows fewer by itself. Of the partners, those in the last row of the stencil have not been
 * read before, and in 3D those in the last row of its own layer were read a layer ago. */
MD_FN void fetch_next(const md_engine *e, int64_t c)
{
  enum { MANY = 1 << 18 }; /* full lists of fewer particles lie in the caches */
  const int64_t row = e->grid.count[0], layer = row * e->grid.count[1];
  if (c + 2 >= e->list.nchunk || (!e->list.half && e->p->n < MANY)) return;
  fetch_partners(e, c + 1, row + 2);
  if (e->p->dim == 3) fetch_partners(e, c + 1, layer + row + 2);
  if (!e->list.half) fetch_list(e, c + 1);
  fetch_particles(e, c + 1);
}

/* ---- force ---- */

/* Sums impulses on one chunk, one pair at a time: the careful sum, for a chunk in which a pair is too near for the fast
 * rounding of the kernels. Also finds pairs that overlap. */
static void sum_each(const md_engine *e, const double *table, double (*force)[CHUNK], int64_t c,
                     md_overlap *overlap)
{
  const md_model *model = e->model;
  const md_particles *p = e->p;
  const int32_t *entry = chunk_list(e, c);
  for (int64_t b = 0; b < CHUNK_BLOCKS && c * CHUNK + b * BLOCK < p->n; ++b) {
    const int32_t rows = chunk_rows(e, c)[b];
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
        const size_t pair = engine_pair(e, i, j);
        if (r2 < model->overlap2[pair]) {
          md_overlap_add(overlap, p->id[i], p->id[j], r2);
          continue; /* its impulse is out of range */
        }
        const double f = md_pair_force(model->pair.kind, r2, table + pair * MD_PAIR_K);
        for (int d = 0; d < p->dim; ++d) sum[d] += (int64_t)md_round_product(f, delta[d]);
      }
      for (int d = 0; d < p->dim; ++d) force[d][i - c * CHUNK] = (double)sum[d];
    }
    entry += (int64_t)rows * BLOCK;
  }
}

/* Adds the virial of impulses of a pair, or its components along the axes, as each of its `partners` particles
 * would. */
static void add_virial(const md_engine *e, double f, double r2, const double *delta, int partners,
                       md_measure *m)
{
  const double rounder = md_impulse_virial_rounder(e->model);
  md_fine term = {partners * md_odd_count(f, r2, rounder), 0};
  if (!e->model->awaited.tensor) md_wide_add(&m->virial2, md_fine_count(term));
  for (int d = 0; e->model->awaited.tensor && d < e->p->dim; ++d) {
    term.coarse = partners * md_odd_count(f * delta[d], delta[d], rounder);
    md_wide_add(&m->tensor2[d], md_fine_count(term));
  }
}

/* One entry of a half list: adds the impulse of a pair that is too near for the kernels, and its virial to m (NULL:
 * nowhere), or notes an overlap. own: the impulse is also subtracted from j. add: false only to find overlaps. */
static void add_near(const md_engine *e, const double *table, int64_t i, int64_t j, bool own, bool add,
                     md_overlap *overlap, md_measure *m)
{
  const md_model *model = e->model;
  const md_particles *p = e->p;
  double delta[3], r2 = 0.0;
  for (int d = 0; d < p->dim; ++d) {
    delta[d] = e->half.record[4 * i + d] - e->half.record[4 * j + d];
    r2 = fma(delta[d], delta[d], r2);
  }
  if (!(r2 < model->close2)) return;
  const size_t pair = engine_pair(e, i, j);
  if (r2 < model->overlap2[pair]) {
    md_overlap_add(overlap, p->id[i], p->id[j], r2);
    return; /* its impulse is out of range */
  }
  const double f = add ? md_pair_force(model->pair.kind, r2, table + pair * MD_PAIR_K) : 0.0;
  for (int d = 0; add && d < p->dim; ++d) {
    const int64_t term = (int64_t)md_round_product(f, delta[d]);
    e->half.sum[4 * i + d] += term;
    if (own) e->half.sum[4 * j + d] -= term;
  }
  if (add && m) add_virial(e, f, r2, delta, own ? 2 : 1, m);
}

/* The same for all pairs of chunk c. */
static void add_near_pairs(const md_engine *e, const double *table, int64_t c, bool add, md_overlap *overlap,
                           md_measure *m)
{
  const int64_t total = e->p->n + e->p->nghost;
  const int32_t *entry = chunk_list(e, c), *rows = chunk_rows(e, c);
  for (int64_t i = c * CHUNK; i < chunk_end(e, c); ++i, rows += 2) {
    const int64_t own = (int64_t)rows[0] * e->kernels->half_lanes,
                  all = own + (int64_t)rows[1] * e->kernels->half_lanes;
    for (int64_t k = 0; k < all; ++k)
      if (entry[k] < total) add_near(e, table, i, entry[k], k < own, add, overlap, m);
    entry += all;
  }
}

/* Adds the impulses of the rows of chunk c to the records, and their virial to m (NULL: nowhere). */
static void add_half(const md_engine *e, const force_args *a, int64_t c, md_overlap *overlap, md_measure *m)
{
  if (md_pair_has_density(&e->model->pair)) {
    engine_add_density_half(e, c, overlap);
    return;
  }
  const double least = e->kernels->half_force(a, e->model->pair.kind, c * CHUNK, chunk_end(e, c),
                                              chunk_list(e, c), chunk_rows(e, c), m);
  if (least < e->model->close2) add_near_pairs(e, a->k, c, true, overlap, m);
}

/* The impulses on chunk c by a half list, whose rows before this chunk are done. */
static void sum_half(const md_engine *e, const force_args *a, int64_t c, double (*force)[CHUNK],
                     md_overlap *overlap, md_measure *m)
{
  const int64_t first = c * CHUNK, last = chunk_end(e, c);
  if (!e->list.early[c]) add_half(e, a, c, overlap, m);
  e->list.early[c] = false;
  const uint64_t bits = (uint64_t)md_bits(MD_ROUND);
  for (int64_t i = first; i < last; ++i) {
    int64_t *sum = e->half.sum + 4 * i;
    for (int d = 0; d < 3; ++d)
      force[d][i - first] = (double)(int64_t)((uint64_t)sum[d] - (uint64_t)sum[3] * bits);
    memset(sum, 0, 4 * sizeof *sum);
  }
}

/* Of the particles and ghosts [first, last). */
static void fill_records(const md_engine *e, int64_t first, int64_t last)
{
  const md_particles *p = e->p;
  const uint16_t *type = engine_subtypes(e);
  const bool sloped = md_pair_has_density(&e->model->pair);
#pragma omp parallel for schedule(static)
  for (int64_t i = first; i < last; ++i) {
    double *record = e->half.record + 4 * i;
    for (int d = 0; d < 3; ++d) record[d] = p->x[d][i];
    record[3] = sloped ? e->density.slope[i] : (double)(type[i] - 1);
  }
}

static void fill_owned_records(const md_engine *e)
{
  fill_records(e, 0, e->p->n);
  double *far = e->half.record + 4 * engine_far(e, 0);
  for (int64_t k = 0; k < (int64_t)e->threads * BLOCK; ++k)
    for (int w = 0; w < 4; ++w) far[4 * k + w] = w < 3 ? MD_FAR : 0.0;
}

static void fill_ghost_records(const md_engine *e) { fill_records(e, e->p->n, e->p->n + e->p->nghost); }

void engine_fill_records(const md_engine *e)
{
  if (!e->list.half) return;
  fill_owned_records(e);
  fill_ghost_records(e);
}

force_args engine_force_args(const md_engine *e, const double *table)
{
  force_args a = {.k = table,
                  .virial_rounder = md_impulse_virial_rounder(e->model),
                  .axes = e->model->awaited.tensor,
                  .type = e->type,
                  .ntypes = md_model_subtypes(e->model),
                  .n = e->p->n,
                  .record = e->half.record,
                  .sum = e->half.sum,
                  .near2 = nextafter(e->model->close2, 0.0)};
  for (int d = 0; d < e->p->dim; ++d) a.x[d] = e->p->x[d];
  return a;
}

/* The fixes act on the impulses of chunk c, up to the first one that takes a mean over all chunks. */
static void act_on_forces(const md_engine *e, int64_t c, double (*force)[CHUNK], md_overlap *overlap)
{
  const md_force_action *action = md_forces_at(e->model, e->present_step);
  const int last = md_forces_next_mean(action, 0, e->model->nforce_action);
  for (int64_t i = c * CHUNK; i < chunk_end(e, c); ++i) {
    double impulse[3] = {0.0};
    for (int d = 0; d < e->p->dim; ++d) impulse[d] = force[d][i - c * CHUNK];
    md_forces_on_particle(e->model, action, last, e->p, i, impulse, overlap);
    for (int d = 0; d < e->p->dim; ++d) force[d][i - c * CHUNK] = impulse[d];
  }
}

static void add_bonds(const md_engine *e, int64_t c, double (*force)[CHUNK], md_overlap *overlap)
{
  const md_bonds *bonds = &e->model->bonds;
  bond_args a = {.kind = bonds->kind,
                 .slots = e->p->bonds,
                 .ntypes = bonds->ntypes,
                 .index = (const int32_t *const *)e->partners.index,
                 .type = e->p->bond_type,
                 .k = bonds->impulse_k};
  for (int d = 0; d < e->p->dim; ++d) a.x[d] = e->p->x[d];
  if (e->kernels->bonds(&a, e->p->dim, c * CHUNK, chunk_end(e, c), force)) return;
  for (int64_t i = c * CHUNK; i < chunk_end(e, c); ++i) {
    int64_t sum[3] = {0};
    md_partners_impulse(&e->partners, e->model, e->p, NULL, i, sum, overlap);
    for (int d = 0; d < e->p->dim; ++d) force[d][i - c * CHUNK] += (double)sum[d];
  }
}

static void add_output_of_bonds(const md_engine *e, int64_t c, double (*force)[CHUNK], md_overlap *overlap)
{
  for (int64_t i = c * CHUNK; i < chunk_end(e, c); ++i) {
    double of_bonds[3] = {0.0};
    md_partners_force(&e->partners, e->model, e->p, NULL, i, of_bonds, overlap);
    for (int d = 0; d < e->p->dim; ++d) force[d][i - c * CHUNK] += of_bonds[d];
  }
}

void engine_sum_chunk(const md_engine *e, const force_args *a, int64_t c, double (*force)[CHUNK],
                      md_overlap *overlap)
{
  const md_model *model = e->model;
  if (model->pair.kind != MD_PAIR_NONE) fetch_next(e, c);
  if (model->pair.kind == MD_PAIR_NONE) {
    memset(force, 0, sizeof *force * (size_t)e->p->dim);
  } else if (e->list.half) {
    sum_half(e, a, c, force, overlap, NULL);
  } else if (md_pair_needs_more(&model->pair)) {
    engine_visited_forces(e, false, c, force, overlap);
  } else {
    const double least = e->kernels->force[model->pair.kind](a, e->p->dim, c * CHUNK, chunk_end(e, c),
                                                             chunk_list(e, c), chunk_rows(e, c), force);
    if (least < model->close2) sum_each(e, a->k, force, c, overlap);
  }
  if (model->bonds.ntypes > 0) add_bonds(e, c, force, overlap);
  if (model->nforce_action > 0) act_on_forces(e, c, force, overlap);
}

void engine_sum_virial_chunk(const md_engine *e, const force_args *a, int64_t c, double (*force)[CHUNK],
                             md_overlap *overlap, md_measure *m)
{
  const md_model *model = e->model;
  if (e->list.half) {
    sum_half(e, a, c, force, overlap, m);
  } else {
    const double least = e->kernels->force_virial[model->pair.kind](
        a, e->p->dim, c * CHUNK, chunk_end(e, c), chunk_list(e, c), chunk_rows(e, c), force, m);
    if (least < model->close2) sum_each(e, a->k, force, c, overlap);
  }
  if (model->nforce_action > 0) act_on_forces(e, c, force, overlap);
}

void engine_output_forces(const md_engine *e, const force_args *a, int64_t c, double (*force)[CHUNK],
                          md_overlap *overlap)
{
  const md_model *model = e->model;
  if (model->pair.kind == MD_PAIR_NONE) {
    memset(force, 0, sizeof *force * (size_t)e->p->dim);
  } else if (md_pair_needs_more(&model->pair)) {
    engine_visited_forces(e, true, c, force, overlap);
  } else {
    const double least = e->kernels->output[model->pair.kind](a, e->p->dim, c * CHUNK, chunk_end(e, c),
                                                              chunk_list(e, c), chunk_rows(e, c), force);
    if (least < model->close2) engine_find_overlap(e, c, overlap);
  }
  if (model->bonds.ntypes > 0) add_output_of_bonds(e, c, force, overlap);
}

void engine_find_overlap(const md_engine *e, int64_t c, md_overlap *overlap)
{
  double impulse[3][CHUNK];
  if (e->list.half)
    add_near_pairs(e, NULL, c, false, overlap, NULL);
  else
    sum_each(e, e->model->impulse_k, impulse, c, overlap);
}

/* ---- passes ---- */

/* Which chunks: all, those without ghosts in their lists, or those that may have some. */
typedef enum selection { EVERY, INNER, OUTER } selection;

typedef void (*chunk_work)(const md_engine *, const pass *, int64_t c, finding *);

finding finding_none(void) { return (finding){.overlap = md_overlap_none(), .largest2 = 0.0, .sane = true}; }

static void finding_merge(finding *f, const finding *other)
{
  md_overlap_add(&f->overlap, other->overlap.a, other->overlap.b, other->overlap.r2);
  f->largest2 = md_max(f->largest2, other->largest2);
  f->sane = f->sane && other->sane;
}

/* The number of parts. A part has at least CHUNKS chunks of each queue, so that a look at the messages after each
 * part costs little in comparison. */
static int parts_of(const md_engine *e)
{
  enum { CHUNKS = 16 };
  const int64_t n = e->list.nchunk / ((int64_t)CHUNKS * e->threads);
  return n < 1 ? 1 : (int)n;
}

/* The next piece for a thread. The chunks of half lists stay with their thread, and come in order. */
static bool queues_take_from(const md_engine *e, parts some, piece *p)
{
  if (!e->list.half) return queues_take(&e->queues, some, p);
  if (p->last > 0) return false;
  const int64_t begin = e->queues.begin[p->owner], n = e->queues.begin[p->owner + 1] - begin;
  p->first = begin + n * some.first / some.of;
  p->last = begin + n * some.last / some.of;
  return p->first < p->last;
}

/* Does `work` on the selected chunks of some parts of every queue, on all threads. */
static void pass_some(const md_engine *e, const pass *s, chunk_work work, selection which, parts some,
                      finding *f)
{
  if (some.first == some.last) return;
  queues_restart(&e->queues);
#pragma omp parallel for schedule(static, 1)
  for (int t = 0; t < e->threads; ++t) {
    finding found = finding_none();
    md_measure sums;
    if (s->sums) {
      sums = (md_measure){.count = 0};
      found.sums = &sums;
    }
    for (piece mine = {.owner = t}; queues_take_from(e, some, &mine);)
      for (int64_t c = mine.first; c < mine.last; ++c)
        if (which == EVERY || e->list.inner[c] == (which == INNER)) work(e, s, c, &found);
#pragma omp critical
    {
      finding_merge(f, &found);
      if (s->sums) md_measure_merge(e->model, s->sums, &sums);
    }
  }
}

/* Sums the impulses on one chunk into `out`. */
static void sum_chunk(const md_engine *e, const pass *s, int64_t c, finding *f)
{
  double impulse[3][CHUNK];
  engine_sum_chunk(e, &s->force, c, impulse, &f->overlap);
  const int64_t first = c * CHUNK, n = chunk_end(e, c) - first;
  for (int d = 0; d < e->p->dim; ++d) memcpy(s->out[d] + first, impulse[d], (size_t)n * sizeof(double));
}

/* The same for a half list, into the records. */
static void add_chunk_early(const md_engine *e, const pass *s, int64_t c, finding *f)
{
  add_half(e, &s->force, c, &f->overlap, e->after_step.summed.impulses ? f->sums : NULL);
  e->list.early[c] = true;
}

md_status engine_speculative_force(md_engine *e, int *summed, finding *f)
{
  const int of = parts_of(e);
  *summed = 0;
  MD_TRY(engine_poll(e));
  if (e->move != MOVE_ASKED || e->model->pair.kind == MD_PAIR_NONE || md_pair_needs_more(&e->model->pair))
    return MD_OK;
  pass s = {.force = engine_force_args(e, e->model->impulse_k)};
  for (int d = 0; d < e->p->dim; ++d) s.out[d] = e->p->spare[d];
  for (; e->move == MOVE_ASKED && *summed < of; ++*summed) {
    double mark = md_time();
    if (e->list.half && *summed == 0) fill_owned_records(e);
    pass_some(e, &s, e->list.half ? add_chunk_early : sum_chunk, INNER, (parts){*summed, *summed + 1, of}, f);
    md_timers_lap(&e->timers, MD_PHASE_FORCE, &mark);
    MD_TRY(engine_poll(e));
  }
  return MD_OK;
}

/* The pass by a half list. A chunk can be used only when all rows before it are done. So what comes early goes into the
 * records, and all chunks in order after it. */
static md_status pass_halves(md_engine *e, const pass *s, md_phase phase, finding *f)
{
  const int of = parts_of(e);
  double mark = md_time();
  if (s->forces && s->summed == 0) fill_owned_records(e);
  md_timers_lap(&e->timers, phase, &mark);
  MD_TRY(engine_poll(e));
  for (int part = s->summed; s->forces && e->halo_state == HALO_UNDER_WAY && part < of; ++part) {
    mark = md_time();
    pass_some(e, s, add_chunk_early, INNER, (parts){part, part + 1, of}, f);
    md_timers_lap(&e->timers, phase, &mark);
    MD_TRY(engine_poll(e));
  }
  MD_TRY(engine_finish_halo(e));
  mark = md_time();
  if (s->forces) fill_ghost_records(e);
  pass_some(e, s, s->chunk, EVERY, ALL_PARTS, f);
  md_timers_lap(&e->timers, phase, &mark);
  return MD_OK;
}

md_status engine_pass(md_engine *e, const pass *s, md_phase phase, finding *f)
{
  if (e->list.half) return pass_halves(e, s, phase, f);
  const int of = parts_of(e);
  int part = s->summed;
  double mark = md_time();
  pass_some(e, s, s->summed_chunk, INNER, (parts){0, part, of}, f);
  md_timers_lap(&e->timers, phase, &mark);
  if (e->model->pair.kind == MD_PAIR_NONE) MD_TRY(engine_finish_halo(e));
  MD_TRY(engine_poll(e));
  for (; e->halo_state == HALO_UNDER_WAY && part < of; ++part) {
    mark = md_time();
    pass_some(e, s, s->chunk, INNER, (parts){part, part + 1, of}, f);
    md_timers_lap(&e->timers, phase, &mark);
    MD_TRY(engine_poll(e));
  }
  MD_TRY(engine_finish_halo(e));
  mark = md_time();
  pass_some(e, s, s->chunk, EVERY, (parts){part, of, of}, f);
  pass_some(e, s, s->chunk, OUTER, (parts){0, part, of}, f);
  md_timers_lap(&e->timers, phase, &mark);
  return MD_OK;
}
