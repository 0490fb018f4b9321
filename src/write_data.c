/* The command `write_data`: the present box, masses, positions and velocities as a data file.
 *
 * LAMMPS's format (atom_style atomic), sorted by id, every number with 17 significant digits so that read_data
 * gives the same bits back. Blocks of lines are formatted by all threads and written in order. The file appears
 * under its name only when it is complete: it is written to NAME.tmp, flushed, and renamed; a device or a pipe is
 * written as it is.
 *
 * Coefficients of pair styles are not part of the file; they stay in the deck. Cost: about 0.2 us a particle on
 * 4 cores. Reference: the LAMMPS manual, command write_data.
 */
#include "src/data_file.h"
#include "src/output_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 8192, BLOCKS = 32 };

typedef void (*line_writer)(const md_particles *p, int64_t i, md_text *text);

static void add_vector(md_text *text, double *const a[3], int dim, int64_t i)
{
  for (int d = 0; d < 3; ++d) {
    md_text_add(text, " ", 1);
    md_text_double(text, d < dim ? a[d][i] : 0.0, MD_DIGITS_MAX);
  }
}

static void atom_line(const md_particles *p, int64_t i, md_text *text)
{
  md_text_int(text, p->id[i]);
  md_text_add(text, " ", 1);
  md_text_int(text, p->type[i]);
  add_vector(text, p->x, p->dim, i);
  md_text_string(text, " 0 0 0\n");
}

static void velocity_line(const md_particles *p, int64_t i, md_text *text)
{
  md_text_int(text, p->id[i]);
  add_vector(text, p->v, p->dim, i);
  md_text_add(text, "\n", 1);
}

/* A section: its title and one line for each particle by increasing id. */
static md_status write_section(md_output *output, md_text block[BLOCKS], const char *title,
                               const md_particles *p, const int32_t *order, line_writer line)
{
  if (p->n == 0) return MD_OK;
  MD_TRY(md_output_write(output, title, strlen(title)));
  for (int64_t begin = 0; begin < p->n; begin += (int64_t)BLOCK * BLOCKS) {
#pragma omp parallel for schedule(dynamic, 1)
    for (int b = 0; b < BLOCKS; ++b) {
      const int64_t first = begin + (int64_t)BLOCK * b, end = first + BLOCK < p->n ? first + BLOCK : p->n;
      block[b].n = 0;
      for (int64_t k = first; k < end; ++k) line(p, order[k], &block[b]);
    }
    for (int b = 0; b < BLOCKS; ++b) MD_TRY(md_output_write_packed(output, &block[b]));
  }
  return MD_OK;
}

static void add_header(md_sim *sim, md_text *text)
{
  const md_model *model = &sim->model;
  md_text_print(text, "LAMMPS data file written by Myriad, timestep = %lld\n\n", (long long)model->step);
  md_text_print(text, "%lld atoms\n%d atom types\n\n", (long long)model->natoms, model->ntypes);
  for (int d = 0; d < 3; ++d)
    md_text_print(text, "%.17g %.17g %clo %chi\n", model->box.lo[d], model->box.hi[d], 'x' + d, 'x' + d);
  for (int t = 1; t <= model->ntypes; ++t)
    if (!(model->mass[t] > 0.0)) {
      md_sim_explain(sim, "write_data", "masses are left out, because not every type has one yet");
      return;
    }
  md_text_string(text, "\nMasses\n\n");
  for (int t = 1; t <= model->ntypes; ++t) md_text_print(text, "%d %.17g\n", t, model->mass[t]);
}

static md_status write_all(md_sim *sim, md_output *output, md_text block[BLOCKS], const int32_t *order)
{
  const md_particles *p = &sim->particles;
  add_header(sim, &block[0]);
  MD_TRY(md_output_write_packed(output, &block[0]));
  MD_TRY(write_section(output, block, "\nAtoms # atomic\n\n", p, order, atom_line));
  return write_section(output, block, "\nVelocities\n\n", p, order, velocity_line);
}

static md_status write_to(md_sim *sim, const char *path)
{
  md_output *output;
  int32_t *order;
  md_text block[BLOCKS] = {{0}};
  MD_TRY(md_output_open(&output, path, false));
  md_status status = md_particles_order_by_id(&sim->particles, &order);
  if (status == MD_OK) {
    status = write_all(sim, output, block, order);
    free(order);
  }
  for (int b = 0; b < BLOCKS; ++b) md_text_free(&block[b]);
  if (status != MD_OK) {
    /* Closing may fail as well, but the first message says why. */
    char *text = strdup(md_error_text());
    if (md_output_close(&output) != MD_OK && text) status = md_error(status, "%s", text);
    free(text);
    return status;
  }
  return md_output_close(&output);
}

/* A device, a pipe or a directory cannot be replaced by renaming a file to it. */
static bool is_special(const char *name)
{
  struct stat about;
  return stat(name, &about) == 0 && !S_ISREG(about.st_mode);
}

md_status md_data_write(md_sim *sim, const char *name)
{
  if (sim->comm->size > 1)
    return md_error(MD_USAGE,
                    "write_data works on one rank only; dump the particles, or run this deck on one rank");
  if (is_special(name)) return write_to(sim, name);
  char *path;
  const size_t length = strlen(name);
  MD_TRY(md_array_new(&path, (long long)length + 5, 1, "a file name"));
  memcpy(path, name, length);
  memcpy(path + length, ".tmp", 5);
  md_status status = write_to(sim, path);
  if (status == MD_OK && rename(path, name) != 0)
    status = md_error(MD_RUNTIME, "cannot rename %s to %s: %s", path, name, strerror(errno));
  if (status != MD_OK) unlink(path);
  free(path);
  return status;
}

/* LAMMPS replaces a * in the name by the step. The caller frees *out. */
static md_status file_name(const md_sim *sim, const char *word, char **out)
{
  const char *star = strchr(word, '*');
  const size_t size = strlen(word) + 24;
  MD_TRY(md_array_new(out, (long long)size, 1, "a file name"));
  if (star)
    snprintf(*out, size, "%.*s%lld%s", (int)(star - word), word, (long long)sim->model.step, star + 1);
  else
    snprintf(*out, size, "%s", word);
  return MD_OK;
}

md_status md_do_write_data(md_sim *sim, const md_words *words)
{
  MD_TRY(md_sim_need_box(sim, "write_data"));
  for (int k = 1; k < words->n; ++k)
    if (strcmp(words->word[k], "nocoeff") != 0)
      return md_error(MD_USAGE, "write_data: unknown keyword '%s'; accepted is nocoeff", words->word[k]);
  const size_t length = strlen(words->word[0]);
  if (length >= 3 && strcmp(words->word[0] + length - 3, ".gz") == 0)
    return md_error(MD_USAGE, "write_data: '%s': data files are not compressed; choose a name without .gz",
                    words->word[0]);
  if (sim->planning.on) {
    md_sim_explain(sim, "write_data", "a plan writes no files");
    return MD_OK;
  }
  char *name;
  MD_TRY(file_name(sim, words->word[0], &name));
  const md_status status = md_data_write(sim, name);
  free(name);
  return status;
}
