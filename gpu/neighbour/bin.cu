/* Counting: the cell of each particle, and how many particles and ghosts each cell has. One thread a particle.
 *
 * For the counting sort, the count of a cell before a particle is added is the number of the particle in its cell.
 * So the sort needs only the first particle of each cell in addition. Particles that are neighbours in memory are
 * neighbours in space, so that atomic additions mostly hit the same cache lines. The radix sort needs no counts,
 * but the cell numbers themselves. Ghosts are counted in the same pass.
 *
 * Bytes a particle: one record read, 8 written.
 */
#include "gpu/neighbour/launches.cuh"
#include "gpu/particle/images.cuh"

template <class T, bool TILTS>
static __global__ void k_bin(const __grid_constant__ system_view<T> s, int *count, int *ghost_count,
                             unsigned *ids, int *index)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  const typename T::particle x = wrapped<T, TILTS>(s, present_particle<T>(s, i));
  const int cell = cell_of<T>(s, x);
  if (ids) {
    ids[i] = (unsigned)cell;
    index[i] = i;
  } else {
    join_cell(s, count, i, cell);
  }
  if (ghost_count) each_image<T, TILTS>(s, x, [&](int, int c) { atomicAdd(&ghost_count[c], 1); });
}

template <class T>
md_status launch_bin(const launch &l, const system_view<T> &s, int *count, int *ghost_count, unsigned *ids,
                     int *index)
{
  if (s.box.by_axis)
    k_bin<T, !T::MIXED>
        <<<blocks_for(s.n, l.threads), l.threads, 0, l.stream>>>(s, count, ghost_count, ids, index);
  else
    k_bin<T, false>
        <<<blocks_for(s.n, l.threads), l.threads, 0, l.stream>>>(s, count, ghost_count, ids, index);
  MD_LAUNCHED("k_bin");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_bin<T>(const launch &, const system_view<T> &, int *, int *, unsigned *, int *);
MD_LAYOUTS(INSTANCE)
