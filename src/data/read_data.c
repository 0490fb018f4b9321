/* Reads a data file in LAMMPS's format as a stream; see data_file.h.
 *
 * First comes the header (counts and bounds, in any order). Then come the sections Masses, Pair Coeffs, PairIJ
 * Coeffs, Bond Coeffs, Atoms, Velocities and Bonds, each with exactly the promised number of lines. Coefficients are
 * those of the style that the deck has chosen, in the form that pair_coeff and bond_coeff take. Everything is checked
 * where it is read, so that each error has its line. The promised numbers of particles and bonds are compared with the
 * size of the file before memory is allocated, so a damaged header cannot ask for all memory.
 *
 * Every rank reads header, masses and coefficients, because they are short. The lines of Atoms and Velocities are
 * divided among the ranks, in rounds:
 * 1. Each rank reads a part of the section's text, a few megabytes, after the parts of lower ranks. The lines that
 *    begin in the part belong to the rank.
 * 2. The ranks count their lines. Then each rank knows the numbers of its lines in the section and in the file.
 * 3. Each rank parses its lines, and sends each of them to the rank that a hash of the particle's id names.
 * 4. That rank keeps the particle. It has a table from ids to its particles (id_table.h), which finds ids that
 *    occur twice and the owners of velocities, in any order of lines.
 * Migration brings the particles to their domains when a run begins.
 *
 * Advantage: no text is read twice, no rank holds more than its share, and of all errors of a round the one on the
 * first line is reported, the same as with one rank. One rank uses the same code.
 *
 * With atom_style sphere a line of Atoms has diameter and density, from which the particle's mass is made as in LAMMPS.
 * Nothing else depends on the diameter.
 *
 * Text that this program or LAMMPS wrote with 17 digits gives the same bits: positions inside the box are not
 * changed. Positions outside a periodic axis are wrapped.
 *
 * Units: as in the file, lj. Cost: about 1 us a particle. Reference: the LAMMPS manual, command read_data.
 */
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"
#include "src/box/faces.h"
#include "src/data/data_file.h"

#include "common/base/memory.h"
#include "common/base/open_file.h"
#include "src/create/create.h"
#include "src/particles/id_table.h"
#include "src/properties/property.h"
#include "src/sums/masses.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
  LINE_SIZE = 65536,
  FIELDS_MAX = 16,
  ATOM_BYTES = 10,   /* length of the shortest line of Atoms, "1 1 0 0 0" and its end */
  BOND_BYTES = 8,    /* the same of Bonds, "1 1 1 2" */
  PART_MAX = 1 << 22 /* bytes of a section's text, for one rank in one round */
};
/* A position this many boxes away is an error in the file. No particle travels so far. */
static const double images_max = 0x1p30;

/* What the header says. */
typedef struct data_header {
  int64_t natoms, ntypes, nbonds, nbond_types, extra_bonds;
  double lo[3], hi[3], tilt[3];
  bool have_tilt;
  bool have_atoms, have_types, have_bonds, have_bond_types, have_extra, have_bounds[3];
} data_header;

/* Which sections have been read. */
typedef struct data_done {
  bool masses, coefficients[2], bond_coefficients, atoms, velocities, bonds;
} data_done;

typedef struct reader {
  md_sim *sim;
  FILE *file;
  const char *name;
  int64_t size;    /* of the file */
  int64_t line;    /* line number of `text`, from 1 */
  char *text;      /* the present line, without comment and without blanks at its end */
  char *long_line; /* LINE_SIZE bytes, for lines read one by one */
  char comment[32];
  bool end; /* there is no such line, because the file has ended */
  char *field[FIELDS_MAX];
  int nfield; /* FIELDS_MAX + 1: more than FIELDS_MAX */
  data_header header;
  data_done done;
  bool images_ignored, vz_ignored, spin_ignored;
  md_data_options options;
  int64_t before;   /* particles that this rank had before */
  md_data_fix *fix; /* whose section is read, ... */
  double *value;    /* ... its values of this rank's particles, [n][columns], ... */
  uint8_t *given;   /* ... and which particles have them */
  md_id_table ids;  /* of this rank's particles: local index + 1, negative after the velocity was read */
} reader;

/* The content of a line of Atoms, Velocities or Bonds. */
typedef struct record {
  int64_t id, line;
  double value[MD_DATA_VALUES], mass;
  int64_t type;    /* of a particle or a bond */
  int64_t partner; /* of a bond, or the molecule of a particle */
} record;

typedef struct section_kind {
  const char *name;
  int few, many; /* accepted numbers of fields */
  const char *columns;
  md_status (*parse)(reader *, record *); /* from r->field */
  md_status (*keep)(reader *, const record *);
  bool of_bonds; /* a line for each bond, which both its particles get; else for each particle */
} section_kind;

#define WRONG(r, ...) (md_error(MD_USAGE, __VA_ARGS__), locate(r))

/* Puts "name:line: " in front of the message, so that ranks agree on the message of the first line. */
static md_status locate(const reader *r)
{
  md_error_prefix("%s:%lld: ", r->name, (long long)r->line);
  md_error_about(r->line, r->line);
  return MD_USAGE;
}

/* ---- lines and fields ---- */

static md_status zero_byte(const reader *r) { return WRONG(r, "a zero byte: this is not a text file"); }

static md_status too_long(const reader *r)
{
  return WRONG(r, "the line is longer than %d characters", LINE_SIZE - 1);
}

static md_status cannot_read(const reader *r)
{
  return md_error(MD_RUNTIME, "cannot read %s: %s", r->name, strerror(errno));
}

