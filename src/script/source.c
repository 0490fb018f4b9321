/* Reads commands from a file; see source.h. The reader follows quotes and the comment sign letter by letter. */
#include "src/script/source.h"
#include "src/deck/quote.h"

#include <errno.h>
#include <stdlib.h>

enum { COMMAND_MAX = 1 << 20 };

md_status md_source_open(md_source *source, FILE *file, const char *name, bool owned)
{
  *source = (md_source){.file = file, .owned = owned, .name = strdup(name)};
  if (!source->name) return md_error(MD_RUNTIME, "out of memory for the name of a deck");
  MD_TRY(md_array_new(&source->text, COMMAND_MAX + 1, 1, "a line of the deck"));
  source->text[0] = '\0';
  return MD_OK;
}

void md_source_close(md_source *source)
{
  if (source->owned && source->file) fclose(source->file);
  free(source->name);
  free(source->text);
}

/* Appends one line of the file, without its line end. */
static md_status read_line(md_source *s)
{
  ++s->line;
  const size_t begin = s->n;
  int c;
  while ((c = getc_unlocked(s->file)) != EOF && c != '\n') {
    if (s->n >= COMMAND_MAX) return md_error(MD_USAGE, "the line is longer than 1 MiB: is this file a deck?");
    if ((c < ' ' && c != '\t' && c != '\r') || c == 127)
      return md_error(MD_USAGE, "byte 0x%02x on line %lld is not text: is this file a deck?", (unsigned)c,
                      (long long)s->line);
    s->text[s->n++] = (char)c;
  }
  if (ferror(s->file)) return md_error(MD_RUNTIME, "cannot read the deck: %s", strerror(errno));
  s->end = c == EOF;
  if (s->n > begin && s->text[s->n - 1] == '\r') --s->n;
  s->text[s->n] = '\0';
  if (s->line == 1 && strncmp(s->text, "\xef\xbb\xbf", 3) == 0) memset(s->text, ' ', 3);
  return MD_OK;
}

/* Follows quotes and comments through text[scanned, n). */
static void scan(md_source *s)
{
  for (size_t i = s->scanned; i < s->n && s->state != MD_QUOTE_COMMENT; ++i) {
    const char *at = s->text + i;
    const bool triple = strncmp(at, "\"\"\"", 3) == 0;
    switch (s->state) {
    case MD_QUOTE_NONE: {
      const size_t mark = md_quote_mark(s->text, at);
      if (*at == '#') {
        s->state = MD_QUOTE_COMMENT;
        s->comment_at = i;
      } else if (mark) {
        s->state = mark == 3 ? MD_QUOTE_TRIPLE : *at == '"' ? MD_QUOTE_DOUBLE : MD_QUOTE_SINGLE;
        i += mark - 1;
      }
      break;
    }
    case MD_QUOTE_SINGLE:
      if (*at == '\'') s->state = MD_QUOTE_NONE;
      break;
    case MD_QUOTE_DOUBLE:
      if (*at == '"') s->state = MD_QUOTE_NONE;
      break;
    case MD_QUOTE_TRIPLE:
      if (triple) {
        s->state = MD_QUOTE_NONE;
        i += 2;
      }
      break;
    case MD_QUOTE_COMMENT: break;
    }
  }
  s->scanned = s->n;
}

/* Returns whether the text ends with &, and removes the & and the blanks after it. */
static bool take_continuation(md_source *s)
{
  size_t n = s->n;
  while (n > 0 && md_is_blank(s->text[n - 1])) --n;
  if (n == 0 || s->text[n - 1] != '&') return false;
  s->n = s->scanned = n - 1;
  s->text[s->n] = '\0';
  return true;
}

/* Text in triple quotes keeps its line ends. */
static md_status keep_line_end(md_source *s)
{
  if (s->n >= COMMAND_MAX) return md_error(MD_USAGE, "text in triple quotes is longer than 1 MiB");
  s->text[s->n++] = '\n';
  s->text[s->n] = '\0';
  s->scanned = s->n;
  return MD_OK;
}

md_status md_source_read(md_source *s)
{
  s->n = s->scanned = 0;
  s->state = MD_QUOTE_NONE;
  s->first_line = s->line + 1;
  bool continued = false;
  do {
    const size_t before = s->n;
    MD_TRY(read_line(s));
    if (continued && s->end && s->n == before && s->state != MD_QUOTE_COMMENT)
      return md_error(MD_USAGE, s->state == MD_QUOTE_TRIPLE
                                    ? "triple quotes are opened here and never closed"
                                    : "the command is continued with & but the deck ends there");
    scan(s);
    if (s->state == MD_QUOTE_TRIPLE) MD_TRY(keep_line_end(s));
    continued = s->state == MD_QUOTE_TRIPLE || take_continuation(s);
  } while (continued && !(s->end && s->state == MD_QUOTE_COMMENT));
  if (s->state != MD_QUOTE_COMMENT) s->comment_at = s->n;
  return MD_OK;
}

md_status md_source_rewind(md_source *s)
{
  if (fseek(s->file, 0, SEEK_SET) != 0)
    return md_error(MD_USAGE, "%.300s cannot be read again, as it is a pipe: give it as a file", s->name);
  s->line = 0;
  s->end = false;
  return MD_OK;
}

md_status md_source_replace(md_source *s, FILE *file, const char *name)
{
  char *copy = strdup(name);
  if (!copy) return md_error(MD_RUNTIME, "out of memory for the name of a deck");
  free(s->name);
  if (s->owned) fclose(s->file);
  s->name = copy;
  s->file = file;
  s->owned = true;
  s->line = 0;
  s->end = false;
  return MD_OK;
}

bool md_source_begins_with(const char *text, const char *word)
{
  while (md_is_blank(*text)) ++text;
  const size_t n = strlen(word);
  return strncmp(text, word, n) == 0 && (text[n] == '\0' || md_is_blank(text[n]));
}

static bool is_label(const char *text, const char *label)
{
  if (!md_source_begins_with(text, "label")) return false;
  while (md_is_blank(*text)) ++text;
  return md_source_begins_with(text + strlen("label"), label);
}

md_status md_source_find_label(md_source *s, const char *label, int64_t *line)
{
  md_source other;
  const long place = ftell(s->file);
  *line = 0;
  if (place < 0)
    return md_error(MD_USAGE, "%.300s cannot be read again, as it is a pipe: give it as a file", s->name);
  md_status status = md_source_open(&other, s->file, s->name, false);
  if (status == MD_OK) status = md_source_rewind(&other);
  while (status == MD_OK && !other.end && *line == 0) {
    status = md_source_read(&other);
    if (status == MD_OK && is_label(other.text, label)) *line = other.first_line;
  }
  md_source_close(&other);
  if (fseek(s->file, place, SEEK_SET) != 0 && status == MD_OK)
    status = md_error(MD_RUNTIME, "cannot read %.300s: %s", s->name, strerror(errno));
  return status;
}

size_t md_source_comment(char *text)
{
  md_source s = {.text = text, .n = strlen(text)};
  s.comment_at = s.n;
  scan(&s);
  return s.comment_at;
}
