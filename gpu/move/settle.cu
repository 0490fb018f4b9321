/* Gives every particle the kicks and actions that are owed to it (owed.cuh). It serves every model.
 *
 * Trade-off: one general kernel, and no word of it in the kernels of steps. Cost: one read and one write of the
 * velocities, and one read of impulses, positions, origins and ids.
 */
#include "gpu/move/launches.cuh"
#include "gpu/move/owed.cuh"

template <class T>
static __global__ void k_settle(const __grid_constant__ system_view<T> s,
                                const __grid_constant__ owed_work<T> owed,
                                const __grid_constant__ md_step step)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  const md_particle p = settled<T>(s, owed, step, i);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    s.v[d][i] = (typename T::real)p.v[d];
    if (T::WIDENS && p.wide) owed.fields.low[d][origin_of(owed.fields, i)] = p.low[d];
  }
}

template <class T>
md_status launch_settle(const launch &l, const system_view<T> &s, const owed_work<T> &owed,
                        const md_step &step)
{
  k_settle<T><<<blocks_for(s.n, l.threads), l.threads, 0, l.stream>>>(s, owed, step);
  MD_LAUNCHED("k_settle");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_settle<T>(const launch &, const system_view<T> &, const owed_work<T> &,          \
                                      const md_step &);
MD_LAYOUTS(INSTANCE)
