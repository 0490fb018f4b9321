/* The front of a picture of particles: which of many spheres is seen at each pixel. C and CUDA.
 *
 *      sphere -> place in the picture, and depth -> pixels whose centres are within its radius -> level at each of them
 *
 * A level is a depth in 2^32 - 1 parts of the depth of the scene. The sphere with the highest level is seen, and of
 * several with the same level the one with the smallest id. So the front depends neither on the order of spheres nor on
 * threads, engines and ranks. All operations are those that IEEE rounds.
 *
 * Units: the deck's unit of length in space, pixels in the picture. A projected place has the distance from the
 * picture's left edge, that from its upper edge, and that towards the viewer from the point in the middle of the
 * picture. The projection is a parallel one. Cost: some 60 operations for a sphere of one or two pixels.
 */
#ifndef MD_COMMON_SUMS_FRONT_H
#define MD_COMMON_SUMS_FRONT_H

#include "common/sums/each.h"

typedef struct md_camera {
  int width, height;                 /* pixels */
  double right[3], up[3], toward[3]; /* unit vectors; toward the viewer */
  double centre[3];                  /* the point in the middle of the picture */
  double per_length;                 /* pixels in a unit of length */
} md_camera;

typedef struct md_front {
  md_camera camera;
  bool flat;         /* discs that face the viewer */
  double far, level; /* a depth z has level 1 + (z - far) * level; pixels */
} md_front;

/* A sphere in the picture: its place, the square of its radius, and the pixels that it may cover. */
typedef struct md_disc {
  double at[3], square;
  int row[2], column[2]; /* first and last; first > last: none */
} md_disc;

/* What an engine draws: its particles of a group, with radii by type. */
typedef struct md_drawing {
  md_front front;
  uint32_t group; /* bit of the group */
  int ntypes;
  const double *radius; /* by type, from 1; 0: not drawn */
  bool valued;          /* is a value wanted of what is seen? */
  md_each value;
} md_drawing;

/* The particle that is seen at a pixel. */
typedef struct md_sight {
  double x[3]; /* where it is shown */
  double value;
  int64_t id;
  int32_t type;
  uint32_t level; /* of its surface; 0: nothing is seen */
} md_sight;

MD_FN double md_dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

MD_FN void md_camera_project(const md_camera *c, const double x[3], double at[3])
{
  const double d[3] = {x[0] - c->centre[0], x[1] - c->centre[1], x[2] - c->centre[2]};
  at[0] = 0.5 * c->width + c->per_length * md_dot(d, c->right);
  at[1] = 0.5 * c->height - c->per_length * md_dot(d, c->up);
  at[2] = c->per_length * md_dot(d, c->toward);
}

/* The level of a depth, 1 to 2^32 - 1. */
MD_FN double md_front_level(const md_front *f, double depth)
{
  const double level = 1.0 + (depth - f->far) * f->level;
  return level < 1.0 ? 1.0 : level > 4294967295.0 ? 4294967295.0 : level;
}

MD_FN int md_front_least(double a, int bound) { return a > bound ? (int)a : bound; }
MD_FN int md_front_most(double a, int bound) { return a < bound ? (int)a : bound; }

/* The disc of a sphere at x. At least the pixel of its centre is covered, if that is in the picture. */
MD_FN md_disc md_front_disc(const md_front *f, const double x[3], double radius)
{
  const md_camera *c = &f->camera;
  const double r = radius * c->per_length;
  md_disc disc = {{0.0, 0.0, 0.0}, r * r, {0, -1}, {0, -1}};
  double *at = disc.at;
  md_camera_project(c, x, at);
  /* Also false for what is no number. */
  if (!(at[0] + r >= 0.0 && at[0] - r < c->width && at[1] + r >= 0.0 && at[1] - r < c->height)) return disc;
  disc.column[0] = md_front_least(md_min(ceil(at[0] - r - 0.5), floor(at[0])), 0);
  disc.column[1] = md_front_most(md_max(floor(at[0] + r - 0.5), floor(at[0])), c->width - 1);
  disc.row[0] = md_front_least(md_min(ceil(at[1] - r - 0.5), floor(at[1])), 0);
  disc.row[1] = md_front_most(md_max(floor(at[1] + r - 0.5), floor(at[1])), c->height - 1);
  return disc;
}

/* The level of a disc at a pixel that it may cover; 0: it does not. */
MD_FN uint32_t md_front_level_at(const md_front *f, const md_disc *disc, int row, int column)
{
  const double dx = column + 0.5 - disc->at[0], dy = row + 0.5 - disc->at[1];
  const double height = disc->square - (dx * dx + dy * dy);
  if (height < 0.0 && !(row == (int)floor(disc->at[1]) && column == (int)floor(disc->at[0]))) return 0u;
  const double depth = f->flat || height < 0.0 ? disc->at[2] : disc->at[2] + sqrt(height);
  return (uint32_t)md_front_level(f, depth);
}

#endif
