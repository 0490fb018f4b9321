/* A batch of steps in one launch, for few bodies. A launch in a stream takes 2 to 3 us until its last block is at work,
 * and there are two of them in a step (move.cu, symmetric.cu). Here all blocks of threads stay on their multiprocessors
 * for the whole batch, and wait for one another once in a step.
 *
 *   1  Tiles are BODIES bodies for each lane of a warp. Every two tiles meet once (meeting_of), and every tile meets
 *      itself. A meeting is cut into tasks: a tile and 32 PART bodies of the other one. A block has a range of tasks.
 *   2  A block holds in shared memory all bodies of its tiles, with momenta. Many blocks hold the same body, and each
 *      of them gives it all kicks and drifts. So no body is sent from one block to another one.
 *   3  A step: each block moves its bodies by the impulses of the step before. Each warp does tasks, and adds the
 *      impulses to those of all bodies in device memory, by atomics. Then all blocks wait for all blocks.
 *   4  There are three arrays of impulses, so that one wait is enough: in a step one is read, one is added to, and one
 *      is cleared for the next step, which was read in the step before.
 *   5  After the batch one of the blocks of each body writes it.
 *
 *        step s        step s + 1     step s + 2
 *        read A        read B         read C
 *        add to B      add to C       add to A
 *        clear C       clear A        clear B
 *
 * A batch has no fixes that act on forces or in the middle of a drift, and no change of the box. A launch without steps
 * adds the impulses alone, so that in precision mixed the sums of single precision are the same in each step, whether
 * it is in a batch or not.
 *
 * In a task each lane has BODIES own bodies and, in each of 32 steps, another one of 32 other bodies. It reads that
 * body from shared memory, and its sum comes from the next lane, as in the picture of symmetric.cu.
 *
 * Trade-off: a body is moved by some ten blocks. But a move is much shorter than a launch.
 * Cost: in single precision 18 issue slots for a pair and four bodies in a lane. A step of 4096 bodies has 25 000
 * clocks on an H100: 13 500 for pairs, some 5000 each for the move and for the wait.
 */
#include "gpu/all_pairs/move.cuh"
#include "gpu/all_pairs/pair_once.cuh"
#include "gpu/particle/grid_barrier.cuh"

/* Few warps, so that each has registers for four bodies and what travels. A task is long enough for one warp. */
enum { WARPS = 8, THREADS = 32 * WARPS };

template <class A> struct batch_args {
  body_view view;
  single_copy single;
  md_step step;
  unsigned long long *sum[3]; /* impulses at the present positions; zero; any */
  int first_kicks, kicks;     /* in the first step, and in later ones */
  int steps;                  /* 0: impulses alone */
  int tiles, tasks;
  int slots, most_tasks;            /* of a block: places for tiles, and tasks */
  typename A::real softening;       /* k2 of unit masses */
  unsigned long long launch_number; /* of the first move, or of the impulses */
  unsigned *arrived;                /* how many blocks have arrived at waits, in all launches */
  unsigned arrived_before;          /* the same before this launch */
};

/* Two tiles. */
struct meeting {
  int own, other;
};

/* Meeting k of all: tile b meets b, b + 1, ... up to half of all tiles, modulo their number. If that is even, the
 * second half of them has one meeting less. */
static __host__ __device__ inline meeting meeting_of(int tiles, int k)
{
  const int half = tiles / 2, first = tiles % 2 == 1 ? tiles * (half + 1) : half * (half + 1);
  int own, other;
  if (k < first) {
    own = k / (half + 1);
    other = own + k % (half + 1);
  } else {
    own = half + (k - first) / half;
    other = own + (k - first) % half;
  }
  return meeting{own, other < tiles ? other : other - tiles};
}

/* A task of a block: the first body of the own tile and of the part of the other one, as index and as place. */
struct alignas(16) task {
  int own, other, own_at, other_at;
  int same; /* is the other tile the own one? */
};

