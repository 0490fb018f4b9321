/* What the host asks for between runs: sums, particles in its own order, pictures, forces, and the report.
 *
 * What is asked for may need cells and lists that fit the present positions, and so a rebin first. Components come one at
 * a time, put into the host's order on the device (output.cu) in a spare array, so that a download takes no memory there.
 * On several ranks each brings its particles as they lie, with their ids.
 *
 * Cost: a download is 16 bytes a particle and dimension over the bus, half of it in mixed precision; measuring evaluates
 * every pair from both sides.
 */
#ifndef MD_GPU_ENGINE_OUTPUT_CUH
#define MD_GPU_ENGINE_OUTPUT_CUH

#include "gpu/engine.cuh"

#include <stdlib.h>

template <class T> md_status gpu_engine<T>::measure(md_measure *m)
{
  MD_TRY(settle_structure());
  measure_args args = {};
  args.per_e = 1.0 / model->grids.e;
  args.per_w = model->grids.f / model->grids.w;
  args.per_k = 1.0 / model->grids.k;
  args.per_v = 1.0 / model->grids.v;
  args.table = (const double *)a.measure_k.at;
  args.velocity_per_v = (const double *)a.ratio.at;
  args.mass_reference = model->mass_reference;
  args.high = (unsigned long long *)a.sums.at;
  args.low = args.high + SUMS;
  const double mark = md_time();
  system_view<T> s;
  const int *origin;
  MD_TRY(sorted_view(&s, &origin));
  MD_CUDA(cudaMemsetAsync(a.sums.at, 0, 2 * SUMS * 8, stream));
  if constexpr (!T::MIXED && T::TAGGED && !T::PACKED)
    if (source == FROM_ALL) MD_TRY(launch_measure_all<T>(wide, model->pair.kind, s, args));
  if (source != FROM_ALL) MD_TRY(launch_measure<T>(wide, model->pair.kind, source, s, args));
  int64_t sums[2 * SUMS];
  MD_CUDA(cudaMemcpyAsync(sums, a.sums.at, sizeof sums, cudaMemcpyDeviceToHost, stream));
  MD_CUDA(cudaStreamSynchronize(stream));
  timers.seconds[MD_PHASE_FORCE] += md_time() - mark;
  *m = md_measure{};
  md_wide *const wide_sums[SUMS] = {&m->pair_energy2, &m->virial2,     &m->kinetic,
                                    &m->momentum[0],  &m->momentum[1], &m->momentum[2]};
  for (int q = 0; q < SUMS; ++q) {
    wide_sums[q]->high = sums[q];
    wide_sums[q]->low = sums[SUMS + q];
    md_wide_normalise(wide_sums[q]);
  }
  m->count = view.n;
  return MD_OK;
}

template <class T> md_status gpu_engine<T>::fetch_position(int d, double *to)
{
  typename T::position *spare = (typename T::position *)a.spare[0].at;
  MD_TRY(launch_unload_position<T>(wide, view, d, places(), spare));
  if constexpr (!T::MIXED) {
    MD_CUDA(cudaMemcpyAsync(to, spare, (size_t)p->n * 8, cudaMemcpyDeviceToHost, stream));
    MD_CUDA(cudaStreamSynchronize(stream));
  } else {
    uint32_t *words = nullptr;
    MD_TRY(md_array_new(&words, p->n, sizeof *words, "positions"));
    md_status status = md_cuda_check(
        cudaMemcpyAsync(words, spare, (size_t)p->n * 4, cudaMemcpyDeviceToHost, stream), "copy of positions");
    if (status == MD_OK) status = md_cuda_check(cudaStreamSynchronize(stream), "copy of positions");
    for (int64_t i = 0; i < p->n && status == MD_OK; ++i) {
      to[i] = T::where(view.scale, d, words[i]);
      if (view.periodic[d] && to[i] >= view.hi[d]) to[i] -= view.length[d];
    }
    free(words);
    MD_TRY(status);
  }
  return MD_OK;
}

