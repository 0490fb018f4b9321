/* The positions of ghosts, from those of their sources on the same rank. One thread a ghost. Only the device knows
 * how many ghosts there are, so the launch has a thread for each place that the ghost arrays have.
 *
 * Bytes a ghost: 8 and two records.
 */
#include "gpu/particle/images.cuh"
#include "gpu/particle/launch.cuh"

template <class T> static __global__ void k_halo(const __grid_constant__ system_view<T> s)
{
  await_launches();
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= min(s.ghost.start[s.grid.total], s.ghost.capacity)) return;
  typename T::record *x = present(s);
  x[s.n + g] = image_of<T>(s, x, g);
}

template <class T> md_status launch_halo(const launch &l, const system_view<T> &s)
{
  return launch_early(l, blocks_for(s.ghost.capacity, l.threads), "launch of k_halo", k_halo<T>, s);
}

#define INSTANCE(T) template md_status launch_halo<T>(const launch &, const system_view<T> &);
MD_LAYOUTS(INSTANCE)
