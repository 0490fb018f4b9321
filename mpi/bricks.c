/* Bricks: recursive bisection of the box, and the halo of domains that are no grid.
 *
 * Bisection. A plane across the longest side of a brick divides its loads between two halves of the ranks, in
 * proportion to their numbers, and so on until each rank has a brick (common/ranks/decompose.h). The place of a plane
 * comes from a histogram of the loads along that side, summed over ranks, and from a second one within the bin that it
 * lies in. So a plane has 65536 bins, and within the last bin the loads count as uniform. MPI sends the 2 KB of a
 * histogram at once; larger messages wait until the receiver is ready.
 *
 * Halo. A brick may touch any number of others. So each rank sends directly to all ranks near it: every image of its
 * particles, under shifts by the sides of the box, within `width` of the other's brick. All ranks know all bricks, so
 * that both sides know which messages there are. A rank that is near images of itself keeps these messages in memory.
 *
 * Trade-off: any system is balanced. But there are more messages than with a grid, and each plane costs two passes over
 * the particles: bisection is for a few hundred ranks.
 * Cost: a halo sends each ghost once, in one round, where that of a grid takes a round for each axis.
 * Reference: M. Berger and S. Bokhari, IEEE Trans. Comput. C-36 (1987) 570; the LAMMPS manual, command balance, rcb. */
#include "common/ranks/balance.h"
#include "mpi/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 256, IMAGES = 27, SELF = 13, TAG = 77 };

/* ---- bisection ---- */

/* A brick that is divided: ranks [first, first + n), and its faces as fractions of the box. */
typedef struct brick {
  int first, n;
  double lo[3], hi[3];
} brick;

/* The loads of the particles of this brick in BINS bins between two fractions of an axis. in[i]: the first rank of the
 * brick of particle i. Collective. */
static md_status count_loads(md_comm *c, const md_box *box, const md_particles *p, const int32_t *in,
                             const brick *b, int axis, double from, double to, int64_t *histogram)
{
  const double lo = box->lo[axis], per_length = 1.0 / box->length[axis], per_bin = BINS / (to - from);
  memset(histogram, 0, BINS * sizeof *histogram);
#pragma omp parallel for schedule(static) reduction(+ : histogram[:BINS])
  for (int64_t i = 0; i < p->n; ++i) {
    if (in[i] != b->first) continue;
    const double at = ((p->x[axis][i] - lo) * per_length - from) * per_bin;
    histogram[at > 0.0 ? (at < BINS ? (int)at : BINS - 1) : 0] += md_balance_load_of(&c->balance, p, i);
  }
  return md_mpi_sum(c, histogram, BINS);
}

/* The bin in which `wanted` of the load lies, and what of it remains in this bin. */
static int find_bin(const int64_t *histogram, double *wanted)
{
  int bin = 0;
  while (bin < BINS - 1 && *wanted > (double)histogram[bin]) *wanted -= (double)histogram[bin++];
  return bin;
}

/* Finds the plane of a brick. It leaves each rank at least a 1024th of an even share of the side. */
static md_status find_plane(md_comm *c, const md_box *box, const md_particles *p, const int32_t *in,
                            const brick *b, md_bisector *plane)
{
  int64_t histogram[BINS], total = 0;
  int axis = 0;
  /* Of equal sides the last one is cut, because particles at the faces along it lie together in memory. */
  for (int a = 1; a < 3 && a < box->dim; ++a)
    if ((b->hi[a] - b->lo[a]) * box->length[a] >= (b->hi[axis] - b->lo[axis]) * box->length[axis]) axis = a;
  const int below = b->n / 2, above = b->n - below;
  const double lo = b->lo[axis], hi = b->hi[axis], share = (double)below / b->n,
               least = (hi - lo) / (1024.0 * b->n);
  const double width = (hi - lo) / BINS;
  double at = lo + share * (hi - lo);
  MD_TRY(count_loads(c, box, p, in, b, axis, lo, hi, histogram));
  for (int k = 0; k < BINS; ++k) total += histogram[k];
  if (total > 0) {
    double wanted = share * (double)total;
    const double from = lo + find_bin(histogram, &wanted) * width;
    MD_TRY(count_loads(c, box, p, in, b, axis, from, from + width, histogram));
    /* Particles beyond the bin were counted in its first and last one. */
    wanted = share * (double)total;
    const int bin = find_bin(histogram, &wanted);
    at = from +
         (bin + (histogram[bin] > 0 ? md_min(wanted / (double)histogram[bin], 1.0) : 0.0)) * width / BINS;
  }
  plane->axis = axis;
  plane->fraction = md_max(lo + below * least, md_min(at, hi - above * least));
  return MD_OK;
}

