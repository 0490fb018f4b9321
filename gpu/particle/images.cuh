/* Images: which ghosts a particle has across periodic faces, and their records.
 *
 * The ghosts of a particle are its images under every combination of shifts that brings it within reach
 * (ghost_view.halo) of the box. The conditions are independent for each axis. So the source of an image across
 * two faces is always an owned particle, and never another ghost:
 *
 *           |  (0,1)       |  (1,1)
 *       ----+--------------+----
 *           |              |            particle p near the lower left corner of the box
 *           |     box      |            has the images (1,0), (0,1) and (1,1)
 *           |  p           |  (1,0)
 *       ----+--------------+----
 *           |              |
 *
 * In a tilted box the images of one axis decide those of the next, from z to x (common/box.h). So their sources are
 * owned particles too, but the combinations are others. The same functions find the images of a box that has sides
 * shorter than the halo, of which there are several along an axis.
 */
#ifndef MD_GPU_PARTICLE_IMAGES_CUH
#define MD_GPU_PARTICLE_IMAGES_CUH

#include "gpu/particle/view.cuh"

/* Wraps the point x of a tilted box along `axis`, and adds the shifts to the code. */
__device__ __forceinline__ void wrap_along(const box_view &box, int axis, double x[3], int &code)
{
  if (!box.periodic[axis]) return;
  code += md_lattice_wrap_along(box.lo, box.hi, box.length, box.offset, axis, x) * (1 << (SHIFT_BITS * axis));
}

/* A particle, wrapped into the box, or the brick of a tilted one, along one axis after the other. */
template <class T> __device__ __noinline__ void wrap_by_axis(const box_view &box, typename T::particle &r)
{
  int code = NO_SHIFT;
  double x[3] = {0.0, 0.0, 0.0};
  for (int d = 0; d < T::DIM; ++d) x[d] = r.x[d];
  for (int d = T::DIM - 1; d >= 0; --d) wrap_along(box, d, x, code);
  for (int d = 0; d < T::DIM; ++d) r.x[d] = x[d];
}

/* The particle with its coordinates put back into the box along the periodic axes. TILTS: it may have to be
 * done by_axis. The kernels of a rebin are compiled without it too, because a call costs registers and a stack. */
template <class T, bool TILTS = !T::MIXED>
__device__ __forceinline__ typename T::particle wrapped(const system_view<T> &s, typename T::particle r)
{
  if constexpr (TILTS)
    if (s.box.by_axis) {
      wrap_by_axis<T>(s.box, r);
      return r;
    }
#pragma unroll
  for (int d = 0; d < T::DIM; ++d)
    if (s.box.periodic[d]) r.x[d] = T::wrapped(r.x[d], s.box.lo[d], s.box.hi[d], s.box.length[d]);
  return r;
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
  for (int d = 0; d < T::DIM; ++d) shift[d] = shift_of(s.box, code, d);
  return T::image(s.scale, r, shift);
}

/* The record of a ghost whose source is on this rank. x: the records of the sources. */
template <class T>
__device__ __forceinline__ typename T::record image_of(const system_view<T> &s, const typename T::record *x,
                                                       int ghost)
{
  return image_by<T>(s, load_record(x + s.ghost.source[ghost]), s.ghost.shift[ghost]);
}

/* The cell of a point that may be outside of the box. */
template <class T> __device__ __forceinline__ int cell_of_point(const system_view<T> &s, const double x[3])
{
  int cell = 0;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d)
    cell += cell_along(s.grid, d, x[d], true) * (d == 0 ? 1 : d == 1 ? s.grid.row : s.grid.layer);
  return cell;
}

/* Calls f(shift code, cell) for every image of the point x, which is in the box, or in the brick of a tilted one. Along
 * an axis the shifts go from 0 up and down, as long as the image before the last one is within the halo of the face. */
template <class T, class F>
__device__ __forceinline__ void each_image_by_axis(const system_view<T> &s, const double x[3], F f)
{
  const auto reaches = [&](int d, const double from[3], int shift) {
    if (!s.box.periodic[d]) return false;
    const double before = from[d] + (shift > 0 ? shift - 1 : shift + 1) * s.box.length[d];
    return shift > 0 ? before < s.box.lo[d] + s.ghost.halo[d] : before >= s.box.hi[d] - s.ghost.halo[d];
  };
  const auto for_shifts = [&](int d, const double from[3], auto g) {
    int least = 0, most = 0;
    while (reaches(d, from, least - 1)) --least;
    while (reaches(d, from, most + 1)) ++most;
    for (int shift = least; shift <= most; ++shift) g(shift);
  };
  const auto across = [&](int d, const double from[3], int shift, double to[3], int &of) {
    for (int e = 0; e < 3; ++e) to[e] = from[e];
    if (shift == 0) return;
    md_lattice_shift(s.box.length, s.box.offset, d, shift, to);
    of += shift * (1 << (SHIFT_BITS * d));
    for (int e = d - 1; e >= 0; --e) wrap_along(s.box, e, to, of);
  };
  const auto in_plane = [&](const double z[3], int code_z) {
    for_shifts(1, z, [&](int sy) {
      double y[3], at[3];
      int code_y = code_z;
      across(1, z, sy, y, code_y);
      for_shifts(0, y, [&](int sx) {
        int code_x = code_y;
        across(0, y, sx, at, code_x);
        if (code_x != NO_SHIFT) f(code_x, cell_of_point<T>(s, at));
      });
    });
  };
  if constexpr (T::DIM == 2)
    in_plane(x, NO_SHIFT);
  else
    for_shifts(2, x, [&](int sz) {
      double z[3];
      int code_z = NO_SHIFT;
      across(2, x, sz, z, code_z);
      in_plane(z, code_z);
    });
}

