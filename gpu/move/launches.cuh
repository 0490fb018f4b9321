/* The functions that launch the kernels that move particles. The rules of gpu/particle/launch.cuh hold. */
#ifndef MD_GPU_MOVE_LAUNCHES_CUH
#define MD_GPU_MOVE_LAUNCHES_CUH

#include "gpu/particle/launch.cuh"

/* What is owed to the velocities after a run (gpu/move/owed.cuh): `kicks` times the impulse, then actions. */
enum { OWED_ACTIONS = 2 };
template <class T> struct owed_work {
  double kicks;
  const typename T::real *impulse[3];
  double quantum; /* of impulses; 1 for mixed layouts */
  int actions;
  md_action action[OWED_ACTIONS];
  particle_fields fields;
};
/* gpu/move/settle.cu: gives it. step: the one that begins now. */
template <class T>
md_status launch_settle(const launch &, const system_view<T> &, const owed_work<T> &, const md_step &step);

/* gpu/move/move.cu: kick and drift in place, for every model. owed: is given first; or NULL. */
template <class T>
md_status launch_move(const launch &, int source, const system_view<T> &, const step_args &,
                      const typename T::real *const impulse[3], const owed_work<T> *owed);

/* gpu/move/move_scaled.cu: what launch_move() does with what is owed, for one mass, a box that is not tilted and
 * carries all particles, and actions that scale the velocities of all particles. */
template <class T> struct scaled_args {
  const typename T::real *impulse[3];
  const uint8_t *packed; /* of packed ones, for launch_move_packed(): their top bits; or NULL */
  double owed, v_step;   /* kicks that are owed */
  int scalings;
  struct {
    double factor[3], most; /* of each axis; the largest component that is left */
  } scaling[OWED_ACTIONS];
};
template <class T>
md_status launch_move_scaled(const launch &, int source, const system_view<T> &, const step_args &,
                             const scaled_args<T> &);
/* gpu/move/unpack.cu: makes doubles of packed impulses (gpu/move/packed_impulse.cuh), in place. */
md_status launch_unpack_impulses(const launch &, double *const impulse[3], const uint8_t *top, int n);
/* gpu/move/move_packed.cu: the same with lists in a periodic box without walls, on one rank. share: the displacement
 * that view.slack.common_path has of this step already. view.slack.longest_path must hold. */
md_status launch_move_packed(const launch &, const system_view<exact3_packed> &, const step_args &,
                             const scaled_args<exact3_packed> &, float share);

#endif
