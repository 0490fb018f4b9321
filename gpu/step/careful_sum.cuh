/* Summing one particle's impulses the careful way: a pair at a time, pairs too near for the fast rounding included.
 * Fast kernels call it for the few particles that have such a neighbour.
 */
#ifndef MD_GPU_STEP_CAREFUL_SUM_CUH
#define MD_GPU_STEP_CAREFUL_SUM_CUH

#include "gpu/neighbour/for_each.cuh"
#include "gpu/step/formulas.cuh"

/* One pair of an exact layout; false if it overlaps. table: of impulses or forces. */
template <class T, int STYLE>
__device__ __forceinline__ bool add_near(const system_view<T> &s, const typename T::record &a,
                                         const typename T::record &b, int64_t sum[3])
{
  double delta[3];
  const double r2 = separation<T>(s.scale, a, b, delta);
  const int pair = pair_of<T>(s, a, b);
  if (r2 < s.overlap2[pair]) return false; /* its impulse is beyond every range */
  const double *k = s.table + pair * MD_PAIR_K;
  if (!(r2 < k[0])) return true;
  const double f = force_of<STYLE>(r2, k);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) sum[d] += (int64_t)md_round_product(f, delta[d]);
  return true;
}

/* All of particle i. */
template <class T, int STYLE, int SOURCE>
__device__ __forceinline__ bool sum_near(const system_view<T> &s, const typename T::record *x, int i,
                                         int64_t sum[3])
{
  bool apart = true;
  sum[0] = sum[1] = sum[2] = 0;
  const typename T::record xi = x[i];
  for_each_candidate<T, SOURCE>(s, x, i, false, [&](int, const typename T::record &xj) {
    apart = add_near<T, STYLE>(s, xi, xj, sum) && apart;
  });
  return apart;
}

/* Squared distances order like their upper words. */
__device__ __forceinline__ int upper_word(double r2) { return __double2hiint(r2); }

/* A sum of impulses, with coefficients by pair of types. */
template <class T, int STYLE> struct pair_sum {
  typename T::sum sum[3];
  bool near = false; /* was a pair too near for the fast rounding, or in mixed precision an overlap? */

  __device__ __forceinline__ pair_sum()
  {
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) T::clear(sum[d]);
  }

  __device__ __forceinline__ void add(const system_view<T> &s, const typename T::record &xi,
                                      const typename T::record &xj)
  {
    typename T::real delta[3];
    const typename T::real r2 = separation<T>(s.scale, xi, xj, delta);
    const int pair = pair_of<T>(s, xi, xj);
    const typename T::real *k = s.table + pair * MD_PAIR_K;
    if (!(r2 < k[0])) return;
    if constexpr (T::MIXED)
      near = near || r2 < (float)s.overlap2[pair] || r2 == 0.0f;
    else
      near = near || upper_word(r2) <= s.close_high;
    const typename T::real f = force_of<STYLE>(r2, k);
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) {
      T::add(sum[d], f, delta[d]);
      T::settle(sum[d]);
    }
  }

  /* The total on particle i, whose neighbours are found by SOURCE if it takes the careful way. Returns bits of halt. */
  template <int SOURCE>
  __device__ __forceinline__ unsigned finish(const system_view<T> &s, const typename T::record *x, int i,
                                             typename T::real total[3]) const
  {
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) total[d] = T::total(sum[d]);
    if (!near) return 0;
    if constexpr (T::MIXED) {
      return HALT_OVERLAP;
    } else {
      int64_t exact[3];
      const bool apart = sum_near<T, STYLE, SOURCE>(s, x, i, exact);
#pragma unroll
      for (int d = 0; d < T::DIM; ++d) total[d] = (double)exact[d];
      return apart ? 0 : HALT_OVERLAP;
    }
  }
};

/* Impulses of i from every candidate. Returns bits of halt. */
template <class T, int STYLE, int SOURCE>
__device__ __forceinline__ unsigned sum_pairs(const system_view<T> &s, const typename T::record *x, int i,
                                              typename T::real total[3])
{
  const typename T::record xi = x[i];
  pair_sum<T, STYLE> sum;
  for_each_candidate<T, SOURCE>(s, x, i, false,
                                [&](int, const typename T::record &xj) { sum.add(s, xi, xj); });
  return sum.template finish<SOURCE>(s, x, i, total);
}

#endif
