/* How long messages of steps take on the device: exchanges of positions, and reductions over ranks; and the parts of a
 * rebin.
 *
 * A rebin is timed by events between its parts, because the host launches most of it without waiting. A lap of steps is
 * an exchange with its reduction, or the reduction alone, between two events. Every other step times only its
 * reduction, so that two events a step are enough for both. At most LAPS steps are timed between two calls of take().
 * Later steps count like the timed ones.
 *
 * Cost: two records of events a timed step, and five a rebin.
 */
#ifndef MD_GPU_RANKS_LAP_TIMER_CUH
#define MD_GPU_RANKS_LAP_TIMER_CUH

#include "gpu/runtime/cuda.h"

#include <algorithm>
#include <stdint.h>

enum lap_kind { LAP_EXCHANGE, LAP_REDUCTION, LAP_KINDS };

struct lap_timer {
  enum { LAPS = 64 };
  cudaEvent_t begin_of[LAPS] = {}, end_of[LAPS] = {};
  int laps = 0;
  int64_t steps = 0;      /* since the last call of take() */
  double reduction = 0.0; /* seconds of one reduction, as last timed */

  md_status make()
  {
    for (int k = 0; k < LAPS; ++k) {
      MD_CUDA(cudaEventCreate(&begin_of[k]));
      MD_CUDA(cudaEventCreate(&end_of[k]));
    }
    return MD_OK;
  }

  void free_all()
  {
    for (int k = 0; k < LAPS; ++k) {
      if (begin_of[k]) cudaEventDestroy(begin_of[k]);
      if (end_of[k]) cudaEventDestroy(end_of[k]);
    }
  }

  static lap_kind kind_of(int lap) { return lap > 0 && lap % 2 == 0 ? LAP_REDUCTION : LAP_EXCHANGE; }

  bool times(lap_kind kind) const { return laps < LAPS && kind_of(laps) == kind; }

  md_status begin(lap_kind kind, cudaStream_t stream)
  {
    if (times(kind)) MD_CUDA(cudaEventRecord(begin_of[laps], stream));
    return MD_OK;
  }

  md_status end(lap_kind kind, cudaStream_t stream)
  {
    if (times(kind)) MD_CUDA(cudaEventRecord(end_of[laps], stream));
    return MD_OK;
  }

  /* The step is complete. */
  void next()
  {
    if (laps < LAPS) ++laps;
    ++steps;
  }

  /* Seconds of exchanges since the last call, in two parts: positions and reductions. The first step counts only for
   * itself, because in it a rank still waits for the rebin of another rank. */
  md_status take(double *positions, double *reductions)
  {
    double first = 0.0, ms[LAP_KINDS] = {};
    int n[LAP_KINDS] = {};
    for (int k = 0; k < laps; ++k) {
      float each = 0.0f;
      MD_CUDA(cudaEventElapsedTime(&each, begin_of[k], end_of[k]));
      (k == 0 ? first : ms[kind_of(k)]) += (double)each;
      if (k > 0) ++n[kind_of(k)];
    }
    const double later = n[LAP_EXCHANGE] > 0 ? ms[LAP_EXCHANGE] / n[LAP_EXCHANGE] : 0.0;
    const double exchanges = laps > 0 ? 1e-3 * (first + later * (double)(steps - 1)) : 0.0;
    if (n[LAP_REDUCTION] > 0) reduction = 1e-3 * ms[LAP_REDUCTION] / n[LAP_REDUCTION];
    *reductions = std::min(reduction * (double)steps, exchanges);
    *positions = exchanges - *reductions;
    laps = 0;
    steps = 0;
    return MD_OK;
  }
};

enum rebin_part { REBIN_BEGINS, REBIN_MIGRATED, REBIN_SORTED, REBIN_BORDERED, REBIN_LISTED, REBIN_PARTS };

struct rebin_timer {
  cudaEvent_t after[REBIN_PARTS] = {};
  bool untimed = false; /* has a rebin ended since the last call of take()? */

  md_status make()
  {
    for (cudaEvent_t &event : after) MD_CUDA(cudaEventCreate(&event));
    return MD_OK;
  }

  void free_all()
  {
    for (cudaEvent_t event : after)
      if (event) cudaEventDestroy(event);
  }

  md_status note(rebin_part part, cudaStream_t stream)
  {
    MD_CUDA(cudaEventRecord(after[part], stream));
    untimed = part == REBIN_LISTED;
    return MD_OK;
  }

  /* seconds[part]: gets what each part of the last rebin took, or 0 if that was taken already. The device rests. */
  md_status take(double seconds[REBIN_PARTS])
  {
    for (int part = 0; part < REBIN_PARTS; ++part) {
      float ms = 0.0f;
      if (untimed && part > 0) MD_CUDA(cudaEventElapsedTime(&ms, after[part - 1], after[part]));
      seconds[part] = 1e-3 * (double)ms;
    }
    untimed = false;
    return MD_OK;
  }
};

#endif
