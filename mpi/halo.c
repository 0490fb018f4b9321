/* The halo exchange: each rank sends the positions of its particles near a face to the neighbour across this face.
 * There they are ghosts. The halo of a domain is the layer of thickness `width` around it:
 *
 *      +-----+---------------+-----+
 *      | yx  |       y       | yx  |     y   ghosts that come through the faces along y (first)
 *      +-----+---------------+-----+     x   ghosts that come through the faces along x (second)
 *      |     | : : : : : : : |     |     yx  ghosts that the neighbours along x have from
 *      |  x  | :    own    : |  x  |         their neighbours along y, and pass on
 *      |     | : : : : : : : |     |     :   owned particles within `width` of a face, which are sent
 *      +-----+---------------+-----+
 *      | yx  |       y       | yx  |
 *      +-----+---------------+-----+
 *
 * 1. halo_build makes, for each face, the list of indices to send. The list contains ghosts that came along other axes
 *    before. It sends positions, ids and types once, and the receiver appends the ghosts to its particles.
 * 2. A refresh (halo_begin, halo_next) sends only positions, with the same lists.
 *
 * There are two messages an axis, one through each face. The axes come one after the other, z before y before x,
 * because messages pass on what others have brought before. In a tilted box an image across a face is shifted along
 * x or y too, which is not divided then (common/ranks/decompose.c). The sender wraps it along these axes. So ghosts at
 * edges and corners travel through faces, and a rank exchanges messages with at most 2 dim others. Along a periodic
 * axis that is not divided, a rank is its own neighbour, and the message stays in memory. The sender adds the shift by
 * a box length, which is exact. If such an axis is shorter than the halo, particles are in the message several times:
 * shifted by one side of the box, by two, and so on. These are layers of images.
 *
 * Trade-off: few and long messages, but the axes wait for one another.
 *
 * Cost: 8 dim bytes a ghost and refresh, which are packed twice and sent once.
 *
 * Reference: S. Plimpton, J. Comput. Phys. 117 (1995) 1.
 */
#include "mpi/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Finds both neighbours along an axis, and the shifts for messages to them. A message to the lower neighbour comes
 * with one from the higher neighbour, and the reverse. */
static void meet(mpi_state *s, const md_box *box, int axis)
{
  const md_decomposition *d = &s->division;
  for (int side = 0; side < 2; ++side) {
    halo_message *m = &s->message[axis][side];
    const int step = side == 0 ? -1 : 1, count = d->count[axis], index = d->index[axis];
    const bool leaves = index + step < 0 || index + step >= count,
               enters = index - step < 0 || index - step >= count;
    int to[3], from[3];
    memcpy(to, d->index, sizeof to);
    memcpy(from, d->index, sizeof from);
    to[axis] += step;
    from[axis] -= step;
    m->to = leaves && !box->periodic[axis] ? MPI_PROC_NULL : md_decomposition_rank(d, to);
    m->from = enters && !box->periodic[axis] ? MPI_PROC_NULL : md_decomposition_rank(d, from);
    m->boxes = leaves && box->periodic[axis] ? -step : 0;
  }
}

static md_status reserve_doubles(double **array, int64_t *capacity, int64_t need)
{
  if (need <= *capacity) return MD_OK;
  *capacity = need + need / 8;
  free(*array);
  *array = NULL;
  return md_array_new(array, *capacity, sizeof **array, "halo messages");
}

static md_status reserve_list(halo_message *m, int64_t count)
{
  m->nsend = count;
  if (count <= m->send_capacity && !(m->own_wraps && !m->wraps)) return MD_OK;
  m->send_capacity = count + count / 8;
  free(m->send);
  free(m->wraps);
  m->send = NULL;
  m->wraps = NULL;
  if (m->own_wraps) MD_TRY(md_array_new(&m->wraps, m->send_capacity, sizeof *m->wraps, "halo lists"));
  return md_array_new(&m->send, m->send_capacity, sizeof *m->send, "halo lists");
}

/* How many layers of images a particle at x has through the lower face, if `bound` is that of the first layer. */
static int layers_below(double x, double bound, double side, int layers)
{
  int n = 0;
  while (n < layers && x < bound - n * side) ++n;
  return n;
}

/* The same through the upper face. */
static int layers_above(double x, double bound, double side, int layers)
{
  int n = 0;
  while (n < layers && x >= bound + n * side) ++n;
  return n;
}

/* Puts particle i into the list of a message n times, the last time at `end` - 1. Returns where the list begins now. */
static int64_t put_layers(halo_message *m, int axis, int32_t i, int n, int64_t end)
{
  for (int layer = n; layer > 0; --layer) {
    m->send[--end] = i;
    if (!m->own_wraps) continue;
    m->wraps[end] = (halo_wraps){{0, 0, 0}};
    m->wraps[end].boxes[axis] = (int16_t)((layer - 1) * m->boxes);
  }
  return end;
}

