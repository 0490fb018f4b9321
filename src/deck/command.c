/* The command table, the search for a command by its exact or nearest name, and the conversion of words to values;
 * see command.h.
 *
 * The nearest name is the one with the smallest edit distance (Levenshtein 1966: insertions, deletions and
 * replacements), if at most a third of the letters differ. With only 40 commands a linear search is fast enough.
 */
#include "src/deck/command.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const md_command md_commands[] = {
#define MD_COMMAND(name, least, most, usage, help) {#name, md_do_##name, least, most, usage, help},
#include "src/deck/commands.def"
#undef MD_COMMAND
};
const int md_commands_count = sizeof md_commands / sizeof md_commands[0];

static const struct {
  const char *name, *instead;
} lammps[] = {
#define MD_LAMMPS(name, instead) {name, instead},
#include "src/deck/lammps_commands.def"
#undef MD_LAMMPS
};

enum { NEAR_MAX = 32 };

const md_command *md_command_find(const char *name)
{
  for (int c = 0; c < md_commands_count; ++c)
    if (strcmp(md_commands[c].name, name) == 0) return &md_commands[c];
  return NULL;
}

const char *md_command_of_lammps(const char *name)
{
  for (size_t c = 0; c < sizeof lammps / sizeof lammps[0]; ++c)
    if (strcmp(lammps[c].name, name) == 0) return lammps[c].instead;
  return NULL;
}

md_status md_command_unknown(const char *name)
{
  const char *instead = md_command_of_lammps(name);
  if (instead)
    return md_error(MD_USAGE, "'%s' is a command of LAMMPS that Myriad does not have%s%s", name,
                    instead[0] ? ": " : "", instead);
  const char *nearest = md_command_nearest(name);
  if (nearest)
    return md_error(MD_USAGE, "unknown command '%.64s'; did you mean %s? `myriad help` lists the known ones",
                    name, nearest);
  return md_error(MD_USAGE, "unknown command '%.64s'; `myriad help` lists the known ones", name);
}

md_status md_command_count(const md_command *command, int n)
{
  char range[64];
  if (command->most == command->least)
    snprintf(range, sizeof range, "%d", command->least);
  else if (command->most < 0)
    snprintf(range, sizeof range, "at least %d", command->least);
  else
    snprintf(range, sizeof range, "%d to %d", command->least, command->most);
  const bool one = command->least == 1 && command->most <= 1;
  return md_error(MD_USAGE, "%s takes %s argument%s, not %d; usage: %s", command->name, range, one ? "" : "s",
                  n, command->usage);
}

static int least_of(int a, int b) { return a < b ? a : b; }

/* Fills the distance table row by row. After letter i of a, row[j] is the distance between the first i letters of
 * a and the first j letters of b. */
static int edit_distance(const char *a, const char *b)
{
  int row[NEAR_MAX + 1];
  const int n = (int)strlen(b);
  for (int j = 0; j <= n; ++j) row[j] = j;
  for (int i = 1; a[i - 1]; ++i) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= n; ++j) {
      const int replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = least_of(replaced, 1 + least_of(row[j], row[j - 1]));
    }
  }
  return row[n];
}

const char *md_command_nearest(const char *name)
{
  const size_t length = strlen(name);
  if (length == 0 || length > NEAR_MAX) return NULL;
  const char *nearest = NULL;
  int best = (int)(length + 2) / 3 + 1;
  for (int c = 0; c < md_commands_count; ++c) {
    const int distance = edit_distance(name, md_commands[c].name);
    if (distance < best) {
      best = distance;
      nearest = md_commands[c].name;
    }
  }
  return nearest;
}

/* One end of a range of types: the number in the `n` letters at `word`, or `otherwise` if n is 0. */
static bool read_type(const char *word, size_t n, int otherwise, int *type)
{
  int number = 0;
  for (size_t k = 0; k < n; ++k) {
    if (word[k] < '0' || word[k] > '9' || number > INT_MAX / 10 - 1) return false;
    number = 10 * number + (word[k] - '0');
  }
  *type = n ? number : otherwise;
  return true;
}

md_status md_word_types(const char *word, int ntypes, int *first, int *last)
{
  const char *star = strchr(word, '*');
  const size_t before = star ? (size_t)(star - word) : strlen(word);
  int lo = 0, hi = 0;
  bool good = *word != '\0' && read_type(word, before, 1, &lo);
  if (good && star) good = read_type(star + 1, strlen(star + 1), ntypes, &hi);
  if (!good)
    return md_error(MD_USAGE, "'%.64s' is not a type: write a number, or *, N*, *N or M*N for several", word);
  if (!star) hi = lo;
  if (lo < 1 || hi > ntypes || lo > hi)
    return md_error(MD_USAGE, "there is no type '%.64s': create_box or read_data made %d type%s", word,
                    ntypes, ntypes == 1 ? "" : "s");
  *first = lo;
  *last = hi;
  return MD_OK;
}

md_status md_word_group(const char *word)
{
  if (strcmp(word, "all") == 0) return MD_OK;
  return md_error(MD_USAGE, "only the group all is accepted here, not '%.64s'", word);
}
