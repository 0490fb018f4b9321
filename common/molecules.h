/* Pairs of particles that do not interact because of their molecules: neigh_modify exclude molecule.
 *
 * An exclusion holds for pairs of particles that are both in its group: for those of one molecule, or for those of
 * different ones. Particles without a molecule have the number 0, and are as one molecule, as in LAMMPS.
 * Reference: the LAMMPS manual, neigh_modify.
 */
#ifndef MD_COMMON_MOLECULES_H
#define MD_COMMON_MOLECULES_H

#include "common/arithmetic/real.h"

#include <stdbool.h>
#include <stdint.h>

enum { MD_MOLECULES_MAX = 8 };

typedef struct md_molecules {
  int n; /* exclusions */
  int group[MD_MOLECULES_MAX];
  bool inter[MD_MOLECULES_MAX]; /* of pairs in different molecules, else of pairs in one molecule */
} md_molecules;

/* Does a pair not interact? groups: bits of the groups that have both particles, that of group 0 among them. same: the
 * particles are of one molecule. */
MD_FN bool md_molecules_exclude(const md_molecules *m, uint32_t groups, bool same)
{
  bool excluded = false;
  for (int k = 0; k < m->n; ++k)
    excluded = excluded || ((groups >> m->group[k] & 1u) != 0 && same != m->inter[k]);
  return excluded;
}

#endif
