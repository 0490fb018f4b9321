/* Following particles from rank to rank and through periodic faces; see followed.h.
 *
 * 1. The record of a particle is at the home of its id (common/ranks/outbox.h), in the order of ids.
 * 2. At a look each rank sends the places of its particles home. A home compares a place with that of the last look
 *    (common/sums/follow.h). The record goes back to the particle's rank. They go in rounds of at most ROUND particles
 *    of a rank, so that messages take little memory.
 * 3. On one rank an engine may have the records, and look without giving its particles (follow of common/engine.h).
 * 4. src/follow/looks.h says when the next look is. A change by more than a quarter of the side is an error, so that a
 *    way through a face is not missed in silence.
 *
 * Only particles of the group are followed; those of a dynamic group may be any, so that all are. Advantage: engines do
 * no work between looks. Cost: where the engine does not look, the particles come from it, and 120 bytes a particle go
 * to homes and back. Memory: 80 bytes a particle, and 64 more while the host looks. Restarts do not hold the records.
 */
#include "src/follow/followed.h"
#include "common/ranks/outbox.h"
#include "common/ranks/reductions.h"
#include "src/follow/images.h"
#include "src/follow/looks.h"
#include "src/group/dynamic_group.h"
#include "src/sums/exact_sum.h"

#include <stdlib.h>
#include <string.h>

enum { ROUND = 1 << 17 };

static const char what_is_sent[] = "particles that are followed";

/* A question to a home. */
typedef struct question {
  int64_t id;
  int64_t rank, place; /* of the particle */
  double x[3];         /* its place or velocity */
  int32_t through[3];  /* at the first look: its image flags, or 0 */
  int32_t type;
} question;

/* The answer. */
typedef struct answer {
  int64_t place;
  md_follow_record record;
} answer;

struct md_followed {
  md_sim *sim;
  char name[64];
  int group;
  md_followed_what what;
  md_follow_set set;     /* of this home */
  md_observer *observer; /* NULL: none */
  md_looks looks;
  int64_t looked;        /* step of the last look of this run, or -1 */
  double tilt[3];        /* of the box at the last look */
  md_followed *next_one; /* of the list of the simulation */
};

typedef struct look_observer {
  md_observer base; /* must come first */
  md_followed *followed;
} look_observer;

/* The present box, and what is looked at. */
static md_follow follow_of(const md_followed *f)
{
  const md_box *box = &f->sim->model.box;
  md_follow now = {
      .velocities = f->what == MD_FOLLOWED_VELOCITIES, .group = md_group_bit(f->group), .dim = box->dim};
  memcpy(now.periodic, box->periodic, sizeof now.periodic);
  memcpy(now.length, box->length, sizeof now.length);
  memcpy(now.tilt, box->tilt, sizeof now.tilt);
  if (box->triclinic) md_box_flips(box, f->tilt, now.flips);
  return now;
}

static void note_look(md_followed *f)
{
  const md_model *model = &f->sim->model;
  f->looked = model->step;
  memcpy(f->tilt, model->box.tilt, sizeof f->tilt);
}

/* The bit of the group of which there are records. */
static uint32_t bit_of(const md_followed *f)
{
  return md_dynamic_group_is(f->sim, f->group) ? MD_GROUP_ALL : md_group_bit(f->group);
}

/* ---- messages ---- */

/* Particles of this rank: all of [first, last), or those that are chosen. flag: their image flags, or NULL. */
typedef struct selection {
  int64_t first, last;
  const uint8_t *chosen;
  double *const *flag;
} selection;

static selection all_of(const md_sim *sim) { return (selection){.last = sim->particles.n}; }

/* Those of a round; none if this rank has fewer rounds than another. */
static selection in_round(const md_sim *sim, int64_t round)
{
  const int64_t n = sim->particles.n, first = round * ROUND, last = first + ROUND;
  return (selection){.first = first < n ? first : n, .last = last < n ? last : n};
}

