/* fix ave/chunk: averages over the particles of each chunk, and over time.
 *
 * 1. At each sample of the schedule (src/averages/averaging.h) the values of the particles are summed in each chunk,
 *    exactly.
 * 2. After the last sample the sums are divided, as `norm` says:
 *      all     by the number of particles in all samples
 *      sample  each sample by its own number of particles; then the mean of the samples is taken
 *      none    by the number of samples
 *    Whatever `norm` is, a density is divided by the volume in each sample, and a temperature by its degrees of
 *    freedom, cdof + adof * particles; with `norm none` in each sample.
 * 3. The average goes into the running average, which is what f_ID and the file show.
 *
 * Rows are chunks; columns are the coordinates of the chunk, its particles, and the values. Cost: at each sample one or
 * two passes over the particles, by the engine if it can (bin_sums of common/engine.h); else the particles come from
 * it, and it takes two.
 * Memory: 16 bytes for each chunk and value, and 8 bytes for each particle and value. Reference: the LAMMPS manual,
 * fix ave/chunk. */
#include "common/ranks/reductions.h"
#include "common/sums/each.h"
#include "src/averages/averaging.h"
#include "src/chunks/chunks.h"
#include "src/files/number_format.h"
#include "src/formula/particle_values.h"
#include "src/sums/temperature.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum value_kind { MEAN, DENSITY_NUMBER, DENSITY_MASS, TEMPERATURE } value_kind;
typedef enum norm { NORM_ALL, NORM_SAMPLE, NORM_NONE } norm;

typedef struct fix_ave_chunk {
  md_output_fix base;
  md_schedule schedule;
  md_running running;
  char chunks[64]; /* the compute chunk/atom */
  char bias[64];   /* a temperature whose bias is no heat; "": none */
  norm norm;
  double adof, cdof;
  int n;
  char **name;
  value_kind *kind;
  int64_t rows;    /* chunks; 0: not known yet */
  int columns;     /* of a row of `shown` */
  double *sum;     /* [rows][1 + n] of the present average: particles, values */
  double *average; /* the same, divided */
  double *shown;   /* [rows][columns] */
  bool has_layers; /* `layers` are the bins of the present average, which stay if the box changes */
  double layers[MD_CHUNK_LAYERS];
  double quanta[MD_BINS_VALUES]; /* of the last sample by the engine; 0: none */
  char format[MD_FORMAT_SIZE];
} fix_ave_chunk;

/* ---- words ---- */

static md_status read_norm(fix_ave_chunk *fix, const char *word)
{
  static const char *const names[] = {[NORM_ALL] = "all", [NORM_SAMPLE] = "sample", [NORM_NONE] = "none"};
  for (int k = NORM_ALL; k <= NORM_NONE; ++k) {
    fix->norm = (norm)k;
    if (strcmp(word, names[k]) == 0) return MD_OK;
  }
  return md_error(MD_USAGE, "fix ave/chunk norm: '%.64s' is not all, sample or none", word);
}

static md_status read_bias(fix_ave_chunk *fix, const md_sim *sim, const char *word)
{
  int index;
  MD_TRY(md_compute_temperature(&sim->model, "fix ave/chunk bias", word, true, &index));
  memcpy(fix->bias, sim->model.compute[index].id, sizeof fix->bias);
  return MD_OK;
}

/* Reads the keyword words[*at] with its value, and moves *at past it. */
static md_status read_keyword(fix_ave_chunk *fix, const md_sim *sim, const md_words *words, int *at)
{
  const char *keyword = words->word[(*at)++];
  fix->base.overwrite = fix->base.overwrite || strcmp(keyword, "overwrite") == 0;
  if (strcmp(keyword, "overwrite") == 0) return MD_OK;
  if (*at == words->n) return md_error(MD_USAGE, "fix ave/chunk %.64s: its value is missing", keyword);
  if (strcmp(keyword, "ave") == 0) return md_running_read(&fix->running, "ave/chunk", words, at);
  const char *value = words->word[(*at)++];
  if (strcmp(keyword, "norm") == 0) return read_norm(fix, value);
  if (strcmp(keyword, "bias") == 0) return read_bias(fix, sim, value);
  if (strcmp(keyword, "adof") == 0) return md_word_double(value, "adof of fix ave/chunk", &fix->adof);
  if (strcmp(keyword, "cdof") == 0) return md_word_double(value, "cdof of fix ave/chunk", &fix->cdof);
  if (strcmp(keyword, "file") == 0) return md_output_fix_copy(value, &fix->base.path);
  if (strcmp(keyword, "format") == 0) return md_number_format_check(value, MD_FORMAT_FLOAT, fix->format);
  return md_output_fix_read_title(
      &fix->base, keyword, value,
      "norm all|sample|none, ave one|running|window M, bias ID, adof A, cdof C, file NAME, "
      "overwrite, format F");
}

