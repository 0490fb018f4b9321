/* Drawing spheres into a front that all threads share; see spheres.h.
 *
 * A pixel is one word of 64 bits: the level of the surface there, and the index of the sphere. A thread looks at the
 * word first, and replaces it by an atomic exchange only if its sphere is in front. Colours and light are found later,
 * for the pixels and not for the spheres.
 *
 * Trade-off: threads need no buffers of their own and no order, and the 2^32 levels decide what is in front. Cost: 8
 * bytes a pixel; about 40 ns of processor time for a sphere of one or two pixels, in random order of depth.
 */
#include "src/picture/spheres.h"
#include "common/arithmetic/real.h"

#include <math.h>

enum { INDEX_BITS = 32 };

void md_front_range(md_front *front, double far, double near)
{
  static const double levels = 4294967290.0;
  front->far = far;
  front->level = near > far ? levels / (near - far) : 0.0;
}

md_status md_spheres_begin(md_spheres *s)
{
  const md_camera *c = &s->of.camera;
  return md_array_new_zero(&s->front, (int64_t)c->width * c->height, sizeof *s->front, "a picture");
}

/* Whether the first of two words is in front of the second. */
static bool is_before(const md_spheres *s, uint64_t a, uint64_t b)
{
  if (a >> INDEX_BITS != b >> INDEX_BITS) return a > b;
  return s->id[a & UINT32_MAX] < s->id[b & UINT32_MAX];
}

static void put(const md_spheres *s, uint64_t *pixel, uint64_t word)
{
  uint64_t seen = __atomic_load_n(pixel, __ATOMIC_RELAXED);
  while ((seen == 0 || is_before(s, word, seen)) &&
         !__atomic_compare_exchange_n(pixel, &seen, word, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

void md_spheres_add(md_spheres *s, const double x[3], double radius, int32_t index)
{
  const md_disc disc = md_front_disc(&s->of, x, radius);
  for (int row = disc.row[0]; row <= disc.row[1]; ++row)
    for (int column = disc.column[0]; column <= disc.column[1]; ++column) {
      const uint64_t level = md_front_level_at(&s->of, &disc, row, column);
      uint64_t *pixel = s->front + (int64_t)row * s->of.camera.width + column;
      if (level > 0) put(s, pixel, level << INDEX_BITS | (uint32_t)index);
    }
}