/* Divides a brick, and then both of its parts. The depth is the binary logarithm of the number of ranks. */
// NOLINTNEXTLINE(misc-no-recursion)
static md_status divide(md_comm *c, const md_box *box, const md_particles *p, int32_t *in, const brick *b)
{
  if (b->n == 1) return MD_OK;
  brick lower = *b, upper = *b;
  lower.n = b->n / 2;
  upper.first = b->first + lower.n;
  upper.n = b->n - lower.n;
  md_bisector *plane = &mpi_state_of(c)->division.bisector[upper.first];
  MD_TRY(find_plane(c, box, p, in, b, plane));
  lower.hi[plane->axis] = upper.lo[plane->axis] = plane->fraction;
  const double cut = fma(plane->fraction, box->length[plane->axis], box->lo[plane->axis]);
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i)
    if (in[i] == b->first && p->x[plane->axis][i] >= cut) in[i] = upper.first;
  MD_TRY(divide(c, box, p, in, &lower));
  return divide(c, box, p, in, &upper);
}

md_status md_mpi_bisect(md_comm *c, const md_box *box, const md_particles *p)
{
  const brick whole = {.n = c->size, .hi = {1.0, 1.0, 1.0}};
  int32_t *in;
  MD_TRY(md_comm_agree(c, md_array_new_zero(&in, p->n + 1, sizeof *in, "the bricks of particles")));
  const md_status status = divide(c, box, p, in, &whole);
  free(in);
  return status;
}

/* ---- ghosts ---- */

static void shift_of(const md_box *box, int image, double shift[3])
{
  for (int a = 0; a < 3; ++a, image /= 3) shift[a] = (image % 3 - 1) * box->length[a];
}

/* Is an image one of the periodic ones, and not the particle itself at its own rank? */
static bool is_wanted(const md_box *box, int image, bool own)
{
  for (int a = 0, rest = image; a < 3; ++a, rest /= 3)
    if (rest % 3 != 1 && !(a < box->dim && box->periodic[a])) return false;
  return !(own && image == SELF);
}

/* Can an image of the brick [lo, hi), shifted, lie within `width` of the brick [from, to)? */
static bool reaches(const double lo[3], const double hi[3], const double shift[3], const double from[3],
                    const double to[3], double width, int dim)
{
  for (int a = 0; a < dim; ++a)
    if (hi[a] + shift[a] < from[a] - width || lo[a] + shift[a] > to[a] + width) return false;
  return true;
}

static md_status add_ghost(brick_message *m, int32_t i, int image)
{
  if (m->nsend == m->capacity) {
    const int64_t capacity = 2 * m->capacity + 64;
    int32_t *send = realloc(m->send, (size_t)capacity * sizeof *send);
    if (send) m->send = send;
    uint8_t *images = send ? realloc(m->image, (size_t)capacity * sizeof *images) : NULL;
    if (!images) return md_error(MD_RUNTIME, "out of memory for halo lists");
    m->image = images;
    m->capacity = capacity;
  }
  m->send[m->nsend] = i;
  m->image[m->nsend++] = (uint8_t)image;
  return MD_OK;
}

/* Adds the particles whose image is in the halo of the other rank, whose brick is [from, to). */
static md_status choose_image(const md_particles *p, const double shift[3], const double from[3],
                              const double to[3], double width, int image, brick_message *m)
{
  for (int64_t i = 0; i < p->n; ++i) {
    bool inside = true;
    for (int a = 0; a < p->dim && inside; ++a) {
      const double x = p->x[a][i] + shift[a];
      inside = x >= from[a] - width && x <= to[a] + width;
    }
    if (inside) MD_TRY(add_ghost(m, (int32_t)i, image));
  }
  return MD_OK;
}

