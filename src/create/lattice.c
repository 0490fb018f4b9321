/* The command `lattice`: sites for particles.
 *
 * A lattice is a cell, repeated along its three edges, with up to MD_BASIS_MAX sites in it. VALUE is the reduced
 * density rho, as in LAMMPS with units lj. The cell is scaled so that it holds nbasis sites at density rho:
 *   scale = (nbasis / (rho volume))^(1/dim)
 *
 * orient gives three directions of the crystal, at right angles, which lie along the axes of the box. The unit of
 * lengths along an axis is then the extent of the turned cell.
 *
 * A rectangular lattice that is not turned has its sites from formulas (sites.c), so that 10^8 particles are made in
 * seconds. For others every site is tested (sites_tested.c).
 *
 * Units: sigma. Reference: the LAMMPS manual, command lattice.
 */
#include "src/create/lattice.h"

#include <string.h>

typedef struct cell_style {
  const char *name;
  int dim; /* 0: any */
  double side_y, side_z;
  int nbasis; /* 0: as many as the deck gives */
  double basis[8][3];
} cell_style;

#define SQRT_3 0x1.bb67ae8584caap+0
#define SQRT_8_3 0x1.a20bd700c2c3ep+0

static const cell_style cell_styles[] = {
    {"none", 0, 1.0, 1.0, 0, {{0}}},
    {"sq", 2, 1.0, 1.0, 1, {{0}}},
    {"sq2", 2, 1.0, 1.0, 2, {{0}, {0.5, 0.5, 0.0}}},
    {"hex", 2, SQRT_3, 1.0, 2, {{0}, {0.5, 0.5, 0.0}}},
    {"sc", 3, 1.0, 1.0, 1, {{0}}},
    {"bcc", 3, 1.0, 1.0, 2, {{0}, {0.5, 0.5, 0.5}}},
    {"fcc", 3, 1.0, 1.0, 4, {{0}, {0.5, 0.5, 0.0}, {0.5, 0.0, 0.5}, {0.0, 0.5, 0.5}}},
    {"hcp", 3, SQRT_3, SQRT_8_3, 4, {{0}, {0.5, 0.5, 0.0}, {0.5, 5.0 / 6.0, 0.5}, {0.0, 1.0 / 3.0, 0.5}}},
    {"diamond",
     3,
     1.0,
     1.0,
     8,
     {{0},
      {0.0, 0.5, 0.5},
      {0.5, 0.0, 0.5},
      {0.5, 0.5, 0.0},
      {0.25, 0.25, 0.25},
      {0.25, 0.75, 0.75},
      {0.75, 0.25, 0.75},
      {0.75, 0.75, 0.25}}},
    {"custom", 0, 1.0, 1.0, 0, {{0}}},
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
                    dim, dim == 2 ? "sq, sq2, hex or custom" : "sc, bcc, fcc, hcp, diamond or custom");
  }
  return md_error(MD_USAGE,
                  "unknown lattice style '%s'; accepted are none, sq, sq2, hex, sc, bcc, fcc, hcp, diamond, "
                  "custom",
                  name);
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

