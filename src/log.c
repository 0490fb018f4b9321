/* Printing to the log's sinks, the progress line and the heartbeats; see log.h.
 *
 * The progress line is overwritten in place: a carriage return, the text, and the terminal's code "erase to the
 * end of the line". Any other print to the terminal erases the progress line first. Heartbeats begin with #, so
 * that programs that read the thermo table out of a log skip them. Texts may contain characters from a deck or
 * from the command line: terminal control characters are printed as ?.
 */
#define _GNU_SOURCE /* vasprintf */
#include "src/log.h"
#include "common/base/open_file.h"
#include "src/stop.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const double live_interval = 0.1, heartbeat_interval = 30.0; /* s */

static void fail(md_log *log, const FILE *sink)
{
  if (sink == log->file)
    log->file_failed = true;
  else
    log->screen_failed = true;
}

static void erase_live_line(md_log *log)
{
  if (!log->line_open) return;
  log->line_open = false;
  if (fputs("\r\033[K", log->screen) < 0) fail(log, log->screen);
}

/* How many bytes at `c` form a terminal control character: a code below a space except tab and newline, DEL, or,
 * in UTF-8, a code from 128 to 159. 0: none. A carriage return counts too; the caller drops it at the end of a
 * line. */
static size_t steering_bytes(const unsigned char *c)
{
  if (*c == '\t' || *c == '\n') return 0;
  if (*c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f) return 2;
  return *c < ' ' || *c == 127;
}

bool md_log_put_visibly(FILE *file, const char *text)
{
  const unsigned char *c = (const unsigned char *)text, *plain = c;
  bool good = true;
  while (good && *c) {
    const size_t n = steering_bytes(c);
    if (n > 0) {
      good = fwrite(plain, 1, (size_t)(c - plain), file) == (size_t)(c - plain);
      const bool line_end = *c == '\r' && (c[1] == '\n' || c[1] == '\0');
      good = good && (line_end || putc('?', file) != EOF);
      plain = c + n;
    }
    c += n > 0 ? n : 1;
  }
  return good && fwrite(plain, 1, (size_t)(c - plain), file) == (size_t)(c - plain);
}

static void put(md_log *log, FILE *sink, const char *format, va_list args)
{
  char *text = NULL;
  if (!sink) return;
  if (vasprintf(&text, format, args) < 0) {
    fail(log, sink);
    return;
  }
  if (!md_log_put_visibly(sink, text)) fail(log, sink);
  free(text);
}

md_status md_log_open(md_log *log, const char *name, const char *mode, bool shared)
{
  if (log->file && fclose(log->file) != 0) log->file_failed = true;
  log->file = NULL;
  if (strcmp(name, "none") == 0) return MD_OK;
  log->file = shared ? md_open_shared(name, *mode == 'a') : md_open_write(name, *mode == 'a');
  if (!log->file)
    return md_error(MD_RUNTIME, "cannot open the log file %.200s: %s; use -log FILE, or -log none", name,
                    md_open_reason(errno));
  snprintf(log->file_name, sizeof log->file_name, "%s", name);
  return MD_OK;
}

void md_log_print(md_log *log, const char *format, ...)
{
  erase_live_line(log);
  va_list args;
  va_start(args, format);
  put(log, log->screen, format, args);
  va_end(args);
  va_start(args, format);
  put(log, log->file, format, args);
  va_end(args);
}

static void put_line(md_log *log, FILE *sink, const char *line)
{
  if (!md_log_put_visibly(sink, line)) fail(log, sink);
  const size_t n = strlen(line);
  if ((n == 0 || line[n - 1] != '\n') && fputc('\n', sink) < 0) fail(log, sink);
}

void md_log_echo(md_log *log, const char *line)
{
  if (log->screen && log->echo_screen) {
    erase_live_line(log);
    put_line(log, log->screen, line);
  }
  if (log->file && log->echo_file) put_line(log, log->file, line);
}

/* "12 s", "3 min 20 s", "2 h 05 min", "4 d 03 h". */
static void print_duration(char *out, size_t size, double seconds)
{
  if (!(seconds < 1e9)) {
    snprintf(out, size, "unknown");
    return;
  }
  const long long s = (long long)(seconds + 0.5);
  if (s < 60)
    snprintf(out, size, "%lld s", s);
  else if (s < 3600)
    snprintf(out, size, "%lld min %02lld s", s / 60, s % 60);
  else if (s < 86400)
    snprintf(out, size, "%lld h %02lld min", s / 3600, s / 60 % 60);
  else
    snprintf(out, size, "%lld d %02lld h", s / 86400, s / 3600 % 24);
}

static void print_progress(char *out, size_t size, const md_progress *p)
{
  const double percent = p->total > 0 ? 100.0 * (double)p->done / (double)p->total : 100.0;
  char eta[32], drift[48] = "";
  print_duration(eta, sizeof eta,
                 p->here > 0 ? p->seconds / (double)p->here * (double)(p->total - p->done) : 1e300);
  if (p->has_drift) snprintf(drift, sizeof drift, ", energy drift %+.2e", p->drift);
  snprintf(out, size, "step %lld of %lld, %.1f %%, %.3g particle-steps/s, ETA %s%s", p->done, p->total,
           percent, p->rate, eta, drift);
}

static void heartbeat(md_log *log, FILE *sink, const char *text)
{
  if (fprintf(sink, "# %s\n", text) < 0 || fflush(sink) != 0) fail(log, sink);
}

void md_log_progress(md_log *log, const md_progress *progress)
{
  const double seconds = progress->seconds;
  const bool live = log->live && log->screen;
  const bool draw = live && seconds - log->last_live >= live_interval;
  const bool beat = seconds - log->last_heartbeat >= heartbeat_interval;
  if (!draw && !beat) return;
  char text[224];
  print_progress(text, sizeof text, progress);
  if (beat) {
    log->last_heartbeat = seconds;
    if (log->file) heartbeat(log, log->file, text);
    if (log->screen && !live) heartbeat(log, log->screen, text);
  }
  if (draw) {
    log->last_live = seconds;
    log->line_open = true;
    if (fprintf(log->screen, "\r%s\033[K", text) < 0 || fflush(log->screen) != 0) fail(log, log->screen);
  }
}

void md_log_progress_end(md_log *log)
{
  erase_live_line(log);
  log->last_live = log->last_heartbeat = 0.0;
}

void md_log_flush(md_log *log)
{
  if (log->screen && (fflush(log->screen) != 0 || ferror(log->screen))) log->screen_failed = true;
  if (log->file && (fflush(log->file) != 0 || ferror(log->file))) log->file_failed = true;
}

md_status md_log_file_status(md_log *log)
{
  md_log_flush(log);
  if (!log->file_failed) return MD_OK;
  return md_error(MD_RUNTIME, "writing the log %.200s failed: is the disk full?", log->file_name);
}

md_status md_log_status(md_log *log)
{
  MD_TRY(md_log_file_status(log));
  /* A terminal that was closed takes no more text. */
  if (!log->screen_failed || (log->live && md_stop_signal() == SIGHUP)) return MD_OK;
  return md_error(MD_RUNTIME,
                  "writing to the screen failed: is the reader of a pipe gone, or the disk full?");
}

md_status md_log_close(md_log *log)
{
  if (log->file && fclose(log->file) != 0) log->file_failed = true;
  if (log->screen && log->screen != stdout) fclose(log->screen);
  log->file = log->screen = NULL;
  return md_log_file_status(log);
}
