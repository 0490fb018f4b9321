/* Before the first step: the scale of coordinates, the grid of cells, tables of coefficients, and particles onto the
 * device.
 *
 * What stays the same between rebins is put into the view (state.cuh) and the arguments of steps, which every kernel gets
 * by value: it reads constants from there, and not from memory. Particles come one component at a time through the idle
 * position array, so that loading takes no memory of its own.
 *
 * Cost: 16 bytes a particle and dimension over the bus, once an engine; on several ranks again when cuts between domains
 * are moved.
 */
#ifndef MD_GPU_ENGINE_SETUP_CUH
#define MD_GPU_ENGINE_SETUP_CUH

#include "gpu/engine.cuh"
#include "gpu/seed.h"

#include <stdio.h>

/* Threads a block of kernels with a thread per element. */
static const int THREADS = 256;

/* The resolution of mixed layouts; along axes that are not periodic it spans twice the box. */
template <class T> void gpu_engine<T>::set_scale()
{
  for (int d = 0; d < 3; ++d) {
    const bool ring = model->box.periodic[d];
    const double length = model->box.length[d], range = ring ? length : 2.0 * length;
    view.scale.origin[d] = model->box.lo[d] - (ring ? 0.0 : 0.5 * length);
    view.scale.unit[d] = range * 0x1p-32;
    view.scale.per_unit[d] = 1.0 / view.scale.unit[d];
    view.scale.unit_single[d] = (float)view.scale.unit[d];
    view.scale.per_unit_single[d] = (float)view.scale.per_unit[d];
  }
  if constexpr (T::PACKED) set_fine_scale();
}

template <class T> void gpu_engine<T>::set_fine_scale()
{
  scale52 &fine = view.scale.fine;
  const double quantum = model->grids.x;
  for (int d = 0; d < 3; ++d) fine.origin[d] = model->box.lo[d] - gpu_packed_margin(model);
  fine.base = 0x1p52 * quantum;
  fine.last = fine.base - quantum;
  fine.middle = fine.base + 0x1p41 * quantum;
  uint64_t bits;
  memcpy(&bits, &fine.base, sizeof bits);
  fine.exponent = (uint32_t)(bits >> 32);
}

/* Cells of mixed layouts are counted from below, modulo the whole range of the scale. At faces where coordinates do not
 * wrap into the own cells again, what is outside them is shared out to both sides. */
template <class T> void gpu_engine<T>::set_grid32(cell_grid *g)
{
  for (int d = 0; d < 3; ++d) {
    const int in_range = choice.count[d] * (model->box.periodic[d] ? 1 : 2);
    const bool wraps = model->box.periodic[d] && !(several && ranks.domains[d] > 1);
    const int below = !wraps ? (in_range - (g->count[d] - 2 * g->border[d])) / 2 : 0;
    g->in_range32[d] = (uint32_t)in_range;
    g->lo32[d] = mixed_place(d, g->lo[d]) - (uint32_t)(int64_t)std::rint(below * (0x1p32 / in_range));
    g->first32[d] = g->border[d] - below;
  }
}

/* If only the faces of the slowest axis have ghosts, what lies between the layers near them needs no beginnings of ghosts'
 * cells; these take a scan at every rebin. */
template <class T> void gpu_engine<T>::fold_ghosts()
{
  const cell_grid &g = view.grid;
  const int slowest = T::DIM - 1, layer = layer_cells<T::DIM>(g);
  view.ghost.fold = INT32_MAX;
  view.ghost.folded = 0;
  bool only = several && source == FROM_CELLS;
  for (int d = 0; d < slowest; ++d) only = only && view.ghost.depth[d] == 0;
  /* Particles that may see ghosts look a layer farther on. */
  const int kept = view.ghost.depth[slowest] + 2, between = g.count[slowest] - 2 * kept;
  if (!only || between <= 0) return;
  view.ghost.fold = kept * layer;
  view.ghost.folded = between * layer;
}

