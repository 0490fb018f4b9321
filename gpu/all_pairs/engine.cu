/* The GPU engine for pair styles without a cutoff, such as gravity: every body feels every other body.
 *
 * There are no cells, lists, sorts and ghosts. A step is two launches: the impulses of all pairs (impulse.cu), and
 * kicks and drift (move.cu). Steps of few bodies are launched in batches (batch.cu). On several ranks each rank owns
 * an equal share of the bodies, and the blocks of bodies travel around the ring of ranks (picture:
 * openmp/all_pairs/all_pairs.c), in a stream of their own, while the device computes with the block that is there.
 *
 * The host launches steps ahead and looks at the halt word (bodies.cuh) after about a millisecond's work.
 *
 * Trade-off: bodies never change their places, so that nothing is copied but positions, and output is in the order of
 * the host. But the time of a step grows with the square of the number of bodies.
 * Cost: n^2 pairs a step; in 3D 32 bytes a body for the block, 24 for velocities, 24 for impulses, 24 more with wide
 * momenta, 14 for id, type and group, 8 for a mass of its own; with precision mixed 16 for a block in single
 * precision; on several ranks twice the block for those that travel.
 */
#include "common/faults.h"
#include "common/force/forces.h"
#include "common/pair/all_pairs.h"
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"
#include "common/ranks/transport.h"
#include "common/step/host_step.h"
#include "common/sums/histogram.h"
#include "gpu/all_pairs/bodies.cuh"
#include "gpu/gpu.h"
#include "gpu/output/fetch_sums.h"
#include "gpu/output/launches.cuh"
#include "gpu/runtime/device.h"
#include "gpu/runtime/reciprocal.h"

#include <new>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

namespace
{

/* From this many bodies on, the kernel that evaluates each pair once is faster: in double precision, and in mixed. */
const int64_t SYMMETRIC_FROM = 3072, SYMMETRIC_FROM_MIXED = 4096;

/* Up to this many bodies of one rank, steps are launched in batches. */
const int BATCHES_UP_TO = 4096;

/* Arrays in device memory. The struct has no other members, because the engine frees it as a list of arrays. */
struct body_arrays {
  device_array bodies, single, visitor[2]; /* blocks: own, own in single precision, those that travel */
  device_array visitor_sum[2]; /* impulses on a visitor's bodies; those that come from another rank */
  /* For batches: two more arrays of impulses, and how many blocks have arrived. */
  device_array more_sums, arrived;
  device_array v, low, sum, id, type, group, own_mass;
  device_array mass, v_step, velocity_per_v; /* by type, from 1 */
  device_array halt, summand, force_action, sums, terms, force, count;
};

/* What happened at a launch, to name the step of an error. */
struct launched {
  unsigned long long number; /* of the last launch */
  std::vector<int64_t> step; /* of the launches since the last look at the halt word */
  unsigned long long first;  /* number of the first of them */
};

class all_pairs_engine
{
public:
  all_pairs_engine(md_model *m, md_particles *p, md_comm *c, const md_engine_options *o)
      : model(m), particles(p), comm(c), options(*o)
  {
  }
  ~all_pairs_engine();
  md_status start();
  md_status run(int64_t n);
  md_status measure(md_wanted, md_measure *);
  md_status act(const md_action *);
  md_status download(double *const force[3]);
  md_status histogram(const md_histogram *, int64_t *sum);
  void report(md_engine_report *);

private:
  /* Calls f(block, its length, is it the last one), for the block of every rank. */
  template <class F> md_status go_round(const device_array &own, int64_t body_bytes, int hops, F &&f);
  md_status make_arrays();
  md_status upload();
  void set_view();
  md_status upload_bodies();
  md_status put(device_array *, const void *from, int64_t bytes, const char *what);
  md_status charge_bodies(double per_mass);
  md_status sum_impulses(int64_t step);
  md_status take_coefficients();
  md_status sum_pairs(unsigned long long number);
  md_status take_mean(md_force_action *, const md_force_action *at);
  md_status sum_single(unsigned long long number);
  md_status sum_symmetric(unsigned long long number);
  md_status move(const md_step &, int kicks, bool drifts);
  md_status take_step();
  md_status prepare_batches();
  md_status sum_few(unsigned long long number);
  bool has_batches() const;
  md_status take_batch(int count);
  md_status look();
  md_status overlap_error(double scale, double range, bool of_step);
  md_status runaway_error();
  md_status measure_pairs(md_measure *);
  md_status fetch_components();
  unsigned long long next_launch();
  int steps_until_look() const;
  double pairs() const { return (double)view.n * (double)model->natoms; }

