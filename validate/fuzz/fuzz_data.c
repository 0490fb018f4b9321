/* A fuzz test of the data file reader. Any bytes are either read or refused, without a crash, a leak or a hang. Several
 * ranks do the same as one rank, with the same message. The first byte chooses the dimension, the periodic axes and the
 * number of ranks. Built with -fsanitize=fuzzer,address,undefined. */
#include "validate/unit/support/sim_fixture.h"
#include "validate/unit/support/thread_ranks.h"

#include "src/data/data_file.h"

#include <stdlib.h>

/* The bytes of a file, and the result of reading them. */
typedef struct reading {
  const uint8_t *data;
  size_t size;
  int dim;
  bool periodic[3];
  md_status status[RANKS_MAX];
  int64_t particles[RANKS_MAX], natoms;
  char message[RANKS_MAX][2048];
} reading;

static void read_by_rank(md_comm *comm, void *context)
{
  reading *r = context;
  const int rank = comm->rank;
  md_log log = {0};
  md_sim *sim = calloc(1, sizeof *sim);
  FILE *file = fmemopen((void *)(uintptr_t)r->data, r->size, "r");
  if (!sim || !file || md_sim_init(sim) != MD_OK) abort();
  sim->comm = comm;
  sim->log = &log;
  sim->model.box.dim = r->dim;
  for (int d = 0; d < 3; ++d) sim->model.box.periodic[d] = r->periodic[d];
  r->status[rank] = md_data_read(sim, file, "fuzz", NULL);
  r->particles[rank] = sim->particles.n;
  if (rank == 0) r->natoms = sim->model.natoms;
  snprintf(r->message[rank], sizeof r->message[0], "%s", md_error_text());
  md_sim_free(sim);
  free(sim);
  fclose(file);
}

static void read_by_one(reading *r)
{
  md_comm *comm;
  if (md_comm_serial(&comm) != MD_OK) abort();
  read_by_rank(comm, r);
  comm->destroy(comm);
  if (r->status[0] == MD_OK && r->natoms != r->particles[0]) abort();
}

static void compare(const reading *one, const reading *many, int ranks)
{
  int64_t particles = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    if (many->status[rank] != one->status[0]) abort();
    if (one->status[0] != MD_OK && strcmp(many->message[rank], one->message[0]) != 0) abort();
    particles += many->particles[rank];
  }
  if (one->status[0] == MD_OK && (particles != one->natoms || many->natoms != one->natoms)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static reading one, many;
  if (size < 2) return 0;
  one = (reading){.data = data + 1, .size = size - 1, .dim = data[0] & 1 ? 2 : 3};
  for (int d = 0; d < 3; ++d) one.periodic[d] = (data[0] >> (d + 1)) & 1;
  many = one;
  read_by_one(&one);
  const int ranks = 1 + (data[0] >> 4) % 4;
  if (ranks == 1) return 0;
  run_ranks(ranks, read_by_rank, &many);
  compare(&one, &many, ranks);
  return 0;
}
