/* What kernels share: the control word, the grid of cells, and the view of one system that every kernel is given.
 *
 * The host never waits for a step. It launches several ahead; whether a step may still be taken is decided on the
 * device, by `control`: the step that makes the neighbour structure stale (or finds an error) says so in its last
 * block, and the launches behind it return at once. So the state stops exactly where it must, and the host learns of
 * it when it next looks.
 */
#ifndef MD_GPU_STATE_CUH
#define MD_GPU_STATE_CUH

#include "gpu/layout.cuh"

/* Reasons to stop, bits of control.halt. */
enum {
  HALT_OVERLAP = 1, /* a pair leaves the exact range: the step was not taken */
  HALT_FLYER = 2,   /* a particle moved too far or left: the state is that after the move */
  HALT_GHOSTS = 4,  /* more ghosts than there is room for: rebin again with more */
  HALT_LIST = 8,    /* likewise for neighbours */
};

struct control {
  long long done, target; /* steps since the host last set target, and how many it wants */
  unsigned parity;        /* which of the two position arrays holds the present */
  unsigned stale;         /* 1: rebin before the next force */
  unsigned halt;
  unsigned pending; /* bits of halt found by the step under way */
  unsigned ticket;  /* blocks that have finished it */
  unsigned usage;   /* largest share of the slack used since the rebin, a float's bits; stale above 1 */
  int ghosts_wanted;
  int list_wanted; /* neighbours of one particle */
};

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

/* Cells of a uniform grid in row-major order, x fastest, with a border of `border` empty cells (or ghosts' cells)
 * on every side, so that a stencil tests no bounds. */
struct cell_grid {
  int count[3]; /* border included */
  int border;
  int row, layer; /* cells to the next row and layer */
  int total;
  double lo[3], width[3], per_width[3];
  float width_single[3];
  divisor by_row, by_layer;
  /* For mixed layouts: the corner, and the width in 2^-16 units of the 32-bit scale. */
  uint32_t lo32[3];
  uint64_t width32[3];
};

/* The cell along one axis; ghosts may lie in the border, owned particles are kept out of it. */
__device__ __forceinline__ int cell_along(const cell_grid &g, int d, double x, int border)
{
  const int c = (int)floor((x - g.lo[d]) * g.per_width[d]) + g.border;
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
  const int *start; /* by cell, like system_view.start; NULL: there are none */
  int *owner;       /* local index */
  int *shift;       /* (sx + 1) + 3 (sy + 1) + 9 (sz + 1), s boxes */
  int capacity;
};

/* One system, as kernels see it. */
template <class T> struct system_view {
  control *ctl;
  typename T::record *x[2];
  typename T::real *v[3];
  int n;
  cell_grid grid;
  int *cell;        /* of each owned particle at the rebin; with cells only */
  const int *start; /* first particle of each cell; [total + 1] */
  ghost_view ghost;
  /* Neighbour lists, with lists only: particle i's entries, four by four, at list[(i/32 stride + r) 32 + i%32]. Padded
   * with i itself. */
  int4 *list;
  int *rows;  /* of each 32 particles */
  int stride; /* rows there is room for */
  bool half;  /* only neighbours with a higher index, and ghosts */
  scale32 scale;
  double lo[3], hi[3], length[3];
  bool periodic[3];
  double halo[3]; /* how far ghosts must reach */
  double reach;   /* of lists */
  float per_slack;
  typename T::real k[MD_PAIR_K]; /* of the only pair of types */
  const typename T::real *table; /* [ntypes^2][MD_PAIR_K] */
  const double *overlap2;        /* [ntypes^2] */
  int ntypes;
  int close_high; /* upper word of model.close2: pairs not above it need the slow rounding */
};

/* Nothing to do for this launch? */
__device__ __forceinline__ bool idle(const control *ctl)
{
  return ctl->stale || ctl->halt || ctl->done >= ctl->target;
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

/* Ends a step: every thread of every block comes here once, with the bits it found and the share of the slack its
 * particles used; the last block decides what the step was worth. flip: it wrote the other position array. */
__device__ __forceinline__ void end_step(control *ctl, unsigned bits, float usage, bool flip)
{
  __shared__ unsigned block_bits;
  __shared__ int block_usage;
  if (threadIdx.x == 0) {
    block_bits = 0;
    block_usage = 0;
  }
  __syncthreads();
  const int most = warp_largest(__float_as_int(usage)); /* not negative: ordered like its bits */
  if (bits) atomicOr(&block_bits, bits);
  if ((threadIdx.x & 31) == 0) atomicMax(&block_usage, most);
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (block_bits) atomicOr(&ctl->pending, block_bits);
  atomicMax(&ctl->usage, (unsigned)block_usage);
  __threadfence();
  if (atomicAdd(&ctl->ticket, 1u) != gridDim.x - 1) return;
  __threadfence();
  ctl->ticket = 0;
  const unsigned found = atomicOr(&ctl->pending, 0u);
  const float used = __uint_as_float(atomicMax(&ctl->usage, 0u));
  if (found & HALT_OVERLAP) {
    ctl->halt = HALT_OVERLAP;
    return;
  }
  if (flip) ctl->parity ^= 1u;
  if (found) {
    ctl->halt = found;
    return;
  }
  ++ctl->done;
  if (!(used <= 1.0f)) ctl->stale = 1;
}

#endif
