/* Which of 32 points in shared memory are within reach of each of a warp's 32 points: a product of matrices.
 *
 * |a - b|^2 - reach^2 = (-2a, 1, |a|^2 - reach^2) . (b, |b|^2, 1): rows are the points a, columns the points b. Tensor cores
 * multiply 16 rows by 8 columns in one instruction of a warp, which with one operation for each sign makes 2 operations
 * for what takes 5 otherwise, and no load of every b by every lane. What is multiplied has 11 bits (TF32), so |a|^2 - reach^2
 * comes in two parts; products are added in single precision, each of the six terms cut off at the 24th bit of the
 * largest, or better.
 *
 * An instruction leaves each lane with four results, those of rows l/4 and l/4 + 8 and columns 2(l%4) and the next. Rows are
 * dealt out such that the lanes 4q .. 4q + 3 hold just the results of their own four points, a byte of signs for each,
 * which they then exchange. Columns are dealt out such that each byte is of eight points b in a row.
 *
 * Before compute capability 8.0 there is no TF32, and each lane goes through all b for its own point.
 *
 * Reference: PTX ISA, warp-level matrix instructions, mma.m16n8k8; how tensor cores round: Fasi, Higham, Mikaitis and
 * Pranesh, PeerJ Computer Science 7, e330 (2021).
 */
#ifndef MD_GPU_NEIGHBOUR_TENSOR_CUH
#define MD_GPU_NEIGHBOUR_TENSOR_CUH

#include "gpu/particle/layout.cuh"

/* To the nearest of 11 bits. */
static __device__ __forceinline__ float round_to_tensor(float x)
{
  return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u);
}

/* 32 points b: their coordinates, and |b|^2, all rounded as above. The rows' length lets lanes read four rows, and of each
 * two points in every eight, at once. */
constexpr int POINTS_STRIDE = 32 + 2;
struct shared_points {
  float x[4][POINTS_STRIDE];
};

/* What is the same for a whole kernel the compiler would work out again every time, unless it cannot. */
template <class V> static __device__ __forceinline__ V keep(V value)
{
  return __shfl_sync(0xffffffffu, value, threadIdx.x & 31);
}

#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800

struct warp_points {
  float a[3], own;
};

template <int DIM> static __device__ __forceinline__ warp_points points_of(const float x[3], float own)
{
  warp_points p = {{0.0f, 0.0f, 0.0f}, own};
#pragma unroll
  for (int d = 0; d < DIM; ++d) p.a[d] = -2.0f * x[d];
  return p;
}

template <int DIM>
static __device__ __forceinline__ unsigned within_reach(const warp_points &p, const shared_points &b)
{
  unsigned word = 0;
#pragma unroll
  for (int u = 0; u < 32; ++u) {
    float sum = b.x[3][u];
#pragma unroll
    for (int d = 0; d < DIM; ++d) sum = fmaf(p.a[d], b.x[d][u], sum);
    word = __funnelshift_l(__float_as_uint(sum + p.own), word, 1);
  }
  return word;
}

#else

/* Of the rows l/4 and l/4 + 8 of two products: elements l%4 and l%4 + 4. */
struct warp_points {
  float a[2][4];
  int place;              /* of the points b that a lane reads */
  unsigned gather, order; /* which bytes it takes from its neighbours, by __byte_perm() */
};

/* x: this lane's point a, rounded as above; own: |a|^2 - reach^2, of which 22 bits are kept. By all lanes of a warp. */
template <int DIM> static __device__ __forceinline__ warp_points points_of(const float x[3], float own)
{
  const int lane = threadIdx.x & 31, element = lane & 3;
  const float high = round_to_tensor(own), low = round_to_tensor(own - high);
  warp_points p;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int from = (lane & 28) + k;
    float first = 1.0f;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      const float other = d < DIM ? -2.0f * __shfl_sync(0xffffffffu, x[d], from) : 0.0f;
      if (element == d) first = other;
    }
    const float other_high = __shfl_sync(0xffffffffu, high, from),
                other_low = __shfl_sync(0xffffffffu, low, from);
    p.a[k / 2][k % 2] = first;
    p.a[k / 2][k % 2 + 2] = element == 0 ? other_high : element == 1 ? other_low : 0.0f;
  }
  const int column = lane >> 2;
  p.place = keep(element * POINTS_STRIDE + 8 * (column >> 1) + (column & 1));
  p.gather = keep(lane & 2 ? 0x5410u : 0x3276u);
  p.order = keep(lane & 1 ? 0x6240u : 0x3715u);
  return p;
}

/* d = a b, as laid out above. */
static __device__ __forceinline__ void multiply(float d[4], const float a[4], const float b[2])
{
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
               : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
                 "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])),
                 "f"(0.0f));
}

/* The bit of the u-th point b, from the top, is set if it is within reach of this lane's point. By all lanes of a warp. */
template <int DIM>
static __device__ __forceinline__ unsigned within_reach(const warp_points &p, const shared_points &b)
{
  const float *of_lane = &b.x[0][0] + p.place;
  float columns[4][2];
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    columns[n][0] = of_lane[2 * n];
    columns[n][1] = 1.0f;
  }
  unsigned word = 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float result[4][4];
#pragma unroll
    for (int n = 0; n < 4; ++n) multiply(result[n], p.a[half], columns[n]);
#pragma unroll
    for (int row = 0; row < 2; ++row)
#pragma unroll
      for (int u = 0; u < 8; ++u)
        word = __funnelshift_l(__float_as_uint(result[u / 2][2 * row + u % 2]), word, 1);
  }
  /* Byte k, from the top, is of the point of lane k of four; the bytes of lane k, in the order of lanes, is what it wants. */
  word = __byte_perm(word, __shfl_xor_sync(0xffffffffu, word, 2), p.gather);
  return __byte_perm(word, __shfl_xor_sync(0xffffffffu, word, 1), p.order);
}

#endif

#endif
