/* fix ave/time: averages over time of numbers, or of vectors element by element.
 *
 * 1. At each sample of the schedule (averaging.h) the values are read and added.
 * 2. After the last sample of an average the sums are divided by the number of samples.
 * 3. The average goes into the running average, which is what f_ID and the file show.
 *
 * The rows of an average are the elements of the vectors, one row for numbers; its columns are the values. Cost: that
 * of measuring the values, at the samples only. Reference: the LAMMPS manual, fix ave/time.
 */
#include "src/averages/averaging.h"
#include "src/files/number_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct fix_ave_time {
  md_output_fix base;
  md_schedule schedule;
  md_running running;
  bool vectors; /* mode vector */
  int n;        /* columns */
  char **name;
  int64_t rows;
  bool *off;       /* [n] the value itself is shown, and no average */
  bool *extensive; /* [n], or of one vector [rows] */
  double *sum;     /* [rows][n] of the present average */
  double *shown;   /* [rows][n] */
  char format[MD_FORMAT_SIZE];
} fix_ave_time;

/* ---- words ---- */

static md_status read_format(fix_ave_time *fix, const char *word)
{
  return md_number_format_check(word, MD_FORMAT_FLOAT, fix->format);
}

static md_status read_off(fix_ave_time *fix, const char *word)
{
  int64_t k;
  MD_TRY(md_word_int64(word, "the value of fix ave/time off", 1, fix->n, &k));
  fix->off[k - 1] = true;
  return MD_OK;
}

/* Reads the keyword words[*at] with its value, and moves *at past it. */
static md_status read_keyword(fix_ave_time *fix, const md_words *words, int *at)
{
  const char *keyword = words->word[(*at)++];
  if (strcmp(keyword, "overwrite") == 0) {
    fix->base.overwrite = true;
    return MD_OK;
  }
  if (*at == words->n) return md_error(MD_USAGE, "fix ave/time %.64s: its value is missing", keyword);
  if (strcmp(keyword, "ave") == 0) return md_running_read(&fix->running, "ave/time", words, at);
  const char *value = words->word[(*at)++];
  if (strcmp(keyword, "mode") == 0) return MD_OK; /* read before */
  if (strcmp(keyword, "file") == 0) return md_output_fix_copy(value, &fix->base.path);
  if (strcmp(keyword, "off") == 0) return read_off(fix, value);
  if (strcmp(keyword, "format") == 0) return read_format(fix, value);
  if (strcmp(keyword, "start") == 0)
    return md_word_int64(value, "the step of fix ave/time start", 0, INT64_C(1) << 53, &fix->schedule.start);
  return md_output_fix_read_title(
      &fix->base, keyword, value,
      "mode scalar|vector, file NAME, ave one|running|window M, start STEP, off K, "
      "overwrite, format F");
}

/* Finds `mode`, on which the meaning of the values before it depends. */
static md_status read_mode(fix_ave_time *fix, const md_words *words)
{
  for (int w = 3; w + 1 < words->n; ++w) {
    if (strcmp(words->word[w], "mode") != 0) continue;
    fix->vectors = strcmp(words->word[w + 1], "vector") == 0;
    if (fix->vectors || strcmp(words->word[w + 1], "scalar") == 0) return MD_OK;
    return md_error(MD_USAGE, "fix ave/time mode: '%.64s' is not scalar or vector", words->word[w + 1]);
  }
  return MD_OK;
}

static md_status set_title(fix_ave_time *fix)
{
  md_text line[3] = {{0}};
  const int lines = fix->vectors ? 3 : 2;
  md_text_print(&line[0], "# Time-averaged data for fix %s", fix->base.id);
  md_text_string(&line[1], fix->vectors ? "# TimeStep Number-of-rows" : "# TimeStep");
  md_text_string(&line[2], "# Row");
  for (int k = 0; k < fix->n; ++k) md_text_print(&line[lines - 1], " %s", fix->name[k]);
  if (!fix->vectors) md_text_free(&line[2]);
  return md_output_fix_set_title(&fix->base, lines, line);
}

/* ---- values ---- */

static int64_t size_of(const fix_ave_time *fix) { return fix->rows * fix->n; }

static md_status allocate(fix_ave_time *fix)
{
  if (fix->rows == 0)
    return md_error(MD_USAGE, "fix ave/time: the length of %.80s may change, so that it cannot be averaged",
                    fix->name[0]);
  MD_TRY(md_array_new_zero(&fix->extensive, size_of(fix), sizeof *fix->extensive, "a fix"));
  MD_TRY(md_running_begin(&fix->running, size_of(fix)));
  MD_TRY(md_array_new_zero(&fix->sum, size_of(fix), sizeof *fix->sum, "a sum"));
  return md_array_new_zero(&fix->shown, size_of(fix), sizeof *fix->shown, "an average");
}

/* Which of its values are extensive: those of one vector one by one, else columns. */
static void find_extensive(fix_ave_time *fix, md_sim *sim)
{
  const bool one = fix->vectors && fix->n == 1, whole = one && !strchr(fix->name[0], '[');
  const int64_t n = one ? fix->rows : fix->n;
  for (int64_t k = 0; k < n; ++k) {
    char name[128];
    snprintf(name, sizeof name, "%.80s[%" PRId64 "]", fix->name[0], k + 1);
    fix->extensive[k] = md_value_is_extensive(sim, whole ? name : fix->name[one ? 0 : k]);
  }
}

/* Tells what f_ID is. */
static void show(fix_ave_time *fix)
{
  md_values *v = &fix->base.values;
  v->extensive = fix->extensive;
  if (!fix->vectors && fix->n == 1) {
    v->scalar = fix->shown;
  } else if (!fix->vectors || fix->n == 1) {
    v->has_vector = true;
    v->nvector = size_of(fix);
    v->vector = fix->shown;
  } else {
    v->rows = fix->rows;
    v->columns = fix->n;
    v->array = fix->shown;
  }
}

