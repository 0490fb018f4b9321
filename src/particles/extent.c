/* Mass and extent of all particles; see extent.h.
 *
 * Positions are counted in units of 1/4096 of the longest side of the box, and the sums of counts and of their squares
 * are integers. So the number of ranks does not change a bit of the result. An extent below this unit is taken as one
 * unit. Cost: one pass over the particles and two reductions. */
#include "src/particles/extent.h"
#include "common/ranks/reductions.h"
#include "src/sums/masses.h"

enum { UNITS = 4096 };

md_status md_extent_find(md_sim *sim)
{
  md_model *model = &sim->model;
  const md_box *box = &model->box;
  const md_particles *p = &sim->particles;
  model->total_mass = 0.0;
  if (!md_pair_is_all(&model->pair) || model->natoms == 0) {
    model->extent = 0.0;
    return MD_OK;
  }
  MD_TRY(md_masses_find_range(sim));
  MD_TRY(md_masses_total(sim, &model->total_mass));
  if (model->extent > 0.0 && model->extent_natoms == model->natoms) return MD_OK;
  double longest = 0.0;
  for (int d = 0; d < box->dim; ++d) longest = md_max(longest, box->hi[d] - box->lo[d]);
  const double unit = longest / UNITS, n = (double)model->natoms;
  int64_t sum[6] = {0};
  for (int d = 0; d < box->dim; ++d)
    for (int64_t i = 0; i < p->n; ++i) {
      const double place = md_max(-1.0, md_min(UNITS + 1.0, (p->x[d][i] - box->lo[d]) / unit));
      const int64_t count = llrint(place);
      sum[d] += count;
      sum[3 + d] += count * count;
    }
  MD_TRY(sim->comm->reduce->sum(sim->comm, sum, 6));
  double square = 0.0;
  for (int d = 0; d < box->dim; ++d) {
    const double mean = (double)sum[d] / n;
    square += (double)sum[3 + d] / n - mean * mean;
  }
  model->extent = unit * sqrt(md_max(square, 1.0));
  model->extent_natoms = model->natoms;
  return MD_OK;
}
