/* Pairs that molecules exclude (common/molecules.h), for tagged layouts.
 *
 * Lists leave them out, and forces, energies and virials are made of lists. So a model with such exclusions has lists.
 * A rebin makes the lists of all pairs first, and then:
 *
 *   1. k_molecule_marks gives each particle its mark, by the index that the particle has now: the molecule in the upper
 *      32 bits, and the bits of its groups in the lower ones. Marks lie in the idle position array.
 *   2. On several ranks ghosts get the marks of their sources. On one rank a ghost has that of its source.
 *   3. k_leave_molecules_out goes through the list of each particle. It keeps the other entries, and makes the list
 *      shorter.
 *
 * Trade-off: the kernel that makes lists knows nothing of molecules, and models without exclusions pay nothing. In
 * return lists are read and written once more. Memory for each particle: on one rank 4 bytes; on several ranks none,
 * because molecules are in the bond words (gpu/ranks/bond_words.h). Messages: at a rebin 8 bytes for each ghost.
 * Cost at a rebin: 16 bytes a particle, 16 bytes for each four neighbours, and a mark for each neighbour.
 * Reference: the LAMMPS manual, neigh_modify.
 */
#ifndef MD_GPU_NEIGHBOUR_MOLECULES_CUH
#define MD_GPU_NEIGHBOUR_MOLECULES_CUH

#include "common/molecules.h"
#include "gpu/particle/launch.cuh"

/* What kernels know of molecules. */
struct molecule_args {
  md_molecules exclusions;
  const uint32_t *molecule; /* that of a particle has number `stride` times its original index */
  int stride;
  const uint32_t *group; /* bits of groups by original index; NULL: all particles are in `all` only */
  const int *origin;     /* of each particle */
  bool spread;           /* ghosts have marks of their own */
};

/* Fills the marks of particles, in the idle position array. */
template <class T>
md_status launch_molecule_marks(const launch &, const system_view<T> &, const molecule_args &);

/* Leaves pairs out of the lists that have just been made. The marks are there. */
template <class T>
md_status launch_leave_molecules_out(const launch &, const system_view<T> &, const molecule_args &);

#endif
