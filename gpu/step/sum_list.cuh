/* The sum of the impulses on one particle from its list: the loop of the kernels with lists (step_list.cu says what it
 * costs).
 */
#ifndef MD_GPU_STEP_SUM_LIST_CUH
#define MD_GPU_STEP_SUM_LIST_CUH

#include "gpu/step/step_end.cuh"

/* Calls evaluate(j, record of j) for the entries j of the list of particle i, and settle() after every four of them. An
 * entry may be i itself. own: if false, the list is left out. Of LANES lanes that share the list, lane number
 * `lane` takes every LANES-th row. */
template <class T, int LANES = 1, class F, class S>
static __device__ __forceinline__ void walk_list(const system_view<T> &s,
                                                 const typename T::record *__restrict__ x, int i, bool own,
                                                 F evaluate, S settle, int lane = 0)
{
  const int block = i >> 5;
  const int4 *list = s.list.neighbours + (int64_t)block * s.list.stride * 32 + (i & 31);
  /* Loaded for every particle, so that this load and that of `own` do not wait for each other. */
  const int listed = s.list.rows[block], rows = own ? listed : 0;
  if (lane >= rows) return;
  int4 next = __ldcs(list + lane * 32);
  for (int r = lane + LANES; r < rows + LANES; r += LANES) {
    const int4 j = next;
    if (r < rows) next = __ldcs(list + (int64_t)r * 32);
    const typename T::record x0 = load_record(x + j.x), x1 = load_record(x + j.y), x2 = load_record(x + j.z),
                             x3 = load_record(x + j.w);
    evaluate(j.x, x0);
    evaluate(j.y, x1);
    evaluate(j.z, x2);
    evaluate(j.w, x3);
    settle();
  }
}

template <class T> static __device__ __forceinline__ void settle_sums(typename T::sum sum[3])
{
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) T::settle(sum[d]);
}

/* Adds the impulses on particle i from its list, or from the part of it that is this lane's. own: does this launch move
 * the particle? If not, its list is left out. A short list is filled with i itself, which adds nothing. least: see
 * evaluate_pair(). */
template <class T, int STYLE, int LANES = 1>
static __device__ __forceinline__ void
sum_list(const system_view<T> &s, const typename T::record *__restrict__ x, const typename T::record &xi,
         int i, bool own, typename T::sum sum[3], int &least, int lane = 0)
{
  walk_list<T, LANES>(
      s, x, i, own,
      [&](int j, const typename T::record &xj) { evaluate_pair<T, STYLE>(s, xi, xj, j != i, sum, least); },
      [&] { settle_sums<T>(sum); }, lane);
}

/* The impulses on particle i, which has a pair that is too near for the fast rounding. */
template <class T, int STYLE>
static __device__ __noinline__ void sum_near_particle(const system_view<T> &s, const typename T::record *x,
                                                      int i, typename T::real impulse[3])
{
  int64_t sum[3] = {0, 0, 0};
  bool apart = false;
  if constexpr (!T::MIXED) apart = sum_near<T, STYLE, FROM_LIST>(s, x, i, sum);
  if (!apart) atomicOr(&s.ctl->overflow, HALT_OVERLAP);
  for (int d = 0; d < 3; ++d) impulse[d] = (typename T::real)sum[d];
}

#endif
