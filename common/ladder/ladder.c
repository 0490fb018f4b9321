/* The ladder's main program: command line, order of work, and results as lines of CSV.
 *
 * A rung that would take more than about two seconds is left out. Its time is foreseen from its last time with at
 * least 1000 bodies, as it grows with the square of n, or with n in the study cells. With fewer bodies, other work may
 * count for more.
 */
#include "common/ladder/bodies.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ladder_study studies[] = {
    {"activity", SHAPE_SQUARE, ACTIVITY_SOFTENING, false,
     (const int[]){100, 1000, 2000, 4000, 8000, 16000, 32000, 64000, 0}},
    {"atomics", SHAPE_CUBE, ATOMICS_SOFTENING, false,
     (const int[]){1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 0}},
    {"cells", SHAPE_DISKS, 0.0f, true, (const int[]){10000, 100000, 1000000, 0}},
    {"laboratory", SHAPE_CUBE, LABORATORY_SOFTENING, true, (const int[]){25000, 65536, 131072, 200000, 0}},
    {"porting", SHAPE_PLUMMER, PORTING_SOFTENING, false,
     (const int[]){1000, 4000, 10000, 100000, 300000, 0}}};
enum { STUDIES = sizeof studies / sizeof studies[0], MAX_SIZES = 64, MAX_N = 4000000, MAX_REPEAT = 1000 };
enum { FORESEE_FROM = 1000 };

static const double longest = 2000.0; /* ms */

/* What the command line asks for. */
typedef struct wish {
  bool *chosen; /* of each rung */
  int sizes[MAX_SIZES + 1];
  int repeat;
  bool list, help;
} wish;

/* The last time of a rung with a number of threads; n = 0: none. */
typedef struct last_time {
  int n;
  double ms;
} last_time;

static int usage(const ladder_program *p, FILE *to)
{
  fprintf(to,
          "usage: %s [STUDY | STUDY/RUNG ...] [-n N[,N...]] [--repeat K] [--list] [--help]\n"
          "Runs the rungs of the ladder, all or those named, and prints a line of CSV for each.\n"
          "  -n N[,N...]   numbers of bodies, 2 to %d, instead of the study's own\n"
          "  --repeat K    timings of which the median is printed, 3 to %d (5)\n"
          "  --list        print studies and rungs\n"
          "Exit status: 0 all rungs are right, 1 one is not, 2 the command line is wrong.\n",
          p->name, MAX_N, MAX_REPEAT);
  return 2;
}

static int refuse(const ladder_program *p, const char *what, const char *word)
{
  fprintf(stderr, "%s: %s: '%s'; see %s --help\n", p->name, what, word, p->name);
  return 2;
}

/* Reads a number from `low` to `high` at *at and moves *at past it. Returns 0 if there is none. */
static int number_at(const char **at, int low, int high)
{
  char *end;
  errno = 0;
  const long value = strtol(*at, &end, 10);
  if (**at < '0' || **at > '9' || errno != 0 || value < low || value > high) return 0;
  *at = end;
  return (int)value;
}

static bool read_sizes(const char *word, int sizes[MAX_SIZES + 1])
{
  for (int count = 0; count < MAX_SIZES; ++count) {
    const int n = number_at(&word, 2, MAX_N);
    if (n == 0) return false;
    sizes[count] = n;
    sizes[count + 1] = 0;
    if (*word == '\0') return true;
    if (*word++ != ',') return false;
  }
  return false;
}

/* Chooses the rungs of a study, or the rung STUDY/RUNG. Returns false if there is none of that name. */
static bool choose(const ladder_program *p, const char *name, bool *chosen)
{
  bool found = false;
  for (int r = 0; r < p->rung_count; ++r) {
    const size_t length = strlen(p->rungs[r].study);
    if (strncmp(name, p->rungs[r].study, length) != 0) continue;
    if (name[length] != '\0' && (name[length] != '/' || strcmp(name + length + 1, p->rungs[r].name) != 0))
      continue;
    chosen[r] = found = true;
  }
  return found;
}

