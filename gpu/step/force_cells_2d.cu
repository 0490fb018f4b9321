/* The force kernel of cells without lists in two dimensions, with a switch for each of its optimisations. This is the
 * place to read what an optimisation is. `make ladder-cells` shows what each is worth.
 *
 * Every variant gives the same bits, those of force.cu. Variants differ in how they find and read candidates, and sums
 * of whole quanta do not depend on that. The variant with all switches but STAGED is the force kernel of runs that are
 * `fused no`.
 *
 * The particles have places in the order of cells, and each thread has one place. The candidates of a particle are
 * those of 3 x 3 cells. Because x is the fastest axis of the grid, a row of three cells is one range of places.
 *
 *   SORTED    A rebin moves the particles into the order of cells, so that place k holds particle k. Then a range of
 *             places is one stretch of memory, and a warp reads few cache lines. Off: particles stay where they were
 *             loaded, and order[k] is the index of the particle at place k. Each candidate costs the load of an index,
 *             and then a load from anywhere in memory.
 *   PADDED    The grid has a border of empty cells, so that every cell has eight neighbours. Off: the border is not
 *             used. Cells at the edge have fewer neighbours, and this costs tests for every particle.
 *   UNROLLED  The code has the three rows one after the other, so that the ranges of all rows are loaded at the same
 *             time. Off: a loop, which loads the next range only when it is done with the last row.
 *   STAGED    A block first copies all candidates of its particles into shared memory, one range for each of the three
 *             rows. So a block reads each candidate from global memory once. A row with too many candidates is not
 *             copied, and a particle that has moved to a cell beyond what was copied reads from global memory. STAGED
 *             needs SORTED, because otherwise there is no range to copy, and it needs the cell of each particle at the
 *             rebin. The L1 cache saves the same reads, and needs no barrier: measure before you use it.
 *
 * Further optimisations are elsewhere: rebins only when they are due (gpu/run/run.cuh); force and move in one kernel,
 * and coarse positions before any evaluation (step_cells_2d.cu).
 *
 * Cost in bytes a particle: 16 for its position, 4 for its index if not sorted, 16 written; and 4 a cell.
 */
#include "gpu/step/careful_sum.cuh"
#include "gpu/step/launches.cuh"

#include <utility>

enum { SORTED = 1, PADDED = 2, UNROLLED = 4, STAGED = 8, VARIANTS = 16 };

/* Room in shared memory for the records of a row, for each thread of the block: twice the block's own particles. */
enum { STAGED_PER_THREAD = 2, MOST_THREADS = 256 };

typedef exact2::record position_record;

struct components {
  double *at[2];
};

/* The places [begin, end) in the order of cells. */
struct index_range {
  int begin, end;
};

/* For each row, the places whose records are in shared memory; none if there are too many. */
struct staged_rows {
  index_range row[3];
};

extern __shared__ position_record staged[];

static __device__ __forceinline__ int staged_in_row() { return STAGED_PER_THREAD * (int)blockDim.x; }

/* Copies the candidates of the block's particles into shared memory. All threads of the block call it together. It
 * takes each particle to be in its cell at the rebin. Cells ascend with the places, so that the candidates of all
 * particles in a row lie between those of the first particle and those of the last. */
static __device__ __forceinline__ void stage_rows(const system_view<exact2> &s,
                                                  const position_record *__restrict__ x, staged_rows &rows)
{
  const int y = (int)threadIdx.x;
  if (y < 3) {
    const int first = (int)(blockIdx.x * blockDim.x), last = min(first + (int)blockDim.x, s.n) - 1;
    const int shift = (y - 1) * s.grid.row;
    const int begin = __ldg(s.grid.start + max(__ldg(s.grid.cell_of + first) + shift - 1, 0));
    const int end = __ldg(s.grid.start + min(__ldg(s.grid.cell_of + last) + shift + 2, s.grid.total));
    rows.row[y] = index_range{begin, end - begin <= staged_in_row() ? end : begin};
  }
  __syncthreads();
  for (int r = 0; r < 3; ++r)
    for (int k = rows.row[r].begin + (int)threadIdx.x; k < rows.row[r].end; k += (int)blockDim.x)
      staged[r * staged_in_row() + k - rows.row[r].begin] = load_record(x + k);
  __syncthreads();
}