/* The most rounds of a rank. Collective. */
static md_status count_rounds(const md_sim *sim, int64_t *rounds)
{
  const int64_t own = (sim->particles.n + ROUND - 1) / ROUND;
  double most = (double)own;
  MD_TRY(sim->comm->reduce->max(sim->comm, &most, 1));
  *rounds = (int64_t)most;
  return MD_OK;
}

/* Adds a message of each particle that is followed, and selected. Between runs particles have velocities. */
static void fill(const md_followed *f, const selection *s, md_outbox *out)
{
  const md_sim *sim = f->sim;
  const md_particles *p = &sim->particles;
  const uint32_t bit = bit_of(f);
  for (int64_t i = s->first; i < s->last; ++i) {
    if (!md_particles_in_group(p, bit, i) || (s->chosen && !s->chosen[i])) continue;
    question *m = md_outbox_add(out, md_home_of(sim->comm, p->id[i]));
    *m = (question){.id = p->id[i], .rank = sim->comm->rank, .place = i, .type = p->type[i]};
    for (int d = 0; d < p->dim; ++d)
      m->x[d] = f->what != MD_FOLLOWED_VELOCITIES ? p->x[d][i]
                : sim->view                       ? md_model_velocity(&sim->model, p, d, i)
                                                  : p->v[d][i];
    for (int d = 0; d < 3 && s->flag; ++d) m->through[d] = (int32_t)s->flag[d][i];
  }
}

/* Sends the messages of particles home; the caller frees *received. */
static md_status send_home(md_followed *f, selection of, question **received, int64_t *n)
{
  md_outbox out;
  MD_TRY(md_outbox_open(&out, f->sim->comm, of.last - of.first, sizeof **received, what_is_sent));
  fill(f, &of, &out);
  return md_outbox_send(&out, received, n);
}

/* ---- homes ---- */

static int by_id(const void *a, const void *b)
{
  const int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
  return one < other ? -1 : one > other;
}

static md_status make_set(md_follow_set *set, int64_t n)
{
  set->n = n;
  MD_TRY(md_array_new(&set->id, n + 1, sizeof *set->id, "particles that are followed"));
  MD_TRY(md_array_new_zero(&set->at, n + 1, sizeof *set->at, "particles that are followed"));
  return md_array_new_zero(&set->last_look, n + 1, sizeof *set->last_look, "particles that are followed");
}

/* As send_home, with the image flags that particles have between runs. */
static md_status send_home_with_flags(md_followed *f, question **received, int64_t *n)
{
  double *flag[3] = {NULL, NULL, NULL};
  md_status status = md_images_flags(f->sim, flag);
  selection all = all_of(f->sim);
  all.flag = flag;
  if (status == MD_OK) status = send_home(f, all, received, n);
  for (int d = 0; d < 3; ++d) free(flag[d]);
  return status;
}

/* A message begins with the id. A way begins at the unwrapped place, as in LAMMPS: where the box grows, an image flag
 * is a part of the way. */
static md_status note_all(md_followed *f)
{
  md_follow_set *set = &f->set;
  question *m;
  int64_t n;
  const bool flagged = f->what != MD_FOLLOWED_VELOCITIES && md_images_are_kept(f->sim);
  note_look(f);
  const md_follow now = follow_of(f);
  MD_TRY(flagged ? send_home_with_flags(f, &m, &n) : send_home(f, all_of(f->sim), &m, &n));
  const md_status status = md_comm_agree(f->sim->comm, make_set(set, n));
  if (status == MD_OK) qsort(m, (size_t)n, sizeof *m, by_id);
  for (int64_t k = 0; k < n && status == MD_OK; ++k) {
    set->id[k] = m[k].id;
    memcpy(set->at[k].first, m[k].x, sizeof m[k].x);
    memcpy(set->at[k].last, m[k].x, sizeof m[k].x);
    memcpy(set->at[k].through, m[k].through, sizeof m[k].through);
    set->at[k].type = m[k].type;
    for (int d = 0; d < now.dim && flagged && f->what != MD_FOLLOWED_UNWRAPPED; ++d)
      md_lattice_shift(now.length, now.tilt, d, m[k].through[d], set->at[k].first);
  }
  free(m);
  return status;
}

