/* The OpenMP engine from inside: what its files share.
 *
 * engine.c is the interface: it makes an engine, runs steps and measures. A step (step.c) is a pass over all particles in
 * chunks (pass.c), by lists that a rebin makes (rebin.c), while ranks tell one another about the last one
 * (messages.c).
 */
#ifndef MD_OPENMP_ENGINE_H
#define MD_OPENMP_ENGINE_H

#include "common/engine.h"
#include "common/faults.h"
#include "openmp/chunk_queues.h"
#include "openmp/kernels.h"

/* In the order in which a step finds them: forces come before the move. */
typedef enum fault { NO_FAULT, RUNAWAY, OVERLAP } fault;

/* What the ranks know of the last move, and of the ghosts' new positions (messages.c has the diagram). */
typedef enum move_state {
  MOVE_SETTLED,  /* all ranks have acted on it */
  MOVE_ASKED,    /* the answer of all ranks is under way */
  MOVE_ANSWERED, /* `most` holds the answer; this rank has not acted on it */
} move_state;
typedef enum halo_state { HALO_PRESENT, HALO_UNDER_WAY } halo_state;

/* What the last move did to the list: nothing; pairs may be missing; or the cells do not hold either. */
typedef enum list_verdict { LIST_HOLDS, LIST_RELIST, LIST_REBIN } list_verdict;

struct md_engine {
  md_model *model;
  md_particles *p;
  md_comm *comm;
  md_engine_options options;
  const kernels *kernels;
  int threads;
  double skin, reach; /* reach = cutoff + skin, the list radius */
  double halo;        /* width of cells and ghosts: reach and twice the slack */

  bool built; /* list, ghosts and impulse arrays fit the particles */
  move_state move;
  halo_state halo_state;
  double most[2];         /* over all ranks: distance from where the list was built, and fault */
  bool impulses_kept;     /* the spare arrays hold the impulses at the present positions */
  double owed;            /* kicks by those impulses that are due before the next drift */
  int64_t positions_step; /* the step that led to the present positions; the first one of the engine */
  bool moved;             /* since the particles were sorted */
  double slack;           /* how far particles may be from where they were sorted, for the cells to hold */
  double drifted;         /* how far they were from there, at most, when the list was built */
  fault fault;            /* found on this rank, until all ranks know of it */
  md_status fault_status;

  cell_grid grid;
  cell_index owned, ghost;
  /* Positions that the list was built from, relative to the domain's corner: owned, then ghosts in cell order. */
  float *near_x[3];
  int64_t near_capacity;
  double near_error; /* of a distance from there, at most */
  int32_t *type;     /* 0-based, owned and ghosts; only with several types */
  int64_t type_capacity;
  arena *arenas; /* [threads] */
  int64_t nchunk, chunk_capacity;
  int64_t *chunk_at;      /* where a chunk's list begins in its arena, ... */
  int32_t *chunk_arena;   /* ... which that is, ... */
  int32_t *chunk_entries; /* ... and the list's length */
  int32_t *rows;          /* [nchunk * CHUNK_BLOCKS] */
  bool *inner;            /* no ghost can be in the chunk's lists */
  chunk_queues queues;    /* of threads */

  md_timers timers;
  int64_t steps, rebins, sorts;
  char details[64];
};

/* The particles of chunk c are [c * CHUNK, chunk_end(e, c)). */
static inline int64_t chunk_end(const md_engine *e, int64_t c)
{
  return (c + 1) * CHUNK < e->p->n ? (c + 1) * CHUNK : e->p->n;
}

static inline const int32_t *chunk_list(const md_engine *e, int64_t chunk)
{
  return e->arenas[e->chunk_arena[chunk]].entry + e->chunk_at[chunk];
}

/* ---- rebin.c ---- */

/* Puts the particles into cell order, with new ghosts and a new list. Collective, as all below with a status. */
md_status engine_rebin(md_engine *) MD_CHECKED;

/* A list from the cells of the last rebin, for particles that are `distance` from where the last list was built, and
 * whose ghosts are under way or there. */
md_status engine_relist(md_engine *, double distance) MD_CHECKED;

/* ---- pass.c ---- */

/* What a thread finds in a pass. */
typedef struct finding {
  md_overlap overlap; /* a pair that is too near */
  double largest2;    /* squared displacement since the rebin */
  bool sane;          /* no particle flew */
} finding;

/* One pass over all chunks: forces on each, and what they are for. */
typedef struct pass {
  force_args force;
  move_args move;
  double *out[3]; /* impulses or forces of all particles */
  void (*chunk)(const md_engine *, const struct pass *, int64_t c, finding *);
  /* The same for a chunk whose impulses are in `out` already. */
  void (*summed_chunk)(const md_engine *, const struct pass *, int64_t c, finding *);
  int summed; /* in so many first parts of the queues, those without ghosts are */
} pass;

/* For impulses at the present positions, in quanta, or for measuring, by the table for it. */
force_args engine_force_args(const md_engine *, const double *table);

/* Impulses on one chunk. A pair that overlaps is left out, and noted. */
void engine_sum_chunk(const md_engine *, const force_args *, int64_t c, double (*force)[CHUNK], md_overlap *);

/* Forces on one chunk for output, in energy/length, with the digits of fine sums. */
void engine_output_forces(const md_engine *, int64_t c, double (*force)[CHUNK], md_overlap *);

/* Notes the pairs of one chunk that overlap. */
void engine_find_overlap(const md_engine *, int64_t c, md_overlap *);

/* Does every chunk, on all threads, those with ghosts when their positions are there, and adds to the finding. The time is
 * that of `phase`, what is waited for apart. */
md_status engine_pass(md_engine *, const pass *, md_phase phase, finding *) MD_CHECKED;

/* While the answer to the last move is under way: puts the impulses of chunks without ghosts into the spare arrays, those
 * of the first *summed parts of the queues. */
md_status engine_speculative_force(md_engine *, int *summed, finding *) MD_CHECKED;

finding finding_none(void);

/* ---- messages.c ---- */

/* Tells all ranks about a move: how far particles are from where the list was built, at most, a fault, and where ghosts
 * are. */
md_status engine_tell(md_engine *, double distance) MD_CHECKED;

/* Takes what has come. Not collective. */
md_status engine_poll(md_engine *) MD_CHECKED;

/* Waits for the ghosts' positions. */
md_status engine_finish_halo(md_engine *) MD_CHECKED;

/* Waits for the answer of all ranks to the last move. Returns the fault of the move, if there is one, on all ranks. */
md_status engine_verdict(md_engine *, list_verdict *) MD_CHECKED;

/* May the list lack pairs, if a particle is `distance` from where the list was built? */
static inline bool engine_list_ended(const md_engine *e, double distance) { return distance > 0.5 * e->skin; }

/* Is that particle too far from where it was sorted for a new list from the same cells? */
static inline bool engine_cells_ended(const md_engine *e, double distance)
{
  return e->drifted + distance > e->slack;
}

/* ---- step.c ---- */

/* One step; the model's step stays. Its last kicks are owed. */
md_status engine_step(md_engine *) MD_CHECKED;

/* Waits for the verdict on the last move, and makes list, or cells and list, anew if that is due. */
md_status engine_act_on_verdict(md_engine *) MD_CHECKED;

/* Gives the owed kicks, and keeps their impulses for the next drift. */
md_status engine_settle(md_engine *) MD_CHECKED;

#endif
