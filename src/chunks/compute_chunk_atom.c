/* compute chunk/atom: the chunk of each particle: a bin along axes, a shell of a sphere or of a cylinder, its type, its
 * molecule, or a value of another compute or variable.
 *
 * Bins have a width delta and a border at the origin. They go on until they cover the bounds of the axis, which are the
 * faces of the box unless `bound` gives others. A particle beyond the bins is in the outermost one or in none
 * (discard). Bins are made anew at each step that is shown, because the box may change, unless an average holds them
 * (md_chunks_hold); so nchunk once and every are the same here. Layers of a lattice often lie on borders. A particle
 * that rounding has put a few quanta below a border is in the bin above it, as before.
 *
 * Cost: a pass over the particles. Reference: the LAMMPS manual, compute chunk/atom. */
#include "common/ranks/reductions.h"
#include "common/sums/each_formulas.h"
#include "src/chunks/chunks.h"
#include "src/create/lattice.h"
#include "src/formula/particle_values.h"
#include "src/output/observer.h"
#include "src/region/region.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

typedef enum kind { BLOCK, SPHERE, CYLINDER, TYPE, MOLECULE, VALUE } kind;
typedef enum discard { DISCARD_MIXED, DISCARD_YES, DISCARD_NO } discard;
typedef enum place { LOWER, CENTER, UPPER, AT } place;

/* The most chunks. */
static const int64_t MOST = INT64_C(1) << 30;

/* Bins along one axis. */
typedef struct layers {
  int axis;
  place from;
  double origin, delta;
  bool bounded[2]; /* `bound` gives a number: below, above */
  place bound_from[2];
  double bound[2];
  double first;  /* where the first bin begins; derived */
  double border; /* the same less md_model_margin, for particles; derived */
  int64_t n;     /* derived */
} layers;

typedef struct compute_chunk {
  md_host_compute base;
  kind kind;
  int naxis;
  layers along[3];
  double centre[3], from, to; /* of shells: along the three axes, or the two across that of a cylinder */
  int64_t shells;
  bool reduced, pbc, exact;
  discard discard;
  bool has_discard;
  int64_t limit;   /* 0: none */
  char region[64]; /* "": none */
  char *value;     /* name of the value of particles */
  int64_t n, room;
  int ncoord;
  double *coord, *volume;
  bool held; /* the bins along axes are those of `layers` (md_chunks_hold) */
  double layers[MD_CHUNK_LAYERS];
  int64_t held_number; /* the number of chunks that are numbers (md_chunks_hold_number); 0: none is held */
} compute_chunk;

/* ---- words ---- */

static md_status read_axis(const char *word, int dim, int *axis)
{
  const char *at = word[0] && !word[1] ? strchr("xyz", word[0]) : NULL;
  if (at && (int)(at - "xyz") < dim) {
    *axis = (int)(at - "xyz");
    return MD_OK;
  }
  return md_error(MD_USAGE, "compute chunk/atom: '%.64s' is no axis of the box", word);
}

static md_status read_origin(const char *word, place *from, double *value)
{
  static const char *const names[] = {[LOWER] = "lower", [CENTER] = "center", [UPPER] = "upper"};
  for (int k = LOWER; k <= UPPER; ++k) {
    *from = (place)k;
    if (strcmp(word, names[k]) == 0) return MD_OK;
  }
  *from = AT;
  return md_word_double(word, "a place of compute chunk/atom, or lower, center or upper,", value);
}

static md_status read_layers(const md_words *words, int at, int dim, layers *l)
{
  if (at + 3 > words->n) return md_error(MD_USAGE, "compute chunk/atom: an axis, origin or width is missing");
  MD_TRY(read_axis(words->word[at], dim, &l->axis));
  MD_TRY(read_origin(words->word[at + 1], &l->from, &l->origin));
  l->bound_from[0] = LOWER;
  l->bound_from[1] = UPPER;
  return md_word_positive(words->word[at + 2], "the width of bins of compute chunk/atom", &l->delta);
}

