/* The numbers of computes and fixes by name; see values.h.
 *
 * One number is found as a formula finds it, so that names mean the same everywhere. A vector is what an output fix
 * holds, or the values of a compute.
 */
#include "src/averages/values.h"
#include "src/averages/output_fix.h"
#include "src/computes/computes.h"
#include "src/computes/host_compute.h"
#include "src/fixes/fixes.h"
#include "src/formula/particle_values.h"
#include "src/restart/resume.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 1024 };

bool md_is_value_name(const char *word) { return strchr("cfv", *word) && *word && word[1] == '_'; }

static bool is_variable(const char *name) { return strncmp(name, "v_", 2) == 0; }

md_status md_value_name_read(const char *name, md_value_name *apart)
{
  *apart = (md_value_name){.id = name + 2, .n = strcspn(name + 2, "[")};
  for (const char *at = name + 2 + apart->n; *at;) {
    char *end;
    const long long index = strtoll(at + 1, &end, 10);
    if (*at != '[' || *end != ']' || end == at + 1 || index < 1 || apart->nindex == 2)
      return md_error(MD_USAGE, "%.80s: only [I] or [I][J] may follow the name, with numbers from 1", name);
    apart->index[apart->nindex++] = index;
    at = end + 1;
  }
  return MD_OK;
}

/* Which of its values a name says: bounds of the numbers in brackets; least 0: there is no such value. */
static md_status check_indices(const md_value_name *apart, const char *name, int n, const int64_t *most)
{
  for (int k = 0; k < n; ++k)
    if (apart->index[k] > most[k])
      return md_error(MD_USAGE, "%.80s: the number %lld in brackets is above %lld", name,
                      (long long)apart->index[k], (long long)most[k]);
  return MD_OK;
}

static md_status describe(const md_values *v, const char *name)
{
  char text[160] = "";
  if (v->scalar) snprintf(text, sizeof text, ", a number");
  if (v->has_vector)
    snprintf(text + strlen(text), sizeof text - strlen(text), ", a vector of %lld", (long long)v->nvector);
  if (v->columns > 0)
    snprintf(text + strlen(text), sizeof text - strlen(text), ", an array of %d columns", v->columns);
  if (!text[0])
    return md_error(
        MD_USAGE,
        "%.80s: there is no such value: it has none for all particles together; use compute reduce "
        "for values of particles",
        name);
  return md_error(MD_USAGE, "%.80s: there is no such value; it has %s", name, text + 2);
}

/* Vectors that grow with time, such as those of fix vector, may be named before they are there. */
static bool grows(const md_values *v) { return v->vector == NULL || v->nvector == 0; }

md_status md_values_check(const md_values *v, const char *name, bool vector)
{
  md_value_name apart;
  MD_TRY(md_value_name_read(name, &apart));
  const int nindex = apart.nindex + (vector ? 1 : 0);
  if (nindex == 0 && v->scalar) return MD_OK;
  if (nindex == 1 && v->has_vector)
    return vector || grows(v) ? MD_OK : check_indices(&apart, name, 1, &v->nvector);
  if (nindex == 2 && v->columns > 0) {
    const int64_t column = apart.index[vector ? 0 : 1];
    if (column <= v->columns) return MD_OK;
  }
  return describe(v, name);
}

md_status md_values_number(const md_values *v, const char *name, double *number)
{
  md_value_name apart;
  MD_TRY(md_value_name_read(name, &apart));
  if (apart.nindex == 0) {
    *number = *v->scalar;
    return MD_OK;
  }
  /* As in LAMMPS, an array whose length is not known yet is all 0. */
  if (apart.nindex == 2 && !v->array) {
    *number = 0.0;
    return MD_OK;
  }
  MD_TRY(check_indices(&apart, name, 1, apart.nindex == 1 ? &v->nvector : &v->rows));
  *number = apart.nindex == 1 ? v->vector[apart.index[0] - 1]
                              : v->array[(apart.index[0] - 1) * v->columns + apart.index[1] - 1];
  return MD_OK;
}

