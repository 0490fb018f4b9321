/* Neighbour lists: all particles and ghosts within cutoff + skin of each particle, and farther for fast ones.
 *
 * A warp makes the lists of its 32 particles, which are neighbours in the order of cells and so in space. It goes through
 * the rows of cells around their bounding box; rows are as wide as the list radius. Of each row it reads the range that
 * the box reaches, side by side, one candidate a lane, and keeps those within reach of the box: about six for every
 * neighbour of one particle. Of these 32 at a time are tested against all 32 particles, as a product of matrices by tensor
 * cores (tensor.cuh), and the signs of the results become a word of bits for each particle. Last, each lane turns its bits
 * into indices, all lanes in step, so that the lists of 32 particles, interleaved by rows of four neighbours, are written in
 * whole lines. Particles of a warp that lie in other rows of cells, or far along the row, have a box and a pass of their
 * own.
 *
 * Distances are taken in single precision between points that are rounded to 11 bits, relative to the middle of the box,
 * with a radius that rounding cannot make too small. Positions come from a copy that lies in the idle one of the two
 * position arrays. A particle with an extra of e (sort.cu) is listed with all within reach + e, plus the other's extra:
 * (reach + e + e')^2 <= reach^2 + t(e) + t(e'), t(e) = 2 reach e + 2 e^2.
 *
 * Trade-off: full lists cost twice the memory of half lists and need neither atomics nor force arrays; half a percent of
 * their entries are farther off than need be. Memory: 16 bytes a row of four, rows for the longest list (grown when one does
 * not fit). Cost: 3 operations a candidate kept, 5 a candidate read, and 25 a neighbour.
 */
#include "gpu/images.cuh"
#include "gpu/launch.cuh"
#include "gpu/tensor.cuh"
#include "gpu/visit.cuh"

#include <float.h>

/* The square of a distance that nothing reaches. */
constexpr float FAR_OFF = 0x1p100f;

/* Positions relative to the corner of the grid, and extras. */
template <class T> static __global__ void k_round(const __grid_constant__ system_view<T> s)
{
  float4 *rounded = (float4 *)s.x[progress_before(s.ctl, s.launch).parity ^ 1u];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int end = s.n;
  if (s.ghost.start) end += min(s.ghost.start[s.grid.total], s.ghost.capacity);
  if (i >= end) return;
  /* A ghost's integer coordinate is its owner's, or known modulo some quanta only. */
  const bool by_owner = i >= s.n && (T::MIXED || T::PACKED || s.received);
  const typename T::particle r = by_owner && s.received
                                     ? s.received[s.order[i - s.n]]
                                     : present_particle<T>(s, by_owner ? s.ghost.owner[i - s.n] : i);
  float x[3] = {0.0f, 0.0f, 0.0f};
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    double at = T::where(s.scale, d, r.x[d]) - s.grid.lo[d];
    if (by_owner) at += shift_along(s.ghost.shift[i - s.n], d) * s.length[d];
    x[d] = (float)at;
  }
  rounded[i] = make_float4(x[0], x[1], x[2], fmaxf(-path_of(r), 0.0f));
}

constexpr int LIST_THREADS = 128;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int LIST_BLOCKS = 8; /* a multiprocessor holds 1024 threads */
#else
constexpr int LIST_BLOCKS = 9;
#endif
/* Candidates that are kept before their hits are written: a multiple of the ring they wait in for their test, 32 by 32. */
constexpr unsigned ROOM = 576, RING = 2;
/* A pass spans at most so many list radii along the row. */
constexpr int SPAN = 8;

/* What the lanes of a warp share. A word of `hits` is a batch of 32 candidates to a lane, the first of them on top. Words and
 * indices go down as candidates go up, so that the highest bit of each is the next. */
struct warp_tile {
  shared_points ring[RING];
  int index[ROOM + 32];
  unsigned hits[ROOM / 32][32];
};

/* Where the index of candidate number `slot` is. */
static __device__ __forceinline__ int place(unsigned slot) { return (int)(ROOM + 31 - slot); }

/* Particles of a warp that are treated together. */
struct box {
  float lo[3], hi[3], extra; /* the largest */
  int first, last, y, z;     /* their cells */
};

/* One lane's side of the work. */
struct list_maker {
  warp_points own; /* the particles, from the middle of the box; out of reach of all if not in the box */
  int i;           /* this one */
  unsigned self;   /* and its number among the candidates kept, if it is one */
  unsigned kept, tested; /* candidates; of all lanes */
  unsigned below;        /* bits of the lanes below this one */
  int left;              /* hits not yet written, and which words they are in */
  unsigned words;
  int4 *list;
  int rows, most; /* written, and room for */
};