/* Reads the n coordinates of the centre, the two radii and the number of shells from words[at] on. */
static md_status read_shells(compute_chunk *c, const md_words *words, int at, int n)
{
  if (at + n + 3 > words->n)
    return md_error(MD_USAGE, "compute chunk/atom: a coordinate, radius or number of shells is missing");
  for (int k = 0; k < n; ++k)
    MD_TRY(md_word_double(words->word[at + k], "the centre of compute chunk/atom", &c->centre[k]));
  MD_TRY(md_word_double(words->word[at + n], "the least radius of compute chunk/atom", &c->from));
  MD_TRY(md_word_positive(words->word[at + n + 1], "the largest radius of compute chunk/atom", &c->to));
  if (!(c->from >= 0.0 && c->from < c->to))
    return md_error(MD_USAGE, "compute chunk/atom: the radii %g and %g must not be negative, and increase",
                    c->from, c->to);
  return md_word_int64(words->word[at + n + 2], "the shells of compute chunk/atom", 1, 1 << 24, &c->shells);
}

/* Reads the style from words[*at] on. */
static md_status read_style(compute_chunk *c, const md_sim *sim, const md_words *words, int *at)
{
  const char *style = words->word[(*at)++];
  const int dim = sim->model.box.dim;
  if (strncmp(style, "bin/", 4) == 0 && style[4] >= '1' && style[4] <= '3' && strcmp(style + 5, "d") == 0) {
    c->kind = BLOCK;
    c->naxis = style[4] - '0';
    for (int k = 0; k < c->naxis; ++k, *at += 3) MD_TRY(read_layers(words, *at, dim, &c->along[k]));
    for (int k = 1; k < c->naxis; ++k)
      if (c->along[k].axis == c->along[0].axis || (k == 2 && c->along[2].axis == c->along[1].axis))
        return md_error(MD_USAGE, "compute chunk/atom %s: the axes must be different ones", style);
  } else if (strcmp(style, "bin/sphere") == 0) {
    c->kind = SPHERE;
    MD_TRY(read_shells(c, words, *at, 3));
    *at += 6;
  } else if (strcmp(style, "bin/cylinder") == 0) {
    c->kind = CYLINDER;
    c->naxis = 1;
    if (dim == 2) return md_error(MD_USAGE, "compute chunk/atom bin/cylinder needs three dimensions");
    MD_TRY(read_layers(words, *at, dim, &c->along[0]));
    MD_TRY(read_shells(c, words, *at + 3, 2));
    *at += 8;
  } else if (strcmp(style, "type") == 0) {
    c->kind = TYPE;
  } else if (strcmp(style, "molecule") == 0) {
    c->kind = MOLECULE;
    if (!sim->particles.bonded)
      return md_error(MD_USAGE,
                      "compute chunk/atom molecule: particles have no molecules; use atom_style bond");
  } else if (md_particle_values_has(sim, style) &&
             (strncmp(style, "c_", 2) == 0 || strncmp(style, "v_", 2) == 0)) {
    c->kind = VALUE;
    c->value = strdup(style);
    if (!c->value) return md_error(MD_RUNTIME, "out of memory for a compute");
  } else {
    return md_error(
        MD_USAGE,
        "compute chunk/atom: '%.64s' is not bin/1d, bin/2d, bin/3d, bin/sphere, bin/cylinder, type, "
        "molecule, or the name c_ID or v_NAME of a value of each particle",
        style);
  }
  return MD_OK;
}

/* LAMMPS's `once` and `nfreq` keep the chunks of particles; without such a memory only `every` is the same. */
static md_status read_ids(const compute_chunk *c, const char *word)
{
  const bool stay = c->kind == TYPE || c->kind == MOLECULE;
  if (strcmp(word, "every") == 0 || (stay && (strcmp(word, "once") == 0 || strcmp(word, "nfreq") == 0)))
    return MD_OK;
  return md_error(MD_USAGE,
                  "compute chunk/atom ids: '%.64s' is not available; particles get their chunks anew (every)",
                  word);
}

static md_status read_bound(compute_chunk *c, int dim, char *const *word)
{
  int axis;
  MD_TRY(read_axis(word[0], dim, &axis));
  for (int k = 0; k < c->naxis; ++k) {
    layers *l = &c->along[k];
    if (l->axis != axis) continue;
    for (int side = 0; side < 2; ++side) {
      MD_TRY(read_origin(word[1 + side], &l->bound_from[side], &l->bound[side]));
      l->bounded[side] = l->bound_from[side] == AT;
    }
    return MD_OK;
  }
  return md_error(MD_USAGE, "compute chunk/atom bound: there are no bins along %s", word[0]);
}

