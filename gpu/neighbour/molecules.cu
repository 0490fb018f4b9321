/* Takes the pairs that molecules exclude out of the lists; see molecules.cuh.
 *
 * A thread goes through the list of one particle. The entries that it keeps move to the front, in their order. The
 * lists of 32 particles lie together and have the same number of rows, so that the warp then fills them up to the
 * longest one that is left, and notes the new number of rows. Kernels of steps read no more than these rows.
 */
#include "gpu/neighbour/molecules.cuh"

template <class T> static __device__ __forceinline__ int64_t *marks_of(const system_view<T> &s)
{
  static_assert(sizeof(int64_t) <= sizeof(typename T::record), "marks lie in a position array");
  return (int64_t *)s.x[progress_before(s.ctl, s.launch).parity ^ 1u];
}

template <class T>
static __global__ void k_molecule_marks(const __grid_constant__ system_view<T> s,
                                        const __grid_constant__ molecule_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  const int origin = a.origin[i];
  const uint32_t groups = (a.group ? a.group[origin] : 0u) | MD_GROUP_ALL;
  marks_of<T>(s)[i] = (int64_t)((uint64_t)a.molecule[(int64_t)a.stride * origin] << 32 | groups);
}

template <class T>
static __global__ void __launch_bounds__(128)
    k_leave_molecules_out(const __grid_constant__ system_view<T> s, const __grid_constant__ molecule_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x, block = i >> 5;
  if (block * 32 >= s.n) return;
  const int here = min(i, s.n - 1), rows = s.list.rows[block];
  const int64_t *marks = marks_of<T>(s), own = marks[here];
  int4 *list = s.list.neighbours + (int64_t)block * s.list.stride * 32 + (i & 31);
  int kept = 0;
  const auto put = [&](int j) {
    ((int *)(list + (int64_t)(kept >> 2) * 32))[kept & 3] = j;
    ++kept;
  };
  const auto keep = [&](int j) {
    if (j == here) return; /* fills up a short list */
    const int64_t other = marks[j < s.n || a.spread ? j : s.ghost.source[j - s.n]];
    if (!md_molecules_exclude(&a.exclusions, (uint32_t)(own & other), (own ^ other) >> 32 == 0)) put(j);
  };
  for (int r = 0; r < rows; ++r) {
    const int4 four = list[(int64_t)r * 32];
    keep(four.x);
    keep(four.y);
    keep(four.z);
    keep(four.w);
  }
  const int left = warp_largest((kept + 3) / 4);
  while (kept < 4 * left) put(here);
  if ((threadIdx.x & 31) == 0) s.list.rows[block] = left;
}

template <class T>
md_status launch_molecule_marks(const launch &l, const system_view<T> &s, const molecule_args &a)
{
  k_molecule_marks<T><<<blocks_for(s.n, l.threads), l.threads, 0, l.stream>>>(s, a);
  MD_LAUNCHED("k_molecule_marks");
  return MD_OK;
}

template <class T>
md_status launch_leave_molecules_out(const launch &l, const system_view<T> &s, const molecule_args &a)
{
  k_leave_molecules_out<T><<<blocks_for(s.n, 128), 128, 0, l.stream>>>(s, a);
  MD_LAUNCHED("k_leave_molecules_out");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_molecule_marks<T>(const launch &, const system_view<T> &,                        \
                                              const molecule_args &);                                        \
  template md_status launch_leave_molecules_out<T>(const launch &, const system_view<T> &,                   \
                                                   const molecule_args &);
INSTANCE(exact2_tagged)
INSTANCE(exact3_tagged)
INSTANCE(exact3_packed)
INSTANCE(mixed2_tagged)
INSTANCE(mixed3_tagged)
