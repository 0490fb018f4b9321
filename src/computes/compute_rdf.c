/* compute rdf: the radial distribution function g(r), and the number of neighbours within r.
 *
 * 1. The engine counts the neighbours of its particles by distance, if it can (common/sums/distances.h). Else each
 *    thread counts those of its particles, of a download (neighbours.h).
 * 2. Counts are whole numbers, and are added over threads and ranks. g(r) is made of them at the end.
 *
 *      g(r) = count(r) / (N_i rho_j V(r)),   V(r) the volume of the shell
 *
 * A pair has the same distance everywhere, so that it is in the same bin. Both orders of a pair are counted. Where the
 * search gives many particles at a time, their bins come of rough squares of distances, and of exact ones near the
 * edges of bins; a particle counts itself then, in the first bin, which is taken off. Cost: that of the search, and 8
 * bytes a bin for each thread.
 * Reference: Allen and Tildesley, Computer Simulation of Liquids, section 8.2; the LAMMPS manual, compute rdf. */
#include "common/ranks/reductions.h"
#include "common/sums/distances.h"
#include "src/computes/host_compute.h"
#include "src/computes/neighbours.h"
#include "src/output/observer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

typedef struct compute_rdf {
  md_host_compute base;
  int bins, npair;
  md_type_pair *pair;
  double cutoff; /* of the deck; 0: that of the forces */
  double *array; /* [bins][1 + 2 npair]: r; g and neighbours for each pair of types */
} compute_rdf;

/* ---- words ---- */

static md_status read_pairs(compute_rdf *c, const md_sim *sim, const md_words *words, int n)
{
  const int ntypes = sim->model.ntypes;
  c->npair = n > 0 ? n / 2 : 1;
  MD_TRY(md_array_new_zero(&c->pair, c->npair, sizeof *c->pair, "pairs of types"));
  c->pair[0] = (md_type_pair){{1, 1}, {ntypes, ntypes}};
  for (int k = 0; k < n; ++k) {
    md_type_pair *p = &c->pair[k / 2];
    MD_TRY(md_word_types(words->word[1 + k], ntypes, &p->first[k % 2], &p->last[k % 2]));
  }
  return MD_OK;
}

static md_status parse(md_host_compute *base, md_sim *sim, const md_words *words)
{
  compute_rdf *c = (compute_rdf *)base;
  int64_t bins;
  int n = 0;
  MD_TRY(md_sim_need_box(sim, "compute rdf"));
  if (words->n < 1)
    return md_error(MD_USAGE, "compute rdf takes a number of bins; usage: compute ID GROUP %s",
                    md_compute_rdf_style.usage);
  MD_TRY(md_word_int64(words->word[0], "the bins of compute rdf", 1, 1 << 20, &bins));
  c->bins = (int)bins;
  while (1 + n < words->n && strcmp(words->word[1 + n], "cutoff") != 0) ++n;
  if (n % 2 != 0)
    return md_error(MD_USAGE, "compute rdf: types come in pairs; one stands alone: '%.64s'", words->word[n]);
  MD_TRY(read_pairs(c, sim, words, n));
  if (words->n > 1 + n) {
    if (words->n != 3 + n)
      return md_error(MD_USAGE, "compute rdf: cutoff takes one distance, and nothing may follow it");
    MD_TRY(md_word_positive(words->word[2 + n], "the cutoff of compute rdf", &c->cutoff));
  }
  const int columns = 1 + 2 * c->npair;
  MD_TRY(md_array_new_zero(&c->array, (int64_t)c->bins * columns, sizeof *c->array, "g(r)"));
  base->values = (md_values){.rows = c->bins, .columns = columns, .array = c->array};
  return MD_OK;
}

/* ---- counting ---- */

typedef struct counting {
  const compute_rdf *c;
  const md_box *box;
  bool all_types;         /* there is one pair of types, of all */
  double cutoff, per_bin; /* bins per length */
  int64_t *count; /* [threads][npair][MD_DISTANCE_BINS + bins], the numbers of common/sums/distances.h */
} counting;

/* The numbers of one thread. */
static int64_t size_of(const compute_rdf *c) { return (int64_t)c->npair * (MD_DISTANCE_BINS + c->bins); }

