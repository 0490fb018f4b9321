/* Pairs of a style with a density, for the kernels of its two passes (common/pair/density.h).
 *
 * Tables are those of the potential in device memory, read through the cache for read-only data: two loads of 16 bytes
 * for a density, six or eight for a force.
 */
#ifndef MD_GPU_DENSITY_DENSITY_CUH
#define MD_GPU_DENSITY_DENSITY_CUH

#include "gpu/output/partners.cuh"

template <class T>
static __device__ __forceinline__ int element_of(const density_args &a, const typename T::record &r)
{
  return __ldg(a.eam.element + type_of(r));
}

/* The term of particle j with record xj in the density at a particle xi. */
template <class T, int SOURCE>
static __device__ __forceinline__ int64_t density_term(const system_view<T> &s, const density_args &a,
                                                       int element, const typename T::record &xi,
                                                       const typename T::record &xj)
{
  double delta[3];
  const double r2 = partner_separation<T, SOURCE>(s, xi, xj, delta);
  return md_density_term(&a.eam, element, element_of<T>(a, xj), r2);
}

/* Pass 2 of particles i and j. delta: from j to i, and *r2 its square. An overlap is noted, and exerts no force. */
template <class T, int SOURCE>
static __device__ __forceinline__ md_density_pair density_force(const system_view<T> &s,
                                                                const density_args &a, int i,
                                                                const typename T::record &xi, int j,
                                                                const typename T::record &xj, double delta[3],
                                                                double *r2)
{
  *r2 = partner_separation<T, SOURCE>(s, xi, xj, delta);
  md_density_pair pair = {0.0, 0.0, false};
  if (!(*r2 < a.eam.cutoff2)) return pair;
  pair = md_density_force(&a.eam, element_of<T>(a, xi), element_of<T>(a, xj), a.slope[i], a.slope[j], delta,
                          T::DIM, *r2, a.scale);
  if (pair.overlap) {
    atomicOr(&s.ctl->overflow, HALT_OVERLAP);
    pair.f = pair.energy = 0.0;
  }
  return pair;
}

/* Calls f(source), where source.value is the source of neighbours as a constant. */
template <class T, class F> void with_source(int source, F &&f)
{
  if (source == FROM_LIST) f(std::integral_constant<int, FROM_LIST>{});
  if (source == FROM_CELLS) f(std::integral_constant<int, FROM_CELLS>{});
  if constexpr (!T::PACKED)
    if (source == FROM_ALL) f(std::integral_constant<int, FROM_ALL>{});
}

/* The layouts that have densities. */
#define MD_DENSITY_LAYOUTS(DO) DO(exact2_tagged) DO(exact3_tagged) DO(exact3_packed)

#endif
