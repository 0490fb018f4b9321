/* The list check: do the lists still hold every pair within the cutoff, although some particles are beyond the
 * slack?
 *
 * As long as no path exceeds half the skin (the slack), lists miss no pair. The first particles that exceed it are
 * a few out of millions. A pair can be missing only if the paths of its two particles together exceed the skin:
 *   1. The steps note the particles beyond the slack, the fast particles (slack_used in gpu/move/kick_drift.cuh).
 *   2. After each step, one block for each fast particle looks at all particles within the cutoff of it.
 *   3. If one of these has used more of the skin than the fast particle left over, the lists are stale.
 *
 * So lists last a quarter longer, until two fast particles meet.
 *
 * Why this is enough: let p and p' be the paths of two particles, less the extras e and e' of their lists
 * (sort.cu). Lists hold all pairs that were within reach + e + e' at the rebin. A pair that is within the cutoff
 * now was within cutoff + (p + e) + (p' + e') then. So no pair is missing if p + p' <= skin. Ghosts of other ranks
 * come without a path. For such a ghost the distance from its place at the rebin is taken instead.
 *
 * In a box that fixes change, the cells of the rebin go with the box, and the check looks at the cells where they are
 * now. What the box changes distances by is no path: the lists have room for it beside the slack
 * (gpu/engine/configuration.cu, LIST_KEPT).
 *
 * A fast particle finds its partners in the cells around its present cell, if no particle has moved farther than the
 * width of a cell less the cutoff. gpu/engine/configuration.cu makes sure of this. Ghosts that were outside the halo
 * at the rebin matter only to a fast particle that is far outside the faces of its domain. In this case the lists
 * count as stale.
 *
 * Trade-off and cost: lists last longer, for one more launch a step, and for the positions in 27 cells for each
 * fast particle.
 */
#include "gpu/neighbour/for_each.cuh"
#include "gpu/neighbour/launches.cuh"
#include "gpu/particle/images.cuh"

/* About the number of multiprocessors of a GPU. More are not needed, because fast particles are few. */
constexpr int CHECK_BLOCKS = 128;

/* The path, at most, of a ghost whose source is on another rank: the distance of the ghost from its place at the
 * rebin, less the extra of its source. */
template <class T>
static __device__ __forceinline__ float path_of_foreign(const system_view<T> &s, int ghost,
                                                        const typename T::record &now)
{
  const typename T::particle then = s.ghost.received[s.ghost.order[ghost]];
  const typename T::record record = image_by<T>(s, record_of<T>(s, then), s.ghost.shift[ghost]);
  float gone = (float)sqrt(wide_separation<T>(s.scale, now, record));
  if constexpr (T::MIXED)
    gone += 2.0f * (s.scale.unit_single[0] + s.scale.unit_single[1] + s.scale.unit_single[2]);
  return gone * (1.0f + 0x1p-20f) + path_of(then);
}

/* Is the particle so far outside its domain that ghosts may be missing? */
template <class T>
static __device__ __forceinline__ bool is_outside_halo(const system_view<T> &s, const typename T::particle &x)
{
  bool out = false;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    const double lo = s.grid.lo[d], hi = lo + (s.grid.count[d] - 2 * s.grid.border[d]) * s.grid.width[d];
    const double at = T::where(s.scale, d, x.x[d]);
    out = out || (s.ghost.start && s.ghost.depth[d] > 0 &&
                  !(at >= lo - s.slack.outside && at <= hi + s.slack.outside));
  }
  return out;
}

/* May a pair of fast particle i be missing, whose partner is in row number `row` of the cells around it? All lanes
 * of a warp call it, and each lane gets the answer for the candidates that it looked at. */
template <class T>
static __device__ __forceinline__ bool may_lack(const system_view<T> &s, unsigned parity, int i, int row)
{
  const typename T::record *x = s.x[parity], xi = load_record(x + i);
  const typename T::particle fast = load_particle<T>(s, parity, i);
  const double cutoff2 = (double)s.pair.k[0] * (1.0 + 1e-6);
  const float left = 2.0f * s.slack.most - whole_path<T>(s, path_of(fast));
  const int lane = threadIdx.x & 31, reach = s.grid.border[0];
  bool lacks = is_outside_halo<T>(s, fast);
  int c[3], begin, end;
  cell_at<T>(s, fast, c);
  const int first = cell_number<T::DIM>(s.grid, c) + (T::DIM == 3 ? row / 3 - 1 : 0) * s.grid.layer +
                    (row % 3 - 1) * s.grid.row - reach;
  cell_range(s.grid.start, first, 2 * reach + 1, begin, end);
  for (int j = begin + lane; j < end; j += 32) {
    if (j == i || !(wide_separation<T>(s.scale, xi, load_record(x + j)) < cutoff2)) continue;
    lacks = lacks || !(whole_path<T>(s, path_of(load_particle<T>(s, parity, j))) <= left);
  }
  if (!s.ghost.start || !near_border<T::DIM>(s.grid, s.ghost, c)) return lacks;
  cell_range(s.ghost.start, ghost_cell(s.ghost, first), 2 * reach + 1, begin, end);
  end = min(end, s.ghost.capacity);
  for (int g = begin + lane; g < end; g += 32) {
    if (own_image<T>(s, i, s.n + g)) continue;
    const int owner = s.ghost.source[g];
    const typename T::record now = owner < 0 ? load_record(x + s.n + g) : image_of<T>(s, x, g);
    if (!(wide_separation<T>(s.scale, xi, now) < cutoff2)) continue;
    const float path = owner < 0 ? path_of_foreign<T>(s, g, now)
                                 : whole_path<T>(s, path_of(load_particle<T>(s, parity, owner)));
    lacks = lacks || !(path <= left);
  }
  return lacks;
}

/* A block checks one fast particle at a time, and each of its warps one row of cells. */
template <class T>
static __global__ void k_check_lists(const __grid_constant__ system_view<T> s, unsigned launch)
{
  await_launches();
  step_slot *step = &s.ctl->slot[launch % SLOTS];
  const unsigned beyond_slack = step->beyond_slack;
  const progress now = after(*step);
  if (beyond_slack == 0 || now.halt) return;
  bool stale = beyond_slack > MOST_BEYOND_SLACK;
  for (unsigned k = blockIdx.x; k < beyond_slack && !stale; k += gridDim.x)
    stale = may_lack<T>(s, now.parity, s.slack.beyond[k], (int)(threadIdx.x / 32));
  if (stale) atomicMax(&step->usage, (unsigned)__float_as_int(INFINITY));
}

template <class T> md_status launch_check_lists(const launch &l, const system_view<T> &s, unsigned step)
{
  launch few = l;
  few.threads = 32 * (T::DIM == 3 ? 9 : 3);
  return launch_early(few, CHECK_BLOCKS, "launch of k_check_lists", k_check_lists<T>, s, step);
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_check_lists<T>(const launch &, const system_view<T> &, unsigned);
INSTANCE(exact2_tagged)
INSTANCE(exact3_tagged)
INSTANCE(exact3_packed)
INSTANCE(mixed2_tagged)
INSTANCE(mixed3_tagged)
