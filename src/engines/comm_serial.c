/* The communicator of a single rank: this file makes and frees it, and has its reductions and its one domain, the whole
 * box. Its ghosts are in serial_exchange.c, and its files in serial_files.c. */
#include "src/engines/serial_state.h"

#include <stdlib.h>
#include <string.h>

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
  serial_state *s = c->state;
  memcpy(s->maxima, values, (size_t)n * sizeof *values);
  s->nmaxima = n;
  return MD_OK;
}

static md_status max_next(md_comm *c, bool wait, double *values, bool *done)
{
  const serial_state *s = c->state;
  (void)wait;
  memcpy(values, s->maxima, (size_t)s->nmaxima * sizeof *values);
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

static const md_comm_reductions reductions = {.sum = sum,
                                              .max = largest,
                                              .max_begin = max_begin,
                                              .max_next = max_next,
                                              .exclusive_sum = exclusive_sum,
                                              .agree = agree};

static md_status decompose(md_comm *c, const md_model *model, double width)
{
  (void)c, (void)model, (void)width;
  return MD_OK;
}

static void prefer_slabs(md_comm *c, double thickness) { (void)c, (void)thickness; }

static void fix_grid(md_comm *c, const int wanted[3]) { (void)c, (void)wanted; }

static void grid(md_comm *c, int count[3], int index[3])
{
  (void)c;
  for (int d = 0; d < 3; ++d) {
    count[d] = 1;
    index[d] = 0;
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
  serial_state *s = c->state;
  s->cut[0] = box->lo[axis];
  s->cut[1] = box->hi[axis];
  return s->cut;
}

static int owner(md_comm *c, const md_box *box, const double x[3])
{
  (void)c, (void)box, (void)x;
  return 0;
}

static const md_bisector *bisectors(md_comm *c, const md_box *box)
{
  (void)c, (void)box;
  return NULL;
}

static int rank_at(md_comm *c, const int index[3])
{
  (void)c, (void)index;
  return 0;
}

static md_status set_cuts(md_comm *c, const md_box *box, int axis, int n, const double *fraction)
{
  (void)c, (void)box, (void)fraction;
  if (n <= 0) return MD_OK;
  return md_error(MD_USAGE, "balance %c: one rank has no cuts, not %d", "xyz"[axis], n);
}

static md_status rebalance(md_comm *c, const md_model *model, const md_particles *p, double imbalance[2])
{
  (void)c, (void)model, (void)p;
  imbalance[0] = imbalance[1] = 1.0;
  return MD_OK;
}

static const md_comm_domains domains = {.decompose = decompose,
                                        .prefer_slabs = prefer_slabs,
                                        .fix_grid = fix_grid,
                                        .grid = grid,
                                        .domain = domain,
                                        .cuts = cuts,
                                        .owner = owner,
                                        .bisectors = bisectors,
                                        .rank_at = rank_at,
                                        .set_cuts = set_cuts,
                                        .rebalance = rebalance};

static md_status open_transport(md_comm *c, const char *name, int sharers, md_transport **transport)
{
  (void)c, (void)name, (void)sharers;
  *transport = NULL;
  return MD_OK;
}

static md_status finalise(md_comm *c, md_status status, bool *alone)
{
  (void)c;
  *alone = false;
  return status;
}

static void destroy(md_comm *c)
{
  serial_state *s = c->state;
  md_serial_images_free(&s->images);
  free(s);
  free(c);
}

md_status md_comm_serial(md_comm **comm)
{
  md_comm *c = calloc(1, sizeof *c);
  serial_state *s = calloc(1, sizeof *s);
  if (!c || !s) {
    free(c);
    free(s);
    return md_error(MD_RUNTIME, "out of memory");
  }
  *c = (md_comm){.rank = 0,
                 .size = 1,
                 .local_size = 1,
                 .state = s,
                 .reduce = &reductions,
                 .domains = &domains,
                 .exchange = &md_serial_exchange,
                 .files = &md_serial_files,
                 .open_transport = open_transport,
                 .finalise = finalise,
                 .destroy = destroy};
  *comm = c;
  return MD_OK;
}
