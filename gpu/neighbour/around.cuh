/* Walks through the owned particles in the cells around one, as far as a caller wants, without ghosts. Kernels of
 * output use it beyond the cutoff of the forces, on one rank.
 *
 *      . . . . . . .        reach 2: the cells within two of the cell c of a particle. A row of them is one range of
 *      . o o o o o .        particles, or two where it goes on behind a periodic face.
 *      . o o o o o .
 *      . o o c o o .        A particle may have left its cell since the rebin: the caller's reach covers that.
 *      . o o o o o .
 *      . o o o o o .
 *
 * If no row goes on behind a face, the difference of two positions is that of the nearest images, or both are farther
 * than the caller looks: `wraps` is false then.
 *
 * Trade-off: any distance, without lists and ghosts; more candidates than in cells as wide as the distance. Cost: two
 * loads of beginnings of cells a row, and a record for each candidate.
 */
#ifndef MD_GPU_NEIGHBOUR_AROUND_CUH
#define MD_GPU_NEIGHBOUR_AROUND_CUH

#include "gpu/neighbour/for_each.cuh"

/* Cells around one, by axis: n of the `own` cells of the box from `first` on, modulo their number, without border. */
struct cells_around {
  int first[3], n[3], own[3];
  bool wraps;
};

/* The cells within reach[] cells of the one where the particle at x is. */
template <class T>
static __device__ __forceinline__ cells_around find_cells_around(const system_view<T> &s, const int reach[3],
                                                                 const typename T::particle &x)
{
  cells_around a = {{0, 0, 0}, {1, 1, 1}, {1, 1, 1}, false};
  int c[3];
  cell_at<T>(s, x, c);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    const int own = s.grid.count[d] - 2 * s.grid.border[d], first = c[d] - s.grid.border[d] - reach[d];
    a.own[d] = own;
    a.n[d] = 2 * reach[d] + 1;
    if (s.box.periodic[d] && a.n[d] < own) {
      a.first[d] = first < 0 ? first + own : first;
      a.wraps = a.wraps || a.first[d] + a.n[d] > own;
      continue;
    }
    a.wraps = a.wraps || s.box.periodic[d];
    a.first[d] = s.box.periodic[d] ? 0 : max(first, 0);
    a.n[d] = (s.box.periodic[d] ? own : min(first + a.n[d], own)) - a.first[d];
  }
  return a;
}

/* Calls f(j) for the particles with an index of at least `from` in these cells. */
template <class T, class F>
static __device__ __forceinline__ void for_each_around(const system_view<T> &s, const cells_around &a,
                                                       int from, F f)
{
  const int before = min(a.n[0], a.own[0] - a.first[0]), behind = a.n[0] - before;
  int at[3];
  at[0] = s.grid.border[0];
  for (int z = 0; z < a.n[2]; ++z)
    for (int y = 0; y < a.n[1]; ++y) {
      const int row[3] = {0, a.first[1] + y, a.first[2] + z};
      int begin, end;
#pragma unroll
      for (int d = 1; d < 3; ++d)
        at[d] = (row[d] < a.own[d] ? row[d] : row[d] - a.own[d]) + (d < T::DIM ? s.grid.border[d] : 0);
      const int cell = cell_number<T::DIM>(s.grid, at);
      cell_range(s.grid.start, cell + a.first[0], before, begin, end);
      for (int j = max(begin, from); j < end; ++j) f(j);
      if (behind <= 0) continue;
      cell_range(s.grid.start, cell, behind, begin, end);
      for (int j = max(begin, from); j < end; ++j) f(j);
    }
}

/* The difference a - b of two particles at their nearest images in delta[], 0 beyond the dimensions, and its square.
 * wraps: of the cells around one of them. */
template <class T>
static __device__ __forceinline__ double nearest_separation(const system_view<T> &s, bool wraps,
                                                            const typename T::particle &a,
                                                            const typename T::particle &b, double delta[3])
{
  double r2 = 0.0;
  delta[2] = 0.0;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    if constexpr (T::MIXED)
      delta[d] = wide_delta<T>(s.scale, d, a, b);
    else
      delta[d] = a.x[d] - b.x[d];
  }
  if constexpr (!T::MIXED)
    if (wraps) md_lattice_image(T::DIM, s.box.periodic, s.box.length, s.box.offset, delta);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) r2 = fma(delta[d], delta[d], r2);
  return r2;
}

#endif
