/* The tables of pairs of a style with a density (common/pair/tables/eam.h), as the kernels of its two passes read them.
 *
 *   cached_tables   from device memory, through the cache for read-only data;
 *   staged_tables   from a copy in shared memory. Its parts of 16 bytes lie one array after another, [part][row], so
 *                   that rows which a warp reads at random fall into different banks.
 *
 * Trade-off: a block copies all rows, also those of distances that do not occur.
 * Cost: one load of 16 bytes for two numbers. A row has MD_SPLINE numbers for a density, MD_SPLINE_ROW for a force.
 * An object belongs to all threads of its block, which make it together.
 */
#ifndef MD_GPU_DENSITY_TABLES_CUH
#define MD_GPU_DENSITY_TABLES_CUH

#include "gpu/particle/launch.cuh"

extern __shared__ double2 staged_parts[];

/* DENSITY_BLOCKS, FORCE_BLOCKS: the number of blocks of a pass that a multiprocessor has room for. With three blocks
 * the pass of forces would spill. */
struct cached_tables {
  enum { THREADS = 128, DENSITY_BLOCKS = 1, FORCE_BLOCKS = 1 };
  const md_eam &eam;

  __device__ cached_tables(const md_eam &eam, const double *, int) : eam(eam) {}
  __device__ __forceinline__ md_spline density(int a, int b, int row) const
  {
    return md_spline_load(eam.density + md_eam_row(&eam, a, b, row) * MD_SPLINE);
  }
  __device__ __forceinline__ md_eam_splines force(int a, int b, int row) const
  {
    return md_eam_splines_of(&eam, a, b, row);
  }
};

struct staged_tables {
  enum { THREADS = 512, DENSITY_BLOCKS = 3, FORCE_BLOCKS = 2, MOST_BYTES = 96 * 1024 };
  const md_eam &eam;
  int rows;

  /* from: the table of densities or of forces, [rows][numbers]. */
  __device__ staged_tables(const md_eam &eam, const double *from, int numbers)
      : eam(eam), rows(eam.nelement * eam.nelement * eam.nr)
  {
    const int parts = numbers / 2;
    for (int k = threadIdx.x; k < rows * parts; k += blockDim.x)
      staged_parts[k % parts * rows + k / parts] = __ldg((const double2 *)from + k);
    __syncthreads();
  }
  __device__ __forceinline__ md_spline part(int first, int row) const
  {
    const double2 low = staged_parts[first * rows + row], high = staged_parts[(first + 1) * rows + row];
    return md_spline{low.x, low.y, high.x, high.y};
  }
  __device__ __forceinline__ md_spline density(int a, int b, int row) const
  {
    return part(0, (int)md_eam_row(&eam, a, b, row));
  }
  __device__ __forceinline__ md_eam_splines force(int a, int b, int row) const
  {
    const int of_a = (int)md_eam_row(&eam, a, b, row);
    const md_spline at_a = part(0, of_a);
    return md_eam_splines{at_a, a == b ? at_a : part(0, (int)md_eam_row(&eam, b, a, row)), part(2, of_a)};
  }
};

/* A class of tables as a value. */
template <class TABLES> struct tables_of {
  typedef TABLES type;
};

#endif
