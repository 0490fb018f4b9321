/* A timestep of 0: forces, energies and pressures are found, and nothing moves, as in LAMMPS.
 *
 * The exact grids are made from what a step does. A step of length 0 does nothing, so the run is one without an
 * integrator, on the grids of the default timestep.
 */
#ifndef MD_SRC_STILL_H
#define MD_SRC_STILL_H

#include "common/model.h"

typedef struct md_still {
  bool on; /* the timestep is 0 */
  md_integrator integrator;
} md_still;

/* Before md_model_prepare. MD_USAGE: a thermostat, whose kicks grow without limit as the timestep shrinks. */
static inline md_status md_still_begin(md_model *model, md_still *still)
{
  *still = (md_still){model->dt == 0.0, model->integrator};
  if (!still->on) return MD_OK;
  if (model->langevin.on) return md_error(MD_USAGE, "fix langevin needs a timestep above 0");
  md_model standard;
  md_model_init(&standard);
  model->dt = standard.dt;
  model->integrator = MD_STATIC;
  return MD_OK;
}

/* Once particles are on the grids, or the model is not to be run: the timestep again. */
static inline void md_still_show(md_model *model, const md_still *still)
{
  if (still->on) model->dt = 0.0;
}

/* After the run. */
static inline void md_still_end(md_model *model, const md_still *still)
{
  md_still_show(model, still);
  model->integrator = still->integrator;
}

/* md_model_prepare for a model that may have such a timestep, and is not going to run. */
static inline md_status md_still_prepare(md_model *model)
{
  md_still still;
  MD_TRY(md_still_begin(model, &still));
  const md_status status = md_model_prepare(model);
  md_still_end(model, &still);
  return status;
}

#endif
