/* The bonds of one particle, at the present positions. */
#ifndef MD_GPU_BONDS_TERM_CUH
#define MD_GPU_BONDS_TERM_CUH

#include "gpu/bonds/bonds.cuh"

template <class T> static __device__ __forceinline__ double square_of(const double delta[3])
{
  double r2 = 0.0;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) r2 = fma(delta[d], delta[d], r2);
  return r2;
}

/* The square of delta[], which becomes its nearest image. */
template <class T>
static __device__ __forceinline__ double nearest_image(const system_view<T> &s, double delta[3])
{
  md_lattice_image(T::DIM, s.box.periodic, s.box.length, s.box.offset, delta);
  return square_of<T>(delta);
}

/* Fills place and distance of particle i, relative to its partner j. Owned particles have whole positions, which tell
 * any distance. Packed ghosts have records alone, which tell that of a bond (can_pack() in
 * gpu/engine/configuration.cu). */
template <class T>
static __device__ __forceinline__ void locate_bond(const system_view<T> &s, unsigned parity, int i, int j,
                                                   md_bond_term *t)
{
  if (T::PACKED && j >= s.n) {
    const typename T::record own = load_record(s.x[parity] + i), other = load_record(s.x[parity] + j);
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) t->delta[d] = T::delta(s.scale, d, own, other);
  } else {
    const typename T::particle own = load_particle<T>(s, parity, i);
    const typename T::particle other = load_particle<T>(s, parity, j);
#pragma unroll
    for (int d = 0; d < T::DIM; ++d)
      t->delta[d] = T::where(s.scale, d, own.x[d]) - T::where(s.scale, d, other.x[d]);
  }
  t->r2 = nearest_image<T>(s, t->delta);
}

/* Calls f(term, type, partner) for each bond of particle i, and bad(slot, partner) for one that is too long or out of
 * range. */
template <class T, class F, class BAD>
static __device__ __forceinline__ void for_each_bond(const system_view<T> &s, const bond_args &a, int i, F f,
                                                     BAD bad)
{
  const unsigned parity = progress_before(s.ctl, s.launch).parity;
  for (int k = 0; k < a.slots; ++k) {
    const int j = a.row[(int64_t)k * a.n + i];
    if (j == MD_NO_PARTNER) continue;
    const int type = a.row_type[(int64_t)k * a.n + i];
    md_bond_term t = {{0.0, 0.0, 0.0}, 0.0, 0.0};
    if (j >= 0) locate_bond<T>(s, parity, i, j, &t);
    if (j >= 0 && md_bond_evaluate(a.kind, a.table + type * MD_BOND_K, T::DIM, &t))
      f(t, type, j);
    else
      bad(k, j);
  }
}

#endif