/* A difference of two sketches is off by less than two units, and by one more in y, where x borrows. */
template <class T> void gpu_engine<T>::set_sketches()
{
  const double reach = SKETCH_SPAN / 2 - 4, cutoff = model->cutoff;
  bool fits = true;
  for (int d = 0; d < 2; ++d) {
    view.sketch.per_unit[d] = cutoff > 0.0 ? reach / cutoff : 1.0;
    const double multiple = std::floor(reach * 0x1p16 / (cutoff * view.scale.per_unit[d] + 1.0));
    view.sketch.multiple[d] = (uint32_t)std::min(multiple, 0x1p31);
    fits = fits && (!T::MIXED || multiple >= 1.0);
  }
  view.sketch.apart = fits ? 0x10001u * (uint32_t)(0x10000 - SKETCH_SPAN) : 0;
}

template <class T> md_status gpu_engine<T>::set_grid()
{
  cell_grid &g = view.grid;
  for (int d = 0; d < 3; ++d) {
    const bool used = d < T::DIM;
    g.border[d] = used ? choice.border[d] : 0;
    g.count[d] = used ? choice.count[d] + 2 * g.border[d] : 1;
    g.lo[d] = model->box.lo[d];
    g.width[d] = used ? model->box.length[d] / choice.count[d] : 1.0;
    g.per_width[d] = 1.0 / g.width[d];
    g.width_single[d] = (float)g.width[d];
    view.lo[d] = model->box.lo[d];
    view.hi[d] = model->box.hi[d];
    view.length[d] = model->box.length[d];
    view.periodic[d] = used && model->box.periodic[d];
    view.halo[d] = choice.halo[d];
  }
  if (several) MD_TRY(ranks.set_domain(choice, &g));
  set_grid32(&g);
  g.row = g.count[0];
  g.layer = g.count[0] * g.count[1];
  g.total = g.layer * g.count[2];
  for (int d = 0; d < 3; ++d) {
    const bool any = (several ? ranks.halo[d] : view.halo[d]) > 0.0;
    view.ghost.depth[d] = any ? 2 * g.border[d] + (several && d == T::DIM - 1 ? 2 * ranks.overhang : 0) : 0;
  }
  fold_ghosts();
  g.by_row = divisor_of((unsigned)g.row);
  g.by_layer = divisor_of((unsigned)g.layer);
  view.reach = choice.reach;
  view.cutoff = (float)(model->cutoff * (1.0 + 0x1p-18));
  view.dense = choice.dense;
  view.slack = (float)choice.slack;
  view.extra = (float)choice.extra;
  if (T::SKETCHED) set_sketches();
  const double most = choice.slack + choice.beyond;
  view.per_slack = most > 0.0 ? (float)std::min(1.0 / most, 1e30) : 1e30f;
  view.outside = choice.slack + choice.extra - choice.beyond;
  return MD_OK;
}

/* For mixed layouts, in single precision. */
template <class T> md_status gpu_engine<T>::set_mixed_tables()
{
  const int64_t pairs = (int64_t)model->ntypes * model->ntypes, entries = pairs * MD_PAIR_K;
  double *wide_k = nullptr;
  float *k = nullptr;
  MD_TRY(md_array_new(&wide_k, entries, sizeof *wide_k, "pair coefficients"));
  md_status status = md_array_new(&k, entries, sizeof *k, "pair coefficients");
  if (status == MD_OK) {
    /* Velocity per kick, and forces, as they are: there are no quanta. */
    for (const bool impulse : {true, false}) {
      md_pair_table(&model->pair, impulse ? model->kick_time / model->mass_reference : 1.0, wide_k);
      for (int64_t e = 0; e < entries; ++e) k[e] = (float)wide_k[e];
      if (impulse) memcpy(view.k, k, sizeof view.k);
      if (status == MD_OK)
        status = upload(impulse ? &a.impulse_k : &a.force_k, k, entries * 4, "pair coefficients");
    }
  }
  free(wide_k);
  free(k);
  MD_TRY(status);
  double overlap2 = 0.0;
  for (int64_t e = 0; e < pairs; ++e) overlap2 = std::max(overlap2, model->overlap2[e]);
  const float nearest = (float)overlap2;
  memcpy(&view.close_high, &nearest, sizeof nearest);
  return MD_OK;
}

