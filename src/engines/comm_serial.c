/* The communicator of a single rank. Its ghosts are periodic images of its own particles.
 *
 * 1. Axis by axis, every particle or ghost within `width` of a periodic face gets an image at the opposite side.
 *    Images along one axis get images along the next axes too. So images at edges and corners appear without extra
 *    work, as in the halo exchange between ranks.
 * 2. An image stores its source, which is an owned particle, and its shift in boxes. So an update of the positions
 *    is one gather.
 *
 * `width` must not exceed the side of the box; the engines limit their skin for this.
 *
 * Cost: three scans of the owned particles for each rebin, and 28 bytes of memory traffic for each ghost and step.
 */
#include "common/base/open_file.h"
#include "common/ranks/comm.h"

#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef struct images {
  double maxima[MD_MAX_VALUES]; /* values of max_begin */
  int nmaxima;
  int64_t capacity;
  int32_t *source;
  int8_t *shift[3]; /* -1, 0, 1 boxes */
  md_box box;
  double cut[2];
} images;

static md_status sum(md_comm *c, int64_t *values, int n)
{
  (void)c, (void)values, (void)n;
  return MD_OK;
}

static md_status largest(md_comm *c, double *values, int n)
{
  (void)c, (void)values, (void)n;
  return MD_OK;
}

static md_status max_begin(md_comm *c, const double *values, int n)
{
  images *im = c->state;
  memcpy(im->maxima, values, (size_t)n * sizeof *values);
  im->nmaxima = n;
  return MD_OK;
}

static md_status max_next(md_comm *c, bool wait, double *values, bool *done)
{
  const images *im = c->state;
  (void)wait;
  memcpy(values, im->maxima, (size_t)im->nmaxima * sizeof *values);
  *done = true;
  return MD_OK;
}

static md_status exclusive_sum(md_comm *c, int64_t *value)
{
  (void)c;
  *value = 0;
  return MD_OK;
}

static md_status agree(md_comm *c, md_status status)
{
  (void)c;
  return status;
}

static md_status decompose(md_comm *c, const md_model *model, double width)
{
  (void)c, (void)model, (void)width;
  return MD_OK;
}

static void prefer_slabs(md_comm *c, double thickness) { (void)c, (void)thickness; }

static void fix_grid(md_comm *c, const int wanted[3]) { (void)c, (void)wanted; }

static void grid(md_comm *c, int count[3], int place[3])
{
  (void)c;
  for (int d = 0; d < 3; ++d) {
    count[d] = 1;
    place[d] = 0;
  }
}

static void domain(md_comm *c, const md_box *box, double lo[3], double hi[3])
{
  (void)c;
  for (int d = 0; d < 3; ++d) {
    lo[d] = box->lo[d];
    hi[d] = box->hi[d];
  }
}

static const double *cuts(md_comm *c, const md_box *box, int axis)
{
  images *im = c->state;
  im->cut[0] = box->lo[axis];
  im->cut[1] = box->hi[axis];
  return im->cut;
}

static int rank_at(md_comm *c, const int place[3])
{
  (void)c, (void)place;
  return 0;
}

static md_status rebalance(md_comm *c, const md_model *model, const md_particles *p, double imbalance[2])
{
  (void)c, (void)model, (void)p;
  imbalance[0] = imbalance[1] = 1.0;
  return MD_OK;
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

static void add_image(images *im, md_particles *p, int64_t from, int64_t to, int axis, int shift)
{
  const int64_t g = to - p->n;
  const bool is_ghost = from >= p->n;
  im->source[g] = is_ghost ? im->source[from - p->n] : (int32_t)from;
  for (int d = 0; d < p->dim; ++d) {
    im->shift[d][g] = is_ghost ? im->shift[d][from - p->n] : 0;
    p->x[d][to] = p->x[d][from];
  }
  im->shift[axis][g] = (int8_t)shift;
  p->x[axis][to] += shift * im->box.length[axis];
  p->id[to] = p->id[from];
  p->type[to] = p->type[from];
}

/* Appends the images of [0, n + nghost) across both faces of one axis, in two passes: count, then fill. */
static md_status append_axis(images *im, md_particles *p, int axis, double width)
{
  const double low = im->box.lo[axis] + width, high = im->box.hi[axis] - width;
  const int64_t total = p->n + p->nghost;
  const int chunks = omp_get_max_threads();
  int64_t *count;
  MD_TRY(md_array_new_zero(&count, chunks + 1, sizeof *count, "ghost counts"));
#pragma omp parallel for schedule(static, 1)
  for (int c = 0; c < chunks; ++c) {
    const double *x = p->x[axis];
    int64_t found = 0;
    for (int64_t i = total * c / chunks; i < total * (c + 1) / chunks; ++i)
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
      for (int64_t i = total * c / chunks; i < total * (c + 1) / chunks; ++i) {
        if (p->x[axis][i] < low) add_image(im, p, i, to++, axis, 1);
        if (p->x[axis][i] >= high) add_image(im, p, i, to++, axis, -1);
      }
    }
    p->nghost += added;
  }
  free(count);
  return status;
}

static md_status halo_build(md_comm *c, const md_box *box, double width, md_particles *p)
{
  images *im = c->state;
  im->box = *box;
  p->nghost = 0;
  for (int d = 0; d < box->dim; ++d)
    if (box->periodic[d] && width > 0.0) MD_TRY(append_axis(im, p, d, width));
  return MD_OK;
}

