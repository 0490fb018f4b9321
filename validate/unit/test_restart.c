/* The parts of restarts that need no run: names and times of restarts, limits of time, the history of the deck, the
 * exact conversion from momenta to velocities and back, and how a file is closed after an error. */
#include "src/deck/history.h"
#include "src/files/step_name.h"
#include "src/hdf5/hdf5_file.h"
#include "src/restart/cmd_restart.h"
#include "src/stop.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static md_words split(char *line, char **word)
{
  md_words words = {0, word};
  char *rest;
  for (char *w = strtok_r(line, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) word[words.n++] = w;
  return words;
}

static md_status read_words(const char *line, int64_t *every, char *name[2])
{
  char copy[128], *word[8];
  snprintf(copy, sizeof copy, "%s", line);
  const md_words words = split(copy, word);
  return md_restart_read_words(&words, every, name);
}

static void assert_names(const char *line, int64_t every, const char *first, const char *second)
{
  int64_t n;
  char *name[2];
  assert_int_equal(read_words(line, &n, name), MD_OK);
  assert_int_equal(n, every);
  if (first) assert_string_equal(name[0], first);
  if (second) assert_string_equal(name[1], second);
  assert_true((first != NULL) == (name[0] != NULL) && (second != NULL) == (name[1] != NULL));
  free(name[0]);
  free(name[1]);
}

static void test_names(void **state)
{
  (void)state;
  int64_t n;
  char *name[2];
  assert_names("100 a b", 100, "a", "b");
  assert_names("100 run/melt", 100, "run/melt.1", "run/melt.2");
  assert_names("5 melt.*.h5", 5, "melt.*.h5", NULL);
  assert_names("0", 0, NULL, NULL);
  static const char *const wrong[] = {"0 a",   "10",     "10 a a", "10 a* b", "10 a b*",
                                      "10 a%", "10 a**", "-1 a",   "x a"};
  for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; ++k)
    assert_int_equal(read_words(wrong[k], &n, name), MD_USAGE);
}

static void assert_step_name(const char *name, int64_t step, int digits, const char *expected)
{
  char *got;
  assert_int_equal(md_step_name(name, step, digits, &got), MD_OK);
  assert_string_equal(got, expected);
  free(got);
}

static void test_step_names(void **state)
{
  (void)state;
  assert_step_name("melt.*.h5", 1200, 0, "melt.1200.h5");
  assert_step_name("melt.*.h5", 1200, 6, "melt.001200.h5");
  assert_step_name("melt.*.h5", 1200, 2, "melt.1200.h5");
  assert_step_name("melt.h5", 1200, 6, "melt.h5");
  assert_step_name("*", 0, 0, "0");
  assert_step_name("*", INT64_MAX, 0, "9223372036854775807");
  assert_step_name("*", 0, 40, "0000000000000000000000000000000000000000");
}

static void test_due(void **state)
{
  (void)state;
  md_restarts r = {.every = 10, .last_step = -1};
  assert_int_equal(md_restart_due(&r, 0), 0);
  assert_int_equal(md_restart_due(&r, 1), 10);
  assert_int_equal(md_restart_due(&r, 10), 10);
  r.last_step = 10; /* one restart for a step, although a run ends with it and the next run begins with it */
  assert_int_equal(md_restart_due(&r, 10), 20);
  assert_true(md_restart_due(&r, INT64_MAX - 3) == INT64_MAX);
  r.every = 0;
  assert_true(md_restart_due(&r, 5) == INT64_MAX);
}

static void test_limits(void **state)
{
  (void)state;
  double s = 0.0;
  static const struct {
    const char *text;
    double seconds;
  } good[] = {{"1:55:00", 6900.0}, {"90", 90.0}, {"2:30", 150.0}, {"1-00:00:01", 86401.0}, {"0:00:05", 5.0}};
  for (size_t k = 0; k < sizeof good / sizeof good[0]; ++k) {
    assert_int_equal(md_stop_read_time(good[k].text, &s), MD_OK);
    assert_true(s == good[k].seconds);
  }
  static const char *const bad[] = {"",    ":", "1:",   "1:2:3:4", "1-2",   "1-2:3",     "-5",
                                    "1.5", "0", "0:00", "1h",      "1:00 ", "9999999999"};
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; ++k)
    assert_int_equal(md_stop_read_time(bad[k], &s), MD_USAGE);
}

static uint64_t hash_of(const char *a, const char *b)
{
  md_history h = {0};
  const char *const line[] = {a, b};
  for (int k = 0; k < 2; ++k) {
    char copy[128], *word[16];
    snprintf(copy, sizeof copy, "%s", line[k]);
    const md_words words = split(copy, word);
    if (words.n > 0) md_history_add(&h, &words);
  }
  return h.deck;
}

