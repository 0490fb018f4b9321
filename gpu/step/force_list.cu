/* Impulses from lists, into arrays: for steps that fixes divide, and at the end of a run. The loop is that of the fused
 * step (step_list.cu), and so are its limits; a thread has one particle.
 *
 * Bytes a particle in 3D: 4 a listed neighbour, 16 for packed positions (or 32), and 24 for the impulse.
 */
#include "gpu/step/launches.cuh"
#include "gpu/step/sum_list.cuh"

#include <limits.h>

template <class T, int STYLE>
static __global__ void __launch_bounds__(256, T::MIXED || T::PACKED ? 4 : 2)
    k_force_list(const __grid_constant__ system_view<T> s, component_arrays<typename T::real> to, bool step)
{
  if (step && idle(progress_before(s.ctl, s.launch))) return;
  const typename T::record *__restrict__ x = present(s);
  const int stride = gridDim.x * blockDim.x;
  for (int64_t k = blockIdx.x * blockDim.x + threadIdx.x; k < s.n; k += stride) {
    const int i = (int)k;
    const typename T::record xi = x[i];
    typename T::sum sum[3];
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) T::clear(sum[d]);
    int least = INT_MAX;
    sum_list<T, STYLE>(s, x, xi, i, true, sum, least);
    typename T::real impulse[3];
    if (least <= s.pair.close_high)
      sum_near_particle<T, STYLE>(s, x, i, impulse);
    else
#pragma unroll
      for (int d = 0; d < T::DIM; ++d) impulse[d] = T::total(sum[d]);
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) to.at[d][i] = impulse[d];
  }
}

template <class T>
md_status launch_force_list(const launch &l, md_pair_kind kind, const system_view<T> &s,
                            typename T::real *const impulse[3], bool step)
{
  const component_arrays<typename T::real> to = arrays_of(impulse);
  MD_TRY(launch_listed(kind, [&](auto style) {
    k_force_list<T, style.value><<<blocks_walking(l, s.n), l.threads, 0, l.stream>>>(s, to, step);
    return MD_OK;
  }));
  MD_LAUNCHED("k_force_list");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_force_list<T>(const launch &, md_pair_kind, const system_view<T> &,              \
                                          T::real *const[3], bool);
INSTANCE(exact2_tagged)
INSTANCE(exact3_tagged)
INSTANCE(exact3_packed)
INSTANCE(mixed2_tagged)
INSTANCE(mixed3_tagged)
