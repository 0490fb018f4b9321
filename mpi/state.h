/* What the files of the communicator over MPI share. */
#ifndef MD_MPI_STATE_H
#define MD_MPI_STATE_H

#include "common/ranks/comm.h"
#include "common/ranks/decompose.h"

#include <mpi.h>

/* One of the 2 dim messages of a halo exchange: to the neighbour across one face. */
typedef struct halo_message {
  int to, from;  /* ranks; MPI_PROC_NULL: nobody */
  double shift;  /* along the axis, into the frame of the receiver */
  int64_t nsend; /* particles or ghosts sent: */
  int32_t *send; /* ... their indices */
  int64_t send_capacity;
  int64_t nreceive, first;           /* ghosts received, and the first one's index among the ghosts */
  double *out, *in;                  /* positions: all x, then all y ... */
  int64_t out_capacity, in_capacity; /* doubles */
  MPI_Request request[2];
} halo_message;

/* Along the axes first to last - 1: lo <= x < hi. */
typedef struct bounds {
  int first, last;
  double lo[3], hi[3];
} bounds;

typedef struct mpi_state {
  MPI_Comm ranks;      /* reductions */
  MPI_Comm halo;       /* halo messages */
  MPI_Comm exchange;   /* deliver */
  MPI_Comm transports; /* messages between GPUs */
  MPI_Comm agreement;  /* agree */
  MPI_Comm last;       /* finalise */
  md_decomposition division;
  halo_message message[3][2]; /* by axis; towards lower, higher places */
  int axis;                   /* of which the messages are under way; dim: none */
  int dim;
  double maxima[MD_MAX_VALUES]; /* of max_begin, ... */
  int nmaxima;
  MPI_Request maximum; /* ... and what is under way */
  int32_t *found;      /* indices, of md_mpi_outside ... */
  int64_t found_capacity;
  unsigned deliveries; /* so far: their tags alternate */
  int64_t balanced_at; /* step of the last look at the balance; -1: none */
  bool alone;          /* agree or finalise waited in vain ... */
  md_status status;    /* ... and this is what ends all ranks */
  md_transport *transport;
} mpi_state;

static inline mpi_state *mpi_state_of(md_comm *comm) { return comm->state; }

/* MD_RUNTIME with MPI's own words. */
md_status md_mpi_error(const char *call, int code) MD_CHECKED;

#define MD_MPI(call)                                                                                         \
  do {                                                                                                       \
    const int md_mpi_code_ = (call);                                                                         \
    if (md_mpi_code_ != MPI_SUCCESS) return md_mpi_error(#call, md_mpi_code_);                               \
  } while (0)

/* reduce.c */
md_status md_mpi_sum(md_comm *, int64_t *values, int n) MD_CHECKED;
md_status md_mpi_max(md_comm *, double *values, int n) MD_CHECKED;
md_status md_mpi_max_begin(md_comm *, const double *values, int n) MD_CHECKED;
md_status md_mpi_max_next(md_comm *, bool wait, double *values, bool *done) MD_CHECKED;
md_status md_mpi_exclusive_sum(md_comm *, int64_t *value) MD_CHECKED;
md_status md_mpi_agree(md_comm *, md_status status) MD_CHECKED;
/* The same where all ranks are sure to come, however late: waits for them as long as it takes. */
md_status md_mpi_agree_surely(md_comm *, md_status status) MD_CHECKED;
md_status md_mpi_finalise(md_comm *, md_status status, bool *alone) MD_CHECKED;

/* sparse_exchange.c */
md_status md_mpi_sparse_exchange(md_comm *, int64_t n, const int32_t *to, const void *records, int64_t size,
                                 void **received, int64_t *count) MD_CHECKED;

/* select.c: which of the first n particles, owned and ghosts, are not within bounds: s->found[*count], in order. Not
 * collective. */
md_status md_mpi_outside(mpi_state *s, const md_particles *, int64_t n, const bounds *,
                         int64_t *count) MD_CHECKED;

/* migrate.c, balance.c */
md_status md_mpi_migrate(md_comm *, const md_model *, md_particles *) MD_CHECKED;
md_status md_mpi_rebalance(md_comm *, const md_model *, const md_particles *, double imbalance[2]) MD_CHECKED;
/* Rebalances if comm->balance says that it is time and worth it. */
md_status md_mpi_rebalance_if_due(md_comm *, const md_model *, const md_particles *) MD_CHECKED;

/* halo.c */
md_status md_mpi_halo_build(md_comm *, const md_box *box, double width, md_particles *) MD_CHECKED;
md_status md_mpi_halo_begin(md_comm *, md_particles *) MD_CHECKED;
md_status md_mpi_halo_next(md_comm *, md_particles *, bool wait, bool *done) MD_CHECKED;
void md_mpi_halo_free(mpi_state *);

/* file.c */
md_status md_mpi_file_open(md_comm *, const char *path, bool append, md_comm_file **,
                           int64_t *bytes) MD_CHECKED;
md_status md_mpi_file_append(md_comm *, md_comm_file *, const void *bytes, int64_t n) MD_CHECKED;
md_status md_mpi_file_back(md_comm *, md_comm_file *, int64_t n) MD_CHECKED;
md_status md_mpi_file_flush(md_comm *, md_comm_file *) MD_CHECKED;
md_status md_mpi_file_close(md_comm *, md_comm_file *) MD_CHECKED;

/* hdf5.c */
int64_t md_mpi_hdf5_access(md_comm *);

#endif
