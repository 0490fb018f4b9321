/* The list of compute styles, one line for each. To add a style, write a file like those below and add its line here.
 *
 * The list is included several times, for different purposes:
 *   with MD_COMPUTE_STYLE(symbol, name) defined  it becomes one MD_COMPUTE_STYLE for each style;
 *   with MD_COMPUTE_SUMS(symbol) defined        it becomes one MD_COMPUTE_SUMS for  each style with terms of its own;
 *   with MD_COMPUTE_EACH(symbol) defined         it becomes one MD_COMPUTE_EACH for each style of one value a particle;
 *   with MD_COMPUTE_HOST defined                 it becomes the host parts;
 *   with MD_COMPUTE_FORMULAS defined             it becomes the functions md_NAME_add and md_NAME_of (measure.h).
 */
#include "common/compute/compute_ke.h"
#include "common/compute/compute_ke_atom.h"
#include "common/compute/compute_lagrange.h"
#include "common/compute/compute_momentum.h"
#include "common/compute/compute_pe.h"
#include "common/compute/compute_pressure.h"
#include "common/compute/compute_pressure_tensor.h"
#include "common/compute/compute_temp.h"
#include "common/temperature/compute_temp_com.h"
#include "common/temperature/compute_temp_deform.h"
#include "common/temperature/compute_temp_partial.h"
#include "common/temperature/compute_temp_ramp.h"
#include "common/temperature/compute_temp_region.h"
