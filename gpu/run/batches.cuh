/* Batches: the ring of batches in flight, and the estimate of how many steps fit between two rebins.
 *
 * A batch is the steps that should fit between two rebins, and the rebin after them. The host launches a batch
 * without waiting. The host reads the outcome of a batch only after it has launched the next batch. So two batches
 * are in flight, and the device always has work.
 *
 *   time    -------------------------------------------------------------------------------------->
 *   device  | steps 0 | rebin 0 | steps 1 | rebin 1 | steps 2 | rebin 2 | steps 3 | rebin 3 | ...
 *           ^begin    ^stepped  ^end
 *   host    launch 0            0 has ended:        1 has ended:        2 has ended:
 *           launch 1            read 0, launch 2    read 1, launch 3    read 2, launch 4
 *   slots   0, 1                1, 2                2, 0                0, 1
 *
 * The last line says which slots of the ring are in flight. The outcome of a batch is the progress
 * (gpu/particle/progress.cuh) between its steps and its rebin. The outcome says how much of the slack the steps used.
 * From this the host estimates how many steps the next batch should have. The first kernel of the rebin writes the
 * outcome into memory of the host, because the device takes 10 microseconds for a copy between two kernels.
 *
 * Trade-off: the device never waits for the host. In return the host estimates from old values. An estimate that
 * is too high costs launches that return at once (gpu/particle/progress.cuh). An estimate that is too low costs a rebin
 * before one is due. Neither changes a result.
 */
#ifndef MD_GPU_RUN_BATCHES_CUH
#define MD_GPU_RUN_BATCHES_CUH

#include "gpu/particle/progress.cuh"
#include "gpu/runtime/cuda.h"

#include <algorithm>

/* One batch: its events and its outcome. The events are recorded in the order begin, stepped, sorted, end. Each takes
 * the device some 2 microseconds, so that only those are recorded that are needed. */
struct gpu_batch {
  cudaEvent_t begin, stepped, sorted, end;
  cudaEvent_t from;      /* where its time begins: its own begin, or the end of the batch before it */
  progress *outcome;     /* the progress after the steps, which the rebin writes; pinned host memory */
  control *control_copy; /* without a rebin: a copy of the control block after the steps; the same memory */
  unsigned launch;       /* number of the next launch at the time of the copy */
  int64_t issued;        /* steps launched in this run, those of this batch included */
  int64_t plain;         /* plain steps before the steps that sort (sorting.cuh) */
  bool rebins;
  bool lists_apart; /* are lists a launch of their own, after the event `sorted`? */
};

/* The ring of batches. At most ROOM - 1 batches are in flight. */
struct gpu_batches {
  enum { ROOM = 3 };
  gpu_batch ring[ROOM] = {};
  int head = 0, in_flight = 0;

  md_status make() MD_CHECKED;
  void free_all();

  bool have_room() const { return in_flight < ROOM - 1; }
  /* The batch to launch next. The caller then adds 1 to in_flight. */
  gpu_batch &next() { return ring[(head + in_flight) % ROOM]; }
  gpu_batch &oldest() { return ring[head]; }
  /* The batch that was launched last, while a batch is in flight. */
  gpu_batch &latest() { return ring[(head + in_flight - 1) % ROOM]; }
  /* A batch for events while no batch is in flight. */
  gpu_batch &resting() { return ring[0]; }
  /* Waits for the end of the oldest batch, which is then no longer in flight. */
  md_status finish_oldest() MD_CHECKED;
  /* The device has not taken `missed` of the steps that were issued. These steps will be issued again, after the
   * batches in flight, so that the count of issued steps in these batches becomes smaller. */
  void take_back(int64_t missed);
};

/* The number of steps between two rebins, estimated from how much of the slack earlier steps used. */
struct rebin_interval {
  enum { MOST = 1000 };
  int fixed = 0;      /* steps as the user set them; 0: estimated */
  double steps = 4.0; /* estimate of the steps that fit */
  /* Do lists end when two fast particles meet (gpu/neighbour/list_check.cu), and not when the slack is used up? */
  bool by_chance = false;
  bool ended = false; /* has there been such an end? */
  /* Does the host wait for the end of lists, rather than launch steps beyond it? On several ranks. */
  bool waits = false;
  int64_t since_rebin = 0;   /* steps launched since the last rebin */
  int64_t done_at_rebin = 0; /* steps done in this run at the last rebin whose outcome is known */

  /* The number of steps done is counted from 0 again in a new run. done: that number at the end of the last run. */
  void begin_run(int64_t done)
  {
    if (fixed > 0) steps = fixed;
    done_at_rebin -= done;
  }
  /* Number of steps to launch next: at least 1, at most MOST, and at most `left`, which the run still needs. */
  int64_t next(int64_t left) const
  {
    const int64_t fit = (int64_t)steps - (awaits_end() ? 1 : 0);
    return std::min({left, std::max<int64_t>(fit - since_rebin, 1), (int64_t)MOST});
  }
  /* Have all steps been launched that the estimate allows before the next rebin? */
  bool over() const { return !awaits_end() && since_rebin >= (int64_t)steps; }
  /* Lists that end by chance last as many steps as last time, or one less or more. Then one step after another is
   * launched, until they end. */
  bool awaits_end() const { return waits && by_chance && ended && fixed == 0; }
  /* Makes a new estimate from the progress after the steps of a batch. */
  void learn(const progress &reached);
};

#endif
