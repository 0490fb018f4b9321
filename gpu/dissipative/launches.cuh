/* The functions that launch the kernels of styles with friction and noise. The rules are those of
 * gpu/particle/launch.cuh. */
#ifndef MD_GPU_DISSIPATIVE_LAUNCHES_CUH
#define MD_GPU_DISSIPATIVE_LAUNCHES_CUH

#include "common/pair/dissipative/dissipative.h"
#include "gpu/output/launches.cuh"

/* gpu/dissipative/force.cu: styles whose force depends on velocities and random numbers
 * (common/pair/dissipative/dissipative.h), for exact tagged layouts. The state of a particle or ghost is what its
 * neighbours read besides its record. launch_pair_states() makes those of owned particles, and
 * launch_dissipative_force() sums impulses into impulse[d][i]. An overlap sets
 * HALT_OVERLAP in control.overflow. */
template <class T> constexpr bool HAS_DISSIPATION = !T::MIXED && T::TAGGED && !T::PACKED;
struct alignas(32) pair_state {
  double v[3]; /* velocity after the last drift */
  int64_t id;
};
/* Which velocities are those after the last drift: in a step the present ones, but in the first step of a run `kept`;
 * at the end of a run the present ones, which are then kept; or always those that are kept. */
enum states_from { STATES_OF_STEP, STATES_AT_END, STATES_KEPT };
struct dissipation_args {
  md_dissipation_course course;
  int64_t begun; /* the step of the present positions; STATES_OF_STEP: the step with which the run began */
  states_from from;
  bool step; /* as for launch_force() */
  particle_fields fields;
  double quantum;         /* of momenta */
  double *kept[3];        /* velocities by origin */
  pair_state *state;      /* NULL: no such style */
  md_dissipation *shared; /* of all pairs */
  bool hybrid;            /* the style is one of several (common/pair/hybrid/hybrid.h) */
};
template <class T>
md_status launch_pair_states(const launch &, const system_view<T> &, const dissipation_args &);
template <class T>
md_status launch_dissipative_force(const launch &, int source, const system_view<T> &,
                                   const dissipation_args &, double *const impulse[3]);
/* gpu/dissipative/output.cu: the same as launch_measure(), launch_tensor() and launch_output_force(). */
template <class T>
md_status launch_dissipative_measure(const launch &, int source, const system_view<T> &,
                                     const dissipation_args &, const measure_args &);
template <class T>
md_status launch_dissipative_tensor(const launch &, int source, const system_view<T> &,
                                    const dissipation_args &, const tensor_args &);
template <class T>
md_status launch_dissipative_output(const launch &, int source, const system_view<T> &,
                                    const dissipation_args &, const output_force_args &);

#endif
