/* Into how many cells a block of space is divided, for searches of pairs.
 *
 * Cells are at least as wide as the cutoff, so that the neighbours of a particle are in its cell and the ones around
 * it. As many as fit, but in all not many more than particles: the axis with most cells gets half of them, until there
 * are few enough. So a long bar is divided along its length. Reference: Allen and Tildesley, Computer Simulation of
 * Liquids, section 5.3.2.
 */
#ifndef MD_COMMON_CELL_COUNTS_H
#define MD_COMMON_CELL_COUNTS_H

#include <math.h>
#include <stdint.h>

/* Most cells along an axis: the number of a cell, a quotient of doubles, is then off by less than 2^-32 cells. */
enum { MD_CELLS_ALONG = 1 << 20 };

/* Fills count[d], at least 1, for a block of the given sides: cells are at least `width` wide. most: cells in all.
 * Returns their number. */
static inline int64_t md_cell_counts(int dim, const double side[3], double width, double most,
                                     int64_t count[3])
{
  double all = 1.0;
  for (int d = 0; d < 3; ++d) {
    const double fit = d < dim ? floor(side[d] / width) : 1.0;
    count[d] = fit > MD_CELLS_ALONG ? MD_CELLS_ALONG : fit > 1.0 ? (int64_t)fit : 1;
    all *= (double)count[d];
  }
  while (all > most) {
    int longest = 0;
    for (int d = 1; d < 3; ++d)
      if (count[d] > count[longest]) longest = d;
    if (count[longest] == 1) break;
    all /= (double)count[longest];
    count[longest] = (count[longest] + 1) / 2;
    all *= (double)count[longest];
  }
  return count[0] * count[1] * count[2];
}

#endif
