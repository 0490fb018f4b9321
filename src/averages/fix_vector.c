/* fix vector: the values of every N-th step one after the other, as a vector, or an array with a column for each.
 *
 * Functions of vectors, such as trap and slope, take it. Memory: 8 bytes a value. Reference: the LAMMPS manual. */
#include "src/averages/output_fix.h"
#include "src/steps.h"

#include <stdlib.h>

typedef struct fix_vector {
  md_output_fix base;
  int64_t every, capacity;
  int n;
  char **name;
  double *value;
  bool *extensive;
} fix_vector;

static void show(fix_vector *fix, int64_t rows)
{
  md_values *v = &fix->base.values;
  v->extensive = fix->extensive;
  if (fix->n == 1) {
    v->has_vector = v->alike = true;
    v->nvector = rows;
    v->vector = fix->value;
  } else {
    v->rows = rows;
    v->columns = fix->n;
    v->array = fix->value;
  }
}

static int64_t rows_of(const fix_vector *fix)
{
  return fix->n == 1 ? fix->base.values.nvector : fix->base.values.rows;
}

static md_status parse(md_output_fix *base, md_sim *sim, const md_words *words)
{
  fix_vector *fix = (fix_vector *)base;
  const md_words names = {words->n - 1, words->word + 1};
  if (words->n < 2) return md_error(MD_USAGE, "fix vector takes N and at least one value");
  MD_TRY(md_word_int64(words->word[0], "N of fix vector", 1, INT64_MAX, &fix->every));
  MD_TRY(md_value_names(sim, &names, false, &fix->n, &fix->name));
  MD_TRY(md_array_new_zero(&fix->extensive, fix->n, sizeof *fix->extensive, "a fix"));
  for (int k = 0; k < fix->n; ++k) fix->extensive[k] = md_value_is_extensive(sim, fix->name[k]);
  show(fix, 0);
  return MD_OK;
}

static int64_t due(const md_output_fix *base, int64_t step)
{
  return md_step_multiple(step, ((const fix_vector *)base)->every);
}

static md_status reserve(fix_vector *fix, int64_t rows)
{
  if (rows <= fix->capacity) return MD_OK;
  const int64_t capacity = 2 * rows + 64;
  double *larger = realloc(fix->value, (size_t)(capacity * fix->n) * sizeof *larger);
  if (!larger) return md_error(MD_RUNTIME, "out of memory for %lld values", (long long)(capacity * fix->n));
  fix->value = larger;
  fix->capacity = capacity;
  return MD_OK;
}

static md_status look(md_output_fix *base, md_view *view)
{
  fix_vector *fix = (fix_vector *)base;
  const int64_t rows = rows_of(fix);
  MD_TRY(reserve(fix, rows + 1));
  /* A formula may read the vector of this fix itself. */
  show(fix, rows);
  for (int k = 0; k < fix->n; ++k)
    MD_TRY(md_value_number(view->sim, fix->name[k], &fix->value[rows * fix->n + k]));
  show(fix, rows + 1);
  return MD_OK;
}

static md_status walk(md_output_fix *base, md_fix_state *state)
{
  fix_vector *fix = (fix_vector *)base;
  int64_t rows = rows_of(fix);
  if (!md_fix_state_whole(state, &rows) || rows < 0 || (state->mode == MD_STATE_LOAD && rows > state->n))
    return MD_OK;
  MD_TRY(reserve(fix, rows));
  if (md_fix_state_reals(state, rows * fix->n, fix->value)) show(fix, rows);
  return MD_OK;
}

static void free_values(md_output_fix *base)
{
  fix_vector *fix = (fix_vector *)base;
  md_value_names_free(fix->n, fix->name);
  free(fix->value);
  free(fix->extensive);
}

const md_output_fix_style md_fix_vector_style = {
    .name = "vector",
    .usage = "vector N VALUE ...",
    .help =
        "the values of every N-th step: a vector f_ID, or an array if there are several values; VALUE is\n"
        "c_ID, c_ID[I], f_ID, f_ID[I] or v_NAME",
    .size = sizeof(fix_vector),
    .keeps_step = true,
    .parse = parse,
    .due = due,
    .look = look,
    .walk = walk,
    .free = free_values,
};
