/* How a particle lies in device memory, and the arithmetic on it: one class per precision, the parameter of every
 * kernel here.
 *
 * A position is one record, so that a neighbour costs one or two wide loads:
 *   plain 2D      x y                 16 bytes (mixed: 8)   one type, cells; and a coarse position of 4, which neighbours read first
 *   tagged 2D/3D  x y z type path     32 bytes (mixed: 16)  several types, lists, three dimensions
 *   packed 3D     x y z type          16 bytes, and 8 that no neighbour reads: lists, up to four types
 * `path` is the length of the particle's path since the last rebin, less what lists allow it in excess of others: an
 * upper bound of its displacement that costs no further memory traffic.
 *
 * exact: coordinates are doubles on the position grid, impulses are summed as whole numbers of quanta
 *   (common/exact.h) in 64-bit integers: any order of additions, any atomics, the same bits.
 * packed: exact as well. A neighbour's position is known modulo 2^42 quanta, three cutoffs or more (common/model.c), which
 *   tells it from everything else in a list. The difference of two of them, as whole numbers, becomes the mantissa of a
 *   double whose last bit is worth a quantum, so that one subtraction gives it in sigma: no conversion, no rounding. The
 *   ten further bits of each coordinate (its page) and the path lie in an array of their own. Outside pair loops a
 *   packed particle is unpacked into an exact tagged one.
 * mixed: coordinates are 32-bit fractions of the box (of twice the box along axes that are not periodic, so that no
 *   two places look alike). The resolution is the same everywhere, a difference is exact and is the minimum image by
 *   the overflow of integers, and only the pair arithmetic behind it is in single precision. Tagged records' sums of four
 *   pairs are added up in double.
 */
#ifndef MD_GPU_PARTICLE_LAYOUT_CUH
#define MD_GPU_PARTICLE_LAYOUT_CUH

#include "common/step.h"

#include <type_traits>

/* Positions as 52-bit counts of quanta q of the position grid: x = origin + q m. */
struct scale52 {
  double origin[3];
  double base;       /* 2^52 q: base + q m has the bits of m as its mantissa */
  double last;       /* (2^52 - 1) q */
  double middle;     /* base + 2^41 q: of a difference modulo 2^42 */
  uint32_t exponent; /* upper word of base */
};

/* Positions on a 32-bit scale: x = origin + unit * u. Unused by exact layouts, of which packed ones use `fine`. */
struct scale32 {
  double origin[3], unit[3], per_unit[3];
  float unit_single[3], per_unit_single[3];
  scale52 fine;
};

struct alignas(16) exact_plain {
  double x[2];
};
struct alignas(32) exact_tagged {
  double x[3];
  uint32_t type; /* 0-based */
  float path;
};
struct alignas(16) exact_packed {
  uint32_t low[3];
  uint32_t high; /* from below: ten bits each of x, y and z, and the type */
};
struct alignas(8) packed_rest {
  uint32_t page; /* ten bits each, above those */
  float path;
};
/* Of layouts whose record is all there is. */
struct no_rest {
};
/* Of plain ones, which neighbours read first: a position modulo eight cutoffs, 16 bits an axis, x below. */
struct coarse_position {
  uint32_t xy;
};

/* Units of coarse positions in which the cutoff is a little less than half of COARSE_SPAN. */
struct coarse_scale {
  double per_unit[2];   /* of exact layouts */
  uint32_t multiple[2]; /* of mixed ones: 2^-16 of so many times the scale */
  uint32_t
      apart; /* bits that are set in a difference out of reach; 0: the box is too small for coarse positions */
};
enum { COARSE_SPAN = 1 << 14, COARSE_BEYOND = 16 /* may be read behind the last */ };
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
MD_FN int type_of(const exact_packed &r) { return (int)(r.high >> 30); }
MD_FN int type_of(const mixed_plain &) { return 0; }
MD_FN int type_of(const mixed_tagged &r) { return r.type; }
__device__ __forceinline__ float path_of(const exact_tagged &r) { return r.path; }
__device__ __forceinline__ float path_of(const mixed_tagged &r)
{
  return __uint_as_float((uint32_t)r.path16 << 16);
}
__device__ __forceinline__ void set_path(exact_tagged &r, float path) { r.path = path; }
/* Rounded up, negative ones too: a path must never be taken for shorter than it is. */
__device__ __forceinline__ void set_path(mixed_tagged &r, float path)
{
  r.path16 = (uint16_t)((__float_as_uint(path) + (path > 0.0f ? 0xffffu : 0u)) >> 16);
}