static md_status halo_begin(md_comm *c, md_particles *p)
{
  const images *im = c->state;
  if (p->nghost == 0) return MD_OK;
#pragma omp parallel
  for (int d = 0; d < p->dim; ++d) {
    const double length = im->box.length[d];
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

static md_status sparse_exchange(md_comm *c, int64_t n, const int32_t *to, const void *records, int64_t size,
                                 void **received, int64_t *count)
{
  (void)c, (void)to;
  MD_TRY(md_array_new(received, n, (unsigned long)size, "particles to deliver"));
  if (n > 0) memcpy(*received, records, (size_t)(n * size));
  *count = n;
  return MD_OK;
}

static int64_t hdf5_access(md_comm *c)
{
  (void)c;
  return -1;
}

static md_status open_transport(md_comm *c, const char *name, md_transport **transport)
{
  (void)c, (void)name;
  *transport = NULL;
  return MD_OK;
}

static md_status finalise(md_comm *c, md_status status, bool *alone)
{
  (void)c;
  *alone = false;
  return status;
}

/* ---- files ---- */

struct md_comm_file {
  FILE *file;
  char *path;
  int reason; /* errno of the first failed write; 0: none */
};

static md_status cannot_write(const char *path, int reason)
{
  return md_error(MD_RUNTIME, "cannot write %.500s: %s", path, strerror(reason));
}

static md_status give_up(md_comm_file *f)
{
  if (!f->reason) f->reason = errno ? errno : EIO;
  return cannot_write(f->path, f->reason);
}

static md_status file_open(md_comm *c, const char *path, bool append, md_comm_file **file, int64_t *bytes)
{
  (void)c;
  md_comm_file *f = calloc(1, sizeof *f);
  char *copy = strdup(path);
  if (!f || !copy) {
    free(f);
    free(copy);
    return md_error(MD_RUNTIME, "out of memory while opening %.500s", path);
  }
  f->path = copy;
  f->file = md_open_write(path, append);
  if (!f->file) {
    const md_status status = md_error(MD_RUNTIME, "cannot write %.500s: %s", path, md_open_reason(errno));
    free(copy);
    free(f);
    return status;
  }
  struct stat about;
  *bytes = fstat(fileno(f->file), &about) == 0 ? (int64_t)about.st_size : 0;
  *file = f;
  return MD_OK;
}

static md_status file_append(md_comm *c, md_comm_file *f, const void *bytes, int64_t n)
{
  (void)c;
  if (n == 0) return MD_OK;
  errno = 0;
  return fwrite(bytes, 1, (size_t)n, f->file) == (size_t)n ? MD_OK : give_up(f);
}

static md_status file_back(md_comm *c, md_comm_file *f, int64_t n)
{
  (void)c;
  errno = 0;
  const int descriptor = fileno(f->file), flags = fcntl(descriptor, F_GETFL);
  /* With O_APPEND a write goes to the end of the file, wherever the position is. */
  if (fflush(f->file) != 0 || flags < 0) return give_up(f);
  if ((flags & O_APPEND) && fcntl(descriptor, F_SETFL, flags & ~O_APPEND) != 0) return give_up(f);
  return fseeko(f->file, -(off_t)n, SEEK_END) == 0 ? MD_OK : give_up(f);
}

static md_status file_flush(md_comm *c, md_comm_file *f)
{
  (void)c;
  errno = 0;
  return fflush(f->file) == 0 ? MD_OK : give_up(f);
}

static md_status file_close(md_comm *c, md_comm_file *f)
{
  (void)c;
  errno = 0;
  md_status status = MD_OK;
  if (fclose(f->file) != 0 || f->reason) status = give_up(f);
  free(f->path);
  free(f);
  return status;
}

static void destroy(md_comm *c)
{
  images *im = c->state;
  free(im->source);
  for (int d = 0; d < 3; ++d) free(im->shift[d]);
  free(im);
  free(c);
}

md_status md_comm_serial(md_comm **comm)
{
  md_comm *c = calloc(1, sizeof *c);
  images *im = calloc(1, sizeof *im);
  if (!c || !im) {
    free(c);
    free(im);
    return md_error(MD_RUNTIME, "out of memory");
  }
  *c = (md_comm){.rank = 0,
                 .size = 1,
                 .local_size = 1,
                 .state = im,
                 .sum = sum,
                 .max = largest,
                 .max_begin = max_begin,
                 .max_next = max_next,
                 .exclusive_sum = exclusive_sum,
                 .agree = agree,
                 .decompose = decompose,
                 .prefer_slabs = prefer_slabs,
                 .fix_grid = fix_grid,
                 .grid = grid,
                 .domain = domain,
                 .cuts = cuts,
                 .rank_at = rank_at,
                 .rebalance = rebalance,
                 .migrate = migrate,
                 .halo_build = halo_build,
                 .halo_begin = halo_begin,
                 .halo_next = halo_next,
                 .sparse_exchange = sparse_exchange,
                 .file_open = file_open,
                 .file_append = file_append,
                 .file_back = file_back,
                 .file_flush = file_flush,
                 .file_close = file_close,
                 .hdf5_access = hdf5_access,
                 .open_transport = open_transport,
                 .finalise = finalise,
                 .destroy = destroy};
  *comm = c;
  return MD_OK;
}
