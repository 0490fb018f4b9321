/* The C interface of the GPU engine: creates the engine, and plans the memory that it would need. The engine
 * itself is in engine.cuh.
 *
 *   1. Choose the GPU.
 *   2. Choose how neighbours are found and how large the cells are (configuration.cu). All ranks choose alike, by
 *      the rank with the least memory.
 *   3. On several ranks, give every rank its domain and its particles.
 *   4. Create the engine of the layout (gpu/particle/layout.cuh) that follows.
 *
 * Trade-off: there is one class for each layout, so that no code tests later which layout it has. In return the
 * engine and its kernels are compiled for up to seven layouts. The files .inc of engine/, run/ and ranks/ are the
 * bodies of the engine's parts. They are compiled here, and not on their own: separately they would take 1.6 times as
 * long in sum (2.5 times for six architectures).
 */
#include "common/ranks/domains.h"
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"
#include "gpu/engine/constants.inc"
#include "gpu/engine/core.inc"
#include "gpu/engine/engine.inc"
#include "gpu/engine/environment.inc"
#include "gpu/engine/follow.inc"
#include "gpu/engine/output.inc"
#include "gpu/engine/remade.cuh"
#include "gpu/gpu.h"
#include "gpu/ranks/bricks.inc"
#include "gpu/ranks/deferred.inc"
#include "gpu/ranks/domain.inc"
#include "gpu/ranks/halo.inc"
#include "gpu/ranks/migrate.inc"
#include "gpu/ranks/regions.inc"
#include "gpu/run/error.inc"
#include "gpu/run/rebin.inc"
#include "gpu/run/rebin_ranks.inc"
#include "gpu/run/run.inc"
#include "gpu/run/sorting.inc"
#include "gpu/run/step.inc"
#include "gpu/run/step_ranks.inc"
#include "gpu/runtime/device.h"
#include "gpu/runtime/reciprocal.h"
#include "gpu/storage/storage.inc"
#include "gpu/storage/transfer.inc"

