/* Observers: parts of the program that look at a running system (thermo, dumps, pictures, restarts).
 *
 * The run loop asks each observer when it is next due, and runs the engine up to the earliest of these steps. It
 * then shows the state to all observers that are due, through a view. A view fetches only the data that an
 * observer asks for: energies without downloading particles, or particles without forces.
 */
#ifndef MD_SRC_OUTPUT_OBSERVER_H
#define MD_SRC_OUTPUT_OBSERVER_H

#include "common/engine.h"
#include "common/force/forced.h"
#include "src/files/output_stream.h"

typedef struct md_sim md_sim;

/* A view: the state of one step. Each kind of data is fetched at the first request, and only once. */
typedef struct md_view {
  md_sim *sim;
  const md_engine_kind *kind;
  md_engine *engine; /* NULL outside a run; sim->particles is then up to date */
  int64_t step;
  bool have_particles, have_computed, have_tensor, have_motion, have_forces;
  int32_t *order;   /* local indices in order of increasing id, after md_view_order */
  double *force[3]; /* by local index, with those of fixes, after md_view_forces */
  double *image;    /* records of image flags (src/follow/images.c), by local index; NULL: not fetched */
  /* by index in model->fix: energies and vectors of fixes, after md_view_forces */
  md_forced forced[MD_FIXES_MAX];
  md_computed computed;     /* values of the model's computes, after md_view_compute */
  double tensor[MD_TENSOR]; /* the pressure tensor, after md_view_tensor ... */
  int tensor_of;            /* ... of the compute pressure at this index of model->compute */
  double motion[MD_TENSOR]; /* the sum of m v_a v_b of a temperature, after md_view_motion ... */
  int motion_of;            /* ... of the compute at this index */
} md_view;

/* Each function fetches its data, unless they are there already. Collective, with the same status on all ranks.
 * After md_view_particles, sim->particles is up to date. While an engine runs,
 * sim->particles holds p/m_reference instead of velocities: md_model_velocity gives velocities. */
md_status md_view_particles(md_view *view) MD_CHECKED;
md_status md_view_forces(md_view *view) MD_CHECKED;
/* Makes view->order, unless it is there, after md_view_particles. On this rank alone. MD_RUNTIME: out of memory. */
md_status md_view_order(md_view *view) MD_CHECKED;
/* md_view_forces for a value of a deck. MD_USAGE, naming it as `what`: no run shows a step. */
md_status md_sim_need_forces(md_sim *sim, const char *what) MD_CHECKED;
/* Makes energy and virial of fix external those of this step. */
md_status md_view_external(md_view *view) MD_CHECKED;
md_status md_view_compute(md_view *view) MD_CHECKED;
md_status md_view_tensor(md_view *view, int pressure) MD_CHECKED;
md_status md_view_motion(md_view *view, int temperature) MD_CHECKED;
/* The potential energy of the system, with that of fixes whose energy counts. Collective. */
md_status md_view_energy(md_view *view, double *energy) MD_CHECKED;
void md_view_close(md_view *view);

/* How far an observer has written its file; a restart stores this. */
typedef struct md_output_mark {
  char id[64];
  char file[1024];
  int64_t bytes;      /* size of a file to which frames are appended; -1: another kind of output */
  int64_t frames;     /* in a file that is cut by its frames, not by bytes; -1: another kind of output */
  int64_t last_step;  /* step of the last frame; -1: none */
  md_gzip_state gzip; /* state of the file, if it is a gzip file */
  int64_t nstate;     /* numbers that the observer has summed */
  double *state;      /* [nstate], or NULL. Who holds the mark frees it */
} md_output_mark;

typedef struct md_observer md_observer;
struct md_observer {
  char id[64];  /* name that the deck gave to the observer */
  int group;    /* number of the group that it shows (common/groups.h) */
  bool appends; /* to a file that was there before the deck; known after `start` */
  bool marked;  /* a restart says how long its file was */
  md_observer *next;
  /* The first step >= `step` at which the observer is due; INT64_MAX: never. */
  int64_t (*due)(md_observer *, int64_t step);
  /* The same for a run that goes back: the last step <= `step` at which it is due; negative: never. */
  int64_t (*due_back)(md_observer *, int64_t step);
  /* Is all there that it shows? Called when a run starts, and in `myriad check`. MD_USAGE: no. May be NULL. */
  md_status (*check)(md_observer *, md_sim *) MD_CHECKED;
  /* Called when a run starts, after the model is prepared and before the first step is shown. May be NULL. */
  md_status (*start)(md_observer *, md_sim *) MD_CHECKED;
  md_status (*observe)(md_observer *, md_view *) MD_CHECKED;
  /* Flushes files, so that they are complete on disk. Called at the end of a run and before a restart. May be
   * NULL. */
  md_status (*finish)(md_observer *, md_sim *) MD_CHECKED;
  /* Fills in what a restart stores about the observer; false: nothing. Call it after finish. May be NULL. Not
   * collective. */
  bool (*mark)(md_observer *, md_output_mark *);
  /* Continues from a mark: cuts off what was written after it. Called before start. May be NULL. Collective. */
  md_status (*resume)(md_observer *, md_sim *, const md_output_mark *) MD_CHECKED;
  /* Ends its files and frees the observer. An error: a file is not complete. Each rank has its own answer. */
  md_status (*destroy)(md_observer *) MD_CHECKED;
};

#endif
