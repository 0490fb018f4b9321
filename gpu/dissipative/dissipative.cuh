/* Pairs of a dissipative style (common/pair/dissipative/dissipative.h): what its kernels share. */
#ifndef MD_GPU_DISSIPATIVE_DISSIPATIVE_CUH
#define MD_GPU_DISSIPATIVE_DISSIPATIVE_CUH

#include "gpu/output/partners.cuh"

static __device__ __forceinline__ pair_state load_state(const pair_state *at)
{
  const double2 low = __ldg((const double2 *)at), high = __ldg((const double2 *)at + 1);
  return pair_state{{low.x, low.y, high.x}, md_bits(high.y)};
}

/* The force on particle i from j. table: coefficients. delta: gets the difference from j to i, and *r2 its square. */
template <class T, int SOURCE>
static __device__ __forceinline__ md_pair_term
dissipative_term(const system_view<T> &s, const dissipation_args &a, const md_dissipation &shared,
                 const double *table, const pair_state &own, const typename T::record &xi, int j,
                 const typename T::record &xj, double delta[3], double *r2)
{
  const md_pair_term none = {0.0, 0.0, false};
  const double *k = table + pair_of<T>(s, xi, xj) * MD_PAIR_K;
  *r2 = partner_separation<T, SOURCE>(s, xi, xj, delta);
  if (!(*r2 < k[0])) return none;
  const pair_state other = load_state(a.state + j);
  double u[3] = {0.0, 0.0, 0.0};
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) u[d] = own.v[d] - other.v[d];
  return md_dissipative_force(&shared, k, own.id, other.id, delta, u, T::DIM, *r2);
}

/* The same for output: an overlap is noted, and exerts no force. */
template <class T, int SOURCE>
static __device__ __forceinline__ md_pair_term dissipative_output(
    const system_view<T> &s, const dissipation_args &a, const double *table, const pair_state &own,
    const typename T::record &xi, int j, const typename T::record &xj, double delta[3], double *r2)
{
  const md_pair_term none = {0.0, 0.0, false};
  const md_pair_term pair = dissipative_term<T, SOURCE>(s, a, *a.shared, table, own, xi, j, xj, delta, r2);
  if (!pair.overlap) return pair;
  atomicOr(&s.ctl->overflow, HALT_OVERLAP);
  return none;
}

/* Calls f(source), where source.value is the source of neighbours as a constant. */
template <class F> void with_each_source(int source, F &&f)
{
  if (source == FROM_LIST) f(std::integral_constant<int, FROM_LIST>{});
  if (source == FROM_CELLS) f(std::integral_constant<int, FROM_CELLS>{});
  if (source == FROM_ALL) f(std::integral_constant<int, FROM_ALL>{});
}

#endif