/* Floats in the order of integers, and back. */
static __device__ __forceinline__ int ordered(float x)
{
  const int bits = __float_as_int(x);
  return bits ^ (bits >> 31 & 0x7fffffff);
}
static __device__ __forceinline__ float largest(float x)
{
  const int most = warp_largest(ordered(x));
  return __int_as_float(most ^ (most >> 31 & 0x7fffffff));
}

/* The particles in `group`, of which this is one if `mine`. */
template <int DIM>
static __device__ __forceinline__ box box_of(const float4 &at, bool mine, const int c[3], unsigned group)
{
  const float x[3] = {at.x, at.y, at.z};
  box b;
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    b.lo[d] = d < DIM ? -largest(mine ? -x[d] : -FLT_MAX) : 0.0f;
    b.hi[d] = d < DIM ? largest(mine ? x[d] : -FLT_MAX) : 0.0f;
  }
  b.extra = largest(mine ? at.w : 0.0f);
  b.first = __shfl_sync(0xffffffffu, c[0], __ffs((int)group) - 1);
  b.last = __shfl_sync(0xffffffffu, c[0], 31 - __clz((int)group));
  b.y = __shfl_sync(0xffffffffu, c[1], __ffs((int)group) - 1);
  b.z = __shfl_sync(0xffffffffu, c[2], __ffs((int)group) - 1);
  return b;
}

/* The row of cells at (y, z) from a box: the range of owned particles, or of ghosts, in those of its cells that come
 * within `far` of the box. Empty if none does. */
template <class T>
static __device__ __forceinline__ int2 range_in_row(const system_view<T> &s, const int *start, const box &b,
                                                    int y, int z, float far)
{
  const int offset[3] = {0, y, z}, cell[3] = {0, b.y, b.z};
  float left2 = far * far;
#pragma unroll
  for (int d = 1; d < T::DIM; ++d) {
    const float edge = (float)(cell[d] - s.grid.border[d] + (offset[d] > 0 ? 1 : 0)) * s.grid.width_single[d];
    const float gap = offset[d] == 0 ? 0.0f : fmaxf(offset[d] > 0 ? edge - b.hi[d] : b.lo[d] - edge, 0.0f);
    left2 -= gap * gap;
  }
  if (!(left2 >= 0.0f)) return make_int2(0, 0);
  const float half = sqrtf(left2) + 1e-4f * s.grid.width_single[0], per_wx = (float)s.grid.per_width[0];
  const int border = s.grid.border[0], least = b.first - border, most = b.last + border;
  const int first = min(max((int)floorf((b.lo[0] - half) * per_wx) + border, least), most);
  const int last = min(max((int)floorf((b.hi[0] + half) * per_wx) + border, least), most);
  const int row = (b.y + y) * s.grid.row + (b.z + z) * s.grid.layer;
  return make_int2(start[row + first], start[row + last + 1]);
}

static __device__ __forceinline__ int highest_bit(unsigned word) { return 31 - __clz((int)word); }

/* Writes the neighbours among the candidates tested. Lanes are in step as long as this happens once. No branches: one lane
 * or another always needs its next word, and the last row of a list is seldom full. */
static __device__ __forceinline__ void write_hits(const warp_tile &tile, list_maker &m)
{
  const unsigned *hits = &tile.hits[0][threadIdx.x & 31];
  unsigned word = 0;
  int row = 0;
  __syncwarp();
  for (; m.left > 0; m.left -= 4) {
    int four[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const bool more = m.left > u, next = more && word == 0;
      const int highest = highest_bit(m.words);
      row = next ? highest : row;
      m.words ^= next ? 1u << (highest & 31) : 0u;
      if (next) word = hits[row * 32];
      const int bit = highest_bit(word);
      word ^= 1u << (bit & 31);
      four[u] = tile.index[32 + 32 * row + bit];
      four[u] = more ? four[u] : m.i;
    }
    if (m.rows < m.most) m.list[(int64_t)m.rows * 32] = make_int4(four[0], four[1], four[2], four[3]);
    ++m.rows;
  }
  m.left = 0;
  __syncwarp();
}

/* Candidate number `slot`: at b from the middle of the box; t: by how much the square of its distance may be larger. */
template <int DIM>
static __device__ __forceinline__ void put_candidate(warp_tile &tile, unsigned slot, const float *b, float t)
{
  shared_points &points = tile.ring[slot / 32 % RING];
  float square = -t;
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    const float x = d < DIM ? round_to_tensor(b[d]) : 0.0f;
    points.x[d][slot % 32] = x;
    square = fmaf(x, x, square);
  }
  /* Not rounded up. */
  points.x[3][slot % 32] = round_to_tensor(fmaf(fabsf(square), -0x1.01p-11f, square));
}

