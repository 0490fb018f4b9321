/* The command `read_data`: a data file in LAMMPS's format, read as a stream.
 *
 * First the header (counts and bounds, in any order), then the sections Masses, Atoms and Velocities, each with
 * exactly the promised number of lines. Everything is checked where it is read, so that each error has its line.
 * The promised number of particles is compared with the size of the file before memory is taken for them, so a
 * damaged header cannot ask for all of it. A table from ids to particles (id_table.h) finds ids that occur twice
 * and the owners of velocities, which may come in any order.
 *
 * Text that this program or LAMMPS wrote with 17 digits gives the same bits back: positions inside the box are
 * taken as they are; outside a periodic axis they are wrapped.
 *
 * Units: as in the file, lj. Cost: about 1 us a particle. Reference: the LAMMPS manual, command read_data.
 */
#include "src/data_file.h"

#include "src/create.h"
#include "src/id_table.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
  LINE_SIZE = 65536,
  FIELDS_MAX = 16,
  ELSEWHERE = INT32_MAX, /* in the id table: owned by another rank; otherwise local index + 1 */
  ATOM_BYTES = 10        /* the shortest line of Atoms, "1 1 0 0 0" and its end */
};
/* A position this many boxes away is damage, not a particle that has travelled. */
static const double images_max = 0x1p30;

typedef struct reader {
  md_sim *sim;
  FILE *file;
  const char *name;
  int64_t line; /* of `text`, from 1 */
  char *text;   /* LINE_SIZE bytes; comment and blanks at the end removed */
  char comment[32];
  bool end; /* there is no such line: the file has ended */
  char *field[FIELDS_MAX];
  int nfield; /* FIELDS_MAX + 1: more than that */
  int64_t natoms, ntypes;
  double lo[3], hi[3];
  bool have_atoms, have_types, have_bounds[3];
  bool done_masses, done_atoms, done_velocities;
  double domain_lo[3], domain_hi[3];
  bool images_ignored, vz_ignored;
  md_id_table ids;
} reader;

#define WRONG(r, ...) (md_error(MD_USAGE, __VA_ARGS__), locate(r))

/* Puts "name:line: " in front of the message. */
static md_status locate(const reader *r)
{
  md_error_prefix("%s:%lld: ", r->name, (long long)r->line);
  return MD_USAGE;
}

/* Lines and fields */

static md_status read_text(reader *r)
{
  size_t n = 0;
  int c;
  ++r->line;
  while ((c = getc_unlocked(r->file)) != EOF && c != '\n') {
    if (c == '\0') return WRONG(r, "a zero byte: this is not a text file");
    if (n == LINE_SIZE - 1) return WRONG(r, "the line is longer than %d characters", LINE_SIZE - 1);
    r->text[n++] = (char)c;
  }
  if (ferror(r->file)) return md_error(MD_RUNTIME, "cannot read %s: %s", r->name, strerror(errno));
  r->end = c == EOF && n == 0;
  r->text[n] = '\0';
  return MD_OK;
}

static void trim(reader *r)
{
  char *comment = strchr(r->text, '#');
  r->comment[0] = '\0';
  if (comment) {
    sscanf(comment + 1, "%31s", r->comment);
    *comment = '\0';
  }
  size_t n = strlen(r->text);
  while (n > 0 && isspace((unsigned char)r->text[n - 1])) --n;
  r->text[n] = '\0';
}

/* The next line that is not empty, split into fields at blanks; r->end at the end of the file. */
static md_status next_line(reader *r)
{
  do {
    MD_TRY(read_text(r));
    trim(r);
    r->nfield = 0;
    char *at = r->text;
    for (;;) {
      while (isspace((unsigned char)*at)) *at++ = '\0';
      if (*at == '\0') break;
      if (r->nfield == FIELDS_MAX) {
        ++r->nfield;
        break;
      }
      r->field[r->nfield++] = at;
      while (*at && !isspace((unsigned char)*at)) ++at;
    }
  } while (r->nfield == 0 && !r->end);
  return MD_OK;
}

