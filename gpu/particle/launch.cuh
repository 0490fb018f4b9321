/* How kernels are launched. A header of each room declares its launch functions, in one group for each kernel file:
 * gpu/step/launches.cuh and so on, and gpu/bonds/bonds.cuh, gpu/ranks/exchange.cuh and gpu/all_pairs/bodies.cuh. They
 * are instantiated in the kernel file for every layout.
 *
 * All launches are asynchronous, in the stream of `launch`. All return MD_RUNTIME if the launch itself fails. All
 * pointers to data are to device memory that the caller owns, unless a comment says otherwise.
 */
#ifndef MD_GPU_PARTICLE_LAUNCH_CUH
#define MD_GPU_PARTICLE_LAUNCH_CUH

#include "common/engine.h"
#include "gpu/move/kick_drift.cuh"
#include "gpu/particle/fields.cuh"
#include "gpu/runtime/cuda.h"

struct launch {
  cudaStream_t stream;
  int threads;        /* in a block */
  int most_blocks;    /* the most blocks of a kernel whose blocks walk through the particles */
  int processors;     /* multiprocessors of the device */
  bool early;         /* can the device begin a launch before the launch before it has ended? */
  int lanes;          /* that share a particle of a step with lists; 0: lanes_for_particle() chooses */
  size_t most_shared; /* bytes of shared memory that a block may have */
  size_t shared = 0;  /* of these, what a block of this launch asks for, by launch_early() */
};

/* The same launch with `threads` threads in a block. */
inline launch of_threads(launch l, int threads)
{
  l.threads = threads;
  return l;
}

/* The number of blocks for one thread per element. It is one if there are no elements, because a rank may have no
 * particles. blocks_walking(): at most `most_blocks`. */
inline int blocks_for(int64_t count, int threads)
{
  return count > 0 ? (int)((count + threads - 1) / threads) : 1;
}
inline int blocks_walking(const launch &l, int64_t count)
{
  const int blocks = blocks_for(count, l.threads);
  return blocks < l.most_blocks ? blocks : l.most_blocks;
}

/* The lanes that share a particle of a step with lists: more than one if the device has threads for them. Measured, see
 * docs/history.md. */
inline int lanes_for_particle(const launch &l, int64_t count)
{
  if (l.lanes > 0) return l.lanes;
  const double threads = 1024.0 * l.processors / (double)(count > 0 ? count : 1);
  return threads >= 8.0 ? 8 : threads >= 1.2 ? 2 : 1;
}
template <class T> constexpr bool HAS_LANES = T::DIM == 3 && T::TAGGED;

/* Launches whose threads stay for several steps: a multiprocessor has one block, of at most this many threads. Are
 * particles so few that two of these threads can share each? Then a rebin takes one launch. */
constexpr int STAYING_THREADS = 512;
inline bool are_few(const launch &l, int64_t count)
{
  return 2 * count <= (int64_t)STAYING_THREADS * l.processors;
}

/* The lanes that share a particle in a launch of several steps. 0: there are too many particles for it, or one lane is
 * wanted. Measured, see docs/history.md. */
inline int lanes_staying(const launch &l, int64_t count)
{
  for (int lanes = 8; lanes > 1; lanes /= 2)
    if ((l.lanes == 0 || l.lanes == lanes) && are_few(l, count * (lanes / 2))) return lanes;
  return 0;
}

/* Launches a kernel with an attribute, or NULL: without. what: names the launch in errors. */
template <class... Words, class... Given>
md_status launch_with(const launch &l, int blocks, cudaLaunchAttribute *attribute, const char *what,
                      void (*kernel)(Words...), Given &&...given)
{
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((unsigned)blocks);
  config.blockDim = dim3((unsigned)l.threads);
  config.dynamicSmemBytes = l.shared;
  config.stream = l.stream;
  config.attrs = attribute;
  config.numAttrs = attribute ? 1 : 0;
  return md_cuda_check(cudaLaunchKernelEx(&config, kernel, given...), what);
}

/* Launches a kernel that begins with await_launches(). Its blocks begin while the last blocks of the
 * launch before it are still at work, so that there is no gap between the two launches. A device that cannot do
 * this makes an ordinary launch. */
template <class... Words, class... Given>
md_status launch_early(const launch &l, int blocks, const char *what, void (*kernel)(Words...),
                       Given &&...given)
{
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  return launch_with(l, blocks, l.early ? &early : nullptr, what, kernel, given...);
}

