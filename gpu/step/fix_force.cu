/* Fixes that act on forces (common/force/forces.h): they act on the impulses that a force kernel has summed, before a
 * move or a kick kernel uses these. Some of them need sums over a group first: of its impulses for their mean, and of
 * its positions for the centre of mass (common/spring/centre.h). All kernels here serve every model.
 *
 * Trade-off: a kernel of its own, and no word of it in the kernels of steps; models without such a fix do not launch
 * it. Cost: one read and one write of the impulses, and one read of positions, origins and groups, in each step.
 */
#include "common/force/forces.h"
#include "gpu/output/measure.cuh"
#include "gpu/step/launches.cuh"

template <class T>
static __global__ void k_fix_force(const __grid_constant__ system_view<T> s,
                                   const __grid_constant__ fix_force_args a,
                                   component_arrays<typename T::real> impulse)
{
  const md_force_action *action = a.action;
  if (a.step) {
    const progress now = progress_before(s.ctl, s.launch);
    if (idle(now)) return;
    action += now.done * a.stride;
  }
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  md_particle p = particle_of<T>(s, a.fields, i);
  const typename T::particle r = present_particle<T>(s, i);
  double sum[3] = {0.0, 0.0, 0.0};
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    p.x[d] = T::where(s.scale, d, r.x[d]);
    sum[d] = (double)impulse.at[d][i] / a.quantum;
  }
  double anchor[3] = {0.0, 0.0, 0.0}, external[3] = {0.0, 0.0, 0.0};
  if (a.anchor[0])
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) anchor[d] = a.anchor[d][origin_of(a.fields, i)];
  if (a.external[0])
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) external[d] = a.external[d][origin_of(a.fields, i)];
  if (md_forces_on_impulse(action, a.count, a.scale, &p, a.anchor[0] ? anchor : nullptr,
                           a.external[0] ? external : nullptr, T::DIM, sum) >= 0)
    atomicOr(&s.ctl->overflow, (unsigned)HALT_OVERLAP);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) impulse.at[d][i] = (typename T::real)(sum[d] * a.quantum);
}

template <class T>
md_status launch_fix_force(const launch &l, const system_view<T> &s, const fix_force_args &a,
                           typename T::real *const impulse[3])
{
  const component_arrays<typename T::real> arrays = arrays_of(impulse);
  k_fix_force<T><<<blocks_for(s.n, l.threads), l.threads, 0, l.stream>>>(s, a, arrays);
  MD_LAUNCHED("k_fix_force");
  return MD_OK;
}

/* The sums over a group of impulses in quanta, for a fix that takes their mean. */
template <class T>
static __global__ void __launch_bounds__(256)
    k_sum_impulses(const __grid_constant__ system_view<T> s, const __grid_constant__ fix_force_args a,
                   component_arrays<typename T::real> impulse, fine_sums sums)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool counts = i < s.n && (group_of(a.fields, i) & a.action->group);
  for (int d = 0; d < T::DIM; ++d) {
    md_fine sum = {0, 0};
    if (counts) sum.coarse = md_count((double)impulse.at[d][i] / a.quantum);
    add_sum(sums, d, MD_TERMS_MAX, sum);
  }
}

template <class T>
md_status launch_sum_impulses(const launch &l, const system_view<T> &s, const fix_force_args &a,
                              typename T::real *const impulse[3], fine_sums sums)
{
  const component_arrays<typename T::real> arrays = arrays_of(impulse);
  k_sum_impulses<T><<<blocks_for(s.n, 256), 256, 0, l.stream>>>(s, a, arrays, sums);
  MD_LAUNCHED("k_sum_impulses");
  return MD_OK;
}

static_assert(MD_CENTRE_TYPES * MD_CENTRE_TERMS <= MD_TERMS_MAX, "");

/* The sums of a group for a centre of mass (common/spring/centre.h). */
template <class T>
static __global__ void __launch_bounds__(256)
    k_sum_centre(const __grid_constant__ system_view<T> s, const __grid_constant__ particle_fields fields,
                 const __grid_constant__ md_centre centre, int ntypes, fine_sums sums)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool counts = i < s.n && (group_of(fields, i) & centre.group);
  int64_t term[MD_CENTRE_TERMS] = {};
  int type = -1;
  if (counts) {
    md_particle p = particle_of<T>(s, fields, i);
    const typename T::particle r = present_particle<T>(s, i);
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) p.x[d] = T::where(s.scale, d, r.x[d]);
    md_centre_terms(&centre, &p, term);
    type = p.type - 1;
  }
  for (int t = 0; t < ntypes; ++t)
    for (int k = 0; k < MD_CENTRE_TERMS; ++k)
      add_sum(sums, t * MD_CENTRE_TERMS + k, MD_TERMS_MAX, md_fine{t == type ? term[k] : 0, 0});
}

template <class T>
md_status launch_sum_centre(const launch &l, const system_view<T> &s, const particle_fields &fields,
                            const md_centre &centre, int ntypes, fine_sums sums)
{
  if (s.n == 0) return MD_OK;
  k_sum_centre<T><<<blocks_for(s.n, 256), 256, 0, l.stream>>>(s, fields, centre, ntypes, sums);
  MD_LAUNCHED("k_sum_centre");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_fix_force<T>(const launch &, const system_view<T> &, const fix_force_args &,     \
                                         T::real *const[3]);                                                 \
  template md_status launch_sum_impulses<T>(const launch &, const system_view<T> &, const fix_force_args &,  \
                                            T::real *const[3], fine_sums);                                   \
  template md_status launch_sum_centre<T>(const launch &, const system_view<T> &, const particle_fields &,   \
                                          const md_centre &, int, fine_sums);
MD_LAYOUTS(INSTANCE)
