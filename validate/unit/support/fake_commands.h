/* Stand-ins for functions that a test of the deck language does not link. They are weak definitions: a part of the
 * program that is linked as well takes their place. The fake create_box makes a box of sides 10; its first word is the
 * number of types. All other handlers only count their calls in fake_calls. */
#ifndef MD_VALIDATE_UNIT_FAKE_COMMANDS_H
#define MD_VALIDATE_UNIT_FAKE_COMMANDS_H

#include "src/create/lattice.h"
#include "src/sim.h"
#include "validate/unit/support/fake_averages.h"

#include <stdlib.h>

static int fake_calls;

#define MD_COMMAND(name, least, most, usage, help)                                                           \
  __attribute__((weak)) md_status md_do_##name(md_sim *sim, const md_words *words)                           \
  {                                                                                                          \
    (void)words;                                                                                             \
    return fake_command(sim, words, #name);                                                                  \
  }

static inline md_status fake_command(md_sim *sim, const md_words *words, const char *name)
{
  ++fake_calls;
  if (strcmp(name, "create_box") != 0) return MD_OK;
  const int ntypes = atoi(words->word[0]);
  sim->model.ntypes = ntypes < 1 ? 1 : ntypes > 8 ? 8 : ntypes;
  sim->has_box = true;
  for (int d = 0; d < 3; ++d) {
    sim->model.box.lo[d] = 0.0;
    sim->model.box.hi[d] = sim->model.box.length[d] = 10.0;
  }
  return MD_OK;
}

#include "src/deck/commands.def"
#undef MD_COMMAND

__attribute__((weak)) void md_thermo_init(md_thermo *thermo) { thermo->every = 0; }

__attribute__((weak)) double md_lattice_unit(const md_sim *sim, int d)
{
  return sim->lattice.set ? sim->lattice.cell[d] : 1.0;
}

/* Knows the keywords `lx` and `temp`; `temp` only after a run. */
__attribute__((weak)) md_status md_sim_keyword(md_sim *sim, const char *name, double *value, bool *known)
{
  *known = strcmp(name, "lx") == 0 || strcmp(name, "temp") == 0;
  if (*known && *name == 't') return md_error(MD_USAGE, "temp is not known before the first run");
  if (*known) *value = sim->model.box.length[0];
  return MD_OK;
}

#endif
