/* The impulses after the last step of a run, from lists, and in the same pass the sums that a fix awaits there: the
 * kinetic energy and the virial of impulses, or their components xx, yy and zz. So a thermostat or barostat that acts
 * after every step needs no other pass over particles or pairs (common/engine.h, `awaited`).
 *
 *   1. The loop of sum_list.cuh adds the impulses of a particle and, with VIRIAL, the terms of its pairs
 *      (common/compute/impulse_virial.h). These have the factor of the impulse. An fma adds a term to a double, and
 *      rounds it; after every four pairs the double goes to an integer.
 *   2. A particle with a pair that is too near for the fast formula takes all its terms anew, by the careful one.
 *   3. The velocity is read, and completed with the kick by this impulse. Its terms are added, and it is not written:
 *      the kick is owed (gpu/move/owed.cuh).
 *   4. A thread adds the terms of its particles, and at its end they are added up as in gpu/output/measure.cuh.
 *   5. `speculative`: the host has launched this pass before it knows whether the lists hold. The device knows, and
 *      returns at once if they do not.
 *
 * Trade-off: two instances more for each style and layout. In return the pass over pairs for the virial, which took
 * longer than that for the forces, becomes some operations for each pair. The sums of the virial are in registers, and
 * those of the kinetic energy in shared memory, so that the loop over the list does not spill.
 * Cost: with lists of L neighbours 4 L + 16 bytes read for impulses (3D, packed), 17 written
 * (gpu/move/packed_impulse.cuh), or 24; 24 read for the kinetic energy. For lj/cut a pair within the cutoff has 52
 * instructions, of them 19 in double. With the virial it has 3 more, of them 1 in double, or 11 for three components,
 * of them 6.
 */
#include "common/compute/impulse_virial.h"
#include "common/compute/measure.h"
#include "gpu/move/packed_impulse.cuh"
#include "gpu/output/measure.cuh"
#include "gpu/step/launches.cuh"
#include "gpu/step/sum_list.cuh"
#include "gpu/step/tiles.cuh"

#include <limits.h>

/* The sums of the kinetic energy of each thread. In registers they would make the loop over the list spill. */
extern __shared__ md_fine kinetic_sums[];

/* How many of them there are beside that many of the virial; and the distance of those of two threads, which is odd, so
 * that these are in different banks. */
static __host__ __device__ constexpr int kinetic_count(int virial) { return virial > 1 ? 1 + virial : 1; }
static __host__ __device__ constexpr int kinetic_stride(int virial) { return kinetic_count(virial) | 1; }

static __device__ __forceinline__ void add(md_fine &sum, const md_fine &term)
{
  sum.coarse += term.coarse;
  sum.rest += term.rest;
}

/* The sums of the virial of one particle, in quanta: of r.f, or of its components along the axes. */
template <int VIRIAL> struct virial_counts {
  int64_t of[VIRIAL > 0 ? VIRIAL : 1];
};

/* The same in doubles, to which at most four pairs are added. */
template <int VIRIAL> struct virial_sums {
  double of[VIRIAL > 0 ? VIRIAL : 1];

  __device__ __forceinline__ void add(double f, double r2, const double *delta)
  {
    if constexpr (VIRIAL == 1) of[0] = fma(md_odd(f), r2, of[0]);
    if constexpr (VIRIAL > 1)
#pragma unroll
      for (int d = 0; d < VIRIAL; ++d) of[d] = fma(md_odd(f * delta[d]), delta[d], of[d]);
  }
  /* Moves the sums to `counts`. */
  __device__ __forceinline__ void settle(double rounder, virial_counts<VIRIAL> &counts)
  {
#pragma unroll
    for (int c = 0; c < VIRIAL; ++c) {
      counts.of[c] += md_bits(of[c]) - md_bits(rounder);
      of[c] = rounder;
    }
  }
  __device__ __forceinline__ void clear(double rounder)
  {
#pragma unroll
    for (int c = 0; c < VIRIAL; ++c) of[c] = rounder;
  }
};

/* The sums of particle i, which has a pair that is too near for the fast rounding or the fast formula. A pair that
 * overlaps is an error elsewhere. */
template <class T, int STYLE, int VIRIAL>
static __device__ __noinline__ virial_counts<VIRIAL> near_virial(const system_view<T> &s, double rounder,
                                                                 const typename T::record *x, int i)
{
  const typename T::record xi = x[i];
  virial_counts<VIRIAL> counts = {};
  for_each_candidate<T, FROM_LIST>(s, x, i, false, [&](int, const typename T::record &xj) {
    double delta[3];
    virial_sums<VIRIAL> one;
    const double r2 = separation<T>(s.scale, xi, xj, delta);
    if (r2 < s.pair.overlap2[0] || !(r2 < s.pair.k[0])) return;
    one.clear(rounder);
    one.add(force_of<STYLE>(r2, s.pair.k), r2, delta);
    one.settle(rounder, counts);
  });
  return counts;
}

/* Adds the kinetic energy of a particle of velocity v to sum[0], and with AXES the parts of the axes to those after
 * it. */
template <class T, bool AXES>
static __device__ __forceinline__ void add_kinetic(const awaited_args<T> &a, const typename T::real v[3],
                                                   md_fine *sum)
{
  md_summand of = {};
  md_particle p = {};
  of.dim = T::DIM;
  of.mass_reference = a.mass_reference;
  p.velocity_per_v = a.velocity_per_v;
  for (int c = 0; c < MD_TENSOR; ++c) of.per_unit[c] = a.per_unit;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) p.v[d] = (double)v[d];
  md_ke_add(&of, &p, &sum[0]);
  if constexpr (AXES) {
    md_fine tensor[MD_TENSOR] = {};
    md_pressure_tensor_add(&of, &p, tensor);
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) add(sum[1 + d], tensor[d]);
  }
}

