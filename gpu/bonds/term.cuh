/* The bonds of one particle, at the present positions. */
#ifndef MD_GPU_BONDS_TERM_CUH
#define MD_GPU_BONDS_TERM_CUH

#include "gpu/bonds/bonds.cuh"

/* Calls f(term, type, partner) for each bond of particle i, and bad(partner) for one that is too long or out of range.
 * The differences are those of whole positions, because a partner may be farther away than packed ones can tell. */
template <class T, class F, class BAD>
static __device__ __forceinline__ void for_each_bond(const system_view<T> &s, const bond_args &a, int i, F f,
                                                     BAD bad)
{
  const unsigned parity = progress_before(s.ctl, s.launch).parity;
  const typename T::particle own = load_particle<T>(s, parity, i);
  for (int k = 0; k < a.slots; ++k) {
    const int j = a.row[(int64_t)k * a.n + i];
    if (j < 0) continue;
    const int type = a.row_type[(int64_t)k * a.n + i];
    const typename T::particle other = load_particle<T>(s, parity, j);
    md_bond_term t = {{0.0, 0.0, 0.0}, 0.0, 0.0};
#pragma unroll
    for (int d = 0; d < T::DIM; ++d)
      t.delta[d] = T::where(s.scale, d, own.x[d]) - T::where(s.scale, d, other.x[d]);
    md_lattice_image(T::DIM, s.box.periodic, s.box.length, s.box.offset, t.delta);
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) t.r2 = fma(t.delta[d], t.delta[d], t.r2);
    if (md_bond_evaluate(a.kind, a.table + type * MD_BOND_K, T::DIM, &t))
      f(t, type, j);
    else
      bad(j);
  }
}

#endif
