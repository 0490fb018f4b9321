/* Dump style density: a picture of the particles' density, as a PNG file.
 *
 * 1. The box is divided into square bins, one for each pixel, with D bins along its longer side. In three
 *    dimensions the box is seen along one axis, and a bin holds all particles along the line of sight.
 * 2. The particles in each bin are counted.
 * 3. The counts are drawn in the viridis colours, from 0 to the largest count, linearly or by log(1 + count).
 *    Title, axes and colour bar stand around the picture (furniture.h). y points up.
 *
 * Counting is parallel and exact: all threads add atomically to shared integer counters, so the picture does not
 * depend on threads, ranks or order. Engines keep particles in the order of cells, so a thread often finds the
 * same bin for several particles in a row. It adds such a run of particles at once. An engine that keeps its
 * particles elsewhere counts them there, in the same bins (engine.h).
 *
 * Cost: a few ns for each particle; 9 bytes for each pixel.
 */
#include "common/ranks/reductions.h"
#include "src/output/dump.h"
#include "src/picture/colour_map.h"
#include "src/picture/furniture.h"
#include "src/picture/picture.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINS_MAX = 16384, LEVELS = 256 };

static md_status parse_axis(const char *word, int *axis)
{
  static const char names[] = "xyz";
  const char *at = strlen(word) == 1 ? strchr(names, word[0]) : NULL;
  if (!at) return md_error(MD_USAGE, "dump density axis: `%.80s` is none of x, y, z", word);
  *axis = (int)(at - names);
  return MD_OK;
}

static md_status parse(md_dump *dump, md_sim *sim, const md_words *words)
{
  if (words->n < 1)
    return md_error(MD_USAGE,
                    "dump density needs the number of pixels along the longer side behind the file name");
  int64_t bins;
  MD_TRY(md_word_int64(words->word[0], "the number of pixels of dump density", 1, BINS_MAX, &bins));
  dump->bins = (int)bins;
  dump->axis = 2;
  for (int w = 1; w < words->n; w += 2) {
    const char *keyword = words->word[w];
    const bool axis = strcmp(keyword, "axis") == 0;
    if (!axis && strcmp(keyword, "log") != 0)
      return md_error(MD_USAGE, "dump density: unknown keyword `%.80s`; accepted are axis x|y|z, log yes|no",
                      keyword);
    if (w + 1 == words->n) return md_error(MD_USAGE, "dump density %s: its value is missing", keyword);
    if (axis)
      MD_TRY(parse_axis(words->word[w + 1], &dump->axis));
    else
      MD_TRY(md_word_bool(words->word[w + 1], "dump density log", &dump->logarithmic));
  }
  if (sim->model.box.dim == 2 && dump->axis != 2)
    return md_error(MD_USAGE, "dump density axis: a system in two dimensions is seen along z only");
  return MD_OK;
}

/* The bins over the face of the box that the viewer sees. */
static md_histogram make_grid(const md_dump *dump, const md_box *box)
{
  /* The axes that point right and up, for each viewing axis. */
  static const int seen[3][2] = {{1, 2}, {0, 2}, {0, 1}};
  md_histogram g;
  const double a = box->length[seen[dump->axis][0]], b = box->length[seen[dump->axis][1]];
  const double longer = md_max(a, b);
  for (int k = 0; k < 2; ++k) {
    g.axis[k] = seen[dump->axis][k];
    const double length = box->length[g.axis[k]];
    const int n = (int)(dump->bins * (length / longer) + 0.5);
    g.n[k] = n > 0 ? n : 1;
    g.lo[k] = box->lo[g.axis[k]];
    g.per_length[k] = g.n[k] / length;
  }
  return g;
}

static int bin_along(const md_histogram *g, int k, double x)
{
  const double place = (x - g->lo[k]) * g->per_length[k];
  if (!(place > 0.0)) return 0;
  return place < g->n[k] ? (int)place : g->n[k] - 1;
}

static void add_run(int64_t *counter, int64_t run)
{
#pragma omp atomic
  *counter += run;
}

static void count_particles(const md_histogram *g, const md_particles *p, int threads, int64_t *count)
{
  const double *x = p->x[g->axis[0]], *y = p->x[g->axis[1]];
  const int64_t n = p->n;
#pragma omp parallel num_threads(threads)
  {
    int64_t last = 0, run = 0;
#pragma omp for schedule(static)
    for (int64_t i = 0; i < n; ++i) {
      const int64_t bin = (int64_t)bin_along(g, 1, y[i]) * g->n[0] + bin_along(g, 0, x[i]);
      if (bin != last) {
        add_run(&count[last], run);
        last = bin;
        run = 0;
      }
      ++run;
    }
    add_run(&count[last], run);
  }
}

