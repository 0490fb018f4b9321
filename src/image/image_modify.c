/* Keywords of dump_modify for dump styles image and movie; see image.h. Their meaning is that of LAMMPS's manual. */
#include "src/dump/dump.h"
#include "src/image/image.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MAX = 1024, NAME_MAX_COLOURS = 32 };

md_status md_image_find_colour(const md_image *image, const char *name, const char *what, md_colour *colour)
{
  for (int k = image->ncolour - 1; k >= 0; --k)
    if (strcmp(image->named[k].name, name) == 0) {
      *colour = image->named[k].colour;
      return MD_OK;
    }
  if (md_colour_named(name, colour)) return MD_OK;
  return md_error(
      MD_USAGE,
      "%s: '%.80s' is no colour; accepted are the names of CSS, such as red, gold or steelblue, and "
      "those of dump_modify color",
      what, name);
}

static md_status need(const char *keyword, int needed, int left)
{
  return left < needed ? md_error(MD_USAGE, "dump_modify %s needs %d values, found %d", keyword, needed, left)
                       : MD_OK;
}

/* ---- colours and diameters of types ---- */

/* The colours of a list such as red/green/blue, in turn for the types from first to last. */
static md_status set_colours(md_image *im, const char *list, int first, int last)
{
  md_colour colour[NAME_MAX_COLOURS];
  int n = 0;
  for (const char *at = list;; ++at) {
    char name[64];
    const size_t letters = strcspn(at, "/");
    if (n == NAME_MAX_COLOURS)
      return md_error(MD_USAGE, "dump_modify acolor: a list has at most %d colours", NAME_MAX_COLOURS);
    snprintf(name, sizeof name, "%.*s", (int)letters, at);
    MD_TRY(md_image_find_colour(im, name, "dump_modify acolor", &colour[n++]));
    at += letters;
    if (*at == '\0') break;
  }
  for (int t = first; t <= last; ++t) im->type_colour[t] = colour[(t - first) % n];
  return MD_OK;
}

md_status md_image_set_type_colour(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  int first, last;
  (void)sim;
  MD_TRY(need("acolor", *used = 2, left));
  MD_TRY(md_word_types(arg[0], dump->image->ntypes, &first, &last));
  return set_colours(dump->image, arg[1], first, last);
}

md_status md_image_set_type_diameter(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  int first, last;
  double diameter;
  (void)sim;
  MD_TRY(need("adiam", *used = 2, left));
  MD_TRY(md_word_types(arg[0], dump->image->ntypes, &first, &last));
  MD_TRY(md_word_positive(arg[1], "the diameter of dump_modify adiam", &diameter));
  for (int t = first; t <= last; ++t) dump->image->type_diameter[t] = diameter;
  return MD_OK;
}

/* ---- single colours and names ---- */

md_status md_image_set_background(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  (void)sim, (void)left, (void)used;
  return md_image_find_colour(dump->image, arg[0], "dump_modify backcolor", &dump->image->background);
}

md_status md_image_set_box_colour(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  (void)sim, (void)left, (void)used;
  return md_image_find_colour(dump->image, arg[0], "dump_modify boxcolor", &dump->image->box_colour);
}

md_status md_image_name_colour(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  md_image *im = dump->image;
  md_image_colour made = {0};
  (void)sim;
  MD_TRY(need("color", *used = 4, left));
  if ((size_t)snprintf(made.name, sizeof made.name, "%s", arg[0]) >= sizeof made.name || strchr(arg[0], '/'))
    return md_error(MD_USAGE, "dump_modify color: the name '%.80s' is too long, or has a /", arg[0]);
  for (int k = 0; k < 3; ++k) {
    double part;
    MD_TRY(md_word_double(arg[1 + k], "a part of dump_modify color", &part));
    if (!(part >= 0.0 && part <= 1.0))
      return md_error(MD_USAGE, "dump_modify color: '%.80s' is not from 0 to 1", arg[1 + k]);
    made.colour.rgb[k] = (unsigned char)(255.0 * part + 0.5);
  }
  md_image_colour *larger = realloc(im->named, (size_t)(im->ncolour + 1) * sizeof *larger);
  if (!larger) return md_error(MD_RUNTIME, "dump_modify color: out of memory");
  im->named = larger;
  larger[im->ncolour++] = made;
  return MD_OK;
}

/* ---- colour scales ---- */

/* A number, or the word for an end of the range, which becomes an infinity. */
static md_status read_place(const char *word, double *place, bool *is_end)
{
  const bool low = strcmp(word, "min") == 0;
  *is_end = low || strcmp(word, "max") == 0;
  *place = low ? -(double)INFINITY : (double)INFINITY;
  return *is_end
             ? MD_OK
             : md_word_double(word, "a value of dump_modify amap (accepted are numbers, min and max)", place);
}

