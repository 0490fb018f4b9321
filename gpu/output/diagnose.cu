/* The search after an error: which pair overlapped, or which particle is a runaway. Every engine must name the
 * same one, that with the smallest ids. The search has three stages, and each goes through all pairs or particles:
 *   1. FIND_A: the minimum of the smaller ids, by an atomic.
 *   2. FIND_B: of the pairs with that id, the minimum of the larger ids (of a runaway: the first axis).
 *   3. FIND_REST: the thread that matches both writes the rest.
 *
 * Trade-off: simple and slow; an error is searched once, so speed does not matter.
 */
#include "gpu/particle/launch.cuh"
#include "gpu/step/careful_sum.cuh"

enum { FIND_A, FIND_B, FIND_REST, FIND_STAGES };

static __device__ __forceinline__ unsigned long long id_of(const int64_t *id, const int *origin, int i)
{
  return (unsigned long long)id[origin ? origin[i] : i];
}

/* A pair may be found from both of its particles. A pair with a ghost counts as a pair with the source of the
 * ghost. The two ids are the same in all cases. */
template <class T, int SOURCE>
static __global__ void k_find_overlap(const __grid_constant__ system_view<T> s, const int64_t *id,
                                      const int *origin, culprit *found, int stage)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  const typename T::record *x = present(s);
  const typename T::record xi = x[i];
  auto look = [&](int j, const typename T::record &, double r2, int pair) {
    if (!(r2 < s.pair.overlap2[pair])) return;
    const int owned = j < s.n || s.ghost.received ? j : s.ghost.source[j - s.n];
    const unsigned long long a = id_of(id, origin, i), b = id_of(id, origin, owned);
    const unsigned long long low = a < b ? a : b, high = a < b ? b : a;
    if (stage == FIND_A)
      atomicMin(&found->a, low);
    else if (stage == FIND_B && low == found->a)
      atomicMin(&found->b, high);
    else if (stage == FIND_REST && low == found->a && high == found->b)
      found->r2 = r2;
  };
  if constexpr (SOURCE == FROM_ALL) {
    for (int j = 0; j < s.n; ++j) {
      if (j == i) continue;
      double r2 = 0.0, delta[3];
      for (int d = 0; d < T::DIM; ++d) delta[d] = x[i].x[d] - x[j].x[d];
      md_lattice_image(T::DIM, s.box.periodic, s.box.length, s.box.offset, delta);
      for (int d = 0; d < T::DIM; ++d) r2 = fma(delta[d], delta[d], r2);
      look(j, x[j], r2, pair_of<T>(s, xi, x[j]));
    }
  } else {
    for_each_candidate<T, SOURCE>(s, x, i, false, [&](int j, const typename T::record &xj) {
      look(j, xj, wide_separation<T>(s.scale, xi, xj), pair_of<T>(s, xi, xj));
    });
  }
}

template <class T>
md_status launch_find_overlap(const launch &l, int source, const system_view<T> &s, const int64_t *id,
                              const int *origin, culprit *found)
{
  const int blocks = blocks_for(s.n, 128);
  for (int stage = 0; stage < FIND_STAGES; ++stage) {
    if (source == FROM_CELLS)
      k_find_overlap<T, FROM_CELLS><<<blocks, 128, 0, l.stream>>>(s, id, origin, found, stage);
    if constexpr (T::TAGGED) {
      if (source == FROM_LIST)
        k_find_overlap<T, FROM_LIST><<<blocks, 128, 0, l.stream>>>(s, id, origin, found, stage);
      if constexpr (!T::MIXED && !T::PACKED)
        if (source == FROM_ALL)
          k_find_overlap<T, FROM_ALL><<<blocks, 128, 0, l.stream>>>(s, id, origin, found, stage);
    }
    MD_LAUNCHED("k_find_overlap");
  }
  return MD_OK;
}

/* A particle is judged by the state after the move, as in the other engines. */
template <class T>
static __global__ void k_find_runaway(const __grid_constant__ system_view<T> s,
                                      const __grid_constant__ step_args a, const int64_t *id,
                                      const int *origin, culprit *found, int stage)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  const typename T::particle r = present_particle<T>(s, i);
  const double ratio = a.velocity_per_v[type_of(r)];
  for (int d = 0; d < T::DIM; ++d) {
    const double x = T::where(s.scale, d, r.x[d]), v = (double)s.v[d][i];
    const double moved = md_drift(v, a.motion.time * ratio, a.motion.round_x);
    if (md_step_allows(&a.motion, d, moved, x) && !(T::MIXED && fabs(moved) > 0.45 * s.box.length[d]))
      continue;
    const unsigned long long own = id_of(id, origin, i);
    if (stage == FIND_A) atomicMin(&found->a, own);
    if (own != found->a) continue;
    if (stage == FIND_B) atomicMin(&found->b, (unsigned long long)d);
    if (stage == FIND_REST && found->b == (unsigned long long)d) {
      /* A packed position cannot hold NaN. But then the velocity is not a finite number either. */
      found->x = T::PACKED && !isfinite(v) ? v : x;
      found->v = v;
      found->type = type_of(r);
    }
  }
}

template <class T>
md_status launch_find_runaway(const launch &l, const system_view<T> &s, const step_args &a, const int64_t *id,
                              const int *origin, culprit *found)
{
  for (int stage = 0; stage < FIND_STAGES; ++stage) {
    k_find_runaway<T><<<blocks_for(s.n, 128), 128, 0, l.stream>>>(s, a, id, origin, found, stage);
    MD_LAUNCHED("k_find_runaway");
  }
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_find_overlap<T>(const launch &, int, const system_view<T> &, const int64_t *,    \
                                            const int *, culprit *);                                         \
  template md_status launch_find_runaway<T>(const launch &, const system_view<T> &, const step_args &,       \
                                            const int64_t *, const int *, culprit *);
MD_LAYOUTS(INSTANCE)
