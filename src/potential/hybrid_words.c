/* The words of pair styles hybrid and hybrid/overlay.
 *
 *   pair_style hybrid STYLE VALUES STYLE VALUES ...   the name of a pair style begins the next sub-style
 *   pair_coeff I J STYLE [N] VALUES | I J none        N: which of several sub-styles of this name, from 1
 *   pair_modify pair STYLE [N] KEYWORD VALUE ...      for one sub-style; without `pair` for all
 *
 * Reference: the LAMMPS manual, pair_style hybrid and pair_modify.
 */
#include "src/potential/hybrid_words.h"
#include "common/base/name_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool begins_style(const char *word)
{
  return strcmp(word, "none") == 0 || md_pair_find(word) != MD_PAIR_KINDS;
}

/* A sub-style begins at words[0]. Its values go to the next name of a style. */
static md_status read_sub_style(md_sim *sim, const char *hybrid, const md_words *words, md_sub_style *sub,
                                int *end)
{
  const char *name = words->word[0];
  int n = 1;
  if (strcmp(name, "none") == 0)
    return md_error(
        MD_USAGE, "pair_style %s: none is no sub-style; pair_coeff I J none says which types do not interact",
        hybrid);
  const md_pair_kind kind = md_pair_find(name);
  const char *reason = kind < MD_PAIR_KINDS ? md_hybrid_refuses(kind) : NULL;
  if (reason)
    return md_error(MD_USAGE, "pair_style %s cannot have the sub-style %.64s: %s", hybrid, name, reason);
  while (n < words->n && !begins_style(words->word[n])) {
    char *rest;
    (void)strtod(words->word[n], &rest);
    if (*rest && kind < MD_PAIR_KINDS && !md_pair_style_of(kind)->tabulated)
      return md_error(MD_USAGE, "pair_style %s: '%.64s' is neither a pair style nor a number for %s", hybrid,
                      words->word[n], name);
    ++n;
  }
  *end += n;
  const md_words own = {n, words->word};
  return md_pair_read_style(sim, &own, sub);
}

md_status md_hybrid_style(md_sim *sim, const md_words *words)
{
  const char *hybrid = words->word[0];
  md_sub_style sub[MD_HYBRID_MOST];
  int n = 0;
  for (int at = 1; at < words->n; ++n) {
    const md_words rest = {words->n - at, words->word + at};
    if (n == MD_HYBRID_MOST)
      return md_error(MD_USAGE, "pair_style %s takes at most %d sub-styles", hybrid, MD_HYBRID_MOST);
    MD_TRY(read_sub_style(sim, hybrid, &rest, &sub[n], &at));
  }
  md_pair made = {.kind = MD_PAIR_NONE};
  return md_pair_replace(
      &sim->model.pair, &made,
      md_hybrid_start(&made, md_pair_find(hybrid), sim->has_box ? sim->model.ntypes : 0, sub, n));
}

static bool has_name(const md_pair *sub, const char *name) { return sub->kind == md_pair_find(name); }

/* Finds the sub-style that the words at *at name, and moves *at past them. */
static md_status find_sub_style(const md_pair *pair, const char *command, const md_words *words, int *at,
                                int *found)
{
  const char *name = words->word[(*at)++], *hybrid = md_pair_style_of(pair->kind)->name;
  int count = 0;
  int64_t number = 1;
  for (int s = 0; s < pair->nsub; ++s) count += has_name(&pair->sub[s], name);
  if (count == 0) {
    char list[256] = "";
    for (int s = 0; s < pair->nsub; ++s)
      md_name_list_add(list, sizeof list, ", ", md_pair_style_of(pair->sub[s].kind)->name);
    return md_error(MD_USAGE, "%s: '%.64s' is no sub-style of pair style %s; these are %s", command, name,
                    hybrid, list);
  }
  if (count > 1) {
    char what[96];
    snprintf(what, sizeof what, "%s: the number of sub-style %.40s", command, name);
    if (*at == words->n)
      return md_error(MD_USAGE, "%s: %s is there %d times; give its number, as in %s 1", command, name, count,
                      name);
    MD_TRY(md_word_int64(words->word[(*at)++], what, 1, count, &number));
  }
  *found = 0;
  while (!has_name(&pair->sub[*found], name) || --number > 0) ++*found;
  return MD_OK;
}

