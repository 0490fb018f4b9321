/* Implements profile.h: the table of kernel times. */
#include "gpu/runtime/profile.h"

#include <algorithm>
#include <stdio.h>
#include <string.h>

md_status gpu_profile_start(gpu_profile *p)
{
  p->on = true;
  MD_CUDA(cudaEventCreate(&p->begin));
  MD_CUDA(cudaEventCreate(&p->end));
  return MD_OK;
}

void gpu_profile_stop(gpu_profile *p)
{
  if (p->begin) cudaEventDestroy(p->begin);
  if (p->end) cudaEventDestroy(p->end);
}

md_status gpu_profile_begin(gpu_profile *p, cudaStream_t stream)
{
  if (p->on) MD_CUDA(cudaEventRecord(p->begin, stream));
  return MD_OK;
}

md_status gpu_profile_end(gpu_profile *p, cudaStream_t stream, const char *name, double bytes)
{
  if (!p->on) return MD_OK;
  MD_CUDA(cudaEventRecord(p->end, stream));
  MD_CUDA(cudaEventSynchronize(p->end));
  float ms = 0.0f;
  MD_CUDA(cudaEventElapsedTime(&ms, p->begin, p->end));
  int r = 0;
  while (r < p->nrow && strcmp(p->row[r].name, name) != 0) ++r;
  if (r == PROFILE_ROWS) return MD_OK;
  if (r == p->nrow) p->row[p->nrow++] = {name, 0, 0.0, 0.0};
  ++p->row[r].calls;
  p->row[r].seconds += 1e-3 * (double)ms;
  p->row[r].bytes += bytes;
  return MD_OK;
}

/* Bytes read and written per second by a copy on the device, the best of five; 0 if it cannot be measured. */
static double copy_bandwidth(gpu_profile *p)
{
  const size_t half = (size_t)256 << 20;
  char *buffer = nullptr;
  if (cudaMalloc((void **)&buffer, 2 * half) != cudaSuccess) {
    cudaGetLastError();
    return 0.0;
  }
  double best = 0.0;
  for (int turn = 0; turn < 5; ++turn) {
    float ms = 0.0f;
    if (cudaEventRecord(p->begin) == cudaSuccess &&
        cudaMemcpyAsync(buffer + half, buffer, half, cudaMemcpyDeviceToDevice) == cudaSuccess &&
        cudaEventRecord(p->end) == cudaSuccess && cudaEventSynchronize(p->end) == cudaSuccess &&
        cudaEventElapsedTime(&ms, p->begin, p->end) == cudaSuccess && ms > 0.0f)
      best = std::max(best, 2.0 * (double)half / (1e-3 * (double)ms));
  }
  cudaFree(buffer);
  return best;
}

const char *gpu_profile_table(gpu_profile *p)
{
  if (!p->on) return nullptr;
  if (p->copy == 0.0) p->copy = copy_bandwidth(p);
  const double copy = p->copy;
  double total = 0.0;
  for (int r = 0; r < p->nrow; ++r) total += p->row[r].seconds;
  size_t used =
      (size_t)snprintf(p->text, sizeof p->text, "GPU kernels | calls | ms | share %% | GB/s | %% of copy\n");
  for (int r = 0; r < p->nrow && used < sizeof p->text; ++r) {
    const double rate = p->row[r].seconds > 0.0 ? p->row[r].bytes / p->row[r].seconds : 0.0;
    used +=
        (size_t)snprintf(p->text + used, sizeof p->text - used, "%-16s | %lld | %.3f | %.2f | %.1f | %.1f\n",
                         p->row[r].name, (long long)p->row[r].calls, 1e3 * p->row[r].seconds,
                         total > 0.0 ? 100.0 * p->row[r].seconds / total : 0.0, 1e-9 * rate,
                         copy > 0.0 ? 100.0 * rate / copy : 0.0);
  }
  if (used < sizeof p->text)
    snprintf(p->text + used, sizeof p->text - used, "GPU copy bandwidth: %.1f GB/s\n", 1e-9 * copy);
  return p->text;
}