static md_status read_choice(const char *keyword, const char *word, int n, const char *const *name,
                             int *choice)
{
  char list[96] = "";
  for (*choice = 0; *choice < n; ++*choice) {
    if (strcmp(word, name[*choice]) == 0) return MD_OK;
    strncat(strncat(list, " ", 2), name[*choice], 24);
  }
  return md_error(MD_USAGE, "compute chunk/atom %s: '%.64s' is none of%s", keyword, word, list);
}

static md_status read_discard(compute_chunk *c, const char *word)
{
  static const char *const names[] = {[DISCARD_MIXED] = "mixed", [DISCARD_YES] = "yes", [DISCARD_NO] = "no"};
  int choice;
  MD_TRY(read_choice("discard", word, 3, names, &choice));
  c->discard = (discard)choice;
  c->has_discard = true;
  return MD_OK;
}

/* Reads a keyword from words[*at] on. units: 0 lattice, 1 box, 2 reduced. */
static md_status read_keyword(compute_chunk *c, const md_sim *sim, const md_words *words, int *at, int *units)
{
  static const char *const unit_names[] = {"lattice", "box", "reduced"};
  static const char *const times[] = {"once", "every"};
  static const char *const limits[] = {"max", "exact"};
  const char *keyword = words->word[(*at)++];
  const int width = strcmp(keyword, "bound") == 0 ? 3 : 1;
  int choice;
  bool yes;
  if (*at + width > words->n)
    return md_error(MD_USAGE, "compute chunk/atom %.64s: its value is missing", keyword);
  char *const *word = words->word + *at;
  *at += width;
  if (strcmp(keyword, "units") == 0) return read_choice(keyword, word[0], 3, unit_names, units);
  if (strcmp(keyword, "bound") == 0) return read_bound(c, sim->model.box.dim, word);
  if (strcmp(keyword, "discard") == 0) return read_discard(c, word[0]);
  if (strcmp(keyword, "nchunk") == 0) return read_choice(keyword, word[0], 2, times, &choice);
  if (strcmp(keyword, "ids") == 0) return read_ids(c, word[0]);
  if (strcmp(keyword, "pbc") == 0) return md_word_bool(word[0], "compute chunk/atom pbc", &c->pbc);
  if (strcmp(keyword, "compress") == 0) {
    MD_TRY(md_word_bool(word[0], "compute chunk/atom compress", &yes));
    return yes ? md_error(MD_USAGE, "compute chunk/atom: compress yes is not available") : MD_OK;
  }
  if (strcmp(keyword, "region") == 0) {
    const md_region *region;
    MD_TRY(md_region_find(sim, word[0], &region));
    memcpy(c->region, region->id, sizeof c->region);
    return MD_OK;
  }
  if (strcmp(keyword, "limit") == 0) {
    MD_TRY(md_word_int64(word[0], "the limit of compute chunk/atom", 0, MOST, &c->limit));
    if (c->limit == 0) return MD_OK;
    if (*at == words->n) return md_error(MD_USAGE, "compute chunk/atom limit: max or exact is missing");
    MD_TRY(read_choice(keyword, words->word[(*at)++], 2, limits, &choice));
    c->exact = choice == 1;
    return MD_OK;
  }
  return md_error(
      MD_USAGE,
      "compute chunk/atom: unknown keyword '%.64s'; accepted are region ID, nchunk once|every, ids every, "
      "limit N max|exact, compress no, discard yes|no|mixed, bound AXIS LO HI, pbc yes|no, units "
      "lattice|box|reduced",
      keyword);
}

/* Lengths of the deck become sigma, or parts of the box. */
static md_status scale(compute_chunk *c, const md_sim *sim, int units)
{
  c->reduced = units == 2;
  if (c->reduced && (c->kind == SPHERE || c->kind == CYLINDER))
    return md_error(MD_USAGE, "compute chunk/atom: units reduced is not available for shells");
  if (units != 0) return MD_OK;
  for (int k = 0; k < c->naxis; ++k) {
    layers *l = &c->along[k];
    const double unit = md_lattice_unit(sim, l->axis);
    l->origin *= unit;
    l->delta *= unit;
    for (int side = 0; side < 2; ++side) l->bound[side] *= unit;
  }
  const int axis = c->kind == CYLINDER ? c->along[0].axis : 3;
  for (int k = 0; k < 3; ++k) c->centre[k] *= md_lattice_unit(sim, axis == 3 ? k : (axis + 1 + k) % 3);
  const double unit = md_lattice_unit(sim, axis == 3 ? 0 : (axis + 1) % 3);
  c->from *= unit;
  c->to *= unit;
  return MD_OK;
}

