/* The partners of a particle, and the force on it from each of them, for kernels that only output calls.
 *
 * The pair style is looked up for every pair. So one instance of a kernel is enough for all styles, and another one for
 * those with sub-styles (HYBRID).
 *
 * Trade-off: fewer instances to compile, and a branch more for each pair.
 */
#ifndef MD_GPU_OUTPUT_PARTNERS_CUH
#define MD_GPU_OUTPUT_PARTNERS_CUH

#include "gpu/neighbour/for_each.cuh"
#include "gpu/particle/launch.cuh"
#include "gpu/step/formulas.cuh"

template <bool HYBRID> static __device__ double force_of_kind(md_pair_kind kind, double r2, const double *k)
{
  if constexpr (HYBRID) return hybrid_force(r2, k);
  switch (kind) {
#define MD_PAIR_CUT(symbol)                                                                                  \
  case MD_PAIR_##symbol:                                                                                     \
    return force_of<MD_PAIR_##symbol>(r2, k);
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
  default: return shared_force(r2, k);
  }
}

/* Calls f(j, record) for the particles that may be partners of particle i. FROM_ALL: for every other particle. */
template <class T, int SOURCE, class F>
static __device__ __forceinline__ void for_each_partner(const system_view<T> &s, const typename T::record *x,
                                                        int i, F f)
{
  if constexpr (SOURCE == FROM_ALL) {
    for (int j = 0; j < s.n; ++j)
      if (j != i) f(j, load_record(x + j));
  } else {
    for_each_candidate<T, SOURCE>(s, x, i, false, f);
  }
}

/* The difference a - b of two partners in delta[], of FROM_ALL at the nearest image. Returns its square. */
template <class T, int SOURCE>
static __device__ __forceinline__ double partner_separation(const system_view<T> &s,
                                                            const typename T::record &a,
                                                            const typename T::record &b, double delta[3])
{
  double r2 = 0.0;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) delta[d] = wide_delta<T>(s.scale, d, a, b);
  if constexpr (SOURCE == FROM_ALL)
    md_lattice_image(T::DIM, s.box.periodic, s.box.length, s.box.offset, delta);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) r2 = fma(delta[d], delta[d], r2);
  return r2;
}

/* The force on a from b, divided by their distance, in coarse quanta of f; delta: from b to a, at the nearest image.
 * table: coefficients of forces. 0 beyond the cutoff. An overlap is noted, and exerts no force. */
template <class T, int SOURCE, bool HYBRID>
static __device__ __forceinline__ double output_force(const system_view<T> &s, md_pair_kind kind,
                                                      const double *table, const typename T::record &a,
                                                      const typename T::record &b, double delta[3])
{
  const double r2 = partner_separation<T, SOURCE>(s, a, b, delta);
  const int pair = pair_of<T>(s, a, b);
  const double *k = table + pair * MD_PAIR_K;
  if (r2 < s.pair.overlap2[pair]) {
    atomicOr(&s.ctl->overflow, HALT_OVERLAP);
    return 0.0;
  }
  return r2 < k[0] ? force_of_kind<HYBRID>(kind, r2, k) : 0.0;
}

/* Calls f(source), where source.value is the source of neighbours as a constant. */
template <class T, class F> void with_source(int source, F &&f)
{
  if (source == FROM_LIST) f(std::integral_constant<int, FROM_LIST>{});
  if (source == FROM_CELLS) f(std::integral_constant<int, FROM_CELLS>{});
  if constexpr (!T::PACKED)
    if (source == FROM_ALL) f(std::integral_constant<int, FROM_ALL>{});
}

/* Launches kernel_of(source), with the source as a constant and a thread for each particle. what: names the launch in
 * errors. */
template <class T, class KERNEL, class... Given>
md_status launch_from(const launch &l, int threads, int source, const char *what, KERNEL &&kernel_of,
                      const system_view<T> &s, const Given &...given)
{
  md_status status = MD_OK;
  with_source<T>(source, [&](auto from) {
    status = launch_with(of_threads(l, threads), blocks_for(s.n, threads), nullptr, what, kernel_of(from), s,
                         given...);
  });
  return status;
}

#endif
