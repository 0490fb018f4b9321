/* The communicator: all that an engine and the program need from other ranks.
 *
 * An engine computes on the owned particles of its rank and on their ghosts. Only the communicator knows where
 * ghosts come from, and to which rank a particle goes that has left the domain. There are two communicators:
 * - one rank (md_comm_serial, src/engines/comm_serial.c): ghosts are periodic images of its own particles;
 * - several ranks, over MPI (md_comm_mpi, mpi/comm_mpi.c): ghosts are particles of other ranks too.
 *
 * The halo of a domain is the layer of thickness `width` around it (picture: mpi/halo.c). Ghosts are complete: every
 * image of every particle within `width` of the domain is among them. A rebin calls migrate and then halo_build,
 * which chooses the ghosts. In the steps until the next rebin, halo_begin and halo_next only refresh the ghosts'
 * positions.
 *
 * Two operations have a beginning and an end, so that an engine can work between them: halo_begin and halo_next, and
 * max_begin and max_next. The engine calls ..._next until it says `done`.
 *
 * Every function is collective unless it says "not collective". All ranks call a collective function, in the same
 * order. A function that is not collective may be called by one rank alone.
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

enum { MD_MAX_VALUES = 4 }; /* the most values of a max_begin */

/* When the cuts between domains follow the particles (commands `balance` and `fix balance`). */
typedef struct md_balance {
  int64_t every;    /* steps between two looks at the balance; 0: never */
  double threshold; /* cuts move if the most particles of a rank, divided by the average, are above this */
  bool axis[3];     /* whether the cuts along each axis may move */
} md_balance;

struct md_comm {
  int rank, size;                        /* this rank, and how many there are */
  void *state;                           /* of the implementation */
  int local_rank, local_size;            /* the same among the ranks of this host */
  md_balance balance;                    /* for migrate; the program sets it */
  double balancing;                      /* seconds that migrate has spent on rebalancing so far */
  const md_transport_opener *transports; /* for open_transport; NULL: there are none. The program sets it */

  /* ---- reductions and agreement ---- */

  /* In place, the sums and the maxima over ranks of each of n values. Every rank gets the same. */
  md_status (*sum)(md_comm *, int64_t *values, int n) MD_CHECKED;
  md_status (*max)(md_comm *, double *values, int n) MD_CHECKED;
  /* max_begin starts a maximum of n <= MD_MAX_VALUES values and copies them. Only one may be under way at a time.
   * max_next says in *done whether the maxima are there, and with `wait` waits for them. If they are there, it
   * writes them to values[0 .. n). max_next is not collective, but every rank must call it until it is done. */
  md_status (*max_begin)(md_comm *, const double *values, int n) MD_CHECKED;
  md_status (*max_next)(md_comm *, bool wait, double *values, bool *done) MD_CHECKED;
  /* The exclusive sum: *value becomes the sum of the values of all lower ranks (0 on rank 0). */
  md_status (*exclusive_sum)(md_comm *, int64_t *value) MD_CHECKED;
  /* Agrees on a status: every rank gives its own, and every rank gets the worst one. If that is an error, every rank
   * also gets the same message: of the messages with the worst status, the one about the smallest particles
   * (md_error_about). A rank with an error waits for the others a few seconds only, because they may be in another
   * call, in which they wait for this rank. If they do not come, the rank keeps its own status and message, and
   * finalise says that it is alone. */
  md_status (*agree)(md_comm *, md_status status) MD_CHECKED;

  /* ---- domains ---- */

  /* Chooses the grid of domains for a prepared model. No domain gets thinner than the halo: `width` and 10^-6 of it
   * more. MD_USAGE: this is impossible; the message says which numbers of ranks fit. */
  md_status (*decompose)(md_comm *, const md_model *, double width) MD_CHECKED;
  /* From now on decompose prefers slabs along the last axis, if these are at least `thickness` thick, to the grid
   * with the least surface. 0: it does not. Every rank must give the same value. Not collective. */
  void (*prefer_slabs)(md_comm *, double thickness);
  /* Fixes the number of domains along each axis for decompose; 0: free. These numbers divide the number of ranks.
   * Every rank must give the same ones. Not collective. */
  void (*fix_grid)(md_comm *, const int grid[3]);
  /* Gives the number of domains along each axis, and this rank's place in this grid. Not collective. */
  void (*grid)(md_comm *, int count[3], int place[3]);
  /* Gives the domain of this rank: along each axis [lo, hi), and in the last domain hi itself too. Before the first
   * decompose this is some division of the box. Not collective. */
  void (*domain)(md_comm *, const md_box *box, double lo[3], double hi[3]);
  /* The cuts along an axis, in increasing order: one more than there are domains along this axis. The first is the
   * lower end of the box, and the last is its upper end. Domain k is [cut[k], cut[k + 1]), and the last one includes
   * its upper end. The communicator owns the array. It is valid until the next call of decompose, rebalance or
   * migrate, and on one rank until the next call of cuts. NULL: the box cannot be divided. Not collective. */
  const double *(*cuts)(md_comm *, const md_box *box, int axis);
  /* The rank at a place of the grid, which is taken modulo the grid. Not collective. */
  int (*rank_at)(md_comm *, const int place[3]);
  /* Moves the cuts so that ranks have about equal numbers of particles. The particles themselves move at the next
   * migrate. imbalance[0] and [1]: the most particles of a rank, divided by the average, before and after. */
  md_status (*rebalance)(md_comm *, const md_model *, const md_particles *, double imbalance[2]) MD_CHECKED;