/* Returns 0, or the exit status. */
static int read_words(const ladder_program *p, int argc, char **argv, wish *w)
{
  bool any = false;
  for (int k = 1; k < argc; ++k) {
    const char *word = argv[k], *value = k + 1 < argc ? argv[k + 1] : "";
    if (strcmp(word, "--list") == 0) {
      w->list = true;
    } else if (strcmp(word, "--help") == 0) {
      w->help = true;
    } else if (strcmp(word, "-n") == 0) {
      if (!read_sizes(value, w->sizes))
        return refuse(p, "-n takes numbers of bodies with commas between", value);
      ++k;
    } else if (strcmp(word, "--repeat") == 0) {
      const char *at = value;
      w->repeat = number_at(&at, 3, MAX_REPEAT);
      if (w->repeat == 0 || *at != '\0') return refuse(p, "--repeat takes a number from 3 on", value);
      ++k;
    } else if (word[0] == '-') {
      return refuse(p, "there is no such option", word);
    } else if (choose(p, word, w->chosen)) {
      any = true;
    } else {
      return refuse(p, "there is no such study or rung", word);
    }
  }
  for (int r = 0; r < p->rung_count && !any; ++r) w->chosen[r] = true;
  return 0;
}

static void list(const ladder_program *p)
{
  printf("study,rung,before,title\n");
  for (const ladder_rung *r = p->rungs; r < p->rungs + p->rung_count; ++r)
    printf("%s,%s,%s,%s\n", r->study, r->name, r->before, r->title);
}

/* Runs one rung and prints its line. Returns false if it is wrong. */
static bool climb(const ladder_program *p, int rung, const ladder_case *c, int threads, int repeat,
                  last_time *last)
{
  const ladder_rung *r = &p->rungs[rung];
  const bool pairs = c->study->shape != SHAPE_DISKS; /* all of them are evaluated */
  const double growth = last->n > 0 ? (double)c->n / last->n : 0.0;
  const double foreseen = last->ms * growth * (pairs ? growth : 1.0);
  if (foreseen > longest) {
    fprintf(stderr, "%s: %s/%s is left out at n = %d: it would take about %.0f s\n", p->name, r->study,
            r->name, c->n, foreseen / 1e3);
    return true;
  }
  ladder_result result = {0};
  p->climb(rung, c, threads, repeat, &result);
  if (c->n >= FORESEE_FROM) *last = (last_time){c->n, result.ms};
  const double rate = pairs ? (double)c->n * c->n / (result.ms * 1e-3) : (double)NAN;
  const bool ok = result.right && result.error <= r->tolerance;
  printf("%s,%s,%d,%d,%.6g,%.6g,%.6g,%.3g,%.3g,%s\n", r->study, r->name, c->n, result.threads, result.ms,
         rate, rate * r->flop * 1e-9, result.error, r->tolerance, ok ? "yes" : "no");
  fflush(stdout);
  return ok;
}

/* Runs the chosen rungs of a study. Returns false if one is wrong. */
static bool climb_study(const ladder_program *p, const ladder_study *study, const wish *w, last_time *last)
{
  bool ok = true, any = false;
  for (int r = 0; r < p->rung_count; ++r)
    any = any || (w->chosen[r] && strcmp(p->rungs[r].study, study->name) == 0);
  if (!any) return true;
  const int slots = p->thread_count + 1;
  for (const int *n = w->sizes[0] != 0 ? w->sizes : study->sizes; *n != 0; ++n) {
    ladder_case *c = ladder_make_case(study, *n);
    for (int r = 0; r < p->rung_count; ++r) {
      if (!w->chosen[r] || strcmp(p->rungs[r].study, study->name) != 0) continue;
      if (!p->rungs[r].sweep) ok = climb(p, r, c, 0, w->repeat, &last[r * slots]) && ok;
      for (int t = 0; p->rungs[r].sweep && t < p->thread_count; ++t)
        ok = climb(p, r, c, p->threads[t], w->repeat, &last[r * slots + t]) && ok;
    }
    ladder_free_case(c);
  }
  return ok;
}

int ladder_main(const ladder_program *p, int argc, char **argv)
{
  wish w = {.chosen = ladder_allocate(p->rung_count, sizeof(bool)), .repeat = 5};
  last_time *last = ladder_allocate((int64_t)p->rung_count * (p->thread_count + 1), sizeof *last);
  bool ok = true;
  const int status = read_words(p, argc, argv, &w);
  if (status == 0 && w.help) {
    usage(p, stdout);
  } else if (status == 0 && w.list) {
    list(p);
  } else if (status == 0) {
    printf("study,rung,n,threads,ms,interactions_per_s,gflops,error,tolerance,ok\n");
    for (int s = 0; s < STUDIES; ++s) ok = climb_study(p, &studies[s], &w, last) && ok;
  }
  free(w.chosen);
  free(last);
  return status != 0 ? status : ok ? 0 : 1;
}

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double ladder_median(double *time, int count)
{
  qsort(time, (size_t)count, sizeof *time, compare);
  return 0.5 * (time[(count - 1) / 2] + time[count / 2]);
}
