/* The command `write_data`: writes the present box, masses, positions and velocities as a data file.
 *
 * The file has LAMMPS's format (atom_style atomic) and is sorted by id. Every number has 17 significant digits, so
 * that read_data gives the same bits. All ranks write into the one file (src/files/rows.h). The data is written to a
 * temporary file, flushed, and renamed (src/files/new_file.h), so the name always stands for a complete file. A device
 * or a pipe is written in place, by one rank.
 *
 * With atom_style sphere a line of Atoms has the diameter 0 and the mass as density, which LAMMPS reads as a point of
 * this mass. So the mass keeps its bits. Angular velocities are 0.
 *
 * With atom_style bond a line of Atoms has the molecule, and the section Bonds has each bond once.
 *
 * Coefficients of pair styles and bonds are not in the file; they stay in the deck.
 *
 * Cost: about 0.2 us a particle on 4 cores. Reference: the LAMMPS manual, command write_data.
 */
#include "common/ranks/reductions.h"
#include "src/data/data_file.h"
#include "src/files/new_file.h"
#include "src/files/rows.h"
#include "src/files/step_name.h"
#include "src/follow/images.h"

#include <stdlib.h>
#include <string.h>

static void add_vector(md_text *text, double *const a[3], int dim, int64_t i)
{
  for (int d = 0; d < 3; ++d) {
    md_text_add(text, " ", 1);
    md_text_double(text, d < dim ? a[d][i] : 0.0, MD_DIGITS_MAX);
  }
}

static int64_t particle_at(const md_rows *rows, int64_t k) { return rows->order ? rows->order[k] : k; }

static void atom_lines(const void *context, const md_rows *rows, int64_t first, int64_t count, md_text *text)
{
  const md_particles *p = rows->particles;
  (void)context;
  for (int64_t k = first; k < first + count; ++k) {
    const int64_t i = particle_at(rows, k);
    md_text_int(text, p->id[i]);
    md_text_add(text, " ", 1);
    if (p->bonded) {
      md_text_int(text, p->molecule[i]);
      md_text_add(text, " ", 1);
    }
    md_text_int(text, p->type[i]);
    if (p->massed) {
      md_text_string(text, " 0 ");
      md_text_double(text, p->mass[i], MD_DIGITS_MAX);
    }
    add_vector(text, p->x, p->dim, i);
    for (int d = 0; d < 3; ++d) {
      md_text_add(text, " ", 1);
      md_text_int(text, rows->nvalue > 0 ? (int64_t)rows->value[d][i] : 0);
    }
    md_text_add(text, "\n", 1);
  }
}

static void velocity_lines(const void *context, const md_rows *rows, int64_t first, int64_t count,
                           md_text *text)
{
  const md_particles *p = rows->particles;
  (void)context;
  for (int64_t k = first; k < first + count; ++k) {
    const int64_t i = particle_at(rows, k);
    md_text_int(text, p->id[i]);
    add_vector(text, p->v, p->dim, i);
    md_text_string(text, p->massed ? " 0 0 0\n" : "\n");
  }
}

/* Each bond once, with the particle of the smaller id. */
static bool is_first(const md_particles *p, int k, int64_t i) { return p->bond[k][i] > p->id[i]; }

/* A line of Bonds begins with a number that nothing depends on, and that threads and ranks could not know without
 * counting first: it is 1 in each line. */
static void bond_lines(const void *context, const md_rows *rows, int64_t first, int64_t count, md_text *text)
{
  const md_particles *p = rows->particles;
  (void)context;
  for (int64_t row = first; row < first + count; ++row) {
    const int64_t i = particle_at(rows, row);
    for (int k = 0; k < p->bonds; ++k) {
      if (!is_first(p, k, i)) continue;
      const int64_t number[] = {1, p->bond_type[k][i], p->id[i], p->bond[k][i]};
      for (int c = 0; c < 4; ++c) {
        if (c > 0) md_text_add(text, " ", 1);
        md_text_int(text, number[c]);
      }
      md_text_add(text, "\n", 1);
    }
  }
}

/* The number of bonds of all ranks. Collective. */
static md_status count_bonds(md_sim *sim, int64_t *count)
{
  const md_particles *p = &sim->particles;
  *count = 0;
  for (int64_t i = 0; i < p->n; ++i)
    for (int k = 0; k < p->bonds; ++k) *count += is_first(p, k, i);
  return sim->comm->reduce->sum(sim->comm, count, 1);
}

/* Writes a section: its title, and one line for each particle in the order of ids. */
static md_status write_section(md_sim *sim, md_output *output, const char *title, const md_rows *rows,
                               md_row_format lines)
{
  md_text text = {0};
  md_text_string(&text, title);
  md_status status = md_output_write_once(output, &text);
  md_text_free(&text);
  if (status == MD_OK) status = md_rows_write(sim->comm, rows, sim->options.threads, lines, NULL, output);
  return status;
}

