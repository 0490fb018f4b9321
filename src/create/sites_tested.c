/* The sites of any lattice in the box and in any region; see sites.h.
 *
 * A row holds the cells of one (j, k), that is a line along the first edge of the cell. The cells of a row that may
 * have a site in a block form an interval, which is found by clipping the line. Every site of these cells is tested.
 * Ids run as in LAMMPS: k slowest, then j, then i, then the sites of a cell.
 *   1  The rows come in parts, 64 for each rank. The sites of all parts are counted, each by one rank.
 *   2  A rank takes consecutive parts that together have its share of the sites, wherever these are.
 *   3  It counts the sites of their rows, and the exclusive sum is the first id of each row. Then it makes them.
 *
 * The tolerances at faces of the box are those of sites.c.
 *
 * Trade-off: up to three tests of a site and 8 bytes a row of the rank, where rectangular lattices in blocks have
 * formulas (sites.c). Cost: about a second for 10^7 sites of a rank. Reference: the LAMMPS manual, commands lattice and
 * create_atoms.
 */
#include "common/ranks/reductions.h"
#include "src/create/lattice.h"
#include "src/create/site_rows.h"
#include "src/create/sites.h"
#include "src/particles/share.h"
#include "src/region/region.h"

#include <stdlib.h>

enum { PARTS_A_RANK = 64 };

typedef struct range {
  int64_t begin, end;
} range;

typedef struct tested_sites {
  md_sites base;
  const md_lattice *lattice;
  const md_region *region;  /* NULL: the box */
  const uint16_t *type;     /* of the particles on each site of a cell */
  double from[3], below[3]; /* sites are in from <= x < below */
  range j, k;               /* cells */
  int64_t first_row, first; /* of this rank: its first row, and how many sites of all ranks come before it */
  int64_t *before;          /* [nrow + 1] sites of all ranks before each row of this rank. Owned */
} tested_sites;

static void site_of(const tested_sites *s, int64_t i, int64_t j, int64_t k, int m, double x[3])
{
  const md_lattice *l = s->lattice;
  const double a = (double)i + l->basis[m][0], b = (double)j + l->basis[m][1], c = (double)k + l->basis[m][2];
  for (int d = 0; d < 3; ++d)
    x[d] = (a * l->edge[0][d] + b * l->edge[1][d] + c * l->edge[2][d]) * l->scale + l->cell[d] * l->origin[d];
}

/* Is the site in a tilted box? The tolerances are fractions of its edges. */
static bool is_in_tilted(const md_box *box, const double x[3])
{
  double fraction[3];
  md_box_fractions(box, x, fraction);
  for (int d = 0; d < 3 && d < box->dim; ++d) {
    const double below = box->periodic[d] ? 1e-6 : 0x1p-40, above = box->periodic[d] ? -2e-6 : 0x1p-40;
    if (fraction[d] < -below || fraction[d] >= 1.0 + above) return false;
  }
  return true;
}

/* Finds the position of a site that is in the box and the region. Returns false for other sites. */
static bool accept(const tested_sites *s, int64_t i, int64_t j, int64_t k, int m, double x[3])
{
  const int dim = s->base.box->dim;
  site_of(s, i, j, k, m, x);
  if (s->base.box->triclinic && !is_in_tilted(s->base.box, x)) return false;
  for (int d = 0; d < dim; ++d)
    if (x[d] < s->from[d] || x[d] >= s->below[d]) return false;
  if (s->region && !md_region_contains(s->region, x, dim)) return false;
  for (int d = 0; d < dim && !s->base.box->triclinic; ++d) x[d] = md_max(x[d], s->base.box->lo[d]);
  return true;
}

/* The cells i of a row that may have a site within the bounds, and perhaps some more. */
static range clip(const tested_sites *s, int64_t j, int64_t k)
{
  const md_lattice *l = s->lattice;
  const double *lo = s->from, *hi = s->below;
  double first = -0x1p52, last = 0x1p52;
  for (int d = 0; d < s->base.box->dim; ++d) {
    double least = (double)INFINITY, most = -(double)INFINITY, x[3];
    for (int m = 0; m < l->nbasis; ++m) {
      site_of(s, 0, j, k, m, x);
      least = md_min(least, x[d]);
      most = md_max(most, x[d]);
    }
    const double step = l->edge[0][d] * l->scale, room = 2e-6 * s->base.box->length[d];
    const double a = (lo[d] - room - most) / step, b = (hi[d] + room - least) / step;
    if (fabs(step) < 1e-9 * l->scale) {
      if (most < lo[d] - room || least > hi[d] + room) return (range){0, 0};
      continue;
    }
    first = md_max(first, md_min(a, b));
    last = md_min(last, md_max(a, b));
  }
  if (!(first <= last)) return (range){0, 0};
  return (range){(int64_t)floor(first), (int64_t)ceil(last) + 1};
}