  md_model *model;
  md_particles *particles;
  md_comm *comm;
  md_engine_options options;
  cudaDeviceProp device = {};
  single_copy copies = {};
  device_memory memory = {};
  body_arrays arrays = {};
  body_view view = {};
  step_batch batch = {}; /* of the next batch */
  cudaStream_t stream = nullptr, messages = nullptr;
  cudaEvent_t computed = nullptr, arrived = nullptr;
  md_transport *transport = nullptr;
  bool one = false, fast = false, mixed = false;
  bool current = false; /* view.sum has the impulses at the present positions */
  bool cleared = false; /* view.sum is zero */
  bool packed = false;  /* the copies in single precision are the present bodies */
  double charge = 0.0;  /* the present bodies have masses times this */
  int owed = 0;         /* how many times these impulses must still be given */
  launched log = {};
  md_timers timers = {};
  int64_t steps = 0, looked = 0, downloads = 0;
  char description[256] = "";
};

/* ---- start ---- */

md_status all_pairs_engine::put(device_array *array, const void *from, int64_t bytes, const char *what)
{
  return md_device_upload(&memory, array, from, bytes, what);
}

md_status all_pairs_engine::make_arrays()
{
  const int dim = model->box.dim;
  double most = (double)particles->n;
  if (comm->size > 1) MD_TRY(comm->reduce->max(comm, &most, 1));
  view.stride = ((int64_t)md_max(most, 1.0) + BODY_PAD - 1) / BODY_PAD * BODY_PAD;
  const int64_t words = view.stride * dim * 8;
  const int64_t block = view.stride * (int64_t)(mixed ? sizeof(body_single) : sizeof(body));
  MD_TRY(md_device_reserve(&memory, &arrays.bodies, view.stride * (int64_t)sizeof(body), "bodies"));
  if (mixed) MD_TRY(md_device_reserve(&memory, &arrays.single, block, "bodies in single precision"));
  for (int k = 0; k < 2 && comm->size > 1; ++k)
    MD_TRY(md_device_reserve(&memory, &arrays.visitor[k], view.stride * (int64_t)sizeof(body),
                             "bodies of other ranks"));
  for (int k = 0; k < 2 && comm->size > 1; ++k)
    MD_TRY(md_device_reserve(&memory, &arrays.visitor_sum[k], words, "impulses of other ranks"));
  MD_TRY(md_device_reserve(&memory, &arrays.v, words, "velocities"));
  if (model->wide) MD_TRY(md_device_reserve(&memory, &arrays.low, words, "second words of momenta"));
  MD_TRY(md_device_reserve(&memory, &arrays.sum, words, "impulses"));
  MD_TRY(md_device_reserve(&memory, &arrays.sums, fine_sum_bytes(SUMS), "sums"));
  MD_TRY(md_device_reserve(&memory, &arrays.terms, fine_sum_bytes(MD_TERMS_MAX), "sums"));
  return md_device_reserve(&memory, &arrays.halt, sizeof(halt_word), "the halt word");
}

md_status all_pairs_engine::upload()
{
  const md_particles *p = particles;
  const int64_t n = p->n, types = model->ntypes + 1;
  const halt_word none = ~0ull;
  view.dim = model->box.dim;
  view.n = (int)n;
  MD_TRY(put(&arrays.id, p->id, n * 8, "ids"));
  MD_TRY(put(&arrays.type, p->type, n * 2, "types"));
  if (p->grouped) MD_TRY(put(&arrays.group, p->group, n * 4, "groups"));
  if (p->massed) MD_TRY(put(&arrays.own_mass, p->mass, n * 8, "masses of bodies"));
  MD_TRY(put(&arrays.mass, model->mass, types * 8, "masses"));
  MD_TRY(put(&arrays.v_step, model->v_step, types * 8, "momentum steps"));
  MD_TRY(put(&arrays.velocity_per_v, model->velocity_per_v, types * 8, "masses"));
  MD_TRY(put(&arrays.halt, &none, sizeof none, "the halt word"));
  MD_TRY(put(&arrays.force_action, model->force_action, sizeof model->force_action, "fixes"));
  MD_TRY(put(&arrays.summand, model->summand, sizeof model->summand, "computes"));
  set_view();
  return upload_bodies();
}

void all_pairs_engine::set_view()
{
  const md_particles *p = particles;
  view.bodies = (body *)arrays.bodies.at;
  view.v = (double *)arrays.v.at;
  view.low = model->wide ? (int64_t *)arrays.low.at : nullptr;
  view.sum = (unsigned long long *)arrays.sum.at;
  view.id = (const int64_t *)arrays.id.at;
  view.type = (const uint16_t *)arrays.type.at;
  view.group = p->grouped ? (const uint32_t *)arrays.group.at : nullptr;
  view.mass = (const double *)arrays.mass.at;
  view.own_mass = p->massed ? (const double *)arrays.own_mass.at : nullptr;
  view.mass_reference = model->mass_reference;
  view.widest = model->wide ? model->speed_limit : 0.0;
  view.v_step = (const double *)arrays.v_step.at;
  view.velocity_per_v = (const double *)arrays.velocity_per_v.at;
  view.halt = (halt_word *)arrays.halt.at;
  view.close2 = model->close2;
  view.range = md_all_range(model->wide);
  view.quantum = model->grids.v;
}

md_status all_pairs_engine::upload_bodies()
{
  const md_particles *p = particles;
  const int64_t n = p->n;
  std::vector<body> block((size_t)view.stride, body{{BODY_FAR, BODY_FAR, BODY_FAR}, 0.0});
  for (int64_t i = 0; i < n; ++i) {
    block[(size_t)i] = body{{0.0, 0.0, 0.0}, md_mass_of(model, p, i)};
    for (int d = 0; d < view.dim; ++d) block[(size_t)i].x[d] = p->x[d][i];
  }
  charge = 1.0;
  MD_TRY(put(&arrays.bodies, block.data(), view.stride * (int64_t)sizeof(body), "bodies"));
  for (int d = 0; d < view.dim; ++d) {
    MD_TRY(md_device_fill(view.v + d * view.stride, p->v[d], n * 8));
    if (view.low) MD_TRY(md_device_fill(view.low + d * view.stride, p->v_low[d], n * 8));
  }
  return MD_OK;
}

md_status all_pairs_engine::start()
{
  MD_TRY(md_device_choose(options.gpu.device, comm->size > 1 ? comm->local_rank : 0, &device));
  memory.limit = options.gpu.memory;
  mixed = options.gpu.mixed;
  one = model->massed ? model->one_mass : model->ntypes == 1;
  MD_TRY(gpu_check_inverse_roots(&fast));
  MD_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  if (comm->size > 1) {
    MD_CUDA(cudaStreamCreateWithFlags(&messages, cudaStreamNonBlocking));
    MD_CUDA(cudaEventCreateWithFlags(&computed, cudaEventDisableTiming));
    MD_CUDA(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming));
    int sharers = 1;
    MD_TRY(md_device_sharers(comm, &device, &sharers));
    MD_TRY(comm->open_transport(comm, options.gpu.transport, sharers, &transport));
  }
  MD_TRY(make_arrays());
  MD_TRY(upload());
  MD_TRY(prepare_batches());
  copies.at = (body_single *)arrays.single.at;
  for (int d = 0; d < view.dim; ++d) copies.centre[d] = 0.5 * (model->box.lo[d] + model->box.hi[d]);
  log.first = log.number + 1;
  snprintf(description, sizeof description, "%.120s: all pairs, %s precision%s%s%s", device.name,
           mixed ? "mixed" : "double", fast || mixed ? "" : ", roots without the short form",
           transport ? ", messages by " : "", transport ? transport->name : "");
  return MD_OK;
}

