/* Rows of vectors, in the order of ids; see rows.h. */
#include "src/minimize/rows.h"
#include "common/arithmetic/exact.h"
#include "common/ranks/domains.h"
#include "common/ranks/exchange.h"
#include "common/ranks/outbox.h"
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
    memcpy(sorted + k * width, rows->value + (int64_t)order[k] * width, (size_t)width * sizeof(double));
  free(id);
  free(order);
  if (status != MD_OK) return status;
  free(rows->value);
  rows->value = sorted;
  return MD_OK;
}

/* Sends rows to the ranks to[], and takes those that come. */
static md_status exchange_rows(md_min_rows *rows, md_comm *comm, const int32_t *to)
{
  void *received = NULL;
  int64_t count = 0;
  MD_TRY(comm->exchange->sparse_exchange(comm, rows->n, to, rows->value,
                                         (int64_t)sizeof(double) * rows->width, &received, &count));
  free(rows->value);
  rows->value = received;
  rows->n = count;
  return md_comm_agree(comm, sort_rows(rows));
}

md_status md_min_rows_migrate(md_min_rows *rows, md_minimizer *m)
{
  md_sim *sim = m->sim;
  md_comm *comm = sim->comm;
  int32_t *owner = NULL;
  md_status status = md_array_new(&owner, rows->n, sizeof *owner, "owners of particles");
  if (status == MD_OK) status = find_owners(rows, m, owner);
  status = md_comm_agree(comm, status);
  if (status == MD_OK) status = exchange_rows(rows, comm, owner);
  free(owner);
  return status == MD_OK ? comm->exchange->migrate(comm, &sim->model, &sim->particles) : status;
}

static int64_t id_of_row(const md_min_rows *rows, int64_t k)
{
  int64_t id;
  memcpy(&id, rows->value + k * rows->width, sizeof id);
  return id;
}

/* The place of an id in rows that are in the order of ids, or -1. */
static int64_t row_of(const md_min_rows *rows, int64_t id)
{
  int64_t low = 0, high = rows->n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (id_of_row(rows, middle) < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < rows->n && id_of_row(rows, low) == id ? low : -1;
}

/* A particle asks the home of its id for its row. */
typedef struct question {
  int64_t id, rank;
} question;

static md_status ask_homes(md_comm *comm, const md_particles *p, question **asked, int64_t *n)
{
  md_outbox out;
  MD_TRY(md_outbox_open(&out, comm, p->n, sizeof **asked, "vectors of a minimiser"));
  for (int64_t i = 0; i < p->n; ++i)
    *(question *)md_outbox_add(&out, md_home_of(comm, p->id[i])) = (question){p->id[i], comm->rank};
  return md_outbox_send(&out, asked, n);
}

/* Puts the rows that are asked for in the place of those of a home; to[]: the ranks that ask. */
static md_status answer(md_min_rows *rows, const question *asked, int64_t n, int32_t *to)
{
  const int width = rows->width;
  double *value;
  MD_TRY(md_array_new(&value, n * width + 1, sizeof(double), "vectors of a minimiser"));
  for (int64_t k = 0; k < n; ++k) {
    const int64_t row = row_of(rows, asked[k].id);
    if (row >= 0) memcpy(value + k * width, rows->value + row * width, (size_t)width * sizeof(double));
    to[k] = (int32_t)asked[k].rank;
  }
  free(rows->value);
  rows->value = value;
  rows->n = n;
  return MD_OK;
}

/* Brings each row to the rank that has its particle: to the home of its id, and from there. */
static md_status find_particles(md_min_rows *rows, md_comm *comm, const md_particles *p)
{
  question *asked = NULL;
  int32_t *to = NULL;
  int64_t n = 0;
  md_status status =
      md_comm_agree(comm, md_array_new(&to, rows->n + 1, sizeof *to, "vectors of a minimiser"));
  for (int64_t k = 0; k < rows->n && status == MD_OK; ++k) to[k] = md_home_of(comm, id_of_row(rows, k));
  if (status == MD_OK) status = exchange_rows(rows, comm, to);
  free(to);
  to = NULL;
  if (status == MD_OK) status = ask_homes(comm, p, &asked, &n);
  if (status == MD_OK)
    status = md_comm_agree(comm, md_array_new(&to, n + 1, sizeof *to, "vectors of a minimiser"));
  if (status == MD_OK) status = md_comm_agree(comm, answer(rows, asked, n, to));
  if (status == MD_OK) status = exchange_rows(rows, comm, to);
  free(to);
  free(asked);
  return status;
}

/* Are rows and particles of any rank not the same? */
static md_status are_apart(const md_min_rows *rows, const md_minimizer *m, bool *apart)
{
  const md_particles *p = &m->sim->particles;
  double other = rows->n != p->n;
  for (int64_t k = 0; k < rows->n && other == 0.0; ++k) other = id_of_row(rows, k) != p->id[m->view.order[k]];
  MD_TRY(m->sim->comm->reduce->max(m->sim->comm, &other, 1));
  *apart = other != 0.0;
  return MD_OK;
}

md_status md_min_rows_empty(md_min_rows *rows, md_minimizer *m)
{
  const md_particles *p = &m->sim->particles;
  const int dim = p->dim, width = rows->width;
  bool apart;
  MD_TRY(are_apart(rows, m, &apart));
  if (apart) MD_TRY(find_particles(rows, m->sim->comm, p));
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
