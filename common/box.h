/* The box: a block with faces at right angles to the axes. Each axis is periodic or fixed.
 *
 * Units: lengths in sigma. In two dimensions axis 2 only holds the deck's z bounds, for output. After
 * md_model_prepare() lo, hi and length are multiples of the position quantum, so that x + length and x_i - x_j are
 * exact.
 */
#ifndef MD_COMMON_BOX_H
#define MD_COMMON_BOX_H

#include "common/real.h"
#include <stdbool.h>

typedef struct md_box {
  int dim; /* 2 or 3 */
  double lo[3], hi[3];
  double length[3]; /* hi - lo */
  bool periodic[3];
} md_box;

/* The volume in three dimensions, the area in two. */
static inline double md_box_volume(const md_box *box)
{
  const double area = box->length[0] * box->length[1];
  return box->dim == 3 ? area * box->length[2] : area;
}

/* A coordinate of a periodic axis moved into [lo, hi), from any distance. Exact, because all numbers are multiples of
 * the position quantum. */
MD_FN double md_wrap(double x, double lo, double hi, double length)
{
  while (x < lo) x += length;
  while (x >= hi) x -= length;
  return x;
}

/* The minimum image of d, a difference of two wrapped coordinates. Exact. */
MD_FN double md_minimum_image(double d, double length)
{
  if (d + d > length) return d - length;
  if (d + d < -length) return d + length;
  return d;
}

#endif
