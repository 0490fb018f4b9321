/* Impulses of all pairs, in double precision: the same bits as on every other engine.
 *
 *   1  A block of threads has BODIES bodies for each of its threads, in registers, and a chunk of the other bodies.
 *      Few bodies are one for each thread, in short chunks, so that there are enough threads.
 *   2  The chunk passes through shared memory in tiles of BODY_PAD bodies. All threads of a warp read the same body of
 *      the tile at the same time, so that one read serves 32 BODIES pairs.
 *   3  An impulse is rounded to quanta by the fma that forms it, and its bits are added as an integer
 *      (common/arithmetic/exact.h).
 *   4  At the end each thread adds its sums to those of the bodies, by atomics. Sums of integers do not depend on the
 *      order, so that chunks may be as short as a small number of bodies needs to occupy the device.
 *
 * 1/sqrt begins in single precision (md_rsqrt3 of common/arithmetic/real.h). IEEE's square root and division have
 * branches for operands that do not occur here; ranged_force_of (gpu/step/formulas.cuh) is the same number without
 * these branches.
 *
 * If a pair may be beyond the fast rounding, the thread sums its chunk again, one pair at a time, with care.
 *
 * Trade-off: both bodies of a pair evaluate it. To evaluate it once would need the sums of both in registers, and
 * shuffles of 7 numbers between threads. Cost: 16 double-precision operations a pair in 3D (17 with several masses),
 * of which 64 a cycle and multiprocessor are the limit: 1.05 10^12 pairs a second at 132 multiprocessors and 1.98
 * GHz. With all other instructions a pair has some 33 issue slots, which is the same limit. Measured on an H200: 0.6
 * 10^12.
 */
#include "gpu/all_pairs/bodies.cuh"

#include "common/pair/all_pairs.h"
#include "common/pair/formulas.h"
#include "gpu/step/formulas.cuh"

enum { THREADS = BODY_PAD };

struct impulse_args {
  body_view view;
  const body *other;
  /* bodies of the other block, and of a chunk: multiples of BODY_PAD, or the chunk divides it */
  int length, chunk;
  int across; /* blocks of threads for each chunk */
  unsigned long long launch_number;
};

/* The careful sum: the bodies [first, last) of the other block on body i. Returns false if a pair overlaps. */
template <int STYLE>
static __device__ __noinline__ bool sum_with_care(const impulse_args &a, int i, int first, int last,
                                                  long long sum[3])
{
  const body own = a.view.bodies[i];
  bool apart = true;
  for (int d = 0; d < 3; ++d) sum[d] = 0;
  for (int j = first; j < last; ++j) {
    const body other = a.other[j];
    if (other.mass == 0.0 || (a.other == a.view.bodies && j == i)) continue;
    double delta[3] = {0.0, 0.0, 0.0}, k[MD_PAIR_K], r2 = a.view.k[2];
    for (int d = 0; d < a.view.dim; ++d) {
      delta[d] = own.x[d] - other.x[d];
      r2 = fma(delta[d], delta[d], r2);
    }
    md_all_coefficients(a.view.k, own.mass, other.mass, k);
    const double f = force_of<STYLE>(r2, k);
    apart = apart && !md_all_overlaps(f, delta, a.view.dim, r2, a.view.range);
    for (int d = 0; apart && d < a.view.dim; ++d) sum[d] += (long long)md_round_product(f, delta[d]);
  }
  return apart;
}

template <int STYLE, int DIM, bool ONE, bool CAREFUL, bool FAST, int BODIES>
static __global__ void __launch_bounds__(THREADS) k_body_impulses(const __grid_constant__ impulse_args a)
{
  if (!may_work(a.view.halt, a.launch_number)) return;
  __shared__ body tile[BODY_PAD];
  const int first = blockIdx.x % a.across * (THREADS * BODIES) + threadIdx.x;
  const int begin = blockIdx.x / a.across * a.chunk, end = min(begin + a.chunk, a.length);
  const double softening = a.view.k[2];
  double x[BODIES][DIM], minus_mass[BODIES], k[MD_PAIR_K];
  for (int c = 0; c < MD_PAIR_K; ++c) k[c] = a.view.k[c];
  long long sum[BODIES][DIM];
  float least[BODIES];
#pragma unroll
  for (int b = 0; b < BODIES; ++b) {
    const body own = a.view.bodies[min(first + b * THREADS, a.view.n - 1)];
    minus_mass[b] = ONE ? -(own.mass * own.mass) : -own.mass;
    least[b] = 3e38f;
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
      x[b][d] = own.x[d];
      sum[b][d] = 0;
    }
  }
  for (int t = begin; t < end; t += BODY_PAD) {
    const int part = min(end - t, (int)BODY_PAD);
    __syncthreads();
    if (threadIdx.x < part) tile[threadIdx.x] = a.other[t + threadIdx.x];
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < part; ++j) {
      const body other = tile[j];
#pragma unroll
      for (int b = 0; b < BODIES; ++b) {
        double delta[DIM], r2 = softening;
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
          delta[d] = x[b][d] - other.x[d];
          r2 = fma(delta[d], delta[d], r2);
        }
        k[1] = ONE ? minus_mass[b] : minus_mass[b] * other.mass;
        const double f = FAST ? ranged_force_of<STYLE>(r2, k) : force_of<STYLE>(r2, k);
        if (CAREFUL) {
          const bool self = a.other == a.view.bodies && t + j == first + b * THREADS;
          least[b] = fminf(least[b], self ? 3e38f : (float)r2);
        }
#pragma unroll
        for (int d = 0; d < DIM; ++d) sum[b][d] += md_bits(fma(f, delta[d], MD_ROUND));
      }
    }
  }
  const long long bias =
      (long long)((unsigned long long)md_bits(MD_ROUND) * (unsigned long long)(end - begin));
