/* Dump style xyz: the plain XYZ format of LAMMPS, which most viewers read.
 *
 * Every frame has
 *   - a line with the number of particles,
 *   - the line `Atoms. Timestep: STEP`, with the time if `dump_modify time yes` asks for it,
 *   - a line for each particle: type and position.
 *
 * The type is a number, until `dump_modify element` gives each type a chemical symbol. Box and ids are not in the file:
 * style extxyz has both. Numbers have 17 digits as in the other styles, where LAMMPS writes %g.
 *
 * Reference: LAMMPS manual, dump xyz.
 */
#include "src/dump/dump.h"

#include <stdio.h>

static md_status parse(md_dump *dump, md_sim *sim, const md_words *words)
{
  if (words->n > 0)
    return md_error(MD_USAGE,
                    "dump xyz takes no columns, found '%.80s'; use dump custom or extxyz to choose them",
                    words->word[0]);
  for (int t = 1; t <= dump->ntypes; ++t) snprintf(dump->element[t], sizeof dump->element[t], "%d", t);
  return md_dump_set_columns(dump, sim, 4, (const char *const[]){"element", "x", "y", "z"});
}

static void header(const md_dump *dump, const md_frame *frame, bool first, md_text *text)
{
  (void)first;
  md_text_print(text, "%lld\nAtoms. Timestep: %lld", (long long)frame->count, (long long)frame->step);
  if (dump->show_time) {
    md_text_string(text, " Time: ");
    md_text_double(text, (double)frame->step * frame->model->dt, MD_DIGITS_MAX);
  }
  md_text_string(text, "\n");
}

const md_dump_style md_dump_xyz = {.name = "xyz", .parse = parse, .header = header};
