/* The header of a data file: counts and bounds, in any order; see data_reader.h. */
#include "src/data/data_reader.h"
#include <errno.h>
#include <string.h>

/* Lengths of the shortest lines of Atoms, "1 1 0 0 0" and its end, and of Bonds, "1 1 1 2". */
enum { ATOM_BYTES = 10, BOND_BYTES = 8 };

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
  MD_TRY(md_data_whole(r, r->field[0], what, count));
  if (*count < 0) return WRONG(r, "the number of %s is negative", what);
  return MD_OK;
}

static md_status read_bounds(reader *r, int d)
{
  if (r->header.have_bounds[d]) return WRONG(r, "the bounds of %c are given twice", 'x' + d);
  r->header.have_bounds[d] = true;
  MD_TRY(md_data_real(r, r->field[0], "lower bound", &r->header.lo[d]));
  return md_data_real(r, r->field[1], "upper bound", &r->header.hi[d]);
}

static md_status read_tilt(reader *r)
{
  if (r->header.have_tilt) return WRONG(r, "the tilt factors are given twice");
  r->header.have_tilt = true;
  for (int k = 0; k < 3; ++k) MD_TRY(md_data_real(r, r->field[k], "tilt factor", &r->header.tilt[k]));
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

/* Refuses the line, unless it counts zero objects of another atom style, or room for some. */
static md_status refuse_count(reader *r)
{
  static const char *const others[] = {"bonds", "angles",    "dihedrals", "impropers", "bond",
                                       "angle", "dihedral",  "improper",  "extra",     "ellipsoids",
                                       "lines", "triangles", "bodies"};
  for (size_t k = 0; k < sizeof others / sizeof *others; ++k) {
    if (r->nfield < 2 || strcmp(r->field[1], others[k]) != 0) continue;
    int64_t count;
    MD_TRY(md_data_whole(r, r->field[0], others[k], &count));
    /* `extra ... per atom` is room for LAMMPS, and not data. */
    if (count == 0 || strcmp(r->field[1], "extra") == 0) return MD_OK;
    return WRONG(r,
                 "'%s %s ...' needs another atom style; bonds need atom_style bond, and there are no others",
                 r->field[0], r->field[1]);
  }
  return WRONG(
      r,
      "the header line that begins with '%.40s' is not understood; accepted are `N atoms`, `N atom types`, "
      "`lo hi xlo xhi` (y, z likewise) and `xy xz yz`, each after three numbers",
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

md_status md_data_read_header(reader *r)
{
  MD_TRY(md_data_read_text(r));
  if (r->end) return WRONG(r, "the file is empty");
  for (;;) {
    MD_TRY(md_data_next_line(r));
    if (r->end || md_data_at_section(r)) break;
    MD_TRY(read_header_line(r));
  }
  const char *missing = !r->header.have_atoms       ? "N atoms"
                        : !r->header.have_types     ? "N atom types"
                        : !r->header.have_bounds[0] ? "LO HI xlo xhi"
                        : !r->header.have_bounds[1] ? "LO HI ylo yhi"
                                                    : NULL;
  if (missing && r->end) return WRONG(r, "the header ends without `%s`", missing);
  if (missing)
    return WRONG(r, "the header ends with '%.40s', without `%s`; the first line is a title, and is not read",
                 r->field[0], missing);
  return MD_OK;
}

/* Checks that the file has room for the promised number of lines, as protection against a damaged count. */
md_status md_data_check_size(reader *r)
{
  const off_t here = ftello(r->file);
  if (here < 0 || fseeko(r->file, 0, SEEK_END) != 0)
    return md_error(MD_RUNTIME, "cannot read %s: it is not a regular file (%s)", r->name, strerror(errno));
  const off_t size = ftello(r->file);
  if (size < 0 || fseeko(r->file, here, SEEK_SET) != 0) return md_data_cannot_read(r);
  r->size = size;
  if (r->header.natoms > (size + 1) / ATOM_BYTES || r->header.nbonds > (size + 1) / BOND_BYTES)
    return WRONG(
        r,
        "the file is truncated: its header says %lld atoms and %lld bonds, but the file has only %lld bytes",
        (long long)r->header.natoms, (long long)r->header.nbonds, (long long)size);
  return MD_OK;
}