/* Reads `orient DIRECTION i j k`. */
static md_status read_orient(const md_words *words, int at, double orient[3][3])
{
  MD_TRY(need(words, at, 4));
  int d = 0;
  while (d < 3 && strcmp(words->word[at + 1], axis_names[d]) != 0) ++d;
  if (d == 3) return md_error(MD_USAGE, "lattice orient: '%s' is not x, y or z", words->word[at + 1]);
  for (int k = 0; k < 3; ++k) {
    int64_t index;
    MD_TRY(md_word_int64(words->word[at + 2 + k], "lattice orient", -1000000, 1000000, &index));
    orient[d][k] = (double)index;
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

/* What the keywords set besides the lattice itself. */
typedef struct cell {
  double spacing[3];   /* 0: the extent of the cell */
  double a[3][3];      /* edges, in the axes of the crystal */
  double orient[3][3]; /* the crystal's direction along each axis of the box */
} cell;

/* Reads the keywords after SCALE. */
static md_status read_keywords(const md_sim *sim, md_lattice *lattice, bool custom, const md_words *words,
                               int at, cell *c)
{
  while (at < words->n) {
    const char *keyword = words->word[at];
    int used = 4;
    if (strcmp(keyword, "origin") == 0) {
      MD_TRY(read_fractions(sim, words, at, lattice->origin));
    } else if (strcmp(keyword, "orient") == 0) {
      MD_TRY(read_orient(words, at, c->orient));
      used = 5;
    } else if (strcmp(keyword, "spacing") == 0) {
      MD_TRY(need(words, at, 3));
      for (int d = 0; d < 3; ++d)
        MD_TRY(md_word_positive(words->word[at + 1 + d], "lattice spacing", &c->spacing[d]));
    } else if (strcmp(keyword, "basis") == 0) {
      MD_TRY(need_custom(custom, keyword));
      MD_TRY(add_basis(sim, lattice, words, at));
    } else if (strcmp(keyword, "a1") == 0 || strcmp(keyword, "a2") == 0 || strcmp(keyword, "a3") == 0) {
      MD_TRY(need_custom(custom, keyword));
      MD_TRY(read_vector(words, at, c->a[keyword[1] - '1']));
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

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* a . (b x c) */
static double triple(const double a[3], const double b[3], const double c[3])
{
  return dot(a, (double[3]){b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]});
}

static md_status check_cell(const cell *c, int dim)
{
  const double(*o)[3] = c->orient, (*a)[3] = c->a;
  for (int d = 0; d < 3; ++d)
    if (dot(o[d], o[d]) == 0.0)
      return md_error(MD_USAGE, "lattice orient %s: 0 0 0 is no direction", axis_names[d]);
  const bool square = dot(o[0], o[1]) == 0.0 && dot(o[1], o[2]) == 0.0 && dot(o[2], o[0]) == 0.0;
  if (!square || !(triple(o[0], o[1], o[2]) > 0.0))
    return md_error(MD_USAGE, "lattice orient: x %g %g %g, y %g %g %g, z %g %g %g are not %s", o[0][0],
                    o[0][1], o[0][2], o[1][0], o[1][1], o[1][2], o[2][0], o[2][1], o[2][2],
                    square ? "right-handed" : "at right angles");
  if (!isnormal(triple(a[0], a[1], a[2])))
    return md_error(MD_USAGE, "lattice custom: a1, a2 and a3 lie in a plane");
  const bool flat = o[0][2] == 0.0 && o[1][2] == 0.0 && a[0][2] == 0.0 && a[1][2] == 0.0 && a[2][0] == 0.0 &&
                    a[2][1] == 0.0;
  if (dim == 2 && !flat)
    return md_error(MD_USAGE, "lattice: in two dimensions a1, a2 and the directions along x and y have no z "
                              "component, and a3 has no other");
  return MD_OK;
}

/* Turns the edges into the axes of the box, and finds out whether they lie along these. */
static void set_edges(md_lattice *lattice, const cell *c)
{
  lattice->rectangular = true;
  for (int d = 0; d < 3; ++d) {
    const double length = sqrt(dot(c->orient[d], c->orient[d]));
    for (int e = 0; e < 3; ++e) {
      lattice->edge[e][d] = dot(c->orient[d], c->a[e]) / length;
      lattice->rectangular =
          lattice->rectangular && (d == e ? lattice->edge[e][d] > 0.0 : lattice->edge[e][d] == 0.0);
    }
    lattice->side[d] = lattice->edge[d][d];
  }
}

double md_lattice_sites(const md_sim *sim)
{
  const md_lattice *lattice = &sim->lattice;
  const int dim = sim->model.box.dim;
  if (!lattice->set || lattice->nbasis == 0) return 0.0;
  const double(*edge)[3] = lattice->edge;
  double unit_cell = fabs(triple(edge[0], edge[1], dim == 3 ? edge[2] : (const double[3]){0.0, 0.0, 1.0}));
  for (int d = 0; d < dim; ++d) unit_cell *= lattice->scale;
  return lattice->nbasis * md_box_volume(&sim->model.box) / unit_cell;
}

/* The extent of a cell along axis d of the box, in units of scale. */
static double extent_of(const md_lattice *lattice, int d)
{
  double low = 0.0, high = 0.0;
  for (int e = 0; e < 3; ++e) {
    low += md_min(lattice->edge[e][d], 0.0);
    high += md_max(lattice->edge[e][d], 0.0);
  }
  return high - low;
}

md_status md_do_lattice(md_sim *sim, const md_words *words)
{
  const int dim = sim->model.box.dim;
  const cell_style *style;
  MD_TRY(find_style(words->word[0], dim, &style));
  const bool none = strcmp(style->name, "none") == 0;
  bool direct = none || sim->model.units != &md_units_lj;
  int at = 1;
  if (words->n > 2 && (strcmp(words->word[1], "scale") == 0 || strcmp(words->word[1], "density") == 0)) {
    direct = words->word[1][0] == 's';
    at = 2;
    if (none && !direct)
      return md_error(MD_USAGE, "lattice none has no sites and so no density; give a scale");
  }
  double value;
  MD_TRY(md_word_positive(words->word[at], direct ? "lattice scale" : "lattice density", &value));

  md_lattice lattice = {.set = true, .nbasis = style->nbasis};
  cell c = {.a = {{1.0, 0.0, 0.0}, {0.0, style->side_y, 0.0}, {0.0, 0.0, style->side_z}},
            .orient = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
  memcpy(lattice.basis, style->basis, sizeof style->basis);
  if (none && at + 1 < words->n)
    return md_error(MD_USAGE, "lattice none takes no keyword '%s'", words->word[at + 1]);
  if (!none) MD_TRY(read_keywords(sim, &lattice, strcmp(style->name, "custom") == 0, words, at + 1, &c));
  MD_TRY(check_cell(&c, dim));
  set_edges(&lattice, &c);
  const double volume = fabs(triple(c.a[0], c.a[1], dim == 3 ? c.a[2] : (const double[3]){0.0, 0.0, 1.0}));
  /* By LAMMPS's formula, to the last digit: it decides which sites are on the surface of a region. */
  lattice.scale = direct ? value : pow(lattice.nbasis / volume / value, 1.0 / dim);
  for (int d = 0; d < 3; ++d) {
    lattice.cell[d] = (c.spacing[d] > 0.0 ? c.spacing[d] : extent_of(&lattice, d)) * lattice.scale;
    if (!isnormal(lattice.cell[d]))
      return md_error(MD_USAGE, "lattice: a spacing of %g comes of %s", lattice.cell[d], words->word[at]);
  }
  sim->lattice = lattice;
  md_log_print(sim->log, "Lattice spacing in x,y,z = %.8g %.8g %.8g\n", lattice.cell[0], lattice.cell[1],
               lattice.cell[2]);
  return MD_OK;
}
