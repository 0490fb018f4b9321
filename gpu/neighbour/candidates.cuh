/* Who is near each of a warp's 32 particles, found by the warp together: for lists (list.cu), and without lists in dense
 * systems (warp_search.cuh).
 *
 * The particles of a warp are neighbours in the order of cells and so in space. The warp goes through the rows of cells
 * around their bounding box. Of each row it reads the range that the box reaches, side by side, one candidate a lane, and
 * keeps those within reach of the box: in a dense fluid about six for every neighbour of one particle. Of these 32 at a time
 * are tested against all 32 particles, as a product of matrices by tensor cores (tensor.cuh), and the signs of the results
 * become a word of bits for each particle. When there is no more room, and at the end, each lane goes through its bits,
 * all lanes in step. Particles of a warp that lie in other rows of cells, or far along the row, have a box and a pass of
 * their own.
 *
 * Distances are taken in single precision between points that are rounded to 11 bits, relative to the middle of the box,
 * with a radius that rounding cannot make too small: half a percent too many are found.
 *
 * Cost: 3 operations a candidate kept, 5 a candidate read, and 15 for each that is found.
 */
#ifndef MD_GPU_NEIGHBOUR_CANDIDATES_CUH
#define MD_GPU_NEIGHBOUR_CANDIDATES_CUH

#include "gpu/neighbour/for_each.cuh"
#include "gpu/neighbour/tensor.cuh"

#include <float.h>
#include <limits.h>

/* The square of a distance that nothing reaches. */
constexpr float FAR_OFF = 0x1p100f;
/* Candidates that are kept before their hits are taken: a multiple of the ring they wait in for their test, 32 by 32. */
constexpr unsigned ROOM = 576, RING = 2;
/* A pass spans at most so many widths of a row along it. */
constexpr int SPAN = 8;

/* What the lanes of a warp share. A word of `hits` is a batch of 32 candidates to a lane, the first of them on top. Words and
 * indices go down as candidates go up, so that the highest bit of each is the next. */
struct warp_tile {
  shared_points ring[RING];
  int index[ROOM + 32];
  unsigned hits[ROOM / 32][32];
};

/* Threads of a block of kernels that find candidates, and the tiles of its warps, to be declared in the kernel. */
constexpr int FINDING_THREADS = 128;
struct warp_tiles {
  warp_tile of[FINDING_THREADS / 32];
};

/* That of this warp: known to be the same for all lanes, its address is not worked out by each. */
static __device__ __forceinline__ warp_tile &tile_of_warp(warp_tiles &tiles)
{
  return tiles.of[__shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0)];
}

/* Where the index of candidate number `slot` is. */
static __device__ __forceinline__ int place(unsigned slot) { return (int)(ROOM + 31 - slot); }

/* How far to look. */
struct horizon {
  float reach; /* of a particle without extra */
  float extra; /* the largest of anybody's */
  float drift; /* candidates may be so much outside their cells, along an axis */
};

/* Particles of a warp that are treated together. Coordinates are relative to `corner`, which is relative to that of the
 * grid. */
struct box {
  float lo[3], hi[3], extra; /* the largest */
  float corner[3];
  int first, last, y, z; /* their cells; y and z: of the first particle */
};

/* One lane's side of the work. */
struct finder {
  warp_points own; /* the particles, from the middle of the box; out of reach of all if not in the box */
  int i;           /* this one */
  unsigned self;   /* and its number among the candidates kept, if it is one */
  unsigned kept, tested; /* candidates; of all lanes */
  unsigned below;        /* bits of the lanes below this one */
  int left;              /* hits not yet taken, and which words they are in */
  unsigned words;
  unsigned word; /* what is left of the present one, */
  int row;       /* and which that is */
};

static __device__ __forceinline__ finder finder_of(int i)
{
  finder f = {};
  f.i = i;
  f.below = keep((1u << (threadIdx.x & 31)) - 1u);
  return f;
}

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

/* The particles of the warp for which `mine` holds. at: coordinates and extra; c: cells. */
template <int DIM>
static __device__ __forceinline__ box box_of(const float4 &at, bool mine, const int c[3],
                                             const float corner[3])
{
  const float x[3] = {at.x, at.y, at.z};
  const int first = __ffs((int)__ballot_sync(0xffffffffu, mine)) - 1;
  box b;
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    b.lo[d] = d < DIM ? -largest(mine ? -x[d] : -FLT_MAX) : 0.0f;
    b.hi[d] = d < DIM ? largest(mine ? x[d] : -FLT_MAX) : 0.0f;
    b.corner[d] = corner[d];
  }
  b.extra = largest(mine ? at.w : 0.0f);
  b.first = -warp_largest(mine ? -c[0] : INT_MIN + 1);
  b.last = warp_largest(mine ? c[0] : INT_MIN);
  b.y = __shfl_sync(0xffffffffu, c[1], first);
  b.z = __shfl_sync(0xffffffffu, c[2], first);
  return b;
}