all_pairs_engine::~all_pairs_engine()
{
  if (stream) cudaStreamSynchronize(stream);
  device_array *all = (device_array *)&arrays;
  for (size_t k = 0; k < sizeof arrays / sizeof *all; ++k) md_device_free(&memory, &all[k]);
  if (computed) cudaEventDestroy(computed);
  if (arrived) cudaEventDestroy(arrived);
  if (messages) cudaStreamDestroy(messages);
  if (stream) cudaStreamDestroy(stream);
}

/* ---- the ring of ranks ---- */

/* Calls f(hop, block, its length) for the first `hops` blocks of the ring, from the own one on. Messages travel in the
 * order of `messages`, and wait for what the block they carry, or the block they replace, is still needed for. */
template <class F>
md_status all_pairs_engine::go_round(const device_array &own, int64_t body_bytes, int hops, F &&f)
{
  const int64_t bytes = view.stride * body_bytes;
  const int above = (comm->rank + 1) % comm->size, below = (comm->rank + comm->size - 1) % comm->size;
  const void *here = own.at;
  for (int hop = 0; hop < hops; ++hop) {
    const bool last = hop + 1 == hops;
    void *next = arrays.visitor[hop & 1].at;
    if (comm->size > 1) {
      MD_CUDA(cudaEventRecord(computed, stream));
      MD_CUDA(cudaStreamWaitEvent(messages, computed, 0));
    }
    MD_TRY(f(hop, here, hop == 0 ? view.n : view.stride));
    if (last) break;
    const md_message message = {above, below, here, next, bytes, bytes};
    MD_TRY(transport->exchange(transport, 1, &message, messages));
    MD_CUDA(cudaEventRecord(arrived, messages));
    MD_CUDA(cudaStreamWaitEvent(stream, arrived, 0));
    here = next;
  }
  return MD_OK;
}

