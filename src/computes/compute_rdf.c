/* compute rdf: the radial distribution function g(r), and the number of neighbours within r.
 *
 * 1. A rank sorts a block of particles into cells at least as wide as the cutoff. At first the block is its own.
 * 2. For each of its own particles it counts those of the block in the cells around it, by distance.
 * 3. The blocks go round the ring of ranks, so that each rank meets the particles of all others, whatever the domains.
 * 4. Counts are whole numbers, and are added over ranks. g(r) is made of them at the end.
 *
 *      g(r) = count(r) / (N_i rho_j V(r)),   V(r) the volume of the shell
 *
 * Differences of positions are exact, and a distance is one formula, so that a pair is in the same bin everywhere. Both
 * orders of a pair are counted. Trade-off: all blocks visit all ranks, which is simple and needs no ghosts. Cost: that
 * of a search of pairs in cells, and on P ranks P messages of 32 bytes a particle. Memory: four blocks.
 * Reference: Allen and Tildesley, Computer Simulation of Liquids, section 8.2; the LAMMPS manual, compute rdf. */
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"
#include "src/computes/host_compute.h"
#include "src/output/observer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* Types of the centre and of its neighbours. */
typedef struct type_pair {
  int first[2], last[2];
} type_pair;

typedef struct compute_rdf {
  md_host_compute base;
  int bins, npair;
  type_pair *pair;
  double cutoff; /* of the deck; 0: that of the forces */
  double *array; /* [bins][1 + 2 npair]: r; g and neighbours for each pair of types */
} compute_rdf;

/* A particle that visits ranks. */
typedef struct visitor {
  double x[3];
  int64_t type;
} visitor;

/* A block of particles in cells. */
typedef struct block {
  int64_t n;
  visitor *at;
  int cells[3];
  int64_t *start; /* [cells + 1] */
  visitor *sorted;
} block;

/* ---- words ---- */

static md_status read_pairs(compute_rdf *c, const md_sim *sim, const md_words *words, int n)
{
  const int ntypes = sim->model.ntypes;
  c->npair = n > 0 ? n / 2 : 1;
  MD_TRY(md_array_new_zero(&c->pair, c->npair, sizeof *c->pair, "pairs of types"));
  c->pair[0] = (type_pair){{1, 1}, {ntypes, ntypes}};
  for (int k = 0; k < n; ++k) {
    type_pair *p = &c->pair[k / 2];
    MD_TRY(md_word_types(words->word[1 + k], ntypes, &p->first[k % 2], &p->last[k % 2]));
  }
  return MD_OK;
}

static md_status parse(md_host_compute *base, md_sim *sim, const md_words *words)
{
  compute_rdf *c = (compute_rdf *)base;
  int64_t bins;
  int n = 0;
  MD_TRY(md_sim_need_box(sim, "compute rdf"));
  if (words->n < 1) return md_error(MD_USAGE, "compute rdf takes a number of bins");
  MD_TRY(md_word_int64(words->word[0], "the bins of compute rdf", 1, 1 << 20, &bins));
  c->bins = (int)bins;
  while (1 + n < words->n && strcmp(words->word[1 + n], "cutoff") != 0) ++n;
  if (n % 2 != 0)
    return md_error(MD_USAGE, "compute rdf: types come in pairs; one stands alone: '%.64s'", words->word[n]);
  MD_TRY(read_pairs(c, sim, words, n));
  if (words->n > 1 + n) {
    if (words->n != 3 + n)
      return md_error(MD_USAGE, "compute rdf: behind cutoff stands one distance, and nothing more");
    MD_TRY(md_word_positive(words->word[2 + n], "the cutoff of compute rdf", &c->cutoff));
  }
  const int columns = 1 + 2 * c->npair;
  MD_TRY(md_array_new_zero(&c->array, (int64_t)c->bins * columns, sizeof *c->array, "g(r)"));
  base->values = (md_values){.rows = c->bins, .columns = columns, .array = c->array};
  return MD_OK;
}

/* ---- cells ---- */