/* Finds what goes to one rank. *near: there are messages, perhaps empty, in both directions. */
static md_status choose_rank(md_comm *c, const md_box *box, double width, const md_particles *p,
                             brick_message *m, bool *near)
{
  const md_decomposition *d = &mpi_state_of(c)->division;
  double lo[3], hi[3], from[3], to[3], shift[3];
  md_decomposition_domain(d, box, c->rank, lo, hi);
  md_decomposition_domain(d, box, m->rank, from, to);
  *near = false;
  for (int image = 0; image < IMAGES; ++image) {
    if (!is_wanted(box, image, m->rank == c->rank)) continue;
    shift_of(box, image, shift);
    /* The other rank asks the same with both bricks exchanged, and the opposite shift. */
    const double back[3] = {-shift[0], -shift[1], -shift[2]};
    const bool there = reaches(lo, hi, shift, from, to, width, box->dim);
    *near = *near || there || reaches(from, to, back, lo, hi, width, box->dim);
    if (there) MD_TRY(choose_image(p, shift, from, to, width, image, m));
  }
  return MD_OK;
}

static md_status choose_all(md_comm *c, const md_box *box, double width, const md_particles *p)
{
  mpi_state *s = mpi_state_of(c);
  MD_TRY(md_array_new_zero(&s->brick, c->size, sizeof *s->brick, "halo messages"));
  for (int rank = 0; rank < c->size; ++rank) {
    brick_message *m = &s->brick[s->nbrick];
    bool near;
    *m = (brick_message){.rank = rank, .request = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};
    ++s->nbrick; /* so that its lists are freed after an error */
    MD_TRY(choose_rank(c, box, width, p, m, &near));
    if (m->nsend > INT32_MAX / 8)
      return md_error(MD_RUNTIME, "too many ghosts for a message: use more ranks");
    if (!near) --s->nbrick;
  }
  return MD_OK;
}

/* Sends `sent` words of 8 bytes to the rank of a message, and receives `received` words from it. A message to this rank
 * itself is copied. */
static md_status start_words(md_comm *c, brick_message *m, const void *out, int64_t sent, void *in,
                             int64_t received)
{
  mpi_state *s = mpi_state_of(c);
  m->request[0] = m->request[1] = MPI_REQUEST_NULL;
  if (m->rank == c->rank) {
    memcpy(in, out, (size_t)(sent * 8));
    return MD_OK;
  }
  MD_MPI(MPI_Irecv(in, (int)received, MPI_INT64_T, m->rank, TAG, s->halo, &m->request[0]));
  MD_MPI(MPI_Isend(out, (int)sent, MPI_INT64_T, m->rank, TAG, s->halo, &m->request[1]));
  return MD_OK;
}

/* The same with this number of bytes for each ghost of the message. */
static md_status start(md_comm *c, brick_message *m, const void *out, void *in, int64_t bytes)
{
  return start_words(c, m, out, m->nsend * (bytes / 8), in, m->nreceive * (bytes / 8));
}

static md_status wait_all(mpi_state *s)
{
  for (int k = 0; k < s->nbrick; ++k) MD_MPI(MPI_Waitall(2, s->brick[k].request, MPI_STATUSES_IGNORE));
  return MD_OK;
}

static md_status exchange_counts(md_comm *c)
{
  mpi_state *s = mpi_state_of(c);
  for (int k = 0; k < s->nbrick; ++k) {
    brick_message *m = &s->brick[k];
    MD_TRY(start_words(c, m, &m->nsend, 1, &m->nreceive, 1));
  }
  return wait_all(s);
}

static void pack_ghosts(const md_box *box, const md_particles *p, const brick_message *m, ghost_record *out)
{
  for (int64_t k = 0; k < m->nsend; ++k) {
    const int64_t i = m->send[k];
    double shift[3];
    shift_of(box, m->image[k], shift);
    out[k] = md_mpi_ghost_of(p, i);
    for (int a = 0; a < 3 && a < p->dim; ++a) out[k].x[a] = p->x[a][i] + shift[a];
  }
}

/* Makes room for the messages, which hold records of ghosts once and their positions later. */
static md_status reserve(mpi_state *s, md_particles *p)
{
  int64_t ghosts = 0;
  for (int k = 0; k < s->nbrick; ++k) {
    brick_message *m = &s->brick[k];
    const int64_t words = (int64_t)sizeof(ghost_record) / 8;
    MD_TRY(md_array_new(&m->out, m->nsend * words + 1, sizeof *m->out, "halo messages"));
    MD_TRY(md_array_new(&m->in, m->nreceive * words + 1, sizeof *m->in, "halo messages"));
    ghosts += m->nreceive;
  }
  return md_particles_reserve(p, p->n + ghosts + 1);
}