/* Tests the next 32 candidates. half: only those behind this particle, and ghosts, from ghosts on. */
template <int DIM>
static __device__ __forceinline__ void test_candidates(warp_tile &tile, list_maker &m, bool half)
{
  const int lane = threadIdx.x & 31;
  __syncwarp();
  unsigned hits = within_reach<DIM>(m.own, tile.ring[m.tested / 32 % RING]);
  if (m.self - m.tested < 32u) hits &= ~(0x80000000u >> (m.self - m.tested));
  if (half)
    for (unsigned rest = hits; rest;) {
      const unsigned bit = 0x80000000u >> __clz((int)rest);
      if (tile.index[place(m.tested + __clz((int)rest))] < m.i) hits ^= bit;
      rest ^= bit;
    }
  m.left += __popc(hits);
  const int word = (int)(ROOM / 32 - 1 - m.tested / 32);
  m.words |= (unsigned)(hits != 0) << word;
  tile.hits[word][lane] = hits;
  m.tested += 32;
  __syncwarp();
  if (m.tested < ROOM) return;
  write_hits(tile, m);
  tile.index[place(lane)] = tile.index[place(ROOM + lane)];
  __syncwarp();
  m.kept -= ROOM;
  m.self -= ROOM;
  m.tested = 0;
}

/* The particles of `group` together; mine: this is one of them. */
template <class T>
static __device__ __forceinline__ void make_lists(const system_view<T> &s, const float4 *__restrict__ rounded,
                                                  const float4 &at, const int c[3], bool mine, unsigned group,
                                                  float reach, warp_tile &tile, list_maker &m)
{
  constexpr int DIM = T::DIM, ROWS = DIM == 3 ? 9 : 3;
  const int lane = threadIdx.x & 31;
  const box b = box_of<DIM>(at, mine, c, group);
  const bool ghosts = __any_sync(0xffffffffu, mine && s.ghost.start && near_border<DIM>(s.grid, s.ghost, c));
  const float far = reach + b.extra + s.extra, x[3] = {at.x, at.y, at.z};
  float middle[3], size[3], size2 = 0.0f;
  float a[3] = {0.0f, 0.0f, 0.0f}, own = 0.0f;
#pragma unroll
  for (int d = 0; d < DIM; ++d) {
    middle[d] = 0.5f * (b.lo[d] + b.hi[d]);
    /* Rounded up, and more than the middle may be off. */
    size[d] = 0.5f * (b.hi[d] - b.lo[d]) + 4e-7f * b.hi[d];
    size2 = fmaf(size[d], size[d], size2);
    a[d] = round_to_tensor(x[d] - middle[d]);
    own = fmaf(a[d], a[d], own);
  }
  /* Rounding moves points by 2^-11 of their distance from the middle, at most. Sums are at most eight times size^2 + far^2,
   * and rounded ten times. */
  const float listed = reach + 0x1.01p-11f * (2.0f * sqrtf(size2) + far);
  const float rounding = 0x1p-16f * (size2 + far * far);
  own -= fmaf(listed, listed, 2.0f * at.w * (listed + at.w)) + rounding;
  m.own = points_of<DIM>(a, mine ? own : FAR_OFF);
  int2 range = make_int2(0, 0);
  if (lane < (ghosts ? 2 * ROWS : ROWS)) {
    const int q = lane < ROWS ? lane : lane - ROWS;
    range = range_in_row<T>(s, lane < ROWS ? s.start : s.ghost.start, b, q % 3 - 1, DIM == 3 ? q / 3 - 1 : 0,
                            far);
    if (lane >= ROWS) {
      range.x = s.n + min(range.x, s.ghost.capacity);
      range.y = s.n + min(range.y, s.ghost.capacity);
    } else if (s.half) {
      range.x = max(range.x, m.i - lane + __ffs((int)group) - 1);
    }
  }
  for (unsigned rows = __ballot_sync(0xffffffffu, range.x < range.y); rows; rows &= rows - 1) {
    const int q = __ffs((int)rows) - 1;
    const int begin = __shfl_sync(0xffffffffu, range.x, q), end = __shfl_sync(0xffffffffu, range.y, q);
    for (int from = begin; from < end; from += 32) {
      const int j = from + lane;
      const float4 other = rounded[min(j, end - 1)];
      const float y[3] = {other.x - middle[0], other.y - middle[1], DIM == 3 ? other.z - middle[2] : 0.0f};
      float apart2 = 0.0f;
#pragma unroll
      for (int d = 0; d < DIM; ++d) {
        const float apart = fmaxf(fabsf(y[d]) - size[d], 0.0f);
        apart2 = fmaf(apart, apart, apart2);
      }
      const float within = reach + b.extra + other.w;
      const bool near = j < end && apart2 <= within * within;
      const unsigned chosen = __ballot_sync(0xffffffffu, near);
      if (near) {
        const unsigned slot = m.kept + __popc(chosen & m.below);
        put_candidate<DIM>(tile, slot, y, 2.0f * other.w * (listed + other.w));
        tile.index[place(slot)] = j;
      }
      if (q == ROWS / 2) {
        const unsigned self = (unsigned)(m.i - from);
        if (mine && self < 32u) m.self = m.kept + __popc(chosen & ((1u << self) - 1u));
      }
      m.kept += __popc(chosen);
      if (m.kept - m.tested >= 32) test_candidates<DIM>(tile, m, s.half);
    }
  }
  if (m.kept == m.tested) return;
  if (m.kept + lane < m.tested + 32) put_candidate<0>(tile, m.kept + lane, nullptr, -FAR_OFF);
  m.kept = m.tested + 32;
  test_candidates<DIM>(tile, m, s.half);
}

