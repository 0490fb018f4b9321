/* Output of the bodies: energies, virials and forces as fine sums (exact.h), the terms of computes, and the
 * sums of a map.
 *
 * A thread has one body, and all bodies of the other block pass through shared memory in tiles, as in impulse.cu. The
 * sums of the threads are added up as gpu/output/measure.cuh says.
 *
 * Cost: about 45 double-precision operations a pair, 3 times those of an impulse.
 */
#include "gpu/all_pairs/bodies.cuh"

#include "common/pair/all_pairs.h"
#include "common/pair/formulas.h"
#include "gpu/output/bins.cuh"
#include "gpu/output/measure.cuh"

enum { THREADS = BODY_PAD };

struct pair_sum_args {
  body_view view;
  pair_sums sums;
  const body *other;
  int tiles;
  unsigned long long launch_number;
};

template <int STYLE, int DIM>
static __global__ void __launch_bounds__(THREADS) k_pair_sums(const __grid_constant__ pair_sum_args a)
{
  __shared__ body tile[BODY_PAD];
  const int i = blockIdx.x * THREADS + threadIdx.x;
  const bool there = i < a.view.n;
  const body own = a.view.bodies[there ? i : 0];
  md_fine sum[SUMS] = {}, force[3] = {};
  for (int t = 0; t < a.tiles; ++t) {
    __syncthreads();
    tile[threadIdx.x] = a.other[t * BODY_PAD + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < BODY_PAD && there; ++j) {
      const body other = tile[j];
      if (other.mass == 0.0 || (a.other == a.view.bodies && t * BODY_PAD + j == i)) continue;
      double delta[3], r2 = a.sums.k[2], k[MD_PAIR_K];
#pragma unroll
      for (int d = 0; d < DIM; ++d) {
        delta[d] = own.x[d] - other.x[d];
        r2 = fma(delta[d], delta[d], r2);
      }
      md_all_coefficients_of_masses(a.sums.k, own.mass, other.mass, k);
      const double f = force_of<STYLE>(r2, k);
      if (md_all_overlaps(f, delta, DIM, r2, a.sums.range)) {
        stop(a.view.halt, a.launch_number, HALTED_BY_OUTPUT);
        continue;
      }
      md_fine_add(&sum[SUM_ENERGY], energy_of<STYLE>(r2, k) * a.sums.per_e);
      md_fine_add(&sum[SUM_VIRIAL], f * (r2 - a.sums.k[2]) * a.sums.per_w);
      if (a.sums.force)
#pragma unroll
        for (int d = 0; d < DIM; ++d) md_fine_add(&force[d], f * delta[d]);
    }
  }
  for (int d = 0; a.sums.force && there && d < DIM; ++d) {
    md_fine *total = &a.sums.force[d * a.view.stride + i];
    total->coarse += force[d].coarse;
    total->rest += force[d].rest;
  }
  for (int q = 0; q < SUMS; ++q) add_sum(a.sums.at, q, SUMS, sum[q]);
}

md_status launch_pair_sums(const body_view &view, md_pair_kind kind, const body *other, int64_t n_other,
                           const pair_sums &sums, unsigned long long launch_number, cudaStream_t stream)
{
  if (view.n == 0 || n_other == 0) return MD_OK;
  const pair_sum_args a = {view, sums, other, (int)((n_other + BODY_PAD - 1) / BODY_PAD), launch_number};
  const int blocks = blocks_for(view.n, THREADS);
  with_all_style(kind, [&](auto style) {
    if (view.dim == 3)
      k_pair_sums<style.value, 3><<<blocks, THREADS, 0, stream>>>(a);
    else
      k_pair_sums<style.value, 2><<<blocks, THREADS, 0, stream>>>(a);
  });
  MD_LAUNCHED("k_pair_sums");
  return MD_OK;
}

static __global__ void __launch_bounds__(THREADS)
    k_body_terms(const __grid_constant__ body_view b, const md_summand *summands, int nsummand,
                 uint64_t wanted, fine_sums sums)
{
  const int i = blockIdx.x * THREADS + threadIdx.x;
  md_particle p = {};
  if (i < b.n) p = particle_of(b, i);
  for (int k = 0; k < nsummand; ++k) {
    if (!(wanted >> k & 1)) continue;
    const md_summand &summand = summands[k];
    md_fine sum[MD_COMPUTE_TERMS] = {};
    if (p.group & summand.group) md_summand_add(&summand, &p, sum);
    for (int t = 0; t < summand.n; ++t) add_sum(sums, summand.first + t, MD_TERMS_MAX, sum[t]);
  }
}

md_status launch_body_terms(const body_view &view, const md_summand *summand, int nsummand, uint64_t wanted,
                            fine_sums sums, cudaStream_t stream)
{
  if (view.n == 0 || nsummand == 0) return MD_OK;
  k_body_terms<<<blocks_for(view.n, THREADS), THREADS, 0, stream>>>(view, summand, nsummand, wanted, sums);
  MD_LAUNCHED("k_body_terms");
  return MD_OK;
}

template <bool ONLY_COUNTS>
static __global__ void k_body_histogram(const __grid_constant__ body_view b,
                                        const __grid_constant__ md_histogram h, unsigned long long *sum)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= b.n) return;
  const double *x = b.bodies[i].x;
  const int64_t bin = md_histogram_bin(&h, x[h.axis[0]], x[h.axis[1]]);
  if (bin < 0) return;
  if (ONLY_COUNTS)
    atomicAdd(&sum[bin], 1ull);
  else
    add_to_bin(h, particle_of(b, i), b.dim, bin, sum);
}

md_status launch_body_histogram(const body_view &view, const md_histogram &h, unsigned long long *sum,
                                cudaStream_t stream)
{
  if (view.n == 0) return MD_OK;
  if (only_counts(h))
    k_body_histogram<true><<<blocks_for(view.n, 256), 256, 0, stream>>>(view, h, sum);
  else
    k_body_histogram<false><<<blocks_for(view.n, 256), 256, 0, stream>>>(view, h, sum);
  MD_LAUNCHED("k_body_histogram");
  return MD_OK;
}
