/* fix print: prints a line at every N-th step, in which variables and formulas are replaced each time.
 *
 * The line goes to screen and log, unless screen no, and perhaps to a file. Reference: the LAMMPS manual, fix print. */
#include "src/averages/output_fix.h"
#include "src/steps.h"

#include <stdlib.h>
#include <string.h>

typedef struct fix_print {
  md_output_fix base;
  int64_t every;
  char *line;
  bool silent;
} fix_print;

static md_status set_title(fix_print *fix, const char *title)
{
  md_text text = {0};
  if (title)
    md_text_string(&text, title);
  else
    md_text_print(&text, "# Fix print output for fix %s", fix->base.id);
  md_text_add(&text, "\n", 2); /* with a terminator */
  md_status status = md_text_status(&text);
  if (status == MD_OK) status = md_output_fix_copy(text.bytes, &fix->base.title);
  md_text_free(&text);
  return status;
}

static md_status read_keyword(fix_print *fix, const char *keyword, const char *value)
{
  bool screen;
  fix->base.append = fix->base.append || strcmp(keyword, "append") == 0;
  if (strcmp(keyword, "file") == 0 || strcmp(keyword, "append") == 0)
    return md_output_fix_copy(value, &fix->base.path);
  if (strcmp(keyword, "title") == 0) return set_title(fix, value);
  if (strcmp(keyword, "screen") != 0)
    return md_error(
        MD_USAGE,
        "fix print: unknown keyword '%.64s'; accepted are file NAME, append NAME, screen yes|no and title "
        "TEXT",
        keyword);
  MD_TRY(md_word_bool(value, "fix print screen", &screen));
  fix->silent = !screen;
  return MD_OK;
}

static md_status parse(md_output_fix *base, md_sim *sim, const md_words *words)
{
  fix_print *fix = (fix_print *)base;
  (void)sim;
  if (words->n < 2 || words->n % 2 != 0)
    return md_error(MD_USAGE, "fix print takes N and a text in quotes, then keywords with a value each");
  MD_TRY(md_word_int64(words->word[0], "N of fix print", 1, INT64_MAX, &fix->every));
  MD_TRY(md_output_fix_copy(words->word[1], &fix->line));
  MD_TRY(set_title(fix, NULL));
  for (int w = 2; w < words->n; w += 2) MD_TRY(read_keyword(fix, words->word[w], words->word[w + 1]));
  return MD_OK;
}

static int64_t due(const md_output_fix *base, int64_t step)
{
  return md_step_multiple(step, ((const fix_print *)base)->every);
}

static int64_t due_back(const md_output_fix *base, int64_t step)
{
  return md_step_multiple_back(step, ((const fix_print *)base)->every, -1);
}

static md_status look(md_output_fix *base, md_view *view)
{
  fix_print *fix = (fix_print *)base;
  char *line = NULL;
  MD_TRY(md_variables_substitute(view->sim->variables, fix->line, &line));
  if (!fix->silent) md_log_print(view->sim->log, "%s\n", line);
  md_text_string(&base->text, line);
  md_text_string(&base->text, "\n");
  free(line);
  return md_text_status(&base->text);
}

static void free_line(md_output_fix *base) { free(((fix_print *)base)->line); }

const md_output_fix_style md_fix_print_style = {
    .name = "print",
    .usage = "print N TEXT [file|append NAME] [screen yes|no] [title TEXT]",
    .help = "prints TEXT at every N-th step; put it into quotes, so that its $ references are replaced then",
    .size = sizeof(fix_print),
    .parse = parse,
    .due = due,
    .due_back = due_back,
    .look = look,
    .free = free_line,
};
