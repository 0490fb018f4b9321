/* The communicator: what an engine and the program need from the other ranks, whoever they are.
 *
 * A local engine computes on its owned particles and their ghosts. Where ghosts come from, and where a
 * particle goes that left the domain, only the communicator knows: alone (comm_serial.c) they are periodic
 * images; over MPI (mpi/comm_mpi.c) they are other ranks' particles too.
 *
 * Ghosts are complete up to the `width` asked for: every image of every particle within `width` of the
 * domain. halo_build decides who they are (at a rebin); halo_begin and halo_next only refresh their positions,
 * one axis after the other, and max_begin and max_next find a maximum, while an engine works between them.
 * Every function is collective unless it says otherwise: all ranks call it, in the same order.
 */
#ifndef MD_COMMON_RANKS_COMM_H
#define MD_COMMON_RANKS_COMM_H

#include "common/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct md_comm md_comm;
typedef struct md_comm_file md_comm_file;
typedef struct md_transport md_transport;
typedef struct md_transport_opener md_transport_opener;

enum { MD_MAX_VALUES = 4 }; /* of max_begin */

/* When the cuts between domains follow the particles: `balance` and `fix balance`. */
typedef struct md_balance {
  int64_t every;    /* steps; 0: never */
  double threshold; /* most particles of a rank over the average, above which cuts move */
  bool axis[3];     /* along which they may */
} md_balance;

struct md_comm {
  int rank, size;
  void *state;
  int local_rank, local_size;            /* among the ranks of this host */
  md_balance balance;                    /* of migrate; the program sets it */
  double balancing;                      /* seconds of migrate so far in which it balanced */
  const md_transport_opener *transports; /* of open_transport; NULL: there are none. The program sets it */

  /* In-place reductions of n values over ranks. */
  md_status (*sum)(md_comm *, int64_t *values, int n) MD_CHECKED;
  md_status (*max)(md_comm *, double *values, int n) MD_CHECKED;
  /* The same begun, of n <= MD_MAX_VALUES values, one such at a time; max_next says whether the maxima are there, or waits
   * for them, and then gives them. max_next is not collective. */
  md_status (*max_begin)(md_comm *, const double *values, int n) MD_CHECKED;
  md_status (*max_next)(md_comm *, bool wait, double *values, bool *done) MD_CHECKED;
  /* *value: the sum of the values of lower ranks. */
  md_status (*exclusive_sum)(md_comm *, int64_t *value) MD_CHECKED;
  /* The same status everywhere: the worst over ranks, with the message about the smallest particles
   * (md_error_about). Every rank has that message. A rank with an error waits for the others a few seconds only, as
   * they may be in another call, where an error of this rank alone left them: then it keeps its own message, and
   * finalise says that it is alone. */
  md_status (*agree)(md_comm *, md_status status) MD_CHECKED;

  /* Chooses the grid of domains for a prepared model whose halo is `width` wide, or 10^-6 of it more. MD_USAGE: they
   * would be thinner than that, with how many ranks fit. */
  md_status (*decompose)(md_comm *, const md_model *, double width) MD_CHECKED;
  /* decompose prefers slabs along the last axis that are at least so thick to the least surface; 0: not. The same on all
   * ranks. Not collective. */
  void (*prefer_slabs)(md_comm *, double thickness);
  /* The counts along the axes that decompose must keep to, 0: free; they divide the number of ranks. Not collective. */
  void (*fix_grid)(md_comm *, const int grid[3]);
  /* The present grid and this rank's place in it. Not collective. */
  void (*grid)(md_comm *, int count[3], int place[3]);
  /* The block of the box this rank owns. Not collective. Before the first decompose: some division of the box. */
  void (*domain)(md_comm *, const md_box *box, double lo[3], double hi[3]);
  /* Where the domains are cut along an axis, grid + 1 places from box lo to hi: domain k is [cut[k], cut[k + 1]), the
   * last one with its end. Valid until the next call of decompose, rebalance or migrate. Not collective. */
  const double *(*cuts)(md_comm *, const md_box *box, int axis);
  /* The rank at a place of the grid. Not collective. */
  int (*rank_at)(md_comm *, const int place[3]);
  /* Moves the cuts so that ranks have alike numbers of particles, which the next migrate moves. *imbalance: most
   * particles of a rank over the average, before and after. */
  md_status (*rebalance)(md_comm *, const md_model *, const md_particles *, double imbalance[2]) MD_CHECKED;

