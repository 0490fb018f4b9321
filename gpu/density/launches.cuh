/* The functions that launch the kernels of styles with a density. The rules of gpu/particle/launch.cuh hold. */
#ifndef MD_GPU_DENSITY_LAUNCHES_CUH
#define MD_GPU_DENSITY_LAUNCHES_CUH

#include "common/pair/tables/density.h"
#include "gpu/output/launches.cuh"

/* gpu/density/force.cu: styles with a density (common/pair/tables/eam.h), for exact tagged layouts. launch_densities()
 * finds the slopes of owned particles, and launch_density_force() sums impulses into impulse[d][i]. An overlap sets
 * HALT_OVERLAP in control.overflow. */
template <class T> constexpr bool HAS_DENSITIES = !T::MIXED && T::TAGGED;
struct density_args {
  md_eam eam;    /* tables and elements in device memory */
  double *slope; /* of owned particles and ghosts; NULL: the style has no densities */
  double scale;  /* of forces: to impulses, or to coarse quanta of grids.f */
  bool step;     /* as for launch_force() */
};
template <class T>
md_status launch_densities(const launch &, int source, const system_view<T> &, const density_args &);
template <class T>
md_status launch_density_force(const launch &, int source, const system_view<T> &, const density_args &,
                               double *const impulse[3]);
/* gpu/density/output.cu: the same as launch_measure(), launch_tensor() and launch_output_force(). */
template <class T>
md_status launch_density_measure(const launch &, int source, const system_view<T> &, const density_args &,
                                 const measure_args &);
template <class T>
md_status launch_density_tensor(const launch &, int source, const system_view<T> &, const density_args &,
                                const tensor_args &);
template <class T>
md_status launch_density_output(const launch &, int source, const system_view<T> &, const density_args &,
                                const output_force_args &);

#endif
