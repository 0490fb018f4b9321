/* The reader of data files (read_data.c): its state, and what its parts call of one another.
 *
 *   data_lines.c    lines of text, fields, and what each section's lines have in common
 *   data_header.c   counts and bounds
 *   data_rounds.c   sections whose lines are divided among the ranks
 *   read_data.c     each section, and their order
 *
 * Functions that return a status say what is wrong with the file, with the name of the file and the line (MD_USAGE), or
 * that it cannot be read (MD_RUNTIME).
 */
#ifndef MD_SRC_DATA_DATA_READER_H
#define MD_SRC_DATA_DATA_READER_H

#include "src/data/data_file.h"
#include "src/particles/id_table.h"

/* The longest line, with its end, and the most fields of a line. */
enum { LINE_SIZE = 65536, FIELDS_MAX = 16 };

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

/* The state of a reader. */
typedef struct reader {
  md_sim *sim;
  FILE *file;
  const char *name;
  int64_t size;    /* of the file */
  int64_t line;    /* line number of `text`, from 1 */
  char *text;      /* the present line, without comment and without blanks at its end */
  char *long_line; /* LINE_SIZE bytes, for lines read one by one */
  char comment[32];
  bool end;   /* there is no such line, because the file has ended */
  bool begun; /* box or particles have changed */
  char *field[FIELDS_MAX];
  int nfield; /* FIELDS_MAX + 1: more than FIELDS_MAX */
  data_header header;
  data_done done;
  bool vz_ignored, spin_ignored;
  double *image; /* [room][3] image flags of the particles from `before` on; NULL: all are 0 */
  int64_t room;
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
  double value[MD_DATA_VALUES], mass; /* of a particle: its place, and three image flags */
  int64_t type;                       /* of a particle or a bond */
  int64_t partner;                    /* of a bond, or the molecule of a particle */
} record;

/* A section whose lines are divided among the ranks. */
typedef struct section_kind {
  const char *name;
  int few, many; /* accepted numbers of fields */
  const char *columns;
  md_status (*parse)(reader *, record *); /* from r->field */
  md_status (*keep)(reader *, const record *);
  bool of_bonds; /* a line for each bond, which both its particles get; else for each particle */
} section_kind;

/* An error of the file, at the present line. */
#define WRONG(r, ...) (md_error(MD_USAGE, __VA_ARGS__), md_data_locate(r))

/* The smaller of two numbers. */
static inline int64_t md_data_smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Of WRONG: puts "name:line: " in front of the message, so that ranks agree on the message of the first line. Returns
 * MD_USAGE. */
md_status md_data_locate(const reader *r);

/* ---- data_lines.c ---- */

/* Errors: a line with a zero byte, a line that is too long, and a file that cannot be read. */
md_status md_data_zero_byte(const reader *r);
md_status md_data_too_long(const reader *r);
md_status md_data_cannot_read(const reader *r);

/* Reads the next line into r->text, as it is; r->end if there is none. */
md_status md_data_read_text(reader *r) MD_CHECKED;

/* Makes fields of r->text, which it changes. */
void md_data_split(reader *r);

/* Reads the next line that is not empty, without its comment, and makes fields of it; r->end if there is none. */
md_status md_data_next_line(reader *r) MD_CHECKED;

/* The whole number, or the finite number, that a field is. what: its name in messages. */
md_status md_data_whole(const reader *r, const char *field, const char *what, int64_t *value) MD_CHECKED;
md_status md_data_real(const reader *r, const char *field, const char *what, double *value) MD_CHECKED;

/* Is the present line the title of a section? */
bool md_data_at_section(const reader *r);

/* Checks that the present line is line k of n in section `name`, with `few` or `many` fields, whose names are
 * `columns`. */
md_status md_data_check_line(const reader *r, const char *name, int64_t k, int64_t n, int few, int many,
                             const char *columns) MD_CHECKED;

/* Reads on to the next section, or to the end of the file. n: the lines that the header promised. */
md_status md_data_end_section(reader *r, const char *section, int64_t n) MD_CHECKED;

/* ---- data_header.c ---- */

/* Reads the header, and the line after it. */
md_status md_data_read_header(reader *r) MD_CHECKED;

/* Checks that the file has room for the promised number of lines, as protection against a damaged count. Sets
 * r->size. */
md_status md_data_check_size(reader *r) MD_CHECKED;

/* ---- data_rounds.c ---- */

/* Reads the lines of a section. The same status on every rank. */
md_status md_data_read_lines(reader *r, const section_kind *s) MD_CHECKED;

#endif
