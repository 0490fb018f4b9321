/* Chunk queues: each thread takes its own chunks first, then those of other threads, and each chunk is taken once. */
#include "openmp/chunk_queues.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CHUNKS = 1000 };

static chunk_queues queues_of(int threads, int64_t chunks)
{
  chunk_queues s;
  assert_int_equal(queues_new(&s, threads), MD_OK);
  queues_evenly(&s, chunks);
  return s;
}

/* Takes chunks for a thread until none is left, and counts how often each chunk was taken. */
static int64_t take_all(const chunk_queues *s, int thread, parts some, int *times)
{
  int64_t chunks = 0;
  for (piece p = {.owner = thread}; queues_take(s, some, &p); chunks += p.last - p.first)
    for (int64_t c = p.first; c < p.last; ++c) ++times[c];
  return chunks;
}

static void assert_once(const int *times, int64_t first, int64_t last)
{
  for (int64_t c = 0; c < CHUNKS; ++c) assert_int_equal(times[c], c >= first && c < last);
}

static void a_thread_begins_with_its_own_queue(void **state)
{
  (void)state;
  chunk_queues s = queues_of(4, CHUNKS);
  static const int turn[] = {2, 3, 0, 1};
  piece p = {.owner = 2};
  for (int k = 0; k < 4; ++k)
    for (int64_t at = 250 * turn[k]; at < 250 * (turn[k] + 1); at = p.last) {
      assert_true(queues_take(&s, ALL_PARTS, &p));
      assert_int_equal(p.owner, turn[k]);
      assert_int_equal(p.first, at);
      assert_in_range(p.last - p.first, 1, 64);
      assert_in_range(p.last, 1, 250 * (turn[k] + 1));
    }
  assert_false(queues_take(&s, ALL_PARTS, &p));
  queues_free(&s);
}

static void a_thread_that_lags_is_helped(void **state)
{
  (void)state;
  chunk_queues s = queues_of(3, 900);
  int times[CHUNKS] = {0};
  piece late = {.owner = 1};
  assert_true(queues_take(&s, ALL_PARTS, &late));
  const int64_t begun = late.last - late.first;
  assert_int_equal(take_all(&s, 0, ALL_PARTS, times), 900 - begun);
  assert_false(queues_take(&s, ALL_PARTS, &late));
  for (int64_t c = 300; c < 300 + begun; ++c) ++times[c];
  assert_once(times, 0, 900);
  assert_int_equal(take_all(&s, 2, ALL_PARTS, times), 0);
  queues_restart(&s);
  assert_int_equal(take_all(&s, 2, ALL_PARTS, times), 900);
  queues_free(&s);
}

static void parts_are_parts_of_every_queue(void **state)
{
  (void)state;
  chunk_queues s = queues_of(2, 202);
  int times[CHUNKS] = {0};
  assert_int_equal(take_all(&s, 0, (parts){1, 2, 3}, times), 2 * (67 - 33));
  for (int64_t c = 0; c < 202; ++c) assert_int_equal(times[c], c % 101 >= 33 && c % 101 < 67);
  for (int part = 0; part < 3; part += 2) {
    queues_restart(&s);
    take_all(&s, 1, (parts){part, part + 1, 3}, times);
  }
  assert_once(times, 0, 202);
  queues_restart(&s);
  assert_int_equal(take_all(&s, 0, (parts){1, 3, 3}, times), 2 * (101 - 33));
  for (int64_t c = 0; c < 202; ++c) assert_int_equal(times[c], c % 101 >= 33 ? 2 : 1);
  queues_restart(&s);
  assert_int_equal(take_all(&s, 0, (parts){2, 2, 3}, times), 0);
  queues_free(&s);
}

static void queues_may_be_empty(void **state)
{
  (void)state;
  chunk_queues s = queues_of(8, 3);
  int times[CHUNKS] = {0};
  assert_int_equal(take_all(&s, 5, ALL_PARTS, times), 3);
  assert_once(times, 0, 3);
  queues_free(&s);
  assert_int_equal(queues_new(&s, 2), MD_OK);
  assert_int_equal(take_all(&s, 0, ALL_PARTS, times), 0);
  queues_free(&s);
}

static void every_chunk_goes_to_one_of_many_threads(void **state)
{
  (void)state;
  chunk_queues s = queues_of(4, CHUNKS);
  s.begin[1] = s.begin[2] = 10; /* the queues of threads 0 to 3: 10 chunks, none, nearly all, 10 */
  s.begin[3] = 990;
  for (int pass = 0; pass < 200; ++pass) {
    int times[CHUNKS] = {0};
    int64_t chunks = 0;
    queues_restart(&s);
#pragma omp parallel for schedule(static, 1) num_threads(4) reduction(+ : chunks)
    for (int t = 0; t < 4; ++t) chunks += take_all(&s, t, ALL_PARTS, times);
    assert_int_equal(chunks, CHUNKS);
    assert_once(times, 0, CHUNKS);
  }
  queues_free(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_thread_begins_with_its_own_queue),
      cmocka_unit_test(a_thread_that_lags_is_helped),
      cmocka_unit_test(parts_are_parts_of_every_queue),
      cmocka_unit_test(queues_may_be_empty),
      cmocka_unit_test(every_chunk_goes_to_one_of_many_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
