/* The OpenMP engine from inside: the types and functions that its files share.
 *
 *   engine.c     the interface of the engine: makes it, runs steps, measures
 *     step.c       a step: kicks and a drift, in one pass
 *       openmp/force/pass.c       a pass: works on all particles, chunk by chunk, on all threads
 *       rebin.c      cells, ghosts and lists
 *       openmp/force/visited.c    pair styles whose forces need more than distances
 *       awaited.c    sums and actions after a step, in the passes of steps
 *       messages.c   what ranks tell one another about the last move, while the next pass works
 */
#ifndef MD_OPENMP_ENGINE_H
#define MD_OPENMP_ENGINE_H

#include "common/bond/partners.h"
#include "common/engine.h"
#include "common/faults.h"
#include "openmp/chunk_queues.h"
#include "openmp/force/kernels.h"

/* Faults in ascending severity: all ranks get the largest value. An overlap decides, because a step finds it before the
 * move, in the forces. */
typedef enum fault { NO_FAULT, RUNAWAY, OVERLAP } fault;

/* What the ranks know of the last move, and whether the new positions of ghosts are there (messages.c has a
 * diagram). */
typedef enum move_state {
  MOVE_SETTLED,  /* this rank has taken the verdict */
  MOVE_ASKED,    /* the answer of all ranks is under way */
  MOVE_ANSWERED, /* `most` holds the answer; this rank has not taken the verdict */
} move_state;
typedef enum halo_state { HALO_PRESENT, HALO_UNDER_WAY } halo_state;

/* What the last move did to the list. LIST_HOLDS: nothing. LIST_RELIST: pairs may be missing. LIST_REBIN: the same, and
 * the cells do not hold either. */
typedef enum list_verdict { LIST_HOLDS, LIST_RELIST, LIST_REBIN } list_verdict;

/* The most actions that are owed: those after a step and before the next one, of two fixes. */
enum { OWED_SCALINGS = 4 };

/* Positions from which the list was built, and what the box has become since then. Positions of the list go with the
 * box. */
typedef struct list_places {
  float *x[3]; /* relative to the domain's corner: owned particles, then ghosts in cell order */
  int64_t capacity;
  double error;         /* the largest error of a distance from there */
  double scale[3];      /* of each axis */
  double corner[3];     /* its place */
  double shrunk, grown; /* the smallest scale so far (<= 1) and the largest so far (>= 1) */
  double sheared;       /* by how much images of a tilted box have been shifted since then, at most */
} list_places;

/* The neighbour list. The neighbours of the particles of a chunk lie together in an arena. */
typedef struct pair_list {
  int64_t nchunk, capacity;
  arena *arenas;    /* [threads] */
  int64_t *at;      /* where the list of a chunk begins in its arena, ... */
  int32_t *arena;   /* ... the number of that arena, ... */
  int32_t *entries; /* ... and the length of the list */
  /* [nchunk * row_lengths]: rows of each block's list, or of a half list, vectors of both parts of each particle's
   * row. */
  int32_t *rows;
  int row_lengths;  /* of a chunk */
  bool *inner;      /* true: no ghost can be in the lists of the chunk */
  bool *early;      /* half lists: true: the impulses of the chunk's pairs are in the records already */
  bool halves;      /* half lists pay */
  bool full_wanted; /* the next list is to be a full one */
  /* The list is a half one (openmp/force/half_kernels.h): the chunks of a queue are taken in order, by its thread. */
  bool half;
} pair_list;

/* Arrays of half lists, for all particles, and far particles for each thread. */
typedef struct half_arrays {
  double *record; /* positions and types */
  int64_t *sum;   /* impulses, SUM_SHIFT words after the beginning of `memory` */
  int64_t *memory, capacity;
} half_arrays;

/* Arrays of a style with two passes: a density or three bodies. */
typedef struct density_arrays {
  double *slope;     /* F' of owned particles and ghosts */
  double *kept;      /* of a three-body style instead: MD_THREE_SUMS numbers of each */
  double *embedding; /* F of owned particles, or the energies of centres */
  int64_t capacity;  /* in particles */
} density_arrays;

/* What awaited.c keeps: which sums the last pass of a run has made, and these; actions that the next move does. */
typedef struct step_work {
  md_wanted summed;
  md_measure sums;
  int scalings;
  scaling scaling[OWED_SCALINGS];
} step_work;

struct md_engine {
  md_model *model;
  md_particles *p;
  md_comm *comm;
  md_engine_options options;
  const kernels *kernels;
  int threads;
  double skin, reach; /* reach = cutoff + skin, the list radius */
  /* Width of cells, at least, and of the halo unless bonds are longer: reach and twice the slack. */
  double halo;

