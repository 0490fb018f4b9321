/* The inner loops of the engine for pair styles without a cutoff (all_pairs.c), compiled once for each instruction set
 * (kernels.c here). All instances give the same bits.
 *
 * A block holds the bodies of one rank that interact with the bodies of this rank, as rows of an array, which travels
 * from rank to rank as one message:
 *
 *   row 0 .. dim - 1   x        row dim   mass, or mass times c for impulses        row dim + 1   id
 *
 * The length of a row is a multiple of ALL_PAD, so that a vector of bodies may begin at any multiple of ALL_PAD. The
 * bodies after the last one have mass 0.
 */
#ifndef MD_OPENMP_ALL_PAIRS_ALL_PAIRS_H
#define MD_OPENMP_ALL_PAIRS_ALL_PAIRS_H

#include "common/faults.h"
#include "common/pair/pair.h"

enum { ALL_PAD = 8, ALL_TILE = 512 };

typedef struct body_block {
  int64_t n;
  const double *x[3], *mass;
  const int64_t *id;
} body_block;

/* The bodies of `own` feel those of `other`. own == other: no body feels itself. */
typedef struct all_args {
  const body_block *own, *other;
  bool same;
  int dim;
  double k[MD_PAIR_K]; /* coefficients of unit masses */
  double close2;       /* squared distance: nearer pairs are summed with care */
  double range;        /* of impulses, or of forces for output (common/pair/all_pairs.h) */
  double per_e, per_w; /* from energies to coarse quanta of e, from virials to those of w */
} all_args;

typedef struct all_kernels {
  const char *isa;
  int lanes; /* bodies of a vector, a divisor of ALL_PAD */
  /* Adds the impulses, in quanta, of the bodies [j0, j1) of `other` on the bodies [i0, i1) of `own`. The masses of both
   * blocks are charges. i0, and i1 unless it is own->n, are multiples of ALL_PAD. Overlaps are left out and noted. */
  void (*impulse[MD_PAIR_KINDS])(const all_args *, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                                 int64_t *const sum[3], md_overlap *);
  /* Adds energies, virials and, unless sum is NULL, forces in coarse quanta of f, of all bodies of `other` on the
   * vector of bodies that begins at i. sum[d][l] belongs to body i + l. Overlaps are noted. */
  void (*measure[MD_PAIR_KINDS])(const all_args *, int64_t i, md_wide *energy2, md_wide *virial2,
                                 md_fine (*const sum)[ALL_PAD], md_overlap *);
} all_kernels;

/* The kernels of the instruction set that kernels_choose (openmp/force/kernels.h) gives. */
const all_kernels *all_kernels_choose(const char *isa);

#endif
