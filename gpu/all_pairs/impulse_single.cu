/* Impulses of all pairs in single precision (precision mixed): the pairs of impulse.cu, with the hardware's
 * approximation of 1/sqrt.
 *
 * The forces of a chunk are added up in single precision, and then rounded to quanta and added to the sums of the
 * bodies. So an impulse has a relative error of some 1e-7 times the square root of the tiles of a chunk, and a total
 * momentum that is not conserved to the bit. Positions and momenta stay as they are in double precision.
 *
 * Cost: in 3D 12 single-precision operations and one approximate root a pair, 13 issue slots; 128 slots a cycle and
 * multiprocessor are the limit: 2.57 10^12 pairs a second at 132 multiprocessors and 1.98 GHz.
 */
#include "gpu/all_pairs/bodies.cuh"
#include "gpu/step/formulas.cuh"

enum { THREADS = BODY_PAD, MOST_TILES = 16 };

/* Up to this many bodies a thread has one of them, because there are too few threads otherwise. */
enum { ONE_EACH = 8192 };

struct single_args {
  body_view view;
  const body_single *own, *other;
  int tiles, chunk, across; /* as in impulse.cu */
  unsigned long long launch_number;
};

template <int STYLE, int DIM, int BODIES>
static __global__ void __launch_bounds__(THREADS) k_single_impulses(const __grid_constant__ single_args a)
{
  if (!may_work(a.view.halt, a.launch_number)) return;
  __shared__ body_single tile[BODY_PAD];
  const int first = blockIdx.x % a.across * (THREADS * BODIES) + threadIdx.x;
  const int tile0 = blockIdx.x / a.across * a.chunk, tile1 = min(tile0 + a.chunk, a.tiles);
  const float softening = a.view.single_softening;
  const float k[MD_PAIR_K] = {0.0f, 1.0f};
  float x[BODIES][DIM], sum[BODIES][DIM];
#pragma unroll
  for (int b = 0; b < BODIES; ++b) {
    const body_single own = a.own[min(first + b * THREADS, a.view.n - 1)];
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
      x[b][d] = own.x[d];
      sum[b][d] = 0.0f;
    }
  }
  for (int t = tile0; t < tile1; ++t) {
    __syncthreads();
    tile[threadIdx.x] = a.other[t * BODY_PAD + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < BODY_PAD; ++j) {
      const body_single other = tile[j];
#pragma unroll
      for (int b = 0; b < BODIES; ++b) {
        float delta[DIM], r2 = softening;
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
          delta[d] = other.x[d] - x[b][d];
          r2 = fmaf(delta[d], delta[d], r2);
        }
        const float f = other.mass * force_of<STYLE>(r2, k);
#pragma unroll
        for (int d = 0; d < DIM; ++d) sum[b][d] = fmaf(f, delta[d], sum[b][d]);
      }
    }
  }
#pragma unroll
  for (int b = 0; b < BODIES; ++b) {
    const int i = first + b * THREADS;
    if (i >= a.view.n) continue;
    const double mass = a.view.bodies[i].mass;
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
      const double impulse = mass * (double)sum[b][d];
      if (!(fabs(impulse) < a.view.range)) stop(a.view.halt, a.launch_number, HALTED_BY_OVERLAP);
      atomicAdd(&a.view.sum[d * a.view.stride + i], (unsigned long long)md_count(impulse));
    }
  }
}

template <int STYLE, int DIM, int BODIES>
static void launch_shape(single_args a, int processors, cudaStream_t stream)
{
  enum { BLOCKS_WANTED = 32 };
  a.across = blocks_for(a.view.n, THREADS * BODIES);
  const int chunks = max(1, min(a.tiles, processors * BLOCKS_WANTED / a.across));
  a.chunk = min((a.tiles + chunks - 1) / chunks, (int)MOST_TILES);
  const int blocks = a.across * ((a.tiles + a.chunk - 1) / a.chunk);
  k_single_impulses<STYLE, DIM, BODIES><<<blocks, THREADS, 0, stream>>>(a);
}

template <int STYLE, int DIM>
static void launch_dim(const single_args &a, int processors, cudaStream_t stream)
{
  if (a.view.n <= ONE_EACH)
    launch_shape<STYLE, DIM, 1>(a, processors, stream);
  else
    launch_shape<STYLE, DIM, 4>(a, processors, stream);
}

md_status launch_impulses_single(const body_view &view, md_pair_kind kind, const body_single *own,
                                 const body_single *other, int64_t n_other, unsigned long long launch_number,
                                 int processors, cudaStream_t stream)
{
  if (view.n == 0 || n_other == 0) return MD_OK;
  const single_args a = {view, own, other, (int)((n_other + BODY_PAD - 1) / BODY_PAD), 0, 0, launch_number};
  with_all_style(kind, [&](auto style) {
    if (view.dim == 3)
      launch_dim<style.value, 3>(a, processors, stream);
    else
      launch_dim<style.value, 2>(a, processors, stream);
  });
  MD_LAUNCHED("k_single_impulses");
  return MD_OK;
}

static __global__ void k_pack_single(const __grid_constant__ body_view b,
                                     const __grid_constant__ single_copy to)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < b.stride) copy_single(to, i, b.bodies[i].x, b.bodies[i].mass, b.dim);
}

md_status launch_pack_single(const body_view &b, const single_copy &to, cudaStream_t stream)
{
  k_pack_single<<<blocks_for(b.stride, 256), 256, 0, stream>>>(b, to);
  MD_LAUNCHED("k_pack_single");
  return MD_OK;
}
