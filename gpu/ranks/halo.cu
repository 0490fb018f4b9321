/* Kernels of the halo: which particles go through which face, and positions of ghosts in and out of messages.
 *
 *   1. At a rebin in a tilted box, for one axis after the other, each face selects what it sends: the particles within
 *      the halo's width of it, and those of the ghosts received along earlier axes. Particles near a face lie in the
 *      cells behind it. One thread takes one cell, so that no pass over the other particles is needed. In other boxes
 *      regions.cu selects them.
 *   2. The entries are packed and sent. After the last axis the ghosts are put into the order of cells.
 *   3. In a step the records that the lists name are packed. Received records are put into the places that ghosts
 *      have in the order of cells.
 *
 * Cost for a ghost and step: 4 bytes and two records to pack, and the same to unpack.
 */
#include "gpu/dissipative/launches.cuh"
#include "gpu/particle/images.cuh"
#include "gpu/ranks/exchange.cuh"

/* The position array that ghosts are made from and written to. */
template <class T>
static __device__ __forceinline__ typename T::record *positions(const system_view<T> &s,
                                                                const ghost_lists<T> &g)
{
  return g.next_positions ? s.x[s.ctl->slot[s.launch % SLOTS].before.parity ^ 1u] : present(s);
}

/* Is a particle, shifted by `code`, among those that the face sends? */
template <class T>
static __device__ __forceinline__ bool within(const system_view<T> &s, const face_selection &f,
                                              const typename T::particle &r, int code)
{
  double x;
  /* Indices that are constants keep the record in registers. */
  if constexpr (T::DIM == 3)
    x = f.axis == 0   ? T::where(s.scale, 0, r.x[0])
        : f.axis == 1 ? T::where(s.scale, 1, r.x[1])
                      : T::where(s.scale, 2, r.x[2]);
  else
    x = f.axis == 0 ? T::where(s.scale, 0, r.x[0]) : T::where(s.scale, 1, r.x[1]);
  if (s.box.triclinic) x += shift_of(s.box, code, f.axis);
  return x >= f.from && x < f.to;
}

static __device__ __forceinline__ void push(const face_selection &f, int entry)
{
  const int k = atomicAdd(f.count, 1);
  if (k < f.capacity) f.send[k] = entry;
}

/* The cells of the layers behind a face, without the border: size[3] cells from `first` on. */
struct slab {
  int first[3], size[3];
};

template <class T>
static __global__ void k_select_cells(const __grid_constant__ system_view<T> s,
                                      const __grid_constant__ face_selection f,
                                      const __grid_constant__ slab b)
{
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= b.size[0] * b.size[1] * b.size[2]) return;
  const int x = b.first[0] + k % b.size[0], y = b.first[1] + k / b.size[0] % b.size[1],
            z = b.first[2] + k / b.size[0] / b.size[1];
  const int cell = x + y * s.grid.row + z * s.grid.layer;
  for (int i = s.grid.start[cell]; i < s.grid.start[cell + 1]; ++i)
    if (within<T>(s, f, present_particle<T>(s, i), NO_SHIFT)) push(f, i);
}

template <class T>
static __global__ void k_select_ghosts(const __grid_constant__ system_view<T> s,
                                       const __grid_constant__ face_selection f,
                                       const __grid_constant__ ghost_lists<T> g, int n)
{
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n && within<T>(s, f, g.received[k], g.code[k])) push(f, -1 - k);
}

template <class T>
md_status launch_select(const launch &l, const system_view<T> &s, const face_selection &f,
                        const ghost_lists<T> &g, int ghosts)
{
  slab b;
  int64_t cells = 1;
  for (int d = 0; d < 3; ++d) {
    b.first[d] = s.grid.border[d];
    b.size[d] = s.grid.count[d] - 2 * s.grid.border[d];
    if (d == f.axis) {
      const int layers = f.layers < b.size[d] ? f.layers : b.size[d];
      if (f.high) b.first[d] += b.size[d] - layers;
      b.size[d] = layers;
    }
    cells *= b.size[d];
  }
  MD_CUDA(cudaMemsetAsync(f.count, 0, sizeof *f.count, l.stream));
  k_select_cells<T><<<blocks_for(cells, l.threads), l.threads, 0, l.stream>>>(s, f, b);
  MD_LAUNCHED("k_select_cells");
  if (ghosts == 0) return MD_OK;
  k_select_ghosts<T><<<blocks_for(ghosts, l.threads), l.threads, 0, l.stream>>>(s, f, g, ghosts);
  MD_LAUNCHED("k_select_ghosts");
  return MD_OK;
}

