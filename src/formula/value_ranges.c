/* Ranges of values of particles in lists of words; see value_ranges.h.
 *
 * Every command that takes a list of such values writes its ranges out first, so that none of them knows ranges. */
#include "src/formula/value_ranges.h"
#include "src/averages/output_fix.h"
#include "src/computes/host_compute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The values for each particle of a name with brackets; 0: it has one, or none. */
static int columns_of(const md_sim *sim, const char *word, size_t length)
{
  const char *id = word + 2;
  const size_t n = length - 2;
  if (word[0] == 'c') {
    const md_host_compute *compute = md_host_compute_find(sim, id, n);
    return compute && compute->vector ? compute->columns : 0;
  }
  const md_output_fix *fix = md_output_fix_find(sim, id, n);
  return fix && fix->each ? fix->each->columns : 0;
}

static md_status add(md_words *written, const char *word)
{
  char **larger = realloc(written->word, (size_t)(written->n + 1) * sizeof *larger);
  if (larger) written->word = larger;
  if (!larger || !(larger[written->n] = strdup(word))) return md_error(MD_RUNTIME, "out of memory for words");
  ++written->n;
  return MD_OK;
}

/* The bounds within the brackets of a word, such as *, 2* or 2*4; false: it has no such brackets at its end. */
static bool bounds_of(const char *word, size_t length, char bounds[32])
{
  const char *at = word + length;
  const size_t n = strlen(word);
  if ((strncmp(word, "c_", 2) != 0 && strncmp(word, "f_", 2) != 0) || *at != '[' || word[n - 1] != ']')
    return false;
  snprintf(bounds, 32, "%.*s", (int)(word + n - at) - 2, at + 1);
  return strchr(bounds, '*') && strspn(bounds, "0123456789*") == strlen(bounds);
}

static md_status add_word(const md_sim *sim, const char *word, md_words *written)
{
  const size_t length = strcspn(word, "[");
  int first, last;
  char bounds[32], name[128];
  const int columns = bounds_of(word, length, bounds) ? columns_of(sim, word, length) : 0;
  if (columns == 0 || length + 16 > sizeof name) return add(written, word);
  if (md_word_types(bounds, columns, &first, &last) != MD_OK)
    return md_error(MD_USAGE, "'%.80s' is not within the %d values of a particle", word, columns);
  for (int k = first; k <= last; ++k) {
    snprintf(name, sizeof name, "%.*s[%d]", (int)length, word, k);
    MD_TRY(add(written, name));
  }
  return MD_OK;
}

md_status md_value_ranges_write(const md_sim *sim, const md_words *words, md_words *written)
{
  *written = (md_words){0};
  for (int w = 0; w < words->n; ++w) MD_TRY(add_word(sim, words->word[w], written));
  return MD_OK;
}

void md_value_ranges_free(md_words *written)
{
  for (int w = 0; w < written->n; ++w) free(written->word[w]);
  free(written->word);
  *written = (md_words){0};
}