md_status md_mpi_bricks_build(md_comm *c, const md_box *box, double width, md_particles *p)
{
  mpi_state *s = mpi_state_of(c);
  for (int a = 0; a < box->dim; ++a)
    if (box->periodic[a] && box->length[a] < width * (1.0 - 1e-5))
      return md_error(MD_USAGE,
                      "balance rcb: the box is %.4g along %c, less than the halo of %.4g: use a smaller skin "
                      "(neighbor), or balance shift",
                      box->length[a], "xyz"[a], width);
  MD_TRY(md_comm_agree(c, choose_all(c, box, width, p)));
  MD_TRY(exchange_counts(c));
  MD_TRY(md_comm_agree(c, reserve(s, p)));
  for (int k = 0; k < s->nbrick; ++k) {
    brick_message *m = &s->brick[k];
    pack_ghosts(box, p, m, (ghost_record *)(void *)m->out);
    MD_TRY(start(c, m, m->out, m->in, sizeof(ghost_record)));
  }
  MD_TRY(wait_all(s));
  for (int k = 0; k < s->nbrick; ++k) {
    brick_message *m = &s->brick[k];
    m->first = p->n + p->nghost;
    md_mpi_append_ghosts(p, m->nreceive, (const ghost_record *)(const void *)m->in);
  }
  return MD_OK;
}

/* ---- refreshing positions ---- */

md_status md_mpi_bricks_begin(md_comm *c, const md_box *box, const md_particles *p)
{
  mpi_state *s = mpi_state_of(c);
  for (int k = 0; k < s->nbrick; ++k) {
    brick_message *m = &s->brick[k];
#pragma omp parallel for schedule(static)
    for (int64_t g = 0; g < m->nsend; ++g) {
      double shift[3];
      shift_of(box, m->image[g], shift);
      for (int a = 0; a < 3 && a < p->dim; ++a) m->out[a * m->nsend + g] = p->x[a][m->send[g]] + shift[a];
    }
    MD_TRY(start(c, m, m->out, m->in, 8 * p->dim));
  }
  return MD_OK;
}

md_status md_mpi_bricks_next(md_comm *c, md_particles *p, bool wait, bool *done)
{
  mpi_state *s = mpi_state_of(c);
  *done = true;
  for (int k = 0; k < s->nbrick && *done; ++k) {
    int complete = 1;
    if (wait)
      MD_MPI(MPI_Waitall(2, s->brick[k].request, MPI_STATUSES_IGNORE));
    else
      MD_MPI(MPI_Testall(2, s->brick[k].request, &complete, MPI_STATUSES_IGNORE));
    *done = complete != 0;
  }
  for (int k = 0; k < s->nbrick && *done; ++k) {
    const brick_message *m = &s->brick[k];
    for (int a = 0; a < p->dim; ++a)
      if (m->nreceive > 0)
        memcpy(p->x[a] + m->first, m->in + a * m->nreceive, (size_t)m->nreceive * sizeof(double));
  }
  return MD_OK;
}

/* One number of each particle after the other, because the buffers hold no more than a ghost has. */
md_status md_mpi_bricks_values(md_comm *c, double *value, int width)
{
  mpi_state *s = mpi_state_of(c);
  for (int w = 0; w < width; ++w) {
    for (int k = 0; k < s->nbrick; ++k) {
      brick_message *m = &s->brick[k];
      for (int64_t g = 0; g < m->nsend; ++g) m->out[g] = value[m->send[g] * (int64_t)width + w];
      MD_TRY(start(c, m, m->out, m->in, 8));
    }
    MD_TRY(wait_all(s));
    for (int k = 0; k < s->nbrick; ++k) {
      const brick_message *m = &s->brick[k];
      for (int64_t g = 0; g < m->nreceive; ++g) value[(m->first + g) * width + w] = m->in[g];
    }
  }
  return MD_OK;
}

void md_mpi_bricks_free(mpi_state *s)
{
  for (int k = 0; k < s->nbrick; ++k) {
    free(s->brick[k].send);
    free(s->brick[k].image);
    free(s->brick[k].out);
    free(s->brick[k].in);
  }
  free(s->brick);
  s->brick = NULL;
  s->nbrick = 0;
}
