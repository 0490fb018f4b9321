/* The kernel of the halo of bricks: which particles are ghosts of which rank, by which shift.
 *
 *   1. A region is the own cells whose particles one rank may need by one shift (gpu/ranks/bricks.inc).
 *   2. The cells of all regions have consecutive numbers. One thread takes one cell: it finds the region by bisection,
 *      and compares the particles of the cell with the bounds of the region.
 *   3. The kernel runs twice: first it counts, and then it makes the lists.
 *
 * Trade-off: lists lie one after another without gaps, so that one launch packs them all. In return the particles of
 * the regions are read twice. Cost: 16 to 32 bytes read for each of these particles, 8 bytes written for each ghost.
 */
#include "gpu/particle/view.cuh"
#include "gpu/ranks/exchange.cuh"

/* The region that has cell k. */
static __device__ int region_of(const brick_region *region, int n, int64_t k)
{
  int low = 0, high = n;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (k >= region[middle].before)
      low = middle;
    else
      high = middle;
  }
  return low;
}

template <class T>
static __device__ __forceinline__ bool within(const system_view<T> &s, const brick_region &r,
                                              const typename T::particle &p)
{
  bool inside = true;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    const double x = T::where(s.scale, d, p.x[d]);
    inside = inside && x >= r.from[d] && x < r.to[d];
  }
  return inside;
}

template <class T>
static __global__ void k_select_regions(const __grid_constant__ system_view<T> s, int n, int64_t cells,
                                        const brick_region *region, int *cursor, int *send, int *code)
{
  const int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (k >= cells) return;
  const int which = region_of(region, n, k);
  const brick_region r = region[which];
  const int64_t of = k - r.before;
  const int x = r.first[0] + (int)(of % r.size[0]), y = r.first[1] + (int)(of / r.size[0] % r.size[1]),
            z = r.first[2] + (int)(of / r.size[0] / r.size[1]);
  const int cell = x + y * s.grid.row + z * s.grid.layer;
  for (int i = s.grid.start[cell]; i < s.grid.start[cell + 1]; ++i) {
    if (!within<T>(s, r, present_particle<T>(s, i))) continue;
    const int at = atomicAdd(&cursor[which], 1);
    if (!send) continue;
    send[at] = i;
    code[at] = r.code;
  }
}

template <class T>
md_status launch_select_regions(const launch &l, const system_view<T> &s, int n, int64_t cells,
                                const brick_region *region, int *cursor, int *send, int *code)
{
  if (cells == 0 || s.n == 0) return MD_OK;
  k_select_regions<T>
      <<<blocks_for(cells, l.threads), l.threads, 0, l.stream>>>(s, n, cells, region, cursor, send, code);
  MD_LAUNCHED("k_select_regions");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_select_regions<T>(const launch &, const system_view<T> &, int, int64_t,          \
                                              const brick_region *, int *, int *, int *);
MD_LAYOUTS(INSTANCE)