#pragma unroll
  for (int b = 0; b < BODIES; ++b) {
    const int i = first + b * THREADS;
    if (i >= a.view.n) continue;
    long long total[3] = {0, 0, 0};
#pragma unroll
    for (int d = 0; d < DIM; ++d) total[d] = sum[b][d] - bias;
    /* The comparison in single precision may take care in vain, never miss a pair. */
    if (CAREFUL && least[b] < 1.001f * (float)(a.view.close2 + softening) &&
        !sum_with_care<STYLE>(a, i, begin, end, total))
      stop(a.view.halt, a.launch_number, HALTED_BY_OVERLAP);
#pragma unroll
    for (int d = 0; d < DIM; ++d) atomicAdd(&a.view.sum[d * a.view.stride + i], (unsigned long long)total[d]);
  }
}

/* ---- the launch ---- */

/* Blocks of threads per multiprocessor that the launch aims at: more of them even out the work at its end. And the
 * shortest chunk, in bodies. */
enum { BLOCKS_WANTED = 32, SHORTEST_CHUNK = 32 };

/* Up to this many bodies a thread has one of them, because there are too few threads otherwise. */
enum { ONE_EACH = 2048 };

template <int STYLE, int DIM, bool ONE, bool CAREFUL, bool FAST, int BODIES>
static void launch_shape(impulse_args a, int processors, cudaStream_t stream)
{
  const int units = a.length / SHORTEST_CHUNK;
  a.across = blocks_for(a.view.n, THREADS * BODIES);
  const int chunks = max(1, min(units, processors * BLOCKS_WANTED / a.across));
  a.chunk = (units + chunks - 1) / chunks * SHORTEST_CHUNK;
  const int blocks = a.across * ((a.length + a.chunk - 1) / a.chunk);
  k_body_impulses<STYLE, DIM, ONE, CAREFUL, FAST, BODIES><<<blocks, THREADS, 0, stream>>>(a);
}

template <int STYLE, int DIM, bool ONE, bool CAREFUL, bool FAST>
static void launch_as(const impulse_args &a, int processors, cudaStream_t stream)
{
  if (a.view.n <= ONE_EACH)
    launch_shape<STYLE, DIM, ONE, CAREFUL, FAST, 1>(a, processors, stream);
  else
    launch_shape<STYLE, DIM, ONE, CAREFUL, FAST, 4>(a, processors, stream);
}

template <int STYLE, int DIM, bool FAST>
static void launch_dim(const impulse_args &a, bool one, int processors, cudaStream_t stream)
{
  const bool careful = a.view.close2 > 0.0;
  if (one && !careful)
    launch_as<STYLE, DIM, true, false, FAST>(a, processors, stream);
  else if (!careful)
    launch_as<STYLE, DIM, false, false, FAST>(a, processors, stream);
  else
    launch_as<STYLE, DIM, false, true, FAST>(a, processors, stream);
}

md_status launch_impulses(const body_view &view, md_pair_kind kind, const body *other, int64_t n_other,
                          bool one, bool fast, unsigned long long launch_number, int processors,
                          cudaStream_t stream)
{
  if (view.n == 0 || n_other == 0) return MD_OK;
  const impulse_args a = {view, other, (int)((n_other + BODY_PAD - 1) / BODY_PAD * BODY_PAD),
                          0,    0,     launch_number};
  with_all_style(kind, [&](auto style) {
    if (view.dim == 3 && fast)
      launch_dim<style.value, 3, true>(a, one, processors, stream);
    else if (view.dim == 3)
      launch_dim<style.value, 3, false>(a, one, processors, stream);
    else if (fast)
      launch_dim<style.value, 2, true>(a, one, processors, stream);
    else
      launch_dim<style.value, 2, false>(a, one, processors, stream);
  });
  MD_LAUNCHED("k_body_impulses");
  return MD_OK;
}
