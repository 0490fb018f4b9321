/* The fix styles, once: a line each. Adding a style is one file like those below, and its line here.
 *
 * This list is included several times, each time for another purpose:
 *   with MD_FIX_STYLE(symbol, name) defined  it expands to one MD_FIX_STYLE per style;
 *   with MD_FIX_MIDDLE(symbol) defined       it expands to one MD_FIX_MIDDLE per style that acts on particles;
 *   with MD_FIX_HOST defined                 it yields the host part: arguments, help, promises;
 *   otherwise                                it yields the functions of one particle (step.h).
 */
#include "common/fix_enforce2d.h"
#include "common/fix_langevin.h"
#include "common/fix_nve.h"
#include "common/fix_nve_leapfrog.h"
#include "common/fix_wall_reflect.h"