/* Launches a kernel whose blocks wait for each other (grid_barrier.cuh), if the device has room for all of them. */
template <class... Words, class... Given>
md_status launch_together(const launch &l, int blocks, const char *what, void (*kernel)(Words...),
                          Given &&...given)
{
  cudaLaunchAttribute together = {};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  return launch_with(l, blocks, &together, what, kernel, given...);
}

/* Lets a kernel have this much shared memory. A kernel has up to SHARED_ALWAYS bytes without asking. */
template <class KERNEL> md_status allow_shared(KERNEL kernel, size_t bytes)
{
  const size_t SHARED_ALWAYS = 48 * 1024;
  if (bytes > SHARED_ALWAYS)
    MD_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  return MD_OK;
}

/* The arrays of the components of a vector, as an argument of a kernel. */
template <class REAL> struct component_arrays {
  REAL *at[3];
};
template <class REAL> component_arrays<REAL> arrays_of(REAL *const component[3])
{
  return {{component[0], component[1], component[2]}};
}

/* Sums on the device. Each is a fine sum (common/arithmetic/exact.h) of two parts. Each part is stored as two numbers:
 * the sum of the upper halves and the sum of the lower halves of the terms, which are 64-bit integers. at:
 * [SUM_PARTS][2][count]. */
enum { SUM_COARSE, SUM_REST, SUM_PARTS };
struct fine_sums {
  unsigned long long *at;
};
inline int64_t fine_sum_bytes(int count) { return (int64_t)SUM_PARTS * 2 * count * 8; }

/* Every layout with which the engine can run. */
typedef exact_layout<2, false> exact2;
typedef exact_layout<2, true> exact2_tagged;
typedef exact_layout<3, true> exact3_tagged;
typedef packed_layout exact3_packed;
typedef mixed_layout<2, false> mixed2;
typedef mixed_layout<2, true> mixed2_tagged;
typedef mixed_layout<3, true> mixed3_tagged;
#define MD_EXACT_LAYOUTS(DO) DO(exact2) DO(exact2_tagged) DO(exact3_tagged) DO(exact3_packed)
#define MD_EXACT_TAGGED_LAYOUTS(DO) DO(exact2_tagged) DO(exact3_tagged) DO(exact3_packed)
#define MD_LAYOUTS(DO) MD_EXACT_LAYOUTS(DO) DO(mixed2) DO(mixed2_tagged) DO(mixed3_tagged)

/* Calls f(style), where style.value is the pair style as a constant, which can be a template argument of a kernel:
 * MD_PAIR_SHARED_STYLE for all styles that share kernels, and MD_PAIR_HYBRID_STYLE for those with sub-styles. Returns
 * false if there is no such style. */
template <class F> bool with_style(md_pair_kind kind, F &&f)
{
  switch (kind) {
#define MD_PAIR_CUT(symbol)                                                                                  \
  case MD_PAIR_##symbol:                                                                                     \
    f(std::integral_constant<int, MD_PAIR_##symbol>{});                                                      \
    return true;
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
#define MD_PAIR_HYBRID(symbol) case MD_PAIR_##symbol:
#include "common/pair/pair_styles.h"
#undef MD_PAIR_HYBRID
    f(std::integral_constant<int, MD_PAIR_HYBRID_STYLE>{});
    return true;
  default: break;
  }
  const bool shared = md_pair_shares_kernels(kind);
  if (shared) f(std::integral_constant<int, MD_PAIR_SHARED_STYLE>{});
  return shared;
}

/* Calls f(style), which launches a kernel, and returns its status. MD_RUNTIME: there is no such style. */
template <class F> md_status launch_styled(md_pair_kind kind, F &&f)
{
  md_status status = MD_OK;
  if (with_style(kind, [&](auto style) { status = f(style); })) return status;
  return md_error(MD_RUNTIME, "the GPU engine has no kernel for this pair style");
}

/* The same for kernels with lists, of which the styles of MD_PAIR_LISTED have instances of their own. */
template <class F> md_status launch_listed(md_pair_kind kind, F &&f)
{
  switch (kind) {
#define MD_PAIR_LISTED(symbol)                                                                               \
  case MD_PAIR_##symbol:                                                                                     \
    return f(std::integral_constant<int, MD_PAIR_##symbol>{});
#include "common/pair/pair_styles.h"
#undef MD_PAIR_LISTED
  default: return launch_styled(kind, f);
  }
}

#endif