static md_status read_range(char **arg, md_colour_scale *s)
{
  MD_TRY(read_place(arg[0], &s->lo, &s->from_min));
  MD_TRY(read_place(arg[1], &s->hi, &s->to_max));
  if ((s->from_min && s->lo > 0.0) || (s->to_max && s->hi < 0.0) ||
      (!s->from_min && !s->to_max && !(s->lo < s->hi)))
    return md_error(MD_USAGE, "dump_modify amap: the range from %.80s to %.80s is empty", arg[0], arg[1]);
  return MD_OK;
}

static md_status read_style(const char *word, md_colour_scale *s)
{
  static const char styles[] = "cds";
  const char *at = strlen(word) == 2 ? strchr(styles, word[0]) : NULL;
  if (!at || (word[1] != 'a' && word[1] != 'f'))
    return md_error(MD_USAGE, "dump_modify amap: the style '%.80s' is none of ca, cf, da, df, sa, sf", word);
  s->style = (md_scale_style)(at - styles);
  s->fraction = word[1] == 'f';
  return MD_OK;
}

/* What the entries say together: from end to end, and of a continuous scale in order. */
static md_status check_entries(const md_colour_scale *s)
{
  const md_scale_entry *last = &s->entry[s->n - 1];
  if (s->style == MD_SCALE_SEQUENTIAL) return MD_OK;
  if (s->style == MD_SCALE_DISCRETE)
    return last->lo < 0.0 && isinf(last->lo) && last->hi > 0.0 && isinf(last->hi)
               ? MD_OK
               : md_error(MD_USAGE,
                          "dump_modify amap: the last entry of a discrete scale must be from min to max");
  if (s->n < 2 || !isinf(s->entry[0].lo) || s->entry[0].lo > 0.0 || !isinf(last->lo) || last->lo < 0.0)
    return md_error(MD_USAGE,
                    "dump_modify amap: the first entry of a continuous scale must be min, the last one max");
  for (int k = 1; k < s->n; ++k)
    if (!(s->entry[k - 1].lo < s->entry[k].lo))
      return md_error(MD_USAGE, "dump_modify amap: the values of a continuous scale must increase");
  return MD_OK;
}

static md_status read_entry(const md_image *im, char **word, const md_colour_scale *s, md_scale_entry *entry)
{
  static const int colour_at[] = {
      [MD_SCALE_CONTINUOUS] = 1, [MD_SCALE_DISCRETE] = 2, [MD_SCALE_SEQUENTIAL] = 0};
  bool end;
  entry->lo = entry->hi = 0.0;
  if (s->style != MD_SCALE_SEQUENTIAL) MD_TRY(read_place(word[0], &entry->lo, &end));
  if (s->style == MD_SCALE_DISCRETE) MD_TRY(read_place(word[1], &entry->hi, &end));
  return md_image_find_colour(im, word[colour_at[s->style]], "dump_modify amap", &entry->colour);
}

static md_status read_entries(const md_image *im, char **word, md_colour_scale *s)
{
  static const int words[] = {[MD_SCALE_CONTINUOUS] = 2, [MD_SCALE_DISCRETE] = 3, [MD_SCALE_SEQUENTIAL] = 1};
  for (int k = 0; k < s->n; ++k) MD_TRY(read_entry(im, word + k * words[s->style], s, &s->entry[k]));
  return check_entries(s);
}

md_status md_image_set_scale(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  static const int words[] = {[MD_SCALE_CONTINUOUS] = 2, [MD_SCALE_DISCRETE] = 3, [MD_SCALE_SEQUENTIAL] = 1};
  md_colour_scale s = {0};
  int64_t n;
  (void)sim;
  MD_TRY(need("amap", 5, left));
  MD_TRY(read_range(arg, &s));
  MD_TRY(read_style(arg[2], &s));
  MD_TRY(md_word_double(arg[3], "the width of a bin of dump_modify amap", &s.bin));
  if (s.style == MD_SCALE_SEQUENTIAL && !(s.bin > 0.0))
    return md_error(MD_USAGE, "dump_modify amap: the width of a bin must be positive");
  MD_TRY(md_word_int64(arg[4], "the number of entries of dump_modify amap", 1, ENTRIES_MAX, &n));
  s.n = (int)n;
  *used = 5 + s.n * words[s.style];
  MD_TRY(need("amap", *used, left));
  MD_TRY(md_array_new(&s.entry, s.n, sizeof *s.entry, "a colour scale"));
  const md_status status = read_entries(dump->image, arg + 5, &s);
  if (status != MD_OK) {
    free(s.entry);
    return status;
  }
  free(dump->image->scale.entry);
  dump->image->scale = s;
  return MD_OK;
}

/* ---- movies ---- */

md_status md_image_set_frame_rate(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  (void)sim, (void)left, (void)used;
  return md_word_positive(arg[0], "dump_modify framerate", &dump->image->frame_rate);
}

md_status md_image_set_bit_rate(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  (void)sim, (void)left, (void)used;
  return md_word_int64(arg[0], "dump_modify bitrate", 1, 1000000, &dump->image->bit_rate);
}