/* What is held of a body for its pairs, beside x: in single precision a copy, else its mass. */
template <class A> struct held_for_pairs {
  typedef double type;
};
template <> struct held_for_pairs<single_sums> {
  typedef body_single type;
};

/* What a block holds of its bodies, in shared memory: arrays of [bodies]. */
template <class A> struct held_bodies {
  int bodies;
  typename held_for_pairs<A>::type *at;
  task *tasks;   /* [most_tasks] */
  double *x, *v; /* [3][bodies] */
  int64_t *low;  /* the same, or NULL */
  double *velocity_per_v, *v_step;
  uint32_t *group;
  int *tile;       /* [slots] */
  unsigned *used;  /* a bit for each tile that the block has */
  unsigned *owned; /* a bit for each tile that the block writes */
};

enum { MOST_TILES = 128, TILE_WORDS = MOST_TILES / 32 };

template <class A> static __host__ __device__ size_t held_bytes(int slots, int tasks, int tile, bool wide)
{
  const size_t bodies = (size_t)slots * (size_t)tile;
  return bodies * (sizeof(typename held_for_pairs<A>::type) + 56 + (wide ? 32 : 0) + 4) +
         (size_t)tasks * sizeof(task) + (size_t)slots * 4 + TILE_WORDS * 8;
}

template <class A>
static __device__ __forceinline__ held_bodies<A> lay_out(body *memory, int slots, int tasks, int tile,
                                                         bool wide)
{
  held_bodies<A> h;
  h.bodies = slots * tile;
  h.tasks = (task *)memory;
  h.at = (typename held_for_pairs<A>::type *)(h.tasks + tasks);
  h.x = (double *)(h.at + h.bodies);
  h.v = h.x + 3 * h.bodies;
  h.velocity_per_v = h.v + 3 * h.bodies;
  double *next = h.velocity_per_v + h.bodies;
  h.v_step = wide ? next : nullptr;
  h.low = wide ? (int64_t *)(next + h.bodies) : nullptr;
  if (wide) next += 4 * h.bodies;
  h.group = (uint32_t *)next;
  h.tile = (int *)(h.group + h.bodies);
  h.used = (unsigned *)(h.tile + slots);
  h.owned = h.used + TILE_WORDS;
  return h;
}

static __device__ __forceinline__ bool has_bit(const unsigned *words, int k)
{
  return words[k / 32] >> k % 32 & 1;
}

/* The place of a tile: how many tiles of the block are before it. */
static __device__ __forceinline__ int slot_of(const unsigned *used, int tile)
{
  int before = __popc(used[tile / 32] & ((1u << tile % 32) - 1u));
  for (int w = 0; w < tile / 32; ++w) before += __popc(used[w]);
  return before;
}

static __device__ __forceinline__ void hold(const double *, double mass, const single_copy &, int, double *to)
{
  *to = mass;
}
static __device__ __forceinline__ void hold(const double *x, double mass, const single_copy &copy, int dim,
                                            body_single *to)
{
  *to = single_of(copy, x, mass, dim);
}
static __device__ __forceinline__ double mass_at(double held) { return held; }
static __device__ __forceinline__ float mass_at(const body_single &held) { return held.mass; }

/* Position and mass of the body at place s. */
template <int DIM>
static __device__ __forceinline__ void take(const held_bodies<exact_sums> &h, int s, double x[DIM],
                                            double *mass)
{
#pragma unroll
  for (int d = 0; d < DIM; ++d) x[d] = h.x[d * h.bodies + s];
  *mass = h.at[s];
}
template <int DIM>
static __device__ __forceinline__ void take(const held_bodies<single_sums> &h, int s, float x[DIM],
                                            float *mass)
{
  const body_single held = h.at[s];
#pragma unroll
  for (int d = 0; d < DIM; ++d) x[d] = held.x[d];
  *mass = held.mass;
}

