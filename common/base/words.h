/* Words of a deck as values: numbers and switches.
 *
 * All return MD_USAGE if the word is refused. The message names the word, and `what` describes it. Numbers must be
 * finite.
 */
#ifndef MD_COMMON_BASE_WORDS_H
#define MD_COMMON_BASE_WORDS_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct md_words {
  int n;
  char **word;
} md_words;

md_status md_word_double(const char *word, const char *what, double *value) MD_CHECKED;
md_status md_word_positive(const char *word, const char *what, double *value) MD_CHECKED;
/* A whole number from `least` to `most`. */
md_status md_word_int64(const char *word, const char *what, int64_t least, int64_t most,
                        int64_t *value) MD_CHECKED;
/* yes, on or true; no, off or false. */
md_status md_word_bool(const char *word, const char *what, bool *value) MD_CHECKED;

#endif