static bool read_kind(const md_sim *sim, const char *word, value_kind *kind)
{
  *kind = MEAN;
  if (strcmp(word, "density/number") == 0) *kind = DENSITY_NUMBER;
  if (strcmp(word, "density/mass") == 0) *kind = DENSITY_MASS;
  if (strcmp(word, "temp") == 0) *kind = TEMPERATURE;
  return *kind != MEAN || md_particle_values_has(sim, word);
}

static bool is_keyword(const char *word)
{
  static const char *const names[] = {"norm",   "ave",       "bias",   "adof",   "cdof",  "file",
                                      "format", "overwrite", "title1", "title2", "title3"};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k)
    if (strcmp(word, names[k]) == 0) return true;
  return false;
}

/* Reads the values from words[at] on. */
static md_status read_values(fix_ave_chunk *fix, const md_sim *sim, const md_words *words, int at)
{
  MD_TRY(md_array_new_zero(&fix->name, words->n, sizeof *fix->name, "the names of values"));
  MD_TRY(md_array_new_zero(&fix->kind, words->n, sizeof *fix->kind, "the names of values"));
  for (; at < words->n && !is_keyword(words->word[at]); ++at) {
    if (!read_kind(sim, words->word[at], &fix->kind[fix->n]))
      return md_error(
          MD_USAGE,
          "fix ave/chunk: '%.64s' has no value for each particle; such are x vx fx and the like, "
          "density/number, density/mass, temp, c_ID of a compute of particles, v_NAME of style atom",
          words->word[at]);
    MD_TRY(md_output_fix_copy(words->word[at], &fix->name[fix->n++]));
  }
  return fix->n > 0 ? MD_OK
                    : md_error(MD_USAGE, "fix ave/chunk takes at least one value, such as vx or temp");
}

static md_status set_title(fix_ave_chunk *fix, const md_sim *sim, int ncoord)
{
  md_text line[3] = {{0}};
  md_text_print(&line[0], "# Chunk-averaged data for fix %s and group %s", fix->base.id,
                sim->model.groups.name[fix->base.observer.group]);
  md_text_string(&line[1], "# Timestep Number-of-chunks Total-count");
  md_text_string(&line[2], "# Chunk");
  for (int k = 0; k < ncoord; ++k) md_text_print(&line[2], " Coord%d", k + 1);
  md_text_string(&line[2], " Ncount");
  for (int k = 0; k < fix->n; ++k) md_text_print(&line[2], " %s", fix->name[k]);
  return md_output_fix_set_title(&fix->base, 3, line);
}

/* Forgets the samples, and how many chunks there are. */
static void free_rows(fix_ave_chunk *fix)
{
  const md_running before = fix->running;
  free(fix->sum);
  free(fix->average);
  free(fix->shown);
  md_running_free(&fix->running);
  fix->sum = fix->average = fix->shown = NULL;
  fix->running = (md_running){.kind = before.kind, .window = before.window};
  fix->rows = fix->base.values.rows = 0;
  fix->base.values.array = NULL;
  fix->has_layers = false;
}

/* Makes room for the chunks of the first sample. */
static md_status set_rows(fix_ave_chunk *fix, int64_t rows)
{
  const int64_t size = rows * (1 + fix->n);
  free_rows(fix);
  fix->rows = rows;
  MD_TRY(md_running_begin(&fix->running, size));
  MD_TRY(md_array_new_zero(&fix->sum, size + 1, sizeof *fix->sum, "sums of chunks"));
  MD_TRY(md_array_new_zero(&fix->average, size + 1, sizeof *fix->average, "averages of chunks"));
  MD_TRY(md_array_new_zero(&fix->shown, rows * fix->columns + 1, sizeof *fix->shown, "averages of chunks"));
  fix->base.values.rows = rows;
  fix->base.values.array = fix->shown;
  return MD_OK;
}

