/* The box: a block with faces at right angles to the axes. Each axis is periodic, or each of its faces is fixed or
 * follows the particles.
 *
 * A tilted (triclinic) box has the edges a = (lx, 0, 0), b = (xy, ly, 0) and c = (xz, yz, lz), as in LAMMPS. The block
 * with the sides lx, ly, lz, the brick, holds exactly one image of every point too. So engines keep particles, cells
 * and halos in the brick, and only images differ: an image across a z face is shifted by c, across a y face by b, and
 * across an x face by a. In this order, z before y before x, every point is wrapped into the brick. These are the
 * images of Lees and Edwards, so that a box in rest and a sheared one are the same. With tilt factors on the position
 * grid all of this is exact.
 *
 *          +-------------+                 +-------------+
 *         /             /                  |  brick      |
 *        /  as shown   /       the same    |  of         |     an image across the upper y face
 *       /             /        images      |  engines    |     lies ly higher, and xy further
 *      +-------------+                     +-------------+
 *
 * `offset` has the tilt factors of other edges b and c of the same lattice: those that are shifted by at most half a
 * side. With these, images need few shifts, and coordinates stay near the box. Output shows positions in the
 * parallelepiped of `tilt` (md_box_show).
 *
 * A face that follows lies a margin outside of the particle that is farthest out, as in LAMMPS (boundary s). It may
 * have a bound, and then never lies inside of that (boundary m). While an engine runs, such a face is an ordinary fixed
 * one that lies some way beyond the particles: see md_model_prepare. src/box/faces.h moves it to where it is shown.
 *
 * Units: lengths in the deck's unit. In two dimensions axis 2 only holds the deck's z bounds, for output. After
 * md_model_prepare() lo, hi and length are multiples of the position quantum, so that x + length and x_i - x_j are
 * exact.
 *
 * References: A. W. Lees and S. F. Edwards, J. Phys. C 5 (1972) 1921; the LAMMPS manual, Howto triclinic.
 */
#ifndef MD_COMMON_BOX_H
#define MD_COMMON_BOX_H

#include "common/arithmetic/real.h"
#include <stdbool.h>

/* What a face of an axis that is not periodic does. */
typedef enum md_face {
  MD_FACE_FIXED,
  MD_FACE_SHRINKS, /* follows the particles */
  MD_FACE_BOUNDED  /* follows the particles outwards, from its bound on */
} md_face;

/* Tilt factors, in the order of LAMMPS. */
enum { MD_XY, MD_XZ, MD_YZ };

/* The most that a tilt factor may be, in sides of the box. */
#define MD_TILT_MOST 1000.0

/* A cutoff may be as many periodic sides, so that a particle has a bounded number of images. */
#define MD_SIDES_MOST 16.0

/* Faces of the box that a ghost may lie behind along an axis: those of MD_SIDES_MOST with a skin as wide as the cutoff,
 * and some more. */
#define MD_LAYERS_MOST 40

typedef struct md_box {
  int dim; /* 2 or 3 */
  double lo[3], hi[3];
  double length[3]; /* hi - lo */
  bool triclinic;   /* may be tilted; tilt factors may be 0 all the same */
  double tilt[3];   /* xy, xz, yz */
  double offset[3]; /* of the shortest edges, for images; from md_box_set_tilt */
  bool periodic[3];
  md_face face[3][2]; /* below, above */
  double bound[3][2]; /* of faces with a bound: where create_box, read_data or change_box put them */
  double margin[3];   /* between a face that follows and the nearest particle */
  /* positions along axes with such faces, or that change, are between -room and room; 0: not chosen yet */
  double room;
  bool changes[3]; /* does a fix change the length along the axis during runs? */
  bool shears[3];  /* does a fix change the tilt factor during runs? */
} md_box;

/* The change of a box from one step to the next (common/step/step.h). Only periodic axes change. */
typedef struct md_box_move {
  bool pending; /* the next step changes the box; else the rest means nothing */
  double lo[3], hi[3];
  double stretch[3];   /* the drift of that step goes this much farther along the axis */
  uint32_t carried[3]; /* bits of the groups whose particles go with the box along the axis */
  double tilt[3];      /* of a triclinic box */
  uint32_t sheared;    /* bits of the groups whose particles go with its tilt factors */
  bool undoes;         /* of a step back: it undoes the change from these tilt factors to those of the box */
} md_box_move;

/* The flow of a box that is sheared at a constant rate. The velocity of a particle is that of its image in the brick,
 * so that it changes where the particle goes through a face: as LAMMPS says it, velocities are remapped. */
