/* The thermo table in the log, and the commands thermo, thermo_style and thermo_modify; see thermo.h.
 *
 * Columns and layout are those of LAMMPS, so that log readers for LAMMPS work. A line of titles comes first. In
 * the rows, whole numbers have the format %8d and real numbers %12.8g, each followed by a blank. A column is a
 * keyword (thermo_keywords.c), a variable, v_NAME, a compute, c_ID or c_ID[K], or a fix, f_ID or
 * f_ID[K].
 *
 * With `thermo_modify line multi`, the default of style multi, there is no line of titles. A row is a line with step
 * and time, then lines of at most three columns, `TITLE = VALUE` each, with the formats %14.4f and %14d.
 */
#include "src/thermo/thermo.h"
#include "src/averages/values.h"
#include "src/computes/computes.h"
#include "src/computes/host_compute.h"
#include "src/deck/text.h"
#include "src/files/number_format.h"
#include "src/fixes/fixes.h"
#include "src/sim.h"
#include "src/thermo/thermo_keywords.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const style_one[] = {"step", "temp", "epair", "emol", "etotal", "press"};
static const char *const style_multi[] = {"etotal", "ke",   "temp",  "pe",    "ebond", "eangle",
                                          "edihed", "eimp", "evdwl", "ecoul", "elong", "press"};

enum { ONE = sizeof style_one / sizeof style_one[0], MULTI = sizeof style_multi / sizeof style_multi[0] };
enum { LINE_COLUMNS = 3 }; /* columns in a line of a row of several lines */

static bool is_variable(const char *column) { return strncmp(column, "v_", 2) == 0; }

static md_format_kind kind_of(const char *column)
{
  const md_thermo_keyword *keyword = md_thermo_keyword_find(column);
  return keyword && keyword->whole ? MD_FORMAT_INT : MD_FORMAT_FLOAT;
}

bool md_thermo_is_normed(const md_sim *sim)
{
  const md_norm norm = sim->thermo.norm;
  return norm == MD_NORM_YES || (norm == MD_NORM_OF_UNITS && sim->model.units == &md_units_lj);
}

/* A new style resets formats and normalisation, as in LAMMPS. */
static void reset_formats(md_thermo *thermo)
{
  thermo->format_float[0] = thermo->format_int[0] = '\0';
  memset(thermo->format_column, 0, sizeof thermo->format_column);
  thermo->norm = MD_NORM_OF_UNITS;
}

/* Takes the standard temperature and pressure. */
static void reset_computes(md_thermo *thermo)
{
  memcpy(thermo->temp, "thermo_temp", sizeof "thermo_temp");
  memcpy(thermo->press, "thermo_press", sizeof "thermo_press");
}

static void set_columns(md_thermo *thermo, int n, const char *const *name)
{
  for (int c = 0; c < n; ++c) snprintf(thermo->column[c], sizeof thermo->column[c], "%s", name[c]);
  thermo->ncolumn = n;
  thermo->multi = name == style_multi;
  thermo->standard = name == style_one || thermo->multi ? n : 0;
  reset_formats(thermo);
  reset_computes(thermo);
}

/* Styles one and multi have a column more if the box follows the particles or a fix changes it, as in LAMMPS. */
static void show_volume(md_thermo *thermo, bool shown)
{
  const int n = thermo->standard;
  snprintf(thermo->column[n], sizeof thermo->column[n], "vol");
  thermo->ncolumn = n + shown;
}

void md_thermo_init(md_thermo *thermo)
{
  *thermo = (md_thermo){0};
  set_columns(thermo, ONE, style_one);
}

/* Is the name short enough for a column? */
static md_status check_length(const char *name)
{
  if (strlen(name) < sizeof((md_thermo *)0)->column[0]) return MD_OK;
  return md_error(MD_USAGE, "thermo_style: the name of the column '%.80s' is too long", name);
}

static md_status check_column(md_sim *sim, const char *name)
{
  if (is_variable(name)) {
    if (strlen(name) > 2 && strlen(name) < sizeof((md_thermo *)0)->column[0]) return MD_OK;
    return md_error(
        MD_USAGE,
        "thermo_style: '%.80s' is no column: v_ is followed by a variable's name of 1 to 61 characters",
        name);
  }
  if (md_thermo_keyword_find(name)) return MD_OK;
  if (md_is_fix_value(name)) {
    int fix, component;
    MD_TRY(md_fix_named(sim, name, &fix, &component));
    return check_length(name);
  }
  if (md_is_compute(name)) {
    const md_compute *compute;
    int k;
    MD_TRY(check_length(name));
    const md_host_compute *host = md_host_compute_find(sim, name + 2, strcspn(name + 2, "["));
    if (host) return md_values_check(&host->values, name, false);
    MD_TRY(md_compute_named(sim, name, &compute, &k));
    if (md_compute_style_of(compute->kind)->nvalue > 0) return MD_OK;
    return md_error(MD_USAGE, "thermo_style: '%.80s' has a value for each particle: it is a column of dumps",
                    name);
  }
  return md_error(MD_USAGE, "thermo_style: unknown keyword '%.80s'; accepted are %s", name,
                  md_thermo_keyword_list());
}

