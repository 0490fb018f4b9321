/* The command dump_modify: a table of keywords, each of which changes one setting of a dump; see dump.h. */
#include "common/base/name_list.h"
#include "src/dump/dump.h"
#include "src/dump/elements.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAD_MAX = 20 };

/* Changes one setting. arg: the words after the keyword; left: their number; *used: how many of them the setter
 * took, 1 unless the setter changes it. */
typedef md_status (*setter)(md_sim *sim, md_dump *dump, char **arg, int left, int *used);

static md_status set_every(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  (void)sim, (void)left, (void)used;
  return md_output_steps_read(arg[0], "dump_modify every", 1, &dump->frames);
}

static md_status set_first(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  (void)sim, (void)left, (void)used;
  return md_word_bool(arg[0], "dump_modify first", &dump->show_first);
}

static md_status set_pad(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  (void)sim, (void)left, (void)used;
  int64_t pad;
  MD_TRY(md_word_int64(arg[0], "dump_modify pad", 0, PAD_MAX, &pad));
  dump->pad = (int)pad;
  return MD_OK;
}

static md_status set_append(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  (void)sim, (void)left, (void)used;
  if (dump->output)
    return md_error(MD_USAGE, "dump_modify append: the file is open already; use it before the first run");
  return md_word_bool(arg[0], "dump_modify append", &dump->append);
}

static md_status set_sort(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  (void)sim, (void)left, (void)used;
  const bool id = strcmp(arg[0], "id") == 0;
  if (!id && strcmp(arg[0], "off") != 0)
    return md_error(MD_USAGE, "dump_modify sort: '%.80s' is none of id, off", arg[0]);
  if (!id && dump->style == &md_dump_frames)
    return md_error(MD_USAGE, "dump_modify sort off: frames has no id column, so it is always sorted");
  dump->sorted = id;
  return MD_OK;
}

/* Files are complete after every frame, whatever flush and buffer say, and particles are shown in the box, as with
 * pbc yes. */
static md_status accept(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  (void)dump, (void)left, (void)used;
  bool yes;
  MD_TRY(md_word_bool(arg[0], "dump_modify flush, buffer or pbc", &yes));
  md_sim_explain(sim, "dump_modify flush, buffer, pbc",
                 "files are complete after each frame, and particles are shown in the box");
  return MD_OK;
}

static md_status set_time(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  (void)sim, (void)left, (void)used;
  return md_word_bool(arg[0], "dump_modify time", &dump->show_time);
}

static md_status set_units(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  (void)sim, (void)left, (void)used;
  return md_word_bool(arg[0], "dump_modify units", &dump->show_units);
}

static md_status set_scale(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  (void)left, (void)used;
  bool scaled;
  MD_TRY(md_word_bool(arg[0], "dump_modify scale", &scaled));
  if (scaled) return md_dump_set_columns(dump, sim, 5, (const char *const[]){"id", "type", "xs", "ys", "zs"});
  return md_dump_set_columns(dump, sim, 5, (const char *const[]){"id", "type", "x", "y", "z"});
}

static md_status set_furniture(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  (void)sim, (void)left, (void)used;
  return md_word_bool(arg[0], "dump_modify furniture", &dump->furniture);
}

static md_status set_precision(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  (void)sim, (void)left, (void)used;
  int64_t digits;
  MD_TRY(md_word_int64(arg[0], "dump_modify precision", 1, MD_DIGITS_MAX, &digits));
  dump->precision = (int)digits;
  return MD_OK;
}

static md_status set_element(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  (void)sim;
  if (left < dump->ntypes)
    return md_error(MD_USAGE,
                    "dump_modify element needs a chemical symbol for each of the %d types, found %d",
                    dump->ntypes, left);
  for (int t = 1; t <= dump->ntypes; ++t)
    if (!md_element_known(arg[t - 1]))
      return md_error(MD_USAGE, "dump_modify element: '%.80s' is no chemical symbol (H, He, ... Og, or X)",
                      arg[t - 1]);
  for (int t = 1; t <= dump->ntypes; ++t)
    snprintf(dump->element[t], sizeof dump->element[t], "%s", arg[t - 1]);
  *used = dump->ntypes;
  return MD_OK;
}

static void clear_formats(md_dump *dump)
{
  dump->format_int[0] = dump->format_float[0] = '\0';
  for (int c = 0; c < dump->ncolumn; ++c) dump->column[c].format[0] = '\0';
}

/* `format line "..."`: one format for each column. */
static md_status set_format_line(md_dump *dump, const char *line)
{
  md_format_kind *kind = NULL;
  char(*format)[MD_FORMAT_SIZE] = NULL;
  md_status status = md_array_new(&kind, dump->ncolumn, sizeof *kind, "dump formats");
  if (status == MD_OK) status = md_array_new(&format, dump->ncolumn, sizeof *format, "dump formats");
  for (int c = 0; status == MD_OK && c < dump->ncolumn; ++c) kind[c] = md_dump_column_kind(&dump->column[c]);
  if (status == MD_OK) status = md_number_format_line(line, dump->ncolumn, kind, format);
  for (int c = 0; status == MD_OK && c < dump->ncolumn; ++c)
    memcpy(dump->column[c].format, format[c], MD_FORMAT_SIZE);
  free(kind);
  free(format);
  return status;
}

