/* compute reduce: the sum, mean, least or largest value of the particles of a group, for each of several values;
 * reduce/region: of those that are in a region too.
 *
 * Sums are exact (src/sums/exact_sum.h). Cost: a pass over the particles for each value, and a reduction.
 * Reference: the LAMMPS manual, compute reduce. */
#include "common/ranks/reductions.h"
#include "src/computes/host_compute.h"
#include "src/formula/particle_values.h"
#include "src/region/region.h"
#include "src/sums/exact_sum.h"

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

/* The values of a word: several if it is a range such as c_ID[*]. */
static md_status read_value(compute_reduce *c, const md_sim *sim, const char *word)
{
  int first, last;
  char name[96];
  const md_host_compute *of;
  MD_TRY(md_host_compute_range(sim, word, &of, &first, &last));
  if (!of) return add_value(c, sim, word);
  for (int k = first; k <= last; ++k) {
    snprintf(name, sizeof name, "c_%s[%d]", of->id, k);
    MD_TRY(add_value(c, sim, name));
  }
  return MD_OK;
}

static md_status read_values(compute_reduce *c, md_sim *sim, const md_words *words)
{
  for (int k = 0; k < words->n; ++k) MD_TRY(read_value(c, sim, words->word[k]));
  MD_TRY(md_array_new_zero(&c->value, c->n, sizeof *c->value, "the values of a compute"));
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

/* What is added up over the particles that count. */
typedef struct summed {
  const double *value;
  const bool *counts;
  bool squares;
} summed;

static void terms_of(const void *context, const md_particles *p, int64_t i, double *term)
{
  const summed *s = context;
  (void)p;
  term[0] = !s->counts[i] ? 0.0 : s->squares ? s->value[i] * s->value[i] : s->value[i];
}

static md_status find_sum(const compute_reduce *c, md_sim *sim, const summed *s, int64_t count,
                          double *result)
{
  const bool mean = c->mode == MEAN || c->mode == MEAN_SQUARE;
  MD_TRY(md_exact_sums(sim->comm, &sim->particles, 1, terms_of, s, "compute reduce: a value", result));
  if (mean) *result = count > 0 ? *result / (double)count : 0.0;
  return MD_OK;
}

static md_status find_extreme(const compute_reduce *c, md_sim *sim, const summed *s, int64_t count,
                              double *result)
{
  const double sign = c->mode == LEAST ? -1.0 : 1.0;
  double most = -(double)INFINITY;
  for (int64_t i = 0; i < sim->particles.n; ++i)
    if (s->counts[i]) most = md_max(most, sign * s->value[i]);
  MD_TRY(sim->comm->reduce->max(sim->comm, &most, 1));
  *result = sign * (count > 0 ? most : -NOTHING_LEAST);
  return MD_OK;
}

/* Marks the particles that count, and counts those of all ranks. */
static md_status choose(const compute_reduce *c, md_sim *sim, bool *counts, int64_t *count)
{
  const md_particles *p = &sim->particles;
  const md_region *region = NULL;
  if (c->region[0]) MD_TRY(md_region_find(sim, c->region, &region));
  *count = 0;
  for (int64_t i = 0; i < p->n; ++i) {
    counts[i] =
        md_particles_in_group(p, md_group_bit(c->base.group), i) && (!region || md_region_has(region, p, i));
    *count += counts[i];
  }
  return sim->comm->reduce->sum(sim->comm, count, 1);
}

static md_status find_all(compute_reduce *c, md_sim *sim, double *value, bool *counts)
{
  const bool extreme = c->mode == LEAST || c->mode == LARGEST;
  const summed s = {value, counts, c->mode == SQUARES || c->mode == MEAN_SQUARE};
  int64_t count;
  MD_TRY(choose(c, sim, counts, &count));
  for (int k = 0; k < c->n; ++k) {
    MD_TRY(md_particle_values_of(sim, c->name[k], value));
    MD_TRY(extreme ? find_extreme(c, sim, &s, count, &c->value[k])
                   : find_sum(c, sim, &s, count, &c->value[k]));
  }
  return MD_OK;
}

static md_status find(md_host_compute *base, md_view *view)
{
  md_sim *sim = view->sim;
  double *value = NULL;
  bool *counts = NULL;
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
