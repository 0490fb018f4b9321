/* Fixes that act on forces (common/force/forces.h), on the impulses of all bodies.
 *
 * Cost: some 100 bytes a body, which is nothing beside the pairs of many thousands of bodies.
 */
#include "common/force/forces.h"
#include "gpu/all_pairs/bodies.cuh"
#include "gpu/output/measure.cuh"

/* The sums over the group of an action of impulses in quanta. */
static __global__ void __launch_bounds__(256)
    k_sum_body_impulses(const __grid_constant__ body_view b, const md_force_action *action, fine_sums sums)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool counts = i < b.n && ((b.group ? b.group[i] : MD_GROUP_ALL) & action->group);
  for (int d = 0; d < b.dim; ++d) {
    md_fine sum = {0, 0};
    if (counts) sum.coarse = md_count((double)(int64_t)b.sum[d * b.stride + i]);
    add_sum(sums, d, MD_TERMS_MAX, sum);
  }
}

md_status launch_sum_body_impulses(const body_view &view, const md_force_action *action, fine_sums sums,
                                   cudaStream_t stream)
{
  if (view.n == 0) return MD_OK;
  k_sum_body_impulses<<<blocks_for(view.n, 256), 256, 0, stream>>>(view, action, sums);
  MD_LAUNCHED("k_sum_body_impulses");
  return MD_OK;
}

struct body_force_args {
  body_view view;
  const md_force_action *action;
  int count;
  double scale;
  unsigned long long launch_number;
};

static __global__ void __launch_bounds__(256) k_body_force(const __grid_constant__ body_force_args a)
{
  if (!may_work(a.view.halt, a.launch_number)) return;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a.view.n) return;
  const md_particle p = particle_of(a.view, i);
  if (!(p.group & md_forces_groups(a.action, a.count))) return;
  double sum[3] = {0.0, 0.0, 0.0};
  for (int d = 0; d < a.view.dim; ++d) sum[d] = (double)(int64_t)a.view.sum[d * a.view.stride + i];
  if (md_forces_on_impulse(a.action, a.count, a.scale, &p, nullptr, nullptr, a.view.dim, sum) >= 0)
    stop(a.view.halt, a.launch_number, HALTED_BY_OVERLAP);
  for (int d = 0; d < a.view.dim; ++d)
    a.view.sum[d * a.view.stride + i] = (unsigned long long)(int64_t)sum[d];
}

md_status launch_body_force(const body_view &view, const md_force_action *action, int count, double scale,
                            unsigned long long launch_number, cudaStream_t stream)
{
  if (view.n == 0 || count == 0) return MD_OK;
  const body_force_args a = {view, action, count, scale, launch_number};
  k_body_force<<<blocks_for(view.n, 256), 256, 0, stream>>>(a);
  MD_LAUNCHED("k_body_force");
  return MD_OK;
}
