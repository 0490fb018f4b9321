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
#include "common/pair/all_pairs.h"
#include "common/ranks/reductions.h"
#include "gpu/all_pairs/engine.cuh"
#include "gpu/gpu.h"
#include "gpu/output/launches.cuh"
#include "gpu/runtime/reciprocal.h"

#include <new>
#include <stdio.h>

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

namespace
{

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
