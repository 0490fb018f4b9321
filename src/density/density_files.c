/* The files of dump style density: a picture, text, or HDF5; see density.h.
 *
 *   .png  the viridis colours, from 0 to the largest value, linearly or by log(1 + value/unit). Title, axes and colour
 *         bar stand around the picture (src/picture/furniture.h). y points up. The unit is one particle, or with a
 *         weight the smallest positive value of the map, but at least a millionth of the largest. If a value is
 *         negative, colours are linear. They go from -m to m, m being the largest size of a value, if the values of
 *         both signs have sizes of at least m/20. Else they go from the smallest to the largest value, or to 0 if all
 *         are negative, so that a few values of the other sign do not take half of the colours. A bin without a mean is
 *         grey with furniture, and has the colour of 0 without. With furniture a bin of a small map is a square of
 *         pixels, so that texts have room around the map.
 *   .txt  lines of # with step, bounds and units, then a line for each row of bins, the lowest first, at 17 digits.
 *         The mean of no particle is nan. numpy.loadtxt reads it.
 *   .h5   H5MD: the observables map and count, each step, time and value [1][row][column], and the text's facts as
 *         attributes of map.
 *
 * A file is written under another name, and renamed when it is complete (src/files/new_file.h).
 *
 * Trade-off: text is read by every program, but has three times the bytes of HDF5. Cost: about 100 ns a bin for text;
 * for a picture 4 bytes a bin, 7 with furniture.
 */
#include "common/base/open_file.h"
#include "src/dump/dump.h"
#include "src/dump/h5md.h"
#include "src/files/new_file.h"
#include "src/hdf5/hdf5_file.h"
#include "src/picture/colour/colour_map.h"
#include "src/picture/furniture.h"
#include "src/picture/picture.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What every kind of file needs. */
typedef struct writer {
  const md_dump *dump;
  const md_density *what;
  const md_density_map *map;
  const md_sim *sim;
  int64_t step, bins;
  double time;
} writer;

/* The number of particles, and of how many if some are not in the map. */
static void put_particles(const writer *w, char *text, size_t size)
{
  const int64_t all = w->sim->model.natoms;
  if (w->map->counted == all)
    snprintf(text, size, "%lld particles", (long long)all);
  else
    snprintf(text, size, "%lld of %lld particles", (long long)w->map->counted, (long long)all);
}

/* ---- pictures ---- */

/* The values of the darkest and the brightest colour, and the unit of the logarithm; unit 0: linear. */
typedef struct colours {
  double least, most, unit;
} colours;

static colours choose_colours(const writer *w)
{
  /* A sign counts from this part of the largest size of a value on. */
  static const double other_sign = 0.05;
  double least = 0.0, most = 0.0, positive = (double)INFINITY;
  for (int64_t b = 0; b < w->bins; ++b) {
    const double value = w->map->value[b];
    if (value < least) least = value;
    if (value > most) most = value;
    if (value > 0.0 && value < positive) positive = value;
  }
  if (least < 0.0) {
    const double size = fmax(-least, most);
    return fmin(-least, most) < other_sign * size ? (colours){least, most, 0.0} : (colours){-size, size, 0.0};
  }
  if (!w->what->logarithmic) return (colours){0.0, most, 0.0};
  if (w->what->weight == MD_WEIGHT_ONE || !(most > 0.0)) return (colours){0.0, most, 1.0};
  return (colours){0.0, most, fmax(positive, 1e-6 * most)};
}

/* Turns values into levels 0..255. The first row of the picture is the highest. */
static void shade(const writer *w, const colours *c, unsigned char *level)
{
  const int width = w->map->grid.n[0], height = w->map->grid.n[1];
  const double range = c->unit > 0.0 ? log1p(c->most / c->unit) : c->most - c->least;
  const double scale = range > 0.0 ? (MD_COLOURS - 1) / range : 0.0;
#pragma omp parallel for schedule(static)
  for (int row = 0; row < height; ++row) {
    const double *from = w->map->value + (int64_t)(height - 1 - row) * width;
    unsigned char *to = level + (int64_t)row * width;
    for (int k = 0; k < width; ++k) {
      const double value = isnan(from[k]) ? 0.0 : from[k];
      to[k] = (unsigned char)((c->unit > 0.0 ? log1p(value / c->unit) : value - c->least) * scale + 0.5);
    }
  }
}