typedef struct md_flow {
  uint32_t group; /* bits of the groups for which this holds; 0: velocities do not change at faces */
  double rate[3]; /* by which the tilt factors grow in a unit of time */
} md_flow;

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

/* Does a fix change a side during runs? */
static inline bool md_box_sides_change(const md_box *box)
{
  return box->changes[0] || box->changes[1] || box->changes[2];
}

/* Does the box change during runs, by a fix or with the particles? Then its grids have room. */
static inline bool md_box_has_room(const md_box *box)
{
  return md_box_follows(box) || md_box_sides_change(box);
}

/* Does a fix change the box during runs, and not the particles? */
static inline bool md_box_is_changed(const md_box *box)
{
  return md_box_sides_change(box) || box->shears[0] || box->shears[1] || box->shears[2];
}

/* Is a periodic side shorter than twice the distance? Then a particle may have several images within this distance of
 * another one, and images of its own. The distance is 0 if there is none. */
static inline bool md_box_is_small(const md_box *box, double distance)
{
  bool small = false;
  for (int d = 0; d < box->dim; ++d) small = small || (box->periodic[d] && 2.0 * distance > box->length[d]);
  return small;
}

/* How many faces of a periodic axis lie within `width` of a domain that is the whole side: layers of images. At least
 * 1. */
static inline int md_box_layers(const md_box *box, int axis, double width)
{
  const double layers = ceil(width / box->length[axis]);
  return layers > 1.0 ? (int)fmin(layers, 0x1p20) : 1;
}

