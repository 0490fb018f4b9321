/* Three-body pair styles: the sums over the legs of each particle, and then the impulses
 * (common/pair/three_body/three_body.h).
 *
 *   1. k_three_sums: one thread sums ten numbers over the legs of one particle, in whole quanta, and keeps what pass 2
 *      needs of it.
 *   2. Ghosts get what their sources keep: k_image_values on one rank, messages on several (gpu/ranks/halo.inc).
 *   3. k_three_force: one thread sums the impulses on one particle.
 *
 * Trade-off: every pair is evaluated four times, twice in each pass, and no thread writes the sum of another one.
 * Cost: 80 bytes a particle and a ghost, and in each pass a walk through the list. A pair within the cutoff takes an
 * exponential in pass 1, and two and about 100 operations in pass 2.
 */
#include "gpu/three_body/launches.cuh"
#include "gpu/three_body/three_body.cuh"

constexpr int BLOCK = 128;

template <class T, int SOURCE>
static __global__ void __launch_bounds__(BLOCK)
    k_three_sums(const __grid_constant__ system_view<T> s, const __grid_constant__ three_body_args a)
{
  if (a.step && idle(progress_before(s.ctl, s.launch))) return;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  const typename T::record *x = present(s), xi = load_record(x + i);
  const int element = element_of<T>(a, xi);
  int64_t sum[MD_THREE_SUMS] = {};
  for_each_partner<T, SOURCE>(
      s, x, i, [&](int, const typename T::record &xj) { add_leg<T, SOURCE>(s, a, element, xi, xj, sum); });
  double kept[MD_THREE_SUMS];
  (void)md_three_centre(&a.three, element, sum, kept);
  store_kept(a, i, kept);
}

template <class T, int SOURCE>
static __global__ void __launch_bounds__(BLOCK)
    k_three_force(const __grid_constant__ system_view<T> s, const __grid_constant__ three_body_args a,
                  component_arrays<double> impulse)
{
  if (a.step && idle(progress_before(s.ctl, s.launch))) return;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  const typename T::record *x = present(s), xi = load_record(x + i);
  const int element = element_of<T>(a, xi);
  double kept[MD_THREE_SUMS];
  load_kept(a, i, kept);
  int64_t sum[3] = {0, 0, 0};
  bool overlap = false;
  for_each_partner<T, SOURCE>(s, x, i, [&](int j, const typename T::record &xj) {
    double delta[3], r2;
    const md_vector_term term = vector_term<T, SOURCE>(s, a, element, kept, xi, j, xj, delta, &r2);
    if (term.overlap) {
      overlap = true;
      return;
    }
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) sum[d] += md_vector_count(term.f[d]);
  });
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) impulse.at[d][i] = (double)sum[d];
  if (overlap) atomicOr(&s.ctl->overflow, HALT_OVERLAP);
}

template <class T>
md_status launch_three_sums(const launch &l, int source, const system_view<T> &s, const three_body_args &a)
{
  return launch_from(
      l, BLOCK, source, "launch of k_three_sums", [](auto from) { return k_three_sums<T, from.value>; }, s,
      a);
}

template <class T>
md_status launch_three_force(const launch &l, int source, const system_view<T> &s, const three_body_args &a,
                             double *const impulse[3])
{
  const component_arrays<double> to = arrays_of(impulse);
  return launch_from(
      l, BLOCK, source, "launch of k_three_force", [](auto from) { return k_three_force<T, from.value>; }, s,
      a, to);
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_three_sums<T>(const launch &, int, const system_view<T> &,                       \
                                          const three_body_args &);                                          \
  template md_status launch_three_force<T>(const launch &, int, const system_view<T> &,                      \
                                           const three_body_args &, double *const[3]);
MD_EXACT_TAGGED_LAYOUTS(INSTANCE)
