/* The particles that are one, two and three bonds away from a particle; see special.h.
 *
 *   1  Every rank gives the bonds of its particles to the rank that the id determines, which keeps them in a table.
 *   2  Block by block, a rank asks these ranks for the bonds of the partners of its particles, which are two bonds
 *      away; and then for the bonds of these.
 *
 * Trade-off: all particles may be on any rank, and a block bounds the memory of questions and answers. Cost: two sparse
 * exchanges a block, of 16 bytes for a question and 72 for an answer; 8 bytes a bond and 4 to 48 a particle for the
 * table.
 */
#include "src/bonds/special.h"
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"
#include "src/particles/id_table.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 13 };

typedef struct entry {
  int64_t id, bond[MD_BONDS_MAX];
} entry;

typedef struct question {
  int64_t id;
  int32_t rank, place;
} question;

typedef struct answer {
  int64_t place; /* of the question; negative: there is no such particle */
  int64_t bond[MD_BONDS_MAX];
} answer;

typedef struct directory {
  md_comm *comm;
  md_id_table place; /* of an id in `entry`, + 1 */
  entry *entry;
} directory;

static int32_t rank_of(const md_comm *comm, int64_t id) { return (int32_t)(id % comm->size); }

static md_status keep_entries(directory *d, int64_t n)
{
  MD_TRY(md_id_table_init(&d->place, d->comm->size == 1 ? n : 0));
  for (int64_t k = 0; k < n; ++k) MD_TRY(md_id_table_add(&d->place, d->entry[k].id, (int32_t)(k + 1)));
  return MD_OK;
}

static md_status make_entries(const md_particles *p, const md_comm *comm, int32_t **to, entry **mine)
{
  MD_TRY(md_array_new(to, p->n + 1, sizeof **to, "bonds of all particles"));
  MD_TRY(md_array_new_zero(mine, p->n + 1, sizeof **mine, "bonds of all particles"));
  for (int64_t i = 0; i < p->n; ++i) {
    (*to)[i] = rank_of(comm, p->id[i]);
    (*mine)[i].id = p->id[i];
    for (int k = 0; k < p->bonds; ++k) (*mine)[i].bond[k] = p->bond[k][i];
  }
  return MD_OK;
}

static md_status open_directory(directory *d, const md_particles *p)
{
  int32_t *to = NULL;
  entry *mine = NULL;
  void *received = NULL;
  int64_t count = 0;
  md_status status = md_comm_agree(d->comm, make_entries(p, d->comm, &to, &mine));
  if (status == MD_OK)
    status = d->comm->exchange->sparse_exchange(d->comm, p->n, to, mine, sizeof *mine, &received, &count);
  free(to);
  free(mine);
  d->entry = received;
  return status == MD_OK ? md_comm_agree(d->comm, keep_entries(d, count)) : status;
}

static md_status make_answers(const directory *d, const question *q, int64_t n, int32_t **to, answer **a)
{
  MD_TRY(md_array_new(to, n + 1, sizeof **to, "bonds of partners"));
  MD_TRY(md_array_new_zero(a, n + 1, sizeof **a, "bonds of partners"));
  for (int64_t k = 0; k < n; ++k) {
    const int32_t *place = md_id_table_find(&d->place, q[k].id);
    (*to)[k] = q[k].rank;
    (*a)[k].place = place ? q[k].place : -1 - (int64_t)q[k].place;
    if (place) memcpy((*a)[k].bond, d->entry[*place - 1].bond, sizeof(*a)[k].bond);
  }
  return MD_OK;
}

/* Answers the n questions of this rank: found[k] is the answer to question k. */
static md_status ask(directory *d, int64_t n, const question *q, answer *found)
{
  md_comm *comm = d->comm;
  int32_t *to = NULL, *back = NULL;
  void *asked = NULL, *answered = NULL;
  answer *a = NULL;
  int64_t count = 0, got = 0;
  md_status status = md_comm_agree(comm, md_array_new(&to, n + 1, sizeof *to, "bonds of partners"));
  for (int64_t k = 0; k < n && status == MD_OK; ++k) to[k] = rank_of(comm, q[k].id);
  if (status == MD_OK) status = comm->exchange->sparse_exchange(comm, n, to, q, sizeof *q, &asked, &count);
  if (status == MD_OK) status = md_comm_agree(comm, make_answers(d, asked, count, &back, &a));
  if (status == MD_OK)
    status = comm->exchange->sparse_exchange(comm, count, back, a, sizeof *a, &answered, &got);
  for (int64_t k = 0; k < got && status == MD_OK; ++k) {
    const answer *one = (const answer *)answered + k;
    found[one->place < 0 ? -1 - one->place : one->place] = *one;
  }
  free(to);
  free(back);
  free(asked);
  free(answered);
  free(a);
  return status;
}

/* What a block of particles knows: the particles one, two and three bonds away, each once, at the least distance. */
typedef struct near_ids {
  int n, one, two; /* all; of one bond; of at most two */
  int64_t id[MD_SPECIALS_MAX];
} near_ids;

static bool add_id(near_ids *b, int64_t self, int64_t id)
{
  if (id == 0 || id == self) return true;
  for (int k = 0; k < b->n; ++k)
    if (b->id[k] == id) return true;
  if (b->n == MD_SPECIALS_MAX) return false;
  b->id[b->n++] = id;
  return true;
}

static md_status too_many(int64_t id)
{
  return md_error(
      MD_USAGE,
      "particle %lld has more than %d particles within three bonds: use special_bonds lj/coul 0 1 1",
      (long long)id, MD_SPECIALS_MAX);
}

