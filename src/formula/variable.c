/* Variables: their definitions, and the replacement of $x, ${name} and $(formula) in a line; see variable.h.
 *
 * The definitions form a linked list that is searched by name, because decks have only tens of variables. The
 * value of an index or string variable is its text. The value of an equal variable is its formula (formula.c),
 * evaluated at each use, so the value follows the simulation. A variable is marked busy while its formula is
 * evaluated. A reference to a busy variable is a circular definition, and an error.
 *
 * Numbers become text as in LAMMPS: 15 digits for an equal variable, and 20 digits for an immediate formula
 * $(...), which is enough to keep every bit.
 */
#include "src/formula/variable.h"
#include "src/deck/command.h"
#include "src/deck/quote.h"
#include "src/files/number_format.h"
#include "src/formula/formula.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE_FORMAT "%.15g"
#define IMMEDIATE_FORMAT "%.20g"

enum { TEXT_MAX = 1 << 20, NUMBER_MAX = 512 };

typedef enum style { INDEX, STRING, EQUAL } style;

typedef struct variable {
  struct variable *next;
  char *name;
  char *text; /* the value, or the formula */
  style style;
  bool preset, used, busy;
} variable;

struct md_variables {
  variable *first;
  md_keyword_lookup keyword;
  void *context;
  md_formula_limits limits;
};

static const char *const style_names[] = {"index", "string", "equal"};

md_status md_variables_new(md_variables **variables, md_keyword_lookup keyword, void *context)
{
  md_variables *new = calloc(1, sizeof *new);
  if (!new) return md_error(MD_RUNTIME, "out of memory for variables");
  new->keyword = keyword;
  new->context = context;
  *variables = new;
  return MD_OK;
}

static void variable_free(variable *v)
{
  free(v->name);
  free(v->text);
  free(v);
}

void md_variables_free(md_variables *variables)
{
  if (!variables) return;
  while (variables->first) {
    variable *v = variables->first;
    variables->first = v->next;
    variable_free(v);
  }
  free(variables);
}

static variable *find(const md_variables *variables, const char *name)
{
  variable *v = variables->first;
  while (v && strcmp(v->name, name) != 0) v = v->next;
  return v;
}

static md_status check_name(const char *name)
{
  const char *c = name;
  while (isalnum((unsigned char)*c) || *c == '_') ++c;
  if (*c || c == name)
    return md_error(MD_USAGE, "variable name '%.64s': only letters, digits and _ are allowed", name);
  return MD_OK;
}

static md_status add(md_variables *variables, const char *name, style kind, const char *text)
{
  variable *v = calloc(1, sizeof *v);
  if (v) {
    v->name = strdup(name);
    v->text = strdup(text);
  }
  if (!v || !v->name || !v->text) {
    if (v) variable_free(v);
    return md_error(MD_RUNTIME, "out of memory for variable %.64s", name);
  }
  v->style = kind;
  variable **end = &variables->first;
  while (*end) end = &(*end)->next;
  *end = v;
  return MD_OK;
}

md_status md_variables_preset(md_variables *variables, const char *name, int nvalue, char *const *value)
{
  MD_TRY(check_name(name));
  if (nvalue < 1) return md_error(MD_USAGE, "-var %.64s needs a value: -var NAME VALUE", name);
  if (find(variables, name)) return md_error(MD_USAGE, "-var %.64s is given twice", name);
  MD_TRY(add(variables, name, INDEX, value[0]));
  find(variables, name)->preset = true;
  return MD_OK;
}

const char *md_variables_unused(const md_variables *variables, int k)
{
  for (const variable *v = variables->first; v; v = v->next)
    if (v->preset && !v->used && k-- == 0) return v->name;
  return NULL;
}

static md_status delete (md_variables *variables, const char *name)
{
  variable **link = &variables->first;
  while (*link && strcmp((*link)->name, name) != 0) link = &(*link)->next;
  if (!*link) return md_error(MD_USAGE, "variable %.64s does not exist: nothing to delete", name);
  variable *v = *link;
  *link = v->next;
  variable_free(v);
  return MD_OK;
}

static md_status replace(md_variables *variables, const char *name, style kind, const char *text)
{
  variable *v = find(variables, name);
  if (!v) return add(variables, name, kind, text);
  if (v->style != kind)
    return md_error(
        MD_USAGE,
        "variable %.64s is already an %s variable%s and cannot become %s: write 'variable %.64s index ...' "
        "to accept -var, or delete it first",
        name, style_names[v->style], v->preset ? " given by -var" : "", style_names[kind], name);
  char *copy = strdup(text);
  if (!copy) return md_error(MD_RUNTIME, "out of memory for variable %.64s", name);
  free(v->text);
  v->text = copy;
  return MD_OK;
}

