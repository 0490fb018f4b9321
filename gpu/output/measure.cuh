/* The sums of energies, virials and momenta. They are fine sums (common/exact.h).
 *
 *   1. Each thread has a fine sum, whose two parts are 64-bit integers.
 *   2. Each part is split into its upper and lower 32 bits, and these are added up separately, by shuffles in a
 *      warp, then by atomics in a block, then by atomics on the device.
 *
 * So the sum over any number of particles is exact, and it does not depend on the order of additions.
 */
#ifndef MD_GPU_OUTPUT_MEASURE_CUH
#define MD_GPU_OUTPUT_MEASURE_CUH

#include "gpu/particle/launch.cuh"
#include "gpu/step/formulas.cuh"

/* Adds one part of the fine sums of all threads. All threads of the block call it, once. */
template <int PART> static __device__ __forceinline__ int64_t part_of(const md_fine &sum)
{
  return PART == SUM_COARSE ? sum.coarse : sum.rest;
}

template <int PART>
static __device__ __forceinline__ void add_part(const measure_args &a, const md_fine sum[SUMS])
{
  __shared__ unsigned long long high[SUMS], lower[SUMS];
  if (threadIdx.x < SUMS) high[threadIdx.x] = lower[threadIdx.x] = 0;
  __syncthreads();
  for (int q = 0; q < SUMS; ++q) {
    const int64_t value = part_of<PART>(sum[q]);
    long long h = value >> 32, w = value & INT64_C(0xffffffff);
    for (int lane = 16; lane > 0; lane /= 2) {
      h += __shfl_xor_sync(0xffffffffu, h, lane);
      w += __shfl_xor_sync(0xffffffffu, w, lane);
    }
    if ((threadIdx.x & 31) != 0) continue;
    atomicAdd(&high[q], (unsigned long long)h);
    atomicAdd(&lower[q], (unsigned long long)w);
  }
  __syncthreads();
  if (threadIdx.x >= SUMS) return;
  atomicAdd(&a.high[PART][threadIdx.x], high[threadIdx.x] + (lower[threadIdx.x] >> 32));
  atomicAdd(&a.lower[PART][threadIdx.x], lower[threadIdx.x] & 0xffffffffu);
}

/* Adds both parts. All threads of the block call it, once. */
static __device__ __forceinline__ void add_sums(const measure_args &a, const md_fine sum[SUMS])
{
  add_part<SUM_COARSE>(a, sum);
  add_part<SUM_REST>(a, sum);
}

/* Adds the kinetic energy and the momentum of particle i to the sums of a thread. */
template <class T>
static __device__ __forceinline__ void add_motion(const system_view<T> &s, const measure_args &a, int i,
                                                  int type, md_fine sum[SUMS])
{
  double v2 = 0.0;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    double v = (double)s.v[d][i];
    md_fine &momentum = sum[SUM_MOMENTUM + d];
    if (a.wide) {
      const int64_t low = T::WIDENS ? a.low[d][a.origin[i]] : 0;
      const md_int128 count = md_momentum_count(v, low, a.quantum, a.v_step[type]);
      momentum.coarse += (int64_t)(count >> MD_FINE_BITS);
      momentum.rest += (int64_t)(count & ((INT64_C(1) << MD_FINE_BITS) - 1));
      v = md_momentum_value(v, low, a.quantum);
    } else {
      momentum.rest += md_count(v / a.quantum);
    }
    v2 = fma(v, v, v2);
  }
  md_fine_add(&sum[SUM_KINETIC], md_kinetic(v2, a.velocity_per_v[type], a.mass_reference) * a.per_k);
}

/* Adds the energy and the virial of one pair at squared distance r2 to the sums of a thread. partners: 2 if the
 * pair is evaluated from one of its particles only, else 1. pair: index in the tables. An overlap is noted, and
 * adds nothing. */
template <class T, int STYLE>
static __device__ __forceinline__ void add_pair(const system_view<T> &s, const measure_args &a, double r2,
                                                int pair, int partners, md_fine sum[SUMS])
{
  if (r2 < s.overlap2[pair]) {
    atomicOr(&s.ctl->overflow, HALT_OVERLAP);
    return;
  }
  const double *k = a.table + pair * MD_PAIR_K;
  if (!(r2 < k[0])) return;
  for (int partner = 0; partner < partners; ++partner) {
    md_fine_add(&sum[SUM_ENERGY], energy_of<STYLE>(r2, k) * a.per_e);
    md_fine_add(&sum[SUM_VIRIAL], force_of<STYLE>(r2, k) * r2 * a.per_w);
  }
}

#endif
