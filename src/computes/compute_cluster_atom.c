/* compute cluster/atom: clusters of particles, each of which is within a distance of another one of its cluster. The
 * value of a particle is the least id in its cluster.
 *
 * 1. A search of pairs (neighbours.h) joins the particles of this rank: a forest, whose roots stand for clusters.
 *    Several threads join trees at once. Pairs with particles of other ranks are kept as links.
 * 2. Each root gets the least id of its tree.
 * 3. A tree that got a smaller id sends it along its links. The owner of the particle at the other end gives it to the
 *    tree there. This is repeated until no rank has anything to send.
 *
 * The value does not depend on the order of joins, on threads or on ranks. Clusters go on through periodic faces.
 * Cost: a search of pairs, and on several ranks as many messages as a cluster crosses faces of domains, at most.
 * Memory: 20 bytes for each particle, and 12 to 60 for each link.
 * References: the LAMMPS manual, compute cluster/atom; Jayanti and Tarjan, PODC 2016 (joins of several threads). */
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"
#include "common/sums/environment.h"
#include "src/computes/host_compute.h"
#include "src/computes/neighbours.h"
#include "src/group/groups.h"
#include "src/output/observer.h"

#include <stdlib.h>

typedef struct compute_cluster {
  md_host_compute base;
  double cutoff;
  md_environment environment; /* for engines */
} compute_cluster;

/* A pair of a particle of this rank and one of another rank, by their local indices. */
typedef struct link {
  int32_t own, rank, other;
} link;

/* The links that one thread has found. */
typedef struct links {
  link *at;
  int64_t n, room;
  bool full; /* there was no memory for a further one */
} links;

/* A smaller id for the tree of a particle of the rank that receives it. */
typedef struct news {
  int64_t least;
  int64_t index;
} news;

typedef struct forest {
  const md_particles *particles;
  int32_t rank;
  /* [particles] the next particle on the way to the root; a root: itself. Never a larger index */
  int32_t *above;
  int64_t *least; /* [particles] of a root: the least id of its cluster, as far as it is known */
  int64_t *told;  /* [particles] of a root: the id that the other ends of its links know */
  int threads;
  links *of; /* [threads] */
} forest;

static md_status parse(md_host_compute *base, md_sim *sim, const md_words *words)
{
  MD_TRY(md_sim_need_box(sim, "compute cluster/atom"));
  if (words->n != 1)
    return md_error(MD_USAGE, "compute cluster/atom takes one number, the cutoff, and not %d words",
                    words->n);
  base->columns = 1;
  return md_word_positive(words->word[0], "the cutoff of compute cluster/atom",
                          &((compute_cluster *)base)->cutoff);
}

/* ---- trees ---- */

