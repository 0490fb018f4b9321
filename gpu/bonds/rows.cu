/* What a rebin does for bonds; see bonds.cuh.
 *
 *   1. On one rank k_index_by_origin notes where each particle is now. On several k_fill_table puts particles and
 *      ghosts into a table of ids.
 *   2. k_bond_rows or k_bond_rows_by_id makes the partners' indices of it.
 *   3. k_leave_out goes through the list of each particle, and replaces what has no pair force with it.
 *
 * Trade-off: the kernel that makes lists knows nothing of bonds. In return lists are read once more.
 * Cost: 24 bytes a particle and slot, and 16 bytes for each four neighbours. On several ranks also 16 bytes a particle
 * or ghost, and in step 3 an id for each neighbour.
 */
#include "common/base/mix.h"
#include "gpu/bonds/term.cuh"

static __global__ void k_index_by_origin(int n, const int *origin, int *index)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) index[origin[i]] = i;
}

static __global__ void k_bond_rows(const __grid_constant__ bond_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a.n) return;
  for (int k = 0; k < a.slots; ++k) {
    const int64_t from = (int64_t)k * a.n + a.origin[i], to = (int64_t)k * a.n + i;
    const int partner = a.partner[from];
    a.row[to] = partner < 0 ? MD_NO_PARTNER : a.index[partner];
    a.row_type[to] = a.type[from];
  }
}

/* Ids that are next to one another are next to one another in the table, in blocks of 16: the beads of a chain are
 * neighbours both by their ids and in memory. */
static __device__ __forceinline__ int *chain_of(const id_table &t, int64_t id)
{
  const uint64_t block = md_mix((uint64_t)id >> 4) << 4;
  return t.slot + ((block | ((uint64_t)id & 15u)) & ((1u << t.bits) - 1u));
}

static __global__ void k_fill_table(const __grid_constant__ id_table t)
{
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < t.total) t.next[j] = atomicExch(chain_of(t, t.id[j]), j + 1);
}

/* Particle or ghost j as a partner of a particle at x: the square of their distance. A packed ghost has its whole
 * position at its source. It must be the nearest image itself, because its record tells of no other one; of other
 * particles and ghosts any image will do. */
template <class T>
static __device__ __forceinline__ double distance2(const system_view<T> &s, const double x[3], int j)
{
  const bool from_source = T::PACKED && j >= s.n;
  const typename T::particle r =
      from_source ? s.ghost.received[s.ghost.order[j - s.n]] : present_particle<T>(s, j);
  double delta[3] = {0.0, 0.0, 0.0};
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    delta[d] = x[d] - T::where(s.scale, d, r.x[d]);
    if (from_source) delta[d] -= shift_of(s.box, s.ghost.shift[j - s.n], d);
  }
  return from_source ? square_of<T>(delta) : nearest_image<T>(s, delta);
}

template <class T>
static __global__ void __launch_bounds__(128)
    k_bond_rows_by_id(const __grid_constant__ system_view<T> s, const __grid_constant__ bond_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a.n) return;
  const typename T::particle own = present_particle<T>(s, i);
  const int64_t *word = a.word + (int64_t)a.origin[i] * a.words;
  double x[3] = {0.0, 0.0, 0.0};
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) x[d] = T::where(s.scale, d, own.x[d]);
  for (int k = 0; k < a.slots; ++k) {
    const int64_t to = (int64_t)k * a.n + i, id = word[k];
    const int half = BOND_WORD_TYPES + k;
    const int type = (int)(word[a.first_type + half / 4] >> (16 * (half % 4)) & 0xffff);
    int found = id > 0 ? MD_PARTNER_LOST : MD_NO_PARTNER;
    double least = a.table[type * MD_BOND_K];
    for (int at = id > 0 ? *chain_of(a.table_of_ids, id) : 0; at > 0; at = a.table_of_ids.next[at - 1]) {
      if (a.table_of_ids.id[at - 1] != id) continue;
      const double r2 = distance2<T>(s, x, at - 1);
      if (!(r2 < least)) continue;
      least = r2;
      found = at - 1;
    }
    a.row[to] = found;
    a.row_type[to] = (uint16_t)type;
  }
}