  /* ---- particles and ghosts ---- */

  /* Wraps the owned particles and sends each migrant to its owner, however far away. Drops all ghosts. The order of
   * the particles may change. Rebalances first if that is due. MD_PHYSICS, on all ranks: a particle is lost. */
  md_status (*migrate)(md_comm *, const md_model *, md_particles *) MD_CHECKED;
  /* Replaces the ghosts: appends all ghosts within `width` of the domain behind the owned particles (0: none). The
   * particles must be wrapped and with their owners (migrate). Ghosts have x, id and type. MD_USAGE: a domain is
   * thinner than `width`. */
  md_status (*halo_build)(md_comm *, const md_box *box, double width, md_particles *) MD_CHECKED;
  /* halo_begin starts to refresh the positions of the ghosts that halo_build has made. halo_next copies those that
   * have come, and says in *done whether all are there. With `wait` it waits for all. Until it is done, owned
   * particles may be read and must not move, and they must be in the order that they had at halo_build. halo_next is
   * not collective, but every rank must call it until it is done. */
  md_status (*halo_begin)(md_comm *, md_particles *) MD_CHECKED;
  md_status (*halo_next)(md_comm *, md_particles *, bool wait, bool *done) MD_CHECKED;

  /* The sparse exchange: sends record k, for each k < n, to rank to[k]. `records`: n records of `size` bytes each;
   * `size` is the same on all ranks. A rank may send to itself. *received gets the *count records for this rank, in
   * any order. The caller frees it. */
  md_status (*sparse_exchange)(md_comm *, int64_t n, const int32_t *to, const void *records, int64_t size,
                               void **received, int64_t *count) MD_CHECKED;

  /* ---- files ---- */

  /* Opens one file of all ranks for writing. append: writing begins behind what the file holds; else the file
   * becomes empty. *bytes: how many bytes it holds then. The caller closes it with file_close. Errors here and in
   * the functions below are the same on every rank. */
  md_status (*file_open)(md_comm *, const char *path, bool append, md_comm_file **,
                         int64_t *bytes) MD_CHECKED;
  /* Writes n bytes of each rank behind the end of the file, in the order of ranks. n may differ from rank to rank. */
  md_status (*file_append)(md_comm *, md_comm_file *, const void *bytes, int64_t n) MD_CHECKED;
  /* Goes back by n bytes, the same n on every rank: the next append overwrites the last n bytes of the file. */
  md_status (*file_back)(md_comm *, md_comm_file *, int64_t n) MD_CHECKED;
  /* Gives all appended bytes to the system, and returns the errors of doing so. */
  md_status (*file_flush)(md_comm *, md_comm_file *) MD_CHECKED;
  /* Closes the file, and frees it also after an error. */
  md_status (*file_close)(md_comm *, md_comm_file *) MD_CHECKED;

  /* For opening one HDF5 file on all ranks: returns a file access property list of the HDF5 library (a hid_t), which
   * the caller closes. -1: this HDF5 library cannot do that. Not collective. */
  int64_t (*hdf5_access)(md_comm *);

  /* ---- GPUs, and the end ---- */

  /* Gives the transport between the device memories of ranks: the one of this name (nccl, aware or staged), or (name
   * NULL) the best one that works. Before, every rank has made its device the current one. The communicator owns the
   * transport. With md_comm_serial *transport is NULL. MD_USAGE: the named one does not work. MD_RUNTIME: none
   * works, or the GPU engine was built without MPI or with another MPI library. */
  md_status (*open_transport)(md_comm *, const char *name, md_transport **) MD_CHECKED;

  /* Agrees on the status with which the program ends. After it a rank calls only file_close, finalise again, and
   * destroy. *alone: the other ranks did not come, here or to an earlier agreement. Then destroy will end them. */
  md_status (*finalise)(md_comm *, md_status status, bool *alone) MD_CHECKED;
  /* Frees the communicator; over MPI also ends MPI. If finalise left this rank alone, ends all ranks with its
   * status. */
  void (*destroy)(md_comm *);
};

/* The same as comm->agree. Compilers and analysers see here that the result is an error if the rank's own status is
 * one. */
static inline MD_CHECKED md_status md_comm_agree(md_comm *comm, md_status own)
{
  const md_status agreed = comm->agree(comm, own);
  return agreed != MD_OK ? agreed : own;
}

/* Makes the communicator of a single rank, which owns the whole box. The caller owns it and calls ->destroy.
 * MD_RUNTIME: no memory. */
md_status md_comm_serial(md_comm **comm) MD_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