/* The number of cells along an axis: at least a cutoff wide, and not many more than particles. */
static void choose_cells(const md_box *box, double cutoff, block *b)
{
  int64_t all = 1;
  for (int d = 0; d < 3; ++d) {
    const double most = d < box->dim ? floor(box->length[d] / cutoff) : 1.0;
    b->cells[d] = most < 1.0 ? 1 : most > 1024.0 ? 1024 : (int)most;
    all *= b->cells[d];
  }
  while (all > 8 * b->n + 64) {
    int widest = 0;
    for (int d = 1; d < 3; ++d)
      if (b->cells[d] > b->cells[widest]) widest = d;
    all /= b->cells[widest];
    b->cells[widest] = (b->cells[widest] + 1) / 2;
    all *= b->cells[widest];
  }
}

static int cell_along(const md_box *box, const block *b, int d, double x)
{
  if (b->cells[d] == 1) return 0;
  const int c = (int)((x - box->lo[d]) / box->length[d] * b->cells[d]);
  return c < 0 ? 0 : c >= b->cells[d] ? b->cells[d] - 1 : c;
}

static int64_t cell_of(const md_box *box, const block *b, const visitor *v)
{
  int64_t cell = 0;
  for (int d = 2; d >= 0; --d) cell = cell * b->cells[d] + cell_along(box, b, d, v->x[d]);
  return cell;
}

/* Sorts the particles of a block by counting. */
static md_status sort_block(const md_box *box, double cutoff, block *b)
{
  choose_cells(box, cutoff, b);
  const int64_t cells = (int64_t)b->cells[0] * b->cells[1] * b->cells[2];
  MD_TRY(md_array_new_zero(&b->start, cells + 1, sizeof *b->start, "cells"));
  MD_TRY(md_array_new(&b->sorted, b->n, sizeof *b->sorted, "particles in cells"));
  for (int64_t i = 0; i < b->n; ++i) ++b->start[cell_of(box, b, &b->at[i])];
  for (int64_t k = 1; k < cells; ++k) b->start[k] += b->start[k - 1];
  b->start[cells] = b->n;
  for (int64_t i = b->n - 1; i >= 0; --i) b->sorted[--b->start[cell_of(box, b, &b->at[i])]] = b->at[i];
  return MD_OK;
}

static void free_cells(block *b)
{
  free(b->start);
  free(b->sorted);
  b->start = NULL;
  b->sorted = NULL;
}

/* ---- counting ---- */

typedef struct counting {
  const md_box *box;
  const compute_rdf *c;
  double cutoff, per_bin; /* bins per length */
} counting;

static bool is_of(const type_pair *p, int end, int64_t type)
{
  return type >= p->first[end] && type <= p->last[end];
}

/* Counts one neighbour. The square of a difference does not depend on who asks. A distance of 0 is that of a particle
 * from itself. */
static void count_pair(const counting *g, const visitor *i, const visitor *j, int64_t *count)
{
  double r2 = 0.0;
  for (int d = 0; d < g->box->dim; ++d) {
    double dx = i->x[d] - j->x[d];
    if (g->box->periodic[d]) dx = md_minimum_image(dx, g->box->length[d]);
    r2 = fma(dx, dx, r2);
  }
  const double at = sqrt(r2) * g->per_bin;
  if (!(at < g->c->bins) || r2 == 0.0) return;
  for (int m = 0; m < g->c->npair; ++m)
    if (is_of(&g->c->pair[m], 0, i->type) && is_of(&g->c->pair[m], 1, j->type))
      ++count[(int64_t)m * g->c->bins + (int)at];
}

/* The cells along an axis that may hold neighbours of one in cell `at`; returns their number. */
static int cells_around(const counting *g, const block *b, int d, int at, int cell[3])
{
  const int n = b->cells[d];
  const bool periodic = d < g->box->dim && g->box->periodic[d];
  int count = 0;
  for (int step = -1; step <= 1; ++step) {
    int k = at + step;
    if (periodic) k = (k + n) % n;
    bool there = k < 0 || k >= n;
    for (int m = 0; m < count; ++m) there = there || cell[m] == k;
    if (!there) cell[count++] = k;
  }
  return count;
}

static void count_around(const counting *g, const block *b, const visitor *i, int64_t *count)
{
  int cell[3][3], n[3];
  for (int d = 0; d < 3; ++d) n[d] = cells_around(g, b, d, cell_along(g->box, b, d, i->x[d]), cell[d]);
  for (int z = 0; z < n[2]; ++z)
    for (int y = 0; y < n[1]; ++y)
      for (int x = 0; x < n[0]; ++x) {
        const int64_t k = ((int64_t)cell[2][z] * b->cells[1] + cell[1][y]) * b->cells[0] + cell[0][x];
        for (int64_t j = b->start[k]; j < b->start[k + 1]; ++j) count_pair(g, i, &b->sorted[j], count);
      }
}