static md_status read_text(reader *r)
{
  size_t n = 0;
  int c;
  ++r->line;
  r->text = r->long_line;
  while ((c = getc_unlocked(r->file)) != EOF && c != '\n') {
    if (c == '\0') return zero_byte(r);
    if (n == LINE_SIZE - 1) return too_long(r);
    r->text[n++] = (char)c;
  }
  if (ferror(r->file)) return cannot_read(r);
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

/* Cuts the text into fields at blanks. */
static void split(reader *r)
{
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
}

/* Reads the next line that is not empty and splits it into fields; r->end: the file has ended. */
static md_status next_line(reader *r)
{
  do {
    MD_TRY(read_text(r));
    split(r);
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

/* ---- header ---- */

static bool fields_are(const reader *r, int at, const char *const *word, int n)
{
  if (r->nfield != at + n) return false;
  for (int k = 0; k < n; ++k)
    if (strcmp(r->field[at + k], word[k]) != 0) return false;
  return true;
}

/* Reads a line with a count: N atoms or N atom types. */
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
  if (r->header.have_bounds[d]) return WRONG(r, "the bounds of %c are given twice", 'x' + d);
  r->header.have_bounds[d] = true;
  MD_TRY(real(r, r->field[0], "lower bound", &r->header.lo[d]));
  return real(r, r->field[1], "upper bound", &r->header.hi[d]);
}

static md_status read_tilt(reader *r)
{
  if (r->header.have_tilt) return WRONG(r, "the tilt factors are given twice");
  r->header.have_tilt = true;
  for (int k = 0; k < 3; ++k) MD_TRY(real(r, r->field[k], "tilt factor", &r->header.tilt[k]));
  return MD_OK;
}

static md_status read_bond_count(reader *r)
{
  static const char *const type[] = {"bond", "types"}, *const extra[] = {"extra", "bond", "per", "atom"};
  if (fields_are(r, 1, type, 2))
    return read_count(r, &r->header.nbond_types, &r->header.have_bond_types, "bond types");
  if (fields_are(r, 1, extra, 4))
    return read_count(r, &r->header.extra_bonds, &r->header.have_extra, "extra bonds");
  return read_count(r, &r->header.nbonds, &r->header.have_bonds, "bonds");
}

/* Is the line one of those that count bonds, for particles that may have some? */
static bool counts_bonds(const reader *r)
{
  static const char *const bonds[] = {"bonds"}, *const type[] = {"bond", "types"},
                           *const extra[] = {"extra", "bond", "per", "atom"};
  return r->sim->model.bonded &&
         (fields_are(r, 1, bonds, 1) || fields_are(r, 1, type, 2) || fields_are(r, 1, extra, 4));
}

/* Refuses the line, unless it counts zero objects of another atom style. */
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
    return WRONG(r,
                 "'%s %s ...' needs another atom style; bonds need atom_style bond, and there are no others",
                 r->field[0], r->field[1]);
  }
  return WRONG(
      r,
      "the header line that begins with '%.40s' is not understood; accepted are `N atoms`, `N atom types`, "
      "`lo hi xlo xhi` (y, z likewise) and `xy xz yz`, each behind three numbers",
      r->field[0]);
}

static md_status read_header_line(reader *r)
{
  static const char *const atoms[] = {"atoms"}, *const types[] = {"atom", "types"},
                           *const tilt[] = {"xy", "xz", "yz"};
  static const char *const bounds[3][2] = {{"xlo", "xhi"}, {"ylo", "yhi"}, {"zlo", "zhi"}};
  if (fields_are(r, 1, atoms, 1)) return read_count(r, &r->header.natoms, &r->header.have_atoms, "atoms");
  if (fields_are(r, 1, types, 2))
    return read_count(r, &r->header.ntypes, &r->header.have_types, "atom types");
  for (int d = 0; d < 3; ++d)
    if (fields_are(r, 2, bounds[d], 2)) return read_bounds(r, d);
  if (fields_are(r, 3, tilt, 3)) return read_tilt(r);
  if (counts_bonds(r)) return read_bond_count(r);
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
  const char *missing = !r->header.have_atoms       ? "N atoms"
                        : !r->header.have_types     ? "N atom types"
                        : !r->header.have_bounds[0] ? "LO HI xlo xhi"
                        : !r->header.have_bounds[1] ? "LO HI ylo yhi"
                                                    : NULL;
  if (missing && r->end) return WRONG(r, "the header ends without `%s`", missing);
  if (missing) return WRONG(r, "the header ends with '%.40s', without `%s`", r->field[0], missing);
  return MD_OK;
}

/* Checks that the file has room for the promised number of lines, as protection against a damaged count. */
static md_status check_size(reader *r)
{
  const off_t here = ftello(r->file);
  if (here < 0 || fseeko(r->file, 0, SEEK_END) != 0)
    return md_error(MD_RUNTIME, "cannot read %s: it is not a regular file (%s)", r->name, strerror(errno));
  const off_t size = ftello(r->file);
  if (size < 0 || fseeko(r->file, here, SEEK_SET) != 0) return cannot_read(r);
  r->size = size;
  if (r->header.natoms > (size + 1) / ATOM_BYTES || r->header.nbonds > (size + 1) / BOND_BYTES)
    return WRONG(
        r, "the file is truncated: its header promises %lld atoms and %lld bonds but it has only %lld bytes",
        (long long)r->header.natoms, (long long)r->header.nbonds, (long long)size);
  return MD_OK;
}

/* ---- sections ---- */

static md_status begin_section(reader *r, const char *name, bool *done, char *title)
{
  if (*done) return WRONG(r, "section %s is given twice", name);
  *done = true;
  memcpy(title, r->comment, sizeof r->comment);
  return MD_OK;
}

/* Checks that r->field is line k of n in a section, with `few` or `many` fields. */
static md_status check_line(const reader *r, const char *name, int64_t k, int64_t n, int few, int many,
                            const char *columns)
{
  if (r->end || at_section(r))
    return WRONG(r, "section %s ends after %lld of %lld lines; the file is truncated or its header is wrong",
                 name, (long long)k, (long long)n);
  if (r->nfield != few && r->nfield != many)
    return WRONG(r, "a line of %s has the columns %s, not %s%d of them", name, columns,
                 r->nfield > FIELDS_MAX ? "more than " : "", r->nfield > FIELDS_MAX ? FIELDS_MAX : r->nfield);
  return MD_OK;
}

static md_status end_section(reader *r, const char *section, int64_t n)
{
  MD_TRY(next_line(r));
  if (r->end || at_section(r)) return MD_OK;
  return WRONG(r, "section %s has more lines than the %lld that the header promises", section, (long long)n);
}

