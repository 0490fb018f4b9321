/* Impulses of all pairs, where each pair is evaluated once and both bodies get its impulse. In double precision these
 * are the same bits as those of impulse.cu, which serves where bodies are few; in single precision (precision mixed)
 * the sum over a group is in single precision, and is then rounded to quanta.
 *
 * A block of threads has a group of bodies, BODIES for each of its 128 threads. It meets tiles of 128 other bodies.
 * A quarter of a tile is in the registers of a warp: each lane has one of its 32 bodies, with a sum for it. After each
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
 * Trade-off: half the arithmetic of impulse.cu. But the shuffles and the second sum cost issue slots. Few bodies make
 * few blocks of threads, so their groups are smaller, although a shuffle then serves fewer pairs.
 * Cost: in 3D 16 double-precision operations, 3 shuffled registers and some 36 issue slots for each pair (two
 * interactions); at 132 multiprocessors and 1.98 GHz the issue slots are the limit: 1.8 10^12 interactions a second.
 * In single precision 15 operations, a root and 2 shuffled registers: 3.7 10^12. Measured on an H200: 1.02 10^12 and
 * 3.2 10^12 with 10^6 bodies.
 */
#include "gpu/all_pairs/pair_once.cuh"

enum { THREADS = 128, QUARTER = 32 };

template <class A> struct symmetric_args {
  body_view view;
  const typename A::record *own, *other;
  typename A::real softening;    /* k2 of unit masses */
  unsigned long long *other_sum; /* [dim][stride] */
  int first, groups;             /* groups of this rank's bodies: [first, first + groups) */
  int other_first, others;       /* groups of the other block that each of them meets; itself: see meets() */
  bool self;                     /* the other block is this rank's own */
  int chunks;                    /* blocks of threads that share the meetings of a group */
  unsigned long long launch_number;
};

static __device__ __forceinline__ body far_body(const body *)
{
  return body{{BODY_FAR, BODY_FAR, BODY_FAR}, 0.0};
}
static __device__ __forceinline__ body_single far_body(const body_single *)
{
  const float far = (float)BODY_FAR;
  return body_single{{far, far, far}, 0.0f};
}

/* What a block has in shared memory: a tile of the other bodies, and their sums. */
template <class A, int DIM> struct tile_memory {
  typename A::real x[DIM][THREADS], mass[THREADS];
  typename A::sum sum[DIM][THREADS];
};

template <class R> static __device__ __forceinline__ R body_at(const R *bodies, int64_t stride, int i)
{
  return i < stride ? bodies[i] : far_body(bodies);
}

/* The bodies of a thread and one quarter of the tile: 32 steps. Adds to the sums of the bodies and, unless they are of
 * the same group, of the quarter. */
template <class A, int STYLE, int DIM, bool ONE, bool SAME, int BODIES>
static __device__ __forceinline__ void meet_quarter(typename A::real softening, int quarter,
                                                    own_bodies<A, DIM, BODIES> &own,
                                                    tile_memory<A, DIM> &tile)
{
  typedef typename A::real real;
  const int at = quarter * QUARTER + (threadIdx.x & 31), next = (threadIdx.x + 1) & 31;
  real x[DIM], mass = ONE ? (real)0 : tile.mass[at];
  typename A::sum sum[DIM];
#pragma unroll
  for (int d = 0; d < DIM; ++d) {
    x[d] = tile.x[d][at];
    sum[d] = SAME ? 0 : tile.sum[d][at];
  }
#pragma unroll(8 / BODIES)
  for (int step = 0; step < QUARTER; ++step) {
    meet_body<A, STYLE, DIM, ONE, BODIES>(softening, x, mass, own, sum);
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
template <class A, int STYLE, int DIM, bool ONE, bool SAME, int BODIES>
static __device__ __forceinline__ void meet_tile(const symmetric_args<A> &a, int j,
                                                 own_bodies<A, DIM, BODIES> &own, tile_memory<A, DIM> &tile)
{
  const typename A::record mine = body_at(a.other, a.view.stride, j + (int)threadIdx.x);
  __syncthreads();
#pragma unroll
  for (int d = 0; d < DIM; ++d) {
    tile.x[d][threadIdx.x] = mine.x[d];
    tile.sum[d][threadIdx.x] = 0;
  }
  tile.mass[threadIdx.x] = mine.mass;
  for (int turn = 0; turn < THREADS / QUARTER; ++turn) {
    __syncthreads();
    meet_quarter<A, STYLE, DIM, ONE, SAME, BODIES>(
        a.softening, (threadIdx.x / 32 + turn) % (THREADS / QUARTER), own, tile);
  }
  if (SAME) return;
  __syncthreads();
  const double factor = A::factor(mine.mass, ONE);
#pragma unroll
  for (int d = 0; d < DIM; ++d) {
    const typename A::sum sum = tile.sum[d][threadIdx.x];
    if (!A::fits(sum, factor, a.view.range)) stop(a.view.halt, a.launch_number, HALTED_BY_OVERLAP);
    atomicAdd(&a.other_sum[d * a.view.stride + j + threadIdx.x], A::quanta(sum, -THREADS * BODIES, factor));
  }
}

/* The group that group b meets as number k, or -1: none. Of this rank's own groups, number 0 is b itself. */
template <class A> static __device__ __forceinline__ int meets(const symmetric_args<A> &a, int b, int k)
{
  if (!a.self) return a.other_first + k;
  if (2 * k == a.groups && b >= k) return -1;
  return b + k < a.groups ? b + k : b + k - a.groups;
}

/* Adds the sums of a thread's bodies to those in device memory, and clears them. */
template <class A, int DIM, bool ONE, int BODIES>
static __device__ __forceinline__ void give_sums(const symmetric_args<A> &a, int first, int terms,
                                                 own_bodies<A, DIM, BODIES> &own)
{
#pragma unroll
  for (int n = 0; n < BODIES; ++n) {
    const int i = first + n * THREADS;
    if (i >= a.view.n) continue;
    const double factor = A::factor(a.own[i].mass, ONE);
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
      if (!A::fits(own.sum[n][d], factor, a.view.range))
        stop(a.view.halt, a.launch_number, HALTED_BY_OVERLAP);
      atomicAdd(&a.view.sum[d * a.view.stride + i], A::quanta(own.sum[n][d], terms, factor));
      own.sum[n][d] = 0;
    }
  }
}

template <class A, int STYLE, int DIM, bool ONE, int BODIES>
static __global__ void __launch_bounds__(THREADS)
    k_symmetric_impulses(const __grid_constant__ symmetric_args<A> a)
{
  if (!may_work(a.view.halt, a.launch_number)) return;
  __shared__ tile_memory<A, DIM> tile;
  const int b = a.first + blockIdx.x % a.groups, chunk = blockIdx.x / a.groups;
  const int first = b * (THREADS * BODIES) + (int)threadIdx.x;
  const int k0 = (int)((long long)a.others * chunk / a.chunks),
            k1 = (int)((long long)a.others * (chunk + 1) / a.chunks);
  own_bodies<A, DIM, BODIES> own;
#pragma unroll
  for (int n = 0; n < BODIES; ++n) {
    const typename A::record mine = body_at(a.own, a.view.stride, first + n * THREADS);
    own.k1[n] = ONE ? A::one(mine.mass) : -mine.mass;
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
      own.x[n][d] = mine.x[d];
      own.sum[n][d] = 0;
    }
  }
  int terms = 0;
  for (int k = k0; k < k1; ++k) {
    const int group = meets(a, b, k);
    if (group < 0) continue;
    const bool same = a.self && k == 0;
    for (int n = 0; n < BODIES; ++n) {
      const int j = (group * BODIES + n) * THREADS;
      if (j >= a.view.stride) break;
      if (same)
        meet_tile<A, STYLE, DIM, ONE, true, BODIES>(a, j, own, tile);
      else
        meet_tile<A, STYLE, DIM, ONE, false, BODIES>(a, j, own, tile);
      terms += THREADS;
    }
    if (A::MOST_TERMS > 0 && terms >= A::MOST_TERMS) {
      give_sums<A, DIM, ONE, BODIES>(a, first, terms, own);
      terms = 0;
    }
  }
  give_sums<A, DIM, ONE, BODIES>(a, first, terms, own);
}

