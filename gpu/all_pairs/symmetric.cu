/* Impulses of all pairs in double precision, where each pair is evaluated once and both bodies get its impulse: the same
 * bits as impulse.cu, which serves where bodies are few.
 *
 * A block of threads has a group of GROUP bodies, BODIES for each thread, and goes over tiles of 128 other bodies. A
 * quarter of a tile is in the registers of a warp: each lane has one of its 32 bodies, with a sum for it. After each
 * step every lane gives its other body, with the sum, to the next lane:
 *
 *      lane            0     1     2    ...   31
 *      own bodies     i0    i1    i2         i31      stay (BODIES of them in each lane)
 *      step 0         j0    j1    j2         j31      travel: 32 steps, and each lane has met each j
 *      step 1         j1    j2    j3         j0
 *
 * The four warps of a block have different quarters of the tile at any time, and exchange them through shared memory.
 * So no two warps add to the same sum, and a body's sum goes to device memory once for each group.
 *
 * Which groups meet: group b meets itself, where each body has its own sum only, and the groups b + 1, b + 2, ... up to
 * half of all groups, modulo their number. So every group has the same work.
 *
 * Trade-off: half the arithmetic of impulse.cu. But the shuffles and the second sum cost issue slots, and few bodies make
 * too few blocks.
 * Cost: in 3D 16 double-precision operations, 3 shuffled registers and some 36 issue slots for each pair (two
 * interactions); at 132 multiprocessors and 1.98 GHz the issue slots are the limit: 1.8 10^12 interactions a second.
 */
#include "gpu/all_pairs/bodies.cuh"
#include "gpu/step/formulas.cuh"

enum { THREADS = 128, BODIES = 4, GROUP = THREADS * BODIES, QUARTER = 32 };

struct symmetric_args {
  body_view view;
  const body *other;
  unsigned long long *other_sum; /* [dim][stride] */
  int first, groups;             /* groups of this rank's bodies: [first, first + groups) */
  int other_first, others;       /* groups of the other block that each of them meets; itself: see meets() */
  bool self;                     /* the other block is this rank's own */
  int chunks;                    /* blocks of threads that share the meetings of a group */
  unsigned long long launch_number;
};

/* What a block has in shared memory: a tile of the other bodies, and their sums. */
template <int DIM> struct tile_memory {
  double x[DIM][THREADS], mass[THREADS];
  long long sum[DIM][THREADS];
};

/* The bodies of a thread. */
template <int DIM> struct own_bodies {
  double x[BODIES][DIM], minus_mass[BODIES];
  long long sum[BODIES][DIM];
};

static __device__ __forceinline__ body body_at(const body *bodies, int64_t stride, int i)
{
  if (i < stride) return bodies[i];
  return body{{BODY_FAR, BODY_FAR, BODY_FAR}, 0.0};
}

/* The bodies of a thread and one quarter of the tile: 32 steps. Adds to the sums of the bodies and, unless they are of
 * the same group, of the quarter. */
template <int STYLE, int DIM, bool ONE, bool SAME>
static __device__ __forceinline__ void meet_quarter(const double *unit_k, int quarter, own_bodies<DIM> &own,
                                                    tile_memory<DIM> &tile)
{
  const int at = quarter * QUARTER + (threadIdx.x & 31), next = (threadIdx.x + 1) & 31;
  double x[DIM], mass = ONE ? 0.0 : tile.mass[at], k[MD_PAIR_K];
  long long sum[DIM];
  for (int c = 0; c < MD_PAIR_K; ++c) k[c] = unit_k[c];
#pragma unroll
  for (int d = 0; d < DIM; ++d) {
    x[d] = tile.x[d][at];
    sum[d] = SAME ? 0 : tile.sum[d][at];
  }
#pragma unroll 2
  for (int step = 0; step < QUARTER; ++step) {
#pragma unroll
    for (int b = 0; b < BODIES; ++b) {
      double delta[DIM], r2 = unit_k[2];
#pragma unroll
      for (int d = 0; d < DIM; ++d) {
        delta[d] = own.x[b][d] - x[d];
        r2 = fma(delta[d], delta[d], r2);
      }
      k[1] = ONE ? own.minus_mass[b] : own.minus_mass[b] * mass;
      const double f = ranged_force_of<STYLE>(r2, k);
#pragma unroll
      for (int d = 0; d < DIM; ++d) {
        const long long impulse = md_bits(fma(f, delta[d], MD_ROUND));
        own.sum[b][d] += impulse;
        if (!SAME) sum[d] -= impulse;
      }
    }
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
      x[d] = __shfl_sync(0xffffffffu, x[d], next);
      if (!SAME) sum[d] = __shfl_sync(0xffffffffu, sum[d], next);
    }
    if (!ONE) mass = __shfl_sync(0xffffffffu, mass, next);
  }
#pragma unroll
  for (int d = 0; d < DIM; ++d)
    if (!SAME) tile.sum[d][at] = sum[d];
}