/* Waits for all blocks of the launch. target: how many blocks have then arrived, in all launches. */
static __device__ __forceinline__ void wait_for_blocks(unsigned *arrived, unsigned target)
{
  __syncthreads();
  if (threadIdx.x == 0) arrive_and_wait(*arrived, 1u, target);
  __syncthreads();
}

/* Finds the tiles of the tasks [first, last), and which of them this block writes. */
template <class A, int TILE, int PARTS>
static __device__ __forceinline__ void take_tiles(const batch_args<A> &a, int first, int last,
                                                  const held_bodies<A> &h)
{
  if (threadIdx.x < 2 * TILE_WORDS) h.used[threadIdx.x] = 0;
  __syncthreads();
  for (int t = first + threadIdx.x; t < last; t += THREADS) {
    const meeting m = meeting_of(a.tiles, t / PARTS);
    atomicOr(&h.used[m.own / 32], 1u << m.own % 32);
    atomicOr(&h.used[m.other / 32], 1u << m.other % 32);
    if (m.own == m.other && t % PARTS == 0) atomicOr(&h.owned[m.own / 32], 1u << m.own % 32);
  }
  __syncthreads();
  for (int tile = threadIdx.x; tile < a.tiles; tile += THREADS)
    if (has_bit(h.used, tile)) h.tile[slot_of(h.used, tile)] = tile;
  for (int t = first + threadIdx.x; t < last; t += THREADS) {
    const meeting m = meeting_of(a.tiles, t / PARTS);
    const int part = t % PARTS * (TILE / PARTS);
    h.tasks[t - first] = task{m.own * TILE, m.other * TILE + part, slot_of(h.used, m.own) * TILE,
                              slot_of(h.used, m.other) * TILE + part, m.own == m.other};
  }
  __syncthreads();
}

/* Fills the places [0, bodies) of the block. */
template <class A, int TILE>
static __device__ __forceinline__ void take_bodies(const batch_args<A> &a, int bodies,
                                                   const held_bodies<A> &h)
{
  for (int s = threadIdx.x; s < bodies; s += THREADS) {
    const int i = h.tile[s / TILE] * TILE + s % TILE;
    if (i >= a.view.n) {
      const double far[3] = {BODY_FAR, BODY_FAR, BODY_FAR};
      for (int d = 0; d < 3; ++d) h.x[d * h.bodies + s] = far[d];
      hold(far, 0.0, a.single, 3, &h.at[s]);
      continue;
    }
    const md_particle p = particle_of(a.view, i);
    hold(p.x, a.view.bodies[i].mass, a.single, a.view.dim, &h.at[s]);
    for (int d = 0; d < 3; ++d) {
      h.x[d * h.bodies + s] = p.x[d];
      h.v[d * h.bodies + s] = p.v[d];
      if (h.low) h.low[d * h.bodies + s] = p.low[d];
    }
    h.velocity_per_v[s] = p.velocity_per_v;
    if (h.low) h.v_step[s] = p.v_step;
    h.group[s] = p.group;
  }
}

/* The body at a place of the block; n: there is none. */
template <class A, int TILE>
static __device__ __forceinline__ int body_at_place(const batch_args<A> &a, int bodies,
                                                    const held_bodies<A> &h, int s)
{
  if (s >= bodies) return a.view.n;
  const int i = h.tile[s / TILE] * TILE + s % TILE;
  return i < a.view.n ? i : a.view.n;
}

/* The impulses of body i. */
template <int DIM>
static __device__ __forceinline__ void ask_impulse(const body_view &b, const unsigned long long *from, int i,
                                                   int64_t impulse[DIM])
{
#pragma unroll
  for (int d = 0; d < DIM; ++d) impulse[d] = i < b.n ? (int64_t)__ldcg(&from[d * b.stride + i]) : 0;
}

/* The usual move: kicks and drift where no wall or bound is reached. Returns false if it is another one, and then it
 * does nothing. */
