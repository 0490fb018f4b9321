/* Dealing particles by id; see by_id.h. */
#include "src/particles/by_id.h"
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"

#include <stdlib.h>
#include <string.h>

enum {
  WINDOW = 131072, /* particles; about ten megabytes of text; a multiple of MD_ROW_BLOCK */
  ROUNDS_LEAST = 4 /* rounds of smaller systems, so that all ranks share the work */
};

static int64_t id_of(const md_rows *rows, int64_t k)
{
  return rows->particles->id[rows->order ? rows->order[k] : k];
}

static int64_t first_above(const md_by_id *deal, int64_t from, int64_t id);

/* The number of particles of a window. */
static int64_t window_size(int64_t natoms, int ranks)
{
  const int64_t shared = natoms / ((int64_t)ROUNDS_LEAST * ranks),
                blocks = (shared + MD_ROW_BLOCK - 1) / MD_ROW_BLOCK;
  const int64_t size = (blocks > 1 ? blocks : 1) * MD_ROW_BLOCK;
  return size < WINDOW ? size : WINDOW;
}

/* Sets *bound to an id that is at least the largest id of all ranks. */
static md_status upper_bound(const md_by_id *deal, int64_t *bound)
{
  const int64_t n = deal->own.n;
  double most = n > 0 ? (double)id_of(&deal->own, n - 1) : 0.0;
  MD_TRY(deal->comm->reduce->max(deal->comm, &most, 1));
  /* Beyond 2^53 the double is rounded. */
  *bound = most < 0x1p53 ? (int64_t)most : INT64_MAX;
  return MD_OK;
}

/* Finds, for each window w except the last, the id up to which (w + 1) * size particles of all ranks lie. low and
 * count: scratch arrays, [windows]. */
static md_status bisect(md_by_id *deal, int64_t size, int64_t *low, int64_t *count)
{
  const int64_t cuts = deal->windows - 1;
  int64_t bound, *high = deal->last;
  MD_TRY(upper_bound(deal, &bound));
  for (int64_t w = 0; w < cuts; ++w) {
    low[w] = 0;
    high[w] = bound;
  }
  for (bool all = false; !all;) {
    for (int64_t w = 0; w < cuts; ++w) count[w] = first_above(deal, 0, low[w] + (high[w] - low[w]) / 2);
    MD_TRY(deal->comm->reduce->sum(deal->comm, count, (int)cuts));
    all = true;
    for (int64_t w = 0; w < cuts; ++w) {
      const int64_t middle = low[w] + (high[w] - low[w]) / 2;
      if (low[w] == high[w]) continue;
      if (count[w] >= (w + 1) * size)
        high[w] = middle;
      else
        low[w] = middle + 1;
      all = all && low[w] == high[w];
    }
  }
  return MD_OK;
}

static md_status find_windows(md_by_id *deal)
{
  md_comm *comm = deal->comm;
  int64_t natoms = deal->own.n, *low = NULL, *count = NULL;
  MD_TRY(comm->reduce->sum(comm, &natoms, 1));
  const int64_t size = window_size(natoms, comm->size);
  deal->windows = natoms > size ? (natoms + size - 1) / size : 1;
  md_status status = md_array_new(&deal->last, deal->windows, sizeof *deal->last, "windows of ids");
  if (status == MD_OK) status = md_array_new(&low, deal->windows, sizeof *low, "windows of ids");
  if (status == MD_OK) status = md_array_new(&count, deal->windows, sizeof *count, "windows of ids");
  status = md_comm_agree(comm, status);
  if (status == MD_OK && deal->windows > 1) status = bisect(deal, size, low, count);
  if (status == MD_OK) deal->last[deal->windows - 1] = INT64_MAX;
  free(low);
  free(count);
  return status;
}

md_status md_by_id_begin(md_by_id *deal, md_comm *comm, const md_rows *own)
{
  *deal = (md_by_id){.comm = comm, .own = *own};
  MD_TRY(md_comm_agree(comm,
                       md_array_new_zero(&deal->value, own->nvalue, sizeof *deal->value, "values to sort")));
  md_particles_init(&deal->window, own->particles->dim);
  deal->window.wide = own->particles->wide;
  deal->window.grouped = own->particles->grouped;
  deal->window.has_v_pair = own->particles->has_v_pair;
  deal->window.massed = own->particles->massed;
  deal->window.anchored = own->particles->anchored;
  deal->window.pushed = own->particles->pushed;
  deal->window.bonded = own->particles->bonded;
  deal->window.bonds = own->particles->bonds;
  deal->window.specials = own->particles->specials;
  if (comm->size > 1) return find_windows(deal);
  deal->windows = 1;
  return MD_OK;
}

