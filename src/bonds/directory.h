/* A directory of bonds: the bonds and the place of any particle, by its id, wherever the particle is.
 *
 *   1  Every rank gives bonds and places of its particles to the ranks that the ids determine, which keep a table.
 *   2  A rank asks these ranks about any ids.
 *
 * Trade-off: particles may be on any rank in any order, and nothing is kept of them between runs. Cost: two sparse
 * exchanges a call, of 16 bytes for a question and 96 for an answer; 96 bytes a particle for the entries, and 4 to 48
 * for the table.
 */
#ifndef MD_SRC_BONDS_DIRECTORY_H
#define MD_SRC_BONDS_DIRECTORY_H

#include "src/particles/id_table.h"
#include "src/sim.h"

typedef struct md_bond_entry {
  int64_t id, bond[MD_BONDS_MAX];
  double x[3];
} md_bond_entry;

typedef struct md_bond_answer {
  int64_t question; /* its number; negative: there is no such particle */
  int64_t bond[MD_BONDS_MAX];
  double x[3];
} md_bond_answer;

typedef struct md_bond_directory {
  md_comm *comm;
  md_id_table entry_of; /* index of an id in `entry`, + 1 */
  md_bond_entry *entry;
} md_bond_directory;

/* Opens a directory of the present particles, with their places place[d][i]. The caller closes it, also after an error.
 * Collective, with the same status on every rank. MD_RUNTIME: out of memory. */
md_status md_bond_directory_open(md_bond_directory *d, md_comm *comm, const md_particles *p,
                                 double *const place[3]) MD_CHECKED;
void md_bond_directory_close(md_bond_directory *d);

/* Answers the n questions of this rank: found[k] is about id[k], which is positive. n may differ from rank to rank, and
 * is below 2^31. Collective, as above. */
md_status md_bond_directory_ask(md_bond_directory *d, int64_t n, const int64_t *id,
                                md_bond_answer *found) MD_CHECKED;

#endif
