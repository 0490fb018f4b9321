/* Image flags; see images.h.
 *
 * 1. The place of each particle at the last look and its flags are kept by id (src/properties/id_values.h), in seven
 *    columns. Restarts, new ids and deletions are cared for there.
 * 2. A look compares places with those of the look before, and keeps the new ones. A particle without a record is new:
 *    its flags are 0.
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
  bool asked;   /* the deck needs flags; else they are held until the next run */
  int64_t next; /* step of the next look */
  bool strict;  /* in a run that has looked already */
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

/* Is there a record of the axis? One that a damaged restart has brought is none. */
static bool is_known(const double *record, int d)
{
  return record[KNOWN] == 1.0 && isfinite(record[PLACE + d]) && fabs(record[FLAG + d]) < 0x1p31;
}

/* Looks at particle i; record: that of the last look. Returns the axis along which it went too far, or -1. */
static int look_at(const md_sim *sim, int64_t i, double *record)
{
  const md_box *box = &sim->model.box;
  int lost = -1;
  for (int d = 0; d < box->dim; ++d) {
    const double x = sim->particles.x[d][i], length = box->length[d];
    double step = 0.0;
    if (!is_known(record, d))
      record[FLAG + d] = 0.0;
    else if (box->periodic[d])
      step = x - record[PLACE + d];
    const double through = rint(step / length);
    record[FLAG + d] -= through;
    record[PLACE + d] = x;
    if (fabs(step - through * length) > 0.25 * length) lost = d;
  }
  record[KNOWN] = 1.0;
  return lost;
}

/* Looks at all particles of this rank; record: those of the last look. */
static md_status look_at_all(const md_images *images, double *record)
{
  const md_particles *p = &images->sim->particles;
  int64_t far = INT64_MAX;
#pragma omp parallel for schedule(static) reduction(min : far)
  for (int64_t i = 0; i < p->n; ++i) {
    const int axis = look_at(images->sim, i, record + i * COLUMNS);
    if (axis >= 0 && 3 * i + axis < far) far = 3 * i + axis;
  }
  if (far == INT64_MAX || !images->strict) return MD_OK;
  return md_error(
      MD_PHYSICS,
      "particle %lld moved by a quarter of the periodic side %c since its image flags were counted: "
      "the way through a face may have been missed; use a larger box",
      (long long)p->id[far / 3], "xyz"[far % 3]);
}

