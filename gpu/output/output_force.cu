/* Forces for output. They are fine sums (common/exact.h), which keep the digits of small forces beside those of
 * close encounters.
 *
 * Each pair is evaluated once more, from both of its particles; or, with half lists, from one of them, and atomics
 * on integers add the force to the other. The pair style is looked up for every pair, because only the few steps
 * that write forces use this kernel; so one instance of it is enough for all styles.
 *
 * Cost: two 8-byte integers a component, and about three times the time of the force kernel.
 */
#include "gpu/neighbour/for_each.cuh"
#include "gpu/particle/launch.cuh"
#include "gpu/step/formulas.cuh"

static __device__ double force_of_kind(md_pair_kind kind, double r2, const double *k)
{
  switch (kind) {
#define MD_PAIR_CUT(symbol)                                                                                  \
  case MD_PAIR_##symbol:                                                                                     \
    return force_of<MD_PAIR_##symbol>(r2, k);
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
  default: return 0.0;
  }
}

/* Calls f for every other particle. output_separation() takes its nearest image. */
template <class T, class F>
static __device__ __forceinline__ void for_each_partner(const system_view<T> &s, const typename T::record *x,
                                                        int i, F f)
{
  for (int j = 0; j < s.n; ++j)
    if (j != i) f(j, x[j]);
}

template <class T, int SOURCE>
static __device__ __forceinline__ double output_separation(const system_view<T> &s,
                                                           const typename T::record &a,
                                                           const typename T::record &b, double delta[3])
{
  double r2 = 0.0;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    delta[d] = T::delta(s.scale, d, a, b);
    if (SOURCE == FROM_ALL && s.box.periodic[d]) delta[d] = md_minimum_image(delta[d], s.box.length[d]);
    r2 = fma(delta[d], delta[d], r2);
  }
  return r2;
}

static __device__ __forceinline__ void add_atomically(const output_force_args &a, int d, int i,
                                                      const md_fine &sum)
{
  atomicAdd((unsigned long long *)&a.coarse[d][i], (unsigned long long)sum.coarse);
  atomicAdd((unsigned long long *)&a.rest[d][i], (unsigned long long)sum.rest);
}

template <class T, int SOURCE>
static __global__ void __launch_bounds__(128)
    k_output_force(const __grid_constant__ system_view<T> s, const __grid_constant__ output_force_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  const typename T::record *x = present(s), xi = x[i];
  md_fine own[3] = {};
  const auto add = [&](int j, const typename T::record &xj) {
    double delta[3];
    const double r2 = output_separation<T, SOURCE>(s, xi, xj, delta);
    const int pair = pair_of<T>(s, xi, xj);
    const double *k = a.table + pair * MD_PAIR_K;
    if (r2 < s.pair.overlap2[pair]) atomicOr(&s.ctl->overflow, HALT_OVERLAP);
    if (r2 < s.pair.overlap2[pair] || !(r2 < k[0])) return;
    const double f = force_of_kind(a.kind, r2, k);
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) {
      md_fine term = {0, 0};
      md_fine_add(&term, f * delta[d]);
      own[d].coarse += term.coarse;
      own[d].rest += term.rest;
      if (SOURCE == FROM_LIST && s.list.half && j < s.n)
        add_atomically(a, d, j, md_fine{-term.coarse, -term.rest});
    }
  };
  if constexpr (SOURCE == FROM_ALL)
    for_each_partner<T>(s, x, i, add);
  else
    for_each_candidate<T, SOURCE>(s, x, i, false, add);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) add_atomically(a, d, i, own[d]);
}

/* Makes one double of the two parts of each sum, in place of the first part. */
static __global__ void k_combine(int n, int dim, const __grid_constant__ output_force_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int d = 0; d < dim; ++d) {
    const md_fine sum = {a.coarse[d][i], a.rest[d][i]};
    ((double *)a.coarse[d])[i] = md_fine_value(sum) * a.quantum;
  }
}

template <class T>
md_status launch_output_force(const launch &l, int source, const system_view<T> &s,
                              const output_force_args &a)
{
  constexpr int BLOCK = 128;
  const int blocks = blocks_for(s.n, BLOCK);
  for (int d = 0; d < T::DIM; ++d) {
    MD_CUDA(cudaMemsetAsync(a.coarse[d], 0, (size_t)s.n * sizeof(int64_t), l.stream));
    MD_CUDA(cudaMemsetAsync(a.rest[d], 0, (size_t)s.n * sizeof(int64_t), l.stream));
  }
  if (s.n == 0 || a.kind == MD_PAIR_NONE) return MD_OK;
  if (source == FROM_CELLS) k_output_force<T, FROM_CELLS><<<blocks, BLOCK, 0, l.stream>>>(s, a);
  if constexpr (T::TAGGED)
    if (source == FROM_LIST) k_output_force<T, FROM_LIST><<<blocks, BLOCK, 0, l.stream>>>(s, a);
  if constexpr (T::TAGGED && !T::PACKED)
    if (source == FROM_ALL) k_output_force<T, FROM_ALL><<<blocks, BLOCK, 0, l.stream>>>(s, a);
  MD_LAUNCHED("k_output_force");
  k_combine<<<blocks, BLOCK, 0, l.stream>>>(s.n, T::DIM, a);
  MD_LAUNCHED("k_combine");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_output_force<T>(const launch &, int, const system_view<T> &,                     \
                                            const output_force_args &);
MD_EXACT_LAYOUTS(INSTANCE)
