/* Neighbour lists: all particles and ghosts within cutoff + skin of each particle.
 *
 * One thread a particle goes through the rows of cells around it; rows are as wide as the list radius and cut into two
 * cells a radius, of which only those that the sphere reaches are looked at: about five candidates for every neighbour. Distances are
 * taken in single precision, with a radius that rounding cannot make too small, from a copy of the positions that lies
 * in the idle one of the two position arrays. Four neighbours at a time go out as 16 bytes, and the lists of 32
 * particles are interleaved, so that the threads of a warp read them side by side.
 *
 * Trade-off: full lists cost twice the memory of half lists and need neither atomics nor force arrays. Memory: 16 bytes a
 * row of four, rows for the longest list (grown when one does not fit). Cost: 10 operations a candidate and
 * 15 a neighbour, times what the threads of a warp wait for each other.
 */
#include "gpu/images.cuh"
#include "gpu/launch.cuh"
#include "gpu/visit.cuh"

/* Positions relative to the corner of the box. */
template <class T> static __global__ void k_round(const __grid_constant__ system_view<T> s)
{
  float4 *rounded = (float4 *)s.x[progress_before(s.ctl, s.launch).parity ^ 1u];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int end = s.n;
  if (s.ghost.start) end += min(s.ghost.start[s.grid.total], s.ghost.capacity);
  if (i >= end) return;
  /* A ghost's integer coordinate is its owner's, or known modulo some quanta only. */
  constexpr bool BY_OWNER = T::MIXED || T::PACKED;
  const typename T::particle r = present_particle<T>(s, BY_OWNER && i >= s.n ? s.ghost.owner[i - s.n] : i);
  float x[3] = {0.0f, 0.0f, 0.0f};
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    double at = T::where(s.scale, d, r.x[d]) - s.lo[d];
    if (BY_OWNER && i >= s.n) at += shift_along(s.ghost.shift[i - s.n], d) * s.length[d];
    x[d] = (float)at;
  }
  rounded[i] = make_float4(x[0], x[1], x[2], 0.0f);
}

/* Distance along one axis from `at` to the cells at `offset` from the particle's cell. */
static __device__ __forceinline__ float gap(float at, int cell, int offset, float width)
{
  if (offset == 0) return 0.0f;
  const float gap =
      offset > 0 ? (float)(cell + offset) * width - at : at - (float)(cell + offset + 1) * width;
  return fmaxf(gap, 0.0f);
}

struct list_writer {
  int4 *list;
  int4 four;
  int count, most;

  __device__ __forceinline__ void push(int j)
  {
    four = make_int4(four.y, four.z, four.w, j);
    if ((++count & 3) == 0 && count <= most) list[(int64_t)(count / 4 - 1) * 32] = four;
  }
};

constexpr int LIST_THREADS = 128;
/* Candidates of a row that are compared before the neighbours among them are written, and that are loaded together. */
constexpr int CHUNK = 32, GROUP = 4;

/* Writes the neighbours among the candidates [begin, end): compares first, as bits, and writes then, so that threads
 * that found something do not hold up the others at every candidate. All threads of a warp together. */
static __device__ __forceinline__ void scan_range(const float4 *__restrict__ rounded, const float4 &at, int i,
                                                  int begin, int end, float reach2, list_writer &writer)
{
  const int most = warp_largest(end - begin);
  for (int from = 0; from < most; from += CHUNK) {
    const float4 *candidate = rounded + begin + from;
    const int left = end - begin - from;
    unsigned hits = 0;
#pragma unroll
    for (int group = 0; group < CHUNK; group += GROUP) {
      if (group >= most - from) break;
#pragma unroll
      for (int u = group; u < group + GROUP; ++u) {
        if (u >= left) continue;
        const float4 b = candidate[u];
        const float dx = at.x - b.x, dy = at.y - b.y, dz = at.z - b.z;
        if (fmaf(dx, dx, fmaf(dy, dy, dz * dz)) <= reach2) hits |= 1u << u;
      }
    }
    const unsigned self = (unsigned)(i - begin - from);
    if (self < CHUNK) hits &= ~(1u << self);
    while (hits) {
      writer.push(begin + from + __ffs((int)hits) - 1);
      hits &= hits - 1;
    }
  }
}

/* The row of cells at (y, z) from the particle's cell c: the range of owned particles, or of ghosts, in those of its
 * cells that the sphere reaches. Empty if it reaches none. */
