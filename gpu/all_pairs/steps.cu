/* The steps of the GPU engine for all pairs: what it launches in a step, and in batches of steps.
 *
 * A step is the impulses of all pairs, of fixes, and then kicks and drift. Kicks after the drift are given with those
 * of the next step. Cost: see engine.cu.
 */
#include "common/force/forces.h"
#include "common/pair/all_pairs.h"
#include "common/ranks/reductions.h"
#include "gpu/all_pairs/engine.cuh"

/* From this many bodies on, the kernel that evaluates each pair once is faster: in double precision, and in mixed. */
static const int64_t SYMMETRIC_FROM = 3072, SYMMETRIC_FROM_MIXED = 4096;

/* The square of the softening length for single precision. It is so large that F/r of two heaviest bodies at the same
 * place is finite: the force of a body on itself is then F/r times 0, and not infinity times 0. charge: of a unit mass.
 *
 *   q^2 s^(-3) <= 2^120, q the largest charge, at least 1
 *
 * The impulse of a pair is in range if q^2/d^2 is below 2^52, or 2^60 for wide momenta. So s^3 is at most 2^-60 d^2 of
 * the closest pair in range: 10^-5 of its distance d where this is 10^-3. */
static float softening_of_single(const md_model *model, double softening2, double charge)
{
  const double q = md_max(1.0, charge * model->mass_reference);
  return (float)md_max(softening2, cbrt(q * q * q * q) * 0x1p-80);
}

/* The number of the next launch. Notes the step to which it belongs. */
unsigned long long all_pairs_engine::next_launch()
{
  log.step.push_back(model->step);
  return ++log.number;
}

/* Makes the bodies have their masses times per_mass. */
md_status all_pairs_engine::charge_bodies(double per_mass)
{
  if (charge == per_mass) return MD_OK;
  MD_TRY(launch_body_charges(view, per_mass, stream));
  packed = false;
  charge = per_mass;
  return MD_OK;
}

/* Point 1 or 4 of the step: the impulses of all pairs, on which the fixes then act. step: the one after which the
 * bodies are. */
md_status all_pairs_engine::sum_impulses(int64_t step)
{
  const unsigned long long number = next_launch();
  MD_TRY(sum_pairs(number));
  const int count = model->nforce_action;
  md_force_action *row = md_forces_at(model, step);
  const md_force_action *at = (const md_force_action *)arrays.force_action.at;
  if (model->force_rows > 0) at += row - model->force_row;
  for (int first = 0, last; first < count; first = last) {
    if (row[first].takes_mean) MD_TRY(take_mean(&row[first], at + first));
    last = md_forces_next_mean(row, first + 1, count);
    MD_TRY(launch_body_force(view, at + first, last - first, model->impulse_scale, number, stream));
  }
  return MD_OK;
}

/* Gives an action, which is at `at` on the device, the mean of the impulses on its group. The host waits for the
 * sums. */
md_status all_pairs_engine::take_mean(md_force_action *action, const md_force_action *at)
{
  md_wide sum[3] = {}, unused = {}, *sums[MD_TERMS_MAX];
  for (int q = 0; q < MD_TERMS_MAX; ++q) sums[q] = q < view.dim ? &sum[q] : &unused;
  MD_CUDA(cudaMemsetAsync(arrays.terms.at, 0, (size_t)fine_sum_bytes(MD_TERMS_MAX), stream));
  MD_TRY(launch_sum_body_impulses(view, at, fine_sums{(unsigned long long *)arrays.terms.at}, stream));
  MD_TRY(gpu_fetch_sums(&arrays.terms, MD_TERMS_MAX, sums, stream));
  MD_TRY(md_forces_take_mean(comm, model, sum, 1.0 / MD_FINE, action));
  MD_CUDA(cudaMemcpyAsync((void *)at, action, sizeof *action, cudaMemcpyHostToDevice, stream));
  return MD_OK;
}

