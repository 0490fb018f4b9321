/* Warp search: 32 lanes find the neighbours of 32 particles together. It is used for lists (list.cu), and without
 * lists in dense systems (warp_search.cuh).
 *
 * The particles of a warp are neighbours in the order of cells, and so in space. The search goes through the rows
 * of cells around their bounding box:
 *
 *     row y + 1   ........[==============]........
 *     row y       ......[====o o==o=o o====]......     o  the particles of the warp, in their box
 *     row y - 1   ........[==============]........     [==]  the range of a row within reach of the box
 *
 *   1. Of each row the warp reads the range that is within reach of the box, side by side, one candidate a lane.
 *   2. It keeps the candidates within reach of the box. In a dense fluid these are about six for every neighbour
 *      of one particle.
 *   3. It tests 32 kept candidates at a time against all 32 particles, as a product of matrices by tensor cores
 *      (tensor_cores.cuh). The signs of the results become a word of bits for each particle; a set bit is a hit.
 *   4. When the warp tile is full, and at the end, each lane goes through its hits, all lanes in step.
 *
 * Particles of a warp that lie in other rows of cells, or far along the row, have a box and a pass of their own.
 *
 * Distances are in single precision, between points that are rounded to 11 bits relative to the middle of the box.
 * The radius is made larger, so that rounding never loses a neighbour: half a percent too many are found.
 *
 * Cost: 3 operations for each candidate kept, 5 for each candidate read, and 15 for each hit.
 */
#ifndef MD_GPU_NEIGHBOUR_CANDIDATES_CUH
#define MD_GPU_NEIGHBOUR_CANDIDATES_CUH

#include "gpu/neighbour/for_each.cuh"
#include "gpu/neighbour/tensor_cores.cuh"

#include <float.h>
#include <limits.h>

/* The square of a distance that no particle has. */
constexpr float FAR_OFF = 0x1p100f;
/* ROOM: candidates that are kept before their hits are taken. RING: groups of 32 candidates whose points are
 * stored for the test. ROOM is a multiple of 32 RING. */
constexpr unsigned ROOM = 576, RING = 2;
/* The greatest length of a box along its row of cells, in widths of the row. */
constexpr int SPAN = 8;

/* The warp tile: what the lanes of a warp share, in shared memory. `hits` has a bit for each particle of the warp and
 * each kept candidate. `index` also has room for 32 more candidates, which wait for their test:
 *
 *    candidates:  0 ... 31        32 ... 63    ...   ROOM - 32 ... ROOM - 1    ROOM ... ROOM + 31
 *               +---------------+------------+-----+------------------------+-----------------+
 *    lane 0     | 32 bits       | 32 bits    | ... | 32 bits                |                 |
 *    lane 1     | 32 bits       | 32 bits    | ... | 32 bits                |  not yet tested |
 *     ...       |               |            |     |                        |                 |
 *    lane 31    | 32 bits       | 32 bits    | ... | 32 bits                |                 |
 *               +---------------+------------+-----+------------------------+-----------------+
 *                hits[ROOM/32-1]                    hits[0]
 *
 * The highest bit of a word is the first of its 32 candidates. Words and indices are in descending order of the
 * candidates, so that the next hit is always the highest bit. */
struct warp_tile {
  shared_points ring[RING];
  int index[ROOM + 32];
  unsigned hits[ROOM / 32][32];
};

/* Threads in a block of a kernel that finds candidates, and the tiles of its warps. The kernel declares these in
 * shared memory. */
constexpr int FINDING_THREADS = 128;
struct warp_tiles {
  warp_tile of[FINDING_THREADS / 32];
};

/* The tile of this warp. The shuffle tells the compiler that the address is the same for all lanes, so that the
 * lanes do not each compute it. */
static __device__ __forceinline__ warp_tile &tile_of_warp(warp_tiles &tiles)
{
  return tiles.of[__shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0)];
}

