/* The actions of fixes behind a step (common/step/step.h), which change velocities. It serves every model.
 *
 * Trade-off: one general kernel, and no word of it in the kernels of steps. Cost: one read and one write of the
 * velocities, and one read of positions, origins and ids, for each action.
 */
#include "gpu/particle/launch.cuh"

template <class T>
static __global__ void k_act(const __grid_constant__ system_view<T> s, const __grid_constant__ act_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  md_particle p = particle_of<T>(s, a.fields, i);
  const typename T::particle r = present_particle<T>(s, i);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) p.x[d] = T::where(s.scale, d, r.x[d]);
  md_step_end(&a.action, &a.step, &p);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    s.v[d][i] = (typename T::real)p.v[d];
    if (T::WIDENS && p.wide) a.fields.low[d][origin_of(a.fields, i)] = p.low[d];
  }
}

template <class T> md_status launch_act(const launch &l, const system_view<T> &s, const act_args &a)
{
  k_act<T><<<blocks_for(s.n, l.threads), l.threads, 0, l.stream>>>(s, a);
  MD_LAUNCHED("k_act");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_act<T>(const launch &, const system_view<T> &, const act_args &);
MD_LAYOUTS(INSTANCE)
