/* Dump style h5md: trajectories in the H5MD 1.1 format, https://nongnu.org/h5md.
 *
 * One HDF5 file holds all frames. Each frame adds a row in time:
 *   /h5md                               version, author, creator
 *   /particles/all/box/edges, offset    step, time, and value of each frame: sides of the box, and its lower corner
 *   /particles/all/position, velocity, force, species
 *                                       step, time, and value [frame][particle][3], or [frame][particle] of types
 *   /particles/all/id                   ids of the particles, in the order that they have in every frame: a frame of
 *                                       other particles is refused
 *   /parameters                         attribute dimension: 2 or 3, of the system
 *
 * Numbers are doubles with all their bits. A system in two dimensions is stored as a plane in three dimensions: z
 * is 0, and the box has a side along z. The standard also allows files with two columns, but MDAnalysis refuses
 * them.
 *
 * 1. The particles are distributed to ranks by id (src/particles/by_id.h).
 * 2. Each rank writes the rows that it received, all at once or in turns (src/hdf5/hdf5_file.h).
 * 3. The file is closed after each frame. So a program that is killed leaves a good file, unless it is killed
 *    while it writes a frame.
 *
 * Cost: some milliseconds a frame to open the file, and the disk: 24 bytes for each vector. Memory for 131072
 * rows.
 */
#include "common/base/mix.h"
#include "common/ranks/reductions.h"
#include "src/dump/dump.h"
#include "src/dump/h5md.h"
#include "src/files/new_file.h"
#include "src/hdf5/hdf5_file.h"
#include "src/particles/by_id.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 131072, CHUNK_ROWS = 65536, CHUNK_FRAMES = 256 };

static const struct {
  const char *name;
  md_dump_what what;
} elements[] = {
    {"position", MD_DUMP_X}, {"velocity", MD_DUMP_V}, {"force", MD_DUMP_F}, {"species", MD_DUMP_TYPE}};
enum { ELEMENTS = sizeof elements / sizeof elements[0] };

static md_status parse(md_dump *dump, md_sim *sim, const md_words *words)
{
  static const char *const standard[] = {"position", "velocity", "species"};
  const int n = words->n > 0 ? words->n : 3;
  const char *const *name = words->n > 0 ? (const char *const *)words->word : standard;
  (void)sim;
  MD_TRY(md_h5_need("dump h5md"));
  MD_TRY(md_array_new_zero(&dump->column, n, sizeof *dump->column, "the elements of a dump"));
  for (int k = 0; k < n; ++k) {
    int e = 0;
    while (e < ELEMENTS && strcmp(elements[e].name, name[k]) != 0) ++e;
    if (e == ELEMENTS)
      return md_error(MD_USAGE,
                      "dump h5md: unknown element '%.80s'; accepted are position, velocity, force, species",
                      name[k]);
    for (int c = 0; c < dump->ncolumn; ++c)
      if (dump->column[c].what == elements[e].what)
        return md_error(MD_USAGE, "dump h5md: element %s is given twice", name[k]);
    md_dump_column *column = &dump->column[dump->ncolumn++];
    column->what = elements[e].what;
    snprintf(column->name, sizeof column->name, "%s", elements[e].name);
  }
  return MD_OK;
}

/* ---- the file's structure ---- */

/* The shape of an array of values, without frames yet, and its chunks. */
static md_h5_shape value_shape(const md_dump_column *column, int64_t natoms)
{
  const int64_t rows = natoms < 1 ? 1 : natoms < CHUNK_ROWS ? natoms : CHUNK_ROWS;
  md_h5_shape shape = {.n = 3, .size = {0, natoms, 3}, .chunk = {1, rows, 3}};
  if (column->what == MD_DUMP_TYPE) shape.n = 2;
  return shape;
}

