/* Values of particles that their neighbours give (environment.cuh), with ghosts: in tilted and changing boxes, and on
 * several ranks; and the clusters that go on on other ranks. */
#include "gpu/sums/environment.cuh"
#include "gpu/sums/launches.cuh"

/* near_id[i] becomes the least id that is known of the tree of particle i. */
static __global__ void __launch_bounds__(ENVIRONMENT_THREADS)
    k_labels(int n, const __grid_constant__ environment_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a.near_id[i] = (int64_t)a.least[root_of(a.parent, i)];
}

/* *full = 1: an id has changed. */
template <class T>
static __global__ void __launch_bounds__(ENVIRONMENT_THREADS)
    k_meet(const __grid_constant__ system_view<T> s, const __grid_constant__ environment_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned parity = progress_before(s.ctl, s.launch).parity;
  typename T::particle xi;
  if (!find_centre<T>(s, a, parity, i, xi)) return;
  const cells_near<true> around = find_cells_near<T, true>(s, a.reach, xi);
  if (!around.ghosts) return;
  unsigned long long found = ~0ull;
  for_each_neighbour<T, true>(s, a, parity, around, i, s.n, xi,
                              [&](int j, const typename T::particle &, const double *, double) {
                                found = min(found, (unsigned long long)a.near_id[j]);
                              });
  if (found == ~0ull) return;
  if (found < atomicMin(&a.least[root_of(a.parent, i)], found)) *a.full = 1;
}

md_status launch_labels(const launch &l, int n, const environment_args &a)
{
  k_labels<<<blocks_for(n, ENVIRONMENT_THREADS), ENVIRONMENT_THREADS, 0, l.stream>>>(n, a);
  MD_LAUNCHED("k_labels");
  return MD_OK;
}

template <class T> md_status launch_meet(const launch &l, const system_view<T> &s, const environment_args &a)
{
  k_meet<T><<<blocks_for(s.n, ENVIRONMENT_THREADS), ENVIRONMENT_THREADS, 0, l.stream>>>(s, a);
  MD_LAUNCHED("k_meet");
  return MD_OK;
}

static __global__ void __launch_bounds__(ENVIRONMENT_THREADS)
    k_groups(int n, const __grid_constant__ particle_fields fields, int64_t *to)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = (int64_t)group_of(fields, i);
}

md_status launch_groups(const launch &l, int n, const particle_fields &fields, int64_t *to)
{
  k_groups<<<blocks_for(n, ENVIRONMENT_THREADS), ENVIRONMENT_THREADS, 0, l.stream>>>(n, fields, to);
  MD_LAUNCHED("k_groups");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_environment<T, true>(const launch &, const system_view<T> &,                     \
                                                 const environment_args &);                                  \
  template md_status launch_meet<T>(const launch &, const system_view<T> &, const environment_args &);
MD_LAYOUTS(INSTANCE)
