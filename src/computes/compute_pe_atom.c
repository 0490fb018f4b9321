/* compute pe/atom: the potential energy of each particle, half of the energy of each of its pairs.
 *
 * The energy of a pair is rounded as engines round it for the total energy (common/model.h), and summed as an integer.
 * So the values have the same bits everywhere, and add up to c_thermo_pe. Energies of fixes are not among them. Cost:
 * that of the search of pairs (neighbours.h). Reference: the LAMMPS manual, compute pe/atom. */
#include "src/computes/host_compute.h"
#include "src/computes/pair_sums.h"
#include "src/output/observer.h"

#include <stdlib.h>
#include <string.h>

typedef struct compute_pe {
  md_host_compute base;
  bool pairs;
} compute_pe;

static md_status parse(md_host_compute *base, md_sim *sim, const md_words *words)
{
  compute_pe *c = (compute_pe *)base;
  (void)sim;
  c->pairs = words->n == 0;
  for (int w = 0; w < words->n; ++w) {
    const bool pair = strcmp(words->word[w], "pair") == 0;
    c->pairs = c->pairs || pair;
    if (!pair && strcmp(words->word[w], "fix") != 0)
      return md_error(MD_USAGE, "compute pe/atom: unknown keyword '%.64s'; accepted are pair, fix",
                      words->word[w]);
  }
  base->columns = 1;
  return MD_OK;
}

static void add(const md_model *model, const double delta[3], double r2, const double *k, md_fine *sum)
{
  (void)delta;
  md_fine_add(sum, md_pair_energy(model->pair.kind, r2, k) / (model->grids.e * MD_FINE));
}

static md_status find(md_host_compute *base, md_view *view)
{
  md_sim *sim = view->sim;
  md_fine *sum;
  if (!((compute_pe *)base)->pairs) return MD_OK;
  MD_TRY(md_pair_sums(sim, base->group, 1, add, &sum));
  for (int64_t i = 0; i < sim->particles.n; ++i)
    base->each[i] = 0.5 * md_fine_value(sum[i]) * sim->model.grids.e;
  free(sum);
  return MD_OK;
}

const md_host_compute_style md_compute_pe_atom_style = {
    .name = "pe/atom",
    .usage = "pe/atom [pair] [fix]",
    .help = "potential energy of each particle: half of the energies of its pairs; fix adds nothing here",
    .size = sizeof(compute_pe),
    .parse = parse,
    .find = find,
};
