/* The distribution of particles by their ids, for output. Windows work for any ids. On several ranks each particle
 * comes once, in order, in windows of whole blocks of rows. */
#include "src/particles/by_id.h"
#include "validate/unit/support/thread_ranks.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

enum { N = 20000 };

/* All particles by increasing id, and the rank of each. */
typedef struct system {
  int64_t id[N];
  int owner[N];
  int64_t n;
  bool forces;
  int64_t got[RANKS_MAX][N], ngot[RANKS_MAX], round_end[RANKS_MAX][N], rounds[RANKS_MAX];
  bool wrong;
} system_of_ids;

/* Do all fields of a particle belong to its id? */
static bool is_whole(const md_rows *rows, int64_t i)
{
  const md_particles *p = rows->particles;
  bool whole = p->type[i] == (uint16_t)(p->id[i] % 1000);
  for (int d = 0; d < 3; ++d) {
    whole =
        whole && p->x[d][i] == (double)(p->id[i] % 1000) + d && p->v[d][i] == -(double)(p->id[i] % 77) - d;
    whole = whole && (!rows->force || rows->force[d][i] == (double)(p->id[i] % 99) + d);
  }
  return whole;
}

static md_status deal_out(md_comm *comm, system_of_ids *s, md_particles *p, double *force[3], int32_t **order)
{
  for (int d = 0; d < 3; ++d) MD_TRY(md_array_new(&force[d], N, sizeof(double), "forces"));
  MD_TRY(md_particles_reserve(p, N));
  for (int64_t k = s->n; k-- > 0;) {
    if (s->owner[k] % comm->size != comm->rank) continue;
    const int64_t i = p->n++;
    p->id[i] = s->id[k];
    p->type[i] = (uint16_t)(s->id[k] % 1000);
    for (int d = 0; d < 3; ++d) {
      p->x[d][i] = (double)(s->id[k] % 1000) + d;
      p->v[d][i] = -(double)(s->id[k] % 77) - d;
      force[d][i] = (double)(s->id[k] % 99) + d;
    }
  }
  MD_TRY(md_particles_order_by_id(p, order));
  md_by_id deal;
  md_rows rows;
  bool more = true;
  md_status status =
      md_by_id_begin(&deal, comm, &(md_rows){p, p->n, *order, s->forces ? force : NULL, 0, NULL});
  int64_t *n = &s->ngot[comm->rank], *rounds = &s->rounds[comm->rank];
  *n = *rounds = 0;
  while (status == MD_OK && more) {
    status = md_by_id_next(&deal, &rows, &more);
    if (status != MD_OK || !more) break;
    if (s->forces != (rows.force != NULL)) s->wrong = true;
    for (int64_t k = 0; k < rows.n; ++k) {
      if (!is_whole(&rows, rows.order[k])) s->wrong = true;
      s->got[comm->rank][(*n)++] = rows.particles->id[rows.order[k]];
    }
    s->round_end[comm->rank][(*rounds)++] = *n;
  }
  md_by_id_end(&deal);
  return status;
}

static void work(md_comm *comm, void *context)
{
  system_of_ids *s = context;
  md_particles p;
  double *force[3] = {NULL};
  int32_t *order = NULL;
  md_particles_init(&p, 3);
  if (deal_out(comm, s, &p, force, &order) != MD_OK) s->wrong = true;
  free(order);
  for (int d = 0; d < 3; ++d) free(force[d]);
  md_particles_free(&p);
}

/* Checks the ids that the ranks got: round by round, and in a round by rank, they are all ids in order. */
static void check_order(system_of_ids *s, int ranks)
{
  int64_t k = 0, from[RANKS_MAX] = {0};
  for (int64_t round = 0; round < s->rounds[0]; ++round)
    for (int r = 0; r < ranks; ++r) {
      assert_int_equal(s->rounds[r], s->rounds[0]);
      const int64_t end = s->round_end[r][round];
      /* All windows but the last are whole blocks of rows. */
      if (ranks > 1 && end > from[r] && k + end - from[r] < s->n)
        assert_int_equal(end - from[r], MD_ROW_BLOCK);
      for (; from[r] < end; ++from[r]) assert_true(k < s->n && s->got[r][from[r]] == s->id[k++]);
    }
  assert_int_equal(k, s->n);
}

static void deal_on_ranks(system_of_ids *s)
{
  for (int ranks = 1; ranks <= RANKS_MAX; ++ranks) {
    s->wrong = false;
    s->forces = ranks % 2 == 1;
    run_ranks(ranks, work, s);
    assert_false(s->wrong);
    check_order(s, ranks);
  }
}

static int compare(const void *a, const void *b)
{
  const int64_t *left = a, *right = b;
  return (*left > *right) - (*left < *right);
}

static void test_on_several_ranks(void **state)
{
  (void)state;
  static system_of_ids s;
  enum { SPREADS = 5, OWNERS = 4 };
  for (int spread = 0; spread < SPREADS; ++spread)
    for (int owners = 0; owners < OWNERS; ++owners) {
      s.n = N;
      for (int64_t k = 0; k < N; ++k) {
        s.id[k] = spread == 0   ? 1 + k
                  : spread == 1 ? (INT64_C(1) << 53) + 1 + 2 * k
                  : spread == 2 ? INT64_MAX - 3 * (N - 1 - k)
                  : spread == 3 ? (k < N - 1 ? 1 + k : INT64_MAX)
                                : (int64_t)(next_random() >> 1) / N * N + k + 1;
        s.owner[k] = owners == 0   ? (int)(next_random() % 840)
                     : owners == 1 ? (int)(k * 8 / N)
                     : owners == 2 ? 0
                                   : (int)(k % 840);
      }
      qsort(s.id, N, sizeof s.id[0], compare);
      deal_on_ranks(&s);
    }
}

static void test_few(void **state)
{
  (void)state;
  static system_of_ids s;
  for (s.n = 0; s.n < 20; ++s.n) {
    for (int64_t k = 0; k < s.n; ++k) {
      s.id[k] = 1 + k * k * (INT64_C(1) << 50);
      s.owner[k] = (int)(next_random() % 840);
    }
    deal_on_ranks(&s);
  }
}

/* Ids that are dense, that leave a gap, and that are there twice: those stay in the order of particles. */
static void test_order(void **state)
{
  enum { MANY = 5 };
  static const struct {
    int64_t id[MANY];
    int32_t order[MANY];
  } cases[] = {{{7, 5, 9, 8, 6}, {1, 4, 0, 3, 2}},
               {{7, 5, 9, 8, 4}, {4, 1, 0, 3, 2}},
               {{7, 5, 9, 5, 6}, {1, 3, 4, 0, 2}},
               {{1, 1, 1, 1, 1}, {0, 1, 2, 3, 4}},
               {{INT64_MAX, 1, INT64_MAX - 1, 2, 3}, {1, 3, 4, 2, 0}}};
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
    md_particles p;
    int32_t *order;
    md_particles_init(&p, 3);
    assert_int_equal(md_particles_reserve(&p, MANY), MD_OK);
    p.n = MANY;
    memcpy(p.id, cases[k].id, sizeof cases[k].id);
    assert_int_equal(md_particles_order_by_id(&p, &order), MD_OK);
    assert_memory_equal(order, cases[k].order, sizeof cases[k].order);
    free(order);
    md_particles_free(&p);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_on_several_ranks), cmocka_unit_test(test_few),
                                     cmocka_unit_test(test_order)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
