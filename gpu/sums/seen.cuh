/* What output sees of a particle: its fields, its place in the box, and its velocity. */
#ifndef MD_GPU_SUMS_SEEN_CUH
#define MD_GPU_SUMS_SEEN_CUH

#include "common/sums/each_formulas.h"
#include "gpu/particle/images.cuh"
#include "gpu/particle/launch.cuh"

struct seen_particle {
  md_particle p;
  double x[3], v[3];
};

/* Particle i. Without a.places its place is 0. TILTS: in a tilted box it has a place too. Wrapping there is a call, for
 * which the particle goes to memory. */
template <class T, bool TILTS = false>
static __device__ __forceinline__ seen_particle see(const system_view<T> &s, const each_args &a, int i)
{
  seen_particle seen = {};
  seen.p = particle_of<T>(s, a.fields, i);
  typename T::particle r = {};
  if (a.places) r = wrapped<T, TILTS>(s, present_particle<T>(s, i));
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    if (a.places) seen.x[d] = T::where(s.scale, d, r.x[d]);
    if (T::MIXED && s.box.periodic[d] && seen.x[d] >= s.box.hi[d]) seen.x[d] -= s.box.length[d];
    seen.v[d] = md_particle_velocity(&seen.p, d, a.quantum);
  }
  return seen;
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
