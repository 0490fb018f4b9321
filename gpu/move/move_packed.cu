/* The move of move_scaled.cu for packed positions in a periodic box without walls, with lists. It leaves the rests of
 * most particles alone: their pages and paths (gpu/particle/layout.cuh).
 *
 *   1. A drift adds whole quanta to the lower 42 bits of a coordinate. Only where they overflow, the page changes.
 *   2. The path of a particle is in two parts. One is common to all particles (slack.common_path). In every step it
 *      gets a share of the slack: the slack over the number of steps that lists are expected to last. The other part is
 *      in the rest of the particle. It gets what a particle goes beyond the share, by an atomic addition: the kernel
 *      does not wait for the rest.
 *   3. Of each 32 particles a bound of the paths in their rests is known (slack.longest_path). Only where a particle
 *      may be beyond the slack with it, the rests of these 32 are read.
 *   4. The common path never exceeds the slack: before, moves become those of move_scaled.cu, until the next rebin.
 *
 *      path   common path                     in the rest
 *      slow   |---|---|---|---|               0
 *      fast   |---|---|---|---|               |------|------|------|------|
 *             a share in each step             what it goes beyond the share
 *
 * In a box that changes a particle needs its page, because its place in the box counts. Its rest is then read.
 *
 * Trade-off: the path of a slow particle is longer than its way. But lists end by the fastest particles, whose paths
 * are the same as in move_scaled.cu, so that lists last as long. Another kernel that moves particles changes
 * paths without longest_path: after it, moves are those of move_scaled.cu until the next rebin.
 * Cost: 17 bytes of impulses (packed_impulse.cuh; 24 otherwise), 48 of velocities and 32 of positions a particle, and 8
 * of rests in a box that changes; and what rests of fast particles take, some percent of them.
 */
#include "gpu/move/launches.cuh"
#include "gpu/move/packed_impulse.cuh"
#include "gpu/move/scaled.cuh"

typedef exact3_packed packed;

/* One particle on its way through a step. */
struct moving_packed {
  exact_packed record;
  packed_rest rest; /* CHANGES: with its new page */
  double v[3];
  float moved2;  /* squared displacement */
  int turned[3]; /* CHANGES not: what is added to its pages */
  bool turns;    /* has its page changed? */
  bool sane;
};

/* Drifts the particle in a box that stays. */
static __device__ __forceinline__ void drift_packed(const step_args &a, moving_packed &p)
{
  uint32_t high = p.record.high & 0xc0000000u;
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    /* md_drift() rounds in this way. The sum has the number of quanta as its last bits. */
    const double sum = fma(p.v[d], a.time_scale, a.motion.round_x), moved = sum - a.motion.round_x;
    const int64_t to = (int64_t)packed::low42(p.record, d) + (md_bits(sum) - md_bits(a.motion.round_x));
    p.sane = p.sane && fabs(moved) <= a.motion.move_limit;
    p.moved2 = fmaf((float)moved, (float)moved, p.moved2);
    p.record.low[d] = (uint32_t)to;
    high |= ((uint32_t)(to >> 32) & 0x3ffu) << (10 * d);
    p.turned[d] = (int)(to >> 42);
  }
  p.record.high = high;
  p.turns = p.sane && (p.turned[0] | p.turned[1] | p.turned[2]) != 0;
}

/* The same in a box that changes. */
static __device__ __forceinline__ void carry_packed(const system_view<packed> &s, const step_args &a,
                                                    moving_packed &p)
{
  packed::particle r = packed::unpack(s.scale, p.record, p.rest);
  const float carried2 = carry<packed>(a, MD_GROUP_ALL, r);
  const uint32_t page = p.rest.page;
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    const drifted<packed> drift =
        drift_axis<packed>(s, a, d, a.motion.stretch[d] * a.time_scale, r.x[d], p.v[d]);
    p.sane = p.sane && drift.sane;
    p.moved2 = fmaf((float)drift.moved, (float)drift.moved, p.moved2);
  }
  if (carried2 > 0.0f)
    p.moved2 = 2.0f * (p.moved2 + carried2); /* bounds the square of the sum of both ways */
  packed::pack(s.scale, r, p.record, p.rest);
  p.turns = p.rest.page != page;
}

/* The drift of a particle that goes too far, in a box that stays, after its velocity is stored. */
static __device__ __noinline__ void drift_runaway(const system_view<packed> &s, const step_args &a,
                                                  unsigned parity, int i)
{
  packed::particle r = load_particle<packed>(s, parity, i);
  for (int d = 0; d < 3; ++d) {
    double v = s.v[d][i];
    drift_axis<packed>(s, a, d, a.time_scale, r.x[d], v);
  }
  store_particle<packed>(s, parity, i, r);
}

/* The largest of values that are not negative, in a warp. They have the order of their bits. */
static __device__ __forceinline__ float warp_largest_of(float value)
{
  return __int_as_float(warp_largest(__float_as_int(value)));
}