/* The row of cells at (y, z) from a box: the range of owned particles, or of ghosts, in those of its cells that come
 * within `far` of the box. Empty if none does, or there is no such row. */
template <class T>
static __device__ __forceinline__ int2 range_in_row(const system_view<T> &s, const int *start, bool ghosts,
                                                    const box &b, int y, int z, float far, float drift)
{
  const int offset[3] = {0, y, z}, cell[3] = {0, b.y, b.z};
  float left2 = far * far;
#pragma unroll
  for (int d = 1; d < T::DIM; ++d) {
    const int at = cell[d] + offset[d];
    if (at < 0 || at >= s.grid.count[d]) return make_int2(0, 0);
    const float edge =
        (float)(at - s.grid.border[d] + (offset[d] > 0 ? 0 : 1)) * s.grid.width_single[d] - b.corner[d];
    const float apart = offset[d] > 0 ? edge - b.hi[d] : b.lo[d] - edge;
    const float gap = offset[d] == 0 ? 0.0f : fmaxf(apart - drift, 0.0f);
    left2 -= gap * gap;
  }
  if (!(left2 >= 0.0f)) return make_int2(0, 0);
  const float half = sqrtf(left2) + drift + 1e-4f * s.grid.width_single[0],
              per_wx = (float)s.grid.per_width[0];
  const int border = s.grid.border[0], least = max(b.first - 2 * border, 0);
  const int most = min(b.last + 2 * border, s.grid.count[0] - 1);
  const int first = min(max((int)floorf((b.lo[0] + b.corner[0] - half) * per_wx) + border, least), most);
  const int last = min(max((int)floorf((b.hi[0] + b.corner[0] + half) * per_wx) + border, least), most);
  const int row = (b.y + y) * s.grid.row + (b.z + z) * s.grid.layer;
  if (ghosts) {
    const int begin = ghost_cell(s.ghost, row + first);
    return make_int2(s.n + min(start[begin], s.ghost.capacity),
                     s.n + min(start[begin + last - first + 1], s.ghost.capacity));
  }
  return make_int2(start[row + first], start[row + last + 1]);
}

static __device__ __forceinline__ int highest_bit(unsigned word) { return 31 - __clz((int)word); }

/* The index of the u-th of the next hits, or i itself if there is none. Without a branch: one lane or another always needs
 * its next word. */
