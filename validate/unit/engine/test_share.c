/* Equal shares of particles. On 1 to 8 ranks every particle is on one rank afterwards, with all its fields; numbers
 * differ by at most one; and the shares are consecutive in the order of ranks and of indices. Gathered, every particle
 * is on every rank. */
#include "src/particles/share.h"
#include "validate/unit/support/thread_ranks.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { N = 4000 };

/* What the ranks begin with, and what they got. */
typedef struct shares {
  int64_t first[RANKS_MAX + 1]; /* rank r begins with the ids [first[r], first[r + 1]) */
  bool wide, grouped;
  int64_t n[RANKS_MAX], nghost[RANKS_MAX];
  int owner[N]; /* by id, -1: none yet */
  bool wrong;
  md_status status[RANKS_MAX];
} shares;

static void fill(md_particles *p, int64_t i, int64_t id)
{
  p->id[i] = id;
  p->type[i] = (uint16_t)(id % 1000);
  for (int d = 0; d < p->dim; ++d) {
    p->x[d][i] = (double)id + 0.25 * d;
    p->v[d][i] = -(double)id - 0.25 * d;
    if (p->wide) p->v_low[d][i] = 7 * id + d;
  }
  if (p->grouped) p->group[i] = (uint32_t)(id + 3);
}

static bool is_whole(const md_particles *p, int64_t i)
{
  const int64_t id = p->id[i];
  bool whole = id >= 0 && id < N && p->type[i] == (uint16_t)(id % 1000);
  for (int d = 0; d < p->dim; ++d) {
    whole = whole && p->x[d][i] == (double)id + 0.25 * d && p->v[d][i] == -(double)id - 0.25 * d;
    whole = whole && (!p->wide || p->v_low[d][i] == 7 * id + d);
  }
  return whole && (!p->grouped || p->group[i] == (uint32_t)(id + 3));
}

static md_status make(const shares *s, int rank, md_particles *p)
{
  const int64_t n = s->first[rank + 1] - s->first[rank];
  MD_TRY(md_particles_widen(p, s->wide));
  if (s->grouped) MD_TRY(md_particles_make_groups(p));
  MD_TRY(md_particles_reserve(p, n + 5));
  for (int64_t i = 0; i < n; ++i) fill(p, i, s->first[rank] + i);
  p->n = n;
  p->nghost = 5;
  return MD_OK;
}

static void share(md_comm *comm, void *context)
{
  shares *s = context;
  const int rank = comm->rank;
  md_particles p;
  md_particles_init(&p, 3);
  s->status[rank] = make(s, rank, &p);
  if (s->status[rank] == MD_OK) s->status[rank] = md_particles_share(comm, &p);
  s->n[rank] = p.n;
  s->nghost[rank] = p.nghost;
  for (int64_t i = 0; i < p.n; ++i) {
    if (!is_whole(&p, i) || s->owner[p.id[i]] != -1)
      s->wrong = true;
    else
      s->owner[p.id[i]] = rank;
  }
  md_particles_free(&p);
}

/* Shares, when rank r begins with n[r] particles. */
static void assert_shared(int ranks, const int64_t *n, bool wide, bool grouped)
{
  static shares s;
  s = (shares){.wide = wide, .grouped = grouped};
  for (int r = 0; r < ranks; ++r) s.first[r + 1] = s.first[r] + n[r];
  for (int64_t id = 0; id < N; ++id) s.owner[id] = -1;
  run_ranks(ranks, share, &s);
  const int64_t all = s.first[ranks];
  int64_t id = 0;
  assert_false(s.wrong);
  for (int r = 0; r < ranks; ++r) {
    assert_int_equal(s.status[r], MD_OK);
    assert_int_equal(s.nghost[r], 0);
    assert_int_equal(s.n[r], all / ranks + (r < all % ranks));
    /* Ids were given in the order of ranks and indices. */
    for (int64_t end = id + s.n[r]; id < end; ++id) assert_int_equal(s.owner[id], r);
  }
  assert_int_equal(id, all);
}

static void shares_are_equal_and_consecutive(void **state)
{
  (void)state;
  static const int64_t one[] = {0, 0, 1, 0, 0, 0, 0, 0}, none[] = {0, 0, 0, 0, 0, 0, 0, 0},
                       first[] = {3001, 0, 0, 0, 0, 0, 0, 0}, last[] = {0, 0, 0, 0, 0, 0, 0, 3001},
                       uneven[] = {1, 700, 0, 3, 9, 512, 1000, 4}, few[] = {0, 2, 0, 0, 1, 0, 2, 1};
  static const int64_t *const begin[] = {one, none, first, last, uneven, few};
  for (int ranks = 2; ranks <= RANKS_MAX; ++ranks)
    for (size_t k = 0; k < sizeof begin / sizeof begin[0]; ++k) assert_shared(ranks, begin[k], false, false);
}

static void all_fields_travel(void **state)
{
  (void)state;
  static const int64_t uneven[] = {900, 0, 5};
  for (int fields = 0; fields < 4; ++fields) assert_shared(3, uneven, fields & 1, fields & 2);
}

/* Every rank has each particle once. */
static void gather(md_comm *comm, void *context)
{
  shares *s = context;
  md_particles p;
  bool seen[N] = {false};
  md_particles_init(&p, 3);
  s->status[comm->rank] = make(s, comm->rank, &p);
  if (s->status[comm->rank] == MD_OK) s->status[comm->rank] = md_particles_gather(comm, &p);
  s->n[comm->rank] = p.n;
  for (int64_t i = 0; i < p.n; ++i) {
    if (!is_whole(&p, i) || seen[p.id[i]]) s->wrong = true;
    seen[p.id[i]] = true;
  }
  md_particles_free(&p);
}

static void every_rank_gets_all(void **state)
{
  (void)state;
  for (int ranks = 1; ranks <= RANKS_MAX; ++ranks) {
    static shares s;
    s = (shares){.grouped = true, .wide = true};
    for (int r = 0; r < ranks; ++r) s.first[r + 1] = s.first[r] + (r % 3) * 50;
    run_ranks(ranks, gather, &s);
    assert_false(s.wrong);
    for (int r = 0; r < ranks; ++r) {
      assert_int_equal(s.status[r], MD_OK);
      assert_int_equal(s.n[r], s.first[ranks]);
    }
  }
}

static void nothing_moves_on_one_rank(void **state)
{
  (void)state;
  static const int64_t some[] = {77};
  assert_shared(1, some, true, true);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shares_are_equal_and_consecutive),
      cmocka_unit_test(all_fields_travel),
      cmocka_unit_test(every_rank_gets_all),
      cmocka_unit_test(nothing_moves_on_one_rank),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
