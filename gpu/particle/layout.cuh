/* Layouts. A layout says how the record of a particle is stored in device memory, and does the arithmetic on it.
 * There is one class for each combination of precision, dimension and kind of record. This class is the parameter
 * `T` of the kernels.
 *
 * The position of a particle is one record, so that a neighbour costs one or two wide loads:
 *
 *   layout        record           bytes                 used for
 *   plain 2D      x y              16 (mixed: 8)         one type, without lists
 *   tagged 2D/3D  x y z type path  32 (mixed: 16)        several types, or lists, or three dimensions
 *   packed 3D     x y z type       16, and a rest of 8   lists, up to four types
 *
 * In a plain layout each particle has a coarse position of 4 bytes as well, and the prefilter reads it before the
 * record. Neighbours do not read the rest of a packed layout.
 *
 * `path` is the length of the path of the particle since the last rebin, minus the extra of its list. It is an
 * upper bound of the displacement, and it costs no further memory traffic.
 *
 * exact: coordinates are doubles on the position grid. Impulses are summed as whole numbers of quanta
 * (common/arithmetic/exact.h) in 64-bit integers. So any order of additions, and any atomic addition, gives the same
 * bits.
 *
 * packed: exact as well. A coordinate is a 52-bit number of quanta, in two parts:
 *
 *   bit  51         42 41         32 31                  0
 *       +-------------+-------------+---------------------+
 *       | page (10)   | high (10)   | low (32)            |
 *       +-------------+-------------+---------------------+
 *       |<-- rest --->|<--- record: x modulo 2^42 quanta ->|
 *
 * 2^42 quanta are three cutoffs or more (common/model.c). This is enough, because everything else in a list is
 * nearer than that. The difference of two such positions is a whole number. It becomes the mantissa of a double
 * whose last bit is worth one quantum, and one subtraction gives the difference as a length, without conversion or
 * rounding. Outside of pair loops a packed particle is unpacked into an exact tagged one.
 *
 * mixed: coordinates are 32-bit fractions of the box. Along an axis that is not periodic they are fractions of
 * twice the box, so that no two positions have the same coordinate. The resolution is the same everywhere. A
 * difference is exact, and the overflow of integers makes it the minimum image. Only the pair arithmetic after
 * that is in single precision. With tagged records the sums of four pairs are added up in double.
 */
#ifndef MD_GPU_PARTICLE_LAYOUT_CUH
#define MD_GPU_PARTICLE_LAYOUT_CUH

#include "common/step/step.h"

#include <type_traits>

/* The scale of packed positions. A position is a 52-bit number m of quanta q: x = origin + q m. */
struct scale52 {
  double origin[3];
  double base;       /* 2^52 q: base + q m has the bits of m as its mantissa */
  double last;       /* (2^52 - 1) q */
  double middle;     /* base + 2^41 q, for a difference modulo 2^42 */
  uint32_t exponent; /* upper word of base */
};

/* The scale of coarse positions. In its units the cutoff is a little less than half of COARSE_SPAN. */
struct coarse_scale {
  double per_unit[2];   /* of exact layouts: units in a unit of length */
  uint32_t multiple[2]; /* of mixed layouts: a coarse coordinate is 2^-16 of this multiple of u */
  /* The bits of a (shifted) difference that are clear if the candidate may be within the cutoff. 0: the box is too
   * small for coarse positions, and the prefilter discards no candidate. */
  uint32_t apart;
};
/* COARSE_BEYOND: entries after the last one that the prefilter may read. */
enum { COARSE_SPAN = 1 << 14, COARSE_BEYOND = 16 };

/* The scale of mixed positions, a 32-bit number u: x = origin + unit * u. Exact layouts do not use it, except for
 * `fine`, which packed layouts use, and `coarse`, which plain ones use. */
struct scale32 {
  double origin[3], unit[3], per_unit[3];
  float unit_single[3], per_unit_single[3];
  scale52 fine;
  coarse_scale coarse;
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
  uint32_t high; /* from the lowest bit on: 10 bits of x, of y, of z, then 2 bits of type */
};
struct alignas(8) packed_rest {
  uint32_t page; /* the upper 10 bits of x, of y and of z */
  float path;
};
/* The rest of a layout that has none: the record is all there is. */
struct no_rest {
};
/* The rest of plain layouts: a position modulo eight cutoffs, 16 bits an axis, x in the lower half. */
struct coarse_position {
  uint32_t xy;
};

struct alignas(8) mixed_plain {
  uint32_t x[2];
};
struct alignas(16) mixed_tagged {
  uint32_t x[3];
  uint16_t type;
  uint16_t path16; /* the upper half of a float, rounded up */
};

