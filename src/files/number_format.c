/* Checking number formats of the deck; see number_format.h. */
#include "src/files/number_format.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *conversions;
  const char *length; /* length modifier that printf needs before the letter */
  const char *accepted;
} kinds[] = {
    [MD_FORMAT_INT] = {"di", "ll", "one whole-number conversion such as %d or %8d"},
    [MD_FORMAT_FLOAT] = {"eEfFgGaA", "", "one real conversion such as %g, %12.8g or %.15e"},
    [MD_FORMAT_WORD] = {"s", "", "one %s"},
};

static md_status refused(const char *format, md_format_kind kind)
{
  return md_error(MD_USAGE,
                  "format \"%.60s\" is not accepted here: give literal text around %s, with width and "
                  "precision of at most two digits, %d characters in all",
                  format, kinds[kind].accepted, MD_FORMAT_SIZE - 3);
}

static const char *skip_digits(const char *at, int most)
{
  while (most-- > 0 && isdigit((unsigned char)*at)) ++at;
  return at;
}

/* Reads the conversion that starts at the percent sign `at`. *middle: the place for its length modifier; *letter:
 * its last character. Returns whether the conversion is valid. */
static bool parse_conversion(const char *at, md_format_kind kind, const char **middle, const char **letter)
{
  at += 1 + strspn(at + 1, "-+ #0");
  at = skip_digits(at, 2);
  if (*at == '.') at = skip_digits(at + 1, 2);
  *middle = at;
  if (kind == MD_FORMAT_INT)
    for (int i = 0; i < 2 && *at == 'l'; ++i) ++at;
  *letter = at;
  return *at != '\0' && strchr(kinds[kind].conversions, *at) != NULL;
}

md_status md_number_format_check(const char *format, md_format_kind kind, char *out)
{
  if (strlen(format) > MD_FORMAT_SIZE - 3) return refused(format, kind);
  int conversions = 0;
  char checked[MD_FORMAT_SIZE], *to = checked;
  for (const char *at = format; *at; ++at) {
    if (iscntrl((unsigned char)*at)) return refused(format, kind);
    if (*at != '%') {
      *to++ = *at;
    } else if (at[1] == '%') {
      *to++ = *at++;
      *to++ = '%';
    } else {
      const char *middle, *letter;
      if (++conversions > 1 || !parse_conversion(at, kind, &middle, &letter)) return refused(format, kind);
      memcpy(to, at, (size_t)(middle - at));
      to += middle - at;
      memcpy(to, kinds[kind].length, strlen(kinds[kind].length));
      to += strlen(kinds[kind].length);
      *to++ = *letter;
      at = letter;
    }
  }
  *to = '\0';
  if (conversions != 1) return refused(format, kind);
  memcpy(out, checked, sizeof checked);
  return MD_OK;
}

md_status md_number_format_line(const char *line, int n, const md_format_kind *kind,
                                char (*out)[MD_FORMAT_SIZE])
{
  char *copy = strdup(line);
  char(*checked)[MD_FORMAT_SIZE] = calloc((size_t)n + 1, MD_FORMAT_SIZE);
  if (!copy || !checked) {
    free(copy);
    free(checked);
    return md_error(MD_RUNTIME, "out of memory while reading the format line");
  }
  md_status status = MD_OK;
  int count = 0;
  char *rest;
  for (char *word = strtok_r(copy, " \t", &rest); word && status == MD_OK;
       word = strtok_r(NULL, " \t", &rest)) {
    if (count < n) status = md_number_format_check(word, kind[count], checked[count]);
    ++count;
  }
  if (status == MD_OK && count != n)
    status =
        md_error(MD_USAGE, "format line \"%.80s\" has %d formats, but there are %d columns", line, count, n);
  if (status == MD_OK && n > 0) memcpy(out, checked, (size_t)n * MD_FORMAT_SIZE);
  free(copy);
  free(checked);
  return status;
}

md_status md_number_format_print(const char *format, double value, char *out)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int n = snprintf(out, MD_NUMBER_TEXT, format, value);
#pragma GCC diagnostic pop
  if (n >= 0 && n < MD_NUMBER_TEXT) return MD_OK;
  return md_error(MD_USAGE, "format '%s' prints %g too long", format, value);
}
