/* A simulation for tests of single commands: one rank, a log that the test can read back, commands as text. */
#ifndef MD_VALIDATE_UNIT_SUPPORT_SIM_FIXTURE_H
#define MD_VALIDATE_UNIT_SUPPORT_SIM_FIXTURE_H

#include "src/sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct fixture {
  md_sim sim;
  md_log log;
  char text[65536]; /* the log so far, after fixture_log */
} fixture;

static inline md_status fixture_begin(fixture *f, int dim)
{
  *f = (fixture){.log = {.file = tmpfile()}};
  MD_TRY(md_sim_init(&f->sim));
  MD_TRY(md_comm_serial(&f->sim.comm));
  f->sim.log = &f->log;
  f->sim.model.box.dim = dim;
  for (int d = 0; d < 3; ++d) f->sim.model.box.periodic[d] = true;
  return f->log.file ? MD_OK : MD_RUNTIME;
}

static inline void fixture_end(fixture *f)
{
  md_sim_free(&f->sim);
  f->sim.comm->destroy(f->sim.comm);
  fclose(f->log.file);
}

/* The text of the log so far. */
static inline const char *fixture_log(fixture *f)
{
  fflush(f->log.file);
  rewind(f->log.file);
  const size_t n = fread(f->text, 1, sizeof f->text - 1, f->log.file);
  f->text[n] = '\0';
  fseek(f->log.file, 0, SEEK_END);
  return f->text;
}

/* Runs one line of a deck, printf format. The words are separated by blanks. */
static inline md_status fixture_run(fixture *f, const char *format, ...) MD_PRINTF(2, 3);
static inline md_status fixture_run(fixture *f, const char *format, ...)
{
  char line[4096], *word[256], *rest = NULL;
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  int n = 0;
  for (char *w = strtok_r(line, " \t\n", &rest); w && n < 256; w = strtok_r(NULL, " \t\n", &rest))
    word[n++] = w;
  if (n == 0) return MD_OK;
  const md_command *command = md_command_find(word[0]);
  if (!command) return md_error(MD_USAGE, "unknown command %s", word[0]);
  const md_words words = {n - 1, word + 1};
  if (words.n < command->least || (command->most >= 0 && words.n > command->most))
    return md_error(MD_USAGE, "%s: wrong number of words", word[0]);
  return command->handler(&f->sim, &words);
}

#endif
