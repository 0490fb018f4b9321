/* The force kernel that evaluates each pair once and adds its impulse to both partners by atomicAdd.
 *
 * Sums are 64-bit integers that count quanta. So the order of the additions does not matter, and the result has the
 * same bits as that of force.cu. For a pair of an owned particle and a ghost only the owned particle gets the impulse.
 * The owner of the ghost's source evaluates the same pair from its side.
 *
 * Trade-off: half the arithmetic of force.cu, against dim atomic additions a pair. docs/history.md says which is
 * faster.
 */
#include "gpu/step/careful_sum.cuh"
#include "gpu/step/launches.cuh"

struct quanta_arrays {
  unsigned long long *at[3];
};

/* The impulse of particle b on particle a, in quanta. Returns false if there is none: the pair is beyond the cutoff, or
 * it overlaps and sets HALT_OVERLAP in bits. */
template <class T, int STYLE>
static __device__ __forceinline__ bool pair_quanta(const system_view<T> &s, const typename T::record &a,
                                                   const typename T::record &b, int64_t quanta[3],
                                                   unsigned &bits)
{
  double delta[3];
  const double r2 = separation<T>(s.scale, a, b, delta);
  const int pair = pair_of<T>(s, a, b);
  const double *k = s.pair.table + pair * MD_PAIR_K;
  if (!(r2 < k[0])) return false;
  if (upper_word(r2) <= s.pair.close_high) {
    if (r2 < s.pair.overlap2[pair]) {
      bits |= HALT_OVERLAP;
      return false;
    }
    const double f = force_of<STYLE>(r2, k);
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) quanta[d] = (int64_t)md_round_product(f, delta[d]);
    return true;
  }
  const double f = force_of<STYLE>(r2, k);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) quanta[d] = md_bits(fma(f, delta[d], MD_ROUND)) - md_bits(MD_ROUND);
  return true;
}

template <class T, int STYLE, int SOURCE>
static __global__ void __launch_bounds__(256)
    k_symmetric(const __grid_constant__ system_view<T> s, quanta_arrays sum, bool step)
{
  if (step && idle(progress_before(s.ctl, s.launch))) return;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  const typename T::record *x = present(s);
  const typename T::record xi = x[i];
  int64_t own[3] = {0, 0, 0};
  unsigned bits = 0;
  for_each_candidate<T, SOURCE>(s, x, i, true, [&](int j, const typename T::record &xj) {
    int64_t quanta[3];
    if (!pair_quanta<T, STYLE>(s, xi, xj, quanta, bits)) return;
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) {
      own[d] += quanta[d];
      if (j < s.n) atomicAdd(&sum.at[d][j], (unsigned long long)-quanta[d]);
    }
  });
  if (bits) atomicOr(&s.ctl->overflow, bits);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) atomicAdd(&sum.at[d][i], (unsigned long long)own[d]);
}

/* Converts the sums from integers to doubles, in place. */
static __global__ void k_convert_sums(int n, int dim, quanta_arrays sum)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int d = 0; d < dim; ++d) ((double *)sum.at[d])[i] = (double)(int64_t)sum.at[d][i];
}

template <class T, int STYLE>
static void launch_style(const launch &l, int source, const system_view<T> &s, const quanta_arrays &sum,
                         bool step)
{
  const int blocks = blocks_for(s.n, l.threads);
  if constexpr (T::TAGGED)
    if (source == FROM_LIST) {
      k_symmetric<T, STYLE, FROM_LIST><<<blocks, l.threads, 0, l.stream>>>(s, sum, step);
      return;
    }
  k_symmetric<T, STYLE, FROM_CELLS><<<blocks, l.threads, 0, l.stream>>>(s, sum, step);
}

template <class T>
md_status launch_force_symmetric(const launch &l, md_pair_kind kind, int source, const system_view<T> &s,
                                 double *const impulse[3], bool step)
{
  quanta_arrays sum = {};
  for (int d = 0; d < T::DIM; ++d) {
    sum.at[d] = (unsigned long long *)impulse[d];
    MD_CUDA(cudaMemsetAsync(impulse[d], 0, (size_t)s.n * sizeof *impulse[d], l.stream));
  }
  if (!with_style(kind, [&](auto style) { launch_style<T, style.value>(l, source, s, sum, step); }))
    return MD_OK;
  MD_LAUNCHED("k_symmetric");
  k_convert_sums<<<blocks_for(s.n, l.threads), l.threads, 0, l.stream>>>(s.n, T::DIM, sum);
  MD_LAUNCHED("k_convert_sums");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_force_symmetric<T>(const launch &, md_pair_kind, int, const system_view<T> &,    \
                                               double *const[3], bool);
MD_EXACT_LAYOUTS(INSTANCE)
