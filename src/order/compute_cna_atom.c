/* compute cna/atom: the crystal around each particle, by common-neighbour analysis: 1 fcc, 2 hcp, 3 bcc,
 * 4 icosahedral, 5 none of them; 0 for particles outside the group.
 *
 * For each neighbour of a particle: how many neighbours both have in common, how many bonds there are between these,
 * and the most and the least bonds of one of them. The numbers of all neighbours together name the crystal. Neighbours
 * are those within the cutoff, so that all common ones are in the list of the particle (nearest.h). All is counted in
 * whole numbers. An engine may do this in place (common/sums/environment.h). Cost: the lists, and 14 x 14 distances for
 * each particle.
 * References: Faken and Jonsson, Comput. Mater. Sci. 2, 279 (1994); Tsuzuki, Branicio and Rino, Comput. Phys. Commun.
 * 177, 518 (2007); the LAMMPS manual, compute cna/atom. */
#include "common/sums/environment.h"
#include "src/computes/host_compute.h"
#include "src/deck/command.h"
#include "src/order/nearest.h"
#include "src/output/observer.h"

#include <string.h>

typedef struct compute_cna {
  md_host_compute base;
  double cutoff;
  md_environment environment; /* for engines */
} compute_cna;

static md_status parse(md_host_compute *base, md_sim *sim, const md_words *words)
{
  (void)sim;
  if (words->n != 1) return md_error(MD_USAGE, "compute cna/atom takes a cutoff, and nothing more");
  base->columns = 1;
  return md_word_positive(words->word[0], "the cutoff of compute cna/atom", &((compute_cna *)base)->cutoff);
}

static int crystal_of(const md_near_list *list, double cutoff2)
{
  double delta[MD_CRYSTAL_NEIGHBOURS][3];
  for (int64_t k = 0; k < list->n; ++k) memcpy(delta[k], list->at[k].delta, sizeof delta[k]);
  return md_crystal((int)list->n, (const double(*)[3])delta, cutoff2);
}

static const md_environment *environment(md_host_compute *base, const md_sim *sim)
{
  compute_cna *c = (compute_cna *)base;
  (void)sim;
  c->environment = (md_environment){.kind = MD_ENVIRONMENT_CRYSTAL,
                                    .cutoff = c->cutoff,
                                    .group = md_group_bit(base->group),
                                    .other = MD_GROUP_ALL,
                                    .columns = 1};
  return &c->environment;
}

static md_status find(md_host_compute *base, md_view *view)
{
  const md_particles *p = &view->sim->particles;
  const double cutoff = ((compute_cna *)base)->cutoff;
  /* One neighbour more than any crystal has says that there are too many. */
  const md_near_search search = {cutoff, base->group, MD_CRYSTAL_NEIGHBOURS + 1};
  md_near_list *lists;
  MD_TRY(md_near_make(view->sim, &search, &lists));
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    if (!md_particles_in_group(p, md_group_bit(base->group), i)) continue;
    const bool few = lists[i].n <= MD_CRYSTAL_NEIGHBOURS;
    base->each[i] = few ? crystal_of(&lists[i], cutoff * cutoff) : MD_CRYSTAL_NONE;
  }
  md_near_free(lists, p->n);
  return MD_OK;
}

const md_host_compute_style md_compute_cna_atom_style = {
    .name = "cna/atom",
    .usage = "cna/atom R",
    .help =
        "crystal around each particle, by common-neighbour analysis of its neighbours within R:\n"
        "1 fcc, 2 hcp, 3 bcc, 4 icosahedral, 5 none of them, 0 outside the group; R lies between two shells",
    .size = sizeof(compute_cna),
    .parse = parse,
    .find = find,
    .environment = environment,
};
