/* Impulses in 17 bytes, for the time between the forces and the move of packed positions (gpu/step/awaited.cu,
 * move_packed.cu). All but one of the bytes lie in the three arrays of impulses, so that a kernel makes doubles of them
 * in place.
 *
 *   at[0]   low words of x and y
 *   at[1]   low word of z; then, from the lowest bit on, the middle 10 bits of x, of y, of z, and a bit: is it long?
 *   top     a byte: from the lowest bit on, the top 2 bits of x, of y, of z
 *   at[2]   of long impulses only: the 19 bits above these of x, of y, of z
 *
 * An impulse is a whole number of quanta. Mostly |impulse| < 2^43 along each axis, and it is stored plus 2^43 in 44
 * bits: its place in the mantissa of a double of 2^52 and more. So it needs no conversion. A long impulse, of a close
 * encounter, is stored as an integer of 63 bits. This suffices: that of a pair is below 2^52 quanta (common/model.h).
 *
 * With 500 atoms of in.lj 2^43 quanta are a force of 200. At a temperature of 1.44 one atom in nine has a force above
 * 50 along some axis, and one in 130 above 100. So 42 bits would not be enough: a warp waits for the rest of a long
 * impulse. Larger boxes have larger quanta (common/model.c).
 *
 * Trade-off: other kernels read doubles, so that unpack.cu must come before them. Cost: 17 bytes written and 17 read,
 * in place of 24.
 */
#ifndef MD_GPU_MOVE_PACKED_IMPULSE_CUH
#define MD_GPU_MOVE_PACKED_IMPULSE_CUH

#include "gpu/particle/view.cuh"

#define IMPULSE_MIDDLE (0x1p52 + 0x1p43)
enum : uint32_t { IMPULSE_EXPONENT = 0x43300000u, IMPULSE_UPPER = 0xfffu, IMPULSE_LONG = 1u << 30 };

/* The words of one impulse. */
struct packed_impulse {
  uint32_t low[3], middle, top;
};

/* Sets the upper word of a component of 44 bits, of which it has 12. */
static __device__ __forceinline__ void set_upper(packed_impulse &p, int d, uint32_t upper)
{
  p.middle |= (upper & 0x3ffu) << (10 * d);
  p.top |= (upper >> 10 & 3u) << (2 * d);
}

static __device__ __forceinline__ uint32_t upper_of(const packed_impulse &p, int d)
{
  return (p.top >> (2 * d) & 3u) << 10 | (p.middle >> (10 * d) & 0x3ffu);
}

/* The words of a long impulse. rest: receives the bits above the 44th ones. */
static __device__ __forceinline__ packed_impulse pack_long_impulse(const double impulse[3], uint64_t &rest)
{
  packed_impulse p = {{0, 0, 0}, IMPULSE_LONG, 0};
  rest = 0;
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    const uint64_t count = (uint64_t)md_count(impulse[d]);
    p.low[d] = (uint32_t)count;
    set_upper(p, d, (uint32_t)(count >> 32) & IMPULSE_UPPER);
    rest |= (count >> 44 & 0x7ffffu) << (19 * d);
  }
  return p;
}

static __device__ __forceinline__ double unpack_long_impulse(const packed_impulse &p, uint64_t rest, int d)
{
  const uint64_t count = (rest >> (19 * d) & 0x7ffffu) << 44 | (uint64_t)upper_of(p, d) << 32 | p.low[d];
  return (double)((int64_t)(count << 1) >> 1);
}

/* Stores the impulse on particle i, in quanta. */
static __device__ __forceinline__ void store_packed_impulse(double *const at[3], uint8_t *top, int i,
                                                            const double impulse[3])
{
  packed_impulse p = {{0, 0, 0}, 0, 0};
  bool fits = true;
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    const double m = impulse[d] + IMPULSE_MIDDLE;
    const uint32_t upper = (uint32_t)__double2hiint(m);
    p.low[d] = (uint32_t)__double2loint(m);
    fits = fits && (upper & ~IMPULSE_UPPER) == IMPULSE_EXPONENT;
    set_upper(p, d, upper);
  }
  if (!fits) {
    uint64_t rest;
    p = pack_long_impulse(impulse, rest);
    ((uint64_t *)at[2])[i] = rest;
  }
  ((uint2 *)at[0])[i] = make_uint2(p.low[0], p.low[1]);
  ((uint2 *)at[1])[i] = make_uint2(p.low[2], p.middle);
  top[i] = (uint8_t)p.top;
}

/* Loads the impulse on particle i. */
static __device__ __forceinline__ void load_packed_impulse(const double *const at[3], const uint8_t *top,
                                                           int i, double impulse[3])
{
  const uint2 first = ((const uint2 *)at[0])[i], second = ((const uint2 *)at[1])[i];
  const packed_impulse p = {{first.x, first.y, second.x}, second.y, top[i]};
#pragma unroll
  for (int d = 0; d < 3; ++d)
    impulse[d] = __hiloint2double((int)(IMPULSE_EXPONENT | upper_of(p, d)), (int)p.low[d]) - IMPULSE_MIDDLE;
  if (!(p.middle & IMPULSE_LONG)) return;
  const uint64_t rest = ((const uint64_t *)at[2])[i];
#pragma unroll
  for (int d = 0; d < 3; ++d) impulse[d] = unpack_long_impulse(p, rest, d);
}

#endif