/* Stores the impulse on particle i, in quanta. */
template <class T>
static __device__ __forceinline__ void store_impulse(const awaited_args<T> &a, int i,
                                                     const typename T::real impulse[3])
{
  if constexpr (T::PACKED)
    if (a.packs) return store_packed_impulse(a.impulse, a.packs, i, impulse);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) a.impulse[d][i] = impulse[d];
}

/* VIRIAL: the number of its sums: 0, 1 for its trace, or T::DIM. */
template <class T, int STYLE, int VIRIAL>
static __global__ void __launch_bounds__(256, T::MIXED || T::PACKED ? 4 : 2)
    k_awaited(const __grid_constant__ system_view<T> s, const __grid_constant__ awaited_args<T> a,
              tile_plan plan)
{
  constexpr int KINETIC = kinetic_count(VIRIAL);
  await_launches();
  const progress now = progress_before(s.ctl, s.launch);
  if (a.speculative && (now.stale || now.halt)) return;
  const typename T::record *__restrict__ x = s.x[now.parity];
  const fine_sums to = {s.ctl->awaited};
  md_fine virial[VIRIAL > 0 ? VIRIAL : 1] = {},
                                       *kinetic = kinetic_sums + threadIdx.x * kinetic_stride(VIRIAL);
#pragma unroll
  for (int c = 0; c < KINETIC; ++c) kinetic[c] = md_fine{0, 0};
  for_each_in_tiles(plan, s.n, [&](int i) {
    const typename T::record xi = x[i];
    typename T::sum sum[3];
    virial_sums<VIRIAL> pairs;
    virial_counts<VIRIAL> counts = {};
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) T::clear(sum[d]);
    pairs.clear(a.rounder);
    int least = INT_MAX;
    walk_list<T>(
        s, x, i, true,
        [&](int j, const typename T::record &xj) {
          evaluate_pair_and<T, STYLE>(
              s, xi, xj, j != i, sum, least,
              [&](typename T::real r2, const typename T::real *delta, typename T::real f) {
                if constexpr (VIRIAL > 0) pairs.add(f, r2, delta);
              });
        },
        [&] {
          settle_sums<T>(sum);
          pairs.settle(a.rounder, counts);
        });
    typename T::real impulse[3];
    if (least <= s.pair.close_high) {
      typename T::real near[3];
      sum_near_particle<T, STYLE>(s, x, i, near);
      for (int d = 0; d < T::DIM; ++d) impulse[d] = near[d];
      if constexpr (VIRIAL > 0) counts = near_virial<T, STYLE, VIRIAL>(s, a.rounder, x, i);
    } else {
#pragma unroll
      for (int d = 0; d < T::DIM; ++d) impulse[d] = T::total(sum[d]);
    }
    store_impulse<T>(a, i, impulse);
#pragma unroll
    for (int c = 0; c < VIRIAL; ++c) {
      virial[c].coarse += counts.of[c];
      keep_in_range(to, AWAITED_VIRIAL + c, AWAITED_SUMS, virial[c]);
    }
    if (!a.kinetic) return;
    typename T::real v[3];
#pragma unroll
    for (int d = 0; d < T::DIM; ++d)
      v[d] = kicked(s.v[d][i], (typename T::real)a.kicks, impulse[d], a.quantum);
    md_fine sum_of[KINETIC] = {};
    add_kinetic<T, (VIRIAL > 1)>(a, v, sum_of);
#pragma unroll
    for (int c = 0; c < KINETIC; ++c) {
      add(sum_of[c], kinetic[c]);
      keep_in_range(to, AWAITED_KINETIC + c, AWAITED_SUMS, sum_of[c]);
      kinetic[c] = sum_of[c];
    }
  });
#pragma unroll
  for (int c = 0; c < KINETIC; ++c)
    if (a.kinetic) add_sum(to, AWAITED_KINETIC + c, AWAITED_SUMS, kinetic[c]);
#pragma unroll
  for (int c = 0; c < VIRIAL; ++c) add_sum(to, AWAITED_VIRIAL + c, AWAITED_SUMS, virial[c]);
}

template <class T, int STYLE, int VIRIAL>
static md_status launch_sums(const launch &l, const system_view<T> &s, const awaited_args<T> &a)
{
  launch own = l;
  own.shared = kinetic_stride(VIRIAL) * l.threads * sizeof(md_fine);
  const tile_plan plan = plan_tiles(l, s.n);
  return launch_early(own, plan.blocks, "launch of k_awaited", k_awaited<T, STYLE, VIRIAL>, s, a, plan);
}

template <class T>
md_status launch_awaited(const launch &l, md_pair_kind kind, const system_view<T> &s,
                         const awaited_args<T> &a)
{
  MD_TRY(launch_styled(kind, [&](auto style) {
    if constexpr (SUMS_VIRIAL<T>) {
      if (a.virial == 1) return launch_sums<T, style.value, 1>(l, s, a);
      if (a.virial > 1) return launch_sums<T, style.value, T::DIM>(l, s, a);
    }
    return launch_sums<T, style.value, 0>(l, s, a);
  }));
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
