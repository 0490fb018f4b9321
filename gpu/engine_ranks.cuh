/* Rebin, step and run on several ranks: the order of events; what is exchanged, and how, is in ranks.cuh.
 *
 * A rebin is done with the host waiting, as ranks must agree: now and then new cuts, then particles to their owners, the
 * sort, ghosts, lists. Every rank then launches the same steps up to the next rebin. With each step ranks exchange two
 * things: positions of ghosts, and the largest outcome, so that all stop at the same step. Where kernels are fused, the
 * particles that others wait for are moved first, and messages go while the rest is moved. Steps that sort put rebins off
 * (ranks_overhang.cuh): neighbours learn of the new order behind them, and the host does not wait.
 *
 * Trade-off: all ranks rebin when the first of them must, and none decides anything from what it alone knows; in return no
 * step waits for the host. Cost: a rebin waits for the host several times; a step takes two messages for each divided axis,
 * and a reduction of 8 bytes.
 */
#ifndef MD_GPU_ENGINE_RANKS_CUH
#define MD_GPU_ENGINE_RANKS_CUH

#include "gpu/engine.cuh"

/* Through the host, as it is rare: new cuts, and particles to where they then belong. */
template <class T> md_status gpu_engine<T>::balance_if_due()
{
  const int64_t at = model->step + now.done;
  if (comm->balance.every <= 0 || at - balanced_at < comm->balance.every) return MD_OK;
  balanced_at = at;
  double most = (double)view.n;
  MD_TRY(comm->max(comm, &most, 1));
  if (most * comm->size <= comm->balance.threshold * (double)model->natoms) return MD_OK;
  MD_TRY(download(nullptr));
  const int64_t before = model->step;
  model->step = at;
  const md_status status = comm->migrate(comm, model, p);
  model->step = before;
  MD_TRY(status);
  MD_TRY(make_arrays());
  MD_TRY(make_ids());
  MD_TRY(load());
  now.parity = 0;
  return put_progress();
}

/* Particles to the ranks that own them. The device rests before. */
template <class T> md_status gpu_engine<T>::migrate()
{
  int64_t arrived = 0;
  int *start = counting() ? (int *)a.start.at : nullptr;
  MD_TRY(ranks.find_leavers(view, (int *)a.origin.at, start));
  MD_TRY(ranks.deliver(&arrived));
  const int64_t n = view.n - (int64_t)ranks.left.size() + arrived;
  if (n > MD_PARTICLES_MAX - view.ghost.capacity - 4096)
    return md_error(MD_RUNTIME, "one GPU holds at most %lld particles and ghosts; use more ranks",
                    (long long)MD_PARTICLES_MAX);
  if (n > room) {
    MD_TRY(enlarge_room(n));
    start = nullptr; /* places were in the array that has been made anew */
  }
  int *origin = (int *)a.origin.at;
  ranks.assign(arrived, view.n);
  MD_TRY(ranks.take_in(view, origin, start));
  counted = start;
  view.n = (int)n;
  return ranks.count_particles(view, origin, (int64_t *)a.x[now.parity ^ 1u].at, model->step + now.done);
}

/* Lists, however often they must grow: that concerns no other rank. */
template <class T> md_status gpu_engine<T>::fit_list()
{
  if (source != FROM_LIST) return MD_OK;
  for (;;) {
    MD_TRY(build_list());
    MD_TRY(look());
    if (!(now.halt & HALT_LIST)) return MD_OK;
    MD_TRY(grow_list());
    now.halt &= ~(unsigned)HALT_LIST;
    MD_TRY(put_progress());
  }
}

/* Ghosts, and which particles they are elsewhere. */
template <class T> md_status gpu_engine<T>::make_halo()
{
  const bool lined_up = ranks.overhang > 0;
  MD_TRY(lined_up ? ranks.choose_sent(&view) : ranks.gather_ghosts(view));
  if (ranks.ghosts > view.ghost.capacity) MD_TRY(grow_ghosts(ranks.ghosts + ranks.ghosts / 8));
  int *start = (int *)a.ghost_start.at;
  if (lined_up) {
    MD_TRY(ranks.line_up(view));
    MD_TRY(ranks.tell_starts(view, nullptr));
    MD_TRY(ranks.receive_ghosts(view, start, nullptr));
  } else if (view.ghost.start) {
    MD_TRY(ranks.settle_ghosts(view, start, a.scratch.at, (size_t)a.scratch.bytes));
  }
  view.received = (const typename T::particle *)ranks.received.at;
  view.order = (const int *)ranks.by_slot.at;
  return choice.fused && !lined_up ? ranks.note_sent(&view) : MD_OK;
}

template <class T> md_status gpu_engine<T>::rebin_ranks()
{
  double mark = md_time();
  MD_TRY(balance_if_due());
  if (comm->balance.every > 0) md_timers_lap(&timers, MD_PHASE_BALANCE, &mark);
  MD_TRY(migrate());
  md_timers_lap(&timers, MD_PHASE_MIGRATE, &mark);
  MD_TRY(sort_particles());
  MD_TRY(launch_rebinned(wide, view.ctl, view.launch, true));
  ++view.launch;
  MD_TRY(look());
  md_timers_lap(&timers, MD_PHASE_SORT, &mark);
  MD_TRY(make_halo());
  md_timers_lap(&timers, MD_PHASE_BORDERS, &mark);
  MD_TRY(fit_list());
  md_timers_lap(&timers, MD_PHASE_LIST, &mark);
  built = true;
  interval.since = 0;
  sorts.made = 0;
  ++rebins;
  return MD_OK;
}

