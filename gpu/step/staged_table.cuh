/* The step of pair style table with the rows of F/r in shared memory, for one table of at most STAGED_ROWS rows.
 *
 * Each lane of a warp reads another row. Through the cache a load takes a cycle for each lane, and a row is two loads.
 * Shared memory serves a quarter of a warp in a cycle, or in a few where rows lie in the same banks. So a block copies
 * the rows first, and then walks through the particles. The halves of rows lie in two arrays, so that rows which a warp
 * reads at random fall into different banks:
 *
 *      staged_halves   | c0 c1 of row 0 | of row 1 | ...  | c2 c3 of row 0 | of row 1 | ...
 *                       0                                  STAGED_ROWS
 *
 * Trade-off: a multiprocessor has one block, of STAGED_THREADS threads, and less cache for positions.
 * Cost: two loads of 16 bytes from shared memory for each pair within the cutoff, and a copy of the rows a block.
 */
#ifndef MD_GPU_STEP_STAGED_TABLE_CUH
#define MD_GPU_STEP_STAGED_TABLE_CUH

#include "gpu/particle/launch.cuh"
#include "gpu/step/formulas.cuh"

/* Stands for MD_PAIR_table where a kernel has the style as a template argument. */
constexpr int STAGED_TABLE = MD_PAIR_HYBRID_STYLE + 1;
constexpr int STAGED_ROWS = 3072, STAGED_THREADS = 1024;
constexpr size_t STAGED_BYTES = 2 * STAGED_ROWS * sizeof(double2);

extern __shared__ double2 staged_halves[];

static __device__ __forceinline__ void md_table_load_staged(double, double, double row, double c[4])
{
  const int at = __double2loint(row + 0x1p52);
  const double2 first = staged_halves[at], second = staged_halves[STAGED_ROWS + at];
  c[0] = first.x, c[1] = first.y, c[2] = second.x, c[3] = second.y;
}

/* The formula of the style, which has the same bits, with the other load. */
#pragma push_macro("MD_FN")
#undef MD_FN
#define MD_FN [[maybe_unused]] static __device__ __forceinline__
#define real double
#define MD_T(name) name##_staged
#define md_max_staged md_max_ranged
#define md_min_staged md_min_ranged
#define md_floor_staged md_floor_ranged
#define md_fma_staged md_fma_ranged
#define md_broadcast_staged md_broadcast_ranged
#include "common/pair/tables/pair_table.h"
#undef md_max_staged
#undef md_min_staged
#undef md_floor_staged
#undef md_fma_staged
#undef md_broadcast_staged
#undef MD_T
#undef real
#pragma pop_macro("MD_FN")

template <> __device__ __forceinline__ double ranged_force_of<STAGED_TABLE>(double r2, const double *k)
{
  return md_table_force_staged(r2, k);
}

/* The rows of F/r of a table with these coefficients. */
static __host__ __device__ __forceinline__ int rows_of_table(const double *k) { return (int)k[4] + 1; }

/* Does a launch for these coefficients have room for the rows? */
static inline bool may_stage(const launch &l, const double *k)
{
  return rows_of_table(k) <= STAGED_ROWS && STAGED_BYTES <= l.most_shared;
}

/* Copies the rows. All threads of the block call it. */
static __device__ __forceinline__ void stage_table(const double *k)
{
  const double2 *from = (const double2 *)(uintptr_t)(k[5] + k[6]);
  for (int n = threadIdx.x; n < 2 * rows_of_table(k); n += blockDim.x)
    staged_halves[n % 2 * STAGED_ROWS + n / 2] = __ldg(from + n);
  __syncthreads();
}

#endif
