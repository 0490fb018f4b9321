/* The communicator: all that an engine and the program need from other ranks.
 *
 * An engine computes on the owned particles of its rank and on their ghosts. Only the communicator knows where
 * ghosts come from, and to which rank a particle goes that has left the domain. There are two communicators:
 * - one rank (md_comm_serial, src/engines/comm_serial.c): ghosts are periodic images of its own particles;
 * - several ranks, over MPI (md_comm_mpi, mpi/comm_mpi.c): ghosts are particles of other ranks too.
 *
 * The communicator has four parts. Each part is a table of functions, with a header of its own. A file that calls a
 * part includes its header:
 *
 *   comm->reduce    reductions.h   sums and maxima over ranks, agreement on a status
 *   comm->domains   domains.h      which domain of the box each rank has
 *   comm->exchange  exchange.h     migration of particles, ghosts, records for other ranks
 *   comm->files     files.h        files that all ranks write together
 *
 * Every function gets the communicator as its first argument: comm->reduce->sum(comm, values, n).
 *
 * Two operations have a beginning and an end, so that an engine can work between them: halo_begin and halo_next, and
 * max_begin and max_next. The engine calls ..._next until it says `done`.
 *
 * Every function of the communicator and of its parts is collective unless it says "not collective". All ranks call a
 * collective function, in the same order. A function that is not collective may be called by one rank alone.
 */
#ifndef MD_COMMON_RANKS_COMM_H
#define MD_COMMON_RANKS_COMM_H

#include "common/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct md_comm md_comm;
typedef struct md_comm_reductions md_comm_reductions;
typedef struct md_comm_domains md_comm_domains;
typedef struct md_comm_exchange md_comm_exchange;
typedef struct md_comm_files md_comm_files;
typedef struct md_comm_file md_comm_file;
typedef struct md_transport md_transport;
typedef struct md_transport_opener md_transport_opener;

/* When the cuts between domains follow the particles (commands `balance` and `fix balance`). */
enum { MD_BALANCE_GROUPS = 8, MD_BALANCE_CUTS = 1023 };
typedef struct md_balance {
  int64_t every; /* steps between two looks at the balance; 0: never */
  /* cuts move if the largest load of a rank, divided by the average, is above this (balance.h) */
  double threshold;
  bool bisects; /* new domains are bricks, by recursive bisection */
  bool axis[3]; /* whether the cuts along each axis may move */
  int ngroup;   /* groups whose particles have a weight: bits of groups, and weights */
  uint32_t group[MD_BALANCE_GROUPS];
  double weight[MD_BALANCE_GROUPS];
  const double *each; /* further weights, by local index; only for a call of rebalance; or NULL */
} md_balance;

/* The last look at the balance: the values of fix balance. */
typedef struct md_balanced {
  double imbalance; /* the largest load of a rank, divided by the average, after the look */
  double vector[3]; /* the largest load of a rank; 1 if cuts moved, else 0; the imbalance before the look */
} md_balanced;

struct md_comm {
  int rank, size;             /* this rank, and how many there are */
  int local_rank, local_size; /* the same among the ranks of this host */
  md_balance balance;         /* for migrate; the program sets it */
  md_balanced balanced;       /* by migrate, and by the program */
  int64_t recut;              /* how often the program has moved cuts in a run, outside of migrate */
  double balancing;           /* seconds that migrate has spent on rebalancing so far */
  const md_transport_opener *transports; /* for open_transport; NULL: there are none. The program sets it */
  void *state;                           /* of the implementation */

  const md_comm_reductions *reduce;
  const md_comm_domains *domains;
  const md_comm_exchange *exchange;
  const md_comm_files *files;

  /* Gives the transport between the device memories of ranks: the one of this name (peer, nccl, aware or staged), or
   * (name NULL) the best one that works. Before, every rank has made its device the current one. sharers: the largest
   * number of ranks that have the same device. The communicator owns the transport. With md_comm_serial *transport is
   * NULL. MD_USAGE: the named one does not work. MD_RUNTIME: none works, or the GPU engine was built without MPI or
   * with another MPI library. */
  md_status (*open_transport)(md_comm *, const char *name, int sharers, md_transport **) MD_CHECKED;

  /* Agrees on the status with which the program ends. After it a rank calls only files->close, finalise again,
   * and destroy. *alone: the other ranks did not come, here or to an earlier agreement. Then destroy will end them. */
  md_status (*finalise)(md_comm *, md_status status, bool *alone) MD_CHECKED;
  /* Frees the communicator; over MPI also ends MPI. If finalise left this rank alone, ends all ranks with its
   * status. */
  void (*destroy)(md_comm *);
};

/* Makes the communicator of a single rank, which owns the whole box. The caller owns it and calls ->destroy.
 * MD_RUNTIME: no memory. */
md_status md_comm_serial(md_comm **comm) MD_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
