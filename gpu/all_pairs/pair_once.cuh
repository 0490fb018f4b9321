/* The arithmetic of kernels that evaluate each pair once, for both bodies: in double precision with exact sums, and in
 * single precision. */
#ifndef MD_GPU_ALL_PAIRS_PAIR_ONCE_CUH
#define MD_GPU_ALL_PAIRS_PAIR_ONCE_CUH

#include "gpu/all_pairs/bodies.cuh"
#include "gpu/step/formulas.cuh"

/* Arithmetic with exact sums: the bits of rounded impulses are added as integers. A sum then has the bits of MD_ROUND
 * once for each term. */
struct exact_sums {
  typedef double real;
  typedef long long sum;
  typedef body record;
  enum { MOST_TERMS = 0 };
  static __device__ __forceinline__ void add(double f, double delta, long long *own, long long *other)
  {
    const long long impulse = md_bits(fma(f, delta, MD_ROUND));
    *own += impulse;
    *other -= impulse;
  }
  /* The quanta of a sum to which `added` terms were added, less those that were subtracted. */
  static __device__ __forceinline__ unsigned long long quanta(long long sum, int added, double)
  {
    return (unsigned long long)sum -
           (unsigned long long)md_bits(MD_ROUND) * (unsigned long long)(long long)added;
  }
  static __device__ __forceinline__ bool fits(long long, double, double) { return true; }
  /* What k1 is with one mass, and what a sum is multiplied by. */
  static __device__ __forceinline__ double one(double mass) { return -(mass * mass); }
  static __device__ __forceinline__ double factor(double, bool) { return 1.0; }
};

/* Arithmetic in single precision. After MOST_TERMS terms a thread gives its sums away, because they must not get
 * long. */
struct single_sums {
  typedef float real;
  typedef float sum;
  typedef body_single record;
  enum { MOST_TERMS = 4096 };
  static __device__ __forceinline__ void add(float f, float delta, float *own, float *other)
  {
    *own = fmaf(f, delta, *own);
    *other = fmaf(-f, delta, *other);
  }
  static __device__ __forceinline__ unsigned long long quanta(float sum, int, double factor)
  {
    return (unsigned long long)md_count((double)sum * factor);
  }
  static __device__ __forceinline__ bool fits(float sum, double factor, double range)
  {
    return fabs((double)sum * factor) < range;
  }
  static __device__ __forceinline__ float one(float) { return -1.0f; }
  static __device__ __forceinline__ double factor(float mass, bool one)
  {
    return one ? (double)mass * (double)mass : 1.0;
  }
};

template <int STYLE> static __device__ __forceinline__ double pair_force(double r2, const double *k)
{
  return ranged_force_of<STYLE>(r2, k);
}
template <int STYLE> static __device__ __forceinline__ float pair_force(float r2, const float *k)
{
  return force_of<STYLE>(r2, k);
}

/* The bodies of a thread. k1: for one mass, else minus the mass. */
template <class A, int DIM, int BODIES> struct own_bodies {
  typename A::real x[BODIES][DIM], k1[BODIES];
  typename A::sum sum[BODIES][DIM];
};

/* The bodies of a thread meet one other body, whose sum is `sum`. softening: k2 of unit masses. */
template <class A, int STYLE, int DIM, bool ONE, int BODIES>
static __device__ __forceinline__ void meet_body(typename A::real softening, const typename A::real x[DIM],
                                                 typename A::real mass, own_bodies<A, DIM, BODIES> &own,
                                                 typename A::sum sum[DIM])
{
  typedef typename A::real real;
  real k[MD_PAIR_K] = {};
#pragma unroll
  for (int b = 0; b < BODIES; ++b) {
    real delta[DIM], r2 = softening;
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
      delta[d] = own.x[b][d] - x[d];
      r2 = fma(delta[d], delta[d], r2);
    }
    k[1] = ONE ? own.k1[b] : own.k1[b] * mass;
    const real f = pair_force<STYLE>(r2, k);
#pragma unroll
    for (int d = 0; d < DIM; ++d) A::add(f, delta[d], &own.sum[b][d], &sum[d]);
  }
}

#endif
