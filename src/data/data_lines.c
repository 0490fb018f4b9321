/* Lines and fields of data files; see data_reader.h. */
#include "src/data/data_reader.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Puts "name:line: " in front of the message, so that ranks agree on the message of the first line. */
md_status md_data_locate(const reader *r)
{
  md_error_prefix("%s:%lld: ", r->name, (long long)r->line);
  md_error_about(r->line, r->line);
  return MD_USAGE;
}

md_status md_data_zero_byte(const reader *r) { return WRONG(r, "a zero byte: this is not a text file"); }

md_status md_data_too_long(const reader *r)
{
  return WRONG(r, "the line is longer than %d characters", LINE_SIZE - 1);
}

md_status md_data_cannot_read(const reader *r)
{
  return md_error(MD_RUNTIME, "cannot read %s: %s", r->name, strerror(errno));
}

md_status md_data_read_text(reader *r)
{
  size_t n = 0;
  int c;
  ++r->line;
  r->text = r->long_line;
  while ((c = getc_unlocked(r->file)) != EOF && c != '\n') {
    if (c == '\0') return md_data_zero_byte(r);
    if (n == LINE_SIZE - 1) return md_data_too_long(r);
    r->text[n++] = (char)c;
  }
  if (ferror(r->file)) return md_data_cannot_read(r);
  r->end = c == EOF && n == 0;
  r->text[n] = '\0';
  return MD_OK;
}

static void trim(reader *r)
{
  char *comment = strchr(r->text, '#');
  r->comment[0] = '\0';
  if (comment) {
    sscanf(comment + 1, "%31s", r->comment);
    *comment = '\0';
  }
  size_t n = strlen(r->text);
  while (n > 0 && isspace((unsigned char)r->text[n - 1])) --n;
  r->text[n] = '\0';
}

/* Cuts the text into fields at blanks. */
void md_data_split(reader *r)
{
  trim(r);
  r->nfield = 0;
  char *at = r->text;
  for (;;) {
    while (isspace((unsigned char)*at)) *at++ = '\0';
    if (*at == '\0') break;
    if (r->nfield == FIELDS_MAX) {
      ++r->nfield;
      break;
    }
    r->field[r->nfield++] = at;
    while (*at && !isspace((unsigned char)*at)) ++at;
  }
}

/* Reads the next line that is not empty and splits it into fields; r->end: the file has ended. */
md_status md_data_next_line(reader *r)
{
  do {
    MD_TRY(md_data_read_text(r));
    md_data_split(r);
  } while (r->nfield == 0 && !r->end);
  return MD_OK;
}

md_status md_data_whole(const reader *r, const char *field, const char *what, int64_t *value)
{
  char *end;
  errno = 0;
  const long long number = strtoll(field, &end, 10);
  if (end == field || *end) return WRONG(r, "the %s '%.40s' is not a whole number", what, field);
  if (errno) return WRONG(r, "the %s '%.40s' is beyond 64 bits", what, field);
  *value = number;
  return MD_OK;
}

md_status md_data_real(const reader *r, const char *field, const char *what, double *value)
{
  char *end;
  *value = strtod(field, &end);
  if (end == field || *end) return WRONG(r, "the %s '%.40s' is not a number", what, field);
  if (!isfinite(*value)) return WRONG(r, "the %s '%.40s' is not a finite number", what, field);
  return MD_OK;
}

bool md_data_at_section(const reader *r) { return !r->end && isalpha((unsigned char)r->field[0][0]); }

/* Checks that r->field is line k of n in a section, with `few` or `many` fields. */
md_status md_data_check_line(const reader *r, const char *name, int64_t k, int64_t n, int few, int many,
                             const char *columns)
{
  if (r->end || md_data_at_section(r))
    return WRONG(r, "section %s ends after %lld of %lld lines; the file is truncated or its header is wrong",
                 name, (long long)k, (long long)n);
  if (r->nfield != few && r->nfield != many)
    return WRONG(r, "a line of %s has the columns %s, not %s%d of them", name, columns,
                 r->nfield > FIELDS_MAX ? "more than " : "", r->nfield > FIELDS_MAX ? FIELDS_MAX : r->nfield);
  return MD_OK;
}

md_status md_data_end_section(reader *r, const char *section, int64_t n)
{
  MD_TRY(md_data_next_line(r));
  if (r->end || md_data_at_section(r)) return MD_OK;
  return WRONG(r, "section %s has more lines than the %lld that the header says", section, (long long)n);
}