  bool structure_fits; /* list, ghosts and impulse arrays fit the particles */
  move_state move;
  halo_state halo_state;
  double most[2];     /* the largest of all ranks: distance from where the list was built, and fault */
  bool impulses_kept; /* the spare arrays hold the impulses at the present positions */
  double owed;        /* how many times these impulses must be given before the next drift */
  /* The step that led to the present positions; at first, the first step of the engine. */
  int64_t positions_step;
  /* The step whose positions are present: model->step, or the step after it between the drift of a step and its end.
   * Fixes on forces depend on it. */
  int64_t present_step;
  bool moved;     /* have particles moved since they were sorted? */
  double slack;   /* how far particles may be from where they were sorted, so that the cells hold */
  double drifted; /* how far particles were from there, at most, when the list was built */
  fault fault;    /* what this rank found, until all ranks know of it */
  md_status fault_status;

  cell_grid grid;
  cell_index owned, ghost;
  list_places near;
  pair_list list;
  chunk_queues queues; /* one for each thread */
  half_arrays half;
  int32_t *type; /* subtypes, 0-based, of owned particles and ghosts; only with several */
  int64_t type_capacity;
  uint16_t *subtype; /* subtypes, from 1, of owned particles and ghosts; only where groups divide types */
  int64_t subtype_capacity;
  double *molecule; /* molecules of owned particles and ghosts; only where these exclude pairs */
  int64_t molecule_capacity;
  density_arrays density;
  md_partners partners; /* of bonds, since the last rebin */
  step_work after_step;

  md_timers timers;
  int64_t steps, lists, sorts; /* lists made, of which `sorts` at a rebin */
  char details[64];
};

/* The particles of chunk c are [c * CHUNK, chunk_end(e, c)). */
static inline int64_t chunk_end(const md_engine *e, int64_t c)
{
  return (c + 1) * CHUNK < e->p->n ? (c + 1) * CHUNK : e->p->n;
}

static inline const int32_t *chunk_rows(const md_engine *e, int64_t chunk)
{
  return e->list.rows + chunk * e->list.row_lengths;
}

static inline const int32_t *chunk_list(const md_engine *e, int64_t chunk)
{
  return e->list.arenas[e->list.arena[chunk]].entry + e->list.at[chunk];
}

/* ---- rebin.c ---- */

/* Puts the particles into cell order, and makes new ghosts and a new list. Collective, as all functions below that
 * return a status, unless a comment says otherwise. */
md_status engine_rebin(md_engine *) MD_CHECKED;

/* The subtypes of owned particles and ghosts, from 1 (common/subtypes.h). */
static inline const uint16_t *engine_subtypes(const md_engine *e)
{
  return e->model->subtypes.n > 0 ? e->subtype : e->p->type;
}

/* The row of a pair in tables of coefficients. */
static inline size_t engine_pair(const md_engine *e, int64_t i, int64_t j)
{
  const uint16_t *type = engine_subtypes(e);
  return (size_t)(type[i] - 1) * (size_t)md_model_subtypes(e->model) + (size_t)(type[j] - 1);
}

/* The first of the BLOCK far particles of the half list of thread t. There is one for each lane: if they were one, each
 * subtraction from its record would wait for the one before. Those of two threads are in different cache lines. */
static inline int64_t engine_far(const md_engine *e, int t)
{
  return e->p->n + e->p->nghost + BLOCK * (1 + (int64_t)t);
}

/* Makes a new list from the cells of the last rebin. distance: how far particles are, at most, from where the last list
 * was built. Waits for the positions of ghosts if they are still under way. */
md_status engine_relist(md_engine *, double distance) MD_CHECKED;

/* ---- openmp/force/pass.c ---- */

/* What a thread finds in a pass. */
typedef struct finding {
  md_overlap overlap; /* of the pairs that overlap, the one of the smallest ids */
  double largest2;    /* the largest squared distance of a particle from where the list was built */
  bool sane;          /* no particle moved too far or left the box */
  md_measure *sums;   /* of what the pass measures; NULL: nothing */
} finding;

/* One pass over all chunks: the forces, and the function that sums and uses them. */
typedef struct pass {
  force_args force;
  move_args move;
  double *out[3]; /* impulses or forces of all particles */
  /* Sums the forces on chunk c, uses them, and adds to the finding. */
  void (*chunk)(const md_engine *, const struct pass *, int64_t c, finding *);
  /* The same for a chunk whose impulses are in `out` already. */
  void (*summed_chunk)(const md_engine *, const struct pass *, int64_t c, finding *);
  bool forces;      /* does `chunk` sum the forces? */
  md_measure *sums; /* receives what the chunks add to those of the finding; NULL: they add nothing */
  int summed; /* in the first `summed` parts of the queues, the impulses of inner chunks are in `out` already */
} pass;

/* Copies the present positions of owned particles and ghosts into the records, for a half list. Other lists: does
 * nothing. Not collective. */
void engine_fill_records(const md_engine *);

/* The arguments for forces at the present positions. table: of coefficients, for impulses in quanta or for
 * measuring. */
force_args engine_force_args(const md_engine *, const double *table);

/* Sums the impulses on chunk c into force[d][], by index in the chunk, and lets the fixes act on the sums, up to
 * the first one that takes a mean. A pair that overlaps is left out and noted. */
void engine_sum_chunk(const md_engine *, const force_args *, int64_t c, double (*force)[CHUNK], md_overlap *);

/* Sums the forces on chunk c for output, in energy/length, as fine sums. Notes pairs that overlap; the forces on their
 * particles mean nothing. */
