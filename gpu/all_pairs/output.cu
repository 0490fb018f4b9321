/* Output of the bodies: energies, virials and forces as fine sums (common/arithmetic/exact.h), the terms of computes,
 * and the sums of a map.
 *
 * A thread has one body, and the bodies of the other block pass through shared memory in tiles, as in impulse.cu. For
 * energies and virials a pair of one block is evaluated once, from the body with the lower index, and its terms count
 * twice. The sums of the threads are added up as gpu/output/measure.cuh says.
 *
 * Terms are added without conversions. The exponents of the numbers tell whether all terms of a tile are small enough
 * for that. If not, the careful sum does the tile again: it has the same bits for all terms, and finds overlaps.
 *
 * Cost: 37 double-precision operations a pair, and 70 of others. For forces 45, and each pair twice.
 */
#include "gpu/all_pairs/bodies.cuh"
#include "gpu/output/launches.cuh"

#include "common/pair/all_pairs.h"
#include "common/pair/formulas.h"
#include "gpu/output/bins.cuh"
#include "gpu/output/measure.cuh"

#include <cmath>

enum { THREADS = BODY_PAD };

struct pair_sum_args {
  body_view view;
  pair_sums sums;
  const body *other;
  int tiles, times; /* times: how often the pairs of two blocks count */
  bool self;        /* the other block is the same one */
  /* Exponents of two: of the range of forces, and below which energies and virials are small enough. */
  int range, small_e, small_w;
  unsigned long long launch_number;
};

/* |x| < 2^(exponent_of(x) + 1). Infinities and what is not a number have the largest exponent. */
static __device__ __forceinline__ int exponent_of(double x)
{
  return (int)((unsigned)__double2hiint(x) >> 20 & 0x7ffu) - 1023;
}

/* A pair: the difference of its places, the softened squared distance, and its coefficients. */
struct body_pair {
  double delta[3], r2, k[MD_PAIR_K];
};

template <int DIM>
static __device__ __forceinline__ body_pair pair_of(const double *unit_k, const body &own, const body &other)
{
  body_pair p;
  p.r2 = unit_k[2];
#pragma unroll
  for (int d = 0; d < DIM; ++d) {
    p.delta[d] = own.x[d] - other.x[d];
    p.r2 = fma(p.delta[d], p.delta[d], p.r2);
  }
  md_all_coefficients_of_masses(unit_k, own.mass, other.mass, p.k);
  return p;
}

/* Energy and virial. A function returns them: a sum whose address a function gets would not stay in registers. */
struct pair_terms {
  md_fine energy, virial;
};

/* The careful sum: the terms of the pairs of body `own` with the bodies [first, last) of the other block, each once. */
template <int STYLE, int DIM>
static __device__ __noinline__ pair_terms sum_with_care(const pair_sum_args &a, int i, int first, int last)
{
  const body own = a.view.bodies[i];
  pair_terms sum = {};
  for (int j = first; j < last; ++j) {
    const body other = a.other[j];
    if (other.mass == 0.0) continue;
    const body_pair p = pair_of<DIM>(a.sums.k, own, other);
    const double f = force_of<STYLE>(p.r2, p.k);
    if (md_all_overlaps(f, p.delta, DIM, p.r2, a.sums.range)) {
      stop(a.view.halt, a.launch_number, HALTED_BY_OUTPUT);
      continue;
    }
    md_fine_add(&sum.energy, energy_of<STYLE>(p.r2, p.k) * a.sums.per_e);
    md_fine_add(&sum.virial, f * (p.r2 - a.sums.k[2]) * a.sums.per_w);
  }
  return sum;
}

static __device__ __forceinline__ void add(md_fine &sum, const md_fine &more)
{
  sum.coarse += more.coarse;
  sum.rest += more.rest;
}

template <int STYLE, int DIM, bool FAST>
static __global__ void __launch_bounds__(THREADS) k_pair_sums(const __grid_constant__ pair_sum_args a)
{
  __shared__ body tile[BODY_PAD];
  const int i = blockIdx.x * THREADS + threadIdx.x;
  const bool there = i < a.view.n;
  const body own = a.view.bodies[there ? i : 0];
  pair_terms sum = {};
  for (int t = a.self ? (int)blockIdx.x : 0; t < a.tiles; ++t) {
    __syncthreads();
    tile[threadIdx.x] = a.other[t * BODY_PAD + threadIdx.x];
    __syncthreads();
    if (!there) continue;
    const int first = a.self && t == (int)blockIdx.x ? (int)threadIdx.x + 1 : 0;
    pair_terms of_tile = {};
    bool fits = true;
    for (int j = first; j < BODY_PAD; ++j) {
      const body_pair p = pair_of<DIM>(a.sums.k, own, tile[j]);
      const double f = FAST ? ranged_force_of<STYLE>(p.r2, p.k) : force_of<STYLE>(p.r2, p.k);
      const double energy = energy_of<STYLE>(p.r2, p.k), virial = f * (p.r2 - a.sums.k[2]);
      /* (f delta)^2 <= f^2 r2 < 2^(2 e(f) + e(r2) + 3) */
      fits = fits && 2 * exponent_of(f) + exponent_of(p.r2) + 3 <= 2 * a.range && exponent_of(p.r2) > -120 &&
             exponent_of(energy) < a.small_e && exponent_of(virial) < a.small_w;
      add_product(of_tile.energy, energy, a.sums.per_e);
      add_product(of_tile.virial, virial, a.sums.per_w);
    }
    if (!fits) of_tile = sum_with_care<STYLE, DIM>(a, i, t * BODY_PAD + first, (t + 1) * BODY_PAD);
    add(sum.energy, of_tile.energy);
    add(sum.virial, of_tile.virial);
  }
  const int times = a.self ? 2 : a.times;
  for (md_fine *of : {&sum.energy, &sum.virial}) {
    of->coarse *= times;
    of->rest *= times;
  }
  add_sum(a.sums.at, SUM_ENERGY, SUMS, sum.energy);
  add_sum(a.sums.at, SUM_VIRIAL, SUMS, sum.virial);
}

