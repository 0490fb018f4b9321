/* Images: which ghosts a particle has across periodic faces, and their records.
 *
 * The ghosts of a particle are its images under every combination of shifts that brings it within reach
 * (system_view.halo) of the box. The conditions are independent for each axis. So the source of an image across
 * two faces is always an owned particle, and never another ghost:
 *
 *           |  (0,1)       |  (1,1)
 *       ----+--------------+----
 *           |              |            particle p near the lower left corner of the box
 *           |     box      |            has the images (1,0), (0,1) and (1,1)
 *           |  p           |  (1,0)
 *       ----+--------------+----
 *           |              |
 */
#ifndef MD_GPU_PARTICLE_IMAGES_CUH
#define MD_GPU_PARTICLE_IMAGES_CUH

#include "gpu/particle/view.cuh"

/* The particle with its coordinates put back into the box along the periodic axes. */
template <class T>
__device__ __forceinline__ typename T::particle wrapped(const system_view<T> &s, typename T::particle r)
{
#pragma unroll
  for (int d = 0; d < T::DIM; ++d)
    if (s.box.periodic[d]) r.x[d] = T::wrapped(r.x[d], s.box.lo[d], s.box.hi[d], s.box.length[d]);
  return r;
}

/* The shift along axis d, -1, 0 or 1 boxes, from the code of ghost_view.shift, whose digits to base 3 are 0, 1 and
 * 2. */
__device__ __forceinline__ int shift_along(int code, int d)
{
  const int power = d == 0 ? 1 : d == 1 ? 3 : 9;
  return code / power % 3 - 1;
}

/* The record of a particle: what its neighbours read. */
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

/* A record shifted by the boxes that a shift code stands for. */
template <class T>
__device__ __forceinline__ typename T::record image_by(const system_view<T> &s, const typename T::record &r,
                                                       int code)
{
  double shift[3];
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) shift[d] = shift_along(code, d) * s.box.length[d];
  return T::image(s.scale, r, shift);
}

/* The record of a ghost whose source is on this rank. x: the records of the sources. */
template <class T>
__device__ __forceinline__ typename T::record image_of(const system_view<T> &s, const typename T::record *x,
                                                       int ghost)
{
  return image_by<T>(s, load_record(x + s.ghost.source[ghost]), s.ghost.shift[ghost]);
}

/* Calls f(shift code, cell) for every image of particle r, which must be wrapped. */
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
    if (!s.box.periodic[d]) continue;
    low[d] = x[d] < s.box.lo[d] + s.ghost.halo[d];
    high[d] = x[d] >= s.box.hi[d] - s.ghost.halo[d];
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
      const int along = cell_along(s.grid, d, x[d] + shift * s.box.length[d], true);
      cell += along * (d == 0 ? 1 : d == 1 ? s.grid.row : s.grid.layer);
    }
    if (wanted) f(code, cell);
  }
}

#endif
