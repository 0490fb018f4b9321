/* What the kernels share: the progress of the steps, the ring of slots, the grid of cells, and the view of one
 * system, which every kernel gets as an argument.
 *
 * The host never waits for a step: it launches several steps ahead. The device decides whether a step is taken. A
 * step that makes the cells or lists stale, or that finds an error, notes this in its slot. The later launches
 * then return at once. So the state stops exactly where it must, and the host learns of it when it next reads the
 * progress.
 *
 * Launches are numbered. Launch l has slot l % SLOTS of a ring. A slot holds the progress before its launch
 * (`before`) and what the blocks of the launch found:
 *
 *             slot l - 1         slot l            slot l + 1
 *         +----------------+----------------+----------------+
 *   ...   | before         | before  <-- 2  | before         |   ...     a ring: slot 0 comes
 *         | found, usage   | found   <-- 3  | found=0 <-- 2  |           after slot SLOTS - 1
 *         +----------------+----------------+----------------+
 *            |                  ^
 *            +--- 1: after() ---+   the progress before launch l
 *
 *   1. Every block of launch l reads slot l - 1 and computes the progress from it. The block returns if there is
 *      nothing to do.
 *   2. One thread of block 0 writes this progress to slot l, and clears the findings of slot l + 1.
 *   3. All blocks add their findings to slot l with atomics. They do not wait for each other.
 *
 * The boundary between two launches is the only synchronisation: there is no fence, and no block that must be the
 * last.
 */
#ifndef MD_GPU_PARTICLE_STATE_CUH
#define MD_GPU_PARTICLE_STATE_CUH

#include "gpu/particle/layout.cuh"

/* Reasons to stop: bits of progress.halt. Several ranks agree on the largest of their values, so the bit that
 * decides must be the highest. An overlap decides over a runaway, because the step with the overlap was not taken
 * and moved no particle. */
enum {
  HALT_RUNAWAY = 1, /* a particle moved too far, or left the box: the state is that after the move */
  HALT_OVERLAP = 2, /* the impulse of a pair is out of range: the step was not taken */
  HALT_GHOSTS = 4,  /* there are more ghosts than places for them: rebin again with more places */
  HALT_LIST = 8,    /* the same for the neighbours of a list */
};

/* How far the steps have come, and why they stopped. */
struct progress {
  long long done, target; /* steps taken and steps wanted, since the host last set `target` */
  unsigned parity;        /* which of the two position arrays holds the present positions */
  unsigned stale;         /* 1: rebin before the next force */
  unsigned halt;
  float usage; /* the largest share of the slack that is used since the rebin; above 1: stale */
};

/* One slot of the ring. */
struct alignas(64) step_slot {
  progress before;
  unsigned step, flip;   /* is the launch a step? does it write the other position array? */
  unsigned found;        /* bits of progress.halt */
  unsigned usage;        /* the bits of a float, as in progress */
  unsigned beyond_slack; /* number of fast particles, if they are checked (list_check.cu); else 0 */
};

enum { SLOTS = 64 };
/* The most fast particles that a list check looks at. With more of them the lists are stale. */
enum { MOST_BEYOND_SLACK = 4096 };
/* The ring, and what a rebin lacked. The host reads a copy. */
struct control {
  step_slot slot[SLOTS];
  unsigned overflow; /* bits of progress.halt that a rebin found */
  int ghosts_wanted;
  int list_wanted; /* neighbours in the longest list */
};

/* Is there nothing to do for a step? */
__host__ __device__ inline bool idle(const progress &p) { return p.stale || p.halt || p.done >= p.target; }

/* The progress after the launch that has this slot. */
__host__ __device__ inline progress after(const step_slot &slot)
{
  progress p = slot.before;
  if (!slot.step || idle(p)) return p;
  if (slot.found & HALT_OVERLAP) {
    p.halt = HALT_OVERLAP;
    return p;
  }
  p.parity ^= slot.flip;
  p.halt = slot.found;
  if (p.halt) return p;
#ifdef __CUDA_ARCH__
  p.usage = __uint_as_float(slot.usage);
#else
  memcpy(&p.usage, &slot.usage, sizeof p.usage);
#endif
  ++p.done;
  p.stale = !(p.usage <= 1.0f);
  return p;
}

/* Exact division of 0 <= n < 2^31 by a fixed d >= 1, with a multiplication and a shift. Reference: Granlund and
 * Montgomery, PLDI 1994. */
struct divisor {
  unsigned d, multiplier, shift;
};

inline divisor divisor_of(unsigned d)
{
  unsigned shift = 0;
  while ((1ull << shift) < d) ++shift;
  const unsigned long long power = 1ull << shift;
  return divisor{d, (unsigned)(((power - d) << 32) / d + 1), shift};
}

