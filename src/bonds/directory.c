/* A directory of bonds; see directory.h. */
#include "src/bonds/directory.h"
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"

#include <stdlib.h>
#include <string.h>

typedef struct question {
  int64_t id;
  int32_t rank, number;
} question;

static int32_t rank_of(const md_comm *comm, int64_t id) { return (int32_t)(id % comm->size); }

static md_status keep_entries(md_bond_directory *d, int64_t n)
{
  MD_TRY(md_id_table_init(&d->entry_of, d->comm->size == 1 ? n : 0));
  for (int64_t k = 0; k < n; ++k) MD_TRY(md_id_table_add(&d->entry_of, d->entry[k].id, (int32_t)(k + 1)));
  return MD_OK;
}

static md_status make_entries(const md_particles *p, double *const place[3], const md_comm *comm,
                              int32_t **to, md_bond_entry **mine)
{
  MD_TRY(md_array_new(to, p->n + 1, sizeof **to, "bonds of all particles"));
  MD_TRY(md_array_new_zero(mine, p->n + 1, sizeof **mine, "bonds of all particles"));
  for (int64_t i = 0; i < p->n; ++i) {
    md_bond_entry *e = &(*mine)[i];
    (*to)[i] = rank_of(comm, p->id[i]);
    e->id = p->id[i];
    for (int k = 0; k < p->bonds; ++k) e->bond[k] = p->bond[k][i];
    for (int d = 0; d < p->dim; ++d) e->x[d] = place[d][i];
  }
  return MD_OK;
}

md_status md_bond_directory_open(md_bond_directory *d, md_comm *comm, const md_particles *p,
                                 double *const place[3])
{
  int32_t *to = NULL;
  md_bond_entry *mine = NULL;
  void *received = NULL;
  int64_t count = 0;
  *d = (md_bond_directory){.comm = comm};
  md_status status = md_comm_agree(comm, make_entries(p, place, comm, &to, &mine));
  if (status == MD_OK)
    status = comm->exchange->sparse_exchange(comm, p->n, to, mine, sizeof *mine, &received, &count);
  free(to);
  free(mine);
  d->entry = received;
  return status == MD_OK ? md_comm_agree(comm, keep_entries(d, count)) : status;
}

void md_bond_directory_close(md_bond_directory *d)
{
  md_id_table_free(&d->entry_of);
  free(d->entry);
  d->entry = NULL;
}

static md_status make_answers(const md_bond_directory *d, const question *q, int64_t n, int32_t **to,
                              md_bond_answer **a)
{
  MD_TRY(md_array_new(to, n + 1, sizeof **to, "bonds of partners"));
  MD_TRY(md_array_new_zero(a, n + 1, sizeof **a, "bonds of partners"));
  for (int64_t k = 0; k < n; ++k) {
    const int32_t *found = md_id_table_find(&d->entry_of, q[k].id);
    (*to)[k] = q[k].rank;
    (*a)[k].question = found ? q[k].number : -1 - (int64_t)q[k].number;
    if (!found) continue;
    memcpy((*a)[k].bond, d->entry[*found - 1].bond, sizeof(*a)[k].bond);
    memcpy((*a)[k].x, d->entry[*found - 1].x, sizeof(*a)[k].x);
  }
  return MD_OK;
}

static md_status make_questions(const md_bond_directory *d, int64_t n, const int64_t *id, int32_t **to,
                                question **q)
{
  MD_TRY(md_array_new(to, n + 1, sizeof **to, "bonds of partners"));
  MD_TRY(md_array_new(q, n + 1, sizeof **q, "bonds of partners"));
  for (int64_t k = 0; k < n; ++k) {
    (*to)[k] = rank_of(d->comm, id[k]);
    (*q)[k] = (question){id[k], d->comm->rank, (int32_t)k};
  }
  return MD_OK;
}

md_status md_bond_directory_ask(md_bond_directory *d, int64_t n, const int64_t *id, md_bond_answer *found)
{
  md_comm *comm = d->comm;
  int32_t *to = NULL, *back = NULL;
  question *q = NULL;
  void *asked = NULL, *answered = NULL;
  md_bond_answer *a = NULL;
  int64_t count = 0, got = 0;
  md_status status = md_comm_agree(comm, make_questions(d, n, id, &to, &q));
  if (status == MD_OK) status = comm->exchange->sparse_exchange(comm, n, to, q, sizeof *q, &asked, &count);
  if (status == MD_OK) status = md_comm_agree(comm, make_answers(d, asked, count, &back, &a));
  if (status == MD_OK)
    status = comm->exchange->sparse_exchange(comm, count, back, a, sizeof *a, &answered, &got);
  for (int64_t k = 0; k < got && status == MD_OK; ++k) {
    const md_bond_answer *one = (const md_bond_answer *)answered + k;
    found[one->question < 0 ? -1 - one->question : one->question] = *one;
  }
  free(to);
  free(q);
  free(back);
  free(asked);
  free(answered);
  free(a);
  return status;
}
