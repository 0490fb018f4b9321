/* Which of 32 points b in shared memory are within reach of each of the 32 points a of a warp, as a product of
 * matrices.
 *
 * |a - b|^2 - reach^2 = (-2a, 1, |a|^2 - reach^2) . (b, |b|^2, 1), and b is within reach of a if this is negative.
 * The points a are rows, the points b are columns. A tensor core multiplies 16 rows by 8 columns in one
 * instruction of a warp. With one operation for each sign this makes 2 operations instead of 5, and a lane need
 * not load every b. Factors have 11 bits (TF32), so |a|^2 - reach^2 comes in two parts. The products are added in
 * single precision; each of the six terms is cut off at the 24th bit of the largest term, or at a lower bit.
 *
 * An instruction leaves four results in lane l: of the rows l/4 and l/4 + 8, and of the columns 2(l%4) and 2(l%4)
 * + 1. The points are assigned to rows and columns so that four lanes hold exactly the results of their own four
 * points, a byte of signs for each, and each byte belongs to eight successive points b:
 *
 *                        b 0 ... 7   b 8 ... 15   b 16 ... 23   b 24 ... 31
 *     point of lane 4q     byte         byte          byte          byte      <- one word of bits:
 *     ...                                                                        wanted by one lane
 *     point of lane 4q+3   byte         byte          byte          byte
 *                        held by 4q   by 4q + 1     by 4q + 2     by 4q + 3
 *
 * Two exchanges between the four lanes give each lane the four bytes of its own point.
 *
 * Before compute capability 8.0 there is no TF32, and each lane goes through all b for its own point.
 *
 * Reference: PTX ISA, warp-level matrix instructions, mma.m16n8k8; how tensor cores round: Fasi, Higham, Mikaitis
 * and Pranesh, PeerJ Computer Science 7, e330 (2021).
 */
#ifndef MD_GPU_NEIGHBOUR_TENSOR_CORES_CUH
#define MD_GPU_NEIGHBOUR_TENSOR_CORES_CUH

#include "gpu/particle/layout.cuh"

/* x rounded to the nearest number of 11 bits. */
static __device__ __forceinline__ float round_to_tensor(float x)
{
  return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u);
}

/* 32 points b: their coordinates, and |b|^2, all rounded to 11 bits. With this length of the four rows, the lanes
 * of a warp read them at once without bank conflicts: all four rows, and of each two points in every eight. */
constexpr int POINTS_STRIDE = 32 + 2;
struct shared_points {
  float x[4][POINTS_STRIDE];
};

/* Returns `value`. The shuffle hides from the compiler how `value` was computed. So it is kept in a register, and
 * not computed again at every use. */
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

/* The points a of a warp, as the matrix factors that one lane holds: elements l%4 and l%4 + 4 of the rows l/4 and
 * l/4 + 8, for two products. */
struct warp_points {
  float a[2][4];
  int first;              /* where the lane reads the points b */
  unsigned gather, order; /* which bytes the lane takes in the two exchanges, for __byte_perm() */
};

/* The factors of the points a. x: the point of this lane, rounded to 11 bits; own: |a|^2 - reach^2, of which 22
 * bits are kept. All lanes of a warp call it. */
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
  p.first = keep(element * POINTS_STRIDE + 8 * (column >> 1) + (column & 1));
  p.gather = keep(lane & 2 ? 0x5410u : 0x3276u);
  p.order = keep(lane & 1 ? 0x6240u : 0x3715u);
  return p;
}

/* d = a b, in the arrangement that is described above. */
static __device__ __forceinline__ void multiply(float d[4], const float a[4], const float b[2])
{
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
               : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
                 "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])),
                 "f"(0.0f));
}

/* A word whose u-th bit from the top is set if the u-th point b is within reach of the point of this lane. All
 * lanes of a warp call it. */
template <int DIM>
static __device__ __forceinline__ unsigned within_reach(const warp_points &p, const shared_points &b)
{
  const float *of_lane = &b.x[0][0] + p.first;
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
  /* The k-th byte from the top belongs to the point of lane k of four. Each lane needs the byte for its own point
   * of each of the four lanes, in the order of lanes. */
  word = __byte_perm(word, __shfl_xor_sync(0xffffffffu, word, 2), p.gather);
  return __byte_perm(word, __shfl_xor_sync(0xffffffffu, word, 1), p.order);
}

#endif

#endif
