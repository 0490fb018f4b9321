/* compute hexorder/atom: the bond order of each particle in the plane, the mean of e^(i n theta) over its neighbours.
 *
 * theta is the angle of a bond, from the neighbour, to the x axis. e^(i theta) is (x + i y)/r with r of x and y alone,
 * and its power needs only products. A bond along z has theta = 0. Sums go along sorted lists (nearest.h): the same
 * bits everywhere. An engine may do this in place (common/sums/environment.h). Cost: the lists, and n products a
 * neighbour.
 * References: Nelson and Halperin, Phys. Rev. B 19, 2457 (1979); the LAMMPS manual, compute hexorder/atom. */
#include "common/sums/environment.h"
#include "src/computes/host_compute.h"
#include "src/deck/command.h"
#include "src/order/nearest.h"
#include "src/output/observer.h"

#include <string.h>

typedef struct compute_hexorder {
  md_host_compute base;
  md_near_search search;
  int64_t degree;
  md_environment environment; /* for engines */
} compute_hexorder;

static md_status parse(md_host_compute *base, md_sim *sim, const md_words *words)
{
  compute_hexorder *c = (compute_hexorder *)base;
  (void)sim;
  c->search = (md_near_search){.group = base->group, .most = 6};
  c->degree = 6;
  for (int at = 0; at < words->n;) {
    bool near;
    const char *keyword = words->word[at];
    MD_TRY(md_near_read(words, "compute hexorder/atom", &at, &c->search, &near));
    if (near) continue;
    if (strcmp(keyword, "degree") != 0 || at + 1 == words->n)
      return md_error(MD_USAGE, "compute hexorder/atom: '%.64s' is not cutoff R, nnn N or degree N", keyword);
    MD_TRY(md_word_int64(words->word[at + 1], "the degree of compute hexorder/atom", 0, 1000, &c->degree));
    at += 2;
  }
  base->columns = 2;
  base->vector = true;
  return MD_OK;
}

static void find_one(const compute_hexorder *c, const md_near_list *list, double each[2])
{
  for (int64_t k = 0; k < list->n; ++k) md_hexatic_add(list->at[k].delta, c->degree, each);
  md_hexatic_end(list->n, c->search.most, each);
}

static const md_environment *environment(md_host_compute *base, const md_sim *sim)
{
  compute_hexorder *c = (compute_hexorder *)base;
  c->environment = (md_environment){.kind = MD_ENVIRONMENT_HEXATIC,
                                    .cutoff = md_near_with_cutoff(sim, c->search).cutoff,
                                    .group = md_group_bit(base->group),
                                    .other = MD_GROUP_ALL,
                                    .columns = base->columns,
                                    .most = c->search.most,
                                    .degree = c->degree};
  return &c->environment;
}

static md_status find(md_host_compute *base, md_view *view)
{
  const compute_hexorder *c = (compute_hexorder *)base;
  const int64_t n = view->sim->particles.n;
  const md_near_search search = md_near_with_cutoff(view->sim, c->search);
  md_near_list *lists;
  MD_TRY(md_near_make(view->sim, &search, &lists));
  for (int64_t i = 0; i < n; ++i) find_one(c, &lists[i], base->each + 2 * i);
  md_near_free(lists, n);
  return MD_OK;
}

const md_host_compute_style md_compute_hexorder_atom_style = {
    .name = "hexorder/atom",
    .usage = "hexorder/atom [degree N] [nnn N|NULL] [cutoff R]",
    .help = "bond order of each particle in the plane x y, the mean of e^(i N theta) over its nearest "
            "neighbours:\n"
            "c_ID[1] is its real and c_ID[2] its imaginary part; degree 6, nnn 6 and the cutoff of the "
            "forces by default",
    .size = sizeof(compute_hexorder),
    .parse = parse,
    .find = find,
    .environment = environment,
};
