/* Sums of the terms of computes (common/compute/compute.h): kinetic energy, momentum and others. They are
 * fine sums (common/exact.h).
 *
 *   1. A thread adds the terms of its particle for one summand after the other (common/compute/measure.h).
 *   2. A block adds what its threads have, and then adds that to the sums of the device, as measure.cuh does.
 *
 * So the sum is exact, and it does not depend on the order of additions.
 *
 * Trade-off: the velocities are read apart from the pass over pairs, which in return needs fewer registers. Cost: one
 * read of the velocities, types and origins, and 4 atomic additions for each block and sum.
 */
#include "common/compute/measure.h"
#include "gpu/output/measure.cuh"

enum { TERM_THREADS = 256 };

/* The particle as computes see it. */
template <class T>
static __device__ __forceinline__ md_particle particle_of(const system_view<T> &s, const term_args &a, int i)
{
  const int type = type_of(present(s)[i]), origin = a.origin ? a.origin[i] : i;
  md_particle p = {};
  p.id = a.id ? (uint64_t)a.id[origin] : 0;
  p.group = a.group ? a.group[origin] : MD_GROUP_ALL;
  p.mass = a.mass[type];
  p.v_step = a.v_step[type];
  p.velocity_per_v = a.velocity_per_v[type];
  p.wide = a.wide;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    p.v[d] = (double)s.v[d][i];
    if (T::WIDENS && a.wide) p.low[d] = a.low[d][origin];
  }
  return p;
}

template <class T>
static __global__ void __launch_bounds__(TERM_THREADS)
    k_sum_terms(const __grid_constant__ system_view<T> s, const __grid_constant__ term_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  md_particle p = {};
  if (i < s.n) p = particle_of<T>(s, a, i);
  for (int k = 0; k < a.nsummand; ++k) {
    const md_summand &summand = a.summand[k];
    md_fine sum[MD_COMPUTE_TERMS] = {};
    if (p.group & summand.group) md_summand_add(&summand, &p, sum);
    for (int t = 0; t < summand.n; ++t) add_sum(a.sum, summand.first + t, MD_TERMS_MAX, sum[t]);
  }
}

template <class T> md_status launch_sum_terms(const launch &l, const system_view<T> &s, const term_args &a)
{
  if (s.n == 0) return MD_OK;
  k_sum_terms<T><<<blocks_for(s.n, TERM_THREADS), TERM_THREADS, 0, l.stream>>>(s, a);
  MD_LAUNCHED("k_sum_terms");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_sum_terms<T>(const launch &, const system_view<T> &, const term_args &);
MD_LAYOUTS(INSTANCE)