/* Whole records, by as few and as wide loads as there can be. */
__device__ __forceinline__ exact_plain load_record(const exact_plain *at)
{
  const double2 r = *(const double2 *)at;
  return exact_plain{{r.x, r.y}};
}
__device__ __forceinline__ exact_tagged load_record(const exact_tagged *at) { return *at; }
__device__ __forceinline__ exact_packed load_record(const exact_packed *at)
{
  const uint4 r = *(const uint4 *)at;
  return exact_packed{{r.x, r.y, r.z}, r.w};
}
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

/* What nobody reads again before much else has been: the first to leave the cache. */
__device__ __forceinline__ void store_last(double *at, double value) { __stcs(at, value); }
__device__ __forceinline__ void store_last(float *at, float value) { __stcs(at, value); }
__device__ __forceinline__ void store_last(int *at, int value) { __stcs(at, value); }
__device__ __forceinline__ void store_last(coarse_position *at, coarse_position r) { __stcs(&at->xy, r.xy); }
__device__ __forceinline__ void store_last(exact_plain *at, const exact_plain &r)
{
  __stcs((double2 *)at, make_double2(r.x[0], r.x[1]));
}
__device__ __forceinline__ void store_last(mixed_plain *at, const mixed_plain &r)
{
  __stcs((uint2 *)at, make_uint2(r.x[0], r.x[1]));
}
template <class R> __device__ __forceinline__ void store_last(R *at, const R &r) { *at = r; }

template <int DIMENSION, bool TAG> struct exact_layout {
  static constexpr int DIM = DIMENSION;
  static constexpr bool TAGGED = TAG, MIXED = false, PACKED = false, HAS_COARSE = !TAG;
  static constexpr bool WIDENS = TAG; /* are there kernels for momenta of two words? */
  typedef double real;                /* of pair arithmetic, velocities and impulses */
  typedef double position;            /* one coordinate of a particle */
  typedef std::conditional_t<TAG, exact_tagged, exact_plain> record; /* what neighbours read */
  typedef std::conditional_t<TAG, no_rest, coarse_position> rest;    /* what lies apart from it */
  typedef record particle;                                           /* both, unpacked */

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

  static __device__ __forceinline__ double delta(const scale32 &, int d, const record &a, const record &b)
  {
    return a.x[d] - b.x[d];
  }
  static __device__ __forceinline__ coarse_position coarse(const coarse_scale &scale, const record &r)
  {
    const int x = __double2loint(__fma_rd(r.x[0], scale.per_unit[0], MD_ROUND));
    const int y = __double2loint(__fma_rd(r.x[1], scale.per_unit[1], MD_ROUND));
    return coarse_position{__byte_perm((unsigned)x, (unsigned)y, 0x5410)};
  }
  static __host__ __device__ __forceinline__ double where(const scale32 &, int, double x) { return x; }
  static __host__ __device__ __forceinline__ double place(const scale32 &, int, double x) { return x; }
  static __device__ __forceinline__ record image(const scale32 &, record r, const double shift[3])
  {
#pragma unroll
    for (int d = 0; d < DIM; ++d) r.x[d] += shift[d];
    return r;
  }
  /* Outside by less than a box length, as the drifts since the last rebin leave it; farther is an error found
   * elsewhere. */
  static __device__ __forceinline__ double wrapped(double x, double lo, double hi, double length)
  {
    if (x < lo) x += length;
    if (x >= hi) x -= length;
    return x;
  }
};

struct packed_layout : exact_layout<3, true> {
  static constexpr bool PACKED = true, HAS_COARSE = false, WIDENS = false;
  typedef exact_packed record;
  typedef packed_rest rest;
  typedef exact_tagged particle;

