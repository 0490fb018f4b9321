/* Searching a deck in advance; see search.h. */
#include "src/deck/search.h"
#include "src/deck/deck.h"
#include "src/restart/cmd_restart.h"

#include <errno.h>
#include <stdlib.h>

static md_search *present; /* the search that is going on; NULL: none */
static bool unknown;       /* a command was not understood */

void md_search_free(md_search *search)
{
  for (int64_t k = 0; k < search->nname; ++k) free(search->name[k]);
  free(search->name);
  free(search->deck);
  free(search->known);
  *search = (md_search){0};
}

static md_status out_of_memory(void)
{
  return md_error(MD_RUNTIME, "out of memory while a deck is searched");
}

static md_status add_name(md_search *s, char *name)
{
  char **larger = realloc(s->name, (size_t)(s->nname + 1) * sizeof *larger);
  if (!larger) {
    free(name);
    return out_of_memory();
  }
  s->name = larger;
  s->name[s->nname++] = name;
  return MD_OK;
}

static md_status add_restarts(md_search *s, const md_words *words)
{
  int64_t every;
  char *name[2] = {NULL, NULL};
  /* The later reading of the deck reports a wrong command. */
  if (md_restart_read_words(words, &every, name) != MD_OK) return MD_OK;
  for (int k = 0; k < 2; ++k)
    if (name[k]) MD_TRY(add_name(s, name[k]));
  return MD_OK;
}

static md_status add_run(md_search *s, uint64_t deck)
{
  uint64_t *hashes = realloc(s->deck, (size_t)(s->nrun + 1) * sizeof *hashes);
  if (hashes) s->deck = hashes;
  bool *known = realloc(s->known, (size_t)(s->nrun + 1) * sizeof *known);
  if (known) s->known = known;
  if (!hashes || !known) return out_of_memory();
  s->deck[s->nrun] = deck;
  s->known[s->nrun++] = !unknown && !s->open;
  return MD_OK;
}

/* A run, and a command that reads a variable, may draw random numbers. */
static bool may_draw(const md_words *words)
{
  bool reads = false;
  for (int k = 1; k < words->n && !reads; ++k) reads = strstr(words->word[k], "v_") != NULL;
  return reads || md_history_is_run(words->word[0]);
}

static md_status follow(md_sim *sim, const md_words *words)
{
  if (!words) { /* it may be a run */
    unknown = present->open = true;
    return MD_OK;
  }
  const char *name = words->word[0];
  const md_words after = {words->n - 1, words->word + 1};
  present->open = present->open || sim->script.lost;
  md_history_add(&sim->history, words);
  if (strcmp(name, "variable") == 0 && after.n >= 2 && md_do_variable(sim, &after) != MD_OK) return MD_OK;
  if (strcmp(name, "restart") == 0) return add_restarts(present, &after);
  if (strcmp(name, "variable") != 0 && may_draw(words)) md_variables_hide_draws(sim->variables);
  if (!md_history_is_run(name)) return MD_OK;
  MD_TRY(add_run(present, sim->history.deck));
  /* The number of runs of `run every` may depend on the present step. */
  for (int k = 0; k < after.n; ++k)
    if (strcmp(after.word[k], "every") == 0) sim->script.lost = present->open = true;
  return MD_OK;
}

md_status md_deck_search(md_sim *sim, FILE *deck, const char *name, md_search *search)
{
  present = search;
  unknown = false;
  sim->follow = follow;
  /* The later reading of the deck reports the error that ends the search here. */
  if (md_deck_run(sim, deck, name) != MD_OK) unknown = true;
  sim->follow = NULL;
  search->open = search->open || sim->script.lost;
  present = NULL;
  const int reason = fseek(deck, 0, SEEK_SET) == 0 ? 0 : errno;
  if (reason == 0) return MD_OK;
  return md_error(MD_RUNTIME, "--resume reads the deck twice, but %.500s cannot be: %s", name,
                  strerror(reason));
}
