/* Choosing the kernels of the best instruction set that this build has and this processor can run. The table goes
 * from the best to the most general set. */
#include "openmp/kernels.h"
#include "openmp/openmp.h"

extern const kernels md_openmp_kernels_generic;
#ifdef __x86_64__
extern const kernels md_openmp_kernels_avx2, md_openmp_kernels_avx512;
#endif

static const kernels *const table[] = {
#ifdef __x86_64__
    &md_openmp_kernels_avx512,
    &md_openmp_kernels_avx2,
#endif
    &md_openmp_kernels_generic,
};

const kernels *kernels_choose(const char *isa)
{
  for (size_t k = 0; k < sizeof table / sizeof table[0]; ++k)
    if (table[k]->supported() && (!isa || strcmp(isa, table[k]->isa) == 0)) return table[k];
  return NULL;
}

const char *md_openmp_isa(void) { return kernels_choose(NULL)->isa; }