static md_status parse(md_output_fix *base, md_sim *sim, const md_words *words)
{
  fix_ave_chunk *fix = (fix_ave_chunk *)base;
  md_host_compute *compute;
  if (words->n < 5)
    return md_error(
        MD_USAGE,
        "fix ave/chunk takes Nevery Nrepeat Nfreq, the ID of a compute chunk/atom, and values such as vx");
  base->schedule = &fix->schedule;
  MD_TRY(md_schedule_read(&fix->schedule, "ave/chunk", words->word));
  MD_TRY(md_chunks_find(sim, "fix ave/chunk", words->word[3], &compute));
  memcpy(fix->chunks, compute->id, sizeof fix->chunks);
  fix->adof = sim->model.box.dim;
  strcpy(fix->format, " %g");
  MD_TRY(read_values(fix, sim, words, 4));
  for (int at = 4 + fix->n; at < words->n;) MD_TRY(read_keyword(fix, sim, words, &at));
  const int ncoord = md_chunks_coordinates(compute);
  fix->columns = ncoord + 1 + fix->n;
  base->values.columns = fix->columns;
  MD_TRY(set_title(fix, sim, ncoord));
  return md_chunks_known(compute) > 0 ? set_rows(fix, md_chunks_known(compute)) : MD_OK;
}

/* ---- samples ---- */

/* Are there samples to which the next one is added? */
static bool goes_on(const fix_ave_chunk *fix)
{
  const bool runs = fix->running.kind != MD_RUNNING_ONE && fix->running.added > 0;
  return fix->sum && (fix->schedule.done > 0 || runs);
}

static md_status check_rows(fix_ave_chunk *fix, int64_t rows)
{
  if (rows == fix->rows && fix->sum) return MD_OK;
  if (goes_on(fix))
    return md_error(
        MD_USAGE,
        "the number of chunks has changed from %lld to %lld: an average needs a number that stays; give "
        "compute chunk/atom `limit N exact`",
        (long long)fix->rows, (long long)rows);
  return set_rows(fix, rows);
}

/* Twice the kinetic energy of the motion that is heat, in units of temperature. A bias is that of the particles in the
 * group of its temperature. */
static md_status fill_heat(const fix_ave_chunk *fix, md_sim *sim, double *value)
{
  const md_particles *p = &sim->particles;
  const md_bias none = {MD_BIAS_NONE, {0.0}};
  md_bias of_group;
  uint32_t bit = MD_GROUP_ALL;
  MD_TRY(md_temperature_bias(sim, "fix ave/chunk bias", fix->bias, &of_group, &bit));
  for (int64_t i = 0; i < p->n; ++i) {
    const md_bias bias = md_particles_in_group(p, bit, i) ? of_group : none;
    double x[3] = {0.0}, v2 = 0.0;
    for (int d = 0; d < p->dim; ++d) x[d] = p->x[d][i];
    for (int d = 0; d < p->dim; ++d) {
      const double v = md_model_velocity(&sim->model, p, d, i), heat = v - md_bias_of(&bias, d, x, v, 1.0);
      v2 = fma(heat, heat, v2);
    }
    value[i] = md_mass_of(&sim->model, p, i) * v2 / sim->model.units->boltz;
  }
  return MD_OK;
}

static md_status fill_value(const fix_ave_chunk *fix, md_sim *sim, int k, double *value)
{
  const int64_t n = sim->particles.n;
  switch (fix->kind[k]) {
  case MEAN: return md_particle_values_of(sim, fix->name[k], value);
  case TEMPERATURE: return fill_heat(fix, sim, value);
  case DENSITY_MASS:
    MD_TRY(md_particle_values_of(sim, "mass", value));
    for (int64_t i = 0; i < n; ++i) value[i] *= sim->model.units->mv2d;
    break;
  case DENSITY_NUMBER:
    for (int64_t i = 0; i < n; ++i) value[i] = 1.0;
    break;
  }
  return MD_OK;
}

/* The divisor of value k of a chunk with `count` particles; 0: nothing to divide. samples: among which they are. */
static double divisor_of(const fix_ave_chunk *fix, int k, double count, double volume, double samples)
{
  switch (fix->kind[k]) {
  case DENSITY_NUMBER:
  case DENSITY_MASS: return volume;
  case TEMPERATURE: return samples * fix->cdof + fix->adof * count;
  case MEAN: break;
  }
  return fix->norm == NORM_NONE ? samples : count;
}

