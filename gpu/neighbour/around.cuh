/* Walks through the particles in the cells around one, as far as a caller wants. Kernels of output use it. There are
 * two walks.
 *
 * Without ghosts, on one rank, in a box that is not tilted, to any distance:
 *
 *      . . . . . . .        reach 2: the cells within two of the cell c of a particle. A row of them is one range of
 *      . o o o o o .        particles, or two where it goes on behind a periodic face.
 *      . o o o o o .
 *      . o o c o o .        A particle may have left its cell since the rebin: the caller's reach covers that.
 *      . o o o o o .
 *      . o o o o o .
 *
 * `wraps` is false if no row of cells goes on behind a periodic face. Then a difference of two positions needs no
 * wrapping: it is right for all pairs within the distance that the caller looks for.
 *
 * With ghosts, right after a rebin, as far as the halo is wide: the cells end at the border, and what lies behind a
 * face are ghosts. So it works on several ranks and in tilted boxes. Positions are complete, also where records have
 * only their lower bits.
 *
 * Trade-off: no lists; more candidates than in cells as wide as the distance. Cost: two loads of beginnings of cells a
 * row, near faces four, and a record for each candidate.
 */
#ifndef MD_GPU_NEIGHBOUR_AROUND_CUH
#define MD_GPU_NEIGHBOUR_AROUND_CUH

#include "gpu/neighbour/for_each.cuh"
#include "gpu/particle/images.cuh"

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

/* Cells around one, by axis: n cells of the grid from `first` on, with its border. ghosts: may ghosts lie in them? */
struct cells_with_ghosts {
  static constexpr bool wraps = false;
  int first[3], n[3];
  bool ghosts;
};

template <bool GHOSTS> using cells_near = std::conditional_t<GHOSTS, cells_with_ghosts, cells_around>;

/* Cells within reach[] cells of the one where the particle at x is. Ghosts lie in the first and last cells along an
 * axis: fewer of them than the middle cells of stencils that may hold ghosts. */
template <class T, bool GHOSTS>
static __device__ __forceinline__ cells_near<GHOSTS>
find_cells_near(const system_view<T> &s, const int reach[3], const typename T::particle &x)
{
  if constexpr (!GHOSTS) {
    return find_cells_around<T>(s, reach, x);
  } else {
    cells_with_ghosts a = {{0, 0, 0}, {1, 1, 1}, false};
    int c[3];
    cell_at<T>(s, x, c);
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) {
      const int count = s.grid.count[d], depth = s.ghost.depth[d], deep = depth - s.grid.border[d];
      const int low = c[d] - reach[d], high = c[d] + reach[d];
      a.first[d] = max(low, 0);
      a.n[d] = min(high, count - 1) - a.first[d] + 1;
      a.ghosts = a.ghosts || (depth > 0 && (low < deep || high >= count - deep));
    }
    a.ghosts = a.ghosts && s.ghost.start;
    return a;
  }
}

/* Calls f(j) for the particles with an index of at least `from`, and for the ghosts, in these cells. */
template <class T, class F>
static __device__ __forceinline__ void for_each_around(const system_view<T> &s, const cells_with_ghosts &a,
                                                       int from, F f)
{
  int at[3];
  at[0] = a.first[0];
  for (int z = 0; z < a.n[2]; ++z)
    for (int y = 0; y < a.n[1]; ++y) {
      at[1] = a.first[1] + y;
      at[2] = a.first[2] + z;
      const int cell = cell_number<T::DIM>(s.grid, at);
      int begin, end;
      cell_range(s.grid.start, cell, a.n[0], begin, end);
      for (int j = max(begin, from); j < end; ++j) f(j);
      if (!a.ghosts) continue;
      begin = s.ghost.start[ghost_cell(s.ghost, cell)];
      end = min(s.ghost.start[ghost_cell(s.ghost, cell + a.n[0])], s.ghost.capacity);
      for (int g = begin; g < end; ++g) f(s.n + g);
    }
}

/* A particle, or right after a rebin a ghost: its record, or its source where a record has only the lower bits. */
template <class T, bool GHOSTS>
static __device__ __forceinline__ typename T::particle load_any(const system_view<T> &s, unsigned parity,
                                                                int j)
{
  if constexpr (!GHOSTS) {
    return load_particle<T>(s, parity, j);
  } else if constexpr (!T::PACKED) {
    return load_record(s.x[parity] + j);
  } else {
    if (j < s.n) return load_particle<T>(s, parity, j);
    const int g = j - s.n, code = s.ghost.shift[g];
    typename T::particle r = s.ghost.received ? s.ghost.received[s.ghost.order[g]]
                                              : load_particle<T>(s, parity, s.ghost.source[g]);
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) r.x[d] += shift_of(s.box, code, d);
    return r;
  }
}

/* Calls f(j) for the particles with an index of at least `from` in these cells. */
template <class T, class F>
static __device__ __forceinline__ void for_each_around(const system_view<T> &s, const cells_around &a,
                                                       int from, F f)
{
  const int before = min(a.n[0], a.own[0] - a.first[0]), after = a.n[0] - before;
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
      if (after <= 0) continue;
      cell_range(s.grid.start, cell, after, begin, end);
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
