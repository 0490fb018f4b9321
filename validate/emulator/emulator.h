/* The device side of CUDA for a C++ compiler, which builds the translated kernels of gpu/ with it.
 *
 * Qualifiers become nothing, and __shared__ becomes static. Each built-in function that the kernels use is written out
 * with the rounding that CUDA documents. If a kernel uses another built-in function, that function must be added here.
 *
 * The exceptions are the seed of reciprocals (translate.py) and __fdividef, rsqrtf, rsqrt, logf and __powf: here these
 * are correctly rounded, or those of the host, and the hardware's results differ in the last bits. Only mixed precision
 * and the ladder (gpu/ladder) use the last five, and they promise tolerances.
 */
#ifndef MD_VALIDATE_EMULATOR_EMULATOR_H
#define MD_VALIDATE_EMULATOR_EMULATOR_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <functional>
#include <type_traits>

#undef __global__
#undef __device__
#undef __host__
#undef __forceinline__
#undef __noinline__
#undef __shared__
#undef __launch_bounds__
#undef __grid_constant__
#undef __constant__
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __shared__ static
#define __launch_bounds__(...)
#define __grid_constant__
#define __constant__

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
enum { warpSize = 32 };

namespace emulator
{
struct config {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
  bool at_once = false; /* a cooperative launch */
  config(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr)
      : grid(grid), block(block), shared(shared), stream(stream)
  {
  }
};

/* The dynamic shared memory of the block that is running. */
extern void *shared;

/* Runs `body` for every thread of the grid; `kernel` and `place` are for messages. */
void launch(const char *kernel, const char *place, const config &, const std::function<void()> &body);

/* Waits for all threads of the block that have not ended. Returns true if p is true for any of them. */
bool block_any(bool p);

/* Lets all other threads run. */
void sleep();

/* The values that the lanes of a mask hand in. The values of all other lanes, and of lanes that have ended, are 0xa5
 * bytes. */
struct warp {
  unsigned present, nonzero; /* bits of the lanes that handed in a value, and of those whose value is not 0 */
  const uint64_t *value;
  mutable bool is_reduced; /* the first lane that asks computes what all lanes get */
  mutable int reduced;
};

/* A function of all 32 values of a warp. It runs once, before any lane goes on. All 32 lanes must hand in a value. */
typedef void (*combine)(const uint64_t *handed_in);

/* Hands in a value and waits for the other lanes of the mask. The result is valid until the calling thread waits
 * again. */
const warp &exchange(unsigned mask, uint64_t value, combine once = nullptr);

extern int current; /* index in the block of the thread that is running */
inline int lane() { return (unsigned)current % warpSize; }

/* The result of a reduction: `join` of all values that were handed in. */
template <class Join> int reduce(const warp &w, int first, Join join)
{
  if (!w.is_reduced) {
    w.reduced = first;
    for (unsigned left = w.present; left != 0; left &= left - 1)
      w.reduced = join(w.reduced, (int)w.value[__builtin_ctz(left)]);
    w.is_reduced = true;
  }
  return w.reduced;
}

/* mma.m16n8k8 of TF32: the product of 16 rows of a and 8 columns of b. Each sum is rounded once. */
struct product {
  float a[4], b[2], d[4];
};
void multiply(float d[4], const float a[4], const float b[2]);

/* The bytes of `from` as another type. */
template <class To, class From> To bits(From from)
{
  static_assert(sizeof(To) >= sizeof(From) || std::is_same<From, uint64_t>::value, "narrower");
  To to{};
  memcpy(&to, &from, sizeof to < sizeof from ? sizeof to : sizeof from);
  return to;
}

/* The least float that is not below `exact`. more: the true value is a little larger than `exact`. */
inline float up(double exact, bool more = false)
{
  const float near = (float)exact;
  return (double)near < exact || ((double)near == exact && more) ? nextafterf(near, INFINITY) : near;
}
} // namespace emulator

/* An early or a cooperative launch. An early launch begins after the previous launch has ended, as all launches do. */
template <class... Words, class... Given>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *c, void (*kernel)(Words...), Given &&...given)
{
  emulator::config config(c->gridDim, c->blockDim, c->dynamicSmemBytes, c->stream);
  for (unsigned k = 0; k < c->numAttrs; ++k)
    config.at_once = config.at_once || c->attrs[k].id == cudaLaunchAttributeCooperative;
  emulator::launch("a kernel", "launch.cuh", config, [&] { kernel(given...); });
  return cudaSuccess;
}

inline void __nanosleep(unsigned) { emulator::sleep(); }
inline void __syncthreads() { emulator::block_any(false); }
inline int __syncthreads_or(int p) { return emulator::block_any(p != 0); }
inline void __syncwarp(unsigned mask = 0xffffffffu) { emulator::exchange(mask, 0); }

template <class T> T __shfl_sync(unsigned mask, T v, int from, int width = 32)
{
  const emulator::warp &w = emulator::exchange(mask, emulator::bits<uint64_t>(v));
  return emulator::bits<T>(w.value[emulator::lane() / width * width + (from & (width - 1))]);
}

template <class T> T __shfl_xor_sync(unsigned mask, T v, int flip)
{
  const emulator::warp &w = emulator::exchange(mask, emulator::bits<uint64_t>(v));
  return emulator::bits<T>(w.value[emulator::lane() ^ flip]);
}