/* Makes the two lists to send: owned particles and ghosts below `low` go through the lower face, and those at or
 * above `high` through the upper face. In a thin domain a particle may be in both lists. */
static md_status select_senders(mpi_state *s, const md_particles *p, int axis, double low, double high,
                                int layers)
{
  halo_message *m = s->message[axis];
  bounds between = {.first = axis, .last = axis + 1};
  between.lo[axis] = m[0].to == MPI_PROC_NULL ? -(double)INFINITY : low;
  between.hi[axis] = m[1].to == MPI_PROC_NULL ? (double)INFINITY : high;
  const double *x = p->x[axis], side = s->box.length[axis];
  int64_t count, below = 0, above = 0;
  MD_TRY(md_mpi_outside(s, p, p->n + p->nghost, &between, &count));
  for (int64_t k = 0; k < count; ++k) {
    below += layers_below(x[s->found[k]], between.lo[axis], side, layers);
    above += layers_above(x[s->found[k]], between.hi[axis], side, layers);
  }
  m[0].own_wraps = m[1].own_wraps = s->box.triclinic || layers > 1;
  MD_TRY(reserve_list(&m[0], below));
  MD_TRY(reserve_list(&m[1], above));
  for (int64_t k = count - 1; k >= 0; --k) {
    const int32_t i = s->found[k];
    below = put_layers(&m[0], axis, i, layers_below(x[i], between.lo[axis], side, layers), below);
    above = put_layers(&m[1], axis, i, layers_above(x[i], between.hi[axis], side, layers), above);
  }
  return MD_OK;
}

static md_status exchange_counts(md_comm *c, halo_message m[2], int axis)
{
  mpi_state *s = mpi_state_of(c);
  for (int side = 0; side < 2; ++side) {
    m[side].nreceive = 0;
    MD_MPI(MPI_Sendrecv(&m[side].nsend, 1, MPI_INT64_T, m[side].to, 2 * axis + side, &m[side].nreceive, 1,
                        MPI_INT64_T, m[side].from, 2 * axis + side, s->halo, MPI_STATUS_IGNORE));
  }
  return MD_OK;
}

/* The position that entry k of a message has behind the face. */
static void image_position(const mpi_state *s, const halo_message *m, const md_particles *p, int axis,
                           int64_t k, double x[3])
{
  const md_box *box = &s->box;
  for (int d = 0; d < p->dim; ++d) x[d] = p->x[d][m->send[k]];
  md_lattice_shift(box->length, box->offset, axis, m->boxes, x);
  for (int d = axis; d >= 0 && m->own_wraps; --d)
    md_lattice_shift(box->length, box->offset, d, m->wraps[k].boxes[d], x);
}

/* Finds how often each image must be wrapped along the axes before. */
static void find_wraps(const mpi_state *s, halo_message *m, const md_particles *p, int axis)
{
  const md_box *box = &s->box;
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < m->nsend; ++k) {
    double x[3];
    image_position(s, m, p, axis, k, x);
    for (int d = axis - 1; d >= 0; --d)
      if (box->periodic[d] && s->division.count[d] == 1)
        m->wraps[k].boxes[d] =
            (int16_t)md_lattice_wrap_along(box->lo, box->hi, box->length, box->offset, d, x);
  }
}

ghost_record md_mpi_ghost_of(const md_particles *p, int64_t i)
{
  return (ghost_record){.id = p->id[i], .type = p->type[i], .group = p->group ? p->group[i] : MD_GROUP_ALL};
}

void md_mpi_append_ghosts(md_particles *p, int64_t n, const ghost_record *in)
{
  const int64_t first = p->n + p->nghost;
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < n; ++k) {
    for (int d = 0; d < p->dim; ++d) p->x[d][first + k] = in[k].x[d];
    p->id[first + k] = in[k].id;
    p->type[first + k] = (uint16_t)in[k].type;
    if (p->group) p->group[first + k] = in[k].group;
  }
  p->nghost += n;
}