template <class A, int DIM>
static __device__ __forceinline__ bool move_free(const batch_args<A> &a, const held_bodies<A> &h, int s,
                                                 int kicks, const int64_t impulse[DIM])
{
  if (!(h.group[s] & a.step.moving)) return !(h.group[s] & a.step.placed);
  const double time_scale = a.step.time * h.velocity_per_v[s];
  double x[3] = {}, v[DIM];
  int64_t low[DIM] = {};
  bool is_free = true;
#pragma unroll
  for (int d = 0; d < DIM; ++d) {
    v[d] = h.v[d * h.bodies + s];
    if (h.low) low[d] = h.low[d * h.bodies + s];
    if (kicks != 0 && h.low)
      md_step_kick_count(kicks * impulse[d], a.view.quantum, h.v_step[s], &v[d], &low[d]);
    else if (kicks != 0)
      md_step_kick_count(kicks * impulse[d], a.view.quantum, 0.0, &v[d], nullptr);
    const double moved = md_drift(v[d], time_scale, a.step.round_x);
    x[d] = h.x[d * h.bodies + s] + moved;
    is_free =
        is_free && x[d] >= a.step.stay_lo[d] && x[d] <= a.step.stay_hi[d] && fabs(moved) <= a.step.move_limit;
  }
  if (!is_free) return false;
#pragma unroll
  for (int d = 0; d < DIM; ++d) {
    h.x[d * h.bodies + s] = x[d];
    h.v[d * h.bodies + s] = v[d];
    if (h.low) h.low[d * h.bodies + s] = low[d];
  }
  hold(x, mass_at(h.at[s]), a.single, DIM, &h.at[s]);
  return true;
}

/* Every move. */
template <class A, int DIM>
static __device__ __forceinline__ void move_any(const batch_args<A> &a, const held_bodies<A> &h, int s,
                                                int kicks, const unsigned long long *from, int i,
                                                unsigned long long launch_number)
{
  int64_t impulse[3] = {0, 0, 0};
  ask_impulse<DIM>(a.view, from, i, impulse);
  md_particle p = {};
  p.group = h.group[s];
  p.velocity_per_v = h.velocity_per_v[s];
  p.wide = h.low != nullptr;
  if (p.wide) p.v_step = h.v_step[s];
  for (int d = 0; d < DIM; ++d) {
    p.x[d] = h.x[d * h.bodies + s];
    p.v[d] = h.v[d * h.bodies + s];
    if (p.wide) p.low[d] = h.low[d * h.bodies + s];
  }
  kick(a.step, a.view.quantum, kicks, impulse, &p);
  if (!drift_any(a.step, &p)) stop(a.view.halt, launch_number, HALTED_BY_RUNAWAY);
  for (int d = 0; d < DIM; ++d) {
    h.x[d * h.bodies + s] = p.x[d];
    h.v[d * h.bodies + s] = p.v[d];
    if (p.wide) h.low[d * h.bodies + s] = p.low[d];
  }
  hold(p.x, mass_at(h.at[s]), a.single, DIM, &h.at[s]);
}

/* Moves the bodies of the block by the impulses `from`, and clears those of its own bodies in `next`. Returns false if
 * the launch does not work any more. Ends with __syncthreads. */
