/* The ladder on a GPU: how its rungs are written, and what runs them.
 *
 * The rooms activity, atomics, cells, laboratory and porting hold one study each. The file gpu/ladder/STUDY/STUDY.cuh
 * says what the study is, and in which order to read its rungs. A rung is one file with its kernels and one function,
 * which does one iteration. rungs.def lists all rungs.
 *
 * Most of a rung's text is a copy of the rung before it. This is the method of teaching: read the rungs one after
 * another, and let `diff` show the one change. So whatever does not change has the same text in the same place, and
 * everything else is kept out of the rungs:
 *
 *   - STUDY.cu makes the arrays, fills them with bodies, and checks results.
 *   - measure(), below, runs a rung and times it.
 *   - Arrays are padded to a multiple of 1024 bodies with bodies that pull nothing, so that kernels may work on whole
 *     blocks and whole tiles. The number n does not count these bodies.
 *   - In the study cells rungs call what they keep of earlier ones (gpu/ladder/cells/cells.cuh), and arrays are not
 *     padded.
 *   - Rungs do not look at errors of CUDA. The harness asks for errors after an iteration.
 *
 * Kernels are compiled as nvcc does by default, with multiplication and addition contracted (-fmad=true). Results are
 * compared with an oracle within a tolerance, not bit by bit.
 */
#ifndef MD_GPU_LADDER_HARNESS_CUH
#define MD_GPU_LADDER_HARNESS_CUH

#include "common/ladder/ladder.h"

#include <cuda_runtime.h>
#include <stdint.h>

#include <algorithm>
#include <vector>

/* Ends the program with a message if `result` is an error. */
#define CUDA(call) ladder_cuda(call, #call)
void ladder_cuda(cudaError_t result, const char *call);

/* The number of array elements for n bodies. */
inline int ladder_padded(int n) { return (n + 1023) / 1024 * 1024; }

/* Arrays that live as long as this object, zero at first. */
class ladder_arrays
{
  std::vector<void *> device_, pinned_, pageable_;
  void *device_bytes(int64_t bytes);
  void *pinned_bytes(int64_t bytes);
  void *pageable_bytes(int64_t bytes);

public:
  ladder_arrays() = default;
  ladder_arrays(const ladder_arrays &) = delete;
  ladder_arrays &operator=(const ladder_arrays &) = delete;
  ~ladder_arrays();
  template <class T> T *device(int64_t count) { return (T *)device_bytes(count * (int64_t)sizeof(T)); }
  template <class T> T *pinned(int64_t count) { return (T *)pinned_bytes(count * (int64_t)sizeof(T)); }
  template <class T> T *pageable(int64_t count) { return (T *)pageable_bytes(count * (int64_t)sizeof(T)); }
};

/* Copies between host and device, and waits. */
template <class T> void ladder_upload(T *to, const std::vector<T> &from)
{
  CUDA(cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
}
template <class T> std::vector<T> ladder_download(const T *from, int64_t count)
{
  std::vector<T> to((size_t)count);
  CUDA(cudaMemcpy(to.data(), from, to.size() * sizeof(T), cudaMemcpyDeviceToHost));
  return to;
}

/* A pair of events around a number of iterations. */
class ladder_clock
{
  cudaEvent_t begin_, end_;

public:
  ladder_clock();
  ladder_clock(const ladder_clock &) = delete;
  ladder_clock &operator=(const ladder_clock &) = delete;
  ~ladder_clock();
  void begin();
  double end(); /* ms since begin(), after all work before it has ended */
};

/* Time of an iteration in ms: the mean of `count` iterations, which follow one another. */
template <class Bodies> double time_of(void (*iterate)(Bodies &), Bodies &b, int count)
{
  ladder_clock clock;
  clock.begin();
  for (int k = 0; k < count; ++k, ++b.iteration) iterate(b);
  return clock.end() / count;
}

/* For rungs with something to find before they are timed: their study overloads this function. */
template <class Bodies> void tune(Bodies &, int, void (*)(Bodies &)) {}

/* Runs a rung: a first iteration, whose results are checked, a second one to warm up, and `repeat` timings. A timing is
 * of several iterations if they are short. holds: where the rung has its results; the study says with what meaning.
 * Each study has its functions set_up() and check(). */
template <class Bodies>
void measure(void (*iterate)(Bodies &), int holds, const ladder_case *c, int repeat, ladder_result *result)
{
  ladder_arrays arrays;
  Bodies b = {};
  set_up(b, c, arrays);
  time_of(iterate, b, 1);
  result->right = true;
  check(b, holds, iterate, c, result);
  tune(b, holds, iterate);
  const int count = std::clamp((int)(1.0 / time_of(iterate, b, 1)), 1, 20);
  std::vector<double> time((size_t)repeat);
  for (double &t : time) t = time_of(iterate, b, count);
  result->ms = ladder_median(time.data(), repeat);
}

#endif