/* The first own row from `from` on whose id is above `id`. */
static int64_t first_above(const md_by_id *deal, int64_t from, int64_t id)
{
  int64_t low = from, high = deal->own.n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (id_of(&deal->own, middle) > id)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static int64_t record_bytes(const md_by_id *deal)
{
  const md_particles *p = deal->own.particles;
  const int dim = p->dim;
  return md_particles_bytes(p) + ((deal->own.force ? dim : 0) + deal->own.nvalue) * (int64_t)sizeof(double);
}

/* The number k of those that follow the fields of a particle: its force, if asked for, and its values. */
static double *const *column_of(double *const *force, int dim, double *const *value, int k)
{
  const int forces = force ? dim : 0;
  return k < forces ? &force[k] : &value[k - forces];
}

/* Packs the own particles of this round's windows, and lists the rank to which each goes. */
static md_status pack_round(md_by_id *deal, int64_t *n, int32_t **to, char **records)
{
  const int ranks = deal->comm->size;
  const md_rows *own = &deal->own;
  const int dim = own->particles->dim, columns = (own->force ? dim : 0) + own->nvalue,
            bytes = md_particles_bytes(own->particles);
  const int64_t size = record_bytes(deal), first = deal->dealt, window = deal->round * ranks;
  const int64_t top = window + ranks < deal->windows ? window + ranks : deal->windows;
  const int64_t end = first_above(deal, first, deal->last[top - 1]);
  *n = end - first;
  MD_TRY(md_array_new(to, *n, sizeof **to, "particles to sort"));
  MD_TRY(md_array_new(records, *n, (unsigned long)size, "particles to sort"));
  int64_t at = first;
  for (int64_t w = window; w < top; ++w) {
    const int64_t after = first_above(deal, at, deal->last[w]);
    for (; at < after; ++at) (*to)[at - first] = (int32_t)(w - window);
  }
#pragma omp parallel for schedule(static)
  for (int64_t k = first; k < end; ++k) {
    const int64_t i = own->order ? own->order[k] : k;
    char *record = *records + (k - first) * size;
    md_particles_pack(own->particles, i, record);
    for (int c = 0; c < columns; ++c)
      memcpy(record + bytes + c * (int)sizeof(double), &(*column_of(own->force, dim, own->value, c))[i],
             sizeof(double));
  }
  deal->dealt = end;
  return MD_OK;
}

/* Makes room for the forces and values of a window. */
static md_status renew_columns(md_by_id *deal, int64_t n)
{
  const int dim = deal->own.force ? deal->window.dim : 0;
  for (int c = 0; c < dim + deal->own.nvalue; ++c) {
    double **column = c < dim ? &deal->force[c] : &deal->value[c - dim];
    free(*column);
    *column = NULL;
    MD_TRY(md_array_new(column, n, sizeof(double), "values to sort"));
  }
  return MD_OK;
}

static md_status unpack_window(md_by_id *deal, const char *records, int64_t n)
{
  md_particles *p = &deal->window;
  const int dim = p->dim, bytes = md_particles_bytes(p);
  const int columns = (deal->own.force ? dim : 0) + deal->own.nvalue;
  const int64_t size = record_bytes(deal);
  p->n = 0;
  MD_TRY(md_particles_reserve(p, n));
  MD_TRY(renew_columns(deal, n));
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < n; ++k) {
    const char *record = records + k * size;
    md_particles_unpack(p, k, record);
    for (int c = 0; c < columns; ++c)
      memcpy(&(*column_of(deal->own.force ? deal->force : NULL, dim, deal->value, c))[k],
             record + bytes + c * (int)sizeof(double), sizeof(double));
  }
  p->n = n;
  free(deal->order);
  deal->order = NULL;
  return md_particles_order_by_id(p, &deal->order);
}

static md_status deal_round(md_by_id *deal)
{
  md_comm *comm = deal->comm;
  int64_t n = 0, count = 0;
  int32_t *to = NULL;
  char *records = NULL;
  void *received = NULL;
  md_status status = md_comm_agree(comm, pack_round(deal, &n, &to, &records));
  if (status == MD_OK) {
    status = comm->exchange->sparse_exchange(comm, n, to, records, record_bytes(deal), &received, &count);
    free(records);
    records = NULL;
    /* No agreement after a failed exchange, because other ranks may still be in the exchange. */
    if (status == MD_OK) status = md_comm_agree(comm, unpack_window(deal, received, count));
  }
  free(to);
  free(records);
  free(received);
  return status;
}

md_status md_by_id_next(md_by_id *deal, md_rows *rows, bool *more)
{
  *more = deal->round * deal->comm->size < deal->windows;
  if (!*more) return MD_OK;
  if (deal->comm->size == 1) {
    *rows = deal->own;
  } else {
    MD_TRY(deal_round(deal));
    *rows = (md_rows){&deal->window,    deal->window.n, deal->order, deal->own.force ? deal->force : NULL,
                      deal->own.nvalue, deal->value};
  }
  ++deal->round;
  return MD_OK;
}

void md_by_id_end(md_by_id *deal)
{
  md_particles_free(&deal->window);
  free(deal->last);
  free(deal->order);
  for (int d = 0; d < 3; ++d) free(deal->force[d]);
  for (int c = 0; deal->value && c < deal->own.nvalue; ++c) free(deal->value[c]);
  free(deal->value);
  *deal = (md_by_id){0};
}
