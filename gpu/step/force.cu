/* The force kernel for every model: impulses or forces on every particle, into arrays.
 *
 * It serves models that the fused kernels (step_*.cu) and force_list.cu do not do, and forces for dumps in mixed
 * precision. One thread sums all pairs of one particle. In dense systems without lists the warps search together
 * (gpu/neighbour/warp_search.cuh). Coefficients come from a table by pair of types.
 *
 * Trade-off: each pair is evaluated twice, once by each partner. In return no thread writes the sum of another thread.
 * Cost: that of the pairs, and 8 dim bytes written for each particle.
 */
#include "gpu/neighbour/warp_search.cuh"
#include "gpu/step/careful_sum.cuh"
#include "gpu/step/launches.cuh"

template <class T, int STYLE, int SOURCE>
static __global__ void __launch_bounds__(256)
    k_force(const __grid_constant__ system_view<T> s, component_arrays<typename T::real> impulse, bool step)
{
  if (step && idle(progress_before(s.ctl, s.launch))) return;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  typename T::real total[3];
  const unsigned bits = sum_pairs<T, STYLE, SOURCE>(s, present(s), i, total);
  if (bits) atomicOr(&s.ctl->overflow, bits);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) impulse.at[d][i] = total[d];
}

/* The same sums with the warp search, from cells. */
template <class T, int STYLE>
static __global__ void __launch_bounds__(FINDING_THREADS)
    k_force_dense(const __grid_constant__ system_view<T> s, component_arrays<typename T::real> impulse,
                  bool step)
{
  __shared__ warp_tiles tiles;
  const progress now = progress_before(s.ctl, s.launch);
  if (step && idle(now)) return;
  const int k = blockIdx.x * blockDim.x + threadIdx.x, i = min(k, s.n - 1);
  if ((k & ~31) >= s.n) return;
  const typename T::record *x = s.x[now.parity], xi = load_record(x + i);
  pair_sum<T, STYLE> sum;
  warp_for_each<T>(s, x, xi, i, k < s.n, now.usage, tiles,
                   [&](int, const typename T::record &xj) { sum.add(s, xi, xj); });
  if (k >= s.n) return;
  typename T::real total[3];
  const unsigned bits = sum.template finish<FROM_CELLS>(s, x, i, total);
  if (bits) atomicOr(&s.ctl->overflow, bits);
#pragma unroll
  for (int d = 0; d < 3; ++d) impulse.at[d][i] = total[d];
}

template <class T, int STYLE>
static void launch_style(const launch &l, int source, const system_view<T> &s,
                         const component_arrays<typename T::real> &impulse, bool step)
{
  const int blocks = blocks_for(s.n, l.threads);
  if constexpr (T::TAGGED)
    if (source == FROM_LIST) {
      k_force<T, STYLE, FROM_LIST><<<blocks, l.threads, 0, l.stream>>>(s, impulse, step);
      return;
    }
  if constexpr (CAN_BE_DENSE<T>)
    if (s.grid.dense) {
      k_force_dense<T, STYLE>
          <<<blocks_for(s.n, FINDING_THREADS), FINDING_THREADS, 0, l.stream>>>(s, impulse, step);
      return;
    }
  k_force<T, STYLE, FROM_CELLS><<<blocks, l.threads, 0, l.stream>>>(s, impulse, step);
}

template <class T>
md_status launch_force(const launch &l, md_pair_kind kind, int source, const system_view<T> &s,
                       typename T::real *const impulse[3], bool step)
{
  const component_arrays<typename T::real> arrays = arrays_of(impulse);
  if (!with_style(kind, [&](auto style) { launch_style<T, style.value>(l, source, s, arrays, step); }))
    for (int d = 0; d < T::DIM; ++d)
      MD_CUDA(cudaMemsetAsync(impulse[d], 0, (size_t)s.n * sizeof *impulse[d], l.stream));
  MD_LAUNCHED("k_force");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_force<T>(const launch &, md_pair_kind, int, const system_view<T> &,              \
                                     T::real *const[3], bool);
MD_LAYOUTS(INSTANCE)