static const char *title_of(const char *column)
{
  const md_thermo_keyword *keyword = md_thermo_keyword_find(column);
  return keyword ? keyword->title : column;
}

md_status md_thermo_header(md_sim *sim)
{
  md_thermo *thermo = &sim->thermo;
  thermo->row_step = sim->model.step;
  thermo->row_seconds = 0.0;
  if (thermo->standard)
    show_volume(thermo, md_box_follows(&sim->model.box) || md_box_is_changed(&sim->model.box));
  for (int c = 0; c < thermo->ncolumn; ++c) MD_TRY(check_column(sim, thermo->column[c]));
  if (thermo->multi) return MD_OK;
  md_text line = {0};
  for (int c = 0; c < thermo->ncolumn; ++c) {
    md_text_string(&line, title_of(thermo->column[c]));
    md_text_string(&line, " ");
  }
  const md_status status = md_text_status(&line);
  if (status == MD_OK) md_log_print(sim->log, "%.*s\n", (int)line.n, line.bytes);
  md_text_free(&line);
  return status;
}

static const char *format_of(const md_thermo *thermo, int c, md_format_kind kind)
{
  if (thermo->format_column[c][0]) return thermo->format_column[c];
  if (kind == MD_FORMAT_INT && thermo->format_int[0]) return thermo->format_int;
  if (kind == MD_FORMAT_INT) return thermo->multi ? "%14lld" : "%8lld";
  if (thermo->format_float[0]) return thermo->format_float;
  return thermo->multi ? "%14.4f" : "%12.8g";
}

/* The value of a compute or a fix. An extensive one is per particle if thermo_modify asks for it, as in LAMMPS. */
static md_status named_column(md_sim *sim, const char *name, double *value)
{
  MD_TRY(md_is_fix_value(name) ? md_fix_value(sim, name, value) : md_compute_value(sim, name, value));
  if (md_thermo_is_normed(sim) && sim->model.natoms > 0 && md_value_is_extensive(sim, name))
    *value /= (double)sim->model.natoms;
  return MD_OK;
}

static md_status put_column(md_sim *sim, int c, md_text *line)
{
  const char *name = sim->thermo.column[c];
  const md_thermo_keyword *keyword = md_thermo_keyword_find(name);
  const char *format = format_of(&sim->thermo, c, kind_of(name));
  if (keyword) {
    md_thermo_reading reading;
    MD_TRY(md_thermo_read(sim, keyword, &reading));
    if (keyword->whole)
      md_text_print(line, format, (long long)keyword->whole(&reading));
    else
      md_text_print(line, format, keyword->real(&reading));
  } else {
    double value;
    MD_TRY(is_variable(name) ? md_variables_formula(sim->variables, name, &value)
                             : named_column(sim, name, &value));
    md_text_print(line, format, value);
  }
  md_text_string(line, " ");
  return MD_OK;
}

md_status md_thermo_try(md_sim *sim)
{
  const md_thermo *thermo = &sim->thermo;
  double value;
  for (int c = 0; c < thermo->ncolumn; ++c) {
    MD_TRY(check_column(sim, thermo->column[c]));
    if (is_variable(thermo->column[c]))
      MD_TRY(md_variables_formula(sim->variables, thermo->column[c], &value));
  }
  return MD_OK;
}

static md_status put_row(md_sim *sim, md_text *line)
{
  const md_thermo *thermo = &sim->thermo;
  if (thermo->multi)
    md_text_print(line, "---------------- Step %8lld ----- CPU = %11.4f (sec) ----------------",
                  (long long)sim->view->step, sim->run_seconds);
  for (int c = 0; c < thermo->ncolumn; ++c) {
    if (thermo->multi)
      md_text_print(line, "%s%-8s = ", c % LINE_COLUMNS == 0 ? "\n" : "", title_of(thermo->column[c]));
    MD_TRY(put_column(sim, c, line));
  }
  return md_text_status(line);
}

md_status md_thermo_row(md_sim *sim, md_view *view)
{
  md_view *outer = sim->view;
  sim->view = view;
  /* Every row measures the state, whatever its columns, because formulas between runs use the last measured state. */
  md_status status = md_view_compute(view);
  md_text line = {0};
  if (status == MD_OK) status = put_row(sim, &line);
  if (status == MD_OK) status = md_output_steps_next(sim, "thermo", &sim->thermo.rows);
  sim->view = outer;
  if (status == MD_OK) {
    md_log_print(sim->log, "%.*s\n", (int)line.n, line.bytes);
    if (sim->thermo.flush) md_log_flush(sim->log);
    sim->thermo.row_step = view->step;
    sim->thermo.row_seconds = sim->run_seconds;
  }
  md_text_free(&line);
  return status;
}

