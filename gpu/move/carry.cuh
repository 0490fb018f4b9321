/* The change of the box in a step, for one particle (md_step_carry of common/step/step.h). */
#ifndef MD_GPU_MOVE_CARRY_CUH
#define MD_GPU_MOVE_CARRY_CUH

#include "gpu/move/kick_drift.cuh"

/* Takes a particle with the change of the box. Returns the square of how far it stays behind the places of the box; 0
 * if it goes with the box. With cells, a rebin follows anyway. */
template <class T>
static __device__ __forceinline__ float carry(const step_args &a, uint32_t group, typename T::particle &r)
{
  float behind2 = 0.0f;
  if constexpr (!T::MIXED)
    if (a.motion.changes_box && a.motion.triclinic && !a.motion.back) {
      double x[3] = {0.0, 0.0, 0.0};
#pragma unroll
      for (int d = 0; d < T::DIM; ++d) x[d] = r.x[d];
      md_step_carry_tilted(&a.motion, group, x);
#pragma unroll
      for (int d = 0; d < T::DIM; ++d) {
        const float way = (float)(x[d] - r.x[d]);
        behind2 = fmaf(way, way, behind2);
        r.x[d] = x[d];
      }
    } else if (a.motion.changes_box && !a.motion.back) {
#pragma unroll
      for (int d = 0; d < T::DIM; ++d) {
        const double before = r.x[d];
        r.x[d] = md_step_carry(&a.motion, d, group, before);
        if (!a.motion.periodic[d] || (group & a.motion.carried[d])) continue;
        const float behind =
            (float)(fma(before - a.motion.box_lo[d], a.motion.scale[d], a.motion.new_lo[d]) - r.x[d]);
        behind2 = fmaf(behind, behind, behind2);
      }
    }
  return behind2 * (1.0f + 0x1p-20f);
}

/* The same for a step back, after the drift. */
template <class T>
static __device__ __noinline__ float uncarry(const step_args &a, uint32_t group, typename T::particle &r)
{
  float behind2 = 0.0f;
  if (!a.motion.changes_box) return behind2;
  double x[3] = {0.0, 0.0, 0.0};
  for (int d = 0; d < T::DIM; ++d) x[d] = r.x[d];
  md_step_uncarry(&a.motion, group, x);
  for (int d = 0; d < T::DIM; ++d) {
    const float way = (float)(x[d] - r.x[d]);
    behind2 = fmaf(way, way, behind2);
    r.x[d] = x[d];
  }
  return behind2 * (1.0f + 0x1p-20f);
}

#endif
