/* The files of three-body potentials, as LAMMPS has them for pair styles sw and vashishta.
 *
 * An entry is three names of elements, centre first, and a fixed count of numbers, in one or more lines. What follows
 * a # is a comment. The first line may have the words UNITS: NAME, which must be those of the deck.
 *
 * Each rank reads the file. Reference: the LAMMPS manual, pair_style sw and pair_style vashishta.
 */
#include "src/potential/three_body_file.h"
#include "common/base/memory.h"
#include "common/ranks/reductions.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 64 };

/* The next word; false: the file ends. A longer word is cut. */
static bool next_word(md_text_file *f, char word[WORD])
{
  size_t n = 0;
  for (;;) {
    while (isspace((unsigned char)*f->at)) f->line += *f->at++ == '\n';
    if (*f->at != '#') break;
    while (*f->at && *f->at != '\n') ++f->at;
  }
  for (; *f->at && *f->at != '#' && !isspace((unsigned char)*f->at); ++f->at)
    if (n + 1 < WORD) word[n++] = *f->at;
  word[n] = '\0';
  return n > 0;
}

static bool is_number(const char *word, double *value)
{
  char *end;
  *value = strtod(word, &end);
  return end != word && !*end;
}

static int find_element(const md_three_values *v, const char *name)
{
  int e = 0;
  while (e < v->nelement && strcmp(v->name[e], name) != 0) ++e;
  return e < v->nelement ? e : -1;
}

/* The names of an entry, of which the first is there already. */
static md_status read_names(md_text_file *f, const md_three_values *v, char name[3][WORD], int element[3])
{
  char what[160];
  double number;
  for (int k = 0; k < 3; ++k) {
    if (k > 0 && !next_word(f, name[k])) return md_text_file_wrong(f, "the file ends within an entry");
    snprintf(what, sizeof what,
             "the name of an element is expected here, not %.32s: an entry has three names and %d numbers",
             name[k], md_three_value_count(v->form));
    if (is_number(name[k], &number)) return md_text_file_wrong(f, what);
    element[k] = find_element(v, name[k]);
  }
  return MD_OK;
}

static md_status read_entry(md_text_file *f, md_three_values *v, char name[3][WORD], unsigned char *seen)
{
  char word[WORD], what[256];
  double own[MD_THREE_VALUES] = {0.0}, *value = own;
  int element[3] = {-1, -1, -1};
  MD_TRY(read_names(f, v, name, element));
  const bool wanted = element[0] >= 0 && element[1] >= 0 && element[2] >= 0;
  const int at = wanted ? (element[0] * v->nelement + element[1]) * v->nelement + element[2] : 0;
  if (wanted) value = v->value[at];
  snprintf(what, sizeof what, "the entry %.32s %.32s %.32s is there twice", name[0], name[1], name[2]);
  if (wanted && seen[at]++) return md_text_file_wrong(f, what);
  for (int k = 0; k < md_three_value_count(v->form); ++k) {
    const bool there = next_word(f, word), number = there && is_number(word, &value[k]);
    snprintf(what, sizeof what, "%s of the entry %.32s %.32s %.32s must be a finite number, not %.32s",
             md_three_value_name(v->form, k), name[0], name[1], name[2],
             there ? word : "the end of the file");
    if (!number || !isfinite(value[k])) return md_text_file_wrong(f, what);
  }
  return MD_OK;
}

static md_status find_missing(const md_text_file *f, const md_three_values *v, const unsigned char *seen)
{
  const int n = v->nelement;
  for (int k = 0; k < n * n * n; ++k)
    if (!seen[k])
      return md_error(MD_USAGE, "%.500s: there is no entry for %s %s %s", f->path, v->name[k / (n * n)],
                      v->name[k / n % n], v->name[k % n]);
  return MD_OK;
}

