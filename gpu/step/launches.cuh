/* The functions that launch the kernels of forces and of whole steps. The rules of gpu/particle/launch.cuh hold. */
#ifndef MD_GPU_STEP_LAUNCHES_CUH
#define MD_GPU_STEP_LAUNCHES_CUH

#include "common/spring/centre.h"
#include "gpu/neighbour/launches.cuh"
#include "gpu/particle/launch.cuh"

struct measure_args;

/* gpu/step/step_cells_2d.cu, gpu/step/step_cells_3d.cu, gpu/step/step_list.cu: force, kick and drift of one step in one
 * kernel, for models that are fused (gpu_configuration). Only launch_step_cells_2d(), for plain layouts, can do the
 * work of a rebin (next_order): for all particles without ghosts, or for both parts of a step. */
template <class T>
md_status launch_step_cells_2d(const launch &, md_pair_kind, const system_view<T> &, const step_args &,
                               const next_order<T> &);
template <class T>
md_status launch_step_cells_3d(const launch &, md_pair_kind, const system_view<T> &, const step_args &);
template <class T>
md_status launch_step_list(const launch &, md_pair_kind, const system_view<T> &, const step_args &);
/* gpu/step/steps_list.cu: takes up to `steps` steps, as launch_step_list() does, on one rank. lanes_staying() must not
 * be 0, and the view must have ghost.of if there are ghosts. */
template <class T>
md_status launch_steps_list(const launch &, md_pair_kind, const system_view<T> &, const step_args &,
                            unsigned steps);
/* gpu/step/step_dense.cu: does the same as launch_step_cells_3d(). It is faster where cells hold many particles. */
template <class T>
md_status launch_step_dense(const launch &, md_pair_kind, const system_view<T> &, const step_args &);

/* gpu/step/force_list.cu: sums impulses into impulse[d][i], as launch_force() does, for one type and momenta that are
 * not wide. */
template <class T>
md_status launch_force_list(const launch &, md_pair_kind, const system_view<T> &,
                            typename T::real *const impulse[3], bool step);

/* gpu/step/force.cu: sums impulses (or forces: what the table of the view holds) into impulse[d][i]. step: the kernel
 * is part of a step, so it does nothing if the system is idle, and an overlap stops the step. Else it sums in any
 * case. */
template <class T>
md_status launch_force(const launch &, md_pair_kind, int source, const system_view<T> &,
                       typename T::real *const impulse[3], bool step);
/* gpu/step/force_cells_2d.cu: the same bits, with the variant that the options sorted, padded, unrolled and staged
 * select; from cells, without ghosts, for styles with kernels of their own. order: from launch_index(), or NULL if the
 * particles are sorted. */
md_status launch_force_cells_2d(const launch &, md_pair_kind, const md_gpu_options &,
                                const system_view<exact2> &, const int *order, double *const impulse[3],
                                bool step);
/* gpu/step/force_symmetric.cu: the same bits, but each pair is evaluated once, and atomics add its impulse to both
 * partners. For exact layouts. */
template <class T>
md_status launch_force_symmetric(const launch &, md_pair_kind, int source, const system_view<T> &,
                                 double *const impulse[3], bool step);

/* gpu/step/fix_force.cu: fixes that act on forces, on impulses that launch_force() has summed. A force out of range
 * counts as an overlap. */
struct fix_force_args {
  particle_fields fields;
  const md_force_action *action; /* [count] */
  int count;
  int stride; /* if step: the distance in `action` between the actions of two steps; 0: all have the same */
  double scale, quantum;     /* quanta in a unit of force; value of a quantum in the arrays of impulses */
  const double *anchor[3];   /* by original index; NULL: particles have no anchors */
  const double *external[3]; /* the same, of the forces of fix external */
  bool step;                 /* as for launch_force() */
};
template <class T>
md_status launch_fix_force(const launch &, const system_view<T> &, const fix_force_args &,
                           typename T::real *const impulse[3]);
/* Adds the impulses on the group of a.action[0], in quanta, to the first dim of MD_TERMS_MAX fine sums. */
template <class T>
md_status launch_sum_impulses(const launch &, const system_view<T> &, const fix_force_args &,
                              typename T::real *const impulse[3], fine_sums);

/* Adds the terms of the particles of type t of the group to the fine sums number t MD_CENTRE_TERMS and on, of
 * MD_TERMS_MAX. */
template <class T>
md_status launch_sum_centre(const launch &, const system_view<T> &, const particle_fields &,
                            const md_centre &, int ntypes, fine_sums);

/* gpu/step/awaited.cu: sums impulses as launch_force_list() does, and what a fix awaits after the step, into
 * control.awaited, which is 0 before: the kinetic energy of velocities that are complete with `kicks` times the
 * impulse; and for exact layouts what launch_measure() adds to the virial of impulses, or what launch_tensor() adds to
 * its xx, yy and zz, then with these components of the kinetic energy. */
template <class T> constexpr bool SUMS_VIRIAL = !T::MIXED && T::TAGGED;
template <class T> struct awaited_args {
  typename T::real *impulse[3];
  bool speculative; /* do nothing if the lists do not hold or have no room */
  uint8_t *packs; /* store packed impulses, with their top bits here (gpu/move/packed_impulse.cuh); or NULL */
  bool kinetic;
  int virial;            /* the number of sums of the virial: 0, 1, or T::DIM */
  double kicks, quantum; /* the value of a quantum of impulses; 1 for mixed layouts */
  double velocity_per_v, mass_reference, per_unit; /* as md_ke_add() needs them */
  double rounder;                                  /* as in measure_args */
};
template <class T>
md_status launch_awaited(const launch &, md_pair_kind, const system_view<T> &, const awaited_args<T> &);

/* gpu/step/force_naive.cu: every pair, at its minimum image, without cells or lists. For exact tagged layouts, packed
 * ones excluded. */
template <class T>
md_status launch_force_all(const launch &, md_pair_kind, const system_view<T> &, double *const impulse[3],
                           bool step);
template <class T>
md_status launch_measure_all(const launch &, md_pair_kind, const system_view<T> &, const measure_args &);

#endif
