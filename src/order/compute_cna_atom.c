/* compute cna/atom: the crystal around each particle, by common-neighbour analysis: 1 fcc, 2 hcp, 3 bcc,
 * 4 icosahedral, 5 none of them; 0 for particles outside the group.
 *
 * For each neighbour of a particle: how many neighbours both have in common, how many bonds there are between these,
 * and the most and the least bonds of one of them. The numbers of all neighbours together name the crystal. Neighbours
 * are those within the cutoff, so that all common ones are in the list of the particle (nearest.h). All is counted in
 * whole numbers. Cost: the lists, and 14 x 14 distances for each particle.
 * References: Faken and Jonsson, Comput. Mater. Sci. 2, 279 (1994); Tsuzuki, Branicio and Rino, Comput. Phys. Commun.
 * 177, 518 (2007); the LAMMPS manual, compute cna/atom. */
#include "src/computes/host_compute.h"
#include "src/deck/command.h"
#include "src/order/nearest.h"
#include "src/output/observer.h"

#include <math.h>
#include <string.h>

enum { FCC = 1, HCP, BCC, ICOSAHEDRAL, NONE, MOST_NEIGHBOURS = 14 };

typedef struct compute_cna {
  md_host_compute base;
  double cutoff;
} compute_cna;

/* What is counted for one neighbour. */
typedef struct signature {
  int common, bonds, most, least;
} signature;

static md_status parse(md_host_compute *base, md_sim *sim, const md_words *words)
{
  (void)sim;
  if (words->n != 1) return md_error(MD_USAGE, "compute cna/atom takes a cutoff, and nothing more");
  base->columns = 1;
  return md_word_positive(words->word[0], "the cutoff of compute cna/atom", &((compute_cna *)base)->cutoff);
}

static bool are_bonded(const md_near *a, const md_near *b, double cutoff2)
{
  double r2 = 0.0;
  for (int d = 0; d < 3; ++d) {
    const double delta = a->delta[d] - b->delta[d];
    r2 = fma(delta, delta, r2);
  }
  return r2 < cutoff2;
}

static signature count(int n, bool bond[MOST_NEIGHBOURS][MOST_NEIGHBOURS], int of)
{
  signature s = {0, 0, 0, n};
  for (int k = 0; k < n; ++k) {
    int bonds = 0;
    if (!bond[of][k]) continue;
    for (int m = 0; m < n; ++m) bonds += bond[of][m] && bond[k][m];
    ++s.common;
    s.bonds += bonds;
    if (bonds > s.most) s.most = bonds;
    if (bonds < s.least) s.least = bonds;
  }
  s.bonds /= 2;
  return s;
}

static bool is(signature s, int common, int bonds, int most, int least)
{
  return s.common == common && s.bonds == bonds && s.most == most && s.least == least;
}

static int crystal_of(const md_near_list *list, double cutoff2)
{
  const int n = (int)list->n;
  bool bond[MOST_NEIGHBOURS][MOST_NEIGHBOURS] = {{false}};
  int fcc = 0, hcp = 0, bcc4 = 0, bcc6 = 0, icosahedral = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) bond[i][j] = i != j && are_bonded(&list->at[i], &list->at[j], cutoff2);
  for (int k = 0; k < n; ++k) {
    const signature s = count(n, bond, k);
    fcc += is(s, 4, 2, 1, 1);
    hcp += is(s, 4, 2, 2, 0);
    bcc4 += is(s, 4, 4, 2, 2);
    bcc6 += is(s, 6, 6, 2, 2);
    icosahedral += is(s, 5, 5, 2, 2);
  }
  if (n == 12 && fcc == 12) return FCC;
  if (n == 12 && fcc == 6 && hcp == 6) return HCP;
  if (n == 12 && icosahedral == 12) return ICOSAHEDRAL;
  return n == 14 && bcc4 == 6 && bcc6 == 8 ? BCC : NONE;
}

static md_status find(md_host_compute *base, md_view *view)
{
  const md_particles *p = &view->sim->particles;
  const double cutoff = ((compute_cna *)base)->cutoff;
  /* One neighbour more than any crystal has says that there are too many. */
  const md_near_search search = {cutoff, base->group, MOST_NEIGHBOURS + 1};
  md_near_list *lists;
  MD_TRY(md_near_make(view->sim, &search, &lists));
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    if (!md_particles_in_group(p, md_group_bit(base->group), i)) continue;
    const bool few = lists[i].n <= MOST_NEIGHBOURS;
    base->each[i] = few ? crystal_of(&lists[i], cutoff * cutoff) : NONE;
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
};