/* Counts a neighbour in a bin; -1: in none. */
static void count_in(const counting *g, int64_t *count, const md_neighbour *i, const md_neighbour *j, int bin)
{
  const compute_rdf *c = g->c;
  for (int m = 0; m < c->npair && bin >= 0; ++m, count += MD_DISTANCE_BINS + c->bins)
    if (md_type_pair_has(&c->pair[m], 0, i->type) && md_type_pair_has(&c->pair[m], 1, j->type))
      ++count[MD_DISTANCE_BINS + bin];
}

/* Counts one neighbour. */
static void count_pair(void *context, int thread, const md_neighbour *i, const md_neighbour *j,
                       const double delta[3], double r2)
{
  const counting *g = context;
  (void)delta;
  count_in(g, g->count + thread * size_of(g->c), i, j,
           md_distance_bin(r2, g->cutoff, g->per_bin, g->c->bins));
}

/* The bin of a pair by its exact distance. */
static int exact_bin(const counting *g, const md_neighbour *i, const md_neighbour *j)
{
  double r2 = 0.0, delta[3] = {0.0};
  for (int d = 0; d < g->box->dim; ++d) delta[d] = i->x[d] - j->x[d];
  md_box_image(g->box, delta);
  for (int d = 0; d < g->box->dim; ++d) r2 = fma(delta[d], delta[d], r2);
  return md_distance_bin(r2, g->cutoff, g->per_bin, g->c->bins);
}

/* Counts many neighbours, and the particle itself if it is one of them. */
static void count_many(void *context, int thread, const md_neighbour *i, const md_neighbour *j,
                       const double *r2, int n)
{
  enum { MOST = 64 };
  const counting *g = context;
  const int bins = g->c->bins;
  const double per_bin = g->per_bin;
  int64_t *count = g->count + thread * size_of(g->c);
  int bin[MOST];
  for (int k = 0; k < n; ++k) bin[k] = md_distance_rough_bin(r2[k], per_bin, bins);
  for (int k = 0; k < n; ++k) {
    if (bin[k] == bins) continue;
    if (bin[k] < 0) bin[k] = exact_bin(g, i, &j[k]);
    if (g->all_types && bin[k] >= 0)
      ++count[MD_DISTANCE_BINS + bin[k]];
    else
      count_in(g, count, i, &j[k], bin[k]);
  }
}

/* Particles of the types of a pair: centres, neighbours, and those that are both. */
static void count_types(const compute_rdf *c, const md_particles *p, int64_t *count)
{
  for (int64_t i = 0; i < p->n; ++i) {
    if (!md_particles_in_group(p, md_group_bit(c->base.group), i)) continue;
    for (int m = 0; m < c->npair; ++m) {
      int64_t *number = count + (int64_t)m * (MD_DISTANCE_BINS + c->bins);
      const bool centre = md_type_pair_has(&c->pair[m], 0, p->type[i]);
      const bool other = md_type_pair_has(&c->pair[m], 1, p->type[i]);
      number[MD_DISTANCE_CENTRES] += centre;
      number[MD_DISTANCE_NEIGHBOURS] += other;
      number[MD_DISTANCE_BOTH] += centre && other;
    }
  }
}

/* ---- g(r) ---- */

/* As LAMMPS normalises it: a particle is no neighbour of itself. */
static void normalise_pair(compute_rdf *c, const md_box *box, double cutoff, int m, const int64_t *count)
{
  const double width = cutoff / c->bins, volume = md_box_volume(box);
  const double shell = box->dim == 3 ? 4.0 * PI / (3.0 * volume) : PI / volume;
  const double centres = (double)count[MD_DISTANCE_CENTRES], both = (double)count[MD_DISTANCE_BOTH];
  const double others = centres > 0.0 ? (double)count[MD_DISTANCE_NEIGHBOURS] - both / centres : 0.0;
  double neighbours = 0.0;
  for (int b = 0; b < c->bins; ++b) {
    const double lo = b * width, hi = (b + 1) * width;
    const double part = shell * (box->dim == 3 ? hi * hi * hi - lo * lo * lo : hi * hi - lo * lo);
    const double expected = part * others * centres;
    const double g = expected > 0.0 ? (double)count[MD_DISTANCE_BINS + b] / expected : 0.0;
    double *row = c->array + (int64_t)b * c->base.values.columns;
    neighbours += g * part * others;
    row[0] = (b + 0.5) * width;
    row[1 + 2 * m] = g;
    row[2 + 2 * m] = neighbours;
  }
}

