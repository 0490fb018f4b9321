/* Adding a particle to its bin of a map, on the device; see common/sums/histogram.h. */
#ifndef MD_GPU_OUTPUT_BINS_CUH
#define MD_GPU_OUTPUT_BINS_CUH

#include "common/sums/histogram.h"

/* Are particles only counted, all of them? */
inline bool only_counts(const md_histogram &h)
{
  return h.weight == MD_WEIGHT_ONE && h.group == MD_GROUP_ALL;
}

/* Adds particle p, unless it is not of the map's groups. bin: its bin. */
static __device__ __forceinline__ void add_to_bin(const md_histogram &h, const md_particle &p, int dim,
                                                  int64_t bin, unsigned long long *sum)
{
  if (!(p.group & h.group)) return;
  if (h.weight == MD_WEIGHT_ONE) {
    atomicAdd(&sum[bin], 1ull);
    return;
  }
  double v[3] = {0.0, 0.0, 0.0};
  int64_t term[MD_BIN_SUMS];
  for (int d = 0; d < dim; ++d) v[d] = md_particle_velocity(&p, d, h.quantum);
  md_histogram_terms(&h, &p, v, dim, term);
  for (int t = 0; t < MD_BIN_SUMS; ++t) atomicAdd(&sum[bin * MD_BIN_SUMS + t], (unsigned long long)term[t]);
}

#endif
