/* The check of reciprocals: is the approximate reciprocal of the hardware with one Newton step (ranged_inverse()
 * of formulas.cuh) the correctly rounded one?
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

md_status gpu_check_reciprocals(bool *same)
{
  int *at = nullptr, different = 1;
  MD_CUDA(cudaMalloc((void **)&at, sizeof *at));
  md_status status = md_cuda_check(cudaMemset(at, 0, sizeof *at), "check of reciprocals");
  if (status == MD_OK) {
    k_check_reciprocals<<<1 << 15, 1 << 8>>>(at);
    status = md_cuda_check(cudaGetLastError(), "launch of k_check_reciprocals");
  }
  if (status == MD_OK)
    status = md_cuda_check(cudaMemcpy(&different, at, sizeof different, cudaMemcpyDeviceToHost),
                           "check of reciprocals");
  cudaFree(at);
  *same = different == 0;
  return status;
}
