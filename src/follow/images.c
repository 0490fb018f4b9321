/* Image flags; see images.h.
 *
 * 1. The place of each particle at the last look and its flags are kept by id (src/properties/id_values.h), in seven
 *    columns. That file also handles restarts, new ids and deletions.
 * 2. A look compares places with those of the look before, and keeps the new ones. A particle without a record is new:
 *    its flags are 0. In a tilted box places are those that output shows, and a flip between two looks shows in the
 *    tilt factors.
 * 3. src/follow/looks.h says when the next look is. In a run a change by more than a quarter of the side is an error,
 *    so that no way through a face is missed in silence. At the first look of a run, and between runs, the nearest
 *    image is taken, since commands may have moved particles.
 *
 * Advantage: engines need no bytes for image flags, and their steps no work. Cost: at each look the particles come from
 * the engine, and 170 bytes for each go to homes and back. Memory: 64 bytes a particle. Reference: the LAMMPS manual,
 * "dump custom" and "reset_image_flags". */
#include "src/follow/images.h"
#include "common/groups.h"
#include "common/ranks/reductions.h"
#include "src/follow/looks.h"
#include "src/formula/particle_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The columns of a record. A particle without one has zeros. */
enum { PLACE = 0, FLAG = 3, KNOWN = 6, COLUMNS = 7 };

static const char STYLE[] = "image", ID[] = "flags", NAME[] = "image flags";

struct md_images {
  md_observer base; /* must come first */
  md_sim *sim;
  md_id_values *values;
  double tilt[3]; /* of the box at the last look, or at the beginning of the run */
  bool asked;     /* the deck needs flags; else they are held until the next run */
  md_looks looks;
  bool strict; /* in a run that has looked already */
};

/* ---- names ---- */

static const struct {
  const char *name;
  int axis;
  bool flag, scaled;
} names[] = {
    {"xu", 0, false, false}, {"yu", 1, false, false}, {"zu", 2, false, false},
    {"xsu", 0, false, true}, {"ysu", 1, false, true}, {"zsu", 2, false, true},
    {"ix", 0, true, false},  {"iy", 1, true, false},  {"iz", 2, true, false},
};
enum { NAMES = sizeof names / sizeof names[0] };

/* NAMES: it is none. */
static int name_of(const char *name)
{
  int k = 0;
  while (k < NAMES && strcmp(names[k].name, name) != 0) ++k;
  return k;
}

bool md_images_has(const char *name) { return name_of(name) < NAMES; }

/* ---- looks ---- */

/* Is there a record? One that a damaged restart has brought is none. */
static bool is_known(const double *record)
{
  bool known = record[KNOWN] == 1.0;
  for (int d = 0; d < 3; ++d) known = known && isfinite(record[PLACE + d]) && fabs(record[FLAG + d]) < 0x1p31;
  return known;
}

/* A flip of the box has changed edges by whole other ones: the same unwrapped place has other flags. flips: those since
 * the last look (md_box_flips). */
static void flip(const int32_t flips[3], double *record)
{
  double *flag = record + FLAG;
  flag[0] += flips[MD_XY] * flag[1] + flips[MD_XZ] * flag[2];
  flag[1] += flips[MD_YZ] * flag[2];
}

/* Looks at particle i; record: that of the last look. *moved: the largest change of a coordinate so far. Returns the
 * axis along which it went too far, or -1. */
static int look_at(const md_sim *sim, int64_t i, const int32_t flips[3], double *record, double *moved)
{
  const md_box *box = &sim->model.box;
  double x[3], step[3] = {0.0, 0.0, 0.0}, through[3];
  int lost = -1;
  md_particle_shown(&sim->particles, box, i, x);
  if (!is_known(record))
    memset(record + FLAG, 0, 3 * sizeof *record);
  else
    for (int d = 0; d < 3 && d < box->dim; ++d) step[d] = x[d] - record[PLACE + d];
  if (box->triclinic) flip(flips, record);
  md_lattice_take(box->dim, box->periodic, box->length, box->tilt, step, through);
  for (int d = 2; d >= 0; --d) {
    if (d >= box->dim) continue;
    record[FLAG + d] = box->periodic[d] ? record[FLAG + d] - through[d] : 0.0;
    record[PLACE + d] = x[d];
    if (!box->periodic[d]) continue;
    *moved = md_max(*moved, fabs(step[d]));
    if (fabs(step[d]) > 0.25 * box->length[d]) lost = d;
  }
  record[KNOWN] = 1.0;
  return lost;
}

static md_status went_too_far(const md_follow_fault *fault)
{
  if (fault->kind == MD_FOLLOW_GOOD) return MD_OK;
  return md_error(
      MD_PHYSICS,
      "particle %lld moved by a quarter of the periodic side %c since its image flags were counted: "
      "the way through a face may have been missed; dump more frames, or use a larger box",
      (long long)fault->id, "xyz"[fault->axis]);
}

