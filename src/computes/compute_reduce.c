/* compute reduce: the sum, mean, least or largest value of the particles of a group, for each of several values;
 * reduce/region: of those that are in a region too.
 *
 * Sums are those of one chunk of all particles (src/chunks/chunks.h), and do not depend on an order. An engine makes
 * them in place, if it can make the values (bin_sums and value_counts of common/engine.h). Cost: a pass over the
 * particles for each value, or for several by an engine, and a reduction.
 * Reference: the LAMMPS manual, compute reduce. */
#include "common/ranks/reductions.h"
#include "common/sums/each.h"
#include "src/chunks/chunks.h"
#include "src/formula/particle_values.h"
#include "src/formula/value_ranges.h"
#include "src/group/dynamic_group.h"
#include "src/region/region.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum mode { SUM, MEAN, LEAST, LARGEST, SQUARES, MEAN_SQUARE } mode;

static const char *const mode_names[] = {[SUM] = "sum",     [MEAN] = "ave",      [LEAST] = "min",
                                         [LARGEST] = "max", [SQUARES] = "sumsq", [MEAN_SQUARE] = "avesq"};
enum { MODES = sizeof mode_names / sizeof mode_names[0] };

/* What LAMMPS gives as the least value of no particle; the largest is its negative. */
static const double NOTHING_LEAST = 1e20;

typedef struct compute_reduce {
  md_host_compute base;
  mode mode;
  char region[64]; /* "": none */
  int n;
  char **name;
  double *value;
  double *quanta; /* [n] of the last sums by the engine, as md_chunk_sums_in_place() keeps them */
  bool *extensive;
} compute_reduce;

static md_status read_mode(compute_reduce *c, const char *word)
{
  for (int k = 0; k < MODES; ++k) {
    c->mode = (mode)k;
    if (strcmp(word, mode_names[k]) == 0) return MD_OK;
  }
  return md_error(MD_USAGE, "compute reduce: '%.64s' is not sum, ave, min, max, sumsq or avesq", word);
}

static md_status add_value(compute_reduce *c, const md_sim *sim, const char *name)
{
  if (!md_particle_values_has(sim, name))
    return md_error(
        MD_USAGE,
        "compute reduce: '%.64s' has no value for each particle; such are x vx fx id mass and the "
        "like, c_ID of a compute of particles, v_NAME of style atom",
        name);
  char **larger = realloc(c->name, (size_t)(c->n + 1) * sizeof *larger);
  if (larger) c->name = larger;
  if (!larger || !(larger[c->n] = strdup(name))) return md_error(MD_RUNTIME, "out of memory for a compute");
  ++c->n;
  return MD_OK;
}

static md_status read_values(compute_reduce *c, md_sim *sim, const md_words *words)
{
  md_words written;
  md_status status = md_value_ranges_write(sim, words, &written);
  for (int k = 0; k < written.n && status == MD_OK; ++k) status = add_value(c, sim, written.word[k]);
  md_value_ranges_free(&written);
  MD_TRY(status);
  MD_TRY(md_array_new_zero(&c->value, c->n, sizeof *c->value, "the values of a compute"));
  MD_TRY(md_array_new_zero(&c->quanta, c->n, sizeof *c->quanta, "the values of a compute"));
  MD_TRY(md_array_new_zero(&c->extensive, c->n, sizeof *c->extensive, "the values of a compute"));
  for (int k = 0; k < c->n; ++k) c->extensive[k] = c->mode == SUM || c->mode == SQUARES;
  return MD_OK;
}

static md_status parse(md_host_compute *base, md_sim *sim, const md_words *words)
{
  compute_reduce *c = (compute_reduce *)base;
  if (words->n < 2)
    return md_error(MD_USAGE, "compute reduce takes sum, ave, min, max, sumsq or avesq, and values");
  MD_TRY(read_mode(c, words->word[0]));
  MD_TRY(read_values(c, sim, &(md_words){words->n - 1, words->word + 1}));
  base->values = (md_values){.extensive = c->extensive};
  if (c->n == 1)
    base->values.scalar = c->value;
  else
    base->values.vector = c->value, base->values.nvector = c->n, base->values.has_vector = true;
  return MD_OK;
}

