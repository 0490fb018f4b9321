/* Measuring: energies and virials of the pairs of the present state. Every pair is evaluated once more. The sums are
 * twice those of the pairs (common/model.h): a pair adds its terms from each of its particles, or twice from one of
 * them. All terms are in double, also in mixed precision.
 *
 *   k_measure_listed  takes pairs from lists, of particles from the one with the lower index.
 *   k_measure_plane   takes them from cells in 2D with coarse positions, likewise.
 *   k_measure_dense   takes them from cells in 3D, with a warp search.
 *   k_measure         takes them from any cells, also of a copy that is sorted for output.
 *
 * Trade-off: threads walk through particles, so that a block adds up its sums once. In return the sums of a thread must
 * be kept in range. Cost: some 30 operations in double for each pair within the cutoff; bytes a particle: 16 and 4 for
 * each entry of its list, or 20 and 4 a cell (k_measure_plane).
 */
#include "gpu/neighbour/listed_pairs.cuh"
#include "gpu/neighbour/plane_pairs.cuh"
#include "gpu/neighbour/warp_search.cuh"
#include "gpu/output/launches.cuh"
#include "gpu/output/measure.cuh"
#include "gpu/step/formulas.cuh"

#include <algorithm>

enum { MEASURE_THREADS = 256, MEASURE_BLOCKS = 3 };

template <class T, int STYLE>
static __global__ void __launch_bounds__(128)
    k_measure(const __grid_constant__ system_view<T> s, const __grid_constant__ measure_args a)
{
  md_fine sum[SUMS] = {};
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.n) {
    const typename T::record *x = present(s);
    const typename T::record xi = x[i];
    for_each_in_cells<T>(s, x, i, false, [&](int, const typename T::record &xj) {
      add_pair<T, STYLE>(s, a, wide_separation<T>(s.scale, xi, xj), pair_of<T>(s, xi, xj), 1, sum);
    });
  }
  add_sums(a, sum);
}

template <class T, int STYLE>
static __global__ void __launch_bounds__(MEASURE_THREADS, MEASURE_BLOCKS)
    k_measure_plane(const __grid_constant__ system_view<T> s, const __grid_constant__ measure_args a)
{
  md_fine sum[SUMS] = {};
  for_each_plane_pair<T>(
      s, [](int) { return true; }, [](bool) {},
      [&](const typename T::record &xi, int, const typename T::record &xj, bool twice) {
        add_pair<T, STYLE>(s, a, wide_separation<T>(s.scale, xi, xj), 0, twice ? 2 : 1, sum);
      },
      [&] { keep_sums_in_range(a, sum); });
  add_sums(a, sum);
}

template <class T, int STYLE>
static __global__ void __launch_bounds__(MEASURE_THREADS, MEASURE_BLOCKS)
    k_measure_listed(const __grid_constant__ system_view<T> s, const __grid_constant__ measure_args a)
{
  md_fine sum[SUMS] = {};
  const typename T::record *x = present(s);
  const int stride = gridDim.x * blockDim.x;
  for (int64_t k = blockIdx.x * blockDim.x + threadIdx.x; k < s.n; k += stride) {
    const int i = (int)k;
    const typename T::record xi = load_record(x + i);
    for_each_listed_pair<T>(s, x, i, [&](const typename T::record &xj, bool twice) {
      add_pair<T, STYLE>(s, a, wide_separation<T>(s.scale, xi, xj), pair_of<T>(s, xi, xj), twice ? 2 : 1,
                         sum);
    });
    keep_sums_in_range(a, sum);
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
  const int walking = std::min(blocks_for(s.n, MEASURE_THREADS), 8 * l.processors);
  if constexpr (T::TAGGED)
    if (source == FROM_LIST) {
      k_measure_listed<T, STYLE><<<walking, MEASURE_THREADS, 0, l.stream>>>(s, a);
      return;
    }
  if constexpr (CAN_BE_DENSE<T>)
    if (s.grid.dense) {
      k_measure_dense<T, STYLE><<<blocks_for(s.n, FINDING_THREADS), FINDING_THREADS, 0, l.stream>>>(s, a);
      return;
    }
  if constexpr (T::HAS_COARSE)
    if (a.in_place && s.n > 0) {
      k_measure_plane<T, STYLE><<<walking, MEASURE_THREADS, 0, l.stream>>>(s, a);
      return;
    }
  k_measure<T, STYLE><<<blocks_for(s.n, THREADS), THREADS, 0, l.stream>>>(s, a);
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