static void row_cells(const tested_sites *s, int64_t row, int64_t *j, int64_t *k)
{
  const int64_t rows = s->j.end - s->j.begin;
  *j = s->j.begin + row % rows;
  *k = s->k.begin + row / rows;
}

static int64_t count_sites(const tested_sites *s, range cells, int64_t j, int64_t k)
{
  int64_t count = 0;
  double x[3];
  for (int64_t i = cells.begin; i < cells.end; ++i)
    for (int m = 0; m < s->lattice->nbasis; ++m) count += accept(s, i, j, k, m, x);
  return count;
}

static int64_t count_row(const md_sites *base, int64_t row)
{
  const tested_sites *s = (const tested_sites *)base;
  return s->before[row + 1] - s->before[row];
}

static int64_t fill_row(const md_sites *base, int64_t row, md_particles *p, int64_t at)
{
  const tested_sites *s = (const tested_sites *)base;
  int64_t j, k, id = base->first_id + s->before[row];
  double x[3];
  row_cells(s, s->first_row + row, &j, &k);
  const range cells = clip(s, j, k);
  for (int64_t i = cells.begin; i < cells.end; ++i)
    for (int m = 0; m < s->lattice->nbasis; ++m) {
      if (!accept(s, i, j, k, m, x)) continue;
      md_sites_put(base, p, at, id++, x);
      p->type[at++] = s->type[m];
    }
  return at;
}

/* Sets the bounds of sites: those of the box and of the block around the region. */
static void find_bounds(tested_sites *s)
{
  const md_box *box = s->base.box;
  double low[3], high[3];
  md_box_bounds(box, low, high);
  for (int d = 0; d < 3 && d < box->dim; ++d) {
    const double cell = s->lattice->cell[d], rounding = 0x1p-40 * box->length[d];
    const double tolerance =
        box->periodic[d] ? md_min(1e-6 * box->length[d], 1e-3 * cell) : md_min(rounding, 1e-3 * cell);
    s->from[d] = low[d] - tolerance;
    s->below[d] = box->triclinic ? high[d] + tolerance : high[d] - (box->periodic[d] ? 2.0 : 1.0) * tolerance;
    if (!s->region) continue;
    s->from[d] = md_max(s->from[d], md_region_lo(s->region, d) - rounding);
    s->below[d] = md_min(s->below[d], md_region_hi(s->region, d) + rounding);
  }
}

/* The cells that hold the corners of the bounds lie in the ranges j and k, with one cell more on either side. The
 * indices of a point are its components along the dual vectors of the edges. */
static md_status find_ranges(tested_sites *s)
{
  const md_lattice *l = s->lattice;
  double dual[3][3], volume = 0.0, least[3], most[3];
  for (int e = 0; e < 3; ++e) {
    const double *u = l->edge[(e + 1) % 3], *v = l->edge[(e + 2) % 3];
    for (int d = 0; d < 3; ++d)
      dual[e][d] = u[(d + 1) % 3] * v[(d + 2) % 3] - u[(d + 2) % 3] * v[(d + 1) % 3];
  }
  for (int d = 0; d < 3; ++d) volume += l->edge[0][d] * dual[0][d];
  for (int e = 1; e < 3; ++e) {
    least[e] = (double)INFINITY;
    most[e] = -(double)INFINITY;
    for (int corner = 0; corner < 8; ++corner) {
      double index = 0.0;
      for (int d = 0; d < s->base.box->dim; ++d) {
        const double x = (corner >> d & 1 ? s->below[d] : s->from[d]) - l->cell[d] * l->origin[d];
        index += x / l->scale * dual[e][d] / volume;
      }
      least[e] = md_min(least[e], index);
      most[e] = md_max(most[e], index);
    }
  }
  if (s->base.box->dim == 2) least[2] = most[2] = 0.0;
  const double rows = (most[1] - least[1] + 4.0) * (most[2] - least[2] + 4.0);
  if (!(rows < 0x1p34))
    return md_error(MD_USAGE, "the lattice spacing %g is too small for this box: %g rows of cells",
                    l->cell[0], rows);
  s->j = (range){(int64_t)floor(least[1]) - 1, (int64_t)ceil(most[1]) + 2};
  s->k = (range){(int64_t)floor(least[2]) - 1, (int64_t)ceil(most[2]) + 2};
  if (s->base.box->dim == 2) s->k = (range){0, 1};
  return MD_OK;
}

