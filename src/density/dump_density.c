/* Dump style density: a map of where the particles are, or of what they carry, as a picture, text or HDF5.
 *
 * 1. The box, or a window of it, is divided into square bins, with D bins along its longer side. In three dimensions
 *    the box is seen along one axis, and a bin holds all particles along the line of sight.
 * 2. The particles of each bin are counted. With a weight, such as their mass or a velocity, the weights of each bin
 *    are added up as integers (common/sums/histogram.h).
 * 3. A bin shows its sum for each area, or the mean over its particles. density_files.c writes the map.
 *
 * Adding up is parallel and exact: all threads add atomically to shared integers, so the map does not depend on
 * threads, ranks or order. Engines keep particles in the order of cells, so a thread often finds the same bin for
 * several particles in a row. It adds such a run of particles at once. An engine that keeps its particles elsewhere
 * adds them up there, in the same bins (common/engine.h), and only the map is downloaded.
 *
 * Trade-off: the sums have the same bits from every engine. However, the picture of a weight takes three additions a
 * particle and not one. Cost: some ns for each particle, and about 100 ns with a weight; 24 bytes for each bin, and 16
 * more with a weight.
 */
#include "common/ranks/reductions.h"
#include "common/sums/histogram.h"
#include "src/computes/computes.h"
#include "src/computes/host_compute.h"
#include "src/dump/dump.h"
#include "src/hdf5/hdf5_file.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINS_MAX = 16384 };

/* ---- the words of the deck ---- */

/* Changes one setting by the words after its keyword. */
typedef md_status (*setter)(md_density *what, const md_sim *sim, char **word);

static md_status set_axis(md_density *what, const md_sim *sim, char **word)
{
  static const char names[] = "xyz";
  const char *at = strlen(word[0]) == 1 ? strchr(names, word[0][0]) : NULL;
  (void)sim;
  if (!at) return md_error(MD_USAGE, "dump density axis: '%.80s' is none of x, y, z", word[0]);
  what->axis = (int)(at - names);
  return MD_OK;
}

/* A weight c_ID: a compute with a value for each particle. */
static md_status set_compute(md_density *what, const md_sim *sim, const char *name)
{
  const md_compute *compute;
  int k;
  if (md_host_compute_find(sim, name + 2, strcspn(name + 2, "[")))
    return md_error(
        MD_USAGE,
        "dump density weight: '%.80s' is no value that a map can add up; of computes, ke/atom is. "
        "fix ave/chunk has profiles of all others",
        name);
  MD_TRY(md_compute_named(sim, name, &compute, &k));
  if (md_compute_style_of(compute->kind)->nvalue > 0)
    return md_error(MD_USAGE,
                    "dump density weight: '%.80s' is one value for all particles: it is a column of "
                    "thermo_style",
                    name);
  what->weight = MD_WEIGHT_COMPUTE;
  what->compute = *compute;
  snprintf(what->quantity, sizeof what->quantity, "c_%s", compute->id);
  return MD_OK;
}

static md_status set_weight(md_density *what, const md_sim *sim, char **word)
{
  static const struct {
    const char *name, *quantity;
    md_weight weight;
    int component;
  } weights[] = {
      {"one", "particles", MD_WEIGHT_ONE, 0},
      {"mass", "mass", MD_WEIGHT_MASS, 0},
      {"ke", "kinetic energy", MD_WEIGHT_COMPUTE, 0},
      {"vx", "vx", MD_WEIGHT_VELOCITY, 0},
      {"vy", "vy", MD_WEIGHT_VELOCITY, 1},
      {"vz", "vz", MD_WEIGHT_VELOCITY, 2},
      {"px", "px", MD_WEIGHT_MOMENTUM, 0},
      {"py", "py", MD_WEIGHT_MOMENTUM, 1},
      {"pz", "pz", MD_WEIGHT_MOMENTUM, 2},
  };
  if (md_is_compute(word[0])) return set_compute(what, sim, word[0]);
  size_t w = 0;
  while (w < sizeof weights / sizeof weights[0] && strcmp(weights[w].name, word[0]) != 0) ++w;
  if (w == sizeof weights / sizeof weights[0])
    return md_error(MD_USAGE,
                    "dump density weight: '%.80s' is none of one, mass, ke, vx, vy, vz, px, py, pz, c_ID",
                    word[0]);
  if (weights[w].component >= sim->model.box.dim)
    return md_error(MD_USAGE, "dump density weight %s: a system in two dimensions has x and y only", word[0]);
  what->weight = weights[w].weight;
  what->component = weights[w].component;
  what->compute = (md_compute){.kind = MD_COMPUTE_ke_atom};
  snprintf(what->quantity, sizeof what->quantity, "%s", weights[w].quantity);
  return MD_OK;
}

