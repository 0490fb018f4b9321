/* Forces for output. They are fine sums (common/arithmetic/exact.h), which keep the digits of small forces beside those
 * of close encounters.
 *
 * Each pair is evaluated once more, from both of its particles; or, with half lists, from one of them, and atomics
 * on integers add the force to the other. Two instances of the kernel serve all pair styles (partners.cuh).
 *
 * Cost: two 8-byte integers a component, and about three times the time of the force kernel.
 */
#include "gpu/output/launches.cuh"
#include "gpu/output/partners.cuh"

static __device__ __forceinline__ void add_atomically(const output_force_args &a, int d, int i,
                                                      const md_fine &sum)
{
  atomicAdd((unsigned long long *)&a.coarse[d][i], (unsigned long long)sum.coarse);
  atomicAdd((unsigned long long *)&a.rest[d][i], (unsigned long long)sum.rest);
}

template <class T, int SOURCE, bool HYBRID>
static __global__ void __launch_bounds__(128)
    k_output_force(const __grid_constant__ system_view<T> s, const __grid_constant__ output_force_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  const typename T::record *x = present(s), xi = x[i];
  md_fine own[3] = {};
  const auto add = [&](int j, const typename T::record &xj) {
    double delta[3];
    const double f = output_force<T, SOURCE, HYBRID>(s, a.kind, a.table, xi, xj, delta);
    if (f == 0.0) return; /* as most candidates, which are beyond the cutoff */
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
  for_each_partner<T, SOURCE>(s, x, i, add);
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

template <class T, bool HYBRID>
static void launch_source(const launch &l, int source, int blocks, int threads, const system_view<T> &s,
                          const output_force_args &a)
{
  if (source == FROM_CELLS) k_output_force<T, FROM_CELLS, HYBRID><<<blocks, threads, 0, l.stream>>>(s, a);
  if constexpr (T::TAGGED)
    if (source == FROM_LIST) k_output_force<T, FROM_LIST, HYBRID><<<blocks, threads, 0, l.stream>>>(s, a);
  if constexpr (T::TAGGED && !T::PACKED)
    if (source == FROM_ALL) k_output_force<T, FROM_ALL, HYBRID><<<blocks, threads, 0, l.stream>>>(s, a);
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
  if (md_pair_style_of(a.kind)->hybrid)
    launch_source<T, true>(l, source, blocks, BLOCK, s, a);
  else
    launch_source<T, false>(l, source, blocks, BLOCK, s, a);
  MD_LAUNCHED("k_output_force");
  k_combine<<<blocks, BLOCK, 0, l.stream>>>(s.n, T::DIM, a);
  MD_LAUNCHED("k_combine");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_output_force<T>(const launch &, int, const system_view<T> &,                     \
                                            const output_force_args &);
MD_EXACT_LAYOUTS(INSTANCE)