/* Lets a sub-style act between all types i <= j of the first two words. */
static md_status use(md_sim *sim, int s, const md_words *words)
{
  int i0, i1, j0, j1;
  MD_TRY(md_word_types(words->word[0], sim->model.ntypes, &i0, &i1));
  MD_TRY(md_word_types(words->word[1], sim->model.ntypes, &j0, &j1));
  if (i0 > j1)
    return md_error(MD_USAGE,
                    "pair_coeff %.64s %.64s sets nothing: write the smaller type first, as in pair_coeff 1 2",
                    words->word[0], words->word[1]);
  for (int i = i0; i <= i1; ++i)
    for (int j = i > j0 ? i : j0; j <= j1; ++j) md_hybrid_use(&sim->model.pair, s, i, j);
  return MD_OK;
}

md_status md_hybrid_coeff(md_sim *sim, const md_words *words)
{
  md_pair *pair = &sim->model.pair;
  const char *hybrid = md_pair_style_of(pair->kind)->name;
  int at = 2, s = MD_HYBRID_NONE;
  if (words->n < 3)
    return md_error(MD_USAGE, "pair_coeff of pair style %s takes I J STYLE ..., or I J none", hybrid);
  if (strcmp(words->word[2], "none") == 0) {
    if (words->n > 3)
      return md_error(MD_USAGE, "pair_coeff I J none takes no further argument, not '%.64s'", words->word[3]);
    return use(sim, s, words);
  }
  MD_TRY(find_sub_style(pair, "pair_coeff", words, &at, &s));
  /* What the sub-style would get without hybrid: I J, and what follows its name. */
  char **word = malloc((size_t)words->n * sizeof *word);
  if (!word) return md_error(MD_RUNTIME, "out of memory: pair_coeff");
  const md_words own = {words->n - at + 2, word};
  for (int k = 0; k < own.n; ++k) word[k] = words->word[k < 2 ? k : k - 2 + at];
  const md_status status = md_pair_read_coeff(sim, &pair->sub[s], &own);
  free(word);
  MD_TRY(status);
  return use(sim, s, words);
}

/* Does the keyword have a meaning for the sub-style? */
static bool takes(const md_pair *sub, const char *keyword)
{
  const md_pair_style *style = md_pair_style_of(sub->kind);
  if (strcmp(keyword, "shift") == 0) return style->takes_shift;
  return strcmp(keyword, "tail") != 0 || style->tail;
}

/* For all sub-styles, but those without a shift or a tail, unless none has it. sub: copies of the sub-styles. */
static md_status modify_each(const md_pair *pair, const md_words *words, md_pair *sub)
{
  for (int k = 0; k < words->n; k += 2) {
    const md_words one = {words->n - k < 2 ? 1 : 2, words->word + k};
    bool some = false;
    for (int s = 0; s < pair->nsub; ++s) some = some || takes(&sub[s], one.word[0]);
    for (int s = 0; s < pair->nsub; ++s)
      if (!some || takes(&sub[s], one.word[0])) MD_TRY(md_pair_modify(&sub[s], &one));
  }
  return MD_OK;
}

static md_status modify_all(md_pair *pair, const md_words *words)
{
  md_pair sub[MD_HYBRID_MOST];
  memcpy(sub, pair->sub, (size_t)pair->nsub * sizeof *sub);
  MD_TRY(modify_each(pair, words, sub));
  memcpy(pair->sub, sub, (size_t)pair->nsub * sizeof *sub);
  return MD_OK;
}

md_status md_hybrid_modify(md_sim *sim, const md_words *words)
{
  md_pair *pair = &sim->model.pair;
  int at = 1, s;
  if (strcmp(words->word[0], "pair") != 0) return modify_all(pair, words);
  MD_TRY(find_sub_style(pair, "pair_modify", words, &at, &s));
  if (at == words->n) return md_error(MD_USAGE, "pair_modify pair STYLE needs a keyword and a value");
  const md_words own = {words->n - at, words->word + at};
  return md_pair_modify(&pair->sub[s], &own);
}
