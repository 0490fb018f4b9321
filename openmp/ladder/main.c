/* build/ladder-cpu: the rungs of the ladder that run on a processor.
 *
 * It takes --threads from the command line, and leaves the rest to ladder_main(). A rung's first iteration is compared
 * with the oracle, and the times of all its iterations give the median.
 */
#include "openmp/ladder/ladder_cpu.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNG(study, function, name, before, threads, title)                                                  \
  {study, name, before, title, SINGLE_TOLERANCE, 20, threads == CPU_SWEEP},
static const ladder_rung rungs[] = {LADDER_CPU_RUNGS(RUNG)};
#undef RUNG

#define CODE(study, function, name, before, threads, title) {function, threads},
static const struct {
  void (*step)(cpu_bodies *b);
  cpu_threads threads;
} codes[] = {LADDER_CPU_RUNGS(CODE)};
#undef CODE

enum { RUNGS = sizeof rungs / sizeof rungs[0], FIELDS = 10, MAX_COUNTS = 12, MAX_THREADS = 1024 };

/* As many as there are cores, or as --threads says. */
static int all_threads;

/* One block of memory for all fields; free() of b->x frees it. */
static void place_fields(cpu_bodies *b)
{
  const int64_t n = b->n;
  float *block = ladder_allocate(FIELDS * n, sizeof *block);
  float **const field[FIELDS] = {&b->x, &b->y, &b->z, &b->m, &b->u, &b->v, &b->w, &b->ax, &b->ay, &b->az};
  for (int k = 0; k < FIELDS; ++k) *field[k] = block + k * n;
}

static cpu_bodies make_bodies(const ladder_case *c)
{
  cpu_bodies b = {.n = c->n, .dt = c->dt};
  place_fields(&b);
  b.map = ladder_allocate((int64_t)MAP_CELLS * MAP_CELLS, sizeof *b.map);
  const size_t bytes = (size_t)c->n * sizeof *b.x;
  memcpy(b.x, c->x, bytes);
  memcpy(b.y, c->y, bytes);
  memcpy(b.z, c->z, bytes);
  memcpy(b.m, c->m, bytes);
  return b;
}

static void free_bodies(cpu_bodies *b)
{
  free(b->x);
  free(b->map);
}

static double error_of(const ladder_case *c, const cpu_bodies *b)
{
  const int n = c->n;
  double *a = ladder_allocate(3 * (int64_t)n, sizeof *a);
  for (int i = 0; i < n; ++i) {
    a[i] = (double)b->ax[i];
    a[n + i] = (double)b->ay[i];
    a[2 * n + i] = (double)b->az[i];
  }
  const double error = ladder_error(c, a, a + n, a + 2 * (int64_t)n);
  free(a);
  return error;
}

static bool is_right(const ladder_case *c, const cpu_bodies *b)
{
  return ladder_moved(c, b->x, b->y, b->z, b->u, b->v, b->w) &&
         (c->study->shape != SHAPE_SQUARE || ladder_mapped(c, b->x, b->y, b->map));
}

static void climb(int rung, const ladder_case *c, int threads, int repeat, ladder_result *result)
{
  cpu_bodies b = make_bodies(c);
  double *ms = ladder_allocate(repeat, sizeof *ms);
  result->threads = threads > 0 ? threads : codes[rung].threads == CPU_ONE ? 1 : all_threads;
  omp_set_num_threads(result->threads);
  for (int k = 0; k < repeat; ++k) {
    const double began = omp_get_wtime();
    codes[rung].step(&b);
    ms[k] = 1e3 * (omp_get_wtime() - began);
    if (k > 0) continue;
    result->error = error_of(c, &b);
    result->right = is_right(c, &b);
  }
  result->ms = ladder_median(ms, repeat);
  omp_set_num_threads(all_threads);
  free(ms);
  free_bodies(&b);
}

/* Takes --threads T out of the words. Returns 0, or the exit status of a wrong command line. */
static int take_threads(int *argc, char **argv)
{
  for (int k = 1; k < *argc; ++k) {
    if (strcmp(argv[k], "--threads") != 0) continue;
    char *end = NULL;
    const long count = k + 1 < *argc ? strtol(argv[k + 1], &end, 10) : 0;
    if (end == NULL || end == argv[k + 1] || *end != '\0' || count < 1 || count > MAX_THREADS) {
      fprintf(stderr, "ladder-cpu: --threads takes a number from 1 to %d\n", MAX_THREADS);
      return 2;
    }
    all_threads = (int)count;
    memmove(argv + k, argv + k + 2, (size_t)(*argc - k - 1) * sizeof *argv);
    *argc -= 2;
    --k;
  }
  return 0;
}

/* 1, 2, 4 ... and all threads. Returns how many counts there are. */
static int fill_counts(int counts[MAX_COUNTS])
{
  int filled = 0;
  for (int t = 1; t < all_threads; t *= 2) counts[filled++] = t;
  counts[filled++] = all_threads;
  return filled;
}

int main(int argc, char **argv)
{
  all_threads = omp_get_num_procs();
  const int status = take_threads(&argc, argv);
  if (status != 0) return status;
  int counts[MAX_COUNTS];
  const ladder_program program = {"ladder-cpu", rungs, RUNGS, counts, fill_counts(counts), climb};
  const int ended = ladder_main(&program, argc, argv);
  for (int k = 1; k < argc && ended == 0; ++k)
    if (strcmp(argv[k], "--help") == 0)
      printf("  --threads T   threads of a processor, 1 to %d (all cores)\n", MAX_THREADS);
  return fflush(stdout) != 0 || ferror(stdout) ? 1 : ended;
}
