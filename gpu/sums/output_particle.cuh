/* A particle as output needs it: its fields, its place in the box, and its velocity. */
#ifndef MD_GPU_SUMS_OUTPUT_PARTICLE_CUH
#define MD_GPU_SUMS_OUTPUT_PARTICLE_CUH

#include "common/sums/each_formulas.h"
#include "gpu/particle/images.cuh"
#include "gpu/sums/launches.cuh"

struct output_particle {
  md_particle p;
  double x[3], v[3];
};

/* A coordinate of a wrapped particle as a place in the box. */
template <class T>
static __device__ __forceinline__ double place_in_box(const system_view<T> &s, int d, typename T::position x)
{
  const double place = T::where(s.scale, d, x);
  return T::MIXED && s.box.periodic[d] && place >= s.box.hi[d] ? place - s.box.length[d] : place;
}

/* The place of a particle along an axis, in the box, which is not tilted. */
template <class T>
static __device__ __forceinline__ double place_along(const system_view<T> &s, int d,
                                                     const typename T::particle &r)
{
  typename T::position x = d == 0 ? r.x[0] : d == 1 ? r.x[1] : r.x[T::DIM - 1];
  if (s.box.periodic[d]) x = T::wrapped(x, s.box.lo[d], s.box.hi[d], s.box.length[d]);
  return place_in_box<T>(s, d, x);
}

/* Particle i. Without a.places its place is 0. TILTS: in a tilted box it has a place too. Wrapping there is a call, for
 * which the particle goes to memory. */
template <class T, bool TILTS>
static __device__ __forceinline__ output_particle load_particle(const system_view<T> &s, const each_args &a,
                                                                int i)
{
  output_particle one = {};
  one.p = particle_of<T>(s, a.fields, i);
  typename T::particle r = {};
  if (a.places) r = wrapped<T, TILTS>(s, present_particle<T>(s, i));
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    if (a.places) one.x[d] = place_in_box<T>(s, d, r.x[d]);
    one.v[d] = md_particle_velocity(&one.p, d, a.quantum);
  }
  return one;
}

/* Makes *largest at least the largest size of all lanes of a warp. All lanes call it. */
static __device__ __forceinline__ void widen(unsigned long long *largest, double size)
{
  for (int lane = 16; lane > 0; lane /= 2) size = fmax(size, __shfl_xor_sync(0xffffffffu, size, lane));
  /* Numbers that are not negative have the order of their bits. */
  const unsigned long long bits = (unsigned long long)__double_as_longlong(size);
  if ((threadIdx.x & 31) == 0 && bits > *largest) atomicMax(largest, bits);
}

#endif
