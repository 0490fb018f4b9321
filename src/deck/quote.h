/* Quoted text in a deck: '...', "..." or text in triple double quotes. A quote opens only at the beginning of a
 * word. */
#ifndef MD_SRC_DECK_QUOTE_H
#define MD_SRC_DECK_QUOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* White space between the words of a deck. */
static inline bool md_is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* How many characters open a quotation at `at`, a position in `text`: 0 (none), 1 or 3. The character before a
 * word may also be the NUL that ended the word before. */
static inline size_t md_quote_mark(const char *text, const char *at)
{
  if ((*at != '"' && *at != '\'') || (at > text && at[-1] != '\0' && !md_is_blank(at[-1]))) return 0;
  return strncmp(at, "\"\"\"", 3) == 0 ? 3 : 1;
}

/* The place just after the quotation that `mark` characters open at `at`. NULL: the quotation is never closed. */
static inline const char *md_quote_end(const char *at, size_t mark)
{
  const char *close = mark == 3 ? strstr(at + 3, "\"\"\"") : strchr(at + 1, *at);
  return close ? close + mark : NULL;
}

#endif
