/* Rows of vectors, in the order of ids; see rows.h. */
#include "src/minimize/rows.h"
#include "common/arithmetic/exact.h"
#include "common/ranks/domains.h"
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"

#include <stdlib.h>
#include <string.h>

void md_min_rows_free(md_min_rows *rows)
{
  free(rows->value);
  *rows = (md_min_rows){0};
}

md_status md_min_rows_fill(md_min_rows *rows, const md_minimizer *m)
{
  const md_particles *p = &m->sim->particles;
  const int dim = p->dim, width = 1 + m->nvector * dim;
  *rows = (md_min_rows){.n = p->n, .width = width};
  MD_TRY(md_array_new(&rows->value, p->n * width, sizeof(double), "vectors of a minimiser"));
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < p->n; ++k) {
    const int32_t i = m->view.order[k];
    double *row = rows->value + k * width;
    memcpy(row, &p->id[i], sizeof p->id[i]);
    for (int c = 1; c < width; ++c) row[c] = m->vector[(c - 1) / dim].x[(c - 1) % dim][i];
  }
  return MD_OK;
}

/* The owners of the particles in the order of rows. */
static md_status find_owners(const md_min_rows *rows, const md_minimizer *m, int32_t *owner)
{
  md_comm *comm = m->sim->comm;
  const md_particles *p = &m->sim->particles;
  int32_t *order;
  MD_TRY(md_particles_order_by_id(p, &order));
  for (int64_t k = 0; k < rows->n; ++k) {
    double x[3] = {0.0, 0.0, 0.0};
    for (int d = 0; d < p->dim; ++d) x[d] = p->x[d][order[k]];
    owner[k] = comm->domains->owner(comm, &m->sim->model.box, x);
  }
  free(order);
  return MD_OK;
}

/* Brings rows that came from several ranks into the order of ids. */
static md_status sort_rows(md_min_rows *rows)
{
  const int width = rows->width;
  int64_t *id;
  int32_t *order = NULL;
  double *sorted = NULL;
  MD_TRY(md_array_new(&id, rows->n, sizeof *id, "vectors of a minimiser"));
  for (int64_t k = 0; k < rows->n; ++k) memcpy(&id[k], rows->value + k * width, sizeof id[k]);
  md_status status = md_particles_order_by_id(&(md_particles){.n = rows->n, .id = id}, &order);
  if (status == MD_OK)
    status = md_array_new(&sorted, rows->n * width, sizeof(double), "vectors of a minimiser");
  for (int64_t k = 0; status == MD_OK && k < rows->n; ++k)
    memcpy(sorted + k * width, rows->value + order[k] * width, (size_t)width * sizeof(double));
  free(id);
  free(order);
  if (status != MD_OK) return status;
  free(rows->value);
  rows->value = sorted;
  return MD_OK;
}

md_status md_min_rows_migrate(md_min_rows *rows, md_minimizer *m)
{
  md_sim *sim = m->sim;
  md_comm *comm = sim->comm;
  int32_t *owner = NULL;
  void *received = NULL;
  md_status status = md_array_new(&owner, rows->n, sizeof *owner, "owners of particles");
  if (status == MD_OK) status = find_owners(rows, m, owner);
  status = md_comm_agree(comm, status);
  int64_t count = 0;
  if (status == MD_OK)
    status = comm->exchange->sparse_exchange(comm, rows->n, owner, rows->value,
                                             (int64_t)sizeof(double) * rows->width, &received, &count);
  free(owner);
  MD_TRY(status);
  free(rows->value);
  rows->value = received;
  rows->n = count;
  MD_TRY(md_comm_agree(comm, sort_rows(rows)));
  return comm->exchange->migrate(comm, &sim->model, &sim->particles);
}

md_status md_min_rows_empty(const md_min_rows *rows, md_minimizer *m)
{
  const md_particles *p = &m->sim->particles;
  const int dim = p->dim, width = rows->width;
  if (rows->n != p->n)
    return md_error(MD_RUNTIME, "a minimiser has vectors of %lld particles on a rank with %lld",
                    (long long)rows->n, (long long)p->n);
  for (int c = 1; c < width; ++c) {
    double **u = &m->vector[(c - 1) / dim].x[(c - 1) % dim];
    free(*u);
    *u = NULL;
    MD_TRY(md_array_new(u, p->n, sizeof(double), "vectors of a minimiser"));
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < p->n; ++k) (*u)[m->view.order[k]] = rows->value[k * width + c];
  }
  return MD_OK;
}