/* Reads a type of the file, and makes it one of the box. */
static md_status read_type(const reader *r, const char *field, int64_t *type)
{
  MD_TRY(whole(r, field, "type", type));
  if (*type < 1 || *type > r->header.ntypes)
    return WRONG(r, "type %lld is not within 1 and %lld", (long long)*type, (long long)r->header.ntypes);
  *type += r->options.type_offset;
  return MD_OK;
}

static md_status read_masses(reader *r)
{
  if (r->sim->model.massed)
    return WRONG(r, "section Masses: with atom_style sphere each particle has a mass of its own");
  bool seen[MD_TYPES_MAX + 1] = {false};
  for (int64_t k = 0; k < r->header.ntypes; ++k) {
    int64_t type;
    double mass;
    MD_TRY(next_line(r));
    MD_TRY(check_line(r, "Masses", k, r->header.ntypes, 2, 2, "type mass"));
    MD_TRY(read_type(r, r->field[0], &type));
    MD_TRY(real(r, r->field[1], "mass", &mass));
    if (mass <= 0.0)
      return WRONG(r, "the mass of type %lld must be positive, not %s", (long long)type, r->field[1]);
    if (seen[type]) return WRONG(r, "the mass of type %lld is given twice", (long long)type);
    seen[type] = true;
    r->sim->model.mass[type] = mass * r->sim->model.units->mvv2e;
  }
  return end_section(r, "Masses", r->header.ntypes);
}

/* Passes a line of coefficients to pair_coeff. The first `types` fields are types; a single type stands for both. */
static md_status set_coefficients(reader *r, int types)
{
  char *word[FIELDS_MAX + 1], type_word[2][24];
  for (int k = 0; k < 2; ++k) {
    int64_t type;
    MD_TRY(read_type(r, r->field[k < types ? k : 0], &type));
    snprintf(type_word[k], sizeof type_word[k], "%lld", (long long)type);
    word[k] = type_word[k];
  }
  if (r->options.no_coefficients) return MD_OK;
  for (int k = types; k < r->nfield; ++k) word[k + 2 - types] = r->field[k];
  const md_words words = {r->nfield + 2 - types, word};
  return md_do_pair_coeff(r->sim, &words) == MD_OK ? MD_OK : locate(r);
}

/* Reads Pair Coeffs (types = 1, a line for each type) or PairIJ Coeffs (types = 2, a line for each pair). */
static md_status read_coefficients(reader *r, const char *name, int types, const char *style)
{
  const md_pair_style *chosen = md_pair_style_of(r->sim->model.pair.kind);
  const int64_t n = types == 1 ? r->header.ntypes : r->header.ntypes * (r->header.ntypes + 1) / 2;
  const bool used = !r->options.no_coefficients;
  if (!chosen && used) return WRONG(r, "section %s needs a pair_style in the deck before read_data", name);
  if (used && style[0] && strcmp(style, chosen->name) != 0)
    md_log_print(r->sim->log, "WARNING: %s:%lld: %s of pair style %s are read for %s\n", r->name,
                 (long long)r->line, name, style, chosen->name);
  for (int64_t k = 0; k < n; ++k) {
    MD_TRY(next_line(r));
    /* The pair style checks the number of coefficients. */
    const int fields = r->nfield > types && r->nfield <= FIELDS_MAX ? r->nfield : types + 1;
    MD_TRY(check_line(r, name, k, n, fields, fields,
                      types == 1 ? "type and coefficients" : "type, type and coefficients"));
    MD_TRY(set_coefficients(r, types));
  }
  return end_section(r, name, n);
}

/* ---- sections whose lines are divided among ranks ---- */

/* The part of a section's text that one rank reads in one round. */
typedef struct part {
  char *bytes;
  int64_t offset;       /* place of bytes[0] in the file */
  int64_t n;            /* number of bytes that were read */
  int64_t begin, end;   /* range of bytes where its lines begin; the first begins at `begin` */
  int64_t lines, texts; /* number of lines, and of lines that are not empty */
  bool zeros;           /* the bytes contain a zero */
} part;

/* The place of all ranks in a section. */
typedef struct place {
  int64_t first;     /* place of the section's text in the file */
  int64_t offset;    /* place of this round's first part */
  int64_t part_size; /* bytes */
  int64_t line;      /* number of lines of the file before this round */
  int64_t k;         /* number of lines of the section before this round, without empty ones */
  int64_t behind[2]; /* end of the section's last line, and that line's number; 0 on ranks without it */
} place;

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* The number of lines of a section. */
static int64_t lines_of(const reader *r, const section_kind *s)
{
  return s->of_bonds ? r->header.nbonds : r->header.natoms;
}

/* Reads the bytes of a part. It also reads the byte before it, which tells whether a line begins at the part, and
 * the bytes up to the end of the last line. */
static md_status load_part(reader *r, const place *at, part *p)
{
  const int64_t own = at->offset + r->sim->comm->rank * at->part_size;
  const int64_t before = own > at->first;
  p->offset = own - before;
  p->n = 0;
  p->end = before + at->part_size;
  if (p->offset < r->size) {
    if (fseeko(r->file, (off_t)p->offset, SEEK_SET) != 0) return cannot_read(r);
    p->n = (int64_t)fread(p->bytes, 1, (size_t)(p->end + LINE_SIZE), r->file);
    if (ferror(r->file)) return cannot_read(r);
  }
  const char *newline = before && p->n > 0 ? memchr(p->bytes, '\n', (size_t)p->n) : NULL;
  p->begin = !before ? 0 : newline ? newline - p->bytes + 1 : p->n;
  p->zeros = p->n > 0 && memchr(p->bytes, '\0', (size_t)p->n);
  return MD_OK;
}

/* The end of the line that begins at `at`: the place of its newline, or the end of the bytes. */
static int64_t line_end(const part *p, int64_t at)
{
  const char *newline = memchr(p->bytes + at, '\n', (size_t)(p->n - at));
  return newline ? newline - p->bytes : p->n;
}

/* Whether a line is not empty. A damaged line counts as not empty, so that it is parsed and reported. */
static bool is_text(const part *p, int64_t at, int64_t end)
{
  if (end - at >= LINE_SIZE || (p->zeros && memchr(p->bytes + at, '\0', (size_t)(end - at)))) return true;
  while (at < end && isspace((unsigned char)p->bytes[at])) ++at;
  return at < end && p->bytes[at] != '#';
}