/* Looks at all particles of this rank; record: those of the last look. *moved: the largest change of a coordinate.
 * Collective. */
static md_status look_at_all(const md_images *images, double *record, double *moved)
{
  md_comm *comm = images->sim->comm;
  const md_particles *p = &images->sim->particles;
  md_follow_fault fault = {MD_FOLLOW_GOOD, 0, 0};
  int32_t flips[3];
  double most = 0.0;
  md_box_flips(&images->sim->model.box, images->tilt, flips);
#pragma omp parallel for schedule(static) reduction(max : most)
  for (int64_t i = 0; i < p->n; ++i) {
    const int axis = look_at(images->sim, i, flips, record + i * COLUMNS, &most);
    if (axis < 0 || !images->strict) continue;
#pragma omp critical(images)
    md_looks_note_fault(&fault, MD_FOLLOW_FAR, p->id[i], axis);
  }
  *moved = most;
  MD_TRY(md_looks_first_fault(comm, &fault));
  return md_comm_agree(comm, went_too_far(&fault));
}

/* A look, which makes the records of all particles of this rank. The caller frees *record. Collective. */
static md_status look(md_images *images, double **record)
{
  md_sim *sim = images->sim;
  double moved = 0.0;
  MD_TRY(md_comm_agree(sim->comm,
                       md_array_new(record, sim->particles.n * COLUMNS + 1, sizeof **record, "image flags")));
  md_status status = md_id_values_get(images->values, *record);
  if (status == MD_OK) status = look_at_all(images, *record, &moved);
  if (status == MD_OK) status = md_id_values_set(images->values, NULL, *record);
  memcpy(images->tilt, sim->model.box.tilt, sizeof images->tilt);
  if (status == MD_OK && sim->view && sim->view->engine) {
    const md_follow_pace pace = {md_looks_speed(sim, MD_GROUP_ALL), moved};
    images->strict = true;
    status = md_looks_plan(sim, &images->looks, &pace);
  }
  if (status == MD_OK) return MD_OK;
  free(*record);
  *record = NULL;
  return status;
}

/* ---- the observer ---- */

static int64_t due(md_observer *observer, int64_t step)
{
  const md_images *images = (const md_images *)observer;
  if (!images->asked) return INT64_MAX;
  return md_looks_due(&images->looks, step);
}

static int64_t due_back(md_observer *observer, int64_t step)
{
  const md_images *images = (const md_images *)observer;
  if (!images->asked) return -1;
  return md_looks_due_back(&images->looks, step);
}

/* Forgets flags that were given, because the deck has not asked. */
static md_status drop(md_images *images)
{
  md_id_values *values = images->values;
  int64_t some = 0;
  for (int64_t k = 0; k < values->n; ++k)
    for (int d = 0; d < 3; ++d) some += values->value[k * COLUMNS + FLAG + d] != 0.0;
  MD_TRY(images->sim->comm->reduce->sum(images->sim->comm, &some, 1));
  if (some > 0) {
    images->sim->images_missed = true;
    md_sim_explain(images->sim, NAME,
                   "this run forgets those that were read or set, because the deck does not ask for them; "
                   "`compute ID all property/atom ix` before it does");
  }
  values->n = 0;
  values->claimed = false;
  return MD_OK;
}

static md_status start(md_observer *observer, md_sim *sim)
{
  md_images *images = (md_images *)observer;
  md_looks_start(&images->looks, sim);
  images->strict = false;
  memcpy(images->tilt, sim->model.box.tilt, sizeof images->tilt);
  return images->asked ? MD_OK : drop(images);
}

/* The records of the step that is shown, which its view keeps. */
static md_status observe(md_observer *observer, md_view *view)
{
  if (view->image) return MD_OK;
  MD_TRY(md_view_particles(view));
  return look((md_images *)observer, &view->image);
}

/* At the end of a run. The next one may begin with other tilt factors, of which this one knows nothing. */
static md_status finish(md_observer *observer, md_sim *sim)
{
  md_images *images = (md_images *)observer;
  if (sim->view) return MD_OK;
  const md_status status = images->asked && sim->model.box.triclinic ? md_images_refresh(sim) : MD_OK;
  images->strict = false;
  return status;
}

static md_status destroy(md_observer *observer)
{
  md_images *images = (md_images *)observer;
  images->sim->images = NULL;
  free(images);
  return MD_OK;
}

/* ---- for others ---- */

