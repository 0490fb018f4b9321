/* Which cells are whose. The communicator's cuts are moved to the nearest edges of cells, with no domain thinner than its halo;
 * every rank works out the same. What neighbours there are, and how wide the halo is, follows. Slabs that sort in steps
 * have rows beyond their cuts too (ranks_overhang.cuh).
 */
#ifndef MD_GPU_RANKS_DOMAIN_CUH
#define MD_GPU_RANKS_DOMAIN_CUH

#include "gpu/ranks.cuh"

#include <algorithm>
#include <cmath>

/* Cuts at edges of cells, with `least` cells in every domain. */
template <class T> md_status gpu_ranks<T>::cut_axis(const md_box *whole, int d, int cells, int least)
{
  const double *at = comm->cuts(comm, whole, d), per_width = cells / whole->length[d];
  const int n = domains[d];
  if (!at || (int64_t)n * least > cells)
    return md_error(MD_USAGE, "%d domains along %c are thinner than the halo; use fewer ranks", n, "xyz"[d]);
  cut[d].assign((size_t)n + 1, 0);
  std::vector<int> &c = cut[d];
  for (int k = 1; k < n; ++k)
    c[k] = std::max((int)std::llrint((at[k] - whole->lo[d]) * per_width), c[k - 1] + least);
  c[n] = cells;
  for (int k = n - 1; k > 0; --k) c[k] = std::min(c[k], c[k + 1] - least);
  return MD_OK;
}

/* Cells of the domain that has the fewest along an axis. */
template <class T> int gpu_ranks<T>::thinnest(int d) const
{
  int least = cut[d][1] - cut[d][0];
  for (int k = 1; k < domains[d]; ++k) least = std::min(least, cut[d][k + 1] - cut[d][k]);
  return least;
}

template <class T> md_status gpu_ranks<T>::set_domain(const gpu_choice &choice, cell_grid *g)
{
  comm->grid(comm, domains, place);
  overhang = 0;
  const md_box *whole = &model->box;
  std::vector<int> all;
  for (int d = 0; d < 3; ++d) {
    const bool used = d < T::DIM;
    const int cells = used ? choice.count[d] : 1;
    layers[d] = used ? gpu_halo_cells(model, &choice, d) : 1;
    MD_TRY(cut_axis(whole, d, cells, domains[d] > 1 ? layers[d] : 1));
    box.lo[d] = whole->lo[d];
    box.per_width[d] = used ? 1.0 / (whole->length[d] / cells) : 0.0;
    box.cells[d] = cells;
    box.domains[d] = domains[d];
    box.first[d] = cut[d][place[d]];
    box.end[d] = cut[d][place[d] + 1];
    all.insert(all.end(), cut[d].begin(), cut[d].end());
    if (!used) continue;
    const double width = whole->length[d] / cells;
    lo[d] = fma((double)box.first[d], width, whole->lo[d]);
    hi[d] = box.end[d] == cells ? whole->hi[d] : fma((double)box.end[d], width, whole->lo[d]);
    const bool meets = whole->periodic[d] || domains[d] > 1;
    halo[d] = meets ? gpu_halo(model, &choice, d, T::MIXED && domains[d] == 1) : 0.0;
    if (d == T::DIM - 1)
      overhang = halo[d] > 0.0 && divided_in_slabs() ? gpu_overhang(&choice, thinnest(d)) : 0;
    const int below = box.first[d] > 0 ? overhang : 0, above = box.end[d] < cells ? overhang : 0;
    g->lo[d] = fma((double)(box.first[d] - below), width, whole->lo[d]);
    g->count[d] = box.end[d] - box.first[d] + below + above + 2 * choice.border[d];
  }
  MD_TRY(md_device_reserve(memory, &cuts, (int64_t)all.size() * 4, "cuts between domains"));
  MD_TRY(put(&cuts, all.data(), all.size() * 4));
  const int *at = (const int *)cuts.at;
  for (int d = 0; d < 3; ++d) {
    box.cut[d] = at;
    at += domains[d] + 1;
  }
  find_neighbours();
  return MD_OK;
}

template <class T> void gpu_ranks<T>::find_neighbours()
{
  for (int d = 0; d < T::DIM; ++d)
    for (int high = 0; high < 2; ++high) {
      side &f = face[d][high];
      int at[3] = {place[0], place[1], place[2]};
      at[d] += high ? 1 : -1;
      const bool across = at[d] < 0 || at[d] >= domains[d];
      f.shift = across ? (high ? -1 : 1) : 0;
      at[d] = (at[d] + domains[d]) % domains[d];
      const bool there = halo[d] > 0.0 && (!across || model->box.periodic[d]);
      f.neighbour = there ? comm->rank_at(comm, at) : -1;
    }
  int k = 0;
  for (const bool messages : {true, false})
    for (int d = 0; d < 3; ++d)
      if ((domains[d] > 1) == messages) order[k++] = d;
}

/* Ghosts to expect for n particles. */
template <class T> int64_t gpu_ranks<T>::expected_ghosts(int64_t n) const
{
  if (overhang > 0) return expected_in_messages(n);
  double grown = 1.0;
  for (int d = 0; d < T::DIM; ++d) grown *= 1.0 + 2.0 * halo[d] / (hi[d] - lo[d]);
  return grown > 1.0 ? (int64_t)((grown - 1.0) * 1.1 * (double)n) + 1024 : 0;
}

#endif
