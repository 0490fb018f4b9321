/* The search after an error: which pair overlapped, or which particle is a runaway (search.cuh).
 *
 * Trade-off: simple and slow; an error is searched once, so speed does not matter.
 */
#include "gpu/density/launches.cuh"
#include "gpu/dissipative/dissipative.cuh"
#include "gpu/dissipative/launches.cuh"
#include "gpu/output/launches.cuh"
#include "gpu/output/search.cuh"
#include "gpu/three_body/launches.cuh"
#include "gpu/three_body/three_body.cuh"

/* Do two particles overlap? With a density, three bodies or friction the force may also be out of range
 * (md_pair_term). */
template <class T>
static __device__ bool overlaps(const system_view<T> &s, const density_args &a, const three_body_args &b,
                                const dissipation_args &f, int i, const typename T::record &xi, int j,
                                const typename T::record &xj, const double *delta, double r2)
{
  if constexpr (HAS_DISSIPATION<T>)
    if (f.state) {
      double u[3] = {0.0, 0.0, 0.0};
      for (int d = 0; d < T::DIM; ++d) u[d] = f.state[i].v[d] - f.state[j].v[d];
      const int types = pair_of<T>(s, xi, xj);
      const double *k = s.pair.table + types * MD_PAIR_K;
      const int64_t own = f.state[i].id, other = f.state[j].id;
      if (!f.hybrid) return md_dissipative_force(f.shared, k, own, other, delta, u, T::DIM, r2).overlap;
      return r2 < k[0] && (r2 < s.pair.overlap2[types] ||
                           terms_of(*f.shared, k, own, other, delta, u, T::DIM, r2).overlap);
    }
  if constexpr (HAS_THREE_BODIES<T>)
    if (b.kept) {
      double kept[MD_THREE_SUMS], other[MD_THREE_SUMS];
      const double whole[3] = {delta[0], delta[1], T::DIM == 3 ? delta[2] : 0.0};
      load_kept(b, i, kept);
      load_kept(b, j, other);
      return md_three_force(&b.three, b.kind, b.table + pair_of<T>(s, xi, xj) * MD_PAIR_K,
                            element_of<T>(b, xi), element_of<T>(b, xj), kept, other, whole, r2)
          .overlap;
    }
  if (r2 < s.pair.overlap2[pair_of<T>(s, xi, xj)]) return true;
  if constexpr (HAS_DENSITIES<T>)
    return a.slope && md_density_force(&a.eam, a.eam.element[type_of(xi)], a.eam.element[type_of(xj)],
                                       a.slope[i], a.slope[j], delta, T::DIM, r2, a.scale)
                          .overlap;
  return false;
}

/* A pair may be found from both of its particles. A pair with a ghost counts as a pair with the source of the
 * ghost. The two ids are the same in all cases. */
template <class T, int SOURCE>
static __global__ void
k_find_overlap(const __grid_constant__ system_view<T> s, const __grid_constant__ density_args a,
               const __grid_constant__ three_body_args b, const __grid_constant__ dissipation_args f,
               const int64_t *id, const int *origin, culprit *found, int stage)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  const typename T::record *x = present(s), xi = x[i];
  for_each_partner<T, SOURCE>(s, x, i, [&](int j, const typename T::record &xj) {
    double delta[3];
    const double r2 = partner_separation<T, SOURCE>(s, xi, xj, delta);
    if (!overlaps<T>(s, a, b, f, i, xi, j, xj, delta, r2)) return;
    const int owned = j < s.n || s.ghost.received ? j : s.ghost.source[j - s.n];
    const unsigned long long own = id_of(id, origin, i), other = id_of(id, origin, owned);
    search_pair(found, stage, own, other, r2);
  });
}

template <class T>
md_status launch_find_overlap(const launch &l, int source, const system_view<T> &s, const density_args &a,
                              const three_body_args &b, const dissipation_args &f, const int64_t *id,
                              const int *origin, culprit *found, int stage)
{
  const int blocks = blocks_for(s.n, 128);
  if (source == FROM_CELLS)
    k_find_overlap<T, FROM_CELLS><<<blocks, 128, 0, l.stream>>>(s, a, b, f, id, origin, found, stage);
  if constexpr (T::TAGGED) {
    if (source == FROM_LIST)
      k_find_overlap<T, FROM_LIST><<<blocks, 128, 0, l.stream>>>(s, a, b, f, id, origin, found, stage);
    if constexpr (!T::MIXED && !T::PACKED)
      if (source == FROM_ALL)
        k_find_overlap<T, FROM_ALL><<<blocks, 128, 0, l.stream>>>(s, a, b, f, id, origin, found, stage);
  }
  MD_LAUNCHED("k_find_overlap");
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
  template md_status launch_find_overlap<T>(                                                                 \
      const launch &, int, const system_view<T> &, const density_args &, const three_body_args &,            \
      const dissipation_args &, const int64_t *, const int *, culprit *, int);                               \
  template md_status launch_find_runaway<T>(const launch &, const system_view<T> &, const step_args &,       \
                                            const int64_t *, const int *, culprit *);
MD_LAYOUTS(INSTANCE)