static md_status is_new(const md_followed *f, int64_t id)
{
  return md_error(MD_USAGE,
                  "particle %lld is new since %s was defined, or has left its group meanwhile: uncompute and "
                  "define it again",
                  (long long)id, f->name);
}

static md_status went_too_far(const md_followed *f, int64_t id, int axis)
{
  return md_error(MD_PHYSICS,
                  "particle %lld moved by a quarter of the periodic side %c since %s looked at it: the way "
                  "through a face may have been missed; use a larger box",
                  (long long)id, "xyz"[axis], f -> name);
}

static md_status status_of(const md_followed *f, const md_follow_fault *fault)
{
  return fault->kind == MD_FOLLOW_NEW   ? is_new(f, fault->id)
         : fault->kind == MD_FOLLOW_FAR ? went_too_far(f, fault->id, fault->axis)
                                        : MD_OK;
}

/* Looks at a particle, and makes the answer. False: there is none, because of a fault. moved: as md_follow_look has
 * it. */
static bool look_at(md_followed *f, const md_follow *now, const question *m, answer *to, double *moved,
                    md_follow_fault *fault)
{
  md_follow_set *set = &f->set;
  const int64_t *id = bsearch(&m->id, set->id, (size_t)set->n, sizeof *id, by_id);
  if (!id || (!now->velocities && set->last_look[id - set->id] != set->looks)) {
    md_looks_note_fault(fault, MD_FOLLOW_NEW, m->id, 0);
    return false;
  }
  md_follow_record *r = &set->at[id - set->id];
  set->last_look[id - set->id] = set->looks + 1;
  if (now->velocities)
    memcpy(r->last, m->x, sizeof r->last);
  else {
    const int axis = md_follow_look(now, r, m->x, moved);
    if (axis >= 0) md_looks_note_fault(fault, MD_FOLLOW_FAR, m->id, axis);
  }
  *to = (answer){m->place, *r};
  return true;
}

/* Answers n questions, and sends the answers to the ranks of the particles, into now. */
static md_status answer_all(md_followed *f, const question *m, int64_t n, md_follow_record *now,
                            double *moved, md_follow_fault *fault)
{
  const md_follow what = follow_of(f);
  md_outbox out;
  answer *received, made;
  int64_t count;
  MD_TRY(md_outbox_open(&out, f->sim->comm, n, sizeof *received, what_is_sent));
  for (int64_t k = 0; k < n; ++k)
    if (look_at(f, &what, &m[k], &made, moved, fault))
      *(answer *)md_outbox_add(&out, (int32_t)m[k].rank) = made;
  MD_TRY(md_outbox_send(&out, &received, &count));
  for (int64_t k = 0; k < count; ++k) now[received[k].place] = received[k].record;
  free(received);
  return MD_OK;
}

/* A look at the particles of a round. */
static md_status look_in_round(md_followed *f, int64_t round, md_follow_record *now, double *moved,
                               md_follow_fault *fault)
{
  question *m;
  int64_t n;
  MD_TRY(send_home(f, in_round(f->sim, round), &m, &n));
  const md_status status = answer_all(f, m, n, now, moved, fault);
  free(m);
  return status;
}

md_status md_followed_find(md_followed *f, md_follow_record **now)
{
  md_follow_pace pace = {0.0, 0.0};
  md_follow_fault fault = {MD_FOLLOW_GOOD, 0, 0};
  md_status status = MD_OK;
  int64_t rounds;
  *now = NULL;
  if (f->set.lost) return md_error(MD_RUNTIME, "%s has lost its particles on the GPU", f->name);
  MD_TRY(md_comm_agree(f->sim->comm, md_array_new_zero(now, f->sim->particles.n + 1, sizeof **now,
                                                       "particles that are followed")));
  MD_TRY(count_rounds(f->sim, &rounds));
  for (int64_t round = 0; round < rounds && status == MD_OK; ++round)
    status = look_in_round(f, round, *now, &pace.moved, &fault);
  if (status == MD_OK) status = md_looks_first_fault(f->sim->comm, &fault);
  if (status == MD_OK) status = md_comm_agree(f->sim->comm, status_of(f, &fault));
  ++f->set.looks;
  note_look(f);
  if (status == MD_OK && f->observer) {
    pace.speed = md_looks_speed(f->sim, bit_of(f));
    status = md_looks_plan(f->sim, &f->looks, &pace);
  }
  return status;
}

