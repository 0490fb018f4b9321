/* The forces of bonds: a thread adds those on one particle to the sums that are there; see bonds.cuh.
 *
 * Cost: 16 or 32 bytes for each particle and partner, 6 for each slot, and the sums.
 */
#include "gpu/bonds/term.cuh"

template <class T>
static __global__ void __launch_bounds__(256)
    k_bond_impulses(const __grid_constant__ system_view<T> s, const __grid_constant__ bond_args a,
                    component_arrays<double> impulse)
{
  if (a.step && idle(progress_before(s.ctl, s.launch))) return;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  int64_t sum[3] = {0, 0, 0};
  bool bad = false;
  for_each_bond<T>(
      s, a, i,
      [&](const md_bond_term &t, int, int) {
#pragma unroll
        for (int d = 0; d < T::DIM; ++d) sum[d] += (int64_t)md_round_product(t.f, t.delta[d]);
      },
      [&](int, int) { bad = true; });
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) impulse.at[d][i] += (double)sum[d];
  if (bad) atomicOr(&s.ctl->overflow, HALT_OVERLAP);
}

template <class T>
static __global__ void __launch_bounds__(128)
    k_bond_output(const __grid_constant__ system_view<T> s, const __grid_constant__ bond_args a,
                  double quantum, component_arrays<double> force)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  md_fine sum[3] = {};
  bool bad = false;
  for_each_bond<T>(
      s, a, i,
      [&](const md_bond_term &t, int, int) {
#pragma unroll
        for (int d = 0; d < T::DIM; ++d) md_fine_add(&sum[d], t.f * t.delta[d]);
      },
      [&](int, int) { bad = true; });
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) force.at[d][i] += md_fine_value(sum[d]) * quantum;
  if (bad) atomicOr(&s.ctl->overflow, HALT_OVERLAP);
}

template <class T>
md_status launch_bond_impulses(const launch &l, const system_view<T> &s, const bond_args &a,
                               double *const impulse[3])
{
  const component_arrays<double> to = arrays_of(impulse);
  k_bond_impulses<T><<<blocks_for(s.n, 256), 256, 0, l.stream>>>(s, a, to);
  MD_LAUNCHED("k_bond_impulses");
  return MD_OK;
}

template <class T>
md_status launch_bond_output(const launch &l, const system_view<T> &s, const bond_args &a, double quantum,
                             double *const force[3])
{
  const component_arrays<double> to = arrays_of(force);
  k_bond_output<T><<<blocks_for(s.n, 128), 128, 0, l.stream>>>(s, a, quantum, to);
  MD_LAUNCHED("k_bond_output");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_bond_impulses<T>(const launch &, const system_view<T> &, const bond_args &,      \
                                             double *const[3]);                                              \
  template md_status launch_bond_output<T>(const launch &, const system_view<T> &, const bond_args &,        \
                                           double, double *const[3]);
MD_EXACT_TAGGED_LAYOUTS(INSTANCE)
