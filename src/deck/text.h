/* A growing buffer of bytes, and fast formatting of numbers into it. Dumps are made of such buffers.
 *
 * One thread fills a buffer. Growing may fail inside a parallel region, where no status can be returned. The
 * buffer then remembers the failure and ignores further additions, and md_text_status reports it afterwards.
 */
#ifndef MD_SRC_DECK_TEXT_H
#define MD_SRC_DECK_TEXT_H

#include "common/base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  MD_DIGITS_MAX = 17,    /* decimal digits that identify every double */
  MD_DOUBLE_CHARS = 32,  /* room for md_format_double, terminator included */
  MD_NUMBER_CHARS = 1024 /* room for one number in any format that md_number_format_check accepts */
};

typedef struct md_text {
  char *bytes; /* n of them are valid; not terminated */
  size_t n, capacity;
  bool failed;
} md_text;

/* Frees the bytes and makes the buffer empty. An empty buffer is all zeros. */
void md_text_free(md_text *text);

/* MD_RUNTIME: an addition ran out of memory. */
md_status md_text_status(const md_text *text) MD_CHECKED;

/* Makes room for `more` bytes after the n valid ones and returns their address. NULL: out of memory. The caller
 * adds to text->n. */
char *md_text_reserve(md_text *text, size_t more);

void md_text_add(md_text *text, const char *bytes, size_t n);
void md_text_string(md_text *text, const char *string);
void md_text_int(md_text *text, int64_t value);
/* Like %.<digits>g of printf, 1 <= digits <= 17. */
void md_text_double(md_text *text, double value, int digits);
/* The same characters as md_text_print(text, format, value), for a format with one conversion of a double. Formats that
 * end with %g, or with %. digits and g, take the fast method. */
void md_text_number(md_text *text, const char *format, double value);
/* Like printf; at most MD_NUMBER_CHARS - 1 characters are kept. */
void md_text_print(md_text *text, const char *format, ...) MD_PRINTF(2, 3);

/* Writes `value` and a terminator, the same characters as printf("%.<digits>g"). Returns the length. `out` has
 * MD_DOUBLE_CHARS bytes. */
int md_format_double(char *out, double value, int digits);

#endif
