/* A growing run of bytes, and numbers written into it fast: what dumps are made of.
 *
 * A buffer is filled by one thread. Growing can fail inside a parallel region, where no status can be
 * returned; the buffer then remembers it, ignores what follows, and md_text_status tells afterwards.
 */
#ifndef MD_SRC_DECK_TEXT_H
#define MD_SRC_DECK_TEXT_H

#include "common/base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  MD_DIGITS_MAX = 17,    /* decimal digits that give every double back */
  MD_DOUBLE_CHARS = 32,  /* room for md_format_double, terminator included */
  MD_NUMBER_CHARS = 1024 /* room for one number in any format that md_number_format_check accepts */
};

typedef struct md_text {
  char *bytes; /* n of them are valid; not terminated */
  size_t n, capacity;
  bool failed;
} md_text;

/* An empty buffer is all zeros. Frees the bytes and makes it one again. */
void md_text_free(md_text *text);

/* MD_RUNTIME: some addition ran out of memory. */
md_status md_text_status(const md_text *text) MD_CHECKED;

/* Room for `more` bytes behind the n valid ones; NULL if there is no memory. The caller adds to text->n. */
char *md_text_reserve(md_text *text, size_t more);

void md_text_add(md_text *text, const char *bytes, size_t n);
void md_text_string(md_text *text, const char *string);
void md_text_int(md_text *text, int64_t value);
/* As printf's %.<digits>g, 1 <= digits <= 17. */
void md_text_double(md_text *text, double value, int digits);
/* printf; at most MD_NUMBER_CHARS - 1 characters of it. */
void md_text_print(md_text *text, const char *format, ...) MD_PRINTF(2, 3);

/* Writes `value` as printf("%.<digits>g") does, to the last character, and a terminator; returns the length.
 * `out` has MD_DOUBLE_CHARS bytes. */
int md_format_double(char *out, double value, int digits);

#endif
