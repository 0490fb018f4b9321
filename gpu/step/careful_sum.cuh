/* Sums of the impulses on one particle: the fast sum, and the careful sum of exact layouts.
 *
 * The fast sum rounds an impulse to whole quanta with one addition, which works below a certain size. A pair that is
 * nearer than model.close2 may have a larger impulse. The steps of a sum:
 *   1. The fast sum adds all pairs, and notes whether one of them was too near.
 *   2. If so, the careful sum begins anew. It adds one pair at a time, and rounds each impulse in the way that its
 *      size needs (md_round_product).
 *   3. A pair that is nearer than its overlap distance has an impulse out of every range. This is an overlap, an error.
 * Mixed layouts have no careful sum: there a pair that is too near is an overlap.
 *
 * Trade-off: almost no particle has such a neighbour, so the fast kernels stay short. But the few particles that have
 * one are summed twice.
 */
#ifndef MD_GPU_STEP_CAREFUL_SUM_CUH
#define MD_GPU_STEP_CAREFUL_SUM_CUH

#include "gpu/neighbour/for_each.cuh"
#include "gpu/step/formulas.cuh"

/* Adds the impulse of one pair of an exact layout to the sum, if the pair is within the cutoff. Returns false if the
 * pair overlaps; then the sum stays as it is. The table of the view may also hold coefficients of forces. */
template <class T, int STYLE>
__device__ __forceinline__ bool add_near(const system_view<T> &s, const typename T::record &a,
                                         const typename T::record &b, int64_t sum[3])
{
  double delta[3];
  const double r2 = separation<T>(s.scale, a, b, delta);
  const int pair = pair_of<T>(s, a, b);
  if (r2 < s.pair.overlap2[pair]) return false;
  const double *k = s.pair.table + pair * MD_PAIR_K;
  if (!(r2 < k[0])) return true;
  const double f = force_of<STYLE>(r2, k);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) sum[d] += (int64_t)md_round_product(f, delta[d]);
  return true;
}

/* The careful sum of all impulses on particle i. Returns false if particle i overlaps with another. x: the present
 * positions. */
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

/* The upper word of a squared distance. Squared distances are not negative, so they are ordered like their upper
 * words. */
__device__ __forceinline__ int upper_word(double r2) { return __double2hiint(r2); }

/* The fast sum of the impulses on one particle. The coefficients come from the table by pair of types. */
template <class T, int STYLE> struct pair_sum {
  typename T::sum sum[3];
  bool near = false; /* was a pair too near for the fast rounding, or, in mixed precision, did one overlap? */

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
    const typename T::real *k = s.pair.table + pair * MD_PAIR_K;
    if (!(r2 < k[0])) return;
    if constexpr (T::MIXED)
      near = near || r2 < (float)s.pair.overlap2[pair] || r2 == 0.0f;
    else
      near = near || upper_word(r2) <= s.pair.close_high;
    const typename T::real f = force_of<STYLE>(r2, k);
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) {
      T::add(sum[d], f, delta[d]);
      T::settle(sum[d]);
    }
  }

  /* Stores the total on particle i in total[]. If a careful sum is needed, it finds the neighbours by SOURCE. Returns
   * bits of progress.halt. */
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

/* Stores the impulses on particle i from all its candidates in total[]. Returns bits of progress.halt. */
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
