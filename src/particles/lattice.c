/* The commands `lattice` and `region`: sites for particles, and parts of space.
 *
 * A lattice is a rectangular cell, repeated along the axes, with up to MD_BASIS_MAX sites in it. SCALE is the
 * reduced density rho, as in LAMMPS with units lj. The cell is scaled so that it holds nbasis sites at density
 * rho:
 *   scale = (nbasis / (rho volume))^(1/dim)
 * The root is refined until it is correctly rounded, so that sites have the same bits with any C library.
 *
 * Trade-off: only rectangular, unrotated lattices exist. Each axis is then a plain interval of cells (sites.c), so
 * that 10^8 particles are made in seconds. A skewed crystal must be written as a rectangular cell with a larger
 * basis.
 *
 * Units: sigma. Reference: the LAMMPS manual, commands lattice and region.
 */
#include "src/particles/lattice.h"

#include <string.h>

typedef struct cell_style {
  const char *name;
  int dim; /* 0: any */
  double side_y;
  int nbasis; /* 0: as many as the deck gives */
  double basis[4][3];
} cell_style;

static const cell_style cell_styles[] = {
    {"none", 0, 1.0, 0, {{0}}},
    {"sq", 2, 1.0, 1, {{0}}},
    {"sq2", 2, 1.0, 2, {{0}, {0.5, 0.5, 0.0}}},
    {"hex", 2, 0x1.bb67ae8584caap+0, 2, {{0}, {0.5, 0.5, 0.0}}}, /* sqrt(3) */
    {"sc", 3, 1.0, 1, {{0}}},
    {"bcc", 3, 1.0, 2, {{0}, {0.5, 0.5, 0.5}}},
    {"fcc", 3, 1.0, 4, {{0}, {0.5, 0.5, 0.0}, {0.5, 0.0, 0.5}, {0.0, 0.5, 0.5}}},
    {"custom", 0, 1.0, 0, {{0}}},
};

static const char *const axis_names[3] = {"x", "y", "z"};

double md_lattice_unit(const md_sim *sim, int d) { return sim->lattice.set ? sim->lattice.cell[d] : 1.0; }

static md_status find_style(const char *name, int dim, const cell_style **style)
{
  for (size_t k = 0; k < sizeof cell_styles / sizeof *cell_styles; ++k) {
    *style = &cell_styles[k];
    if (strcmp(name, (*style)->name) != 0) continue;
    if ((*style)->dim == 0 || (*style)->dim == dim) return MD_OK;
    return md_error(MD_USAGE, "lattice %s needs dimension %d; in %d dimensions use %s", name, (*style)->dim,
                    dim, dim == 2 ? "sq, sq2, hex or custom" : "sc, bcc, fcc or custom");
  }
  return md_error(MD_USAGE,
                  "unknown lattice style '%s'; accepted are none, sq, sq2, hex, sc, bcc, fcc, custom", name);
}

/* The square or cube root of x, correctly rounded (except in one of 2^50 cases of the cube root). */
static double root(double x, int degree)
{
  if (degree == 2) return sqrt(x);
  const double y = cbrt(x);
  const double square = y * y, square_error = fma(y, y, -square);
  const double cube = square * y, cube_error = fma(square, y, -cube);
  const double rest = ((x - cube) - cube_error) - square_error * y;
  const double better = y + rest / (3.0 * square);
  return isfinite(better) ? better : y;
}

static md_status need(const md_words *words, int at, int count)
{
  if (at + count < words->n) return MD_OK;
  return md_error(MD_USAGE, "'%s' needs %d more word%s", words->word[at], count, count == 1 ? "" : "s");
}

static md_status read_vector(const md_words *words, int at, double value[3])
{
  MD_TRY(need(words, at, 3));
  for (int d = 0; d < 3; ++d) MD_TRY(md_word_double(words->word[at + 1 + d], words->word[at], &value[d]));
  return MD_OK;
}

