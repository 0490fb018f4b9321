/* Dissipative pair styles: the states of particles, and the impulses (common/pair/dissipative/dissipative.h).
 *
 *   1. k_pair_states writes velocity and id of each particle side by side, and one thread writes what all pairs share.
 *      The velocities are those after the last drift. In a step these are the present ones. In the first step of a
 *      run, and for output, the present ones are complete. Then the velocities come from `kept`, where the forces at
 *      the end of the last run have put them, by origin.
 *   2. Ghosts get the states of their sources: k_image_values on one rank, messages on several (gpu/ranks/halo.inc).
 *   3. k_dissipative_force: one thread sums the impulses on one particle.
 *
 * Trade-off: a neighbour takes two loads of 32 bytes, its record and its state, and no sort moves more fields. Each
 * pair is evaluated twice, random number included, and no thread writes the sum of another one.
 * Cost: 32 bytes a particle and ghost for states, 8 dim for velocities by origin. Ten rounds of Philox a pair.
 */
#include "gpu/dissipative/dissipative.cuh"
#include "gpu/dissipative/launches.cuh"

template <class T>
static __global__ void __launch_bounds__(256)
    k_pair_states(const __grid_constant__ system_view<T> s, const __grid_constant__ dissipation_args a)
{
  const progress now = progress_before(s.ctl, s.launch);
  if (a.step && idle(now)) return;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool of_step = a.from == STATES_OF_STEP;
  if (i == 0) *a.shared = md_dissipation_at(&a.course, a.begun + (of_step ? now.done : 0));
  if (i >= s.n) return;
  const bool complete = a.from == STATES_KEPT || (of_step && now.done == 0);
  const md_particle p = particle_of<T>(s, a.fields, i);
  const int origin = origin_of(a.fields, i);
  pair_state state = {{0.0, 0.0, 0.0}, (int64_t)p.id};
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    state.v[d] = complete ? a.kept[d][origin] : md_particle_velocity(&p, d, a.quantum);
    if (a.from == STATES_AT_END) a.kept[d][origin] = state.v[d];
  }
  a.state[i] = state;
}

template <class T, int SOURCE, bool HYBRID>
static __global__ void __launch_bounds__(128)
    k_dissipative_force(const __grid_constant__ system_view<T> s, const __grid_constant__ dissipation_args a,
                        component_arrays<double> impulse)
{
  if (a.step && idle(progress_before(s.ctl, s.launch))) return;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  const typename T::record *x = present(s), xi = load_record(x + i);
  const md_dissipation shared = *a.shared;
  const pair_state own = load_state(a.state + i);
  int64_t sum[3] = {0, 0, 0};
  bool overlap = false;
  for_each_partner<T, SOURCE>(s, x, i, [&](int j, const typename T::record &xj) {
    double delta[3], r2;
    const md_pair_term pair =
        dissipative_term<T, SOURCE, HYBRID>(s, a, shared, s.pair.table, own, xi, j, xj, delta, &r2);
    overlap = overlap || pair.overlap;
    if (pair.overlap) return;
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) sum[d] += (int64_t)md_round_product(pair.f, delta[d]);
  });
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) impulse.at[d][i] = (double)sum[d];
  if (overlap) atomicOr(&s.ctl->overflow, HALT_OVERLAP);
}

template <class T>
md_status launch_pair_states(const launch &l, const system_view<T> &s, const dissipation_args &a)
{
  k_pair_states<T><<<blocks_for(s.n, 256), 256, 0, l.stream>>>(s, a);
  MD_LAUNCHED("k_pair_states");
  return MD_OK;
}

template <class T>
md_status launch_dissipative_force(const launch &l, int source, const system_view<T> &s,
                                   const dissipation_args &a, double *const impulse[3])
{
  const component_arrays<double> to = arrays_of(impulse);
  with_source_and_styles<T>(source, a.hybrid, [&](auto from, auto hybrid) {
    k_dissipative_force<T, from.value, hybrid.value><<<blocks_for(s.n, 128), 128, 0, l.stream>>>(s, a, to);
  });
  MD_LAUNCHED("k_dissipative_force");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_pair_states<T>(const launch &, const system_view<T> &,                           \
                                           const dissipation_args &);                                        \
  template md_status launch_dissipative_force<T>(const launch &, int, const system_view<T> &,                \
                                                 const dissipation_args &, double *const[3]);
INSTANCE(exact2_tagged)
INSTANCE(exact3_tagged)
