/* Arrays, clock and errors of the ladder on a GPU. */
#include "gpu/ladder/harness.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ladder_cuda(cudaError_t result, const char *call)
{
  if (result == cudaSuccess) return;
  fprintf(stderr, "ladder-gpu: %s: %s\n", call, cudaGetErrorString(result));
  exit(1);
}

void *ladder_arrays::device_bytes(int64_t bytes)
{
  void *at = nullptr;
  CUDA(cudaMalloc(&at, (size_t)bytes));
  CUDA(cudaMemset(at, 0, (size_t)bytes));
  device_.push_back(at);
  return at;
}

void *ladder_arrays::pinned_bytes(int64_t bytes)
{
  void *at = nullptr;
  CUDA(cudaMallocHost(&at, (size_t)bytes));
  memset(at, 0, (size_t)bytes);
  pinned_.push_back(at);
  return at;
}

void *ladder_arrays::pageable_bytes(int64_t bytes)
{
  void *at = ladder_allocate(bytes, 1);
  pageable_.push_back(at);
  return at;
}

ladder_arrays::~ladder_arrays()
{
  for (void *at : device_) CUDA(cudaFree(at));
  for (void *at : pinned_) CUDA(cudaFreeHost(at));
  for (void *at : pageable_) free(at);
}

ladder_clock::ladder_clock()
{
  CUDA(cudaEventCreate(&begin_));
  CUDA(cudaEventCreate(&end_));
}

ladder_clock::~ladder_clock()
{
  CUDA(cudaEventDestroy(begin_));
  CUDA(cudaEventDestroy(end_));
}

void ladder_clock::begin() { CUDA(cudaEventRecord(begin_, nullptr)); }

double ladder_clock::end()
{
  float ms = 0.0f;
  CUDA(cudaGetLastError());
  CUDA(cudaEventRecord(end_, nullptr));
  CUDA(cudaEventSynchronize(end_));
  CUDA(cudaEventElapsedTime(&ms, begin_, end_));
  return (double)ms;
}