static md_status read_fractions(const md_sim *sim, const md_words *words, int at, double value[3])
{
  MD_TRY(read_vector(words, at, value));
  for (int d = 0; d < 3; ++d)
    if (value[d] < 0.0 || value[d] >= 1.0)
      return md_error(MD_USAGE, "lattice %s: %s is not a fraction of a cell in [0, 1)", words->word[at],
                      words->word[at + 1 + d]);
  if (sim->model.box.dim == 2 && value[2] != 0.0)
    return md_error(MD_USAGE, "lattice %s: the z component must be 0 in two dimensions, not %s",
                    words->word[at], words->word[at + 3]);
  return MD_OK;
}

/* Checks `orient DIRECTION i j k`: only the unrotated orientation is accepted. */
static md_status check_orient(const md_words *words, int at)
{
  MD_TRY(need(words, at, 4));
  int d = 0;
  while (d < 3 && strcmp(words->word[at + 1], axis_names[d]) != 0) ++d;
  if (d == 3) return md_error(MD_USAGE, "lattice orient: '%s' is not x, y or z", words->word[at + 1]);
  for (int k = 0; k < 3; ++k) {
    int64_t index;
    MD_TRY(md_word_int64(words->word[at + 2 + k], "lattice orient", -1000000, 1000000, &index));
    if (k == d ? index <= 0 : index != 0)
      return md_error(
          MD_USAGE,
          "lattice orient %s %s %s %s: rotated lattices are not supported; write the crystal as a "
          "rectangular cell with `lattice custom`",
          words->word[at + 1], words->word[at + 2], words->word[at + 3], words->word[at + 4]);
  }
  return MD_OK;
}

static md_status need_custom(bool custom, const char *keyword)
{
  if (custom) return MD_OK;
  return md_error(MD_USAGE, "'%s' is for lattice custom only", keyword);
}

static md_status add_basis(const md_sim *sim, md_lattice *lattice, const md_words *words, int at)
{
  if (lattice->nbasis == MD_BASIS_MAX)
    return md_error(MD_USAGE, "lattice custom has at most %d basis sites", (int)MD_BASIS_MAX);
  MD_TRY(read_fractions(sim, words, at, lattice->basis[lattice->nbasis]));
  for (int m = 0; m < lattice->nbasis; ++m)
    if (memcmp(lattice->basis[m], lattice->basis[lattice->nbasis], sizeof lattice->basis[m]) == 0)
      return md_error(MD_USAGE, "lattice custom: basis %s %s %s is given twice", words->word[at + 1],
                      words->word[at + 2], words->word[at + 3]);
  ++lattice->nbasis;
  return MD_OK;
}

static md_status set_side(md_lattice *lattice, const md_words *words, int at)
{
  const int d = words->word[at][1] - '1';
  double edge[3];
  MD_TRY(read_vector(words, at, edge));
  if (edge[d] <= 0.0 || edge[(d + 1) % 3] != 0.0 || edge[(d + 2) % 3] != 0.0)
    return md_error(
        MD_USAGE,
        "lattice %s %s %s %s must point along +%s: only rectangular cells are supported (use a larger "
        "cell with more basis sites)",
        words->word[at], words->word[at + 1], words->word[at + 2], words->word[at + 3], axis_names[d]);
  lattice->side[d] = edge[d];
  return MD_OK;
}

/* Reads the keywords after SCALE. */
static md_status read_keywords(const md_sim *sim, md_lattice *lattice, bool custom, const md_words *words,
                               int at, double spacing[3])
{
  while (at < words->n) {
    const char *keyword = words->word[at];
    int used = 4;
    if (strcmp(keyword, "origin") == 0) {
      MD_TRY(read_fractions(sim, words, at, lattice->origin));
    } else if (strcmp(keyword, "orient") == 0) {
      MD_TRY(check_orient(words, at));
      used = 5;
    } else if (strcmp(keyword, "spacing") == 0) {
      MD_TRY(need(words, at, 3));
      for (int d = 0; d < 3; ++d)
        MD_TRY(md_word_positive(words->word[at + 1 + d], "lattice spacing", &spacing[d]));
    } else if (strcmp(keyword, "basis") == 0) {
      MD_TRY(need_custom(custom, keyword));
      MD_TRY(add_basis(sim, lattice, words, at));
    } else if (strcmp(keyword, "a1") == 0 || strcmp(keyword, "a2") == 0 || strcmp(keyword, "a3") == 0) {
      MD_TRY(need_custom(custom, keyword));
      MD_TRY(set_side(lattice, words, at));
    } else {
      return md_error(
          MD_USAGE, "lattice: unknown keyword '%s'; accepted are origin, orient, spacing, basis, a1, a2, a3",
          keyword);
    }
    at += used;
  }
  if (custom && lattice->nbasis == 0)
    return md_error(MD_USAGE, "lattice custom needs at least one `basis x y z`");
  return MD_OK;
}