/* ---- by the engine ---- */

md_status md_followed_find_in_place(md_followed *f, md_view *view, bool *made)
{
  md_sim *sim = f->sim;
  const md_follow what = follow_of(f);
  md_follow_fault fault = {MD_FOLLOW_GOOD, 0, 0};
  md_follow_pace pace = {0.0, 0.0};
  *made = false;
  if (!view->engine || !view->kind->follow || f->what == MD_FOLLOWED_EACH || f->set.lost) return MD_OK;
  if (md_dynamic_group_is(sim, f->group)) return MD_OK;
  MD_TRY(md_comm_agree(sim->comm, view->kind->follow(view->engine, &f->set, &what, &pace, &fault, made)));
  if (!*made) return MD_OK;
  MD_TRY(md_looks_first_fault(sim->comm, &fault));
  const md_status status = md_comm_agree(sim->comm, status_of(f, &fault));
  note_look(f);
  return status == MD_OK && f->observer ? md_looks_plan(sim, &f->looks, &pace) : status;
}

/* ---- other places ---- */

/* Takes over the place, and with image flags the ways through faces. A particle that is new is so at the next look. */
static void place(md_follow_set *set, const question *m, bool flagged)
{
  const int64_t *id = bsearch(&m->id, set->id, (size_t)set->n, sizeof *id, by_id);
  if (!id) return;
  md_follow_record *r = &set->at[id - set->id];
  memcpy(r->last, m->x, sizeof r->last);
  if (flagged) memcpy(r->through, m->through, sizeof r->through);
}

static md_status place_all(md_followed *f, int64_t rounds, const uint8_t *chosen, double *const flag[3])
{
  for (int64_t round = 0; round < rounds; ++round) {
    question *m;
    int64_t n;
    selection of = in_round(f->sim, round);
    of.chosen = chosen;
    of.flag = flag;
    MD_TRY(send_home(f, of, &m, &n));
    for (int64_t k = 0; k < n; ++k) place(&f->set, &m[k], flag != NULL);
    free(m);
  }
  return MD_OK;
}

/* flag: NULL: places may be outside of the box, and the next look finds the ways through faces. */
md_status md_followed_place(md_sim *sim, const uint8_t *chosen, double *const flag[3])
{
  int64_t rounds;
  if (!sim->followed) return MD_OK;
  MD_TRY(count_rounds(sim, &rounds));
  for (md_followed *f = sim->followed; f; f = f->next_one) {
    if (f->what == MD_FOLLOWED_VELOCITIES) continue;
    MD_TRY(place_all(f, rounds, chosen, flag));
    if (sim->model.box.triclinic) memcpy(f->tilt, sim->model.box.tilt, sizeof f->tilt);
  }
  return MD_OK;
}

md_status md_followed_moved(md_sim *sim) { return md_followed_place(sim, NULL, NULL); }

md_status md_followed_refresh(md_sim *sim)
{
  for (md_followed *f = sim->followed; f; f = f->next_one) {
    md_follow_record *now;
    if (f->what == MD_FOLLOWED_VELOCITIES) continue;
    const md_status status = md_followed_find(f, &now);
    free(now);
    /* A particle that is new is an error at the next look of a run. The compute may be gone by then. */
    if (status != MD_USAGE) MD_TRY(status);
  }
  return MD_OK;
}

/* ---- sums ---- */

typedef struct summed {
  const md_model *model;
  const md_follow *what;
  const md_follow_sum *terms;
  const md_follow_record *now;
} summed;

static void terms_of(const void *context, const md_particles *p, int64_t i, double *term)
{
  const summed *s = context;
  double all[MD_FOLLOW_TERMS] = {0.0};
  if (md_particles_in_group(p, s->what->group, i))
    md_follow_terms_of(s->what, s->terms, &s->now[i], md_mass_of(s->model, p, i), all);
  memcpy(term, all, (size_t)md_follow_terms(s->terms->kind) * sizeof *term);
}