static pair_sum_args args_of(const body_view &view, const body *other, int64_t n_other, const pair_sums &sums,
                             unsigned long long launch_number)
{
  pair_sum_args a = {};
  a.view = view;
  a.sums = sums;
  a.other = other;
  a.tiles = (int)((n_other + BODY_PAD - 1) / BODY_PAD);
  a.self = other == view.bodies;
  a.launch_number = launch_number;
  return a;
}

md_status launch_pair_sums(const body_view &view, md_pair_kind kind, const body *other, int64_t n_other,
                           int times, bool fast, const pair_sums &sums, unsigned long long launch_number,
                           cudaStream_t stream)
{
  if (view.n == 0 || n_other == 0) return MD_OK;
  pair_sum_args a = args_of(view, other, n_other, sums, launch_number);
  a.times = times;
  a.range = std::ilogb(sums.range);
  a.small_e = 51 - std::ilogb(sums.per_e);
  a.small_w = 51 - std::ilogb(sums.per_w);
  const int blocks = blocks_for(view.n, THREADS);
  with_all_style(kind, [&](auto style) {
    if (view.dim == 3 && fast)
      k_pair_sums<style.value, 3, true><<<blocks, THREADS, 0, stream>>>(a);
    else if (view.dim == 3)
      k_pair_sums<style.value, 3, false><<<blocks, THREADS, 0, stream>>>(a);
    else if (fast)
      k_pair_sums<style.value, 2, true><<<blocks, THREADS, 0, stream>>>(a);
    else
      k_pair_sums<style.value, 2, false><<<blocks, THREADS, 0, stream>>>(a);
  });
  MD_LAUNCHED("k_pair_sums");
  return MD_OK;
}

template <int STYLE, int DIM>
static __global__ void __launch_bounds__(THREADS) k_pair_forces(const __grid_constant__ pair_sum_args a)
{
  __shared__ body tile[BODY_PAD];
  const int i = blockIdx.x * THREADS + threadIdx.x;
  const bool there = i < a.view.n;
  const body own = a.view.bodies[there ? i : 0];
  md_fine force[3] = {};
  for (int t = 0; t < a.tiles; ++t) {
    __syncthreads();
    tile[threadIdx.x] = a.other[t * BODY_PAD + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < BODY_PAD && there; ++j) {
      const body other = tile[j];
      if (other.mass == 0.0 || (a.self && t * BODY_PAD + j == i)) continue;
      const body_pair p = pair_of<DIM>(a.sums.k, own, other);
      const double f = force_of<STYLE>(p.r2, p.k);
      if (md_all_overlaps(f, p.delta, DIM, p.r2, a.sums.range)) {
        stop(a.view.halt, a.launch_number, HALTED_BY_OUTPUT);
        continue;
      }
#pragma unroll
      for (int d = 0; d < DIM; ++d) md_fine_add(&force[d], f * p.delta[d]);
    }
  }
  for (int d = 0; there && d < DIM; ++d) {
    md_fine *total = &a.sums.force[d * a.view.stride + i];
    total->coarse += force[d].coarse;
    total->rest += force[d].rest;
  }
}

md_status launch_pair_forces(const body_view &view, md_pair_kind kind, const body *other, int64_t n_other,
                             const pair_sums &sums, unsigned long long launch_number, cudaStream_t stream)
{
  if (view.n == 0 || n_other == 0) return MD_OK;
  const pair_sum_args a = args_of(view, other, n_other, sums, launch_number);
  const int blocks = blocks_for(view.n, THREADS);
  with_all_style(kind, [&](auto style) {
    if (view.dim == 3)
      k_pair_forces<style.value, 3><<<blocks, THREADS, 0, stream>>>(a);
    else
      k_pair_forces<style.value, 2><<<blocks, THREADS, 0, stream>>>(a);
  });
  MD_LAUNCHED("k_pair_forces");
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
