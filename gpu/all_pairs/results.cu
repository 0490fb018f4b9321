/* What the GPU engine for all pairs tells the host: errors, sums of energies and other terms, particles and their
 * forces, and maps. The host waits for the device in each of these functions. Cost: those of energies and forces take
 * all pairs once more.
 */
#include "common/faults.h"
#include "common/force/forces.h"
#include "common/pair/all_pairs.h"
#include "common/ranks/exchange.h"
#include "common/step/host_step.h"
#include "gpu/all_pairs/engine.cuh"
#include "gpu/output/launches.cuh"

#include <stdlib.h>

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

static pair_sums sums_of(const md_model *model, const device_array &sums, md_fine *force)
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