md_status md_do_thermo(md_sim *sim, const md_words *words)
{
  return md_output_steps_read(words->word[0], "the number of steps between thermo rows", 0,
                              &sim->thermo.rows);
}

static md_status check_number(int n)
{
  if (n >= 1 && n <= MD_THERMO_COLUMNS) return MD_OK;
  return md_error(MD_USAGE, "thermo_style custom takes 1 to %d keywords, not %d; accepted are %s",
                  MD_THERMO_COLUMNS, n, md_thermo_keyword_list());
}

/* Adds the columns of a word: all of a range such as c_ID[*], or the one that it is. */
static md_status add_columns(md_sim *sim, char *word, int *n, char **column)
{
  char *one[] = {word}, **name = one;
  int names = 1;
  const bool range = md_is_value_name(word) && !is_variable(word) && strchr(word, '*');
  if (range) MD_TRY(md_value_names(sim, &(md_words){1, one}, false, &names, &name));
  md_status status = check_number(*n + names);
  for (int k = 0; k < names && status == MD_OK; ++k) {
    status = check_column(sim, name[k]);
    if (status == MD_OK) column[(*n)++] = strdup(name[k]);
    if (status == MD_OK && !column[*n - 1]) status = md_error(MD_RUNTIME, "out of memory for thermo columns");
  }
  if (range) md_value_names_free(names, name);
  return status;
}

static md_status set_custom(md_sim *sim, const md_words *words)
{
  char *column[MD_THERMO_COLUMNS];
  int n = 0;
  md_status status = check_number(words->n);
  for (int w = 0; w < words->n && status == MD_OK; ++w) status = add_columns(sim, words->word[w], &n, column);
  if (status == MD_OK) set_columns(&sim->thermo, n, (const char *const *)column);
  for (int c = 0; c < n; ++c) free(column[c]);
  return status;
}

md_status md_do_thermo_style(md_sim *sim, const md_words *words)
{
  const md_compute *thermo_temp = &sim->model.compute[MD_THERMO_TEMP];
  const char *style = words->word[0];
  const int n = words->n - 1;
  const bool one = strcmp(style, "one") == 0, multi = strcmp(style, "multi") == 0;
  if (one || multi) {
    if (n > 0)
      return md_error(MD_USAGE, "thermo_style %s takes no arguments, found '%.80s'", style, words->word[1]);
    set_columns(&sim->thermo, one ? ONE : MULTI, one ? style_one : style_multi);
    return md_compute_set_of(&sim->model.compute[MD_THERMO_PRESS], thermo_temp->id);
  }
  if (strcmp(style, "custom") != 0)
    return md_error(MD_USAGE, "thermo_style: unknown style '%.80s'; accepted are one, multi, custom", style);
  MD_TRY(set_custom(sim, &(md_words){n, words->word + 1}));
  return md_compute_set_of(&sim->model.compute[MD_THERMO_PRESS], thermo_temp->id);
}

/* `format line "..."`: one format for each column. */
static md_status set_format_line(md_thermo *thermo, const char *line)
{
  md_format_kind kind[MD_THERMO_COLUMNS];
  for (int c = 0; c < thermo->ncolumn; ++c) kind[c] = kind_of(thermo->column[c]);
  return md_number_format_line(line, thermo->ncolumn, kind, thermo->format_column);
}

static md_status set_format(md_thermo *thermo, const char *which, const char *format)
{
  if (strcmp(which, "float") == 0)
    return md_number_format_check(format, MD_FORMAT_FLOAT, thermo->format_float);
  if (strcmp(which, "int") == 0) return md_number_format_check(format, MD_FORMAT_INT, thermo->format_int);
  if (strcmp(which, "line") == 0) return set_format_line(thermo, format);
  int64_t column;
  MD_TRY(md_word_int64(which, "thermo_modify format (accepted are float, int, line, none or a column number)",
                       1, thermo->ncolumn, &column));
  return md_number_format_check(format, kind_of(thermo->column[column - 1]),
                                thermo->format_column[column - 1]);
}

static md_status set_norm(md_thermo *thermo, const char *word)
{
  bool norm;
  MD_TRY(md_word_bool(word, "thermo_modify norm", &norm));
  thermo->norm = norm ? MD_NORM_YES : MD_NORM_NO;
  return MD_OK;
}