static md_status whole(const reader *r, const char *field, const char *what, int64_t *value)
{
  char *end;
  errno = 0;
  const long long number = strtoll(field, &end, 10);
  if (end == field || *end) return WRONG(r, "the %s '%.40s' is not a whole number", what, field);
  if (errno) return WRONG(r, "the %s '%.40s' is beyond 64 bits", what, field);
  *value = number;
  return MD_OK;
}

static md_status real(const reader *r, const char *field, const char *what, double *value)
{
  char *end;
  *value = strtod(field, &end);
  if (end == field || *end) return WRONG(r, "the %s '%.40s' is not a number", what, field);
  if (!isfinite(*value)) return WRONG(r, "the %s '%.40s' is not a finite number", what, field);
  return MD_OK;
}

/* Header */

static bool fields_are(const reader *r, int at, const char *const *word, int n)
{
  if (r->nfield != at + n) return false;
  for (int k = 0; k < n; ++k)
    if (strcmp(r->field[at + k], word[k]) != 0) return false;
  return true;
}

/* A line of counts: N atoms, N atom types, or N of something this program does not have. */
static md_status read_count(reader *r, int64_t *count, bool *have, const char *what)
{
  if (*have) return WRONG(r, "the number of %s is given twice", what);
  *have = true;
  MD_TRY(whole(r, r->field[0], what, count));
  if (*count < 0) return WRONG(r, "the number of %s is negative", what);
  return MD_OK;
}

static md_status read_bounds(reader *r, int d)
{
  if (r->have_bounds[d]) return WRONG(r, "the bounds of %c are given twice", 'x' + d);
  r->have_bounds[d] = true;
  MD_TRY(real(r, r->field[0], "lower bound", &r->lo[d]));
  return real(r, r->field[1], "upper bound", &r->hi[d]);
}

static md_status read_tilt(reader *r)
{
  for (int k = 0; k < 3; ++k) {
    double tilt;
    MD_TRY(real(r, r->field[k], "tilt", &tilt));
    if (tilt != 0.0)
      return WRONG(r, "tilted boxes are not supported: xy xz yz must be 0, not %s", r->field[k]);
  }
  return MD_OK;
}

/* Things of other atom styles may be counted if there are none. */
static md_status refuse_count(reader *r)
{
  static const char *const others[] = {"bonds", "angles",    "dihedrals", "impropers", "bond",
                                       "angle", "dihedral",  "improper",  "extra",     "ellipsoids",
                                       "lines", "triangles", "bodies"};
  for (size_t k = 0; k < sizeof others / sizeof *others; ++k) {
    if (r->nfield < 2 || strcmp(r->field[1], others[k]) != 0) continue;
    int64_t count;
    MD_TRY(whole(r, r->field[0], others[k], &count));
    if (count == 0) return MD_OK;
    return WRONG(r, "'%s %s ...' needs another atom style; only atomic exists here", r->field[0],
                 r->field[1]);
  }
  return WRONG(
      r,
      "the header line that begins with '%.40s' is not understood; accepted are `N atoms`, `N atom types` "
      "and `lo hi xlo xhi` (y, z likewise)",
      r->field[0]);
}

static md_status read_header_line(reader *r)
{
  static const char *const atoms[] = {"atoms"}, *const types[] = {"atom", "types"},
                           *const tilt[] = {"xy", "xz", "yz"};
  static const char *const bounds[3][2] = {{"xlo", "xhi"}, {"ylo", "yhi"}, {"zlo", "zhi"}};
  if (fields_are(r, 1, atoms, 1)) return read_count(r, &r->natoms, &r->have_atoms, "atoms");
  if (fields_are(r, 1, types, 2)) return read_count(r, &r->ntypes, &r->have_types, "atom types");
  for (int d = 0; d < 3; ++d)
    if (fields_are(r, 2, bounds[d], 2)) return read_bounds(r, d);
  if (fields_are(r, 3, tilt, 3)) return read_tilt(r);
  return refuse_count(r);
}

