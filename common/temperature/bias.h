/* The bias of velocities: the part of a velocity that is flow and not heat. C and CUDA.
 *
 * A temperature counts the rest, the thermal velocity v - b. A thermostat changes only the thermal velocity, and gives
 * the bias back:  v' = b + f (v - b).
 *
 *   none    b = 0
 *   axes    b = v along some axes, 0 along the others: motion along these axes is not thermal
 *   shift   b is the same for all particles, such as the velocity of their centre of mass
 *   ramp    b along one axis goes linearly with one coordinate, between two coordinates, and is constant beyond them
 *   block   b = 0 in a block, faces included, and b = v outside: only particles in the block have thermal motion
 *
 * Trade-off: a bias is a formula of one particle, so that every engine has it. The bias of other regions or of the mean
 * velocities of bins is not.
 * Reference: Evans and Morriss, Statistical Mechanics of Nonequilibrium Liquids, 2nd ed. (2008), section 6.
 *
 * Numbers of a bias:
 *   axes    k[d] is not 0 if the motion along axis d is thermal
 *   shift   k[d] is the velocity along axis d
 *   ramp    k0 the axis of b, k1 the axis of the coordinate, k2 and k3 the values of b, k4 and k5 the coordinates where
 *           b has them, k6 where the box begins along k1, k7 its length if that axis is periodic, else 0
 *   block   k[d] and k[3 + d] the lower and the upper face along axis d, perhaps infinite, k[6 + d] where the box
 *           begins, k[9 + d] its length if the axis is periodic, else 0, k12 a margin around the faces
 * Units: the deck's.
 */
#ifndef MD_COMMON_TEMPERATURE_BIAS_H
#define MD_COMMON_TEMPERATURE_BIAS_H

#include "common/box.h"

typedef enum md_bias_kind {
  MD_BIAS_NONE,
  MD_BIAS_AXES,
  MD_BIAS_SHIFT,
  MD_BIAS_RAMP,
  MD_BIAS_BLOCK
} md_bias_kind;

enum { MD_BIAS_K = 13 };

typedef struct md_bias {
  md_bias_kind kind;
  double k[MD_BIAS_K];
} md_bias;

/* The value of a ramp at x. */
MD_FN double md_bias_ramp(const md_bias *b, const double x[3])
{
  /* Without an index that is known only at run time, x stays in registers of a GPU. */
  double at = b->k[1] == 0.0 ? x[0] : b->k[1] == 1.0 ? x[1] : x[2];
  if (b->k[7] > 0.0) at = md_wrap(at, b->k[6], b->k[6] + b->k[7], b->k[7]);
  const double part = md_min(md_max((at - b->k[4]) / (b->k[5] - b->k[4]), 0.0), 1.0);
  return b->k[2] + part * (b->k[3] - b->k[2]);
}

/* Is a position, on any image along periodic axes, in the block? In two dimensions x[2] must be 0. */
MD_FN bool md_bias_in_block(const md_bias *b, const double x[3])
{
  bool in = true;
  for (int d = 0; d < 3; ++d) {
    const double at =
        b->k[9 + d] > 0.0 ? md_wrap(x[d], b->k[6 + d], b->k[6 + d] + b->k[9 + d], b->k[9 + d]) : x[d];
    in = in && at >= b->k[d] - b->k[12] && at <= b->k[3 + d] + b->k[12];
  }
  return in;
}

/* Has the particle at x thermal motion? */
MD_FN bool md_bias_counts(const md_bias *b, const double x[3])
{
  return b->kind != MD_BIAS_BLOCK || md_bias_in_block(b, x);
}

/* Takes the place and the periodic axes of the box into a block, and a margin for the rounding of positions
 * (md_model_margin). */
static inline void md_bias_settle_block(md_bias *b, const md_box *box, double margin)
{
  b->k[12] = margin;
  for (int d = 0; d < 3; ++d) {
    b->k[6 + d] = d < box->dim ? box->lo[d] : 0.0;
    b->k[9 + d] = d < box->dim && box->periodic[d] ? box->length[d] : 0.0;
  }
}

/* The bias along axis d of a particle at x, on any image along periodic axes. v: its velocity along d, in any unit;
 * velocity_per_v: the deck's velocity in this unit. The bias has the unit of v. */
MD_FN double md_bias_of(const md_bias *b, int d, const double x[3], double v, double velocity_per_v)
{
  if (b->kind == MD_BIAS_AXES) return b->k[d] != 0.0 ? 0.0 : v;
  if (b->kind == MD_BIAS_SHIFT) return b->k[d] / velocity_per_v;
  if (b->kind == MD_BIAS_BLOCK) return md_bias_in_block(b, x) ? 0.0 : v;
  if (b->kind == MD_BIAS_RAMP && b->k[0] == (double)d) return md_bias_ramp(b, x) / velocity_per_v;
  return 0.0;
}

/* Are two biases the same? */
static inline bool md_bias_equal(const md_bias *a, const md_bias *b)
{
  return a->kind == b->kind && memcmp(a->k, b->k, sizeof a->k) == 0;
}

#endif
