/* One step with lists: force, kick and drift in one kernel. And the impulses alone, by the same loop, into arrays: for
 * steps that fixes divide, and at the end of a run.
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
 * positions are packed (layout.cuh), why a thread has 64 registers, and why the only branches skip pairs beyond the
 * cutoff. To evaluate these pairs too, without a branch, was slower.
 *
 * Trade-off: only neighbours are read, not all particles of 27 cells. But lists take memory and must be made, and each
 * pair is evaluated twice.
 * Bytes a particle and step in 3D: 4 a listed neighbour, 24 + 24 for packed positions (or 32 + 32), 24 + 24 for
 * velocities. docs/history.md has the limits.
 */
#include "gpu/step/sum_list.cuh"

#include <limits.h>

template <class T, int STYLE, bool SCATTERED>
static __global__ void __launch_bounds__(256, T::MIXED || T::PACKED ? 4 : 2)
    k_step_list(const __grid_constant__ system_view<T> s, const __grid_constant__ step_args a)
{
  progress now;
  if (!begin_step(s, true, now)) return;
  const unsigned parity = now.parity;
  const typename T::record *__restrict__ x = s.x[parity];
  const typename T::real kicks = (typename T::real)(now.done == 0 ? a.first_kicks : a.kicks);
  findings found = {0, 0, 0.0f};
  const int stride = gridDim.x * blockDim.x;
  for (int64_t k = blockIdx.x * blockDim.x + threadIdx.x; k < s.part.members; k += stride) {
    const int i = member<SCATTERED>(s, (int)k);
    const bool own = is_own(others<SCATTERED>(s, i), i);
    const typename T::record xi = x[i];
    typename T::sum sum[3];
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) T::clear(sum[d]);
    int least = INT_MAX;
    if (kicks != 0) sum_list<T, STYLE>(s, x, xi, i, own, sum, least);
    if (!own) continue;
    if (least <= s.pair.close_high) {
      merge(found, move_near_particle<T, STYLE, FROM_LIST>(s, a, kicks, i, destination<T>{s.v, i}, parity));
      continue;
    }
    /* Loaded only here: registers that are in use during the loop reduce the number of warps. */
    typename T::real v[3], impulse[3];
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) {
      v[d] = s.v[d][i];
      impulse[d] = T::total(sum[d]);
    }
    typename T::particle moving = complete<T>(s, parity, i, xi);
    move_particle<T, FROM_LIST>(s, a, kicks, destination<T>{s.v, i}, moving, v, impulse, parity, found);
  }
  end_step(s.ctl, s.launch, found.bits, found.usage);
}

template <class T, bool SCATTERED>
static md_status launch_parts(const launch &l, md_pair_kind kind, const system_view<T> &s, const step_args &a)
{
  const int blocks = blocks_walking(l, s.part.members);
  return launch_styled(kind, [&](auto style) {
    return launch_early(l, blocks, "launch of k_step_list", k_step_list<T, style.value, SCATTERED>, s, a);
  });
}

template <class T>
md_status launch_step_list(const launch &l, md_pair_kind kind, const system_view<T> &s, const step_args &a)
{
  return in_parts(s, [&](const system_view<T> &view, auto scattered) {
    return launch_parts<T, scattered.value>(l, kind, view, a);
  });
}

template <class T> struct list_impulses {
  typename T::real *at[3];
};

template <class T, int STYLE>
static __global__ void __launch_bounds__(256, T::MIXED || T::PACKED ? 4 : 2)
    k_force_list(const __grid_constant__ system_view<T> s, list_impulses<T> to, bool step)
{
  if (step && idle(progress_before(s.ctl, s.launch))) return;
  const typename T::record *__restrict__ x = present(s);
  const int stride = gridDim.x * blockDim.x;
  for (int64_t k = blockIdx.x * blockDim.x + threadIdx.x; k < s.n; k += stride) {
    const int i = (int)k;
    const typename T::record xi = x[i];
    typename T::sum sum[3];
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) T::clear(sum[d]);
    int least = INT_MAX;
    sum_list<T, STYLE>(s, x, xi, i, true, sum, least);
    typename T::real impulse[3];
    if (least <= s.pair.close_high)
      sum_near_particle<T, STYLE>(s, x, i, impulse);
    else
#pragma unroll
      for (int d = 0; d < T::DIM; ++d) impulse[d] = T::total(sum[d]);
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) to.at[d][i] = impulse[d];
  }
}

template <class T>
md_status launch_force_list(const launch &l, md_pair_kind kind, const system_view<T> &s,
                            typename T::real *const impulse[3], bool step)
{
  const list_impulses<T> to = {{impulse[0], impulse[1], impulse[2]}};
  MD_TRY(launch_styled(kind, [&](auto style) {
    k_force_list<T, style.value><<<blocks_walking(l, s.n), l.threads, 0, l.stream>>>(s, to, step);
    return MD_OK;
  }));
  MD_LAUNCHED("k_force_list");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_step_list<T>(const launch &, md_pair_kind, const system_view<T> &,               \
                                         const step_args &);                                                 \
  template md_status launch_force_list<T>(const launch &, md_pair_kind, const system_view<T> &,              \
                                          T::real *const[3], bool);
INSTANCE(exact2_tagged)
INSTANCE(exact3_tagged)
INSTANCE(exact3_packed)
INSTANCE(mixed2_tagged)
INSTANCE(mixed3_tagged)