/* The particles that are sent, and then messages, beside the others. Messages are made from, and received into, the
 * position array that the step writes, whatever its outcome: if it is not taken, nobody reads that. */
template <class T> md_status gpu_engine<T>::launch_two_parts(step_sorting sorting)
{
  const system_view<T> sent = ranks.part_of(view, PART_SENT), rest = ranks.part_of(view, PART_REST);
  const bool sends = sent.members > 0;
  launch beside = stepping;
  beside.stream = ranks.beside;
  /* If nothing is sent, all must come first nevertheless: messages look at the progress that a launch notes. */
  if (!sends)
    MD_TRY(view.n == 0 ? launch_empty_step(wide, view.ctl, view.launch, true)
                       : launch_fused(stepping, rest, sorting));
  MD_CUDA(cudaEventRecord(ranks.ready, stream));
  MD_CUDA(cudaStreamWaitEvent(ranks.beside, ranks.ready, 0));
  if (sends) MD_TRY(launch_fused(beside, sent, sorting));
  if (sends && rest.members > 0) MD_TRY(launch_fused(stepping, rest, sorting));
  beside = wide;
  beside.stream = ranks.beside;
  if (sorting != SORTS_MOVE) MD_TRY(ranks.refresh_messages(view, beside, true));
  MD_CUDA(cudaEventRecord(ranks.arrived, ranks.beside));
  return MD_OK;
}

template <class T> md_status gpu_engine<T>::launch_step_ranks(step_sorting sorting)
{
  const bool overlaps = choice.fused && view.ghost.start;
  if (overlaps)
    MD_TRY(launch_two_parts(sorting));
  else if (view.n == 0 && choice.fused)
    MD_TRY(launch_empty_step(wide, view.ctl, view.launch, true));
  else
    MD_TRY(choice.fused ? launch_fused(stepping, view) : launch_unfused());
  MD_TRY(ranks.lap_begins(ranks.LAP_EXCHANGE, stream));
  if (overlaps) {
    MD_CUDA(cudaStreamWaitEvent(stream, ranks.arrived, 0));
    MD_TRY(ranks.refresh_images(view, wide, true));
  }
  MD_TRY(check_strays(view.launch));
  MD_TRY(ranks.lap_begins(ranks.LAP_REDUCTION, stream));
  MD_TRY(ranks.share_outcome(view.ctl, view.launch, stream));
  MD_TRY(ranks.lap_ends(ranks.LAP_REDUCTION, stream));
  ++view.launch;
  if (!overlaps) MD_TRY(update_halo());
  MD_TRY(ranks.lap_ends(ranks.LAP_EXCHANGE, stream));
  ranks.next_lap();
  return MD_OK;
}

/* A step that moves particles to new places; and ghosts by these. */
template <class T> md_status gpu_engine<T>::launch_sort_ranks()
{
  step_slot *step_taken = &view.ctl->slot[view.launch % SLOTS];
  MD_TRY(launch_two_parts(SORTS_MOVE));
  MD_CUDA(cudaStreamWaitEvent(stream, ranks.arrived, 0));
  swap_orders();
  MD_TRY(ranks.tell_starts(view, step_taken));
  MD_TRY(ranks.share_outcome(view.ctl, view.launch, stream));
  ++view.launch;
  return ranks.receive_ghosts(view, (int *)a.ghost_start.at, step_taken);
}

/* What of the time of steps was that of their messages. The device rests. */
template <class T> md_status gpu_engine<T>::lap_messages()
{
  double halo, reductions;
  MD_TRY(ranks.take_laps(&halo, &reductions));
  timers.seconds[MD_PHASE_FORCE] -= halo + reductions;
  timers.seconds[MD_PHASE_HALO] += halo;
  timers.seconds[MD_PHASE_REDUCE] += reductions;
  return MD_OK;
}

/* Steps until done, launched up to the next rebin at a time. Everything that is decided here follows from what all
 * ranks know. */
template <class T> md_status gpu_engine<T>::run_ranks(int64_t n)
{
  while (now.done < n) {
    const int64_t before = now.done, count = interval.next(n - before);
    const gpu_cycle &c = cycles.resting();
    MD_CUDA(cudaEventRecord(c.begin, stream));
    for (int64_t k = 0; k < count; ++k) MD_TRY(launch_step());
    MD_CUDA(cudaEventRecord(c.stepped, stream));
    MD_TRY(look());
    interval.since += now.done - before;
    MD_TRY(lap(MD_PHASE_FORCE, c.begin, c.stepped));
    MD_TRY(lap_messages());
    if (now.halt & (HALT_OVERLAP | HALT_FLYER)) return fault();
    if (now.done == n || (!now.stale && !interval.over())) continue;
    interval.learn(now);
    built = false;
    MD_TRY(make_structure());
  }
  return MD_OK;
}

#endif