static md_status set_mean(md_density *what, const md_sim *sim, char **word)
{
  (void)sim;
  return md_word_bool(word[0], "dump density mean", &what->mean);
}

static md_status set_window(md_density *what, const md_sim *sim, char **word)
{
  (void)sim;
  for (int k = 0; k < 4; ++k)
    MD_TRY(md_word_double(word[k], "a bound of the window of dump density", &what->window[k / 2][k % 2]));
  for (int k = 0; k < 2; ++k)
    if (!(what->window[k][0] < what->window[k][1]) || !isfinite(what->window[k][1] - what->window[k][0]))
      return md_error(MD_USAGE, "dump density window: %s is not below %s, or too far from it", word[2 * k],
                      word[2 * k + 1]);
  what->windowed = true;
  return MD_OK;
}

static md_status set_scale(md_density *what, const md_sim *sim, char **word)
{
  (void)sim;
  what->logarithmic = strcmp(word[0], "log") == 0;
  if (!what->logarithmic && strcmp(word[0], "linear") != 0)
    return md_error(MD_USAGE, "dump density scale: '%.80s' is none of linear, log", word[0]);
  return MD_OK;
}

static const struct {
  const char *name;
  int values;
  setter set;
} keywords[] = {
    {"axis", 1, set_axis},     {"weight", 1, set_weight}, {"mean", 1, set_mean},
    {"window", 4, set_window}, {"scale", 1, set_scale},
};

enum { KEYWORDS = sizeof keywords / sizeof keywords[0] };

static md_status parse_keywords(md_density *what, const md_sim *sim, const md_words *words)
{
  for (int w = 1; w < words->n;) {
    const char *word = words->word[w++];
    int k = 0;
    while (k < KEYWORDS && strcmp(keywords[k].name, word) != 0) ++k;
    if (k == KEYWORDS)
      return md_error(
          MD_USAGE,
          "dump density: unknown keyword '%.80s'; accepted are axis x|y|z, weight "
          "one|mass|ke|vx|vy|vz|px|py|pz|c_ID, mean yes|no, window XLO XHI YLO YHI, scale linear|log",
          word);
    if (words->n - w < keywords[k].values)
      return md_error(MD_USAGE, "dump density %s: its value is missing", word);
    MD_TRY(keywords[k].set(what, sim, words->word + w));
    w += keywords[k].values;
  }
  return MD_OK;
}

static bool has_sign(const md_density *what)
{
  return what->weight == MD_WEIGHT_VELOCITY || what->weight == MD_WEIGHT_MOMENTUM;
}

/* What keywords say together. */
static md_status check(const md_density *what, const md_sim *sim)
{
  if (sim->model.box.dim == 2 && what->axis != 2)
    return md_error(MD_USAGE, "dump density axis: a system in two dimensions is seen along z only");
  if (what->mean && what->weight == MD_WEIGHT_ONE)
    return md_error(MD_USAGE, "dump density mean: the mean of one is one; give a weight");
  if (what->logarithmic && has_sign(what))
    return md_error(MD_USAGE, "dump density scale log: %s has both signs", what->quantity);
  return MD_OK;
}

static md_status parse(md_dump *dump, md_sim *sim, const md_words *words)
{
  md_density *what = &dump->density;
  const char *ending = strrchr(dump->path, '.');
  int64_t bins;
  if (words->n < 1)
    return md_error(MD_USAGE,
                    "dump density needs the number of pixels along the longer side after the file name");
  MD_TRY(md_word_int64(words->word[0], "the number of pixels of dump density", 1, BINS_MAX, &bins));
  *what = (md_density){.bins = (int)bins, .axis = 2, .quantity = "particles"};
  if (strcmp(ending, ".txt") == 0) what->file = MD_DENSITY_TEXT;
  if (strcmp(ending, ".h5") == 0) what->file = MD_DENSITY_HDF5;
  if (what->file == MD_DENSITY_HDF5) MD_TRY(md_h5_need("dump density with a name that ends in .h5"));
  MD_TRY(parse_keywords(what, sim, words));
  return check(what, sim);
}

/* ---- bins and quanta ---- */

/* The bins over the face of the box that the viewer sees, or over the window. Around a tilted box they cover the block
 * that it fits in. */
