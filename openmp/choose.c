/* Choosing the kernels of the best instruction set that this build has and this processor can run. The table goes
 * from the best to the most general set. */
#include "openmp/all_pairs/all_pairs.h"
#include "openmp/force/kernels.h"
#include "openmp/openmp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const kernels md_openmp_kernels_generic;
extern const all_kernels md_all_pairs_kernels_generic;
#ifdef __x86_64__
extern const kernels md_openmp_kernels_avx2, md_openmp_kernels_avx512;
extern const all_kernels md_all_pairs_kernels_avx2, md_all_pairs_kernels_avx512;
#endif

static const kernels *const table[] = {
#ifdef __x86_64__
    &md_openmp_kernels_avx512,
    &md_openmp_kernels_avx2,
#endif
    &md_openmp_kernels_generic,
};

/* The place in the table of the set `isa`, or (NULL) of the best one that is there. -1: none. */
static int find(const char *isa)
{
  for (int k = 0; k < (int)(sizeof table / sizeof table[0]); ++k)
    if (table[k]->supported() && (!isa || strcmp(isa, table[k]->isa) == 0)) return k;
  return -1;
}

const kernels *kernels_choose(const char *isa)
{
  const int k = find(isa);
  return k < 0 ? NULL : table[k];
}

static const all_kernels *const all_pairs[] = {
#ifdef __x86_64__
    &md_all_pairs_kernels_avx512,
    &md_all_pairs_kernels_avx2,
#endif
    &md_all_pairs_kernels_generic,
};

const all_kernels *all_kernels_choose(const char *isa)
{
  const kernels *chosen = kernels_choose(isa);
  for (size_t k = 0; chosen && k < sizeof all_pairs / sizeof all_pairs[0]; ++k)
    if (strcmp(chosen->isa, all_pairs[k]->isa) == 0) return all_pairs[k];
  return NULL;
}

const char *md_openmp_isa(void) { return kernels_choose(NULL)->isa; }

md_status md_openmp_wanted_isa(const char **isa)
{
  static const char *const sets[] = {"generic", "avx2", "avx512"};
  char there[64] = "";
  *isa = getenv("MYRIAD_ISA");
  if (find(*isa) >= 0) return MD_OK;
  for (size_t k = 0; k < sizeof sets / sizeof sets[0]; ++k) {
    const size_t used = strlen(there);
    if (find(sets[k]) >= 0) snprintf(there + used, sizeof there - used, " %s", sets[k]);
  }
  return md_error(MD_USAGE, "MYRIAD_ISA=%.40s: there is no such instruction set here; there are%s", *isa,
                  there);
}