/* ---- the bins ---- */

static double place_of(place from, double at, double lo, double hi)
{
  switch (from) {
  case LOWER: return lo;
  case CENTER: return 0.5 * (lo + hi);
  case UPPER: return hi;
  case AT: break;
  }
  return at;
}

/* Where the axis begins and ends. */
static void ends_of(const compute_chunk *c, const md_box *box, int axis, double *lo, double *hi)
{
  *lo = c->reduced ? 0.0 : box->lo[axis];
  *hi = c->reduced ? 1.0 : box->hi[axis];
}

/* A bin at an end of the box that is thinner than this part of a bin is left out. The sides of the box are rounded
 * (docs/exactness.md), so that four bins of a side of a lattice may leave a rest of some 1e-12 in four cells. */
static const double thinnest = 1e-6;

static md_status set_layers(const compute_chunk *c, const md_box *box, layers *l)
{
  double lo, hi;
  ends_of(c, box, l->axis, &lo, &hi);
  const double least = place_of(l->bound_from[0], l->bound[0], lo, hi);
  const double most = place_of(l->bound_from[1], l->bound[1], lo, hi);
  const double origin = place_of(l->from, l->origin, least, most), per = 1.0 / l->delta;
  if (fabs(most - origin) * per > 0x1p30 || fabs(least - origin) * per > 0x1p30)
    return md_error(MD_USAGE,
                    "compute chunk/atom: the width %g of bins is too small for the box: use wider ones",
                    l->delta);
  double below = origin + trunc((least - origin) * per) * l->delta;
  double above = origin + trunc((most - origin) * per) * l->delta;
  if (origin >= least && below > least + thinnest * l->delta) below -= l->delta;
  if (origin < most && above < most - thinnest * l->delta) above += l->delta;
  if (below > above)
    return md_error(
        MD_USAGE, "compute chunk/atom: the bounds %g and %g have no bin between them: put them farther apart",
        least, most);
  l->first = below;
  l->n = (int64_t)((above - below) * per + 0.5);
  return MD_OK;
}

static md_status make_room(compute_chunk *c, int64_t n)
{
  c->n = n;
  if (c->coord && n <= c->room) return MD_OK;
  free(c->coord);
  free(c->volume);
  c->coord = c->volume = NULL;
  c->room = n;
  MD_TRY(md_array_new_zero(&c->coord, n * c->ncoord + 1, sizeof *c->coord, "chunks"));
  return md_array_new_zero(&c->volume, n + 1, sizeof *c->volume, "chunks");
}

static void set_blocks(compute_chunk *c, const md_box *box)
{
  double part = 1.0;
  for (int k = 0; k < c->naxis; ++k)
    part *= c->reduced ? c->along[k].delta : c->along[k].delta / box->length[c->along[k].axis];
  for (int64_t m = 0; m < c->n; ++m) {
    int64_t rest = m;
    c->volume[m] = part * md_box_volume(box);
    for (int k = c->naxis - 1; k >= 0; --k) {
      const layers *l = &c->along[k];
      c->coord[m * c->ncoord + k] = l->first + ((double)(rest % l->n) + 0.5) * l->delta;
      rest /= l->n;
    }
  }
}

static void set_shells(compute_chunk *c, const md_box *box)
{
  const double width = (c->to - c->from) / (double)c->shells;
  const int64_t across = c->kind == CYLINDER ? c->along[0].n : 1;
  for (int64_t m = 0; m < c->n; ++m) {
    const int64_t shell = m / across;
    const double inner = c->from + (double)shell * width, outer = inner + width;
    const double disc = PI * (outer * outer - inner * inner);
    double *coord = c->coord + m * c->ncoord;
    coord[0] = inner + 0.5 * width;
    if (c->kind == CYLINDER) coord[1] = c->along[0].first + ((double)(m % across) + 0.5) * c->along[0].delta;
    c->volume[m] = c->kind == CYLINDER ? disc * c->along[0].delta
                   : box->dim == 2     ? disc
                                       : 4.0 / 3.0 * PI * (outer * outer * outer - inner * inner * inner);
  }
}

