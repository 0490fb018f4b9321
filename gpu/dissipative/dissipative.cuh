/* Pairs of a dissipative style (common/pair/dissipative/dissipative.h): what its kernels share. */
#ifndef MD_GPU_DISSIPATIVE_DISSIPATIVE_CUH
#define MD_GPU_DISSIPATIVE_DISSIPATIVE_CUH

#include "gpu/dissipative/launches.cuh"
#include "gpu/output/partners.cuh"

static __device__ __forceinline__ pair_state load_state(const pair_state *at)
{
  const double2 low = __ldg((const double2 *)at), high = __ldg((const double2 *)at + 1);
  return pair_state{{low.x, low.y, high.x}, md_bits(high.y)};
}

/* As md_hybrid_term(). */
static __device__ md_pair_term terms_of(const md_dissipation &shared, const double *head, int64_t a,
                                        int64_t b, const double *delta, const double *u, int dim, double r2)
{
  const double *k = md_hybrid_first(head);
  const int64_t stride = (int64_t)head[MD_HYBRID_STRIDE];
  double force = 0.0, energy = 0.0;
  for (int terms = (int)head[MD_HYBRID_TERMS]; terms > 0; --terms, k += stride) {
    if (!(r2 < k[0])) continue;
    switch ((int)k[MD_PAIR_FORMULA]) {
#define MD_PAIR_SHARED(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_CUT(symbol)                                                                                  \
  case MD_PAIR_##symbol:                                                                                     \
    force += md_##symbol##_force(r2, k);                                                                     \
    energy += md_##symbol##_energy(r2, k);                                                                   \
    break;
#define MD_PAIR_DISSIPATIVE(symbol)                                                                          \
  case MD_PAIR_##symbol:                                                                                     \
    force += md_dissipative_force(&shared, k, a, b, delta, u, dim, r2).f;                                    \
    energy += md_##symbol##_energy(r2, k);                                                                   \
    break;
#include "common/pair/pair_styles.h"
#undef MD_PAIR_DISSIPATIVE
#undef MD_PAIR_CUT
#undef MD_PAIR_SHARED
    default: break;
    }
  }
  return md_pair_term_of(force, energy, delta, dim, 1.0);
}

/* The force on particle i from j. table: coefficients. delta: gets the difference from j to i, and *r2 its square. */
template <class T, int SOURCE, bool HYBRID>
static __device__ __forceinline__ md_pair_term
dissipative_term(const system_view<T> &s, const dissipation_args &a, const md_dissipation &shared,
                 const double *table, const pair_state &own, const typename T::record &xi, int j,
                 const typename T::record &xj, double delta[3], double *r2)
{
  const md_pair_term none = {0.0, 0.0, false};
  const int types = pair_of<T>(s, xi, xj);
  const double *k = table + types * MD_PAIR_K;
  *r2 = partner_separation<T, SOURCE>(s, xi, xj, delta);
  if (!(*r2 < k[0])) return none;
  const pair_state other = load_state(a.state + j);
  double u[3] = {0.0, 0.0, 0.0};
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) u[d] = own.v[d] - other.v[d];
  if constexpr (!HYBRID) return md_dissipative_force(&shared, k, own.id, other.id, delta, u, T::DIM, *r2);
  md_pair_term pair = terms_of(shared, k, own.id, other.id, delta, u, T::DIM, *r2);
  pair.overlap = pair.overlap || *r2 < s.pair.overlap2[types];
  return pair;
}

/* The same for output: an overlap is noted, and exerts no force. */
template <class T, int SOURCE, bool HYBRID>
static __device__ __forceinline__ md_pair_term dissipative_output(
    const system_view<T> &s, const dissipation_args &a, const double *table, const pair_state &own,
    const typename T::record &xi, int j, const typename T::record &xj, double delta[3], double *r2)
{
  const md_pair_term none = {0.0, 0.0, false};
  const md_pair_term pair =
      dissipative_term<T, SOURCE, HYBRID>(s, a, *a.shared, table, own, xi, j, xj, delta, r2);
  if (!pair.overlap) return pair;
  atomicOr(&s.ctl->overflow, HALT_OVERLAP);
  return none;
}

/* Calls f(source, hybrid), whose values are the source of neighbours and whether there are several styles, as
 * constants. */
template <class T, class F> void with_source_and_styles(int source, bool hybrid, F &&f)
{
  with_source<T>(source, [&](auto from) { hybrid ? f(from, std::true_type{}) : f(from, std::false_type{}); });
}

#endif
