/* Kicks and drifts of all particles in the host's arrays, for engines whose steps are not fused, and the actions after
 * steps: one pass for each point of the step (step.h).
 *
 * Trade-off: every model runs, with any fixes, masses and wide momenta. But each pass goes through memory, which only
 * matters where forces cost little.
 */
#ifndef MD_COMMON_STEP_HOST_STEP_H
#define MD_COMMON_STEP_HOST_STEP_H

#include "common/model.h"
#include "common/step/step.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Points 2 and 5 of the step: gives `kicks` times the impulses, in quanta, dim arrays of n elements. */
void md_host_kick(const md_model *model, md_particles *p, int64_t *const impulse[3], int kicks, int threads);

/* Point 3 of the step. Wraps positions along periodic axes, and notes velocities for pair forces that depend on them.
 * MD_PHYSICS: a runaway; the message names the one of the smallest id. */
md_status md_host_drift(const md_model *model, md_particles *p, const md_step *step,
                        int64_t *const impulse[3], int threads) MD_CHECKED;

/* Point 6 of the step for one fix, after the last step that was done: model->step is its number. */
void md_host_act(const md_model *model, md_particles *p, const md_action *action, int threads);

/* After a step in which a particle moved too far or left the box: MD_PHYSICS, and the message names the one of the
 * smallest id. MD_OK if this rank has no such particle. */
md_status md_host_find_runaway(const md_model *model, const md_particles *p, const md_step *step) MD_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