/* Adds up the counts of all ranks, and makes g(r) of them. */
static md_status finish(compute_rdf *c, md_sim *sim, double cutoff, int64_t *count)
{
  MD_TRY(sim->comm->reduce->sum(sim->comm, count, (int)size_of(c)));
  for (int m = 0; m < c->npair; ++m)
    normalise_pair(c, &sim->model.box, cutoff, m, count + (int64_t)m * (MD_DISTANCE_BINS + c->bins));
  return MD_OK;
}

static md_status find_counts(compute_rdf *c, md_sim *sim, counting *g)
{
  const uint32_t group = md_group_bit(c->base.group);
  const int64_t size = size_of(c);
  const md_neighbour_search search = {
      .cutoff = g->cutoff, .group = group, .other = group, .visit = count_pair, .context = g};
  bool many = false;
  count_types(c, &sim->particles, g->count);
  MD_TRY(md_neighbours_visit_many(sim, &search, count_many, &many));
  for (int m = 0; m < c->npair && many; ++m) {
    int64_t *number = g->count + (int64_t)m * (MD_DISTANCE_BINS + c->bins);
    number[MD_DISTANCE_BINS] -= number[MD_DISTANCE_BOTH];
  }
  for (int t = 1; t < md_neighbour_threads(); ++t)
    for (int64_t k = 0; k < size; ++k) g->count[k] += g->count[t * size + k];
  return finish(c, sim, g->cutoff, g->count);
}

static double cutoff_of(const compute_rdf *c, const md_sim *sim)
{
  return c->cutoff > 0.0 ? c->cutoff : md_neighbour_cutoff(sim);
}

/* By the engine. */
static md_status find_in_place(md_host_compute *base, md_view *view, bool *found)
{
  compute_rdf *c = (compute_rdf *)base;
  md_sim *sim = view->sim;
  const double cutoff = cutoff_of(c, sim);
  md_distances d = {
      .cutoff = cutoff, .bins = c->bins, .npair = c->npair, .group = md_group_bit(c->base.group)};
  int64_t *count;
  if (!view->kind->distances || c->npair > MD_DISTANCE_PAIRS || !(cutoff > 0.0)) return MD_OK;
  d.per_bin = c->bins / cutoff;
  memcpy(d.pair, c->pair, (size_t)c->npair * sizeof d.pair[0]);
  md_status status = md_array_new_zero(&count, size_of(c), sizeof *count, "pairs of g(r)");
  MD_TRY(md_comm_agree(sim->comm, status));
  status = md_comm_agree(sim->comm, view->kind->distances(view->engine, &d, count, found));
  if (status == MD_OK && *found) status = finish(c, sim, cutoff, count);
  free(count);
  return status;
}

static md_status find(md_host_compute *base, md_view *view)
{
  compute_rdf *c = (compute_rdf *)base;
  md_sim *sim = view->sim;
  const double cutoff = cutoff_of(c, sim);
  counting g = {.c = c, .box = &sim->model.box, .cutoff = cutoff, .per_bin = c->bins / cutoff};
  const md_type_pair *first = &c->pair[0];
  g.all_types = c->npair == 1 && first->first[0] <= 1 && first->first[1] <= 1 &&
                first->last[0] >= sim->model.ntypes && first->last[1] >= sim->model.ntypes;
  if (!(cutoff > 0.0))
    return md_error(MD_USAGE, "the pair style has no cutoff: give one, `cutoff R` after the bins");
  md_status status =
      md_array_new_zero(&g.count, md_neighbour_threads() * size_of(c), sizeof *g.count, "pairs of g(r)");
  status = md_comm_agree(sim->comm, status);
  if (status == MD_OK) status = find_counts(c, sim, &g);
  free(g.count);
  return status;
}

static void free_array(md_host_compute *base)
{
  free(((compute_rdf *)base)->pair);
  free(((compute_rdf *)base)->array);
}

const md_host_compute_style md_compute_rdf_style = {
    .name = "rdf",
    .usage = "rdf NBIN [ITYPE JTYPE ...] [cutoff R]",
    .help = "radial distribution function of the group, an array: r, then g(r) and the number of neighbours\n"
            "within r for each pair of types, ITYPE in the centre; types may be ranges such as * or 2*3. Up\n"
            "to the cutoff of the forces, or R",
    .size = sizeof(compute_rdf),
    .parse = parse,
    .find_in_place = find_in_place,
    .find = find,
    .free = free_array,
};