static md_status sum_in_place(md_followed *f, md_view *view, const md_follow *what,
                              const md_follow_sum *terms, const char *name, double *sum)
{
  const int n = md_follow_terms(terms->kind);
  md_comm *comm = f->sim->comm;
  double largest[MD_FOLLOW_TERMS] = {0.0}, counts[MD_FOLLOW_TERMS];
  md_wide total[MD_FOLLOW_TERMS] = {{{0}}};
  md_status status = view->kind->follow_sums(view->engine, &f->set, what, terms, NULL, largest, NULL);
  MD_TRY(md_comm_agree(comm, status));
  MD_TRY(md_exact_counts(comm, n, name, largest, counts));
  status = view->kind->follow_sums(view->engine, &f->set, what, terms, counts, NULL, total);
  MD_TRY(md_comm_agree(comm, status));
  return md_exact_values(comm, n, largest, total, sum);
}

md_status md_followed_sums(md_followed *f, md_view *view, const md_follow_record *now,
                           const md_follow_sum *terms, const char *what, double *sum)
{
  md_sim *sim = f->sim;
  const md_follow follow = follow_of(f);
  const summed s = {&sim->model, &follow, terms, now};
  if (!now) return sum_in_place(f, view, &follow, terms, what, sum);
  return md_exact_sums(sim->comm, &sim->particles, md_follow_terms(terms->kind), terms_of, &s, what, sum);
}

void md_followed_displacement(const md_followed *f, const md_follow_record *now, double moved[3])
{
  const md_follow follow = follow_of(f);
  md_follow_displacement(&follow, now, moved);
}

/* ---- looks ---- */

static int64_t due(md_observer *observer, int64_t step)
{
  const md_followed *f = ((look_observer *)observer)->followed;
  return md_looks_due(&f->looks, step);
}

static int64_t due_back(md_observer *observer, int64_t step)
{
  const md_followed *f = ((look_observer *)observer)->followed;
  return md_looks_due_back(&f->looks, step);
}

/* Commands between runs may have moved particles. */
static md_status start(md_observer *observer, md_sim *sim)
{
  md_followed *f = ((look_observer *)observer)->followed;
  md_looks_start(&f->looks, sim);
  f->looked = -1;
  return MD_OK;
}

static md_status observe(md_observer *observer, md_view *view)
{
  md_followed *f = ((look_observer *)observer)->followed;
  md_follow_record *now;
  bool made = false;
  if (f->looked == view->step) return MD_OK;
  MD_TRY(md_followed_find_in_place(f, view, &made));
  if (made) return MD_OK;
  MD_TRY(md_view_particles(view));
  const md_status status = md_followed_find(f, &now);
  free(now);
  return status;
}

static md_status destroy(md_observer *observer)
{
  ((look_observer *)observer)->followed->observer = NULL;
  free(observer);
  return MD_OK;
}

bool md_is_follower(const md_observer *observer) { return observer->observe == observe; }

static md_status make_observer(md_followed *f)
{
  look_observer *o = calloc(1, sizeof *o);
  if (!o) return md_error(MD_RUNTIME, "out of memory for %s", f->name);
  o->followed = f;
  o->base.due = due;
  o->base.due_back = due_back;
  o->base.start = start;
  o->base.observe = observe;
  o->base.destroy = destroy;
  f->observer = &o->base;
  md_sim_append_observer(f->sim, f->observer);
  return MD_OK;
}

md_status md_followed_begin(md_sim *sim, const char *name, int group, md_followed_what what,
                            md_followed **followed)
{
  if (sim->resume)
    return md_error(MD_USAGE,
                    "%s cannot be resumed: restarts do not hold the first places and velocities of particles",
                    name);
  snprintf(sim->bars_resume, sizeof sim->bars_resume, "%s", name);
  md_followed *f = calloc(1, sizeof *f);
  if (!f) return md_error(MD_RUNTIME, "out of memory for %s", name);
  f->sim = sim;
  f->group = group;
  f->what = what;
  strncpy(f->name, name, sizeof f->name - 1);
  f->next_one = sim->followed;
  sim->followed = f;
  *followed = f;
  MD_TRY(note_all(f));
  return what == MD_FOLLOWED_VELOCITIES ? MD_OK : make_observer(f);
}

