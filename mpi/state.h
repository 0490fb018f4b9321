/* What the files of the communicator over MPI share: its state, its parts, and functions of the parts that other files
 * call too. The headers of the parts (common/ranks/comm.h) say what each function does. Every function is collective
 * unless it says "not collective". */
#ifndef MD_MPI_STATE_H
#define MD_MPI_STATE_H

#include "common/ranks/decompose.h"
#include "common/ranks/domains.h"
#include "common/ranks/exchange.h"
#include "common/ranks/files.h"
#include "common/ranks/reductions.h"

#include <mpi.h>

/* By how many edges an image is shifted besides those of its message: along the axis of the message in a small box, and
 * along the axes before in a tilted one, where it was wrapped. */
typedef struct halo_wraps {
  int16_t boxes[3];
} halo_wraps;

/* One of the 2 dim messages of a halo exchange: to the neighbour across one face, and from the neighbour across the
 * opposite face. */
typedef struct halo_message {
  int to, from;      /* ranks; MPI_PROC_NULL: no rank */
  int boxes;         /* 0, 1 or -1 edges of the box: make a position the image that the receiver needs */
  int64_t nsend;     /* particles and ghosts sent, ... */
  int32_t *send;     /* ... and their indices */
  bool own_wraps;    /* the box is tilted or small along the message's axis */
  halo_wraps *wraps; /* then of each entry */
  int64_t send_capacity;
  int64_t nreceive, first;           /* ghosts received, and the index of the first in the particle arrays */
  double *out, *in;                  /* positions: first all x, then all y ... */
  int64_t out_capacity, in_capacity; /* doubles */
  MPI_Request request[2];
} halo_message;

/* A ghost in the messages of a rebin. */
typedef struct ghost_record {
  double x[3];
  int64_t id;
  int32_t type;
  uint32_t group;
} ghost_record;

/* Bounds along the axes from `first` to `last` - 1. A position is inside if lo <= x < hi along each of these. */
typedef struct bounds {
  int first, last;
  double lo[3], hi[3];
} bounds;

/* The messages of a halo exchange between bricks, with one other rank or with this rank itself (bricks.c). */
typedef struct brick_message {
  int rank;
  int64_t nsend, nreceive, first; /* particles sent; ghosts received, and the index of the first */
  int64_t capacity;
  int32_t *send;  /* [nsend] indices of particles */
  uint8_t *image; /* [nsend] number of their image */
  double *out, *in;
  MPI_Request request[2];
} brick_message;

typedef struct mpi_state {
  MPI_Comm ranks;      /* reductions */
  MPI_Comm halo;       /* halo messages */
  MPI_Comm exchange;   /* sparse exchange */
  MPI_Comm transports; /* messages between GPUs */
  MPI_Comm agreement;  /* agree */
  MPI_Comm last;       /* finalise */
  md_decomposition division;
  halo_message message[3][2]; /* [axis][side]; side 0 sends to the lower neighbour, 1 to the higher one */
  bool between_bricks;        /* the ghosts are those of bricks */
  int nbrick;                 /* messages between bricks */
  brick_message *brick;
  MPI_Request ring[2]; /* of ring_begin */
  int axis;            /* the axis whose positions are under way; -1: none */
  int dim;
  md_box box;                   /* of the last halo_build */
  double maxima[MD_MAX_VALUES]; /* of max_begin */
  int nmaxima;
  MPI_Request maximum; /* the reduction of max_begin that is under way */
  int32_t *found;      /* indices that md_mpi_outside has found */
  int64_t found_capacity;
  unsigned exchanges;      /* number of sparse exchanges so far: their tags alternate */
  int64_t balanced_at;     /* step of the last look at the balance; -1: none */
  int worst;               /* the worst status of all ranks, while they meet */
  bool alone;              /* agree or finalise waited for the other ranks in vain ... */
  md_status status;        /* ... and destroy ends all ranks with this status */
  md_transport *transport; /* of open_transport; NULL: none yet */
} mpi_state;

static inline mpi_state *mpi_state_of(md_comm *comm) { return comm->state; }