static bool at_section(const reader *r) { return !r->end && isalpha((unsigned char)r->field[0][0]); }

static md_status read_header(reader *r)
{
  MD_TRY(read_text(r));
  if (r->end) return WRONG(r, "the file is empty");
  for (;;) {
    MD_TRY(next_line(r));
    if (r->end || at_section(r)) break;
    MD_TRY(read_header_line(r));
  }
  const char *missing = !r->have_atoms       ? "N atoms"
                        : !r->have_types     ? "N atom types"
                        : !r->have_bounds[0] ? "LO HI xlo xhi"
                        : !r->have_bounds[1] ? "LO HI ylo yhi"
                                             : NULL;
  if (missing && r->end) return WRONG(r, "the header ends without `%s`", missing);
  if (missing) return WRONG(r, "the header ends with '%.40s', without `%s`", r->field[0], missing);
  return MD_OK;
}

/* Against a damaged count: there must be room in the file for so many lines. */
static md_status check_size(reader *r)
{
  const off_t here = ftello(r->file);
  if (here < 0 || fseeko(r->file, 0, SEEK_END) != 0)
    return md_error(MD_RUNTIME, "cannot read %s: it is not a regular file (%s)", r->name, strerror(errno));
  const off_t size = ftello(r->file);
  if (size < 0 || fseeko(r->file, here, SEEK_SET) != 0)
    return md_error(MD_RUNTIME, "cannot read %s: %s", r->name, strerror(errno));
  if (r->natoms > (size + 1) / ATOM_BYTES)
    return WRONG(r, "the file is truncated: its header promises %lld atoms but it has only %lld bytes",
                 (long long)r->natoms, (long long)size);
  return MD_OK;
}

/* Sections */

static md_status begin_section(reader *r, const char *name, bool *done, char *title)
{
  if (*done) return WRONG(r, "section %s is given twice", name);
  *done = true;
  memcpy(title, r->comment, sizeof r->comment);
  return MD_OK;
}

/* Line k of n in a section, with a number of fields that is one of two. */
static md_status section_line(reader *r, const char *section, int64_t k, int64_t n, int few, int many,
                              const char *columns)
{
  MD_TRY(next_line(r));
  if (r->end || at_section(r))
    return WRONG(r, "section %s ends after %lld of %lld lines; the file is truncated or its header is wrong",
                 section, (long long)k, (long long)n);
  if (r->nfield != few && r->nfield != many)
    return WRONG(r, "a line of %s has the columns %s, not %s%d of them", section, columns,
                 r->nfield > FIELDS_MAX ? "more than " : "", r->nfield > FIELDS_MAX ? FIELDS_MAX : r->nfield);
  return MD_OK;
}

static md_status end_section(reader *r, const char *section, int64_t n)
{
  MD_TRY(next_line(r));
  if (r->end || at_section(r)) return MD_OK;
  return WRONG(r, "section %s has more lines than the %lld that the header promises", section, (long long)n);
}

static md_status read_type(const reader *r, const char *field, int64_t *type)
{
  MD_TRY(whole(r, field, "type", type));
  if (*type >= 1 && *type <= r->ntypes) return MD_OK;
  return WRONG(r, "type %lld is not within 1 and %lld", (long long)*type, (long long)r->ntypes);
}

static md_status read_masses(reader *r)
{
  bool seen[MD_TYPES_MAX + 1] = {false};
  for (int64_t k = 0; k < r->ntypes; ++k) {
    int64_t type;
    double mass;
    MD_TRY(section_line(r, "Masses", k, r->ntypes, 2, 2, "type mass"));
    MD_TRY(read_type(r, r->field[0], &type));
    MD_TRY(real(r, r->field[1], "mass", &mass));
    if (mass <= 0.0)
      return WRONG(r, "the mass of type %lld must be positive, not %s", (long long)type, r->field[1]);
    if (seen[type]) return WRONG(r, "the mass of type %lld is given twice", (long long)type);
    seen[type] = true;
    r->sim->model.mass[type] = mass;
  }
  return end_section(r, "Masses", r->ntypes);
}

