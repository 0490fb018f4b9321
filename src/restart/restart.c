/* Writing and opening restart files; see restart.h.
 *
 * Ranks write one file: together where the library of HDF5 can, otherwise by turns.
 */
#include "src/restart/restart.h"
#include "common/ranks/reductions.h"
#include "src/files/new_file.h"
#include "src/files/printed_files.h"
#include "src/follow/images.h"
#include "src/restart/items.h"
#include "src/restart/particles.h"
#include "src/restart/restart_check.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef MD_VERSION
#define MD_VERSION "0.1"
#endif

double md_restart_megabytes(const md_restart *r)
{
  const md_particles like = md_model_fields(&r->model);
  return 1e-6 * (double)r->model.natoms * md_particles_bytes(&like);
}

/* Brings what this rank wrote to the disk, so that it survives a failure of the machine. */
static md_status to_disk(const char *path)
{
  const int file = open(path, O_RDWR);
  int reason = file < 0 || fsync(file) != 0 ? errno : 0;
  if (file >= 0 && close(file) != 0 && reason == 0) reason = errno;
  return reason == 0 ? MD_OK : md_error(MD_RUNTIME, "cannot write %.500s: %s", path, strerror(reason));
}

static md_status write_together(md_comm *comm, md_restart *r, const md_particles *p, int64_t first,
                                const char *path)
{
  md_h5_file *file = NULL;
  MD_TRY(md_comm_agree(comm, md_h5->open(&file, path, MD_H5_CREATE, comm)));
  md_status status = md_restart_write_items(file, path, r);
  if (status == MD_OK) status = md_restart_make_arrays(file, r, p);
  if (status == MD_OK) status = md_restart_write_share(file, r, p, first);
  status = md_h5_close_after(&file, status);
  if (status == MD_OK) status = to_disk(path);
  return md_comm_agree(comm, status);
}

static md_status write_turn(md_comm *comm, md_restart *r, const md_particles *p, int64_t first,
                            const char *path)
{
  md_h5_file *file = NULL;
  MD_TRY(md_h5->open(&file, path, comm->rank == 0 ? MD_H5_CREATE : MD_H5_CHANGE, NULL));
  md_status status = MD_OK;
  if (comm->rank == 0) {
    status = md_restart_write_items(file, path, r);
    if (status == MD_OK) status = md_restart_make_arrays(file, r, p);
  }
  if (status == MD_OK) status = md_restart_write_share(file, r, p, first);
  status = md_h5_close_after(&file, status);
  return status != MD_OK ? status : to_disk(path);
}

static md_status write_by_turns(md_comm *comm, md_restart *r, const md_particles *p, int64_t first,
                                const char *path)
{
  for (int turn = 0; turn < comm->size; ++turn)
    MD_TRY(md_comm_agree(comm, turn == comm->rank ? write_turn(comm, r, p, first, path) : MD_OK));
  return MD_OK;
}

/* Brings the entry in the directory to the disk. Where the system does not offer this, the file is still complete,
 * and the entry reaches the disk later. */
static void directory_to_disk(const char *path)
{
  char *copy = strdup(path);
  const int directory = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY) : -1;
  if (directory >= 0) {
    (void)!fsync(directory);
    close(directory);
  }
  free(copy);
}

static md_status write_and_rename(md_comm *comm, md_restart *r, const md_particles *p, const char *path)
{
  md_new_file file;
  int64_t first = p->n;
  MD_TRY(md_comm_agree(comm, comm->rank == 0 ? md_file_need_regular(path, "a restart") : MD_OK));
  MD_TRY(md_new_file_begin_together(comm, &file, path));
  md_status status = comm->reduce->exclusive_sum(comm, &first);
  if (status == MD_OK)
    status = md_h5->together(comm) ? write_together(comm, r, p, first, file.path)
                                   : write_by_turns(comm, r, p, first, file.path);
  if (comm->rank == 0) {
    status = md_new_file_end(&file, status);
    if (status == MD_OK) directory_to_disk(path);
  }
  md_new_file_forget(&file);
  return md_comm_agree(comm, status);
}

static void free_marks(md_restart *r)
{
  for (int64_t k = 0; k < r->noutput; ++k) free(r->output[k].state);
  free(r->output);
}

