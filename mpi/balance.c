/* Rebalancing: the cuts move so that ranks have about equal numbers of particles, also where parts of the box are
 * empty.
 *
 * 1. Along each axis whose cuts may move, all ranks make a histogram of their particles, and sum the histograms.
 * 2. The cuts go to the places where the shares of the domains are equal.
 * 3. A cut moves less where a domain would become thinner than the halo.
 *
 * Trade-off: the domains stay a grid, so that each keeps its neighbours. But what planes through the whole box
 * cannot balance stays unbalanced.
 *
 * Cost: for each axis one pass over the particles and a sum of BINS numbers over ranks.
 *
 * Reference: the LAMMPS manual, command balance, style shift, which finds the same cuts by bisection.
 */
#include "mpi/state.h"

#include <stdlib.h>
#include <string.h>

enum { BINS = 4096 };

static md_status shift_axis(md_comm *c, const md_box *box, const md_particles *p, int axis)
{
  int64_t histogram[BINS] = {0};
  const double per_bin = BINS / box->length[axis], lo = box->lo[axis];
  const double *x = p->x[axis];
#pragma omp parallel for schedule(static) reduction(+ : histogram[:BINS])
  for (int64_t i = 0; i < p->n; ++i) {
    const double at = (x[i] - lo) * per_bin;
    const int bin = at > 0.0 ? (at < BINS ? (int)at : BINS - 1) : 0;
    ++histogram[bin];
  }
  MD_TRY(md_mpi_sum(c, histogram, BINS));
  md_decomposition_shift(&mpi_state_of(c)->division, box, axis, histogram, BINS);
  return MD_OK;
}

/* The imbalance: the most particles of a rank, divided by the average, if every particle were with its owner. */
static md_status imbalance_of(md_comm *c, const md_particles *p, double *imbalance)
{
  const md_decomposition *division = &mpi_state_of(c)->division;
  int64_t *owned, most = 0, total = 0;
  MD_TRY(md_array_new_zero(&owned, c->size, sizeof *owned, "particles of the ranks"));
  for (int64_t i = 0; i < p->n; ++i) {
    double x[3] = {0.0, 0.0, 0.0};
    for (int d = 0; d < p->dim; ++d) x[d] = p->x[d][i];
    ++owned[md_decomposition_owner(division, p->dim, x)];
  }
  const md_status status = md_mpi_sum(c, owned, c->size);
  for (int r = 0; r < c->size; ++r) {
    total += owned[r];
    most = owned[r] > most ? owned[r] : most;
  }
  free(owned);
  *imbalance = total > 0 ? (double)most * c->size / (double)total : 1.0;
  return status;
}

md_status md_mpi_rebalance(md_comm *c, const md_model *model, const md_particles *p, double imbalance[2])
{
  md_decomposition *division = &mpi_state_of(c)->division;
  MD_TRY(md_decomposition_fit(division, &model->box));
  MD_TRY(imbalance_of(c, p, &imbalance[0]));
  for (int a = 0; a < model->box.dim; ++a)
    if (c->balance.axis[a] && division->count[a] > 1) MD_TRY(shift_axis(c, &model->box, p, a));
  MD_TRY(md_decomposition_fit(division, &model->box));
  return imbalance_of(c, p, &imbalance[1]);
}

md_status md_mpi_rebalance_if_due(md_comm *c, const md_model *model, const md_particles *p)
{
  mpi_state *s = mpi_state_of(c);
  if (c->balance.every <= 0) return MD_OK;
  /* reset_timestep may have made the step smaller, and then a look at the balance is due. */
  const int64_t since = model->step - s->balanced_at;
  if (s->balanced_at >= 0 && since >= 0 && since < c->balance.every) return MD_OK;
  s->balanced_at = model->step;
  double most = (double)p->n, imbalance[2];
  MD_TRY(md_mpi_max(c, &most, 1));
  if (most * c->size <= c->balance.threshold * (double)model->natoms) return MD_OK;
  return md_mpi_rebalance(c, model, p, imbalance);
}
