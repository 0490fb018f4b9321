/* Laboratory: gravity in three dimensions, on one GPU, from a first version to a tuned one.
 *
 * All bodies have the same mass, 1. An iteration computes the pull on each body, adds it to the velocity, and moves the
 * body. The study was published for a Tesla K80, with 25000 to 200000 bodies. There all rungs together were 80.6 times
 * faster than one core of a CPU.
 *
 * Read the rungs in this order, each with `diff` against the one before. Gains are kept, unless a head says otherwise:
 *
 *   baseline.cu    bodies travel to the GPU and back in every iteration, and the host moves them
 *   resident.cu    bodies stay on the GPU
 *   tiling_v1.cu   tiles of whole bodies in shared memory
 *   tiling_v2.cu   tiles of positions
 *   float4.cu      four words a position; against tiling_v2.cu
 *   unroll_4.cu    the loop over a tile unrolled 4 times; against tiling_v2.cu, as the next three
 *   unroll_8.cu    8 times: kept
 *   unroll_16.cu   16 times
 *   unroll_32.cu   32 times
 *   frsqrt.cu      the inverse root in one call; against unroll_8.cu
 *   powf.cu        the power -3/2 in one call
 *   soa.cu         arrays of fields
 *   pageable.cu    bodies travel again
 *   pinned.cu      the same from pinned memory
 *   ftz.cu         tiny numbers become zero; against soa.cu
 *
 * Sum over all bodies j, with the softening s of common/ladder/ladder.h, and then the timestep dt:
 *
 *   a_i = sum of (x_j - x_i) / (r^2 + s)^(3/2)        v_i += dt a_i        x_i += dt v_i
 */
#ifndef MD_GPU_LADDER_LABORATORY_LABORATORY_CUH
#define MD_GPU_LADDER_LABORATORY_LABORATORY_CUH

#include "gpu/ladder/harness.cuh"

namespace laboratory
{
enum { BLOCK = 512 };

struct body {
  float x, y, z, vx, vy, vz;
};

/* Six arrays, one after the other, each of `padded` numbers. */
struct fields {
  float *x, *y, *z, *vx, *vy, *vz;
};

/* The bodies in all layouts and places. A rung uses one layout, on the device, and on the host if its bodies travel.
 * The arrays' padding is filled with bodies so far away that their pull is zero. */
struct bodies {
  int n, padded;
  int iteration; /* 0 in the first */
  float dt;
  body *aos, *host;                /* array of structures, on the device and on the host */
  fields device, pageable, pinned; /* arrays of fields, on the device and on the host */
};

/* Where the bodies are after an iteration. */
enum { STRUCTURES, HOST_STRUCTURES, FIELDS, PAGEABLE_FIELDS, PINNED_FIELDS };

void set_up(bodies &b, const ladder_case *c, ladder_arrays &arrays);
void check(const bodies &b, int holds, void (*)(bodies &), const ladder_case *c, ladder_result *result);
} // namespace laboratory

#endif