/* Counts the neighbours of all centres in the block. */
static md_status count_block(const counting *g, const block *centres, block *b, int64_t *total)
{
  const int64_t size = (int64_t)g->c->bins * g->c->npair;
  bool short_of_memory = false;
  MD_TRY(sort_block(g->box, g->cutoff, b));
#pragma omp parallel
  {
    int64_t *part = calloc((size_t)size, sizeof *part);
    if (!part) {
#pragma omp critical(rdf)
      short_of_memory = true;
    }
#pragma omp barrier
#pragma omp for schedule(static)
    for (int64_t i = 0; i < centres->n; ++i)
      if (part) count_around(g, b, &centres->at[i], part);
#pragma omp critical(rdf)
    for (int64_t k = 0; k < size && part; ++k) total[k] += part[k];
    free(part);
  }
  free_cells(b);
  return short_of_memory ? md_error(MD_RUNTIME, "out of memory for g(r)") : MD_OK;
}

/* ---- the ring ---- */

/* The first particle of a message only says how many follow. */
static void set_count(block *b, visitor *message) { message[0] = (visitor){.type = b->n}; }

/* Sends the message on, and receives that of the rank before. */
static md_status pass_on(md_comm *comm, visitor **message, visitor **other, int64_t bytes)
{
  bool done = false;
  MD_TRY(comm->exchange->ring_begin(comm, *message, *other, bytes));
  while (!done) MD_TRY(comm->exchange->ring_next(comm, true, &done));
  visitor *const swapped = *message;
  *message = *other;
  *other = swapped;
  return MD_OK;
}

/* The particles of this rank that are in the group, behind the first place of the message. Positions are wrapped. */
static void fill(const compute_rdf *c, const md_sim *sim, visitor *message, block *own)
{
  const md_particles *p = &sim->particles;
  const md_box *box = &sim->model.box;
  own->at = message + 1;
  for (int64_t i = 0; i < p->n; ++i) {
    if (!md_particles_in_group(p, md_group_bit(c->base.group), i)) continue;
    visitor *v = &own->at[own->n++];
    *v = (visitor){.type = p->type[i]};
    for (int d = 0; d < p->dim; ++d)
      v->x[d] = box->periodic[d] ? md_wrap(p->x[d][i], box->lo[d], box->hi[d], box->length[d]) : p->x[d][i];
  }
}

static md_status count_round(md_sim *sim, const counting *g, const block *own, visitor *message[2],
                             int64_t bytes, int64_t *count)
{
  md_comm *comm = sim->comm;
  for (int turn = 0; turn < comm->size; ++turn) {
    block b = {.n = message[0][0].type, .at = message[0] + 1};
    const md_status status = count_block(g, own, &b, count);
    free_cells(&b);
    MD_TRY(md_comm_agree(comm, status));
    if (turn + 1 < comm->size) MD_TRY(pass_on(comm, &message[0], &message[1], bytes));
  }
  return MD_OK;
}

/* ---- g(r) ---- */

/* Particles of the types of a pair: centres, neighbours, and those that are both. */
static void count_types(const compute_rdf *c, const block *own, int64_t *number)
{
  for (int64_t i = 0; i < own->n; ++i)
    for (int m = 0; m < c->npair; ++m) {
      const bool centre = is_of(&c->pair[m], 0, own->at[i].type),
                 other = is_of(&c->pair[m], 1, own->at[i].type);
      number[3 * m] += centre;
      number[3 * m + 1] += other;
      number[3 * m + 2] += centre && other;
    }
}

