/* The communicator: what an engine needs from its neighbours, whoever they are.
 *
 * A local engine computes on its owned particles and their ghosts. Where ghosts come from, and where a
 * particle goes that left the domain, only the communicator knows: alone (comm_serial.c) they are periodic
 * images; over MPI they are other ranks' particles too.
 *
 * Ghosts are complete up to the `width` asked for: every image of every particle within `width` of the
 * domain. halo_build decides who they are (at a rebin), halo_update only refreshes their positions.
 * Every function is collective.
 */
#ifndef MD_COMMON_COMM_H
#define MD_COMMON_COMM_H

#include "common/box.h"
#include "common/error.h"
#include "common/particles.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct md_comm md_comm;
struct md_comm {
  int rank, size;
  void *state;
  /* In-place reductions of n values over ranks. */
  md_status (*sum)(md_comm *, int64_t *values, int n) MD_CHECKED;
  md_status (*max)(md_comm *, double *values, int n) MD_CHECKED;
  /* The same status everywhere: the worst over ranks; its message is kept by the rank that had it. */
  md_status (*agree)(md_comm *, md_status status) MD_CHECKED;
  /* The block of the box this rank owns. */
  void (*domain)(md_comm *, const md_box *box, double lo[3], double hi[3]);
  /* Wraps positions and sends particles to their owners; drops all ghosts. */
  md_status (*migrate)(md_comm *, const md_box *box, md_particles *) MD_CHECKED;
  /* Appends ghosts behind the owned particles, to `width` beyond the domain (0: none). */
  md_status (*halo_build)(md_comm *, const md_box *box, double width, md_particles *) MD_CHECKED;
  md_status (*halo_update)(md_comm *, md_particles *) MD_CHECKED;
  void (*destroy)(md_comm *);
};

/* One rank that owns the whole box. The caller owns it and calls ->destroy. */
md_status md_comm_serial(md_comm **comm) MD_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