static md_status make_about(md_h5_file *file, const md_model *model)
{
  static const int64_t dimension = 3;
  const char *boundary[3];
  for (int d = 0; d < 3; ++d) boundary[d] = model->box.periodic[d] ? "periodic" : "none";
  MD_TRY(md_h5md_begin(file, model));
  MD_TRY(md_h5->group(file, "particles"));
  MD_TRY(md_h5->group(file, "particles/all"));
  MD_TRY(md_h5->group(file, "particles/all/box"));
  MD_TRY(md_h5->note(file, "particles/all/box", "dimension", MD_H5_INT64, 0, &dimension));
  return md_h5->note_text(file, "particles/all/box", "boundary", 3, boundary);
}

/* The name of the unit of an element; "" if it has none. */
static const char *unit_of(const md_units *units, md_dump_what what)
{
  switch (what) {
  case MD_DUMP_X: return units->length;
  case MD_DUMP_V: return units->velocity;
  case MD_DUMP_F: return units->force;
  default: return "";
  }
}

static md_status note_unit(md_h5_file *file, const char *object, const char *unit)
{
  return unit[0] ? md_h5->note_word(file, object, "unit", unit) : MD_OK;
}

/* Makes the group `name` of an element, with the steps and times of the edges of the box, and its values. */
static md_status make_element(md_h5_file *file, const char *name, md_h5_type type, const md_h5_shape *values,
                              const char *unit)
{
  static const char *const times[] = {"step", "time"};
  char from[128], to[128];
  snprintf(to, sizeof to, "particles/all/%s", name);
  MD_TRY(md_h5->group(file, to));
  for (int k = 0; k < 2; ++k) {
    snprintf(from, sizeof from, "particles/all/box/edges/%s", times[k]);
    snprintf(to, sizeof to, "particles/all/%s/%s", name, times[k]);
    MD_TRY(md_h5->link(file, from, to));
  }
  snprintf(to, sizeof to, "particles/all/%s/value", name);
  MD_TRY(md_h5->array(file, to, type, values));
  return note_unit(file, to, unit);
}

static md_status make_box(md_h5_file *file, const md_model *model)
{
  const md_h5_shape times = {.n = 1, .size = {0}, .chunk = {CHUNK_FRAMES}};
  const md_h5_shape vectors = {.n = 2, .size = {0, 3}, .chunk = {CHUNK_FRAMES, 3}};
  const md_h5_shape tensors = {.n = 3, .size = {0, 3, 3}, .chunk = {CHUNK_FRAMES, 3, 3}};
  const char *unit = model->units->length;
  MD_TRY(md_h5->group(file, "particles/all/box/edges"));
  MD_TRY(md_h5->array(file, "particles/all/box/edges/step", MD_H5_INT64, &times));
  MD_TRY(md_h5->array(file, "particles/all/box/edges/time", MD_H5_DOUBLE, &times));
  MD_TRY(md_h5->array(file, "particles/all/box/edges/value", MD_H5_DOUBLE,
                      model->box.triclinic ? &tensors : &vectors));
  MD_TRY(note_unit(file, "particles/all/box/edges/time", model->units->time));
  MD_TRY(note_unit(file, "particles/all/box/edges/value", unit));
  return make_element(file, "box/offset", MD_H5_DOUBLE, &vectors, unit);
}

static md_status make_file(const md_dump *dump, md_h5_file *file, const md_model *model)
{
  const md_h5_shape ids = {.n = 1, .size = {md_dump_count(dump, model)}};
  MD_TRY(make_about(file, model));
  MD_TRY(make_box(file, model));
  MD_TRY(md_h5->array(file, "particles/all/id", MD_H5_INT64, &ids));
  for (int c = 0; c < dump->ncolumn; ++c) {
    const md_dump_column *column = &dump->column[c];
    const md_h5_shape shape = value_shape(column, md_dump_count(dump, model));
    MD_TRY(make_element(file, column->name, column->what == MD_DUMP_TYPE ? MD_H5_UINT16 : MD_H5_DOUBLE,
                        &shape, unit_of(model->units, column->what)));
  }
  return MD_OK;
}