/* The side of a bin in pixels: so that the longer side of a small map comes near MAP_SIDE pixels. */
enum { MAP_SIDE = 540 };
static int side_of_bin(const md_density_map *m)
{
  const int longer = m->grid.n[0] > m->grid.n[1] ? m->grid.n[0] : m->grid.n[1];
  return longer < MAP_SIDE ? MAP_SIDE / longer : 1;
}

/* Draws the levels in colours. A bin without a mean is grey: it is not a bin of the mean 0. */
static md_status paint(const writer *w, const unsigned char colour[MD_COLOURS][3], const unsigned char *level,
                       md_canvas *map)
{
  static const unsigned char none[3] = {221, 221, 221};
  const int columns = w->map->grid.n[0], rows = w->map->grid.n[1], side = side_of_bin(w->map);
  map->width = columns * side;
  map->height = rows * side;
  MD_TRY(md_array_new(&map->rgb, (int64_t)map->width * map->height, 3, "the density picture"));
#pragma omp parallel for schedule(static)
  for (int row = 0; row < map->height; ++row)
    for (int k = 0; k < map->width; ++k) {
      const int64_t bin = (int64_t)(rows - 1 - row / side) * columns + k / side;
      const unsigned char at = level[(int64_t)(row / side) * columns + k / side];
      memcpy(map->rgb + 3 * ((int64_t)row * map->width + k), isnan(w->map->value[bin]) ? none : colour[at],
             3);
    }
  return MD_OK;
}

/* Draws the levels in colours, with title, axes and colour bar around them. */
static md_status furnish(const writer *w, const colours *c, const unsigned char *level, md_canvas *canvas)
{
  const md_density_map *m = w->map;
  const md_units *units = w->sim->model.units;
  const char *length = md_furniture_unit(units->length, "\u03c3");
  unsigned char colour[MD_COLOURS][3];
  char particles[64], title[160], quantity[160], axis[2][32];
  md_canvas map = {0};
  md_colour_map_viridis(colour);
  MD_TRY(paint(w, colour, level, &map));
  put_particles(w, particles, sizeof particles);
  snprintf(title, sizeof title, "%s, step %lld, time %.6g %s", particles, (long long)w->step, w->time,
           md_furniture_unit(units->time, "\u03c4"));
  if (w->what->mean)
    snprintf(quantity, sizeof quantity, "mean %s", w->what->quantity);
  else
    snprintf(quantity, sizeof quantity, "%s per %s\u00b2", w->what->quantity, length);
  md_furniture f = {.title = title,
                    .quantity = quantity,
                    .least = c->least * m->factor,
                    .most = c->most * m->factor,
                    .log_unit = c->unit * m->factor};
  for (int k = 0; k < 2; ++k) {
    snprintf(axis[k], sizeof axis[k], "%c / %s", "xyz"[m->grid.axis[k]], length);
    f.axis[k] = (md_axis){axis[k], m->lo[k], m->hi[k]};
  }
  const md_status status = md_furniture_draw(&f, &map, colour, canvas);
  free(map.rgb);
  return status;
}

static const char *length_name(const writer *w)
{
  const char *name = w->sim->model.units->length;
  return name[0] ? name : "sigma";
}

static const char *time_name(const writer *w)
{
  const char *name = w->sim->model.units->time;
  return name[0] ? name : "tau";
}

/* The text in the file. Numbers of particles are those of a bin, so that levels can be turned back into them. */
static void describe(const writer *w, const colours *c, char *text, size_t size)
{
  const md_histogram *g = &w->map->grid;
  const double width = 1.0 / g->per_length[0], height = 1.0 / g->per_length[1];
  char particles[64], scale[64] = "linear";
  put_particles(w, particles, sizeof particles);
  if (g->weight == MD_WEIGHT_ONE) {
    if (c->unit > 0.0) snprintf(scale, sizeof scale, "by log(1 + count)");
    snprintf(text, size,
             "particle density at step %lld: %s; colours from 0 to %lld particles per bin, %s; a bin is "
             "%g x %g %s",
             (long long)w->step, particles, (long long)c->most, scale, width, height, length_name(w));
    return;
  }
  char per_area[32] = "";
  if (!w->what->mean) snprintf(per_area, sizeof per_area, " per %s^2", length_name(w));
  if (c->unit > 0.0) snprintf(scale, sizeof scale, "by log(1 + value/%.9g)", c->unit * w->map->factor);
  snprintf(text, size, "%s%s%s at step %lld: %s; colours from %.9g to %.9g, %s; a bin is %g x %g %s",
           w->what->mean ? "mean " : "", w->what->quantity, per_area, (long long)w->step, particles,
           c->least * w->map->factor, c->most * w->map->factor, scale, width, height, length_name(w));
}

