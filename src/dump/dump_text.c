/* Dump styles custom and atom: LAMMPS's text format.
 *
 * Every frame has the parts ITEM: TIMESTEP, NUMBER OF ATOMS, BOX BOUNDS with two letters for each axis, such as pp or
 * ff (after xy xz yz for a tilted box), ATOMS with the names of the columns, and a line for each particle. dump_modify
 * adds ITEM: UNITS (once in a file) and ITEM: TIME. The bounds of the box are printed as LAMMPS prints them, with
 * %-1.16e, which identifies every double.
 */
#include "src/box/boundary.h"
#include "src/dump/dump.h"

/* The bounds; those of the block around a tilted box, each line with a tilt factor. */
static void add_bounds(const md_box *box, md_text *text)
{
  double low[3], high[3];
  md_box_bounds(box, low, high);
  for (int d = 0; d < 3; ++d) {
    md_text_print(text, "\n%-1.16e %-1.16e", low[d], high[d]);
    if (box->triclinic) md_text_print(text, " %-1.16e", box->tilt[d]);
  }
}

static void header(const md_dump *dump, const md_frame *frame, bool first, md_text *text)
{
  const md_box *box = &frame->model->box;
  if (dump->show_units && first) md_text_print(text, "ITEM: UNITS\n%s\n", frame->model->units->name);
  if (dump->show_time) {
    md_text_string(text, "ITEM: TIME\n");
    md_text_double(text, (double)frame->step * frame->model->dt, MD_DIGITS_MAX);
    md_text_string(text, "\n");
  }
  md_text_print(text, "ITEM: TIMESTEP\n%lld\nITEM: NUMBER OF ATOMS\n%lld\nITEM: BOX BOUNDS",
                (long long)frame->step, (long long)frame->count);
  if (box->triclinic) md_text_string(text, " xy xz yz");
  for (int d = 0; d < 3; ++d) {
    char letters[3];
    md_boundary_letters(box, d, letters);
    md_text_print(text, " %s", letters);
  }
  add_bounds(box, text);
  md_text_string(text, "\nITEM: ATOMS");
  for (int c = 0; c < dump->ncolumn; ++c) {
    md_text_string(text, " ");
    md_text_string(text, dump->column[c].name);
  }
  md_text_string(text, "\n");
}

static md_status parse_custom(md_dump *dump, md_sim *sim, const md_words *words)
{
  if (words->n < 1)
    return md_error(MD_USAGE, "dump custom needs columns after the file name, for instance id type x y z");
  return md_dump_set_columns(dump, sim, words->n, (const char *const *)words->word);
}

static md_status parse_atom(md_dump *dump, md_sim *sim, const md_words *words)
{
  if (words->n > 0)
    return md_error(MD_USAGE, "dump atom takes no columns, found '%.80s'; use dump custom to choose them",
                    words->word[0]);
  return md_dump_set_columns(dump, sim, 5, (const char *const[]){"id", "type", "xs", "ys", "zs"});
}

const md_dump_style md_dump_custom = {.name = "custom", .parse = parse_custom, .header = header};

const md_dump_style md_dump_atom = {.name = "atom", .parse = parse_atom, .header = header};