/* Is the value divided in each sample, and not at the end? A density is, because the volume may change. */
static bool is_of_sample(const fix_ave_chunk *fix, int k)
{
  const value_kind kind = fix->kind[k];
  return kind == DENSITY_NUMBER || kind == DENSITY_MASS || fix->norm == NORM_SAMPLE ||
         (fix->norm == NORM_NONE && kind == TEMPERATURE);
}

/* Adds the sums of a sample, divided or not. */
static void add_sample(fix_ave_chunk *fix, const md_chunks *chunks, const double *sums)
{
  const int width = 1 + fix->n;
  for (int64_t m = 0; m < fix->rows; ++m) {
    double *to = fix->sum + m * width;
    const double *from = sums + m * width;
    to[0] += from[0];
    for (int k = 0; k < fix->n && from[0] > 0.0; ++k)
      to[1 + k] += is_of_sample(fix, k) ? from[1 + k] / divisor_of(fix, k, from[0], chunks->volume[m], 1.0)
                                        : from[1 + k];
  }
}

/* Fills the values of the particles in chunks: a one that counts, and the others. */
static md_status fill_values(const fix_ave_chunk *fix, md_sim *sim, const double *each, double *one,
                             double *chunk, double *value)
{
  const md_particles *p = &sim->particles;
  const int width = 1 + fix->n;
  const uint32_t bit = md_group_bit(fix->base.observer.group);
  for (int64_t i = 0; i < p->n; ++i) {
    chunk[i] = md_particles_in_group(p, bit, i) ? each[i] : 0.0;
    value[i * width] = 1.0;
  }
  for (int k = 0; k < fix->n; ++k) {
    MD_TRY(fill_value(fix, sim, k, one));
    for (int64_t i = 0; i < p->n; ++i) value[i * width + 1 + k] = one[i];
  }
  return MD_OK;
}

static md_status sample(fix_ave_chunk *fix, md_sim *sim, const md_chunks *chunks)
{
  const int width = 1 + fix->n;
  const int64_t n = sim->particles.n;
  double *one = NULL, *chunk = NULL, *value = NULL, *sums = NULL;
  md_status status = md_array_new(&one, n, sizeof *one, "the values of particles");
  if (status == MD_OK) status = md_array_new(&chunk, n, sizeof *chunk, "the values of particles");
  if (status == MD_OK) status = md_array_new(&value, n * width, sizeof *value, "the values of particles");
  if (status == MD_OK)
    status = md_array_new_zero(&sums, chunks->n * width + 1, sizeof *sums, "sums of chunks");
  status = md_comm_agree(sim->comm, status);
  if (status == MD_OK) status = fill_values(fix, sim, chunks->each, one, chunk, value);
  if (status == MD_OK) status = md_chunk_sums(sim, chunks->n, width, chunk, value, sums);
  if (status == MD_OK) add_sample(fix, chunks, sums);
  free(one);
  free(chunk);
  free(value);
  free(sums);
  return status;
}

/* ---- averages ---- */

static void end_average(fix_ave_chunk *fix, const md_chunks *chunks)
{
  const int width = 1 + fix->n, ncoord = chunks->ncoord;
  const double samples = (double)fix->schedule.repeat;
  for (int64_t m = 0; m < fix->rows; ++m) {
    const double *from = fix->sum + m * width;
    double *to = fix->average + m * width;
    to[0] = from[0] / samples;
    for (int k = 0; k < fix->n; ++k)
      to[1 + k] = from[0] == 0.0 ? 0.0
                  : is_of_sample(fix, k)
                      ? from[1 + k] / samples
                      : from[1 + k] / divisor_of(fix, k, from[0], chunks->volume[m], samples);
  }
  md_running_add(&fix->running, fix->average);
  for (int64_t m = 0; m < fix->rows; ++m) {
    double *row = fix->shown + m * fix->columns;
    for (int k = 0; k < ncoord; ++k) row[k] = chunks->coord[m * ncoord + k];
    for (int k = 0; k < width; ++k)
      row[ncoord + k] = fix->running.total[m * width + k] / (double)fix->running.norm;
  }
}

