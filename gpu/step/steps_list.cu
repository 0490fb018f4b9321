/* Several steps with lists in one launch, where particles are few: force, kick and drift, as in step_list.cu.
 *
 * A step of few particles is so short that most of its time would be the end of its launch, the beginning of the next
 * one, and loads of what the last step has stored. Here the threads stay. Each keeps the velocity and position of its
 * particle, the first row of its list and the numbers of the images that it writes. Positions of neighbours go through
 * device memory, and between two steps all blocks meet at a barrier (gpu/particle/grid_barrier.cuh):
 *
 *      step 1           | barrier | step 2          | barrier |  ...   step n
 *      reads array 0              | reads array 1             |
 *      writes array 1             | writes array 0            |        the two position arrays
 *
 * The launch ends before step n if a step makes the lists stale, finds an error or is the last one that is wanted. All
 * blocks learn this at the barrier. For the progress the launch is like a launch of its last step alone.
 *
 * Several lanes share a particle (lanes.cuh): lane number q takes the rows q, q + LANES, ... of its list.
 *
 * Trade-off: all threads must be on the device at the same time, so that this is for few particles (lanes_staying() in
 * gpu/particle/launch.cuh). Cost: the longest chain of operations of a thread, and a barrier a step. docs/history.md
 * has the measurements.
 */
#include "gpu/particle/grid_barrier.cuh"
#include "gpu/step/lanes.cuh"
#include "gpu/step/launches.cuh"
#include "gpu/step/sum_list.cuh"

#include <limits.h>

/* The part of a list that is this lane's. Its first row stays in registers. */
struct lane_list {
  const int4 *rows; /* of the particle */
  int lane, count;  /* number of this lane; number of rows */
  int4 first;
};

template <int LANES, class T>
static __device__ __forceinline__ lane_list load_list(const system_view<T> &s, int i, bool own, int lane)
{
  lane_list list = {s.list.neighbours + (int64_t)(i >> 5) * s.list.stride * 32 + (i & 31), lane,
                    own ? s.list.rows[i >> 5] : 0, make_int4(i, i, i, i)};
  if (lane < list.count) list.first = __ldg(list.rows + (int64_t)lane * 32);
  return list;
}

template <class R> struct four_records {
  R of[4];
};
template <class R> static __device__ __forceinline__ four_records<R> load_four(const R *x, const int4 &j)
{
  return {{load_record(x + j.x), load_record(x + j.y), load_record(x + j.z), load_record(x + j.w)}};
}

/* May a formula be evaluated beyond the cutoff, where its value is not used? Not those that read a table, and those
 * whose styles have no kernels of their own. */
template <int STYLE> constexpr bool SPECULATES = false;
#define MD_PAIR_CUT(symbol) template <> constexpr bool SPECULATES<MD_PAIR_##symbol> = true;
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT

/* Adds the impulses of four pairs to the sum, as evaluate_pair() does. Without a branch for each pair the compiler
 * interleaves the four chains of operations, which is faster where a multiprocessor has few warps. */
template <class T, int STYLE>
static __device__ __forceinline__ void
evaluate_four(const system_view<T> &s, const typename T::record &xi, int i, const int4 &j,
              const four_records<typename T::record> &x, typename T::sum sum[3], int &least)
{
  typedef typename T::real real;
  const int index[4] = {j.x, j.y, j.z, j.w};
  if constexpr (SPECULATES<STYLE>) {
    real delta[4][3], f[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const real r2 = separation<T>(s.scale, xi, x.of[u], delta[u]);
      const bool near = r2 < s.pair.k[0] && index[u] != i;
      least = near ? min(least, order_of(r2)) : least;
      const real safe = near ? r2 : s.pair.k[0];
      if constexpr (T::PACKED)
        f[u] = ranged_force_of<STYLE>(safe, s.pair.k);
      else
        f[u] = force_of<STYLE>(safe, s.pair.k);
      f[u] = near ? f[u] : (real)0;
    }
#pragma unroll
    for (int u = 0; u < 4; ++u)
#pragma unroll
      for (int d = 0; d < T::DIM; ++d) T::add(sum[d], f[u], delta[u][d]);
  } else {
#pragma unroll
    for (int u = 0; u < 4; ++u) evaluate_pair<T, STYLE>(s, xi, x.of[u], index[u] != i, sum, least);
  }
  settle_sums<T>(sum);
}

/* Adds the impulses on particle i from this part of its list. x is not restricted: the positions change while the
 * kernel runs. */
template <class T, int STYLE, int LANES>
static __device__ __forceinline__ void sum_part(const system_view<T> &s, const typename T::record *x,
                                                const typename T::record &xi, int i, const lane_list &list,
                                                typename T::sum sum[3], int &least)
{
  int4 next = list.first;
  for (int r = list.lane; r < list.count; r += LANES) {
    const int4 j = next;
    if (r + LANES < list.count) next = __ldg(list.rows + (int64_t)(r + LANES) * 32);
    evaluate_four<T, STYLE>(s, xi, i, j, load_four(x, j), sum, least);
  }
}

/* The images that this lane writes: the indices of ghosts, or -1, and their shift codes. */
template <int LANES> struct lane_images {
  enum { MOST = (IMAGES_MOST + LANES - 1) / LANES };
  int ghost[MOST], code[MOST];
};