/* Returns MD_RUNTIME, with MPI's text for the error code and the name of the call (all before its first
 * parenthesis). Not collective. */
md_status md_mpi_error(const char *call, int code) MD_CHECKED;

/* Calls MPI, and returns from the function with MD_RUNTIME on an error. */
#define MD_MPI(call)                                                                                         \
  do {                                                                                                       \
    const int md_mpi_code_ = (call);                                                                         \
    if (md_mpi_code_ != MPI_SUCCESS) return md_mpi_error(#call, md_mpi_code_);                               \
  } while (0)

/* reduce.c */
extern const md_comm_reductions md_mpi_reductions;
md_status md_mpi_sum(md_comm *, int64_t *values, int n) MD_CHECKED;
md_status md_mpi_max(md_comm *, double *values, int n) MD_CHECKED;
md_status md_mpi_exclusive_sum(md_comm *, int64_t *value) MD_CHECKED;
/* The same as md_comm_agree, for places that all ranks are sure to reach, however late. It waits for them without a
 * limit. */
md_status md_mpi_agree_surely(md_comm *, md_status status) MD_CHECKED;
md_status md_mpi_finalise(md_comm *, md_status status, bool *alone) MD_CHECKED;

/* ring.c */
md_status md_mpi_ring_begin(md_comm *, const void *send, void *receive, int64_t bytes) MD_CHECKED;
md_status md_mpi_ring_next(md_comm *, bool wait, bool *done) MD_CHECKED;

/* sparse_exchange.c */
md_status md_mpi_sparse_exchange(md_comm *, int64_t n, const int32_t *to, const void *records, int64_t size,
                                 void **received, int64_t *count) MD_CHECKED;

/* select.c: finds which of the first n particles (owned, then ghosts) are not inside the bounds. s->found gets their
 * *count indices, in increasing order. They are valid until the next call. Not collective. */
md_status md_mpi_outside(mpi_state *s, const md_particles *, int64_t n, const bounds *,
                         int64_t *count) MD_CHECKED;

/* migrate.c */
md_status md_mpi_migrate(md_comm *, const md_model *, md_particles *) MD_CHECKED;

/* domains.c */
extern const md_comm_domains md_mpi_domains;
/* Rebalances if this is due (comm->balance.every) and the imbalance is above comm->balance.threshold. */
md_status md_mpi_rebalance_if_due(md_comm *, const md_model *, const md_particles *) MD_CHECKED;

/* bricks.c: recursive bisection, and the halo of bricks, with the same functions as halo.c. md_mpi_bisect sets the
 * planes of all bricks so that the loads are equal. */
md_status md_mpi_bisect(md_comm *, const md_box *, const md_particles *) MD_CHECKED;
md_status md_mpi_bricks_build(md_comm *, const md_box *box, double width, md_particles *) MD_CHECKED;
md_status md_mpi_bricks_begin(md_comm *, const md_box *box, const md_particles *) MD_CHECKED;
md_status md_mpi_bricks_next(md_comm *, md_particles *, bool wait, bool *done) MD_CHECKED;
md_status md_mpi_bricks_values(md_comm *, double *value, int width) MD_CHECKED;
void md_mpi_bricks_free(mpi_state *);

/* halo.c */
md_status md_mpi_halo_build(md_comm *, const md_box *box, double width, md_particles *) MD_CHECKED;
md_status md_mpi_halo_begin(md_comm *, const md_box *box, md_particles *) MD_CHECKED;
md_status md_mpi_halo_next(md_comm *, md_particles *, bool wait, bool *done) MD_CHECKED;
md_status md_mpi_halo_values(md_comm *, const md_particles *, double *value, int width) MD_CHECKED;
void md_mpi_halo_free(mpi_state *);
/* The record of particle i without its position; and n ghosts received, appended to the particles, which have room for
 * them. Not collective. */
ghost_record md_mpi_ghost_of(const md_particles *, int64_t i);
void md_mpi_append_ghosts(md_particles *, int64_t n, const ghost_record *);

/* file.c */
extern const md_comm_files md_mpi_files;

#endif