static md_status set_bins(compute_chunk *c, const md_sim *sim)
{
  const md_box *box = &sim->model.box;
  const double margin = md_model_margin(&sim->model);
  int64_t n = c->kind == BLOCK ? 1 : c->shells;
  for (int k = 0; k < c->naxis; ++k) {
    if (c->held) {
      c->along[k].first = c->layers[2 * k];
      c->along[k].n = (int64_t)c->layers[2 * k + 1];
    } else {
      MD_TRY(set_layers(c, box, &c->along[k]));
    }
    c->along[k].border = c->along[k].first - (c->reduced ? margin / box->length[c->along[k].axis] : margin);
    n *= c->along[k].n;
    if (n > MOST)
      return md_error(MD_USAGE,
                      "compute chunk/atom: there are more than 2^30 bins: use wider ones, or bounds");
  }
  MD_TRY(make_room(c, n));
  if (c->kind == BLOCK)
    set_blocks(c, box);
  else
    set_shells(c, box);
  return MD_OK;
}

/* Are the chunks numbers that particles have, and no bins? */
static bool is_numbered(const compute_chunk *c)
{
  return c->kind == TYPE || c->kind == MOLECULE || c->kind == VALUE;
}

static md_status find_region(const compute_chunk *c, const md_sim *sim, const md_region **region)
{
  *region = NULL;
  return c->region[0] ? md_region_find(sim, c->region, region) : MD_OK;
}

/* Only particles of the group and of the region are in chunks. */
static bool is_chosen(const compute_chunk *c, const md_particles *p, const md_region *region, int64_t i)
{
  return md_particles_in_group(p, md_group_bit(c->base.group), i) && (!region || md_region_has(region, p, i));
}

/* The number of a particle, which is its chunk; 0: it is in none. */
static double number_of(const compute_chunk *c, const md_particles *p, int64_t i)
{
  const double value = c->kind == TYPE       ? p->type[i]
                       : c->kind == MOLECULE ? p->molecule[i]
                                             : trunc(c->base.each[i]);
  return value >= 1.0 ? value : 0.0;
}

/* The number of chunks without a limit: that of types, or the largest number of a particle. MD_USAGE: the latter is
 * above MOST, and there is no limit. */
static md_status count_numbers(const compute_chunk *c, md_sim *sim, int64_t *n)
{
  const md_particles *p = &sim->particles;
  const md_region *region;
  double most = c->kind == TYPE ? sim->model.ntypes : 0.0;
  MD_TRY(find_region(c, sim, &region));
  for (int64_t i = 0; i < p->n; ++i)
    if (is_chosen(c, p, region, i)) most = md_max(most, number_of(c, p, i));
  MD_TRY(sim->comm->reduce->max(sim->comm, &most, 1));
  if (most > (double)MOST && c->limit == 0)
    return md_error(
        MD_USAGE,
        "compute chunk/atom: there are at most 2^30 chunks, and a particle has the number %.0f: give a "
        "limit, or smaller numbers",
        most);
  *n = (int64_t)md_min(most, (double)MOST);
  return MD_OK;
}

/* What is known before a run of chunks that are numbers. */
static md_status know_numbers(compute_chunk *c, md_sim *sim)
{
  int64_t n = c->limit;
  if (c->kind != VALUE && c->limit == 0) MD_TRY(count_numbers(c, sim, &n));
  return c->limit == 0 || c->exact ? md_comm_agree(sim->comm, make_room(c, n)) : MD_OK;
}

static md_status parse(md_host_compute *base, md_sim *sim, const md_words *words)
{
  compute_chunk *c = (compute_chunk *)base;
  int at = 0, units = 0;
  MD_TRY(md_sim_need_box(sim, "compute chunk/atom"));
  if (words->n < 1) return md_error(MD_USAGE, "compute chunk/atom takes a style such as bin/1d or type");
  MD_TRY(read_style(c, sim, words, &at));
  while (at < words->n) MD_TRY(read_keyword(c, sim, words, &at, &units));
  if (!c->has_discard && is_numbered(c)) c->discard = DISCARD_YES;
  if (c->kind == CYLINDER && c->along[0].axis == 1) {
    /* The two coordinates across y are given as x and z, as in LAMMPS. */
    const double x = c->centre[0];
    c->centre[0] = c->centre[1];
    c->centre[1] = x;
  }
  MD_TRY(scale(c, sim, units));
  c->ncoord = c->kind == BLOCK ? c->naxis : c->kind == SPHERE ? 1 : c->kind == CYLINDER ? 2 : 0;
  base->columns = 1;
  return is_numbered(c) ? know_numbers(c, sim) : set_bins(c, sim);
}