template <class T> md_status gpu_engine<T>::fetch(const real *from, double scale, double *to)
{
  real *spare = (real *)a.spare[0].at;
  MD_TRY(launch_unload<T>(wide, view.n, from, places(), spare));
  real *words = nullptr;
  if constexpr (T::MIXED)
    MD_TRY(md_array_new(&words, p->n, sizeof *words, "particles"));
  else
    words = to;
  md_status status = md_cuda_check(
      cudaMemcpyAsync(words, spare, (size_t)p->n * sizeof(real), cudaMemcpyDeviceToHost, stream),
      "copy of particles");
  if (status == MD_OK) status = md_cuda_check(cudaStreamSynchronize(stream), "copy of particles");
  if (status == MD_OK && (T::MIXED || scale != 1.0))
    for (int64_t i = 0; i < p->n; ++i) to[i] = (double)words[i] * scale;
  if (T::MIXED) free(words);
  return status;
}

/* Whose particles these are: on several ranks they change. */
template <class T> md_status gpu_engine<T>::fetch_identities()
{
  p->nghost = 0;
  MD_TRY(md_particles_reserve(p, view.n));
  p->n = view.n;
  void *spare = a.x[now.parity ^ 1u].at;
  MD_TRY(launch_unload_ids(wide, view.n, (const int64_t *)ranks.id.at, step.origin, (int64_t *)spare));
  MD_CUDA(cudaMemcpyAsync(p->id, spare, (size_t)p->n * 8, cudaMemcpyDeviceToHost, stream));
  MD_CUDA(cudaStreamSynchronize(stream));
  MD_TRY(launch_unload_types<T>(wide, view, (uint16_t *)spare));
  MD_CUDA(cudaMemcpyAsync(p->type, spare, (size_t)p->n * 2, cudaMemcpyDeviceToHost, stream));
  MD_CUDA(cudaStreamSynchronize(stream));
  return MD_OK;
}

template <class T> md_status gpu_engine<T>::download(double *const force[3])
{
  /* Of several ranks also if forces may be asked for next: a rebin before these would move particles to other ranks. */
  MD_TRY(several || force ? settle_structure() : look());
  if (several) MD_TRY(fetch_identities());
  for (int d = 0; d < T::DIM; ++d) {
    MD_TRY(fetch_position(d, p->x[d]));
    MD_TRY(fetch(view.v[d], 1.0, p->v[d]));
  }
  if (!force) return MD_OK;
  system_view<T> s = view;
  s.table = (const real *)a.force_k.at;
  real *impulse[3] = {};
  impulse_arrays(impulse);
  MD_TRY(launch_forces(s, impulse, false));
  MD_TRY(share_overflow());
  MD_TRY(look());
  if (now.halt & HALT_OVERLAP) return overlap_error(0);
  for (int d = 0; d < T::DIM; ++d) MD_TRY(fetch(impulse[d], T::MIXED ? 1.0 : model->grids.f, force[d]));
  return MD_OK;
}

template <class T> md_status gpu_engine<T>::histogram(const md_histogram *h, int64_t *count)
{
  MD_TRY(look());
  const int64_t bins = (int64_t)h->n[0] * h->n[1];
  MD_TRY(make(&a.count, bins * 8, "the histogram"));
  MD_CUDA(cudaMemsetAsync(a.count.at, 0, (size_t)bins * 8, stream));
  MD_TRY(launch_histogram<T>(wide, view, *h, (unsigned long long *)a.count.at));
  int64_t *mine = nullptr;
  MD_TRY(md_array_new(&mine, bins, sizeof *mine, "the histogram"));
  md_status status =
      md_cuda_check(cudaMemcpyAsync(mine, a.count.at, (size_t)bins * 8, cudaMemcpyDeviceToHost, stream),
                    "copy of the histogram");
  if (status == MD_OK) status = md_cuda_check(cudaStreamSynchronize(stream), "copy of the histogram");
  for (int64_t b = 0; b < bins && status == MD_OK; ++b) count[b] += mine[b];
  free(mine);
  return status;
}

template <class T> void gpu_engine<T>::report(md_engine_report *r)
{
  *r = md_engine_report{};
  r->timers = timers;
  r->rebuilds = rebins;
  r->steps = steps;
  r->neighbours = source == FROM_LIST ? 4.0 * choice.rows : 0.0;
  r->ghosts = several ? ranks.ghosts : view.ghost.capacity;
  r->bytes = memory.used;
  r->hardware = description;
  r->threads = 1;
  r->details = gpu_profile_table(&profile);
}

#endif
