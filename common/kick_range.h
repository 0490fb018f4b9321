/* The range of kicks: how strong a force may be before its impulse is no exact number of quanta, and the grids of a
 * minimisation where that range is too short.
 *
 * A kick lasts a timestep, or half of one, so that light particles and long timesteps have large impulses. The speed
 * limit, which the momenta reach, is a move in a timestep. So the range is as 1/dt^2. A minimisation moves no particle
 * by kicks, but the forces for its output have the range of impulses (common/model.c).
 */
#ifndef MD_COMMON_KICK_RANGE_H
#define MD_COMMON_KICK_RANGE_H

#include "common/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The largest force of a pair whose impulse is in range, over the force of a usual pair; 0: there are no forces. For a
 * prepared model. */
double md_kick_range(const md_model *model);

/* md_model_prepare for a minimisation: where forces not far above the usual ones would be out of range, the grids are
 * those of a shorter timestep. The timestep of the model does not change. Errors: those of md_model_prepare. */
md_status md_kick_range_minimized(md_model *model) MD_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