static md_status set_lost(md_sim *sim, const char *word)
{
  if (strcmp(word, "error") == 0) return MD_OK;
  if (strcmp(word, "ignore") != 0 && strcmp(word, "warn") != 0)
    return md_error(MD_USAGE, "thermo_modify lost: '%.80s' is none of error, ignore, warn", word);
  md_sim_explain(sim, "thermo_modify lost",
                 "no particle can be lost unnoticed here; one that leaves is always an error");
  return MD_OK;
}

/* Messages of LAMMPS's kind are not counted here. */
static md_status set_warn(md_sim *sim, const char *word)
{
  static const char *const words[] = {"ignore", "reset", "default"};
  int64_t number;
  bool known = false;
  for (size_t k = 0; k < sizeof words / sizeof *words; ++k) known = known || strcmp(word, words[k]) == 0;
  if (!known)
    MD_TRY(md_word_int64(word, "thermo_modify warn (accepted are ignore, reset, default or a number)", 0,
                         INT64_MAX, &number));
  md_sim_explain(sim, "thermo_modify warn", "notes are given once each, and are never many");
  return MD_OK;
}

/* thermo_modify temp ID: the pressure that is shown takes this temperature too, as in LAMMPS. */
static md_status set_temp(md_sim *sim, const char *id)
{
  md_model *model = &sim->model;
  int index;
  MD_TRY(md_compute_temperature(model, "thermo_modify temp, also for the pressure", id, true, &index));
  memcpy(sim->thermo.temp, model->compute[index].id, sizeof sim->thermo.temp);
  const int press = md_compute_index(model, sim->thermo.press, strlen(sim->thermo.press));
  return press < 0 || !model->compute[press].of[0] ? MD_OK : md_compute_set_of(&model->compute[press], id);
}

static md_status set_press(md_sim *sim, const char *id)
{
  const md_model *model = &sim->model;
  const int index = md_compute_index(model, id, strlen(id));
  if (index < 0) return md_error(MD_USAGE, "thermo_modify press: there is no compute '%.64s'", id);
  if (model->compute[index].kind != model->compute[MD_THERMO_PRESS].kind)
    return md_error(MD_USAGE, "thermo_modify press: compute '%.64s' is not of style pressure", id);
  memcpy(sim->thermo.press, model->compute[index].id, sizeof sim->thermo.press);
  return MD_OK;
}

/* Executes one keyword at words->word[*at], and moves *at past the words that it takes. */
static md_status modify(md_sim *sim, const md_words *words, int *at)
{
  md_thermo *thermo = &sim->thermo;
  const char *keyword = words->word[*at];
  char **arg = words->word + *at + 1;
  const int left = words->n - *at - 1;
  const bool format = strcmp(keyword, "format") == 0;
  if (format && left >= 1 && strcmp(arg[0], "none") == 0) {
    const md_norm norm = thermo->norm;
    reset_formats(thermo);
    thermo->norm = norm;
    *at += 2;
    return MD_OK;
  }
  const int takes = format ? 2 : 1;
  if (left < takes)
    return md_error(MD_USAGE, "thermo_modify %.80s: %s is missing", keyword,
                    format ? "`float FORMAT`, `int FORMAT`, `line \"FORMATS\"`, `COLUMN FORMAT` or `none`"
                           : "its value");
  *at += 1 + takes;
  if (format) return set_format(thermo, arg[0], arg[1]);
  if (strcmp(keyword, "norm") == 0) return set_norm(thermo, arg[0]);
  if (strcmp(keyword, "flush") == 0) return md_word_bool(arg[0], "thermo_modify flush", &thermo->flush);
  if (strcmp(keyword, "lost") == 0 || strcmp(keyword, "lost/bond") == 0) return set_lost(sim, arg[0]);
  if (strcmp(keyword, "warn") == 0) return set_warn(sim, arg[0]);
  if (strcmp(keyword, "temp") == 0) return set_temp(sim, arg[0]);
  if (strcmp(keyword, "press") == 0) return set_press(sim, arg[0]);
  if (strcmp(keyword, "line") == 0) {
    thermo->multi = strcmp(arg[0], "multi") == 0;
    if (thermo->multi || strcmp(arg[0], "one") == 0) return MD_OK;
    return md_error(MD_USAGE, "thermo_modify line: '%.80s' is none of one, multi", arg[0]);
  }
  return md_error(
      MD_USAGE,
      "thermo_modify: unknown keyword '%.80s'; accepted are format, norm, flush, lost, lost/bond, "
      "warn, line, temp, press",
      keyword);
}

md_status md_do_thermo_modify(md_sim *sim, const md_words *words)
{
  const md_thermo before = sim->thermo;
  md_status status = MD_OK;
  for (int at = 0; at < words->n && status == MD_OK;) status = modify(sim, words, &at);
  if (status != MD_OK) sim->thermo = before;
  return status;
}
