/* How a particle lies in device memory, and the arithmetic on it: one class per precision, the parameter of every
 * kernel here.
 *
 * A position is one record, so that a neighbour costs one or two wide loads:
 *   plain 2D      x y                 16 bytes (mixed: 8)   one type, cells
 *   tagged 2D/3D  x y z type path     32 bytes (mixed: 16)  several types, lists, three dimensions
 * `path` is the length of the particle's path since the last rebin: an upper bound of its displacement that costs no
 * further memory traffic.
 *
 * exact: coordinates are doubles on the position grid, impulses are summed as whole numbers of quanta
 *   (common/exact.h) in 64-bit integers: any order of additions, any atomics, the same bits.
 * mixed: coordinates are 32-bit fractions of the box (of twice the box along axes that are not periodic, so that no
 *   two places look alike). The resolution is the same everywhere, a difference is exact and is the minimum image by
 *   the overflow of integers, and only the pair arithmetic behind it is in single precision. Tagged records' sums of four
 *   pairs are added up in double.
 */
#ifndef MD_GPU_LAYOUT_CUH
#define MD_GPU_LAYOUT_CUH

#include "common/motion.h"

#include <type_traits>

/* Positions on a 32-bit scale: x = origin + unit * u. Unused by exact layouts. */
struct scale32 {
  double origin[3], unit[3], per_unit[3];
  float unit_single[3], per_unit_single[3];
};

struct alignas(16) exact_plain {
  double x[2];
};
struct alignas(32) exact_tagged {
  double x[3];
  uint32_t type; /* 0-based */
  float path;
};
struct alignas(8) mixed_plain {
  uint32_t x[2];
};
struct alignas(16) mixed_tagged {
  uint32_t x[3];
  uint16_t type;
  uint16_t path16; /* the upper half of a float, rounded up */
};

/* Type and path of a record: plain ones have one type, and no path. */
MD_FN int type_of(const exact_plain &) { return 0; }
MD_FN int type_of(const exact_tagged &r) { return (int)r.type; }
MD_FN int type_of(const mixed_plain &) { return 0; }
MD_FN int type_of(const mixed_tagged &r) { return r.type; }
__device__ __forceinline__ float path_of(const exact_tagged &r) { return r.path; }
__device__ __forceinline__ float path_of(const mixed_tagged &r)
{
  return __uint_as_float((uint32_t)r.path16 << 16);
}
__device__ __forceinline__ void set_path(exact_tagged &r, float path) { r.path = path; }
/* Rounded up: a path must never be taken for shorter than it is. */
__device__ __forceinline__ void set_path(mixed_tagged &r, float path)
{
  r.path16 = (uint16_t)((__float_as_uint(path) + 0xffffu) >> 16);
}

/* Whole records, by as few and as wide loads as there can be. */
__device__ __forceinline__ exact_plain load_record(const exact_plain *at)
{
  const double2 r = *(const double2 *)at;
  return exact_plain{{r.x, r.y}};
}
__device__ __forceinline__ exact_tagged load_record(const exact_tagged *at) { return *at; }
__device__ __forceinline__ mixed_plain load_record(const mixed_plain *at)
{
  const uint2 r = *(const uint2 *)at;
  return mixed_plain{{r.x, r.y}};
}
__device__ __forceinline__ mixed_tagged load_record(const mixed_tagged *at)
{
  const uint4 r = *(const uint4 *)at;
  return mixed_tagged{{r.x, r.y, r.z}, (uint16_t)r.w, (uint16_t)(r.w >> 16)};
}

template <int DIMENSION, bool TAG> struct exact_layout {
  static constexpr int DIM = DIMENSION;
  static constexpr bool TAGGED = TAG, MIXED = false;
  typedef double real;     /* of pair arithmetic, velocities and impulses */
  typedef double position; /* one coordinate */
  typedef std::conditional_t<TAG, exact_tagged, exact_plain> record;

  /* A sum of impulses, in quanta. */
  struct sum {
    int64_t quanta;
  };
  static __device__ __forceinline__ void clear(sum &s) { s.quanta = 0; }
  static __device__ __forceinline__ void add(sum &s, double f, double delta)
  {
    s.quanta += md_bits(fma(f, delta, MD_ROUND)) - md_bits(MD_ROUND);
  }
  static __device__ __forceinline__ void settle(sum &) {}
  static __device__ __forceinline__ double total(const sum &s) { return (double)s.quanta; }

  static __device__ __forceinline__ double delta(const scale32 &, int, double a, double b) { return a - b; }
  static __host__ __device__ __forceinline__ double where(const scale32 &, int, double x) { return x; }
  static __host__ __device__ __forceinline__ double place(const scale32 &, int, double x) { return x; }
  static __device__ __forceinline__ double shifted(double x, double shift) { return x + shift; }
  /* Outside by less than a box length, as the drifts since the last rebin leave it; farther is an error found
   * elsewhere. */
  static __device__ __forceinline__ double wrapped(double x, double lo, double hi, double length)
  {
    if (x < lo) x += length;
    if (x >= hi) x -= length;
    return x;
  }
};

template <int DIMENSION, bool TAG> struct mixed_layout {
  static constexpr int DIM = DIMENSION;
  static constexpr bool TAGGED = TAG, MIXED = true;
  typedef float real;
  typedef uint32_t position;
  typedef std::conditional_t<TAG, mixed_tagged, mixed_plain> record;

  struct sum {
    float part;
    double whole;
  };
  static __device__ __forceinline__ void clear(sum &s)
  {
    s.part = 0.0f;
    s.whole = 0.0;
  }
  static __device__ __forceinline__ void add(sum &s, float f, float delta)
  {
    s.part = fmaf(f, delta, s.part);
  }
  /* Plain records are for a few neighbours, without lists: single precision adds those up well enough. */
  static __device__ __forceinline__ void settle(sum &s)
  {
    if constexpr (TAG) {
      s.whole += (double)s.part;
      s.part = 0.0f;
    }
  }
  static __device__ __forceinline__ float total(sum s)
  {
    settle(s);
    return TAG ? (float)s.whole : s.part;
  }

  static __device__ __forceinline__ float delta(const scale32 &scale, int d, uint32_t a, uint32_t b)
  {
    return (float)(int32_t)(a - b) * scale.unit_single[d];
  }
  static __host__ __device__ __forceinline__ double where(const scale32 &scale, int d, uint32_t u)
  {
    return fma((double)u, scale.unit[d], scale.origin[d]);
  }
  static __host__ __device__ __forceinline__ uint32_t place(const scale32 &scale, int d, double x)
  {
    return (uint32_t)(uint64_t)(int64_t)rint((x - scale.origin[d]) * scale.per_unit[d]);
  }
  static __device__ __forceinline__ uint32_t shifted(uint32_t u, double) { return u; }
  static __device__ __forceinline__ uint32_t wrapped(uint32_t u, double, double, double) { return u; }
};

#endif
