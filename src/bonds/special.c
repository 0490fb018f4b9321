/* The particles that are one, two and three bonds away from a particle; see special.h.
 *
 * Block by block, a rank asks the directory (directory.h) for the bonds of the partners of its particles, which are two
 * bonds away; and then for the bonds of these. Cost: that of the directory.
 */
#include "src/bonds/special.h"
#include "common/ranks/reductions.h"
#include "src/bonds/directory.h"

#include <stdlib.h>

enum { BLOCK = 1 << 13 };

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
  int64_t *asked;
  md_bond_answer *answer;
} block;

/* Puts the questions for the bonds of ids number [from, to) of each particle's, and gets the answers. */
static md_status ask_block(md_bond_directory *d, block *b, bool second)
{
  b->n = 0;
  for (int64_t i = 0; i < b->last - b->first; ++i) {
    const near_ids *a = &b->near[i];
    for (int k = second ? a->one : 0; k < (second ? a->two : a->one); ++k, ++b->n) b->asked[b->n] = a->id[k];
  }
  return md_bond_directory_ask(d, b->n, b->asked, b->answer);
}

/* Has the particle of the answer a bond to `self`? */
static bool knows(const md_bond_answer *a, int64_t self)
{
  bool found = false;
  for (int k = 0; k < MD_BONDS_MAX; ++k) found = found || a->bond[k] == self;
  return a->question >= 0 && found;
}

/* A partner that does not exist, or does not know of the bond. */
static md_status wrong_partner(const md_bond_answer *a, int64_t self, int64_t partner)
{
  const md_status status =
      md_error(MD_USAGE, "particle %lld has a bond to particle %lld, which %s", (long long)self,
               (long long)partner, a->question < 0 ? "does not exist" : "has no bond to the first one");
  md_error_about(self, self);
  return status;
}

/* Adds the ids of the answers to those of the particles, or only checks the answers. The error is about the least id of
 * the block, so that it does not depend on the order of particles. */
static md_status take_answers(const md_particles *p, block *b, bool second, bool adds)
{
  const md_bond_answer *wrong = NULL;
  int64_t at = 0, least = INT64_MAX, partner = 0;
  for (int64_t i = 0; i < b->last - b->first; ++i) {
    near_ids *a = &b->near[i];
    const int64_t self = p->id[b->first + i];
    const int from = second ? a->one : 0, to = second ? a->two : a->one;
    for (int k = from; k < to; ++k, ++at) {
      const bool good = second || knows(&b->answer[at], self);
      if (!good && self < least) {
        wrong = &b->answer[at];
        least = self;
        partner = a->id[k];
      }
      for (int c = 0; c < MD_BONDS_MAX && adds && good; ++c)
        if (!add_id(a, self, b->answer[at].bond[c])) return too_many(self);
    }
    if (!second) a->two = a->n;
  }
  return wrong ? wrong_partner(wrong, least, partner) : MD_OK;
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

static md_status do_block(md_bond_directory *d, md_sim *sim, block *b)
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

static md_status do_blocks(md_bond_directory *d, md_sim *sim, block *b)
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
  MD_TRY(md_array_new(&b->asked, (int64_t)BLOCK * MD_SPECIALS_MAX, sizeof *b->asked, "bonds of partners"));
  return md_array_new(&b->answer, (int64_t)BLOCK * MD_SPECIALS_MAX, sizeof *b->answer, "bonds of partners");
}

md_status md_special_make(md_sim *sim)
{
  md_bond_directory d = {.comm = sim->comm};
  block b = {.first = 0};
  MD_TRY(md_particles_make_specials(&sim->particles, 0));
  if (sim->model.bonds.ntypes == 0) return MD_OK;
  md_status status = md_comm_agree(sim->comm, make_room(&b));
  if (status == MD_OK) status = md_bond_directory_open(&d, sim->comm, &sim->particles, sim->particles.x);
  if (status == MD_OK) status = do_blocks(&d, sim, &b);
  md_bond_directory_close(&d);
  free(b.near);
  free(b.asked);
  free(b.answer);
  return status;
}