/* ---- particles ---- */

/* Are particles below and above all bins in the outermost ones? */
static void set_keep(const compute_chunk *c, const layers *l, bool keep[2])
{
  for (int side = 0; side < 2; ++side)
    keep[side] = c->discard == DISCARD_NO || (c->discard == DISCARD_MIXED && !l->bounded[side]);
}

static int64_t layer_of(const compute_chunk *c, const md_box *box, const layers *l, const double x[3])
{
  const int d = l->axis;
  double fraction[3];
  bool keep[2];
  set_keep(c, l, keep);
  md_box_fractions(box, x, fraction);
  const double at = c->reduced ? fraction[d] : x[d];
  return md_bin_of(at, l->border, 1.0 / l->delta, l->n, keep);
}

static int64_t shell_of(const compute_chunk *c, const md_box *box, const double x[3])
{
  const int axis = c->kind == CYLINDER ? c->along[0].axis : 2, n = c->kind == CYLINDER ? 2 : box->dim;
  const bool inside = c->discard != DISCARD_YES, keep[2] = {inside, inside};
  double r2 = 0.0;
  for (int k = 0; k < n; ++k) {
    const int d = (axis + 1 + k) % 3;
    double dx = x[d] - c->centre[k];
    if (c->pbc && box->periodic[d]) dx = md_minimum_image(dx, box->length[d]);
    r2 = fma(dx, dx, r2);
  }
  return md_bin_of(sqrt(r2), c->from, (double)c->shells / (c->to - c->from), c->shells, keep);
}

/* The chunk of a particle at x, from 1; 0: none. */
static int64_t bin_at(const compute_chunk *c, const md_box *box, const double x[3])
{
  int64_t m = c->kind == BLOCK ? 0 : shell_of(c, box, x);
  for (int k = 0; k < c->naxis && m >= 0; ++k) {
    const int64_t layer = layer_of(c, box, &c->along[k], x);
    m = layer < 0 ? -1 : m * c->along[k].n + layer;
  }
  return m + 1;
}

static void set_bin_of_particles(compute_chunk *c, const md_sim *sim)
{
  const md_particles *p = &sim->particles;
  const md_box *box = &sim->model.box;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    double x[3] = {0.0};
    for (int d = 0; d < p->dim; ++d) x[d] = p->x[d][i];
    md_box_wrap(box, x);
    md_box_show(box, x);
    c->base.each[i] = (double)bin_at(c, box, x);
  }
}

/* Whole numbers that are given become chunks; their number is the largest one, unless there is a limit. */
static md_status set_numbers(compute_chunk *c, md_sim *sim)
{
  const md_particles *p = &sim->particles;
  int64_t n;
  if (c->kind == VALUE) MD_TRY(md_particle_values_of(sim, c->value, c->base.each));
  MD_TRY(count_numbers(c, sim, &n));
  if (c->limit > 0 && (c->exact || n > c->limit)) n = c->limit;
  MD_TRY(md_comm_agree(sim->comm, make_room(c, c->held_number > 0 ? c->held_number : n)));
  for (int64_t m = 0; m < c->n; ++m) c->volume[m] = md_box_volume(&sim->model.box);
  for (int64_t i = 0; i < p->n; ++i) {
    const double number = number_of(c, p, i);
    const bool beyond = number < 1.0 || number > (double)c->n;
    c->base.each[i] = !beyond ? number : c->discard == DISCARD_YES ? 0.0 : (double)c->n;
  }
  return MD_OK;
}

static md_status choose(compute_chunk *c, const md_sim *sim)
{
  const md_particles *p = &sim->particles;
  const md_region *region;
  MD_TRY(find_region(c, sim, &region));
  for (int64_t i = 0; i < p->n; ++i)
    if (!is_chosen(c, p, region, i)) c->base.each[i] = 0.0;
  return MD_OK;
}

static md_status find(md_host_compute *base, md_view *view)
{
  compute_chunk *c = (compute_chunk *)base;
  md_sim *sim = view->sim;
  if (is_numbered(c)) {
    MD_TRY(set_numbers(c, sim));
  } else {
    if (sim->model.box.triclinic && !(c->kind == BLOCK && c->reduced))
      return md_error(MD_USAGE,
                      "compute chunk/atom: in a tilted box bins are bin/1d, bin/2d or bin/3d with units "
                      "reduced, which have the shape of the box");
    MD_TRY(md_comm_agree(sim->comm, set_bins(c, sim)));
    set_bin_of_particles(c, sim);
  }
  return choose(c, sim);
}

