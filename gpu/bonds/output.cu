/* Bonds for output: their energies and virials, and the search for the bond of an error; see bonds.cuh.
 *
 * Sums are over both particles of a bond, so that they are twice those of the bonds (common/model.h).
 */
#include "common/faults.h"
#include "gpu/bonds/term.cuh"
#include "gpu/output/launches.cuh"
#include "gpu/output/measure.cuh"
#include "gpu/output/search.cuh"

template <class T>
static __global__ void __launch_bounds__(128)
    k_bond_measure(const __grid_constant__ system_view<T> s, const __grid_constant__ bond_args a,
                   const __grid_constant__ bond_measure_args m)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  md_fine energy = {}, virial = {}, tensor[MD_TENSOR] = {};
  bool bad = false;
  if (i < s.n)
    for_each_bond<T>(
        s, a, i,
        [&](const md_bond_term &t, int type, int) {
          md_fine_add(&energy, md_bond_energy(a.kind, t.r2, a.table + type * MD_BOND_K) * m.per_e);
          md_fine_add(&virial, t.f * t.r2 * m.per_w);
          add_components<T>(t.f, t.delta, m.per_w, tensor);
        },
        [&](int, int) { bad = true; });
  if (bad) atomicOr(&s.ctl->overflow, HALT_OVERLAP);
  if (m.energy.at) add_sum(m.energy, 0, 1, energy);
  if (m.pairs.at) add_sum(m.pairs, SUM_VIRIAL, SUMS, virial);
  for (int c = 0; c < MD_TENSOR && m.tensor.at; ++c) add_sum(m.tensor, c, MD_TENSOR, tensor[c]);
}

template <class T>
static __global__ void k_find_bond(const __grid_constant__ system_view<T> s,
                                   const __grid_constant__ bond_args a, const int64_t *id, const int *origin,
                                   culprit *found, int stage)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  for_each_bond<T>(
      s, a, i, [](const md_bond_term &, int, int) {},
      [&](int k, int j) {
        const unsigned long long own = id_of(id, origin, i);
        const unsigned long long other =
            a.word ? (unsigned long long)a.word[(int64_t)a.origin[i] * a.words + k] : id_of(id, origin, j);
        search_pair(found, stage, own, other, MD_OVERLAP_OF_BOND);
      });
}

template <class T>
md_status launch_bond_measure(const launch &l, const system_view<T> &s, const bond_args &a,
                              const bond_measure_args &m)
{
  k_bond_measure<T><<<blocks_for(s.n, 128), 128, 0, l.stream>>>(s, a, m);
  MD_LAUNCHED("k_bond_measure");
  return MD_OK;
}

template <class T>
md_status launch_find_bond(const launch &l, const system_view<T> &s, const bond_args &a, const int64_t *id,
                           const int *origin, culprit *found, int stage)
{
  k_find_bond<T><<<blocks_for(s.n, 128), 128, 0, l.stream>>>(s, a, id, origin, found, stage);
  MD_LAUNCHED("k_find_bond");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_bond_measure<T>(const launch &, const system_view<T> &, const bond_args &,       \
                                            const bond_measure_args &);                                      \
  template md_status launch_find_bond<T>(const launch &, const system_view<T> &, const bond_args &,          \
                                         const int64_t *, const int *, culprit *, int);
MD_EXACT_TAGGED_LAYOUTS(INSTANCE)
