/* The pair styles, once: a line each. Adding a style is one file like those below, and its line here.
 *
 * This list is included several times, each time for another purpose:
 *   with MD_PAIR_STYLE(symbol, name) defined  it expands to one MD_PAIR_STYLE per style;
 *   with MD_PAIR_HOST defined                 it yields the host part: parameters, mixing, coefficients;
 *   otherwise                                 it yields the formulas for the current `real` (real.h).
 */
#include "common/pair_lj_cut.h"
#include "common/pair_repulsive.h"
#include "common/pair_soft.h"
