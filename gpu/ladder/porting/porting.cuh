/* Porting: star clusters, from one thread on a GPU to a tuned kernel.
 *
 * The stars are those of Plummer's cluster, and have different masses. An iteration computes the pull on each star. The
 * study was published for three GPUs: Quadro FX 5800 (compute capability 1.3), Tesla C2050 (2.0) and GTX 680 (3.0). The
 * heads quote the gains on these three, in this order.
 *
 * Read the rungs in this order, each with `diff` against the one before:
 *
 *   one_thread.cu       the loops of the CPU, on one thread of the GPU
 *   n_threads.cu        a thread for each star
 *   scalar_arrays.cu    arrays of fields
 *   constant_memory.cu  parameters in constant memory
 *   rsqrtf.cu           the inverse root by the hardware
 *   two_loops.cu        two loops instead of a question for i = j
 *   blocking.cu         tiles in shared memory; it asks again
 *   unroll_8.cu         the loop over a tile, 8 stars at a time
 *   no_if.cu            no question at all
 *   fma.cu              terms in another order
 *   unroll_128.cu       128 stars at a time
 *   ftz.cu              tiny numbers become zero
 *   double.cu           double precision; against fma.cu
 *   hybrid.cu           the CPU takes a share; against ftz.cu
 *
 * Sum over all stars j except i, with the softening s of common/ladder/ladder.h:
 *
 *   a_i = sum of m_j (x_j - x_i) / (r^2 + s)^(3/2)
 */
#ifndef MD_GPU_LADDER_PORTING_PORTING_CUH
#define MD_GPU_LADDER_PORTING_PORTING_CUH

#include "gpu/ladder/harness.cuh"

/* A function of the CPU that the compiler makes for each width of vectors, if it can. The program picks one. */
#if defined __x86_64__ && defined __gnu_linux__
#define VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define VECTORS
#endif

namespace porting
{
enum { BLOCK = 128 };

struct star {
  float m, x, y, z, vx, vy, vz, ax, ay, az;
};

template <class real> struct fields {
  real *m, *x, *y, *z, *vx, *vy, *vz, *ax, *ay, *az;
};

/* What stays the same from one iteration to the next. */
struct parameters {
  int n;
  float softening;
};

/* The stars on the device in all layouts. A rung uses one of them. The arrays' padding has stars of mass 0. */
struct bodies {
  int n;
  int padded;         /* length of arrays; those of a layout lie one after the other */
  int iteration;      /* 0 in the first */
  star *aos;          /* array of structures */
  fields<float> f;    /* arrays of fields */
  fields<double> d;   /* the same in double precision */
  fields<float> host; /* the same as f on the host, in pinned memory */
  int host_stars;     /* the last stars, whose pull the CPU computes */
};

/* Where the accelerations are after an iteration; the last two: in FLOATS, and the share of the CPU. */
enum { STRUCTURES, FLOATS, DOUBLES, TENTH, BEST_SHARE };

void set_up(bodies &b, const ladder_case *c, ladder_arrays &arrays);
void check(bodies &b, int holds, void (*iterate)(bodies &), const ladder_case *c, ladder_result *result);
void tune(bodies &b, int holds, void (*iterate)(bodies &));
} // namespace porting

#endif