/* Gives all arrays `frames` rows in time. */
static md_status resize(const md_dump *dump, md_h5_file *file, int64_t frames)
{
  char name[128];
  MD_TRY(md_h5->resize(file, "particles/all/box/edges/step", frames));
  MD_TRY(md_h5->resize(file, "particles/all/box/edges/time", frames));
  MD_TRY(md_h5->resize(file, "particles/all/box/edges/value", frames));
  MD_TRY(md_h5->resize(file, "particles/all/box/offset/value", frames));
  for (int c = 0; c < dump->ncolumn; ++c) {
    snprintf(name, sizeof name, "particles/all/%s/value", dump->column[c].name);
    MD_TRY(md_h5->resize(file, name, frames));
  }
  return MD_OK;
}

static md_status count_frames(md_h5_file *file, int64_t *frames)
{
  md_h5_shape shape;
  MD_TRY(md_h5->shape(file, "particles/all/box/edges/step", &shape));
  *frames = shape.size[0];
  return MD_OK;
}

/* Refuses to append to a file that does not match this dump. */
static md_status check_file(const md_dump *dump, md_h5_file *file)
{
  char name[128];
  md_h5_shape shape;
  MD_TRY(md_h5->shape(file, "particles/all/box/offset/value", &shape));
  for (int c = 0; c < dump->ncolumn; ++c) {
    snprintf(name, sizeof name, "particles/all/%s/value", dump->column[c].name);
    MD_TRY(md_h5->shape(file, name, &shape));
  }
  for (int e = 0; e < ELEMENTS; ++e) {
    snprintf(name, sizeof name, "particles/all/%s/value", elements[e].name);
    bool dumped = false;
    for (int c = 0; c < dump->ncolumn; ++c)
      dumped = dumped || strcmp(dump->column[c].name, elements[e].name) == 0;
    if (!dumped && md_h5->shape(file, name, &shape) == MD_OK)
      return md_error(MD_RUNTIME, "cannot add to %.500s: it has the element %s, which this dump has not",
                      dump->path, elements[e].name);
  }
  return MD_OK;
}

/* ---- the particles of all frames ---- */

static int64_t particle_of(const md_rows *rows, int64_t k) { return rows->order ? rows->order[k] : k; }

/* A hash of the ids in a file: the sum of the parts that the ranks read. *rows: how many there are. Collective. */
static md_status hash_file(md_comm *comm, const char *path, int64_t *id, int64_t *rows, uint64_t *hash)
{
  static const char name[] = "particles/all/id";
  md_h5_file *file = NULL;
  md_h5_shape shape = {0};
  *hash = 0;
  md_status status = md_h5->open(&file, path, MD_H5_READ, NULL);
  if (status == MD_OK) status = md_h5->shape(file, name, &shape);
  *rows = status == MD_OK && shape.n == 1 ? shape.size[0] : 0;
  const int64_t end =
      *rows / comm->size * (comm->rank + 1) + (comm->rank + 1 == comm->size ? *rows % comm->size : 0);
  for (int64_t at = *rows / comm->size * comm->rank; at < end && status == MD_OK; at += ROWS) {
    const int64_t n = end - at < ROWS ? end - at : ROWS;
    status = md_h5->read(file, name, MD_H5_INT64, 1, &at, &n, id);
    for (int64_t k = 0; k < n && status == MD_OK; ++k) *hash += md_mix((uint64_t)id[k]);
  }
  MD_TRY(md_comm_agree(comm, md_h5_close_after(&file, status)));
  return comm->reduce->sum(comm, (int64_t *)hash, 1);
}

