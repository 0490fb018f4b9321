/* The communicator over MPI: this file starts and ends it, and gives it its four parts (common/ranks/comm.h). The
 * functions of the parts are in the other files of mpi/.
 *
 * Only the main thread calls MPI, outside of parallel regions (MPI_THREAD_FUNNELED). MPI returns its errors as
 * codes, and md_mpi_error turns these into messages.
 */
#include "mpi/comm_mpi.h"
#include "common/ranks/launched.h"
#include "common/ranks/transport.h"
#include "mpi/library.h"
#include "mpi/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *md_mpi_library(void)
{
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  text[strcspn(text, ",\n")] = '\0';
  return text;
}

static md_status open_transport(md_comm *c, const char *name, int sharers, md_transport **transport)
{
  mpi_state *s = mpi_state_of(c);
  const md_transport_opener *opener = c->transports;
  if (!opener)
    return md_error(MD_RUNTIME,
                    "the GPU engine was built without MPI, and has no messages between GPUs: `make "
                    "gpu` builds it anew, where mpicc is found");
  if (strcmp(opener->mpi, MD_MPI_LIBRARY) != 0)
    return md_error(MD_RUNTIME,
                    "the GPU engine was built with %s, and this program with %s: `make` builds both",
                    opener->mpi, MD_MPI_LIBRARY);
  MD_TRY(opener->open(&s->transports, name, sharers, &s->transport));
  *transport = s->transport;
  return MD_OK;
}

static void destroy(md_comm *c)
{
  mpi_state *s = mpi_state_of(c);
  if (s->alone) MPI_Abort(MPI_COMM_WORLD, (int)s->status);
  if (s->transport) s->transport->destroy(s->transport);
  md_mpi_halo_free(s);
  md_decomposition_free(&s->division);
  MPI_Comm *const comms[] = {&s->ranks, &s->halo, &s->exchange, &s->transports, &s->agreement, &s->last};
  for (size_t k = 0; k < sizeof comms / sizeof comms[0]; ++k)
    if (*comms[k] != MPI_COMM_NULL) MPI_Comm_free(comms[k]);
  free(s);
  free(c);
}

/* Ends MPI with the process, if no other part of it did. */
static void finalise_mpi(void)
{
  int ended = 0;
  if (MPI_Finalized(&ended) == MPI_SUCCESS && !ended) MPI_Finalize();
}

/* Starts MPI, unless the process has started it, as a library of Python may have done. MPI starts once in a process, so
 * that it stays when a communicator is destroyed: the next one uses it. *provided: its support of threads. */
static md_status start_mpi(int *provided)
{
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (ended)
    return md_error(MD_RUNTIME,
                    "MPI has ended in this process, and cannot be started again: use a new process");
  if (started)
    return MPI_Query_thread(provided) == MPI_SUCCESS ? MD_OK
                                                     : md_error(MD_RUNTIME, "MPI_Query_thread failed");
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, provided) != MPI_SUCCESS)
    return md_error(MD_RUNTIME,
                    "MPI does not start: use the mpirun of the MPI library this program was built with");
  atexit(finalise_mpi);
  return MD_OK;
}

/* Makes an MPI communicator for each purpose, so that a message of one purpose cannot be received by another. */
static md_status connect(md_comm *c)
{
  mpi_state *s = mpi_state_of(c);
  MD_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  MPI_Comm *const comms[] = {&s->ranks, &s->halo, &s->exchange, &s->transports, &s->agreement, &s->last};
  for (size_t k = 0; k < sizeof comms / sizeof comms[0]; ++k) MD_MPI(MPI_Comm_dup(MPI_COMM_WORLD, comms[k]));
  MD_MPI(MPI_Comm_rank(s->ranks, &c->rank));
  MD_MPI(MPI_Comm_size(s->ranks, &c->size));
  MPI_Comm host;
  MD_MPI(MPI_Comm_split_type(s->ranks, MPI_COMM_TYPE_SHARED, c->rank, MPI_INFO_NULL, &host));
  MD_MPI(MPI_Comm_rank(host, &c->local_rank));
  MD_MPI(MPI_Comm_size(host, &c->local_size));
  MD_MPI(MPI_Comm_free(&host));
  md_decomposition_init(&s->division, c->size, c->rank);
  return MD_OK;
}

/* Refuses to run if the launcher has started several tasks, and MPI sees one: each task would run the whole deck
 * alone. */
static md_status check_launcher(const md_comm *c)
{
  if (c->size > 1 || md_launched_ranks() <= 1) return MD_OK;
  return md_error(MD_RUNTIME,
                  "the launcher started %ld tasks, but MPI sees only one: use the mpirun of the MPI library "
                  "this program was built with, or srun --mpi=pmix",
                  md_launched_ranks());
}

static const md_comm_exchange exchange = {.migrate = md_mpi_migrate,
                                          .halo_build = md_mpi_halo_build,
                                          .halo_begin = md_mpi_halo_begin,
                                          .halo_next = md_mpi_halo_next,
                                          .halo_values = md_mpi_halo_values,
                                          .sparse_exchange = md_mpi_sparse_exchange,
                                          .ring_begin = md_mpi_ring_begin,
                                          .ring_next = md_mpi_ring_next};

md_status md_comm_mpi(md_comm **comm)
{
  int provided = MPI_THREAD_SINGLE;
  MD_TRY(start_mpi(&provided));
  md_comm *c = calloc(1, sizeof *c);
  mpi_state *s = calloc(1, sizeof *s);
  if (!c || !s) {
    free(c);
    free(s);
    return md_error(MD_RUNTIME, "out of memory: the communicator");
  }
  s->ranks = s->halo = s->exchange = s->transports = s->agreement = s->last = MPI_COMM_NULL;
  s->balanced_at = -1;
  s->maximum = s->ring[0] = s->ring[1] = MPI_REQUEST_NULL;
  *c = (md_comm){.state = s,
                 .reduce = &md_mpi_reductions,
                 .domains = &md_mpi_domains,
                 .exchange = &exchange,
                 .files = &md_mpi_files,
                 .open_transport = open_transport,
                 .finalise = md_mpi_finalise,
                 .destroy = destroy};
  *comm = c;
  MD_TRY(connect(c));
  MD_TRY(check_launcher(c));
  if (provided < MPI_THREAD_FUNNELED)
    return md_error(MD_RUNTIME,
                    "this MPI library has no support for threads (MPI_THREAD_FUNNELED): use a library built "
                    "with it, or one rank with --threads");
  return MD_OK;
}