template <class A, int DIM, int TILE>
static __device__ __forceinline__ bool
move_bodies(const batch_args<A> &a, int bodies, const held_bodies<A> &h, const unsigned long long *from,
            unsigned long long *next, int kicks, unsigned long long launch_number)
{
  /* Impulses are asked for before anything is waited for. */
  int s = threadIdx.x, i = body_at_place<A, TILE>(a, bodies, h, s);
  int64_t ahead[DIM];
  ask_impulse<DIM>(a.view, from, i, ahead);
  if (!may_work(a.view.halt, launch_number)) return false;
  unsigned others = 0, turn = 1; /* bits of the turns in which a body has another move than the usual one */
  for (; s < bodies; s += THREADS, turn <<= 1) {
    const int own = i;
    int64_t impulse[DIM];
#pragma unroll
    for (int d = 0; d < DIM; ++d) impulse[d] = ahead[d];
    i = body_at_place<A, TILE>(a, bodies, h, s + THREADS);
    ask_impulse<DIM>(a.view, from, i, ahead);
    if (own == a.view.n) continue;
    if (!move_free<A, DIM>(a, h, s, kicks, impulse)) others |= turn;
    if (has_bit(h.owned, own / TILE))
#pragma unroll
      for (int d = 0; d < DIM; ++d) next[d * a.view.stride + own] = 0;
  }
  if (!__syncthreads_or(others != 0)) return true;
  for (s = threadIdx.x; others != 0; s += THREADS, others >>= 1)
    if (others & 1)
      move_any<A, DIM>(a, h, s, kicks, from, body_at_place<A, TILE>(a, bodies, h, s), launch_number);
  __syncthreads();
  return true;
}

template <class A>
static __device__ __forceinline__ void give(const batch_args<A> &a, unsigned long long *sum, int d, int i,
                                            typename A::sum own, int terms, double factor,
                                            unsigned long long launch_number)
{
  if (!A::fits(own, factor, a.view.range)) stop(a.view.halt, launch_number, HALTED_BY_OVERLAP);
  atomicAdd(&sum[d * a.view.stride + i], A::quanta(own, terms, factor));
}

/* The own bodies of the lanes of a warp, and 32 other bodies from place `first` on, for which sum is. */
template <class A, int STYLE, int DIM, bool ONE, int BODIES>
static __device__ __forceinline__ void meet_held(typename A::real softening, const held_bodies<A> &h,
                                                 int first, own_bodies<A, DIM, BODIES> &own,
                                                 typename A::sum sum[DIM])
{
  typedef typename A::real real;
  const int lane = threadIdx.x % 32, next = (lane + 1) % 32;
#pragma unroll(16 / BODIES)
  for (int step = 0; step < 32; ++step) {
    real x[DIM], mass;
    take<DIM>(h, first + (lane + step) % 32, x, &mass);
    meet_body<A, STYLE, DIM, ONE, BODIES>(softening, x, mass, own, sum);
#pragma unroll
    for (int d = 0; d < DIM; ++d) sum[d] = __shfl_sync(0xffffffffu, sum[d], next);
  }
}

/* The tasks of the block: impulses at the present positions. */
template <class A, int STYLE, int DIM, bool ONE, int BODIES, int PART>
static __device__ __forceinline__ void sum_tasks(const batch_args<A> &a, int tasks, const held_bodies<A> &h,
                                                 unsigned long long *sum, unsigned long long launch_number)
{
  const int lane = threadIdx.x % 32;
  /* The shuffle tells the compiler that all lanes have the same number. */
  for (int t = __shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0); t < tasks; t += WARPS) {
    const task now = h.tasks[t];
    own_bodies<A, DIM, BODIES> own;
#pragma unroll
    for (int b = 0; b < BODIES; ++b) {
      typename A::real mass;
      take<DIM>(h, now.own_at + 32 * b + lane, own.x[b], &mass);
      own.k1[b] = ONE ? A::one(mass) : -mass;
#pragma unroll
      for (int d = 0; d < DIM; ++d) own.sum[b][d] = 0;
    }
    for (int c = 0; c < PART; ++c) {
      typename A::sum others[DIM] = {};
      meet_held<A, STYLE, DIM, ONE, BODIES>(a.softening, h, now.other_at + 32 * c, own, others);
      const int j = now.other + 32 * c + lane;
      const double factor = A::factor(mass_at(h.at[now.other_at + 32 * c + lane]), ONE);
      if (!now.same && j < a.view.n)
#pragma unroll
        for (int d = 0; d < DIM; ++d) give(a, sum, d, j, others[d], -32 * BODIES, factor, launch_number);
    }
#pragma unroll
    for (int b = 0; b < BODIES; ++b) {
      const int i = now.own + 32 * b + lane;
      const double factor = A::factor(mass_at(h.at[now.own_at + 32 * b + lane]), ONE);
      if (i < a.view.n)
#pragma unroll
        for (int d = 0; d < DIM; ++d) give(a, sum, d, i, own.sum[b][d], 32 * PART, factor, launch_number);
    }
  }
}