static void count_lines(part *p)
{
  p->lines = p->texts = 0;
  for (int64_t at = p->begin; at < p->end && at < p->n;) {
    const int64_t end = line_end(p, at);
    ++p->lines;
    p->texts += is_text(p, at, end);
    at = end + 1;
  }
}

/* Takes the line from `at` to `end` with the checks of read_text, and splits it. */
static md_status take_line(reader *r, part *p, int64_t at, int64_t end)
{
  if (p->zeros && memchr(p->bytes + at, '\0', (size_t)smaller(end - at, LINE_SIZE))) return zero_byte(r);
  if (end - at >= LINE_SIZE) return too_long(r);
  p->bytes[end] = '\0';
  r->text = p->bytes + at;
  r->end = false;
  split(r);
  return MD_OK;
}

/* Parses the lines of a part into records. Its first line is line `line` of the file, and line k of the section. */
static md_status parse_part(reader *r, const section_kind *s, part *p, int64_t line, place *where, int64_t k,
                            record *records, int64_t *n)
{
  const int64_t lines = lines_of(r, s);
  *n = 0;
  for (int64_t at = p->begin; k < lines && at < p->end && at < p->n; ++line) {
    const int64_t end = line_end(p, at), next = end + 1;
    if (is_text(p, at, end)) {
      r->line = line;
      MD_TRY(take_line(r, p, at, end));
      MD_TRY(check_line(r, s->name, k, lines, s->few, s->many, s->columns));
      records[*n].line = line;
      MD_TRY(s->parse(r, &records[*n]));
      ++*n;
      if (s->of_bonds) {
        records[*n] = records[*n - 1];
        records[*n].id = records[*n - 1].partner;
        records[*n].partner = records[*n - 1].id;
        ++*n;
      }
      if (++k == lines) {
        where->behind[0] = p->offset + smaller(next, p->n);
        where->behind[1] = line;
      }
    }
    at = next;
  }
  return MD_OK;
}

static int32_t owner_of(const md_comm *comm, int64_t id)
{
  /* This hash differs from that of the table of ids; otherwise all entries of a rank's table would be in a few
   * places. */
  const uint64_t hash = (uint64_t)id * UINT64_C(0xd6e8feb86659fd93);
  return (int32_t)((hash >> 32) % (uint64_t)comm->size);
}

static int compare_lines(const void *a, const void *b)
{
  const record *left = a, *right = b;
  return (left->line > right->line) - (left->line < right->line);
}

/* Keeps records in the order of their lines, so that the second of two equal ids is reported. */
static md_status keep_all(reader *r, const section_kind *s, record *records, int64_t n)
{
  bool sorted = true;
  for (int64_t k = 1; k < n; ++k) sorted = sorted && records[k - 1].line < records[k].line;
  if (!sorted) qsort(records, (size_t)n, sizeof *records, compare_lines);
  for (int64_t k = 0; k < n; ++k) {
    r->line = records[k].line;
    MD_TRY(s->keep(r, &records[k]));
  }
  return MD_OK;
}

/* Sends records to the ranks of their ids, which keep them. The same status on every rank. */
static md_status hand_out(reader *r, const section_kind *s, const record *records, int64_t n)
{
  md_comm *comm = r->sim->comm;
  int32_t *to = NULL;
  void *received = NULL;
  int64_t count;
  MD_TRY(md_comm_agree(comm, md_array_new(&to, n, sizeof *to, "lines of a data file")));
  for (int64_t k = 0; k < n; ++k) to[k] = owner_of(comm, records[k].id);
  md_status status =
      comm->exchange->sparse_exchange(comm, n, to, records, sizeof *records, &received, &count);
  free(to);
  /* No agreement after a failed exchange, because other ranks may still be in the exchange. */
  if (status == MD_OK) status = md_comm_agree(comm, keep_all(r, s, received, count));
  free(received);
  return status;
}

/* Parses a part and sends its records to their ranks. The first line that cannot be parsed is an error. An earlier
 * line may have an error that only its keeper finds, and then that error is reported. */
static md_status parse_and_keep(reader *r, const section_kind *s, part *p, int64_t line, place *where,
                                int64_t k)
{
  md_comm *comm = r->sim->comm;
  record *records = NULL;
  int64_t n, kept_at, other;
  MD_TRY(md_comm_agree(comm, md_array_new(&records, (s->of_bonds ? 2 : 1) * p->texts, sizeof *records,
                                          "lines of a data file")));
  const md_status parsed = md_comm_agree(comm, parse_part(r, s, p, line, where, k, records, &n));
  md_error_record first;
  md_error_save(&first, parsed);
  md_status status = hand_out(r, s, records, n);
  free(records);
  if (parsed != MD_OK) {
    md_error_particles(&kept_at, &other);
    if (status == MD_OK || kept_at > first.about[0]) status = md_error_restore(&first);
  }
  return status;
}

static md_status read_round(reader *r, const section_kind *s, part *p, place *where)
{
  md_comm *comm = r->sim->comm;
  MD_TRY(md_comm_agree(comm, load_part(r, where, p)));
  count_lines(p);
  int64_t lines_before = p->lines, texts_before = p->texts, total[2] = {p->lines, p->texts};
  MD_TRY(comm->reduce->exclusive_sum(comm, &lines_before));
  MD_TRY(comm->reduce->exclusive_sum(comm, &texts_before));
  MD_TRY(comm->reduce->sum(comm, total, 2));
  MD_TRY(parse_and_keep(r, s, p, where->line + lines_before + 1, where, where->k + texts_before));
  where->line += total[0];
  where->k += total[1];
  where->offset += comm->size * where->part_size;
  return MD_OK;
}

/* Continues behind the last line of the section. */
static md_status resume(reader *r, place *where)
{
  md_comm *comm = r->sim->comm;
  MD_TRY(comm->reduce->sum(comm, where->behind, 2));
  r->line = where->behind[1];
  return md_comm_agree(comm,
                       fseeko(r->file, (off_t)where->behind[0], SEEK_SET) == 0 ? MD_OK : cannot_read(r));
}