/* What an output fix or a host compute holds; NULL: the name is of another. */
static const md_values *values_of(const md_sim *sim, const char *name)
{
  const size_t n = strcspn(name + 2, "[");
  const md_host_compute *compute = md_is_compute(name) ? md_host_compute_find(sim, name + 2, n) : NULL;
  const md_output_fix *fix = md_is_fix_value(name) ? md_output_fix_find(sim, name + 2, n) : NULL;
  return compute ? &compute->values : fix ? &fix->values : NULL;
}

/* The compute of a name without brackets; NULL: the name is none of a compute with several values. */
static const md_compute *compute_with_vector(const md_sim *sim, const char *name)
{
  const md_model *model = &sim->model;
  if (!md_is_compute(name)) return NULL;
  for (int c = 0; c < model->ncompute; ++c) {
    const md_compute *compute = &model->compute[c];
    if (strcmp(compute->id, name + 2) != 0) continue;
    return md_compute_has_tensor(compute) || md_compute_count(compute) > 1 ? compute : NULL;
  }
  return NULL;
}

static int length_of(const md_compute *compute)
{
  return md_compute_has_tensor(compute) ? MD_TENSOR : md_compute_count(compute);
}

static md_status check_vector(md_sim *sim, const char *name)
{
  const md_values *values = is_variable(name) ? NULL : values_of(sim, name);
  if (values) return md_values_check(values, name, true);
  if (is_variable(name) && md_variables_is_vector(sim->variables, name + 2)) return MD_OK;
  if (compute_with_vector(sim, name)) return MD_OK;
  return md_error(
      MD_USAGE,
      "%.80s is no vector; vectors are c_ID of a compute with several values, f_ID of an output fix "
      "with a vector, f_ID[J], column J of its array, and v_NAME of style vector",
      name);
}

md_status md_value_check(md_sim *sim, const char *name, bool vector)
{
  const md_compute *compute;
  int index, component;
  if (vector) return check_vector(sim, name);
  if (is_variable(name)) {
    const size_t n = strcspn(name + 2, "[");
    char variable[128];
    snprintf(variable, sizeof variable, "%.*s", (int)n, name + 2);
    if (name[2 + n] ? md_variables_is_vector(sim->variables, variable)
                    : md_variables_is_defined(sim->variables, variable) &&
                          !md_variables_is_atom(sim->variables, variable) &&
                          !md_variables_is_vector(sim->variables, variable))
      return MD_OK;
    return md_error(MD_USAGE, "%.80s: there is no variable of that name with one value", name);
  }
  if (md_is_fix_value(name)) return md_fix_named(sim, name, &index, &component);
  if (values_of(sim, name)) return md_values_check(values_of(sim, name), name, false);
  MD_TRY(md_compute_named(sim, name, &compute, &component));
  if (md_compute_style_of(compute->kind)->nvalue > 0) return MD_OK;
  return md_error(MD_USAGE, "%.80s has a value for each particle: one value is asked for here", name);
}

md_status md_value_number(md_sim *sim, const char *name, double *number)
{
  return md_variables_formula(sim->variables, name, number);
}

/* The values of a compute, by their names. */
static md_status compute_vector(md_sim *sim, const md_compute *compute, md_vector *vector)
{
  char name[96];
  *vector = (md_vector){.n = length_of(compute), .stride = 1};
  for (int k = 0; k < vector->n; ++k) {
    snprintf(name, sizeof name, "c_%s[%d]", compute->id, k + 1);
    MD_TRY(md_compute_value(sim, name, &vector->own[k]));
  }
  return MD_OK;
}

