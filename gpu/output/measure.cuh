/* Fine sums (common/arithmetic/exact.h) over all particles or pairs, on the device.
 *
 *   1. Each thread has a fine sum, whose two parts are 64-bit integers.
 *   2. Each part is split into its upper and lower 32 bits, and these are added up separately, by sums of a
 *      warp, then by atomics in a block, then by atomics on the device.
 *
 * So the sum over any number of particles is exact, and it does not depend on the order of additions. A block whose
 * threads all have zero, as for most sums of a group, ends after its first barrier.
 */
#ifndef MD_GPU_OUTPUT_MEASURE_CUH
#define MD_GPU_OUTPUT_MEASURE_CUH

#include "common/compute/impulse_virial.h"
#include "gpu/output/launches.cuh"
#include "gpu/step/formulas.cuh"

/* The sum over a warp of values of 32 bits, with or without a sign. All lanes call it, and all get the result. */
static __device__ __forceinline__ long long warp_sum(long long value)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(0xffffffffu, value, lane);
  return value;
#else
  /* The hardware adds 32 bits. The sums of halves have no more. */
  const int upper = __reduce_add_sync(0xffffffffu, (int)(value >> 16));
  return upper * 65536LL + __reduce_add_sync(0xffffffffu, (int)(value & 0xffff));
#endif
}

/* Adds a fine sum of all threads to sum number q of `count` sums. All threads of the block call it. Thread p empties
 * the words of part p and reads them again, so that no barrier is needed after that. */
static __device__ __forceinline__ void add_sum(fine_sums sums, int q, int count, const md_fine &sum)
{
  __shared__ unsigned long long words[2 * SUM_PARTS];
  const int p = (int)threadIdx.x;
  if (p < SUM_PARTS) words[2 * p] = words[2 * p + 1] = 0;
  if (!__syncthreads_or(sum.coarse != 0 || sum.rest != 0)) return;
  const long long high = warp_sum(sum.coarse >> 32), low = warp_sum(sum.coarse & INT64_C(0xffffffff));
  const long long rest_high = warp_sum(sum.rest >> 32), rest_low = warp_sum(sum.rest & INT64_C(0xffffffff));
  const int lane = p & 31;
  if (lane < 2 * SUM_PARTS) {
    const long long of_coarse = lane & 1 ? low : high, of_rest = lane & 1 ? rest_low : rest_high;
    atomicAdd(&words[lane], (unsigned long long)(lane < 2 ? of_coarse : of_rest));
  }
  __syncthreads();
  if (p >= SUM_PARTS) return;
  unsigned long long *at = sums.at + (int64_t)p * 2 * count + q;
  atomicAdd(&at[0], words[2 * p] + (words[2 * p + 1] >> 32));
  atomicAdd(&at[count], words[2 * p + 1] & 0xffffffffu);
}

/* Adds the sums of energy and virial of all threads. All threads of the block call it, once. */
static __device__ __forceinline__ void add_sums(const measure_args &a, const md_fine sum[SUMS])
{
  for (int q = 0; q < SUMS; ++q) add_sum(a.sum, q, SUMS, sum[q]);
}

/* Adds the sum number q of a thread, of `count` sums, to that of the device and empties it, long before it could leave
 * its range. */
static __device__ __forceinline__ void keep_in_range(fine_sums sums, int q, int count, md_fine &sum)
{
  if (sum.coarse < INT64_C(1) << 61 && sum.coarse > -(INT64_C(1) << 61)) return;
  atomicAdd(&sums.at[q], (unsigned long long)(sum.coarse >> 32));
  atomicAdd(&sums.at[count + q], (unsigned long long)(sum.coarse & INT64_C(0xffffffff)));
  sum.coarse = 0;
}

static __device__ __forceinline__ void keep_sums_in_range(const measure_args &a, md_fine sum[SUMS])
{
#pragma unroll
  for (int q = 0; q < SUMS; ++q) keep_in_range(a.sum, q, SUMS, sum[q]);
}

/* Adds `times` a term of a * scale coarse quanta, as md_fine_add() does, without a conversion. scale is a power of two,
 * and the product is below 2^51: that of a pair which does not overlap is. */
static __device__ __forceinline__ void add_product(md_fine &sum, double a, double scale, int times = 1)
{
  const double rounded = fma(a, scale, MD_ROUND), rest = fma(a, scale, MD_ROUND - rounded);
  sum.coarse += times * (md_bits(rounded) - md_bits(MD_ROUND));
  sum.rest += times * (md_bits(fma(rest, MD_FINE, MD_ROUND)) - md_bits(MD_ROUND));
}

/* Adds the components of the virial of a pair or a bond to the sums of a thread. f: the force over the distance. */
template <class T>
static __device__ __forceinline__ void add_components(double f, const double delta[3], double per_w,
                                                      md_fine sum[MD_TENSOR])
{
#pragma unroll
  for (int c = 0; c < MD_TENSOR; ++c)
    if (md_tensor_column(c) < T::DIM)
      md_fine_add(&sum[c], f * delta[md_tensor_row(c)] * delta[md_tensor_column(c)] * per_w);
}

/* Stores the force on particle i. */
template <class T>
static __device__ __forceinline__ void store_force(const output_force_args &a, int i, const md_fine force[3])
{
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) ((double *)a.coarse[d])[i] = md_fine_value(force[d]) * a.quantum;
}

/* Adds the energy and the virial of one pair at squared distance r2 to the sums of a thread. partners: 2 if the
 * pair is evaluated from one of its particles only, else 1. pair: index in the tables. An overlap is noted, and
 * adds nothing. */
template <class T, int STYLE>
static __device__ __forceinline__ void add_pair(const system_view<T> &s, const measure_args &a, double r2,
                                                int pair, int partners, md_fine sum[SUMS])
{
  if (r2 < s.pair.overlap2[pair]) {
    atomicOr(&s.ctl->overflow, HALT_OVERLAP);
    return;
  }
  const double *k = a.table + pair * MD_PAIR_K;
  if (!(r2 < k[0])) return;
  if (a.rounder != 0.0) {
    sum[SUM_VIRIAL].coarse += partners * md_odd_count(force_of<STYLE>(r2, k), r2, a.rounder);
    return;
  }
  add_product(sum[SUM_ENERGY], energy_of<STYLE>(r2, k), a.per_e, partners);
  add_product(sum[SUM_VIRIAL], force_of<STYLE>(r2, k) * r2, a.per_w, partners);
}

#endif
