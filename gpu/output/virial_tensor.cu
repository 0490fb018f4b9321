/* Measuring: the components r_a f_b of the virial of the pairs of the present state, as in measure.cu: every pair is
 * evaluated once more, from both of its particles, in double.
 *
 * Trade-off: a kernel of its own, so that measuring energies keeps its registers; the tensor is wanted seldom.
 * Cost: about twice that of measure.cu.
 */
#include "common/compute/impulse_virial.h"
#include "gpu/output/launches.cuh"
#include "gpu/output/measure.cuh"
#include "gpu/output/partners.cuh"

template <class T, int SOURCE, bool HYBRID>
static __global__ void __launch_bounds__(128)
    k_tensor(const __grid_constant__ system_view<T> s, const __grid_constant__ tensor_args a)
{
  md_fine sum[MD_TENSOR] = {};
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.n) {
    const typename T::record *x = present(s), xi = x[i];
    for_each_partner<T, SOURCE>(s, x, i, [&](int j, const typename T::record &xj) {
      double delta[3];
      const double f = output_force<T, SOURCE, HYBRID>(s, a.kind, a.table, xi, xj, delta);
      if (f == 0.0) return; /* as most candidates, which are beyond the cutoff */
      /* A half list has each pair of owned particles only once. */
      const int partners = SOURCE == FROM_LIST && s.list.half && j < s.n ? 2 : 1;
      if (a.rounder != 0.0) {
#pragma unroll
        for (int d = 0; d < T::DIM; ++d)
          sum[d].coarse += partners * md_odd_count(f * delta[d], delta[d], a.rounder);
        return;
      }
      for (int partner = 0; partner < partners; ++partner) add_components<T>(f, delta, a.per_w, sum);
    });
  }
  for (int c = 0; c < MD_TENSOR; ++c) add_sum(a.sum, c, MD_TENSOR, sum[c]);
}

template <class T, bool HYBRID>
static void launch_source(const launch &l, int source, int blocks, int threads, const system_view<T> &s,
                          const tensor_args &a)
{
  if (source == FROM_CELLS) k_tensor<T, FROM_CELLS, HYBRID><<<blocks, threads, 0, l.stream>>>(s, a);
  if constexpr (T::TAGGED)
    if (source == FROM_LIST) k_tensor<T, FROM_LIST, HYBRID><<<blocks, threads, 0, l.stream>>>(s, a);
  if constexpr (!T::MIXED && T::TAGGED && !T::PACKED)
    if (source == FROM_ALL) k_tensor<T, FROM_ALL, HYBRID><<<blocks, threads, 0, l.stream>>>(s, a);
}

template <class T>
md_status launch_tensor(const launch &l, int source, const system_view<T> &s, const tensor_args &a)
{
  constexpr int BLOCK = 128;
  const int blocks = blocks_for(s.n, BLOCK);
  if (s.n == 0 || a.kind == MD_PAIR_NONE) return MD_OK;
  if (md_pair_style_of(a.kind)->hybrid)
    launch_source<T, true>(l, source, blocks, BLOCK, s, a);
  else
    launch_source<T, false>(l, source, blocks, BLOCK, s, a);
  MD_LAUNCHED("k_tensor");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_tensor<T>(const launch &, int, const system_view<T> &, const tensor_args &);
MD_LAYOUTS(INSTANCE)
