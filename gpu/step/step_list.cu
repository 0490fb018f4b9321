/* One step with lists: force, kick and drift in one kernel.
 *
 * Each thread has one particle. It reads the list of this particle four neighbours at a time:
 *
 *      lane         0        1              31
 *      row 0    | 4 j's  | 4 j's  | ... | 4 j's  |     j: index of a neighbour
 *      row 1    | 4 j's  | 4 j's  | ... | 4 j's  |     4 j's: 16 bytes; a warp reads one row at a time
 *
 * The next row is loaded while the neighbours of this row are evaluated. Neighbouring threads have neighbouring
 * particles, whose lists go through space in the same order. So the positions that a warp loads at one time lie in a
 * few cache lines.
 *
 * The time of this kernel depends on three numbers: the cache lines that a warp touches; the warps on a multiprocessor,
 * because others work while one waits; and the instructions, about 55 a neighbour, 19 of them in double. This is why
 * positions are packed (gpu/particle/layout.cuh), why a thread has 64 registers, and why the only branches skip pairs
 * beyond the cutoff. A version without these branches, which evaluates these pairs too, was slower.
 *
 * Few particles would leave most of the device without work, and their step would take the time that one thread needs
 * for a whole list. Then several lanes of a warp share a particle (lanes.cuh). Lane q takes the rows q, q + LANES, ...
 * of its list, and the lanes join their sums, which are exact, so that the result is the same. These lanes also write
 * the images of the moved particle, so that no launch is needed for the ghosts. Where particles are fewer still,
 * steps_list.cu takes several steps in one launch.
 *
 * Trade-off: only neighbours are read, not all particles of 27 cells. But lists take memory and must be made, and each
 * pair is evaluated twice.
 * Bytes a particle and step in 3D: 4 a listed neighbour, 24 + 24 for packed positions (or 32 + 32), 24 + 24 for
 * velocities. docs/history.md has the limits.
 */
#include "gpu/step/lanes.cuh"
#include "gpu/step/launches.cuh"
#include "gpu/step/staged_table.cuh"
#include "gpu/step/sum_list.cuh"

#include <algorithm>
#include <limits.h>

/* Writes the images of particle i, whose record the first of its lanes has. All lanes of the warp call it. */
template <class T, int LANES>
static __device__ __forceinline__ void write_images(const system_view<T> &s, const typename T::record &moved,
                                                    int i, bool own, int lane, unsigned parity)
{
  const typename T::record record = record_of_first_lane<typename T::record, 32 / LANES>(moved);
  if (!own) return;
#pragma unroll
  for (int k = lane; k < IMAGES_MOST; k += LANES) {
    const int g = s.ghost.of[first_image(i) + k];
    if (g >= 0) s.x[parity][s.n + g] = image_by<T>(s, record, s.ghost.shift[g]);
  }
}

/* The most threads of a block, and how many blocks a multiprocessor has room for. */
template <int STYLE> constexpr int STEP_THREADS = STYLE == STAGED_TABLE ? STAGED_THREADS : 256;
template <class T, int STYLE>
constexpr int STEP_BLOCKS = (T::MIXED || T::PACKED ? 1024 : 512) / STEP_THREADS<STYLE>;