/* ---- new ids ---- */

/* A particle's old id, first, and its new one. */
typedef struct renaming {
  int64_t old, id;
} renaming;

/* A record on the way to the home of its new id, which is first. */
typedef struct renamed {
  int64_t id, last_look;
  md_follow_record record;
} renamed;

/* Tells the homes of the old ids the new ones. */
static md_status tell_homes(md_sim *sim, const int64_t *old, renaming **received, int64_t *n)
{
  const md_particles *p = &sim->particles;
  md_outbox out;
  MD_TRY(md_outbox_open(&out, sim->comm, p->n, sizeof **received, what_is_sent));
  for (int64_t i = 0; i < p->n; ++i)
    *(renaming *)md_outbox_add(&out, md_home_of(sim->comm, old[i])) = (renaming){old[i], p->id[i]};
  return md_outbox_send(&out, received, n);
}

/* Sends the records to the homes of the new ids. */
static md_status move_records(const md_followed *f, const renaming *of, int64_t n, renamed **received,
                              int64_t *count)
{
  const md_follow_set *set = &f->set;
  md_comm *comm = f->sim->comm;
  md_outbox out;
  MD_TRY(md_outbox_open(&out, comm, n, sizeof **received, what_is_sent));
  for (int64_t k = 0; k < n; ++k) {
    const int64_t *id = bsearch(&of[k].old, set->id, (size_t)set->n, sizeof *id, by_id);
    if (id)
      *(renamed *)md_outbox_add(&out, md_home_of(comm, of[k].id)) =
          (renamed){of[k].id, set->last_look[id - set->id], set->at[id - set->id]};
  }
  return md_outbox_send(&out, received, count);
}

static void free_set(md_follow_set *set)
{
  free(set->id);
  free(set->at);
  free(set->last_look);
}

/* Makes the set of a home anew, of n records. */
static md_status put_records(md_follow_set *set, renamed *record, int64_t n)
{
  md_follow_set new = {.looks = set->looks, .lost = set->lost};
  MD_TRY(make_set(&new, n));
  qsort(record, (size_t)n, sizeof *record, by_id);
  for (int64_t k = 0; k < n; ++k) {
    new.id[k] = record[k].id;
    new.last_look[k] = record[k].last_look;
    new.at[k] = record[k].record;
  }
  free_set(set);
  *set = new;
  return MD_OK;
}

md_status md_followed_renumber(md_sim *sim, const int64_t *old)
{
  renaming *of = NULL;
  int64_t n = 0;
  if (!sim->followed) return MD_OK;
  md_status status = tell_homes(sim, old, &of, &n);
  for (md_followed *f = sim->followed; f && status == MD_OK; f = f->next_one) {
    renamed *record = NULL;
    int64_t count = 0;
    status = move_records(f, of, n, &record, &count);
    if (status == MD_OK) status = md_comm_agree(sim->comm, put_records(&f->set, record, count));
    free(record);
  }
  free(of);
  return status;
}

void md_followed_bytes(const md_sim *sim, double *held, double *look)
{
  const md_follow_set *set = NULL;
  *held = 0.0;
  for (const md_followed *f = sim->followed; f; f = f->next_one)
    *held += (double)(sizeof *set->id + sizeof *set->at + sizeof *set->last_look);
  *look = sim->followed ? (double)sizeof(md_follow_record) : 0.0;
}

void md_followed_end(md_followed *f)
{
  if (!f) return;
  for (md_followed **at = &f->sim->followed; *at; at = &(*at)->next_one)
    if (*at == f) {
      *at = f->next_one;
      break;
    }
  if (f->observer) {
    md_observer **at = &f->sim->observers;
    while (*at != f->observer) at = &(*at)->next;
    *at = f->observer->next;
    (void)!(destroy(f->observer) == MD_OK);
  }
  free_set(&f->set);
  free(f);
}
