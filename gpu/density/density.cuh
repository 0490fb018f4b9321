/* Pairs of a style with a density, for kernels that output calls (common/pair/tables/density.h), and what these
 * share with the kernels of the two passes.
 *
 * Tables are those of the potential in device memory, read through the cache for read-only data: two loads of 16 bytes
 * for a density, four or six for a force.
 */
#ifndef MD_GPU_DENSITY_DENSITY_CUH
#define MD_GPU_DENSITY_DENSITY_CUH

#include "gpu/density/launches.cuh"
#include "gpu/output/partners.cuh"

template <class T>
static __device__ __forceinline__ int element_of(const density_args &a, const typename T::record &r)
{
  return a.eam.nelement == 1 ? 0 : __ldg(a.eam.element + type_of(r));
}

/* Pass 2 of particles i and j. delta: from j to i, and *r2 its square. An overlap is noted, and exerts no force. */
template <class T, int SOURCE>
static __device__ __forceinline__ md_pair_term density_force(const system_view<T> &s, const density_args &a,
                                                             int i, const typename T::record &xi, int j,
                                                             const typename T::record &xj, double delta[3],
                                                             double *r2)
{
  *r2 = partner_separation<T, SOURCE>(s, xi, xj, delta);
  md_pair_term pair = {0.0, 0.0, false};
  if (!(*r2 < a.eam.cutoff2)) return pair;
  pair = md_density_force(&a.eam, element_of<T>(a, xi), element_of<T>(a, xj), a.slope[i], a.slope[j], delta,
                          T::DIM, *r2, a.scale);
  if (pair.overlap) {
    atomicOr(&s.ctl->overflow, HALT_OVERLAP);
    pair.f = pair.energy = 0.0;
  }
  return pair;
}

#endif