/* Makes what keeps flags, unless it is there. */
static md_status make(md_sim *sim)
{
  if (sim->images) {
    sim->images->values->claimed = true;
    return MD_OK;
  }
  md_images *images = calloc(1, sizeof *images);
  if (!images) return md_error(MD_RUNTIME, "out of memory for %s", NAME);
  const md_status status = md_id_values_new(sim, STYLE, ID, COLUMNS, &images->values);
  if (status != MD_OK) {
    free(images);
    return status;
  }
  images->sim = sim;
  /* A frame leaves out the dumps that have asked. */
  images->asked = sim->frame != NULL;
  memcpy(images->tilt, sim->model.box.tilt, sizeof images->tilt);
  images->base.due = due;
  images->base.due_back = due_back;
  images->base.start = start;
  images->base.observe = observe;
  images->base.finish = finish;
  images->base.destroy = destroy;
  md_sim_append_observer(sim, &images->base);
  sim->images = images;
  return MD_OK;
}

md_status md_images_begin(md_sim *sim)
{
  MD_TRY(make(sim));
  if (sim->images_missed && !sim->images->asked)
    md_sim_explain(
        sim, NAME,
        "they are counted from now on; LAMMPS has counted them in the runs and displacements before");
  sim->images->asked = true;
  return MD_OK;
}

bool md_images_can_be(const md_box *box) { return box->periodic[0] || box->periodic[1] || box->periodic[2]; }

static bool are_asked(const md_sim *sim) { return sim->images && sim->images->asked; }

void md_images_explain_missed(md_sim *sim, const char *what)
{
  if (sim->images_missed && !md_images_are_kept(sim))
    md_sim_explain(
        sim, what,
        "places begin in the box; LAMMPS has counted image flags in the runs and displacements before");
}

md_status md_images_need(md_sim *sim, const char *what)
{
  if (sim->images_missed)
    return md_error(
        MD_USAGE,
        "%s needs image flags, which the runs and displacements before did not count: define a variable "
        "with it before them",
        what);
  return md_images_begin(sim);
}

md_status md_images_expect(md_sim *sim, bool moves)
{
  if (!md_images_can_be(&sim->model.box)) return MD_OK;
  if (sim->unwraps && !sim->images_missed) MD_TRY(md_images_begin(sim));
  sim->images_missed = sim->images_missed || (moves && !are_asked(sim));
  return MD_OK;
}

static bool is_among(int n, const md_id_column *column, int *first)
{
  *first = 0;
  while (*first < n && strncmp(column[*first].name, NAME, sizeof NAME - 1) != 0) ++*first;
  return *first + COLUMNS <= n;
}

md_status md_images_restore(md_sim *sim)
{
  for (const md_id_values *v = sim->id_values; v; v = v->next)
    if (strcmp(v->name, NAME) == 0) return make(sim);
  return MD_OK;
}

md_status md_images_set(md_sim *sim, const uint8_t *chosen, double *const flag[3])
{
  double *record;
  MD_TRY(make(sim));
  sim->images->strict = false;
  MD_TRY(look(sim->images, &record));
  for (int64_t i = 0; i < sim->particles.n; ++i)
    for (int d = 0; d < sim->model.box.dim && (!chosen || chosen[i]); ++d)
      if (flag[d] && sim->model.box.periodic[d]) record[i * COLUMNS + FLAG + d] = flag[d][i];
  const md_status status = md_id_values_set(sim->images->values, NULL, record);
  free(record);
  return status;
}

bool md_images_are_kept(const md_sim *sim) { return sim->images && sim->images->values->claimed; }

md_status md_images_flags(md_sim *sim, double *flag[3])
{
  double *record;
  md_status status = MD_OK;
  for (int d = 0; d < 3 && status == MD_OK; ++d)
    status = md_array_new(&flag[d], sim->particles.n + 1, sizeof *flag[d], NAME);
  MD_TRY(md_comm_agree(sim->comm, status));
  MD_TRY(look(sim->images, &record));
  for (int64_t i = 0; i < sim->particles.n; ++i)
    for (int d = 0; d < 3; ++d) flag[d][i] = record[i * COLUMNS + FLAG + d];
  free(record);
  return MD_OK;
}

md_status md_images_jump(md_sim *sim, int n, const md_id_column *column)
{
  int first;
  if (is_among(n, column, &first)) {
    MD_TRY(md_images_begin(sim));
    return md_id_columns_take(sim, COLUMNS, column + first);
  }
  md_images_forget(sim);
  return MD_OK;
}

md_status md_images_refresh(md_sim *sim)
{
  double *record = NULL;
  /* A variable may have asked for them before there was a box. */
  MD_TRY(md_images_expect(sim, false));
  if (!md_images_are_kept(sim)) return MD_OK;
  const md_status status = look(sim->images, &record);
  free(record);
  return status;
}