static void make_bins(const md_density *what, const md_box *box, md_density_map *map)
{
  /* The axes that point right and up, for each viewing axis. */
  static const int seen[3][2] = {{1, 2}, {0, 2}, {0, 1}};
  md_histogram *g = &map->grid;
  double length[2], low[3], high[3];
  md_box_bounds(box, low, high);
  for (int k = 0; k < 2; ++k) {
    const int axis = g->axis[k] = seen[what->axis][k];
    map->lo[k] = g->lo[k] = what->windowed ? what->window[k][0] : low[axis];
    map->hi[k] = what->windowed ? what->window[k][1] : high[axis];
    length[k] = map->hi[k] - map->lo[k];
    g->from[k] = what->windowed ? map->lo[k] : (double)-INFINITY;
    g->to[k] = what->windowed ? map->hi[k] : (double)INFINITY;
  }
  for (int k = 0; k < 2; ++k) {
    const int n = (int)(what->bins * (length[k] / md_max(length[0], length[1])) + 0.5);
    g->n[k] = n > 0 ? n : 1;
    g->per_length[k] = g->n[k] / length[k];
  }
}

/* A bound of the size of a particle's weight. */
static double largest_weight(const md_density *what, const md_model *model)
{
  if (what->weight == MD_WEIGHT_MASS) return model->mass_reference;
  if (what->weight == MD_WEIGHT_VELOCITY) return model->speed_limit;
  if (what->weight == MD_WEIGHT_MOMENTUM) return model->mass_reference * model->speed_limit;
  return md_compute_style_of(what->compute.kind)->largest(model);
}

/* The quanta of common/sums/histogram.h. They are those of the model, so that every engine and rank has the same. */
static void make_weight(const md_density *what, const md_model *model, md_histogram *g)
{
  int exponent, digits;
  g->weight = what->weight;
  if (g->weight == MD_WEIGHT_ONE) return;
  g->component = what->component;
  g->kind = what->compute.kind;
  g->of_group = md_group_bit(what->compute.group);
  g->quantum = model->grids.v;
  (void)frexp(largest_weight(what, model), &exponent);
  (void)frexp((double)model->natoms, &digits);
  const int bits = 62 - digits < MD_HISTOGRAM_BITS ? 62 - digits : MD_HISTOGRAM_BITS;
  /* per_unit must be finite. */
  if (exponent < -900) exponent = -900;
  g->per_unit = ldexp(1.0, bits - exponent);
  g->fine = ldexp(1.0, bits);
}

/* ---- adding up ---- */

/* The sums of some particles in a row that are all in one bin. */
typedef struct bin_run {
  int64_t bin, sum[MD_BIN_SUMS];
} bin_run;

MD_FN void add_run(const bin_run *run, int sums, int64_t *sum)
{
  for (int t = 0; t < sums; ++t) {
    int64_t *to = &sum[run->bin * sums + t];
#pragma omp atomic
    *to += run->sum[t];
  }
}

/* Adds the terms of particle i to a run. */
static void add_weight(const md_histogram *g, const md_view *view, int64_t i, bin_run *run)
{
  const md_model *model = &view->sim->model;
  const md_particles *p = &view->sim->particles;
  const md_particle one = md_particle_of(model, p, i);
  double v[3] = {0.0, 0.0, 0.0};
  int64_t term[MD_BIN_SUMS];
  for (int d = 0; d < p->dim; ++d)
    v[d] = view->engine ? md_particle_velocity(&one, d, model->grids.v) : p->v[d][i];
  md_histogram_terms(g, &one, v, p->dim, term);
  for (int t = 0; t < MD_BIN_SUMS; ++t) run->sum[t] += term[t];
}

/* Where particle i of a tilted box is in the parallelepiped that output shows, as dumps have it. */
static int64_t bin_in_tilted(const md_histogram *g, const md_view *view, int64_t i)
{
  const md_box *box = &view->sim->model.box;
  double x[3] = {0.0, 0.0, 0.0};
  for (int d = 0; d < box->dim; ++d) x[d] = view->sim->particles.x[d][i];
  md_box_wrap(box, x);
  md_box_show(box, x);
  return md_histogram_bin(g, x[g->axis[0]], x[g->axis[1]]);
}

/* Adds particles [first, end). group: their words of groups; NULL: all are in the map. sums: md_histogram_sums(). The
 * last three are constants of the call, so that mere counting has a loop of its own. */
MD_FN void add_range(const md_histogram *g, const md_view *view, int64_t first, int64_t end, int64_t *sum,
                     const uint32_t *group, int sums, bool tilted)
{
  const md_particles *p = &view->sim->particles;
  const double *x = p->x[g->axis[0]], *y = p->x[g->axis[1]];
  const md_histogram own = *g;
  bin_run run = {0};
  for (int64_t i = first; i < end; ++i) {
    if (group && !(group[i] & own.group)) continue;
    const int64_t bin = tilted ? bin_in_tilted(&own, view, i) : md_histogram_bin(&own, x[i], y[i]);
    if (bin < 0) continue;
    if (bin != run.bin) {
      add_run(&run, sums, sum);
      run = (bin_run){.bin = bin};
    }
    if (sums == 1)
      ++run.sum[MD_BIN_COUNT];
    else
      add_weight(&own, view, i, &run);
  }
  add_run(&run, sums, sum);
}