md_status md_do_lattice(md_sim *sim, const md_words *words)
{
  const int dim = sim->model.box.dim;
  const cell_style *style;
  MD_TRY(find_style(words->word[0], dim, &style));
  const bool none = strcmp(style->name, "none") == 0;
  bool direct = none;
  int at = 1;
  if (words->n > 2 && (strcmp(words->word[1], "scale") == 0 || strcmp(words->word[1], "density") == 0)) {
    direct = words->word[1][0] == 's';
    at = 2;
    if (none && !direct)
      return md_error(MD_USAGE, "lattice none has no sites and so no density; give a scale");
  }
  double value;
  MD_TRY(md_word_positive(words->word[at], direct ? "lattice scale" : "lattice density", &value));

  md_lattice lattice = {.set = true, .side = {1.0, style->side_y, 1.0}, .nbasis = style->nbasis};
  memcpy(lattice.basis, style->basis, sizeof style->basis);
  double spacing[3] = {0.0};
  if (none) {
    if (at + 1 < words->n)
      return md_error(MD_USAGE, "lattice none takes no keyword '%s'", words->word[at + 1]);
  } else {
    MD_TRY(read_keywords(sim, &lattice, strcmp(style->name, "custom") == 0, words, at + 1, spacing));
  }

  const double volume = lattice.side[0] * lattice.side[1] * (dim == 3 ? lattice.side[2] : 1.0);
  lattice.scale = direct ? value : root(lattice.nbasis / volume / value, dim);
  for (int d = 0; d < 3; ++d) {
    lattice.cell[d] = (spacing[d] > 0.0 ? spacing[d] : lattice.side[d]) * lattice.scale;
    if (!isnormal(lattice.cell[d]))
      return md_error(MD_USAGE, "lattice: a spacing of %g comes of %s", lattice.cell[d], words->word[at]);
  }
  sim->lattice = lattice;
  md_log_print(sim->log, "Lattice spacing in x,y,z = %.8g %.8g %.8g\n", lattice.cell[0], lattice.cell[1],
               lattice.cell[2]);
  return MD_OK;
}

md_status md_region_find(const md_sim *sim, const char *id, const md_region **region)
{
  char known[256] = "";
  for (const md_region *r = sim->regions; r; r = r->next) {
    if (strcmp(r->id, id) == 0) {
      *region = r;
      return MD_OK;
    }
    const size_t used = strlen(known);
    if (used + strlen(r->id) + 3 < sizeof known) {
      memcpy(known + used, ", ", 3);
      memcpy(known + used + 2, r->id, strlen(r->id) + 1);
    }
  }
  return md_error(MD_USAGE,
                  "there is no region '%s'%s%s; define it with `region %s block xlo xhi ylo yhi zlo zhi`", id,
                  known[0] ? "; known are " : "", known[0] ? known + 2 : "", id);
}

bool md_region_contains(const md_region *region, const double x[3], int dim)
{
  double square = 0.0;
  for (int d = 0; d < 3; ++d) {
    const double at = d < dim ? x[d] : 0.0, from = at - region->centre[d];
    if (at < region->lo[d] || at > region->hi[d]) return false;
    if (region->shape != MD_REGION_CYLINDER || d != region->axis) square += from * from;
  }
  return region->shape == MD_REGION_BLOCK || square <= region->radius * region->radius;
}