/* The images of a particle in a box that is not tilted are numbered by their shifts. Number k is that at the shifts
 * k % 3 - 1 along x, k / 3 % 3 - 1 along y and, in 3D, k / 9 - 1 along z. */
static __device__ __forceinline__ int shift_of_image(int k, int d)
{
  return (d == 0 ? k : d == 1 ? k / 3 : k / 9) % 3 - 1;
}

template <int DIM> __device__ __forceinline__ int code_of_image(int k)
{
  int code = NO_SHIFT;
#pragma unroll
  for (int d = 0; d < DIM; ++d) code += shift_of_image(k, d) * (1 << (SHIFT_BITS * d));
  return code;
}

template <class T>
__device__ __forceinline__ int cell_of_image(const system_view<T> &s, const typename T::particle &r, int k)
{
  int cell = 0;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    const double at = T::where(s.scale, d, r.x[d]) + shift_of_image(k, d) * s.box.length[d];
    cell += cell_along(s.grid, d, at, true) * (d == 0 ? 1 : d == 1 ? s.grid.row : s.grid.layer);
  }
  return cell;
}

/* The images of particle r, which must be wrapped: bit k for number k. */
template <class T>
__device__ __forceinline__ unsigned images_of(const system_view<T> &s, const typename T::particle &r)
{
  unsigned shifts[3] = {2, 2, 2}; /* along an axis: bit 0 for -1, bit 1 for 0, bit 2 for 1 */
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    const double x = T::where(s.scale, d, r.x[d]);
    if (!s.box.periodic[d]) continue;
    if (x < s.box.lo[d] + s.ghost.halo[d]) shifts[d] |= 4;
    if (x >= s.box.hi[d] - s.ghost.halo[d]) shifts[d] |= 1;
  }
  unsigned plane = 0, space = 0;
#pragma unroll
  for (int y = 0; y < 3; ++y)
    if (shifts[1] >> y & 1) plane |= shifts[0] << (3 * y);
#pragma unroll
  for (int z = 0; z < 3; ++z)
    if (shifts[2] >> z & 1) space |= plane << (9 * z);
  return T::DIM == 3 ? space & ~(1u << 13) : plane & ~(1u << 4); /* without the particle itself */
}

/* The number of the first image that is left, which is done then. There is one. */
static __device__ __forceinline__ int next_image(unsigned &left)
{
  const int k = __ffs((int)left) - 1;
  left &= left - 1;
  return k;
}

/* Calls f(shift code, cell) for every image of particle r, which must be wrapped. TILTS: as for wrapped(). */
template <class T, bool TILTS, class F>
__device__ __forceinline__ void each_image(const system_view<T> &s, const typename T::particle &r, F f)
{
  if constexpr (TILTS)
    if (s.box.by_axis) {
      double x[3] = {0.0, 0.0, 0.0};
      for (int d = 0; d < T::DIM; ++d) x[d] = T::where(s.scale, d, r.x[d]);
      each_image_by_axis<T>(s, x, f);
      return;
    }
  unsigned left = images_of<T>(s, r);
  while (left) {
    const int k = next_image(left);
    f(code_of_image<T::DIM>(k), cell_of_image<T>(s, r, k));
  }
}

/* Ghost number g is the image of the particle with index `to`, with this record, by a shift code. */
template <class T>
static __device__ __forceinline__ void write_image(const system_view<T> &s, typename T::record *x,
                                                   const typename T::record &record, int to, int code, int g)
{
  if (g < s.ghost.capacity) {
    s.ghost.source[g] = to;
    s.ghost.shift[g] = code;
    x[s.n + g] = image_by<T>(s, record, code);
  } else {
    atomicOr(&s.ctl->overflow, HALT_GHOSTS);
    atomicMax(&s.ctl->ghosts_wanted, g + 1);
  }
}

/* For the search of neighbours: the position of a particle, or of its image by a shift code, relative to the corner of
 * the grid; and the extra. */
template <class T>
__device__ __forceinline__ float4 rounded_position(const system_view<T> &s, const typename T::particle &r,
                                                   int code)
{
  float x[3] = {0.0f, 0.0f, 0.0f};
#pragma unroll
  for (int d = 0; d < T::DIM; ++d)
    x[d] = (float)(T::where(s.scale, d, r.x[d]) - s.grid.lo[d] + shift_of(s.box, code, d));
  return make_float4(x[0], x[1], x[2], fmaxf(-path_of(r), 0.0f));
}

#endif