static md_status write_picture(const writer *w, const char *path)
{
  const colours c = choose_colours(w);
  unsigned char *level;
  char text[400];
  MD_TRY(md_array_new(&level, w->bins, 1, "the density picture"));
  shade(w, &c, level);
  describe(w, &c, text, sizeof text);
  md_picture picture = {w->map->grid.n[0], w->map->grid.n[1], level, false, false, text};
  md_canvas canvas = {0};
  md_status status = MD_OK;
  if (w->dump->furniture) {
    status = furnish(w, &c, level, &canvas);
    picture = (md_picture){canvas.width, canvas.height, canvas.rgb, true, false, text};
  }
  if (status == MD_OK) status = md_picture_write(path, &picture);
  free(canvas.rgb);
  free(level);
  return status;
}

/* ---- text ---- */

static void put_head(const writer *w, md_text *text)
{
  static const char *const side[2] = {"columns", "rows"};
  const md_density_map *m = w->map;
  char particles[64];
  put_particles(w, particles, sizeof particles);
  if (w->what->mean)
    md_text_print(text, "# mean %s\n", w->what->quantity);
  else
    md_text_print(text, "# %s / %s^2\n", w->what->quantity, length_name(w));
  md_text_print(text, "# step %lld\n# time %.17g %s\n# %s, group %s\n", (long long)w->step, w->time,
                time_name(w), particles,
                w->dump->observer.group == 0 ? "all" : w->sim->model.groups.name[w->dump->observer.group]);
  for (int k = 0; k < 2; ++k) {
    const char axis = "xyz"[m->grid.axis[k]];
    md_text_print(text, "# %d %s: %c from %.17g to %.17g %s\n", m->grid.n[k], side[k], axis, m->lo[k],
                  m->hi[k], length_name(w));
  }
}

static void put_row(const md_density_map *m, int row, md_text *text)
{
  const int width = m->grid.n[0];
  for (int k = 0; k < width; ++k) {
    const double value = m->value[(int64_t)row * width + k];
    if (k > 0) md_text_add(text, " ", 1);
    if (isnan(value))
      md_text_string(text, "nan");
    else
      md_text_double(text, value * m->factor, MD_DIGITS_MAX);
  }
  md_text_add(text, "\n", 1);
}

/* Writes head and rows, one after the other. errno says why it failed; 0: memory. */
static bool put_text(const writer *w, FILE *file, md_text *text)
{
  errno = 0;
  put_head(w, text);
  for (int row = 0; row <= w->map->grid.n[1]; ++row) {
    if (text->failed || fwrite(text->bytes, 1, text->n, file) != text->n) return false;
    text->n = 0;
    if (row < w->map->grid.n[1]) put_row(w->map, row, text);
  }
  return true;
}

static md_status write_text_file(const writer *w, const char *path)
{
  FILE *file = md_open_write(path, false);
  if (!file) return md_error(MD_RUNTIME, "cannot write %.500s: %s", path, md_open_reason(errno));
  md_text text = {0};
  bool good = put_text(w, file, &text);
  int reason = errno;
  if (fclose(file) != 0 && good) {
    good = false;
    reason = errno;
  }
  md_text_free(&text);
  if (good) return MD_OK;
  return md_error(MD_RUNTIME, "cannot write %.500s: %s", path, reason ? strerror(reason) : "out of memory");
}

static md_status write_text(const writer *w, const char *path)
{
  md_new_file file;
  MD_TRY(md_new_file_begin(&file, path));
  return md_new_file_end(&file, write_text_file(w, file.path));
}

/* ---- H5MD ---- */

#define MAP "observables/map"
#define COUNT "observables/count"