md_status md_region_need_block(const md_region *region, const char *what)
{
  if (region->shape == MD_REGION_BLOCK) return MD_OK;
  return md_error(MD_USAGE, "%s needs a region of style block, which region %s is not", what, region->id);
}

md_status md_region_check_plane(const md_sim *sim, const md_region *region)
{
  if (sim->model.box.dim == 3 || (region->lo[2] <= 0.0 && region->hi[2] >= 0.0)) return MD_OK;
  return md_error(MD_USAGE,
                  "region %s (z from %g to %g) does not contain z = 0, where two-dimensional particles are",
                  region->id, region->lo[2], region->hi[2]);
}

/* Reads the keywords units and side, from word `at` on. */
static md_status read_region_keywords(const md_words *words, int at, bool *in_lattice_units)
{
  for (; at < words->n; at += 2) {
    const char *keyword = words->word[at];
    const bool units = strcmp(keyword, "units") == 0, side = strcmp(keyword, "side") == 0;
    if (!units && !side)
      return md_error(MD_USAGE, "region: unknown keyword '%s'; accepted are units lattice|box, side in",
                      keyword);
    MD_TRY(need(words, at, 1));
    const char *value = words->word[at + 1];
    if (units && strcmp(value, "lattice") == 0)
      *in_lattice_units = true;
    else if (units && strcmp(value, "box") == 0)
      *in_lattice_units = false;
    else if (units)
      return md_error(MD_USAGE, "region units: '%s' is not lattice or box", value);
    else if (strcmp(value, "in") != 0)
      return md_error(MD_USAGE, "region side: '%s' is not supported, only in", value);
  }
  return MD_OK;
}

static md_status read_bound(const md_sim *sim, const char *word, int d, bool upper, double unit,
                            double *bound)
{
  const md_box *box = &sim->model.box;
  if (strcmp(word, "INF") == 0) {
    *bound = upper ? (double)INFINITY : -(double)INFINITY;
    return MD_OK;
  }
  if (strcmp(word, "EDGE") == 0) {
    if (!sim->has_box) return md_error(MD_USAGE, "region: EDGE needs a box; use a number before create_box");
    *bound = upper ? box->hi[d] : box->lo[d];
    return MD_OK;
  }
  MD_TRY(md_word_double(word, "region bound", bound));
  *bound *= unit;
  if (!isfinite(*bound))
    return md_error(MD_USAGE, "region bound: %s times the lattice spacing is too large", word);
  return MD_OK;
}

static md_status check_region_id(const md_sim *sim, const char *id)
{
  if (strlen(id) >= sizeof(((md_region *)0)->id))
    return md_error(MD_USAGE, "region name '%.20s...' is too long", id);
  for (const md_region *r = sim->regions; r; r = r->next)
    if (strcmp(r->id, id) == 0)
      return md_error(MD_USAGE, "region '%s' is defined already; choose another name", id);
  return MD_OK;
}

/* The context for reading a region. `words` is the whole command. */
typedef struct region_words {
  const md_sim *sim;
  const md_words *words;
  bool in_lattice_units;
} region_words;

static double unit_of(const region_words *r, int d)
{
  return r->in_lattice_units ? md_lattice_unit(r->sim, d) : 1.0;
}

/* Reads the two bounds along axis d, words[at] and words[at + 1]. */
static md_status read_bounds(const region_words *r, int at, int d, md_region *region)
{
  char *const *bound = r->words->word + at;
  MD_TRY(read_bound(r->sim, bound[0], d, false, unit_of(r, d), &region->lo[d]));
  MD_TRY(read_bound(r->sim, bound[1], d, true, unit_of(r, d), &region->hi[d]));
  if (region->lo[d] > region->hi[d])
    return md_error(MD_USAGE, "region %s: the lower %s bound %s lies above the upper one, %s",
                    r->words->word[0], axis_names[d], bound[0], bound[1]);
  return MD_OK;
}

