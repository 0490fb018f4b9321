/* The shapes of regions for fixes on forces: is a particle in one, and where does its surface come near it? C and CUDA.
 *
 * A block, a sphere, a cylinder or a half space, or all that it is not. The numbers are a list of doubles, so that they
 * lie among those of a fix: SHAPE_KIND, SHAPE_OUTSIDE (1: the region is the rest of space), SHAPE_AXIS of a cylinder,
 * and six numbers: of a block the lower and the upper faces, 2^1000 where there is none; of a sphere the centre and the
 * radius; of a cylinder the same, with 0 along the axis, then its ends; of a plane a point and the unit normal, which
 * points into the region.
 *
 * A position is wrapped into the box first, a tilted one into its parallelepiped, so that every image gives the same.
 *
 * Contacts. Within a block or a cylinder each face is one; from outside a convex shape has one, its nearest point.
 */
#ifndef MD_COMMON_FORCE_SHAPE_H
#define MD_COMMON_FORCE_SHAPE_H

#include "common/arithmetic/real.h"
#include "common/box.h"

enum { SHAPE_KIND, SHAPE_OUTSIDE, SHAPE_AXIS, SHAPE_AT, SHAPE_K = 9, SHAPE_BOX = 12, SHAPE_CONTACTS = 6 };
typedef enum md_shape_kind {
  SHAPE_NONE,
  SHAPE_BLOCK,
  SHAPE_SPHERE,
  SHAPE_CYLINDER,
  SHAPE_PLANE
} md_shape_kind;

/* From a point of the surface to the particle, and its length. */
typedef struct md_contact {
  double delta[3], r;
} md_contact;

/* From the centre of a sphere or the axis of a cylinder to x. Returns the length. */
MD_FN double md_shape_radial(const double *k, const double x[3], double delta[3])
{
  const int axis = k[SHAPE_KIND] == SHAPE_CYLINDER ? (int)k[SHAPE_AXIS] : 3;
  double r2 = 0.0;
  for (int d = 0; d < 3; ++d) {
    delta[d] = d == axis ? 0.0 : x[d] - k[SHAPE_AT + d];
    r2 = fma(delta[d], delta[d], r2);
  }
  return sqrt(r2);
}

/* How far x is above the plane. */
MD_FN double md_shape_height(const double *k, const double x[3])
{
  double above = 0.0;
  for (int d = 0; d < 3; ++d) above = fma(x[d] - k[SHAPE_AT + d], k[SHAPE_AT + 3 + d], above);
  return above;
}

/* Makes a shape larger by about `margin` on every side. */
static inline void md_shape_grow(double *k, double margin)
{
  double *at = k + SHAPE_AT;
  if (k[SHAPE_KIND] == SHAPE_PLANE)
    for (int d = 0; d < 3; ++d) at[d] -= 2.0 * margin * at[3 + d];
  if (k[SHAPE_KIND] == SHAPE_BLOCK)
    for (int d = 0; d < 3; ++d) {
      at[d] -= margin;
      at[3 + d] += margin;
    }
  if (k[SHAPE_KIND] == SHAPE_SPHERE || k[SHAPE_KIND] == SHAPE_CYLINDER) at[3] += 2.0 * margin;
  if (k[SHAPE_KIND] == SHAPE_CYLINDER) {
    at[4] -= margin;
    at[5] += margin;
  }
}

/* Puts x on its image in the box: box[SHAPE_BOX] are the numbers of md_box_place. */
MD_FN void md_shape_wrap(const double *box, double x[3]) { md_box_place(box, box + 3, box + 6, box + 9, x); }

/* Is x in the shape, or on its surface? */
MD_FN bool md_shape_encloses(const double *k, const double x[3])
{
  const double *at = k + SHAPE_AT;
  double delta[3];
  if (k[SHAPE_KIND] == SHAPE_PLANE) return md_shape_height(k, x) >= 0.0;
  if (k[SHAPE_KIND] == SHAPE_BLOCK) {
    bool in = true;
    for (int d = 0; d < 3; ++d) in = in && x[d] >= at[d] && x[d] <= at[3 + d];
    return in;
  }
  if (!(md_shape_radial(k, x, delta) <= at[3])) return false;
  if (k[SHAPE_KIND] == SHAPE_SPHERE) return true;
  const double along = x[(int)k[SHAPE_AXIS]];
  return along >= at[4] && along <= at[5];
}

