/* The functions that launch the kernels of three-body styles. The rules of gpu/particle/launch.cuh hold. */
#ifndef MD_GPU_THREE_BODY_LAUNCHES_CUH
#define MD_GPU_THREE_BODY_LAUNCHES_CUH

#include "common/pair/three_body/three_body.h"
#include "gpu/output/launches.cuh"

/* gpu/three_body/force.cu: three-body styles (common/pair/three_body/three_body.h), for exact tagged layouts.
 * launch_three_sums() finds what owned particles keep, and launch_three_force() sums impulses into impulse[d][i]. An
 * overlap sets HALT_OVERLAP in control.overflow. */
template <class T> constexpr bool HAS_THREE_BODIES = !T::MIXED && T::TAGGED;
enum { KEPT_PARTS = MD_THREE_SUMS / 2 };
struct three_body_args {
  md_three_body three; /* legs and elements in device memory; not phi, which is in the table */
  md_pair_kind kind;
  double reach2; /* the largest cutoff, squared */
  double2 *kept; /* [KEPT_PARTS][stride] of owned particles and ghosts; NULL: the style has no three bodies */
  int64_t stride;      /* from one part to the next */
  const double *table; /* coefficients of pairs: for impulses, or for coarse quanta of grids.f */
  bool step;           /* as for launch_force() */
};
template <class T>
md_status launch_three_sums(const launch &, int source, const system_view<T> &, const three_body_args &);
template <class T>
md_status launch_three_force(const launch &, int source, const system_view<T> &, const three_body_args &,
                             double *const impulse[3]);
/* gpu/three_body/output.cu: the same as launch_measure(), launch_tensor() and launch_output_force(). */
template <class T>
md_status launch_three_measure(const launch &, int source, const system_view<T> &, const three_body_args &,
                               const measure_args &);
template <class T>
md_status launch_three_tensor(const launch &, int source, const system_view<T> &, const three_body_args &,
                              const tensor_args &);
template <class T>
md_status launch_three_output(const launch &, int source, const system_view<T> &, const three_body_args &,
                              const output_force_args &);

#endif
