// links: src/region/motion.c
// links: src/formula/atomfile.c
// links: src/formula/variable.c src/formula/formula.c src/files/number_format.c src/deck/command.c src/deck/deck.c
// links: src/commands/exclude.c
// links: src/box/boundary.c src/commands/cmd_model.c src/potential/cmd_pair.c src/fixes/cmd_fix.c
// links: src/commands/cmd_accepted.c src/commands/cmd_ranks.c src/balance/cmd_balance.c src/balance/weights.c
// links: src/commands/cmd_package.c src/commands/cmd_misc.c src/deck/text.c src/log.c src/sim.c common/base/error.c
// links: common/base/open_file.c common/pair/pair.c common/particles.c common/model.c common/faults.c
// links: src/engines/comm_serial.c src/engines/serial_exchange.c src/engines/serial_files.c src/files/file_uses.c
// links: common/fix/fix.c common/base/words.c common/compute/compute.c src/group/cmd_group.c src/create/lattice.c
// links: src/region/region.c src/region/shapes.c src/region/combined.c src/deck/substitute.c src/script/script.c
// links: src/script/source.c src/script/glance.c src/script/cmd_if.c src/script/condition.c common/wall/wall.c
// links: src/properties/id_values.c src/properties/property.c common/units.c
// links: common/swap/swaps.c common/pair/tables/eam.c common/pair/tables/table.c src/potential/potential.c
// links: src/potential/table_file.c src/potential/text_file.c common/bond/bond.c
/* A fuzz test of the deck language: any bytes are a deck. The commands that set up the model are those of the program.
 * The commands that create particles, run, or read and write files are the stand-ins of fake_commands.h, so that no
 * input can take long or touch the disk. The stand-in for the files that print writes is below.
 *
 * After each deck the model is prepared, as for a run. The model of any deck must be refused, or be fit to run. Built
 * with -fsanitize=fuzzer,address,undefined.
 */
#include "src/deck/deck.h"
#include "src/files/output_stream.h"
#include "validate/unit/support/fake_commands.h"

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