template <int LANES, class T>
static __device__ __forceinline__ lane_images<LANES> load_images(const system_view<T> &s, int i, bool own,
                                                                 int lane)
{
  lane_images<LANES> images;
#pragma unroll
  for (int m = 0; m < images.MOST; ++m) {
    const int k = lane + m * LANES;
    images.ghost[m] = s.ghost.of && own && k < IMAGES_MOST ? s.ghost.of[first_image(i) + k] : -1;
    images.code[m] = images.ghost[m] >= 0 ? s.ghost.shift[images.ghost[m]] : NO_SHIFT;
  }
  return images;
}

template <int LANES, class T>
static __device__ __forceinline__ void write_images(const system_view<T> &s, const lane_images<LANES> &images,
                                                    const typename T::record &moved, unsigned parity)
{
#pragma unroll
  for (int m = 0; m < images.MOST; ++m)
    if (images.ghost[m] >= 0) s.x[parity][s.n + images.ghost[m]] = image_by<T>(s, moved, images.code[m]);
}

/* Moves particle i, of which the thread keeps the position and the velocity. parity: of the present positions. */
template <class T, int STYLE>
static __device__ __forceinline__ void
move_kept(const system_view<T> &s, const step_args &a, typename T::real kicks, int i, unsigned parity,
          const typename T::sum sum[3], int least, typename T::particle &x, typename T::real v[3],
          findings &found)
{
  const destination<T> to = {s.v, i};
  if (least <= s.pair.close_high) {
    merge(found, move_near_particle<T, STYLE, FROM_LIST>(s, a, kicks, i, to, parity));
    x = load_particle<T>(s, parity ^ 1u, i);
    for (int d = 0; d < T::DIM; ++d) v[d] = s.v[d][i];
    return;
  }
  typename T::real impulse[3];
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) impulse[d] = T::total(sum[d]);
  move_particle<T, FROM_LIST>(s, a, kicks, to, x, v, impulse, parity, found);
}

template <class T, int STYLE, int LANES>
static __global__ void __launch_bounds__(STAYING_THREADS, 1)
    k_steps_list(const __grid_constant__ system_view<T> s, const __grid_constant__ step_args a,
                 unsigned steps)
{
  typedef typename T::record record;
  await_launches();
  progress now = progress_before(s.ctl, s.launch);
  const bool reports = blockIdx.x == 0 && threadIdx.x == 0;
  if (idle(now)) {
    if (reports) take_slot(s.ctl, s.launch, now, true, true);
    return;
  }
  constexpr int TOGETHER = 32 / LANES; /* particles of a warp */
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32 / TOGETHER;
  const int k = thread / 32 * TOGETHER + thread % TOGETHER, i = min(k, s.n - 1);
  const bool own = k < s.n;
  const lane_list list = load_list<LANES>(s, i, own, lane);
  const auto images = load_images<LANES>(s, i, own, lane);
  record xi = load_record(s.x[now.parity] + i);
  typename T::particle moving = complete<T>(s, now.parity, i, xi);
  typename T::real v[3];
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) v[d] = s.v[d][i];
  findings found = {0, 0, 0.0f};
  for (unsigned step = 1;; ++step) {
    const typename T::real kicks = (typename T::real)(now.done == 0 ? a.first_kicks : a.kicks);
    typename T::sum sum[3];
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) T::clear(sum[d]);
    int least = INT_MAX;
    if (kicks != 0) sum_part<T, STYLE, LANES>(s, s.x[now.parity], xi, i, list, sum, least);
    join_lanes<T, TOGETHER>(sum, least);
    if (own && lane == 0) {
      move_kept<T, STYLE>(s, a, kicks, i, now.parity, sum, least, moving, v, found);
      xi = record_of<T>(s, moving);
    }
    xi = record_of_first_lane<record, TOGETHER>(xi);
    write_images<LANES>(s, images, xi, now.parity ^ 1u);
    if (step >= steps || now.done + 1 >= now.target) break;
    if (await_blocks(s.ctl, s.launch, step, found.bits != 0 || !(found.usage <= 1.0f))) break;
    now.parity ^= 1u;
    ++now.done;
  }
  if (reports) take_slot(s.ctl, s.launch, now, true, true);
  end_step(s.ctl, s.launch, found.bits, found.usage);
}

template <class T, int LANES>
static md_status launch_staying(const launch &l, md_pair_kind kind, const system_view<T> &s,
                                const step_args &a, unsigned steps)
{
  const int64_t threads = (int64_t)s.n * LANES;
  /* One block for each multiprocessor. */
  const launch staying = of_threads(l, (blocks_for(threads, l.processors) + 31) / 32 * 32);
  return launch_listed(kind, [&](auto style) {
    return launch_together(staying, blocks_for(threads, staying.threads), "launch of k_steps_list",
                           k_steps_list<T, style.value, LANES>, s, a, steps);
  });
}

template <class T>
md_status launch_steps_list(const launch &l, md_pair_kind kind, const system_view<T> &s, const step_args &a,
                            unsigned steps)
{
  const system_view<T> all = undivided(s);
  switch (lanes_staying(l, s.n)) {
  case 8: return launch_staying<T, 8>(l, kind, all, a, steps);
  case 4: return launch_staying<T, 4>(l, kind, all, a, steps);
  default: return launch_staying<T, 2>(l, kind, all, a, steps);
  }
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_steps_list<T>(const launch &, md_pair_kind, const system_view<T> &,              \
                                          const step_args &, unsigned);
INSTANCE(exact3_tagged)
INSTANCE(exact3_packed)
INSTANCE(mixed3_tagged)
