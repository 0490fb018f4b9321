/* The outbox. On 1 to 8 ranks each record comes to its rank, once and whole. If one rank has no memory for its records,
 * every rank gets this error, and nothing is sent. Homes of ids are spread over the ranks. */
#include "common/ranks/outbox.h"
#include "validate/unit/support/thread_ranks.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

typedef struct record {
  int64_t id;
  int32_t from, to;
} record;

/* A rank r sends r * A_RANK records, and rank 0 sends none. */
enum { A_RANK = 100 };

typedef struct mail {
  int starved; /* the rank without memory, or -1 */
  int64_t got[RANKS_MAX], sum[RANKS_MAX];
  bool wrong;
  md_status status[RANKS_MAX];
  char text[RANKS_MAX][200];
} mail;

static md_status send_and_take(mail *m, md_comm *comm)
{
  const int64_t n = (int64_t)A_RANK * comm->rank;
  md_outbox out;
  record *received;
  int64_t count;
  MD_TRY(md_outbox_open(&out, comm, comm->rank == m->starved ? INT64_MAX : n, sizeof *received, "letters"));
  for (int64_t k = 0; k < n; ++k) {
    const int64_t id = n * n + k;
    const int32_t to = md_home_of(comm, id);
    *(record *)md_outbox_add(&out, to) = (record){id, comm->rank, to};
  }
  MD_TRY(md_outbox_send(&out, &received, &count));
  m->got[comm->rank] = count;
  for (int64_t k = 0; k < count; ++k) {
    m->sum[comm->rank] += received[k].id;
    if (received[k].to != comm->rank || md_home_of(comm, received[k].id) != comm->rank) m->wrong = true;
  }
  free(received);
  return MD_OK;
}

static void work(md_comm *comm, void *context)
{
  mail *m = context;
  m->status[comm->rank] = send_and_take(m, comm);
  snprintf(m->text[comm->rank], sizeof m->text[0], "%s", md_error_text());
}

static void records_come_to_their_ranks(void **state)
{
  (void)state;
  for (int ranks = 1; ranks <= RANKS_MAX; ++ranks) {
    mail m = {.starved = -1};
    int64_t got = 0, sum = 0, sent = 0, sent_sum = 0;
    run_ranks(ranks, work, &m);
    for (int r = 0; r < ranks; ++r) {
      const int64_t n = (int64_t)A_RANK * r;
      assert_int_equal(m.status[r], MD_OK);
      got += m.got[r];
      sum += m.sum[r];
      sent += n;
      sent_sum += n * n * n + n * (n - 1) / 2;
    }
    assert_false(m.wrong);
    assert_int_equal(got, sent);
    assert_int_equal(sum, sent_sum);
  }
}

static void all_ranks_get_the_error_of_one(void **state)
{
  (void)state;
  mail m = {.starved = 2};
  run_ranks(4, work, &m);
  for (int r = 0; r < 4; ++r) {
    assert_int_equal(m.status[r], MD_RUNTIME);
    assert_non_null(strstr(m.text[r], "letters"));
    assert_int_equal(m.got[r], 0);
  }
}

/* Ids in any usual sequence have about as many homes on each rank. */
static void homes_are_spread_evenly(void **state)
{
  (void)state;
  static const int64_t steps[] = {1, 2, 3, 7, 8, 64, 1000, INT64_C(1) << 32, (INT64_C(1) << 40) + 8};
  enum { IDS = 80000 };
  for (int ranks = 1; ranks <= RANKS_MAX; ++ranks)
    for (size_t k = 0; k < sizeof steps / sizeof steps[0]; ++k) {
      const md_comm comm = {.size = ranks};
      int count[RANKS_MAX] = {0};
      for (int64_t i = 1; i <= IDS; ++i) ++count[md_home_of(&comm, i * steps[k])];
      for (int r = 0; r < ranks; ++r)
        assert_in_range(count[r], IDS / ranks * 9 / 10, IDS / ranks * 11 / 10 + 1);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(records_come_to_their_ranks),
                                     cmocka_unit_test(all_ranks_get_the_error_of_one),
                                     cmocka_unit_test(homes_are_spread_evenly)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
