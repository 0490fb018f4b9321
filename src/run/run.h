/* The life of a run, which the commands run, minimize, rerun and verify share: a run prepares the model, creates an
 * engine, shows steps to observers, and prints the lines at its end.
 *
 *   md_run_execute: prepare, create, start observers, show the first step, work, finish observers, summary
 *
 * The work between the first step and the end is that of the command: loop.h computes steps, src/minimize moves
 * particles towards a minimum of the energy, src/replay takes snapshots of dumps one after the other.
 */
#ifndef MD_SRC_RUN_RUN_H
#define MD_SRC_RUN_RUN_H

#include "src/box/kept_state.h"
#include "src/sim.h"

typedef struct md_run md_run;
struct md_run {
  md_sim *sim;
  const md_engine_kind *kind;
  md_engine *engine;   /* NULL: none at present */
  int64_t first, last; /* of this process; a resumed run starts after the first step of the whole run. last is
                           * below first in a run that goes back */
  int64_t thermo_shown;   /* step of the last thermo row, -1: none */
  int64_t whole_first;    /* first step of the whole run, before any resume */
  int signal;             /* signal that stopped the run; 0: none */
  bool late;              /* the time limit stopped the run */
  bool resumed;           /* this process began with a state from the middle of the run */
  bool brief;             /* the summary is one line */
  bool works;             /* the first step is shown, and `work` has begun */
  double started, output; /* wall clock at the start; seconds spent in observers */
  double agreeing;        /* seconds of waiting between pieces until all ranks were there */
  double cpu_started;
  md_box engine_box; /* the engine's, whose faces that follow the particles are not those that are shown */
  md_kept_state kept;
  md_timers spent; /* of the engines that were destroyed during the run */
  md_status (*work)(md_run *);
  /* Of a minimisation. */
  bool minimizes; /* fixes act as in a minimisation; no restart is written */
  bool stops;     /* it begins with particles at rest */
  bool ended;     /* the present step is the last one: all observers see it */
  void *minimizer;
  void *verifies; /* of the command verify: nothing is shown or written */
  /* Of a rerun: no restart is written. */
  void *rerun;
  int64_t shown;    /* snapshots so far */
  char result[768]; /* lines for the summary */
};

/* Executes a run whose sim, first steps and work are set. Collective. */
md_status md_run_execute(md_run *run) MD_CHECKED;

/* Prepares the model for the particles and the box as they are, and places the particles: their grids, momenta, owners.
 * Collective. */
md_status md_run_prepare(md_run *run) MD_CHECKED;

/* Creates an engine for the present particles, which must be on their grids and with their owners. Collective. */
md_status md_run_create_engine(md_run *run) MD_CHECKED;

/* Prepares the model anew for particles and a box that have changed, places the particles and creates an engine. To be
 * called without an engine, after md_model_leave. Collective. */
md_status md_run_renew(md_run *run) MD_CHECKED;

/* Goes back to the kept state, with a box that is larger at faces that follow the particles, and creates an engine. To
 * be called after MD_OUTGROWN. Collective. */
md_status md_run_grow_box(md_run *run) MD_CHECKED;

/* Divides the box of the prepared model into the domains of ranks. Collective. */
md_status md_run_decompose(md_sim *sim) MD_CHECKED;

/* Destroys the engine, if there is one. sim->particles must be current. */
void md_run_destroy_engine(md_run *run);

/* Must the run end early? */
static inline bool md_run_is_stopped(const md_run *run) { return run->signal != 0 || run->late; }

/* A run has ended with this status, which is returned. One that was refused is no run of the history. */
md_status md_run_refused(md_sim *sim, md_status status) MD_CHECKED;

/* Completes the record of the present run, which ended at the step `last`. Restarts and formulas take its end from the
 * record. */
void md_run_note(md_sim *sim, int64_t last);

#endif
