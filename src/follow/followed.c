/* Following particles from rank to rank and through periodic faces; see followed.h.
 *
 * 1. The record of a particle is at home on rank id mod ranks, in the order of ids, wherever the particle goes.
 * 2. At a look each rank sends the places of its particles home. A home compares a place with that of the last look. A
 *    change by more than half of a periodic side is a way through a face. The answer goes back to the particle's rank.
 * 3. The next look is so soon that a particle with SPEEDS times the largest speed of this look crosses less than half
 *    of the shortest periodic side, and after MOST steps at the latest. A change by more than a quarter of the side is
 *    an error, so that a way through a face is not missed in silence.
 *
 * Advantage: engines need no bytes for it, and no work between looks. Cost: at a look the particles come from the
 * engine, and 96 bytes a particle go to homes and back. Memory: 104 bytes a particle. Restarts do not hold the records.
 */
#include "src/follow/followed.h"
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SPEEDS = 8.0;

enum { MOST = 100 };

/* The record of a particle at home. */
typedef struct record {
  int64_t id;
  double first[3], velocity[3]; /* of the first look */
  double last[3];               /* place in the box at the last look */
  double through[3]; /* times that it left through the upper face, less those through the lower one */
} record;

/* A question to a home, and its answer. */
typedef struct message {
  int64_t id;
  int64_t rank, place; /* of the particle */
  double x[3], v[3];   /* place and velocity; in the answer the first ones */
  double moved[3];     /* in the answer: the displacement */
} message;

struct md_followed {
  md_sim *sim;
  char what[64];
  int64_t n;
  record *at;            /* [n] of this home, by id */
  md_observer *observer; /* NULL: none */
  int64_t next;          /* step of the next look */
};

typedef struct look_observer {
  md_observer base; /* must come first */
  md_followed *followed;
} look_observer;

/* ---- messages ---- */

/* Makes a message of each particle. Between runs particles have velocities. */
static void fill(const md_sim *sim, message *m, int32_t *to)
{
  const md_particles *p = &sim->particles;
  for (int64_t i = 0; i < p->n; ++i) {
    m[i] = (message){.id = p->id[i], .rank = sim->comm->rank, .place = i};
    for (int d = 0; d < p->dim; ++d) {
      m[i].x[d] = p->x[d][i];
      m[i].v[d] = sim->view ? md_model_velocity(&sim->model, p, d, i) : p->v[d][i];
    }
    to[i] = (int32_t)(p->id[i] % sim->comm->size);
  }
}

/* Sends each particle's message home; the caller frees *received. */
static md_status send_home(md_sim *sim, message **received, int64_t *n)
{
  message *sent = NULL;
  int32_t *to = NULL;
  void *bytes = NULL;
  md_status status = md_array_new(&sent, sim->particles.n + 1, sizeof *sent, "particles that are followed");
  if (status == MD_OK)
    status = md_array_new(&to, sim->particles.n + 1, sizeof *to, "particles that are followed");
  status = md_comm_agree(sim->comm, status);
  if (status == MD_OK) {
    fill(sim, sent, to);
    status =
        sim->comm->exchange->sparse_exchange(sim->comm, sim->particles.n, to, sent, sizeof *sent, &bytes, n);
  }
  free(sent);
  free(to);
  *received = bytes;
  return status;
}

/* ---- homes ---- */

static int by_id(const void *a, const void *b)
{
  const int64_t one = ((const record *)a)->id, other = ((const record *)b)->id;
  return one < other ? -1 : one > other;
}

static md_status note_all(md_followed *f)
{
  message *m;
  MD_TRY(send_home(f->sim, &m, &f->n));
  const md_status status = md_comm_agree(
      f->sim->comm, md_array_new_zero(&f->at, f->n + 1, sizeof *f->at, "particles that are followed"));
  for (int64_t k = 0; k < f->n && status == MD_OK; ++k) {
    record *r = &f->at[k];
    r->id = m[k].id;
    memcpy(r->first, m[k].x, sizeof r->first);
    memcpy(r->last, m[k].x, sizeof r->last);
    memcpy(r->velocity, m[k].v, sizeof r->velocity);
  }
  if (status == MD_OK) qsort(f->at, (size_t)f->n, sizeof *f->at, by_id);
  free(m);
  return status;
}

/* Adds the faces that a particle went through since the last look, and finds how far it is from its first place. */
static md_status follow_one(const md_followed *f, const md_box *box, record *r, message *m)
{
  double step[3] = {0.0};
  for (int d = 0; d < box->dim; ++d) {
    step[d] = m->x[d] - r->last[d];
    m->moved[d] = m->x[d] - r->first[d];
    r->last[d] = m->x[d];
  }
  for (int d = box->dim - 1; d >= 0; --d) {
    const double length = box->length[d];
    if (!box->periodic[d]) continue;
    for (; step[d] + step[d] > length; --r->through[d])
      md_lattice_shift(box->length, box->tilt, d, -1.0, step);
    for (; step[d] + step[d] < -length; ++r->through[d])
      md_lattice_shift(box->length, box->tilt, d, 1.0, step);
    if (fabs(step[d]) > 0.25 * length)
      return md_error(
          MD_PHYSICS,
          "particle %lld moved by a quarter of the periodic side %c since %s looked at it: a way through "
          "a face may be lost; use a larger box",
          (long long)m->id, "xyz"[d], f -> what);
  }
  for (int d = 0; d < box->dim; ++d) md_lattice_shift(box->length, box->tilt, d, r->through[d], m->moved);
  return MD_OK;
}