static md_status note_facts(const writer *w, md_h5_file *file)
{
  static const char *const letter[3] = {"x", "y", "z"};
  const md_density_map *m = w->map;
  const char *const quantity[] = {w->what->quantity};
  char per_area[32];
  snprintf(per_area, sizeof per_area, "per %s^2", length_name(w));
  const char *const normalisation[] = {w->what->mean ? "mean over the particles of a bin" : per_area};
  const char *const group[] = {
      w->dump->observer.group == 0 ? "all" : w->sim->model.groups.name[w->dump->observer.group]};
  const char *const axes[2] = {letter[m->grid.axis[0]], letter[m->grid.axis[1]]};
  MD_TRY(md_h5->note_text(file, MAP, "quantity", 0, quantity));
  MD_TRY(md_h5->note_text(file, MAP, "normalisation", 0, normalisation));
  MD_TRY(md_h5->note_text(file, MAP, "group", 0, group));
  MD_TRY(md_h5->note_text(file, MAP, "axes", 2, axes));
  MD_TRY(md_h5->note(file, MAP, "particles", MD_H5_INT64, 0, &m->counted));
  MD_TRY(md_h5->note(file, MAP, "lower", MD_H5_DOUBLE, 2, m->lo));
  return md_h5->note(file, MAP, "upper", MD_H5_DOUBLE, 2, m->hi);
}

/* Makes both observables, each of one frame. They share step and time. */
static md_status make_observables(const writer *w, md_h5_file *file)
{
  const md_h5_shape one = {.n = 1, .size = {1}};
  const md_h5_shape frame = {.n = 3, .size = {1, w->map->grid.n[1], w->map->grid.n[0]}};
  MD_TRY(md_h5->group(file, "observables"));
  MD_TRY(md_h5->group(file, MAP));
  MD_TRY(md_h5->group(file, COUNT));
  MD_TRY(md_h5->put(file, MAP "/step", MD_H5_INT64, &one, &w->step));
  MD_TRY(md_h5->put(file, MAP "/time", MD_H5_DOUBLE, &one, &w->time));
  MD_TRY(md_h5->link(file, MAP "/step", COUNT "/step"));
  MD_TRY(md_h5->link(file, MAP "/time", COUNT "/time"));
  MD_TRY(md_h5->array(file, MAP "/value", MD_H5_DOUBLE, &frame));
  return md_h5->array(file, COUNT "/value", MD_H5_INT64, &frame);
}

/* The values as they are shown go to the file row by row. */
static md_status put_arrays(const writer *w, md_h5_file *file)
{
  const md_density_map *m = w->map;
  const int64_t width = m->grid.n[0], height = m->grid.n[1];
  const int64_t first[3] = {0}, whole[3] = {1, height, width}, one_row[3] = {1, 1, width};
  double *row;
  MD_TRY(md_h5->write(file, COUNT "/value", MD_H5_INT64, 3, first, whole, m->count));
  MD_TRY(md_array_new(&row, width, sizeof *row, "a row of the density map"));
  md_status status = MD_OK;
  for (int64_t r = 0; r < height && status == MD_OK; ++r) {
    const int64_t start[3] = {0, r, 0};
    for (int64_t k = 0; k < width; ++k) row[k] = m->value[r * width + k] * m->factor;
    status = md_h5->write(file, MAP "/value", MD_H5_DOUBLE, 3, start, one_row, row);
  }
  free(row);
  return status;
}

static md_status write_hdf5_file(const writer *w, const char *path)
{
  md_h5_file *file = NULL;
  MD_TRY(md_h5->open(&file, path, MD_H5_CREATE, NULL));
  md_status status = md_h5md_begin(file, &w->sim->model);
  if (status == MD_OK) status = make_observables(w, file);
  if (status == MD_OK) status = note_facts(w, file);
  if (status == MD_OK) status = put_arrays(w, file);
  return md_h5_close_after(&file, status);
}

static md_status write_hdf5(const writer *w, const char *path)
{
  md_new_file file;
  MD_TRY(md_file_need_regular(path, "a map in H5MD"));
  MD_TRY(md_new_file_begin(&file, path));
  return md_new_file_end(&file, write_hdf5_file(w, file.path));
}

md_status md_density_write(const md_dump *dump, const md_view *view, const md_density_map *map,
                           const char *path)
{
  const writer w = {.dump = dump,
                    .what = &dump->density,
                    .map = map,
                    .sim = view->sim,
                    .step = view->step,
                    .bins = (int64_t)map->grid.n[0] * map->grid.n[1],
                    .time = (double)view->step * view->sim->model.dt};
  if (dump->density.file == MD_DENSITY_TEXT) return write_text(&w, path);
  if (dump->density.file == MD_DENSITY_HDF5) return write_hdf5(&w, path);
  return write_picture(&w, path);
}
