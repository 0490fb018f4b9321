/* The positions of ghosts, and other values, from those of their sources on the same rank. One thread a ghost. Only the
 * device knows how many ghosts there are, so the launch has a thread for each entry of the ghost arrays.
 *
 * Bytes a ghost: 8 and two records.
 */
#include "gpu/dissipative/launches.cuh"
#include "gpu/neighbour/launches.cuh"
#include "gpu/particle/images.cuh"

template <class T> static __global__ void k_periodic_images(const __grid_constant__ system_view<T> s)
{
  await_launches();
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= min(s.ghost.start[s.grid.total], s.ghost.capacity)) return;
  typename T::record *x = present(s);
  x[s.n + g] = image_of<T>(s, x, g);
}

template <class T> md_status launch_periodic_images(const launch &l, const system_view<T> &s)
{
  return launch_early(l, blocks_for(s.ghost.capacity, l.threads), "launch of k_periodic_images",
                      k_periodic_images<T>, s);
}

template <class T, class VALUE>
static __global__ void k_image_values(const __grid_constant__ system_view<T> s, VALUE *value)
{
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g < min(s.ghost.start[s.grid.total], s.ghost.capacity)) value[s.n + g] = value[s.ghost.source[g]];
}

template <class T, class VALUE>
md_status launch_image_values(const launch &l, const system_view<T> &s, VALUE *value)
{
  k_image_values<T><<<blocks_for(s.ghost.capacity, l.threads), l.threads, 0, l.stream>>>(s, value);
  MD_LAUNCHED("k_image_values");
  return MD_OK;
}

#define INSTANCE(T) template md_status launch_periodic_images<T>(const launch &, const system_view<T> &);
MD_LAYOUTS(INSTANCE)
#define VALUES(T)                                                                                            \
  template md_status launch_image_values<T>(const launch &, const system_view<T> &, double *);               \
  template md_status launch_image_values<T>(const launch &, const system_view<T> &, double2 *);              \
  template md_status launch_image_values<T>(const launch &, const system_view<T> &, pair_state *);
MD_EXACT_TAGGED_LAYOUTS(VALUES)
