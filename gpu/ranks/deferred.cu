/* Kernels of deferred migration (gpu/ranks/deferred.inc): the beginnings of cells at the cuts, and the lists of what
 * is sent.
 *
 * Both kernels for beginnings copy the beginnings of cells of some rows, one thread for each number:
 *   1. k_pack_starts writes those of the rows that a neighbour looks at, as places in the message that has their
 *      particles.
 *   2. k_unpack_starts writes what came, as beginnings of ghosts' cells.
 *
 * Cost: 8 bytes for each cell of the rows at the two cuts. There are about twice as many such rows at a cut as
 * buffer rows.
 */
#include "gpu/ranks/exchange.cuh"

/* A usage by which the slack counts as used up: the smallest float above 1, so that it counts as little more than
 * that. */
constexpr float USED_UP = 1.0f + 0x1p-23f;

/* Is there a particle that must be sent and has no place in the message, or a particle in the outermost buffer
 * row? */
static __device__ bool does_not_fit(const cut_rows &o, const int *start)
{
  bool too_far = false;
  for (int side = 0; side < 2; ++side) {
    if (o.neighbour[side] < 0) continue;
    const int sent = start[o.cell_of_row(side, o.rows_sent)], outermost = start[o.cell_of_row(side, 1)];
    too_far = too_far || (side == 0 ? sent > o.sent[0] : sent < o.n - o.sent[1]) ||
              (side == 0 ? outermost > 0 : outermost < o.n);
  }
  return too_far;
}

static __global__ void k_pack_starts(const __grid_constant__ cut_rows o, const int *start, int *to,
                                     step_slot *step)
{
  const int k = blockIdx.x * blockDim.x + threadIdx.x, each = (int)o.starts();
  if (k == 0 && step && does_not_fit(o, start)) atomicMax(&step->usage, __float_as_uint(USED_UP));
  if (k >= 2 * each) return;
  const int side = k / each, cell = k % each;
  if (o.neighbour[side] < 0) return;
  to[k] = side == 0 ? start[o.cell_of_row(0, 0) + cell]
                    : start[o.cell_of_row(1, o.rows_read) + cell] - (o.n - o.sent[1]);
}

md_status launch_pack_starts(const launch &l, const cut_rows &o, const int *start, int *to, step_slot *step)
{
  k_pack_starts<<<blocks_for(2 * o.starts(), l.threads), l.threads, 0, l.stream>>>(o, start, to, step);
  MD_LAUNCHED("k_pack_starts");
  return MD_OK;
}

static __global__ void k_unpack_starts(const __grid_constant__ cut_rows o, const int *from, int *start,
                                       const step_slot *step)
{
  const int k = blockIdx.x * blockDim.x + threadIdx.x, end = o.kept * o.row;
  if (k > 2 * end) return;
  if (step && after(*step).parity == step->before.parity) return;
  /* Each side has sent the beginnings of `each` cells, from[0 ...] from below and from[each ...] from above. The cells
   * [0, end) are those below the own ones, and [end, 2 end) those above. The beginnings from below fill the first cells
   * of their part, and those from above the last ones; in the others there are no ghosts, and they have the value at
   * the edge. The ghosts from above lie before those from below. */
  const int each = (int)o.starts(), last = each - 1;
  const int from_below = min(k, last), from_above = max(last - (2 * end - k), 0);
  start[k] = k < end ? o.received[1] + from[from_below] : from[each + from_above];
}

md_status launch_unpack_starts(const launch &l, const cut_rows &o, const int *from, int *start,
                               const step_slot *step)
{
  const int64_t count = 2 * (int64_t)o.kept * o.row + 1;
  k_unpack_starts<<<blocks_for(count, l.threads), l.threads, 0, l.stream>>>(o, from, start, step);
  MD_LAUNCHED("k_unpack_starts");
  return MD_OK;
}

/* low, high: lists of what is sent, the first and the last particles. Ghosts keep the order in which they are
 * received. */
static __global__ void k_line_up(const __grid_constant__ cut_rows o, int *low, int *high,
                                 const __grid_constant__ ghosts_in_line g)
{
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < o.sent[0]) low[k] = k;
  if (k < o.sent[1]) high[k] = o.n - o.sent[1] + k;
  if (k >= o.received[0] + o.received[1]) return;
  g.slot[k] = g.order[k] = k;
  g.owner[k] = -1;
  g.shift[k] = NO_SHIFT;
}

md_status launch_line_up(const launch &l, const cut_rows &o, int *low, int *high, const ghosts_in_line &g)
{
  const int64_t sent = o.sent[0] > o.sent[1] ? o.sent[0] : o.sent[1];
  const int64_t received = (int64_t)o.received[0] + o.received[1], count = sent > received ? sent : received;
  k_line_up<<<blocks_for(count, l.threads), l.threads, 0, l.stream>>>(o, low, high, g);
  MD_LAUNCHED("k_line_up");
  return MD_OK;
}
