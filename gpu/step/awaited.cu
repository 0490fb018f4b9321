/* The impulses behind the last step of a run, from lists, and in the same pass the sums that a fix awaits there: the
 * kinetic energy and the virial. So a thermostat or barostat that acts behind every step needs no other pass over
 * particles or pairs (common/engine.h, `awaited`).
 *
 *   1. The loop of sum_list.cuh adds the impulses of a particle and, with VIRIAL, the terms of its pairs. The force of
 *      a virial has a table of its own, and shares with that of the impulse what does not depend on the table.
 *   2. The velocity is read, and completed with the kick by this impulse. Its term is added, and it is not written: the
 *      kick is owed (move/owed.cuh).
 *   3. A thread adds the terms of its particles, and at its end they are added up as in measure.cuh.
 *   4. `ahead`: the host has launched this pass before it knows whether the lists hold. The device knows, and returns
 *      at once if they do not.
 *
 * Trade-off: an instance more for each style and layout. In return the pass over pairs for the virial, which took
 * longer than that for the forces, becomes some operations for each pair.
 * Cost: with lists of L neighbours 4 L + 16 bytes read for impulses (3D, packed), 24 written; 24 read for the kinetic
 * energy; 10 operations in double and 4 on integers for each pair within the cutoff, for the virial of lj/cut.
 */
#include "common/compute/measure.h"
#include "gpu/output/measure.cuh"
#include "gpu/step/sum_list.cuh"

#include <limits.h>

/* Adds the terms of the virial of particle i, which has a pair that is too near for the fast rounding. A pair that
 * overlaps is an error elsewhere. */
template <class T, int STYLE>
static __device__ __noinline__ md_fine near_virial(const system_view<T> &s, const awaited_args<T> &a,
                                                   const typename T::record *x, int i)
{
  const typename T::record xi = x[i];
  md_fine sum = {0, 0};
  for_each_candidate<T, FROM_LIST>(s, x, i, false, [&](int, const typename T::record &xj) {
    const double r2 = wide_separation<T>(s.scale, xi, xj);
    if (r2 < s.pair.overlap2[0] || !(r2 < a.k[0])) return;
    md_fine_add(&sum, force_of<STYLE>(r2, a.k) * r2 * a.per_w);
  });
  return sum;
}

/* Adds the kinetic energy of particle i with its owed kick. */
template <class T>
static __device__ __forceinline__ void add_kinetic(const system_view<T> &s, const awaited_args<T> &a, int i,
                                                   const typename T::real impulse[3], md_fine &sum)
{
  md_summand of = {};
  md_particle p = {};
  of.dim = T::DIM;
  of.mass_reference = a.mass_reference;
  of.per_unit[0] = a.per_unit;
  p.velocity_per_v = a.velocity_per_v;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d)
    p.v[d] = (double)kicked(s.v[d][i], (typename T::real)a.kicks, impulse[d], a.quantum);
  md_ke_add(&of, &p, &sum);
}

template <class T, int STYLE, bool VIRIAL>
static __global__ void __launch_bounds__(256, T::MIXED || (T::PACKED && !VIRIAL) ? 4
                                              : T::PACKED                        ? 3
                                                                                 : 2)
    k_awaited(const __grid_constant__ system_view<T> s, const __grid_constant__ awaited_args<T> a)
{
  const progress now = progress_before(s.ctl, s.launch);
  if (a.ahead && (now.stale || now.halt)) return;
  const typename T::record *__restrict__ x = s.x[now.parity];
  const fine_sums to = {s.ctl->awaited};
  md_fine kinetic = {0, 0}, virial = {0, 0};
  const int stride = gridDim.x * blockDim.x;
  for (int64_t k = blockIdx.x * blockDim.x + threadIdx.x; k < s.n; k += stride) {
    const int i = (int)k;
    const typename T::record xi = x[i];
    typename T::sum sum[3];
    md_fine pairs = {0, 0};
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) T::clear(sum[d]);
    int least = INT_MAX;
    walk_list<T>(s, x, i, true, sum, [&](const typename T::record &xj, bool other) {
      evaluate_pair_and<T, STYLE>(s, xi, xj, other, sum, least, [&](typename T::real r2) {
        if constexpr (VIRIAL && T::PACKED) add_product(pairs, ranged_force_of<STYLE>(r2, a.k) * r2, a.per_w);
        if constexpr (VIRIAL && !T::PACKED) add_product(pairs, force_of<STYLE>(r2, a.k) * r2, a.per_w);
      });
    });
    typename T::real impulse[3];
    if (least <= s.pair.close_high) {
      sum_near_particle<T, STYLE>(s, x, i, impulse);
      if constexpr (VIRIAL) pairs = near_virial<T, STYLE>(s, a, x, i);
    } else {
#pragma unroll
      for (int d = 0; d < T::DIM; ++d) impulse[d] = T::total(sum[d]);
    }
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) a.impulse[d][i] = impulse[d];
    if constexpr (VIRIAL) {
      virial.coarse += pairs.coarse;
      virial.rest += pairs.rest;
      keep_in_range(to, AWAITED_VIRIAL, AWAITED_SUMS, virial);
    }
    if (!a.kinetic) continue;
    add_kinetic<T>(s, a, i, impulse, kinetic);
    keep_in_range(to, AWAITED_KINETIC, AWAITED_SUMS, kinetic);
  }
  if (a.kinetic) add_sum(to, AWAITED_KINETIC, AWAITED_SUMS, kinetic);
  if constexpr (VIRIAL) add_sum(to, AWAITED_VIRIAL, AWAITED_SUMS, virial);
}

template <class T>
md_status launch_awaited(const launch &l, md_pair_kind kind, const system_view<T> &s,
                         const awaited_args<T> &a)
{
  const int blocks = blocks_walking(l, s.n);
  MD_TRY(launch_styled(kind, [&](auto style) {
    if constexpr (SUMS_VIRIAL<T>)
      if (a.virial) {
        k_awaited<T, style.value, true><<<blocks, l.threads, 0, l.stream>>>(s, a);
        return MD_OK;
      }
    k_awaited<T, style.value, false><<<blocks, l.threads, 0, l.stream>>>(s, a);
    return MD_OK;
  }));
  MD_LAUNCHED("k_awaited");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_awaited<T>(const launch &, md_pair_kind, const system_view<T> &,                 \
                                       const awaited_args<T> &);
INSTANCE(exact2_tagged)
INSTANCE(exact3_tagged)
INSTANCE(exact3_packed)
INSTANCE(mixed2_tagged)
INSTANCE(mixed3_tagged)
