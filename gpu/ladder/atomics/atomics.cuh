/* Atomics: each pair once with atomic additions, or each pair twice without?
 *
 * The pull of i on j is the opposite of the pull of j on i, but for the masses. Who uses this computes half of the
 * interactions, and has to add to the sums of other threads. The study was published for a Kepler GK104 and 8192 bodies
 * in three dimensions. An iteration computes the pull on each body.
 *
 * Read the rungs in this order, each with `diff` against the one before:
 *
 *   naive.cu          each pair twice: every thread sums for its own body
 *   shared.cu         the same by tiles in shared memory
 *   atomic_float.cu   each pair once; against naive.cu
 *   atomic_double.cu  sums in double precision
 *   atomic_int64.cu   sums in fixed point: exact, so that the order does not matter
 *
 * Sum over all bodies j, with the softening s of common/ladder/ladder.h:
 *
 *   a_i = sum of m_j (x_j - x_i) / (r^2 + s)^(3/2)
 */
#ifndef MD_GPU_LADDER_ATOMICS_ATOMICS_CUH
#define MD_GPU_LADDER_ATOMICS_ATOMICS_CUH

#include "gpu/ladder/harness.cuh"

namespace atomics
{
enum { BLOCK = 256 };

/* An acceleration in fixed point is a multiple of 2^-44, in two's complement. Sums up to 2^19 fit. */
typedef unsigned long long fixed;
#define FIXED_SCALE 0x1p44f

template <class T> struct vectors {
  T *x, *y, *z;
};

/* The bodies on the device. A rung uses one kind of sums. The array's padding has bodies of mass 0. */
struct bodies {
  int n;
  int iteration;     /* 0 in the first */
  float4 *body;      /* x, y, z and, as w, the mass */
  vectors<float> f;  /* accelerations in single precision, */
  vectors<double> d; /* in double precision, */
  vectors<fixed> q;  /* in fixed point */
};

/* Which sums a rung uses. Those in fixed point must have the same bits in a second iteration. */
enum { FLOATS, DOUBLES, FIXED };

void set_up(bodies &b, const ladder_case *c, ladder_arrays &arrays);
void check(bodies &b, int holds, void (*iterate)(bodies &), const ladder_case *c, ladder_result *result);
} // namespace atomics

#endif
