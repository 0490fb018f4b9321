/* Placing many particles at once; see sites.h. The sites come in rows (site_rows.h).
 *
 * Rectangular lattice, in the box or a block (others: sites_tested.c): along each axis, the cells whose site lies in
 * the box form one interval. So the number of sites before a row, and with it every id, is a formula. Ids run as in
 * LAMMPS: z slowest, then y, then x, then the sites of a cell. Every rank finds the same intervals and keeps its own
 * part of them, so it knows the global ids.
 *
 * At the faces: a site that belongs on the lower face, but was rounded below it, is put on it. Sites on the upper
 * face of a periodic axis are left out, because they are images of those on the lower face. As in LAMMPS, this
 * decision has a tolerance of 1e-6 of the box, but at most 1e-3 of a cell. So a box that was typed with a few
 * digits still gets each site once.
 */
#include "src/create/sites.h"
#include "common/ranks/reductions.h"
#include "src/create/lattice.h"
#include "src/create/permutation.h"
#include "src/create/site_rows.h"
#include "src/region/region.h"

/* ---- lattice ---- */

typedef struct interval {
  int64_t begin, end;
} interval;

static int64_t length(interval a) { return a.end > a.begin ? a.end - a.begin : 0; }

static bool contains(interval a, int64_t i) { return i >= a.begin && i < a.end; }

/* How many numbers of the interval are below i. */
static int64_t before(interval a, int64_t i)
{
  if (i <= a.begin) return 0;
  return i < a.end ? i - a.begin : length(a);
}

typedef struct axis {
  double side, scale, shift;
  double lo; /* lower face of the box; sites that were rounded below it are put on it */
} axis;

typedef struct lattice_sites {
  md_sites base;
  int nbasis;
  const double (*basis)[3];
  const uint16_t *type; /* of the particles on each site of a cell */
  axis axis[3];
  interval all[MD_BASIS_MAX][3]; /* cells whose site m is in the box and region */
  interval own[MD_BASIS_MAX][3]; /* ... and also in this rank's domain */
  interval row_y, row_z;         /* cells with sites of this rank */
} lattice_sites;

static double unsnapped(const axis *a, int64_t i, double basis)
{
  return a->side * ((double)i + basis) * a->scale + a->shift;
}

static double coordinate(const axis *a, int64_t i, double basis)
{
  return md_max(unsnapped(a, i, basis), a->lo);
}

/* Finds the first cell whose site is at or above the bound. */
static md_status first_cell(const axis *a, double basis, double bound, int64_t *cell)
{
  const double estimate = floor((bound - a->shift) / (a->side * a->scale) - basis);
  if (!(fabs(estimate) < 0x1p50))
    return md_error(MD_USAGE, "the lattice spacing %g is too small for a box that reaches %g",
                    a->side * a->scale, bound);
  int64_t i = (int64_t)estimate;
  while (unsnapped(a, i, basis) >= bound) --i;
  while (unsnapped(a, i, basis) < bound) ++i;
  *cell = i;
  return MD_OK;
}

