/* Kicks, drifts and actions behind steps of all bodies, by the functions of common/step/step.h: every integrator,
 * wall and fix.
 *
 * Cost: some 200 bytes a body, which is nothing beside the pairs of many thousands of bodies. With 4096 bodies the
 * moves and the launches take a third of a step.
 */
#include "gpu/all_pairs/bodies.cuh"

/* Small blocks, so that a few thousand bodies occupy many multiprocessors. */
enum { MOVE_THREADS = 64 };

struct body_move_args {
  body_view view;
  single_copy single;
  md_step step;
  int kicks;
  bool drifts;
  unsigned long long launch_number;
};

/* Returns false for a runaway. */
static __device__ __forceinline__ bool drift(const md_step &step, md_particle *p)
{
  double moved[3] = {0.0, 0.0, 0.0};
  md_step_move(&step, p, moved);
  bool sane = true;
  for (int d = 0; d < step.dim; ++d) sane = sane && md_step_allows(&step, d, moved[d], p->x[d]);
  return sane;
}

static __global__ void __launch_bounds__(MOVE_THREADS) k_body_move(const __grid_constant__ body_move_args a)
{
  if (!may_work(a.view.halt, a.launch_number)) return;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a.view.n) return;
  md_particle p = particle_of(a.view, i);
  if (!(p.group & a.step.moving)) {
    for (int d = 0; a.drifts && d < a.view.dim; ++d) a.view.sum[d * a.view.stride + i] = 0;
    return;
  }
  for (int d = 0; a.kicks > 0 && d < a.view.dim; ++d) {
    const int64_t impulse = (int64_t)a.view.sum[d * a.view.stride + i];
    md_step_kick_count(a.kicks * impulse, a.view.quantum, p.v_step, &p.v[d], p.wide ? &p.low[d] : nullptr);
  }
  if (a.drifts && !drift(a.step, &p)) stop(a.view.halt, a.launch_number, HALTED_BY_RUNAWAY);
  for (int d = 0; d < a.view.dim; ++d) {
    if (a.drifts) a.view.bodies[i].x[d] = p.x[d];
    if (a.drifts) a.view.sum[d * a.view.stride + i] = 0;
    a.view.v[d * a.view.stride + i] = p.v[d];
    if (p.wide) a.view.low[d * a.view.stride + i] = p.low[d];
  }
  if (a.drifts && a.single.at) copy_single(a.single, i, p.x, a.view.bodies[i].mass, a.view.dim);
}

md_status launch_body_move(const body_view &view, const single_copy &single, const md_step &step, int kicks,
                           bool drifts, unsigned long long launch_number, cudaStream_t stream)
{
  if (view.n == 0) return MD_OK;
  const body_move_args a = {view, single, step, kicks, drifts, launch_number};
  k_body_move<<<blocks_for(view.n, MOVE_THREADS), MOVE_THREADS, 0, stream>>>(a);
  MD_LAUNCHED("k_body_move");
  return MD_OK;
}

struct body_act_args {
  body_view view;
  md_action action;
  md_step step;
};

static __global__ void __launch_bounds__(256) k_body_act(const __grid_constant__ body_act_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a.view.n) return;
  md_particle p = particle_of(a.view, i);
  md_step_end(&a.action, &a.step, &p);
  for (int d = 0; d < a.view.dim; ++d) {
    a.view.v[d * a.view.stride + i] = p.v[d];
    if (p.wide) a.view.low[d * a.view.stride + i] = p.low[d];
  }
}

md_status launch_body_act(const body_view &view, const md_action &action, const md_step &step,
                          cudaStream_t stream)
{
  if (view.n == 0) return MD_OK;
  const body_act_args a = {view, action, step};
  k_body_act<<<blocks_for(view.n, 256), 256, 0, stream>>>(a);
  MD_LAUNCHED("k_body_act");
  return MD_OK;
}

static __global__ void k_body_charges(const __grid_constant__ body_view b, double per_mass)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < b.n) b.bodies[i].mass = inertia_of(b, i).mass * per_mass;
}

md_status launch_body_charges(const body_view &b, double per_mass, cudaStream_t stream)
{
  if (b.n == 0) return MD_OK;
  k_body_charges<<<blocks_for(b.n, 256), 256, 0, stream>>>(b, per_mass);
  MD_LAUNCHED("k_body_charges");
  return MD_OK;
}
