/* The functions that launch the kernels that sum over particles and pairs for looks: distances, maps, values of
 * neighbours, pictures and followed particles. The rules of gpu/particle/launch.cuh hold. */
#ifndef MD_GPU_SUMS_LAUNCHES_CUH
#define MD_GPU_SUMS_LAUNCHES_CUH

#include "common/sums/distances.h"
#include "common/sums/each.h"
#include "common/sums/environment.h"
#include "common/sums/follow.h"
#include "common/sums/front.h"
#include "gpu/particle/launch.cuh"

/* gpu/sums/distances.cu: counts distances of pairs. far: beyond the cutoff of the forces, on one rank, in a box that is
 * not tilted and whose periodic sides are at least two cutoffs; reach: the cells on each side that may hold a
 * neighbour. sum: [md_distances_size()], on the device. */
struct distance_args {
  md_distances distances;
  particle_fields fields;
  bool far;
  bool all_types; /* there is one pair of types, and all types are in it */
  int reach[3];
  unsigned long long *sum;
};
template <class T>
md_status launch_distances(const launch &, int source, const system_view<T> &, const distance_args &);

/* gpu/sums/bin_sums.cu: the largest size of each value of particles in bins, as the bits of a number, largest[nvalue];
 * and unless sum is NULL the sums of the bins, [n][1 + 2 nvalue]: particles, and quanta and rest of each value. And
 * counts of particles by value, [MD_VALUES_BINS + bins] without the total, with the least and largest value as numbers
 * of the same order. */
struct each_args {
  particle_fields fields; /* those that are not needed are NULL */
  double quantum;         /* of momenta, as in the particles */
  bool places;            /* are places needed? */
};
template <class T>
md_status launch_bin_sums(const launch &, const system_view<T> &, const each_args &, const md_bins &,
                          unsigned long long *largest, unsigned long long *sum);
template <class T>
md_status launch_count_values(const launch &, const system_view<T> &, const each_args &,
                              const md_value_counts &, unsigned long long *count, unsigned long long *range);

/* gpu/sums/environment.cu: values of particles that their neighbours give, on one rank, in a box that is not tilted and
 * does not change. gpu/sums/environment_ghosts.cu: the same anywhere, right after a rebin, for a cutoff of at most the
 * halo. Periodic sides are at least two cutoffs. reach: the cells on each side that may hold a neighbour. Of clusters,
 * launch_environment() makes the trees and their least ids, and launch_cluster_values() the values. */
struct environment_args {
  md_environment what;
  particle_fields fields;
  int reach[3];
  /* by original index; NULL: original indices have the order of ids, and are no cluster's */
  const int64_t *id;
  double *value;         /* [particles][columns], by original index */
  const md_order *order; /* that of `what`, on the device */
  /* set to 1 if all neighbours are wanted, and a particle has too many; of clusters: see launch_meet */
  unsigned *full;
  int *parent;               /* [n] scratch of clusters */
  unsigned long long *least; /* [n] the same */
  /* On several ranks: ids and bits of groups of particles and ghosts, by local index, if they are needed. Of clusters,
   * near_id has the least ids of their trees. Else NULL. */
  int64_t *near_id;
  const int64_t *near_group;
};
template <class T, bool GHOSTS>
md_status launch_environment(const launch &, const system_view<T> &, const environment_args &);
md_status launch_cluster_values(const launch &, int n, const environment_args &);

/* gpu/sums/environment_ghosts.cu: near_id of particles, which ghosts then get from their owners; trees next to ghosts
 * get their least ids, and *full is set to 1 if one has changed; bits of groups, by local index. */
md_status launch_labels(const launch &, int n, const environment_args &);
template <class T> md_status launch_meet(const launch &, const system_view<T> &, const environment_args &);
md_status launch_groups(const launch &, int n, const particle_fields &, int64_t *to);

/* gpu/sums/draw.cu: the particles that are seen in a picture (common/sums/front.h), and what is seen at `count` pixels
 * from `first` on. */
struct draw_args {
  md_drawing drawing;
  md_box box; /* where particles are shown */
  each_args each;
  const double *radius;      /* as in the drawing, on the device */
  const int64_t *id;         /* by original index; NULL: original indices have the order of ids */
  unsigned long long *front; /* [height][width]; 0: nothing is seen yet */
  md_sight *sight;           /* [count]; without ids the id is the original index */
};
template <class T> md_status launch_draw(const launch &, const system_view<T> &, const draw_args &);
template <class T>
md_status launch_sights(const launch &, const system_view<T> &, const draw_args &, int64_t first, int count);

/* gpu/sums/follow.cu: the members of a group, a look at the followed particles, and sums of their records. group: bits
 * of groups by original index, or NULL; bit: that of the group; member: receives a bit for each particle, in n/32 + 1
 * words. */
md_status launch_members(const launch &, int n, const uint32_t *group, uint32_t bit, unsigned *member);
struct follow_args {
  md_follow what;
  each_args each;
  const unsigned *member;   /* a bit for each particle, by original index: is it followed? */
  const int *before;        /* number of bits in the words before each of these */
  int first, last;          /* original indices: all that are followed are from `first` to `last` */
  md_follow_record *record; /* of the particles that are followed, by original index */
  unsigned long long *pace; /* [2]: the largest component of a velocity, and change, as the bits of numbers */
  /* the least of 4 record + axis, of particles that went too far; all bits set: none */
  unsigned long long *fault;
};
template <class T> md_status launch_follow(const launch &, const system_view<T> &, const follow_args &);
struct follow_sum_args {
  md_follow what;
  md_follow_sum sum;
  const md_follow_record *record; /* [n] */
  int64_t n;
  const double *mass;             /* by 0-based type */
  double counts[MD_FOLLOW_TERMS]; /* coarse quanta in a unit of each term */
};
/* largest: the largest size of each term, as the bits of a number, [MD_FOLLOW_TERMS]; NULL: adds the terms to as many
 * fine sums. */
md_status launch_follow_sums(const launch &, const follow_sum_args &, unsigned long long *largest,
                             fine_sums total);

#endif