/* Where warp_tile.index holds the index of candidate number `slot`. */
static __device__ __forceinline__ int index_of(unsigned slot) { return (int)(ROOM + 31 - slot); }

/* How far to search around a box. */
struct search_reach {
  float reach; /* for a particle without extra */
  float extra; /* the largest extra of any particle */
  float drift; /* how far candidates may be outside their cells, along an axis */
};

/* The box of the particles of a warp that are treated together. Coordinates are relative to `corner`; `corner` is
 * relative to the corner of the grid. */
struct warp_box {
  float lo[3], hi[3], extra; /* extra: the largest of theirs */
  float corner[3];
  int first, last, y, z; /* their first and last cell along x; the row (y, z) of the first particle */
};

/* The state of one lane in a search. */
struct lane_search {
  /* The particles, relative to the middle of the box. A particle of another box is out of reach of all candidates. */
  warp_points own;
  int i;                 /* the particle of this lane */
  unsigned self;         /* its number among the kept candidates, if it is one of them */
  unsigned kept, tested; /* number of candidates kept, and of these tested; the same in all lanes */
  unsigned below;        /* the bits of the lanes below this one */
  /* The hits that are not yet taken, and a bit for each word of hits that has some. */
  int left;
  unsigned words;
  /* What is left of the present word, and the number of that word. */
  unsigned word;
  int row;
};

static __device__ __forceinline__ lane_search begin_search(int i)
{
  lane_search f = {};
  f.i = i;
  f.below = keep((1u << (threadIdx.x & 31)) - 1u);
  return f;
}

/* ordered(): an integer that has the order of a float. largest(): the largest float of a warp. */
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

/* The box of the particles of the warp for which `mine` is true. at: coordinates, and the extra in w; c:
 * coordinates of the cell. */
template <int DIM>
static __device__ __forceinline__ warp_box warp_box_of(const float4 &at, bool mine, const int c[3],
                                                       const float corner[3])
{
  const float x[3] = {at.x, at.y, at.z};
  const int first = __ffs((int)__ballot_sync(0xffffffffu, mine)) - 1;
  warp_box b;
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

/* The range of owned particles (or ghosts) in the row that is y and z rows from the row of a box, in those of its
 * cells that come within `far` of the box. The range is empty if no cell does, or if there is no such row. */
template <class T>
static __device__ __forceinline__ int2 range_in_row(const system_view<T> &s, const int *start, bool ghosts,
                                                    const warp_box &b, int y, int z, float far, float drift)
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

/* The index of the u-th of the next hits, or i itself if there is none. It has no branch, because almost always
 * some lane needs its next word. */
static __device__ __forceinline__ int next_hit(const warp_tile &tile, lane_search &f, int u)
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

/* Stores candidate number `slot` in the ring. b: its position, relative to the middle of the box. t: by how much the
 * square of its distance may be larger than reach^2, because of its extra. */
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
  /* Rounded down, so that no candidate is lost. */
  points.x[3][slot % 32] = round_to_tensor(fmaf(fabsf(square), -0x1.01p-11f, square));
}

/* Takes the hits: take() goes through f.left hits with next_hit(). All lanes call it. */
template <class Take>
static __device__ __forceinline__ void take_hits(const warp_tile &tile, lane_search &f, Take &&take)
{
  f.word = 0;
  f.row = 0;
  __syncwarp();
  take(tile, f);
  f.left = 0;
  __syncwarp();
}