static __device__ __forceinline__ int next_hit(const warp_tile &tile, finder &f, int u)
{
  const bool more = f.left > u, next = more && f.word == 0;
  const int highest = highest_bit(f.words);
  f.row = next ? highest : f.row;
  f.words ^= next ? 1u << (highest & 31) : 0u;
  if (next) f.word = (&tile.hits[0][threadIdx.x & 31])[f.row * 32];
  const int bit = highest_bit(f.word);
  f.word ^= 1u << (bit & 31);
  const int j = tile.index[32 + 32 * f.row + bit];
  return more ? j : f.i;
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

/* Takes the hits: take() goes through f.left of them with next_hit(). */
template <class Take>
static __device__ __forceinline__ void take_hits(const warp_tile &tile, finder &f, Take &&take)
{
  f.word = 0;
  f.row = 0;
  __syncwarp();
  take(tile, f);
  f.left = 0;
  __syncwarp();
}

/* Tests the next 32 candidates. half: only those behind this particle, and ghosts, are hits. */
template <int DIM, class Take>
static __device__ __forceinline__ void test_candidates(warp_tile &tile, finder &f, bool half, Take &&take)
{
  const int lane = threadIdx.x & 31;
  __syncwarp();
  unsigned hits = within_reach<DIM>(f.own, tile.ring[f.tested / 32 % RING]);
  if (f.self - f.tested < 32u) hits &= ~(0x80000000u >> (f.self - f.tested));
  if (half)
    for (unsigned rest = hits; rest;) {
      const unsigned bit = 0x80000000u >> __clz((int)rest);
      if (tile.index[place(f.tested + __clz((int)rest))] < f.i) hits ^= bit;
      rest ^= bit;
    }
  f.left += __popc(hits);
  const int word = (int)(ROOM / 32 - 1 - f.tested / 32);
  f.words |= (unsigned)(hits != 0) << word;
  tile.hits[word][lane] = hits;
  f.tested += 32;
  __syncwarp();
  if (f.tested < ROOM) return;
  take_hits(tile, f, take);
  tile.index[place(lane)] = tile.index[place(ROOM + lane)];
  __syncwarp();
  f.kept -= ROOM;
  f.self -= ROOM;
  f.tested = 0;
}

/* Candidates of the particles in box b, of which this lane's is one if `mine`, at `at`. Rows up to ROWS from the box's are
 * looked at. half: only those behind each particle, and ghosts. read(j): where particle or ghost j is, and its extra. */
template <class T, int ROWS, class Read, class Take>
static __device__ __forceinline__ void
find_candidates(const system_view<T> &s, const box &b, const float4 &at, bool mine, bool ghosts,
                const horizon &h, bool half, warp_tile &tile, finder &f, Read &&read, Take &&take)
{
  constexpr int DIM = T::DIM, SIDE = 2 * ROWS + 1, ALL = DIM == 3 ? SIDE * SIDE : SIDE;
  const int lane = threadIdx.x & 31;
  const float far = h.reach + b.extra + h.extra, x[3] = {at.x, at.y, at.z};
  float middle[3], size[3], size2 = 0.0f, a[3] = {0.0f, 0.0f, 0.0f}, own = 0.0f;
#pragma unroll
  for (int d = 0; d < DIM; ++d) {
    middle[d] = 0.5f * (b.lo[d] + b.hi[d]);
    /* Rounded up, and more than the middle may be off. */
    size[d] = 0.5f * (b.hi[d] - b.lo[d]) + 4e-7f * fmaxf(fabsf(b.lo[d]), fabsf(b.hi[d]));
    size2 = fmaf(size[d], size[d], size2);
    a[d] = round_to_tensor(x[d] - middle[d]);
    own = fmaf(a[d], a[d], own);
  }
  /* Rounding moves points by 2^-11 of their distance from the middle, at most. Sums are at most eight times size^2 + far^2,
   * and rounded ten times. */
  const float reach = h.reach + 0x1.01p-11f * (2.0f * sqrtf(size2) + far);
  const float rounding = 0x1p-16f * (size2 + far * far);
  own -= fmaf(reach, reach, 2.0f * at.w * (reach + at.w)) + rounding;
  f.own = points_of<DIM>(a, mine ? own : FAR_OFF);
  f.self = ~0u;
  for (int of_ghosts = 0; of_ghosts <= (int)ghosts; ++of_ghosts) {
    int2 range = make_int2(0, 0);
    if (lane < ALL) {
      range = range_in_row<T>(s, of_ghosts ? s.ghost.start : s.start, of_ghosts, b, lane % SIDE - ROWS,
                              DIM == 3 ? lane / SIDE - ROWS : 0, far, h.drift);
      if (half && !of_ghosts) range.x = max(range.x, f.i - lane);
    }
    for (unsigned rows = __ballot_sync(0xffffffffu, range.x < range.y); rows; rows &= rows - 1) {
      const int q = __ffs((int)rows) - 1;
      const int begin = __shfl_sync(0xffffffffu, range.x, q), end = __shfl_sync(0xffffffffu, range.y, q);
      for (int from = begin; from < end; from += 32) {
        const int j = from + lane;
        const float4 other = read(min(j, end - 1));
        const float y[3] = {other.x - middle[0], other.y - middle[1], DIM == 3 ? other.z - middle[2] : 0.0f};
        float apart2 = 0.0f;
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
          const float apart = fmaxf(fabsf(y[d]) - size[d], 0.0f);
          apart2 = fmaf(apart, apart, apart2);
        }
        const float within = h.reach + b.extra + other.w;
        const bool near = j < end && apart2 <= within * within;
        const unsigned chosen = __ballot_sync(0xffffffffu, near);
        if (near) {
          const unsigned slot = f.kept + __popc(chosen & f.below);
          put_candidate<DIM>(tile, slot, y, 2.0f * other.w * (reach + other.w));
          tile.index[place(slot)] = j;
        }
        /* Everybody was in the middle row when cells were made. */
        if (!of_ghosts && (ROWS > 1 || q == ALL / 2)) {
          const unsigned self = (unsigned)(f.i - from);
          if (mine && self < 32u && f.i < end) f.self = f.kept + __popc(chosen & ((1u << self) - 1u));
        }
        f.kept += __popc(chosen);
        if (f.kept - f.tested >= 32) test_candidates<DIM>(tile, f, half, take);
      }
    }
  }
  if (f.kept == f.tested) return;
  if (f.kept + lane < f.tested + 32) put_candidate<0>(tile, f.kept + lane, nullptr, -FAR_OFF);
  f.kept = f.tested + 32;
  test_candidates<DIM>(tile, f, half, take);
}

#endif