#include <new>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace
{

template <class T>
md_status make_engine(md_engine **engine, md_model *model, md_particles *p, md_comm *comm,
                      const md_engine_options *options, const gpu_configuration &config,
                      const cudaDeviceProp &device, int sharers)
{
  gpu_engine<T> *e = new (std::nothrow) gpu_engine<T>();
  if (!e) return md_error(MD_RUNTIME, "out of memory: the GPU engine");
  gpu_core<T> &core = e->core;
  core.model = model;
  core.particles = p;
  core.comm = comm;
  core.several = comm->size > 1;
  core.sharers = sharers;
  core.options = *options;
  core.config = config;
  core.device = device;
  core.source = config.neighbours == MD_GPU_LIST    ? FROM_LIST
                : config.neighbours == MD_GPU_CELLS ? FROM_CELLS
                                                    : FROM_ALL;
  const md_status status = e->start();
  if (status != MD_OK) {
    delete e;
    return status;
  }
  *engine = e;
  return MD_OK;
}

/* MD_USAGE for options that several ranks cannot do. */
md_status check_ranks(const md_engine_options *options)
{
  const md_gpu_options *g = &options->gpu;
  if (g->neighbours == MD_GPU_ALL_PAIRS)
    return md_error(MD_USAGE, "--gpu-naive takes all pairs of one rank; run it without mpirun");
  if (g->unsorted || g->unpadded || g->rolled || g->staged)
    return md_error(MD_USAGE, "package gpu: sorted, padded, unrolled and staged are teaching switches of a "
                              "kernel for one rank; run it without mpirun");
  return MD_OK;
}

/* Packs positions only if all ranks can. This depends on the kind of their devices, and all ranks must have the
 * same records. */
md_status agree_to_pack(md_comm *comm, gpu_configuration *config)
{
  double cannot = !config->packed;
  MD_TRY(comm->reduce->max(comm, &cannot, 1));
  config->packed = cannot == 0.0;
  return MD_OK;
}

/* Divides the box: gives every rank its domain and the particles in it. */
md_status divide(md_model *model, md_particles *p, md_comm *comm, gpu_configuration *config)
{
  double width = 0.0;
  for (int d = 0; d < model->box.dim; ++d)
    width = std::max(width, gpu_halo_cells(model, config, d) * model->box.length[d] / config->count[d]);
  comm->domains->prefer_slabs(comm, gpu_slab(model, config));
  /* Cuts will be moved to edges of cells. So the width needs no margin for rounding, and is made a little smaller,
   * because decompose() adds one. */
  MD_TRY(comm->domains->decompose(comm, model, model->reach > 0.0 ? width * (1.0 - 1e-5) : 0.0));
  int domains[3], index[3];
  comm->domains->grid(comm, domains, index);
  if (!comm->domains->bisectors(comm, &model->box)) gpu_divide_cells(model, domains, config);
  return comm->exchange->migrate(comm, model, p);
}

/* Number of particles from which on CUDA loads all kernels before the first step. With fewer particles, CUDA loads
 * a kernel at its first launch. The step waits for that, and on several ranks one rank waits for another. */
const int64_t LOADS_ALL_FROM = 1 << 20;

md_status create_one(md_engine **engine, md_model *model, md_particles *p, md_comm *comm,
                     const md_engine_options *options)
{
  const bool several = comm->size > 1;
  /* This must come before the first call of CUDA. A value that the user has set stays. */
  if (model->natoms >= LOADS_ALL_FROM) setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  if (several) MD_TRY(check_ranks(options));
  cudaDeviceProp device;
  MD_TRY(md_device_choose(options->gpu.device, several ? comm->local_rank : 0, &device));
  int sharers = 1;
  if (several) MD_TRY(md_device_sharers(comm, &device, &sharers));
  device_memory memory = {0, options->gpu.memory};
  int64_t available = 0;
  MD_TRY(md_device_available(&memory, &available));
  /* All ranks must make the same choices, so that the least memory counts. */
  double least = -(double)(available / sharers);
  if (several) MD_TRY(comm->reduce->max(comm, &least, 1));
  gpu_configuration config;
  MD_TRY(gpu_configure(model, several ? model->natoms : p->n, comm->size, options, (int64_t)-least, &config));
  if (config.packed) MD_TRY(gpu_check_reciprocals(&config.packed));
  if (several) MD_TRY(agree_to_pack(comm, &config));
  if (several) MD_TRY(divide(model, p, comm, &config));
  auto make = [&](auto layout) {
    return make_engine<decltype(layout)>(engine, model, p, comm, options, config, device, sharers);
  };
  const bool flat = model->box.dim == 2, mixed = options->gpu.mixed;
  if (!mixed && !config.tagged) return make(exact2{});
  if (!mixed && flat) return make(exact2_tagged{});
  if (config.packed) return make(exact3_packed{});
  if (!mixed) return make(exact3_tagged{});
  if (!config.tagged) return make(mixed2{});
  return flat ? make(mixed2_tagged{}) : make(mixed3_tagged{});
}

/* An engine for a box that a fix changes is made anew now and then. */
md_status create(md_engine **engine, md_model *model, md_particles *p, md_comm *comm,
                 const md_engine_options *options)
{
  const bool *changes = model->box.changes;
  if (!changes[0] && !changes[1] && !changes[2]) return create_one(engine, model, p, comm, options);
  remade_engine *e = new (std::nothrow) remade_engine();
  if (!e) return md_error(MD_RUNTIME, "out of memory: the GPU engine");
  e->maker = create_one;
  e->model = model;
  e->particles = p;
  e->comm = comm;
  e->options = *options;
  const md_status status = e->start();
  if (status != MD_OK)
    delete e;
  else
    *engine = e;
  return status;
}

md_status run(md_engine *e, int64_t n) { return e->run(n); }
md_status measure(md_engine *e, md_wanted wanted, md_measure *m) { return e->measure(wanted, m); }
md_status act(md_engine *e, const md_action *action) { return e->act(action); }
md_status download(md_engine *e, double *const force[3]) { return e->download(force); }
md_status histogram(md_engine *e, const md_histogram *h, int64_t *sum) { return e->histogram(h, sum); }
md_status distances(md_engine *e, const md_distances *d, int64_t *count, bool *made)
{
  return e->distances(d, count, made);
}
md_status bin_sums(md_engine *e, const md_bins *b, double *largest, int64_t *sum, bool *made)
{
  return e->bin_sums(b, largest, sum, made);
}
md_status value_counts(md_engine *e, const md_value_counts *c, int64_t *count, double range[2], bool *made)
{
  return e->value_counts(c, count, range, made);
}
md_status environment(md_engine *e, const md_environment *what, double *each, bool *made)
{
  return e->environment(what, each, made);
}
md_status follow(md_engine *e, md_follow_set *set, const md_follow *what, md_follow_pace *pace,
                 md_follow_fault *fault, bool *made)
{
  return e->follow(set, what, pace, fault, made);
}
md_status follow_sums(md_engine *e, const md_follow_set *set, const md_follow *what, const md_follow_sum *sum,
                      const double *counts, double *largest, md_wide *total)
{
  return e->follow_sums(set, what, sum, counts, largest, total);
}
md_status draw(md_engine *e, const md_drawing *drawing, md_sight *sight, bool *made)
{
  return e->draw(drawing, sight, made);
}
void report(const md_engine *e, md_engine_report *r) { const_cast<md_engine *>(e)->report(r); }
void destroy(md_engine *e) { delete e; }

/* A plan needs no GPU. Without one, the available memory stays 0, which means unknown. */
md_status plan(const md_model *model, int64_t n, const md_engine_options *options, md_engine_plan *out)
{
  cudaDeviceProp device;
  int64_t available = 0;
  const bool there = md_device_choose(options->gpu.device, 0, &device) == MD_OK;
  device_memory memory = {0, options->gpu.memory};
  if (there) MD_TRY(md_device_available(&memory, &available));
  gpu_configuration config;
  MD_TRY(gpu_configure(model, n, 1, options, available, &config));
  gpu_plan_ranks(model, n, options, &config);
  gpu_memory(model, n, std::max(options->ranks, 1), &options->gpu, &config, out);
  out->slab = gpu_slab(model, &config);
  out->available = available;
  if (there) snprintf(out->device, sizeof out->device, "%.120s", device.name);
  return MD_OK;
}

} // namespace

extern "C" const md_engine_kind md_engine_gpu = {
    "gpu",
    "cells or lists on a GPU a rank, fused force and move, the same bits",
    create,
    run,
    measure,
    act,
    download,
    histogram,
    distances,
    bin_sums,
    value_counts,
    environment,
    follow,
    follow_sums,
    draw,
    plan,
    report,
    destroy,
    false,
    gpu_sides_most,
    &md_engine_gpu_all_pairs,
    GPU_SLAB_ROWS,
    gpu_host_bytes,
};