/* Sends the records of one message, and appends the ghosts received to the particles. */
static md_status exchange_ghosts(md_comm *c, halo_message *m, md_particles *p, int axis, int side)
{
  mpi_state *s = mpi_state_of(c);
  ghost_record *out = NULL, *in = NULL;
  md_status status = md_array_new(&out, m->nsend, sizeof *out, "ghosts to send");
  if (status == MD_OK) status = md_array_new(&in, m->nreceive, sizeof *in, "ghosts received");
  if (status == MD_OK) {
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < m->nsend; ++k) {
      out[k] = md_mpi_ghost_of(p, m->send[k]);
      image_position(s, m, p, axis, k, out[k].x);
    }
    const int tag = 2 * axis + side, element = (int)sizeof *out;
    MPI_Datatype record;
    int code = MPI_Type_contiguous(element, MPI_BYTE, &record);
    if (code == MPI_SUCCESS) code = MPI_Type_commit(&record);
    if (code == MPI_SUCCESS)
      code = MPI_Sendrecv(out, (int)m->nsend, record, m->to, tag, in, (int)m->nreceive, record, m->from, tag,
                          s->halo, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) code = MPI_Type_free(&record);
    if (code != MPI_SUCCESS) status = md_mpi_error("MPI_Sendrecv()", code);
  }
  if (status == MD_OK) md_mpi_append_ghosts(p, m->nreceive, in);
  free(out);
  free(in);
  return status;
}

static md_status build_axis(md_comm *c, const md_box *box, int axis, double width, md_particles *p)
{
  mpi_state *s = mpi_state_of(c);
  halo_message *m = s->message[axis];
  const double lo = s->division.cut[axis][s->division.index[axis]];
  const double hi = s->division.cut[axis][s->division.index[axis] + 1];
  const bool alone = box->periodic[axis] && s->division.count[axis] == 1;
  meet(s, box, axis);
  MD_TRY(select_senders(s, p, axis, lo + width, hi - width, alone ? md_box_layers(box, axis, width) : 1));
  MD_TRY(exchange_counts(c, m, axis));
  MD_TRY(md_particles_reserve(p, p->n + p->nghost + m[0].nreceive + m[1].nreceive + 1));
  for (int side = 0; side < 2; ++side)
    if (m[side].nsend > INT32_MAX / MD_HALO_WIDTH || m[side].nreceive > INT32_MAX / MD_HALO_WIDTH)
      return md_error(MD_RUNTIME, "%lld ghosts through one face are too many for a message: use more ranks",
                      (long long)(m[side].nsend > m[side].nreceive ? m[side].nsend : m[side].nreceive));
  for (int side = 0; side < 2; ++side) {
    m[side].first = p->n + p->nghost;
    if (box->triclinic) find_wraps(s, &m[side], p, axis);
    MD_TRY(exchange_ghosts(c, &m[side], p, axis, side));
    MD_TRY(reserve_doubles(&m[side].out, &m[side].out_capacity, m[side].nsend * p->dim));
    MD_TRY(reserve_doubles(&m[side].in, &m[side].in_capacity, m[side].nreceive * p->dim));
  }
  return MD_OK;
}

md_status md_mpi_halo_build(md_comm *c, const md_box *box, double width, md_particles *p)
{
  mpi_state *s = mpi_state_of(c);
  p->nghost = 0;
  s->dim = box->dim;
  s->box = *box;
  for (int a = 0; a < 3; ++a)
    for (int side = 0; side < 2; ++side) s->message[a][side].nsend = s->message[a][side].nreceive = 0;
  md_mpi_bricks_free(s);
  s->between_bricks = width > 0.0 && s->division.bisector;
  if (!(width > 0.0)) return MD_OK;
  MD_TRY(md_halo_check(box, width));
  if (s->division.bisector) return md_mpi_bricks_build(c, box, width, p);
  for (int a = 0; a < box->dim; ++a)
    for (int k = 0; k < s->division.count[a]; ++k) {
      const double thickness = s->division.cut[a][k + 1] - s->division.cut[a][k];
      if (s->division.count[a] > 1 && thickness < width)
        return md_error(MD_USAGE,
                        "a domain is %.4g thick along %c, thinner than the halo of %.4g: use fewer ranks, or "
                        "a smaller skin (neighbor)",
                        thickness, "xyz"[a], width);
    }
  for (int a = box->dim - 1; a >= 0; --a) MD_TRY(build_axis(c, box, a, width, p));
  return MD_OK;
}

/* ---- refreshing positions ---- */

/* Packs positions of which each has its own shift. */
static void pack_each(const mpi_state *s, const halo_message *m, const md_particles *p, int axis)
{
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < m->nsend; ++k) {
    double x[3];
    image_position(s, m, p, axis, k, x);
    for (int d = 0; d < p->dim; ++d) m->out[d * m->nsend + k] = x[d];
  }
}