/* The root of the tree of a particle. The way there gets shorter. */
static int32_t root_of(int32_t *above, int32_t i)
{
  for (;;) {
    int32_t next = __atomic_load_n(&above[i], __ATOMIC_RELAXED);
    if (next == i) return i;
    const int32_t farther = __atomic_load_n(&above[next], __ATOMIC_RELAXED);
    if (farther == next) return next;
    __atomic_compare_exchange_n(&above[i], &next, farther, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    i = farther;
  }
}

/* Joins two trees. A root gets another one above it only while it is a root, and only one with a smaller index. */
static void join(int32_t *above, int32_t a, int32_t b)
{
  for (;;) {
    a = root_of(above, a);
    b = root_of(above, b);
    if (a == b) return;
    int32_t high = a > b ? a : b;
    const int32_t low = a > b ? b : a;
    const int32_t child = high;
    if (__atomic_compare_exchange_n(&above[child], &high, low, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return;
  }
}

static void keep_link(links *l, link found)
{
  if (l->n == l->room) {
    const int64_t room = 2 * l->room + 256;
    link *at = realloc(l->at, (size_t)room * sizeof *at);
    l->full = l->full || !at;
    if (!at) return;
    l->at = at;
    l->room = room;
  }
  l->at[l->n++] = found;
}

static void meet(void *context, int thread, const md_neighbour *i, const md_neighbour *j,
                 const double delta[3], double r2)
{
  forest *f = context;
  (void)delta;
  (void)r2;
  if (j->rank != f->rank)
    keep_link(&f->of[thread], (link){i->index, j->rank, j->index});
  else if (i->index < j->index) /* the other order of the pair comes too */
    join(f->above, i->index, j->index);
}

static md_status plant(forest *f)
{
  const int64_t n = f->particles->n;
  MD_TRY(md_array_new(&f->above, n + 1, sizeof *f->above, "clusters"));
  MD_TRY(md_array_new(&f->least, n + 1, sizeof *f->least, "clusters"));
  MD_TRY(md_array_new(&f->told, n + 1, sizeof *f->told, "clusters"));
  MD_TRY(md_array_new_zero(&f->of, f->threads, sizeof *f->of, "links of clusters"));
  for (int64_t i = 0; i < n; ++i) {
    f->above[i] = (int32_t)i;
    f->least[i] = f->told[i] = INT64_MAX;
  }
  return MD_OK;
}

static void find_least(forest *f)
{
  for (int64_t i = 0; i < f->particles->n; ++i) {
    int64_t *least = &f->least[root_of(f->above, (int32_t)i)];
    if (f->particles->id[i] < *least) *least = f->particles->id[i];
  }
}

static void cut_down(forest *f)
{
  for (int t = 0; f->of && t < f->threads; ++t) free(f->of[t].at);
  free(f->of);
  free(f->above);
  free(f->least);
  free(f->told);
}

/* ---- clusters over ranks ---- */

static int64_t count_links(const forest *f)
{
  int64_t n = 0;
  for (int t = 0; t < f->threads; ++t) n += f->of[t].n;
  return n;
}

/* Writes news for the other end of each link of a tree whose least id has changed. Returns their number. */
static int64_t collect(forest *f, int32_t *to, news *sent)
{
  int64_t n = 0;
  for (int t = 0; t < f->threads; ++t)
    for (int64_t k = 0; k < f->of[t].n; ++k) {
      const link *l = &f->of[t].at[k];
      const int32_t root = root_of(f->above, l->own);
      if (f->least[root] == f->told[root]) continue;
      to[n] = l->rank;
      sent[n++] = (news){f->least[root], l->other};
    }
  for (int64_t i = 0; i < f->particles->n; ++i) f->told[i] = f->least[i];
  return n;
}

/* One exchange. *sent_by_all: receives the number of news of all ranks; 0: all is known. */
static md_status exchange(forest *f, md_comm *comm, int32_t *to, news *sent, int64_t *sent_by_all)
{
  const int64_t n = collect(f, to, sent);
  void *received = NULL;
  int64_t count = 0;
  *sent_by_all = n;
  MD_TRY(comm->reduce->sum(comm, sent_by_all, 1));
  if (*sent_by_all == 0) return MD_OK;
  MD_TRY(comm->exchange->sparse_exchange(comm, n, to, sent, sizeof *sent, &received, &count));
  const news *heard = received;
  for (int64_t k = 0; k < count; ++k) {
    int64_t *least = &f->least[root_of(f->above, (int32_t)heard[k].index)];
    if (heard[k].least < *least) *least = heard[k].least;
  }
  free(received);
  return MD_OK;
}

static md_status spread(forest *f, md_comm *comm)
{
  int32_t *to = NULL;
  news *sent = NULL;
  int64_t left = 1;
  const int64_t n = count_links(f) + 1;
  md_status status = md_array_new(&to, n, sizeof *to, "links of clusters");
  if (status == MD_OK) status = md_array_new(&sent, n, sizeof *sent, "links of clusters");
  status = md_comm_agree(comm, status);
  while (status == MD_OK && left > 0) status = exchange(f, comm, to, sent, &left);
  free(to);
  free(sent);
  return status;
}

/* ---- the compute ---- */

static md_status find_clusters(forest *f, md_sim *sim, const md_host_compute *base)
{
  const uint32_t bit = md_group_bit(base->group);
  const md_neighbour_search search = {.cutoff = ((const compute_cluster *)base)->cutoff,
                                      .group = bit,
                                      .other = bit,
                                      .visit = meet,
                                      .context = f};
  if (!md_sim_ids_are_exact(sim))
    return md_error(
        MD_USAGE,
        "compute cluster/atom: a cluster has the smallest id of its particles as its number, where ids "
        "above 2^53 are not told apart, and there is the id %lld",
        (long long)sim->max_id);
  MD_TRY(md_comm_agree(sim->comm, plant(f)));
  MD_TRY(md_neighbours_visit(sim, &search));
  bool full = false;
  for (int t = 0; t < f->threads; ++t) full = full || f->of[t].full;
  MD_TRY(
      md_comm_agree(sim->comm, full ? md_error(MD_RUNTIME, "out of memory for links of clusters") : MD_OK));
  find_least(f);
  if (sim->comm->size > 1) MD_TRY(spread(f, sim->comm));
  for (int64_t i = 0; i < f->particles->n; ++i)
    if (md_particles_in_group(f->particles, bit, i))
      base->each[i] = (double)f->least[root_of(f->above, (int32_t)i)];
  return MD_OK;
}

static const md_environment *environment(md_host_compute *base, const md_sim *sim)
{
  compute_cluster *c = (compute_cluster *)base;
  const uint32_t group = md_group_bit(base->group);
  if (!md_sim_ids_are_exact(sim)) return NULL;
  c->environment = (md_environment){
      .kind = MD_ENVIRONMENT_CLUSTER, .cutoff = c->cutoff, .group = group, .other = group, .columns = 1};
  return &c->environment;
}

static md_status find(md_host_compute *base, md_view *view)
{
  md_sim *sim = view->sim;
  forest f = {
      .particles = &sim->particles, .rank = (int32_t)sim->comm->rank, .threads = md_neighbour_threads()};
  const md_status status = find_clusters(&f, sim, base);
  cut_down(&f);
  return status;
}

const md_host_compute_style md_compute_cluster_atom_style = {
    .name = "cluster/atom",
    .usage = "cluster/atom R",
    .help =
        "clusters of particles, each within R of another one of its cluster: the least id in the cluster of\n"
        "each particle, 0 outside the group; R may be larger than the cutoff of the pair style",
    .size = sizeof(compute_cluster),
    .parse = parse,
    .find = find,
    .environment = environment,
    .between = true,
};
