/* Overlaps for delete_atoms; see delete_atoms.h.
 *
 *   1  The particles go to their owners, and every rank gets ghosts up to the cutoff beyond its domain.
 *   2  Particles and ghosts are sorted into cells that are at least as wide as the cutoff.
 *   3  Each own particle is compared with those of its cell and of the neighbouring cells.
 *
 * What is deleted depends on ids and groups alone, never on what else is deleted. So a particle may go although its
 * partner goes too, as in LAMMPS; no pair is left.
 *
 * Ghosts have no word of groups. Types are at most MD_TYPES_MAX, and while the search runs two higher bits of a
 * particle's type say whether it is in the two groups, which ghosts take with them.
 *
 * The result does not depend on the rounding of positions to a run's grid. Memory: 4 bytes for each particle and ghost,
 * and 4 for each cell. Cost: about that of one neighbour list.
 */
#include "common/cell_counts.h"
#include "common/ranks/domains.h"
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"
#include "src/box/faces.h"
#include "src/edit/delete_atoms.h"
#include "src/edit/edit.h"

#include <stdlib.h>
#include <string.h>

enum { IN_A = 1 << 12, IN_B = 1 << 13, TYPE_BITS = IN_A - 1 };

/* Cells of the space that particles and ghosts of this rank take. */
typedef struct cells {
  int dim;
  int64_t count[3], all;
  double lo[3], width[3];
  int32_t *start, *member; /* [all + 1], [particles and ghosts]. Owned */
} cells;

static int64_t place_of(const cells *c, int d, double x)
{
  const int64_t place = (int64_t)((x - c->lo[d]) / c->width[d]);
  return place < 0 ? 0 : place >= c->count[d] ? c->count[d] - 1 : place;
}

static int64_t cell_of(const cells *c, const md_particles *p, int64_t i)
{
  int64_t cell = 0;
  for (int d = c->dim - 1; d >= 0; --d) cell = cell * c->count[d] + place_of(c, d, p->x[d][i]);
  return cell;
}

/* Chooses cells of the space that the particles take. */
static void choose_cells(cells *c, const md_particles *p, double cutoff)
{
  const int64_t total = p->n + p->nghost;
  double side[3] = {0.0};
  c->dim = p->dim;
  for (int d = 0; d < p->dim; ++d) {
    double hi;
    md_particles_extent(p->x[d], total, &c->lo[d], &hi);
    side[d] = hi - c->lo[d];
  }
  c->all = md_cell_counts(p->dim, side, cutoff * (1.0 + 1e-9), 2.0 * (double)total + 64.0, c->count);
  for (int d = 0; d < p->dim; ++d) c->width[d] = side[d] > 0.0 ? side[d] / (double)c->count[d] : 1.0;
}

static md_status make_cells(cells *c, const md_particles *p, double cutoff)
{
  const int64_t total = p->n + p->nghost;
  choose_cells(c, p, cutoff);
  MD_TRY(md_array_new_zero(&c->start, c->all + 2, sizeof *c->start, "cells"));
  MD_TRY(md_array_new(&c->member, total, sizeof *c->member, "cells"));
  for (int64_t i = 0; i < total; ++i) ++c->start[cell_of(c, p, i) + 2];
  for (int64_t k = 0; k < c->all; ++k) c->start[k + 2] += c->start[k + 1];
  for (int64_t i = 0; i < total; ++i) c->member[c->start[cell_of(c, p, i) + 1]++] = (int32_t)i;
  return MD_OK;
}

static double distance2(const md_particles *p, int64_t i, int64_t j)
{
  double square = 0.0;
  for (int d = 0; d < p->dim; ++d) square += (p->x[d][i] - p->x[d][j]) * (p->x[d][i] - p->x[d][j]);
  return square;
}

/* Whether j is a reason to delete i. */
static bool deletes(const md_particles *p, int64_t j, int64_t i)
{
  const bool pair = (p->type[i] & IN_A) != 0 && (p->type[j] & IN_B) != 0;
  const bool mutual = (p->type[i] & IN_B) != 0 && (p->type[j] & IN_A) != 0;
  return pair && i != j && (!mutual || p->id[i] < p->id[j]);
}

static bool has_overlap(const cells *c, const md_particles *p, int64_t i, double cutoff2)
{
  int64_t from[3] = {0, 0, 0}, to[3] = {0, 0, 0};
  for (int d = 0; d < c->dim; ++d) {
    const int64_t place = place_of(c, d, p->x[d][i]);
    from[d] = place > 0 ? place - 1 : 0;
    to[d] = place + 1 < c->count[d] ? place + 1 : place;
  }
  for (int64_t k = from[2]; k <= to[2]; ++k)
    for (int64_t j = from[1]; j <= to[1]; ++j)
      for (int64_t cell = (k * c->count[1] + j) * c->count[0] + from[0],
                   last = (k * c->count[1] + j) * c->count[0] + to[0];
           cell <= last; ++cell)
        for (int32_t m = c->start[cell]; m < c->start[cell + 1]; ++m)
          if (deletes(p, c->member[m], i) && distance2(p, i, c->member[m]) < cutoff2) return true;
  return false;
}

static md_status search(const md_particles *p, double cutoff, uint8_t *gone)
{
  cells c = {.count = {1, 1, 1}};
  const md_status status = p->n > 0 ? make_cells(&c, p, cutoff) : MD_OK;
  if (status == MD_OK) {
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t i = 0; i < p->n; ++i)
      gone[i] = (p->type[i] & IN_A) && has_overlap(&c, p, i, cutoff * cutoff);
  }
  free(c.start);
  free(c.member);
  return status;
}

static void mark_groups(md_particles *p, uint32_t a, uint32_t b)
{
  for (int64_t i = 0; i < p->n; ++i)
    p->type[i] |=
        (uint16_t)((md_particles_in_group(p, a, i) ? IN_A : 0) | (md_particles_in_group(p, b, i) ? IN_B : 0));
}

static void unmark_groups(md_particles *p)
{
  for (int64_t i = 0; i < p->n; ++i) p->type[i] &= TYPE_BITS;
  p->nghost = 0;
}

md_status md_delete_overlaps(md_sim *sim, double cutoff, uint32_t a, uint32_t b, uint8_t **gone)
{
  md_comm *comm = sim->comm;
  md_model *model = &sim->model;
  md_particles *p = &sim->particles;
  for (int d = 0; d < p->dim; ++d)
    if (model->box.periodic[d] && 2.0 * cutoff > model->box.length[d])
      return md_error(MD_USAGE, "delete_atoms overlap: the cutoff %g is more than half of the box along %c",
                      cutoff, 'x' + d);
  MD_TRY(md_edit_check_inside(sim, "delete_atoms overlap"));
  MD_TRY(md_faces_follow(sim));
  MD_TRY(comm->domains->decompose(comm, model, cutoff));
  MD_TRY(comm->exchange->migrate(comm, model, p));
  mark_groups(p, a, b);
  md_status status = comm->exchange->halo_build(comm, &model->box, cutoff * (1.0 + 0x1p-30), p);
  free(*gone);
  *gone = NULL;
  if (status == MD_OK) status = md_comm_agree(comm, md_array_new_zero(gone, p->n, 1, "particles to delete"));
  if (status == MD_OK) status = md_comm_agree(comm, search(p, cutoff, *gone));
  unmark_groups(p);
  md_particles_show(p, &model->box);
  return status;
}
