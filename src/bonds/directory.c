/* A directory of bonds; see directory.h. */
#include "src/bonds/directory.h"
#include "common/ranks/outbox.h"
#include "common/ranks/reductions.h"

#include <stdlib.h>
#include <string.h>

typedef struct question {
  int64_t id;
  int32_t rank, number;
} question;

static md_status keep_entries(md_bond_directory *d, int64_t n)
{
  MD_TRY(md_id_table_init(&d->entry_of, d->comm->size == 1 ? n : 0));
  for (int64_t k = 0; k < n; ++k) MD_TRY(md_id_table_add(&d->entry_of, d->entry[k].id, (int32_t)(k + 1)));
  return MD_OK;
}

/* Sends the bonds and places of the particles of this rank to the homes of their ids. */
static md_status send_entries(const md_particles *p, double *const place[3], md_comm *comm,
                              md_bond_entry **received, int64_t *n)
{
  md_outbox out;
  MD_TRY(md_outbox_open(&out, comm, p->n, sizeof **received, "bonds of all particles"));
  for (int64_t i = 0; i < p->n; ++i) {
    md_bond_entry *e = md_outbox_add(&out, md_home_of(comm, p->id[i]));
    *e = (md_bond_entry){.id = p->id[i]};
    for (int k = 0; k < p->bonds; ++k) e->bond[k] = p->bond[k][i];
    for (int d = 0; d < p->dim; ++d) e->x[d] = place[d][i];
  }
  return md_outbox_send(&out, received, n);
}

md_status md_bond_directory_open(md_bond_directory *d, md_comm *comm, const md_particles *p,
                                 double *const place[3])
{
  int64_t count;
  *d = (md_bond_directory){.comm = comm};
  MD_TRY(send_entries(p, place, comm, &d->entry, &count));
  return md_comm_agree(comm, keep_entries(d, count));
}

void md_bond_directory_close(md_bond_directory *d)
{
  md_id_table_free(&d->entry_of);
  free(d->entry);
  d->entry = NULL;
}

/* Sends the questions to the homes of n ids. */
static md_status send_questions(md_comm *comm, int64_t n, const int64_t *id, question **received,
                                int64_t *count)
{
  md_outbox out;
  MD_TRY(md_outbox_open(&out, comm, n, sizeof **received, "bonds of partners"));
  for (int64_t k = 0; k < n; ++k)
    *(question *)md_outbox_add(&out, md_home_of(comm, id[k])) = (question){id[k], comm->rank, (int32_t)k};
  return md_outbox_send(&out, received, count);
}

/* Answers n questions of other ranks. The number of a question is negative, -1 - number, where the id is unknown. */
static md_status send_answers(const md_bond_directory *d, const question *q, int64_t n,
                              md_bond_answer **received, int64_t *count)
{
  md_outbox out;
  MD_TRY(md_outbox_open(&out, d->comm, n, sizeof **received, "bonds of partners"));
  for (int64_t k = 0; k < n; ++k) {
    const int32_t *found = md_id_table_find(&d->entry_of, q[k].id);
    md_bond_answer *a = md_outbox_add(&out, q[k].rank);
    *a = (md_bond_answer){.question = found ? q[k].number : -1 - (int64_t)q[k].number};
    if (!found) continue;
    memcpy(a->bond, d->entry[*found - 1].bond, sizeof a->bond);
    memcpy(a->x, d->entry[*found - 1].x, sizeof a->x);
  }
  return md_outbox_send(&out, received, count);
}

md_status md_bond_directory_ask(md_bond_directory *d, int64_t n, const int64_t *id, md_bond_answer *found)
{
  question *asked;
  md_bond_answer *answered;
  int64_t count;
  MD_TRY(send_questions(d->comm, n, id, &asked, &count));
  const md_status status = send_answers(d, asked, count, &answered, &count);
  free(asked);
  MD_TRY(status);
  for (int64_t k = 0; k < count; ++k) {
    const int64_t number = answered[k].question;
    found[number < 0 ? -1 - number : number] = answered[k];
  }
  free(answered);
  return MD_OK;
}