static interval hull(interval a, interval b)
{
  if (length(a) == 0) return b;
  return (interval){a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

static md_status find_cells(lattice_sites *s, const md_region *region, int m, int d)
{
  const md_box *box = s->base.box;
  const axis *a = &s->axis[d];
  const double basis = s->basis[m][d], cell = a->side * a->scale, rounding = 0x1p-40 * box->length[d];
  const double tolerance =
      box->periodic[d] ? fmin(1e-6 * box->length[d], 1e-3 * cell) : fmin(rounding, 1e-3 * cell);
  double from = box->lo[d] - tolerance, below = box->hi[d] - (box->periodic[d] ? 2.0 : 1.0) * tolerance;
  if (region) {
    from = md_max(from, md_region_lo(region, d) - rounding);
    below = fmin(below, nextafter(md_region_hi(region, d) + rounding, (double)INFINITY));
  }
  interval *all = &s->all[m][d], *own = &s->own[m][d];
  MD_TRY(first_cell(a, basis, from, &all->begin));
  MD_TRY(first_cell(a, basis, below, &all->end));
  *own = *all;
  if (s->base.lo[d] > box->lo[d]) MD_TRY(first_cell(a, basis, s->base.lo[d], &own->begin));
  if (s->base.hi[d] < box->hi[d]) MD_TRY(first_cell(a, basis, s->base.hi[d], &own->end));
  if (own->begin < all->begin) own->begin = all->begin;
  if (own->end > all->end) own->end = all->end;
  return MD_OK;
}

static md_wide_integer volume(const interval a[3])
{
  /* Intervals are shorter than 2^51, so only the last product can overflow. */
  const md_wide_integer area = (md_wide_integer)length(a[0]) * length(a[1]);
  const int64_t height = length(a[2]);
  return area > INT64_MAX && height > 0 ? area : area * height;
}

static int64_t count_lattice_row(const md_sites *base, int64_t row)
{
  const lattice_sites *s = (const lattice_sites *)base;
  const int64_t rows = length(s->row_y) > 0 ? length(s->row_y) : 1;
  const int64_t j = s->row_y.begin + row % rows, k = s->row_z.begin + row / rows;
  int64_t count = 0;
  for (int m = 0; m < s->nbasis; ++m)
    if (contains(s->own[m][1], j) && contains(s->own[m][2], k)) count += length(s->own[m][0]);
  return count;
}

/* How many sites of all ranks come before cell i of the row (j, k). */
static int64_t sites_before(const lattice_sites *s, int64_t i, int64_t j, int64_t k)
{
  int64_t count = 0;
  for (int m = 0; m < s->nbasis; ++m) {
    const interval *all = s->all[m];
    count += before(all[2], k) * length(all[1]) * length(all[0]);
    if (!contains(all[2], k)) continue;
    count += before(all[1], j) * length(all[0]);
    if (contains(all[1], j)) count += before(all[0], i);
  }
  return count;
}

static int64_t fill_lattice_row(const md_sites *base, int64_t row, md_particles *p, int64_t at)
{
  const lattice_sites *s = (const lattice_sites *)base;
  const int64_t rows = length(s->row_y) > 0 ? length(s->row_y) : 1;
  const int64_t j = s->row_y.begin + row % rows, k = s->row_z.begin + row / rows;
  int active[MD_BASIS_MAX], nactive = 0;
  interval cells = {0, 0};
  for (int m = 0; m < s->nbasis; ++m) {
    if (!contains(s->all[m][1], j) || !contains(s->all[m][2], k)) continue;
    active[nactive++] = m;
    if (contains(s->own[m][1], j) && contains(s->own[m][2], k)) cells = hull(cells, s->own[m][0]);
  }
  int64_t id = s->base.first_id + sites_before(s, cells.begin, j, k);
  for (int64_t i = cells.begin; i < cells.end; ++i)
    for (int a = 0; a < nactive; ++a) {
      const int m = active[a];
      if (!contains(s->all[m][0], i)) continue;
      if (contains(s->own[m][0], i) && contains(s->own[m][1], j) && contains(s->own[m][2], k)) {
        const double *basis = s->basis[m];
        md_sites_put(base, p, at, id,
                     (double[3]){coordinate(&s->axis[0], i, basis[0]), coordinate(&s->axis[1], j, basis[1]),
                                 coordinate(&s->axis[2], k, basis[2])});
        p->type[at++] = s->type[m];
      }
      ++id;
    }
  return at;
}

md_status md_sites_lattice(md_sim *sim, const md_region *region, const uint16_t *type)
{
  const md_lattice *lattice = &sim->lattice;
  if (!lattice->set || lattice->nbasis == 0)
    return md_error(MD_USAGE, "there are no lattice sites: give a `lattice` with sites (not none) first");
  if (!lattice->rectangular || sim->model.box.triclinic || (region && !md_region_is_block(region)))
    return md_sites_tested(sim, region, type);
  lattice_sites s = {.base = md_sites_begin(sim, type[0], md_lattice_sites(sim)),
                     .nbasis = lattice->nbasis,
                     .basis = lattice->basis};
  s.type = type;
  s.base.count = count_lattice_row;
  s.base.fill = fill_lattice_row;
  const int dim = s.base.box->dim;
  for (int d = 0; d < dim; ++d)
    s.axis[d] =
        (axis){lattice->side[d], lattice->scale, lattice->cell[d] * lattice->origin[d], s.base.box->lo[d]};

  md_wide_integer global = 0, local = 0;
  for (int m = 0; m < s.nbasis; ++m) {
    if (dim == 2) s.all[m][2] = s.own[m][2] = (interval){0, 1};
    for (int d = 0; d < dim; ++d) MD_TRY(find_cells(&s, region, m, d));
    global += volume(s.all[m]);
    local += volume(s.own[m]);
    if (volume(s.own[m]) == 0) continue;
    s.row_y = hull(s.row_y, s.own[m][1]);
    s.row_z = hull(s.row_z, s.own[m][2]);
  }
  MD_TRY(md_sites_check_total(sim, global));
  s.base.nrow = local > 0 ? length(s.row_y) * length(s.row_z) : 0;
  return md_sites_append(sim, &s.base);
}

/* ---- random ---- */

typedef struct random_sites {
  md_sites base;
  uint64_t seed;
  double lo[3], hi[3];
  const md_region *region; /* NULL: all of lo..hi */
} random_sites;

/* A region that is a smaller part of its enclosing block is not searched. */
enum { TRIES = 100000 };

static void random_try(const random_sites *s, int64_t id, uint64_t try, double x[3])
{
  const md_random a = md_random_at(s->seed, (uint64_t)id, 2 * try, MD_STREAM_POSITION);
  const md_random b = md_random_at(s->seed, (uint64_t)id, 2 * try + 1, MD_STREAM_POSITION);
  const double u[3] = {md_random_unit53(a.word[0], a.word[1]), md_random_unit53(a.word[2], a.word[3]),
                       md_random_unit53(b.word[0], b.word[1])};
  for (int d = 0; d < 3; ++d) {
    x[d] = 0.0;
    if (d >= s->base.box->dim) continue;
    x[d] = s->lo[d] + u[d] * (s->hi[d] - s->lo[d]);
    if (x[d] >= s->hi[d]) x[d] = nextafter(s->hi[d], s->lo[d]);
  }
  md_box_show(s->base.box, x);
}

/* Takes the first of the particle's positions that is in the region. Returns the number of tries, or TRIES. */
static int random_position(const random_sites *s, int64_t id, double x[3])
{
  const int dim = s->base.box->dim;
  for (int k = 0; k < TRIES; ++k) {
    random_try(s, id, (uint64_t)k, x);
    if (!s->region || md_region_contains(s->region, x, dim)) return k + 1;
  }
  return TRIES;
}

static int64_t fill_random_row(const md_sites *base, int64_t row, md_particles *p, int64_t at)
{
  const random_sites *s = (const random_sites *)base;
  int64_t first, after;
  md_site_ids(base, row, &first, &after);
  for (int64_t id = first; id < after; ++id) {
    double x[3];
    (void)random_position(s, id, x);
    md_sites_put(base, p, at++, id, x);
  }
  return at;
}

md_status md_sites_random(md_sim *sim, const md_region *region, int64_t n, uint64_t seed, int type)
{
  MD_TRY(md_sites_check_total(sim, n));
  random_sites s = {.base = md_sites_begin(sim, type, (double)n), .seed = seed};
  /* A point at random in the brick of a tilted box is, where it is shown, one at random in the box. */
  const bool tilted = s.base.box->triclinic;
  if (region && (tilted || !md_region_is_block(region))) s.region = region;
  md_sites_share_ids(&s.base, sim->comm, n);
  s.base.fill = fill_random_row;
  for (int d = 0; d < s.base.box->dim; ++d) {
    s.lo[d] = region && !tilted ? md_max(md_region_lo(region, d), s.base.box->lo[d]) : s.base.box->lo[d];
    s.hi[d] = region && !tilted ? fmin(md_region_hi(region, d), s.base.box->hi[d]) : s.base.box->hi[d];
    if (!(s.lo[d] < s.hi[d]))
      return md_error(MD_USAGE, "region %s has no volume inside the box", region ? region->id : "");
  }
  double x[3];
  if (n > 0 && random_position(&s, s.base.first_id, x) == TRIES)
    return md_error(MD_USAGE,
                    "region %s is too small for random positions: it fills only a tiny part of the block "
                    "around it; use a larger region",
                    region->id);
  return md_sites_append(sim, &s.base);
}

/* ---- grid ---- */

typedef struct grid_sites {
  md_sites base;
  int64_t n, per_axis[3];
  interval own[3];
  bool shuffled;
  md_permutation permutation;
} grid_sites;

static double grid_coordinate(const grid_sites *s, int d, int64_t i)
{
  const md_box *box = s->base.box;
  const double x = box->lo[d] + box->length[d] * (double)(1 + i) / (double)(1 + s->per_axis[d]);
  return x < box->hi[d] ? x : nextafter(box->hi[d], box->lo[d]);
}

/* The first site of axis d that is at or above the bound; coordinates increase. */
static int64_t first_grid_site(const grid_sites *s, int d, double bound)
{
  int64_t low = 0, high = s->per_axis[d];
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (grid_coordinate(s, d, middle) >= bound)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static interval grid_row(const grid_sites *s, int64_t row)
{
  const int64_t j = row % s->per_axis[1], k = row / s->per_axis[1];
  if (!contains(s->own[1], j) || !contains(s->own[2], k)) return (interval){0, 0};
  const int64_t rest = s->n - row * s->per_axis[0];
  return (interval){s->own[0].begin, rest < s->own[0].end ? rest : s->own[0].end};
}

static int64_t count_grid_row(const md_sites *base, int64_t row)
{
  return length(grid_row((const grid_sites *)base, row));
}

static int64_t fill_grid_row(const md_sites *base, int64_t row, md_particles *p, int64_t at)
{
  const grid_sites *s = (const grid_sites *)base;
  const interval cells = grid_row(s, row);
  const double y = grid_coordinate(s, 1, row % s->per_axis[1]);
  const double z = p->dim == 3 ? grid_coordinate(s, 2, row / s->per_axis[1]) : 0.0;
  for (int64_t i = cells.begin; i < cells.end; ++i) {
    const uint64_t site = (uint64_t)(row * s->per_axis[0] + i);
    const uint64_t id_offset = s->shuffled ? md_permute(&s->permutation, site) : site;
    md_sites_put(base, p, at++, base->first_id + (int64_t)id_offset,
                 (double[3]){grid_coordinate(s, 0, i), y, z});
  }
  return at;
}

/* The smallest whole number whose dim-th power is at least n. */
static int64_t root_above(int64_t n, int dim)
{
  int64_t s = (int64_t)(dim == 2 ? sqrt((double)n) : cbrt((double)n));
  s = s > 1 ? s - 1 : 1;
  while ((md_wide_integer)s * s * (dim == 2 ? 1 : s) < n) ++s;
  return s;
}

md_status md_sites_grid(md_sim *sim, int64_t n, const uint64_t *seed, int type)
{
  if (sim->model.box.triclinic)
    return md_error(MD_USAGE,
                    "create_atoms grid: its rows are at right angles, and the box is tilted; use box");
  MD_TRY(md_sites_check_total(sim, n));
  grid_sites s = {.base = md_sites_begin(sim, type, (double)n),
                  .n = n,
                  .per_axis = {1, 1, 1},
                  .own = {{0, 1}, {0, 1}, {0, 1}}};
  if (n == 0) return md_sites_append(sim, &s.base);
  s.base.count = count_grid_row;
  s.base.fill = fill_grid_row;
  const int dim = s.base.box->dim;
  const int64_t per_axis = root_above(n, dim);
  s.base.nrow = (n + per_axis - 1) / per_axis;
  s.per_axis[0] = per_axis;
  s.per_axis[1] = dim == 2 ? s.base.nrow : per_axis;
  if (dim == 3) s.per_axis[2] = (s.base.nrow + per_axis - 1) / per_axis;
  for (int d = 0; d < dim; ++d) {
    s.own[d].begin = first_grid_site(&s, d, s.base.lo[d]);
    s.own[d].end = s.base.hi[d] < s.base.box->hi[d] ? first_grid_site(&s, d, s.base.hi[d]) : s.per_axis[d];
  }
  s.shuffled = seed != NULL;
  if (s.shuffled) s.permutation = md_permutation_of((uint64_t)n, *seed);
  return md_sites_append(sim, &s.base);
}

md_status md_sites_single(md_sim *sim, const double x[3], int type)
{
  MD_TRY(md_sites_check_total(sim, 1));
  const md_sites s = md_sites_begin(sim, type, 1.0);
  md_particles *p = &sim->particles;
  const bool own = md_sites_own_point(&s, x);
  p->nghost = 0;
  if (sim->planning.checking) return MD_OK;
  MD_TRY(md_comm_agree(sim->comm, md_sites_make_room(p, p->n + own)));
  if (own) md_sites_put(&s, p, p->n++, s.first_id, x);
  return MD_OK;
}
