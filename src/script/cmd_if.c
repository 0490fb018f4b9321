/* The command if: runs some of its words as commands, or others; see condition.h for what is compared. */
#include "src/deck/deck.h"
#include "src/script/condition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The words from `first` up to, without, `last` are the commands of one branch. */
typedef struct branch {
  const char *condition; /* NULL: of else */
  int first, last;
} branch;

static bool is(const char *word, const char *name) { return strcmp(word, name) == 0; }

/* Reads the branch whose keyword is word[at], and moves *at past the branch. */
static md_status read_branch(const md_words *words, int *at, branch *b)
{
  const char *keyword = words->word[*at];
  int first = *at + 1;
  b->condition = is(keyword, "then") ? words->word[0] : NULL;
  if (is(keyword, "elif")) {
    if (first == words->n) return md_error(MD_USAGE, "if: elif needs a condition");
    b->condition = words->word[first++];
  }
  b->first = b->last = first;
  while (b->last < words->n && !is(words->word[b->last], "elif") && !is(words->word[b->last], "else"))
    ++b->last;
  if (b->first == b->last)
    return md_error(MD_USAGE, "if: there is no command after %s; put each command in quotes", keyword);
  if (is(keyword, "else") && b->last < words->n)
    return md_error(MD_USAGE, "if: %s stands after the commands of else, which come last",
                    words->word[b->last]);
  *at = b->last;
  return MD_OK;
}

/* The value of a condition, the same on all ranks. */
static md_status evaluate(md_sim *sim, const char *condition, bool *value)
{
  char *replaced = NULL;
  md_status status = md_variables_substitute(sim->variables, condition, &replaced);
  if (status == MD_OK) status = md_condition_evaluate(replaced, value);
  free(replaced);
  MD_TRY(status);
  return sim->follow ? MD_OK : md_deck_check_same(sim, *value ? "true" : "false");
}

static md_status run_branch(md_sim *sim, const md_words *words, const branch *b)
{
  const bool before = sim->script.within_if;
  md_status status = MD_OK;
  sim->script.within_if = true;
  for (int k = b->first; k < b->last && status == MD_OK && !sim->script.quit; ++k)
    status = md_deck_line(sim, words->word[k]);
  sim->script.within_if = before;
  return status;
}

/* For `myriad check`: looks at the commands of the branches that are not taken. */
static md_status look_at_others(md_sim *sim, const md_words *words, const branch *branches, int n, int chosen)
{
  for (int k = 0; k < n; ++k)
    for (int w = branches[k].first; w < branches[k].last && k != chosen; ++w)
      MD_TRY(md_deck_look(sim, words->word[w]));
  return MD_OK;
}

/* Reads all branches, so that a fault in one that is not taken is found too. */
static md_status read_branches(const md_words *words, branch *branches, int *n)
{
  if (!is(words->word[1], "then"))
    return md_error(MD_USAGE,
                    "if: expected then after the condition, found '%.64s'; usage: if CONDITION then "
                    "'COMMAND' ... [elif CONDITION 'COMMAND' ...] [else 'COMMAND' ...]",
                    words->word[1]);
  *n = 0;
  for (int at = 1; at < words->n;) MD_TRY(read_branch(words, &at, &branches[(*n)++]));
  return MD_OK;
}

/* Finds the branch to run: n if there is none. */
static md_status choose(md_sim *sim, const branch *branches, int n, int *chosen)
{
  for (*chosen = 0; *chosen < n; ++*chosen) {
    bool value = true;
    if (branches[*chosen].condition) MD_TRY(evaluate(sim, branches[*chosen].condition, &value));
    if (value) return MD_OK;
  }
  return MD_OK;
}

/* If the way is not known, every branch may be the one. */
static md_status run_all(md_sim *sim, const md_words *words, const branch *branches, int n)
{
  sim->script.lost = true;
  for (int k = 0; k < n; ++k) MD_TRY(run_branch(sim, words, &branches[k]));
  return MD_OK;
}

static md_status run_chosen(md_sim *sim, const md_words *words, const branch *branches, int n)
{
  int chosen = n;
  md_error_record fault;
  const md_status status = md_script_is_lost(sim) ? MD_USAGE : choose(sim, branches, n, &chosen);
  if (status != MD_OK && sim->follow) return run_all(sim, words, branches, n);
  md_error_save(&fault, status);
  if (status != MD_OK) chosen = n;
  if (md_script_is_checked(sim)) MD_TRY(look_at_others(sim, words, branches, n, chosen));
  if (status != MD_OK) return md_error_restore(&fault);
  return chosen < n ? run_branch(sim, words, &branches[chosen]) : MD_OK;
}

md_status md_do_if(md_sim *sim, const md_words *words)
{
  branch *branches;
  int n;
  MD_TRY(md_array_new(&branches, words->n, sizeof *branches, "the branches of if"));
  md_status status = read_branches(words, branches, &n);
  if (status == MD_OK) status = run_chosen(sim, words, branches, n);
  free(branches);
  return status;
}
