/* The box: a block with faces at right angles to the axes. Each axis is periodic, or each of its faces is fixed or
 * follows the particles.
 *
 * A face that follows lies a margin outside of the particle that is farthest out, as in LAMMPS (boundary s). It may
 * have a bound, and then never lies inside of that (boundary m). While an engine runs, such a face is an ordinary fixed
 * one that lies some way beyond the particles: see md_model_prepare. src/box/faces.h moves it to where it is shown.
 *
 * Units: lengths in sigma. In two dimensions axis 2 only holds the deck's z bounds, for output. After
 * md_model_prepare() lo, hi and length are multiples of the position quantum, so that x + length and x_i - x_j are
 * exact.
 */
#ifndef MD_COMMON_BOX_H
#define MD_COMMON_BOX_H

#include "common/real.h"
#include <stdbool.h>

/* What a face of an axis that is not periodic does. */
typedef enum md_face {
  MD_FACE_FIXED,
  MD_FACE_SHRINKS, /* follows the particles */
  MD_FACE_BOUNDED  /* follows the particles outwards, from its bound on */
} md_face;

typedef struct md_box {
  int dim; /* 2 or 3 */
  double lo[3], hi[3];
  double length[3]; /* hi - lo */
  bool periodic[3];
  md_face face[3][2]; /* below, above */
  double bound[3][2]; /* of faces with a bound: where create_box, read_data or change_box put them */
  double margin[3];   /* between a face that follows and the nearest particle */
  double room;        /* positions along axes with such faces are between -room and room; 0: not chosen yet */
} md_box;

static inline bool md_box_face_follows(const md_box *box, int axis, int side)
{
  return axis < box->dim && !box->periodic[axis] && box->face[axis][side] != MD_FACE_FIXED;
}

/* Does any face follow the particles? */
static inline bool md_box_follows(const md_box *box)
{
  bool any = false;
  for (int d = 0; d < box->dim; ++d)
    any = any || md_box_face_follows(box, d, 0) || md_box_face_follows(box, d, 1);
  return any;
}

/* Moves the lower (side 0) or the upper face of an axis. */
static inline void md_box_move_face(md_box *box, int axis, int side, double to)
{
  *(side ? &box->hi[axis] : &box->lo[axis]) = to;
  box->length[axis] = box->hi[axis] - box->lo[axis];
}

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
