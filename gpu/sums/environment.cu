/* Values of particles that their neighbours give (environment.cuh), on one rank without ghosts. For clusters, each
 * particle gets the least id of its tree. */
#include "gpu/sums/environment.cuh"
#include "gpu/sums/launches.cuh"

static __global__ void __launch_bounds__(ENVIRONMENT_THREADS)
    k_cluster(int n, const __grid_constant__ environment_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const bool counts = (group_of(a.fields, i) & a.what.group) != 0;
  *values_of(a, i) = counts ? (double)a.least[root_of(a.parent, i)] : 0.0;
}

md_status launch_cluster_values(const launch &l, int n, const environment_args &a)
{
  k_cluster<<<blocks_for(n, ENVIRONMENT_THREADS), ENVIRONMENT_THREADS, 0, l.stream>>>(n, a);
  MD_LAUNCHED("k_cluster");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_environment<T, false>(const launch &, const system_view<T> &,                    \
                                                  const environment_args &);
MD_LAYOUTS(INSTANCE)