static md_status set_format(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  (void)sim;
  if (strcmp(arg[0], "none") == 0) {
    clear_formats(dump);
    return MD_OK;
  }
  if (left < 2) return md_error(MD_USAGE, "dump_modify format %.80s: the format is missing", arg[0]);
  *used = 2;
  if (strcmp(arg[0], "float") == 0)
    return md_number_format_check(arg[1], MD_FORMAT_FLOAT, dump->format_float);
  if (strcmp(arg[0], "int") == 0) return md_number_format_check(arg[1], MD_FORMAT_INT, dump->format_int);
  if (strcmp(arg[0], "line") == 0) return set_format_line(dump, arg[1]);
  int64_t number;
  MD_TRY(md_word_int64(arg[0], "dump_modify format (accepted are float, int, line, none or a column number)",
                       1, dump->ncolumn, &number));
  md_dump_column *column = &dump->column[number - 1];
  return md_number_format_check(arg[1], md_dump_column_kind(column), column->format);
}

static bool any_style(const md_dump_style *style)
{
  (void)style;
  return true;
}
static bool text_style(const md_dump_style *style) { return !style->draw; }
static bool growing_style(const md_dump_style *style) { return !style->draw || style == &md_dump_h5md; }
static bool lammps_style(const md_dump_style *style)
{
  return style == &md_dump_custom || style == &md_dump_atom;
}
static bool time_style(const md_dump_style *style) { return lammps_style(style) || style == &md_dump_xyz; }
static bool movie_style(const md_dump_style *style) { return style == &md_dump_movie; }
static bool image_style(const md_dump_style *style) { return style == &md_dump_image || movie_style(style); }
static bool picture_style(const md_dump_style *style)
{
  return style == &md_dump_density || image_style(style);
}
static bool selecting_style(const md_dump_style *style)
{
  return time_style(style) || style == &md_dump_extxyz || image_style(style);
}
static bool atom_style(const md_dump_style *style) { return style == &md_dump_atom; }
static bool element_style(const md_dump_style *style)
{
  return style == &md_dump_custom || style == &md_dump_xyz || style == &md_dump_extxyz || image_style(style);
}

static const struct {
  const char *name;
  setter set;
  bool (*of)(const md_dump_style *);
} keywords[] = {
    {"every", set_every, any_style},
    {"first", set_first, any_style},
    {"pad", set_pad, any_style},
    {"flush", accept, any_style},
    {"buffer", accept, any_style},
    {"pbc", accept, any_style},
    {"append", set_append, growing_style},
    {"sort", set_sort, text_style},
    {"format", set_format, text_style},
    {"precision", set_precision, text_style},
    {"thresh", md_dump_set_threshold, selecting_style},
    {"region", md_dump_set_region, selecting_style},
    {"element", set_element, element_style},
    {"time", set_time, time_style},
    {"units", set_units, lammps_style},
    {"scale", set_scale, atom_style},
    {"furniture", set_furniture, picture_style},
    {"acolor", md_image_set_type_colour, image_style},
    {"adiam", md_image_set_type_diameter, image_style},
    {"amap", md_image_set_scale, image_style},
    {"backcolor", md_image_set_background, image_style},
    {"boxcolor", md_image_set_box_colour, image_style},
    {"color", md_image_name_colour, image_style},
    {"framerate", md_image_set_frame_rate, movie_style},
    {"bitrate", md_image_set_bit_rate, movie_style},
};

enum { KEYWORDS = sizeof keywords / sizeof keywords[0] };

static md_status unknown(const md_dump *dump, const char *word)
{
  char accepted[256] = "";
  for (int k = 0; k < KEYWORDS; ++k)
    if (keywords[k].of(dump->style)) md_name_list_add(accepted, sizeof accepted, " ", keywords[k].name);
  return md_error(MD_USAGE, "dump_modify: '%.80s' is no keyword of dump style %s; accepted are %s", word,
                  dump->style->name, accepted);
}

md_status md_dump_change(md_sim *sim, md_dump *dump, const md_words *words)
{
  for (int at = 0; at < words->n;) {
    const char *word = words->word[at++];
    int k = 0;
    while (k < KEYWORDS && (strcmp(keywords[k].name, word) != 0 || !keywords[k].of(dump->style))) ++k;
    if (k == KEYWORDS) return unknown(dump, word);
    if (at == words->n) return md_error(MD_USAGE, "dump_modify %s: its value is missing", word);
    int used = 1;
    MD_TRY(keywords[k].set(sim, dump, words->word + at, words->n - at, &used));
    at += used;
  }
  return MD_OK;
}

md_status md_do_dump_modify(md_sim *sim, const md_words *words)
{
  md_dump *dump;
  MD_TRY(md_dump_find(sim, words->word[0], &dump));
  return md_dump_change(sim, dump, &(md_words){words->n - 1, words->word + 1});
}
