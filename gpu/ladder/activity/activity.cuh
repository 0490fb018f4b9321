/* Activity: gravity in two dimensions, with a map of activity.
 *
 * Bodies lie in the unit square. An iteration computes the pull on each body, moves the bodies by a timestep, and
 * counts how many bodies are in each of 256 x 256 cells: the activity map. The published times were measured on an
 * NVIDIA GPU of about 2018. The heads quote those for 64000 bodies.
 *
 * Read the rungs in this order, each with `diff` against the one before:
 *
 *   baseline.cu        as a beginner writes it down
 *   compute.cu         cheaper arithmetic
 *   activity.cu        each body finds its cell
 *   soa.cu             arrays of fields
 *   read_only.cu       the read-only cache
 *   shared.cu          tiles in shared memory
 *   rsqrt.cu           the inverse root by a bit trick
 *   rsqrt_hardware.cu  the inverse root by the hardware
 *
 * Sum over all bodies j, with the softening s of common/ladder/ladder.h, and then the timestep dt:
 *
 *   a_i = sum of m_j (x_j - x_i) / (r^2 + s)^(3/2)        v_i += dt a_i        x_i += dt v_i
 */
#ifndef MD_GPU_LADDER_ACTIVITY_ACTIVITY_CUH
#define MD_GPU_LADDER_ACTIVITY_ACTIVITY_CUH

#include "gpu/ladder/harness.cuh"

namespace activity
{
enum { BLOCK = 256 };

struct body {
  float x, y, vx, vy, m;
};

/* The bodies on the device, in both layouts. A rung uses one of them. */
struct bodies {
  int n;
  int iteration; /* 0 in the first */
  float dt;
  body *aos;                                    /* array of structures */
  float *x, *y, *m, *vx, *vy, *x_next, *y_next; /* arrays of fields; rungs may swap x with x_next */
  unsigned *map;                                /* [MAP_CELLS * MAP_CELLS], rows of equal y */
};

/* The layout that a rung uses. */
enum { STRUCTURES, ARRAYS };

void set_up(bodies &b, const ladder_case *c, ladder_arrays &arrays);
void check(const bodies &b, int holds, void (*)(bodies &), const ladder_case *c, ladder_result *result);
} // namespace activity

#endif