static int count_values(const md_words *words)
{
  int n = 0;
  while (3 + n < words->n && md_is_value_name(words->word[3 + n])) ++n;
  return n;
}

static md_status parse(md_output_fix *base, md_sim *sim, const md_words *words)
{
  fix_ave_time *fix = (fix_ave_time *)base;
  const int n = words->n < 4 ? 0 : count_values(words);
  if (n == 0)
    return md_error(MD_USAGE,
                    "fix ave/time takes Nevery Nrepeat Nfreq and at least one value, such as c_thermo_temp");
  base->schedule = &fix->schedule;
  MD_TRY(md_schedule_read(&fix->schedule, "ave/time", words->word));
  MD_TRY(read_mode(fix, words));
  MD_TRY(md_value_names(sim, &(md_words){n, words->word + 3}, fix->vectors, &fix->n, &fix->name));
  MD_TRY(md_array_new_zero(&fix->off, fix->n, sizeof *fix->off, "a fix"));
  strcpy(fix->format, " %g");
  for (int at = 3 + n; at < words->n;) MD_TRY(read_keyword(fix, words, &at));
  fix->rows = fix->vectors ? md_value_length(sim, fix->name[0]) : 1;
  MD_TRY(set_title(fix));
  MD_TRY(allocate(fix));
  find_extensive(fix, sim);
  show(fix);
  return MD_OK;
}

/* ---- samples ---- */

/* Adds column k of a sample. A value that is not averaged takes the place of the one before. */
static void add(fix_ave_time *fix, int k, const md_vector *v)
{
  for (int64_t row = 0; row < fix->rows; ++row) {
    double *sum = &fix->sum[row * fix->n + k];
    *sum = (fix->off[k] ? 0.0 : *sum) + (v->at ? v->at[row * v->stride] : v->own[row]);
  }
}

static md_status sample(fix_ave_time *fix, md_sim *sim, int k)
{
  md_vector v = {.n = 1};
  if (!fix->vectors)
    MD_TRY(md_value_number(sim, fix->name[k], &v.own[0]));
  else
    MD_TRY(md_value_vector(sim, fix->name[k], &v));
  if (v.n == fix->rows && v.n > 0) {
    add(fix, k, &v);
    return MD_OK;
  }
  return md_error(
      MD_USAGE,
      "%.80s has %lld elements, but %lld are averaged: all vectors must have the same length, which stays",
      fix->name[k], (long long)v.n, (long long)fix->rows);
}

static void write_rows(fix_ave_time *fix, int64_t step)
{
  md_text *text = &fix->base.text;
  if (fix->vectors) md_text_print(text, "%lld %lld\n", (long long)step, (long long)fix->rows);
  for (int64_t row = 0; row < fix->rows; ++row) {
    md_text_int(text, fix->vectors ? row + 1 : step);
    for (int k = 0; k < fix->n; ++k) md_text_number(text, fix->format, fix->shown[row * fix->n + k]);
    md_text_string(text, "\n");
  }
}

static md_status look(md_output_fix *base, md_view *view)
{
  fix_ave_time *fix = (fix_ave_time *)base;
  const int64_t repeat = fix->schedule.repeat;
  if (fix->schedule.done == 0)
    for (int64_t k = 0; k < size_of(fix); ++k) fix->sum[k] = 0.0;
  for (int k = 0; k < fix->n; ++k) MD_TRY(sample(fix, view->sim, k));
  if (!md_schedule_count(&fix->schedule, view->step)) return MD_OK;
  for (int64_t k = 0; k < size_of(fix); ++k)
    if (!fix->off[k % fix->n]) fix->sum[k] /= (double)repeat;
  md_running_add(&fix->running, fix->sum);
  for (int64_t k = 0; k < size_of(fix); ++k)
    fix->shown[k] = fix->off[k % fix->n] ? fix->sum[k] : fix->running.total[k] / (double)fix->running.norm;
  if (base->path) write_rows(fix, view->step);
  return md_text_status(&base->text);
}

static md_status walk(md_output_fix *base, md_fix_state *state)
{
  fix_ave_time *fix = (fix_ave_time *)base;
  md_schedule_walk(&fix->schedule, state);
  md_running_walk(&fix->running, state);
  (void)md_fix_state_reals(state, size_of(fix), fix->sum);
  (void)md_fix_state_reals(state, size_of(fix), fix->shown);
  return MD_OK;
}

static void free_averages(md_output_fix *base)
{
  fix_ave_time *fix = (fix_ave_time *)base;
  md_value_names_free(fix->n, fix->name);
  free(fix->off);
  free(fix->extensive);
  free(fix->sum);
  free(fix->shown);
  md_running_free(&fix->running);
}

const md_output_fix_style md_fix_ave_time_style = {
    .name = "ave/time",
    .usage = "ave/time NEVERY NREPEAT NFREQ VALUE ... [KEYWORDS]",
    .help =
        "averages of NREPEAT samples, NEVERY steps apart, the last one at each multiple of NFREQ; VALUE is\n"
        "c_ID, c_ID[I], f_ID, f_ID[I], v_NAME, or with mode vector a vector. Keywords: mode scalar|vector,\n"
        "ave one|running|window M (over averages; default one), file NAME, overwrite (the file keeps the\n"
        "last one), start STEP, off K (value K is not averaged), format \" %g\", title1, title2, title3 TEXT",
    .size = sizeof(fix_ave_time),
    .keeps_step = true,
    .parse = parse,
    .look = look,
    .walk = walk,
    .free = free_averages,
};