/* The places in row y = -1, 0 or 1 of the stencil around the cell with coordinates c. */
template <int BITS>
static __device__ __forceinline__ index_range row_around(const cell_grid &g, const int *__restrict__ start,
                                                         const int c[3], int y)
{
  if constexpr ((BITS & PADDED) != 0) {
    const int first = cell_number<2>(g, c) + y * g.row - 1;
    return index_range{__ldg(start + first), __ldg(start + first + 3)};
  } else {
    const int row = c[1] + y;
    if (row < g.border[1] || row >= g.count[1] - g.border[1]) return index_range{0, 0};
    const int left = max(c[0] - 1, g.border[0]), right = min(c[0] + 1, g.count[0] - 1 - g.border[0]);
    return index_range{__ldg(start + row * g.row + left), __ldg(start + row * g.row + right + 1)};
  }
}

/* Calls f(record) for every candidate in row y, except the one at place `own`. range: the places of the row. */
template <int BITS, class F>
static __device__ __forceinline__ void for_each_in_row(const position_record *__restrict__ x,
                                                       const int *__restrict__ order, const staged_rows &rows,
                                                       int y, index_range range, int own, F f)
{
  if constexpr ((BITS & STAGED) != 0) {
    const index_range copied = rows.row[y + 1];
    if (range.begin >= copied.begin && range.end <= copied.end) {
      const int shift = (y + 1) * staged_in_row() - copied.begin;
      for (int k = range.begin; k < range.end; ++k)
        if (k != own) f(staged[shift + k]);
      return;
    }
  }
  for (int k = range.begin; k < range.end; ++k)
    if (k != own) f(load_record(x + ((BITS & SORTED) != 0 ? k : __ldg(order + k))));
}

/* Calls f(record) for every candidate of the particle at place `own`, which is in the cell with coordinates c. */
template <int BITS, class F>
static __device__ __forceinline__ void
for_each_in_rows(const system_view<exact2> &s, const position_record *__restrict__ x,
                 const int *__restrict__ order, const staged_rows &rows, int own, const int c[3], F f)
{
  if constexpr ((BITS & UNROLLED) != 0) {
    index_range range[3];
#pragma unroll
    for (int y = -1; y <= 1; ++y) range[y + 1] = row_around<BITS>(s.grid, s.grid.start, c, y);
#pragma unroll
    for (int y = -1; y <= 1; ++y) for_each_in_row<BITS>(x, order, rows, y, range[y + 1], own, f);
  } else {
#pragma unroll 1
    for (int y = -1; y <= 1; ++y)
      for_each_in_row<BITS>(x, order, rows, y, row_around<BITS>(s.grid, s.grid.start, c, y), own, f);
  }
}