/* The total count of a running average is a sum and no mean, as in LAMMPS. */
static void write_rows(fix_ave_chunk *fix, int64_t step)
{
  md_text *text = &fix->base.text;
  const int count = fix->columns - fix->n - 1;
  double all = 0.0;
  for (int64_t m = 0; m < fix->rows; ++m) all += fix->running.total[m * (1 + fix->n)];
  md_text_print(text, "%lld %lld %g\n", (long long)step, (long long)fix->rows, all);
  for (int64_t m = 0; m < fix->rows; ++m) {
    const double *row = fix->shown + m * fix->columns;
    md_text_string(text, "  ");
    md_text_int(text, m + 1);
    for (int k = 0; k < fix->columns; ++k) md_text_number(text, k <= count ? " %g" : fix->format, row[k]);
    md_text_string(text, "\n");
  }
}

/* Makes room for the chunks at the first sample of an average. */
static md_status begin_sample(fix_ave_chunk *fix, md_comm *comm, const md_chunks *chunks)
{
  MD_TRY(md_comm_agree(comm, check_rows(fix, chunks->n)));
  if (fix->schedule.done == 0) memset(fix->sum, 0, (size_t)(fix->rows * (1 + fix->n)) * sizeof *fix->sum);
  return MD_OK;
}

/* Fills the values that an engine is to sum, and column[k], where value k will be in the sums; 0: the number of
 * particles. False: the engine cannot make one of them. column: has room for all. */
static bool ask_values(const fix_ave_chunk *fix, const md_sim *sim, md_bins *bins, int *column)
{
  const md_units *units = sim->model.units;
  for (int k = 0; k < fix->n; ++k) {
    const value_kind kind = fix->kind[k];
    column[k] = kind == DENSITY_NUMBER ? 0 : bins->nvalue + 1;
    if (kind == DENSITY_NUMBER) continue;
    if (bins->nvalue == MD_BINS_VALUES || (kind == TEMPERATURE && fix->bias[0])) return false;
    md_each *each = &bins->value[bins->nvalue++];
    *each = (md_each){.kind = MD_EACH_HEAT, .divisor = units->boltz, .factor = 1.0};
    if (kind == TEMPERATURE) continue;
    if (!md_particle_values_in_place(sim, kind == DENSITY_MASS ? "mass" : fix->name[k], each)) return false;
    if (kind == DENSITY_MASS) each->factor = units->mv2d;
  }
  return true;
}

/* Adds the sums of the engine, of which value k is in column[k]. found, sums: room for those and for the sample. */
static md_status add_in_place(fix_ave_chunk *fix, md_view *view, md_bins *bins, const md_chunks *chunks,
                              const int *column, double *found, double *sums, bool *made)
{
  const int width = 1 + fix->n;
  MD_TRY(md_chunk_sums_in_place(view, bins, fix->quanta, found, made));
  if (!*made) return MD_OK;
  for (int64_t m = 0; m < chunks->n; ++m) {
    const double *from = found + m * (1 + bins->nvalue);
    sums[m * width] = from[0];
    for (int k = 0; k < fix->n; ++k) sums[m * width + 1 + k] = from[column[k]];
  }
  add_sample(fix, chunks, sums);
  return MD_OK;
}

/* The sample by the engine. *made = false: it is for the host. */
static md_status sample_in_place(fix_ave_chunk *fix, md_view *view, md_bins *bins, const md_chunks *chunks,
                                 bool *made)
{
  const int64_t room = chunks->n * (1 + fix->n) + 1;
  double *found = NULL, *sums = NULL;
  int *column = NULL;
  md_comm *comm = view->sim->comm;
  bins->groups |= md_group_bit(fix->base.observer.group);
  md_status status = md_array_new_zero(&column, fix->n, sizeof *column, "sums of chunks");
  if (status == MD_OK) status = md_array_new_zero(&sums, room, sizeof *sums, "sums of chunks");
  if (status == MD_OK) status = md_array_new_zero(&found, room, sizeof *found, "sums of chunks");
  status = md_comm_agree(comm, status);
  *made = status == MD_OK && ask_values(fix, view->sim, bins, column);
  if (*made) status = begin_sample(fix, comm, chunks);
  if (*made && status == MD_OK) status = add_in_place(fix, view, bins, chunks, column, found, sums, made);
  free(column);
  free(found);
  free(sums);
  return status;
}