static int64_t count_sites_of_row(const tested_sites *s, int64_t row)
{
  int64_t j, k;
  row_cells(s, row, &j, &k);
  return count_sites(s, clip(s, j, k), j, k);
}

/* Counts the sites of this rank's share of the parts of all rows. */
static void count_parts(const md_comm *comm, const tested_sites *s, int64_t rows, int64_t parts,
                        int64_t *count)
{
  const int64_t last = md_share_begin(parts, comm->size, comm->rank + 1);
  for (int64_t c = md_share_begin(parts, comm->size, comm->rank); c < last; ++c) {
    const int64_t end = md_share_begin(rows, parts, c + 1);
    int64_t sum = 0;
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : sum)
    for (int64_t row = md_share_begin(rows, parts, c); row < end; ++row) sum += count_sites_of_row(s, row);
    count[c] = sum;
  }
}

/* Gives this rank the rows of consecutive parts that together have its share of the sites. *total: the sites of all
 * ranks. Collective. */
static md_status share_rows(md_comm *comm, tested_sites *s, int64_t rows, int64_t *total)
{
  const int64_t parts = rows < PARTS_A_RANK * (int64_t)comm->size ? rows : PARTS_A_RANK * (int64_t)comm->size;
  int64_t *count, below = 0, first = -1, last = -1;
  MD_TRY(md_comm_agree(comm, md_array_new_zero(&count, parts + 1, sizeof *count, "rows of sites")));
  count_parts(comm, s, rows, parts, count);
  const md_status status = comm->reduce->sum(comm, count, (int)parts);
  *total = 0;
  for (int64_t c = 0; c < parts && status == MD_OK; ++c) *total += count[c];
  /* A part goes to the rank in whose share its first site is. */
  for (int64_t c = 0; c < parts && status == MD_OK; below += count[c++]) {
    if (count[c] == 0 || (md_wide_integer)below * comm->size / *total != comm->rank) continue;
    if (first < 0) {
      first = c;
      s->first = below;
    }
    last = c + 1;
  }
  free(count);
  if (first < 0) return status;
  s->first_row = md_share_begin(rows, parts, first);
  s->base.nrow = md_share_begin(rows, parts, last) - s->first_row;
  return status;
}

/* Adds up the numbers of the sites of the rows of this rank. */
static md_status count_before(tested_sites *s)
{
  MD_TRY(md_array_new(&s->before, s->base.nrow + 1, sizeof *s->before, "rows of sites"));
#pragma omp parallel for schedule(dynamic, 64)
  for (int64_t row = 0; row < s->base.nrow; ++row)
    s->before[row + 1] = count_sites_of_row(s, s->first_row + row);
  s->before[0] = s->first;
  for (int64_t row = 0; row < s->base.nrow; ++row) s->before[row + 1] += s->before[row];
  return MD_OK;
}

md_status md_sites_tested(md_sim *sim, const md_region *region, const uint16_t *type)
{
  tested_sites s = {.base = md_sites_begin(sim, type[0], md_lattice_sites(sim)),
                    .lattice = &sim->lattice,
                    .region = region};
  s.base.count = count_row;
  s.base.fill = fill_row;
  s.type = type;
  find_bounds(&s);
  for (int d = 0; d < s.base.box->dim; ++d)
    if (!(s.from[d] < s.below[d])) return MD_OK;
  MD_TRY(find_ranges(&s));
  if (sim->planning.checking) return MD_OK;
  int64_t total;
  md_status status = share_rows(sim->comm, &s, (s.j.end - s.j.begin) * (s.k.end - s.k.begin), &total);
  if (status == MD_OK) status = md_sites_check_total(sim, total);
  if (status == MD_OK) status = md_comm_agree(sim->comm, count_before(&s));
  if (status == MD_OK) status = md_sites_append(sim, &s.base);
  free(s.before);
  return status;
}
