/* The engine interface: how a prepared model is executed.
 *
 * An engine is created for one run of a model over the particles of one rank, advances them any number of
 * steps without returning, and measures them. All engines give the same bits. The particles structure stays
 * the program's; while the engine exists it is the engine's to reorder and to keep elsewhere (a GPU), and
 * is current after download().
 */
#ifndef MD_COMMON_ENGINE_H
#define MD_COMMON_ENGINE_H

#include "common/comm.h"
#include "common/model.h"
#include "common/timer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct md_engine_options {
  int threads;      /* 0: all */
  double cell_size; /* 0: the engine's choice; otherwise the least cell width, sigma. No effect on results */
} md_engine_options;

/* What an engine says of itself after some steps. */
typedef struct md_engine_report {
  md_timers timers;
  int64_t rebuilds;
  int64_t steps;
  double neighbours; /* stored per particle, average */
  int64_t ghosts;
  int64_t bytes;   /* allocated by engine and particles */
  const char *isa; /* the instruction set its kernels run with */
  int threads;
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
  /* Exact sums over this rank's particles, at the present state. */
  md_status (*measure)(md_engine *, md_measure *) MD_CHECKED;
  /* Makes the particles structure current (owned particles only, any order, positions wrapped). With
   * `force` != NULL also the forces on them, dim arrays of n the caller provides, in energy/length. */
  md_status (*download)(md_engine *, double *const force[3]) MD_CHECKED;
  void (*report)(const md_engine *, md_engine_report *);
  void (*destroy)(md_engine *);
} md_engine_kind;

#ifdef __cplusplus
}
#endif
#endif
