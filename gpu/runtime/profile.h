/* Where the time goes: elapsed time and counted bytes of every kernel, `package gpu profile yes`.
 *
 * Profiling waits for each kernel, so a profiled run is slower as a whole; each kernel's own time is right.
 */
#ifndef MD_GPU_RUNTIME_PROFILE_H
#define MD_GPU_RUNTIME_PROFILE_H

#include "gpu/runtime/cuda.h"

enum { PROFILE_ROWS = 24 };

typedef struct gpu_profile {
  bool on;
  cudaEvent_t begin, end;
  double copy; /* bandwidth, once measured */
  int nrow;
  struct {
    const char *name;
    int64_t calls;
    double seconds, bytes;
  } row[PROFILE_ROWS];
  char text[PROFILE_ROWS * 96 + 512];
} gpu_profile;

md_status gpu_profile_start(gpu_profile *) MD_CHECKED;
void gpu_profile_stop(gpu_profile *);

/* Before and after a kernel that moves so many bytes at least. Nothing unless on. */
md_status gpu_profile_begin(gpu_profile *, cudaStream_t) MD_CHECKED;
md_status gpu_profile_end(gpu_profile *, cudaStream_t, const char *name, double bytes) MD_CHECKED;

/* The table, with the bandwidth of a copy on this device to compare with. NULL if off. */
const char *gpu_profile_table(gpu_profile *);

#endif
