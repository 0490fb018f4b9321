/* The interface of an engine: the code that computes the steps of a prepared model.
 *
 * An engine is created for one run of a model and the particles of one rank:
 *   1  create;
 *   2  run, any number of times; each call computes any number of steps without returning;
 *   3  between calls of run: measure, download, histogram or distances, for output;
 *   4  report, destroy.
 * All engines give the same bits. The particles structure belongs to the program. While the engine exists, it may
 * reorder the particles and keep them elsewhere (on a GPU). The structure is current after download.
 */
#ifndef MD_COMMON_ENGINE_H
#define MD_COMMON_ENGINE_H

#include "common/base/timer.h"
#include "common/model.h"
#include "common/ranks/comm.h"

/* What the functions below measure: common/sums/ defines these. */
typedef struct md_distances md_distances;
typedef struct md_bins md_bins;
typedef struct md_value_counts md_value_counts;
typedef struct md_environment md_environment;
typedef struct md_follow md_follow;
typedef struct md_follow_set md_follow_set;
typedef struct md_follow_pace md_follow_pace;
typedef struct md_follow_fault md_follow_fault;
typedef struct md_follow_sum md_follow_sum;
typedef struct md_drawing md_drawing;
typedef struct md_sight md_sight;

#ifdef __cplusplus
extern "C" {
#endif

/* Values of the keywords of `package gpu`. AUTO: the engine chooses. */
typedef enum md_gpu_neighbours { MD_GPU_AUTO, MD_GPU_CELLS, MD_GPU_LIST, MD_GPU_ALL_PAIRS } md_gpu_neighbours;
typedef enum md_gpu_sort {
  MD_GPU_SORT_AUTO,
  MD_GPU_SORT_STEP,
  MD_GPU_SORT_COUNT,
  MD_GPU_SORT_RADIX
} md_gpu_sort;

/* What makes a rebin due if there are lists. DISPLACEMENT: a particle has moved farther than half the skin. PAIRS: two
 * particles are within the cutoff, and the lists may not hold them as a pair. */
typedef enum md_gpu_expiry {
  MD_GPU_EXPIRY_AUTO,
  MD_GPU_EXPIRY_DISPLACEMENT,
  MD_GPU_EXPIRY_PAIRS
} md_gpu_expiry;

/* The options of the GPU engine (`package gpu`). Only `mixed` changes bits of the results. */
typedef struct md_gpu_options {
  bool mixed;     /* pair arithmetic in single precision: results within tolerances, not the same bits */
  bool symmetric; /* each pair is computed once and added to both partners by atomicAdd; else twice */
  bool unfused;   /* force and move are two kernels */
  bool unsorted;  /* particles stay where they are, and cells hold their indices */
  bool unpadded;  /* no border of empty cells: the stencil tests bounds */
  bool rolled;    /* the stencil is a loop */
  bool staged;    /* candidates go through shared memory */
  bool profile;   /* time every kernel */
  md_gpu_neighbours neighbours;
  md_gpu_sort sort;
  md_gpu_expiry expiry;
  int rebin;      /* steps between rebins; 0: a rebin when it is due */
  int block;      /* threads of a block; 0: the engine's choice */
  int lanes;      /* threads that share a particle in a step with lists; 0: the engine's choice */
  int device;     /* -1: the engine's choice */
  double skin;    /* sigma; 0: the engine's choice */
  int64_t memory; /* most bytes of GPU memory to use; 0: all */
  /* of messages between ranks, as open_transport takes it (common/ranks/comm.h); static */
  const char *transport;
} md_gpu_options;

typedef struct md_engine_options {
  int threads;      /* 0: all */
  double cell_size; /* least width of a cell, sigma; 0: the engine's choice. No effect on results */
  int ranks;        /* for plan: the number of ranks; 0: one */
  bool slab;        /* for plan: the box is one rank's slab, periodic only by its cuts */
  md_gpu_options gpu;
} md_engine_options;

/* The memory that an engine needs for a model, for `myriad plan`. */
enum { MD_PLAN_ITEMS = 16 };
typedef struct md_engine_plan {
  int nitem;
  struct {
    const char *name; /* static */
    double bytes;     /* per particle */
  } item[MD_PLAN_ITEMS];
  double bytes;      /* per particle, sum of all items */
  double halo;       /* how far ghosts reach, sigma */
  double slab;       /* least thickness at which ranks prefer slabs along the last axis, sigma; 0: never */
  double ghosts;     /* number of ghosts of a rank */
  int ghost_bytes;   /* bytes of a message for each ghost in a step */
  bool direct;       /* do ghosts come straight from all ranks that a domain touches, and not axis by axis? */
  int64_t available; /* bytes on the device or machine; 0: unknown */
  char device[128];  /* name of the device or machine with this memory; empty: unknown */
  char method[128];  /* how the engine finds neighbours, in words */
} md_engine_plan;

/* Adds an item to a plan, unless its bytes per particle are 0. name: static. */
static inline void md_plan_add(md_engine_plan *plan, const char *name, double bytes)
{
  if (!(bytes > 0.0)) return;
  plan->item[plan->nitem].name = name;
  plan->item[plan->nitem++].bytes = bytes;
  plan->bytes += bytes;
}

/* What each particle adds to its bin of a map, besides that it counts as one. */
typedef enum md_weight {
  MD_WEIGHT_ONE, /* nothing: particles are only counted */
  MD_WEIGHT_MASS,
  MD_WEIGHT_VELOCITY, /* one component */
  MD_WEIGHT_MOMENTUM, /* one component */
  MD_WEIGHT_COMPUTE   /* the value of a compute with one value for each particle */
} md_weight;

/* The bins of a map (dump density), in which an engine adds up particles; common/sums/histogram.h has the formulas. */
typedef struct md_histogram {
  int axis[2];                 /* axis of the box that goes to the right, and the one that goes up */
  int n[2];                    /* number of bins along each of them */
  double lo[2], per_length[2]; /* position where the first bin begins, sigma; bins per sigma */
  double from[2], to[2];       /* particles with from <= x < to are in the map; infinite without a window */
  uint32_t group;              /* bits of the groups whose particles are in the map (groups.h) */
  md_weight weight;
  int component; /* axis of a velocity or momentum */
  /* of a compute: its style, and the bits of its group. Other particles have the value 0 */
  md_compute_kind kind;
  uint32_t of_group;
  double quantum; /* of momenta, as in the particles: grids.v of the model */
  /* coarse quanta in a unit of the weight; fine quanta in a coarse one. Powers of two */
  double per_unit, fine;
} md_histogram;

/* The sums of a bin: particles; coarse and fine quanta of the weight. Without a weight there is only the first. */
enum { MD_BIN_COUNT, MD_BIN_COARSE, MD_BIN_REST, MD_BIN_SUMS };

/* Facts about an engine's work so far, for the log. */
typedef struct md_engine_report {
  md_timers timers;
  int64_t rebins; /* of engines with lists: lists made */
  int64_t steps;
  int64_t downloads; /* of engines whose particles are on a device: calls of download */
  double neighbours; /* stored neighbours of a particle, average */
  int64_t ghosts;
  int64_t bytes;        /* allocated by engine and particles */
  const char *isa;      /* the instruction set of its kernels, or NULL */
  const char *isa_note; /* a line for the log if this build lacks better kernels; or NULL. Static */
  const char *hardware; /* without isa: the hardware, and how it was used. Belongs to the engine */
  int threads;
  const char *details; /* further lines for the log, each with its newline; or NULL. Belongs to the engine */
} md_engine_report;

typedef struct md_engine md_engine;

/* A kind of engine: its functions. Those marked "or NULL" need not be there. */
typedef struct md_engine_kind md_engine_kind;
struct md_engine_kind {
  const char *name;    /* --engine NAME */
  const char *summary; /* one line for the help */
  /* Creates an engine for a prepared model and entered particles (md_model_enter). The caller keeps model, particles
   * and comm until the engine is destroyed. The engine reads the model at every call, because its step and run_* change
   * between calls of run. */
  md_status (*create)(md_engine **, md_model *, md_particles *, md_comm *,
                      const md_engine_options *) MD_CHECKED;
  /* Computes n >= 0 steps and adds n to the model's step. The sums of model->awaited may be made on the way, for the
   * next call of measure. MD_PHYSICS: the message names the particle. */
  md_status (*run)(md_engine *, int64_t n) MD_CHECKED;
  /* Exact sums over this rank's particles, of the present state: those that are wanted, and the number of particles.
   * MD_PHYSICS: particles overlap, so that the sums of pairs do not exist. Collective. */
  md_status (*measure)(md_engine *, md_wanted, md_measure *) MD_CHECKED;
  /* The action of a fix after the last step that was done (point 6 of common/step/step.h), on this rank's particles.
   * Takes no part in the count of steps. */
  md_status (*act)(md_engine *, const md_action *) MD_CHECKED;
  /* Makes the particles structure current: owned particles only, in any order, positions wrapped. If `force` is not
   * NULL, also writes the forces of pairs on the particles, without those of fixes, to dim arrays of n elements, in
   * energy/length, which belong to the caller. If there was no step since the last call, n and the order are those of
   * the last call. */
  md_status (*download)(md_engine *, double *const force[3]) MD_CHECKED;
  /* Adds this rank's particles to the sums of their bins, sum[n[1]][n[0]][md_histogram_sums()], without a download. The
   * first row is the lowest. Or NULL. */
  md_status (*histogram)(md_engine *, const md_histogram *, int64_t *sum) MD_CHECKED;
  /* Adds this rank's particles, and their pairs with particles of all ranks, to count[md_distances_size()], without a
   * download. *made is false, on all ranks, if the engine does not count these: the host does it then, from a
   * download. Collective. Or NULL. */
  md_status (*distances)(md_engine *, const md_distances *, int64_t *count, bool *made) MD_CHECKED;
  /* Of this rank's particles in the bins, without a download: the largest size of each value, largest[nvalue]; and
   * unless `sum` is NULL, adds to sum[n][1 + 2 nvalue]: particles, and the terms of each value (md_each_terms). *made:
   * as above. Or NULL. */
  md_status (*bin_sums)(md_engine *, const md_bins *, double *largest, int64_t *sum, bool *made) MD_CHECKED;
  /* Adds this rank's particles of the group to count[MD_VALUES_BINS + bins], and widens the range to their least and
   * largest value, without a download. *made: as above. Or NULL. */
  md_status (*value_counts)(md_engine *, const md_value_counts *, int64_t *count, double range[2],
                            bool *made) MD_CHECKED;
  /* Values that neighbours give to this rank's particles, each[n][columns] in the order of the last download, after
   * which there was no step. *made: as above. The engine remembers them until the next step, by the address of the
   * environment. Collective. Or NULL. */
  md_status (*environment)(md_engine *, const md_environment *, double *each, bool *made) MD_CHECKED;
  /* A look at the particles of the group of *what, without a download: updates their records in the set, which the
   * engine has until it is destroyed. *pace: of those on this rank. *fault: what is wrong with one of them; else it is
   * left as it is. *made: as above. Collective. Or NULL. */
  md_status (*follow)(md_engine *, md_follow_set *, const md_follow *what, md_follow_pace *pace,
                      md_follow_fault *fault, bool *made) MD_CHECKED;
  /* After such a look: largest[k], the largest size of each term of the records of this rank. Or with counts[k], coarse
   * quanta in a unit of each term: adds to total[k] the fine sum (common/arithmetic/exact.h); largest is NULL. */
  md_status (*follow_sums)(md_engine *, const md_follow_set *, const md_follow *what, const md_follow_sum *,
                           const double *counts, double *largest, md_wide *total) MD_CHECKED;
  /* Draws this rank's particles without a download: sight[height][width] of the drawing's camera. *made: as above.
   * Collective. Or NULL. */
  md_status (*draw)(md_engine *, const md_drawing *, md_sight *sight, bool *made) MD_CHECKED;
  /* The memory that n particles of a prepared model would need on one rank, without an engine. Or NULL. */
  md_status (*plan)(const md_model *, int64_t n, const md_engine_options *, md_engine_plan *) MD_CHECKED;
  void (*report)(const md_engine *, md_engine_report *);
  void (*destroy)(md_engine *);
  /* The engine's memory is that of the host, which the system only takes when it is used: the program checks the plan
   * before a run. False: the engine itself finds out whether there is enough memory. */
  bool on_host;
  /* The largest cutoff, in lengths of a periodic side, that the engine can compute with these options on `ranks` ranks.
   * 0.5: the engine takes the nearest image of a pair only. Another engine computes a box that is smaller. Or NULL:
   * MD_SIDES_MOST. */
  double (*sides_most)(const md_engine_options *, int ranks);
  /* The engine for pair styles without a cutoff, which has no cells, lists, domains and ghosts. NULL: this one. */
  const md_engine_kind *all_pairs;
  /* In two dimensions and without periodic sides, ranks have slabs along the last axis, if these are about this many
   * rows of particles thick. So the first particles are made in slabs, and few of them change their rank when the
   * first run begins. 0: never. */
  int64_t slabs_from;
  /* Without on_host: the bytes that the engine takes of the host's memory for each particle of one of `ranks` ranks,
   * besides the arrays of particles. Or NULL: none. */
  double (*host_bytes)(const md_model *, int ranks);
};

#ifdef __cplusplus
}
#endif
#endif
