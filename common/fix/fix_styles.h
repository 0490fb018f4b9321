/* The list of fix styles, one line for each. To add a style, write a file like those below and add its line here.
 *
 * The list is included several times, for different purposes:
 *   with MD_FIX_STYLE(symbol, name) defined  it becomes one MD_FIX_STYLE for each style;
 *   with MD_FIX_MIDDLE(symbol) defined       it becomes one MD_FIX_MIDDLE for each style that acts on particles;
 *   with MD_FIX_HOST defined                 it becomes the host parts: arguments, help, promises;
 *   otherwise                                it becomes the functions md_NAME_middle (step.h).
 */
#include "common/fix/fix_enforce2d.h"
#include "common/fix/fix_langevin.h"
#include "common/fix/fix_nve.h"
#include "common/fix/fix_nve_leapfrog.h"
#include "common/fix/fix_wall_reflect.h"
