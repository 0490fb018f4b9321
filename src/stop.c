/* Signals and limits of wall time; see stop.h. */
#include "src/stop.h"
#include "common/base/timer.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile sig_atomic_t came;
static struct timespec when;

static const int signals[] = {SIGTERM, SIGUSR1, SIGINT, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static void note(int number)
{
  struct timespec now = {0};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const double since = (double)(now.tv_sec - when.tv_sec) + 1e-9 * (double)(now.tv_nsec - when.tv_nsec);
  if (!came) {
    when = now;
    came = number;
  } else if (since > 0.1) {
    signal(number, SIG_DFL);
    raise(number);
  }
}

static void mask(int how)
{
  sigset_t set;
  sigemptyset(&set);
  for (int k = 0; k < SIGNALS; ++k) sigaddset(&set, signals[k]);
  pthread_sigmask(how, &set, NULL);
}

void md_stop_hold(void) { mask(SIG_BLOCK); }

void md_stop_listen(bool catches)
{
  struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  for (int k = 0; k < SIGNALS && catches; ++k) {
    struct sigaction before;
    /* A signal that was ignored from the start, as under nohup, stays ignored. */
    if (sigaction(signals[k], NULL, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    sigaction(signals[k], &action, NULL);
  }
  mask(SIG_UNBLOCK);
}

void md_stop_begin(md_stop *stop, bool batch_limit)
{
  const char *end = batch_limit ? getenv("SLURM_JOB_END_TIME") : NULL;
  if (!end || *end == '\0') return;
  char *rest;
  const long long epoch = strtoll(end, &rest, 10);
  const double left = (double)(epoch - (long long)time(NULL)) + (md_time() - stop->started);
  if (*rest || epoch <= 0 || (stop->limit > 0.0 && stop->limit <= left)) return;
  stop->limit = left > 1.0 ? left : 1.0;
  stop->batch = true;
}

static struct sigaction interrupt_before;

static void note_interrupt(int number)
{
  if (!came) {
    came = number;
    return;
  }
  sigaction(number, &interrupt_before, NULL);
  raise(number);
}

void md_stop_interrupts_begin(void)
{
  struct sigaction action = {.sa_handler = note_interrupt, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  came = 0;
  sigaction(SIGINT, NULL, &interrupt_before);
  if (interrupt_before.sa_handler != SIG_IGN) sigaction(SIGINT, &action, NULL);
}

void md_stop_interrupts_end(void)
{
  sigaction(SIGINT, &interrupt_before, NULL);
  came = 0;
}

md_status md_stop_read_time(const char *text, double *seconds)
{
  long long part[4] = {0};
  int n = 0, days = 0;
  const char *at = text;
  for (;;) {
    const size_t digits = strspn(at, "0123456789");
    if (digits < 1 || digits > 9 || n == 4) break;
    part[n++] = strtoll(at, NULL, 10);
    at += digits;
    if (*at == '\0') break;
    if (*at == '-' && n == 1)
      days = 1;
    else if (*at != ':')
      break;
    ++at;
  }
  const bool ended = at > text && *at == '\0' && at[-1] >= '0' && at[-1] <= '9';
  if (!ended || n < 1 || n > 3 + days || (days && n < 4))
    return md_error(MD_USAGE, "--walltime takes H:MM:SS, M:SS, D-H:MM:SS, seconds or none, not '%.40s'",
                    text);
  long long sum = 0;
  for (int k = days; k < n; ++k) sum = 60 * sum + part[k];
  if (days) sum += 86400 * part[0];
  if (sum < 1) return md_error(MD_USAGE, "--walltime must be at least a second, not '%.40s'", text);
  *seconds = (double)sum;
  return MD_OK;
}

int md_stop_signal(void) { return (int)came; }

const char *md_stop_signal_name(int number)
{
  return number == SIGTERM   ? "SIGTERM"
         : number == SIGUSR1 ? "SIGUSR1"
         : number == SIGINT  ? "SIGINT"
         : number == SIGHUP  ? "SIGHUP"
                             : "a signal";
}

bool md_stop_is_late(const md_stop *stop, double restart_seconds)
{
  if (!(stop->limit > 0.0)) return false;
  const double spare = 0.1 * stop->limit < 10.0 ? 0.1 * stop->limit : 10.0;
  return md_time() - stop->started > stop->limit - spare - 1.5 * restart_seconds - 2.0 * stop->piece;
}
