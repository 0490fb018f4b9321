/* The commands that move the place of reading: include, jump, label, next, quit; see script.h.
 *
 * A jump is also the place where a deck that runs nothing looks at signals and at the limit of time. A run would stop
 * by itself, with a restart. So a jump ends the deck only if no run began within GRACE seconds. Where no restart is
 * written, it does so at once.
 */
#include "common/base/timer.h"
#include "common/ranks/reductions.h"
#include "src/deck/deck.h"
#include "src/stop.h"

#include <stdlib.h>

/* FOLLOWED_MAX: jumps after which a deck that is only followed counts as lost. CHECKED_MAX: jumps back that `myriad
 * check` takes. */
enum { FOLLOWED_MAX = 10000, CHECKED_MAX = 100 };
static const double GRACE = 2.0;

md_status md_do_include(md_sim *sim, const md_words *words)
{
  FILE *file;
  if (sim->script.nesting >= MD_NESTING_MAX)
    return md_error(MD_USAGE, "include %.300s: files within files are more than %d deep", words->word[0],
                    MD_NESTING_MAX);
  MD_TRY(md_script_open(sim, "include", words->word[0], &file));
  return md_deck_file(sim, file, words->word[0]);
}

/* ---- jump ---- */

/* Ends a deck that should have stopped, and whose next run does not come. Collective. */
static md_status look_at_stop(md_sim *sim)
{
  md_script *script = &sim->script;
  if (!sim->stop || sim->follow || sim->planning.on) return MD_OK;
  const bool asked = md_stop_signal() != 0 || md_stop_is_late(sim->stop, 0.0);
  if (asked && script->waiting <= 0.0) script->waiting = md_time();
  double waited = asked ? md_time() - script->waiting : 0.0;
  MD_TRY(sim->comm->reduce->max(sim->comm, &waited, 1));
  if (sim->stop->plain ? waited <= 0.0 : waited < GRACE) return MD_OK;
  if (sim->stop->plain)
    return md_error(MD_STOPPED, "stopped by %s between two runs", md_stop_signal_name(md_stop_signal()));
  return md_error(MD_RUNTIME,
                  "stopped by %s between two runs, without a restart of this place: no run began within %g s",
                  md_stop_signal() ? md_stop_signal_name(md_stop_signal()) : "the limit of time", GRACE);
}

/* Whether the source has the name `file`, or is meant by SELF. */
static bool is_self(const md_script *script, const char *file)
{
  return strcmp(file, "SELF") == 0 || strcmp(file, script->source->name) == 0;
}

/* Adds a file to those that `myriad check` has jumped to. *first: it was not among them. */
static md_status visit(md_script *script, const char *file, bool *first)
{
  *first = true;
  for (int k = 0; k < script->nvisited; ++k)
    if (strcmp(script->visited[k], file) == 0) *first = false;
  if (!*first) return MD_OK;
  char **larger = realloc(script->visited, (size_t)(script->nvisited + 1) * sizeof *larger);
  if (larger) script->visited = larger;
  char *copy = larger ? strdup(file) : NULL;
  if (!copy) return md_error(MD_RUNTIME, "out of memory for the names of decks");
  script->visited[script->nvisited++] = copy;
  return MD_OK;
}

/* asked_at: the line of the jump, or 0 if it is in another file. */
static md_status skip_to(md_script *script, const char *label, int64_t asked_at)
{
  char *copy = strdup(label);
  if (!copy) return md_error(MD_RUNTIME, "out of memory for a label");
  free(script->label);
  script->label = copy;
  script->asked_at = asked_at;
  return MD_OK;
}

static md_status go(md_sim *sim, const char *file, const char *label)
{
  md_script *script = &sim->script;
  int64_t asked_at = 0;
  if (strcmp(file, "SELF") == 0) {
    asked_at = script->source->first_line;
    MD_TRY(md_source_rewind(script->source));
  } else {
    FILE *other;
    MD_TRY(md_script_open(sim, "jump", file, &other));
    const md_status status = md_source_replace(script->source, other, file);
    if (status != MD_OK) fclose(other);
    MD_TRY(md_comm_agree(sim->comm, status));
  }
  return label ? skip_to(script, label, asked_at) : MD_OK;
}