/* An engine that counts its own particles saves the download of all of them. */
static md_status count_rank(md_view *view, const md_histogram *g, int64_t *count)
{
  if (view->engine && view->kind->histogram) return view->kind->histogram(view->engine, g, count);
  MD_TRY(md_view_particles(view));
  const md_sim *sim = view->sim;
  const int threads = sim->options.threads > 0 ? sim->options.threads : omp_get_max_threads();
  count_particles(g, &sim->particles, threads, count);
  return MD_OK;
}

/* Turns counts into levels 0..255. The first row of the picture has the highest y. */
static void shade(const md_histogram *g, const int64_t *count, int64_t most, bool logarithmic,
                  unsigned char *level)
{
  const int width = g->n[0], height = g->n[1];
  const double top = logarithmic ? log1p((double)most) : (double)most;
  const double scale = most > 0 ? (LEVELS - 1) / top : 0.0;
#pragma omp parallel for schedule(static)
  for (int row = 0; row < height; ++row) {
    const int64_t *from = count + (int64_t)(height - 1 - row) * width;
    unsigned char *to = level + (int64_t)row * width;
    for (int k = 0; k < width; ++k) {
      const double value = logarithmic ? log1p((double)from[k]) : (double)from[k];
      to[k] = (unsigned char)(value * scale + 0.5);
    }
  }
}

/* Draws the levels in colours, with title, axes and colour bar around them. */
static md_status furnish(const md_dump *dump, const md_view *view, const md_histogram *g, int64_t most,
                         const unsigned char *level, md_canvas *canvas)
{
  static const char *const names[3] = {"x / \u03c3", "y / \u03c3", "z / \u03c3"};
  const md_box *box = &view->sim->model.box;
  const double per_area = g->per_length[0] * g->per_length[1];
  const int64_t pixels = (int64_t)g->n[0] * g->n[1];
  unsigned char colour[MD_COLOURS][3];
  char title[160];
  md_canvas map = {.width = g->n[0], .height = g->n[1]};
  MD_TRY(md_array_new(&map.rgb, pixels, 3, "the density picture"));
  md_colour_map_viridis(colour);
  for (int64_t k = 0; k < pixels; ++k) memcpy(map.rgb + 3 * k, colour[level[k]], 3);
  snprintf(title, sizeof title, "%lld particles, step %lld, time %.6g \u03c4",
           (long long)view->sim->model.natoms, (long long)view->step,
           (double)view->step * view->sim->model.dt);
  md_furniture f = {.title = title,
                    .quantity = "particles per \u03c3\u00b2",
                    .most = (double)most * per_area,
                    .log_unit = dump->logarithmic ? per_area : 0.0};
  for (int k = 0; k < 2; ++k)
    f.axis[k] = (md_axis){names[g->axis[k]], box->lo[g->axis[k]], box->hi[g->axis[k]]};
  const md_status status = md_furniture_draw(&f, &map, colour, canvas);
  free(map.rgb);
  return status;
}

static md_status write_picture(const md_dump *dump, const md_view *view, const md_histogram *g,
                               const int64_t *count, const char *path)
{
  const int64_t pixels = (int64_t)g->n[0] * g->n[1];
  int64_t most = 0;
  for (int64_t k = 0; k < pixels; ++k)
    if (count[k] > most) most = count[k];
  unsigned char *level;
  MD_TRY(md_array_new(&level, pixels, 1, "the density picture"));
  shade(g, count, most, dump->logarithmic, level);
  char text[256];
  snprintf(text, sizeof text,
           "particle density at step %lld: %lld particles; colours from 0 to %lld particles per pixel, %s; a "
           "pixel is %g x %g sigma",
           (long long)view->step, (long long)view->sim->model.natoms, (long long)most,
           dump->logarithmic ? "by log(1 + count)" : "linear", 1.0 / g->per_length[0],
           1.0 / g->per_length[1]);
  md_picture picture = {g->n[0], g->n[1], level, false, text};
  md_canvas canvas = {0};
  md_status status = MD_OK;
  if (dump->furniture) {
    status = furnish(dump, view, g, most, level, &canvas);
    picture = (md_picture){canvas.width, canvas.height, canvas.rgb, true, text};
  }
  if (status == MD_OK) status = md_picture_write(path, &picture);
  free(canvas.rgb);
  free(level);
  return status;
}

static md_status draw(const md_dump *dump, md_view *view, const char *path)
{
  md_sim *sim = view->sim;
  const md_histogram g = make_grid(dump, &sim->model.box);
  const int pixels = g.n[0] * g.n[1];
  int64_t *count;
  MD_TRY(md_comm_agree(sim->comm, md_array_new_zero(&count, pixels, sizeof *count, "the density histogram")));
  md_status status = md_comm_agree(sim->comm, count_rank(view, &g, count));
  if (status == MD_OK) status = sim->comm->reduce->sum(sim->comm, count, pixels);
  if (status == MD_OK && sim->comm->rank == 0) status = write_picture(dump, view, &g, count, path);
  free(count);
  return status;
}

const md_dump_style md_dump_density = {.name = "density", .all_only = true, .parse = parse, .draw = draw};