static __device__ __forceinline__ int entry_of(const halo_entries &f, int k, int &shift)
{
  const bool second = k >= f.n[0];
  shift = f.shift[second];
  return second ? f.send[1][k - f.n[0]] : f.send[0][k];
}

/* The code of an image in a tilted box, whose shift was `code`, when it is wrapped along the axes that come later. */
template <class T>
static __device__ __forceinline__ int wrapped_code(const system_view<T> &s, const halo_entries &f,
                                                   const typename T::particle &r, int code)
{
  double x[3] = {0.0, 0.0, 0.0};
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) x[d] = T::where(s.scale, d, r.x[d]) + shift_of(s.box, code, d);
  for (int d = f.axis - 1; d >= 0; --d)
    if (f.wraps[d]) wrap_along(s.box, d, x, code);
  return code;
}

template <class T>
static __global__ void
k_gather(const __grid_constant__ system_view<T> s, const __grid_constant__ halo_entries f,
         const __grid_constant__ ghost_lists<T> g, typename T::particle *to, int *code, int *source)
{
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= f.n[0] + f.n[1]) return;
  int shift;
  const int entry = entry_of(f, k, shift);
  const int before = entry >= 0 ? NO_SHIFT : g.code[-1 - entry];
  to[k] = entry >= 0 ? present_particle<T>(s, entry) : g.received[-1 - entry];
  code[k] = f.coded ? f.across[k] : before + shift * (1 << (SHIFT_BITS * f.axis));
  if (f.across && !f.coded) {
    code[k] = wrapped_code<T>(s, f, to[k], code[k]);
    f.across[k] = NO_SHIFT + code[k] - before;
  }
  if (source) source[k] = entry >= 0 ? entry : g.source[-1 - entry];
}

template <class T>
md_status launch_gather(const launch &l, const system_view<T> &s, const halo_entries &f,
                        const ghost_lists<T> &g, typename T::particle *to, int *code, int *source)
{
  const int n = f.n[0] + f.n[1];
  if (n == 0) return MD_OK;
  k_gather<T><<<blocks_for(n, l.threads), l.threads, 0, l.stream>>>(s, f, g, to, code, source);
  MD_LAUNCHED("k_gather");
  return MD_OK;
}

/* The record of entry k, shifted to the other side of the face. */
template <class T>
static __device__ __forceinline__ typename T::record
record_across(const system_view<T> &s, const halo_entries &f, const typename T::record *x, int k)
{
  int boxes;
  const typename T::record r = load_record(x + entry_of(f, k, boxes));
  double shift[3];
#pragma unroll
  for (int d = 0; d < 3; ++d)
    shift[d] = f.across ? shift_of(s.box, f.across[k], d) : d == f.axis ? boxes * s.box.length[d] : 0.0;
  return T::image(s.scale, r, shift);
}

template <class T>
static __global__ void k_pack(const __grid_constant__ system_view<T> s,
                              const __grid_constant__ halo_entries f,
                              const __grid_constant__ ghost_lists<T> g, typename T::record *to)
{
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < f.n[0] + f.n[1]) to[k] = record_across<T>(s, f, positions(s, g), k);
}

template <class T>
md_status launch_pack(const launch &l, const system_view<T> &s, const halo_entries &f,
                      const ghost_lists<T> &g, typename T::record *to)
{
  const int n = f.n[0] + f.n[1];
  if (n == 0) return MD_OK;
  k_pack<T><<<blocks_for(n, l.threads), l.threads, 0, l.stream>>>(s, f, g, to);
  MD_LAUNCHED("k_pack");
  return MD_OK;
}

template <class T>
static __global__ void k_unpack(const __grid_constant__ system_view<T> s,
                                const __grid_constant__ ghost_lists<T> g, int first, int n)
{
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) positions(s, g)[s.n + g.slot[first + k]] = g.incoming[first + k];
}

