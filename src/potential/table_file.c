/* The files of pair style table.
 *
 * A file has sections: a line that begins with the keyword; a line of parameters, `N n [R lo hi | RSQ lo hi]
 * [FPRIME lo hi]`; and n times the four numbers index, r, energy, force, in any lines. Between them lines may be empty,
 * or comments that begin with #. With R or RSQ the n distances are those from lo to hi that are evenly spaced in r or
 * r^2, and r of the file must only grow. FPRIME gives the slopes of the force at both ends.
 *
 * Reference: the LAMMPS manual, pair_style table.
 */
#include "src/potential/table_file.h"
#include "common/base/memory.h"
#include "common/ranks/reductions.h"

#include <stdlib.h>
#include <string.h>

/* The parameters of a section. */
typedef struct section {
  int n;
  bool by_r, by_square, has_slopes;
  double lo, hi, slope[2];
} section;

/* The next line that is not empty, and no comment, split into words at the first `most` blanks. Returns the number of
 * words; 0 at the end of the file. */
static int next_words(md_text_file *f, char *word[], int most)
{
  int n = 0;
  while (*f->at && n == 0) {
    char *rest, *line = md_text_file_line(f);
    for (char *w = strtok_r(line, " \t\r", &rest); w && n < most && *w != '#';
         w = strtok_r(NULL, " \t\r", &rest))
      word[n++] = w;
  }
  return n;
}

static md_status wrong_before(md_text_file *f, const char *what)
{
  --f->line;
  return md_text_file_wrong(f, what);
}

static bool read_value(const char *word, double *value)
{
  char *end;
  *value = word ? strtod(word, &end) : 0.0;
  return word && end != word && !*end && isfinite(*value);
}

static md_status read_parameter(md_text_file *f, char **word, int n, int *at, section *s)
{
  const char *name = word[(*at)++];
  double value[2] = {0.0, 0.0};
  const int count = strcmp(name, "N") == 0 ? 1 : 2;
  for (int k = 0; k < count; ++k, ++*at)
    if (!read_value(*at < n ? word[*at] : NULL, &value[k]))
      return wrong_before(
          f, "a parameter of a table lacks a finite number: N n, R lo hi, RSQ lo hi, FPRIME lo hi");
  if (count == 1) {
    if (!(value[0] >= 2.0 && value[0] <= MD_TABLE_VALUES_MAX && value[0] == floor(value[0])))
      return wrong_before(f, "N of a table must be a whole number from 2 to 2^24");
    s->n = (int)value[0];
  } else if (strcmp(name, "R") == 0 || strcmp(name, "RSQ") == 0) {
    s->by_r = strcmp(name, "R") == 0;
    s->by_square = !s->by_r;
    s->lo = value[0];
    s->hi = value[1];
    if (!(s->lo > 0.0 && s->hi > s->lo && s->hi < 1e150))
      return wrong_before(f, "R and RSQ of a table need 0 < lo < hi < 1e150");
  } else if (strcmp(name, "FPRIME") == 0) {
    s->has_slopes = true;
    memcpy(s->slope, value, sizeof value);
  } else if (strcmp(name, "BITMAP") == 0) {
    return wrong_before(f, "BITMAP tables are for a style of LAMMPS that does not exist here; use R or RSQ");
  } else {
    return wrong_before(f, "unknown parameter of a table; accepted are N, R, RSQ and FPRIME");
  }
  return MD_OK;
}

static md_status read_parameters(md_text_file *f, section *s)
{
  enum { MOST = 16 };
  char *word[MOST];
  const int n = next_words(f, word, MOST);
  *s = (section){0};
  for (int at = 0; at < n;) MD_TRY(read_parameter(f, word, n, &at, s));
  return s->n > 0 ? MD_OK : wrong_before(f, "the line after the keyword of a table must have N n");
}

/* Goes to the section with this keyword. */
static md_status find_section(md_text_file *f, const char *keyword, section *s)
{
  char *word[1];
  while (next_words(f, word, 1) > 0) {
    const bool found = strcmp(word[0], keyword) == 0;
    MD_TRY(read_parameters(f, s));
    if (found) return MD_OK;
    double number;
    for (int64_t k = 0; k < 4 * (int64_t)s->n; ++k) MD_TRY(md_text_file_number(f, &number));
    (void)md_text_file_line(f);
  }
  return md_error(MD_USAGE, "%.500s has no table `%.64s`", f->path, keyword);
}

