/* Batches: steps that are launched together without waiting, how they ended, and how many steps fit between two rebins.
 *
 * A batch is the steps that should fit between two rebins, and then the rebin. The host looks at a batch's outcome only
 * after having launched the next, so that the device always has work. The outcome says how much of the slack the steps
 * used, and so how many the next batch should have. A guess that is too high costs launches that return at once
 * (state.cuh), one that is too low a rebin before its time; neither changes a result.
 */
#ifndef MD_GPU_ENGINE_BATCHES_CUH
#define MD_GPU_ENGINE_BATCHES_CUH

#include "gpu/particle/state.cuh"
#include "gpu/runtime/cuda.h"

#include <algorithm>

/* Steps launched together, and how they ended. */
struct gpu_batch {
  cudaEvent_t begin, stepped, sorted, end;
  control *seen;   /* pinned; as it was after the steps */
  unsigned launch; /* number of the next launch then */
  int64_t issued;  /* steps launched so far in this run */
  int64_t plain;   /* steps that do not sort, where others do (engine/sorting.inc) */
  bool rebins;
};

/* Where things stood when `seen` was copied. */
inline progress progress_of(const control &seen, unsigned launch)
{
  progress p = after(seen.slot[(launch - 1u) % SLOTS]);
  p.halt |= seen.overflow;
  return p;
}

/* Those in flight, a ring. */
struct gpu_batches {
  enum { ROOM = 3 };
  gpu_batch ring[ROOM] = {};
  int head = 0, in_flight = 0;

  md_status make() MD_CHECKED;
  void free_all();

  bool have_room() const { return in_flight < ROOM - 1; }
  /* To launch, and then count as in flight. */
  gpu_batch &next() { return ring[(head + in_flight) % ROOM]; }
  gpu_batch &oldest() { return ring[head]; }
  /* For events and a look while none is in flight. */
  gpu_batch &resting() { return ring[0]; }
  /* Waits for the oldest, which is in flight no more. */
  md_status finish_oldest() MD_CHECKED;
  /* Of the steps that had been issued so many were not taken: they will be issued again, behind those in flight. */
  void take_back(int64_t missed);
};

/* Sorts by steps (engine/sorting.inc): at most one whose outcome is not known. They use a batch's events as well: between
 * begin and stepped are plain steps, behind sorted they have been looked at, and at the end they sort. */
struct step_sorts {
  int turn = 0;        /* which of the first two batches of the ring is being launched */
  unsigned launch = 0; /* number of the last launch that sorts: */
  bool unknown = false, untimed = false;
  int64_t made = 0;   /* since particles last came from other ranks */
  double each = 0.0;  /* seconds that a plain step takes */
  double rate = 0.25; /* share of the slack that it uses */
};

/* Steps between two rebins, as learned from how much of the slack they used. */
struct rebin_interval {
  enum { MOST = 1000 };
  int fixed = 0;      /* by the user; 0: learned */
  double steps = 4.0; /* that fit, as it seems */
  bool by_chance =
      false;          /* not when the slack is used up, but when two fast particles meet (list_check.cu): */
  bool ended = false; /* has that been seen? */
  int64_t since = 0;  /* steps launched since the last rebin */
  int64_t binned_at = 0; /* steps done at the last rebin whose outcome is known */

  /* The number of steps done is counted from 0 again. */
  void begin_run(int64_t done)
  {
    if (fixed > 0) steps = fixed;
    binned_at -= done;
  }
  /* How many to launch next, of so many that are left. */
  int64_t next(int64_t left) const
  {
    return std::min({left, std::max<int64_t>((int64_t)steps - since, 1), (int64_t)MOST});
  }
  bool over() const { return since >= (int64_t)steps; }
  void learn(const progress &seen);
};

#endif
