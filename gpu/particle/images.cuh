/* The periodic images of one particle that are ghosts: every combination of shifts by which it comes within reach of
 * the box. An image across two faces needs no other ghost as its source: its conditions are independent per axis.
 */
#ifndef MD_GPU_PARTICLE_IMAGES_CUH
#define MD_GPU_PARTICLE_IMAGES_CUH

#include "gpu/particle/state.cuh"

/* x put back into the box along periodic axes. */
template <class T>
__device__ __forceinline__ typename T::particle wrapped(const system_view<T> &s, typename T::particle r)
{
#pragma unroll
  for (int d = 0; d < T::DIM; ++d)
    if (s.periodic[d]) r.x[d] = T::wrapped(r.x[d], s.lo[d], s.hi[d], s.length[d]);
  return r;
}

/* The shift code of image_cell: digits 0, 1, 2 for -1, 0, 1 boxes. */
__device__ __forceinline__ int shift_along(int code, int d)
{
  const int power = d == 0 ? 1 : d == 1 ? 3 : 9;
  return code / power % 3 - 1;
}

/* What neighbours read of a particle. */
template <class T>
__device__ __forceinline__ typename T::record record_of(const system_view<T> &s,
                                                        const typename T::particle &p)
{
  if constexpr (T::PACKED) {
    typename T::record record;
    typename T::rest rest;
    T::pack(s.scale, p, record, rest);
    return record;
  } else {
    return p;
  }
}

/* A record shifted by the boxes of a shift code. */
template <class T>
__device__ __forceinline__ typename T::record image_by(const system_view<T> &s, const typename T::record &r,
                                                       int code)
{
  double shift[3];
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) shift[d] = shift_along(code, d) * s.length[d];
  return T::image(s.scale, r, shift);
}

/* The record of a ghost of this rank's, from its owner's. */
template <class T>
__device__ __forceinline__ typename T::record image_of(const system_view<T> &s, const typename T::record *x,
                                                       int ghost)
{
  return image_by<T>(s, load_record(x + s.ghost.owner[ghost]), s.ghost.shift[ghost]);
}

/* Calls f(shift code, cell) for every image of a wrapped particle. */
template <class T, class F>
__device__ __forceinline__ void each_image(const system_view<T> &s, const typename T::particle &r, F f)
{
  double x[3] = {0.0, 0.0, 0.0};
  bool low[3], high[3];
  bool any = false;
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    low[d] = high[d] = false;
    if (d >= T::DIM) continue;
    x[d] = T::where(s.scale, d, r.x[d]);
    if (!s.periodic[d]) continue;
    low[d] = x[d] < s.lo[d] + s.halo[d];
    high[d] = x[d] >= s.hi[d] - s.halo[d];
    any = any || low[d] || high[d];
  }
  if (!any) return;
  for (int code = 0; code < (T::DIM == 3 ? 27 : 18); ++code) {
    if (code == NO_SHIFT || (T::DIM == 2 && code < 9)) continue;
    bool wanted = true;
    int cell = 0;
    for (int d = 0; d < T::DIM; ++d) {
      const int shift = shift_along(code, d);
      wanted = wanted && (shift == 0 || (shift > 0 ? low[d] : high[d]));
      const int along = cell_along(s.grid, d, x[d] + shift * s.length[d], true);
      cell += along * (d == 0 ? 1 : d == 1 ? s.grid.row : s.grid.layer);
    }
    if (wanted) f(code, cell);
  }
}

#endif