static md_status allocate(const md_text_file *f, int n, md_table_values *v)
{
  /* Each value takes 8 letters at least, so that a short file does not ask for much memory. */
  if (strlen(f->at) / 8 + 1 < (size_t)n)
    return md_text_file_wrong(f, "the file ends before all N values are there");
  v->n = n;
  MD_TRY(md_array_new(&v->r, n, sizeof *v->r, "a table"));
  MD_TRY(md_array_new(&v->energy, n, sizeof *v->energy, "a table"));
  return md_array_new(&v->force, n, sizeof *v->force, "a table");
}

static double distance(const section *s, int i, double of_file)
{
  const double part = (double)i / (s->n - 1);
  if (s->by_r) return s->lo + (s->hi - s->lo) * part;
  if (s->by_square)
    return i + 1 == s->n ? s->hi : sqrt(s->lo * s->lo + (s->hi * s->hi - s->lo * s->lo) * part);
  return of_file;
}

static md_status read_rows(md_text_file *f, const section *s, md_table_values *v)
{
  double before = 0.0;
  if (!v->r || !v->energy || !v->force) return md_error(MD_RUNTIME, "out of memory: a table");
  for (int i = 0; i < s->n; ++i) {
    double value[4];
    MD_TRY(md_text_file_numbers(f, value, 4));
    if (value[0] != i + 1) return md_text_file_wrong(f, "the values of a table must be numbered from 1 to N");
    if (!(value[1] > before))
      return md_text_file_wrong(f, "the distances of a table must be positive, and grow from value to value");
    before = value[1];
    v->r[i] = distance(s, i, value[1]);
    v->energy[i] = value[2];
    v->force[i] = value[3];
  }
  return MD_OK;
}

md_status md_table_read(md_text_file *f, const char *keyword, md_table_values *values)
{
  section s;
  *values = (md_table_values){0};
  MD_TRY(find_section(f, keyword, &s));
  values->by_square = s.by_square;
  values->has_slopes = s.has_slopes;
  memcpy(values->slope, s.slope, sizeof s.slope);
  MD_TRY(allocate(f, s.n, values));
  return read_rows(f, &s, values);
}

/* ---- commands ---- */

md_status md_table_style(const md_words *words, int first, double *value)
{
  int64_t n;
  if (words->n != first + 2)
    return md_error(MD_USAGE, "pair style table takes two words, linear or spline and N%s",
                    words->n > first + 2 ? "; there is no solver for long ranges" : "");
  const bool spline = strcmp(words->word[first], "spline") == 0;
  if (!spline && strcmp(words->word[first], "linear") != 0)
    return md_error(MD_USAGE, "pair style table: '%.64s' is unknown; accepted are linear and spline",
                    words->word[first]);
  MD_TRY(md_word_int64(words->word[first + 1], "N of pair style table", 2, MD_TABLE_VALUES_MAX, &n));
  value[0] = spline ? 1.0 : 0.0;
  value[1] = (double)n;
  return MD_OK;
}

static md_status add(md_pair *pair, const md_words *words, const int i[2], const int j[2], md_text_file *f)
{
  md_table_values values = {0};
  md_status status = md_table_read(f, words->word[3], &values);
  double rc = status == MD_OK ? values.r[values.n - 1] : 0.0;
  if (status == MD_OK && words->n == 5) status = md_word_double(words->word[4], "the cutoff of a table", &rc);
  if (status == MD_OK) status = md_pair_add_table(pair, i, j, &values, rc);
  md_table_values_free(&values);
  return status;
}

md_status md_table_coeff(md_sim *sim, md_pair *pair, const md_words *words)
{
  int i[2], j[2];
  if (words->n < 4 || words->n > 5)
    return md_error(MD_USAGE, "pair_coeff of pair style table takes I J FILE KEYWORD [RC]");
  MD_TRY(md_word_types(words->word[0], sim->model.ntypes, &i[0], &i[1]));
  MD_TRY(md_word_types(words->word[1], sim->model.ntypes, &j[0], &j[1]));
  if (i[0] > j[1])
    return md_error(MD_USAGE, "pair_coeff %.64s %.64s sets nothing: write the smaller type first",
                    words->word[0], words->word[1]);
  md_text_file f = {0};
  md_status status = md_text_file_open(sim, words->word[2], &f);
  if (status == MD_OK) status = add(pair, words, i, j, &f);
  free(f.text);
  return md_comm_agree(sim->comm, status);
}
