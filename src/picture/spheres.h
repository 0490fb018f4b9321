/* The front of a picture: which of many spheres is seen at each pixel.
 *
 * Each pixel holds the sphere that is nearest to the viewer there; of two at the same depth the one with the smaller
 * id. So the front depends neither on the order of spheres nor on threads.
 */
#ifndef MD_SRC_PICTURE_SPHERES_H
#define MD_SRC_PICTURE_SPHERES_H

#include "common/base/error.h"
#include "src/picture/camera.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct md_spheres {
  md_camera camera;
  bool flat;         /* discs that face the viewer */
  double far, level; /* a depth z has level 1 + (z - far) * level; pixels */
  const int64_t *id; /* by index of the sphere; the caller's */
  uint64_t *front;   /* [height][width]: level << 32 | index; 0: nothing is there */
} md_spheres;

/* Makes an empty front for spheres with depths from `far` to `near`, pixels; others are moved there. The caller frees
 * spheres->front. MD_RUNTIME: out of memory. */
md_status md_spheres_begin(md_spheres *spheres, double far, double near) MD_CHECKED;

/* Draws sphere `index` with centre x and radius, sigma. At least the pixel of its centre is drawn. Several threads may
 * draw at a time. */
void md_spheres_add(md_spheres *spheres, const double x[3], double radius, int32_t index);

/* The sphere that is seen at a pixel; -1: none. */
static inline int64_t md_spheres_at(const md_spheres *s, int64_t pixel)
{
  return s->front[pixel] ? (int64_t)(s->front[pixel] & UINT32_MAX) : -1;
}

/* The level of a depth, 1 to 2^32 - 1. */
static inline double md_spheres_level(const md_spheres *s, double depth)
{
  const double level = 1.0 + (depth - s->far) * s->level;
  return level < 1.0 ? 1.0 : level > 4294967295.0 ? 4294967295.0 : level;
}

#endif
