/* The particles at the other ends of bonds, by their indices in memory: for an engine whose particles keep an original
 * index. The ids of md_particles are looked up once, in the table of partners.h. */
#ifndef MD_COMMON_BOND_INDICES_H
#define MD_COMMON_BOND_INDICES_H

#include "common/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Entry k of particle i has number k * n + i. Negative: there is none. All zero: empty. */
typedef struct md_bond_indices {
  int32_t *partner;  /* of the bonds */
  int nexcluded;     /* entries of each particle in `excluded` */
  int32_t *excluded; /* the particles that have no pair force with it */
} md_bond_indices;

/* Finds the indices, on one rank. All partners are there (src/bonds/special.h). The caller frees the indices, also
 * after an error. MD_RUNTIME: out of memory. */
md_status md_bond_indices_find(md_bond_indices *indices, const md_model *model,
                               const md_particles *p) MD_CHECKED;

void md_bond_indices_free(md_bond_indices *indices);

#ifdef __cplusplus
}
#endif
#endif