MD_FN bool md_shape_contains(const double *k, const double x[3])
{
  return md_shape_encloses(k, x) != (k[SHAPE_OUTSIDE] != 0.0);
}

/* Adds the contact at `distance` from the surface along a direction of length `length`. */
MD_FN int md_shape_touch(md_contact *contact, int n, const double direction[3], double length,
                         double distance)
{
  for (int d = 0; d < 3; ++d) contact[n].delta[d] = length > 0.0 ? direction[d] / length * distance : 0.0;
  contact[n].r = distance;
  return n + 1;
}

/* The contacts of a particle within the two faces lo and hi along an axis. */
MD_FN int md_shape_between(double x, int axis, double lo, double hi, double cutoff, md_contact *contact,
                           int n)
{
  double up[3] = {0.0, 0.0, 0.0};
  up[axis] = 1.0;
  if (x - lo < cutoff) n = md_shape_touch(contact, n, up, 1.0, x - lo);
  up[axis] = -1.0;
  if (hi - x < cutoff) n = md_shape_touch(contact, n, up, 1.0, hi - x);
  return n;
}

/* The contacts of a particle in the shape. */
MD_FN int md_shape_within(const double *k, const double x[3], double cutoff, md_contact *contact)
{
  const double *at = k + SHAPE_AT;
  int n = 0;
  if (k[SHAPE_KIND] == SHAPE_PLANE) {
    const double above = md_shape_height(k, x);
    return above < cutoff ? md_shape_touch(contact, 0, at + 3, 1.0, above) : 0;
  }
  for (int d = 0; d < 3 && k[SHAPE_KIND] == SHAPE_BLOCK; ++d)
    n = md_shape_between(x[d], d, at[d], at[3 + d], cutoff, contact, n);
  if (k[SHAPE_KIND] == SHAPE_BLOCK) return n;
  double out[3];
  const double r = md_shape_radial(k, x, out), inward[3] = {-out[0], -out[1], -out[2]};
  if (at[3] - r < cutoff) n = md_shape_touch(contact, n, inward, r, at[3] - r);
  if (k[SHAPE_KIND] == SHAPE_SPHERE) return n;
  const int axis = (int)k[SHAPE_AXIS];
  return md_shape_between(x[axis], axis, at[4], at[5], cutoff, contact, n);
}

/* The contact of a particle outside the shape: its nearest point. */
MD_FN int md_shape_beyond(const double *k, const double x[3], double cutoff, md_contact *contact)
{
  const double *at = k + SHAPE_AT;
  double delta[3], r2 = 0.0;
  if (k[SHAPE_KIND] == SHAPE_PLANE) {
    const double below = -md_shape_height(k, x);
    for (int d = 0; d < 3; ++d) delta[d] = -at[3 + d];
    return below < cutoff ? md_shape_touch(contact, 0, delta, 1.0, below) : 0;
  }
  if (k[SHAPE_KIND] == SHAPE_BLOCK) {
    for (int d = 0; d < 3; ++d) delta[d] = x[d] - md_min(md_max(x[d], at[d]), at[3 + d]);
  } else {
    const double r = md_shape_radial(k, x, delta), out = md_max(r - at[3], 0.0);
    for (int d = 0; d < 3; ++d) delta[d] = r > 0.0 ? delta[d] / r * out : 0.0;
    const int axis = (int)k[SHAPE_AXIS];
    if (k[SHAPE_KIND] == SHAPE_CYLINDER) delta[axis] = x[axis] - md_min(md_max(x[axis], at[4]), at[5]);
  }
  for (int d = 0; d < 3; ++d) r2 = fma(delta[d], delta[d], r2);
  const double r = sqrt(r2);
  return r < cutoff ? md_shape_touch(contact, 0, delta, r, r) : 0;
}

/* The contacts nearer than cutoff of a particle in the region. Returns their number, at most SHAPE_CONTACTS. */
MD_FN int md_shape_contacts(const double *k, const double x[3], double cutoff, md_contact *contact)
{
  return k[SHAPE_OUTSIDE] != 0.0 ? md_shape_beyond(k, x, cutoff, contact)
                                 : md_shape_within(k, x, cutoff, contact);
}

#endif