/* The same, the most along any periodic axis. */
static inline int md_box_most_layers(const md_box *box, double width)
{
  int most = 1;
  for (int d = 0; d < box->dim; ++d) {
    const int layers = box->periodic[d] ? md_box_layers(box, d, width) : 1;
    if (layers > most) most = layers;
  }
  return most;
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

/* The volume within r of a particle (in two dimensions the area), at most: that of the sphere, or of the box along axes
 * without images, whichever is less. */
static inline double md_box_ball(const md_box *box, double r)
{
  const double pi = 3.14159265358979, sphere = box->dim == 3 ? 4.0 / 3.0 * pi * r * r * r : pi * r * r;
  double block = 1.0;
  for (int d = 0; d < box->dim; ++d)
    block *= box->periodic[d] || 2.0 * r < box->length[d] ? 2.0 * r : box->length[d];
  return sphere < block ? sphere : block;
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

/* ---- tilted boxes ---- */

/* Shifts the point x by n times the edge `axis` of a lattice. Exact on the position grid. */
MD_FN void md_lattice_shift(const double *length, const double *offset, int axis, double n, double *x)
{
  x[axis] += n * length[axis];
  if (axis == 1) x[0] += n * offset[MD_XY];
  if (axis == 2) {
    x[0] += n * offset[MD_XZ];
    x[1] += n * offset[MD_YZ];
  }
}

/* Takes whole edges along periodic axes out of a way, so that the rest is that to the nearest image. n: how many. */
MD_FN void md_lattice_take(int dim, const bool periodic[3], const double *length, const double *offset,
                           double way[3], double n[3])
{
  for (int d = 2; d >= 0; --d) {
    n[d] = d < dim && periodic[d] ? rint(way[d] / length[d]) : 0.0;
    if (d < dim) md_lattice_shift(length, offset, d, -n[d], way);
  }
}

/* Moves the point x along `axis` into [lo, hi) by shifts of whole edges. Returns the number of shifts. */
MD_FN int md_lattice_wrap_along(const double *lo, const double *hi, const double *length,
                                const double *offset, int axis, double *x)
{
  int n = 0;
  for (; x[axis] < lo[axis]; ++n) md_lattice_shift(length, offset, axis, 1.0, x);
  for (; x[axis] >= hi[axis]; --n) md_lattice_shift(length, offset, axis, -1.0, x);
  return n;
}

/* Makes of delta, the difference of two points of the brick, the one between the nearest images. Every pair within half
 * of the shortest side has one image that near, and this finds it: along the later axes first. */
MD_FN void md_lattice_image(int dim, const bool *periodic, const double *length, const double *offset,
                            double *delta)
{
  for (int d = 2; d >= 0; --d) {
    if (d >= dim || !periodic[d]) continue;
    while (delta[d] + delta[d] > length[d]) md_lattice_shift(length, offset, d, -1.0, delta);
    while (delta[d] + delta[d] < -length[d]) md_lattice_shift(length, offset, d, 1.0, delta);
  }
}

/* Wraps the point x[0..dim) of any box along its periodic axes, into the brick. */
static inline void md_box_wrap(const md_box *box, double *x)
{
  for (int d = 2; d >= 0; --d)
    if (d < box->dim && box->periodic[d])
      md_lattice_wrap_along(box->lo, box->hi, box->length, box->offset, d, x);
}

/* The minimum image of delta[0..dim), a difference of two wrapped points. */
static inline void md_box_image(const md_box *box, double *delta)
{
  md_lattice_image(box->dim, box->periodic, box->length, box->offset, delta);
}

/* Subtracts whole sides, so that a tilt factor is at most half a side. Returns how many. */
static inline double md_tilt_reduce(double *tilt, double length)
{
  double n = 0.0;
  for (; *tilt > 0.5 * length; ++n) *tilt -= length;
  for (; *tilt < -0.5 * length; --n) *tilt += length;
  return n;
}

/* Sets the tilt factors, multiples of the position quantum, and the offsets. Exact. */
static inline void md_box_set_tilt(md_box *box, const double tilt[3])
{
  double *offset = box->offset;
  for (int k = 0; k < 3; ++k) box->tilt[k] = offset[k] = tilt[k];
  md_tilt_reduce(&offset[MD_XY], box->length[0]);
  md_tilt_reduce(&offset[MD_XZ], box->length[0]);
  for (double n = md_tilt_reduce(&offset[MD_YZ], box->length[1]); n != 0.0; n -= n > 0.0 ? 1.0 : -1.0) {
    offset[MD_XZ] += n > 0.0 ? -offset[MD_XY] : offset[MD_XY];
    md_tilt_reduce(&offset[MD_XZ], box->length[0]);
  }
}

/* The offset next to `was` that differs from `offset` by whole sides. */
static inline double md_tilt_next_to(double offset, double was, double length)
{
  offset -= rint((offset - was) / length) * length;
  while (offset - was > 0.5 * length) offset -= length;
  while (offset - was < -0.5 * length) offset += length;
  return offset;
}

/* The tilt factors of the same lattice as `tilt` that are next to `was`. A side less in yz is an edge b less in c, so
 * that xz has xy less. */
static inline void md_tilts_next_to(const double tilt[3], const double was[3], const double length[3],
                                    double next[3])
{
  next[MD_XY] = md_tilt_next_to(tilt[MD_XY], was[MD_XY], length[0]);
  next[MD_YZ] = md_tilt_next_to(tilt[MD_YZ], was[MD_YZ], length[1]);
  const double sides = rint((tilt[MD_YZ] - next[MD_YZ]) / length[1]);
  next[MD_XZ] = md_tilt_next_to(tilt[MD_XZ] - sides * next[MD_XY], was[MD_XZ], length[0]);
}

/* Gives the box, whose sides may be other ones now, tilt factors that continue those of `before`. The offsets change as
 * the tilt factors do. So images that were found before keep their shifts by whole edges. A jump of a tilt factor by
 * sides is a flip, of which an image knows nothing. Exact. */
static inline void md_box_follow_tilt(md_box *box, const md_box *before, const double tilt[3])
{
  for (int k = 0; k < 3; ++k) box->tilt[k] = tilt[k];
  md_tilts_next_to(tilt, before->offset, box->length, box->offset);
}

/* By how much the tilt factors go beyond their scaled ones, scale * from, where none of them jumps; `to` may have flips
 * by new sides. They depend on the tilt factors alone, not on the edges that count for images. */
static inline void md_tilt_change(const double from[3], const double to[3], const double scale[3],
                                  const double new_length[3], double change[3])
{
  double scaled[3];
  for (int k = 0; k < 3; ++k) scaled[k] = scale[k == MD_YZ ? 1 : 0] * from[k];
  md_tilts_next_to(to, scaled, new_length, change);
  for (int k = 0; k < 3; ++k) change[k] -= scaled[k];
}

/* The flips between a box with the tilt factors `before` and this one: by how much xy and xz have changed in sides lx,
 * and yz in sides ly. The rest of the change must be below half a side. */
static inline void md_box_flips(const md_box *box, const double before[3], int32_t flips[3])
{
  const double *l = box->length, *t = box->tilt;
  double next[3];
  md_tilts_next_to(t, before, l, next);
  flips[MD_XY] = (int32_t)rint((next[MD_XY] - t[MD_XY]) / l[0]);
  flips[MD_YZ] = (int32_t)rint((next[MD_YZ] - t[MD_YZ]) / l[1]);
  flips[MD_XZ] = (int32_t)rint((next[MD_XZ] - t[MD_XZ] - flips[MD_YZ] * t[MD_XY]) / l[0]);
}

/* Chooses the shortest edges of a sheared box again. Images that were found before do not hold then. */
static inline void md_box_shorten(md_box *box)
{
  const double tilt[3] = {box->tilt[0], box->tilt[1], box->tilt[2]};
  if (box->triclinic) md_box_set_tilt(box, tilt);
}

/* The fractions of the edges a, b and c at which a point of a tilted box lies. In two dimensions that of c is 0. */
MD_FN void md_box_fractions(const md_box *box, const double *x, double fraction[3])
{
  const double *l = box->length, *t = box->tilt;
  fraction[2] = box->dim == 3 ? (x[2] - box->lo[2]) / l[2] : 0.0;
  fraction[1] = (x[1] - box->lo[1] - t[MD_YZ] * fraction[2]) / l[1];
  fraction[0] = (x[0] - box->lo[0] - t[MD_XY] * fraction[1] - t[MD_XZ] * fraction[2]) / l[0];
}

/* The bounds of the block around the box. */
static inline void md_box_bounds(const md_box *box, double low[3], double high[3])
{
  const double *t = box->tilt, x[2] = {t[MD_XY], t[MD_XZ]};
  for (int d = 0; d < 3; ++d) {
    low[d] = box->lo[d];
    high[d] = box->hi[d];
  }
  for (int k = 0; k < 2; ++k) {
    low[0] += x[k] < 0.0 ? x[k] : 0.0;
    high[0] += x[k] > 0.0 ? x[k] : 0.0;
  }
  low[1] += t[MD_YZ] < 0.0 ? t[MD_YZ] : 0.0;
  high[1] += t[MD_YZ] > 0.0 ? t[MD_YZ] : 0.0;
}

/* How far outside of the brick a point that is shown may be: a side along periodic axes, and the tilt. */
static inline void md_box_image_reach(const md_box *box, double out[3])
{
  const double *t = box->tilt;
  for (int d = 0; d < 3; ++d) out[d] = box->periodic[d] ? box->length[d] : 0.0;
  out[0] += fabs(t[MD_XY]) + fabs(t[MD_XZ]);
  out[1] += fabs(t[MD_YZ]);
}

/* How many edges a point with this fraction of an edge is from the parallelepiped. A point that rounding alone has put
 * below the lower face, as a site of a lattice, stays there: with an edge more it would be at the opposite face. */
MD_FN double md_box_edges(double fraction)
{
  const double rounding = 0x1p-50;
  return fraction < 0.0 && fraction + rounding >= 0.0 ? 0.0 : floor(fraction);
}

/* Moves a point into the parallelepiped that LAMMPS shows, by whole edges along periodic axes. Which image is shown
 * follows from rounded arithmetic; its place is exact. */
MD_FN void md_box_show(const md_box *box, double *x)
{
  double fraction[3];
  for (int d = 2; d >= 0 && box->triclinic; --d) {
    if (d >= box->dim) continue;
    md_box_fractions(box, x, fraction);
    const double n = md_box_edges(fraction[d]);
    if (box->periodic[d] && n != 0.0 && isfinite(n)) md_lattice_shift(box->length, box->tilt, d, -n, x);
  }
}

/* Puts any image of a point on the one that output shows. The same for every image: the brick's image, which is exact,
 * comes first. lo: where the box begins; length: of periodic axes, else 0; offset: of the brick's images, 0 without a
 * tilt; tilt: the tilt factors. */
MD_FN void md_box_place(const double *lo, const double *length, const double *offset, const double *tilt,
                        double x[3])
{
  for (int d = 2; d >= 0; --d) {
    if (!(length[d] > 0.0)) continue;
    while (x[d] < lo[d]) md_lattice_shift(length, offset, d, 1.0, x);
    while (x[d] >= lo[d] + length[d]) md_lattice_shift(length, offset, d, -1.0, x);
  }
  if (tilt[MD_XY] == 0.0 && tilt[MD_XZ] == 0.0 && tilt[MD_YZ] == 0.0) return;
  /* An axis that is not periodic has no tilt. */
  for (int d = 1; d >= 0; --d) {
    const double of_c = length[2] > 0.0 ? (x[2] - lo[2]) / length[2] : 0.0;
    const double of_b = length[1] > 0.0 ? (x[1] - lo[1] - tilt[MD_YZ] * of_c) / length[1] : 0.0;
    const double of_a =
        length[0] > 0.0 ? (x[0] - lo[0] - tilt[MD_XY] * of_b - tilt[MD_XZ] * of_c) / length[0] : 0.0;
    const double n = md_box_edges(d == 1 ? of_b : of_a);
    if (n != 0.0) md_lattice_shift(length, tilt, d, -n, x);
  }
}

#endif