static md_status define_index(md_variables *variables, const char *name, const char *text)
{
  variable *v = find(variables, name);
  if (!v) return add(variables, name, INDEX, text);
  /* LAMMPS silently keeps the first of two definitions. That hides mistakes, so it is an error here. */
  if (!v->preset || v->used)
    return md_error(
        MD_USAGE, "variable %.64s is already defined; write 'variable %.64s delete' first to define it anew",
        name, name);
  v->used = true;
  return MD_OK;
}

static md_status define_string(md_variables *variables, const char *name, const char *text)
{
  char *replaced = NULL;
  MD_TRY(md_variables_substitute(variables, text, &replaced));
  const md_status status = replace(variables, name, STRING, replaced);
  free(replaced);
  return status;
}

md_status md_variables_define(md_variables *variables, int nword, char *const *word)
{
  if (nword < 2)
    return md_error(MD_USAGE, "variable needs a name and a style: index, equal, string or delete");
  const char *name = word[0], *kind = word[1];
  MD_TRY(check_name(name));
  if (strcmp(kind, "delete") == 0 && nword == 2) return delete (variables, name);
  if (strcmp(kind, "index") == 0 && nword >= 3) return define_index(variables, name, word[2]);
  if (strcmp(kind, "equal") == 0 && nword == 3) return replace(variables, name, EQUAL, word[2]);
  if (strcmp(kind, "string") == 0 && nword == 3) return define_string(variables, name, word[2]);
  if (strcmp(kind, "delete") == 0) return md_error(MD_USAGE, "variable %.64s delete takes no argument", name);
  if (strcmp(kind, "index") == 0) return md_error(MD_USAGE, "variable %.64s index needs a value", name);
  if (strcmp(kind, "equal") == 0 || strcmp(kind, "string") == 0)
    return md_error(MD_USAGE,
                    "variable %.64s %s takes one argument, not %d; put quotes around one with spaces", name,
                    kind, nword - 2);
  return md_error(MD_USAGE, "unknown variable style '%.64s': index, equal, string and delete are known",
                  kind);
}

static md_status use(md_variables *variables, const char *name, variable **found)
{
  variable *v = find(variables, name);
  if (!v)
    return md_error(
        MD_USAGE,
        "undefined variable '%.64s': define it with 'variable %.64s index VALUE' or -var %.64s VALUE", name,
        name, name);
  if (v->busy) return md_error(MD_USAGE, "variable %.64s is defined by itself (a circular reference)", name);
  v->used = true;
  *found = v;
  return MD_OK;
}

/* Gives md_formula_evaluate the value of v_name: a variable inside a formula. */
static md_status value_of(void *context, const char *name, double *value)
{
  md_variables *variables = context;
  variable *v = NULL;
  MD_TRY(use(variables, name, &v));
  if (v->style != EQUAL) {
    if (md_word_double(v->text, name, value) != MD_OK)
      return md_error(MD_USAGE, "v_%.64s: the text '%.64s' of this %s variable is not a number", name,
                      v->text, style_names[v->style]);
    return MD_OK;
  }
  v->busy = true;
  const md_status status = md_variables_formula(variables, v->text, value);
  v->busy = false;
  return status;
}

md_status md_variables_formula(md_variables *variables, const char *formula, double *value)
{
  const md_formula_names names = {value_of, variables, variables->keyword, variables->context};
  return md_formula_evaluate(formula, &names, &variables->limits, value);
}

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

static md_status append_number(text *out, const char *format, double value)
{
  char number[NUMBER_MAX];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int n = snprintf(number, sizeof number, format, value);
#pragma GCC diagnostic pop
  if (n < 0 || n >= NUMBER_MAX) return md_error(MD_USAGE, "format '%s' prints %g too long", format, value);
  return append(out, number, (size_t)n);
}

static md_status append_variable(md_variables *variables, const char *name, text *out)
{
  variable *v = NULL;
  MD_TRY(use(variables, name, &v));
  if (v->style != EQUAL) return append(out, v->text, strlen(v->text));
  double value;
  MD_TRY(value_of(variables, name, &value));
  return append_number(out, VARIABLE_FORMAT, value);
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
  MD_TRY(md_variables_formula(variables, formula, &value));
  return append_number(out, format, value);
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

/* Appends the value of the reference at *at (a $), and moves *at behind the reference. */
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