/* The ids of a file stand for all of its frames. So a frame must have the same. Collective. */
static md_status check_ids(md_dump *dump, md_comm *comm, const md_rows *own, const char *path, bool create,
                           void *buffer)
{
  int64_t rows = own->n;
  uint64_t ids = 0;
#pragma omp parallel for schedule(static) reduction(+ : ids)
  for (int64_t k = 0; k < own->n; ++k) ids += md_mix((uint64_t)own->particles->id[particle_of(own, k)]);
  MD_TRY(comm->reduce->sum(comm, &rows, 1));
  MD_TRY(comm->reduce->sum(comm, (int64_t *)&ids, 1));
  if (!create && dump->rows < 0) MD_TRY(hash_file(comm, path, buffer, &dump->rows, &dump->ids));
  if (!create && rows != dump->rows)
    return md_error(MD_RUNTIME, "cannot add to %.500s: it is of %lld particles, not %lld", path,
                    (long long)dump->rows, (long long)rows);
  if (!create && ids != dump->ids)
    return md_error(
        MD_RUNTIME,
        "cannot add to %.500s: it is of other particles, with other ids; with a * in its name each "
        "frame has a file of its own",
        path);
  dump->rows = rows;
  dump->ids = ids;
  return MD_OK;
}

/* ---- frames ---- */

typedef struct writer {
  const md_dump *dump;
  const md_view *view;
  md_comm *comm;
  const char *path;
  bool together; /* all ranks have the file open */
  bool create;   /* the file is new, and this frame is its first */
  md_h5_file *file;
  int64_t frame;
  void *buffer; /* of ROWS vectors */
} writer;

/* Prepares the file for the frame. All ranks call it, or rank 0 alone. */
static md_status begin_frame(writer *w)
{
  const md_model *model = &w->view->sim->model;
  const double time = (double)w->view->step * model->dt;
  MD_TRY(
      md_h5->open(&w->file, w->path, w->create ? MD_H5_CREATE : MD_H5_CHANGE, w->together ? w->comm : NULL));
  if (w->create)
    MD_TRY(make_file(w->dump, w->file, model));
  else
    MD_TRY(check_file(w->dump, w->file));
  MD_TRY(count_frames(w->file, &w->frame));
  MD_TRY(resize(w->dump, w->file, w->frame + 1));
  if (w->comm->rank > 0) return MD_OK;
  const int64_t start[3] = {w->frame, 0, 0}, one[3] = {1, 1, 1}, edges[3] = {1, 3, 3};
  MD_TRY(md_h5->write(w->file, "particles/all/box/edges/step", MD_H5_INT64, 1, start, one, &w->view->step));
  MD_TRY(md_h5->write(w->file, "particles/all/box/edges/time", MD_H5_DOUBLE, 1, start, one, &time));
  const double *l = model->box.length, *t = model->box.tilt;
  MD_TRY(
      md_h5->write(w->file, "particles/all/box/offset/value", MD_H5_DOUBLE, 2, start, edges, model->box.lo));
  const double rows[9] = {l[0], 0.0, 0.0, t[MD_XY], l[1], 0.0, t[MD_XZ], t[MD_YZ], l[2]};
  const bool tilted = model->box.triclinic;
  return md_h5->write(w->file, "particles/all/box/edges/value", MD_H5_DOUBLE, tilted ? 3 : 2, start, edges,
                      tilted ? rows : l);
}

/* One component of a vector of one particle, as the file stores it. */
static double vector_value(const writer *w, const md_rows *rows, md_dump_what what, int64_t i, int d)
{
  const md_particles *p = rows->particles;
  if (d >= p->dim) return 0.0;
  if (what == MD_DUMP_X) {
    double x[3];
    md_particle_shown(p, &w->view->sim->model.box, i, x);
    return x[d];
  }
  if (what == MD_DUMP_F) return rows->force[d][i];
  return w->view->engine ? md_model_velocity(&w->view->sim->model, p, d, i) : p->v[d][i];
}

