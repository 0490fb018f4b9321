/* Pairs of particles within a distance; see neighbours.h.
 *
 * 1. A rank sorts a block of particles into cells at least as wide as the cutoff, of the space that the block takes. At
 *    first the block is its own.
 * 2. For each of its own particles it visits those of the block in the cells around it.
 * 3. The blocks go round the ring of ranks, so that each rank meets the particles of all others, whatever the domains.
 *
 * Differences of positions are exact, and a distance is one formula, so that a pair has the same distance everywhere.
 * Both orders of a pair are visited. Where the cutoff is beyond half of a periodic side, the images of a particle are
 * neighbours too, also those of i itself.
 * Trade-off: all blocks visit all ranks, which is simple and needs no ghosts. Cost: that of
 * a search of pairs in cells, and on P ranks P messages of 48 bytes a particle, and 8 for each number that it brings
 * along. Memory: four blocks.
 * Reference: Allen and Tildesley, Computer Simulation of Liquids, section 5.3.2 (cells). */
#include "src/computes/neighbours.h"
#include "common/cell_counts.h"
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* A block of particles in cells. */
typedef struct block {
  int64_t n;
  md_neighbour *at;
  double lo[3], side[3]; /* of the space that is divided */
  bool ring[3];          /* this is the whole of a periodic axis: the first cell is next to the last one */
  int64_t cells[3];
  int64_t *start; /* [cells + 1] */
  md_neighbour *sorted;
  double *x[3]; /* their coordinates, for visits of many; else NULL */
} block;

int md_neighbour_threads(void) { return omp_get_max_threads(); }

/* ---- cells ---- */

/* A cell is wider than the cutoff by this factor, so that rounding takes no partner out of the cells around. */
static const double WIDER = 1.0 + 1e-9;

/* Chooses the space and its cells, not many more than particles. Along a periodic axis a particle may have neighbours
 * in the block on one side only, if the block leaves more than two cutoffs of the axis free. */
static void choose_cells(const md_box *box, double cutoff, block *b)
{
  double divided[3];
  for (int d = 0; d < 3; ++d) {
    double lo = (double)INFINITY, hi = -(double)INFINITY;
    for (int64_t i = 0; i < b->n; ++i) {
      lo = md_min(lo, b->at[i].x[d]);
      hi = md_max(hi, b->at[i].x[d]);
    }
    b->lo[d] = b->n > 0 ? lo : 0.0;
    b->side[d] = b->n > 0 ? hi - lo : 0.0;
    b->ring[d] = d < box->dim && box->periodic[d] && b->side[d] + 2.0 * cutoff * WIDER >= box->length[d];
    if (b->ring[d]) {
      b->lo[d] = box->lo[d];
      b->side[d] = box->length[d];
    }
    /* Across a face of a tilted box the cells along the axes before are shifted. There they are not divided. */
    divided[d] = box->triclinic && d < box->dim - 1 ? 0.0 : b->side[d];
  }
  (void)md_cell_counts(box->dim, divided, cutoff * WIDER, 8.0 * (double)b->n + 64.0, b->cells);
}

/* The cell along an axis; below 0 or at least `cells` if x is beyond the space. */
static double cell_at(const block *b, int d, double x)
{
  return b->cells[d] == 1 ? 0.0 : floor((x - b->lo[d]) / b->side[d] * (double)b->cells[d]);
}

static int64_t cell_of(const block *b, const md_neighbour *v)
{
  int64_t cell = 0;
  for (int d = 2; d >= 0; --d) {
    const double last = (double)(b->cells[d] - 1);
    cell = cell * b->cells[d] + (int64_t)md_max(0.0, md_min(cell_at(b, d, v->x[d]), last));
  }
  return cell;
}

/* Sorts the particles of a block by counting. */
static md_status sort_block(const md_box *box, double cutoff, bool coordinates, block *b)
{
  choose_cells(box, cutoff, b);
  const int64_t cells = b->cells[0] * b->cells[1] * b->cells[2];
  MD_TRY(md_array_new_zero(&b->start, cells + 1, sizeof *b->start, "cells"));
  MD_TRY(md_array_new(&b->sorted, b->n, sizeof *b->sorted, "particles in cells"));
  for (int64_t i = 0; i < b->n; ++i) ++b->start[cell_of(b, &b->at[i])];
  for (int64_t k = 1; k < cells; ++k) b->start[k] += b->start[k - 1];
  b->start[cells] = b->n;
  for (int64_t i = b->n - 1; i >= 0; --i) b->sorted[--b->start[cell_of(b, &b->at[i])]] = b->at[i];
  for (int d = 0; d < 3 && coordinates; ++d) {
    MD_TRY(md_array_new(&b->x[d], b->n, sizeof *b->x[d], "particles in cells"));
    for (int64_t i = 0; i < b->n; ++i) b->x[d][i] = b->sorted[i].x[d];
  }
  return MD_OK;
}