template <class T>
static __global__ void __launch_bounds__(LIST_THREADS, LIST_BLOCKS)
    k_list(const __grid_constant__ system_view<T> s, float reach)
{
  __shared__ warp_tile tiles[LIST_THREADS / 32];
  const float4 *__restrict__ rounded = (const float4 *)s.x[progress_before(s.ctl, s.launch).parity ^ 1u];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, block = i >> 5;
  if (block * 32 >= s.n) return;
  const int here = min(i, s.n - 1);
  /* Known to be the same for all lanes, its address is not worked out by each. */
  warp_tile &tile = tiles[__shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0)];
  list_maker m = {};
  m.i = here;
  m.below = keep((1u << lane) - 1u);
  m.list = s.list + (int64_t)block * s.stride * 32 + lane;
  m.most = s.stride;
  const float4 at = rounded[here];
  int c[3];
  cell_coordinates<T::DIM>(s.grid, cell_of<T>(s, present_particle<T>(s, here)), c);
  for (unsigned waiting = __ballot_sync(0xffffffffu, i < s.n); waiting;) {
    const int leader = __ffs((int)waiting) - 1;
    const int x = __shfl_sync(0xffffffffu, c[0], leader), y = __shfl_sync(0xffffffffu, c[1], leader);
    const int z = __shfl_sync(0xffffffffu, c[2], leader);
    const bool mine = (waiting >> lane & 1u) && c[1] == y && c[2] == z && c[0] - x <= SPAN * s.grid.border[0];
    const unsigned group = __ballot_sync(0xffffffffu, mine);
    waiting &= ~group;
    m.self = ~0u;
    make_lists<T>(s, rounded, at, c, mine, group, reach, tile, m);
  }
  write_hits(tile, m);
  const int rows = warp_largest(m.rows);
  if (lane == 0) {
    s.rows[block] = min(rows, s.stride);
    if (rows > s.stride) {
      atomicOr(&s.ctl->overflow, HALT_LIST);
      atomicMax(&s.ctl->list_wanted, rows * 4);
    }
  }
#pragma unroll 1
  for (; m.rows < min(rows, m.most); ++m.rows)
    m.list[(int64_t)m.rows * 32] = make_int4(here, here, here, here);
}

template <class T> md_status launch_list(const launch &l, const system_view<T> &s)
{
  double extent = 0.0;
  for (int d = 0; d < T::DIM; ++d) extent = fmax(extent, s.grid.count[d] * s.grid.width[d]);
  /* A coordinate is off by 2^-24 of the extent, a difference by two of those, and so is the edge of a cell. */
  const double reach = s.reach * (1.0 + 0x1p-18) + 8.0 * extent * 0x1p-24;
  k_round<T><<<blocks_for((int64_t)s.n + s.ghost.capacity, l.threads), l.threads, 0, l.stream>>>(s);
  MD_LAUNCHED("k_round");
  k_list<T><<<blocks_for(s.n, LIST_THREADS), LIST_THREADS, 0, l.stream>>>(s, (float)reach);
  MD_LAUNCHED("k_list");
  return MD_OK;
}

#define INSTANCE(T) template md_status launch_list<T>(const launch &, const system_view<T> &);
INSTANCE(exact2_tagged)
INSTANCE(exact3_tagged)
INSTANCE(exact3_packed)
INSTANCE(mixed2_tagged)
INSTANCE(mixed3_tagged)
