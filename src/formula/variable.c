/* Variables: their definitions, their values, and the command next; see variable.h.
 *
 * The definitions form a linked list that is searched by name, because decks have only tens of variables. The
 * value of an equal variable is its formula (formula.c), evaluated at each use, so the value follows the simulation.
 * A variable is marked busy while its formula is evaluated. A reference to a busy variable is a circular definition,
 * and an error.
 *
 * Numbers become text as in LAMMPS, with 15 digits.
 */
#include "src/formula/variable.h"
#include "common/base/open_file.h"
#include "src/deck/command.h"
#include "src/deck/quote.h"
#include "src/files/number_format.h"
#include "src/formula/atomfile.h"
#include "src/formula/formula.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define VARIABLE_FORMAT "%.15g"

enum { LINE_MAX_LENGTH = 1 << 16 };

typedef enum style {
  INDEX,
  LOOP,
  LINES,
  STRING,
  GETENV,
  FORMAT,
  INTERNAL,
  EQUAL,
  ATOM,
  ATOMFILE,
  VECTOR
} style;

typedef struct variable {
  struct variable *next;
  char *name;
  style style;
  /* index: the values; string, getenv, file: one text; equal, atom: the formula; format: a variable and a format; loop,
   * internal: none. */
  int nvalue;
  char **value;
  /* index: the place of the present value, and of the last one; loop: the present number, the last */
  int64_t at, last;
  int64_t first;     /* of a loop */
  int pad;           /* digits of a loop's numbers at least */
  double number;     /* internal */
  FILE *file;        /* file */
  md_atomfile *sets; /* atomfile */
  int64_t n;         /* vector: the values that were found last */
  double *vector;    /* [n] */
  bool preset, used, busy;
} variable;

struct md_variables {
  variable *first;
  md_keyword_lookup keyword;
  md_function_lookup function;
  const md_formula_particles *particles;
  const md_formula_vectors *vectors;
  bool of_vectors; /* the formula that is evaluated now is of style vector */
  void *context;
  bool of_particles; /* the formula that is evaluated now has a value for each particle */
  bool records;      /* formulas are recorded now */
  md_formula_limits limits;
};

static const char *const style_names[] = {
    [INDEX] = "index",   [LOOP] = "loop",         [LINES] = "file",        [STRING] = "string",
    [GETENV] = "getenv", [FORMAT] = "format",     [INTERNAL] = "internal", [EQUAL] = "equal",
    [ATOM] = "atom",     [ATOMFILE] = "atomfile", [VECTOR] = "vector"};

md_status md_variables_new(md_variables **variables, md_keyword_lookup keyword, void *context)
{
  md_variables *new = calloc(1, sizeof *new);
  if (!new) return md_error(MD_RUNTIME, "out of memory for variables");
  new->keyword = keyword;
  new->context = context;
  *variables = new;
  return MD_OK;
}

void md_variables_set_function(md_variables *variables, md_function_lookup function)
{
  variables->function = function;
}

void md_variables_set_particles(md_variables *variables, const md_formula_particles *particles)
{
  variables->particles = particles;
}

void md_variables_set_vectors(md_variables *variables, const md_formula_vectors *vectors)
{
  variables->vectors = vectors;
}

static void free_values(variable *v)
{
  for (int k = 0; k < v->nvalue; ++k) free(v->value[k]);
  free(v->value);
  v->value = NULL;
  v->nvalue = 0;
}

