/* Kernels of migration: migrants are packed where they leave, and put into slots where they arrive.
 *
 *   1. At a rebin every particle is wrapped. Its owner follows from its cell among the cells of the whole box.
 *   2. The few migrants are packed with all their fields, and are put into the order of their owners. All other
 *      particles are counted in their cells, which the sort needs.
 *   3. Migrants that arrive take vacated slots, and are counted in their cells too.
 *   4. The last particles fill the slots that remain vacated. So no slot stays vacated, and the sort needs to know
 *      nothing of the migration.
 *
 * Trade-off: one pass over the particles both finds migrants and counts for the sort. In return the pass
 * reads all positions, although few particles migrate. Cost: a particle's position read, and 64 bytes a migrant in
 * 3D.
 */
#include "gpu/particle/images.cuh"
#include "gpu/ranks/exchange.cuh"

/* The domain along one axis that has cell c. */
static __device__ int domain_of(const int *cut, int domains, int c)
{
  int low = 0, high = domains;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (c >= cut[middle])
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* The owner of a cell, as in vacated_slot.to. */
template <int DIM> static __device__ int owner_of(const domain_cells &box, const int cell[3])
{
  int to = 0;
  if (!box.plane) {
    for (int d = DIM - 1; d >= 0; --d)
      to = to * box.domains[d] + domain_of(box.cut[d], box.domains[d], cell[d]);
    return to;
  }
  for (int n = box.bricks; n > 1;) {
    const int lower = n / 2;
    const brick_plane p = box.plane[to + lower];
    const bool above = (p.axis == 0 ? cell[0] : p.axis == 1 ? cell[1] : cell[2]) >= p.cell;
    if (above) to += lower;
    n = above ? n - lower : lower;
  }
  return to;
}

/* Finds the cell of a particle among those of the whole box. Returns whether it is one of this rank. */
template <class T>
static __device__ __forceinline__ bool is_in_domain(const system_view<T> &s, const domain_cells &box,
                                                    const typename T::particle &r, int cell[3])
{
  bool own = true;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    cell[d] = (int)floor((T::where(s.scale, d, r.x[d]) - box.lo[d]) * box.per_width[d]);
    cell[d] = min(max(cell[d], 0), box.cells[d] - 1);
    own = own && cell[d] >= box.first[d] && cell[d] < box.end[d];
  }
  return own;
}

template <class T, bool TILTS>
static __global__ void k_leave(const __grid_constant__ system_view<T> s,
                               const __grid_constant__ domain_cells box,
                               const __grid_constant__ migration<T> m, int *count)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m.begin) i += m.end - m.begin;
  if (i >= s.n) return;
  const typename T::particle r = wrapped<T, TILTS>(s, present_particle<T>(s, i));
  int cell[3] = {0, 0, 0};
  if (is_in_domain<T>(s, box, r, cell)) {
    if (m.in_cell) join_cell(s, m.in_cell, i, cell_of<T>(s, r));
    return;
  }
  const int k = atomicAdd(count, 1);
  if (k >= m.capacity) return;
  const int to = owner_of<T::DIM>(box, cell), origin = m.origin[i];
  migrant<T> t;
  t.x = r;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) t.v[d] = s.v[d][i];
  t.id = m.id[origin];
  t.group = m.group ? m.group[origin] : MD_GROUP_ALL;
  if constexpr (T::WIDENS)
    for (int d = 0; d < T::DIM; ++d) {
      t.low[d] = m.low[d] ? m.low[d][origin] : 0;
      t.anchor[d] = m.anchor[d] ? m.anchor[d][origin] : 0.0;
      t.external[d] = m.external[d] ? m.external[d][origin] : 0.0;
      t.v_pair[d] = m.v_pair[d] ? m.v_pair[d][origin] : 0.0;
    }
  m.migrants_at[k] = t;
  for (int w = 0; w < m.words; ++w)
    m.migrant_word[(int64_t)k * m.words + w] = m.bond_word[(int64_t)origin * m.words + w];
  m.at[k] = vacated_slot{i, origin, to};
}

