/* The front of a picture of the host's particles: which of them is seen at each pixel (common/sums/front.h). */
#ifndef MD_SRC_PICTURE_SPHERES_H
#define MD_SRC_PICTURE_SPHERES_H

#include "common/base/error.h"
#include "src/picture/camera.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct md_spheres {
  md_front of;
  const int64_t *id; /* by index of the sphere; the caller's */
  uint64_t *front;   /* [height][width]: level << 32 | index; 0: nothing is there */
} md_spheres;

/* Gives a front depths from `far` to `near`, pixels; those of spheres beyond are moved there. */
void md_front_range(md_front *front, double far, double near);

/* Makes an empty front, of which spheres->of is known. The caller frees spheres->front. MD_RUNTIME: out of memory. */
md_status md_spheres_begin(md_spheres *spheres) MD_CHECKED;

/* Draws sphere `index` with centre x and radius, sigma. At least the pixel of its centre is drawn. Several threads may
 * draw at a time. */
void md_spheres_add(md_spheres *spheres, const double x[3], double radius, int32_t index);

/* The sphere that is seen at a pixel; -1: none. */
static inline int64_t md_spheres_at(const md_spheres *s, int64_t pixel)
{
  return s->front[pixel] ? (int64_t)(s->front[pixel] & UINT32_MAX) : -1;
}

#endif
