/* Migration and ghosts of a single rank. Its ghosts are periodic images of its own particles.
 *
 * 1. Axis by axis, from the last to the first, every particle or ghost within `width` of a periodic face gets an image
 *    at the opposite side. Images along one axis get images along the next axes too. So images at edges and corners
 *    appear without extra work, as in the halo exchange between ranks. In a tilted box an image across a face is first
 *    wrapped along the axes that come next (common/box.h). In a small box, whose side is less than `width`, a particle
 *    has several layers of images: the second layer is shifted by two sides, and so on.
 * 2. An image stores its source, which is an owned particle, and its shift in boxes. So an update of the positions
 *    is one gather.
 *
 * Cost: three scans of the owned particles for each rebin, and 28 bytes of memory traffic for each ghost and step.
 */
#include "common/ranks/decompose.h"
#include "src/engines/serial_state.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

static images *images_of(md_comm *c)
{
  serial_state *s = c->state;
  return &s->images;
}

static md_status migrate(md_comm *c, const md_model *model, md_particles *p)
{
  (void)c;
  p->nghost = 0;
  md_particles_wrap(p, &model->box);
  return MD_OK;
}

static md_status reserve(images *im, int64_t count)
{
  if (count <= im->capacity) return MD_OK;
  count += count / 8;
  int32_t *source;
  int8_t *shift[3];
  MD_TRY(md_array_new(&source, count, sizeof *source, "ghosts"));
  if (im->capacity > 0) memcpy(source, im->source, (size_t)im->capacity * sizeof *source);
  free(im->source);
  im->source = source;
  for (int d = 0; d < 3; ++d) {
    MD_TRY(md_array_new(&shift[d], count, 1, "ghosts"));
    if (im->capacity > 0) memcpy(shift[d], im->shift[d], (size_t)im->capacity);
    free(im->shift[d]);
    im->shift[d] = shift[d];
  }
  im->capacity = count;
  return MD_OK;
}

/* In a tilted box an image across a face is also shifted along the axes before. There it is wrapped into the brick. */
static void tilt_image(images *im, md_particles *p, int64_t g, int64_t to, int axis, int shift)
{
  const md_box *box = &im->box;
  double x[3] = {0.0, 0.0, 0.0};
  for (int d = 0; d < axis; ++d) x[d] = p->x[d][to];
  md_lattice_shift(box->length, box->offset, axis, shift, x);
  for (int d = axis - 1; d >= 0; --d)
    if (box->periodic[d])
      im->shift[d][g] =
          (int8_t)(im->shift[d][g] + md_lattice_wrap_along(box->lo, box->hi, box->length, box->offset, d, x));
  for (int d = 0; d < axis; ++d) p->x[d][to] = x[d];
}

static void add_image(images *im, md_particles *p, int64_t from, int64_t to, int axis, int shift)
{
  const int64_t g = to - p->n;
  const bool is_ghost = from >= p->n;
  im->source[g] = is_ghost ? im->source[from - p->n] : (int32_t)from;
  for (int d = 0; d < 3; ++d) im->shift[d][g] = is_ghost ? im->shift[d][from - p->n] : 0;
  for (int d = 0; d < p->dim; ++d) p->x[d][to] = p->x[d][from];
  im->shift[axis][g] = (int8_t)(im->shift[axis][g] + shift);
  p->x[axis][to] += shift * im->box.length[axis];
  if (axis > 0 && axis < 3 && im->box.triclinic) tilt_image(im, p, g, to, axis, shift);
  p->id[to] = p->id[from];
  p->type[to] = p->type[from];
  if (p->group) p->group[to] = p->group[from];
}

/* Appends the images of [0, sources) that are shifted by `layer` sides of the box along an axis, in both directions, in
 * two passes: count, then fill. */
