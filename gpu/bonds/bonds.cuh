/* Bonds on the device (common/bond/bond.h), for exact tagged layouts on one rank.
 *
 * Bonds do not change while an engine runs. So what a particle's bonds are stays where it is, by original index: the
 * original indices of partners, the types of bonds, and the particles that have no pair force with it. At each rebin,
 * rows.cu makes of this what kernels read by the index that a particle has now:
 *
 *   place      the index of each particle, by original index
 *   row        indices of the partners of each particle, and the types of the bonds
 *   lists      entries of particles without a pair force are replaced by the particle itself, which kernels skip
 *
 * Both particles of a bond evaluate it, at the nearest image of the whole positions. No thread writes the sum of
 * another one, and ghosts play no part.
 *
 * Trade-off: twice the arithmetic of one-sided bonds, for no atomics. Without lists nothing can be left out of the pair
 * forces, so that such models have lists.
 * Memory: for each particle 4 bytes, 12 for a slot of a bond, and 4 for a slot of a particle that is left out.
 */
#ifndef MD_GPU_BONDS_BONDS_CUH
#define MD_GPU_BONDS_BONDS_CUH

#include "common/bond/bond.h"
#include "gpu/particle/launch.cuh"

/* The layouts that can have bonds, as those of styles with a density. */
template <class T> constexpr bool HAS_BONDS = !T::MIXED && T::TAGGED;

/* What kernels know of bonds. Slot k of particle i has number k * n + i. */
struct bond_args {
  md_bond_kind kind;
  int slots;    /* of bonds, of each particle; 0: there are no bonds */
  int left_out; /* slots of particles without a pair force */
  int n;
  /* by original index */
  const int *partner; /* original index; negative: the slot is empty */
  const uint16_t *type;
  const int *excluded; /* as partner */
  int *place;
  /* by present index */
  int *row;
  uint16_t *row_type;
  const double *table; /* coefficients [MD_BOND_TYPES_MAX + 1][MD_BOND_K] of impulses, or of forces */
  bool step;           /* as for launch_force() */
};

/* rows.cu: makes places, rows and, if there are lists, leaves particles out of them. */
template <class T>
md_status launch_bond_rows(const launch &, int source, const system_view<T> &, const bond_args &,
                           const int *origin);

/* force.cu: adds the impulses of bonds, in quanta, to impulse[d][i], or their forces, in energy/length, to the forces
 * for output. A bond that is too long, or out of range, sets HALT_OVERLAP in control.overflow. */
template <class T>
md_status launch_bond_impulses(const launch &, const system_view<T> &, const bond_args &,
                               double *const impulse[3]);
template <class T>
md_status launch_bond_output(const launch &, const system_view<T> &, const bond_args &, double quantum,
                             double *const force[3]);

/* measure.cu: adds energies of bonds to a sum, and their virials to that of pairs or to the components of the tensor.
 * tensor: if its array is NULL, energies and virials are wanted. */
struct bond_measure_args {
  fine_sums energy, pairs, tensor; /* of 1, SUMS and MD_TENSOR sums */
  double per_e, per_w;             /* as in measure_args */
};
template <class T>
md_status launch_bond_measure(const launch &, const system_view<T> &, const bond_args &,
                              const bond_measure_args &);

/* find.cu: as launch_find_overlap(), of bonds, for one stage of the search. */
template <class T>
md_status launch_find_bond(const launch &, const system_view<T> &, const bond_args &, const int64_t *id,
                           const int *origin, culprit *found, int stage);

#endif
