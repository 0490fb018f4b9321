/* What is owed to the velocities after a run: first kicks by the impulses at the present positions, and then actions
 * of fixes after the step (point 6 of common/step/step.h).
 *
 * The engine does not give these at once, because the next kernel that reads velocities can do it on the way:
 *
 *        forces -> impulses        measure            act           next step
 *   ------------------------- sums of computes -- action noted -- k_move ------->
 *                             read v and impulse                   reads v and impulse, and gives the kicks,
 *                             and write neither                    the actions, the next kick and the drift
 *
 * So a fix that acts after each step costs no second force, and velocities are written once a step. Whatever else
 * needs velocities or the memory of the impulses first settles: a kernel gives what is owed (settle.cu). If the next
 * step is expected to be that of packed positions, the impulses are packed as well (packed_impulse.cuh). Whatever else
 * reads them then comes after unpack.cu.
 *
 * Trade-off: such a step has two kernels in place of a fused one, and what is owed is computed by each kernel that
 * reads velocities. The bits are the same, because it is the same arithmetic on the same numbers.
 */
#ifndef MD_GPU_MOVE_OWED_CUH
#define MD_GPU_MOVE_OWED_CUH

#include "common/step/step.h"
#include "gpu/move/launches.cuh"

/* In place of owed_work, in kernels to which it says that nothing is owed. */
struct nothing_owed {
};

/* Particle i at its present place, with what is owed to it. step: the one that begins now. */
template <class T>
static __device__ __forceinline__ md_particle settled(const system_view<T> &s, const owed_work<T> &owed,
                                                      const md_step &step, int i)
{
  typedef typename T::real real;
  md_particle p = particle_of<T>(s, owed.fields, i);
  if (owed.kicks != 0.0 && (p.group & step.moving)) {
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) {
      const real impulse = owed.impulse[d][i];
      if (T::WIDENS && p.wide)
        md_step_kick(owed.kicks * (double)impulse, owed.quantum, p.v_step, &p.v[d], &p.low[d]);
      else
        p.v[d] = (double)kicked((real)p.v[d], (real)owed.kicks, impulse, owed.quantum);
    }
  }
  if (owed.actions == 0) return p;
  const typename T::particle r = present_particle<T>(s, i);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) p.x[d] = T::where(s.scale, d, r.x[d]);
  for (int k = 0; k < owed.actions; ++k) {
    md_step_end(&owed.action[k], &step, &p);
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) p.v[d] = (double)(real)p.v[d];
  }
  return p;
}

#endif