static md_status look_at(fix_ave_chunk *fix, md_view *view, md_host_compute *compute)
{
  md_output_fix *base = &fix->base;
  md_chunks chunks;
  md_bins bins;
  bool made = false;
  if (view->engine && view->kind->bin_sums) MD_TRY(md_chunks_in_place(view, compute, &chunks, &bins, &made));
  if (made) MD_TRY(sample_in_place(fix, view, &bins, &chunks, &made));
  if (!made) {
    MD_TRY(md_chunks_update(view->sim, compute, &chunks));
    MD_TRY(begin_sample(fix, view->sim->comm, &chunks));
    MD_TRY(sample(fix, view->sim, &chunks));
  }
  if (!fix->has_layers) md_chunks_layers(compute, fix->layers);
  fix->has_layers = true;
  if (!md_schedule_count(&fix->schedule, view->step)) return MD_OK;
  end_average(fix, &chunks);
  if (base->path) write_rows(fix, view->step);
  return md_text_status(&base->text);
}

/* An average keeps the bins of its first sample, or the number of its chunks, as in LAMMPS. */
static md_status look(md_output_fix *base, md_view *view)
{
  fix_ave_chunk *fix = (fix_ave_chunk *)base;
  md_host_compute *compute;
  MD_TRY(md_chunks_find(view->sim, "fix ave/chunk", fix->chunks, &compute));
  fix->has_layers = fix->has_layers && goes_on(fix);
  if (fix->has_layers) md_chunks_hold(compute, fix->layers);
  if (goes_on(fix)) md_chunks_hold_number(compute, fix->rows);
  const md_status status = look_at(fix, view, compute);
  md_chunks_hold(compute, NULL);
  md_chunks_hold_number(compute, 0);
  return status;
}

/* Are there bins along the first axis, and is what a restart says of the others possible? */
static bool are_layers(const double layers[MD_CHUNK_LAYERS])
{
  bool can = layers[1] >= 1.0;
  for (int k = 0; k < MD_CHUNK_LAYERS; k += 2)
    can = can && isfinite(layers[k]) && layers[k + 1] >= 0.0 && layers[k + 1] <= 0x1p30;
  return can;
}

static md_status walk(md_output_fix *base, md_fix_state *state)
{
  fix_ave_chunk *fix = (fix_ave_chunk *)base;
  int64_t rows = fix->rows;
  md_schedule_walk(&fix->schedule, state);
  (void)md_fix_state_whole(state, &rows);
  if (state->mode == MD_STATE_LOAD && (rows < 0 || rows > state->n)) return MD_OK;
  if (state->mode == MD_STATE_LOAD && rows > 0) MD_TRY(set_rows(fix, rows));
  if (state->mode == MD_STATE_LOAD && rows == 0) free_rows(fix);
  if (rows == 0) return MD_OK;
  md_running_walk(&fix->running, state);
  (void)md_fix_state_reals(state, rows * (1 + fix->n), fix->sum);
  (void)md_fix_state_reals(state, rows * fix->columns, fix->shown);
  /* Restarts of earlier programs end here. */
  fix->has_layers = md_fix_state_reals(state, MD_CHUNK_LAYERS, fix->layers) && are_layers(fix->layers);
  return MD_OK;
}

static void free_averages(md_output_fix *base)
{
  fix_ave_chunk *fix = (fix_ave_chunk *)base;
  md_value_names_free(fix->n, fix->name);
  free(fix->kind);
  free_rows(fix);
}

const md_output_fix_style md_fix_ave_chunk_style = {
    .name = "ave/chunk",
    .usage = "ave/chunk NEVERY NREPEAT NFREQ CHUNKS VALUE ... [KEYWORDS]",
    .help = "averages over the particles of each chunk of the compute chunk/atom CHUNKS, over NREPEAT\n"
            "samples as for ave/time; VALUE is vx, fx or the like, density/number, density/mass, temp,\n"
            "c_ID, c_ID[I] or v_NAME of each particle. f_ID[I][J] is column J of chunk I: coordinates,\n"
            "particles, values. Keywords: norm all|sample|none, ave one|running|window M, bias ID, adof A,\n"
            "cdof C, file NAME, overwrite, format F, title1, title2, title3 TEXT",
    .size = sizeof(fix_ave_chunk),
    .keeps_step = true,
    .parse = parse,
    .look = look,
    .walk = walk,
    .free = free_averages,
};