template <class T>
md_status launch_leave(const launch &l, const system_view<T> &s, const domain_cells &box,
                       const migration<T> &m, int *count)
{
  MD_CUDA(cudaMemsetAsync(count, 0, sizeof *count, l.stream));
  const int n = s.n - (m.end - m.begin);
  if (n == 0) return MD_OK;
  if (s.box.by_axis)
    k_leave<T, !T::MIXED><<<blocks_for(n, l.threads), l.threads, 0, l.stream>>>(s, box, m, count);
  else
    k_leave<T, false><<<blocks_for(n, l.threads), l.threads, 0, l.stream>>>(s, box, m, count);
  MD_LAUNCHED("k_leave");
  return MD_OK;
}

template <class T, bool TILTS>
static __global__ void k_stay(const __grid_constant__ system_view<T> s,
                              const __grid_constant__ domain_cells box,
                              const __grid_constant__ migration<T> m, int *missed)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  const typename T::particle r = wrapped<T, TILTS>(s, present_particle<T>(s, i));
  int cell[3];
  if (!is_in_domain<T>(s, box, r, cell)) {
    if (i < m.begin || i >= m.end) return;
    atomicAdd(missed, 1);
  }
  join_cell(s, m.in_cell, i, cell_of<T>(s, r));
}

template <class T>
md_status launch_stay(const launch &l, const system_view<T> &s, const domain_cells &box,
                      const migration<T> &m, int *missed)
{
  if (s.n == 0) return MD_OK;
  if (s.box.by_axis)
    k_stay<T, !T::MIXED><<<blocks_for(s.n, l.threads), l.threads, 0, l.stream>>>(s, box, m, missed);
  else
    k_stay<T, false><<<blocks_for(s.n, l.threads), l.threads, 0, l.stream>>>(s, box, m, missed);
  MD_LAUNCHED("k_stay");
  return MD_OK;
}

template <class T>
static __global__ void k_group(int n, const int *order, const migrant<T> *from, migrant<T> *to)
{
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) to[k] = from[order[k]];
}

template <class T>
md_status launch_group(const launch &l, int n, const int *order, const migrant<T> *from, migrant<T> *to)
{
  if (n == 0) return MD_OK;
  k_group<T><<<blocks_for(n, l.threads), l.threads, 0, l.stream>>>(n, order, from, to);
  MD_LAUNCHED("k_group");
  return MD_OK;
}

static __global__ void k_group_words(int n, int words, const int *order, const int64_t *from, int64_t *to)
{
  const int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (k < (int64_t)n * words) to[k] = from[(int64_t)order[k / words] * words + k % words];
}

md_status launch_group_words(const launch &l, int n, int words, const int *order, const int64_t *from,
                             int64_t *to)
{
  const int64_t all = (int64_t)n * words;
  if (all == 0) return MD_OK;
  k_group_words<<<blocks_for(all, l.threads), l.threads, 0, l.stream>>>(n, words, order, from, to);
  MD_LAUNCHED("k_group_words");
  return MD_OK;
}

template <class T>
static __global__ void k_unpack_migrants(const __grid_constant__ system_view<T> s,
                                         const __grid_constant__ migration<T> m, int n)
{
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= n) return;
  const vacated_slot at = m.at[k];
  const migrant<T> t = m.migrants_at[k];
  store_particle<T>(s, progress_before(s.ctl, s.launch).parity, at.index, t.x);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) s.v[d][at.index] = t.v[d];
  m.origin[at.index] = at.origin;
  m.id[at.origin] = t.id;
  if (m.group) m.group[at.origin] = t.group;
  if constexpr (T::WIDENS)
    for (int d = 0; d < T::DIM; ++d) {
      if (m.low[d]) m.low[d][at.origin] = t.low[d];
      if (m.anchor[d]) m.anchor[d][at.origin] = t.anchor[d];
      if (m.external[d]) m.external[d][at.origin] = t.external[d];
      if (m.v_pair[d]) m.v_pair[d][at.origin] = t.v_pair[d];
    }
  for (int w = 0; w < m.words; ++w)
    m.bond_word[(int64_t)at.origin * m.words + w] = m.migrant_word[(int64_t)k * m.words + w];
  if (m.in_cell) join_cell(s, m.in_cell, at.index, cell_of<T>(s, t.x));
}

