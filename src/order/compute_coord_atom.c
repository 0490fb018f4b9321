/* compute coord/atom: the number of neighbours of each particle within a distance, of any type or of given types.
 *
 * Numbers are whole, so that they are the same everywhere. Cost: that of the search of pairs
 * (src/computes/neighbours.h).
 * Reference: the LAMMPS manual, compute coord/atom. */
#include "common/sums/environment.h"
#include "src/computes/host_compute.h"
#include "src/computes/neighbours.h"
#include "src/group/dynamic_group.h"
#include "src/group/groups.h"
#include "src/output/observer.h"

#include <stdlib.h>
#include <string.h>

typedef struct compute_coord {
  md_host_compute base;
  double cutoff;
  int *first, *last;          /* [columns] types of the neighbours */
  md_environment environment; /* for engines */
} compute_coord;

static md_status parse(md_host_compute *base, md_sim *sim, const md_words *words)
{
  compute_coord *c = (compute_coord *)base;
  int at = 2;
  MD_TRY(md_sim_need_box(sim, "compute coord/atom"));
  if (words->n < 2 || strcmp(words->word[0], "cutoff") != 0)
    return md_error(MD_USAGE, "compute coord/atom takes `cutoff R`; orientorder is not available");
  MD_TRY(md_word_positive(words->word[1], "the cutoff of compute coord/atom", &c->cutoff));
  if (words->n > 3 && strcmp(words->word[2], "group") == 0) {
    MD_TRY(md_group_find(sim, words->word[3], &base->other_group));
    at = 4;
  }
  base->columns = words->n > at ? words->n - at : 1;
  base->vector = base->columns > 1;
  MD_TRY(md_array_new(&c->first, base->columns, sizeof *c->first, "types of neighbours"));
  MD_TRY(md_array_new(&c->last, base->columns, sizeof *c->last, "types of neighbours"));
  c->first[0] = 1;
  c->last[0] = sim->model.ntypes;
  for (int k = 0; at + k < words->n; ++k)
    MD_TRY(md_word_types(words->word[at + k], sim->model.ntypes, &c->first[k], &c->last[k]));
  return MD_OK;
}

static void count(void *context, int thread, const md_neighbour *i, const md_neighbour *j,
                  const double delta[3], double r2)
{
  compute_coord *c = context;
  double *number = c->base.each + (int64_t)i->index * c->base.columns;
  (void)thread;
  (void)delta;
  (void)r2;
  for (int k = 0; k < c->base.columns; ++k)
    if (j->type >= c->first[k] && j->type <= c->last[k]) number[k] += 1.0;
}

static const md_environment *environment(md_host_compute *base, const md_sim *sim)
{
  compute_coord *c = (compute_coord *)base;
  if (base->columns > MD_ENVIRONMENT_COLUMNS || md_dynamic_group_is(sim, c->base.other_group)) return NULL;
  c->environment = (md_environment){.kind = MD_ENVIRONMENT_COORDINATION,
                                    .cutoff = c->cutoff,
                                    .group = md_group_bit(base->group),
                                    .other = md_group_bit(c->base.other_group),
                                    .columns = base->columns};
  memcpy(c->environment.first, c->first, (size_t)base->columns * sizeof *c->first);
  memcpy(c->environment.last, c->last, (size_t)base->columns * sizeof *c->last);
  return &c->environment;
}

static md_status find(md_host_compute *base, md_view *view)
{
  compute_coord *c = (compute_coord *)base;
  const md_neighbour_search search = {.cutoff = c->cutoff,
                                      .group = md_group_bit(base->group),
                                      .other = md_group_bit(c->base.other_group),
                                      .visit = count,
                                      .context = c};
  return md_neighbours_visit(view->sim, &search);
}

static void free_types(md_host_compute *base)
{
  free(((compute_coord *)base)->first);
  free(((compute_coord *)base)->last);
}

const md_host_compute_style md_compute_coord_atom_style = {
    .name = "coord/atom",
    .usage = "coord/atom cutoff R [group GROUP] [TYPES ...]",
    .help =
        "number of neighbours of each particle within R, of the group GROUP; with TYPES one number for each\n"
        "type or range of types such as 2*3, as c_ID[1], c_ID[2] and so on",
    .size = sizeof(compute_coord),
    .parse = parse,
    .find = find,
    .environment = environment,
    .free = free_types,
};
