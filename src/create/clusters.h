/* Star clusters: bodies of total mass 1 whose positions and velocities are drawn from a distribution.
 *
 * As the functions of sites.h, but the particles have velocities. Ids, positions and velocities depend neither on ranks
 * nor on threads. Collective. */
#ifndef MD_SRC_CREATE_CLUSTERS_H
#define MD_SRC_CREATE_CLUSTERS_H

#include "src/sim.h"

/* The most bodies of a cluster: sums of 2^31 coordinates in units of 2^-24 fit into 64 bits. */
#define MD_CLUSTER_MOST (INT64_C(1) << 31)

typedef enum md_cluster_kind {
  MD_CLUSTER_PLUMMER, /* Plummer's sphere in equilibrium; scale: its length a */
  MD_CLUSTER_UNIFORM, /* a sphere (a disc in 2D) of uniform density in virial equilibrium; scale: its radius */
  MD_CLUSTER_COLD,    /* the same at rest */
} md_cluster_kind;

typedef struct md_cluster {
  md_cluster_kind kind;
  int64_t n;
  uint64_t seed;
  double scale;
  double centre[3];
} md_cluster;

/* Places the bodies of a cluster, and sets the mass of the type, or of each body, to 1/n. The cluster's centre of
 * mass is at rest in `centre`, up to rounding. Velocities are those of G = 1. MD_USAGE: n below 1, a Plummer sphere in
 * two dimensions, a body outside of the box; the message says how large the box must be. */
md_status md_cluster_create(md_sim *sim, const md_cluster *cluster, int type) MD_CHECKED;

#endif