template <int STYLE, int BITS>
static __global__ void __launch_bounds__(MOST_THREADS, 4)
    k_force_cells_2d(const __grid_constant__ system_view<exact2> s, const int *__restrict__ order,
                     components impulse, bool step)
{
  bool nothing = step && idle(progress_before(s.ctl, s.launch));
  /* Another block may find an overlap meanwhile, and then only some threads of this block see it. But all threads of a
   * block that stages must decide alike, because they meet at barriers. */
  if constexpr ((BITS & STAGED) != 0) nothing = __syncthreads_or(nothing);
  if (nothing) return;
  const position_record *__restrict__ x = present(s);
  __shared__ staged_rows rows;
  if constexpr ((BITS & STAGED) != 0) stage_rows(s, x, rows);
  const int own = blockIdx.x * blockDim.x + threadIdx.x;
  if (own >= s.n) return;
  const int i = (BITS & SORTED) != 0 ? own : __ldg(order + own);
  const position_record xi = load_record(x + i);
  int c[3];
  cell_at<exact2>(s, xi, c);
  const double *__restrict__ k = s.pair.table;
  const double cutoff2 = __ldg(k);
  exact2::sum sum[2];
  double total[2];
#pragma unroll
  for (int d = 0; d < 2; ++d) exact2::clear(sum[d]);
  bool near = false;
  for_each_in_rows<BITS>(s, x, order, rows, own, c, [&](const position_record &xj) {
    double delta[3];
    const double r2 = separation<exact2>(s.scale, xi, xj, delta);
    if (!(r2 < cutoff2)) return;
    near = near || upper_word(r2) <= s.pair.close_high;
    const double f = force_of<STYLE>(r2, k);
#pragma unroll
    for (int d = 0; d < 2; ++d) exact2::add(sum[d], f, delta[d]);
  });
#pragma unroll
  for (int d = 0; d < 2; ++d) total[d] = exact2::total(sum[d]);
  if (near) {
    /* The careful sum. It is rare, so nothing is staged or unrolled for it. */
    int64_t exact[3] = {0, 0, 0};
    bool apart = true;
    for_each_in_rows<BITS &(SORTED | PADDED)>(s, x, order, rows, own, c, [&](const position_record &xj) {
      apart = add_near<exact2, STYLE>(s, xi, xj, exact) && apart;
    });
    if (!apart) atomicOr(&s.ctl->overflow, (unsigned)HALT_OVERLAP);
#pragma unroll
    for (int d = 0; d < 2; ++d) total[d] = (double)exact[d];
  }
#pragma unroll
  for (int d = 0; d < 2; ++d) impulse.at[d][i] = total[d];
}

template <int STYLE, int BITS>
static void launch_variant(const launch &l, const system_view<exact2> &s, const int *order,
                           const components &impulse, bool step)
{
  if constexpr ((BITS & SORTED) != 0 || (BITS & STAGED) == 0) {
    if (s.n == 0) return;
    const size_t shared =
        (BITS & STAGED) != 0 ? 3 * STAGED_PER_THREAD * (size_t)l.threads * sizeof(position_record) : 0;
    k_force_cells_2d<STYLE, BITS>
        <<<blocks_for(s.n, l.threads), l.threads, shared, l.stream>>>(s, order, impulse, step);
  }
}

/* Launches the variant with these bits. */
template <int STYLE, int... BITS>
static void launch_style(int bits, std::integer_sequence<int, BITS...>, const launch &l,
                         const system_view<exact2> &s, const int *order, const components &impulse, bool step)
{
  /* force.cu takes styles that share kernels. */
  if constexpr (STYLE < MD_PAIR_SHARED_STYLE)
    ((bits == BITS ? launch_variant<STYLE, BITS>(l, s, order, impulse, step) : void()), ...);
}

md_status launch_force_cells_2d(const launch &l, md_pair_kind kind, const md_gpu_options &g,
                                const system_view<exact2> &s, const int *order, double *const impulse[3],
                                bool step)
{
  const int bits = (g.unsorted ? 0 : SORTED) | (g.unpadded ? 0 : PADDED) | (g.rolled ? 0 : UNROLLED) |
                   (g.staged ? STAGED : 0);
  const components arrays = {{impulse[0], impulse[1]}};
  const std::make_integer_sequence<int, VARIANTS> variants;
  const bool known = with_style(
      kind, [&](auto style) { launch_style<style.value>(bits, variants, l, s, order, arrays, step); });
  if (!known)
    for (int d = 0; d < 2; ++d)
      MD_CUDA(cudaMemsetAsync(impulse[d], 0, (size_t)s.n * sizeof *impulse[d], l.stream));
  MD_LAUNCHED("k_force_cells_2d");
  return MD_OK;
}