static md_status append_layer(images *im, md_particles *p, int axis, int layer, double width, int64_t sources)
{
  const double nearer = width - (layer - 1) * im->box.length[axis];
  const double low = im->box.lo[axis] + nearer, high = im->box.hi[axis] - nearer;
  const int64_t total = p->n + p->nghost;
  const int chunks = omp_get_max_threads();
  int64_t *count;
  MD_TRY(md_array_new_zero(&count, chunks + 1, sizeof *count, "ghost counts"));
#pragma omp parallel for schedule(static, 1)
  for (int c = 0; c < chunks; ++c) {
    const double *x = p->x[axis];
    int64_t found = 0;
    for (int64_t i = sources * c / chunks; i < sources * (c + 1) / chunks; ++i)
      found += (x[i] < low) + (x[i] >= high);
    count[c + 1] = found;
  }
  for (int c = 0; c < chunks; ++c) count[c + 1] += count[c];
  const int64_t added = count[chunks];
  md_status status = md_particles_reserve(p, total + added + 1);
  if (status == MD_OK) status = reserve(im, p->nghost + added);
  if (status == MD_OK) {
#pragma omp parallel for schedule(static, 1)
    for (int c = 0; c < chunks; ++c) {
      int64_t to = total + count[c];
      for (int64_t i = sources * c / chunks; i < sources * (c + 1) / chunks; ++i) {
        if (p->x[axis][i] < low) add_image(im, p, i, to++, axis, layer);
        if (p->x[axis][i] >= high) add_image(im, p, i, to++, axis, -layer);
      }
    }
    p->nghost += added;
  }
  free(count);
  return status;
}

static md_status append_axis(images *im, md_particles *p, int axis, double width)
{
  const int64_t sources = p->n + p->nghost;
  const int layers = md_box_layers(&im->box, axis, width);
  for (int layer = 1; layer <= layers; ++layer) MD_TRY(append_layer(im, p, axis, layer, width, sources));
  return MD_OK;
}

static md_status halo_build(md_comm *c, const md_box *box, double width, md_particles *p)
{
  images *im = images_of(c);
  im->box = *box;
  p->nghost = 0;
  MD_TRY(md_halo_check(box, width));
  for (int d = box->dim - 1; d >= 0; --d)
    if (box->periodic[d] && width > 0.0) MD_TRY(append_axis(im, p, d, width));
  return MD_OK;
}

/* New places of the images of a tilted box along one axis: they depend on the shifts along the later axes too. */
static void place_tilted(const images *im, const md_box *box, md_particles *p, int d)
{
  const double length = box->length[d], *t = box->offset;
  const double second = d == 0 ? t[MD_XY] : 0.0, third = d == 0 ? t[MD_XZ] : d == 1 ? t[MD_YZ] : 0.0;
  double *x = p->x[d];
#pragma omp for schedule(static) nowait
  for (int64_t g = 0; g < p->nghost; ++g)
    x[p->n + g] =
        x[im->source[g]] + im->shift[d][g] * length + im->shift[1][g] * second + im->shift[2][g] * third;
}

static md_status halo_begin(md_comm *c, const md_box *box, md_particles *p)
{
  images *im = images_of(c);
  im->box = *box;
  if (p->nghost == 0) return MD_OK;
#pragma omp parallel
  for (int d = 0; d < p->dim; ++d) {
    if (box->triclinic) {
      place_tilted(im, box, p, d);
      continue;
    }
    const double length = box->length[d];
    double *x = p->x[d];
    const int8_t *shift = im->shift[d];
#pragma omp for schedule(static) nowait
    for (int64_t g = 0; g < p->nghost; ++g) x[p->n + g] = x[im->source[g]] + shift[g] * length;
  }
  return MD_OK;
}

static md_status halo_next(md_comm *c, md_particles *p, bool wait, bool *done)
{
  (void)c, (void)p, (void)wait;
  *done = true;
  return MD_OK;
}

static md_status halo_values(md_comm *c, const md_particles *p, double *value, int width)
{
  const images *im = images_of(c);
#pragma omp parallel for schedule(static)
  for (int64_t g = 0; g < p->nghost; ++g)
    memcpy(value + (p->n + g) * width, value + im->source[g] * (int64_t)width, (size_t)width * sizeof *value);
  return MD_OK;
}

static md_status sparse_exchange(md_comm *c, int64_t n, const int32_t *to, const void *records, int64_t size,
                                 void **received, int64_t *count)
{
  (void)c, (void)to;
  MD_TRY(md_array_new(received, n, (unsigned long)size, "particles to deliver"));
  if (n > 0) memcpy(*received, records, (size_t)(n * size));
  *count = n;
  return MD_OK;
}

const md_comm_exchange md_serial_exchange = {.migrate = migrate,
                                             .halo_build = halo_build,
                                             .halo_begin = halo_begin,
                                             .halo_next = halo_next,
                                             .halo_values = halo_values,
                                             .sparse_exchange = sparse_exchange};

void md_serial_images_free(images *im)
{
  free(im->source);
  for (int d = 0; d < 3; ++d) free(im->shift[d]);
}
