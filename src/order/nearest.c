/* The neighbours of each particle as lists; see nearest.h.
 *
 * Neighbours come in an order that depends on ranks and cells. A list takes them as they come, is sorted now and then,
 * and keeps the nearest ones. Distances and differences are the same everywhere, so that the lists are too, and sums
 * along a list have the same bits. Cost: that of the search of pairs (src/computes/neighbours.h), and a sort of each
 * list. Memory: 40 bytes a neighbour. A list of the N nearest has room for up to 4 N + 16. */
#include "src/order/nearest.h"
#include "common/ranks/reductions.h"
#include "src/computes/neighbours.h"
#include "src/deck/command.h"

#include <stdlib.h>
#include <string.h>

typedef struct gathering {
  md_near_list *lists;
  int64_t most;
  bool failed; /* out of memory */
} gathering;

static int by_distance(const void *a, const void *b)
{
  const md_near *p = a, *q = b;
  if (p->r2 != q->r2) return p->r2 < q->r2 ? -1 : 1;
  if (p->id != q->id) return p->id < q->id ? -1 : 1;
  for (int d = 0; d < 3; ++d)
    if (p->delta[d] != q->delta[d]) return p->delta[d] < q->delta[d] ? -1 : 1;
  return 0;
}

static void sort(md_near_list *list, int64_t most)
{
  if (list->n > 1) qsort(list->at, (size_t)list->n, sizeof *list->at, by_distance);
  if (most > 0 && list->n > most) list->n = most;
}

/* Makes room for one more neighbour. */
static bool grow(md_near_list *list, int64_t most)
{
  if (most > 0 && list->n >= 4 * most + 16) sort(list, most);
  if (list->n < list->room) return true;
  const int64_t room = 2 * list->room + 16;
  md_near *larger = realloc(list->at, (size_t)room * sizeof *larger);
  if (!larger) return false;
  list->at = larger;
  list->room = room;
  return true;
}

/* One thread sees all neighbours of an i. */
static void add(void *context, int thread, const md_neighbour *i, const md_neighbour *j,
                const double delta[3], double r2)
{
  gathering *g = context;
  md_near_list *list = &g->lists[i->index];
  (void)thread;
  if (grow(list, g->most)) {
    list->at[list->n++] = (md_near){r2, {-delta[0], -delta[1], -delta[2]}, j->id};
  } else {
#pragma omp atomic write
    g->failed = true;
  }
}

md_status md_near_make(md_sim *sim, const md_near_search *search, md_near_list **lists)
{
  const int64_t n = sim->particles.n;
  gathering g = {NULL, search->most, false};
  const md_neighbour_search pairs = {.cutoff = search->cutoff,
                                     .group = md_group_bit(search->group),
                                     .other = MD_GROUP_ALL,
                                     .visit = add,
                                     .context = &g};
  *lists = NULL;
  MD_TRY(md_comm_agree(sim->comm, md_array_new_zero(&g.lists, n + 1, sizeof *g.lists, "neighbours")));
  md_status status = md_neighbours_visit(sim, &pairs);
  if (status == MD_OK && g.failed)
    status = md_error(MD_RUNTIME, "out of memory for the neighbours of particles");
  status = md_comm_agree(sim->comm, status);
  if (status != MD_OK) {
    md_near_free(g.lists, n);
    return status;
  }
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; ++i) sort(&g.lists[i], search->most);
  *lists = g.lists;
  return MD_OK;
}

void md_near_free(md_near_list *lists, int64_t particles)
{
  for (int64_t i = 0; lists && i < particles; ++i) free(lists[i].at);
  free(lists);
}

md_status md_near_read(const md_words *words, const char *what, int *at, md_near_search *search, bool *known)
{
  const char *keyword = words->word[*at];
  const bool cutoff = strcmp(keyword, "cutoff") == 0;
  *known = cutoff || strcmp(keyword, "nnn") == 0;
  if (!*known) return MD_OK;
  if (*at + 1 == words->n) return md_error(MD_USAGE, "%s: the value of %s is missing", what, keyword);
  const char *value = words->word[*at + 1];
  *at += 2;
  if (cutoff) return md_word_positive(value, "the cutoff of neighbours", &search->cutoff);
  search->most = 0;
  if (strcmp(value, "NULL") == 0) return MD_OK;
  return md_word_int64(value, "the number of nearest neighbours, nnn,", 1, 1 << 20, &search->most);
}

md_near_search md_near_with_cutoff(const md_sim *sim, md_near_search search)
{
  if (search.cutoff == 0.0) search.cutoff = md_neighbour_cutoff(sim);
  return search;
}