/* Writes rows [first, first + n) of `rows`, from row `offset` of the frame on. */
static md_status write_block(writer *w, const md_rows *rows, int64_t first, int64_t n, int64_t offset)
{
  const int64_t start[3] = {w->frame, offset, 0}, count[3] = {1, n, 3};
  char name[128];
  for (int c = 0; c < w->dump->ncolumn; ++c) {
    const md_dump_what what = w->dump->column[c].what;
    snprintf(name, sizeof name, "particles/all/%s/value", w->dump->column[c].name);
    if (what == MD_DUMP_TYPE) {
      uint16_t *type = w->buffer;
#pragma omp parallel for schedule(static)
      for (int64_t k = 0; k < n; ++k) type[k] = rows->particles->type[particle_of(rows, first + k)];
      MD_TRY(md_h5->write(w->file, name, MD_H5_UINT16, 2, start, count, type));
      continue;
    }
    double *value = w->buffer;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < n; ++k)
      for (int d = 0; d < 3; ++d)
        value[3 * k + d] = vector_value(w, rows, what, particle_of(rows, first + k), d);
    MD_TRY(md_h5->write(w->file, name, MD_H5_DOUBLE, 3, start, count, w->buffer));
  }
  if (!w->create) return MD_OK;
  int64_t *id = w->buffer;
  for (int64_t k = 0; k < n; ++k) id[k] = rows->particles->id[particle_of(rows, first + k)];
  return md_h5->write(w->file, "particles/all/id", MD_H5_INT64, 1, start + 1, count + 1, id);
}

static md_status write_window(writer *w, const md_rows *rows, int64_t offset)
{
  const int64_t n = rows->n;
  for (int64_t first = 0; first < n; first += ROWS)
    MD_TRY(write_block(w, rows, first, n - first < ROWS ? n - first : ROWS, offset + first));
  return MD_OK;
}

/* If ranks cannot open the file together, each rank in turn opens it and writes its window. */
static md_status write_by_turns(writer *w, const md_rows *rows, int64_t offset)
{
  for (int turn = 0; turn < w->comm->size; ++turn) {
    md_status status = MD_OK;
    if (turn == w->comm->rank) {
      status = md_h5->open(&w->file, w->path, MD_H5_CHANGE, NULL);
      if (status == MD_OK) status = md_h5_close_after(&w->file, write_window(w, rows, offset));
    }
    MD_TRY(md_comm_agree(w->comm, status));
  }
  return MD_OK;
}

static md_status write_windows(writer *w, md_by_id *deal)
{
  int64_t written = 0;
  for (;;) {
    md_rows rows;
    bool more;
    MD_TRY(md_by_id_next(deal, &rows, &more));
    if (!more) return MD_OK;
    int64_t total = rows.n, offset = total;
    MD_TRY(w->comm->reduce->exclusive_sum(w->comm, &offset));
    MD_TRY(w->comm->reduce->sum(w->comm, &total, 1));
    if (w->together)
      MD_TRY(md_comm_agree(w->comm, write_window(w, &rows, written + offset)));
    else
      MD_TRY(write_by_turns(w, &rows, written + offset));
    written += total;
  }
}

static md_status write_frame(writer *w, const md_rows *own)
{
  md_comm *comm = w->comm;
  md_status status = w->together || comm->rank == 0 ? begin_frame(w) : MD_OK;
  if (!w->together) {
    status = md_comm_agree(comm, md_h5_close_after(&w->file, status));
    MD_TRY(comm->reduce->sum(comm, &w->frame, 1)); /* only rank 0 knows it; others have 0 */
  } else {
    status = md_comm_agree(comm, status);
  }
  if (status == MD_OK) {
    md_by_id deal;
    status = md_by_id_begin(&deal, comm, own);
    if (status == MD_OK) status = write_windows(w, &deal);
    md_by_id_end(&deal);
  }
  return md_comm_agree(comm, md_h5_close_after(&w->file, status));
}