/* The block of particles [first, last) of a rank, and the room for its questions. */
typedef struct block {
  int64_t first, last, n;
  near_ids *near;
  question *question;
  answer *answer;
} block;

/* Puts the questions for the bonds of ids number [from, to) of each particle's, and gets the answers. */
static md_status ask_block(directory *d, block *b, bool second)
{
  b->n = 0;
  for (int64_t i = 0; i < b->last - b->first; ++i) {
    const near_ids *a = &b->near[i];
    for (int k = second ? a->one : 0; k < (second ? a->two : a->one); ++k, ++b->n)
      b->question[b->n] = (question){a->id[k], d->comm->rank, (int32_t)b->n};
  }
  return ask(d, b->n, b->question, b->answer);
}

/* A partner that does not exist, or does not know of the bond. */
static md_status check_partner(const answer *a, int64_t self, int64_t partner)
{
  bool knows = false;
  for (int k = 0; k < MD_BONDS_MAX; ++k) knows = knows || a->bond[k] == self;
  if (a->place < 0)
    return md_error(MD_USAGE, "particle %lld has a bond to particle %lld, which does not exist",
                    (long long)self, (long long)partner);
  if (knows) return MD_OK;
  return md_error(MD_USAGE, "particle %lld has a bond to particle %lld, which has none to it",
                  (long long)self, (long long)partner);
}

/* Adds the ids of the answers to those of the particles, or only checks the answers. */
static md_status take_answers(const md_particles *p, block *b, bool second, bool adds)
{
  int64_t at = 0;
  for (int64_t i = 0; i < b->last - b->first; ++i) {
    near_ids *a = &b->near[i];
    const int64_t self = p->id[b->first + i];
    const int from = second ? a->one : 0, to = second ? a->two : a->one;
    for (int k = from; k < to; ++k, ++at) {
      if (!second) MD_TRY(check_partner(&b->answer[at], self, a->id[k]));
      for (int c = 0; c < MD_BONDS_MAX && adds; ++c)
        if (!add_id(a, self, b->answer[at].bond[c])) return too_many(self);
    }
    if (!second) a->two = a->n;
  }
  return MD_OK;
}

static void begin_block(const md_particles *p, block *b, int64_t first)
{
  b->first = first < p->n ? first : p->n;
  b->last = first + BLOCK < p->n ? first + BLOCK : p->n;
  for (int64_t i = b->first; i < b->last; ++i) {
    near_ids *a = &b->near[i - b->first];
    a->n = 0;
    for (int k = 0; k < p->bonds; ++k) add_id(a, p->id[i], p->bond[k][i]);
    a->one = a->two = a->n;
  }
}

/* Writes the excluded ids of the block into the particles. */
static md_status keep_block(const bool excluded[3], md_particles *p, const block *b)
{
  for (int64_t i = b->first; i < b->last; ++i) {
    const near_ids *a = &b->near[i - b->first];
    int n = 0;
    for (int k = 0; k < a->n; ++k) {
      if (!excluded[k < a->one ? 0 : k < a->two ? 1 : 2]) continue;
      if (n == p->specials) MD_TRY(md_particles_make_specials(p, n + 1));
      p->special[n++][i] = a->id[k];
    }
  }
  return MD_OK;
}

static md_status do_block(directory *d, md_sim *sim, block *b)
{
  md_comm *comm = sim->comm;
  md_particles *p = &sim->particles;
  const bool *excluded = sim->model.bonds.excluded, further = excluded[1] || excluded[2];
  MD_TRY(ask_block(d, b, false));
  MD_TRY(md_comm_agree(comm, take_answers(p, b, false, further)));
  if (!further) return MD_OK;
  if (excluded[2]) {
    MD_TRY(ask_block(d, b, true));
    MD_TRY(md_comm_agree(comm, take_answers(p, b, true, true)));
  }
  return md_comm_agree(comm, keep_block(excluded, p, b));
}

static md_status do_blocks(directory *d, md_sim *sim, block *b)
{
  double most = (double)sim->particles.n, slots;
  MD_TRY(sim->comm->reduce->max(sim->comm, &most, 1));
  for (int64_t first = 0; first < (int64_t)most; first += BLOCK) {
    begin_block(&sim->particles, b, first);
    MD_TRY(do_block(d, sim, b));
  }
  /* All ranks have the same number of slots, because particles travel with them. */
  slots = sim->particles.specials;
  MD_TRY(sim->comm->reduce->max(sim->comm, &slots, 1));
  return md_comm_agree(sim->comm, md_particles_make_specials(&sim->particles, (int)slots));
}

static md_status make_room(block *b)
{
  MD_TRY(md_array_new(&b->near, BLOCK, sizeof *b->near, "particles within three bonds"));
  MD_TRY(
      md_array_new(&b->question, (int64_t)BLOCK * MD_SPECIALS_MAX, sizeof *b->question, "bonds of partners"));
  return md_array_new(&b->answer, (int64_t)BLOCK * MD_SPECIALS_MAX, sizeof *b->answer, "bonds of partners");
}

md_status md_special_make(md_sim *sim)
{
  directory d = {.comm = sim->comm};
  block b = {.first = 0};
  MD_TRY(md_particles_make_specials(&sim->particles, 0));
  if (sim->model.bonds.ntypes == 0) return MD_OK;
  md_status status = md_comm_agree(sim->comm, make_room(&b));
  if (status == MD_OK) status = open_directory(&d, &sim->particles);
  if (status == MD_OK) status = do_blocks(&d, sim, &b);
  md_id_table_free(&d.place);
  free(d.entry);
  free(b.near);
  free(b.question);
  free(b.answer);
  return status;
}
