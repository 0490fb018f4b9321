/* The check of reciprocals: is the approximate reciprocal of the hardware with one Newton step (ranged_inverse()
 * of gpu/step/formulas.cuh) the correctly rounded one?
 *
 * NVIDIA's own IEEE division relies on this, but it is not documented for any processor. So every engine that uses
 * it first tries all 2^23 significands; exponents only scale the result.
 *
 * Trade-off: a short reciprocal without the special cases of an IEEE division, for one check at the start. Cost:
 * 30 microseconds.
 */
#include "gpu/runtime/cuda.h"
#include "gpu/runtime/reciprocal.h"
#include "gpu/step/formulas.cuh"

static __global__ void k_check_reciprocals(int *different)
{
  const unsigned significand = blockIdx.x * blockDim.x + threadIdx.x;
  const float a = __uint_as_float(0x3f800000u | significand);
  if (ranged_inverse(a) != __frcp_rn(a)) *different = 1;
}

/* A root takes even and odd exponents apart, so that two exponents are tried. */
static __global__ void k_check_roots(int *different)
{
  const float a = __uint_as_float(0x3f800000u + (blockIdx.x * blockDim.x + threadIdx.x));
  if (ranged_inverse_root(a) != __frcp_rn(sqrtf(a))) *different = 1;
}

/* Copies the answer of a check from the device. */
static md_status answer(const int *at, bool *same)
{
  int different = 1;
  MD_CUDA(cudaGetLastError());
  MD_CUDA(cudaMemcpy(&different, at, sizeof different, cudaMemcpyDeviceToHost));
  *same = different == 0;
  return MD_OK;
}

md_status gpu_check_reciprocals(bool *same)
{
  int *at = nullptr;
  MD_CUDA(cudaMalloc((void **)&at, sizeof *at));
  md_status status = md_cuda_check(cudaMemset(at, 0, sizeof *at), "check of reciprocals");
  if (status == MD_OK) {
    k_check_reciprocals<<<1 << 15, 1 << 8>>>(at);
    status = answer(at, same);
  }
  cudaFree(at);
  return status;
}

md_status gpu_check_inverse_roots(bool *same)
{
  int *at = nullptr;
  MD_CUDA(cudaMalloc((void **)&at, sizeof *at));
  md_status status = md_cuda_check(cudaMemset(at, 0, sizeof *at), "check of inverse roots");
  if (status == MD_OK) {
    k_check_roots<<<1 << 16, 1 << 8>>>(at);
    status = answer(at, same);
  }
  cudaFree(at);
  return status;
}