/* As LAMMPS normalises it: a particle is no neighbour of itself. */
static void normalise(compute_rdf *c, const md_box *box, double cutoff, const int64_t *number,
                      const int64_t *count)
{
  const double width = cutoff / c->bins, volume = md_box_volume(box);
  const double shell = box->dim == 3 ? 4.0 * PI / (3.0 * volume) : PI / volume;
  for (int m = 0; m < c->npair; ++m) {
    const double centres = (double)number[3 * m];
    const double others =
        centres > 0.0 ? (double)number[3 * m + 1] - (double)number[3 * m + 2] / centres : 0.0;
    double neighbours = 0.0;
    for (int b = 0; b < c->bins; ++b) {
      const double lo = b * width, hi = (b + 1) * width;
      const double part = shell * (box->dim == 3 ? hi * hi * hi - lo * lo * lo : hi * hi - lo * lo);
      const double expected = part * others * centres;
      const double g = expected > 0.0 ? (double)count[(int64_t)m * c->bins + b] / expected : 0.0;
      double *row = c->array + (int64_t)b * c->base.values.columns;
      neighbours += g * part * others;
      row[0] = (b + 0.5) * width;
      row[1 + 2 * m] = g;
      row[2 + 2 * m] = neighbours;
    }
  }
}

static md_status check_cutoff(const md_sim *sim, double cutoff)
{
  const md_box *box = &sim->model.box;
  if (!(cutoff > 0.0))
    return md_error(MD_USAGE, "the pair style has no cutoff: give one, `cutoff R` behind the bins");
  for (int d = 0; d < box->dim; ++d)
    if (box->periodic[d] && 2.0 * cutoff > box->length[d])
      return md_error(MD_USAGE, "the cutoff %g is larger than half of the periodic side %c, %g", cutoff,
                      "xyz"[d], box -> length[d]);
  return MD_OK;
}

static md_status find_counts(compute_rdf *c, md_sim *sim, double cutoff, visitor *message[2], int64_t bytes,
                             int64_t *count)
{
  const md_box *box = &sim->model.box;
  const counting g = {box, c, cutoff, c->bins / cutoff};
  block own = {0};
  visitor *centres;
  int64_t *number = count + (int64_t)c->bins * c->npair;
  fill(c, sim, message[0], &own);
  set_count(&own, message[0]);
  /* The message is overwritten while the centres are still needed. */
  MD_TRY(md_comm_agree(sim->comm, md_array_new(&centres, own.n, sizeof *centres, "particles for g(r)")));
  if (own.n > 0) memcpy(centres, own.at, (size_t)own.n * sizeof *centres);
  own.at = centres;
  count_types(c, &own, number);
  md_status status = count_round(sim, &g, &own, message, bytes, count);
  free(centres);
  MD_TRY(status);
  MD_TRY(sim->comm->reduce->sum(sim->comm, count, c->npair * (c->bins + 3)));
  normalise(c, box, cutoff, number, count);
  return MD_OK;
}

static md_status find(md_host_compute *base, md_view *view)
{
  compute_rdf *c = (compute_rdf *)base;
  md_sim *sim = view->sim;
  const double cutoff = c->cutoff > 0.0 ? c->cutoff : sim->model.cutoff;
  double most = (double)sim->particles.n;
  visitor *message[2] = {NULL, NULL};
  int64_t *count = NULL;
  MD_TRY(check_cutoff(sim, cutoff));
  MD_TRY(sim->comm->reduce->max(sim->comm, &most, 1));
  const int64_t places = (int64_t)most + 1, bytes = places * (int64_t)sizeof(visitor);
  md_status status = md_array_new_zero(&message[0], places, sizeof(visitor), "particles for g(r)");
  if (status == MD_OK) status = md_array_new_zero(&message[1], places, sizeof(visitor), "particles for g(r)");
  if (status == MD_OK)
    status = md_array_new_zero(&count, (int64_t)c->npair * (c->bins + 3), sizeof *count, "pairs of g(r)");
  status = md_comm_agree(sim->comm, status);
  if (status == MD_OK) status = find_counts(c, sim, cutoff, message, bytes, count);
  free(message[0]);
  free(message[1]);
  free(count);
  return status;
}

static void free_array(md_host_compute *base)
{
  free(((compute_rdf *)base)->pair);
  free(((compute_rdf *)base)->array);
}

const md_host_compute_style md_compute_rdf_style = {
    .name = "rdf",
    .usage = "rdf NBIN [ITYPE JTYPE ...] [cutoff R]",
    .help = "radial distribution function of the group, an array: r, then g(r) and the number of neighbours\n"
            "within r for each pair of types, ITYPE in the centre; types may be ranges such as * or 2*3. Up\n"
            "to the cutoff of the forces, or R",
    .size = sizeof(compute_rdf),
    .parse = parse,
    .find = find,
    .free = free_array,
};