/* What is added to the pages of a particle. They are within their fields before and after it. */
static __device__ __forceinline__ uint32_t turned_pages(const moving_packed &p)
{
  return (uint32_t)p.turned[0] + ((uint32_t)p.turned[1] << 10) + ((uint32_t)p.turned[2] << 20);
}

/* Adds `beyond` to the path in the rest of particle i, and returns a bound of its whole path. All lanes of a warp
 * call it; own: is there such a particle? longest: that of its 32 particles. */
template <bool CHANGES>
static __device__ __forceinline__ float lengthen_path(const system_view<packed> &s, packed_rest *rest, int i,
                                                      bool own, moving_packed &p, float beyond, float longest)
{
  const bool fast = beyond > 0.0f;
  float bound = longest;
  if (__any_sync(0xffffffffu, fast)) bound = __fadd_ru(longest, warp_largest_of(beyond));
  float path = whole_path<packed>(s, bound);
  if (CHANGES || path > s.slack.most) {
    if (!CHANGES && own) {
      p.rest = rest[i];
      if (p.turns) p.rest.page += turned_pages(p);
    }
    p.rest.path += beyond;
    if (own && (fast || p.turns)) rest[i] = p.rest;
    path = whole_path<packed>(s, p.rest.path);
    if (own && path > s.slack.most && s.slack.beyond) note_beyond_slack(s, i);
    bound = warp_largest_of(own ? fmaxf(p.rest.path, 0.0f) : 0.0f);
  } else {
    /* Nothing waits for these additions. */
    if (fast) atomicAdd(&rest[i].path, beyond);
    if (own && p.turns) atomicAdd(&rest[i].page, turned_pages(p));
  }
  if ((threadIdx.x & 31) == 0 && bound != longest) s.slack.longest_path[i >> 5] = bound;
  return own ? path : 0.0f;
}

/* Loads the impulse on particle i, in quanta. */
static __device__ __forceinline__ void load_impulse(const scaled_args<packed> &w, int i, double impulse[3])
{
  if (w.packed) return load_packed_impulse(w.impulse, w.packed, i, impulse);
#pragma unroll
  for (int d = 0; d < 3; ++d) impulse[d] = w.impulse[d][i];
}

template <bool CHANGES>
static __global__ void __launch_bounds__(256, 4)
    k_move_packed(const __grid_constant__ system_view<packed> s, const __grid_constant__ step_args a,
                  const __grid_constant__ scaled_args<packed> w, float share, tile_plan plan)
{
  progress now;
  if (!begin_step(s, false, now)) return;
  empty_awaited_sums(s.ctl);
  exact_packed *x = s.x[now.parity];
  packed_rest *rest = s.rest[now.parity];
  unsigned bits = 0;
  float usage = 0.0f;
  const double kicks = now.done == 0 ? a.first_kicks : a.kicks;
  for_each_in_tiles_backwards(plan, s.n, [&](int i) {
    const int at = min(i, s.n - 1); /* lanes without a particle look at the last one */
    const bool own = i < s.n;
    const float longest = s.slack.longest_path[i >> 5];
    moving_packed p = {load_record(x + at), {0, 0.0f}, {0.0, 0.0, 0.0}, 0.0f, {0, 0, 0}, false, true};
    if constexpr (CHANGES) p.rest = rest[at];
    double impulse[3];
    load_impulse(w, at, impulse);
#pragma unroll
    for (int d = 0; d < 3; ++d) p.v[d] = scaled<packed>(a, w, kicks, d, impulse[d], s.v[d][at]);
    if constexpr (CHANGES)
      carry_packed(s, a, p);
    else
      drift_packed(a, p);
    float beyond = 0.0f;
    if (own && !(p.moved2 < share * share)) beyond = fmaxf(sqrtf(p.moved2) * (1.0f + 0x1p-20f) - share, 0.0f);
    const float path = lengthen_path<CHANGES>(s, rest, i, own, p, beyond, longest);
    usage = fmaxf(usage, path * s.slack.usage_per_distance);
    if (!own) return;
#pragma unroll
    for (int d = 0; d < 3; ++d) s.v[d][i] = p.v[d];
    if (!CHANGES && !p.sane)
      drift_runaway(s, a, now.parity, i);
    else
      *(uint4 *)&x[i] = make_uint4(p.record.low[0], p.record.low[1], p.record.low[2], p.record.high);
    if (!p.sane) bits |= HALT_RUNAWAY;
  });
  end_step(s.ctl, s.launch, bits, usage);
}

md_status launch_move_packed(const launch &l, const system_view<packed> &s, const step_args &a,
                             const scaled_args<packed> &w, float share)
{
  const tile_plan plan = plan_tiles(l, s.n);
  if (a.motion.changes_box)
    k_move_packed<true><<<plan.blocks, l.threads, 0, l.stream>>>(s, a, w, share, plan);
  else
    k_move_packed<false><<<plan.blocks, l.threads, 0, l.stream>>>(s, a, w, share, plan);
  MD_LAUNCHED("k_move_packed");
  return MD_OK;
}
