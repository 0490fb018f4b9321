/* The ring of batches, and the estimate of the steps between two rebins; see batches.cuh. */
#include "gpu/run/batches.cuh"

#include <cmath>

md_status gpu_batches::make()
{
  for (gpu_batch &c : ring) {
    MD_CUDA(cudaEventCreate(&c.begin));
    MD_CUDA(cudaEventCreate(&c.stepped));
    MD_CUDA(cudaEventCreate(&c.sorted));
    MD_CUDA(cudaEventCreate(&c.end));
    MD_CUDA(cudaMallocHost((void **)&c.control_copy, sizeof *c.control_copy));
    MD_CUDA(cudaMallocHost((void **)&c.outcome, sizeof *c.outcome));
  }
  return MD_OK;
}

void gpu_batches::free_all()
{
  for (gpu_batch &c : ring) {
    for (cudaEvent_t event : {c.begin, c.stepped, c.sorted, c.end})
      if (event) cudaEventDestroy(event);
    if (c.control_copy) cudaFreeHost(c.control_copy);
    if (c.outcome) cudaFreeHost(c.outcome);
  }
}

md_status gpu_batches::finish_oldest()
{
  MD_CUDA(cudaEventSynchronize(oldest().end));
  head = (head + 1) % ROOM;
  --in_flight;
  return MD_OK;
}

void gpu_batches::take_back(int64_t missed)
{
  for (int k = 0; k < in_flight; ++k) ring[(head + k) % ROOM].issued -= missed;
}

/* Normally the estimate is the number of steps that would use up the slack at the present rate, but at most twice the
 * steps taken and 4 more. If the last step made cells or lists stale, the estimate is the number of steps taken.
 * Once lists have ended by chance, the estimate is the number of steps that went well and 2 more. */
void rebin_interval::learn(const progress &reached)
{
  if (fixed > 0) {
    steps = fixed;
    return;
  }
  const double taken = (double)(reached.done - done_at_rebin);
  if (reached.stale)
    steps = std::max(taken, 1.0);
  else if (by_chance && ended && taken > 0.0)
    steps = taken + 2.0;
  else if (taken > 0.0)
    steps = std::max(
        1.0, std::min(std::floor(taken / std::max((double)reached.usage, 1e-6)) + 1.0, 2.0 * taken + 4.0));
  ended = ended || reached.stale;
  steps = std::min(steps, (double)MOST);
}