template <class T>
md_status launch_unpack_migrants(const launch &l, const system_view<T> &s, const migration<T> &m, int n)
{
  if (n == 0) return MD_OK;
  k_unpack_migrants<T><<<blocks_for(n, l.threads), l.threads, 0, l.stream>>>(s, m, n);
  MD_LAUNCHED("k_unpack_migrants");
  return MD_OK;
}

/* No slot is both moved from and moved to, so that the moves need no order. */
template <class T>
static __global__ void k_refill(const __grid_constant__ system_view<T> s, int *origin, const int2 *move,
                                int n)
{
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= n) return;
  const int from = move[k].x, to = move[k].y;
  const unsigned parity = progress_before(s.ctl, s.launch).parity;
  store_particle<T>(s, parity, to, load_particle<T>(s, parity, from));
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) s.v[d][to] = s.v[d][from];
  origin[to] = origin[from];
  cell_members(s)[to] = cell_members(s)[from];
}

template <class T>
md_status launch_refill(const launch &l, const system_view<T> &s, int *origin, const int2 *move, int n)
{
  if (n == 0) return MD_OK;
  k_refill<T><<<blocks_for(n, l.threads), l.threads, 0, l.stream>>>(s, origin, move, n);
  MD_LAUNCHED("k_refill");
  return MD_OK;
}

/* to[i] = from[stride origin[i]] */
template <class V>
static __global__ void k_unload_by_origin(int n, const V *from, int stride, const int *origin, V *to)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[(int64_t)stride * origin[i]];
}

template <class V>
static md_status unload_by_origin(const launch &l, int n, const V *from, int stride, const int *origin, V *to)
{
  if (n == 0) return MD_OK;
  k_unload_by_origin<V><<<blocks_for(n, l.threads), l.threads, 0, l.stream>>>(n, from, stride, origin, to);
  MD_LAUNCHED("k_unload_by_origin");
  return MD_OK;
}

md_status launch_unload_ids(const launch &l, int n, const int64_t *id, const int *origin, int64_t *to)
{
  return unload_by_origin(l, n, id, 1, origin, to);
}

/* to[origin[i]] = from[i] */
static __global__ void k_load_by_origin(int n, const double *from, const int *origin, double *to)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[origin[i]] = from[i];
}

md_status launch_load_by_origin(const launch &l, int n, const double *from, const int *origin, double *to)
{
  if (n == 0) return MD_OK;
  k_load_by_origin<<<blocks_for(n, l.threads), l.threads, 0, l.stream>>>(n, from, origin, to);
  MD_LAUNCHED("k_load_by_origin");
  return MD_OK;
}

md_status launch_unload_words(const launch &l, int n, const int64_t *bond_word, int words, int w,
                              const int *origin, int64_t *to)
{
  return unload_by_origin(l, n, bond_word + w, words, origin, to);
}

md_status launch_unload_groups(const launch &l, int n, const uint32_t *group, const int *origin, uint32_t *to)
{
  return unload_by_origin(l, n, group, 1, origin, to);
}

template <class T>
static __global__ void k_unload_types(const __grid_constant__ system_view<T> s, uint16_t *to)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.n) to[i] = (uint16_t)(type_of(present(s)[i]) + 1);
}

template <class T> md_status launch_unload_types(const launch &l, const system_view<T> &s, uint16_t *to)
{
  if (s.n == 0) return MD_OK;
  k_unload_types<T><<<blocks_for(s.n, l.threads), l.threads, 0, l.stream>>>(s, to);
  MD_LAUNCHED("k_unload_types");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_leave<T>(const launch &, const system_view<T> &, const domain_cells &,           \
                                     const migration<T> &, int *);                                           \
  template md_status launch_stay<T>(const launch &, const system_view<T> &, const domain_cells &,            \
                                    const migration<T> &, int *);                                            \
  template md_status launch_group<T>(const launch &, int, const int *, const migrant<T> *, migrant<T> *);    \
  template md_status launch_unpack_migrants<T>(const launch &, const system_view<T> &, const migration<T> &, \
                                               int);                                                         \
  template md_status launch_refill<T>(const launch &, const system_view<T> &, int *, const int2 *, int);     \
  template md_status launch_unload_types<T>(const launch &, const system_view<T> &, uint16_t *);
MD_LAYOUTS(INSTANCE)
