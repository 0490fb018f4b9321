/* Adding up energies, virials and momenta: whole numbers, 64 bits a thread, and then as the two halves of md_wide, so
 * that the sum over any number of particles is exact and in any order.
 */
#ifndef MD_GPU_MEASURE_CUH
#define MD_GPU_MEASURE_CUH

#include "gpu/launch.cuh"

/* Every thread of the block, once. */
static __device__ __forceinline__ void add_sums(const measure_args &a, const int64_t sum[SUMS])
{
  __shared__ unsigned long long high[SUMS], low[SUMS];
  if (threadIdx.x < SUMS) high[threadIdx.x] = low[threadIdx.x] = 0;
  __syncthreads();
  for (int q = 0; q < SUMS; ++q) {
    long long h = sum[q] >> 32, w = sum[q] & INT64_C(0xffffffff);
    for (int lane = 16; lane > 0; lane /= 2) {
      h += __shfl_xor_sync(0xffffffffu, h, lane);
      w += __shfl_xor_sync(0xffffffffu, w, lane);
    }
    if ((threadIdx.x & 31) != 0) continue;
    atomicAdd(&high[q], (unsigned long long)h);
    atomicAdd(&low[q], (unsigned long long)w);
  }
  __syncthreads();
  if (threadIdx.x >= SUMS) return;
  atomicAdd(&a.high[threadIdx.x], high[threadIdx.x] + (low[threadIdx.x] >> 32));
  atomicAdd(&a.low[threadIdx.x], low[threadIdx.x] & 0xffffffffu);
}

/* Kinetic energy and momentum of one particle. */
template <class T>
static __device__ __forceinline__ void add_motion(const system_view<T> &s, const measure_args &a, int i,
                                                  int type, int64_t sum[SUMS])
{
  double v2 = 0.0;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    const double v = (double)s.v[d][i];
    v2 = fma(v, v, v2);
    sum[SUM_MOMENTUM + d] += md_count(v * a.per_v);
  }
  sum[SUM_KINETIC] += md_count(md_kinetic(v2, a.velocity_per_v[type], a.mass_reference) * a.per_k);
}

/* Energy and virial of one pair at squared distance r2, as seen from so many partners. */
template <int STYLE>
static __device__ __forceinline__ void add_pair(const measure_args &a, double r2, int pair, int partners,
                                                int64_t sum[SUMS])
{
  const double *k = a.table + pair * MD_PAIR_K;
  if (!(r2 < k[0])) return;
  sum[SUM_ENERGY] += partners * md_count(energy_of<STYLE>(r2, k) * a.per_e);
  sum[SUM_VIRIAL] += partners * md_count(force_of<STYLE>(r2, k) * r2 * a.per_w);
}

#endif
