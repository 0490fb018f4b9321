/* One step: which kernels it takes, and what these are given.
 *
 *   1. If there is a fused kernel (gpu/step/step_*.cu), it does the whole step and writes new positions into the idle
 *      position array. Otherwise a force kernel writes impulses into the idle position array, and a move kernel
 *      changes positions in place.
 *   2. Every kernel finds out on the device whether the step may be taken (gpu/particle/progress.cuh).
 *   3. New positions of ghosts follow.
 *   4. With lists, the list check follows if particles may go beyond the slack (gpu/neighbour/list_check.cu).
 *   5. The first step of a run takes the impulses that the run before it has left at its end (gpu/move/owed.cuh), where
 *      they are still there: then it is a move kernel alone.
 *
 * Trade-off: a fused kernel neither writes nor reads impulses, and reads positions once. But fused kernels exist
 * for the common models only, while the two other kernels do every model. Cost on one rank: one launch a step, two
 * or more if the step is not fused, and one more for ghosts.
 */
#ifndef MD_GPU_RUN_STEP_CUH
#define MD_GPU_RUN_STEP_CUH

#include "gpu/move/launches.cuh"
#include "gpu/neighbour/launches.cuh"
#include "gpu/step/launches.cuh"
#include "gpu/storage/transfer.cuh"

template <class T> struct gpu_stepper {
  typedef typename T::real real;
  typedef typename T::record record;

  gpu_core<T> &core;
  gpu_storage<T> &storage;
  gpu_transfer<T> &transfer;
  gpu_arrays &arrays = core.arrays;
  system_view<T> &view = core.view;
  gpu_ranks<T> &ranks = core.ranks;

  md_wanted kept_sums = {}; /* the sums that the forces after the last step made */
  /* these sums, as the control block has them; see gpu/step/awaited.cu */
  int64_t sum_words[AWAITED_WORDS] = {};
  bool impulses_kept = false;   /* are the impulses at the present positions in the idle position array? */
  bool impulses_packed = false; /* are they packed ones (gpu/move/packed_impulse.cuh)? */
  bool moved_packed = false;    /* was the last move that of packed positions? Mostly the next one is, too */
  owed_work<T> owed = {};       /* to the velocities. It needs impulses_kept if kicks are owed */
  double steps_expected = 1.0;  /* from one rebin to the next */

  /* Set what is the same for all steps of a run (core.step). */
  void set_step();
  void set_safe(int d, double lo, double hi);

  /* One step: a fused kernel, or a force kernel and a move kernel. */
  md_status launch_step(step_sorting sorting = SORTS_NOT);
  /* launch_steps() launches `count` steps: in one launch where steps_stay(), else one after the other. */
  bool steps_stay() const;
  md_status launch_steps(int64_t count);
  md_status launch_fused(const launch &l, const system_view<T> &s, step_sorting sorting = SORTS_NOT);
  md_status launch_unfused();
  md_status launch_forces(const system_view<T> &s, real *const impulse[3], bool part_of_step);
  bool sums_fast() const;
  md_status launch_pair_impulses(real *const impulse[3], bool part_of_step);
  /* The impulses of pairs, on which the fixes have acted. */
  md_status launch_impulses(real *const impulse[3], bool part_of_step);
  /* Sums that fixes await after this run. sums_with_forces(): those that the last pass for forces can also make
   * (gpu/step/awaited.cu). keep_sums(): `sums` are made, and are taken from the host's copy of the control block.
   * has_sums() tells whether they are all that is wanted, and add_sums() adds them to a measure. */
  md_wanted sums_with_forces() const;
  md_status launch_forces_and_sums(real *const impulse[3], md_wanted sums, bool speculative);
  void keep_sums(md_wanted sums);
  bool has_sums(md_wanted wanted) const;
  void add_sums(md_wanted wanted, md_measure *m) const;
  fix_force_args force_args(int first, int last, bool part_of_step) const;
  /* Gives the actions from number k on that belong to the same fix the centres of mass of their groups. */
  md_status take_centre(int k, bool part_of_step);
  /* Gives action k of the model, of fix external, its numbers of a step. Calls the function of the fix if it is due. */
  md_status ask(int k, bool part_of_step);
  /* Gives action k of the model the mean of the impulses on its group. */
  md_status take_mean(real *const impulse[3], int k);
  md_status spread_numbers(md_force_action *row, int k, int first, int count);
  void impulse_arrays(real *impulse[3]) const;
  next_order<T> order_next(step_sorting sorting) const;
  double force_bytes() const;
  bool packs_impulses() const;
  double bytes_of_impulse() const;
  double bytes_of_step() const;
  md_pair_kind kind_of_pairs() const;
  /* owe_kicks(): the impulses at the present positions are kept, and that many kicks are owed. owe_action() adds an
   * action after the last step. settle() gives what is owed, and must come before the host reads velocities.
   * forget_impulses() settles, and must come before the idle position array is written. All of them are for the time
   * between two runs. */
  void owe_kicks(double kicks);
  md_status owe_action(const md_action &);
  md_status settle();
  md_status forget_impulses();
  bool owes() const { return owed.kicks != 0.0 || owed.actions > 0; }
  /* What is owed, with the arrays that it needs now; NULL: nothing. Its impulses are not packed any more. */
  md_status find_owed(const owed_work<T> **work);
  /* Makes doubles of packed impulses, in place. */
  md_status unpack_impulses();
  /* Of packed impulses. Whatever else writes this array writes the idle position array, too. */
  uint8_t *top_bits() const { return (uint8_t *)arrays.spare[2].at; }
  md_status launch_kept();
  /* Moves all particles by these impulses, and gives them what is owed. */
  md_status launch_moves(real *const impulse[3]);
  /* What launch_move_scaled() is given in place of what is owed; false: it cannot do this. */
  bool owes_scaling(scaled_args<T> *args) const;
  /* Can launch_move_packed() do it instead? share_of_slack(): what it adds to the common path. */
  bool moves_packed() const;
  float share_of_slack() const;
  /* The list check after a step. */
  md_status check_lists(unsigned step_launch);

  /* ---- gpu/run/step_ranks.inc ---- */

  /* A step with its messages. A fused step runs beside its messages. A step that moves particles to new places
   * sends no messages beside it, because the new places are not known before its end. What neighbours must know is
   * sent after it. */
  md_status launch_step_ranks(step_sorting sorting);
  md_status launch_two_parts(step_sorting sorting);
  md_status launch_sort_ranks();
};

#endif
