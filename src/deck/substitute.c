/* Replacing $x, ${name} and $(formula) in a line; see src/formula/variable.h.
 *
 * An immediate formula $(...) is printed with 20 digits, as in LAMMPS, which is enough to keep every bit.
 */
#include "src/deck/quote.h"
#include "src/files/number_format.h"
#include "src/formula/variable.h"

#include <ctype.h>
#include <stdlib.h>

#define IMMEDIATE_FORMAT "%.20g"

enum { TEXT_MAX = 1 << 20 };

/* A text that grows piece by piece. */
typedef struct text {
  char *at;
  size_t n, capacity;
} text;

static md_status append(text *t, const char *piece, size_t n)
{
  if (t->n + n > TEXT_MAX)
    return md_error(MD_USAGE, "the line is longer than 1 MiB after its variables are replaced");
  if (t->n + n + 1 > t->capacity) {
    const size_t capacity = 2 * (t->n + n + 1);
    char *larger = realloc(t->at, capacity);
    if (!larger) return md_error(MD_RUNTIME, "out of memory for a line of the deck");
    t->at = larger;
    t->capacity = capacity;
  }
  memcpy(t->at + t->n, piece, n);
  t->n += n;
  t->at[t->n] = '\0';
  return MD_OK;
}

static md_status append_variable(md_variables *variables, const char *name, text *out)
{
  char *value = NULL;
  MD_TRY(md_variables_text(variables, name, &value));
  const md_status status = append(out, value, strlen(value));
  free(value);
  return status;
}

/* Evaluates `formula` or `formula:%format`, and cuts the string at the colon. */
static md_status append_immediate(md_variables *variables, char *formula, text *out)
{
  char format[MD_FORMAT_SIZE] = IMMEDIATE_FORMAT;
  char *colon = strrchr(formula, ':');
  if (colon) {
    *colon = '\0';
    MD_TRY(md_number_format_check(colon + 1, MD_FORMAT_FLOAT, format));
  }
  double value;
  char number[MD_NUMBER_TEXT];
  MD_TRY(md_variables_formula(variables, formula, &value));
  MD_TRY(md_number_format_print(format, value, number));
  return append(out, number, strlen(number));
}

/* The parenthesis that closes the one at `at`; NULL: there is none. */
static const char *closing(const char *at)
{
  int open = 0;
  for (; *at; ++at) {
    if (*at == '(') ++open;
    if (*at == ')' && --open == 0) return at;
  }
  return NULL;
}

/* Appends the value of the reference at *at (a $), and moves *at past the reference. */
static md_status append_reference(md_variables *variables, const char **at, text *out)
{
  const char *begin = *at + 1, *end = begin + 1;
  bool immediate = false;
  if (*begin == '{' || *begin == '(') {
    immediate = *begin == '(';
    end = immediate ? closing(begin) : strchr(begin, '}');
    if (!end)
      return md_error(MD_USAGE, "'$%.32s' has no closing %s", begin, immediate ? "parenthesis" : "brace");
    *at = end + 1;
    ++begin;
  } else {
    if (!isalnum((unsigned char)*begin) && *begin != '_')
      return md_error(MD_USAGE, "a $ must begin $x, ${name} or $(formula); '%.8s' does not", *at);
    *at = end;
  }
  char *name = strndup(begin, (size_t)(end - begin));
  if (!name) return md_error(MD_RUNTIME, "out of memory for a line of the deck");
  const md_status status =
      immediate ? append_immediate(variables, name, out) : append_variable(variables, name, out);
  free(name);
  return status;
}

static md_status substitute(md_variables *variables, const char *line, text *out)
{
  MD_TRY(append(out, "", 0));
  for (const char *at = line; *at;) {
    const size_t mark = md_quote_mark(line, at);
    const char *end = mark > 0 ? md_quote_end(at, mark) : NULL;
    if (end) {
      MD_TRY(append(out, at, (size_t)(end - at)));
      at = end;
      continue;
    }
    if (*at == '$') {
      MD_TRY(append_reference(variables, &at, out));
      continue;
    }
    const size_t n = 1 + strcspn(at + 1, "$'\"");
    MD_TRY(append(out, at, n));
    at += n;
  }
  return MD_OK;
}

md_status md_variables_substitute(md_variables *variables, const char *line, char **out)
{
  text replaced = {0};
  const md_status status = substitute(variables, line, &replaced);
  if (status != MD_OK)
    free(replaced.at);
  else
    *out = replaced.at;
  return status;
}
