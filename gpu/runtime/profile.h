/* The profile: elapsed time and counted bytes of every kernel, for `package gpu profile yes`.
 *
 * Two events around a kernel give its time, and the host waits for the second one.
 *
 * Trade-off: the time of each kernel is right, but the run as a whole is slower, because the host waits for each
 * kernel.
 */
#ifndef MD_GPU_RUNTIME_PROFILE_H
#define MD_GPU_RUNTIME_PROFILE_H

#include "gpu/runtime/cuda.h"

enum { PROFILE_ROWS = 24 };

typedef struct gpu_profile {
  bool on;
  cudaEvent_t begin, end;
  double copy; /* bytes per second of a copy; 0: not yet measured */
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

/* To be called before and after a kernel that moves at least `bytes` bytes. They do nothing if the profile is off. */
md_status gpu_profile_begin(gpu_profile *, cudaStream_t) MD_CHECKED;
md_status gpu_profile_end(gpu_profile *, cudaStream_t, const char *name, double bytes) MD_CHECKED;

/* The table, with the bandwidth of a copy on this device for comparison; NULL if the profile is off. The text
 * belongs to the profile. */
const char *gpu_profile_table(gpu_profile *);

#endif