md_status md_value_vector(md_sim *sim, const char *name, md_vector *vector)
{
  const md_values *values = is_variable(name) ? NULL : values_of(sim, name);
  md_value_name apart;
  MD_TRY(check_vector(sim, name));
  if (is_variable(name)) {
    *vector = (md_vector){.stride = 1};
    return md_variables_vector(sim->variables, name + 2, &vector->n, &vector->at);
  }
  if (!values) return compute_vector(sim, compute_with_vector(sim, name), vector);
  if (md_is_compute(name))
    MD_TRY(md_host_compute_update(sim, md_host_compute_find(sim, name + 2, strcspn(name + 2, "["))));
  MD_TRY(md_value_name_read(name, &apart));
  if (apart.nindex == 0)
    *vector = (md_vector){.at = values->vector, .n = values->nvector, .stride = 1};
  else
    *vector = (md_vector){values->array + apart.index[0] - 1, values->rows, values->columns, {0.0}};
  return MD_OK;
}

int64_t md_value_length(const md_sim *sim, const char *name)
{
  const md_values *values = is_variable(name) ? NULL : values_of(sim, name);
  if (is_variable(name)) return 0;
  if (!values) return length_of(compute_with_vector(sim, name));
  return strchr(name, '[') ? values->rows : values->nvector;
}

int md_values_columns(const md_sim *sim, const char *name)
{
  const md_values *values = is_variable(name) || strchr(name, '[') ? NULL : values_of(sim, name);
  return values ? values->columns : 0;
}

bool md_value_is_extensive(md_sim *sim, const char *name)
{
  const md_compute *compute;
  const md_values *values = values_of(sim, name);
  md_value_name apart;
  int component, fix;
  if (is_variable(name) || md_value_name_read(name, &apart) != MD_OK) return false;
  if (md_is_compute(name) && !values)
    return md_compute_named(sim, name, &compute, &component) == MD_OK &&
           (md_compute_style_of(compute->kind)->extensive ||
            (md_compute_style_of(compute->kind)->temperature && apart.nindex > 0));
  if (!values)
    return md_fix_named(sim, name, &fix, &component) != MD_OK ||
           !md_fix_style_of(sim->model.fix[fix].kind)->scalar ||
           md_fix_style_of(sim->model.fix[fix].kind)->extensive;
  if (!values->extensive) return false;
  if (values->columns > 0 && apart.nindex > 0) return values->extensive[apart.index[apart.nindex - 1] - 1];
  const bool first = apart.nindex == 0 || values->nvector == 0 || values->alike;
  return values->extensive[first ? 0 : apart.index[0] - 1];
}

/* ---- lists of names ---- */

/* How many values [*] after a name without brackets stands for. */
static int64_t width_of(md_sim *sim, const char *name, bool vectors)
{
  const md_values *values = values_of(sim, name);
  const md_compute *compute = compute_with_vector(sim, name);
  int index;
  if (values) return vectors ? values->columns : values->nvector;
  if (vectors) return 0;
  if (md_is_fix_value(name))
    return *md_sim_find_fix(sim, name + 2, strlen(name + 2), &index) ? md_fix_vector_size(&sim->model, index)
                                                                     : 0;
  return compute ? length_of(compute) : 0;
}

static md_status add_name(const char *name, int *n, char ***list)
{
  if (*n == MOST_NAMES) return md_error(MD_USAGE, "there are more than %d values in one line", MOST_NAMES);
  char **larger = realloc(*list, (size_t)(*n + 1) * sizeof **list);
  if (!larger) return md_error(MD_RUNTIME, "out of memory for the names of values");
  *list = larger;
  larger[*n] = strdup(name);
  if (!larger[*n]) return md_error(MD_RUNTIME, "out of memory for the names of values");
  ++*n;
  return MD_OK;
}

