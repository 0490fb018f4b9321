/* The engine interface: how a prepared model is executed.
 *
 * An engine is created for one run of a model over the particles of one rank, advances them any number of
 * steps without returning, and measures them. All engines give the same bits. The particles structure stays
 * the program's; while the engine exists it is the engine's to reorder and to keep elsewhere (a GPU), and
 * is current after download().
 */
#ifndef MD_COMMON_ENGINE_H
#define MD_COMMON_ENGINE_H

#include "common/base/timer.h"
#include "common/model.h"
#include "common/ranks/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum md_gpu_neighbours { MD_GPU_AUTO, MD_GPU_CELLS, MD_GPU_LIST, MD_GPU_ALL_PAIRS } md_gpu_neighbours;
typedef enum md_gpu_sort {
  MD_GPU_SORT_AUTO,
  MD_GPU_SORT_STEP,
  MD_GPU_SORT_COUNT,
  MD_GPU_SORT_RADIX
} md_gpu_sort;

/* What makes a rebin due, with lists: a particle that has moved farther than half the skin, or two that lists may not hold
 * as a pair and that are within the cutoff. */
typedef enum md_gpu_expiry {
  MD_GPU_EXPIRY_AUTO,
  MD_GPU_EXPIRY_DISPLACEMENT,
  MD_GPU_EXPIRY_PAIRS
} md_gpu_expiry;

/* How the GPU engine does its work (`package gpu`). Nothing here changes a bit of the results, except mixed. */
typedef struct md_gpu_options {
  bool mixed;     /* pair arithmetic in single precision: tolerances instead of the same bits */
  bool symmetric; /* each pair once, added to both partners by atomicAdd; else by both partners */
  bool unfused;   /* force and move as two kernels */
  bool unsorted;  /* particles stay where they are, cells hold their indices */
  bool unpadded;  /* no border of empty cells: the stencil tests bounds */
  bool rolled;    /* the stencil as a loop */
  bool staged;    /* candidates go through shared memory */
  bool profile;   /* time every kernel */
  md_gpu_neighbours neighbours;
  md_gpu_sort sort;
  md_gpu_expiry expiry;
  int rebin;             /* steps between rebins; 0: when one is due */
  int block;             /* threads a block; 0: the engine's choice */
  int device;            /* -1: the engine's choice */
  double skin;           /* sigma; 0: the engine's choice */
  int64_t memory;        /* bytes to use at most; 0: all */
  const char *transport; /* between ranks, as comm.h's open_transport takes it; static */
} md_gpu_options;

typedef struct md_engine_options {
  int threads;      /* 0: all */
  double cell_size; /* 0: the engine's choice; otherwise the least cell width, sigma. No effect on results */
  int ranks;        /* that a plan is for; 0: one */
  bool slab;        /* and the box is one of theirs: periodic along its last axis, only by cuts */
  md_gpu_options gpu;
} md_engine_options;

/* Memory an engine needs for a model: `myriad plan`. */
enum { MD_PLAN_ITEMS = 16 };
typedef struct md_engine_plan {
  int nitem;
  struct {
    const char *name; /* static */
    double bytes;     /* per particle */
  } item[MD_PLAN_ITEMS];
  double bytes;      /* per particle, all items */
  double halo;       /* how far ghosts reach, sigma */
  double slab;       /* ranks would prefer slabs along the last axis that are so thick; 0: not */
  double ghosts;     /* of a rank */
  int ghost_bytes;   /* that refreshing one takes in a message */
  int64_t available; /* bytes on the device or machine; 0: unknown */
  char device[128];  /* what has that memory; empty: unknown */
  char method[128];  /* how neighbours are found */
} md_engine_plan;

/* Adds an item to a plan, if it takes any bytes per particle; name: static. */
static inline void md_plan_add(md_engine_plan *plan, const char *name, double bytes)
{
  if (!(bytes > 0.0)) return;
  plan->item[plan->nitem].name = name;
  plan->item[plan->nitem++].bytes = bytes;
  plan->bytes += bytes;
}

/* Counts of particles in the bins of a picture (dump density). */
typedef struct md_histogram {
  int axis[2]; /* to the right, up */
  int n[2];    /* bins */
  double lo[2], per_length[2];
} md_histogram;

/* What an engine says of itself after some steps. */
typedef struct md_engine_report {
  md_timers timers;
  int64_t rebins; /* of engines with lists: lists made */
  int64_t steps;
  double neighbours; /* stored per particle, average */
  int64_t ghosts;
  int64_t bytes;        /* allocated by engine and particles */
  const char *isa;      /* the instruction set its kernels run with, or NULL */
  const char *hardware; /* without isa: what it ran on, and how. The engine's */
  int threads;
  const char *details; /* further lines for the log, each ending in a newline; or NULL. The engine's */
} md_engine_report;

typedef struct md_engine md_engine;

typedef struct md_engine_kind {
  const char *name; /* --engine NAME */
  const char *summary;
  /* Creates an engine for a prepared model and entered particles (md_model_enter). Both and comm outlive
   * it. The model is read at every call: its step and run_* move on between calls to run. */
  md_status (*create)(md_engine **, md_model *, md_particles *, md_comm *,
                      const md_engine_options *) MD_CHECKED;
  /* Advances n >= 0 steps and the model's step with them. MD_PHYSICS: the message names the particle. */
  md_status (*run)(md_engine *, int64_t n) MD_CHECKED;
  /* Exact sums over this rank's particles, at the present state. MD_PHYSICS: particles overlap, so that there are
   * none. */
  md_status (*measure)(md_engine *, md_measure *) MD_CHECKED;
  /* Makes the particles structure current (owned particles only, any order, positions wrapped). With
   * `force` != NULL also the forces on them, dim arrays of n the caller provides, in energy/length; n and their order are
   * those of the last call, if no step was taken since. */
  md_status (*download)(md_engine *, double *const force[3]) MD_CHECKED;
  /* Adds this rank's particles to count[n[0] * n[1]], rows upwards, without a download; NULL: not offered. */
  md_status (*histogram)(md_engine *, const md_histogram *, int64_t *count) MD_CHECKED;
  /* What `n` particles of a prepared model would need on one rank, without making an engine; NULL: not offered. */
  md_status (*plan)(const md_model *, int64_t n, const md_engine_options *, md_engine_plan *) MD_CHECKED;
  void (*report)(const md_engine *, md_engine_report *);
  void (*destroy)(md_engine *);
  bool
      on_host; /* what it plans is memory of the host, which is only taken when it is used; else it finds out itself */
} md_engine_kind;

#ifdef __cplusplus
}
#endif
#endif
