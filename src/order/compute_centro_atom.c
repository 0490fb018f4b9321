/* compute centro/atom: the centro-symmetry of each particle, how far its neighbours are from lying in opposite pairs.
 *
 *      sum of the N/2 least |R_i + R_j|^2, over all pairs i < j of its N nearest neighbours
 *
 * It is 0 in a perfect lattice, and large at defects and surfaces. Pairs that share a neighbour may both count, as in
 * LAMMPS. The least terms are added in their order: the same bits everywhere. An engine may do this in place
 * (common/sums/environment.h). Cost: the lists (nearest.h), and N (N - 1)/2 squares for each particle.
 * References: Kelchner, Plimpton and Hamilton, Phys. Rev. B 58, 11085 (1998); the LAMMPS manual, centro/atom. */
#include "common/sums/environment.h"
#include "src/computes/host_compute.h"
#include "src/computes/neighbours.h"
#include "src/deck/command.h"
#include "src/order/nearest.h"
#include "src/output/observer.h"

#include <string.h>

typedef struct compute_centro {
  md_host_compute base;
  int n;                      /* nearest neighbours */
  md_environment environment; /* for engines */
} compute_centro;

static md_status parse(md_host_compute *base, md_sim *sim, const md_words *words)
{
  compute_centro *c = (compute_centro *)base;
  int64_t n;
  bool axes = false;
  (void)sim;
  if (words->n != 1 && words->n != 3)
    return md_error(MD_USAGE, "compute centro/atom takes fcc, bcc or a number of neighbours, and axes no");
  const char *lattice = words->word[0];
  if (strcmp(lattice, "fcc") == 0) {
    n = 12;
  } else if (strcmp(lattice, "bcc") == 0) {
    n = 8;
  } else {
    MD_TRY(md_word_int64(lattice, "the neighbours of compute centro/atom (or fcc, bcc)", 2,
                         MD_CENTRO_NEIGHBOURS, &n));
  }
  if (n % 2 != 0)
    return md_error(MD_USAGE, "compute centro/atom: the number of neighbours must be even, not %d", (int)n);
  if (words->n == 3) {
    if (strcmp(words->word[1], "axes") != 0)
      return md_error(MD_USAGE, "compute centro/atom: unknown keyword '%.64s'; accepted is axes no",
                      words->word[1]);
    MD_TRY(md_word_bool(words->word[2], "compute centro/atom axes", &axes));
  }
  if (axes)
    return md_error(MD_USAGE,
                    "compute centro/atom: axes yes is not available, because which of several equal pairs "
                    "gives an axis would depend on rounding");
  c->n = (int)n;
  base->columns = 1;
  return MD_OK;
}

/* Particles with too few neighbours keep 0, as in LAMMPS. */
static void find_one(const compute_centro *c, const md_near_list *list, double *each)
{
  double delta[MD_CENTRO_NEIGHBOURS][3];
  if (list->n < c->n) return;
  for (int k = 0; k < c->n; ++k) memcpy(delta[k], list->at[k].delta, sizeof delta[k]);
  *each = md_centro(c->n, (const double(*)[3])delta);
}

static const md_environment *environment(md_host_compute *base, const md_sim *sim)
{
  compute_centro *c = (compute_centro *)base;
  c->environment = (md_environment){.kind = MD_ENVIRONMENT_CENTRO,
                                    .cutoff = md_neighbour_cutoff(sim),
                                    .group = md_group_bit(base->group),
                                    .other = MD_GROUP_ALL,
                                    .columns = 1,
                                    .most = c->n};
  return &c->environment;
}

static md_status find(md_host_compute *base, md_view *view)
{
  const compute_centro *c = (compute_centro *)base;
  const int64_t n = view->sim->particles.n;
  const md_near_search search =
      md_near_with_cutoff(view->sim, (md_near_search){.group = base->group, .most = c->n});
  md_near_list *lists;
  MD_TRY(md_near_make(view->sim, &search, &lists));
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; ++i) find_one(c, &lists[i], &base->each[i]);
  md_near_free(lists, n);
  return MD_OK;
}

const md_host_compute_style md_compute_centro_atom_style = {
    .name = "centro/atom",
    .usage = "centro/atom fcc|bcc|N [axes no]",
    .help = "centro-symmetry of each particle: the sum of the N/2 least |R_i + R_j|^2 over pairs of its N\n"
            "nearest neighbours (fcc 12, bcc 8) within the cutoff of the forces; 0 if it has fewer",
    .size = sizeof(compute_centro),
    .parse = parse,
    .find = find,
    .environment = environment,
};