__device__ __forceinline__ int divide(int n, const divisor &by)
{
  return (int)((__umulhi((unsigned)n, by.multiplier) + (unsigned)n) >> by.shift);
}

/* A uniform grid of cells in row-major order, with x fastest. It has a border of cells on every side, which are
 * empty or hold ghosts. So a stencil tests no bounds. */
struct cell_grid {
  int count[3];   /* cells along an axis, with the border */
  int border[3];  /* cells of the border on each side; a stencil reaches as far */
  int row, layer; /* cells from one row to the next, from one layer to the next */
  int total;
  double lo[3], width[3], per_width[3];
  float width_single[3];
  divisor by_row, by_layer;
  /* For mixed layouts: lo32 is the place where cells are counted from, first32 the number of the cell there
   * (border included), and in_range32 the number of cells in the whole range of the 32-bit scale. */
  uint32_t lo32[3], in_range32[3];
  int first32[3];
};

/* The number of cells from one layer along the slowest axis to the next. */
template <int DIM> __host__ __device__ __forceinline__ int layer_cells(const cell_grid &g)
{
  return DIM == 3 ? g.layer : g.row;
}

/* The number of the cell along axis d. A ghost may lie in the border. An owned particle is put into the nearest
 * cell that is not in the border. */
__device__ __forceinline__ int cell_along(const cell_grid &g, int d, double x, bool ghost)
{
  /* The addition of MD_ROUND rounds down to whole cells, and the lower word is their number. floor() and a
   * conversion take longer. */
  const int c = __double2loint(__fma_rd(x - g.lo[d], g.per_width[d], MD_ROUND)) + g.border[d];
  const int border = ghost ? 0 : g.border[d];
  return min(max(c, border), g.count[d] - 1 - border);
}

template <int DIM> __device__ __forceinline__ void cell_coordinates(const cell_grid &g, int cell, int c[3])
{
  c[2] = DIM == 3 ? divide(cell, g.by_layer) : 0;
  const int in_layer = DIM == 3 ? cell - c[2] * g.layer : cell;
  c[1] = divide(in_layer, g.by_row);
  c[0] = in_layer - c[1] * g.row;
}

/* The ghosts, sorted by cell: images of particles across periodic faces, and particles of other ranks. Ghost g has
 * record n + g. */
struct ghost_view {
  const int *start; /* first ghost of each cell, by ghost_cell(); NULL: no ghosts */
  /* A stencil may hold ghosts only if its middle cell is one of the first or last `depth` cells along an axis. 0: no
   * ghosts along this axis. */
  int depth[3];
  /* The `folded` cells from cell `fold` on have no place in `start`, because no stencil looks for ghosts there. The
   * cells behind them are `folded` places lower. */
  int fold, folded;
  int *source; /* local index of the source; -1: it is on another rank */
  int *shift;  /* (sx + 1) + 3 (sy + 1) + 9 (sz + 1): an image is its source shifted by s boxes */
  int capacity;
};

/* The code in ghost_view.shift for no shift. */
enum { NO_SHIFT = 1 + 3 + 9 };

/* The place in ghost_view.start of a cell that may hold ghosts. */
__device__ __forceinline__ int ghost_cell(const ghost_view &g, int cell)
{
  return cell < g.fold ? cell : cell - g.folded;
}

/* On several ranks a step may be two launches with one number. PART_SENT moves the particles that are sent to
 * other ranks. PART_REST moves all others, while those are on their way. */
enum step_part { PART_ALL, PART_SENT, PART_REST };

