/* Pairs of a three-body style (common/pair/three_body/three_force.h), for the kernels of its two passes and those that
 * output calls.
 *
 * The ten numbers that a particle keeps between the passes lie in five arrays of 16 bytes an element, so that a
 * neighbour's are five loads of 16 bytes, and each array goes to ghosts as one value a particle.
 */
#ifndef MD_GPU_THREE_BODY_THREE_BODY_CUH
#define MD_GPU_THREE_BODY_THREE_BODY_CUH

#include "common/pair/three_body/three_force.h"
#include "gpu/output/partners.cuh"
#include "gpu/three_body/launches.cuh"

template <class T>
static __device__ __forceinline__ int element_of(const three_body_args &a, const typename T::record &r)
{
  return a.three.nelement == 1 ? 0 : __ldg(a.three.element + type_of(r));
}

static __device__ __forceinline__ void load_kept(const three_body_args &a, int i, double kept[MD_THREE_SUMS])
{
#pragma unroll
  for (int part = 0; part < KEPT_PARTS; ++part) {
    const double2 two = __ldg(a.kept + part * a.stride + i);
    kept[2 * part] = two.x;
    kept[2 * part + 1] = two.y;
  }
}

static __device__ __forceinline__ void store_kept(const three_body_args &a, int i,
                                                  const double kept[MD_THREE_SUMS])
{
#pragma unroll
  for (int part = 0; part < KEPT_PARTS; ++part)
    a.kept[part * a.stride + i] = make_double2(kept[2 * part], kept[2 * part + 1]);
}

/* Pass 1 of particles i and j: adds the leg j to the sums of i. */
template <class T, int SOURCE>
static __device__ __forceinline__ void add_leg(const system_view<T> &s, const three_body_args &a, int element,
                                               const typename T::record &xi, const typename T::record &xj,
                                               int64_t sum[MD_THREE_SUMS])
{
  double delta[3] = {0.0, 0.0, 0.0};
  const double r2 = partner_separation<T, SOURCE>(s, xi, xj, delta);
  md_three_add(&a.three, a.three.leg + (element * a.three.nelement + element_of<T>(a, xj)), delta, r2, sum);
}

/* Pass 2 of particles i and j, without a search for overlaps. kept: of i. delta: gets the vector from j to i, and *r2
 * its square. */
template <class T, int SOURCE>
static __device__ __forceinline__ md_vector_term
vector_term(const system_view<T> &s, const three_body_args &a, int element, const double kept[MD_THREE_SUMS],
            const typename T::record &xi, int j, const typename T::record &xj, double delta[3], double *r2)
{
  const md_vector_term none = {{0.0, 0.0, 0.0}, 0.0, false};
  delta[2] = 0.0;
  *r2 = partner_separation<T, SOURCE>(s, xi, xj, delta);
  if (!(*r2 < a.reach2)) return none;
  double other[MD_THREE_SUMS];
  load_kept(a, j, other);
  return md_three_force(&a.three, a.kind, a.table + pair_of<T>(s, xi, xj) * MD_PAIR_K, element,
                        element_of<T>(a, xj), kept, other, delta, *r2);
}

/* The same for output: an overlap is noted, and exerts no force. */
template <class T, int SOURCE>
static __device__ __forceinline__ md_vector_term vector_output(const system_view<T> &s,
                                                               const three_body_args &a, int element,
                                                               const double kept[MD_THREE_SUMS],
                                                               const typename T::record &xi, int j,
                                                               const typename T::record &xj, double delta[3])
{
  double r2;
  md_vector_term term = vector_term<T, SOURCE>(s, a, element, kept, xi, j, xj, delta, &r2);
  if (!term.overlap) return term;
  atomicOr(&s.ctl->overflow, HALT_OVERLAP);
  term.f[0] = term.f[1] = term.f[2] = term.energy = 0.0;
  return term;
}

#endif
