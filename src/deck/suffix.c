/* Styles with a suffix; see suffix.h. */
#include "src/deck/suffix.h"

#include <string.h>

const char *const md_suffix_names[MD_SUFFIXES] = {"gpu", "intel", "kk", "omp", "opt"};

/* Where a command names a style: at word `at`, or at every word from there on. */
static const struct {
  const char *command;
  int at;
  bool all;
} styles[] = {{"atom_style", 1, true}, {"bond_style", 1, true},  {"compute", 3, false},
              {"fix", 3, false},       {"pair_coeff", 3, false}, {"pair_style", 1, true},
              {"region", 2, false},    {"run_style", 1, false}};
enum { STYLES = sizeof styles / sizeof styles[0] };

/* The last slash of a word that ends in a suffix, or NULL. */
static char *suffix_of(char *word)
{
  char *slash = strrchr(word, '/');
  for (int s = 0; slash && slash > word && s < MD_SUFFIXES; ++s)
    if (strcmp(slash + 1, md_suffix_names[s]) == 0) return slash;
  return NULL;
}

/* The third word of pair_coeff may also be a file of that name. */
static bool is_style(const char *command, char *word, char *slash)
{
  if (strcmp(command, "pair_coeff") != 0) return true;
  *slash = '\0';
  const bool known = md_pair_find(word) != MD_PAIR_KINDS;
  *slash = '/';
  return known;
}

void md_suffix_explain(md_sim *sim)
{
  md_sim_explain(sim, "suffix",
                 "has no effect here: --engine on the command line chooses how a run is executed");
}

void md_suffix_drop(md_sim *sim, const md_words *words)
{
  int s = 0;
  while (s < STYLES && strcmp(styles[s].command, words->word[0]) != 0) ++s;
  for (int k = s < STYLES ? styles[s].at : words->n; k < words->n; ++k) {
    char *slash = suffix_of(words->word[k]);
    if (slash && is_style(words->word[0], words->word[k], slash)) {
      *slash = '\0';
      md_suffix_explain(sim);
    }
    if (!styles[s].all) return;
  }
}
