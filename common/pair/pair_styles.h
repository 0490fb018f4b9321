/* The list of pair styles, one line for each. To add a style, write a file like those below and add its line here.
 *
 * The list is included several times, for different purposes:
 *   with MD_PAIR_STYLE(symbol, name) defined  it becomes one MD_PAIR_STYLE for each style;
 *   with MD_PAIR_CUT(symbol) defined          it becomes one MD_PAIR_CUT for each style with a cutoff and kernels of
 *                                             its own: the fastest, but each takes time to compile;
 *   with MD_PAIR_SHARED(symbol) defined       it becomes one MD_PAIR_SHARED for each style with a cutoff that shares
 *                                             kernels with others: on GPUs they call the formula of the style;
 *   with MD_PAIR_LISTED(symbol) defined       it becomes one MD_PAIR_LISTED for each of those that have kernels of
 *                                             their own where lists are used;
 *   with MD_PAIR_ALL(symbol) defined          it becomes one MD_PAIR_ALL for each style without a cutoff;
 *   with MD_PAIR_DENSITY(symbol) defined      it becomes one MD_PAIR_DENSITY for each style with a density;
 *   with MD_PAIR_DISSIPATIVE(symbol) defined  it becomes one MD_PAIR_DISSIPATIVE for each style whose force depends on
 *                                             velocities;
 *   with MD_PAIR_THREE_BODY(symbol) defined   it becomes one MD_PAIR_THREE_BODY for each three-body style;
 *   with MD_PAIR_HYBRID(symbol) defined       it becomes one MD_PAIR_HYBRID for each style with sub-styles;
 *   with MD_PAIR_HOST defined                 it becomes the host parts: parameters, mixing, coefficients;
 *   with real and MD_T defined                it becomes the formulas for the number type `real`
 *   (common/arithmetic/real.h).
 */
#include "common/pair/dissipative/pair_dpd.h"
#include "common/pair/dissipative/pair_dpd_tstat.h"
#include "common/pair/hybrid/pair_hybrid.h"
#include "common/pair/hybrid/pair_hybrid_overlay.h"
#include "common/pair/styles/pair_born.h"
#include "common/pair/styles/pair_buck.h"
#include "common/pair/styles/pair_gauss.h"
#include "common/pair/styles/pair_gauss_cut.h"
#include "common/pair/styles/pair_gravity.h"
#include "common/pair/styles/pair_lj96_cut.h"
#include "common/pair/styles/pair_lj_cut.h"
#include "common/pair/styles/pair_lj_expand.h"
#include "common/pair/styles/pair_lj_gromacs.h"
#include "common/pair/styles/pair_lj_smooth_linear.h"
#include "common/pair/styles/pair_mie_cut.h"
#include "common/pair/styles/pair_morse.h"
#include "common/pair/styles/pair_repulsive.h"
#include "common/pair/styles/pair_soft.h"
#include "common/pair/styles/pair_yukawa.h"
#include "common/pair/styles/pair_zbl.h"
#include "common/pair/tables/pair_eam.h"
#include "common/pair/tables/pair_eam_alloy.h"
#include "common/pair/tables/pair_eam_fs.h"
#include "common/pair/tables/pair_table.h"
#include "common/pair/three_body/pair_sw.h"
#include "common/pair/three_body/pair_vashishta.h"