/* The coefficients of impulses. */
md_status all_pairs_engine::take_coefficients()
{
  const double scale = model->impulse_scale;
  md_pair_unit_coefficients(&model->pair, scale, view.k);
  MD_TRY(charge_bodies(md_pair_charge(&model->pair, scale)));
  view.single_softening = softening_of_single(model, view.k[2], charge);
  return MD_OK;
}

md_status all_pairs_engine::sum_pairs(unsigned long long number)
{
  MD_TRY(take_coefficients());
  if (!cleared) MD_CUDA(cudaMemsetAsync(view.sum, 0, (size_t)(view.stride * view.dim) * 8, stream));
  cleared = false;
  current = true;
  if (mixed && batch.shape.blocks > 0) return sum_few(number);
  if (mixed && !packed) MD_TRY(launch_pack_single(view, copies, stream));
  packed = mixed;
  /* The same choice on every rank: the length of blocks and the model are the same. */
  const bool many = options.gpu.symmetric || view.stride >= (mixed ? SYMMETRIC_FROM_MIXED : SYMMETRIC_FROM);
  if (many && (mixed || (fast && model->close2 == 0.0))) return sum_symmetric(number);
  if (mixed) return sum_single(number);
  return go_round(arrays.bodies, sizeof(body), comm->size, [&](int, const void *block, int64_t n) {
    return launch_impulses(view, model->pair.kind, (const body *)block, n, one, fast, number,
                           device.multiProcessorCount, stream);
  });
}

/* ---- batches of steps ---- */

/* Chooses batches for few bodies. */
md_status all_pairs_engine::prepare_batches()
{
  if (comm->size > 1 || options.gpu.unfused || options.gpu.symmetric) return MD_OK;
  if (model->nmiddle > 0 || model->nforce_action > 0) return MD_OK;
  if (view.n > BATCHES_UP_TO || !device.cooperativeLaunch) return MD_OK;
  if (!mixed && (!fast || model->close2 > 0.0)) return MD_OK;
  batch.shape = step_batch_shape(view, mixed, device.multiProcessorCount, device.sharedMemPerBlockOptin);
  if (batch.shape.blocks == 0) return MD_OK;
  const int64_t words = view.stride * view.dim;
  MD_TRY(md_device_reserve(&memory, &arrays.more_sums, 2 * words * 8, "impulses"));
  MD_TRY(md_device_reserve(&memory, &arrays.arrived, sizeof *batch.arrived, "impulses"));
  MD_CUDA(cudaMemsetAsync(arrays.more_sums.at, 0, (size_t)(2 * words * 8), stream));
  MD_CUDA(cudaMemsetAsync(arrays.arrived.at, 0, sizeof *batch.arrived, stream));
  batch.arrived = (unsigned *)arrays.arrived.at;
  batch.sum[0] = view.sum;
  for (int k = 0; k < 2; ++k) batch.sum[k + 1] = (unsigned long long *)arrays.more_sums.at + k * words;
  return MD_OK;
}

/* In precision mixed the impulses of few bodies are always those of a batch: sums of single precision depend on which
 * bodies are added up together. */
md_status all_pairs_engine::sum_few(unsigned long long number)
{
  batch.steps = 0;
  batch.launch_number = number;
  return launch_step_batch(view, copies, model->pair.kind, one, batch, stream);
}

/* Are the next steps such that a batch can take them? */
bool all_pairs_engine::has_batches() const
{
  if (batch.shape.blocks == 0 || model->nforce_action > 0) return false;
  const md_step step = md_step_of(model);
  return step.moves && step.middles == 0 && !step.changes_box && !step.triclinic;
}

