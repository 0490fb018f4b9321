/* The domains of ranks, which divide the box: the part `domains` of the communicator (comm.h).
 *
 * A grid of domains divides the box, one domain for each rank, or a tree of bricks. Cuts are the planes between
 * domains. The arithmetic of grid and cuts is in decompose.h.
 *
 * Every function is collective unless it says "not collective" (comm.h).
 */
#ifndef MD_COMMON_RANKS_DOMAINS_H
#define MD_COMMON_RANKS_DOMAINS_H

#include "common/ranks/comm.h"
#include "common/ranks/decompose.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A thickness that any slab has: a guess, before an engine knows its slabs. Balancing gives such slabs up. */
#define MD_SLAB_ANY 1e-300

struct md_comm_domains {
  /* Chooses the grid of domains for a prepared model. No domain gets thinner than the halo: `width` and 10^-6 of it
   * more. MD_USAGE: this is impossible; the message says which numbers of ranks fit. */
  md_status (*decompose)(md_comm *, const md_model *, double width) MD_CHECKED;
  /* From now on decompose prefers slabs along the last axis, if these are at least `thickness` thick, to the grid
   * with the least surface. 0: it does not. Every rank must give the same value. Not collective. */
  void (*prefer_slabs)(md_comm *, double thickness);
  /* Fixes the number of domains along each axis for decompose; 0: free. These numbers divide the number of ranks.
   * Every rank must give the same ones. Not collective. */
  void (*fix_grid)(md_comm *, const int grid[3]);
  /* Gives the number of domains along each axis, and this rank's indices in this grid. Not collective. */
  void (*grid)(md_comm *, int count[3], int index[3]);
  /* Gives the domain of this rank: along each axis [lo, hi), and in the last domain hi itself too. Before the first
   * decompose this is some division of the box. Not collective. */
  void (*domain)(md_comm *, const md_box *box, double lo[3], double hi[3]);
  /* The cuts along an axis, in increasing order: one more than there are domains along this axis. The first is the
   * lower end of the box, and the last is its upper end. Domain k is [cut[k], cut[k + 1]), and the last one includes
   * its upper end. The communicator owns the array. It is valid until the next call of decompose, rebalance or
   * migrate, and on one rank until the next call of cuts. NULL: the box cannot be divided. Not collective. */
  const double *(*cuts)(md_comm *, const md_box *box, int axis);
  /* The rank whose domain has the position x of the box. Not collective. */
  int (*owner)(md_comm *, const md_box *box, const double x[3]);
  /* The planes between domains that are bricks of a tree, [size] (decompose.h). Then there are no grid, cuts and
   * indices. The communicator owns the array, which is valid as that of cuts is. NULL: the domains are a grid. Not
   * collective. */
  const md_bisector *(*bisectors)(md_comm *, const md_box *box);
  /* The rank of the domain with these indices, which are taken modulo the grid. Not collective. */
  int (*rank_at)(md_comm *, const int index[3]);
  /* Sets the n cuts inside the box along an axis at fractions of its length, which increase; n = -1: at even
   * distances. A domain that is too thin for the halo of a run gets thicker there. MD_USAGE: n is not the number of
   * domains along this axis less one. Not collective; every rank must give the same. */
  md_status (*set_cuts)(md_comm *, const md_box *box, int axis, int n, const double *fraction) MD_CHECKED;
  /* Moves the cuts so that ranks have about equal loads (balance.h). The particles themselves move at the next
   * migrate. imbalance[0] and [1]: the largest load of a rank, divided by the average, before and after. */
  md_status (*rebalance)(md_comm *, const md_model *, const md_particles *, double imbalance[2]) MD_CHECKED;
};

#ifdef __cplusplus
}
#endif
#endif
