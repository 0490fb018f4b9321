/* The kernel of the halo by regions: which particles are ghosts of which rank, by which shift.
 *
 *   1. A region is the own cells whose particles one rank may need by one shift (gpu/ranks/regions.inc).
 *   2. Rows of cells along x are cut into pieces. The particles of a piece lie one after another. The pieces of all
 *      regions have consecutive numbers. A warp takes one piece: it finds the region by bisection, and compares the
 *      particles with the bounds of the region, one with each lane.
 *   3. The kernel runs twice: first it counts, and then it makes the lists. In both a warp counts the particles of its
 *      piece first, so that it adds to the counter of the region once.
 *
 * Trade-off: lists lie one after another without gaps, so that one launch packs them all. In return the particles of
 * the regions are read twice. Cost: 16 to 32 bytes read for each of these particles, 8 bytes written for each ghost.
 */
#include "gpu/particle/view.cuh"
#include "gpu/ranks/exchange.cuh"

/* The region that has piece k. */
static __device__ int region_of(const cell_region *region, int n, int64_t k)
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
static __device__ __forceinline__ bool within(const system_view<T> &s, const cell_region &r,
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
static __global__ void k_select_regions(const __grid_constant__ system_view<T> s,
                                        const __grid_constant__ region_selection f)
{
  const int64_t k = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / 32;
  if (k >= f.pieces) return;
  const int lane = threadIdx.x & 31, which = region_of(f.region, f.n, k);
  const cell_region r = f.region[which];
  const int64_t of = k - r.before, row = of / r.pieces;
  const int x = (int)(of % r.pieces) * f.length;
  const int y = r.first[1] + (int)(row % r.size[1]), z = r.first[2] + (int)(row / r.size[1]);
  const int cell = r.first[0] + x + y * s.grid.row + z * s.grid.layer;
  const int begin = s.grid.start[cell], end = s.grid.start[cell + min(f.length, r.size[0] - x)];
  const auto sent = [&](int i) { return i < end && within<T>(s, r, present_particle<T>(s, i)); };
  int hits = 0, at = 0;
  for (int i = begin; i < end; i += 32) hits += __popc(__ballot_sync(0xffffffffu, sent(i + lane)));
  if (lane == 0 && hits > 0) at = atomicAdd(&f.cursor[which], hits);
  if (!f.send) return;
  at = __shfl_sync(0xffffffffu, at, 0);
  for (int i = begin; i < end; i += 32) {
    const bool hit = sent(i + lane);
    const unsigned all = __ballot_sync(0xffffffffu, hit);
    const int to = at + __popc(all & ((1u << lane) - 1u));
    at += __popc(all);
    if (!hit || to >= f.capacity) continue;
    f.send[to] = i + lane;
    f.code[to] = r.code;
  }
}

template <class T>
md_status launch_select_regions(const launch &l, const system_view<T> &s, const region_selection &f)
{
  if (f.pieces == 0 || s.n == 0) return MD_OK;
  k_select_regions<T><<<blocks_for(f.pieces * 32, l.threads), l.threads, 0, l.stream>>>(s, f);
  MD_LAUNCHED("k_select_regions");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_select_regions<T>(const launch &, const system_view<T> &,                        \
                                              const region_selection &);
MD_LAYOUTS(INSTANCE)