/* Adds the names that a word with a * in its brackets stands for. */
static md_status add_range(md_sim *sim, const char *word, bool vectors, int *n, char ***list)
{
  const size_t length = strcspn(word, "[");
  char name[128], *end;
  if (length + 24 > sizeof name) return md_error(MD_USAGE, "%.80s: the name is too long", word);
  snprintf(name, sizeof name, "%.*s", (int)length, word);
  const int64_t width = width_of(sim, name, vectors);
  if (width == 0) return md_error(MD_USAGE, "%.80s: there are no values that [*] could stand for", word);
  const char *at = word + length + 1;
  int64_t first = 1, last = width;
  if (isdigit((unsigned char)*at)) first = strtoll(at, &end, 10), at = end;
  if (*at == '*') ++at;
  if (isdigit((unsigned char)*at)) last = strtoll(at, &end, 10), at = end;
  if (strcmp(at, "]") != 0 || first < 1 || last > width || first > last)
    return md_error(MD_USAGE, "%.80s: the range is not within 1 and %lld", word, (long long)width);
  for (int64_t k = first; k <= last; ++k) {
    snprintf(name + length, sizeof name - length, "[%lld]", (long long)k);
    MD_TRY(add_name(name, n, list));
  }
  return MD_OK;
}

static md_status add_word(md_sim *sim, const char *word, bool vectors, int *n, char ***list)
{
  const char *bracket = strchr(word, '[');
  const int before = *n;
  MD_TRY(bracket && strchr(bracket, '*') && !is_variable(word) ? add_range(sim, word, vectors, n, list)
                                                               : add_name(word, n, list));
  for (int k = before; k < *n; ++k) MD_TRY(md_value_check(sim, (*list)[k], vectors));
  return MD_OK;
}

md_status md_value_names(md_sim *sim, const md_words *words, bool vectors, int *n, char ***name)
{
  md_status status = MD_OK;
  *n = 0;
  *name = NULL;
  for (int w = 0; w < words->n && status == MD_OK; ++w)
    status = add_word(sim, words->word[w], vectors, n, name);
  if (status == MD_OK) return MD_OK;
  md_value_names_free(*n, *name);
  *name = NULL;
  *n = 0;
  return status;
}

void md_value_names_free(int n, char **name)
{
  for (int k = 0; k < n; ++k) free(name[k]);
  free(name);
}

/* ---- vectors in formulas ---- */

/* In `myriad check` vectors have no values, and any length. */
enum { CHECKED_LENGTH = 65536 };

/* The common length of the vectors of the formula that is evaluated; 0: none was read yet. */
static int64_t common_length;

static void begin_vectors(void *context, int64_t length)
{
  (void)context;
  common_length = length;
}

static int64_t count_vector(void *context)
{
  (void)context;
  return common_length;
}

/* A length, or an element, of a vector. */
typedef struct vector_part {
  md_sim *sim;
  const char *name;
  int64_t k; /* -1: the length */
} vector_part;

static md_status read_part(void *context, double *value)
{
  const vector_part *part = context;
  md_vector vector;
  MD_TRY(md_value_vector(part->sim, part->name, &vector));
  *value = part->k < 0 ? (double)vector.n
           : vector.at ? vector.at[part->k * vector.stride]
                       : vector.own[part->k];
  return MD_OK;
}

/* A deck that is resumed recalls what was read between runs: the length, and then each value. */
static md_status read_vector(md_sim *sim, const char *name, double **value)
{
  double n = CHECKED_LENGTH;
  vector_part part = {sim, name, -1};
  if (!sim->planning.checking) MD_TRY(md_resume_measure(sim, read_part, &part, &n));
  if (n < 1.0) return md_error(MD_USAGE, "%.80s: the vector has no values yet", name);
  if (common_length > 0 && (int64_t)n != common_length)
    return md_error(MD_USAGE, "%.80s has %lld values, and another vector of the formula %lld", name,
                    (long long)n, (long long)common_length);
  common_length = (int64_t)n;
  MD_TRY(md_array_new(value, common_length, sizeof **value, "a vector"));
  for (int64_t k = 0; k < common_length; ++k) {
    part.k = k;
    (*value)[k] = 1.0;
    const md_status status =
        sim->planning.checking ? MD_OK : md_resume_measure(sim, read_part, &part, &(*value)[k]);
    if (status == MD_OK) continue;
    free(*value);
    *value = NULL;
    return status;
  }
  return MD_OK;
}