void engine_output_forces(const md_engine *, const force_args *, int64_t c, double (*force)[CHUNK],
                          md_overlap *);

/* The same as engine_sum_chunk for pair styles without a density, and adds the virial to the measure. */
void engine_sum_virial_chunk(const md_engine *, const force_args *, int64_t c, double (*force)[CHUNK],
                             md_overlap *, md_measure *);

/* Notes pairs of chunk c that overlap. */
void engine_find_overlap(const md_engine *, int64_t c, md_overlap *);

/* Calls the pass's functions for every chunk, on all threads, and adds to the finding. Outer chunks come when the
 * positions of ghosts are there. Adds the time to `phase`; the time of waiting for messages counts apart. */
md_status engine_pass(md_engine *, const pass *, md_phase phase, finding *) MD_CHECKED;

/* Sums speculative forces while the answer to the last move is under way: the impulses of inner chunks, in the first
 * *summed parts of the queues, into the spare arrays, or with a half list into the records. *summed is 0 if the answer
 * is there already. Not collective. */
md_status engine_speculative_force(md_engine *, int *summed, finding *) MD_CHECKED;

/* The finding of a thread that has done nothing yet. */
finding finding_none(void);

/* ---- engine.c ---- */
/* Adds the sums of all chunks to a measure, by all threads. sum_chunk: adds those of chunk c, and notes errors of its
 * pairs. MD_PHYSICS: such an error. */
typedef void (*chunk_sum)(const md_engine *, const void *context, int64_t c, md_measure *, md_overlap *);
md_status engine_sum_chunks(const md_engine *, chunk_sum sum_chunk, const void *context,
                            md_measure *total) MD_CHECKED;

/* ---- openmp/force/visited.c ---- */

/* For a style with a density or three bodies: finds the slopes or sums at the present positions. For a dissipative one:
 * gives ghosts their velocities. The next two functions need this. The list must hold. Other styles: does nothing. */
md_status engine_prepare_pairs(md_engine *) MD_CHECKED;

/* Notes the velocities after a drift, if pair forces depend on them. Not collective. */
void engine_note_velocities(md_engine *);

/* Sums the impulses on chunk c, or the forces for output. Pairs that overlap are left out and noted. */
void engine_visited_forces(const md_engine *, bool output, int64_t c, double (*force)[CHUNK], md_overlap *);

/* Adds the impulses of the rows of chunk c to the records, by a half list, as above. */
void engine_add_density_half(const md_engine *, int64_t c, md_overlap *);

/* Adds energies and virials, or the components of virials, to a measure. */
md_status engine_visited_measure(md_engine *, bool tensor, md_measure *) MD_CHECKED;

/* ---- awaited.c ---- */

/* Of the sums that the program awaits after this run, those that the last pass of the run can make. */
md_wanted engine_awaited(const md_engine *);

/* Adds the awaited terms of the particles of chunk c, whose velocities are complete, to the measure. Not collective. */
void engine_add_terms(const md_engine *, uint64_t summands, int64_t c, md_measure *);

/* Notes an action after a step for the next move, or returns false if a move cannot do it. Not collective. */
bool engine_owe_action(md_engine *, const md_action *);

/* Does the actions that are owed, because velocities are needed. Not collective. */
void engine_do_owed_actions(md_engine *);

/* ---- messages.c ---- */

/* Tells all ranks about a move: the fault of this rank, if any, and the new positions of its particles that are ghosts
 * elsewhere. distance: how far particles are, at most, from where the list was built. */
md_status engine_tell(md_engine *, double distance) MD_CHECKED;

/* Takes the messages that have come, without waiting. Not collective. */
md_status engine_poll(md_engine *) MD_CHECKED;

/* Waits for the positions of ghosts. */
md_status engine_finish_halo(md_engine *) MD_CHECKED;

/* Waits for the answer of all ranks to the last move. If a rank found a fault, all ranks return its error. */
md_status engine_verdict(md_engine *, list_verdict *) MD_CHECKED;

/* May the list lack pairs, if a particle is `distance` from where the list was built? */
static inline bool engine_list_ended(const md_engine *e, double distance)
{
  return distance > 0.5 * (e->skin - (1.0 - e->near.shrunk) * e->reach - e->near.sheared);
}

/* Has a particle moved so far since it was sorted that a new list needs new cells? A change of the box has the same
 * effect, because the cells are those of the old box. */
static inline bool engine_cells_ended(const md_engine *e, double distance)
{
  return e->drifted + distance > e->slack || e->near.shrunk < 1.0 || e->near.grown > 1.0 ||
         e->near.sheared > 0.0;
}

/* ---- step.c ---- */

/* Does one step. It does not change model->step. Kicks after the drift are owed, and given later. */
md_status engine_step(md_engine *) MD_CHECKED;

/* Waits for the verdict on the last move, and does the relist or rebin that it asks for. */
md_status engine_act_on_verdict(md_engine *) MD_CHECKED;

/* Gives the owed kicks without a drift, and keeps their impulses for the next drift. */
md_status engine_settle(md_engine *) MD_CHECKED;

#endif
