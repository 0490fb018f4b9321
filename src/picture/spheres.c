/* Drawing spheres into a front that all threads share; see spheres.h.
 *
 * A sphere covers the pixels whose centres are within its projected radius. A pixel is one word of 64 bits: the depth
 * of the surface there as a level of 32 bits, and the index of the sphere. A thread looks at the word first, and
 * replaces it by an atomic exchange only if its sphere is in front. Colours and light are found later, for the pixels
 * and not for the spheres.
 *
 * Trade-off: threads need no buffers of their own and no order, and the 2^32 levels decide what is in front. Cost: 8
 * bytes a pixel; about 40 ns of processor time for a sphere of one or two pixels, in random order of depth.
 */
#include "src/picture/spheres.h"
#include "common/arithmetic/real.h"

#include <math.h>

enum { INDEX_BITS = 32 };

md_status md_spheres_begin(md_spheres *s, double far, double near)
{
  static const double levels = 4294967290.0;
  s->far = far;
  s->level = near > far ? levels / (near - far) : 0.0;
  return md_array_new_zero(&s->front, (int64_t)s->camera.width * s->camera.height, sizeof *s->front,
                           "a picture");
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

/* Draws the part of a sphere in one row. from, to: the columns that it may cover. */
static void draw_row(const md_spheres *s, const double at[3], double square, int row, int from, int to,
                     int32_t index)
{
  const double dy = row + 0.5 - at[1];
  const bool middle = row == (int)floor(at[1]);
  const int centre = (int)floor(at[0]);
  uint64_t *pixel = s->front + (int64_t)row * s->camera.width;
  for (int column = from; column <= to; ++column) {
    const double dx = column + 0.5 - at[0], height = square - (dx * dx + dy * dy);
    if (height < 0.0 && !(middle && column == centre)) continue;
    const double depth = s->flat || height < 0.0 ? at[2] : at[2] + sqrt(height);
    const uint64_t level = (uint64_t)md_spheres_level(s, depth);
    put(s, &pixel[column], level << INDEX_BITS | (uint32_t)index);
  }
}

static int least(double a, int bound) { return a > bound ? (int)a : bound; }
static int most(double a, int bound) { return a < bound ? (int)a : bound; }

void md_spheres_add(md_spheres *s, const double x[3], double radius, int32_t index)
{
  const md_camera *c = &s->camera;
  const double r = radius * c->per_length;
  double at[3];
  md_camera_project(c, x, at);
  /* Also false for what is no number. */
  if (!(at[0] + r >= 0.0 && at[0] - r < c->width && at[1] + r >= 0.0 && at[1] - r < c->height)) return;
  const int from = least(md_min(ceil(at[0] - r - 0.5), floor(at[0])), 0);
  const int to = most(md_max(floor(at[0] + r - 0.5), floor(at[0])), c->width - 1);
  const int first = least(md_min(ceil(at[1] - r - 0.5), floor(at[1])), 0);
  const int last = most(md_max(floor(at[1] + r - 0.5), floor(at[1])), c->height - 1);
  for (int row = first; row <= last; ++row) draw_row(s, at, r * r, row, from, to, index);
}