/* ---- steps ---- */

/* The square of the softening length for single precision. It is so large that F/r of two heaviest bodies at the same
 * place is finite: the force of a body on itself is then F/r times 0, and not infinity times 0. charge: of a unit mass.
 *
 *   q^2 s^(-3) <= 2^120, q the largest charge, at least 1
 *
 * The impulse of a pair is in range if q^2/d^2 is below 2^52, or 2^60 for wide momenta. So s^3 is at most 2^-60 d^2 of
 * the closest pair in range: 10^-5 of its distance d where this is 10^-3. */
float softening_of_single(const md_model *model, double softening2, double charge)
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

/* ---- errors ---- */

md_status all_pairs_engine::runaway_error()
{
  const md_step step = md_step_of(model);
  return md_host_find_runaway(model, particles, &step);
}

/* Finds the partner of the smallest id of the body with the smallest id that overlaps another one. scale: of forces,
 * whose range is `range`. of_step: the force of a fix may be out of range instead. All ranks send one another all their
 * bodies, because this happens once in a run, at its end. */
md_status all_pairs_engine::overlap_error(double scale, double range, bool of_step)
{
  struct record {
    int64_t id;
    double x[3], mass;
  };
  const md_particles *p = particles;
  std::vector<record> mine;
  std::vector<int32_t> to;
  for (int r = 0; r < comm->size; ++r)
    for (int64_t i = 0; i < p->n; ++i) {
      record one_body = {p->id[i], {0.0, 0.0, 0.0}, md_mass_of(model, p, i)};
      for (int d = 0; d < p->dim; ++d) one_body.x[d] = p->x[d][i];
      mine.push_back(one_body);
      to.push_back(r);
    }
  record *all = nullptr;
  int64_t count = 0;
  MD_TRY(comm->exchange->sparse_exchange(comm, (int64_t)mine.size(), to.data(), mine.data(), sizeof(record),
                                         (void **)&all, &count));
  md_overlap overlap = md_overlap_none();
  if (of_step) md_forces_find_fault(model, particles, model->step, &overlap);
  double unit[MD_PAIR_K];
  md_pair_unit_coefficients(&model->pair, scale, unit);
  for (int64_t i = 0; i < p->n; ++i)
    for (int64_t j = 0; j < count; ++j) {
      if (all[j].id == p->id[i]) continue;
      double delta[3] = {0.0, 0.0, 0.0}, r2 = unit[2], k[MD_PAIR_K];
      for (int d = 0; d < p->dim; ++d) {
        delta[d] = p->x[d][i] - all[j].x[d];
        r2 = fma(delta[d], delta[d], r2);
      }
      md_all_coefficients_of_masses(unit, md_mass_of(model, p, i), all[j].mass, k);
      if (md_all_overlaps(md_pair_force(model->pair.kind, r2, k), delta, p->dim, r2, range))
        md_overlap_add(&overlap, p->id[i], all[j].id, r2);
    }
  free(all);
  return md_overlap_status(&overlap, model);
}