static md_status parse_region(md_host_compute *base, md_sim *sim, const md_words *words)
{
  compute_reduce *c = (compute_reduce *)base;
  const md_region *region;
  if (words->n < 3)
    return md_error(MD_USAGE, "compute reduce/region takes a region, a mode such as sum, and values");
  MD_TRY(md_region_find(sim, words->word[0], &region));
  memcpy(c->region, region->id, sizeof c->region);
  return parse(base, sim, &(md_words){words->n - 1, words->word + 1});
}

/* ---- by the engine ---- */

/* Makes the square of a value. False: engines cannot. */
static bool square(md_each *each)
{
  md_each_code *code = &each->code;
  const md_each_op op = each->kind == MD_EACH_TYPE       ? MD_OP_TYPE
                        : each->kind == MD_EACH_MASS     ? MD_OP_MASS
                        : each->kind == MD_EACH_PLACE    ? MD_OP_PLACE
                        : each->kind == MD_EACH_VELOCITY ? MD_OP_VELOCITY
                                                         : MD_OP_NUMBER;
  if (each->kind != MD_EACH_FORMULA && op == MD_OP_NUMBER) return false;
  if (each->kind != MD_EACH_FORMULA)
    *code =
        (md_each_code){.n = 1, .depth = 1, .step = {{.op = op, .axis = each->axis, .number = each->divisor}}};
  each->kind = MD_EACH_FORMULA;
  if (code->n == MD_EACH_STEPS) return false;
  code->step[code->n++] = (md_each_step){.op = MD_OP_SQUARE};
  return true;
}

static bool is_of_squares(const compute_reduce *c) { return c->mode == SQUARES || c->mode == MEAN_SQUARE; }
static bool is_mean(const compute_reduce *c) { return c->mode == MEAN || c->mode == MEAN_SQUARE; }
static bool is_extreme(const compute_reduce *c) { return c->mode == LEAST || c->mode == LARGEST; }

/* The sums of the values k to k + n - 1. */
static md_status sum_in_place(compute_reduce *c, md_view *view, int k, int n, bool *made)
{
  md_bins bins = {.groups = md_group_bit(c->base.group), .n = 1, .nvalue = n};
  double sums[1 + MD_BINS_VALUES];
  for (int m = 0; m < n && *made; ++m)
    *made = md_particle_values_in_place(view->sim, c->name[k + m], &bins.value[m]) &&
            (!is_of_squares(c) || square(&bins.value[m]));
  if (*made) MD_TRY(md_chunk_sums_in_place(view, &bins, c->quanta + k, sums, made));
  for (int m = 0; m < n && *made; ++m)
    c->value[k + m] = !is_mean(c) ? sums[1 + m] : sums[0] > 0.0 ? sums[1 + m] / sums[0] : 0.0;
  return MD_OK;
}

/* The least or largest value k, from the range of a histogram. */
static md_status extreme_in_place(compute_reduce *c, md_view *view, int k, bool *made)
{
  md_comm *comm = view->sim->comm;
  md_value_counts counts = {.group = md_group_bit(c->base.group), .hi = 1.0, .per = 1.0, .bins = 1};
  double range[2] = {(double)INFINITY, -(double)INFINITY};
  int64_t count[MD_VALUES_BINS + 1] = {0};
  *made = md_particle_values_in_place(view->sim, c->name[k], &counts.value);
  if (!*made) return MD_OK;
  MD_TRY(md_comm_agree(comm, view->kind->value_counts(view->engine, &counts, count, range, made)));
  if (!*made) return MD_OK;
  range[0] = -range[0];
  MD_TRY(comm->reduce->max(comm, range, 2));
  const double most = c->mode == LEAST ? range[0] : range[1];
  const double found = isfinite(most) ? most : -NOTHING_LEAST;
  c->value[k] = (c->mode == LEAST ? -found : found) + 0.0;
  return MD_OK;
}

static md_status find_in_place(md_host_compute *base, md_view *view, bool *found)
{
  compute_reduce *c = (compute_reduce *)base;
  *found = view->kind->bin_sums && view->kind->value_counts && !c->region[0] &&
           !md_dynamic_group_is(view->sim, base->group);
  for (int k = 0; k < c->n && *found && is_extreme(c); ++k) MD_TRY(extreme_in_place(c, view, k, found));
  for (int k = 0; k < c->n && *found && !is_extreme(c); k += MD_BINS_VALUES)
    MD_TRY(sum_in_place(c, view, k, c->n - k < MD_BINS_VALUES ? c->n - k : MD_BINS_VALUES, found));
  return MD_OK;
}