static void add_header(md_sim *sim, int64_t bonds, md_text *text)
{
  const md_model *model = &sim->model;
  md_text_print(text, "LAMMPS data file written by Myriad, timestep = %lld\n\n", (long long)model->step);
  md_text_print(text, "%lld atoms\n%d atom types\n", (long long)model->natoms, model->ntypes);
  if (model->bonded)
    md_text_print(text, "%lld bonds\n%d bond types\n", (long long)bonds, model->bonds.ntypes);
  md_text_string(text, "\n");
  for (int d = 0; d < 3; ++d)
    md_text_print(text, "%.17g %.17g %clo %chi\n", model->box.lo[d], model->box.hi[d], 'x' + d, 'x' + d);
  if (model->box.triclinic)
    md_text_print(text, "%.17g %.17g %.17g xy xz yz\n", model->box.tilt[MD_XY], model->box.tilt[MD_XZ],
                  model->box.tilt[MD_YZ]);
  if (model->massed) return;
  for (int t = 1; t <= model->ntypes; ++t)
    if (!(model->mass[t] > 0.0)) {
      md_sim_explain(sim, "write_data", "masses are left out, because not every type has one yet");
      return;
    }
  md_text_string(text, "\nMasses\n\n");
  for (int t = 1; t <= model->ntypes; ++t)
    md_text_print(text, "%d %.17g\n", t, md_units_mass(model->units, model->mass[t]));
}

static md_status write_all(md_sim *sim, md_output *output, const md_rows *rows)
{
  md_text text = {0};
  int64_t bonds;
  MD_TRY(count_bonds(sim, &bonds));
  add_header(sim, bonds, &text);
  const md_status status = md_output_write_once(output, &text);
  md_text_free(&text);
  if (status != MD_OK || sim->model.natoms == 0) return status;
  const char *title = sim->model.massed   ? "\nAtoms # sphere\n\n"
                      : sim->model.bonded ? "\nAtoms # bond\n\n"
                                          : "\nAtoms # atomic\n\n";
  MD_TRY(write_section(sim, output, title, rows, atom_lines));
  MD_TRY(write_section(sim, output, "\nVelocities\n\n", rows, velocity_lines));
  return bonds > 0 ? write_section(sim, output, "\nBonds\n\n", rows, bond_lines) : MD_OK;
}

static md_status write_to(md_sim *sim, const char *path)
{
  md_output *output;
  int32_t *order = NULL;
  double *flag[3] = {NULL, NULL, NULL};
  MD_TRY(md_output_open(sim->comm, &output, path, false));
  md_status status = md_comm_agree(sim->comm, md_particles_order_by_id(&sim->particles, &order));
  if (status == MD_OK && md_images_are_kept(sim)) status = md_images_flags(sim, flag);
  const md_rows rows = {&sim->particles, sim->particles.n, order, NULL, flag[0] ? 3 : 0, flag};
  if (status == MD_OK) status = write_all(sim, output, &rows);
  free(order);
  for (int d = 0; d < 3; ++d) free(flag[d]);
  return md_output_end(&output, status);
}

md_status md_data_write(md_sim *sim, const char *name)
{
  md_new_file file;
  MD_TRY(md_new_file_begin_together(sim->comm, &file, name));
  md_status status = write_to(sim, file.path);
  if (sim->comm->rank == 0) status = md_new_file_end(&file, status);
  md_new_file_forget(&file);
  return md_comm_agree(sim->comm, status);
}

/* Reads nocoeff, nofix and pair ii|ij, which say what LAMMPS writes of coefficients and fixes. */
static md_status read_keywords(md_sim *sim, const md_words *words)
{
  for (int k = 1; k < words->n; ++k) {
    const char *word = words->word[k], *value = k + 1 < words->n ? words->word[k + 1] : "";
    if (strcmp(word, "nocoeff") == 0 || strcmp(word, "nofix") == 0) continue;
    if (strcmp(word, "pair") != 0 || (strcmp(value, "ii") != 0 && strcmp(value, "ij") != 0))
      return md_error(MD_USAGE,
                      "write_data: unknown keyword '%s'; accepted are nocoeff, nofix and pair ii|ij", word);
    md_sim_explain(sim, "write_data pair", "coefficients are not written; give pair_coeff after read_data");
    ++k;
  }
  return MD_OK;
}

md_status md_do_write_data(md_sim *sim, const md_words *words)
{
  MD_TRY(md_sim_need_box(sim, "write_data"));
  MD_TRY(read_keywords(sim, words));
  const size_t length = strlen(words->word[0]);
  if (length >= 3 && strcmp(words->word[0] + length - 3, ".gz") == 0)
    return md_error(MD_USAGE, "write_data: '%s': data files are not compressed; choose a name without .gz",
                    words->word[0]);
  if (sim->planning.on) {
    md_sim_explain(sim, "write_data", "nothing is written here");
    return MD_OK;
  }
  char *name;
  MD_TRY(md_comm_agree(sim->comm, md_step_name(words->word[0], sim->model.step, 0, &name)));
  md_status status = md_sim_use_file(sim, MD_FILE_WRITE_DATA, NULL, name);
  if (status == MD_OK) status = md_data_write(sim, name);
  free(name);
  return status;
}