/* How entries of lists are compared with particles that are left out: on one rank by index, on several by id. key() is
 * that of particle or ghost j, left_out() that of the particle in slot k, which no entry has if the slot is empty. */
struct by_index {
  typedef int key_type;
  template <class T>
  static __device__ __forceinline__ int key(const system_view<T> &s, const bond_args &, int j)
  {
    return j < s.n ? j : s.ghost.source[j - s.n];
  }
  static __device__ __forceinline__ int left_out(const bond_args &a, int k, int origin)
  {
    const int other = a.excluded[(int64_t)k * a.n + origin];
    return other < 0 ? -1 : a.index[other];
  }
  static constexpr int NONE = -1;
};
struct by_id {
  typedef int64_t key_type;
  template <class T>
  static __device__ __forceinline__ int64_t key(const system_view<T> &, const bond_args &a, int j)
  {
    return a.table_of_ids.id[j];
  }
  static __device__ __forceinline__ int64_t left_out(const bond_args &a, int k, int origin)
  {
    return a.word[(int64_t)origin * a.words + a.first_left_out + k];
  }
  static constexpr int64_t NONE = 0;
};

/* The particles that are left out, some at a time: registers have room for that many. */
enum { AT_A_TIME = 4 };

template <class T, class BY>
static __global__ void __launch_bounds__(128)
    k_leave_out(const __grid_constant__ system_view<T> s, const __grid_constant__ bond_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  int4 *list = s.list.neighbours + (int64_t)(i >> 5) * s.list.stride * 32 + (i & 31);
  const int rows = s.list.rows[i >> 5];
  for (int first = 0; first < a.left_out; first += AT_A_TIME) {
    typename BY::key_type out[AT_A_TIME];
#pragma unroll
    for (int k = 0; k < AT_A_TIME; ++k)
      out[k] = first + k < a.left_out ? BY::left_out(a, first + k, a.origin[i]) : BY::NONE;
    const auto is_out = [&](int j) {
      const typename BY::key_type key = BY::template key<T>(s, a, j);
      bool found = false;
#pragma unroll
      for (int k = 0; k < AT_A_TIME; ++k) found = found || key == out[k];
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

template <class T> static md_status launch_rows(const launch &l, const system_view<T> &s, const bond_args &a)
{
  k_index_by_origin<<<blocks_for(s.n, l.threads), l.threads, 0, l.stream>>>(s.n, a.origin, a.index);
  MD_LAUNCHED("k_index_by_origin");
  k_bond_rows<<<blocks_for(s.n, l.threads), l.threads, 0, l.stream>>>(a);
  MD_LAUNCHED("k_bond_rows");
  return MD_OK;
}

template <class T>
static md_status launch_rows_by_id(const launch &l, const system_view<T> &s, const bond_args &a)
{
  const id_table &t = a.table_of_ids;
  MD_CUDA(cudaMemsetAsync(t.slot, 0, sizeof *t.slot << t.bits, l.stream));
  k_fill_table<<<blocks_for(t.total, l.threads), l.threads, 0, l.stream>>>(t);
  MD_LAUNCHED("k_fill_table");
  k_bond_rows_by_id<T><<<blocks_for(s.n, 128), 128, 0, l.stream>>>(s, a);
  MD_LAUNCHED("k_bond_rows_by_id");
  return MD_OK;
}

template <class T>
md_status launch_bond_rows(const launch &l, int source, const system_view<T> &s, const bond_args &a)
{
  MD_TRY(a.word ? launch_rows_by_id<T>(l, s, a) : launch_rows<T>(l, s, a));
  if (source != FROM_LIST || a.left_out == 0) return MD_OK;
  if (a.word)
    k_leave_out<T, by_id><<<blocks_for(s.n, 128), 128, 0, l.stream>>>(s, a);
  else
    k_leave_out<T, by_index><<<blocks_for(s.n, 128), 128, 0, l.stream>>>(s, a);
  MD_LAUNCHED("k_leave_out");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_bond_rows<T>(const launch &, int, const system_view<T> &, const bond_args &);
MD_EXACT_TAGGED_LAYOUTS(INSTANCE)
