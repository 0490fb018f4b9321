/* How the box is divided among ranks: a grid of domains, cut at places that every rank knows.
 *
 * The grid is the factorisation of the number of ranks that has the least surface between domains, and of alike
 * ones the one that cuts the later axes, whose faces lie together in memory; or slabs along the last axis, if an
 * engine is better off with these and they are thick enough. Cuts are kept as fractions of the box, so that they
 * stay when the box is rounded to its grid, and can be moved to balance the load. Everything follows from the same
 * numbers by the same operations on every rank: nothing is communicated. `myriad plan` uses it for any number of
 * ranks.
 */
#ifndef MD_COMMON_RANKS_DECOMPOSE_H
#define MD_COMMON_RANKS_DECOMPOSE_H

#include "common/base/error.h"
#include "common/box.h"

typedef struct md_decomposition {
  int ranks, rank;
  int wanted[3];          /* counts that must be kept to, 0: free */
  int count[3], place[3]; /* the grid, and this rank's place in it */
  double width;           /* of the halo: no domain may be thinner */
  double slab;            /* slabs that are no thinner are preferred to the least surface; 0: none are */
  double *fraction[3];    /* the cuts, [count + 1], from 0 to 1 */
  double *cut[3];         /* the same in the box seen last */
} md_decomposition;

void md_decomposition_init(md_decomposition *d, int ranks, int rank);
void md_decomposition_free(md_decomposition *d);

/* The grid with the least surface whose domains are at least `width` thick, or slabs of at least `slab` (0: never);
 * false: there is none. */
bool md_decomposition_choose(const md_box *box, int ranks, const int wanted[3], double width, double slab,
                             int count[3]);

/* What to say of a number of ranks whose domains are thinner than `width`: "6 and 8 ranks fit", the nearest numbers
 * below and above, or "at most 12 ranks fit". */
enum { MD_NEAR_TEXT = 64 };
void md_decomposition_near(const md_box *box, int ranks, double width, char text[MD_NEAR_TEXT]);

/* Divides the box for a halo of this width, keeping grid and cuts if they still serve; cuts that have been moved
 * are not given up for slabs. MD_USAGE: domains would be thinner, with which numbers of ranks fit. */
md_status md_decomposition_divide(md_decomposition *d, const md_box *box, double width) MD_CHECKED;

/* Computes the cuts of this box; divides it evenly if nothing has yet. */
md_status md_decomposition_fit(md_decomposition *d, const md_box *box) MD_CHECKED;

/* The rank at a place, which is taken modulo the grid. */
int md_decomposition_rank(const md_decomposition *d, const int place[3]);

/* The rank that owns x, which lies in the box. */
int md_decomposition_owner(const md_decomposition *d, int dim, const double x[3]);

/* New cuts along an axis from a histogram of particles in equal bins: equal shares, no domain thinner than the
 * halo. */
void md_decomposition_shift(md_decomposition *d, const md_box *box, int axis, const int64_t *histogram,
                            int bins);

#endif
