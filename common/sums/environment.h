/* Values of a particle that its neighbours give: what an engine makes of them in place. C and CUDA.
 *
 *   coordination   the number of neighbours within a distance, of types              compute coord/atom
 *   hexatic        the mean of e^(i n theta) over the nearest neighbours             compute hexorder/atom
 *   cluster        the least id of the particles that neighbours connect with it     compute cluster/atom
 *   centro         the n/2 least |R_i + R_j|^2 of the n nearest neighbours           compute centro/atom
 *   order          bond-orientational order of the nearest neighbours                compute orientorder/atom
 *   crystal        1 fcc, 2 hcp, 3 bcc, 4 icosahedral, 5 none, by common neighbours  compute cna/atom
 *
 * Neighbours are the particles at a distance below the cutoff, at their nearest images. Differences of positions are
 * exact, so that all engines find the same ones. The nearest come first, of several at the same distance the one with
 * the smallest id, and sums are made in this order: the same bits everywhere. Particles outside the group have the
 * value 0.
 * Cost: a search of pairs; for hexatic order a root, two divisions and 4 n products and sums for each neighbour; for
 * centro-symmetry n^2/2 squares and insertions, for crystals 14 x 14 distances and intersections of bits. bond_order.h
 * has that of bond orders.
 * References: Nelson and Halperin, Phys. Rev. B 19, 2457 (1979); Stoddard, J. Comput. Phys. 27, 291 (1978); Kelchner,
 * Plimpton and Hamilton, Phys. Rev. B 58, 11085 (1998); Faken and Jonsson, Comput. Mater. Sci. 2, 279 (1994).
 */
#ifndef MD_COMMON_SUMS_ENVIRONMENT_H
#define MD_COMMON_SUMS_ENVIRONMENT_H

#include "common/arithmetic/real.h"
#include "common/sums/bond_order.h"
#include <stdbool.h>
#include <stdint.h>

typedef enum md_environment_kind {
  MD_ENVIRONMENT_COORDINATION,
  MD_ENVIRONMENT_HEXATIC,
  MD_ENVIRONMENT_CLUSTER,
  MD_ENVIRONMENT_CENTRO,
  MD_ENVIRONMENT_ORDER,
  MD_ENVIRONMENT_CRYSTAL
} md_environment_kind;

/* Most values of a particle that an engine counts, and most nearest neighbours that it sorts. */
enum { MD_ENVIRONMENT_COLUMNS = 8, MD_ENVIRONMENT_NEAREST = 16 };

typedef struct md_environment {
  md_environment_kind kind;
  double cutoff;
  uint32_t group, other; /* bits of the groups of particle and neighbour */
  int columns;           /* values of a particle */
  int64_t most;          /* nearest neighbours; 0: all */
  int64_t degree;        /* n of the hexatic order */
  /* types of the neighbours of each column */
  int first[MD_ENVIRONMENT_COLUMNS], last[MD_ENVIRONMENT_COLUMNS];
  const md_order *order; /* of the bond-orientational order (bond_order.h), which gives `columns` */
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

/* The most neighbours of the centro-symmetry. */
enum { MD_CENTRO_NEIGHBOURS = 64 };

/* The sum of the n/2 least |R_i + R_j|^2, over all pairs i < j of n neighbours at delta[]. They are kept in order, and
 * added from the least one on. */
MD_FN double md_centro(int n, const double (*delta)[3])
{
  double least[MD_CENTRO_NEIGHBOURS / 2], sum = 0.0;
  int kept = 0;
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) {
      double square = 0.0;
      for (int d = 0; d < 3; ++d) square = fma(delta[i][d] + delta[j][d], delta[i][d] + delta[j][d], square);
      if (kept == n / 2 && !(square < least[kept - 1])) continue;
      int k = kept < n / 2 ? kept++ : kept - 1;
      for (; k > 0 && square < least[k - 1]; --k) least[k] = least[k - 1];
      least[k] = square;
    }
  for (int k = 0; k < kept; ++k) sum += least[k];
  return sum;
}

/* Crystals by common neighbours, and the most neighbours that one has. */
enum { MD_CRYSTAL_FCC = 1, MD_CRYSTAL_HCP, MD_CRYSTAL_BCC, MD_CRYSTAL_ICOSAHEDRAL, MD_CRYSTAL_NONE };
enum { MD_CRYSTAL_NEIGHBOURS = 14 };

MD_FN int md_bits_set(uint32_t word)
{
#ifdef __CUDA_ARCH__
  return __popc(word);
#else
  return __builtin_popcount(word);
#endif
}

/* What is counted for one neighbour, as a number with a decimal for each: the neighbours that it has in common with the
 * particle, the bonds between these, and the most and the least bonds of one of them. bond[k]: a bit for each of the n
 * neighbours that is bonded with neighbour k. */
MD_FN int md_common_neighbours(int n, const uint32_t *bond, int of)
{
  int bonds = 0, most = 0, least = n;
  for (int k = 0; k < n; ++k) {
    if (!(bond[of] >> k & 1u)) continue;
    const int here = md_bits_set(bond[of] & bond[k]);
    bonds += here;
    most = here > most ? here : most;
    least = here < least ? here : least;
  }
  const int common = md_bits_set(bond[of]);
  /* Beyond one decimal the numbers are of no crystal. */
  return common > 9 || bonds / 2 > 9 || most > 9 || least > 9
             ? 0
             : 1000 * common + 100 * (bonds / 2) + 10 * most + least;
}

/* The crystal around a particle with n neighbours, at most MD_CRYSTAL_NEIGHBOURS, at delta[]. cutoff2: the square of
 * the distance below which two of them are bonded. */
MD_FN int md_crystal(int n, const double (*delta)[3], double cutoff2)
{
  uint32_t bond[MD_CRYSTAL_NEIGHBOURS] = {0};
  int fcc = 0, hcp = 0, bcc4 = 0, bcc6 = 0, icosahedral = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double r2 = 0.0;
      for (int d = 0; d < 3; ++d) r2 = fma(delta[i][d] - delta[j][d], delta[i][d] - delta[j][d], r2);
      if (i != j && r2 < cutoff2) bond[i] |= 1u << j;
    }
  for (int k = 0; k < n; ++k) {
    const int seen = md_common_neighbours(n, bond, k);
    fcc += seen == 4211;
    hcp += seen == 4220;
    bcc4 += seen == 4422;
    bcc6 += seen == 6622;
    icosahedral += seen == 5522;
  }
  if (n == 12 && fcc == 12) return MD_CRYSTAL_FCC;
  if (n == 12 && fcc == 6 && hcp == 6) return MD_CRYSTAL_HCP;
  if (n == 12 && icosahedral == 12) return MD_CRYSTAL_ICOSAHEDRAL;
  return n == 14 && bcc4 == 6 && bcc6 == 8 ? MD_CRYSTAL_BCC : MD_CRYSTAL_NONE;
}

#endif
