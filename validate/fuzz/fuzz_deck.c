/* A fuzz test of the deck language: any bytes are a deck. The commands are those of the program, except those below,
 * which may take long or open a file. Outputs of all other commands go nowhere. So no input can take long or touch the
 * disk.
 *
 * After each deck the model is prepared, as for a run. The model of any deck must be refused, or be fit to run. Built
 * with -fsanitize=fuzzer,address,undefined.
 */
#include "src/deck/deck.h"
#include "src/files/output_stream.h"
#include "src/sim.h"

#include <stdlib.h>

#define STAND_IN(name)                                                                                       \
  md_status md_do_##name(md_sim *sim, const md_words *words)                                                 \
  {                                                                                                          \
    (void)sim, (void)words;                                                                                  \
    return MD_OK;                                                                                            \
  }

STAND_IN(create_atoms)
STAND_IN(include)
STAND_IN(jump)
STAND_IN(log)
STAND_IN(minimize)
STAND_IN(pair_write)
STAND_IN(read_data)
STAND_IN(read_dump)
STAND_IN(read_restart)
STAND_IN(replicate)
STAND_IN(rerun)
STAND_IN(run)
STAND_IN(seek)
STAND_IN(verify)
STAND_IN(write_data)
STAND_IN(write_dump)
STAND_IN(write_restart)

md_status md_output_open(md_comm *comm, md_output **output, const char *path, bool append)
{
  (void)comm;
  *output = NULL;
  return append ? md_error(MD_RUNTIME, "cannot write %.500s", path) : MD_OK;
}

md_status md_output_write_once(md_output *output, md_text *text)
{
  (void)output;
  MD_TRY(md_text_status(text));
  return text->n > 0 && text->bytes[0] == '!' ? md_error(MD_RUNTIME, "disk full") : MD_OK;
}

md_status md_output_close(md_output **output)
{
  *output = NULL;
  return MD_OK;
}

md_status md_output_end(md_output **output, md_status status)
{
  *output = NULL;
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_deck(md_sim *sim, FILE *file)
{
  if (md_deck_run(sim, file, "deck") != MD_OK) return;
  if (md_model_prepare(&sim->model) != MD_OK) return;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  FILE *file = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
  if (!file) return 0;
  md_sim *sim = calloc(1, sizeof *sim);
  md_log log = {.file = fopen("/dev/null", "w"), .echo_file = true};
  md_comm *comm = NULL;
  if (sim && log.file && md_comm_serial(&comm) == MD_OK && md_sim_init(sim) == MD_OK) {
    sim->comm = comm;
    sim->log = &log;
    run_deck(sim, file);
    md_sim_free(sim);
  }
  if (comm) comm->destroy(comm);
  if (log.file) fclose(log.file);
  free(sim);
  fclose(file);
  return 0;
}
