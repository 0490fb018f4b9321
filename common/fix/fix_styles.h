/* The list of fix styles, one line for each. To add a style, write a file like those below and add its line here.
 *
 * The list is included several times, for different purposes:
 *   with MD_FIX_STYLE(symbol, name) defined  it becomes one MD_FIX_STYLE for each style;
 *   with MD_FIX_MIDDLE(symbol) defined       it becomes one MD_FIX_MIDDLE for each style that acts within a step;
 *   with MD_FIX_DRIFT(symbol) defined        it becomes one MD_FIX_DRIFT for each style that acts before the drift;
 *   with MD_FIX_FORCE(symbol) defined        it becomes one MD_FIX_FORCE for each style that acts on forces;
 *   with MD_FIX_END(symbol) defined          it becomes one MD_FIX_END for each style that acts after a step;
 *   with MD_FIX_HOST defined                 it becomes the host parts: arguments, help, promises;
 *   with MD_FIX_FORMULAS defined             it becomes the functions md_NAME_middle, md_NAME_drift,
 *                                            md_NAME_post_force and md_NAME_end (common/step/step.h).
 */
#include "common/ensemble/fix_brownian.h"
#include "common/ensemble/fix_langevin.h"
#include "common/ensemble/fix_nvt.h"
#include "common/ensemble/fix_temp_berendsen.h"
#include "common/ensemble/fix_temp_csvr.h"
#include "common/ensemble/fix_temp_rescale.h"
#include "common/fix/fix_deform.h"
#include "common/fix/fix_enforce2d.h"
#include "common/fix/fix_heat.h"
#include "common/fix/fix_momentum.h"
#include "common/fix/fix_move.h"
#include "common/fix/fix_nve.h"
#include "common/fix/fix_nve_leapfrog.h"
#include "common/fix/fix_nve_limit.h"
#include "common/fix/fix_propel_self.h"
#include "common/fix/fix_viscous.h"
#include "common/force/fix_addforce.h"
#include "common/force/fix_aveforce.h"
#include "common/force/fix_external.h"
#include "common/force/fix_freeze.h"
#include "common/force/fix_gravity.h"
#include "common/force/fix_indent.h"
#include "common/force/fix_lineforce.h"
#include "common/force/fix_planeforce.h"
#include "common/force/fix_setforce.h"
#include "common/spring/fix_drag.h"
#include "common/spring/fix_spring.h"
#include "common/spring/fix_spring_self.h"
#include "common/swap/fix_thermal_conductivity.h"
#include "common/swap/fix_viscosity.h"
#include "common/wall/fix_wall_harmonic.h"
#include "common/wall/fix_wall_lj1043.h"
#include "common/wall/fix_wall_lj126.h"
#include "common/wall/fix_wall_lj93.h"
#include "common/wall/fix_wall_piston.h"
#include "common/wall/fix_wall_reflect.h"

/* These use functions of those above. */
#include "common/fix/fix_ehex.h"
#include "common/fix/fix_recenter.h"
#include "common/wall/fix_wall_region.h"

/* Use functions of common/ensemble/fix_nvt.h, and of common/ensemble/fix_npt.h. */
#include "common/ensemble/fix_npt.h"

#include "common/ensemble/fix_nph.h"
#include "common/ensemble/fix_nvt_sllod.h"
#include "common/ensemble/fix_press_berendsen.h"
#include "common/fix/fix_box_relax.h"