/* One system, as the kernels see it. It is passed by value. All pointers are to device memory of the engine. */
template <class T> struct system_view {
  control *ctl;
  unsigned launch; /* number of the next launch that changes the progress */
  typename T::record *x[2];
  typename T::rest *rest[2]; /* beside x[0] and x[1], in packed and plain layouts; owned particles only */
  typename T::real *v[3];
  int n;
  cell_grid grid;
  /* The cell of each owned particle at the rebin, for the kernel that stages candidates; else NULL. */
  int *cell;
  const int *start; /* first particle of each cell, [total + 1] */
  ghost_view ghost;
  /* Lists. They are stored four neighbours by four: row r of particle i is list[(i/32 * stride + r) * 32 + i%32].
   * A short list is filled with i itself. */
  int4 *list;
  int *rows;  /* number of rows of each 32 particles */
  int stride; /* rows for which there is memory */
  bool half;  /* lists hold only ghosts and neighbours with a higher index */
  bool dense; /* without lists: warp search */
  scale32 scale;
  double lo[3], hi[3], length[3];
  bool periodic[3];
  double halo[3]; /* distance from the box that ghosts must cover */
  double reach;   /* cutoff + skin, for lists */
  float cutoff;   /* the largest of all pairs of types, rounded up */
  float slack;    /* how far a particle may move since the rebin */
  /* usage is a displacement (cells) or a path (lists) times this. It is 1 / slack, or with list checks 1 / (the path
   * at which lists are stale in any case). */
  float per_slack;
  int *beyond_slack;             /* indices of the fast particles of a step; NULL: no list checks */
  double outside;                /* how far a fast particle may be outside the faces of its domain */
  float extra;                   /* the largest extra */
  float foresight;               /* time that lists should last, for the extras */
  const double *velocity_per_v;  /* by 0-based type */
  typename T::real k[MD_PAIR_K]; /* coefficients, if there is only one pair of types */
  coarse_scale coarse;           /* for plain layouts */
  const typename T::real *table; /* coefficients, [ntypes^2][MD_PAIR_K] */
  const double *overlap2;        /* squared distance below which a pair overlaps, [ntypes^2] */
  int ntypes;
  /* The upper word of model.close2. A pair whose squared distance is not above it needs the careful sum (mixed
   * layouts: it overlaps). */
  int close_high;
  /* On several ranks: the sources of the ghosts as they were at the rebin, and for each ghost the index of its source
   * among them. Else NULL. */
  const typename T::particle *received;
  const int *order;
  step_part part;
  /* Which particles a launch goes through: k = 0, 1, ... members - 1 is particle k, and from k = split on it is
   * particle k + jump. */
  int members;
  int split, jump;
  /* If the particles that are sent do not lie together: their indices, each once, and a bit for each particle, set
   * if it is sent. Else NULL. */
  const int *sent;
  const unsigned *sent_bits;
  int nsent;
};

/* The same view for a launch that goes through all particles. */
template <class T> system_view<T> undivided(const system_view<T> &s)
{
  system_view<T> whole = s;
  whole.members = s.n;
  whole.split = INT32_MAX;
  whole.jump = 0;
  return whole;
}

/* Does a launch go through particles that need not lie together? If so, SCATTERED is true: member() gives the k-th
 * of them, and is_own() tells whether the launch moves it. */
template <class T> bool scattered(const system_view<T> &s)
{
  return s.part == PART_SENT || (s.part == PART_REST && s.sent_bits);
}
template <bool SCATTERED, class T> __device__ __forceinline__ int member(const system_view<T> &s, int k)
{
  if (!SCATTERED) return k + s.jump;
  return s.part == PART_SENT && s.sent ? s.sent[k] : k >= s.split ? k + s.jump : k;
}
/* The word of `sent_bits` for the 32 particles around i: the bits of particles of the other part are set. Call it long
 * before is_own(), so that is_own() does not wait for the load. */
template <bool SCATTERED, class T> __device__ __forceinline__ unsigned others(const system_view<T> &s, int i)
{
  return SCATTERED && s.part == PART_REST && s.sent_bits ? s.sent_bits[i >> 5] : 0u;
}
__device__ __forceinline__ bool is_own(unsigned others, int i) { return !(others >> (i & 31) & 1u); }

/* The progress before launch number `launch`. The whole slot is loaded at once, so that a step does not wait first
 * for one part of it and then for another. */
__device__ __forceinline__ progress progress_before(const control *ctl, unsigned launch)
{
  const int4 *from = (const int4 *)&ctl->slot[(launch - 1u) % SLOTS];
  const unsigned overflow = ctl->overflow;
  const int4 words[4] = {from[0], from[1], from[2], from[3]};
  step_slot slot;
  static_assert(sizeof slot == sizeof words, "");
  memcpy(&slot, words, sizeof slot);
  progress p = after(slot);
  p.halt |= overflow;
  return p;
}

/* Particle i, unpacked from `record` and its rest. parity: which position array the rest is read from. */
template <class T>
__device__ __forceinline__ typename T::particle complete(const system_view<T> &s, unsigned parity, int i,
                                                         const typename T::record &record)
{
  if constexpr (T::PACKED)
    return T::unpack(s.scale, record, s.rest[parity][i]);
  else
    return record;
}

/* Loads or stores the whole particle i, record and rest, in position array `parity`. */
template <class T>
__device__ __forceinline__ typename T::particle load_particle(const system_view<T> &s, unsigned parity, int i)
{
  return complete<T>(s, parity, i, load_record(s.x[parity] + i));
}

template <class T>
__device__ __forceinline__ void store_particle(const system_view<T> &s, unsigned parity, int i,
                                               const typename T::particle &p)
{
  if constexpr (T::PACKED) {
    typename T::record record;
    typename T::rest rest;
    T::pack(s.scale, p, record, rest);
    *(uint4 *)&s.x[parity][i] = make_uint4(record.low[0], record.low[1], record.low[2], record.high);
    s.rest[parity][i] = rest;
  } else {
    s.x[parity][i] = p;
    if constexpr (T::HAS_COARSE) s.rest[parity][i] = T::coarse(s.coarse, p);
  }
}

