/* Dump style extxyz: the extended XYZ format, which ASE, MDAnalysis and OVITO read.
 *
 * Every frame has
 *   - a line with the number of particles,
 *   - a line of key=value pairs with the box (Lattice, Origin, pbc) and the columns (Properties),
 *   - a line for each particle: species, position, then velocity, force, type and mass if chosen, and id.
 *
 * A species must be a chemical symbol. `dump_modify element` chooses it for each type.
 *
 * Readers take lengths in Angstrom and energies in electronvolt. In units real, metal and si the values are converted
 * to these, times to femtoseconds, and masses to atomic ones; in units lj they stay as they are.
 */
#include "src/dump/dump.h"

#include <string.h>

/* The words that may follow FILE: each chooses columns, and their entry in Properties. */
static const struct {
  const char *name, *property;
  int ncolumn;
  const char *column[3];
} choices[] = {
    {"vel", ":velo:R:3", 3, {"vx", "vy", "vz"}},
    {"force", ":forces:R:3", 3, {"fx", "fy", "fz"}},
    {"type", ":type:I:1", 1, {"type"}},
    {"mass", ":masses:R:1", 1, {"mass"}},
    {"id", ":id:I:1", 1, {"id"}},
};

enum { CHOICES = sizeof choices / sizeof choices[0], ID = CHOICES - 1, COLUMNS_MAX = 4 + 9 };

/* Factors from the deck's units to those of the file. */
typedef struct factors {
  double length, time, force, mass;
} factors;

static factors factors_of(const md_units *u)
{
  const md_units *metal = md_units_find("metal");
  if (!(u->angstrom > 0.0)) return (factors){1.0, 1.0, 1.0, 1.0};
  const double length = 1.0 / u->angstrom, time = 1e6 / u->nanosecond, energy = 1.0 / u->electronvolt;
  const double picosecond = 1e-3 * time;
  const double mass =
      u->mvv2e == 1.0 ? energy * picosecond * picosecond / (length * length) / metal->mvv2e : 1.0;
  return (factors){length, time, energy / length, mass};
}

static double factor_of(const factors *f, md_dump_what what)
{
  switch (what) {
  case MD_DUMP_X: return f->length;
  case MD_DUMP_V: return f->length / f->time;
  case MD_DUMP_F: return f->force;
  case MD_DUMP_MASS: return f->mass;
  default: return 0.0;
  }
}

static md_status parse(md_dump *dump, md_sim *sim, const md_words *words)
{
  bool chosen[CHOICES] = {[ID] = true};
  if (words->n == 0) chosen[0] = true;
  for (int w = 0; w < words->n; ++w) {
    int c = 0;
    while (c < CHOICES && strcmp(choices[c].name, words->word[w]) != 0) ++c;
    if (c == CHOICES)
      return md_error(MD_USAGE,
                      "dump extxyz: unknown column '%.80s'; accepted are vel, force, type, mass, id",
                      words->word[w]);
    chosen[c] = true;
  }
  const char *name[COLUMNS_MAX] = {"element", "x", "y", "z"};
  int n = 4;
  for (int c = 0; c < CHOICES; ++c)
    for (int k = 0; chosen[c] && k < choices[c].ncolumn; ++k) name[n++] = choices[c].column[k];
  MD_TRY(md_dump_set_columns(dump, sim, n, name));
  const factors f = factors_of(sim->model.units);
  for (int c = 0; c < dump->ncolumn; ++c) dump->column[c].scale = factor_of(&f, dump->column[c].what);
  return MD_OK;
}

static bool has_column(const md_dump *dump, const char *name)
{
  for (int c = 0; c < dump->ncolumn; ++c)
    if (strcmp(dump->column[c].name, name) == 0) return true;
  return false;
}

static void put_vector(md_text *text, const double *value, double scale, const char *between)
{
  for (int d = 0; d < 3; ++d) {
    if (d > 0) md_text_string(text, between);
    md_text_double(text, value[d] * scale, MD_DIGITS_MAX);
  }
}

static void header(const md_dump *dump, const md_frame *frame, bool first, md_text *text)
{
  (void)first;
  const md_box *box = &frame->model->box;
  const factors f = factors_of(frame->model->units);
  md_text_int(text, frame->count);
  md_text_string(text, "\nLattice=\"");
  const double *l = box->length, *t = box->tilt;
  const double edge[3][3] = {{l[0], 0.0, 0.0}, {t[MD_XY], l[1], 0.0}, {t[MD_XZ], t[MD_YZ], l[2]}};
  for (int d = 0; d < 3; ++d) {
    if (d > 0) md_text_string(text, " ");
    put_vector(text, edge[d], f.length, " ");
  }
  md_text_string(text, "\" Origin=\"");
  put_vector(text, box->lo, f.length, " ");
  md_text_string(text, "\" Properties=species:S:1:pos:R:3");
  for (int c = 0; c < CHOICES; ++c)
    if (has_column(dump, choices[c].column[0])) md_text_string(text, choices[c].property);
  md_text_print(text, " pbc=\"%c %c %c\" Time=", box->periodic[0] ? 'T' : 'F', box->periodic[1] ? 'T' : 'F',
                box->periodic[2] ? 'T' : 'F');
  md_text_double(text, (double)frame->step * frame->model->dt * f.time, MD_DIGITS_MAX);
  md_text_print(text, " Step=%lld\n", (long long)frame->step);
}

const md_dump_style md_dump_extxyz = {.name = "extxyz", .parse = parse, .header = header};
