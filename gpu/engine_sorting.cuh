/* A run in which steps do the work of rebins: plain layouts, without lists and periodic axes (choice.cu); on several ranks if
 * they are slabs (ranks_overhang.cuh).
 *
 * A rebin moves every particle to its place in the order of cells; a step reads and writes every particle anyway. So the
 * last step before a rebin writes them to their new places itself. Which these are must be known before it begins: the
 * step before it counts how many each cell will hold, by where particles are going to be if nothing pushes them (advance_plain.cu);
 * what the push changes of that counts as slack used. A prefix sum between the two is all that is left of a rebin.
 *
 * The two steps must be taken: what is launched behind them takes the new order for granted. So the host looks how much
 * slack is left when a few steps less than last time have been made, with some more steps under way meanwhile, and decides
 * how many still fit. Should the slack be used up all the same, everything behind is not taken; the host waits, and
 * rebins in the ordinary way. So it does on several ranks when particles are due to migrate. All ranks decide alike, as
 * they see the same progress.
 *
 * Trade-off: the beginnings of cells are there twice. Bytes a particle in 2D: 8 for the origins, 16 a cell, and writes that are
 * not whole lines; an ordinary rebin moves 112 and 8 a cell. Four events and a copy of 4 KiB a sort.
 */
#ifndef MD_GPU_ENGINE_SORTING_CUH
#define MD_GPU_ENGINE_SORTING_CUH

#include "gpu/engine.cuh"

#include <cmath>
#include <utility>

/* The share of the slack to be used up when the last step begins. What is to come is reckoned from what was, a few steps
 * before. */
static const double SORT_AT = 0.98;
/* Steps that are under way while the host looks at those before them: some 40 microseconds, if it has many particles. */
static const int64_t COVER = 2;
/* The progress of so many steps must still be in the ring of slots when the host asks for it. */
static const int64_t MOST_BETWEEN_SORTS = SLOTS - 16;

template <class T> md_status gpu_engine<T>::launch_plain(int64_t count)
{
  for (int64_t k = 0; k < count; ++k) MD_TRY(launch_step());
  interval.since += count;
  cycles.ring[sorts.turn].plain += count;
  return MD_OK;
}

template <class T> next_order<T> gpu_engine<T>::order_next(step_sorting sorting) const
{
  if (sorting == SORTS_NOT) return next_order<T>{};
  return next_order<T>{sorting, next_cursor(), spare_fields()};
}

template <class T> void gpu_engine<T>::swap_orders()
{
  swap_fields();
  std::swap(a.start, a.next_start);
  view.start = (const int *)a.start.at;
}

template <class T> md_status gpu_engine<T>::launch_sorting_steps()
{
  const gpu_cycle &c = cycles.ring[sorts.turn];
  MD_CUDA(cudaEventRecord(c.stepped, stream));
  MD_CUDA(cudaMemsetAsync(a.next_start.at, 0, (size_t)bytes_of_starts(view.grid.total), stream));
  MD_TRY(launch_step(SORTS_COUNT));
  MD_TRY(sum_counts(next_cursor(), view.grid.total));
  sorts.launch = view.launch;
  if (several) {
    MD_TRY(launch_sort_ranks());
  } else {
    MD_TRY(launch_step(SORTS_MOVE));
    swap_orders();
  }
  MD_CUDA(cudaEventRecord(c.end, stream));
  ++sorts.made;
  sorts.unknown = sorts.untimed = true;
  sorts.turn ^= 1;
  interval.since = 0;
  ++rebins;
  return MD_OK;
}

template <class T> void gpu_engine<T>::settle_order()
{
  if (!sorts.unknown) return;
  const step_slot &slot = cycles.resting().seen->slot[sorts.launch % SLOTS];
  sorts.unknown = false;
  if (after(slot).parity != slot.before.parity) return;
  swap_orders();
  --rebins;
}

/* What the two steps took beyond others. */
template <class T> md_status gpu_engine<T>::time_sort()
{
  if (!sorts.untimed) return MD_OK;
  const gpu_cycle &c = cycles.ring[sorts.turn ^ 1];
  float plain = 0.0f, both = 0.0f;
  MD_CUDA(cudaEventElapsedTime(&plain, c.begin, c.stepped));
  MD_CUDA(cudaEventElapsedTime(&both, c.stepped, c.end));
  if (c.plain > 0) sorts.each = 1e-3 * (double)plain / (double)c.plain;
  timers.seconds[MD_PHASE_SORT] += std::max(1e-3 * (double)both - 2.0 * sorts.each, 0.0);
  sorts.untimed = false;
  return MD_OK;
}