/* ---- output ---- */

pair_sums sums_of(const md_model *model, const device_array &sums, md_fine *force)
{
  pair_sums s = {};
  s.at.at = (unsigned long long *)sums.at;
  md_pair_unit_coefficients(&model->pair, 1.0 / (model->grids.f * MD_FINE), s.k);
  s.per_e = 1.0 / (model->grids.e * MD_FINE);
  s.per_w = model->grids.f / model->grids.w;
  s.range = model->force_range;
  s.force = force;
  return s;
}

md_status all_pairs_engine::measure_pairs(md_measure *m)
{
  const pair_sums s = sums_of(model, arrays.sums, nullptr);
  const unsigned long long number = next_launch();
  MD_TRY(charge_bodies(1.0));
  MD_CUDA(cudaMemsetAsync(arrays.sums.at, 0, (size_t)fine_sum_bytes(SUMS), stream));
  /* Two ranks that are opposite to each other both have the pairs of their blocks. */
  const int ranks = comm->size;
  MD_TRY(go_round(arrays.bodies, sizeof(body), ranks / 2 + 1, [&](int hop, const void *block, int64_t n) {
    return launch_pair_sums(view, model->pair.kind, (const body *)block, n, 2 * hop == ranks ? 1 : 2, fast, s,
                            number, stream);
  }));
  MD_TRY(look());
  md_wide *pairs[SUMS] = {&m->pair_energy2, &m->virial2};
  return gpu_fetch_sums(&arrays.sums, SUMS, pairs, stream);
}

md_status all_pairs_engine::measure(md_wanted wanted, md_measure *m)
{
  *m = md_measure{};
  m->count = view.n;
  if (md_wants_virial(wanted)) MD_TRY(measure_pairs(m));
  MD_CUDA(cudaMemsetAsync(arrays.terms.at, 0, (size_t)fine_sum_bytes(MD_TERMS_MAX), stream));
  fine_sums terms = {(unsigned long long *)arrays.terms.at};
  MD_CUDA(cudaMemcpyAsync(arrays.summand.at, model->summand, sizeof model->summand, cudaMemcpyHostToDevice,
                          stream));
  MD_TRY(launch_body_terms(view, (const md_summand *)arrays.summand.at, model->nsummand, wanted.summands,
                           terms, stream));
  md_wide *term[MD_TERMS_MAX];
  for (int t = 0; t < MD_TERMS_MAX; ++t) term[t] = &m->term[t];
  return gpu_fetch_sums(&arrays.terms, MD_TERMS_MAX, term, stream);
}

md_status all_pairs_engine::act(const md_action *action)
{
  return launch_body_act(view, *action, md_step_of(model), stream);
}