/* Launches `count` steps at once. Afterwards the arrays of impulses have changed their places. */
md_status all_pairs_engine::take_batch(int count)
{
  batch.step = md_step_of(model);
  batch.first_kicks = owed + batch.step.kicks_before;
  batch.kicks = batch.step.kicks_after + batch.step.kicks_before;
  if (batch.first_kicks != 0 && !current) MD_TRY(sum_impulses(model->step));
  MD_TRY(take_coefficients());
  batch.steps = count;
  batch.launch_number = log.number + 1;
  for (int s = 0; s < count; ++s)
    for (int k = 0; k < 2; ++k) log.step.push_back(md_model_step_after(model, s));
  log.number += (unsigned long long)(2 * count);
  MD_TRY(launch_step_batch(view, copies, model->pair.kind, one, batch, stream));
  batch.arrived_before += (unsigned)(batch.shape.blocks * batch_waits(count));
  for (int s = 0; s < count % 3; ++s) {
    unsigned long long *first = batch.sum[0];
    batch.sum[0] = batch.sum[1];
    batch.sum[1] = batch.sum[2];
    batch.sum[2] = first;
  }
  view.sum = batch.sum[0];
  owed = batch.step.kicks_after;
  current = true;
  cleared = false;
  return MD_OK;
}

md_status all_pairs_engine::sum_single(unsigned long long number)
{
  return go_round(arrays.single, sizeof(body_single), comm->size, [&](int, const void *block, int64_t n) {
    return launch_impulses_single(view, model->pair.kind, (const body_single *)arrays.single.at,
                                  (const body_single *)block, n, number, device.multiProcessorCount, stream);
  });
}

/* Each pair once. The block of the rank `hop` ranks below visits this rank, for half of the ring. The sums for its
 * bodies go back to that rank at once. With an even number of ranks, the two ranks that are opposite to each other
 * have each other's block at the same time, and each takes half of their pairs: the lower rank those of the first
 * half of its own groups. */
md_status all_pairs_engine::sum_symmetric(unsigned long long number)
{
  const md_pair_kind kind = model->pair.kind;
  const int groups = symmetric_groups(view), half = groups / 2, ranks = comm->size, rank = comm->rank;
  const int64_t block_bytes = view.stride * (int64_t)(mixed ? sizeof(body_single) : sizeof(body));
  const int64_t sum_bytes = view.stride * view.dim * 8;
  const body_single *single = mixed ? (const body_single *)arrays.single.at : nullptr;
  const void *here = mixed ? (const void *)single : view.bodies;
  for (int hop = 0; 2 * hop <= ranks; ++hop) {
    const int above = (rank + 1) % ranks, below = (rank + ranks - 1) % ranks,
              to = (rank + ranks - hop) % ranks;
    void *next = arrays.visitor[hop & 1].at;
    unsigned long long *sums = hop == 0 ? view.sum : (unsigned long long *)arrays.visitor_sum[0].at;
    const bool opposite = 2 * hop == ranks && hop > 0, more = 2 * (hop + 1) <= ranks;
    if (hop > 0) MD_CUDA(cudaMemsetAsync(sums, 0, (size_t)sum_bytes, stream));
    if (more) {
      MD_CUDA(cudaEventRecord(computed, stream));
      MD_CUDA(cudaStreamWaitEvent(messages, computed, 0));
    }
    group_meeting m = {single, here, sums, 0, groups, 0, groups, hop == 0};
    if (opposite && rank < to) m.groups = half;
    if (opposite && rank > to) m.other_first = half, m.others = groups - half;
    MD_TRY(launch_symmetric(view, kind, m, one, number, device.multiProcessorCount, stream));
    if (more) {
      const md_message block = {above, below, here, next, block_bytes, block_bytes};
      MD_TRY(transport->exchange(transport, 1, &block, messages));
      MD_CUDA(cudaEventRecord(arrived, messages));
      MD_CUDA(cudaStreamWaitEvent(stream, arrived, 0));
    }
    if (hop > 0) {
      const md_message back = {to,       (rank + hop) % ranks, sums, arrays.visitor_sum[1].at, sum_bytes,
                               sum_bytes};
      MD_TRY(transport->exchange(transport, 1, &back, stream));
      MD_TRY(launch_add_sums(view, (const unsigned long long *)arrays.visitor_sum[1].at, stream));
    }
    here = next;
  }
  return MD_OK;
}