static void free_cells(block *b)
{
  free(b->start);
  free(b->sorted);
  b->start = NULL;
  b->sorted = NULL;
  for (int d = 0; d < 3; ++d) {
    free(b->x[d]);
    b->x[d] = NULL;
  }
}

/* ---- visits ---- */

typedef struct visiting {
  const md_box *box;
  const md_neighbour_search *search;
  md_neighbour_visit_many many; /* or NULL */
  double cutoff2;
  int images[3];  /* images on either side of the nearest one that may be within the cutoff */
  bool nearest;   /* there are none */
  bool upright;   /* nor is the box tilted */
  double side[3]; /* then the length of a periodic side, else infinite */
} visiting;

/* The square of a difference is the same for both partners. */
static void visit_at(const visiting *g, int thread, const md_neighbour *i, const md_neighbour *j,
                     const double delta[3])
{
  double r2 = 0.0;
  for (int d = 0; d < g->box->dim; ++d) r2 = fma(delta[d], delta[d], r2);
  if (r2 < g->cutoff2) g->search->visit(g->search->context, thread, i, j, delta, r2);
}

/* Sums of a difference and edges of the box are exact. In a tilted box an image along an axis is the nearest one along
 * the axes before. */
static void visit_images(const visiting *g, int thread, const md_neighbour *i, const md_neighbour *j,
                         const double nearest[3])
{
  const md_box *box = g->box;
  const double *side = box->length, *offset = box->offset;
  for (int z = -g->images[2]; z <= g->images[2]; ++z) {
    double above[3] = {nearest[0], nearest[1], nearest[2]};
    md_lattice_shift(side, offset, 2, z, above);
    md_lattice_image(2, box->periodic, side, offset, above);
    for (int y = -g->images[1]; y <= g->images[1]; ++y) {
      double row[3] = {above[0], above[1], above[2]};
      md_lattice_shift(side, offset, 1, y, row);
      md_lattice_image(1, box->periodic, side, offset, row);
      for (int x = -g->images[0]; x <= g->images[0]; ++x) {
        const double delta[3] = {row[0] + x * side[0], row[1], row[2]};
        if (i->id != j->id || x != 0 || y != 0 || z != 0) visit_at(g, thread, i, j, delta);
      }
    }
  }
}

static void visit_pair(const visiting *g, int thread, const md_neighbour *i, const md_neighbour *j)
{
  double delta[3] = {0.0};
  if ((g->nearest && i->id == j->id) || (g->search->other & j->group) == 0) return;
  for (int d = 0; d < g->box->dim; ++d) delta[d] = i->x[d] - j->x[d];
  md_box_image(g->box, delta);
  if (g->nearest)
    visit_at(g, thread, i, j, delta);
  else
    visit_images(g, thread, i, j, delta);
}

/* The shorter of the two ways along an axis, without a branch: most candidates are too far, and processors guess
 * wrongly through which face the way is. */
static double shorter(double a, double side)
{
  const double way = fabs(a);
  return md_min(way, side - way);
}

/* Visits those of the particles [first, end) of a block that are near i, in an upright box. Rounding changes the rough
 * square of a distance by less than WIDER, and visit_pair finds the exact one. Coordinates beyond the dimensions are
 * 0. */
static void visit_upright(const visiting *g, int thread, const md_neighbour *i, const md_neighbour *first,
                          const md_neighbour *end)
{
  const double most = g->cutoff2 * WIDER, x = i->x[0], y = i->x[1], z = i->x[2];
  const double along_x = g->side[0], along_y = g->side[1], along_z = g->side[2];
  for (const md_neighbour *j = first; j < end; ++j) {
    const double dx = shorter(x - j->x[0], along_x), dy = shorter(y - j->x[1], along_y);
    const double dz = shorter(z - j->x[2], along_z);
    if (dx * dx + dy * dy + dz * dz <= most) visit_pair(g, thread, i, j);
  }
}

/* Visits the particles [first, end) of a block, MANY at a time: squares of distances first, in a loop for vectors. */
static void visit_many(const visiting *g, int thread, const md_neighbour *i, const block *b, int64_t first,
                       int64_t end)
{
  enum { MANY = 64 };
  const double x = i->x[0], y = i->x[1], z = i->x[2];
  const double along_x = g->side[0], along_y = g->side[1], along_z = g->side[2];
  double r2[MANY];
  for (int64_t from = first; from < end; from += MANY) {
    const int n = (int)(end - from < MANY ? end - from : MANY);
    const double *bx = b->x[0] + from, *by = b->x[1] + from, *bz = b->x[2] + from;
    for (int k = 0; k < n; ++k) {
      const double dx = shorter(x - bx[k], along_x), dy = shorter(y - by[k], along_y);
      const double dz = shorter(z - bz[k], along_z);
      r2[k] = dx * dx + dy * dy + dz * dz;
    }
    g->many(g->search->context, thread, i, b->sorted + from, r2, n);
  }
}

