/* Kicks, drifts and actions after steps of all bodies, by the functions of common/step/step.h: every integrator,
 * wall and fix.
 *
 * Cost: some 200 bytes a body, which is nothing beside the pairs of many thousands of bodies. With 4096 bodies a
 * move takes a fifth of a step in double precision, and a third in mixed.
 */
#include "gpu/all_pairs/move.cuh"

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

/* It is not inlined, because the usual drift needs few registers. */
static __device__ __noinline__ bool drift(const md_step &step, md_particle *p) { return drift_any(step, p); }

static __global__ void __launch_bounds__(MOVE_THREADS) k_body_move(const __grid_constant__ body_move_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a.view.n) return;
  /* All that is read is asked for before anything is waited for. */
  md_particle p = particle_of(a.view, i);
  int64_t impulse[3] = {0, 0, 0};
#pragma unroll
  for (int d = 0; d < 3; ++d)
    if (d < a.view.dim) impulse[d] = (int64_t)a.view.sum[d * a.view.stride + i];
  const double charge = a.view.bodies[i].mass;
  if (!may_work(a.view.halt, a.launch_number)) return;
  const bool moves = (p.group & (a.step.moving | a.step.placed)) != 0;
  kick(a.step, a.view.quantum, a.kicks, impulse, &p);
  if (moves && a.drifts && !drift_free(a.step, &p)) {
    md_particle other = p;
    if (!drift(a.step, &other)) stop(a.view.halt, a.launch_number, HALTED_BY_RUNAWAY);
    p = other;
  }
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    if (d >= a.view.dim) continue;
    if (a.drifts) a.view.sum[d * a.view.stride + i] = 0;
    if (!moves) continue;
    if (a.drifts) a.view.bodies[i].x[d] = p.x[d];
    a.view.v[d * a.view.stride + i] = p.v[d];
    if (p.wide) a.view.low[d * a.view.stride + i] = p.low[d];
  }
  if (moves && a.drifts && a.single.at) copy_single(a.single, i, p.x, charge, a.view.dim);
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
  for (int d = 0; d < 3 && d < a.view.dim; ++d) {
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
