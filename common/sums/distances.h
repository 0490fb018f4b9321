/* Counts of distances: how many pairs of particles have a distance within each of many bins. C and CUDA.
 *
 *   at = r * bins per length        bin = the whole part of it, or none at or beyond the cutoff
 *
 * Both orders of a pair count. The square of a distance is the same number in every engine, and the root and the
 * product are rounded as IEEE 754 says, so that a pair is in the same bin everywhere. Counts are integers: any order of
 * additions gives the same bits. Cost: a root in single precision for each pair, in double for one that is near the
 * edge of a bin, and 8 bytes a bin.
 */
#ifndef MD_COMMON_SUMS_DISTANCES_H
#define MD_COMMON_SUMS_DISTANCES_H

#include "common/arithmetic/real.h"
#include <stdbool.h>

/* The most pairs of types that an engine counts at a time. */
enum { MD_DISTANCE_PAIRS = 8 };

/* Types of the particle in the centre, and of its neighbours: ranges, first and last. */
typedef struct md_type_pair {
  int first[2], last[2];
} md_type_pair;

typedef struct md_distances {
  double cutoff, per_bin; /* per_bin: bins in a unit of length */
  int bins, npair;
  md_type_pair pair[MD_DISTANCE_PAIRS];
  uint32_t group; /* bit of the group of both particles */
} md_distances;

/* Before the bins of a pair of types: particles in the centre, neighbours, and those that are both. */
enum { MD_DISTANCE_CENTRES, MD_DISTANCE_NEIGHBOURS, MD_DISTANCE_BOTH, MD_DISTANCE_BINS };

/* The numbers of all pairs of types: count[npair][MD_DISTANCE_BINS + bins]. */
MD_FN int64_t md_distances_size(const md_distances *d)
{
  return (int64_t)d->npair * (MD_DISTANCE_BINS + d->bins);
}

/* The bin of a pair whose squared distance is about r2, to 2^-40 of itself: `bins` if it is in none, -1 if that cannot
 * be said. The result, which single precision rounds four times, is off by less than 2^-22 of itself. So it decides,
 * unless it is that near to the edge of a bin. */
MD_FN int md_distance_rough_bin(double r2, double per_bin, int bins)
{
  const float all = (float)bins, error = all * 0x1p-22f, at = sqrtf((float)r2) * (float)per_bin;
  const float most = at < all ? at : all; /* also if it is not a number */
  const int whole = (int)most;
  const float part = most - (float)whole;
  const int bin = ((part > error) & (part < 1.0f - error)) ? whole : -1;
  const int sure = at > all + 4.0f * error ? bins : bin;
  return ((r2 > 0x1p-120) & (r2 < 0x1p120)) ? sure : -1;
}

/* The bin of a pair whose squared distance is r2; -1: it is in none. */
MD_FN int md_distance_bin(double r2, double cutoff, double per_bin, int bins)
{
  if (!(r2 < cutoff * cutoff)) return -1;
  const int rough = md_distance_rough_bin(r2, per_bin, bins);
  if (rough >= 0 && rough < bins) return rough;
  const double at = sqrt(r2) * per_bin;
  return at < bins ? (int)at : -1;
}

/* Is a particle of this type one of those in the centre (end 0), or of their neighbours (end 1)? */
MD_FN bool md_type_pair_has(const md_type_pair *p, int end, int type)
{
  return type >= p->first[end] && type <= p->last[end];
}

#endif
