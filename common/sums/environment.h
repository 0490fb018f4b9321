/* Values of a particle that its neighbours give: what an engine makes of them in place. C and CUDA.
 *
 *   coordination   the number of neighbours within a distance, of types              compute coord/atom
 *   hexatic        the mean of e^(i n theta) over the nearest neighbours             compute hexorder/atom
 *   cluster        the least id of the particles that neighbours connect with it     compute cluster/atom
 *
 * Neighbours are the particles at a distance below the cutoff, at their nearest images. Differences of positions are
 * exact, so that all engines find the same ones. The nearest come first, of several at the same distance the one with
 * the smallest id, and sums are made in this order: the same bits everywhere. Particles outside the group have the
 * value 0.
 * Cost: a search of pairs; for hexatic order a root, two divisions and 4 n products and sums for each neighbour.
 * References: Nelson and Halperin, Phys. Rev. B 19, 2457 (1979); Stoddard, J. Comput. Phys. 27, 291 (1978).
 */
#ifndef MD_COMMON_SUMS_ENVIRONMENT_H
#define MD_COMMON_SUMS_ENVIRONMENT_H

#include "common/arithmetic/real.h"
#include <stdbool.h>

typedef enum md_environment_kind {
  MD_ENVIRONMENT_COORDINATION,
  MD_ENVIRONMENT_HEXATIC,
  MD_ENVIRONMENT_CLUSTER
} md_environment_kind;

/* Most values of a particle that an engine makes, and most nearest neighbours that it sorts. */
enum { MD_ENVIRONMENT_COLUMNS = 8, MD_ENVIRONMENT_NEAREST = 16 };

typedef struct md_environment {
  md_environment_kind kind;
  double cutoff;         /* sigma */
  uint32_t group, other; /* bits of the groups of particle and neighbour */
  int columns;           /* values of a particle */
  int64_t most;          /* nearest neighbours; 0: all */
  int64_t degree;        /* n of the hexatic order */
  int first[MD_ENVIRONMENT_COLUMNS],
      last[MD_ENVIRONMENT_COLUMNS]; /* types of the neighbours of each column */
} md_environment;

/* Adds e^(i n theta) of a neighbour to (sum[0], sum[1]). delta: from the particle to it, of which x and y count. theta
 * is the angle of the way from the neighbour to the x axis. Without such a way it is 0. */
MD_FN void md_hexatic_add(const double *delta, int64_t degree, double sum[2])
{
  const double r = sqrt(fma(delta[1], delta[1], delta[0] * delta[0]));
  const double x = r > 0.0 ? -delta[0] / r : 1.0, y = r > 0.0 ? -delta[1] / r : 0.0;
  double re = 1.0, im = 0.0;
  for (int64_t n = 0; n < degree; ++n) {
    const double next = re * x - im * y;
    im = re * y + im * x;
    re = next;
  }
  sum[0] += re;
  sum[1] += im;
}

/* The mean over n neighbours; 0 if there are none, or fewer than `most`. */
MD_FN void md_hexatic_end(int64_t n, int64_t most, double sum[2])
{
  const bool enough = n > 0 && n >= most;
  for (int k = 0; k < 2; ++k) sum[k] = enough ? sum[k] / (double)n : 0.0;
}

#endif
