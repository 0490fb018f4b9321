/* Observers: whoever looks at a running system (thermo, dumps, pictures, restarts).
 *
 * The run loop asks each when it is next due, lets the engine run up to the earliest of those steps, and shows
 * the state to all that are due, through a view that fetches only what is asked for: energies without
 * downloading particles, particles without forces.
 */
#ifndef MD_SRC_OUTPUT_OBSERVER_H
#define MD_SRC_OUTPUT_OBSERVER_H

#include "common/engine.h"
#include "src/files/output_stream.h"

typedef struct md_sim md_sim;

/* The state of one step, fetched lazily and once. */
typedef struct md_view {
  md_sim *sim;
  const md_engine_kind *kind;
  md_engine *engine; /* NULL outside a run: the particles structure is current */
  int64_t step;
  bool have_particles, have_thermo, have_forces;
  int32_t *order;   /* local indices by increasing id, after md_view_particles */
  double *force[3]; /* by local index, after md_view_forces */
  md_thermo_state thermo;
} md_view;

/* Each fetches if that has not happened yet; collective, with the same status on every rank. After md_view_particles,
 * sim->particles is current and view->order valid; while an engine runs, velocities are p/m_reference:
 * md_model_velocity gives velocities. */
md_status md_view_particles(md_view *view) MD_CHECKED;
md_status md_view_forces(md_view *view) MD_CHECKED;
md_status md_view_thermo(md_view *view) MD_CHECKED;
void md_view_close(md_view *view);

/* How far an observer has written, for restarts. */
typedef struct md_output_mark {
  char id[64];
  char file[1024];
  int64_t bytes;      /* of one file that frames are added to; -1: another kind */
  int64_t last_step;  /* of the last frame; -1: none */
  md_gzip_state gzip; /* of the file, if it is one */
} md_output_mark;

typedef struct md_observer md_observer;
struct md_observer {
  char id[64]; /* the deck's name for it */
  md_observer *next;
  /* The first step >= `step` at which it wants to observe; INT64_MAX: never. */
  int64_t (*due)(md_observer *, int64_t step);
  /* Called when a run starts, after the model is prepared and before step 0 is shown; may be NULL. */
  md_status (*start)(md_observer *, md_sim *) MD_CHECKED;
  md_status (*observe)(md_observer *, md_view *) MD_CHECKED;
  /* Called at the end of a run: flush, so that files are complete on disk; may be NULL. */
  md_status (*finish)(md_observer *, md_sim *) MD_CHECKED;
  /* What to remember of it, after finish; false: nothing. May be NULL. Not collective. */
  bool (*mark)(md_observer *, md_output_mark *);
  /* Goes on from there: what was written later is cut off. Before start; may be NULL. Collective. */
  md_status (*resume)(md_observer *, md_sim *, const md_output_mark *) MD_CHECKED;
  void (*destroy)(md_observer *);
};

#endif
