/* Bonds on the device (common/bond/bond.h), for exact tagged layouts.
 *
 * Bonds do not change while an engine runs. What the bonds of a particle are stays where it is, by origin, while sorts
 * move the particle: the partners, the types of bonds, and the particles that have no pair force with it. At each
 * rebin, rows.cu makes of this what kernels read by the index that a particle has now:
 *
 *   row        indices of the partners of each particle, and the types of the bonds
 *   lists      entries of particles without a pair force are replaced by the particle itself, which kernels skip
 *
 *              one rank                                        several ranks
 *   partners   by their origins (`partner`)                    by their ids, in bond words that migrate with the
 *                                                              particle (gpu/ranks/bond_words.h)
 *   found      in `index`: the index by origin                 in a table of the ids of particles and ghosts, which a
 *                                                              rebin makes in the idle position array: the nearest one
 *   a partner  is a particle                                   is a particle, or a ghost; ghosts reach as far as the
 *                                                              longest bond (bond_reach in gpu/engine/configuration.h)
 *
 * Both particles of a bond evaluate it, at the nearest image of the partner. No thread writes the sum of another one.
 *
 * Trade-off: twice the arithmetic of one-sided bonds, for no atomics. Without lists nothing can be left out of the pair
 * forces, so that such models have lists.
 * Memory, for each particle: 6 bytes for a slot of a bond; and on one rank 4 bytes, 6 for a slot, and 4 for a slot of a
 * particle that is left out; on several ranks the bond words. Messages: at a rebin 8 bytes for each ghost.
 */
#ifndef MD_GPU_BONDS_BONDS_CUH
#define MD_GPU_BONDS_BONDS_CUH

#include "common/bond/partners.h"
#include "gpu/output/launches.cuh"
#include "gpu/ranks/bond_words.h"

/* The layouts that can have bonds, as those of styles with a density. */
template <class T> constexpr bool HAS_BONDS = !T::MIXED && T::TAGGED;

/* The indices of particles and ghosts by their ids: `slot` has index + 1 of the first particle of a chain, or 0, and
 * `next` that of the next one. Several images of a particle are in one chain. */
struct id_table {
  const int64_t *id; /* by index */
  int *next, *slot;  /* [total], [1 << bits] */
  int total, bits;
};

/* What kernels know of bonds. Slot k of particle i has number k * n + i. */
struct bond_args {
  md_bond_kind kind;
  int slots;    /* of bonds, of each particle; 0: there are no bonds */
  int left_out; /* slots of particles without a pair force */
  int n;
  const int *origin; /* of each particle */
  /* one rank: by origin */
  const int *partner; /* an origin; negative: the slot is empty */
  const uint16_t *type;
  const int *excluded; /* as partner */
  int *index;
  /* Several ranks: `words` bond words of each particle, by origin. left_out words from first_left_out on are ids of
   * particles without a pair force, and word first_type is the first one with types. The table is that of the last
   * rebin. */
  const int64_t *word;
  int words, first_left_out, first_type;
  id_table table_of_ids;
  /* by present index */
  int *row; /* MD_NO_PARTNER: the slot is empty; MD_PARTNER_LOST: the bond is too long */
  uint16_t *row_type;
  const double *table; /* coefficients [MD_BOND_TYPES_MAX + 1][MD_BOND_K] of impulses, or of forces */
  bool step;           /* as for launch_force() */
};

/* rows.cu: makes rows and, if there are lists, leaves particles out of them. */
template <class T>
md_status launch_bond_rows(const launch &, int source, const system_view<T> &, const bond_args &);

/* force.cu: adds the impulses of bonds, in quanta, to impulse[d][i], or their forces, in energy/length, to the forces
 * for output. A bond that is too long, or out of range, sets HALT_OVERLAP in control.overflow. */
template <class T>
md_status launch_bond_impulses(const launch &, const system_view<T> &, const bond_args &,
                               double *const impulse[3]);
template <class T>
md_status launch_bond_output(const launch &, const system_view<T> &, const bond_args &, double quantum,
                             double *const force[3]);

/* output.cu: adds energies of bonds to a sum, and their virials to that of pairs or to the components of the tensor.
 * tensor: if its array is NULL, energies and virials are wanted. */
struct bond_measure_args {
  fine_sums energy, pairs, tensor; /* of 1, SUMS and MD_TENSOR sums */
  double per_e, per_w;             /* as in measure_args */
};
template <class T>
md_status launch_bond_measure(const launch &, const system_view<T> &, const bond_args &,
                              const bond_measure_args &);

/* output.cu: as launch_find_overlap(), of bonds, for one stage of the search. */
template <class T>
md_status launch_find_bond(const launch &, const system_view<T> &, const bond_args &, const int64_t *id,
                           const int *origin, culprit *found, int stage);

#endif
