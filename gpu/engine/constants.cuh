/* The constants of the view: what stays the same between rebins. Every kernel gets these by value
 * (gpu/particle/view.cuh), so that it reads them from there and not from memory.
 *
 * This part sets the grid, scale, box, slack and pair of the view, and of `ghost` what follows from the grid.
 */
#ifndef MD_GPU_ENGINE_CONSTANTS_CUH
#define MD_GPU_ENGINE_CONSTANTS_CUH

#include "gpu/engine/core.cuh"

template <class T> struct gpu_constants {
  gpu_core<T> &core;
  gpu_arrays &arrays = core.arrays;
  system_view<T> &view = core.view;
  gpu_ranks<T> &ranks = core.ranks;

  /* Sets what stays the same as long as the engine lives: the scale, and the tables of coefficients. */
  md_status set_fixed();
  void set_scale();
  void set_fine_scale();
  md_status upload_by_type(device_array *to, const double *number);
  md_status set_tables();
  md_status copy_with_addresses(device_array *to, int bytes, const double *k, double **addressed);
  md_status upload_coefficients(device_array *to, const double *k);
  md_status upload_single(device_array *to, const double *wide_k, float *k);
  md_status set_mixed_tables();
  md_status set_pair_rows();
  md_status set_potential();
  md_status set_three_body();

  /* Sets the grid and what follows from it; on several ranks that changes with the cuts. Collective. */
  md_status set_grid();
  void set_grid32(cell_grid *g);
  void fold_ghosts();
  void set_slack();
  void set_coarse_positions();
};

#endif