/* Copies positions and momenta to the host's arrays. */
md_status all_pairs_engine::fetch_components()
{
  md_particles *p = particles;
  std::vector<body> block((size_t)view.n);
  MD_CUDA(cudaStreamSynchronize(stream));
  MD_CUDA(cudaMemcpy(block.data(), view.bodies, block.size() * sizeof(body), cudaMemcpyDeviceToHost));
  for (int d = 0; d < view.dim; ++d) {
    for (int64_t i = 0; i < view.n; ++i) p->x[d][i] = block[(size_t)i].x[d];
    MD_CUDA(cudaMemcpy(p->v[d], view.v + d * view.stride, (size_t)view.n * 8, cudaMemcpyDeviceToHost));
    if (view.low)
      MD_CUDA(
          cudaMemcpy(p->v_low[d], view.low + d * view.stride, (size_t)view.n * 8, cudaMemcpyDeviceToHost));
  }
  return MD_OK;
}

md_status all_pairs_engine::download(double *const force[3])
{
  ++downloads;
  MD_TRY(fetch_components());
  if (!force) return MD_OK;
  const int64_t words = view.stride * view.dim;
  MD_TRY(md_device_reserve(&memory, &arrays.force, words * (int64_t)sizeof(md_fine), "forces for output"));
  md_fine *at = (md_fine *)arrays.force.at;
  const pair_sums s = sums_of(model, arrays.sums, at);
  const unsigned long long number = next_launch();
  MD_TRY(charge_bodies(1.0));
  MD_CUDA(cudaMemsetAsync(at, 0, (size_t)words * sizeof(md_fine), stream));
  MD_TRY(go_round(arrays.bodies, sizeof(body), comm->size, [&](int, const void *block, int64_t n) {
    return launch_pair_forces(view, model->pair.kind, (const body *)block, n, s, number, stream);
  }));
  MD_TRY(look());
  std::vector<md_fine> sum((size_t)words);
  MD_CUDA(cudaMemcpy(sum.data(), at, sum.size() * sizeof(md_fine), cudaMemcpyDeviceToHost));
  md_device_free(&memory, &arrays.force);
  for (int d = 0; d < view.dim; ++d)
    for (int64_t i = 0; i < view.n; ++i)
      force[d][i] = md_fine_value(sum[(size_t)(d * view.stride + i)]) * model->grids.f;
  return MD_OK;
}

md_status all_pairs_engine::histogram(const md_histogram *h, int64_t *sum)
{
  const size_t n = (size_t)h->n[0] * (size_t)h->n[1] * (size_t)md_histogram_sums(h);
  MD_TRY(md_device_reserve(&memory, &arrays.count, (int64_t)(n * 8), "sums of a map"));
  MD_CUDA(cudaMemsetAsync(arrays.count.at, 0, n * 8, stream));
  MD_TRY(launch_body_histogram(view, *h, (unsigned long long *)arrays.count.at, stream));
  std::vector<int64_t> mine(n);
  MD_CUDA(cudaStreamSynchronize(stream));
  MD_CUDA(cudaMemcpy(mine.data(), arrays.count.at, n * 8, cudaMemcpyDeviceToHost));
  for (size_t k = 0; k < n; ++k) sum[k] += mine[k];
  return MD_OK;
}

void all_pairs_engine::report(md_engine_report *r)
{
  *r = md_engine_report{};
  r->timers = timers;
  r->steps = steps;
  r->downloads = downloads;
  r->neighbours = (double)(model->natoms - 1);
  r->bytes = memory.used + particles->capacity * md_particles_bytes(particles);
  r->hardware = description;
  r->threads = 1;
}

/* ---- the C interface ---- */

all_pairs_engine *of(md_engine *e) { return (all_pairs_engine *)e; }

/* MD_USAGE for options that belong to cells and lists, or to another engine. */
md_status check_options(const md_engine_options *options)
{
  const md_gpu_options *g = &options->gpu;
  if (g->unsorted || g->unpadded || g->rolled || g->staged || g->rebin > 0 || g->neighbours == MD_GPU_CELLS ||
      g->neighbours == MD_GPU_LIST)
    return md_error(MD_USAGE, "package gpu: sorted, padded, unrolled, staged, rebin and neighbours are of "
                              "pair styles with a cutoff; this pair style takes all pairs");
  return MD_OK;
}

