/* Measuring: energies and virials of the pairs of the present state. Every pair is evaluated once more, from both of
 * its particles, so that the sums are twice those of the pairs (model.h). All terms are in double, also in mixed
 * precision.
 *
 * Cost: the evaluation of every pair from both sides.
 */
#include "gpu/neighbour/warp_search.cuh"
#include "gpu/output/measure.cuh"
#include "gpu/step/formulas.cuh"

template <class T, int STYLE, int SOURCE>
static __global__ void __launch_bounds__(256)
    k_measure(const __grid_constant__ system_view<T> s, const __grid_constant__ measure_args a)
{
  md_fine sum[SUMS] = {};
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.n) {
    const typename T::record *x = present(s);
    const typename T::record xi = x[i];
    for_each_candidate<T, SOURCE>(s, x, i, false, [&](int j, const typename T::record &xj) {
      /* A half list has each pair of owned particles only once. */
      const int partners = SOURCE == FROM_LIST && s.list.half && j < s.n ? 2 : 1;
      add_pair<T, STYLE>(s, a, wide_separation<T>(s.scale, xi, xj), pair_of<T>(s, xi, xj), partners, sum);
    });
  }
  add_sums(a, sum);
}

/* The same from cells, with a warp search. */
template <class T, int STYLE>
static __global__ void __launch_bounds__(FINDING_THREADS)
    k_measure_dense(const __grid_constant__ system_view<T> s, const __grid_constant__ measure_args a)
{
  __shared__ warp_tiles tiles;
  md_fine sum[SUMS] = {};
  const int k = blockIdx.x * blockDim.x + threadIdx.x, i = min(k, s.n - 1);
  if ((k & ~31) < s.n) {
    const progress now = progress_before(s.ctl, s.launch);
    const typename T::record *x = s.x[now.parity], xi = load_record(x + i);
    warp_for_each<T>(s, x, xi, i, k < s.n, now.usage, tiles, [&](int, const typename T::record &xj) {
      add_pair<T, STYLE>(s, a, wide_separation<T>(s.scale, xi, xj), pair_of<T>(s, xi, xj), 1, sum);
    });
  }
  add_sums(a, sum);
}

template <class T, int STYLE>
static void launch_style(const launch &l, int source, const system_view<T> &s, const measure_args &a)
{
  constexpr int THREADS = 128;
  const int blocks = blocks_for(s.n, THREADS);
  if constexpr (T::TAGGED)
    if (source == FROM_LIST) {
      k_measure<T, STYLE, FROM_LIST><<<blocks, THREADS, 0, l.stream>>>(s, a);
      return;
    }
  if constexpr (CAN_BE_DENSE<T>)
    if (s.grid.dense) {
      k_measure_dense<T, STYLE><<<blocks_for(s.n, FINDING_THREADS), FINDING_THREADS, 0, l.stream>>>(s, a);
      return;
    }
  k_measure<T, STYLE, FROM_CELLS><<<blocks, THREADS, 0, l.stream>>>(s, a);
}

template <class T>
md_status launch_measure(const launch &l, md_pair_kind kind, int source, const system_view<T> &s,
                         const measure_args &a)
{
  if (!with_style(kind, [&](auto style) { launch_style<T, style.value>(l, source, s, a); })) return MD_OK;
  MD_LAUNCHED("k_measure");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_measure<T>(const launch &, md_pair_kind, int, const system_view<T> &,            \
                                       const measure_args &);
MD_LAYOUTS(INSTANCE)
