/* Copies particles between the order of the host's arrays and the order of the device, one component at a time; and
 * adds particles to the bins of `dump density`. On the device particles change their places at every rebin; `origin`
 * is the place of each particle in the host's arrays.
 */
#include "gpu/output/bins.cuh"
#include "gpu/output/launches.cuh"
#include "gpu/particle/images.cuh"

template <class T>
static __global__ void k_load_position(const __grid_constant__ system_view<T> s, int d,
                                       const double *__restrict__ from)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  typename T::particle r = load_particle<T>(s, 0, i);
  r.x[d] = T::stored(s.scale, d, from[i]);
  store_particle<T>(s, 0, i, r);
}

template <class T>
md_status launch_load_position(const launch &l, const system_view<T> &s, int d, const double *from)
{
  k_load_position<T><<<blocks_for(s.n, l.threads), l.threads, 0, l.stream>>>(s, d, from);
  MD_LAUNCHED("k_load_position");
  return MD_OK;
}

template <class T>
static __global__ void k_load_velocity(const __grid_constant__ system_view<T> s, int d,
                                       const double *__restrict__ from)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.n) s.v[d][i] = (typename T::real)from[i];
}

template <class T>
md_status launch_load_velocity(const launch &l, const system_view<T> &s, int d, const double *from)
{
  k_load_velocity<T><<<blocks_for(s.n, l.threads), l.threads, 0, l.stream>>>(s, d, from);
  MD_LAUNCHED("k_load_velocity");
  return MD_OK;
}

template <class T>
static __global__ void k_load_type(const __grid_constant__ system_view<T> s,
                                   const uint16_t *__restrict__ from)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if constexpr (T::TAGGED)
    if (i < s.n) {
      typename T::particle r = load_particle<T>(s, 0, i);
      r.type = from[i] - 1u;
      set_path(r, 0.0f);
      store_particle<T>(s, 0, i, r);
    }
}

template <class T> md_status launch_load_type(const launch &l, const system_view<T> &s, const uint16_t *from)
{
  k_load_type<T><<<blocks_for(s.n, l.threads), l.threads, 0, l.stream>>>(s, from);
  MD_LAUNCHED("k_load_type");
  return MD_OK;
}

static __global__ void k_load_origin(int n, int *origin)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) origin[i] = i;
}

md_status launch_load_origin(const launch &l, int n, int *origin)
{
  k_load_origin<<<blocks_for(n, l.threads), l.threads, 0, l.stream>>>(n, origin);
  MD_LAUNCHED("k_load_origin");
  return MD_OK;
}

template <class T>
static __global__ void k_unload_position(const __grid_constant__ system_view<T> s, int d,
                                         const int *__restrict__ origin, typename T::position *to)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.n) to[origin ? origin[i] : i] = wrapped<T>(s, present_particle<T>(s, i)).x[d];
}

template <class T>
md_status launch_unload_position(const launch &l, const system_view<T> &s, int d, const int *origin,
                                 typename T::position *to)
{
  k_unload_position<T><<<blocks_for(s.n, l.threads), l.threads, 0, l.stream>>>(s, d, origin, to);
  MD_LAUNCHED("k_unload_position");
  return MD_OK;
}

template <class R>
static __global__ void k_unload(int n, const R *__restrict__ from, const int *__restrict__ origin, R *to)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[origin ? origin[i] : i] = from[i];
}

template <class T>
md_status launch_unload(const launch &l, int n, const typename T::real *from, const int *origin,
                        typename T::real *to)
{
  k_unload<<<blocks_for(n, l.threads), l.threads, 0, l.stream>>>(n, from, origin, to);
  MD_LAUNCHED("k_unload");
  return MD_OK;
}

template <class T, bool ONLY_COUNTS>
static __global__ void k_histogram(const __grid_constant__ system_view<T> s,
                                   const __grid_constant__ md_histogram h,
                                   const __grid_constant__ particle_fields f, unsigned long long *sum)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  const typename T::particle r = wrapped<T>(s, present_particle<T>(s, i));
  double at[3] = {0.0, 0.0, 0.0};
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) at[d] = T::where(s.scale, d, r.x[d]);
  const double right = h.axis[0] == 0 ? at[0] : at[1], up = h.axis[1] == 1 ? at[1] : at[2];
  const int64_t bin = md_histogram_bin(&h, right, up);
  if (bin < 0) return;
  if (ONLY_COUNTS)
    atomicAdd(&sum[bin], 1ull);
  else
    add_to_bin(h, particle_of<T>(s, f, i), T::DIM, bin, sum);
}

template <class T>
md_status launch_histogram(const launch &l, const system_view<T> &s, const md_histogram &h,
                           const particle_fields &f, unsigned long long *sum)
{
  const int blocks = blocks_for(s.n, l.threads);
  if (only_counts(h))
    k_histogram<T, true><<<blocks, l.threads, 0, l.stream>>>(s, h, f, sum);
  else
    k_histogram<T, false><<<blocks, l.threads, 0, l.stream>>>(s, h, f, sum);
  MD_LAUNCHED("k_histogram");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_load_position<T>(const launch &, const system_view<T> &, int, const double *);   \
  template md_status launch_load_velocity<T>(const launch &, const system_view<T> &, int, const double *);   \
  template md_status launch_load_type<T>(const launch &, const system_view<T> &, const uint16_t *);          \
  template md_status launch_unload_position<T>(const launch &, const system_view<T> &, int, const int *,     \
                                               T::position *);                                               \
  template md_status launch_unload<T>(const launch &, int, const T::real *, const int *, T::real *);         \
  template md_status launch_histogram<T>(const launch &, const system_view<T> &, const md_histogram &,       \
                                         const particle_fields &, unsigned long long *);
MD_LAYOUTS(INSTANCE)