md_status all_pairs_engine::move(const md_step &step, int kicks, bool drifts)
{
  if (kicks != 0 && !current) MD_TRY(sum_impulses(model->step));
  MD_TRY(launch_body_move(view, copies, step, kicks, drifts, next_launch(), stream));
  if (drifts) {
    current = false;
    cleared = true;
  }
  return MD_OK;
}

/* Kicks after the drift are given with those of the next step, or at the end of a run. */
md_status all_pairs_engine::take_step()
{
  const md_step step = md_step_of(model);
  if (!step.moves) return MD_OK;
  MD_TRY(move(step, owed + step.kicks_before, true));
  owed = step.kicks_after;
  if (owed != 0) MD_TRY(sum_impulses(md_model_step_after(model, 1)));
  return MD_OK;
}

/* The host looks after about a millisecond's work. */
int all_pairs_engine::steps_until_look() const
{
  const bool few = batch.shape.blocks > 0;
  const double most = md_max(1.0, md_min((few ? 4e9 : 1e9) / pairs(), few ? 256.0 : 64.0));
  return (int)most - (int)(steps - looked);
}

md_status all_pairs_engine::run(int64_t n)
{
  double mark = md_time();
  if (model->force_rows > 0) {
    /* In the stream of the steps, which would not wait for the last bytes of a cudaMemcpy. */
    const int64_t bytes = model->force_rows * model->nforce_action * (int64_t)sizeof *model->force_row;
    MD_TRY(md_device_reserve(&memory, &arrays.force_action, bytes, "fixes"));
    MD_CUDA(cudaMemcpyAsync(arrays.force_action.at, model->force_row, (size_t)bytes, cudaMemcpyHostToDevice,
                            stream));
  }
  for (int64_t left = n; left > 0;) {
    const int most = steps_until_look();
    const bool batches = has_batches();
    const int count = batches ? (int)md_min((double)left, (double)most) : 1;
    if (batches)
      MD_TRY(take_batch(count));
    else
      MD_TRY(take_step());
    model->step = md_model_step_after(model, count);
    steps += count;
    left -= count;
    if (count >= most) MD_TRY(look());
  }
  if (owed != 0) MD_TRY(move(md_step_of(model), owed, false));
  owed = 0;
  const md_status status = look();
  md_timers_lap(&timers, MD_PHASE_FORCE, &mark);
  return status;
}

/* Waits for the device, and makes an error of what the halt word says. Collective. */
md_status all_pairs_engine::look()
{
  halt_word word = ~0ull;
  looked = steps;
  MD_CUDA(cudaMemcpyAsync(&word, view.halt, sizeof word, cudaMemcpyDeviceToHost, stream));
  MD_CUDA(cudaStreamSynchronize(stream));
  /* The first launch that any rank found a reason in counts for all ranks; they have all launched the same. */
  double first = word == ~0ull ? -0x1p100 : -(double)word;
  if (comm->size > 1) MD_TRY(comm->reduce->max(comm, &first, 1));
  if (first == -0x1p100) {
    log.step.clear();
    log.first = log.number + 1;
    return MD_OK;
  }
  const unsigned long long found = (unsigned long long)-first;
  model->step = log.step[(size_t)(found / HALT_REASONS - log.first)];
  MD_TRY(fetch_components());
  const int reason = (int)(found % HALT_REASONS);
  const double output_scale = 1.0 / (model->grids.f * MD_FINE);
  const md_status own = reason == HALTED_BY_OVERLAP  ? overlap_error(model->impulse_scale, view.range, true)
                        : reason == HALTED_BY_OUTPUT ? overlap_error(output_scale, model->force_range, false)
                                                     : runaway_error();
  MD_TRY(md_comm_agree(comm, own));
  return md_error(MD_PHYSICS,
                  "step %lld: an impulse is out of range in single precision, and not in double: use "
                  "`precision double`, a shorter timestep or a softening length",
                  (long long)model->step);
}