md_status md_three_body_read(md_text_file *f, md_three_values *v)
{
  const int entries = v->nelement * v->nelement * v->nelement;
  char name[3][WORD];
  unsigned char *seen = NULL;
  v->value = NULL;
  MD_TRY(md_array_new_zero(&v->value, entries, sizeof *v->value, "a potential"));
  MD_TRY(md_array_new_zero(&seen, entries, 1, "a potential"));
  md_status status = MD_OK;
  while (status == MD_OK && next_word(f, name[0])) status = read_entry(f, v, name, seen);
  if (status == MD_OK) status = find_missing(f, v, seen);
  free(seen);
  return status;
}

/* ---- pair_coeff ---- */

/* Refuses a file whose first line names other units. */
static md_status check_units(const md_text_file *f, const char *units)
{
  const size_t line = strcspn(f->text, "\n");
  const char *found = strstr(f->text, "UNITS:");
  if (!found || found >= f->text + line) return MD_OK;
  found += strlen("UNITS:");
  found += strspn(found, " \t");
  const size_t n = strcspn(found, " \t\r\n");
  if (n == strlen(units) && strncmp(found, units, n) == 0) return MD_OK;
  return md_error(MD_USAGE, "%.500s is in units %.*s, and the deck in units %s: use a file in these units",
                  f->path, n < 32 ? (int)n : 32, found, units);
}

/* Finds the different names among the words of elements. element: by type; -1: NULL. */
static md_status name_elements(const md_words *words, md_three_values *v, int *element)
{
  for (int w = 3; w < words->n; ++w) {
    const char *name = words->word[w];
    element[w - 3] = strcmp(name, "NULL") == 0 ? -1 : find_element(v, name);
    if (element[w - 3] >= 0 || strcmp(name, "NULL") == 0) continue;
    if (v->nelement == MD_THREE_ELEMENTS)
      return md_error(MD_USAGE, "pair_coeff: at most %d elements", (int)MD_THREE_ELEMENTS);
    if (strlen(name) >= sizeof v->name[0])
      return md_error(MD_USAGE, "pair_coeff: the name of an element has at most 15 letters, not %.64s", name);
    element[w - 3] = v->nelement;
    snprintf(v->name[v->nelement++], sizeof v->name[0], "%s", name);
  }
  return v->nelement > 0 ? MD_OK : md_error(MD_USAGE, "pair_coeff: give an element for at least one type");
}

static md_status take(md_sim *sim, const md_three_values *values, const char *path, const int *element)
{
  md_three_body *three;
  const md_status status = md_three_body_new(&three, values, sim->model.ntypes);
  if (status == MD_USAGE) md_error_prefix("%.500s: ", path);
  MD_TRY(status);
  for (int t = 0; t < sim->model.ntypes; ++t) three->element[t] = element[t];
  md_pair_take_three_body(&sim->model.pair, three);
  return MD_OK;
}

md_status md_three_body_coeff(md_sim *sim, const md_words *words)
{
  const md_model *model = &sim->model;
  const md_pair_kind kind = model->pair.kind;
  int element[MD_TYPES_MAX] = {0};
  md_three_values values = {.form = kind == MD_PAIR_sw ? MD_THREE_SW : MD_THREE_VASHISHTA,
                            .charges = model->units->charges};
  if (words->n != 3 + model->ntypes || strcmp(words->word[0], "*") != 0 || strcmp(words->word[1], "*") != 0)
    return md_error(MD_USAGE,
                    "pair_coeff of pair style %s takes * * FILE and an element or NULL for each of %d types",
                    md_pair_style_of(kind)->name, model->ntypes);
  MD_TRY(name_elements(words, &values, element));
  md_text_file f = {0};
  md_status status = md_text_file_open(sim, words->word[2], &f);
  if (status == MD_OK) status = check_units(&f, model->units->name);
  if (status == MD_OK) status = md_three_body_read(&f, &values);
  if (status == MD_OK) status = take(sim, &values, words->word[2], element);
  free(values.value);
  free(f.text);
  return md_comm_agree(sim->comm, status);
}
