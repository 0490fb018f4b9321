/* The range of kicks, and grids without kicks; see kick_range.h. */
#include "common/kick_range.h"

double md_kick_range(const md_model *model)
{
  /* The impulse of a pair may be 2^52 quanta. The relative rounding is half a quantum over the usual impulse. */
  return 0x1p53 * model->resolution.impulse;
}

md_status md_kick_range_minimized(md_model *model)
{
  enum { LEAST = 64 }; /* particles may be closer than usual at the beginning */
  const md_box box = model->box;
  MD_TRY(md_model_prepare(model));
  const double dt = model->dt, range = md_kick_range(model);
  if (!(range > 0.0 && range < LEAST)) return MD_OK;
  model->dt *= sqrt(range) / LEAST;
  model->box = box;
  const md_status status = md_model_prepare(model);
  model->dt = dt;
  return status;
}