static md_status place(const reader *r, int64_t id, int d, double *x)
{
  const md_box *box = &r->sim->model.box;
  const double lo = box->lo[d], hi = box->hi[d], length = box->length[d];
  const bool periodic = d < box->dim && box->periodic[d];
  if (*x >= lo && (*x < hi || (*x == hi && !periodic))) return MD_OK;
  if (!periodic)
    return WRONG(r, "particle %lld is outside the box: %c = %.17g is not within %.17g and %.17g",
                 (long long)id, 'x' + d, *x, lo, hi);
  const double boxes = floor((*x - lo) / length);
  if (!(fabs(boxes) <= images_max))
    return WRONG(r, "particle %lld is %g boxes away: %c = %.17g", (long long)id, boxes, 'x' + d, *x);
  *x -= boxes * length;
  if (*x < lo) *x += length;
  if (*x >= hi) *x = lo;
  return MD_OK;
}

static md_status read_atom(reader *r)
{
  int64_t id, type, image;
  double x[3] = {0.0};
  MD_TRY(whole(r, r->field[0], "particle id", &id));
  if (id < 1) return WRONG(r, "particle id %lld is not positive", (long long)id);
  MD_TRY(read_type(r, r->field[1], &type));
  for (int d = 0; d < 3; ++d) {
    MD_TRY(real(r, r->field[2 + d], "coordinate", &x[d]));
    MD_TRY(place(r, id, d, &x[d]));
  }
  for (int k = 5; k < r->nfield; ++k) {
    MD_TRY(whole(r, r->field[k], "image flag", &image));
    r->images_ignored = r->images_ignored || image != 0;
  }
  if (md_id_table_find(&r->ids, id)) return WRONG(r, "particle id %lld occurs twice", (long long)id);

  md_particles *p = &r->sim->particles;
  const md_box *box = &r->sim->model.box;
  bool own = true;
  for (int d = 0; d < p->dim; ++d)
    own = own && x[d] >= r->domain_lo[d] && (x[d] < r->domain_hi[d] || r->domain_hi[d] >= box->hi[d]);
  if (!own) return md_id_table_add(&r->ids, id, ELSEWHERE);
  if (p->n == p->capacity) {
    const int64_t twice = p->n < 512 ? 1024 : 2 * p->n;
    MD_TRY(md_particles_reserve(p, twice < r->natoms ? twice : r->natoms));
  }
  const int64_t i = p->n++;
  p->id[i] = id;
  p->type[i] = (uint16_t)type;
  for (int d = 0; d < p->dim; ++d) {
    p->x[d][i] = x[d];
    p->v[d][i] = 0.0;
  }
  return md_id_table_add(&r->ids, id, (int32_t)(i + 1));
}

static md_status read_atoms(reader *r, const char *style)
{
  if (style[0] && strcmp(style, "atomic") != 0)
    return WRONG(r, "the atoms are of atom style '%s'; only atomic exists here", style);
  MD_TRY(check_size(r));
  MD_TRY(md_id_table_init(&r->ids, r->natoms));
  if (r->sim->comm->size == 1) MD_TRY(md_particles_reserve(&r->sim->particles, r->natoms));
  for (int64_t k = 0; k < r->natoms; ++k) {
    MD_TRY(section_line(r, "Atoms", k, r->natoms, 5, 8, "id type x y z, and perhaps three image flags"));
    MD_TRY(read_atom(r));
  }
  return end_section(r, "Atoms", r->natoms);
}

