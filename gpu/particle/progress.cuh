/* The progress of the steps, and the ring of slots in which the device keeps it.
 *
 * The host never waits for a step: it launches several steps ahead. The device decides whether a step is taken. A
 * step that makes the cells or lists stale, or that finds an error, notes this in its slot. The later launches
 * then return at once. So the state stops exactly where it must, and the host learns of it when it next reads the
 * progress.
 *
 * Launches are numbered. Launch l has slot l % SLOTS of a ring. A slot holds the progress before its launch
 * (`before`) and what the blocks of the launch found:
 *
 *             slot l - 1         slot l            slot l + 1
 *         +----------------+----------------+----------------+
 *   ...   | before         | before  <-- 2  | before         |   ...     a ring: slot 0 comes
 *         | found, usage   | found   <-- 3  | found=0 <-- 2  |           after slot SLOTS - 1
 *         +----------------+----------------+----------------+
 *            |                  ^
 *            +--- 1: after() ---+   the progress before launch l
 *
 *   1. Every block of launch l reads slot l - 1 and computes the progress from it. The block returns if there is
 *      nothing to do.
 *   2. One thread of block 0 writes this progress to slot l, and clears the findings of slot l + 1.
 *   3. All blocks add their findings to slot l with atomics. They do not wait for each other.
 *
 * The boundary between two launches is the only synchronisation: there is no fence, and no block that must be the
 * last.
 */
#ifndef MD_GPU_PARTICLE_PROGRESS_CUH
#define MD_GPU_PARTICLE_PROGRESS_CUH

#include <stddef.h>
#include <string.h>

/* Reasons to stop: bits of progress.halt. Several ranks agree on the largest of their values, so the bit that
 * decides must be the highest. An overlap decides over a runaway, because the step with the overlap was not taken
 * and moved no particle. */
enum {
  HALT_RUNAWAY = 1, /* a particle moved too far, or left the box: the state is that after the move */
  HALT_OVERLAP = 2, /* the impulse of a pair is out of range: the step was not taken */
  HALT_GHOSTS = 4,  /* there are more ghosts than room for them: rebin again with more room */
  HALT_LIST = 8,    /* the same for the neighbours of a list */
};

/* How far the steps have come, and why they stopped. */
struct progress {
  long long done, target; /* steps taken and steps wanted, since the host last set `target` */
  unsigned parity;        /* which of the two position arrays holds the present positions */
  unsigned stale;         /* 1: rebin before the next force */
  unsigned halt;
  float usage; /* the largest path or displacement since the rebin over what is allowed; above 1: stale */
};

/* One slot of the ring. It has a line of the cache of its own: atomics on the slot of a launch would delay its blocks
 * that begin, and read the slot before it. */
struct alignas(128) step_slot {
  progress before;
  unsigned step, flip; /* is the launch a step? does it write the other position array? */
  unsigned found;      /* bits of progress.halt */
  unsigned usage;      /* the bits of a float, as in progress */
  /* number of fast particles, if they are checked (gpu/neighbour/list_check.cu); else 0 */
  unsigned beyond_slack;
  /* blocks at barriers, in a launch that takes several steps (gpu/particle/grid_barrier.cuh) */
  unsigned long long arrived;
};

enum { SLOTS = 64 };
/* The most fast particles that a list check looks at. With more of them the lists are stale. */
enum { MOST_BEYOND_SLACK = 4096 };
/* The sums that a fix awaits after a step (gpu/step/awaited.cu): the kinetic energy; its parts of each axis; the
 * virial, or its parts of each axis. How many words they take as fine sums. */
enum {
  AWAITED_KINETIC,
  AWAITED_KINETIC_AXIS,
  AWAITED_VIRIAL = AWAITED_KINETIC_AXIS + 3,
  AWAITED_SUMS = AWAITED_VIRIAL + 3,
  AWAITED_WORDS = 2 * 2 * AWAITED_SUMS
};
/* The ring, what a rebin lacked, and sums. The host reads a copy. */
struct control {
  step_slot slot[SLOTS];
  unsigned overflow; /* bits of progress.halt that a rebin found */
  int ghosts_wanted;
  int list_wanted; /* neighbours in the longest list */
  /* As of fine_sums (launch.cuh). Blocks that begin read `overflow`, which is in another line of the cache. */
  alignas(128) unsigned long long awaited[AWAITED_WORDS];
};

