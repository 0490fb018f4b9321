/* An outbox; see outbox.h. */
#include "common/ranks/outbox.h"
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"

#include <stdlib.h>
#include <string.h>

md_status md_outbox_open(md_outbox *out, md_comm *comm, int64_t most, int64_t size, const char *what)
{
  *out = (md_outbox){.comm = comm, .size = size};
  md_status status = md_array_new(&out->to, most, sizeof *out->to, what);
  if (status == MD_OK) status = md_array_new(&out->records, most, (unsigned long)size, what);
  status = md_comm_agree(comm, status);
  if (status == MD_OK) return MD_OK;
  free(out->to);
  free(out->records);
  return status;
}

md_status md_outbox_send(md_outbox *out, void *received, int64_t *n)
{
  void *records = NULL;
  *n = 0;
  const md_status status =
      out->comm->exchange->sparse_exchange(out->comm, out->n, out->to, out->records, out->size, &records, n);
  free(out->to);
  free(out->records);
  memcpy(received, &records, sizeof records);
  return status;
}
