/* Sums of the terms of computes (common/compute/compute.h): kinetic energy, momentum and others. They are
 * fine sums (common/arithmetic/exact.h).
 *
 *   1. A thread adds the terms of up to MOST_EACH particles for one summand after the other
 *      (common/compute/measure.h). The particles of a block lie together, so that caches have them for the next one.
 *   2. A block adds what its threads have, and then adds that to the sums of the device, as measure.cuh does.
 *
 * So the sum is exact, and it does not depend on the order of additions.
 *
 * Trade-off: the velocities are read apart from the pass over pairs, which in return needs fewer registers. With one
 * particle a thread the blocks would mostly wait for each other's barriers. Cost: one read of the velocities, types and
 * origins (of positions where a bias depends on them), and 4 atomic additions for each block and sum.
 */
#include "common/compute/measure.h"
#include "gpu/move/launches.cuh"
#include "gpu/move/owed.cuh"
#include "gpu/output/launches.cuh"
#include "gpu/output/measure.cuh"

#include <algorithm>

enum { TERM_THREADS = 256, MOST_EACH = 16 };

template <class T> struct owed_args {
  owed_work<T> work;
  md_step step;
};

template <class T>
static __device__ __forceinline__ md_particle particle_with(const system_view<T> &s, const term_args &a,
                                                            const owed_args<T> &owed, int i)
{
  (void)a;
  return settled<T>(s, owed.work, owed.step, i);
}
template <class T>
static __device__ __forceinline__ md_particle particle_with(const system_view<T> &s, const term_args &a,
                                                            const nothing_owed &, int i)
{
  return particle_of<T>(s, a.fields, i);
}

template <class T, class OWED>
static __global__ void __launch_bounds__(TERM_THREADS)
    k_sum_terms(const __grid_constant__ system_view<T> s, const __grid_constant__ term_args a,
                const __grid_constant__ OWED owed, int each)
{
  const int64_t first = (int64_t)blockIdx.x * blockDim.x * each + threadIdx.x;
  const int64_t end = min((long long)s.n, (long long)(first + (int64_t)each * blockDim.x));
  for (int k = 0; k < a.nsummand; ++k) {
    if (!(a.wanted >> k & 1)) continue;
    const md_summand &summand = a.summand[k];
    /* Each loop has a bound that the compiler knows, so that the sums stay in registers. */
    md_fine sum[MD_COMPUTE_TERMS] = {};
    for (int64_t i = first; i < end; i += blockDim.x) {
      md_particle p = particle_with<T>(s, a, owed, (int)i);
      if (a.places) {
        const typename T::particle r = present_particle<T>(s, (int)i);
#pragma unroll
        for (int d = 0; d < T::DIM; ++d) p.x[d] = T::where(s.scale, d, r.x[d]);
      }
      if (p.group & summand.group) md_summand_add(&summand, &p, sum);
#pragma unroll
      for (int t = 0; t < MD_COMPUTE_TERMS; ++t)
        if (t < summand.n) keep_in_range(a.sum, summand.first + t, MD_TERMS_MAX, sum[t]);
    }
#pragma unroll
    for (int t = 0; t < MD_COMPUTE_TERMS; ++t)
      if (t < summand.n) add_sum(a.sum, summand.first + t, MD_TERMS_MAX, sum[t]);
  }
}

template <class T>
md_status launch_sum_terms(const launch &l, const system_view<T> &s, const term_args &a,
                           const owed_work<T> *owed, const md_step &step)
{
  if (s.n == 0) return MD_OK;
  const int all = blocks_for(s.n, TERM_THREADS),
            each = std::clamp(all / (8 * l.processors), 1, (int)MOST_EACH);
  const int blocks = blocks_for(all, each);
  if (owed)
    k_sum_terms<T><<<blocks, TERM_THREADS, 0, l.stream>>>(s, a, owed_args<T>{*owed, step}, each);
  else
    k_sum_terms<T><<<blocks, TERM_THREADS, 0, l.stream>>>(s, a, nothing_owed{}, each);
  MD_LAUNCHED("k_sum_terms");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_sum_terms<T>(const launch &, const system_view<T> &, const term_args &,          \
                                         const owed_work<T> *, const md_step &);
MD_LAYOUTS(INSTANCE)
