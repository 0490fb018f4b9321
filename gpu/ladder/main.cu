/* The ladder on a GPU: the program. rungs.def lists what it can run. */
#include "gpu/ladder/activity/activity.cuh"
#include "gpu/ladder/atomics/atomics.cuh"
#include "gpu/ladder/cells/cells.cuh"
#include "gpu/ladder/laboratory/laboratory.cuh"
#include "gpu/ladder/porting/porting.cuh"

#define RUNG(study, symbol, name, before, title, tolerance, flop, holds)                                     \
  namespace study                                                                                            \
  {                                                                                                          \
  void symbol(bodies &b);                                                                                    \
  }
#include "gpu/ladder/rungs.def"
#undef RUNG

static const ladder_rung rungs[] = {
#define RUNG(study, symbol, name, before, title, tolerance, flop, holds)                                     \
  {#study, name, before, title, tolerance, flop, false},
#include "gpu/ladder/rungs.def"
#undef RUNG
};

typedef void (*run)(const ladder_case *c, int repeat, ladder_result *result);

static const run runs[] = {
#define RUNG(study, symbol, name, before, title, tolerance, flop, holds)                                     \
  [](const ladder_case *c, int repeat, ladder_result *result) {                                              \
    measure<study::bodies>(study::symbol, study::holds, c, repeat, result);                                  \
  },
#include "gpu/ladder/rungs.def"
#undef RUNG
};

static void climb(int rung, const ladder_case *c, int, int repeat, ladder_result *result)
{
  runs[rung](c, repeat, result);
}

int main(int argc, char **argv)
{
  const int count = sizeof rungs / sizeof rungs[0];
  const ladder_program program = {"ladder-gpu", rungs, count, nullptr, 0, climb};
  return ladder_main(&program, argc, argv);
}