static md_status draw(md_dump *dump, md_view *view, const char *path)
{
  md_sim *sim = view->sim;
  writer w = {.dump = dump,
              .view = view,
              .comm = sim->comm,
              .path = path,
              .together = sim->comm->size == 1 || md_h5->together(sim->comm),
              .create = strchr(dump->path, '*') || (dump->last_step < 0 && !dump->append)};
  MD_TRY(md_view_particles(view));
  /* A file to append to may be missing. */
  double missing = !w.create && access(path, F_OK) != 0;
  MD_TRY(w.comm->reduce->max(w.comm, &missing, 1));
  w.create = w.create || missing > 0.0;
  md_rows own;
  int32_t *chosen;
  md_status status = md_dump_rows(dump, view, &own, &chosen);
  if (status == MD_OK) status = md_array_new(&w.buffer, 3 * ROWS, sizeof(double), "rows of a dump");
  status = md_comm_agree(w.comm, status);
  if (status == MD_OK) status = check_ids(dump, w.comm, &own, path, w.create, w.buffer);
  if (status == MD_OK) status = write_frame(&w, &own);
  dump->nframes = status == MD_OK ? w.frame + 1 : -1;
  free(w.buffer);
  free(chosen);
  return status;
}

/* ---- continuing a file ---- */

/* The frames of a file to which none was added yet are those of other jobs. */
static int64_t count(const md_dump *dump)
{
  md_h5_file *file = NULL;
  int64_t frames = dump->nframes;
  if (strchr(dump->path, '*')) return -1;
  if (frames >= 0) return frames;
  if (!dump->append || access(dump->path, F_OK) != 0) return 0;
  md_status status = md_h5->open(&file, dump->path, MD_H5_READ, NULL);
  if (status == MD_OK) status = count_frames(file, &frames);
  return md_h5_close_after(&file, status) == MD_OK ? frames : -1;
}

/* Removes all frames but the first `keep`. Restarts of older versions do not count frames (keep < 0): those after the
 * step `last` are removed. */
static md_status cut(const md_dump *dump, int64_t keep, int64_t last)
{
  md_h5_file *file = NULL;
  int64_t frames = 0;
  const bool by_step = keep < 0;
  MD_TRY(md_h5->open(&file, dump->path, MD_H5_CHANGE, NULL));
  md_status status = count_frames(file, &frames);
  for (keep = by_step ? 0 : keep; by_step && status == MD_OK && keep < frames; ++keep) {
    const int64_t one = 1;
    int64_t step = 0;
    status = md_h5->read(file, "particles/all/box/edges/step", MD_H5_INT64, 1, &keep, &one, &step);
    if (step > last) break;
  }
  if (status == MD_OK && keep > frames)
    status = md_error(MD_RUNTIME, "%.500s has %lld frames, and %lld when the restart was written", dump->path,
                      (long long)frames, (long long)keep);
  if (status == MD_OK && keep < frames) status = resize(dump, file, keep);
  return md_h5_close_after(&file, status);
}

/* A file may be damaged beyond repair if the program was killed while it wrote. It is then renamed, and its frames
 * are kept for a repair by the user. */
static md_status resume(md_dump *dump, md_sim *sim, const md_output_mark *mark)
{
  double broken = 0.0;
  if ((dump->last_step < 0 && !dump->append) || strchr(dump->path, '*')) return MD_OK;
  const int64_t last = dump->last_step < 0 ? sim->model.step : dump->last_step;
  MD_TRY(md_comm_agree(sim->comm,
                       sim->comm->rank == 0 ? md_file_need_regular(dump->path, "an H5MD file") : MD_OK));
  if (sim->comm->rank == 0 && access(dump->path, F_OK) == 0 && cut(dump, mark->frames, last) != MD_OK) {
    char aside[1100];
    md_log_print(sim->log, "WARNING: dump %s: %s; it becomes %s.broken and a new one begins\n",
                 dump->observer.id, md_error_text(), dump->path);
    snprintf(aside, sizeof aside, "%.1000s.broken", dump->path);
    (void)!rename(dump->path, aside);
    broken = 1.0;
  }
  MD_TRY(sim->comm->reduce->max(sim->comm, &broken, 1));
  dump->append = true;
  return MD_OK;
}

const md_dump_style md_dump_h5md = {
    .name = "h5md", .parse = parse, .draw = draw, .resume = resume, .count = count, .rises = true};
