/* What kernels share: the progress of the steps, the grid of cells, and the view of one system that every kernel is
 * given.
 *
 * The host never waits for a step. It launches several ahead; whether a step may still be taken is decided on the
 * device: the step that makes the neighbour structure stale, or finds an error, leaves word of it, and the launches
 * behind it return at once. So the state stops exactly where it must, and the host learns of it when it next looks.
 *
 * Launches are numbered, and each has a slot in a ring: the progress before it, and what its blocks found, which they add
 * without waiting for each other. Every block of the next launch works out from these two where things stand. The
 * boundary between two launches is the only synchronisation; there is no fence and no last block.
 */
#ifndef MD_GPU_PARTICLE_STATE_CUH
#define MD_GPU_PARTICLE_STATE_CUH

#include "gpu/particle/layout.cuh"

/* Reasons to stop, bits of progress.halt. The largest of several ranks' bits must hold the one that counts: a step that
 * was not taken has moved nobody. */
enum {
  HALT_RUNAWAY = 1, /* a particle moved too far or left: the state is that after the move */
  HALT_OVERLAP = 2, /* a pair leaves the exact range: the step was not taken */
  HALT_GHOSTS = 4,  /* more ghosts than there is room for: rebin again with more */
  HALT_LIST = 8,    /* likewise for neighbours */
};

struct progress {
  long long done, target; /* steps since the host last set target, and how many it wants */
  unsigned parity;        /* which of the two position arrays holds the present */
  unsigned stale;         /* 1: rebin before the next force */
  unsigned halt;
  float usage; /* largest share of the slack used since the rebin; stale above 1 */
};

struct alignas(64) step_slot {
  progress before;
  unsigned step, flip;   /* is it a step? does it write the other position array? */
  unsigned found;        /* bits of halt */
  unsigned usage;        /* a float's bits */
  unsigned beyond_slack; /* particles beyond the slack, where that is not the end of it (list_check.cu) */
};

enum { SLOTS = 64 };
/* Strays that are looked at; with more of them lists are stale. */
enum { MOST_BEYOND_SLACK = 4096 };
struct control {
  step_slot slot[SLOTS];
  unsigned overflow; /* bits of halt found by a rebin */
  int ghosts_wanted;
  int list_wanted; /* neighbours of one particle */
};

__host__ __device__ inline bool idle(const progress &p) { return p.stale || p.halt || p.done >= p.target; }

/* Where things stand after a launch. */
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

/* Exact division of 0 <= n < 2^31 by a fixed d >= 1, by a multiplication: Granlund and Montgomery, PLDI 1994. */
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

/* Cells of a uniform grid in row-major order, x fastest, with a border of empty cells (or ghosts' cells) on every side,
 * so that a stencil tests no bounds. */
struct cell_grid {
  int count[3];   /* border included */
  int border[3];  /* cells on each side, and how far a stencil reaches */
  int row, layer; /* cells to the next row and layer */
  int total;
  double lo[3], width[3], per_width[3];
  float width_single[3];
  divisor by_row, by_layer;
  /* For mixed layouts: where cells are counted from, the number of the first, border included, and how many there are in
   * the whole range of the 32-bit scale. */
  uint32_t lo32[3], in_range32[3];
  int first32[3];
};

/* Cells from one layer along the slowest axis to the next. */
template <int DIM> __host__ __device__ __forceinline__ int layer_cells(const cell_grid &g)
{
  return DIM == 3 ? g.layer : g.row;
}