template <class T>
static __device__ __forceinline__ int2 range_in_row(const system_view<T> &s, const int *start, const int c[3],
                                                    int y, int z, const float4 &at, float reach2)
{
  const float wx = s.grid.width_single[0];
  const float gy = gap(at.y, c[1] - s.grid.border[1], y, s.grid.width_single[1]);
  const float gz = T::DIM == 3 ? gap(at.z, c[2] - s.grid.border[2], z, s.grid.width_single[2]) : 0.0f;
  const float left2 = reach2 - gy * gy - gz * gz;
  if (!(left2 >= 0.0f)) return make_int2(0, 0);
  const float half = sqrtf(left2) + 1e-4f * wx, per_wx = (float)s.grid.per_width[0];
  const int cx = c[0] - s.grid.border[0], stencil = s.grid.border[0];
  const int first = max((int)floorf((at.x - half) * per_wx) - cx, -stencil);
  const int last = min((int)floorf((at.x + half) * per_wx) - cx, stencil);
  const int row = c[0] + (c[1] + y) * s.grid.row + (c[2] + z) * s.grid.layer;
  return make_int2(start[row + first], start[row + last + 1]);
}

template <class T>
static __global__ void __launch_bounds__(LIST_THREADS)
    k_list(const __grid_constant__ system_view<T> s, float reach2)
{
  const float4 *__restrict__ rounded = (const float4 *)s.x[progress_before(s.ctl, s.launch).parity ^ 1u];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, block = i >> 5;
  if (block * 32 >= s.n) return;
  const bool active = i < s.n;
  const int here = min(i, s.n - 1);
  list_writer writer = {s.list + (int64_t)block * s.stride * 32 + (i & 31), make_int4(i, i, i, i), 0,
                        s.stride * 4};
  const float4 at = rounded[here];
  int c[3];
  cell_coordinates<T::DIM>(s.grid, cell_of<T>(s, present_particle<T>(s, here)), c);
  const bool ghosts = active && s.ghost.start && near_border<T::DIM>(s.grid, c);
  const bool any_ghosts = __any_sync(0xffffffffu, ghosts);
  constexpr int LAYERS = T::DIM == 3 ? 1 : 0;
  for (int z = -LAYERS; z <= LAYERS; ++z)
    for (int y = -1; y <= 1; ++y) {
      int2 range = make_int2(0, 0);
      if (active) range = range_in_row<T>(s, s.start, c, y, z, at, reach2);
      if (s.half) range.x = min(max(range.x, i + 1), range.y);
      scan_range(rounded, at, i, range.x, range.y, reach2, writer);
      if (!any_ghosts) continue;
      range = make_int2(0, 0);
      if (ghosts) range = range_in_row<T>(s, s.ghost.start, c, y, z, at, reach2);
      scan_range(rounded, at, i, s.n + min(range.x, s.ghost.capacity), s.n + min(range.y, s.ghost.capacity),
                 reach2, writer);
    }
  const int wanted = (writer.count + 3) / 4, rows = warp_largest(wanted);
  if ((i & 31) == 0) {
    s.rows[block] = min(rows, s.stride);
    if (rows > s.stride) {
      atomicOr(&s.ctl->overflow, HALT_LIST);
      atomicMax(&s.ctl->list_wanted, rows * 4);
    }
  }
  while (writer.count < min(rows, s.stride) * 4) writer.push(here);
}

template <class T> md_status launch_list(const launch &l, const system_view<T> &s)
{
  double extent = 0.0;
  for (int d = 0; d < T::DIM; ++d) extent = fmax(extent, s.length[d] + 2.0 * s.halo[d]);
  /* A coordinate is off by 2^-24 of the extent, a difference by two of those, and so is the edge of a cell. */
  const double reach = s.reach * (1.0 + 0x1p-18) + 8.0 * extent * 0x1p-24;
  k_round<T><<<blocks_for((int64_t)s.n + s.ghost.capacity, l.threads), l.threads, 0, l.stream>>>(s);
  MD_LAUNCHED("k_round");
  k_list<T><<<blocks_for(s.n, LIST_THREADS), LIST_THREADS, 0, l.stream>>>(s, (float)(reach * reach));
  MD_LAUNCHED("k_list");
  return MD_OK;
}

#define INSTANCE(T) template md_status launch_list<T>(const launch &, const system_view<T> &);
INSTANCE(exact2_tagged)
INSTANCE(exact3_tagged)
INSTANCE(exact3_packed)
INSTANCE(mixed2_tagged)
INSTANCE(mixed3_tagged)