/* ---- on the host ---- */

/* The sum or mean over the particles that count. Squares take the place of values. */
static md_status find_sum(const compute_reduce *c, md_sim *sim, double *value, const double *counts,
                          int64_t count, double *result)
{
  for (int64_t i = 0; i < sim->particles.n && is_of_squares(c); ++i) value[i] *= value[i];
  MD_TRY(md_chunk_sums(sim, 1, 1, counts, value, result));
  if (is_mean(c)) *result = count > 0 ? *result / (double)count : 0.0;
  return MD_OK;
}

/* 0 has no sign here. */
static md_status find_extreme(const compute_reduce *c, md_sim *sim, const double *value, const double *counts,
                              int64_t count, double *result)
{
  const double sign = c->mode == LEAST ? -1.0 : 1.0;
  double most = -(double)INFINITY;
  for (int64_t i = 0; i < sim->particles.n; ++i)
    if (counts[i] > 0.0) most = md_max(most, sign * value[i]);
  MD_TRY(sim->comm->reduce->max(sim->comm, &most, 1));
  *result = sign * (count > 0 ? most : -NOTHING_LEAST) + 0.0;
  return MD_OK;
}

/* Marks the particles that count with 1, the others with 0, and counts those of all ranks. */
static md_status choose(const compute_reduce *c, md_sim *sim, double *counts, int64_t *count)
{
  const md_particles *p = &sim->particles;
  const md_region *region = NULL;
  if (c->region[0]) MD_TRY(md_region_find(sim, c->region, &region));
  *count = 0;
  for (int64_t i = 0; i < p->n; ++i) {
    const bool in =
        md_particles_in_group(p, md_group_bit(c->base.group), i) && (!region || md_region_has(region, p, i));
    counts[i] = in ? 1.0 : 0.0;
    *count += in;
  }
  return sim->comm->reduce->sum(sim->comm, count, 1);
}

static md_status find_all(compute_reduce *c, md_sim *sim, double *value, double *counts)
{
  int64_t count;
  MD_TRY(choose(c, sim, counts, &count));
  for (int k = 0; k < c->n; ++k) {
    MD_TRY(md_particle_values_of(sim, c->name[k], value));
    MD_TRY(is_extreme(c) ? find_extreme(c, sim, value, counts, count, &c->value[k])
                         : find_sum(c, sim, value, counts, count, &c->value[k]));
  }
  return MD_OK;
}

static md_status find(md_host_compute *base, md_view *view)
{
  md_sim *sim = view->sim;
  double *value = NULL, *counts = NULL;
  md_status status = md_array_new(&value, sim->particles.n, sizeof *value, "the values of particles");
  if (status == MD_OK)
    status = md_array_new(&counts, sim->particles.n, sizeof *counts, "the particles that count");
  status = md_comm_agree(sim->comm, status);
  if (status == MD_OK) status = find_all((compute_reduce *)base, sim, value, counts);
  free(value);
  free(counts);
  return status;
}

static void free_values(md_host_compute *base)
{
  compute_reduce *c = (compute_reduce *)base;
  for (int k = 0; k < c->n; ++k) free(c->name[k]);
  free(c->name);
  free(c->value);
  free(c->quanta);
  free(c->extensive);
}

const md_host_compute_style md_compute_reduce_style = {
    .name = "reduce",
    .usage = "reduce sum|ave|min|max|sumsq|avesq VALUE ...",
    .help =
        "sum, mean, least or largest value of the particles of the group, or the sum or mean of squares;\n"
        "VALUE is x vx fx id type mass or the like, c_ID of a compute of particles, or v_NAME of style atom",
    .size = sizeof(compute_reduce),
    .parse = parse,
    .find_in_place = find_in_place,
    .find = find,
    .free = free_values,
};

const md_host_compute_style md_compute_reduce_region_style = {
    .name = "reduce/region",
    .usage = "reduce/region REGION sum|ave|min|max|sumsq|avesq VALUE ...",
    .help = "the same, of the particles of the group that are in the region",
    .size = sizeof(compute_reduce),
    .parse = parse_region,
    .find = find,
    .free = free_values,
};