static md_status read_rounds(reader *r, const section_kind *s, part *p, place *where)
{
  const int64_t lines = lines_of(r, s);
  while (where->k < lines && where->offset < r->size) MD_TRY(read_round(r, s, p, where));
  if (where->k >= lines) return resume(r, where);
  r->line = where->line + 1;
  r->end = true;
  return check_line(r, s->name, where->k, lines, s->few, s->many, s->columns);
}

/* Reads the lines of a section. The same status on every rank. */
static md_status read_lines(reader *r, const section_kind *s)
{
  md_comm *comm = r->sim->comm;
  if (lines_of(r, s) == 0) return MD_OK;
  double size = (double)r->size;
  MD_TRY(comm->reduce->max(comm, &size, 1));
  r->size = (int64_t)size;
  place where = {.first = (int64_t)ftello(r->file), .line = r->line};
  where.offset = where.first;
  /* At least two rounds, so that all ranks have lines. */
  where.part_size = smaller(PART_MAX, (r->size - where.first) / (2 * (int64_t)comm->size) + 1);
  part p = {0};
  MD_TRY(md_comm_agree(comm,
                       md_array_new(&p.bytes, where.part_size + LINE_SIZE + 2, 1, "a part of a data file")));
  const md_status status = read_rounds(r, s, &p, &where);
  free(p.bytes);
  return status;
}

/* ---- Atoms ---- */

