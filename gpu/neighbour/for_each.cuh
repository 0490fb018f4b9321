/* Walks through the candidates of one particle, from cells or from its list. f(j, record of j) is called for every
 * candidate except i itself, within the cutoff or not.
 *
 * Trade-off: short code for any kernel, but not the fastest. The kernels of steps (gpu/step/step_*.cu) have walks of
 * their own. A record is loaded whole: loads of its fields would each take a cycle of the cache for every lane.
 */
#ifndef MD_GPU_NEIGHBOUR_FOR_EACH_CUH
#define MD_GPU_NEIGHBOUR_FOR_EACH_CUH

#include "gpu/particle/view.cuh"

enum neighbour_source { FROM_CELLS, FROM_LIST, FROM_ALL };

/* The particles [begin, end) of `cells` consecutive cells from `first` on. */
__device__ __forceinline__ void cell_range(const int *start, int first, int cells, int &begin, int &end)
{
  begin = start[first];
  end = start[first + cells];
}

/* May the stencil of the cell with coordinates c hold ghosts? */
template <int DIM, class T>
__device__ __forceinline__ bool near_border(const cell_grid &g, const ghost_view<T> &ghost, const int c[3])
{
  bool near = false;
  for (int d = 0; d < DIM; ++d) near = near || c[d] < ghost.depth[d] || c[d] >= g.count[d] - ghost.depth[d];
  return near;
}

/* Is candidate j an image of particle i itself? Such an image is within the cutoff on 32-bit coordinates only:
 * there a particle that crossed a periodic face since the rebin has the coordinates of its image behind that face. */
template <class T> __device__ __forceinline__ bool own_image(const system_view<T> &s, int i, int j)
{
  return T::MIXED && j >= s.n && s.ghost.source[j - s.n] == i;
}

/* Calls f for the particles and ghosts in the cells around the cell where particle i is now. half: only for ghosts
 * and for particles with a higher index. */
template <class T, class F>
__device__ __forceinline__ void for_each_in_cells(const system_view<T> &s, const typename T::record *x, int i,
                                                  bool half, F f)
{
  int c[3];
  if constexpr (T::PACKED)
    cell_at<T>(s, present_particle<T>(s, i), c);
  else
    cell_at<T>(s, x[i], c);
  const int cell = cell_number<T::DIM>(s.grid, c);
  const bool ghosts = s.ghost.start && near_border<T::DIM>(s.grid, s.ghost, c);
  for (int z = T::DIM == 3 ? -1 : 0; z <= (T::DIM == 3 ? 1 : 0); ++z)
    for (int y = -1; y <= 1; ++y) {
      const int first = cell + z * s.grid.layer + y * s.grid.row - 1;
      int begin, end;
      cell_range(s.grid.start, first, 3, begin, end);
      if (half) begin = max(begin, i + 1);
      for (int j = begin; j < end; ++j)
        if (j != i) f(j, load_record(x + j));
      if (!ghosts) continue;
      cell_range(s.ghost.start, ghost_cell(s.ghost, first), 3, begin, end);
      end = min(end, s.ghost.capacity);
      for (int g = begin; g < end; ++g)
        if (!own_image<T>(s, i, s.n + g)) f(s.n + g, load_record(x + s.n + g));
    }
}

/* Calls f for the entries of the list of particle i. */
template <class T, class F>
__device__ __forceinline__ void for_each_listed(const system_view<T> &s, const typename T::record *x, int i,
                                                F f)
{
  const int block = i >> 5;
  const int4 *list = s.list.neighbours + (int64_t)block * s.list.stride * 32 + (i & 31);
  const int rows = s.list.rows[block];
  for (int r = 0; r < rows; ++r) {
    const int4 four = __ldcs(list + (int64_t)r * 32);
    if (four.x != i) f(four.x, load_record(x + four.x));
    if (four.y != i) f(four.y, load_record(x + four.y));
    if (four.z != i) f(four.z, load_record(x + four.z));
    if (four.w != i) f(four.w, load_record(x + four.w));
  }
}

template <class T, int SOURCE, class F>
__device__ __forceinline__ void for_each_candidate(const system_view<T> &s, const typename T::record *x,
                                                   int i, bool half, F f)
{
  if constexpr (SOURCE == FROM_LIST)
    for_each_listed<T>(s, x, i, f);
  else
    for_each_in_cells<T>(s, x, i, half, f);
}

/* The difference a - b of two records in delta[], exact (mixed layouts: rounded to single precision), and its
 * square, computed as in every engine. */
template <class T>
__device__ __forceinline__ typename T::real separation(const scale32 &scale, const typename T::record &a,
                                                       const typename T::record &b, typename T::real delta[3])
{
  typename T::real r2 = 0;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    delta[d] = T::delta(scale, d, a, b);
    r2 = fma(delta[d], delta[d], r2);
  }
  return r2;
}

/* One component of the difference in double, for output. */
template <class T>
__device__ __forceinline__ double wide_delta(const scale32 &scale, int d, const typename T::record &a,
                                             const typename T::record &b)
{
  if constexpr (T::MIXED)
    return (double)(int32_t)(a.x[d] - b.x[d]) * scale.unit[d];
  else
    return T::delta(scale, d, a, b);
}

/* The square of the difference in double, for output. */
template <class T>
__device__ __forceinline__ double wide_separation(const scale32 &scale, const typename T::record &a,
                                                  const typename T::record &b)
{
  double r2 = 0.0;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    const double delta = wide_delta<T>(scale, d, a, b);
    r2 = fma(delta, delta, r2);
  }
  return r2;
}

/* The index of a pair of types in the tables of coefficients. */
template <class T>
__device__ __forceinline__ int pair_of(const system_view<T> &s, const typename T::record &a,
                                       const typename T::record &b)
{
  return type_of(a) * s.pair.ntypes + type_of(b);
}

#endif