template <class T>
md_status launch_unpack(const launch &l, const system_view<T> &s, const ghost_lists<T> &g, int first, int n)
{
  if (n == 0) return MD_OK;
  k_unpack<T><<<blocks_for(n, l.threads), l.threads, 0, l.stream>>>(s, g, first, n);
  MD_LAUNCHED("k_unpack");
  return MD_OK;
}

template <class T>
static __global__ void k_copy_images(const __grid_constant__ system_view<T> s,
                                     const __grid_constant__ halo_entries f,
                                     const __grid_constant__ ghost_lists<T> g, int first)
{
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= f.n[0] + f.n[1]) return;
  typename T::record *x = positions(s, g);
  x[s.n + g.slot[first + k]] = record_across<T>(s, f, x, k);
}

template <class T>
md_status launch_copy_images(const launch &l, const system_view<T> &s, const halo_entries &f,
                             const ghost_lists<T> &g, int first)
{
  const int n = f.n[0] + f.n[1];
  if (n == 0) return MD_OK;
  k_copy_images<T><<<blocks_for(n, l.threads), l.threads, 0, l.stream>>>(s, f, g, first);
  MD_LAUNCHED("k_copy_images");
  return MD_OK;
}

template <class T>
static __device__ __forceinline__ int cell_of_ghost(const system_view<T> &s, const ghost_lists<T> &g, int k)
{
  const typename T::particle r = g.received[k];
  int cell = 0;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    const double x = T::where(s.scale, d, r.x[d]) + shift_of(s.box, g.code[k], d);
    cell += cell_along(s.grid, d, x, true) * (d == 0 ? 1 : d == 1 ? s.grid.row : s.grid.layer);
  }
  return ghost_cell(s.ghost, cell);
}

template <class T>
static __global__ void k_bin_ghosts(const __grid_constant__ system_view<T> s,
                                    const __grid_constant__ ghost_lists<T> g, int n, int *count)
{
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) atomicAdd(&count[cell_of_ghost<T>(s, g, k)], 1);
}

template <class T>
md_status launch_bin_ghosts(const launch &l, const system_view<T> &s, const ghost_lists<T> &g, int n,
                            int *count)
{
  if (n == 0) return MD_OK;
  k_bin_ghosts<T><<<blocks_for(n, l.threads), l.threads, 0, l.stream>>>(s, g, n, count);
  MD_LAUNCHED("k_bin_ghosts");
  return MD_OK;
}

template <class T>
static __global__ void k_order_ghosts(const __grid_constant__ system_view<T> s,
                                      const __grid_constant__ ghost_lists<T> g, int n, int *cursor)
{
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= n) return;
  const int slot = atomicAdd(&cursor[cell_of_ghost<T>(s, g, k)], 1);
  g.slot[k] = slot;
  g.order[slot] = k;
  s.ghost.source[slot] = g.source[k];
  s.ghost.shift[slot] = g.code[k];
  present(s)[s.n + slot] = image_by<T>(s, record_of<T>(s, g.received[k]), g.code[k]);
}

template <class T>
md_status launch_order_ghosts(const launch &l, const system_view<T> &s, const ghost_lists<T> &g, int n,
                              int *cursor)
{
  if (n == 0) return MD_OK;
  k_order_ghosts<T><<<blocks_for(n, l.threads), l.threads, 0, l.stream>>>(s, g, n, cursor);
  MD_LAUNCHED("k_order_ghosts");
  return MD_OK;
}

static __global__ void k_resolve(int *send, int n, const int *slot, int owned)
{
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n && send[k] < 0) send[k] = owned + slot[-1 - send[k]];
}

md_status launch_resolve(const launch &l, int *send, int n, const int *slot, int owned)
{
  if (n == 0) return MD_OK;
  k_resolve<<<blocks_for(n, l.threads), l.threads, 0, l.stream>>>(send, n, slot, owned);
  MD_LAUNCHED("k_resolve");
  return MD_OK;
}

static __global__ void k_note_sent(const int *send, int n, int owned, unsigned *bits)
{
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n && send[k] < owned) atomicOr(&bits[send[k] >> 5], 1u << (send[k] & 31));
}

md_status launch_note_sent(const launch &l, const int *send, int n, int owned, unsigned *bits)
{
  if (n == 0) return MD_OK;
  k_note_sent<<<blocks_for(n, l.threads), l.threads, 0, l.stream>>>(send, n, owned, bits);
  MD_LAUNCHED("k_note_sent");
  return MD_OK;
}