template <class T> md_status gpu_engine<T>::note_progress()
{
  gpu_cycle &c = cycles.ring[sorts.turn];
  MD_CUDA(cudaMemcpyAsync(c.seen, view.ctl, sizeof *c.seen, cudaMemcpyDeviceToHost, stream));
  MD_CUDA(cudaEventRecord(c.sorted, stream));
  c.launch = view.launch;
  return MD_OK;
}

template <class T> md_status gpu_engine<T>::await_progress(progress *seen)
{
  const gpu_cycle &c = cycles.ring[sorts.turn];
  MD_CUDA(cudaEventSynchronize(c.sorted));
  *seen = progress_of(*c.seen, c.launch);
  MD_TRY(time_sort());
  if (idle(*seen)) return MD_OK;
  sorts.unknown = false;
  const step_slot &last = c.seen->slot[(c.launch - 1u) % SLOTS];
  const double taken = (double)(seen->done - interval.binned_at);
  if (taken > 0.0)
    sorts.rate =
        std::max({(double)seen->usage / taken, (double)seen->usage - (double)last.before.usage, 1e-6});
  return MD_OK;
}

/* Must the next sort be one that brings particles to their owners, so many steps after the run began? The fastest will have
 * come to the last row but one of the overhang. */
template <class T> bool gpu_engine<T>::migration_is_due(int64_t done) const
{
  if (!several) return false;
  const double rows = (double)(sorts.made + 1) * choice.slack * view.grid.per_width[T::DIM - 1];
  return rows > ranks.overhang - 1 ||
         (comm->balance.every > 0 && model->step + done - balanced_at >= comm->balance.every);
}

/* Plain steps that still fit before the two that sort, when so much of the slack is used. */
template <class T> int64_t gpu_engine<T>::steps_to_sort(double usage) const
{
  const int64_t fit = (int64_t)std::min(std::floor((SORT_AT - usage) / sorts.rate), 1000.0) - 1;
  return std::min(fit, MOST_BETWEEN_SORTS - 2 - interval.since);
}

template <class T> md_status gpu_engine<T>::launch_to_sort(bool resting, int64_t *left, bool *stuck)
{
  gpu_cycle &c = cycles.ring[sorts.turn];
  c.plain = 0;
  MD_CUDA(cudaEventRecord(c.begin, stream));
  const auto launched = [&](int64_t count) {
    *left -= count;
    return launch_plain(count);
  };
  /* Where the last run ended there may be no room for a look at what is under way. */
  int64_t more = resting && interval.since > 0 ? steps_to_sort(now.usage) : INT64_MAX;
  while (more > COVER + 2) {
    /* One fewer than fitted last time, as now it may be one fewer that fit. */
    const int64_t ahead = (int64_t)interval.steps - 3 - COVER - interval.since;
    /* But some at least, as they are what the rate is learned from. */
    MD_TRY(launched(std::min(std::max<int64_t>(ahead, interval.since == 0 ? 1 : 0), *left)));
    MD_TRY(note_progress());
    const int64_t covering = std::min(COVER, *left);
    MD_TRY(launched(covering));
    if (*left == 0) return MD_OK;
    progress seen;
    MD_TRY(await_progress(&seen));
    *stuck = idle(seen);
    if (*stuck) return MD_OK;
    more = steps_to_sort(seen.usage) - covering;
    if (more + 2 > *left) return launched(*left);
  }
  more = std::max<int64_t>(more, 0);
  if (more + 2 > *left) return launched(*left);
  interval.steps = (double)(interval.since + more + 2);
  if (migration_is_due(now.target - *left + more + 2)) {
    built = more + 2 == *left;
    *stuck = true;
    return launched(more + 2);
  }
  MD_TRY(launched(more));
  *left -= 2;
  interval.binned_at = now.target - *left;
  return launch_sorting_steps();
}

template <class T> md_status gpu_engine<T>::run_sorting(int64_t n)
{
  while (now.done < n) {
    const double begun = md_time(), sorted = timers.seconds[MD_PHASE_SORT];
    int64_t left = n - now.done;
    bool stuck = false;
    for (bool resting = true; left > 0 && !stuck; resting = false)
      MD_TRY(launch_to_sort(resting, &left, &stuck));
    MD_TRY(look());
    MD_TRY(time_sort());
    settle_order();
    timers.seconds[MD_PHASE_FORCE] += md_time() - begun - (timers.seconds[MD_PHASE_SORT] - sorted);
    if (several) MD_TRY(lap_messages());
    if (now.halt & (HALT_OVERLAP | HALT_FLYER)) return fault();
    if (now.done < n) MD_TRY(settle_structure());
  }
  return MD_OK;
}

#endif
