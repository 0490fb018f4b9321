/* cell_start: the first particle of each cell in the sorted order. It is found in one of two ways:
 *   - After counting (counting sort): an exclusive sum of the counts. Few cells are summed by one block, in one launch
 *     for owned particles and ghosts, because each launch takes longer than such a sum.
 *   - From sorted cell numbers (radix sort): the first particle of a cell fills in the entry of its own cell and
 *     those of the empty cells before it.
 *
 * The grid has a border of cells on every side, so that no kernel reads beyond the ends of the array.
 *
 * Bytes: 8 a cell; or 4 a particle and 4 a cell.
 */
#include "gpu/neighbour/launches.cuh"
#include "gpu/neighbour/prefix_sum.cuh"

#include <cub/cub.cuh>

md_status scan_counts(const launch &l, int64_t count, int *values, void *scratch, size_t *bytes)
{
  MD_CUDA(cub::DeviceScan::ExclusiveSum(scratch, *bytes, values, values, (int)count, l.stream));
  return MD_OK;
}

constexpr int FEW_THREADS = 1024, FEW_EACH = 4;

/* Block b sums the counts of array b. */
static __global__ void __launch_bounds__(FEW_THREADS) k_sum_few(few_counts c)
{
  await_launches();
  sum_by_block<FEW_THREADS, FEW_EACH>(c.at[blockIdx.x], c.count[blockIdx.x]);
}

md_status sum_few_counts(const launch &l, const few_counts &c)
{
  return launch_early(of_threads(l, FEW_THREADS), c.at[1] ? 2 : 1, "launch of k_sum_few", k_sum_few, c);
}

static __global__ void k_fill_starts(int n, int total, const unsigned *__restrict__ sorted,
                                     int *__restrict__ start)
{
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k > n) return;
  const int first = k == 0 ? 0 : (int)sorted[k - 1] + 1;
  const int last = k == n ? total : (int)sorted[k];
  for (int c = first; c <= last; ++c) start[c] = k;
}

md_status launch_fill_starts(const launch &l, int n, int total, const unsigned *sorted, int *start)
{
  k_fill_starts<<<blocks_for((int64_t)n + 1, l.threads), l.threads, 0, l.stream>>>(n, total, sorted, start);
  MD_LAUNCHED("k_fill_starts");
  return MD_OK;
}