/* A look, which makes the records of all particles of this rank. The caller frees *record. Collective. */
static md_status look(md_images *images, double **record)
{
  md_sim *sim = images->sim;
  MD_TRY(md_comm_agree(
      sim->comm, md_array_new_zero(record, sim->particles.n * COLUMNS + 1, sizeof **record, "image flags")));
  md_status status = md_id_values_get(images->values, *record);
  if (status == MD_OK) status = md_comm_agree(sim->comm, look_at_all(images, *record));
  if (status == MD_OK) status = md_id_values_set(images->values, NULL, *record);
  if (status == MD_OK && sim->view && sim->view->engine) {
    images->strict = true;
    status = md_looks_plan(sim, md_looks_speed(sim, MD_GROUP_ALL), &images->next);
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
  return images->next > step ? images->next : step;
}

static int64_t due_back(md_observer *observer, int64_t step)
{
  const md_images *images = (const md_images *)observer;
  if (!images->asked) return -1;
  return images->next < step ? images->next : step;
}

static md_status start(md_observer *observer, md_sim *sim)
{
  md_images *images = (md_images *)observer;
  images->next = sim->model.step;
  images->strict = false;
  if (!images->asked) {
    images->values->n = 0;
    images->values->claimed = false;
  }
  return MD_OK;
}

/* The records of the step that is shown, which its view keeps. */
static md_status observe(md_observer *observer, md_view *view)
{
  if (view->image) return MD_OK;
  MD_TRY(md_view_particles(view));
  return look((md_images *)observer, &view->image);
}

static void destroy(md_observer *observer)
{
  md_images *images = (md_images *)observer;
  images->sim->images = NULL;
  free(images);
}

/* ---- for others ---- */

/* Makes what keeps flags, unless it is there. */
static md_status make(md_sim *sim, const char *what)
{
  md_observer **at = &sim->observers;
  if (sim->model.box.triclinic)
    return md_error(MD_USAGE,
                    "%s: a tilted box has no image flags, and no xu yu zu ix iy iz; compute displace/atom "
                    "follows particles through its faces",
                    what);
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
  images->next = sim->model.step;
  images->base.due = due;
  images->base.due_back = due_back;
  images->base.start = start;
  images->base.observe = observe;
  images->base.destroy = destroy;
  while (*at) at = &(*at)->next;
  *at = &images->base;
  sim->images = images;
  return MD_OK;
}

md_status md_images_begin(md_sim *sim, const char *what)
{
  MD_TRY(make(sim, what));
  sim->images->asked = true;
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
    if (strcmp(v->name, NAME) == 0) return make(sim, "read_restart");
  return MD_OK;
}

md_status md_images_set(md_sim *sim, const uint8_t *chosen, double *const flag[3])
{
  double *record;
  MD_TRY(make(sim, NAME));
  MD_TRY(look(sim->images, &record));
  for (int64_t i = 0; i < sim->particles.n; ++i)
    for (int d = 0; d < sim->model.box.dim && chosen[i]; ++d)
      if (flag[d] && sim->model.box.periodic[d]) record[i * COLUMNS + FLAG + d] = flag[d][i];
  const md_status status = md_id_values_set(sim->images->values, NULL, record);
  free(record);
  return status;
}

bool md_images_are_kept(const md_sim *sim) { return sim->images && sim->images->values->claimed; }

md_status md_images_flags(md_sim *sim, double *const flag[3])
{
  double *record;
  MD_TRY(look(sim->images, &record));
  for (int64_t i = 0; i < sim->particles.n; ++i)
    for (int d = 0; d < 3; ++d) flag[d][i] = record[i * COLUMNS + FLAG + d];
  free(record);
  return MD_OK;
}

md_status md_images_jump(md_sim *sim, int n, const md_id_column *column)
{
  int first;
  if (!sim->images) return MD_OK;
  if (is_among(n, column, &first)) return md_id_columns_take(sim, COLUMNS, column + first);
  md_images_forget(sim);
  return MD_OK;
}

void md_images_forget(md_sim *sim)
{
  if (sim->images) sim->images->values->n = 0;
}

void md_images_end_alone(md_sim *sim)
{
  md_images *images = sim->images;
  if (!images || sim->observers != &images->base || images->base.next) return;
  md_id_values_free(images->values);
  sim->observers = NULL;
  destroy(&images->base);
}

bool md_images_others(const md_sim *sim)
{
  const md_id_values *v = sim->id_values;
  while (v && strcmp(v->name, NAME) == 0) v = v->next;
  return v != NULL;
}

/* The value that a name has for a particle. */
static double value_of(const md_box *box, int name, const double *record)
{
  const int d = names[name].axis;
  const double length = box->length[d], x = record[PLACE + d] + record[FLAG + d] * length;
  if (names[name].flag) return record[FLAG + d] + 0.0;
  return names[name].scaled && d < box->dim ? (x - box->lo[d]) / length : x;
}

md_status md_images_get(md_sim *sim, const char *name, double *value)
{
  const int k = name_of(name);
  double *own = NULL;
  MD_TRY(md_images_begin(sim, name));
  MD_TRY(sim->view ? observe(&sim->images->base, sim->view) : look(sim->images, &own));
  const double *record = sim->view ? sim->view->image : own;
  for (int64_t i = 0; i < sim->particles.n; ++i)
    value[i] = value_of(&sim->model.box, k, record + i * COLUMNS);
  free(own);
  return MD_OK;
}