/* There are no flags. Particles outside the box are put into it next: flags that come later miss that. */
static md_status note_places_outside(md_sim *sim)
{
  const md_particles *p = &sim->particles;
  const md_box *box = &sim->model.box;
  double outside = 0.0;
#pragma omp parallel for schedule(static) reduction(max : outside)
  for (int64_t i = 0; i < p->n; ++i) {
    double x[3] = {0.0, 0.0, 0.0}, fraction[3];
    for (int d = 0; d < p->dim; ++d) x[d] = p->x[d][i];
    md_box_fractions(box, x, fraction);
    for (int d = 0; d < p->dim; ++d)
      if (box->periodic[d] && (fraction[d] < 0.0 || fraction[d] >= 1.0)) outside = 1.0;
  }
  MD_TRY(sim->comm->reduce->max(sim->comm, &outside, 1));
  sim->images_missed = sim->images_missed || outside > 0.0;
  return MD_OK;
}

md_status md_images_place(md_sim *sim)
{
  const md_particles *p = &sim->particles;
  double *record;
  if (!md_images_are_kept(sim)) return note_places_outside(sim);
  MD_TRY(md_comm_agree(sim->comm, md_array_new(&record, p->n * COLUMNS + 1, sizeof *record, "image flags")));
  md_status status = md_id_values_get(sim->images->values, record);
  for (int64_t i = 0; i < p->n; ++i)
    for (int d = 0; d < p->dim; ++d) record[i * COLUMNS + PLACE + d] = p->x[d][i];
  if (status == MD_OK) status = md_id_values_set(sim->images->values, NULL, record);
  memcpy(sim->images->tilt, sim->model.box.tilt, sizeof sim->images->tilt);
  free(record);
  return status;
}

md_status md_images_edited(md_sim *sim)
{
  if (!are_asked(sim)) return MD_OK;
  sim->images->looks.next = md_model_step_after(&sim->model, 1);
  return md_images_refresh(sim);
}

void md_images_forget(md_sim *sim)
{
  if (sim->images) sim->images->values->n = 0;
}

bool md_images_are_alone(const md_sim *sim)
{
  return sim->images && sim->observers == &sim->images->base && !sim->observers->next;
}

bool md_images_others(const md_sim *sim)
{
  const md_id_values *v = sim->id_values;
  while (v && strcmp(v->name, NAME) == 0) v = v->next;
  return v != NULL;
}

static void unwrap(const md_box *box, const double *record, double x[3])
{
  memcpy(x, record + PLACE, 3 * sizeof *x);
  for (int d = 0; d < box->dim; ++d) md_lattice_shift(box->length, box->tilt, d, record[FLAG + d], x);
}

/* The value that a name has for a particle. */
static double value_of(const md_box *box, int name, const double *record)
{
  const int axis = names[name].axis;
  double x[3], fraction[3];
  if (names[name].flag) return record[FLAG + axis] + 0.0;
  unwrap(box, record, x);
  if (!names[name].scaled) return x[axis];
  md_box_fractions(box, x, fraction);
  if (axis == 2 && box->dim == 2) return (x[2] - box->lo[2]) / box->length[2];
  return fraction[axis];
}

/* The present records. The caller frees *own. */
static md_status get_records(md_sim *sim, double **own, const double **record)
{
  *own = NULL;
  MD_TRY(md_images_begin(sim));
  MD_TRY(sim->view ? observe(&sim->images->base, sim->view) : look(sim->images, own));
  *record = sim->view ? sim->view->image : *own;
  return MD_OK;
}

md_status md_images_unwrap(md_sim *sim, double *x[3])
{
  const md_particles *p = &sim->particles;
  const md_box *box = &sim->model.box;
  const double *record = NULL;
  double *own = NULL;
  md_status status = MD_OK;
  for (int d = 0; d < 3 && status == MD_OK; ++d)
    status = md_array_new_zero(&x[d], p->n + 1, sizeof *x[d], "unwrapped positions");
  MD_TRY(md_comm_agree(sim->comm, status));
  if (md_images_can_be(box)) MD_TRY(get_records(sim, &own, &record));
  for (int64_t i = 0; i < p->n; ++i) {
    double at[3] = {0.0, 0.0, 0.0};
    for (int d = 0; d < p->dim; ++d) at[d] = p->x[d][i];
    if (record) unwrap(box, record + i * COLUMNS, at);
    for (int d = 0; d < 3; ++d) x[d][i] = at[d];
  }
  free(own);
  return MD_OK;
}

static md_status get(md_sim *sim, int name, double *value)
{
  const double *record;
  double *own;
  MD_TRY(get_records(sim, &own, &record));
  for (int64_t i = 0; i < sim->particles.n; ++i)
    value[i] = value_of(&sim->model.box, name, record + i * COLUMNS);
  free(own);
  return MD_OK;
}

md_status md_images_or_values(md_sim *sim, const char *name, double *value)
{
  const int k = name_of(name);
  return k < NAMES ? get(sim, k, value) : md_particle_values_of(sim, name, value);
}