/* Writes the bodies that this block writes. */
template <class A, int TILE>
static __device__ __forceinline__ void write_bodies(const batch_args<A> &a, int bodies,
                                                    const held_bodies<A> &h)
{
  const int dim = a.view.dim;
  for (int s = threadIdx.x; s < bodies; s += THREADS) {
    const int tile = h.tile[s / TILE], i = tile * TILE + s % TILE;
    if (i >= a.view.n || !has_bit(h.owned, tile)) continue;
    for (int d = 0; d < dim; ++d) {
      a.view.bodies[i].x[d] = h.x[d * h.bodies + s];
      a.view.v[d * a.view.stride + i] = h.v[d * h.bodies + s];
      if (h.low) a.view.low[d * a.view.stride + i] = h.low[d * h.bodies + s];
    }
  }
}

template <class A, int STYLE, int DIM, bool ONE, int BODIES, int PART>
static __global__ void __launch_bounds__(THREADS, 1) k_step_batch(const __grid_constant__ batch_args<A> a)
{
  enum { TILE = 32 * BODIES, PARTS = BODIES / PART };
  extern __shared__ body memory[];
  if (!may_work(a.view.halt, a.launch_number)) return;
  const held_bodies<A> h = lay_out<A>(memory, a.slots, a.most_tasks, TILE, a.view.low != nullptr);
  const int first = (int)((int64_t)a.tasks * blockIdx.x / gridDim.x),
            last = (int)((int64_t)a.tasks * (blockIdx.x + 1) / gridDim.x);
  take_tiles<A, TILE, PARTS>(a, first, last, h);
  const int bodies = slot_of(h.used, MOST_TILES - 1) * TILE + has_bit(h.used, MOST_TILES - 1) * TILE;
  take_bodies<A, TILE>(a, bodies, h);
  __syncthreads();
  unsigned long long *from = a.sum[0], *to = a.steps > 0 ? a.sum[1] : a.sum[0], *next = a.sum[2];
  unsigned long long number = a.launch_number;
  unsigned target = a.arrived_before;
  for (int s = 0;; ++s) {
    if (a.steps > 0) {
      if (s > 0) wait_for_blocks(a.arrived, target += gridDim.x);
      if (!move_bodies<A, DIM, TILE>(a, bodies, h, from, next, s > 0 ? a.kicks : a.first_kicks, number++))
        break;
    }
    sum_tasks<A, STYLE, DIM, ONE, BODIES, PART>(a, last - first, h, to, number++);
    if (s + 1 >= a.steps) break;
    unsigned long long *read = from;
    from = to;
    to = next;
    next = read;
  }
  if (a.steps == 0) return;
  /* No body is written before all blocks have read it. */
  if (a.steps == 1) wait_for_blocks(a.arrived, target += gridDim.x);
  write_bodies<A, TILE>(a, bodies, h);
}

/* ---- the launch ---- */

/* 32s of other bodies of a task. */
static constexpr int part_of(int bodies) { return bodies > 1 ? 2 : 1; }