/* Is there nothing to do for a step? */
__host__ __device__ inline bool idle(const progress &p) { return p.stale || p.halt || p.done >= p.target; }

/* The progress after the launch that has this slot. */
__host__ __device__ inline progress after(const step_slot &slot)
{
  progress p = slot.before;
  if (!slot.step || idle(p)) return p;
  if (slot.found & HALT_OVERLAP) {
    p.halt = HALT_OVERLAP;
    return p;
  }
  p.parity ^= slot.flip;
  p.halt = slot.found;
  if (p.halt) return p;
#ifdef __CUDA_ARCH__
  p.usage = __uint_as_float(slot.usage);
#else
  memcpy(&p.usage, &slot.usage, sizeof p.usage);
#endif
  ++p.done;
  p.stale = !(p.usage <= 1.0f);
  return p;
}

/* The progress at the time when the host copied the control block. launch: number of the next launch at that time. */
inline progress progress_of(const control &copy, unsigned launch)
{
  progress p = after(copy.slot[(launch - 1u) % SLOTS]);
  p.halt |= copy.overflow;
  return p;
}

/* The progress before launch number `launch`. The whole slot is loaded at once, so that a step does not wait first
 * for one part of it and then for another. */
__device__ __forceinline__ progress progress_before(const control *ctl, unsigned launch)
{
  const int4 *from = (const int4 *)&ctl->slot[(launch - 1u) % SLOTS];
  const unsigned overflow = ctl->overflow;
  const int4 words[4] = {from[0], from[1], from[2], from[3]};
  step_slot slot;
  static_assert(offsetof(step_slot, beyond_slack) < sizeof words, "the words hold what is read");
  memcpy(&slot, words, sizeof words);
  progress p = after(slot);
  p.halt |= overflow;
  return p;
}

/* The progress after a rebin: nothing is stale any more. */
__device__ __forceinline__ progress rebinned(progress now)
{
  now.stale = 0;
  now.usage = 0.0f;
  return now;
}

/* The largest value in a warp. All lanes call it, and all get the result. */
__device__ __forceinline__ int warp_largest(int value)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
  for (int lane = 16; lane > 0; lane /= 2) value = max(value, __shfl_xor_sync(0xffffffffu, value, lane));
  return value;
#else
  return __reduce_max_sync(0xffffffffu, value);
#endif
}

/* Writes the slot of a launch, and clears the findings of the next slot. One thread of the launch calls it, once.
 * step: the blocks of the launch will call end_step(). flip: the launch writes the other position array. */
__device__ __forceinline__ void take_slot(control *ctl, unsigned launch, const progress &before, bool step,
                                          bool flip)
{
  step_slot *own = &ctl->slot[launch % SLOTS], *next = &ctl->slot[(launch + 1u) % SLOTS];
  own->before = before;
  own->step = step;
  own->flip = flip;
  next->found = 0;
  next->usage = 0;
  next->beyond_slack = 0;
  next->arrived = 0;
}

/* Waits until all launches before this one have ended, if this launch began early. From then on the blocks of the
 * next launch may take their places. */
__device__ __forceinline__ void await_launches()
{
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* Adds what the threads of a block found to the slot: bits of progress.halt, and the share of the slack that their
 * particles used. All threads of the block call it. */
__device__ __forceinline__ void end_step(control *ctl, unsigned launch, unsigned bits, float usage)
{
  __shared__ int block_usage;
  if (threadIdx.x == 0) block_usage = 0;
  __syncthreads();
  step_slot *own = &ctl->slot[launch % SLOTS];
  if (bits) atomicOr(&own->found, bits);
  const int most = warp_largest(__float_as_int(usage)); /* not negative, so it has the order of its bits */
  if ((threadIdx.x & 31) == 0 && most > 0) atomicMax(&block_usage, most);
  __syncthreads();
  if (threadIdx.x == 0 && block_usage > 0) atomicMax(&own->usage, (unsigned)block_usage);
}

#endif
