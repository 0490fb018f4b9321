/* The decomposition: how the box is divided among ranks. The domains form a grid, and its cuts are known to every
 * rank.
 *
 *      y   +------+----------+------+      grid 3 x 2, cuts x0 to x3 and y0 to y2
 *      ^   |  3   |    4     |  5   |      ranks: x runs fastest
 *      |   +------+----------+------+
 *      |   |  0   |    1     |  2   |
 *      |   +------+----------+------+
 *      +-> x0     x1         x2     x3
 *
 * 1. The grid is the factorisation of the number of ranks that has the least surface between domains, where surface
 *    across earlier axes counts a little more: faces of the last axis lie together in memory.
 * 2. If an engine prefers slabs along the last axis, and they are thick enough, slabs are taken instead.
 * 3. Cuts are kept as fractions of the box. So they stay when the box is rounded to its grid, and can be moved to
 *    balance the load.
 *
 * 4. Recursive bisection (`balance rcb`) replaces the grid by bricks: a plane divides the box between two halves of the
 *    ranks, and so on. A brick may have any number of neighbours (mpi/bricks.c).
 *
 *      +----+-------+
 *      | 1  |   3   |      ranks 0 and 1 are left of the first plane, 2 and 3 right of it
 *      |    +-------+
 *      +----+       |
 *      | 0  |   2   |
 *      +----+-------+
 *
 * Every rank computes the same from the same numbers by the same operations. So nothing is communicated, and `myriad
 * plan` can use this for any number of ranks.
 */
#ifndef MD_COMMON_RANKS_DECOMPOSE_H
#define MD_COMMON_RANKS_DECOMPOSE_H

#include "common/base/error.h"
#include "common/box.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A plane that divides a brick between the ranks below it and those from a rank on: node k of the tree of bricks. The
 * tree halves the ranks [first, first + n): the lower n/2 are below the plane of node first + n/2. */
typedef struct md_bisector {
  int axis;
  double fraction, cut; /* the plane as a fraction of the box, and in the box of the last call */
} md_bisector;

typedef struct md_decomposition {
  int ranks, rank;
  int wanted[3];          /* fixed numbers of domains along the axes; 0: free */
  int count[3], index[3]; /* the grid, and this rank's indices in it */
  double width;           /* of the halo: no domain may be thinner */
  double slab;            /* slabs of at least this thickness are preferred; 0: none are */
  double *fraction[3];    /* [count + 1]: the cuts as fractions of the box, from 0 to 1; NULL: no grid yet */
  double *cut[3];         /* [count + 1]: the cuts in the box of the last call */
  md_bisector *bisector;  /* [ranks]: the domains are bricks of a tree, and no grid; NULL: they are a grid */
} md_decomposition;

/* A decomposition without a grid, for rank `rank` of `ranks`. md_decomposition_free frees grid and cuts, and keeps
 * `wanted` and `slab`: the decomposition is again one without a grid. */
void md_decomposition_init(md_decomposition *d, int ranks, int rank);
void md_decomposition_free(md_decomposition *d);

/* Chooses a grid for `ranks` ranks: slabs if they are at least `slab` thick (0: no slabs), or else the grid with the
 * least surface. No domain is thinner than `width`, and wanted[a] != 0 fixes the count along axis a. Returns false,
 * and leaves count alone, if there is no such grid. */
bool md_decomposition_choose(const md_box *box, int ranks, const int wanted[3], double width, double slab,
                             int count[3]);

/* Checks that ghosts within `width` of the box lie behind at most MD_LAYERS_MOST faces along an axis. MD_USAGE: the box
 * is too small for that. */
md_status md_halo_check(const md_box *box, double width) MD_CHECKED;

/* Text for a message about a number of ranks whose domains would be thinner than `width`: the nearest numbers of
 * ranks below and above that fit, "6 and 8 ranks fit", or "at most 12 ranks fit". */
enum { MD_NEAR_TEXT = 64 };
void md_decomposition_near(const md_box *box, int ranks, double width, char text[MD_NEAR_TEXT]);

/* Divides the box for a halo of this width. Keeps the grid if it is still the one to choose, and then also its cuts,
 * which move only where a domain would be too thin. If cuts have been moved to balance the load, the grid is not
 * given up for slabs. Bricks stay, whatever the width. MD_USAGE: domains would be thinner than the halo; the message
 * says which numbers of ranks fit. Or the domains are bricks, and the box is tilted. */
md_status md_decomposition_divide(md_decomposition *d, const md_box *box, double width) MD_CHECKED;

/* Computes the cuts of this box from the fractions. If the box has shrunk so that a domain would be thinner than the
 * halo, moves cuts first, or makes another grid that fits. If there is no grid yet, makes one with even cuts. MD_USAGE:
 * the wanted counts allow no grid. */
md_status md_decomposition_fit(md_decomposition *d, const md_box *box) MD_CHECKED;

/* The rank of the domain with these indices, which are taken modulo the grid. */
int md_decomposition_rank(const md_decomposition *d, const int index[3]);

/* The domain of a rank: [lo, hi) along each axis. For the box of the last call. */
void md_decomposition_domain(const md_decomposition *d, const md_box *box, int rank, double lo[3],
                             double hi[3]);

/* Makes bricks of all domains, whose planes the caller then sets, or (bricks = false) goes back to the grid. Does
 * nothing if they are so. MD_RUNTIME: out of memory. */
md_status md_decomposition_tile(md_decomposition *d, bool bricks) MD_CHECKED;

/* The owner of the position x, which must be in the box. */
int md_decomposition_owner(const md_decomposition *d, int dim, const double x[3]);

/* Sets the n cuts inside the box along an axis; n = -1: at even distances. Changes the fractions only. There must be
 * a grid. MD_USAGE: another number of cuts is needed. */
md_status md_decomposition_set_cuts(md_decomposition *d, int axis, int n, const double *fraction) MD_CHECKED;

/* Moves the cuts along an axis so that all domains get equal shares of a histogram: loads of particles in `bins`
 * equal bins along the axis. No domain gets thinner than the halo. Changes the fractions only: call
 * md_decomposition_fit after it. */
void md_decomposition_shift(md_decomposition *d, const md_box *box, int axis, const int64_t *histogram,
                            int bins);

#ifdef __cplusplus
}
#endif
#endif
