/* A look at a command; see glance.h. */
#include "src/script/glance.h"
#include "common/compute/compute.h"
#include "common/fix/fix.h"
#include "common/pair/pair.h"
#include "src/averages/output_fix.h"
#include "src/computes/host_compute.h"
#include "src/deck/deck.h"

#include <stdlib.h>
#include <string.h>

static bool is_pair_style(const char *name)
{
  return strcmp(name, "none") == 0 || md_pair_find(name) != MD_PAIR_KINDS;
}

static bool is_fix_style(const char *name)
{
  return md_fix_find(name) != MD_FIX_KINDS || md_output_fix_style_find(name);
}

static bool is_compute_style(const char *name)
{
  return md_compute_find(name) != MD_COMPUTE_KINDS || md_host_compute_style_find(name);
}

static bool is_dump_style(const char *name)
{
  static const char *const names[] = {
#define MD_DUMP_STYLE(name) #name,
#include "src/dump/dump_styles.def"
#undef MD_DUMP_STYLE
  };
  for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k)
    if (strcmp(names[k], name) == 0) return true;
  return false;
}

static const struct {
  const char *command;
  int at; /* the word of the style, the command being word 0 */
  bool (*known)(const char *name);
} styled[] = {{"pair_style", 1, is_pair_style},
              {"fix", 3, is_fix_style},
              {"compute", 3, is_compute_style},
              {"dump", 3, is_dump_style}};

static md_status glance_style(const md_words *words)
{
  for (size_t k = 0; k < sizeof styled / sizeof styled[0]; ++k) {
    if (strcmp(styled[k].command, words->word[0]) != 0 || words->n <= styled[k].at) continue;
    const char *style = words->word[styled[k].at];
    if (strchr(style, '$') || styled[k].known(style)) return MD_OK;
    return md_error(MD_USAGE, "unknown %s style '%.64s'; `myriad help %s` lists the known ones",
                    words->word[0], style, words->word[0]);
  }
  return MD_OK;
}

static bool is_keyword_of_if(const char *word)
{
  return strcmp(word, "then") == 0 || strcmp(word, "elif") == 0 || strcmp(word, "else") == 0;
}

/* Judges the commands within `if`: the words that are no keyword, and no condition after one. */
static md_status glance_branches(const md_words *words)
{
  for (int k = 3; k < words->n; ++k) {
    if (strcmp(words->word[k], "elif") == 0)
      ++k;
    else if (!is_keyword_of_if(words->word[k]))
      MD_TRY(md_glance(words->word[k]));
  }
  return MD_OK;
}

static md_status glance_words(const char *text, const md_words *words)
{
  const char *name = words->word[0];
  const md_command *command = md_command_find(name);
  const int n = words->n - 1;
  if (strchr(name, '$')) return MD_OK;
  if (!command) return md_command_unknown(name);
  const bool wrong = n < command->least || (command->most >= 0 && n > command->most);
  if (wrong && !strchr(text, '$')) return md_command_count(command, n);
  return strcmp(name, "if") == 0 ? glance_branches(words) : glance_style(words);
}

md_status md_glance(const char *text)
{
  md_words words = {0};
  char *copy = strdup(text);
  if (!copy) return md_error(MD_RUNTIME, "out of memory for a command");
  md_status status = md_words_split(copy, &words);
  if (status == MD_OK && words.n > 0) status = glance_words(text, &words);
  free(words.word);
  free(copy);
  return status;
}