/* Blocks of threads per multiprocessor that the launch aims at. More of them even out the work at its end. */
enum { BLOCKS_WANTED = 48 };

/* Bodies of a thread. The same on every rank, because all blocks of bodies have the same length. */
static int bodies_each(const body_view &view) { return view.stride < 8192 ? 1 : view.stride < 32768 ? 2 : 4; }

int symmetric_groups(const body_view &view)
{
  const int64_t group = THREADS * bodies_each(view);
  return (int)((view.stride + group - 1) / group);
}

template <class A, int STYLE, int DIM, bool ONE>
static void launch_shape(const symmetric_args<A> &a, int blocks, cudaStream_t stream)
{
  const int each = bodies_each(a.view);
  if (each == 1)
    k_symmetric_impulses<A, STYLE, DIM, ONE, 1><<<blocks, THREADS, 0, stream>>>(a);
  else if (each == 2)
    k_symmetric_impulses<A, STYLE, DIM, ONE, 2><<<blocks, THREADS, 0, stream>>>(a);
  else
    k_symmetric_impulses<A, STYLE, DIM, ONE, 4><<<blocks, THREADS, 0, stream>>>(a);
}

template <class A>
static md_status launch_arithmetic(symmetric_args<A> a, md_pair_kind kind, const group_meeting &m, bool one,
                                   int processors, cudaStream_t stream)
{
  a.other_sum = m.other_sum;
  a.first = m.first;
  a.groups = m.groups;
  a.other_first = m.other_first;
  a.others = m.self ? m.groups / 2 + 1 : m.others;
  a.self = m.self;
  if (a.groups == 0 || a.others == 0) return MD_OK;
  a.chunks = max(1, min(a.others, processors * BLOCKS_WANTED / a.groups));
  const int blocks = a.groups * a.chunks, dim = a.view.dim;
  with_all_style(kind, [&](auto style) {
    if (dim == 3 && one)
      launch_shape<A, style.value, 3, true>(a, blocks, stream);
    else if (dim == 3)
      launch_shape<A, style.value, 3, false>(a, blocks, stream);
    else if (one)
      launch_shape<A, style.value, 2, true>(a, blocks, stream);
    else
      launch_shape<A, style.value, 2, false>(a, blocks, stream);
  });
  MD_LAUNCHED("k_symmetric_impulses");
  return MD_OK;
}

md_status launch_symmetric(const body_view &view, md_pair_kind kind, const group_meeting &m, bool one,
                           unsigned long long launch_number, int processors, cudaStream_t stream)
{
  if (m.single) {
    symmetric_args<single_sums> a = {};
    a.view = view;
    a.own = m.single;
    a.other = (const body_single *)m.other;
    a.softening = view.single_softening;
    a.launch_number = launch_number;
    return launch_arithmetic(a, kind, m, one, processors, stream);
  }
  symmetric_args<exact_sums> a = {};
  a.view = view;
  a.own = view.bodies;
  a.other = (const body *)m.other;
  a.softening = view.k[2];
  a.launch_number = launch_number;
  return launch_arithmetic(a, kind, m, one, processors, stream);
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
