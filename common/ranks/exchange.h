/* The exchange of particles, ghosts and other records between ranks: the part `exchange` of the communicator (comm.h).
 *
 * The halo of a domain is the layer of thickness `width` around it (picture: mpi/halo.c). Ghosts are complete: every
 * image of every particle within `width` of the domain is among them. A rebin calls migrate and then halo_build,
 * which chooses the ghosts. In the steps until the next rebin, halo_begin and halo_next only refresh the ghosts'
 * positions.
 *
 * Every function is collective unless it says "not collective" (comm.h).
 */
#ifndef MD_COMMON_RANKS_EXCHANGE_H
#define MD_COMMON_RANKS_EXCHANGE_H

#include "common/ranks/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MD_HALO_WIDTH = 10 }; /* the most values of a ghost in halo_values */

struct md_comm_exchange {
  /* Wraps the owned particles and sends each migrant to its owner, however far away. Drops all ghosts. The order of
   * the particles may change. Rebalances first if that is due. MD_PHYSICS, on all ranks: a particle is lost. */
  md_status (*migrate)(md_comm *, const md_model *, md_particles *) MD_CHECKED;
  /* Replaces the ghosts: appends all ghosts within `width` of the domain after the owned particles (0: none). The
   * particles must be wrapped and with their owners (migrate). Ghosts have x, id and type. MD_USAGE: a domain is
   * thinner than `width`. */
  md_status (*halo_build)(md_comm *, const md_box *box, double width, md_particles *) MD_CHECKED;
  /* halo_begin starts to refresh the positions of the ghosts that halo_build has made, in the present box, of which
   * the lengths may have changed. halo_next copies those that
   * have come, and says in *done whether all are there. With `wait` it waits for all. Until it is done, owned
   * particles may be read and must not move, and they must be in the order that they had at halo_build. halo_next is
   * not collective, but every rank must call it until it is done. */
  md_status (*halo_begin)(md_comm *, const md_box *box, md_particles *) MD_CHECKED;
  md_status (*halo_next)(md_comm *, md_particles *, bool wait, bool *done) MD_CHECKED;
  /* Gives the ghosts that halo_build has made the values of their owners: value[n + nghost][width], of which the first
   * n are there. width: at most MD_HALO_WIDTH. The particles must be in the order that they had at halo_build. */
  md_status (*halo_values)(md_comm *, const md_particles *, double *value, int width) MD_CHECKED;

  /* The sparse exchange: sends record k, for each k < n, to rank to[k]. `records`: n records of `size` bytes each;
   * `size` is the same on all ranks. A rank may send to itself. *received gets the *count records for this rank, in
   * any order. The caller frees it. */
  md_status (*sparse_exchange)(md_comm *, int64_t n, const int32_t *to, const void *records, int64_t size,
                               void **received, int64_t *count) MD_CHECKED;
  /* The ring of ranks: ring_begin starts to send a message of `bytes`, a multiple of 8, to the next rank, and to
   * receive one of the same size from the rank before; the first rank comes after the last. ring_next says in *done
   * whether both are complete, and with `wait` waits for that. Until then nothing may write to `send`, or use
   * `receive`. ring_next is not collective, but every rank must call it until it is done. NULL on a single rank. */
  md_status (*ring_begin)(md_comm *, const void *send, void *receive, int64_t bytes) MD_CHECKED;
  md_status (*ring_next)(md_comm *, bool wait, bool *done) MD_CHECKED;
};

#ifdef __cplusplus
}
#endif
#endif
