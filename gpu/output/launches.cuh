/* The functions that launch the kernels of output: energies, pressures, forces, copies for the host, and the search for
 * the particles of an error. The rules of gpu/particle/launch.cuh hold. */
#ifndef MD_GPU_OUTPUT_LAUNCHES_CUH
#define MD_GPU_OUTPUT_LAUNCHES_CUH

#include "gpu/move/launches.cuh"
#include "gpu/particle/launch.cuh"

struct density_args;
struct dissipation_args;
struct three_body_args;

/* gpu/output/sum_terms.cu: adds the terms of computes to MD_TERMS_MAX sums. */
struct term_args {
  fine_sums sum;
  const md_summand *summand; /* [nsummand] */
  int nsummand;
  uint64_t wanted; /* bit k: summand k is to be summed */
  bool places;     /* a summand needs positions */
  particle_fields fields;
};
/* owed, step: the terms are those of the velocities with what is owed to them (owed NULL: nothing). */
template <class T>
md_status launch_sum_terms(const launch &, const system_view<T> &, const term_args &,
                           const owed_work<T> *owed, const md_step &step);

/* gpu/output/measure.cu: adds energies and virials of pairs to the sums, if there is a pair style. An overlap sets
 * HALT_OVERLAP in control.overflow. */
enum { SUM_ENERGY, SUM_VIRIAL, SUMS };
struct measure_args {
  fine_sums sum;
  double per_e, per_w; /* factors to coarse quanta; per_w: for a force of the table times a length */
  const double *table; /* coefficients of forces, in double, or of impulses */
  double rounder;      /* 0; or, if the virial of impulses is wanted, alone: its rounder */
  bool in_place;       /* are the particles where steps move them, with their coarse positions? */
};
template <class T>
md_status launch_measure(const launch &, md_pair_kind, int source, const system_view<T> &,
                         const measure_args &);

/* gpu/output/virial_tensor.cu: adds the components of the virial of pairs to MD_TENSOR sums. An overlap sets
 * HALT_OVERLAP in control.overflow. */
struct tensor_args {
  fine_sums sum;
  md_pair_kind kind;
  double per_w, rounder; /* as in measure_args; with rounder: xx, yy and zz alone */
  const double *table;
};
template <class T>
md_status launch_tensor(const launch &, int source, const system_view<T> &, const tensor_args &);

/* gpu/output/output_force.cu: forces for output, in energy/length, as doubles in place of `coarse`; `rest` is scratch.
 * For exact layouts. */
struct output_force_args {
  md_pair_kind kind;
  const double *table;          /* coefficients of forces, in coarse quanta */
  double quantum;               /* the fine quantum */
  int64_t *coarse[3], *rest[3]; /* [n] each */
};
template <class T>
md_status launch_output_force(const launch &, int source, const system_view<T> &, const output_force_args &);

/* gpu/output/output.cu: copies particles between the arrays of the host's order and those of the device, one component
 * at a time, and adds particles to the bins of a map. origin: the index of each particle in the host's order; NULL: the
 * order of the device. */
template <class T>
md_status launch_load_position(const launch &, const system_view<T> &, int d, const double *from);
template <class T>
md_status launch_load_velocity(const launch &, const system_view<T> &, int d, const double *from);
template <class T> md_status launch_load_type(const launch &, const system_view<T> &, const uint16_t *from);
md_status launch_load_origin(const launch &, int n, int *origin);
template <class T>
md_status launch_unload_position(const launch &, const system_view<T> &, int d, const int *origin,
                                 typename T::position *to);
template <class T>
md_status launch_unload(const launch &, int n, const typename T::real *from, const int *origin,
                        typename T::real *to);
template <class T>
md_status launch_histogram(const launch &, const system_view<T> &, const md_histogram &,
                           const particle_fields &, unsigned long long *sum);

/* gpu/output/diagnose.cu: finds the pair or particle of an error; of several, that with the smallest ids.
 * stage: of the search for a pair, from 0 to FIND_STAGES - 1 (gpu/output/search.cuh). found: on the device. origin: the
 * index of each particle in `id`; NULL: `id` is by local index, ghosts included. Slopes of a style with a density, and
 * states of a dissipative one, are those of the present positions. */
struct culprit {
  unsigned long long a, b; /* the ids of a pair; or an id and an axis */
  double r2, x, v;
  int type; /* 0-based */
};
template <class T>
md_status launch_find_overlap(const launch &, int source, const system_view<T> &, const density_args &,
                              const three_body_args &, const dissipation_args &, const int64_t *id,
                              const int *origin, culprit *found, int stage);
template <class T>
md_status launch_find_runaway(const launch &, const system_view<T> &, const step_args &, const int64_t *id,
                              const int *origin, culprit *found);

#endif
