/* Values of a quad: of QUAD particles that lie one after the other, which a thread takes together.
 *
 *   thread        0        1        2
 *   particles  0 1 2 3  4 5 6 7  8 9 ...
 *
 * The steps of a formula are decoded once for a quad. Only what a value needs is read, when it needs it, in loads of
 * 16 bytes where its numbers lie one after the other.
 *
 * Trade-off: each lane of a warp reads every fourth record, so that a sector comes from memory once, and from the L1
 * cache several times. Cost: for sqrt(vx^2+vy^2) some 70 instructions a particle. One particle a thread took 220.
 */
#ifndef MD_GPU_SUMS_QUAD_CUH
#define MD_GPU_SUMS_QUAD_CUH

#include "gpu/sums/launches.cuh"
#include "gpu/sums/output_particle.cuh"

enum { QUAD = 4 };

/* The particles first ... first + QUAD - 1. After the last particle of all, the last one stands for those that are
 * not there. */
struct quad {
  int first, particles; /* of this quad, of all */
  unsigned parity;      /* of the present positions */
};

/* The number of quads of n particles. */
static __host__ __device__ __forceinline__ int quads_of(int n) { return n / QUAD + (n % QUAD > 0 ? 1 : 0); }

static __device__ __forceinline__ bool is_whole(const quad &b) { return b.first <= b.particles - QUAD; }
static __device__ __forceinline__ int in_quad(const quad &b, int k)
{
  return is_whole(b) ? b.first + k : min(b.first + k, b.particles - 1);
}

/* The numbers of a quad in an array. */
template <class R> struct alignas(4 * sizeof(R)) quad_numbers {
  R of[QUAD];
};
template <class R> static __device__ __forceinline__ quad_numbers<R> numbers_of(const quad &b, const R *at)
{
  if (is_whole(b)) return *(const quad_numbers<R> *)(at + b.first);
  quad_numbers<R> numbers;
#pragma unroll
  for (int k = 0; k < QUAD; ++k) numbers.of[k] = at[in_quad(b, k)];
  return numbers;
}

/* Number k of a quad. An index that is only known when a kernel runs would put the numbers into memory. */
template <class R> static __device__ __forceinline__ R number_in_quad(const R number[QUAD], int k)
{
  return k < 2 ? (k == 0 ? number[0] : number[1]) : k == 2 ? number[2] : number[3];
}

/* The 0-based subtype of a particle. */
template <class T>
static __device__ __forceinline__ int subtype_of(const system_view<T> &s, const quad &b, int i)
{
  return T::TAGGED ? type_of(s.x[b.parity][i]) : 0;
}

/* One component of the velocities. */
template <class T>
static __device__ __forceinline__ void velocities_of(const system_view<T> &s, const each_args &a,
                                                     const quad &b, int axis, double v[QUAD])
{
  if (axis >= T::DIM) {
#pragma unroll
    for (int k = 0; k < QUAD; ++k) v[k] = 0.0;
    return;
  }
  const quad_numbers<typename T::real> momentum = numbers_of(b, s.v[axis]);
#pragma unroll
  for (int k = 0; k < QUAD; ++k) {
    const int i = in_quad(b, k);
    md_particle p = {};
    p.v[0] = (double)momentum.of[k];
    p.wide = T::WIDENS && a.fields.wide;
    if (p.wide) p.low[0] = a.fields.low[axis][origin_of(a.fields, i)];
    p.velocity_per_v = a.fields.velocity_per_v[subtype_of<T>(s, b, i)];
    v[k] = md_particle_velocity(&p, 0, a.quantum);
  }
}

/* One coordinate of the particles, in the box, which is not tilted. */
template <class T>
static __device__ __forceinline__ void places_of(const system_view<T> &s, const quad &b, int axis,
                                                 double place[QUAD])
{
#pragma unroll
  for (int k = 0; k < QUAD; ++k) {
    const typename T::particle r = load_particle<T>(s, b.parity, in_quad(b, k));
    place[k] = axis < T::DIM ? place_along<T>(s, axis, r) : 0.0;
  }
}