static void add_particles(const md_histogram *g, const md_view *view, int threads, int64_t *sum)
{
  const md_particles *p = &view->sim->particles;
  const uint32_t *group = g->group == MD_GROUP_ALL ? NULL : p->group;
  const int sums = md_histogram_sums(g);
#pragma omp parallel num_threads(threads)
  {
    const int64_t all = omp_get_num_threads(), thread = omp_get_thread_num();
    const int64_t first = p->n * thread / all, end = p->n * (thread + 1) / all;
    if (view->sim->model.box.triclinic)
      add_range(g, view, first, end, sum, group, sums, true);
    else if (sums > 1)
      add_range(g, view, first, end, sum, group, MD_BIN_SUMS, false);
    else if (group)
      add_range(g, view, first, end, sum, group, 1, false);
    else
      add_range(g, view, first, end, sum, NULL, 1, false);
  }
}

/* An engine that adds up its own particles saves the download of all of them. It does not know the parallelepiped. */
static md_status add_rank(md_view *view, const md_histogram *g, int64_t *sum)
{
  if (view->engine && view->kind->histogram && !view->sim->model.box.triclinic)
    return view->kind->histogram(view->engine, g, sum);
  MD_TRY(md_view_particles(view));
  const md_sim *sim = view->sim;
  add_particles(g, view, sim->options.threads > 0 ? sim->options.threads : omp_get_max_threads(), sum);
  return MD_OK;
}

/* ---- the map ---- */

/* The value of a bin from its sums. Only the division by the number of particles rounds a second time. */
static double value_of(const md_density_map *map, bool mean, const int64_t *sum)
{
  const md_histogram *g = &map->grid;
  if (g->weight == MD_WEIGHT_ONE) return (double)sum[MD_BIN_COUNT];
  const md_int128 quanta = (md_int128)sum[MD_BIN_COARSE] * (int64_t)g->fine + sum[MD_BIN_REST];
  const double total = (double)quanta / g->fine / g->per_unit;
  if (!mean) return total;
  return sum[MD_BIN_COUNT] > 0 ? total / (double)sum[MD_BIN_COUNT] : (double)NAN;
}

static md_status make_values(const md_units *units, md_density_map *map, bool mean, const int64_t *sum)
{
  const int64_t bins = (int64_t)map->grid.n[0] * map->grid.n[1];
  const int sums = md_histogram_sums(&map->grid);
  MD_TRY(md_array_new(&map->count, bins, sizeof *map->count, "the density map"));
  MD_TRY(md_array_new(&map->value, bins, sizeof *map->value, "the density map"));
  map->factor = mean ? 1.0 : map->grid.per_length[0] * map->grid.per_length[1];
  if (map->grid.weight == MD_WEIGHT_MASS || map->grid.weight == MD_WEIGHT_MOMENTUM)
    map->factor /= units->mvv2e;
  for (int64_t b = 0; b < bins; ++b) {
    map->count[b] = sum[b * sums + MD_BIN_COUNT];
    map->value[b] = value_of(map, mean, sum + b * sums);
    map->counted += map->count[b];
  }
  return MD_OK;
}

/* On rank 0. */
static md_status write_map(const md_dump *dump, const md_view *view, md_density_map *map, const int64_t *sum,
                           const char *path)
{
  md_status status = make_values(view->sim->model.units, map, dump->density.mean, sum);
  if (status == MD_OK) status = md_density_write(dump, view, map, path);
  free(map->count);
  free(map->value);
  return status;
}

static md_status draw(md_dump *dump, md_view *view, const char *path)
{
  md_sim *sim = view->sim;
  md_density_map map = {.grid = {.group = md_group_bit(dump->observer.group)}};
  make_bins(&dump->density, &sim->model.box, &map);
  make_weight(&dump->density, &sim->model, &map.grid);
  const int n = map.grid.n[0] * map.grid.n[1] * md_histogram_sums(&map.grid);
  int64_t *sum;
  MD_TRY(md_comm_agree(sim->comm, md_array_new_zero(&sum, n, sizeof *sum, "the density map")));
  md_status status = md_comm_agree(sim->comm, add_rank(view, &map.grid, sum));
  if (status == MD_OK) status = sim->comm->reduce->sum(sim->comm, sum, n);
  if (status == MD_OK && sim->comm->rank == 0) status = write_map(dump, view, &map, sum, path);
  free(sum);
  return status;
}

const md_dump_style md_dump_density = {.name = "density", .parse = parse, .draw = draw};