  /* Wraps positions and sends particles to their owners, however far; drops all ghosts. Rebalances first if that is
   * due. MD_PHYSICS: a particle is lost. */
  md_status (*migrate)(md_comm *, const md_model *, md_particles *) MD_CHECKED;
  /* Appends ghosts behind the owned particles, to `width` beyond the domain (0: none). */
  md_status (*halo_build)(md_comm *, const md_box *box, double width, md_particles *) MD_CHECKED;
  /* Starts to refresh the ghosts' positions; halo_next goes on with what has come, or waits for all, and says whether all
   * are there. Between them owned particles may be read, and not moved. halo_next is not collective. */
  md_status (*halo_begin)(md_comm *, md_particles *) MD_CHECKED;
  md_status (*halo_next)(md_comm *, md_particles *, bool wait, bool *done) MD_CHECKED;

  /* Sends record k of n, `size` bytes each, to rank to[k]. The caller frees *received, of *count records in any
   * order. */
  md_status (*sparse_exchange)(md_comm *, int64_t n, const int32_t *to, const void *records, int64_t size,
                               void **received, int64_t *count) MD_CHECKED;

  /* One file of all ranks. append: behind what it holds; *bytes: which is that many. Errors are the same on every
   * rank. */
  md_status (*file_open)(md_comm *, const char *path, bool append, md_comm_file **,
                         int64_t *bytes) MD_CHECKED;
  /* Writes the ranks' bytes behind the end, in the order of ranks. */
  md_status (*file_append)(md_comm *, md_comm_file *, const void *bytes, int64_t n) MD_CHECKED;
  /* The next append overwrites the last n bytes, which were appended or there before. */
  md_status (*file_back)(md_comm *, md_comm_file *, int64_t n) MD_CHECKED;
  /* What was appended is on its way to the disk, and errors of that have been seen. */
  md_status (*file_flush)(md_comm *, md_comm_file *) MD_CHECKED;
  /* Frees the file in any case. */
  md_status (*file_close)(md_comm *, md_comm_file *) MD_CHECKED;

  /* How all ranks open one HDF5 file together: a file access property list of the HDF5 library, which the caller
   * closes. -1: they cannot, with this library. Not collective. */
  int64_t (*hdf5_access)(md_comm *);

  /* The way between the device memories of ranks, once each has chosen its device: the best there is, or the one named
   * (NULL: the best). The communicator's. NULL itself on one rank. */
  md_status (*open_transport)(md_comm *, const char *name, md_transport **) MD_CHECKED;

  /* Every rank's last call but file_close, finalise again, and destroy, with the status it ends with: agrees. *alone:
   * the others did not come, here or to an agreement before, so that destroy will end them. */
  md_status (*finalise)(md_comm *, md_status status, bool *alone) MD_CHECKED;
  /* Ends all ranks, with that status, if finalise left this one alone. */
  void (*destroy)(md_comm *);
};

/* comm->agree, so that compilers and analysers see that a rank's own error stays one. */
static inline MD_CHECKED md_status md_comm_agree(md_comm *comm, md_status own)
{
  const md_status agreed = comm->agree(comm, own);
  return agreed != MD_OK ? agreed : own;
}

/* One rank that owns the whole box. The caller owns it and calls ->destroy. */
md_status md_comm_serial(md_comm **comm) MD_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
