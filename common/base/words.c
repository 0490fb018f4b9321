/* Words of a deck as values; see words.h. */
#include "common/base/words.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

md_status md_word_double(const char *word, const char *what, double *value)
{
  char *end;
  /* strtod also accepts hexadecimals, inf and nan. */
  const bool plain = word[0] != '\0' && strspn(word, "0123456789+-.eE") == strlen(word);
  const double number = plain ? strtod(word, &end) : 0.0;
  if (!plain || *end) return md_error(MD_USAGE, "%s must be a number, not '%.64s'", what, word);
  if (!isfinite(number)) return md_error(MD_USAGE, "%s: %.64s is too large for a number", what, word);
  *value = number;
  return MD_OK;
}

md_status md_word_positive(const char *word, const char *what, double *value)
{
  double number;
  MD_TRY(md_word_double(word, what, &number));
  if (!(number > 0.0)) return md_error(MD_USAGE, "%s must be positive, not %.64s", what, word);
  *value = number;
  return MD_OK;
}

md_status md_word_int64(const char *word, const char *what, int64_t least, int64_t most, int64_t *value)
{
  const char *digits = word + (*word == '-' || *word == '+');
  const bool plain = *digits != '\0' && strspn(digits, "0123456789") == strlen(digits);
  errno = 0;
  const long long number = plain ? strtoll(word, NULL, 10) : 0;
  if (!plain) return md_error(MD_USAGE, "%s must be a whole number, not '%.64s'", what, word);
  if (errno == ERANGE || number < least || number > most) {
    if (most == INT64_MAX && number > 0 && number >= least)
      return md_error(MD_USAGE, "%s must be at most %lld, not %.64s", what, (long long)most, word);
    if (most == INT64_MAX)
      return md_error(MD_USAGE, "%s must be at least %lld, not %.64s", what, (long long)least, word);
    return md_error(MD_USAGE, "%s must be from %lld to %lld, not %.64s", what, (long long)least,
                    (long long)most, word);
  }
  *value = number;
  return MD_OK;
}

md_status md_word_bool(const char *word, const char *what, bool *value)
{
  const bool yes = strcmp(word, "yes") == 0 || strcmp(word, "on") == 0 || strcmp(word, "true") == 0;
  const bool no = strcmp(word, "no") == 0 || strcmp(word, "off") == 0 || strcmp(word, "false") == 0;
  if (!yes && !no) return md_error(MD_USAGE, "%s must be yes or no, not '%.64s'", what, word);
  *value = yes;
  return MD_OK;
}
