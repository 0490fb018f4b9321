/* Makes doubles of packed impulses, in place, for kernels that read no others (packed_impulse.cuh). Each thread has one
 * particle. Cost: 17 bytes read and 24 written. It comes where a run of a thermostat is left: before output, and where
 * the move is not that of packed positions.
 */
#include "gpu/move/launches.cuh"
#include "gpu/move/packed_impulse.cuh"

struct impulse_words {
  double *at[3];
};

static __global__ void k_unpack_impulses(impulse_words words, const uint8_t *top, int n)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double impulse[3];
  load_packed_impulse(words.at, top, i, impulse);
#pragma unroll
  for (int d = 0; d < 3; ++d) words.at[d][i] = impulse[d];
}

md_status launch_unpack_impulses(const launch &l, double *const impulse[3], const uint8_t *top, int n)
{
  k_unpack_impulses<<<blocks_for(n, l.threads), l.threads, 0, l.stream>>>(
      impulse_words{{impulse[0], impulse[1], impulse[2]}}, top, n);
  MD_LAUNCHED("k_unpack_impulses");
  return MD_OK;
}