static md_status put_into_box(const reader *r, int64_t id, int d, double *x)
{
  const md_box *box = &r->sim->model.box;
  const double lo = box->lo[d], hi = box->hi[d], length = box->length[d];
  const bool periodic = d < box->dim && box->periodic[d];
  if (*x >= lo && (*x < hi || (*x == hi && !periodic))) return MD_OK;
  if (md_box_face_follows(box, d, *x > lo)) return MD_OK;
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

/* In a tilted box only the bounds of the brick are known to be passed by a particle. */
static md_status put_into_tilted(const reader *r, int64_t id, double x[3])
{
  const md_box *box = &r->sim->model.box;
  double fraction[3];
  md_box_fractions(box, x, fraction);
  for (int d = 0; d < 3 && d < box->dim; ++d) {
    if (!box->periodic[d] && !(x[d] >= box->lo[d] && x[d] <= box->hi[d]))
      return WRONG(r, "particle %lld is outside the box: %c = %.17g is not within %.17g and %.17g",
                   (long long)id, 'x' + d, x[d], box->lo[d], box->hi[d]);
    if (!(fabs(fraction[d]) <= images_max))
      return WRONG(r, "particle %lld is %g boxes away: %c = %.17g", (long long)id, fraction[d], 'x' + d,
                   x[d]);
  }
  md_box_show(box, x);
  return MD_OK;
}

/* Adds the offset of the keyword `add` to an id of the file. */
static md_status shift_id(const reader *r, record *a)
{
  if (a->id > INT64_MAX - r->options.id_offset)
    return WRONG(r, "particle id %lld and the offset %lld are beyond 2^63 - 1", (long long)a->id,
                 (long long)r->options.id_offset);
  a->id += r->options.id_offset;
  return MD_OK;
}

/* Parses the position in the fields from `at` on, and perhaps image flags behind it. */
static md_status parse_place(reader *r, int at, record *a)
{
  int64_t image;
  for (int d = 0; d < 3; ++d) {
    MD_TRY(real(r, r->field[at + d], "coordinate", &a->value[d]));
    a->value[d] += r->options.shift[d];
    if (!r->sim->model.box.triclinic) MD_TRY(put_into_box(r, a->id, d, &a->value[d]));
  }
  if (r->sim->model.box.triclinic) MD_TRY(put_into_tilted(r, a->id, a->value));
  for (int k = at + 3; k < r->nfield; ++k) {
    MD_TRY(whole(r, r->field[k], "image flag", &image));
    r->images_ignored = r->images_ignored || image != 0;
  }
  return MD_OK;
}

static md_status parse_id(reader *r, record *a)
{
  MD_TRY(whole(r, r->field[0], "particle id", &a->id));
  if (a->id < 1) return WRONG(r, "particle id %lld is not positive", (long long)a->id);
  MD_TRY(shift_id(r, a));
  a->mass = 0.0;
  a->partner = 0;
  return MD_OK;
}

static md_status parse_atom(reader *r, record *a)
{
  MD_TRY(parse_id(r, a));
  return read_type(r, r->field[1], &a->type);
}

static md_status parse_bead(reader *r, record *a)
{
  MD_TRY(parse_id(r, a));
  MD_TRY(whole(r, r->field[1], "number of a molecule", &a->partner));
  if (a->partner < 0 || a->partner > UINT32_MAX)
    return WRONG(r, "the number of a molecule is within 0 and %lld, not %s", (long long)UINT32_MAX,
                 r->field[1]);
  MD_TRY(read_type(r, r->field[2], &a->type));
  return parse_place(r, 3, a);
}

static md_status parse_point(reader *r, record *a)
{
  MD_TRY(parse_atom(r, a));
  return parse_place(r, 2, a);
}

static md_status parse_sphere(reader *r, record *a)
{
  double diameter, density;
  MD_TRY(parse_atom(r, a));
  MD_TRY(real(r, r->field[2], "diameter", &diameter));
  MD_TRY(real(r, r->field[3], "density", &density));
  if (diameter < 0.0) return WRONG(r, "the diameter of particle %lld is negative", (long long)a->id);
  a->mass = md_mass_of_sphere(diameter, density);
  if (!(a->mass > 0.0) || !isfinite(a->mass))
    return WRONG(r, "diameter %s and density %s give particle %lld the mass %g, which is no positive number",
                 r->field[2], r->field[3], (long long)a->id, a->mass);
  return parse_place(r, 4, a);
}

static md_status keep_atom(reader *r, const record *a)
{
  if (md_id_table_find(&r->ids, a->id)) return WRONG(r, "particle id %lld occurs twice", (long long)a->id);
  md_particles *p = &r->sim->particles;
  if (p->n == p->capacity) {
    const int64_t twice = p->n < 512 ? 1024 : 2 * p->n;
    MD_TRY(md_particles_reserve(p, smaller(twice, r->before + r->header.natoms)));
  }
  const int64_t i = p->n++;
  p->id[i] = a->id;
  p->type[i] = (uint16_t)a->type;
  if (p->massed) p->mass[i] = a->mass;
  md_particles_set_alone(p, i);
  if (p->bonded) p->molecule[i] = (uint32_t)a->partner;
  if (p->grouped) p->group[i] = MD_GROUP_ALL | r->options.group;
  for (int d = 0; d < p->dim; ++d) {
    p->x[d][i] = a->value[d];
    p->v[d][i] = 0.0;
  }
  return md_id_table_add(&r->ids, a->id, (int32_t)(i + 1));
}

static const section_kind points = {
    "Atoms", 5, 8, "id type x y z, and perhaps three image flags", parse_point, keep_atom, false};
static const section_kind spheres = {
    "Atoms",      7,         10,   "id type diameter density x y z, and perhaps three image flags",
    parse_sphere, keep_atom, false};
static const section_kind beads = {
    "Atoms", 6, 9, "id molecule type x y z, and perhaps three image flags", parse_bead, keep_atom, false};

/* Makes room for this rank's share. With one rank, ids are usually 1 to N, so the table can be an array. With
 * several ranks, the ids of a rank have gaps. */
static md_status make_room(reader *r)
{
  const int ranks = r->sim->comm->size;
  MD_TRY(check_size(r));
  MD_TRY(md_memory_for_particles(r->sim->comm, &r->sim->particles, r->header.natoms / ranks));
  MD_TRY(md_id_table_init(&r->ids, ranks == 1 ? r->header.natoms : 0));
  return md_particles_reserve(&r->sim->particles, r->before + r->header.natoms / ranks);
}

static md_status read_atoms(reader *r, const char *style)
{
  md_comm *comm = r->sim->comm;
  const bool massed = r->sim->model.massed, bonded = r->sim->model.bonded;
  const char *expected = massed ? "sphere" : bonded ? "bond" : "atomic";
  if (style[0] && strcmp(style, expected) != 0)
    return WRONG(r, "the atoms are of atom style '%s', and the deck has atom_style %s", style, expected);
  MD_TRY(md_comm_agree(comm, make_room(r)));
  MD_TRY(read_lines(r, massed ? &spheres : bonded ? &beads : &points));
  return md_comm_agree(comm, end_section(r, "Atoms", r->header.natoms));
}

/* ---- Velocities ---- */

static md_status parse_velocity(reader *r, record *a)
{
  MD_TRY(whole(r, r->field[0], "particle id", &a->id));
  MD_TRY(shift_id(r, a));
  for (int d = 0; d < 3; ++d) MD_TRY(real(r, r->field[1 + d], "velocity", &a->value[d]));
  r->vz_ignored = r->vz_ignored || (r->sim->particles.dim == 2 && a->value[2] != 0.0);
  for (int k = 4; k < r->nfield; ++k) {
    double spin;
    MD_TRY(real(r, r->field[k], "angular velocity", &spin));
    r->spin_ignored = r->spin_ignored || spin != 0.0;
  }
  a->type = 0;
  a->mass = 0.0;
  return MD_OK;
}

static md_status keep_velocity(reader *r, const record *a)
{
  md_particles *p = &r->sim->particles;
  int32_t *value = md_id_table_find(&r->ids, a->id);
  if (!value) return WRONG(r, "a velocity of particle %lld, which is not in section Atoms", (long long)a->id);
  if (*value < 0) return WRONG(r, "the velocity of particle %lld is given twice", (long long)a->id);
  for (int d = 0; d < p->dim; ++d) p->v[d][*value - 1] = a->value[d];
  *value = -*value;
  return MD_OK;
}

static const section_kind velocities = {"Velocities",  4,    4, "id vx vy vz", parse_velocity,
                                        keep_velocity, false};
static const section_kind velocities_of_spheres = {
    "Velocities", 7, 7, "id vx vy vz wx wy wz", parse_velocity, keep_velocity, false};

static md_status read_velocities(reader *r)
{
  md_comm *comm = r->sim->comm;
  if (!r->done.atoms) return WRONG(r, "section Velocities must come behind section Atoms");
  MD_TRY(read_lines(r, r->sim->model.massed ? &velocities_of_spheres : &velocities));
  return md_comm_agree(comm, end_section(r, "Velocities", r->header.natoms));
}

/* ---- Bonds ---- */

static md_status parse_bond(reader *r, record *a)
{
  int64_t number, id[2];
  *a = (record){.line = a->line};
  MD_TRY(whole(r, r->field[0], "number of a bond", &number));
  MD_TRY(whole(r, r->field[1], "type of a bond", &a->type));
  if (a->type < 1 || a->type > r->header.nbond_types)
    return WRONG(r, "bond type %lld is not within 1 and %lld", (long long)a->type,
                 (long long)r->header.nbond_types);
  a->type += r->options.bond_type_offset;
  for (int k = 0; k < 2; ++k) {
    MD_TRY(whole(r, r->field[2 + k], "particle id", &a->id));
    if (a->id < 1) return WRONG(r, "particle id %lld is not positive", (long long)a->id);
    MD_TRY(shift_id(r, a));
    id[k] = a->id;
  }
  if (id[0] == id[1]) return WRONG(r, "a bond of particle %lld to itself", (long long)id[0]);
  a->id = id[0];
  a->partner = id[1];
  return MD_OK;
}

static md_status keep_bond(reader *r, const record *a)
{
  md_particles *p = &r->sim->particles;
  const int32_t *at = md_id_table_find(&r->ids, a->id);
  if (!at) return WRONG(r, "a bond of particle %lld, which is not in section Atoms", (long long)a->id);
  const int64_t i = (*at < 0 ? -(int64_t)*at : *at) - 1;
  const int64_t larger_id = a->id > a->partner ? a->id : a->partner;
  int k = 0;
  for (; k < p->bonds && p->bond[k][i] != 0; ++k)
    if (p->bond[k][i] == a->partner)
      return WRONG(r, "the bond of particles %lld and %lld is given twice",
                   (long long)smaller(a->id, a->partner), (long long)larger_id);
  if (k == MD_BONDS_MAX)
    return WRONG(r, "particle %lld has more than %d bonds", (long long)a->id, MD_BONDS_MAX);
  if (k == p->bonds) MD_TRY(md_particles_make_bonds(p, k + 1));
  p->bond[k][i] = a->partner;
  p->bond_type[k][i] = (uint16_t)a->type;
  return MD_OK;
}

static const section_kind bonds = {"Bonds", 4, 4, "number type id id", parse_bond, keep_bond, true};

/* Gives the particles of all ranks the same number of slots. */
static md_status agree_on_slots(reader *r)
{
  md_particles *p = &r->sim->particles;
  double slots = md_min((double)p->bonds + (double)r->header.extra_bonds, MD_BONDS_MAX);
  MD_TRY(r->sim->comm->reduce->max(r->sim->comm, &slots, 1));
  r->sim->model.bonds.slots = (int)slots;
  return md_comm_agree(r->sim->comm, md_particles_make_bonds(p, (int)slots));
}

static md_status read_bonds(reader *r)
{
  md_comm *comm = r->sim->comm;
  if (!r->done.atoms) return WRONG(r, "section Bonds must come behind section Atoms");
  if (r->header.nbonds == 0) return WRONG(r, "section Bonds: the header promises no bonds, by `N bonds`");
  MD_TRY(read_lines(r, &bonds));
  MD_TRY(md_comm_agree(comm, end_section(r, "Bonds", r->header.nbonds)));
  r->header.extra_bonds = 0;
  return agree_on_slots(r);
}

/* Passes the lines of Bond Coeffs to bond_coeff. */
static md_status read_bond_coefficients(reader *r)
{
  const md_bond_style *style = md_bond_style_of(r->sim->model.bonds.kind);
  if (!style && !r->options.no_coefficients)
    return WRONG(r, "section Bond Coeffs needs a bond_style in the deck before read_data");
  for (int64_t k = 0; k < r->header.nbond_types; ++k) {
    MD_TRY(next_line(r));
    const int fields = style ? style->nparameter + 1 : r->nfield;
    MD_TRY(check_line(r, "Bond Coeffs", k, r->header.nbond_types, fields, fields, "type and coefficients"));
    int64_t type;
    char word[24];
    MD_TRY(whole(r, r->field[0], "type of a bond", &type));
    type += r->options.bond_type_offset;
    snprintf(word, sizeof word, "%lld", (long long)type);
    r->field[0] = word;
    const md_words words = {r->nfield, r->field};
    if (!r->options.no_coefficients && md_do_bond_coeff(r->sim, &words) != MD_OK) return locate(r);
  }
  return end_section(r, "Bond Coeffs", r->header.nbond_types);
}

/* ---- values of fixes ---- */

static md_status parse_values(reader *r, record *a)
{
  *a = (record){.line = a->line};
  MD_TRY(whole(r, r->field[0], "particle id", &a->id));
  MD_TRY(shift_id(r, a));
  for (int k = 0; k < r->fix->values->columns; ++k) {
    MD_TRY(real(r, r->field[1 + k], "value of a fix", &a->value[k]));
    if (md_property_is_whole(r->fix->values, k) && a->value[k] != floor(a->value[k]))
      return WRONG(r, "'%.40s' is not a whole number", r->field[1 + k]);
  }
  return MD_OK;
}

static md_status keep_values(reader *r, const record *a)
{
  const int32_t *at = md_id_table_find(&r->ids, a->id);
  const int columns = r->fix->values->columns;
  if (!at) return WRONG(r, "values of particle %lld, which is not in section Atoms", (long long)a->id);
  const int64_t i = (*at < 0 ? -(int64_t)*at : *at) - 1;
  if (r->given[i]) return WRONG(r, "the values of particle %lld are given twice", (long long)a->id);
  r->given[i] = 1;
  for (int k = 0; k < columns; ++k) r->value[i * columns + k] = a->value[k];
  return MD_OK;
}

static md_status read_values(reader *r, md_data_fix *fix)
{
  md_comm *comm = r->sim->comm;
  const int columns = fix->values->columns;
  const int64_t n = r->sim->particles.n;
  const section_kind section = {
      fix->section, columns + 1, columns + 1, "id and a number for each property of the fix",
      parse_values, keep_values, false};
  if (!r->done.atoms) return WRONG(r, "section %s must come behind section Atoms", fix->section);
  r->fix = fix;
  md_status status = md_array_new(&r->value, n * columns + 1, sizeof *r->value, "values of fixes");
  if (status == MD_OK) status = md_array_new_zero(&r->given, n + 1, 1, "values of fixes");
  status = md_comm_agree(comm, status);
  if (status == MD_OK) status = read_lines(r, &section);
  if (status == MD_OK) status = md_comm_agree(comm, end_section(r, fix->section, r->header.natoms));
  if (status == MD_OK) status = md_id_values_set(fix->values, r->given, r->value);
  free(r->value);
  free(r->given);
  r->value = NULL;
  r->given = NULL;
  return status;
}

/* The fix whose section has the title of the present line; NULL: none has. */
static md_data_fix *fix_of_section(reader *r)
{
  for (int k = 0; k < r->options.nfix; ++k)
    if (r->nfield == 1 && strcmp(r->field[0], r->options.fix[k].section) == 0) return &r->options.fix[k];
  return NULL;
}

/* ---- the file ---- */

static md_status read_section(reader *r)
{
  char title[sizeof r->comment];
  const char *name = r->field[0];
  if (r->nfield == 1 && strcmp(name, "Masses") == 0) {
    MD_TRY(begin_section(r, "Masses", &r->done.masses, title));
    return md_comm_agree(r->sim->comm, read_masses(r));
  }
  const bool pair = strcmp(name, "Pair") == 0;
  if (r->nfield == 2 && (pair || strcmp(name, "PairIJ") == 0) && strcmp(r->field[1], "Coeffs") == 0) {
    const char *section = pair ? "Pair Coeffs" : "PairIJ Coeffs";
    MD_TRY(begin_section(r, section, &r->done.coefficients[!pair], title));
    return md_comm_agree(r->sim->comm, read_coefficients(r, section, pair ? 1 : 2, title));
  }
  if (r->nfield == 1 && strcmp(name, "Atoms") == 0) {
    MD_TRY(begin_section(r, "Atoms", &r->done.atoms, title));
    return read_atoms(r, title);
  }
  if (r->nfield == 1 && strcmp(name, "Velocities") == 0) {
    MD_TRY(begin_section(r, "Velocities", &r->done.velocities, title));
    return read_velocities(r);
  }
  if (r->sim->model.bonded && r->nfield == 2 && strcmp(name, "Bond") == 0 &&
      strcmp(r->field[1], "Coeffs") == 0) {
    MD_TRY(begin_section(r, "Bond Coeffs", &r->done.bond_coefficients, title));
    return md_comm_agree(r->sim->comm, read_bond_coefficients(r));
  }
  if (r->sim->model.bonded && r->nfield == 1 && strcmp(name, "Bonds") == 0) {
    MD_TRY(begin_section(r, "Bonds", &r->done.bonds, title));
    return read_bonds(r);
  }
  md_data_fix *fix = fix_of_section(r);
  if (fix) {
    MD_TRY(begin_section(r, fix->section, &fix->done, title));
    return read_values(r, fix);
  }
  return WRONG(r,
               "section '%.40s%s%.40s' is not supported, only Masses, Pair Coeffs, PairIJ Coeffs, Atoms and "
               "Velocities, and with atom_style bond Bond Coeffs and Bonds",
               name, r->nfield > 1 ? " " : "", r->nfield > 1 ? r->field[1] : "");
}

/* Makes the box larger, so that it holds that of the file too. */
static md_status extend_box(const reader *r, const double lo[3], const double hi[3])
{
  md_box *box = &r->sim->model.box;
  for (int d = 0; d < 3; ++d) {
    box->lo[d] = md_min(box->lo[d], lo[d]);
    box->hi[d] = md_max(box->hi[d], hi[d]);
    box->length[d] = box->hi[d] - box->lo[d];
    MD_TRY(md_box_check(box->lo[d], box->hi[d], d));
  }
  if (md_box_follows(box)) md_faces_begin(box);
  return MD_OK;
}

static md_status make_box(reader *r)
{
  const md_data_options *o = &r->options;
  double lo[3], hi[3];
  for (int d = 0; d < 3; ++d) {
    lo[d] = r->header.lo[d] + o->shift[d];
    hi[d] = r->header.hi[d] + o->shift[d];
    if (!(lo[d] < hi[d])) return md_box_check(lo[d], hi[d], d);
  }
  if (!o->add)
    return md_box_create(r->sim, lo, hi, r->header.have_tilt ? r->header.tilt : NULL,
                         r->header.ntypes + o->type_offset + o->extra_types);
  if (r->header.ntypes + o->type_offset > r->sim->model.ntypes)
    return md_error(MD_USAGE, "the file's %lld types, with the offset %lld, are more than the %d of the box",
                    (long long)r->header.ntypes, (long long)o->type_offset, r->sim->model.ntypes);
  const md_box *box = &r->sim->model.box;
  for (int k = 0; k < 3; ++k)
    if (r->header.tilt[k] != box->tilt[k] || r->header.have_tilt != box->triclinic)
      return md_error(MD_USAGE, "read_data add: the file and the box must have the same tilt, or none");
  return extend_box(r, lo, hi);
}

static md_status read_beginning(reader *r)
{
  MD_TRY(read_header(r));
  const bool flat = r->sim->model.box.dim == 2;
  if (!r->header.have_bounds[2] && !flat) return WRONG(r, "the header ends without `LO HI zlo zhi`");
  if (r->header.nbond_types > MD_BOND_TYPES_MAX || r->header.extra_bonds > MD_BONDS_MAX)
    return WRONG(r, "at most %d bond types and %d extra bonds are accepted", MD_BOND_TYPES_MAX, MD_BONDS_MAX);
  if (make_box(r) != MD_OK) return locate(r);
  if (!r->options.add) r->sim->model.bonds.ntypes = (int)r->header.nbond_types;
  if (r->header.nbond_types > 0 &&
      r->header.nbond_types + r->options.bond_type_offset > r->sim->model.bonds.ntypes)
    return WRONG(r, "the file's %lld bond types, with their offset, are more than the %d of the box",
                 (long long)r->header.nbond_types, r->sim->model.bonds.ntypes);
  return r->options.group ? md_particles_make_groups(&r->sim->particles) : MD_OK;
}

static md_status read_all(reader *r)
{
  md_comm *comm = r->sim->comm;
  MD_TRY(md_comm_agree(comm, read_beginning(r)));
  while (!r->end) MD_TRY(read_section(r));
  if (r->header.natoms > 0 && !r->done.atoms)
    return WRONG(r, "the file ends without a section Atoms for its %lld atoms", (long long)r->header.natoms);
  if (r->header.nbonds > 0 && !r->done.bonds)
    return WRONG(r, "the file ends without a section Bonds for its %lld bonds", (long long)r->header.nbonds);
  if (r->header.extra_bonds > 0) MD_TRY(agree_on_slots(r));
  return MD_OK;
}

md_status md_data_read(md_sim *sim, FILE *file, const char *name, const md_data_options *options)
{
  md_comm *comm = sim->comm;
  reader r = {
      .sim = sim, .file = file, .name = name, .header = {.lo = {0.0, 0.0, -0.5}, .hi = {0.0, 0.0, 0.5}}};
  if (options) r.options = *options;
  if (r.options.add) r.before = sim->particles.n;
  MD_TRY(md_comm_agree(comm, md_array_new(&r.long_line, LINE_SIZE, 1, "a line of a data file")));
  const md_status status = read_all(&r);
  md_id_table_free(&r.ids);
  free(r.long_line);
  MD_TRY(status);
  int64_t ignored[3] = {r.images_ignored, r.vz_ignored, r.spin_ignored};
  MD_TRY(comm->reduce->sum(comm, ignored, 3));
  if (ignored[0]) md_sim_explain(sim, "image flags", "the image flags of data files have no effect here");
  if (ignored[1]) md_sim_explain(sim, "vz", "velocities along z have no effect in two dimensions");
  if (ignored[2]) md_sim_explain(sim, "angular velocities", "particles are points here and do not turn");
  return md_sim_count(sim);
}
