/* Choosing the kernels of the best instruction set that this build has and this processor can run. The table goes
 * from the best to the most general set. A build may lack kernels: the first program of `make run` has those of its
 * own processor alone, so that it is ready sooner. */
#include "openmp/all_pairs/all_pairs.h"
#include "openmp/force/kernels.h"
#include "openmp/openmp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Weak: their addresses are NULL where the build lacks them. */
#define OPTIONAL __attribute__((weak))
extern const kernels md_openmp_kernels_generic OPTIONAL;
extern const all_kernels md_all_pairs_kernels_generic OPTIONAL;

static bool always(void) { return true; }

#ifdef __x86_64__
extern const kernels md_openmp_kernels_avx2 OPTIONAL, md_openmp_kernels_avx512 OPTIONAL;
extern const all_kernels md_all_pairs_kernels_avx2 OPTIONAL, md_all_pairs_kernels_avx512 OPTIONAL;

static bool has_avx512(void)
{
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd");
}

static bool has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#endif

static const struct {
  const char *isa;
  bool (*processor_has)(void);
  const kernels *cells; /* NULL: not in this build */
  const all_kernels *all_pairs;
} table[] = {
#ifdef __x86_64__
    {"avx512", has_avx512, &md_openmp_kernels_avx512, &md_all_pairs_kernels_avx512},
    {"avx2", has_avx2, &md_openmp_kernels_avx2, &md_all_pairs_kernels_avx2},
#endif
    {"generic", always, &md_openmp_kernels_generic, &md_all_pairs_kernels_generic},
};
enum { SETS = sizeof table / sizeof table[0] };

/* The place in the table of the set `isa`, or (NULL) of the best one that build and processor have. -1: none. */
static int find(const char *isa)
{
  for (int k = 0; k < SETS; ++k)
    if (table[k].cells && table[k].processor_has() && (!isa || strcmp(isa, table[k].isa) == 0)) return k;
  return -1;
}

const kernels *kernels_choose(const char *isa)
{
  const int k = find(isa);
  return k < 0 ? NULL : table[k].cells;
}

const all_kernels *all_kernels_choose(const char *isa)
{
  const int k = find(isa);
  return k < 0 ? NULL : table[k].all_pairs;
}

const char *md_openmp_isa(void)
{
  const int k = find(NULL);
  return k < 0 ? "no" : table[k].isa;
}

/* Writes the names of the sets that the build has, and with `usable` the processor too, with blanks between them. */
static void names_of(bool usable, char to[64])
{
  size_t used = 0;
  to[0] = '\0';
  for (int k = SETS - 1; k >= 0; --k)
    if (table[k].cells && (!usable || table[k].processor_has()))
      used += (size_t)snprintf(to + used, 64 - used, "%s%s", used > 0 ? " " : "", table[k].isa);
}

const char *md_openmp_isa_note(void)
{
  static char note[128];
  int best = 0;
  while (!table[best].processor_has()) ++best;
  if (table[best].cells) return NULL;
  snprintf(note, sizeof note, "This processor has %s, for which this build has no kernels: make adds them",
           table[best].isa);
  return note;
}

md_status md_openmp_wanted_isa(const char **isa)
{
  char there[64];
  *isa = getenv("MYRIAD_ISA");
  if (find(*isa) >= 0) return MD_OK;
  if (find(NULL) < 0) {
    names_of(false, there);
    return md_error(MD_USAGE,
                    "this build has no kernels that this processor can execute, only those for %s: make adds "
                    "the others, and --engine naive needs none",
                    there[0] ? there : "none");
  }
  names_of(true, there);
  return md_error(MD_USAGE, "MYRIAD_ISA=%.40s: there is no such instruction set here; there are %s", *isa,
                  there);
}