batch_shape step_batch_shape(const body_view &view, bool mixed, int processors, size_t most_shared)
{
  batch_shape s = {};
  /* Tasks for all multiprocessors, and as long as may be. */
  s.bodies = view.n <= 1024 ? 1 : view.n <= (mixed ? 2048 : 3072) ? 2 : 4;
  const int tile = 32 * s.bodies, parts = s.bodies / part_of(s.bodies);
  s.tiles = (view.n + tile - 1) / tile;
  s.tasks = s.tiles * (s.tiles + 1) / 2 * parts;
  s.blocks = min(processors, s.tasks);
  if (s.tiles > MOST_TILES || view.n == 0) return batch_shape{};
  for (int block = 0; block < s.blocks; ++block) {
    bool used[MOST_TILES] = {};
    for (int t = (int)((int64_t)s.tasks * block / s.blocks); t < (int64_t)s.tasks * (block + 1) / s.blocks;
         ++t) {
      const meeting m = meeting_of(s.tiles, t / parts);
      used[m.own] = used[m.other] = true;
    }
    s.most_tasks = max(
        s.most_tasks, (int)((int64_t)s.tasks * (block + 1) / s.blocks - (int64_t)s.tasks * block / s.blocks));
    int count = 0;
    for (int tile = 0; tile < s.tiles; ++tile) count += used[tile];
    s.slots = max(s.slots, count);
  }
  s.shared = mixed ? held_bytes<single_sums>(s.slots, s.most_tasks, tile, view.low != nullptr)
                   : held_bytes<exact_sums>(s.slots, s.most_tasks, tile, view.low != nullptr);
  return s.shared <= most_shared ? s : batch_shape{};
}

template <class A, int STYLE, int DIM, bool ONE, int BODIES>
static md_status launch_as(const batch_args<A> &a, const batch_shape &s, cudaStream_t stream)
{
  const auto kernel = k_step_batch<A, STYLE, DIM, ONE, BODIES, part_of(BODIES)>;
  MD_TRY(allow_shared(kernel, s.shared));
  launch together = {};
  together.stream = stream;
  together.threads = THREADS;
  together.shared = s.shared;
  return launch_together(together, s.blocks, "launch of k_step_batch", kernel, a);
}

template <class A, int STYLE, int DIM, bool ONE>
static md_status launch_shape(const batch_args<A> &a, const batch_shape &s, cudaStream_t stream)
{
  if (s.bodies == 1) return launch_as<A, STYLE, DIM, ONE, 1>(a, s, stream);
  if (s.bodies == 2) return launch_as<A, STYLE, DIM, ONE, 2>(a, s, stream);
  return launch_as<A, STYLE, DIM, ONE, 4>(a, s, stream);
}

template <class A>
static md_status launch_arithmetic(batch_args<A> &a, md_pair_kind kind, bool one, const step_batch &batch,
                                   cudaStream_t stream)
{
  const batch_shape &s = batch.shape;
  a.step = batch.step;
  for (int k = 0; k < 3; ++k) a.sum[k] = batch.sum[k];
  a.first_kicks = batch.first_kicks;
  a.kicks = batch.kicks;
  a.steps = batch.steps;
  a.tiles = s.tiles;
  a.tasks = s.tasks;
  a.slots = s.slots;
  a.most_tasks = s.most_tasks;
  a.launch_number = batch.launch_number;
  a.arrived = batch.arrived;
  a.arrived_before = batch.arrived_before;
  md_status status = MD_OK;
  with_all_style(kind, [&](auto style) {
    if (a.view.dim == 3 && one)
      status = launch_shape<A, style.value, 3, true>(a, s, stream);
    else if (a.view.dim == 3)
      status = launch_shape<A, style.value, 3, false>(a, s, stream);
    else if (one)
      status = launch_shape<A, style.value, 2, true>(a, s, stream);
    else
      status = launch_shape<A, style.value, 2, false>(a, s, stream);
  });
  return status;
}

md_status launch_step_batch(const body_view &view, const single_copy &single, md_pair_kind kind, bool one,
                            const step_batch &batch, cudaStream_t stream)
{
  if (single.at) {
    batch_args<single_sums> a = {};
    a.view = view;
    a.single = single;
    a.softening = view.single_softening;
    return launch_arithmetic(a, kind, one, batch, stream);
  }
  batch_args<exact_sums> a = {};
  a.view = view;
  a.softening = view.k[2];
  return launch_arithmetic(a, kind, one, batch, stream);
}