/* LANES: of a warp, that share a particle. Then the step also writes the images, so that they need no launch. */
template <class T, int STYLE, bool SCATTERED, int LANES>
static __global__ void __launch_bounds__(STEP_THREADS<STYLE>, STEP_BLOCKS<T, STYLE>)
    k_step_list(const __grid_constant__ system_view<T> s, const __grid_constant__ step_args a)
{
  constexpr int CAREFUL_STYLE = STYLE == STAGED_TABLE ? (int)MD_PAIR_table : STYLE;
  if constexpr (STYLE == STAGED_TABLE) stage_table(s.pair.k);
  progress now;
  if (!begin_step(s, true, now)) return;
  const unsigned parity = now.parity;
  const typename T::record *__restrict__ x = s.x[parity];
  const typename T::real kicks = (typename T::real)(now.done == 0 ? a.first_kicks : a.kicks);
  findings found = {0, 0, 0.0f};
  constexpr int TOGETHER = 32 / LANES; /* particles of a warp */
  /* Of n particles there may be n LANES threads. */
  const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x,
                stride = gridDim.x * (blockDim.x / LANES);
  const int first = threadIdx.x % TOGETHER, lane = threadIdx.x % 32 / TOGETHER;
  /* With several lanes all lanes of a warp go on until the last one has no particle. */
  const int64_t end = LANES == 1 ? s.part.members : s.part.members + first;
  for (int64_t k = LANES == 1 ? thread : thread / 32 * TOGETHER + first; k < end; k += stride) {
    const int i = member<SCATTERED>(s, LANES == 1 ? (int)k : min((int)k, s.part.members - 1));
    const bool own = is_own(others<SCATTERED>(s, i), i) && (LANES == 1 || k < s.part.members);
    const typename T::record xi = x[i];
    typename T::sum sum[3];
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) T::clear(sum[d]);
    int least = INT_MAX;
    if (kicks != 0) sum_list<T, STYLE, LANES>(s, x, xi, i, own, sum, least, lane);
    if constexpr (LANES > 1) join_lanes<T, TOGETHER>(sum, least);
    typename T::record moved = xi;
    if (own && lane == 0) {
      if (least <= s.pair.close_high) {
        merge(found, move_near_particle<T, CAREFUL_STYLE, FROM_LIST>(s, a, kicks, i, destination<T>{s.v, i},
                                                                     parity));
        if (LANES > 1) moved = s.x[parity ^ 1u][i];
      } else {
        /* Loaded only here: registers that are in use during the loop reduce the number of warps. */
        typename T::real v[3], impulse[3];
#pragma unroll
        for (int d = 0; d < T::DIM; ++d) {
          v[d] = s.v[d][i];
          impulse[d] = T::total(sum[d]);
        }
        typename T::particle moving = complete<T>(s, parity, i, xi);
        move_particle<T, FROM_LIST>(s, a, kicks, destination<T>{s.v, i}, moving, v, impulse, parity, found);
        if (LANES > 1) moved = record_of<T>(s, moving);
      }
    }
    if constexpr (LANES > 1)
      if (s.ghost.of) write_images<T, LANES>(s, moved, i, own, lane, parity ^ 1u);
  }
  end_step(s.ctl, s.launch, found.bits, found.usage);
}

template <class T, bool SCATTERED, int LANES>
static md_status launch_lanes(const launch &l, md_pair_kind kind, const system_view<T> &s, const step_args &a)
{
  /* All blocks, in the order of memory: what one block reads of its surroundings the next ones find in the cache. */
  const int blocks = blocks_for((int64_t)s.part.members * LANES, l.threads);
  return launch_listed(kind, [&](auto style) {
    return launch_early(l, blocks, "launch of k_step_list", k_step_list<T, style.value, SCATTERED, LANES>, s,
                        a);
  });
}

/* Each multiprocessor has one block that stays, so that it copies the table once. */
template <class T, bool SCATTERED>
static md_status launch_staged(const launch &l, const system_view<T> &s, const step_args &a)
{
  const auto kernel = k_step_list<T, STAGED_TABLE, SCATTERED, 1>;
  launch staged = of_threads(l, STAGED_THREADS);
  staged.shared = STAGED_BYTES;
  const int blocks = std::min(blocks_for(s.part.members, STAGED_THREADS), l.processors);
  MD_TRY(allow_shared(kernel, STAGED_BYTES));
  return launch_early(staged, blocks, "launch of k_step_list", kernel, s, a);
}

template <class T, bool SCATTERED>
static md_status launch_parts(const launch &l, md_pair_kind kind, const system_view<T> &s, const step_args &a)
{
  if constexpr (HAS_LANES<T> && !SCATTERED) {
    const int lanes = lanes_for_particle(l, s.part.members);
    if (lanes == 8) return launch_lanes<T, SCATTERED, 8>(l, kind, s, a);
    if (lanes == 2) return launch_lanes<T, SCATTERED, 2>(l, kind, s, a);
  }
  if constexpr (T::PACKED)
    if (kind == MD_PAIR_table && may_stage(l, s.pair.k)) return launch_staged<T, SCATTERED>(l, s, a);
  return launch_lanes<T, SCATTERED, 1>(l, kind, s, a);
}

template <class T>
md_status launch_step_list(const launch &l, md_pair_kind kind, const system_view<T> &s, const step_args &a)
{
  return in_parts(s, [&](const system_view<T> &view, auto scattered) {
    return launch_parts<T, scattered.value>(l, kind, view, a);
  });
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_step_list<T>(const launch &, md_pair_kind, const system_view<T> &,               \
                                         const step_args &);
INSTANCE(exact2_tagged)
INSTANCE(exact3_tagged)
INSTANCE(exact3_packed)
INSTANCE(mixed2_tagged)
INSTANCE(mixed3_tagged)