static md_status read_length(const char *word, const char *what, double unit, double *length)
{
  MD_TRY(md_word_double(word, what, length));
  *length *= unit;
  if (isfinite(*length)) return MD_OK;
  return md_error(MD_USAGE, "%s: %s times the lattice spacing is too large", what, word);
}

/* Reads the centre's coordinate along axis d, and sets the enclosing block. */
static md_status read_centre(const region_words *r, int at, int d, md_region *region)
{
  MD_TRY(read_length(r->words->word[at], "region centre", unit_of(r, d), &region->centre[d]));
  region->lo[d] = region->centre[d] - region->radius;
  region->hi[d] = region->centre[d] + region->radius;
  return MD_OK;
}

/* Reads the radius. As in LAMMPS, its unit is the lattice unit of the first axis across. */
static md_status read_radius(const region_words *r, int at, int across, md_region *region)
{
  MD_TRY(md_word_positive(r->words->word[at], "region radius", &region->radius));
  return read_length(r->words->word[at], "region radius", unit_of(r, across), &region->radius);
}

static md_status read_block(const region_words *r, md_region *region)
{
  for (int d = 0; d < 3; ++d) MD_TRY(read_bounds(r, 2 + 2 * d, d, region));
  return MD_OK;
}

static md_status read_cylinder(const region_words *r, md_region *region)
{
  const char *word = r->words->word[2];
  int d = 0;
  while (d < 3 && strcmp(word, axis_names[d]) != 0) ++d;
  if (d == 3) return md_error(MD_USAGE, "region cylinder: '%s' is not x, y or z", word);
  const int first = d == 0 ? 1 : 0, second = d == 2 ? 1 : 2;
  region->axis = d;
  MD_TRY(read_radius(r, 5, first, region));
  MD_TRY(read_centre(r, 3, first, region));
  MD_TRY(read_centre(r, 4, second, region));
  return read_bounds(r, 6, d, region);
}

static md_status read_sphere(const region_words *r, md_region *region)
{
  MD_TRY(read_radius(r, 5, 0, region));
  for (int d = 0; d < 3; ++d) MD_TRY(read_centre(r, 2 + d, d, region));
  return MD_OK;
}

static const struct {
  const char *name;
  md_region_shape shape;
  int words; /* number of words of the command, without keywords */
  md_status (*read)(const region_words *, md_region *);
  const char *usage;
} shapes[] = {
    {"block", MD_REGION_BLOCK, 8, read_block, "block XLO XHI YLO YHI ZLO ZHI"},
    {"cylinder", MD_REGION_CYLINDER, 8, read_cylinder, "cylinder x|y|z C1 C2 RADIUS LO HI"},
    {"sphere", MD_REGION_SPHERE, 6, read_sphere, "sphere X Y Z RADIUS"},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static md_status read_shape(md_sim *sim, const md_words *words, md_region *region)
{
  int s = 0;
  while (s < SHAPES && strcmp(shapes[s].name, words->word[1]) != 0) ++s;
  if (s == SHAPES)
    return md_error(MD_USAGE, "region style '%s' is not supported; accepted are block, cylinder, sphere",
                    words->word[1]);
  if (words->n < shapes[s].words)
    return md_error(MD_USAGE, "region %s needs %d words behind its style, not %d; usage: region ID %s",
                    words->word[1], shapes[s].words - 2, words->n - 2, shapes[s].usage);
  region_words r = {sim, words, true};
  MD_TRY(read_region_keywords(words, shapes[s].words, &r.in_lattice_units));
  region->shape = shapes[s].shape;
  return shapes[s].read(&r, region);
}

md_status md_do_region(md_sim *sim, const md_words *words)
{
  MD_TRY(check_region_id(sim, words->word[0]));
  md_region new = {.next = NULL};
  MD_TRY(read_shape(sim, words, &new));
  memcpy(new.id, words->word[0], strlen(words->word[0]) + 1);
  md_region *region;
  MD_TRY(md_array_new(&region, 1, sizeof *region, "a region"));
  *region = new;
  md_region **end = &sim->regions;
  while (*end) end = &(*end)->next;
  *end = region;
  return MD_OK;
}
