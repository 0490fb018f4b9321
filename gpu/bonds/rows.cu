/* What a rebin does for bonds; see bonds.cuh.
 *
 *   1. k_places notes where each particle is now.
 *   2. k_bond_rows makes the partners' indices of it.
 *   3. k_leave_out goes through the list of each particle, and replaces what has no pair force with it.
 *
 * Trade-off: the kernel that makes lists knows nothing of bonds. In return lists are read once more.
 * Cost: 24 bytes a particle and slot, and 16 bytes for each four neighbours.
 */
#include "gpu/bonds/bonds.cuh"

static __global__ void k_places(int n, const int *origin, int *place)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) place[origin[i]] = i;
}

static __global__ void k_bond_rows(const __grid_constant__ bond_args a, const int *origin)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a.n) return;
  for (int k = 0; k < a.slots; ++k) {
    const int64_t from = (int64_t)k * a.n + origin[i], to = (int64_t)k * a.n + i;
    const int partner = a.partner[from];
    a.row[to] = partner < 0 ? partner : a.place[partner];
    a.row_type[to] = a.type[from];
  }
}

/* The particles that are left out, some at a time: registers have room for that many. */
enum { AT_A_TIME = 4 };

template <class T>
static __global__ void __launch_bounds__(128)
    k_leave_out(const __grid_constant__ system_view<T> s, const __grid_constant__ bond_args a,
                const int *origin)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  int4 *list = s.list.neighbours + (int64_t)(i >> 5) * s.list.stride * 32 + (i & 31);
  const int rows = s.list.rows[i >> 5];
  for (int first = 0; first < a.left_out; first += AT_A_TIME) {
    int out[AT_A_TIME];
#pragma unroll
    for (int k = 0; k < AT_A_TIME; ++k) {
      const int other = first + k < a.left_out ? a.excluded[(int64_t)(first + k) * a.n + origin[i]] : -1;
      out[k] = other < 0 ? i : a.place[other];
    }
    const auto is_out = [&](int j) {
      const int owned = j < s.n ? j : s.ghost.source[j - s.n];
      bool found = false;
#pragma unroll
      for (int k = 0; k < AT_A_TIME; ++k) found = found || owned == out[k];
      return found;
    };
    for (int r = 0; r < rows; ++r) {
      int4 four = list[(int64_t)r * 32];
      const bool x = is_out(four.x), y = is_out(four.y), z = is_out(four.z), w = is_out(four.w);
      if (!(x || y || z || w)) continue;
      if (x) four.x = i;
      if (y) four.y = i;
      if (z) four.z = i;
      if (w) four.w = i;
      list[(int64_t)r * 32] = four;
    }
  }
}

template <class T>
md_status launch_bond_rows(const launch &l, int source, const system_view<T> &s, const bond_args &a,
                           const int *origin)
{
  k_places<<<blocks_for(s.n, l.threads), l.threads, 0, l.stream>>>(s.n, origin, a.place);
  MD_LAUNCHED("k_places");
  k_bond_rows<<<blocks_for(s.n, l.threads), l.threads, 0, l.stream>>>(a, origin);
  MD_LAUNCHED("k_bond_rows");
  if (source != FROM_LIST || a.left_out == 0) return MD_OK;
  k_leave_out<T><<<blocks_for(s.n, 128), 128, 0, l.stream>>>(s, a, origin);
  MD_LAUNCHED("k_leave_out");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_bond_rows<T>(const launch &, int, const system_view<T> &, const bond_args &,     \
                                         const int *);
MD_EXACT_TAGGED_LAYOUTS(INSTANCE)