static md_status vector_named(void *context, const char *name, int n, char *const *argument, double **value,
                              bool *known)
{
  md_sim *sim = context;
  (void)argument;
  /* As in LAMMPS, c_ID of a compute with a value and a vector, such as pressure, is the value. */
  *known = n == 0 && (md_is_compute(name) || md_is_fix_value(name)) &&
           md_value_check(sim, name, false) != MD_OK && check_vector(sim, name) == MD_OK;
  return *known ? read_vector(sim, name, value) : MD_OK;
}

static md_status of_id(void *context, const char *name, int64_t id, double *value, bool *known)
{
  return md_particle_values.of_id(context, name, id, value, known);
}

const md_formula_vectors md_value_vectors = {
    .begin = begin_vectors, .table = {.count = count_vector, .each = vector_named, .of_id = of_id}};

/* ---- functions of vectors ---- */

static double at(const md_vector *v, int64_t k) { return v->at ? v->at[k * v->stride] : v->own[k]; }

static double sum_of(const md_vector *v)
{
  double sum = 0.0;
  for (int64_t k = 0; k < v->n; ++k) sum += at(v, k);
  return sum;
}

static double least_of(const md_vector *v)
{
  double least = v->n > 0 ? at(v, 0) : 0.0;
  for (int64_t k = 1; k < v->n; ++k) least = md_min(least, at(v, k));
  return least;
}

static double largest_of(const md_vector *v)
{
  double largest = v->n > 0 ? at(v, 0) : 0.0;
  for (int64_t k = 1; k < v->n; ++k) largest = md_max(largest, at(v, k));
  return largest;
}

static double mean_of(const md_vector *v) { return v->n > 0 ? sum_of(v) / (double)v->n : 0.0; }

/* The integral by the trapezoidal rule, with points at a distance of 1. */
static double integral_of(const md_vector *v)
{
  return v->n > 0 ? sum_of(v) - 0.5 * at(v, 0) - 0.5 * at(v, v->n - 1) : 0.0;
}

/* The slope of the straight line of least squares, with points at a distance of 1; LAMMPS gives 1e20 for one point. */
static double slope_of(const md_vector *v)
{
  const double n = (double)v->n;
  double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
  for (int64_t k = 0; k < v->n; ++k) {
    const double x = (double)k, y = at(v, k);
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  const double below = n * sxx - sx * sx;
  return below > 0.0 ? (n * sxy - sx * sy) / below : 1e20;
}

static const struct {
  const char *name;
  double (*of)(const md_vector *);
} functions[] = {{"sum", sum_of},  {"min", least_of},     {"max", largest_of},
                 {"ave", mean_of}, {"trap", integral_of}, {"slope", slope_of}};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

/* A function, with the name of its vector. */
typedef struct vector_call {
  md_sim *sim;
  const char *name;
  double (*of)(const md_vector *);
} vector_call;

static md_status measure(void *context, double *value)
{
  const vector_call *call = context;
  md_vector vector;
  MD_TRY(md_value_vector(call->sim, call->name, &vector));
  *value = call->of(&vector);
  return MD_OK;
}

md_status md_vector_function(md_sim *sim, const char *name, int n, char *const *argument, double *value,
                             bool *known)
{
  int f = 0;
  while (f < FUNCTIONS && strcmp(functions[f].name, name) != 0) ++f;
  *known = f < FUNCTIONS;
  if (!*known) return MD_OK;
  if (n != 1) return md_error(MD_USAGE, "%s() takes one vector, not %d arguments", name, n);
  *value = 1.0;
  MD_TRY(check_vector(sim, argument[0]));
  if (sim->planning.checking) return MD_OK;
  vector_call call = {sim, argument[0], functions[f].of};
  /* A variable records what it reads itself. */
  return is_variable(argument[0]) ? measure(&call, value) : md_resume_measure(sim, measure, &call, value);
}
