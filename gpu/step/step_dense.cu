/* One step without lists in a dense three-dimensional system: force, kick and drift in one kernel. The 32 lanes of a
 * warp find the neighbours of their particles together, from cells (gpu/neighbour/warp_search.cuh).
 *
 * Trade-off: it takes 120 bytes a particle instead of the 570 with lists, so it is for systems that are too large for
 * lists. But the search is made anew in every step.
 * Cost: that of gpu/neighbour/warp_search.cuh, and 30 operations a pair, 19 of them in double. Bytes a particle and
 * step: 32 + 32 for positions, 24 + 24 for velocities. All other reads hit a cache.
 */
#include "gpu/neighbour/warp_search.cuh"
#include "gpu/step/launches.cuh"
#include "gpu/step/step_end.cuh"

template <class T, int STYLE, bool SCATTERED>
static __global__ void __launch_bounds__(FINDING_THREADS, 5)
    k_step_dense(const __grid_constant__ system_view<T> s, const __grid_constant__ step_args a)
{
  __shared__ warp_tiles tiles;
  progress now;
  if (!begin_step(s, true, now)) return;
  const unsigned parity = now.parity;
  const typename T::record *__restrict__ x = s.x[parity];
  const typename T::real kicks = (typename T::real)(now.done == 0 ? a.first_kicks : a.kicks);
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = member<SCATTERED>(s, min(k, s.part.members - 1));
  const bool active = k < s.part.members && is_own(others<SCATTERED>(s, i), i);
  const typename T::record xi = load_record(x + i);
  typename T::sum sum[3];
#pragma unroll
  for (int d = 0; d < 3; ++d) T::clear(sum[d]);
  int least = INT_MAX;
  if (kicks != 0 && (k & ~31) < s.part.members)
    warp_for_each<T>(s, x, xi, i, active, now.usage, tiles, [&](int, const typename T::record &xj) {
      evaluate_pair<T, STYLE>(s, xi, xj, true, sum, least);
#pragma unroll
      for (int d = 0; d < 3; ++d) T::settle(sum[d]);
    });
  findings found = {0, 0, 0.0f};
  if (active && least <= s.pair.close_high) {
    merge(found, move_near_particle<T, STYLE, FROM_CELLS>(s, a, kicks, i, destination<T>{s.v, i}, parity));
  } else if (active) {
    typename T::real v[3], impulse[3];
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      v[d] = s.v[d][i];
      impulse[d] = T::total(sum[d]);
    }
    typename T::particle moving = xi;
    move_particle<T, FROM_CELLS>(s, a, kicks, destination<T>{s.v, i}, moving, v, impulse, parity, found);
  }
  end_step(s.ctl, s.launch, found.bits, slack_after<T>(s, now.usage, found.most));
}

template <class T>
md_status launch_step_dense(const launch &l, md_pair_kind kind, const system_view<T> &s, const step_args &a)
{
  launch together = l;
  together.threads = FINDING_THREADS;
  return in_parts(s, [&](const system_view<T> &view, auto scattered) {
    return launch_styled(kind, [&](auto style) {
      return launch_early(together, blocks_for(view.part.members, FINDING_THREADS), "launch of k_step_dense",
                          k_step_dense<T, style.value, scattered.value>, view, a);
    });
  });
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_step_dense<T>(const launch &, md_pair_kind, const system_view<T> &,              \
                                          const step_args &);
INSTANCE(exact3_tagged)
INSTANCE(mixed3_tagged)