template <class T> md_status gpu_engine<T>::set_tables()
{
  const int types = model->ntypes;
  const int64_t pairs = (int64_t)types * types, entries = pairs * MD_PAIR_K;
  view.ntypes = types;
  MD_TRY(upload(&a.ratio, model->velocity_per_v + 1, types * 8, "masses"));
  MD_TRY(upload(&a.mass, model->mass + 1, types * 8, "masses"));
  MD_TRY(upload(&a.v_step, model->v_step + 1, types * 8, "masses"));
  view.velocity_per_v = (const double *)a.ratio.at;
  if (model->pair.kind == MD_PAIR_NONE) return MD_OK;
  MD_TRY(upload(&a.overlap2, model->overlap2, pairs * 8, "pair coefficients"));
  MD_TRY(upload(&a.measure_k, model->force_k, entries * 8, "pair coefficients"));
  view.overlap2 = (const double *)a.overlap2.at;
  uint64_t bits;
  memcpy(&bits, &model->close2, sizeof bits);
  view.close_high = (int)(bits >> 32);
  if (T::PACKED) {
    const double least = SEED_LEAST;
    memcpy(&bits, &least, sizeof bits);
    view.close_high = std::max(view.close_high, (int)(bits >> 32));
  }
  if constexpr (T::MIXED) {
    MD_TRY(set_mixed_tables());
  } else {
    memcpy(view.k, model->impulse_k, sizeof view.k);
    MD_TRY(upload(&a.impulse_k, model->impulse_k, entries * 8, "pair coefficients"));
  }
  return MD_OK;
}

template <class T> md_status gpu_engine<T>::load()
{
  double *scratch = (double *)a.x[1].at;
  for (int d = 0; d < T::DIM; ++d) {
    MD_CUDA(cudaMemcpyAsync(scratch, p->x[d], (size_t)p->n * 8, cudaMemcpyHostToDevice, stream));
    MD_TRY(launch_load_position<T>(wide, view, d, scratch));
  }
  for (int d = 0; d < T::DIM; ++d) {
    if constexpr (T::MIXED) {
      MD_CUDA(cudaMemcpyAsync(scratch, p->v[d], (size_t)p->n * 8, cudaMemcpyHostToDevice, stream));
      MD_TRY(launch_load_velocity<T>(wide, view, d, scratch));
    } else {
      MD_CUDA(cudaMemcpyAsync(view.v[d], p->v[d], (size_t)p->n * 8, cudaMemcpyHostToDevice, stream));
    }
  }
  if (T::WIDENS && model->wide)
    for (int d = 0; d < T::DIM; ++d)
      MD_CUDA(cudaMemcpyAsync(a.v_low[d].at, p->v_low[d], (size_t)p->n * 8, cudaMemcpyHostToDevice, stream));
  if (T::TAGGED) {
    MD_CUDA(cudaMemcpyAsync(scratch, p->type, (size_t)p->n * 2, cudaMemcpyHostToDevice, stream));
    MD_TRY(launch_load_type<T>(wide, view, (const uint16_t *)scratch));
  }
  return launch_load_origin(wide, view.n, (int *)a.origin.at);
}

template <class T> md_status gpu_engine<T>::make_ids()
{
  if (several)
    MD_TRY(ranks.begin_ids(p, room));
  else if (model->langevin.on)
    MD_TRY(upload(&a.id, p->id, p->n * 8, "ids"));
  step.id = (const int64_t *)(several ? ranks.id.at : a.id.at);
  return MD_OK;
}