/* Fills in a restart of the present state. *r owns only r->output. */
static md_status gather(md_sim *sim, bool in_run, md_restart *r)
{
  *r = (md_restart){.model = sim->model,
                    .history = sim->history,
                    .under_way = in_run,
                    .has_energy = in_run && sim->has_first_energy,
                    .first_energy = sim->first_energy,
                    .unshown = sim->unshown,
                    .drawn = md_variables_drawn(sim->variables)};
  r->drawn_row = in_run && !r->unshown ? sim->drawn_row : r->drawn;
  snprintf(r->program, sizeof r->program, "Myriad %s", MD_VERSION);
  r->model.wide = sim->particles.wide;
  r->model.has_v_pair = sim->particles.has_v_pair;
  if (!in_run) {
    r->model.grids = (md_grids){.v = r->model.wide ? sim->model.grids.v : 0.0};
    if (!r->model.wide) r->model.mass_reference = 0.0;
    for (int t = 0; t <= MD_TYPES_MAX; ++t) r->model.velocity_per_v[t] = 1.0;
  }
  int64_t n = sim->printed ? sim->printed->n : 0;
  for (const md_observer *o = sim->observers; o; o = o->next) ++n;
  MD_TRY(md_array_new_zero(&r->output, n, sizeof *r->output, "the files of a restart"));
  for (md_observer *o = sim->observers; in_run && o; o = o->next)
    if (o->mark && o->mark(o, &r->output[r->noutput])) ++r->noutput;
  for (int k = 0; in_run && sim->printed && k < sim->printed->n; ++k) {
    md_output_mark *mark = &r->output[r->noutput++];
    *mark = (md_output_mark){.id = MD_PRINTED_ID, .frames = -1, .last_step = -1};
    snprintf(mark->file, sizeof mark->file, "%s", sim->printed->file[k].name);
    mark->bytes = md_printed_end(&sim->printed->file[k]);
  }
  return MD_OK;
}

/* All ranks have the lengths that rank 0 sees. Others may see those of a moment before, on a disk over a network. */
static md_status share_lengths(md_comm *comm, md_restart *r)
{
  for (int64_t k = 0; k < r->noutput; ++k) {
    md_output_mark *mark = &r->output[k];
    double seen[2] = {-1.0, -1.0};
    if (comm->rank == 0) seen[0] = (double)mark->bytes, seen[1] = (double)mark->frames;
    MD_TRY(comm->reduce->max(comm, seen, 2));
    mark->bytes = (int64_t)seen[0];
    mark->frames = (int64_t)seen[1];
  }
  return MD_OK;
}

md_status md_restart_write(md_sim *sim, const char *path, bool in_run)
{
  md_comm *comm = sim->comm;
  md_restart r = {0};
  const double began = md_time();
  MD_TRY(md_h5_need("writing restarts"));
  md_status status = md_comm_agree(comm, gather(sim, in_run, &r));
  if (status == MD_OK) status = share_lengths(comm, &r);
  if (status == MD_OK) status = md_images_refresh(sim);
  if (status == MD_OK) status = md_id_columns_get(sim, &r.ncolumn, &r.column);
  if (status == MD_OK) status = md_restart_checksums(comm, &sim->particles, r.checksum);
  if (status == MD_OK) status = md_restart_sum_columns(comm, &sim->particles, &r);
  if (status == MD_OK) status = write_and_rename(comm, &r, &sim->particles, path);
  free_marks(&r);
  md_id_columns_free(r.ncolumn, r.column);
  MD_TRY(status);
  double seconds = md_time() - began;
  MD_TRY(comm->reduce->max(comm, &seconds, 1));
  const double megabytes = md_restart_megabytes(&r);
  md_log_print(sim->log, "# Restart %s, step %lld: %.4g MB in %.3g s, %.4g MB/s\n", path,
               (long long)r.model.step, megabytes, seconds, megabytes / md_max(seconds, 1e-9));
  sim->restarts.seconds = md_max(sim->restarts.seconds, seconds);
  return MD_OK;
}

md_status md_restart_open(const char *path, md_h5_file **file, md_restart *r)
{
  *file = NULL;
  *r = (md_restart){.model = {.units = &md_units_lj, .pair.kind = MD_PAIR_NONE}};
  MD_TRY(md_h5_need("reading restarts"));
  MD_TRY(md_h5->open(file, path, MD_H5_READ, NULL));
  MD_TRY(md_restart_read_items(*file, path, r));
  MD_TRY(md_restart_check(r, path));
  for (int d = 0; d < 3; ++d) r->model.box.length[d] = r->model.box.hi[d] - r->model.box.lo[d];
  if (r->model.box.triclinic) {
    const double tilt[3] = {r->model.box.tilt[0], r->model.box.tilt[1], r->model.box.tilt[2]};
    MD_TRY(md_box_check_tilt(&r->model.box));
    md_box_set_tilt(&r->model.box, tilt);
  }
  return md_restart_check_arrays(*file, path, r);
}

void md_restart_free(md_restart *r)
{
  md_model_free(&r->model);
  md_history_free(&r->history);
  free_marks(r);
  md_id_columns_free(r->ncolumn, r->column);
  *r = (md_restart){.model = {.units = &md_units_lj, .pair.kind = MD_PAIR_NONE}};
}