/* The operand of a step, which is not of neighbours. */
template <class T>
static __device__ __forceinline__ void operands_of(const system_view<T> &s, const each_args &a,
                                                   const md_each_step &step, const quad &b,
                                                   double value[QUAD])
{
  if (step.op == MD_OP_VELOCITY) return velocities_of<T>(s, a, b, step.axis, value);
  if (step.op == MD_OP_PLACE) return places_of<T>(s, b, step.axis, value);
#pragma unroll
  for (int k = 0; k < QUAD; ++k) {
    const int i = in_quad(b, k);
    value[k] = step.op == MD_OP_NUMBER ? step.number
               : step.op == MD_OP_TYPE ? type_shown(a.fields, subtype_of<T>(s, b, i))
                                       : a.fields.mass[subtype_of<T>(s, b, i)] / step.number;
  }
}

/* A quad evaluates formulas together whose stack has at most two numbers. A deeper stack takes more registers, and then
 * fewer warps are resident. */
enum { QUAD_DEPTH = 2 };

/* The values of such a formula, as md_each_formula. */
template <class T>
static __device__ __forceinline__ void formulas_of(const system_view<T> &s, const each_args &a,
                                                   const md_each_code &code, const quad &b,
                                                   double value[QUAD])
{
  double second[QUAD] = {};
  bool finite[QUAD];
#pragma unroll
  for (int k = 0; k < QUAD; ++k) {
    value[k] = 0.0;
    finite[k] = true;
  }
#pragma unroll 1
  for (int n = 0; n < code.n; ++n) {
    const md_each_step &step = code.step[n];
    if (step.op < MD_OP_PLUS) {
#pragma unroll
      for (int k = 0; k < QUAD; ++k) second[k] = value[k];
      operands_of<T>(s, a, step, b, value);
      continue;
    }
    md_each_operate(&step, false, QUAD, second, value);
#pragma unroll
    for (int k = 0; k < QUAD; ++k) finite[k] = finite[k] && md_each_finite(value[k]);
  }
#pragma unroll
  for (int k = 0; k < QUAD; ++k)
    if (!finite[k]) value[k] = (double)NAN;
}

/* Is a value one that is found for a quad together? Others are found for one particle after the other, in instances of
 * their own of the kernels, because they take more registers. */
inline bool is_found_together(const md_each &e)
{
  return e.kind == MD_EACH_VELOCITY || e.kind == MD_EACH_PLACE ||
         (e.kind == MD_EACH_FORMULA && !e.code.value && e.code.depth <= QUAD_DEPTH);
}

template <class T>
static __device__ __forceinline__ void find_together(const system_view<T> &s, const each_args &a,
                                                     const md_each &e, const quad &b, double value[QUAD])
{
  if (e.kind == MD_EACH_FORMULA)
    formulas_of<T>(s, a, e.code, b, value);
  else if (e.kind == MD_EACH_VELOCITY)
    velocities_of<T>(s, a, b, e.axis, value);
  else
    places_of<T>(s, b, e.axis, value);
}

template <class T>
static __device__ __forceinline__ void find_one_by_one(const system_view<T> &s, const each_args &a,
                                                       const md_each &e, const quad &b, double value[QUAD])
{
#pragma unroll 1
  for (int k = 0; k < QUAD; ++k) {
    const int i = in_quad(b, k);
    const output_particle one = load_particle<T, false>(s, a, i);
    const double *near = md_each_near(&e, origin_of(a.fields, i));
    const double of_one = md_each_value(&e, &one.p, near, one.x, one.v, T::DIM);
#pragma unroll
    for (int j = 0; j < QUAD; ++j)
      if (j == k) value[j] = of_one;
  }
}

/* The values of the particles, as md_each_value. TOGETHER: are they found together? */
template <class T, bool TOGETHER>
static __device__ __forceinline__ void values_of(const system_view<T> &s, const each_args &a,
                                                 const md_each &e, const quad &b, double value[QUAD])
{
  if constexpr (TOGETHER)
    find_together<T>(s, a, e, b, value);
  else
    find_one_by_one<T>(s, a, e, b, value);
}

#endif