/* The cell coordinates of the place where an owned particle is now. A particle beyond a face of the own cells
 * counts to the cell at the face, unless its coordinate wraps there. */
template <class T>
__device__ __forceinline__ void cell_at(const system_view<T> &s, const typename T::particle &r, int c[3])
{
  c[2] = 0;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    if constexpr (T::MIXED) {
      const int border = s.grid.border[d];
      c[d] = (int)__umulhi(r.x[d] - s.grid.lo32[d], s.grid.in_range32[d]);
      c[d] = min(max(c[d] + s.grid.first32[d], border), s.grid.count[d] - 1 - border);
    } else {
      c[d] = cell_along(s.grid, d, r.x[d], false);
    }
  }
}

/* The number of the cell with these coordinates, and of the cell where a particle is now. */
template <int DIM> __device__ __forceinline__ int cell_number(const cell_grid &g, const int c[3])
{
  return DIM == 3 ? c[0] + c[1] * g.row + c[2] * g.layer : c[0] + c[1] * g.row;
}

template <class T>
__device__ __forceinline__ int cell_of(const system_view<T> &s, const typename T::particle &r)
{
  int c[3];
  cell_at<T>(s, r, c);
  return cell_number<T::DIM>(s.grid, c);
}

/* The present positions, and one particle of them. */
template <class T> __device__ __forceinline__ typename T::record *present(const system_view<T> &s)
{
  return s.x[progress_before(s.ctl, s.launch).parity];
}

template <class T>
__device__ __forceinline__ typename T::particle present_particle(const system_view<T> &s, int i)
{
  return load_particle<T>(s, progress_before(s.ctl, s.launch).parity, i);
}

/* The place of a particle in the order of cells: it is number `rank` in its cell. Counting stores it in the idle
 * position array, where launch_index() reads it. */
struct alignas(8) cell_place {
  int cell, rank;
};
template <class T> __device__ __forceinline__ cell_place *cell_places(const system_view<T> &s)
{
  static_assert(sizeof(cell_place) <= sizeof(typename T::record), "places lie in a position array");
  return (cell_place *)s.x[progress_before(s.ctl, s.launch).parity ^ 1u];
}

/* Counts particle i in its cell, and stores its place. */
template <class T>
__device__ __forceinline__ void take_place(const system_view<T> &s, int *count, int i, int cell)
{
  cell_places(s)[i] = cell_place{cell, atomicAdd(&count[cell], 1)};
}

/* The largest value in a warp. All lanes call it, and all get the result. */
__device__ __forceinline__ int warp_largest(int value)
{
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(0xffffffffu, value);
#else
  for (int lane = 16; lane > 0; lane /= 2) value = max(value, __shfl_xor_sync(0xffffffffu, value, lane));
  return value;
#endif
}

/* Writes the slot of a launch, and clears the findings of the next slot. One thread of the launch calls it, once.
 * step: the blocks of the launch will call end_step(). flip: the launch writes the other position array. */
__device__ __forceinline__ void take_slot(control *ctl, unsigned launch, const progress &before, bool step,
                                          bool flip)
{
  step_slot *own = &ctl->slot[launch % SLOTS], *next = &ctl->slot[(launch + 1u) % SLOTS];
  own->before = before;
  own->step = step;
  own->flip = flip;
  next->found = 0;
  next->usage = 0;
  next->beyond_slack = 0;
}

/* Waits until all launches before this one have ended, if this launch began early. From then on the blocks of the
 * next launch may take their places. */
__device__ __forceinline__ void await_launches()
{
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* Begins a step, with the same result in all threads of all blocks. now: the progress before the step. Returns
 * false if there is nothing to do. */
template <class T>
__device__ __forceinline__ bool begin_step(const system_view<T> &s, bool flip, progress &now)
{
  await_launches();
  now = progress_before(s.ctl, s.launch);
  if (blockIdx.x == 0 && threadIdx.x == 0) take_slot(s.ctl, s.launch, now, true, flip);
  return !idle(now);
}

/* Adds what the threads of a block found to the slot: bits of progress.halt, and the share of the slack that their
 * particles used. All threads of the block call it. */
__device__ __forceinline__ void end_step(control *ctl, unsigned launch, unsigned bits, float usage)
{
  __shared__ int block_usage;
  if (threadIdx.x == 0) block_usage = 0;
  __syncthreads();
  step_slot *own = &ctl->slot[launch % SLOTS];
  if (bits) atomicOr(&own->found, bits);
  const int most = warp_largest(__float_as_int(usage)); /* not negative, so it has the order of its bits */
  if ((threadIdx.x & 31) == 0 && most > 0) atomicMax(&block_usage, most);
  __syncthreads();
  if (threadIdx.x == 0 && block_usage > 0) atomicMax(&own->usage, (unsigned)block_usage);
}

#endif