/* Compares the place of a particle with that of the last look, and makes the answer. */
static md_status answer(md_followed *f, message *m)
{
  const md_box *box = &f->sim->model.box;
  const record key = {.id = m->id};
  record *r = bsearch(&key, f->at, (size_t)f->n, sizeof *f->at, by_id);
  if (!r)
    return md_error(MD_USAGE, "particle %lld is new since %s was defined: uncompute and define it again",
                    (long long)m->id, f->what);
  if (f->observer) MD_TRY(follow_one(f, box, r, m));
  memcpy(m->x, r->first, sizeof r->first);
  memcpy(m->v, r->velocity, sizeof r->velocity);
  return MD_OK;
}

/* Chooses the step of the next look. */
static md_status plan_look(md_followed *f)
{
  const md_model *model = &f->sim->model;
  const md_particles *p = &f->sim->particles;
  double most = 0.0, side = (double)INFINITY;
  for (int d = 0; d < p->dim; ++d) {
    for (int64_t i = 0; i < p->n; ++i) most = md_max(most, fabs(md_model_velocity(model, p, d, i)));
    if (model->box.periodic[d]) side = md_min(side, model->box.length[d]);
  }
  MD_TRY(f->sim->comm->reduce->max(f->sim->comm, &most, 1));
  const double steps = floor(0.5 * side / (SPEEDS * most * model->dt));
  f->next = md_model_step_after(model, steps >= MOST ? MOST : steps > 1.0 ? (int64_t)steps : 1);
  return MD_OK;
}

/* The message of an answer goes back to the rank of its particle. */
static md_status send_back(md_followed *f, const message *m, int64_t n, md_follow *now)
{
  md_comm *comm = f->sim->comm;
  int32_t *to = NULL;
  void *bytes = NULL;
  int64_t count = 0;
  md_status status = md_comm_agree(comm, md_array_new(&to, n + 1, sizeof *to, "particles that are followed"));
  for (int64_t k = 0; k < n && status == MD_OK; ++k) to[k] = (int32_t)m[k].rank;
  if (status == MD_OK) status = comm->exchange->sparse_exchange(comm, n, to, m, sizeof *m, &bytes, &count);
  const message *received = bytes;
  for (int64_t k = 0; k < count && status == MD_OK; ++k) {
    md_follow *one = &now[received[k].place];
    memcpy(one->displacement, received[k].moved, sizeof one->displacement);
    memcpy(one->place, received[k].x, sizeof one->place);
    memcpy(one->velocity, received[k].v, sizeof one->velocity);
  }
  free(bytes);
  free(to);
  return status;
}

md_status md_followed_find(md_followed *f, md_follow *now)
{
  message *m;
  int64_t n;
  MD_TRY(send_home(f->sim, &m, &n));
  md_status status = MD_OK;
  for (int64_t k = 0; k < n && status == MD_OK; ++k) status = answer(f, &m[k]);
  status = md_comm_agree(f->sim->comm, status);
  if (status == MD_OK) status = send_back(f, m, n, now);
  if (status == MD_OK && f->observer) status = plan_look(f);
  free(m);
  return status;
}

/* ---- looks ---- */

static int64_t due(md_observer *observer, int64_t step)
{
  const md_followed *f = ((look_observer *)observer)->followed;
  return f->next > step ? f->next : step;
}

static int64_t due_back(md_observer *observer, int64_t step)
{
  const md_followed *f = ((look_observer *)observer)->followed;
  return f->next < step ? f->next : step;
}

/* Commands between runs may have moved particles. */
static md_status start(md_observer *observer, md_sim *sim)
{
  ((look_observer *)observer)->followed->next = sim->model.step;
  return MD_OK;
}

static md_status observe(md_observer *observer, md_view *view)
{
  md_followed *f = ((look_observer *)observer)->followed;
  md_follow *now;
  MD_TRY(md_view_particles(view));
  MD_TRY(md_comm_agree(view->sim->comm, md_array_new(&now, view->sim->particles.n + 1, sizeof *now,
                                                     "particles that are followed")));
  const md_status status = md_followed_find(f, now);
  free(now);
  return status;
}

static void destroy(md_observer *observer)
{
  ((look_observer *)observer)->followed->observer = NULL;
  free(observer);
}

bool md_is_follower(const md_observer *observer) { return observer->observe == observe; }

static md_status make_observer(md_followed *f)
{
  look_observer *o = calloc(1, sizeof *o);
  md_observer **at = &f->sim->observers;
  if (!o) return md_error(MD_RUNTIME, "out of memory for %s", f->what);
  o->followed = f;
  o->base.due = due;
  o->base.due_back = due_back;
  o->base.start = start;
  o->base.observe = observe;
  o->base.destroy = destroy;
  f->observer = &o->base;
  while (*at) at = &(*at)->next;
  *at = f->observer;
  return MD_OK;
}

md_status md_followed_begin(md_sim *sim, const char *what, bool displacements, md_followed **followed)
{
  if (sim->resume)
    return md_error(MD_USAGE,
                    "%s cannot be resumed: restarts do not hold the first places and velocities of particles",
                    what);
  md_followed *f = calloc(1, sizeof *f);
  if (!f) return md_error(MD_RUNTIME, "out of memory for %s", what);
  f->sim = sim;
  strncpy(f->what, what, sizeof f->what - 1);
  *followed = f;
  MD_TRY(note_all(f));
  return displacements ? make_observer(f) : MD_OK;
}

void md_followed_end(md_followed *f)
{
  if (!f) return;
  if (f->observer) {
    md_observer **at = &f->sim->observers;
    while (*at != f->observer) at = &(*at)->next;
    *at = f->observer->next;
    destroy(f->observer);
  }
  free(f->at);
  free(f);
}
