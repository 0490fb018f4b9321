/* Particles between the host and the device.
 *
 *   1. Components are copied one at a time. A kernel first puts a component into the host's order, in a spare
 *      array (gpu/output/output.cu).
 *   2. On several ranks every rank copies its particles in the order of the device, and their ids as well.
 *
 * Ids and types in the host's arrays stay in their order. `origin` is the index of each particle in the host's
 * arrays, and results are brought back into that order.
 *
 * Trade-off: a copy needs no memory of its own, but one launch and one copy for each component. Cost: 16 bytes a
 * particle and dimension over the bus, at the start and for each download, or half of that for a download in mixed
 * precision. On several ranks the load is repeated when the cuts between domains are moved.
 */
#ifndef MD_GPU_STORAGE_TRANSFER_CUH
#define MD_GPU_STORAGE_TRANSFER_CUH

#include "common/bond/indices.h"
#include "gpu/engine/constants.cuh"
#include "gpu/storage/storage.cuh"

template <class T> struct gpu_transfer {
  typedef typename T::real real;

  gpu_core<T> &core;
  gpu_constants<T> &constants;
  gpu_storage<T> &storage;
  gpu_arrays &arrays = core.arrays;
  system_view<T> &view = core.view;
  gpu_ranks<T> &ranks = core.ranks;

  /* Copies the particles from the host, and makes grid and arrays for them; also after particles have changed their
   * rank through the host. Collective. */
  md_status load();
  md_status upload_subtypes(uint16_t *to);
  template <class W, class P> md_status download_words(const W *from, int64_t n, const P &put);
  md_status load_fields();
  md_status make_ids();
  md_status load_bonds();
  md_status upload_bonds(const md_bond_indices &indices);
  md_status load_molecules();

  /* Copies the particles to the host. The device rests. */
  md_status unload();
  md_status fetch_identities();
  /* On several ranks: copies numbers of 8 bytes that are by original index to the host, in the order of the device. */
  md_status fetch_by_origin(const device_array &from, void *to);
  md_status fetch_position(int d, double *to);
  md_status fetch_low();
  md_status fetch_pair_velocities();
  /* Copies one component. origin: as host_order(). */
  md_status fetch(const real *from, const int *origin, double *to);
  /* For fix external, within a step: copies positions to the host, on several ranks also ids, and its forces to the
   * device. In between the order of particles must stay. The idle position array is not touched. */
  md_status fetch_for_external();
  md_status load_external();
  /* Places of particles in the host's arrays. On several ranks: NULL, and particles come in the order of the
   * device. */
  const int *host_order() const { return core.several ? nullptr : core.step.origin; }
};

#endif