/* The cell along one axis; ghosts may lie in the border, owned particles are kept out of it. */
__device__ __forceinline__ int cell_along(const cell_grid &g, int d, double x, bool ghost)
{
  /* Rounded down to whole cells by the addition, the lower word is their number: floor() and a conversion take longer. */
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

/* Images of particles across periodic faces. Sorted by cell; ghost g is record n + g. */
struct ghost_view {
  const int *start; /* by ghost_cell(), like system_view.start; NULL: there are none */
  int depth[3];     /* cells from each end of an axis whose stencils may hold ghosts; 0: none do */
  int fold, folded; /* cells from `fold` on stand `folded` places down: in between nobody looks for ghosts */
  int *owner;       /* local index; -1: of another rank */
  int *shift;       /* (sx + 1) + 3 (sy + 1) + 9 (sz + 1), s boxes */
  int capacity;
};

/* A shift by no box. */
enum { NO_SHIFT = 1 + 3 + 9 };

/* The place in ghost_view.start of a cell that may hold ghosts. */
__device__ __forceinline__ int ghost_cell(const ghost_view &g, int cell)
{
  return cell < g.fold ? cell : cell - g.folded;
}

/* On several ranks a step may come as two launches of one number: first the particles that others wait for, then the
 * rest, while those are on their way. */
enum step_part { PART_ALL, PART_SENT, PART_REST };

/* One system, as kernels see it. */
template <class T> struct system_view {
  control *ctl;
  unsigned launch; /* number of the next launch that changes the progress */
  typename T::record *x[2];
  typename T::rest *rest[2]; /* packed and plain layouts only, with x[0] and x[1]; owned particles only */
  typename T::real *v[3];
  int n;
  cell_grid grid;
  int *cell; /* of each owned particle at the rebin; for the kernel that stages candidates only, else NULL */
  const int *start; /* first particle of each cell; [total + 1] */
  ghost_view ghost;
  /* Neighbour lists, with lists only: particle i's entries, four by four, at list[(i/32 stride + r) 32 + i%32]. Padded
   * with i itself. */
  int4 *list;
  int *rows;  /* of each 32 particles */
  int stride; /* rows there is room for */
  bool half;  /* only neighbours with a higher index, and ghosts */
  bool dense; /* without lists: do warps find neighbours together? */
  scale32 scale;
  double lo[3], hi[3], length[3];
  bool periodic[3];
  double halo[3];                /* how far ghosts must reach */
  double reach;                  /* of lists */
  float cutoff;                  /* the largest of any pair of types, rounded up */
  float slack;                   /* how far particles may go since the rebin, */
  float per_slack;               /* and with particles that may go farther, those: usage is a share of this */
  int *beyond_slack;             /* particles that have exceeded the slack in a step; NULL: they may not */
  double outside;                /* how far a fast particle may be outside its faces */
  float extra;                   /* at most so much farther fast particles are listed */
  float foresight;               /* time that lists should last */
  const double *velocity_per_v;  /* by 0-based type */
  typename T::real k[MD_PAIR_K]; /* of the only pair of types */
  coarse_scale coarse;           /* plain layouts */
  const typename T::real *table; /* [ntypes^2][MD_PAIR_K] */
  const double *overlap2;        /* [ntypes^2] */
  int ntypes;
  int close_high; /* upper word of model.close2: pairs not above it need the slow rounding */
  const typename T::particle *received; /* on several ranks: owners of ghosts, as of the rebin; else NULL; */
  const int *order;                     /* and which of them a ghost's is */
  step_part part;
  int members;               /* of the part: a launch of PART_SENT or PART_REST goes through so many, */
  int split, jump;           /* which are k, or from split on k + jump; */
  const int *sent;           /* or if they do not lie together, the particles that are sent, each once, */
  const unsigned *sent_bits; /* and the same, a bit each; else NULL */
  int nsent;
};

/* The same system for a launch of all particles. */
template <class T> system_view<T> undivided(const system_view<T> &s)
{
  system_view<T> whole = s;
  whole.members = s.n;
  whole.split = INT32_MAX;
  whole.jump = 0;
  return whole;
}

/* Which particles a launch goes through, and whether one of them is its own. SCATTERED: they need not lie together. */
template <class T> bool scattered(const system_view<T> &s)
{
  return s.part == PART_SENT || (s.part == PART_REST && s.sent_bits);
}
template <bool SCATTERED, class T> __device__ __forceinline__ int member(const system_view<T> &s, int k)
{
  if (!SCATTERED) return k + s.jump;
  return s.part == PART_SENT && s.sent ? s.sent[k] : k >= s.split ? k + s.jump : k;
}
/* The bits of i's block of 32, set for those of the other part: a load that should be under way long before. */
template <bool SCATTERED, class T> __device__ __forceinline__ unsigned others(const system_view<T> &s, int i)
{
  return SCATTERED && s.part == PART_REST && s.sent_bits ? s.sent_bits[i >> 5] : 0u;
}
__device__ __forceinline__ bool is_own(unsigned others, int i) { return !(others >> (i & 31) & 1u); }

/* Where things stand before launch number `launch`. The slot is loaded at once, so that no step waits for one part of it and
 * then for another. */
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

/* An owned particle with all that is known of it; parity: of the position array. */
template <class T>
__device__ __forceinline__ typename T::particle complete(const system_view<T> &s, unsigned parity, int i,
                                                         const typename T::record &record)
{
  if constexpr (T::PACKED)
    return T::unpack(s.scale, record, s.rest[parity][i]);
  else
    return record;
}

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

/* The coordinates of the cell where an owned particle is now. Across a face of the own cells it counts to the cell at the
 * face, unless coordinates wrap there. */
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

/* The present positions. */
template <class T> __device__ __forceinline__ typename T::record *present(const system_view<T> &s)
{
  return s.x[progress_before(s.ctl, s.launch).parity];
}

template <class T>
__device__ __forceinline__ typename T::particle present_particle(const system_view<T> &s, int i)
{
  return load_particle<T>(s, progress_before(s.ctl, s.launch).parity, i);
}

/* A particle's place in the order of cells: number `rank` of its cell. Counting leaves it in the idle position array, for
 * launch_index(). */
struct alignas(8) cell_place {
  int cell, rank;
};
template <class T> __device__ __forceinline__ cell_place *cell_places(const system_view<T> &s)
{
  static_assert(sizeof(cell_place) <= sizeof(typename T::record), "places lie in a position array");
  return (cell_place *)s.x[progress_before(s.ctl, s.launch).parity ^ 1u];
}

/* Counts particle i in its cell. */
template <class T>
__device__ __forceinline__ void take_place(const system_view<T> &s, int *count, int i, int cell)
{
  cell_places(s)[i] = cell_place{cell, atomicAdd(&count[cell], 1)};
}

__device__ __forceinline__ int warp_largest(int value)
{
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(0xffffffffu, value);
#else
  for (int lane = 16; lane > 0; lane /= 2) value = max(value, __shfl_xor_sync(0xffffffffu, value, lane));
  return value;
#endif
}

/* Takes the slot of a launch; once, by any thread. step: its blocks will report what they find. */
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

/* Waits until everything launched before has ended, if this was launched early; those behind it may then take their
 * places. */
__device__ __forceinline__ void await_launches()
{
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* Begins a step, all threads of all blocks alike: false if there is nothing to do. */
template <class T>
__device__ __forceinline__ bool begin_step(const system_view<T> &s, bool flip, progress &now)
{
  await_launches();
  now = progress_before(s.ctl, s.launch);
  if (blockIdx.x == 0 && threadIdx.x == 0) take_slot(s.ctl, s.launch, now, true, flip);
  return !idle(now);
}

/* Reports what the threads of a block found: bits of halt, and the share of the slack their particles used. */
__device__ __forceinline__ void end_step(control *ctl, unsigned launch, unsigned bits, float usage)
{
  __shared__ int block_usage;
  if (threadIdx.x == 0) block_usage = 0;
  __syncthreads();
  step_slot *own = &ctl->slot[launch % SLOTS];
  if (bits) atomicOr(&own->found, bits);
  const int most = warp_largest(__float_as_int(usage)); /* not negative: ordered like its bits */
  if ((threadIdx.x & 31) == 0 && most > 0) atomicMax(&block_usage, most);
  __syncthreads();
  if (threadIdx.x == 0 && block_usage > 0) atomicMax(&own->usage, (unsigned)block_usage);
}

#endif
