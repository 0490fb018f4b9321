/* compute pe/atom: the potential energy of each particle, half of the energy of each of its pairs and bonds.
 *
 * Terms are rounded as engines round them for the total energy (common/model.h), and summed as integers. So the values
 * have the same bits everywhere, and add up to c_thermo_pe. Energies of fixes are not among them. Shares of embedded
 * atoms and of triples, and the cost: pair_sums.h. Reference: the LAMMPS manual, compute pe/atom. */
#include "src/computes/host_compute.h"
#include "src/computes/pair_sums.h"
#include "src/output/observer.h"

typedef struct compute_pe {
  md_host_compute base;
  md_pair_sums_wanted wanted;
} compute_pe;

static md_status parse(md_host_compute *base, md_sim *sim, const md_words *words)
{
  compute_pe *c = (compute_pe *)base;
  (void)sim;
  c->wanted = (md_pair_sums_wanted){words->n == 0, words->n == 0};
  for (int w = 0; w < words->n; ++w)
    if (!md_pair_sums_keyword(words->word[w], &c->wanted))
      return md_error(MD_USAGE,
                      "compute pe/atom: unknown keyword '%.64s'; accepted are " MD_PAIR_SUMS_KEYWORDS,
                      words->word[w]);
  base->columns = 1;
  return MD_OK;
}

static md_status find(md_host_compute *base, md_view *view)
{
  return md_pair_energies(view->sim, base->group, ((compute_pe *)base)->wanted, base->each);
}

const md_host_compute_style md_compute_pe_atom_style = {
    .name = "pe/atom",
    .usage = "pe/atom [pair] [bond] [fix]",
    .help = "potential energy of each particle: half of the energies of its pairs and bonds, a third of "
            "those of its\n"
            "triples, and the embedding energy; fix, angle, dihedral, improper and kspace add nothing here",
    .size = sizeof(compute_pe),
    .parse = parse,
    .find = find,
};