/* Packs the positions to send along an axis, and starts both messages. */
static md_status post(mpi_state *s, const md_particles *p, int axis)
{
  for (int side = 0; side < 2; ++side) {
    halo_message *m = &s->message[axis][side];
    m->request[0] = m->request[1] = MPI_REQUEST_NULL;
    if (m->own_wraps) {
      pack_each(s, m, p, axis);
      continue;
    }
#pragma omp parallel
    for (int d = 0; d < p->dim; ++d) {
      const double *x = p->x[d], shift = d == axis ? m->boxes * s->box.length[d] : 0.0;
      double *out = m->out + d * m->nsend;
#pragma omp for schedule(static) nowait
      for (int64_t k = 0; k < m->nsend; ++k) out[k] = x[m->send[k]] + shift;
    }
  }
  /* A rank that is its own neighbour needs no message: take() reads `out`. */
  if (s->division.count[axis] == 1) return MD_OK;
  for (int side = 0; side < 2; ++side) {
    halo_message *m = &s->message[axis][side];
    const int tag = 2 * axis + side;
    if (m->nreceive > 0)
      MD_MPI(
          MPI_Irecv(m->in, (int)(m->nreceive * p->dim), MPI_DOUBLE, m->from, tag, s->halo, &m->request[0]));
    if (m->nsend > 0)
      MD_MPI(MPI_Isend(m->out, (int)(m->nsend * p->dim), MPI_DOUBLE, m->to, tag, s->halo, &m->request[1]));
  }
  return MD_OK;
}

/* Copies the new positions of one axis to the ghosts, once both messages are there. *here: whether they are. */
static md_status take(mpi_state *s, md_particles *p, int axis, bool wait, bool *here)
{
  for (int side = 0; side < 2; ++side) {
    int complete = 1;
    if (wait)
      MD_MPI(MPI_Waitall(2, s->message[axis][side].request, MPI_STATUSES_IGNORE));
    else
      MD_MPI(MPI_Testall(2, s->message[axis][side].request, &complete, MPI_STATUSES_IGNORE));
    *here = complete != 0;
    if (!*here) return MD_OK;
  }
  for (int side = 0; side < 2; ++side) {
    const halo_message *m = &s->message[axis][side];
    const double *in = s->division.count[axis] == 1 ? m->out : m->in;
    for (int d = 0; d < p->dim; ++d)
      if (m->nreceive > 0)
        memcpy(p->x[d] + m->first, in + d * m->nreceive, (size_t)m->nreceive * sizeof(double));
  }
  return MD_OK;
}

md_status md_mpi_halo_begin(md_comm *c, const md_box *box, md_particles *p)
{
  mpi_state *s = mpi_state_of(c);
  if (s->between_bricks) return md_mpi_bricks_begin(c, box, p);
  s->box = *box;
  s->axis = s->dim - 1;
  return post(s, p, s->axis);
}

md_status md_mpi_halo_next(md_comm *c, md_particles *p, bool wait, bool *done)
{
  mpi_state *s = mpi_state_of(c);
  if (s->between_bricks) return md_mpi_bricks_next(c, p, wait, done);
  for (bool here = true; here && s->axis >= 0;) {
    MD_TRY(take(s, p, s->axis, wait, &here));
    if (here && --s->axis >= 0) MD_TRY(post(s, p, s->axis));
  }
  *done = s->axis < 0;
  return MD_OK;
}

/* Axis by axis as positions go, so that ghosts of ghosts have theirs. Without a halo there is nothing to send, and the
 * neighbours are not known. */
md_status md_mpi_halo_values(md_comm *c, const md_particles *p, double *value, int width)
{
  mpi_state *s = mpi_state_of(c);
  (void)p;
  if (s->between_bricks) return md_mpi_bricks_values(c, value, width);
  for (int axis = s->dim - 1; axis >= 0; --axis)
    for (int side = 0; side < 2; ++side) {
      halo_message *m = &s->message[axis][side];
      const int tag = 2 * axis + side;
      MD_TRY(reserve_doubles(&m->out, &m->out_capacity, m->nsend * width));
      for (int64_t k = 0; k < m->nsend; ++k)
        memcpy(m->out + k * width, value + m->send[k] * (int64_t)width, (size_t)width * sizeof(double));
      if (s->division.count[axis] == 1) {
        if (m->nreceive > 0)
          memcpy(value + m->first * width, m->out, (size_t)(m->nreceive * width) * sizeof(double));
        continue;
      }
      const int to = m->nsend > 0 ? m->to : MPI_PROC_NULL, from = m->nreceive > 0 ? m->from : MPI_PROC_NULL;
      MD_MPI(MPI_Sendrecv(m->out, (int)(m->nsend * width), MPI_DOUBLE, to, tag, value + m->first * width,
                          (int)(m->nreceive * width), MPI_DOUBLE, from, tag, s->halo, MPI_STATUS_IGNORE));
    }
  return MD_OK;
}

void md_mpi_halo_free(mpi_state *s)
{
  md_mpi_bricks_free(s);
  free(s->found);
  for (int a = 0; a < 3; ++a)
    for (int side = 0; side < 2; ++side) {
      free(s->message[a][side].send);
      free(s->message[a][side].wraps);
      free(s->message[a][side].out);
      free(s->message[a][side].in);
    }
}
