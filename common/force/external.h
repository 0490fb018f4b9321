/* Forces that the program around the library gives: fix external.
 *
 * 1. The forces are a field of the particles, `external` (common/particle_fields.def). They go with the particles
 *    through sorts and to other ranks, and restarts hold them.
 * 2. With pf/array the program sets the field between two runs. In a run nothing but the action of the fix reads it.
 * 3. With pf/callback a function of the program fills the field. It is called at the beginning of a run, and wherever
 *    the forces of a step are found, once for each step that is a multiple of Ncall. Its particles are those of this
 *    rank, in the order of memory; their positions are inside the box, so that every engine gives the same ones.
 * 4. The action rounds each force to whole quanta, as for every fix. So equal forces give equal bits on every engine.
 *
 * The function also gives its part of energy and virial, which are summed over ranks without an error of rounding.
 *
 * Trade-off: engines of the host copy positions only if one is outside of the box, and forces never. A GPU waits
 * for the host in each step with a call. Cost: 8 dim bytes a particle.
 */
#ifndef MD_COMMON_FORCE_EXTERNAL_H
#define MD_COMMON_FORCE_EXTERNAL_H

#include "common/model.h"
#include "common/ranks/comm.h"

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of the fix: the interval of calls, 0 for pf/array, and that of the steps at which the forces act. */
enum { MD_EXTERNAL_CALLS, MD_EXTERNAL_APPLIES };

/* State of the fix: whether the field is that of this fix, energy, virial; these are in restarts. Then whether the
 * function has been called, and for which step. */
enum {
  MD_EXTERNAL_BEGUN,
  MD_EXTERNAL_ENERGY,
  MD_EXTERNAL_VIRIAL,
  MD_EXTERNAL_KEPT = MD_EXTERNAL_VIRIAL + MD_TENSOR,
  MD_EXTERNAL_KNOWN = MD_EXTERNAL_KEPT,
  MD_EXTERNAL_STEP
};

/* Do the forces act at this step? */
static inline bool md_external_acts(const md_fix *fix, int64_t step)
{
  return step % (int64_t)fix->k[MD_EXTERNAL_APPLIES] == 0;
}

/* Must the function be called for the forces, the energy and the virial of this step? */
static inline bool md_external_is_due(const md_fix *fix, int64_t step)
{
  const int64_t every = (int64_t)fix->k[MD_EXTERNAL_CALLS];
  const bool known = fix->state[MD_EXTERNAL_KNOWN] == 1.0 && fix->state[MD_EXTERNAL_STEP] == (double)step;
  return every > 0 && step % every == 0 && !known;
}

/* The step for which the function has given its forces; -1: none. */
static inline double md_external_step(const md_model *model)
{
  const int f = md_fixes_external(model);
  const double *state = f < 0 ? NULL : model->fix[f].state;
  return state && state[MD_EXTERNAL_KNOWN] == 1.0 ? state[MD_EXTERNAL_STEP] : -1.0;
}

/* Calls the function of the fix for the particles of this rank, whose positions are those of step `step`. Fills their
 * forces, and energy and virial of the fix. Collective. MD_RUNTIME: the function says so, it gives no finite energy, or
 * memory is short. */
md_status md_external_call(const md_model *model, md_comm *comm, const md_particles *p, int64_t step,
                           md_fix *fix) MD_CHECKED;

/* For engines of the host: gives an action of the fix its numbers of a step, and calls the function if it is due.
 * Collective. Errors as for md_external_call. */
md_status md_external_ask(md_model *model, md_comm *comm, const md_particles *p, int64_t step,
                          md_force_action *action) MD_CHECKED;

/* The beginning of an engine, of a prepared model: the function is called for the present step, whatever it has given
 * before. Collective. Errors as for md_external_call. */
md_status md_external_start(md_model *model, md_comm *comm, const md_particles *p) MD_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