/* For `myriad check`: takes a jump forward, one back in a loop of `next`, and the first one to another file. */
static md_status judge_jump(md_sim *sim, const char *file, const char *label)
{
  md_script *script = &sim->script;
  int64_t line;
  bool first;
  const bool again = script->again;
  script->again = false;
  if (!is_self(script, file)) {
    MD_TRY(visit(script, script->source->name, &first));
    MD_TRY(visit(script, file, &first));
    return first ? go(sim, file, label) : MD_OK;
  }
  if (!label) return MD_OK;
  MD_TRY(md_source_find_label(script->source, label, &line));
  if (line == 0)
    return md_error(MD_USAGE, "jump: there is no label '%.64s' in %.300s", label, script->source->name);
  const int64_t here = script->source->first_line;
  if (line > here) return skip_to(script, label, here);
  if (!again) return MD_OK;
  ++script->njump;
  return go(sim, "SELF", label);
}

md_status md_do_jump(md_sim *sim, const md_words *words)
{
  md_script *script = &sim->script;
  const char *label = words->n > 1 ? words->word[1] : NULL;
  if (md_script_is_lost(sim)) return MD_OK;
  if (script->pass_jump) {
    script->pass_jump = false;
    return MD_OK;
  }
  if (md_script_is_checked(sim)) return judge_jump(sim, words->word[0], label);
  MD_TRY(look_at_stop(sim));
  if (sim->follow && ++script->njump > FOLLOWED_MAX) {
    script->lost = true;
    return MD_OK;
  }
  return go(sim, words->word[0], label);
}

md_status md_do_label(md_sim *sim, const md_words *words)
{
  md_script *script = &sim->script;
  if (!script->label || strcmp(script->label, words->word[0]) != 0) return MD_OK;
  free(script->label);
  script->label = NULL;
  return MD_OK;
}

/* Files may differ from rank to rank. */
static md_status check_values(md_sim *sim, const md_words *words)
{
  for (int k = 0; k < words->n; ++k) {
    char *text;
    if (md_variables_is_atom(sim->variables, words->word[k])) continue;
    MD_TRY(md_variables_text(sim->variables, words->word[k], &text));
    const md_status status = md_deck_check_same(sim, text);
    free(text);
    MD_TRY(status);
  }
  return MD_OK;
}

md_status md_do_next(md_sim *sim, const md_words *words)
{
  bool ended;
  if (md_script_is_lost(sim)) return MD_OK;
  MD_TRY(md_comm_agree(sim->comm, md_variables_next(sim->variables, words->n, words->word, &ended)));
  if (md_script_is_checked(sim)) sim->script.again = !ended;
  if (md_script_is_checked(sim) && sim->script.njump >= CHECKED_MAX) {
    char delete[] = "delete";
    for (int k = 0; k < words->n; ++k)
      MD_TRY(md_variables_define(sim->variables, 2, (char *[]){words->word[k], delete}));
    ended = true;
  }
  sim->script.pass_jump = sim->script.pass_jump || ended;
  return ended || sim->follow ? MD_OK : check_values(sim, words);
}

md_status md_do_quit(md_sim *sim, const md_words *words)
{
  md_script *script = &sim->script;
  int64_t status = 0;
  if (words->n > 0) MD_TRY(md_word_int64(words->word[0], "the status of quit", 0, 255, &status));
  /* In a check, lines after an `if` with `quit` are judged too. */
  const bool within = script->within_if;
  if (md_script_is_lost(sim) || (md_script_is_checked(sim) && within)) return MD_OK;
  script->quit = true;
  script->status = (int)status;
  return MD_OK;
}
