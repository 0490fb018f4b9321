/* One step with lists: force, kick and drift in one kernel.
 *
 * One thread a particle. Its neighbours come four at a time, 16 bytes that a warp reads side by side; the next four are
 * on their way while these are evaluated. Neighbouring threads have neighbouring particles, whose lists run through
 * space in the same order, so that the positions a warp asks for at one time lie in a few cache lines.
 *
 * Bytes a particle and step in 3D: 4 a listed neighbour, 32 + 32 for positions, 24 + 24 for velocities. Operations: about
 * 23 in double a neighbour. See docs/performance.md for which of the two is the limit.
 */
#include "gpu/advance.cuh"

template <class T, int STYLE>
static __device__ __forceinline__ void evaluate(const system_view<T> &s, const typename T::record &xi, int i,
                                                int j, const typename T::record &xj, typename T::sum sum[3],
                                                bool &near)
{
  typedef typename T::real real;
  real delta[3];
  const real r2 = separation<T>(s.scale, xi, xj, delta);
  if (!(r2 < s.k[0]) || j == i) return;
  near = near || too_near<T>(s, r2);
  const real f = force_of<STYLE>(r2, s.k);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) T::add(sum[d], f, delta[d]);
}

template <class T, int STYLE>
static __device__ __forceinline__ void
scan_list(const system_view<T> &s, const typename T::record *__restrict__ x, const typename T::record &xi,
          int i, typename T::sum sum[3], bool &near)
{
  const int block = i >> 5;
  const int4 *list = s.list + (int64_t)block * s.stride * 32 + (i & 31);
  const int rows = s.rows[block];
  if (rows == 0) return;
  int4 next = __ldcs(list);
  for (int r = 1; r <= rows; ++r) {
    const int4 j = next;
    if (r < rows) next = __ldcs(list + (int64_t)r * 32);
    const typename T::record x0 = load_record(x + j.x), x1 = load_record(x + j.y), x2 = load_record(x + j.z),
                             x3 = load_record(x + j.w);
    evaluate<T, STYLE>(s, xi, i, j.x, x0, sum, near);
    evaluate<T, STYLE>(s, xi, i, j.y, x1, sum, near);
    evaluate<T, STYLE>(s, xi, i, j.z, x2, sum, near);
    evaluate<T, STYLE>(s, xi, i, j.w, x3, sum, near);
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) T::settle(sum[d]);
  }
}

template <class T, int STYLE>
static __global__ void __launch_bounds__(256, T::MIXED ? 4 : 2)
    k_advance_list(const __grid_constant__ system_view<T> s, const __grid_constant__ step_args a)
{
  progress now;
  if (!begin_step(s, true, now)) return;
  const unsigned parity = now.parity;
  const typename T::record *__restrict__ x = s.x[parity];
  const double kicks = now.done == 0 ? a.first_kicks : a.kicks;
  findings found = {0, 0, 0.0f};
  const int stride = gridDim.x * blockDim.x;
  for (int64_t k = blockIdx.x * blockDim.x + threadIdx.x; k < s.n; k += stride) {
    const int i = (int)k;
    const typename T::record xi = x[i];
    typename T::sum sum[3];
    typename T::real v[3];
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) {
      T::clear(sum[d]);
      v[d] = s.v[d][i];
    }
    bool near = false;
    if (kicks != 0.0) scan_list<T, STYLE>(s, x, xi, i, sum, near);
    if (near) {
      merge(found, move_near_particle<T, STYLE, FROM_LIST>(s, a, kicks, i, parity));
      continue;
    }
    typename T::real impulse[3];
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) impulse[d] = T::total(sum[d]);
    move_particle<T, FROM_LIST>(s, a, kicks, i, xi, v, impulse, s.x[parity ^ 1u], found);
  }
  end_step(s.ctl, s.launch, found.bits, found.usage);
}

template <class T>
md_status launch_advance_list(const launch &l, md_pair_kind kind, const system_view<T> &s, const step_args &a)
{
  switch (kind) {
#define MD_PAIR_STYLE(symbol, name)                                                                          \
  case MD_PAIR_##symbol:                                                                                     \
    k_advance_list<T, MD_PAIR_##symbol><<<blocks_walking(l, s.n), l.threads, 0, l.stream>>>(s, a);           \
    break;
#include "common/pair_styles.h"
#undef MD_PAIR_STYLE
  default: return md_error(MD_RUNTIME, "the GPU engine has no kernel for this pair style");
  }
  MD_LAUNCHED("k_advance_list");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_advance_list<T>(const launch &, md_pair_kind, const system_view<T> &,            \
                                            const step_args &);
INSTANCE(exact2_tagged)
INSTANCE(exact3_tagged)
INSTANCE(mixed2_tagged)
INSTANCE(mixed3_tagged)