static visiting begin_visiting(const md_box *box, const md_neighbour_search *search)
{
  visiting g = {.box = box, .search = search, .cutoff2 = search->cutoff * search->cutoff, .nearest = true};
  for (int d = 0; d < 3; ++d)
    g.side[d] = d < box->dim && box->periodic[d] ? box->length[d] : (double)INFINITY;
  for (int d = 0; d < box->dim; ++d) {
    if (!box->periodic[d]) continue;
    g.images[d] = (int)floor(search->cutoff * WIDER / box->length[d] + 0.5);
    g.nearest = g.nearest && 2.0 * search->cutoff <= box->length[d];
  }
  g.upright = g.nearest && !box->triclinic;
  return g;
}

/* The cells along an axis that may hold neighbours of a particle at x; returns their number. */
static int cells_around(const visiting *g, const block *b, int d, double x, int64_t cell[3])
{
  const int64_t n = b->cells[d];
  const double width = g->search->cutoff * WIDER, side = g->box->length[d];
  const bool one_way = d < g->box->dim && g->box->periodic[d] && !b->ring[d];
  int count = 0;
  if (n == 1) {
    cell[0] = 0;
    return 1;
  }
  /* The image of the particle that is the first one within the cutoff of the space, or above it. */
  if (one_way) x -= side * floor((x - (b->lo[d] - width)) / side);
  const int64_t at = (int64_t)md_max(-2.0, md_min(cell_at(b, d, x), (double)n + 1.0));
  for (int64_t k = at - 1; k <= at + 1; ++k) {
    const int64_t place = b->ring[d] ? (k + n) % n : k;
    bool there = place < 0 || place >= n;
    for (int m = 0; m < count; ++m) there = there || cell[m] == place;
    if (!there) cell[count++] = place;
  }
  return count;
}

static void visit_around(const visiting *g, const block *b, int thread, const md_neighbour *i)
{
  int64_t cell[3][3];
  int n[3];
  for (int d = 0; d < 3; ++d) n[d] = cells_around(g, b, d, i->x[d], cell[d]);
  for (int z = 0; z < n[2]; ++z)
    for (int y = 0; y < n[1]; ++y)
      for (int x = 0, cells = 1; x < n[0]; x += cells) {
        const int64_t k = (cell[2][z] * b->cells[1] + cell[1][y]) * b->cells[0] + cell[0][x];
        /* Cells of a row lie one after the other. */
        for (cells = 1; x + cells < n[0] && cell[0][x + cells] == cell[0][x] + cells;) ++cells;
        const int64_t first = b->start[k], end = b->start[k + cells];
        if (b->x[0])
          visit_many(g, thread, i, b, first, end);
        else if (g->upright)
          visit_upright(g, thread, i, b->sorted + first, b->sorted + end);
        for (int64_t j = first; j < end && !g->upright; ++j) visit_pair(g, thread, i, &b->sorted[j]);
      }
}

/* Visits the neighbours of all own particles in the block. */
static md_status visit_block(const visiting *g, const block *own, block *b)
{
  md_status status = sort_block(g->box, g->search->cutoff, g->many, b);
  if (status == MD_OK) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < own->n; ++i)
      if (own->at[i].group & g->search->group) visit_around(g, b, omp_get_thread_num(), &own->at[i]);
  }
  free_cells(b);
  return status;
}

/* ---- the ring ---- */

/* The first particle of a message only says how many follow. */
static void set_count(const block *b, md_neighbour *message) { message[0] = (md_neighbour){.id = b->n}; }

/* Sends the message on, and receives that of the rank before. */
static md_status pass_on(md_comm *comm, md_neighbour **message, md_neighbour **other, int64_t bytes)
{
  bool done = false;
  MD_TRY(comm->exchange->ring_begin(comm, *message, *other, bytes));
  while (!done) MD_TRY(comm->exchange->ring_next(comm, true, &done));
  md_neighbour *const swapped = *message;
  *message = *other;
  *other = swapped;
  return MD_OK;
}

