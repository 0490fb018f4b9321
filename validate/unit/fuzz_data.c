// links: src/read_data.c src/id_table.c src/create.c src/lattice.c src/sites.c src/sim.c src/log.c src/command.c src/variable.c src/formula.c src/number_format.c common/error.c common/particles.c common/comm_serial.c common/model.c common/pair.c common/timer.c
/* Fuzzing the data file reader: any bytes are either read or refused, without a crash, a leak or a hang. The first
 * byte chooses the dimension and which axes are periodic. Built with -fsanitize=fuzzer,address,undefined. */
#include "sim_fixture.h"

#include "src/data_file.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static fixture f;
  if (size < 2) return 0;
  if (fixture_begin(&f, data[0] & 1 ? 2 : 3) != MD_OK) abort();
  for (int d = 0; d < 3; ++d) f.sim.model.box.periodic[d] = (data[0] >> (d + 1)) & 1;
  FILE *file = fmemopen((void *)(uintptr_t)(data + 1), size - 1, "r");
  if (!file) abort();
  if (md_data_read(&f.sim, file, "fuzz") == MD_OK && f.sim.model.natoms != f.sim.particles.n) abort();
  fclose(file);
  fixture_end(&f);
  return 0;
}