static __global__ void k_count_sent(const unsigned *bits, int words, int *count)
{
  const int w = blockIdx.x * blockDim.x + threadIdx.x;
  if (w <= words) count[w] = w < words ? __popc(bits[w]) : 0;
}

md_status launch_count_sent(const launch &l, const unsigned *bits, int words, int *count)
{
  k_count_sent<<<blocks_for((int64_t)words + 1, l.threads), l.threads, 0, l.stream>>>(bits, words, count);
  MD_LAUNCHED("k_count_sent");
  return MD_OK;
}

static __global__ void k_list_sent(const unsigned *bits, int words, const int *begin, int *list)
{
  const int w = blockIdx.x * blockDim.x + threadIdx.x;
  if (w >= words) return;
  int k = begin[w];
  for (unsigned left = bits[w]; left; left &= left - 1) list[k++] = w * 32 + __ffs((int)left) - 1;
}

md_status launch_list_sent(const launch &l, const unsigned *bits, int words, const int *begin, int *list)
{
  k_list_sent<<<blocks_for(words, l.threads), l.threads, 0, l.stream>>>(bits, words, begin, list);
  MD_LAUNCHED("k_list_sent");
  return MD_OK;
}

template <class V>
static __global__ void k_pack_values(const __grid_constant__ halo_entries f, const V *of, V *to)
{
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  int shift;
  if (k < f.n[0] + f.n[1]) to[k] = of[entry_of(f, k, shift)];
}

template <class V> md_status launch_pack_values(const launch &l, const halo_entries &f, const V *of, V *to)
{
  const int n = f.n[0] + f.n[1];
  if (n == 0) return MD_OK;
  k_pack_values<V><<<blocks_for(n, l.threads), l.threads, 0, l.stream>>>(f, of, to);
  MD_LAUNCHED("k_pack_values");
  return MD_OK;
}

template <class V> static __global__ void k_unpack_values(const V *received, const int *slot, int n, V *of)
{
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) of[slot[k]] = received[k];
}

template <class V>
md_status launch_unpack_values(const launch &l, const V *received, const int *slot, int n, V *of)
{
  if (n == 0) return MD_OK;
  k_unpack_values<V><<<blocks_for(n, l.threads), l.threads, 0, l.stream>>>(received, slot, n, of);
  MD_LAUNCHED("k_unpack_values");
  return MD_OK;
}

#define VALUES(V)                                                                                            \
  template md_status launch_pack_values<V>(const launch &, const halo_entries &, const V *, V *);            \
  template md_status launch_unpack_values<V>(const launch &, const V *, const int *, int, V *);
VALUES(int64_t)
VALUES(double2)
VALUES(pair_state)

static __global__ void k_empty_step(control *ctl, unsigned launch, bool flip)
{
  take_slot(ctl, launch, progress_before(ctl, launch), true, flip);
}

md_status launch_empty_step(const launch &l, control *ctl, unsigned launch, bool flip)
{
  k_empty_step<<<1, 1, 0, l.stream>>>(ctl, launch, flip);
  MD_LAUNCHED("k_empty_step");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_select<T>(const launch &, const system_view<T> &, const face_selection &,        \
                                      const ghost_lists<T> &, int);                                          \
  template md_status launch_gather<T>(const launch &, const system_view<T> &, const halo_entries &,          \
                                      const ghost_lists<T> &, T::particle *, int *, int *);                  \
  template md_status launch_pack<T>(const launch &, const system_view<T> &, const halo_entries &,            \
                                    const ghost_lists<T> &, T::record *);                                    \
  template md_status launch_unpack<T>(const launch &, const system_view<T> &, const ghost_lists<T> &, int,   \
                                      int);                                                                  \
  template md_status launch_copy_images<T>(const launch &, const system_view<T> &, const halo_entries &,     \
                                           const ghost_lists<T> &, int);                                     \
  template md_status launch_bin_ghosts<T>(const launch &, const system_view<T> &, const ghost_lists<T> &,    \
                                          int, int *);                                                       \
  template md_status launch_order_ghosts<T>(const launch &, const system_view<T> &, const ghost_lists<T> &,  \
                                            int, int *);
MD_LAYOUTS(INSTANCE)