template <class T> md_status gpu_engine<T>::start()
{
  memory.limit = options.gpu.memory;
  interval.fixed = options.gpu.rebin;
  interval.by_chance = choice.beyond > 0.0;
  MD_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const bool early = device.major >= 9;
  wide = launch{stream, THREADS, INT32_MAX, device.multiProcessorCount, early};
  const int threads = options.gpu.block > 0 ? options.gpu.block : source == FROM_LIST ? 128 : 256;
  /* Blocks that walk far save the beginnings and ends of blocks, which few particles feel; with many, blocks in
   * the order of memory share the rows they read in the cache. Measured, see docs/performance.md. */
  const int waves = source == FROM_LIST ? 4 : p->n < (1 << 22) ? 1 : p->n < (1 << 25) ? 4 : 1000;
  stepping = launch{stream, threads, device.multiProcessorCount * (2048 / threads) * waves,
                    device.multiProcessorCount, early};
  view.half = options.gpu.symmetric;
  set_scale();
  if (several) {
    ranks.comm = comm;
    ranks.memory = &memory;
    ranks.model = model;
    ranks.wide = wide;
    balanced_at = model->step;
    MD_TRY(comm->open_transport(comm, options.gpu.transport, &ranks.transport));
    MD_TRY(ranks.make_events());
  }
  MD_TRY(make(&a.control, sizeof(control), "the control word"));
  MD_TRY(make(&a.sums, SUM_PARTS * 2 * SUMS * 8, "sums"));
  MD_CUDA(cudaMemsetAsync(a.control.at, 0, sizeof(control), stream));
  view.ctl = (control *)a.control.at;
  view.launch = 1; /* slot 0 is the beginning: all zero */
  MD_TRY(set_tables());
  view.table = (const real *)a.impulse_k.at;
  MD_TRY(make_arrays());
  MD_TRY(make_ids());
  MD_TRY(cycles.make());
  if (options.gpu.profile) MD_TRY(gpu_profile_start(&profile));
  MD_TRY(load());
  built = source == FROM_ALL;
  MD_CUDA(cudaStreamSynchronize(stream));
  describe();
  return MD_OK;
}

template <class T> void gpu_engine<T>::describe()
{
  const md_gpu_options &g = options.gpu;
  int used =
      snprintf(description, sizeof description, "%s, %s%s, %s%s%s%s%s%s%s", device.name,
               T::MIXED ? "mixed precision" : "double", T::PACKED ? " in packed positions" : "",
               source == FROM_LIST    ? "neighbour lists"
               : source == FROM_CELLS ? "cells without lists"
                                      : "all pairs",
               choice.no_room ? " (memory is too short for lists)" : "", g.symmetric ? ", symmetric" : "",
               g.unsorted ? ", not sorted" : "", g.unpadded ? ", not padded" : "",
               g.rolled ? ", not unrolled" : "", g.staged ? ", staged" : "");
  if (steps_sort())
    used += snprintf(description + used, sizeof description - (size_t)used, ", sorted by steps");
  if (!several) return;
  const int *n = ranks.domains;
  used += snprintf(description + used, sizeof description - (size_t)used, ", %d x %d x %d domains", n[0],
                   n[1], n[2]);
  if (sharers > 1)
    used +=
        snprintf(description + used, sizeof description - (size_t)used, ", %d ranks share a GPU", sharers);
  snprintf(description + used, sizeof description - (size_t)used, ", messages %.500s", ranks.transport->name);
}

template <class T> gpu_engine<T>::~gpu_engine()
{
  if (stream) cudaStreamSynchronize(stream);
  if (several && ranks.beside) cudaStreamSynchronize(ranks.beside);
  device_array *arrays = (device_array *)&a;
  for (size_t k = 0; k < sizeof a / sizeof *arrays; ++k) md_device_free(&memory, &arrays[k]);
  cycles.free_all();
  if (several) ranks.free_all();
  gpu_profile_stop(&profile);
  if (stream) cudaStreamDestroy(stream);
}

#endif