/* All bodies of the block and one tile of other bodies, which begins at j. */
template <int STYLE, int DIM, bool ONE, bool SAME>
static __device__ __forceinline__ void meet_tile(const symmetric_args &a, int j, own_bodies<DIM> &own,
                                                 tile_memory<DIM> &tile)
{
  const body mine = body_at(a.other, a.view.stride, j + (int)threadIdx.x);
  __syncthreads();
#pragma unroll
  for (int d = 0; d < DIM; ++d) {
    tile.x[d][threadIdx.x] = mine.x[d];
    tile.sum[d][threadIdx.x] = 0;
  }
  tile.mass[threadIdx.x] = mine.mass;
  for (int turn = 0; turn < THREADS / QUARTER; ++turn) {
    __syncthreads();
    meet_quarter<STYLE, DIM, ONE, SAME>(a.view.k, (threadIdx.x / 32 + turn) % (THREADS / QUARTER), own, tile);
  }
  if (SAME) return;
  __syncthreads();
  const unsigned long long bias = (unsigned long long)md_bits(MD_ROUND) * GROUP;
  if (j + (int)threadIdx.x >= a.view.stride) return;
#pragma unroll
  for (int d = 0; d < DIM; ++d)
    atomicAdd(&a.other_sum[d * a.view.stride + j + threadIdx.x],
              (unsigned long long)tile.sum[d][threadIdx.x] + bias);
}

/* The group that group b meets as number k, or -1: none. Of this rank's own groups, number 0 is b itself. */
static __device__ __forceinline__ int meets(const symmetric_args &a, int b, int k)
{
  if (!a.self) return a.other_first + k;
  if (2 * k == a.groups && b >= k) return -1;
  return b + k < a.groups ? b + k : b + k - a.groups;
}

template <int STYLE, int DIM, bool ONE>
static __global__ void __launch_bounds__(THREADS)
    k_symmetric_impulses(const __grid_constant__ symmetric_args a)
{
  if (!may_work(a.view.halt, a.launch_number)) return;
  __shared__ tile_memory<DIM> tile;
  const int b = a.first + blockIdx.x % a.groups, chunk = blockIdx.x / a.groups;
  const int k0 = (int)((long long)a.others * chunk / a.chunks),
            k1 = (int)((long long)a.others * (chunk + 1) / a.chunks);
  own_bodies<DIM> own;
#pragma unroll
  for (int n = 0; n < BODIES; ++n) {
    const body mine = body_at(a.view.bodies, a.view.stride, b * GROUP + n * THREADS + (int)threadIdx.x);
    own.minus_mass[n] = ONE ? -(mine.mass * mine.mass) : -mine.mass;
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
      own.x[n][d] = mine.x[d];
      own.sum[n][d] = 0;
    }
  }
  unsigned long long met = 0;
  for (int k = k0; k < k1; ++k) {
    const int group = meets(a, b, k);
    if (group < 0) continue;
    const bool same = a.self && k == 0;
    for (int n = 0; n < BODIES; ++n) {
      const int j = group * GROUP + n * THREADS;
      if (j >= a.view.stride) break;
      if (same)
        meet_tile<STYLE, DIM, ONE, true>(a, j, own, tile);
      else
        meet_tile<STYLE, DIM, ONE, false>(a, j, own, tile);
      met += THREADS;
    }
  }
  const unsigned long long bias = (unsigned long long)md_bits(MD_ROUND) * met;
#pragma unroll
  for (int n = 0; n < BODIES; ++n) {
    const int i = b * GROUP + n * THREADS + (int)threadIdx.x;
    if (i >= a.view.n) continue;
#pragma unroll
    for (int d = 0; d < DIM; ++d)
      atomicAdd(&a.view.sum[d * a.view.stride + i], (unsigned long long)own.sum[n][d] - bias);
  }
}

/* Blocks of threads per multiprocessor that the launch aims at. More of them even out the work at its end. */
enum { BLOCKS_WANTED = 48 };

int symmetric_groups(const body_view &view) { return (int)((view.stride + GROUP - 1) / GROUP); }

md_status launch_symmetric(const body_view &view, md_pair_kind kind, const group_meeting &m, bool one,
                           unsigned long long launch_number, int processors, cudaStream_t stream)
{
  symmetric_args a = {view,          m.other,  m.other_sum, m.first, m.groups,
                      m.other_first, m.others, m.self,      1,       launch_number};
  if (m.self) a.others = m.groups / 2 + 1;
  if (a.groups == 0 || a.others == 0) return MD_OK;
  a.chunks = max(1, min(a.others, processors * BLOCKS_WANTED / a.groups));
  const int blocks = a.groups * a.chunks;
  with_all_style(kind, [&](auto style) {
    if (view.dim == 3 && one)
      k_symmetric_impulses<style.value, 3, true><<<blocks, THREADS, 0, stream>>>(a);
    else if (view.dim == 3)
      k_symmetric_impulses<style.value, 3, false><<<blocks, THREADS, 0, stream>>>(a);
    else if (one)
      k_symmetric_impulses<style.value, 2, true><<<blocks, THREADS, 0, stream>>>(a);
    else
      k_symmetric_impulses<style.value, 2, false><<<blocks, THREADS, 0, stream>>>(a);
  });
  MD_LAUNCHED("k_symmetric_impulses");
  return MD_OK;
}

/* Adds the sums that another rank has made for the bodies of this one. */
static __global__ void k_add_sums(unsigned long long *to, const unsigned long long *from, int64_t n)
{
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += from[i];
}

md_status launch_add_sums(const body_view &view, const unsigned long long *from, cudaStream_t stream)
{
  const int64_t n = view.stride * view.dim;
  k_add_sums<<<blocks_for(n, 256), 256, 0, stream>>>(view.sum, from, n);
  MD_LAUNCHED("k_add_sums");
  return MD_OK;
}