static void variable_free(variable *v)
{
  free_values(v);
  free(v->name);
  if (v->file) fclose(v->file);
  md_atomfile_close(v->sets);
  free(v->vector);
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

bool md_variables_is_defined(const md_variables *variables, const char *name)
{
  return find(variables, name) != NULL;
}

static md_status check_name(const char *name)
{
  const char *c = name;
  while (isalnum((unsigned char)*c) || *c == '_') ++c;
  if (*c || c == name)
    return md_error(MD_USAGE, "variable name '%.64s': only letters, digits and _ are allowed", name);
  return MD_OK;
}

static md_status out_of_memory(const char *name)
{
  return md_error(MD_RUNTIME, "out of memory for variable %.64s", name);
}

static md_status set_values(variable *v, int n, char *const *value)
{
  char **copy = calloc((size_t)n + 1, sizeof *copy);
  bool complete = copy != NULL;
  for (int k = 0; complete && k < n; ++k) complete = (copy[k] = strdup(value[k])) != NULL;
  if (!complete) {
    for (int k = 0; copy && k < n; ++k) free(copy[k]);
    free(copy);
    return out_of_memory(v->name);
  }
  free_values(v);
  v->value = copy;
  v->nvalue = n;
  return MD_OK;
}

static md_status add(md_variables *variables, const char *name, style kind, variable **added)
{
  variable *v = calloc(1, sizeof *v);
  if (v) v->name = strdup(name);
  if (!v || !v->name) {
    free(v);
    return out_of_memory(name);
  }
  v->style = kind;
  variable **end = &variables->first;
  while (*end) end = &(*end)->next;
  *added = *end = v;
  return MD_OK;
}

/* Takes a variable out of the list and frees it. */
static void remove_variable(md_variables *variables, variable *v)
{
  variable **link = &variables->first;
  while (*link != v) link = &(*link)->next;
  *link = v->next;
  variable_free(v);
}

static md_status add_values(md_variables *variables, const char *name, style kind, int n, char *const *value)
{
  variable *v;
  MD_TRY(add(variables, name, kind, &v));
  v->last = n - 1;
  const md_status status = set_values(v, n, value);
  if (status != MD_OK) remove_variable(variables, v);
  return status;
}

md_status md_variables_preset(md_variables *variables, const char *name, int nvalue, char *const *value)
{
  MD_TRY(check_name(name));
  if (nvalue < 1) return md_error(MD_USAGE, "-var %.64s needs a value: -var NAME VALUE", name);
  if (find(variables, name)) return md_error(MD_USAGE, "-var %.64s is given twice", name);
  MD_TRY(add_values(variables, name, INDEX, nvalue, value));
  find(variables, name)->preset = true;
  return MD_OK;
}

const char *md_variables_unused(const md_variables *variables, int k)
{
  for (const variable *v = variables->first; v; v = v->next)
    if (v->preset && !v->used && k-- == 0) return v->name;
  return NULL;
}

/* ---- definitions: each gets the words after the style ---- */

/* A style that `next` moves on keeps its values if it is defined again, as in LAMMPS. So a definition may stand within
 * a loop, and -var and a file that includes others may set what they define. */
static bool is_kept(md_variables *variables, const char *name)
{
  variable *v = find(variables, name);
  if (v) v->used = true;
  return v != NULL;
}

static md_status define_index(md_variables *variables, const char *name, int n, char *const *word)
{
  if (n < 1) return md_error(MD_USAGE, "variable %.64s index needs a value", name);
  return is_kept(variables, name) ? MD_OK : add_values(variables, name, INDEX, n, word);
}

static md_status define_loop(md_variables *variables, const char *name, int n, char *const *word)
{
  int64_t number[2] = {1, 0};
  const bool pad = n > 1 && strcmp(word[n - 1], "pad") == 0;
  n -= pad;
  if (n < 1 || n > 2)
    return md_error(MD_USAGE, "variable %.64s loop takes N or N1 N2, and perhaps pad", name);
  for (int k = 0; k < n; ++k)
    MD_TRY(md_word_int64(word[k], "a number of variable loop", n == 1 ? 1 : 0, INT_MAX, &number[2 - n + k]));
  if (number[0] > number[1])
    return md_error(MD_USAGE, "variable %.64s loop: N1 %.20s is beyond N2 %.20s", name, word[0], word[1]);
  if (is_kept(variables, name)) return MD_OK;
  variable *v;
  MD_TRY(add(variables, name, LOOP, &v));
  v->first = v->at = number[0];
  v->last = number[1];
  v->pad = pad ? (int)strlen(word[n - 1]) : 0;
  return MD_OK;
}

/* Reads the next word of the file: the first word of a line that is neither empty nor a comment. *ended: there is
 * none. */
static md_status read_file(variable *v, bool *ended)
{
  char line[LINE_MAX_LENGTH];
  *ended = false;
  while (fgets(line, sizeof line, v->file)) {
    if (!strchr(line, '\n') && !feof(v->file))
      return md_error(MD_USAGE, "the file of variable %.64s has a line of more than %d bytes, or is not text",
                      v->name, LINE_MAX_LENGTH);
    line[strcspn(line, "#")] = '\0';
    char *word = line + strspn(line, " \t\n\r\f");
    word[strcspn(word, " \t\n\r\f")] = '\0';
    if (*word) return set_values(v, 1, &word);
  }
  *ended = true;
  if (!ferror(v->file)) return MD_OK;
  return md_error(MD_RUNTIME, "cannot read the file of variable %.64s: %s", v->name, strerror(errno));
}

static md_status define_file(md_variables *variables, const char *name, int n, char *const *word)
{
  if (n != 1) return md_error(MD_USAGE, "variable %.64s file takes one file name, not %d words", name, n);
  if (is_kept(variables, name)) return MD_OK;
  variable *v;
  bool ended = false;
  MD_TRY(add(variables, name, LINES, &v));
  v->file = md_open_read(word[0]);
  md_status status = v->file ? read_file(v, &ended)
                             : md_error(MD_RUNTIME, "variable %.64s: cannot read %.300s: %s", name, word[0],
                                        md_open_reason(errno));
  if (status == MD_OK && ended)
    status = md_error(MD_USAGE, "variable %.64s: there is no value in the file %.300s", name, word[0]);
  if (status != MD_OK) remove_variable(variables, v);
  return status;
}

/* Gives a variable its words, the n that its style has. A variable of another style is refused. */
static md_status replace(md_variables *variables, const char *name, style kind, int n, char *const *word)
{
  variable *v = find(variables, name);
  if (!v) return add_values(variables, name, kind, n, word);
  if (v->style == kind) return set_values(v, n, word);
  return md_error(
      MD_USAGE,
      "variable %.64s is already an %s variable%s and cannot become %s: write 'variable %.64s index ...' "
      "to accept -var, or delete it first",
      name, style_names[v->style], v->preset ? " given by -var" : "", style_names[kind], name);
}

static md_status take_one(const char *name, style kind, int n)
{
  if (n == 1) return MD_OK;
  return md_error(MD_USAGE, "variable %.64s %s takes one argument, not %d; put quotes around one with spaces",
                  name, style_names[kind], n);
}

static md_status define_equal(md_variables *variables, const char *name, int n, char *const *word)
{
  MD_TRY(take_one(name, EQUAL, n));
  return replace(variables, name, EQUAL, 1, word);
}

static md_status define_atom(md_variables *variables, const char *name, int n, char *const *word)
{
  MD_TRY(take_one(name, ATOM, n));
  return replace(variables, name, ATOM, 1, word);
}

static md_status define_atomfile(md_variables *variables, const char *name, int n, char *const *word)
{
  MD_TRY(take_one(name, ATOMFILE, n));
  if (is_kept(variables, name)) return MD_OK;
  variable *v;
  MD_TRY(add(variables, name, ATOMFILE, &v));
  const md_status status = md_atomfile_open(&v->sets, word[0]);
  if (status == MD_OK) return MD_OK;
  md_error_prefix("variable %.64s: ", name);
  remove_variable(variables, v);
  return status;
}

static md_status define_vector(md_variables *variables, const char *name, int n, char *const *word)
{
  MD_TRY(take_one(name, VECTOR, n));
  return replace(variables, name, VECTOR, 1, word);
}

static md_status define_string(md_variables *variables, const char *name, int n, char *const *word)
{
  char *replaced = NULL;
  MD_TRY(take_one(name, STRING, n));
  MD_TRY(md_variables_substitute(variables, word[0], &replaced));
  const md_status status = replace(variables, name, STRING, 1, &replaced);
  free(replaced);
  return status;
}

static md_status define_getenv(md_variables *variables, const char *name, int n, char *const *word)
{
  static char empty[] = "";
  MD_TRY(take_one(name, GETENV, n));
  char *value = getenv(word[0]);
  return replace(variables, name, GETENV, 1, value ? &value : (char *[]){empty});
}

static md_status define_format(md_variables *variables, const char *name, int n, char *const *word)
{
  char format[MD_FORMAT_SIZE];
  if (n != 2)
    return md_error(MD_USAGE, "variable %.64s format takes a variable and a format, not %d words", name, n);
  MD_TRY(md_number_format_check(word[1], MD_FORMAT_FLOAT, format));
  return replace(variables, name, FORMAT, 2, (char *[]){word[0], format});
}

static md_status define_internal(md_variables *variables, const char *name, int n, char *const *word)
{
  double number;
  MD_TRY(take_one(name, INTERNAL, n));
  MD_TRY(md_word_double(word[0], "the value of variable internal", &number));
  MD_TRY(replace(variables, name, INTERNAL, 0, NULL));
  find(variables, name)->number = number;
  return MD_OK;
}

/* LAMMPS too accepts this for a variable that does not exist, as `next` may have deleted it. */
static md_status delete_variable(md_variables *variables, const char *name, int n, char *const *word)
{
  (void)word;
  if (n > 0) return md_error(MD_USAGE, "variable %.64s delete takes no argument", name);
  variable *v = find(variables, name);
  if (v && v->busy) return md_error(MD_USAGE, "variable %.64s is being evaluated", name);
  if (v) remove_variable(variables, v);
  return MD_OK;
}

static const struct {
  const char *name;
  md_status (*define)(md_variables *, const char *name, int n, char *const *word);
  const char *refused; /* NULL, or why there is no such style */
} definitions[] = {
    {"index", define_index, NULL},
    {"loop", define_loop, NULL},
    {"file", define_file, NULL},
    {"string", define_string, NULL},
    {"getenv", define_getenv, NULL},
    {"format", define_format, NULL},
    {"internal", define_internal, NULL},
    {"equal", define_equal, NULL},
    {"atom", define_atom, NULL},
    {"atomfile", define_atomfile, NULL},
    {"vector", define_vector, NULL},
    {"delete", delete_variable, NULL},
    {"world", NULL, "there are no partitions of ranks here; give each its own run, and -var"},
    {"universe", NULL, "there are no partitions of ranks here; use index, and run several decks at a time"},
    {"uloop", NULL, "there are no partitions of ranks here; use loop, and run several decks at a time"},
    {"python", NULL, "a deck runs no programs here; use equal"},
    {"timer", NULL, "the thermo keyword cpu tells the time of a run"},
};
#define STYLES "index, loop, file, string, getenv, format, internal, equal, atom, atomfile, vector and delete"

md_status md_variables_define(md_variables *variables, int nword, char *const *word)
{
  if (nword < 2) return md_error(MD_USAGE, "variable needs a name and a style: " STYLES);
  MD_TRY(check_name(word[0]));
  for (size_t k = 0; k < sizeof definitions / sizeof definitions[0]; ++k) {
    if (strcmp(definitions[k].name, word[1]) != 0) continue;
    if (definitions[k].define) return definitions[k].define(variables, word[0], nword - 2, word + 2);
    return md_error(MD_USAGE, "variable style %s does not exist: %s", word[1], definitions[k].refused);
  }
  return md_error(MD_USAGE, "unknown variable style '%.64s': " STYLES " are known", word[1]);
}

/* ---- next ---- */

static bool is_stepped(const variable *v)
{
  return v->style == INDEX || v->style == LOOP || v->style == LINES || v->style == ATOMFILE;
}

static md_status check_next(md_variables *variables, int n, char *const *name)
{
  const variable *first = find(variables, name[0]);
  for (int k = 0; k < n; ++k) {
    const variable *v = find(variables, name[k]);
    if (!v) return md_error(MD_USAGE, "next: undefined variable '%.64s'", name[k]);
    if (!is_stepped(v))
      return md_error(MD_USAGE, "next: '%.64s' is of style %s; accepted are index, loop, file and atomfile",
                      name[k], style_names[v->style]);
    if (v->style != first->style)
      return md_error(MD_USAGE,
                      "next: '%.64s' is of style %s, and '%.64s' of style %s; all must have one style",
                      name[0], style_names[first->style], name[k], style_names[v->style]);
    for (int j = 0; j < k; ++j)
      if (strcmp(name[j], name[k]) == 0) return md_error(MD_USAGE, "next: '%.64s' is given twice", name[k]);
  }
  return MD_OK;
}

md_status md_variables_next(md_variables *variables, int n, char *const *name, bool *ended)
{
  *ended = false;
  MD_TRY(check_next(variables, n, name));
  for (int k = 0; k < n; ++k) {
    variable *v = find(variables, name[k]);
    bool over = false;
    v->used = true;
    if (v->style == LINES)
      MD_TRY(read_file(v, &over));
    else if (v->style == ATOMFILE)
      MD_TRY(md_atomfile_next(v->sets, &over));
    else
      over = ++v->at > v->last;
    if (over) remove_variable(variables, v);
    *ended = *ended || over;
  }
  return MD_OK;
}

/* ---- values ---- */

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

/* The text of a variable whose value is no formula. */
static const char *plain_text(const variable *v) { return v->value[v->style == INDEX ? v->at : 0]; }

static md_status value_of(void *context, const char *name, md_formula_value *value);

bool md_variables_is_atom(const md_variables *variables, const char *name)
{
  const variable *v = find(variables, name);
  return v && (v->style == ATOM || v->style == ATOMFILE);
}

bool md_variables_is_vector(const md_variables *variables, const char *name)
{
  const variable *v = find(variables, name);
  return v && v->style == VECTOR;
}

static md_status element_of(void *context, const char *name, int64_t i, double *value);

static md_status evaluate(md_variables *variables, const char *formula, bool of_particles,
                          md_formula_value *value)
{
  const bool of_vectors = variables->of_vectors;
  const md_formula_names names = {.variable = value_of,
                                  .element = element_of,
                                  .variable_context = variables,
                                  .keyword = variables->keyword,
                                  .function = variables->function,
                                  .context = variables->context,
                                  .particles = of_vectors ? &variables->vectors->table : variables->particles,
                                  .of_particles = of_particles || of_vectors,
                                  .records = variables->records};
  const bool outer = variables->of_particles;
  variables->of_particles = of_particles;
  const md_status status = md_formula_evaluate(formula, &names, &variables->limits, value);
  variables->of_particles = outer;
  return status;
}

/* ---- vectors ---- */

/* The numbers of a list such as [1,2.5,3]. */
static md_status read_list(const variable *v, int64_t *n, double *value)
{
  const char *at = v->value[0] + 1;
  char *end;
  for (*n = 0;; ++*n) {
    value[*n] = strtod(at, &end);
    end += strspn(end, " ");
    if (end == at || (*end != ',' && *end != ']') || !isfinite(value[*n]))
      return md_error(MD_USAGE, "variable %.64s vector: '%.100s' is no list of numbers such as [1,2.5,3]",
                      v->name, v->value[0]);
    at = end + 1;
    if (*end == ']') break;
  }
  ++*n;
  return *at == '\0' ? MD_OK
                     : md_error(MD_USAGE, "variable %.64s vector: after ] stands '%.64s'", v->name, at);
}

/* Evaluates a vector on its own: what is evaluated now may be of another length. */
static md_status evaluate_vector(md_variables *variables, const variable *v, int64_t *n, double **value)
{
  md_formula_value found = {.one = 0.0};
  if (v->value[0][0] == '[') {
    MD_TRY(md_array_new(value, (long long)strlen(v->value[0]), sizeof **value, "a vector"));
    return read_list(v, n, *value);
  }
  if (!variables->vectors) return md_error(MD_USAGE, "variable %.64s: there are no vectors here", v->name);
  const bool outer = variables->of_vectors;
  const md_formula_particles *table = &variables->vectors->table;
  const int64_t length = outer ? table->count(variables->context) : 0;
  variables->vectors->begin(variables->context, 0);
  const bool faulty = variables->limits.faulty;
  variables->of_vectors = true;
  md_status status = evaluate(variables, v->value[0], false, &found);
  if (status == MD_OK && variables->limits.faulty && !faulty) {
    status = md_error_restore(&variables->limits.fault);
    variables->limits.faulty = false;
    free(found.each);
    found.each = NULL;
  }
  *n = table->count(variables->context);
  *value = found.each;
  variables->of_vectors = outer;
  variables->vectors->begin(variables->context, length);
  if (status != MD_OK || found.each) return status;
  return md_error(MD_USAGE, "variable %.64s vector: there is no vector in '%.100s'", v->name, v->value[0]);
}

md_status md_variables_vector(md_variables *variables, const char *name, int64_t *n, const double **value)
{
  variable *v = NULL;
  MD_TRY(use(variables, name, &v));
  if (v->style != VECTOR)
    return md_error(MD_USAGE, "v_%.64s is of style %s: [I] takes a value of a variable of style vector", name,
                    style_names[v->style]);
  free(v->vector);
  v->vector = NULL;
  v->busy = true;
  const md_status status = evaluate_vector(variables, v, &v->n, &v->vector);
  v->busy = false;
  *n = v->n;
  *value = v->vector;
  return status;
}

/* v_NAME[I] */
static md_status element_of(void *context, const char *name, int64_t i, double *value)
{
  int64_t n;
  const double *vector;
  MD_TRY(md_variables_vector(context, name, &n, &vector));
  if (i > n)
    return md_error(MD_USAGE, "v_%.64s[%lld]: the vector has %lld value%s", name, (long long)i, (long long)n,
                    n == 1 ? "" : "s");
  *value = vector[i - 1];
  return MD_OK;
}

/* A vector within the formula of another one, which must have its length. */
static md_status vector_within(md_variables *variables, const variable *v, md_formula_value *value)
{
  int64_t n;
  MD_TRY(evaluate_vector(variables, v, &n, &value->each));
  const int64_t length = variables->vectors->table.count(variables->context);
  if (length > 0 && n != length)
    return md_error(MD_USAGE, "v_%.64s has %lld values, and another vector of the formula %lld", v->name,
                    (long long)n, (long long)length);
  variables->vectors->begin(variables->context, n);
  return MD_OK;
}

static md_status values_of_set(const md_variables *variables, const variable *v, md_formula_value *value)
{
  const md_formula_particles *p = variables->particles;
  const int64_t n = p->count(variables->context), *id = p->ids(variables->context);
  MD_TRY(md_array_new(&value->each, n, sizeof *value->each, "the values of a variable"));
  for (int64_t i = 0; i < n; ++i) value->each[i] = md_atomfile_value(v->sets, id[i]);
  return MD_OK;
}

/* ---- formulas ---- */

/* The value of an equal or atom variable, or of the variable that a format variable prints. */
static md_status value_of_formula(md_variables *variables, const variable *v, md_formula_value *value)
{
  const bool outer = variables->of_particles, of_particles = v->style == ATOM || v->style == ATOMFILE;
  if (of_particles && (!outer || variables->of_vectors))
    return md_error(MD_USAGE, "variable %.64s has a value for each particle, but %s asked for here", v->name,
                    variables->of_vectors ? "a vector is" : "one value is");
  if (v->style == VECTOR && !variables->of_vectors)
    return md_error(MD_USAGE, "variable %.64s is a vector, but one value is asked for here: write v_%.64s[I]",
                    v->name, v->name);
  if (v->style == ATOMFILE && variables->records)
    return md_error(MD_USAGE, "variable %.64s atomfile: an engine does not know its values", v->name);
  if (v->style == ATOMFILE) return values_of_set(variables, v, value);
  if (v->style == VECTOR) return vector_within(variables, v, value);
  if (v->style != FORMAT) return evaluate(variables, v->value[0], v->style == ATOM, value);
  variables->of_particles = false;
  const md_status status = value_of(variables, v->value[0], value);
  variables->of_particles = outer;
  return status;
}

/* Gives md_formula_evaluate the value of v_name: a variable inside a formula. */
static md_status value_of(void *context, const char *name, md_formula_value *value)
{
  md_variables *variables = context;
  variable *v = NULL;
  MD_TRY(use(variables, name, &v));
  if (v->style == LOOP || v->style == INTERNAL) {
    value->one = v->style == LOOP ? (double)v->at : v->number;
    return MD_OK;
  }
  if (v->style == INDEX || v->style == LINES || v->style == STRING || v->style == GETENV) {
    if (md_word_double(plain_text(v), name, &value->one) != MD_OK)
      return md_error(MD_USAGE, "v_%.64s: the text '%.64s' of this %s variable is not a number", name,
                      plain_text(v), style_names[v->style]);
    return MD_OK;
  }
  v->busy = true;
  const md_status status = value_of_formula(variables, v, value);
  v->busy = false;
  return status;
}

md_status md_variables_record(md_variables *variables, const char *name, md_each_code *code)
{
  md_formula_value value = {.one = 0.0};
  const variable *v = find(variables, name);
  if (!v || v->style != ATOM) return md_error(MD_USAGE, "variable %.64s is not of style atom", name);
  const bool outer = variables->of_particles;
  variables->records = variables->of_particles = true;
  const md_status status = value_of(variables, name, &value);
  variables->of_particles = outer;
  variables->records = false;
  free(value.each);
  *code = value.code;
  if (value.code.n == 0)
    *code = (md_each_code){.n = 1, .depth = 1, .step = {{.op = MD_OP_NUMBER, .number = value.one}}};
  return status;
}

md_status md_variables_formula(md_variables *variables, const char *formula, double *value)
{
  md_formula_value result;
  const bool of_vectors = variables->of_vectors;
  variables->of_vectors = false;
  const md_status status = evaluate(variables, formula, false, &result);
  variables->of_vectors = of_vectors;
  if (status == MD_OK) *value = result.one;
  return status;
}

uint64_t md_variables_drawn(const md_variables *variables) { return variables->limits.draws; }

void md_variables_set_drawn(md_variables *variables, uint64_t drawn) { variables->limits.draws = drawn; }

void md_variables_hide_draws(md_variables *variables) { variables->limits.hides_draws = true; }

md_status md_variables_each(md_variables *variables, const char *formula, double *value)
{
  md_formula_value result;
  if (!variables->particles) return md_error(MD_USAGE, "%.64s: there are no particles", formula);
  variables->limits.faulty = false;
  const bool of_vectors = variables->of_vectors;
  variables->of_vectors = false;
  const md_status status = evaluate(variables, formula, true, &result);
  variables->of_vectors = of_vectors;
  MD_TRY(status);
  const int64_t n = variables->particles->count(variables->context);
  for (int64_t i = 0; i < n; ++i) value[i] = result.each ? result.each[i] : result.one;
  free(result.each);
  return variables->limits.faulty ? md_error_restore(&variables->limits.fault) : MD_OK;
}

md_status md_variables_text(md_variables *variables, const char *name, char **text)
{
  variable *v = NULL;
  char number[MD_NUMBER_TEXT];
  const char *value = number;
  MD_TRY(use(variables, name, &v));
  if (v->style == LOOP) {
    snprintf(number, sizeof number, "%0*lld", v->pad, (long long)v->at);
  } else if (v->style == EQUAL || v->style == FORMAT || v->style == INTERNAL) {
    md_formula_value x = {.one = 0.0};
    MD_TRY(value_of(variables, name, &x));
    MD_TRY(md_number_format_print(v->style == FORMAT ? v->value[1] : VARIABLE_FORMAT, x.one, number));
  } else if (v->style == VECTOR) {
    return md_error(MD_USAGE, "variable %.64s is a vector, and has no text; write v_%.64s[I] in a formula",
                    name, name);
  } else if (v->style == ATOM || v->style == ATOMFILE) {
    return md_error(MD_USAGE, "variable %.64s has a value for each particle, and no text; write v_%.64s",
                    name, name);
  } else {
    value = plain_text(v);
  }
  *text = strdup(value);
  return *text ? MD_OK : out_of_memory(name);
}