static void free_chunks(md_host_compute *base)
{
  compute_chunk *c = (compute_chunk *)base;
  free(c->value);
  free(c->coord);
  free(c->volume);
}

const md_host_compute_style md_compute_chunk_atom_style = {
    .name = "chunk/atom",
    .usage = "chunk/atom STYLE ... [KEYWORDS]",
    .help = "the chunk of each particle, for fix ave/chunk; STYLE is bin/1d, bin/2d or bin/3d with AXIS\n"
            "ORIGIN WIDTH for each axis (ORIGIN lower, center, upper or a place), bin/sphere X Y Z RMIN\n"
            "RMAX N, bin/cylinder AXIS ORIGIN WIDTH C1 C2 RMIN RMAX N, type, molecule, or c_ID or v_NAME\n"
            "with whole numbers. Keywords: units lattice|box|reduced, bound AXIS LO HI, discard\n"
            "yes|no|mixed, region ID, limit N max|exact, pbc yes|no",
    .size = sizeof(compute_chunk),
    .parse = parse,
    .find = find,
    .free = free_chunks,
};

/* ---- for others ---- */

md_status md_chunks_find(const md_sim *sim, const char *what, const char *id, md_host_compute **compute)
{
  *compute = md_host_compute_find(sim, id, strlen(id));
  if (*compute && (*compute)->style == &md_compute_chunk_atom_style) return MD_OK;
  return md_error(MD_USAGE, "%s: '%.64s' is no compute of style chunk/atom", what, id);
}

int md_chunks_coordinates(const md_host_compute *compute) { return ((const compute_chunk *)compute)->ncoord; }

int64_t md_chunks_known(const md_host_compute *compute) { return ((const compute_chunk *)compute)->n; }

void md_chunks_layers(const md_host_compute *compute, double bins[MD_CHUNK_LAYERS])
{
  const compute_chunk *c = (const compute_chunk *)compute;
  for (int k = 0; k < 3; ++k) {
    bins[2 * k] = c->along[k].first;
    bins[2 * k + 1] = (double)c->along[k].n;
  }
}

void md_chunks_hold(md_host_compute *compute, const double *bins)
{
  compute_chunk *c = (compute_chunk *)compute;
  if (c->naxis == 0 || (!c->held && !bins)) return;
  c->held = bins != NULL;
  if (bins) memcpy(c->layers, bins, sizeof c->layers);
  compute->fresh = false;
}

void md_chunks_hold_number(md_host_compute *compute, int64_t n)
{
  compute_chunk *c = (compute_chunk *)compute;
  if (!is_numbered(c) || c->held_number == n) return;
  c->held_number = n;
  compute->fresh = false;
}

md_status md_chunks_update(md_sim *sim, md_host_compute *compute, md_chunks *chunks)
{
  const compute_chunk *c = (const compute_chunk *)compute;
  MD_TRY(md_host_compute_update(sim, compute));
  *chunks = (md_chunks){c->n, c->ncoord, c->coord, c->volume, compute->each};
  return MD_OK;
}

md_status md_chunks_in_place(md_view *view, md_host_compute *compute, md_chunks *chunks, md_bins *bins,
                             bool *can)
{
  compute_chunk *c = (compute_chunk *)compute;
  md_sim *sim = view->sim;
  const md_box *box = &sim->model.box;
  *can = c->kind == BLOCK && !c->region[0] && !box->triclinic;
  if (!*can) return MD_OK;
  MD_TRY(md_comm_agree(sim->comm, set_bins(c, sim)));
  *bins = (md_bins){.groups = md_group_bit(compute->group), .naxis = c->naxis, .n = c->n};
  for (int k = 0; k < c->naxis; ++k) {
    const layers *l = &c->along[k];
    bins->along[k] = (md_layers){.axis = l->axis,
                                 .reduced = c->reduced,
                                 .lo = box->lo[l->axis],
                                 .length = box->length[l->axis],
                                 .first = l->border,
                                 .per = 1.0 / l->delta,
                                 .n = l->n};
    set_keep(c, l, bins->along[k].keep);
  }
  *chunks = (md_chunks){c->n, c->ncoord, c->coord, c->volume, NULL};
  return MD_OK;
}