/* The particles of this rank that are in one of the groups, after the first entry of the message. */
static void fill(const md_neighbour_search *search, const md_sim *sim, md_neighbour *message, block *own)
{
  const md_particles *p = &sim->particles;
  const md_box *box = &sim->model.box;
  own->at = message + 1;
  for (int64_t i = 0; i < p->n; ++i) {
    /* Not as one expression: gcc 13 makes `a | (b ? c : 0)` read c even if b is false. */
    uint32_t groups = MD_GROUP_ALL;
    if (p->grouped) groups |= p->group[i];
    if ((groups & (search->group | search->other)) == 0) continue;
    md_neighbour *v = &own->at[own->n++];
    *v = (md_neighbour){.id = p->id[i],
                        .index = (int32_t)i,
                        .type = p->type[i],
                        .group = groups,
                        .rank = (int32_t)sim->comm->rank};
    for (int d = 0; d < p->dim; ++d) v->x[d] = p->x[d][i];
    md_box_wrap(box, v->x);
  }
}

/* A message: `entries` places for particles, and the numbers that they bring along. */
static md_status visit_round(md_sim *sim, const visiting *g, const block *own, md_neighbour *message[2],
                             int64_t entries, int64_t bytes)
{
  md_comm *comm = sim->comm;
  for (int turn = 0; turn < comm->size; ++turn) {
    block b = {.n = message[0][0].id, .at = message[0] + 1};
    if (g->search->value) *g->search->theirs = (const double *)(message[0] + entries);
    MD_TRY(md_comm_agree(comm, visit_block(g, own, &b)));
    if (turn + 1 < comm->size) MD_TRY(pass_on(comm, &message[0], &message[1], bytes));
  }
  return MD_OK;
}

static md_status visit_all(md_sim *sim, const visiting *g, md_neighbour *message[2], int64_t entries,
                           int64_t bytes)
{
  const md_neighbour_search *search = g->search;
  block own = {0};
  md_neighbour *mine;
  fill(search, sim, message[0], &own);
  if (search->value)
    memcpy(message[0] + entries, search->value,
           (size_t)(sim->particles.n * search->nvalue) * sizeof *search->value);
  set_count(&own, message[0]);
  /* The message is overwritten while the own particles are still needed. */
  MD_TRY(md_comm_agree(sim->comm, md_array_new(&mine, own.n, sizeof *mine, "particles and neighbours")));
  if (own.n > 0) memcpy(mine, own.at, (size_t)own.n * sizeof *mine);
  own.at = mine;
  const md_status status = visit_round(sim, g, &own, message, entries, bytes);
  free(mine);
  return status;
}

double md_neighbour_cutoff(const md_sim *sim)
{
  return md_max(sim->model.cutoff, sim->model.pair.zero_cutoff);
}

static md_status check_cutoff(const md_sim *sim, double cutoff)
{
  const md_box *box = &sim->model.box;
  if (!(cutoff > 0.0))
    return md_error(MD_USAGE,
                    "the pair style has no cutoff, and neighbours are those within a distance: give one");
  for (int d = 0; d < box->dim; ++d)
    if (box->periodic[d] && cutoff > MD_SIDES_MOST * box->length[d])
      return md_error(MD_USAGE,
                      "the cutoff %g is larger than %g times the periodic side %c, %g: use a smaller one",
                      cutoff, MD_SIDES_MOST, "xyz"[d], box -> length[d]);
  return MD_OK;
}

static md_status visit(md_sim *sim, const visiting *g)
{
  const md_neighbour_search *search = g->search;
  double most = (double)sim->particles.n;
  md_neighbour *message[2] = {NULL, NULL};
  MD_TRY(check_cutoff(sim, search->cutoff));
  MD_TRY(sim->comm->reduce->max(sim->comm, &most, 1));
  const int64_t entries = (int64_t)most + 1, numbers = search->value ? (int64_t)most * search->nvalue : 0;
  const int64_t bytes = entries * (int64_t)sizeof(md_neighbour) + numbers * (int64_t)sizeof(double);
  md_status status = md_array_new_zero(&message[0], bytes, 1, "particles and neighbours");
  if (status == MD_OK) status = md_array_new_zero(&message[1], bytes, 1, "particles and neighbours");
  status = md_comm_agree(sim->comm, status);
  if (status == MD_OK) status = visit_all(sim, g, message, entries, bytes);
  free(message[0]);
  free(message[1]);
  return status;
}

md_status md_neighbours_visit(md_sim *sim, const md_neighbour_search *search)
{
  const visiting g = begin_visiting(&sim->model.box, search);
  return visit(sim, &g);
}

md_status md_neighbours_visit_many(md_sim *sim, const md_neighbour_search *search,
                                   md_neighbour_visit_many many, bool *by_many)
{
  visiting g = begin_visiting(&sim->model.box, search);
  g.many = g.upright ? many : NULL;
  *by_many = g.many != NULL;
  return visit(sim, &g);
}