  static __device__ __forceinline__ uint64_t low42(const record &r, int d)
  {
    return (uint64_t)(r.high >> (10 * d) & 0x3ffu) << 32 | r.low[d];
  }
  /* Bits above 42 are left to chance until the end, where they are cut off: one operation instead of three. */
  static __device__ __forceinline__ double delta(const scale32 &scale, int d, const record &a,
                                                 const record &b)
  {
    const uint64_t own = (uint64_t)((a.high >> (10 * d)) + 0x200u) << 32 | a.low[d];
    const uint64_t other = (uint64_t)(b.high >> (10 * d)) << 32 | b.low[d], difference = own - other;
    const uint32_t upper = ((uint32_t)(difference >> 32) & 0x3ffu) | scale.fine.exponent;
    return __hiloint2double((int)upper, (int)(uint32_t)difference) - scale.fine.middle;
  }
  /* Doubles again, as 2^52 + 2^51 quanta whose low 42 bits are those of the shift, negative or not. */
  static __device__ __forceinline__ record image(const scale32 &scale, const record &r, const double shift[3])
  {
    record out = {{0, 0, 0}, r.high & 0xc0000000u};
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      const double whole = shift[d] + 1.5 * scale.fine.base;
      const uint64_t x = low42(r, d) + (uint64_t)md_bits(whole);
      out.low[d] = (uint32_t)x;
      out.high |= (uint32_t)(x >> 32 & 0x3ffu) << (10 * d);
    }
    return out;
  }

  static __device__ __forceinline__ particle unpack(const scale32 &scale, const record &r, const rest &more)
  {
    particle p = {{0.0, 0.0, 0.0}, (uint32_t)type_of(r), more.path};
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      const uint32_t page = more.page >> (10 * d) & 0x3ffu, high = r.high >> (10 * d) & 0x3ffu;
      const double m = __hiloint2double((int)(scale.fine.exponent | page << 10 | high), (int)r.low[d]);
      p.x[d] = (m - scale.fine.base) + scale.fine.origin[d];
    }
    return p;
  }
  /* What is too far out is put at the edge of the scale, outside of every box: it flew, or is not a number. */
  static __device__ __forceinline__ void pack(const scale32 &scale, const particle &p, record &r, rest &more)
  {
    r.high = p.type << 30;
    more.page = 0;
    more.path = p.path;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      const double count = fmin(fmax(p.x[d] - scale.fine.origin[d], 0.0), scale.fine.last);
      const double m = count + scale.fine.base;
      const uint32_t upper = (uint32_t)__double2hiint(m);
      r.low[d] = (uint32_t)__double2loint(m);
      r.high |= (upper & 0x3ffu) << (10 * d);
      more.page |= (upper >> 10 & 0x3ffu) << (10 * d);
    }
  }
};

template <int DIMENSION, bool TAG> struct mixed_layout {
  static constexpr int DIM = DIMENSION;
  static constexpr bool TAGGED = TAG, MIXED = true, PACKED = false, HAS_COARSE = !TAG, WIDENS = false;
  typedef float real;
  typedef uint32_t position;
  typedef std::conditional_t<TAG, mixed_tagged, mixed_plain> record;
  typedef std::conditional_t<TAG, no_rest, coarse_position> rest;
  typedef record particle;

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

  static __device__ __forceinline__ float delta(const scale32 &scale, int d, const record &a, const record &b)
  {
    return (float)(int32_t)(a.x[d] - b.x[d]) * scale.unit_single[d];
  }
  static __device__ __forceinline__ coarse_position coarse(const coarse_scale &scale, const record &r)
  {
    return coarse_position{__byte_perm(r.x[0] * scale.multiple[0], r.x[1] * scale.multiple[1], 0x7632)};
  }
  static __host__ __device__ __forceinline__ double where(const scale32 &scale, int d, uint32_t u)
  {
    return fma((double)u, scale.unit[d], scale.origin[d]);
  }
  static __host__ __device__ __forceinline__ uint32_t place(const scale32 &scale, int d, double x)
  {
    return (uint32_t)(uint64_t)(int64_t)rint((x - scale.origin[d]) * scale.per_unit[d]);
  }
  static __device__ __forceinline__ record image(const scale32 &, const record &r, const double[3])
  {
    return r;
  }
  static __device__ __forceinline__ uint32_t wrapped(uint32_t u, double, double, double) { return u; }
};

#endif