/* MD_USAGE for fixes on forces of which this engine does not know what they need: centres of mass, places of particles
 * at the beginning, or answers of a program. */
md_status check_fixes(const md_model *model, const md_particles *p)
{
  bool needs = p->anchored;
  for (int k = 0; k < model->nforce_action; ++k)
    needs = needs || model->force_action[k].takes_centre || model->force_action[k].asks;
  if (!needs) return MD_OK;
  return md_error(MD_USAGE, "engine gpu does not have the fixes spring, spring/self and external with a pair "
                            "style that takes all pairs, such as gravity; use --engine openmp");
}

md_status create(md_engine **engine, md_model *model, md_particles *p, md_comm *comm,
                 const md_engine_options *options)
{
  MD_TRY(check_options(options));
  MD_TRY(check_fixes(model, p));
  all_pairs_engine *e = new (std::nothrow) all_pairs_engine(model, p, comm, options);
  if (!e) return md_error(MD_RUNTIME, "out of memory: the GPU engine");
  const md_status status = e->start();
  if (status != MD_OK) {
    delete e;
    return status;
  }
  *engine = (md_engine *)e;
  return MD_OK;
}

md_status run(md_engine *e, int64_t n) { return of(e)->run(n); }
md_status measure(md_engine *e, md_wanted wanted, md_measure *m) { return of(e)->measure(wanted, m); }
md_status act(md_engine *e, const md_action *action) { return of(e)->act(action); }
md_status download(md_engine *e, double *const force[3]) { return of(e)->download(force); }
md_status histogram(md_engine *e, const md_histogram *h, int64_t *sum) { return of(e)->histogram(h, sum); }
void report(const md_engine *e, md_engine_report *r) { of(const_cast<md_engine *>(e))->report(r); }
void destroy(md_engine *e) { delete of(e); }

md_status plan(const md_model *model, int64_t, const md_engine_options *options, md_engine_plan *out)
{
  const int dim = model->box.dim;
  const bool several = options->ranks > 1, mixed = options->gpu.mixed;
  cudaDeviceProp device;
  *out = md_engine_plan{};
  if (md_device_choose(options->gpu.device, 0, &device) == MD_OK) {
    device_memory memory = {0, options->gpu.memory};
    MD_TRY(md_device_available(&memory, &out->available));
    snprintf(out->device, sizeof out->device, "%.120s", device.name);
  }
  md_plan_add(out, "bodies", sizeof(body));
  md_plan_add(out, "bodies in single precision", mixed ? sizeof(body_single) : 0.0);
  md_plan_add(out, "bodies of other ranks", several ? 2.0 * sizeof(body) : 0.0);
  md_plan_add(out, "impulses of other ranks", several ? dim * 16.0 : 0.0);
  md_plan_add(out, "velocities", dim * 8.0);
  md_plan_add(out, "second words of momenta", model->wide ? dim * 8.0 : 0.0);
  md_plan_add(out, "impulses", dim * 8.0);
  const bool batches = !several && !options->gpu.unfused && model->natoms <= BATCHES_UP_TO;
  md_plan_add(out, "impulses of batches", batches ? dim * 16.0 : 0.0);
  md_plan_add(out, "ids, types and groups", model->groups.n > 1 ? 14.0 : 10.0);
  md_plan_add(out, "masses of bodies", model->massed ? 8.0 : 0.0);
  out->ghost_bytes = mixed ? sizeof(body_single) : sizeof(body);
  snprintf(out->method, sizeof out->method, "all pairs");
  return MD_OK;
}

} // namespace

extern "C" const md_engine_kind md_engine_gpu_all_pairs = {
    "gpu",    "all pairs on a GPU a rank, the same bits",
    create,   run,
    measure,  act,
    download, histogram,
    nullptr,  nullptr,
    nullptr,  nullptr,
    nullptr,  nullptr,
    nullptr,  plan,
    report,   destroy,
    false,    nullptr,
    nullptr,
};