/* Tests the next 32 candidates. half: only ghosts and candidates with a higher index than the particle are hits. */
template <int DIM, class Take>
static __device__ __forceinline__ void test_candidates(warp_tile &tile, lane_search &f, bool half,
                                                       Take &&take)
{
  const int lane = threadIdx.x & 31;
  __syncwarp();
  unsigned hits = within_reach<DIM>(f.own, tile.ring[f.tested / 32 % RING]);
  if (f.self - f.tested < 32u) hits &= ~(0x80000000u >> (f.self - f.tested));
  if (half)
    for (unsigned rest = hits; rest;) {
      const unsigned bit = 0x80000000u >> __clz((int)rest);
      if (tile.index[index_of(f.tested + __clz((int)rest))] < f.i) hits ^= bit;
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
  tile.index[index_of(lane)] = tile.index[index_of(ROOM + lane)];
  __syncwarp();
  f.kept -= ROOM;
  f.self -= ROOM;
  f.tested = 0;
}

constexpr unsigned ALL_ROWS = ~0u;

/* What one pass of a warp searches: the candidates of the particles in a box. */
struct box_search {
  warp_box box;
  search_reach reach;
  /* bits by row: those that this warp searches, where several warps share the search; or ALL_ROWS */
  unsigned rows;
  bool ghosts, half; /* may there be ghosts? are only ghosts and candidates after each particle wanted? */
  bool mine;         /* is the particle of this lane in the box? */
  float4 at;         /* coordinates of that particle, and its extra in w */
};

/* A box around its middle. */
struct centred_box {
  float middle[3], size[3]; /* size: half the lengths of its sides */
  float far;                /* how far from the box a candidate may be */
  float reach;              /* the reach of the search, and what rounding may add to a distance */
};

/* Centres the box, and makes the particle of this lane ready for the tests. */
template <int DIM>
static __device__ __forceinline__ centred_box begin_box(const box_search &q, lane_search &f)
{
  const warp_box &b = q.box;
  centred_box c;
  c.far = q.reach.reach + b.extra + q.reach.extra;
  const float x[3] = {q.at.x, q.at.y, q.at.z};
  float size2 = 0.0f, a[3] = {0.0f, 0.0f, 0.0f}, own = 0.0f;
#pragma unroll
  for (int d = 0; d < DIM; ++d) {
    c.middle[d] = 0.5f * (b.lo[d] + b.hi[d]);
    /* Rounded up, by more than the error of the middle. */
    c.size[d] = 0.5f * (b.hi[d] - b.lo[d]) + 4e-7f * fmaxf(fabsf(b.lo[d]), fabsf(b.hi[d]));
    size2 = fmaf(c.size[d], c.size[d], size2);
    a[d] = round_to_tensor(x[d] - c.middle[d]);
    own = fmaf(a[d], a[d], own);
  }
  /* Rounding moves a point by at most 2^-11 of its distance from the middle. Sums are at most eight times size^2 +
   * far^2, and they are rounded ten times. */
  c.reach = q.reach.reach + 0x1.01p-11f * (2.0f * sqrtf(size2) + c.far);
  const float rounding = 0x1p-16f * (size2 + c.far * c.far);
  own -= fmaf(c.reach, c.reach, 2.0f * q.at.w * (c.reach + q.at.w)) + rounding;
  f.own = points_of<DIM>(a, q.mine ? own : FAR_OFF);
  f.self = ~0u;
  return c;
}

/* Keeps those of 32 particles or ghosts that are within reach of the box: from + lane, below `end`. owners: the
 * particles of the box may be among them. */
template <int DIM, class Read>
static __device__ __forceinline__ void keep_candidates(const box_search &q, const centred_box &c, int from,
                                                       int end, bool owners, warp_tile &tile, lane_search &f,
                                                       Read &&read)
{
  const int j = from + (threadIdx.x & 31);
  const float4 other = read(min(j, end - 1));
  const float y[3] = {other.x - c.middle[0], other.y - c.middle[1], DIM == 3 ? other.z - c.middle[2] : 0.0f};
  float apart2 = 0.0f;
#pragma unroll
  for (int d = 0; d < DIM; ++d) {
    const float apart = fmaxf(fabsf(y[d]) - c.size[d], 0.0f);
    apart2 = fmaf(apart, apart, apart2);
  }
  const float within = q.reach.reach + q.box.extra + other.w;
  const bool near = j < end && apart2 <= within * within;
  const unsigned chosen = __ballot_sync(0xffffffffu, near);
  if (near) {
    const unsigned slot = f.kept + __popc(chosen & f.below);
    put_candidate<DIM>(tile, slot, y, 2.0f * other.w * (c.reach + other.w));
    tile.index[index_of(slot)] = j;
  }
  if (owners) {
    const unsigned self = (unsigned)(f.i - from);
    if (q.mine && self < 32u && f.i < end) f.self = f.kept + __popc(chosen & ((1u << self) - 1u));
  }
  f.kept += __popc(chosen);
}

/* Finds the candidates of the particles in a box, and tests them. All lanes of the warp call it. ROWS: how many rows
 * from that of the box are searched. read(j) returns the position of particle or ghost j, and its extra in w. take()
 * takes hits when the tile is full; take_hits() takes the rest. */
template <class T, int ROWS, class Read, class Take>
static __device__ __forceinline__ void find_candidates(const system_view<T> &s, const box_search &q,
                                                       warp_tile &tile, lane_search &f, Read &&read,
                                                       Take &&take)
{
  constexpr int DIM = T::DIM, SIDE = 2 * ROWS + 1, ALL = DIM == 3 ? SIDE * SIDE : SIDE;
  const int lane = threadIdx.x & 31;
  const centred_box c = begin_box<DIM>(q, f);
  for (int of_ghosts = 0; of_ghosts <= (int)q.ghosts; ++of_ghosts) {
    int2 range = make_int2(0, 0);
    if (lane < ALL) {
      range = range_in_row<T>(s, of_ghosts ? s.ghost.start : s.grid.start, of_ghosts, q.box,
                              lane % SIDE - ROWS, DIM == 3 ? lane / SIDE - ROWS : 0, c.far, q.reach.drift);
      if (q.half && !of_ghosts) range.x = max(range.x, f.i - lane);
    }
    for (unsigned rows = __ballot_sync(0xffffffffu, range.x < range.y) & q.rows; rows; rows &= rows - 1) {
      const int row = __ffs((int)rows) - 1;
      const int begin = __shfl_sync(0xffffffffu, range.x, row), end = __shfl_sync(0xffffffffu, range.y, row);
      for (int from = begin; from < end; from += 32) {
        /* With ROWS = 1 lists are made, at a rebin: all particles of the box are still in the middle row. */
        const bool owners = !of_ghosts && (ROWS > 1 || row == ALL / 2);
        keep_candidates<DIM>(q, c, from, end, owners, tile, f, read);
        if (f.kept - f.tested >= 32) test_candidates<DIM>(tile, f, q.half, take);
      }
    }
  }
  if (f.kept == f.tested) return;
  if (f.kept + lane < f.tested + 32) put_candidate<0>(tile, f.kept + lane, nullptr, -FAR_OFF);
  f.kept = f.tested + 32;
  test_candidates<DIM>(tile, f, q.half, take);
}

/* Notes the rows of the lists of 32 particles. */
template <class T>
static __device__ __forceinline__ void note_rows(const system_view<T> &s, int block, int rows)
{
  s.list.rows[block] = min(rows, s.list.stride);
  s.slack.longest_path[block] = 0.0f;
  if (rows <= s.list.stride) return;
  atomicOr(&s.ctl->overflow, HALT_LIST);
  atomicMax(&s.ctl->list_wanted, rows * 4);
}

/* The reach of lists in single precision: no rounding of rounded_position() or of a distance loses a neighbour. A
 * coordinate is off by 2^-24 of the extent, and a difference of two, or the edge of a cell, by twice that. */
template <class T> static float list_reach(const system_view<T> &s)
{
  double extent = 0.0;
  for (int d = 0; d < T::DIM; ++d) extent = fmax(extent, s.grid.count[d] * s.grid.width[d]);
  return (float)(s.list.reach * (1.0 + 0x1p-18) + 8.0 * extent * 0x1p-24);
}

#endif