inline unsigned __ballot_sync(unsigned mask, int p) { return emulator::exchange(mask, p != 0).nonzero; }

inline int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }

inline int __reduce_max_sync(unsigned mask, int v)
{
  return emulator::reduce(emulator::exchange(mask, (unsigned)v), v,
                          [](int a, int b) { return a < b ? b : a; });
}

inline int __reduce_add_sync(unsigned mask, int v)
{
  return emulator::reduce(emulator::exchange(mask, (unsigned)v), 0,
                          [](int a, int b) { return (int)((unsigned)a + (unsigned)b); });
}

inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by)
{
  const uint64_t both = (uint64_t)high << 32 | low;
  return (unsigned)((both << (by < 32 ? by : 32)) >> 32);
}

inline unsigned __byte_perm(unsigned low, unsigned high, unsigned which)
{
  const uint64_t bytes = (uint64_t)high << 32 | low;
  unsigned out = 0;
  for (int k = 0; k < 4; ++k) out |= (unsigned)(bytes >> 8 * (which >> 4 * k & 7) & 0xff) << 8 * k;
  return out;
}

template <class T> T __ldg(const T *at) { return *at; }
template <class T> T __ldcs(const T *at) { return *at; }
template <class T> T __ldcg(const T *at) { return *at; }
template <class T> void __stcs(T *at, const T &value) { *at = value; }

/* Plain reads and writes are atomic here, because only one thread runs at a time. */
template <class T, class U> T atomicAdd(T *at, U v)
{
  const T old = *at;
  *at = (T)(old + (T)v);
  return old;
}
template <class T, class U> T atomicExch(T *at, U v)
{
  const T old = *at;
  *at = (T)v;
  return old;
}
template <class T> T atomicCAS(T *at, T expected, T v)
{
  const T before = *at;
  if (before == expected) *at = v;
  return before;
}
template <class T, class U> T atomicMax(T *at, U v)
{
  const T old = *at;
  if ((T)v > old) *at = (T)v;
  return old;
}
template <class T, class U> T atomicMin(T *at, U v)
{
  const T old = *at;
  if ((T)v < old) *at = (T)v;
  return old;
}
template <class T, class U> T atomicOr(T *at, U v)
{
  const T old = *at;
  *at = (T)(old | (T)v);
  return old;
}

inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(int x) { return x != 0 ? __builtin_clz((unsigned)x) : 32; }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by)
{
  return (unsigned)(((uint64_t)high << 32 | low) << (by & 31) >> 32);
}

inline float __uint_as_float(unsigned u) { return emulator::bits<float>(u); }
inline float __int_as_float(int u) { return emulator::bits<float>(u); }
inline unsigned __float_as_uint(float f) { return emulator::bits<unsigned>(f); }
inline int __float_as_int(float f) { return emulator::bits<int>(f); }
inline double __hiloint2double(int high, int low)
{
  return emulator::bits<double>((uint64_t)(unsigned)high << 32 | (unsigned)low);
}
inline int __double2hiint(double x) { return (int)(emulator::bits<uint64_t>(x) >> 32); }
inline double __longlong_as_double(long long x) { return emulator::bits<double>(x); }
inline long long __double_as_longlong(double x) { return emulator::bits<long long>(x); }
inline int __double2loint(double x) { return (int)emulator::bits<uint64_t>(x); }
inline long long __double2ll_rn(double x) { return llrint(x); }
inline long long __float2ll_rn(float x) { return llrintf(x); }
inline int __float2int_rn(float x) { return (int)lrintf(x); }

/* Rounding upwards goes through double. The product of two floats is exact in double. Their sum is not, and
 * __fadd_ru computes its error. */
inline float __double2float_ru(double x) { return emulator::up(x); }
inline float __fmul_ru(float a, float b) { return emulator::up((double)a * b); }
inline float __fadd_ru(float a, float b)
{
  const double sum = (double)a + b, of_b = sum - a;
  return emulator::up(sum, (a - (sum - of_b)) + (b - of_b) > 0.0);
}
double __fma_rd(double a, double b, double c);
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __fdividef(float a, float b) { return a / b; }
inline float rsqrtf(float a) { return 1.0f / sqrtf(a); }
inline double rsqrt(double a) { return 1.0 / sqrt(a); }
inline float __frsqrt_rn(float a) { return (float)(1.0 / sqrt((double)a)); }
inline float __powf(float a, float b) { return powf(a, b); }

template <class A, class B> std::common_type_t<A, B> min(A a, B b)
{
  typedef std::common_type_t<A, B> both;
  return (both)a < (both)b ? (both)a : (both)b;
}
template <class A, class B> std::common_type_t<A, B> max(A a, B b)
{
  typedef std::common_type_t<A, B> both;
  return (both)a > (both)b ? (both)a : (both)b;
}

/* Constant memory is a variable of the host. */
template <class T> cudaError_t cudaMemcpyToSymbol(T &symbol, const void *from, size_t bytes)
{
  return memcpy(&symbol, from, bytes), cudaSuccess;
}

template <class Kernel> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *, Kernel *)
{
  return cudaSuccess;
}
template <class Kernel> cudaError_t cudaFuncSetAttribute(Kernel *, cudaFuncAttribute, int)
{
  return cudaSuccess;
}

#endif
