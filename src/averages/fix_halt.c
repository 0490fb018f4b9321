/* fix halt: ends a run early when a condition holds.
 *
 * The condition is tested at every N-th step but the first one of a run, with numbers that are the same on all ranks.
 * Reference: the LAMMPS manual, fix halt; bondmax is not offered. Cost: that of the numbers in the condition. */
#include "common/ranks/reductions.h"
#include "src/averages/output_fix.h"
#include "src/run/run.h"
#include "src/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

typedef enum attribute { TIME, DISK, VARIABLE } attribute;

typedef struct fix_halt {
  md_output_fix base;
  int64_t every;
  attribute what;
  char *name; /* of the variable, with v_; or the path for DISK */
  int relation;
  double value;
  enum { HARD, SOFT, CONTINUE } end;
  bool silent;
} fix_halt;

static const char *const relations[] = {"<", "<=", ">", ">=", "==", "!=", "|^"};
enum { RELATIONS = sizeof relations / sizeof relations[0] };

static bool holds(int relation, double a, double b)
{
  switch (relation) {
  case 0: return a < b;
  case 1: return a <= b;
  case 2: return a > b;
  case 3: return a >= b;
  case 4: return a == b;
  case 5: return a != b;
  default: return (a == 0.0) != (b == 0.0);
  }
}

static md_status read_attribute(fix_halt *fix, md_sim *sim, const char *word)
{
  if (strcmp(word, "tlimit") == 0) fix->what = TIME;
  if (strcmp(word, "tlimit") == 0) return MD_OK;
  if (strcmp(word, "diskfree") == 0) {
    fix->what = DISK;
    return md_output_fix_copy(".", &fix->name);
  }
  if (strncmp(word, "v_", 2) != 0)
    return md_error(MD_USAGE, "fix halt: unknown attribute '%.64s'; accepted are tlimit, diskfree and v_NAME",
                    word);
  fix->what = VARIABLE;
  MD_TRY(md_value_check(sim, word, false));
  return md_output_fix_copy(word, &fix->name);
}

static md_status read_end(fix_halt *fix, const char *word)
{
  if (strcmp(word, "hard") != 0 && strcmp(word, "soft") != 0 && strcmp(word, "continue") != 0)
    return md_error(MD_USAGE, "fix halt error: '%.64s' is none of hard, soft and continue", word);
  fix->end = word[0] == 'h' ? HARD : word[0] == 's' ? SOFT : CONTINUE;
  return MD_OK;
}

static md_status read_keyword(fix_halt *fix, const char *keyword, const char *value)
{
  bool yes;
  if (strcmp(keyword, "error") == 0) return read_end(fix, value);
  if (strcmp(keyword, "path") == 0 && fix->what == DISK) return md_output_fix_copy(value, &fix->name);
  if (strcmp(keyword, "message") != 0)
    return md_error(
        MD_USAGE,
        "fix halt: unknown keyword '%.64s'; accepted are error hard|soft|continue, message yes|no, and with "
        "diskfree path NAME",
        keyword);
  MD_TRY(md_word_bool(value, "fix halt message", &yes));
  fix->silent = !yes;
  return MD_OK;
}

static md_status parse(md_output_fix *base, md_sim *sim, const md_words *words)
{
  fix_halt *fix = (fix_halt *)base;
  fix->end = SOFT;
  if (words->n < 4 || words->n % 2 != 0)
    return md_error(MD_USAGE,
                    "fix halt takes N, an attribute, a comparison and a number, then keywords with a value");
  MD_TRY(md_word_int64(words->word[0], "N of fix halt", 1, INT64_MAX, &fix->every));
  MD_TRY(read_attribute(fix, sim, words->word[1]));
  while (fix->relation < RELATIONS && strcmp(relations[fix->relation], words->word[2]) != 0) ++fix->relation;
  if (fix->relation == RELATIONS)
    return md_error(MD_USAGE, "fix halt: unknown comparison '%.16s'; accepted are < <= > >= == != |^",
                    words->word[2]);
  MD_TRY(md_word_double(words->word[3], "the number of fix halt", &fix->value));
  for (int w = 4; w < words->n; w += 2) MD_TRY(read_keyword(fix, words->word[w], words->word[w + 1]));
  return MD_OK;
}

static int64_t due(const md_output_fix *base, int64_t step)
{
  return md_step_multiple(step, ((const fix_halt *)base)->every);
}

static int64_t due_back(const md_output_fix *base, int64_t step)
{
  return md_step_multiple_back(step, ((const fix_halt *)base)->every, -1);
}

/* The megabytes that are free on the disk with the path. */
static md_status find_free(const fix_halt *fix, md_sim *sim, double *free)
{
  struct statvfs about = {0};
  md_status status = MD_OK;
  if (statvfs(fix->name, &about) != 0)
    status = md_error(MD_RUNTIME, "cannot find out how much of the disk with %.300s is free", fix->name);
  MD_TRY(md_comm_agree(sim->comm, status));
  *free = -(double)about.f_bavail * (double)about.f_frsize / (1024.0 * 1024.0);
  MD_TRY(sim->comm->reduce->max(sim->comm, free, 1));
  *free = -*free;
  return MD_OK;
}

static md_status look(md_output_fix *base, md_view *view)
{
  const fix_halt *fix = (const fix_halt *)base;
  md_sim *sim = view->sim;
  double value = sim->run_seconds;
  if (view->step == sim->run_first) return MD_OK; /* it ends steps, as in LAMMPS */
  if (fix->what == VARIABLE) MD_TRY(md_value_number(sim, fix->name, &value));
  if (fix->what == DISK) MD_TRY(find_free(fix, sim, &value));
  if (!holds(fix->relation, value, fix->value)) return MD_OK;
  if (fix->end == HARD)
    return md_error(MD_RUNTIME, "the run is halted at step %lld, where the value is %g",
                    (long long)view->step, value);
  if (!fix->silent)
    md_log_print(sim->log, "Fix halt %s: the run ends at step %lld, where the value is %g\n", base->id,
                 (long long)view->step, value);
  sim->halted = fix->end == SOFT ? MD_HALT_ALL : sim->halted == MD_HALT_ALL ? MD_HALT_ALL : MD_HALT_RUN;
  return MD_OK;
}

static void free_name(md_output_fix *base) { free(((fix_halt *)base)->name); }

const md_output_fix_style md_fix_halt_style = {
    .name = "halt",
    .usage = "halt N tlimit|diskfree|v_NAME <|<=|>|>=|==|!=||^ VALUE [error hard|soft|continue] [message "
             "yes|no] [path P]",
    .help =
        "ends the run after a step, a multiple of N, at which the comparison holds: of the seconds since it\n"
        "began, of the free megabytes of the disk with the path P (.), or of a variable. error soft, the\n"
        "default: later runs are left out, and other commands are executed; continue: later runs too; hard:\n"
        "the program ends with an error",
    .size = sizeof(fix_halt),
    .parse = parse,
    .due = due,
    .due_back = due_back,
    .look = look,
    .free = free_name,
};