/* Type and path of a record. A plain record has type 0 and no path. */
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
/* Rounds up, also a negative path: the stored path must never be shorter than the true one. */
__device__ __forceinline__ void set_path(mixed_tagged &r, float path)
{
  r.path16 = (uint16_t)((__float_as_uint(path) + (path > 0.0f ? 0xffffu : 0u)) >> 16);
}

/* Loads a whole record with as few and as wide loads as possible. */
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

/* Stores a value that no kernel reads again soon: it is marked as the first to leave the cache. The records of
 * tagged and packed layouts are stored without this mark. */
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

/* Exact layouts, plain and tagged. The functions of every layout:
 *   delta()         a coordinate of a minus that of b
 *   coarse()        the coarse position of a record
 *   where, stored() a coordinate as a double, in the deck's unit, and as it is stored
 *   image()         a record shifted by some box lengths, for a ghost
 *   wrapped()       a coordinate put back into the box
 * and for `sum`: clear() it, add() products, settle() it after every few products, join() those of several lanes, then
 * take the total().
 */
template <int DIMENSION, bool TAG> struct exact_layout {
  static constexpr int DIM = DIMENSION;
  static constexpr bool TAGGED = TAG, MIXED = false, PACKED = false, HAS_COARSE = !TAG;
  static constexpr bool WIDENS = TAG; /* has kernels for wide momenta? */
  typedef double real;                /* of pair arithmetic, velocities and impulses */
  typedef double position;            /* one coordinate of a particle */
  typedef std::conditional_t<TAG, exact_tagged, exact_plain> record; /* what a neighbour reads */
  typedef std::conditional_t<TAG, no_rest, coarse_position> rest; /* what is stored apart from the record */
  typedef record particle;                                        /* both together, unpacked */

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
  /* Adds the sum of the lane whose number differs by the bit `lane`. All lanes of the warp call it. */
  static __device__ __forceinline__ void join(sum &s, int lane)
  {
    s.quanta += (int64_t)__shfl_xor_sync(0xffffffffu, (long long)s.quanta, lane);
  }

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
  static __host__ __device__ __forceinline__ double stored(const scale32 &, int, double x) { return x; }
  static __device__ __forceinline__ record image(const scale32 &, record r, const double shift[3])
  {
#pragma unroll
    for (int d = 0; d < DIM; ++d) r.x[d] += shift[d];
    return r;
  }
  /* Puts a coordinate back into the box. It is outside by less than a box length, because only drifts since the
   * last rebin moved it. A particle that is farther outside is an error, which the steps find. */
  static __device__ __forceinline__ double wrapped(double x, double lo, double hi, double length)
  {
    if (x < lo) x += length;
    if (x >= hi) x -= length;
    return x;
  }
};

/* The packed layout: exact, tagged, in three dimensions. */
struct packed_layout : exact_layout<3, true> {
  static constexpr bool PACKED = true, HAS_COARSE = false, WIDENS = false;
  typedef exact_packed record;
  typedef packed_rest rest;
  typedef exact_tagged particle;

  static __device__ __forceinline__ uint64_t low42(const record &r, int d)
  {
    return (uint64_t)(r.high >> (10 * d) & 0x3ffu) << 32 | r.low[d];
  }
  /* The bits above the lowest 42 of `own` and `other` belong to other fields. One mask at the end removes them,
   * instead of one mask for each word and one for the difference. 2^41 quanta are added so that the difference is
   * not negative; `middle` takes them away. */
  static __device__ __forceinline__ double delta(const scale32 &scale, int d, const record &a,
                                                 const record &b)
  {
    const uint64_t own = (uint64_t)((a.high >> (10 * d)) + 0x200u) << 32 | a.low[d];
    const uint64_t other = (uint64_t)(b.high >> (10 * d)) << 32 | b.low[d], difference = own - other;
    const uint32_t upper = ((uint32_t)(difference >> 32) & 0x3ffu) | scale.fine.exponent;
    return __hiloint2double((int)upper, (int)(uint32_t)difference) - scale.fine.middle;
  }
  /* `whole` is a double whose mantissa is the number 2^51 plus the shift in quanta. So its low 42 bits are those
   * of the shift, also if the shift is negative. */
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
  /* A coordinate beyond the scale is put at an end of the scale, which is outside of every box. It belongs to a
   * runaway, or it is not a number. */
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

/* Mixed layouts, plain and tagged. The overflow of integers wraps coordinates, so that an image has the coordinates of
 * its source. */
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
  /* Particles of plain layouts have few neighbours and no lists: single precision is enough for their sums. */
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
  /* For tagged layouts. */
  static __device__ __forceinline__ void join(sum &s, int lane)
  {
    settle(s);
    s.whole += __shfl_xor_sync(0xffffffffu, s.whole, lane);
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
  static __host__ __device__ __forceinline__ uint32_t stored(const scale32 &scale, int d, double x)
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