static void test_history(void **state)
{
  (void)state;
  const uint64_t hash = hash_of("fix 1 all nve", "run 100");
  assert_true(hash == hash_of("fix  1 all   nve", "run 100"));
  assert_true(hash != hash_of("fix 1 all nve", "run 101"));
  assert_true(hash != hash_of("fix 1 all", "nve run 100"));
  assert_true(hash != hash_of("fix 1 allnve", "run 100"));
  assert_true(hash_of("thermo 10", "run 5") == hash_of("dump 1 all atom 5 x", "run 5"));
}

/* Momenta go up to the largest, where the rounding of a product is as large as the quantum. */
static void test_velocities_are_the_inverse_of_impulses(void **state)
{
  (void)state;
  enum { N = 4000, TYPES = 4 };
  static const double mass[TYPES + 1] = {0.0, 1.0, 1.7, 3.0, 0.37};
  md_model m;
  md_particles p, q;
  md_model_init(&m);
  m.ntypes = TYPES;
  for (int d = 0; d < 3; ++d) m.box.hi[d] = 10.0;
  memcpy(m.mass, mass, sizeof mass);
  assert_int_equal(md_model_prepare(&m), MD_OK);
  md_particles_init(&p, 3);
  assert_int_equal(md_particles_reserve(&p, N), MD_OK);
  const double most = m.move_limit / m.dt;
  uint64_t random = 1;
  for (int i = 0; i < N; ++i) {
    p.id[i] = i + 1;
    p.type[i] = (uint16_t)(1 + i % TYPES);
    for (int d = 0; d < 3; ++d) {
      random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
      const double part = (double)(int64_t)random * 0x1p-63;
      p.x[d][i] = 1.0;
      p.v[d][i] = rint(0.999 * part * most / m.velocity_per_v[p.type[i]] / m.grids.v) * m.grids.v;
    }
  }
  p.n = N;
  q = p;
  double *before[3];
  for (int d = 0; d < 3; ++d) {
    before[d] = malloc(N * sizeof(double));
    memcpy(before[d], p.v[d], N * sizeof(double));
  }
  md_model_leave(&m, &q);
  assert_int_equal(md_model_enter(&m, &q), MD_OK);
  for (int d = 0; d < 3; ++d) {
    assert_memory_equal(before[d], q.v[d], N * sizeof(double));
    free(before[d]);
  }
  md_particles_free(&p);
  md_model_free(&m);
}

/* Functions of the leak sanitizer, if it is linked. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

/* Closes a file whose last bytes do not fit on the disk. status: of the work before. The result tells whether the full
 * disk is reported, or the first error. */
static md_status close_on_a_full_disk(const char *path, md_status status)
{
  md_h5_file *file = NULL;
  struct rlimit old, none;
  /* If the library cannot close a file, it leaks memory. This is not a leak of the program. */
  if (__lsan_disable) __lsan_disable();
  assert_int_equal(md_h5->open(&file, path, MD_H5_CREATE, NULL), MD_OK);
  assert_int_equal(md_h5->put_text(file, "format", "a test"), MD_OK);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  none = old;
  none.rlim_cur = 0;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
  if (status != MD_OK) status = md_error(status, "the first error");
  status = md_h5_close_after(&file, status);
  if (__lsan_enable) __lsan_enable();
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
  assert_null(file);
  return status;
}

static void test_first_error_stays(void **state)
{
  (void)state;
  char folder[] = "/tmp/myriad-test-XXXXXX", path[64];
  md_h5_file *none = NULL;
  assert_int_equal(md_h5_close_after(&none, MD_OK), MD_OK);
  assert_int_equal(md_h5_close_after(&none, md_error(MD_USAGE, "no file")), MD_USAGE);
  assert_string_equal(md_error_text(), "no file");
  if (!md_h5) return;
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/file", folder);
  assert_int_equal(close_on_a_full_disk(path, MD_OK), MD_RUNTIME);
  assert_non_null(strstr(md_error_text(), "File too large"));
  assert_int_equal(close_on_a_full_disk(path, MD_PHYSICS), MD_PHYSICS);
  assert_string_equal(md_error_text(), "the first error");
  assert_int_equal(unlink(path), 0);
  assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_step_names),
      cmocka_unit_test(test_due),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_history),
      cmocka_unit_test(test_velocities_are_the_inverse_of_impulses),
      cmocka_unit_test(test_first_error_stays),
  };
  return cmocka_run_group_tests_name("restart", tests, NULL, NULL);
}