static md_status read_velocity(reader *r)
{
  int64_t id;
  double v[3] = {0.0};
  MD_TRY(whole(r, r->field[0], "particle id", &id));
  for (int d = 0; d < 3; ++d) MD_TRY(real(r, r->field[1 + d], "velocity", &v[d]));
  md_particles *p = &r->sim->particles;
  r->vz_ignored = r->vz_ignored || (p->dim == 2 && v[2] != 0.0);
  int32_t *value = md_id_table_find(&r->ids, id);
  if (!value) return WRONG(r, "a velocity of particle %lld, which is not in section Atoms", (long long)id);
  if (*value < 0) return WRONG(r, "the velocity of particle %lld is given twice", (long long)id);
  if (*value != ELSEWHERE)
    for (int d = 0; d < p->dim; ++d) p->v[d][*value - 1] = v[d];
  *value = -*value;
  return MD_OK;
}

static md_status read_velocities(reader *r)
{
  if (!r->done_atoms) return WRONG(r, "section Velocities must come behind section Atoms");
  for (int64_t k = 0; k < r->natoms; ++k) {
    MD_TRY(section_line(r, "Velocities", k, r->natoms, 4, 4, "id vx vy vz"));
    MD_TRY(read_velocity(r));
  }
  return end_section(r, "Velocities", r->natoms);
}

static md_status read_section(reader *r)
{
  char title[sizeof r->comment];
  const char *name = r->field[0];
  if (r->nfield == 1 && strcmp(name, "Masses") == 0) {
    MD_TRY(begin_section(r, "Masses", &r->done_masses, title));
    return read_masses(r);
  }
  if (r->nfield == 1 && strcmp(name, "Atoms") == 0) {
    MD_TRY(begin_section(r, "Atoms", &r->done_atoms, title));
    return read_atoms(r, title);
  }
  if (r->nfield == 1 && strcmp(name, "Velocities") == 0) {
    MD_TRY(begin_section(r, "Velocities", &r->done_velocities, title));
    return read_velocities(r);
  }
  return WRONG(
      r,
      "section '%.40s%s%.40s' is not supported, only Masses, Atoms and Velocities; remove it (coefficients "
      "belong into the deck: pair_coeff)",
      name, r->nfield > 1 ? " " : "", r->nfield > 1 ? r->field[1] : "");
}

static md_status read_all(reader *r)
{
  MD_TRY(read_header(r));
  const bool flat = r->sim->model.box.dim == 2;
  if (!r->have_bounds[2] && !flat) return WRONG(r, "the header ends without `LO HI zlo zhi`");
  if (md_box_create(r->sim, r->lo, r->hi, r->ntypes) != MD_OK) return locate(r);
  r->sim->comm->domain(r->sim->comm, &r->sim->model.box, r->domain_lo, r->domain_hi);
  while (!r->end) MD_TRY(read_section(r));
  if (r->natoms > 0 && !r->done_atoms)
    return WRONG(r, "the file ends without a section Atoms for its %lld atoms", (long long)r->natoms);
  return MD_OK;
}

md_status md_data_read(md_sim *sim, FILE *file, const char *name)
{
  reader r = {.sim = sim, .file = file, .name = name, .lo = {0.0, 0.0, -0.5}, .hi = {0.0, 0.0, 0.5}};
  MD_TRY(md_array_new(&r.text, LINE_SIZE, 1, "a line of a data file"));
  const md_status status = read_all(&r);
  md_id_table_free(&r.ids);
  free(r.text);
  MD_TRY(sim->comm->agree(sim->comm, status));
  if (r.images_ignored)
    md_sim_explain(sim, "image flags", "the image flags of data files have no effect here");
  if (r.vz_ignored) md_sim_explain(sim, "vz", "velocities along z have no effect in two dimensions");
  return md_sim_count(sim);
}

md_status md_do_read_data(md_sim *sim, const md_words *words)
{
  const char *name = words->word[0];
  if (sim->has_box)
    return md_error(MD_USAGE, "read_data: there is a simulation box already; a deck has one box");
  FILE *file = fopen(name, "r");
  if (!file) return md_error(MD_RUNTIME, "cannot open %s: %s", name, strerror(errno));
  const md_status status = md_data_read(sim, file, name);
  fclose(file);
  MD_TRY(status);
  md_log_print(sim->log, "  %lld atoms\n", (long long)sim->model.natoms);
  return MD_OK;
}
