/* The domains of ranks over MPI: the division of the box (common/ranks/decompose.h), and rebalancing.
 *
 * Rebalancing: the cuts move so that ranks have about equal loads: numbers of particles, also where parts of the box
 * are empty, or sums of their weights (common/ranks/balance.h).
 *
 * 1. Along each axis whose cuts may move, all ranks make a histogram of their loads, and sum the histograms.
 * 2. The cuts go to the places where the shares of the domains are equal.
 * 3. A cut moves less where a domain would become thinner than the halo.
 *
 * Trade-off: the domains stay a grid, so that each keeps its neighbours. But what planes through the whole box
 * cannot balance stays unbalanced. Recursive bisection (bricks.c) balances everything.
 *
 * Cost: for each axis one pass over the particles and a sum of BINS numbers over ranks.
 *
 * Reference: the LAMMPS manual, command balance, style shift, which finds the same cuts by bisection.
 */
#include "common/ranks/balance.h"
#include "mpi/state.h"

#include <stdlib.h>
#include <string.h>

enum { BINS = 4096 };

static md_status decompose(md_comm *c, const md_model *model, double width)
{
  return md_decomposition_divide(&mpi_state_of(c)->division, &model->box, width);
}

static void prefer_slabs(md_comm *c, double thickness) { mpi_state_of(c)->division.slab = thickness; }

static void fix_grid(md_comm *c, const int wanted[3])
{
  md_decomposition *d = &mpi_state_of(c)->division;
  memcpy(d->wanted, wanted, sizeof d->wanted);
  md_decomposition_free(d);
}

static void grid(md_comm *c, int count[3], int index[3])
{
  const md_decomposition *d = &mpi_state_of(c)->division;
  memcpy(count, d->count, sizeof d->count);
  memcpy(index, d->index, sizeof d->index);
}

/* Whether the box can be divided. If not, decompose reports an error, and until then the domain of every rank is
 * empty. */
static bool fitted(md_comm *c, const md_box *box)
{
  return md_decomposition_fit(&mpi_state_of(c)->division, box) == MD_OK;
}

static void domain(md_comm *c, const md_box *box, double lo[3], double hi[3])
{
  const md_decomposition *d = &mpi_state_of(c)->division;
  if (fitted(c, box)) {
    md_decomposition_domain(d, box, d->rank, lo, hi);
    return;
  }
  for (int a = 0; a < 3; ++a) lo[a] = hi[a] = box->lo[a];
}

static const double *cuts(md_comm *c, const md_box *box, int axis)
{
  return fitted(c, box) ? mpi_state_of(c)->division.cut[axis] : NULL;
}

static int owner(md_comm *c, const md_box *box, const double x[3])
{
  return fitted(c, box) ? md_decomposition_owner(&mpi_state_of(c)->division, box->dim, x) : 0;
}

static const md_bisector *bisectors(md_comm *c, const md_box *box)
{
  return fitted(c, box) ? mpi_state_of(c)->division.bisector : NULL;
}

static int rank_at(md_comm *c, const int index[3])
{
  return md_decomposition_rank(&mpi_state_of(c)->division, index);
}

/* ---- rebalancing ---- */

static md_status shift_axis(md_comm *c, const md_box *box, const md_particles *p, int axis)
{
  int64_t histogram[BINS] = {0};
  const double per_bin = BINS / box->length[axis], lo = box->lo[axis];
  const double *x = p->x[axis];
#pragma omp parallel for schedule(static) reduction(+ : histogram[:BINS])
  for (int64_t i = 0; i < p->n; ++i) {
    const double at = (x[i] - lo) * per_bin;
    const int bin = at > 0.0 ? (at < BINS ? (int)at : BINS - 1) : 0;
    histogram[bin] += md_balance_load_of(&c->balance, p, i);
  }
  MD_TRY(md_mpi_sum(c, histogram, BINS));
  md_decomposition_shift(&mpi_state_of(c)->division, box, axis, histogram, BINS);
  return MD_OK;
}

/* The imbalance: the largest load of a rank, divided by the average, if every particle were with its owner. */
static md_status imbalance_of(md_comm *c, const md_particles *p, double *imbalance)
{
  const md_decomposition *division = &mpi_state_of(c)->division;
  int64_t *owned, most = 0, total = 0;
  MD_TRY(md_array_new_zero(&owned, c->size, sizeof *owned, "loads of the ranks"));
#pragma omp parallel
  {
    /* Neighbouring particles mostly have the same owner, so that few sums are added one by one. */
    int owner = 0;
    int64_t load = 0;
#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < p->n; ++i) {
      double x[3] = {0.0, 0.0, 0.0};
      for (int d = 0; d < p->dim; ++d) x[d] = p->x[d][i];
      const int next = md_decomposition_owner(division, p->dim, x);
      if (next != owner) {
#pragma omp atomic
        owned[owner] += load;
        owner = next;
        load = 0;
      }
      load += md_balance_load_of(&c->balance, p, i);
    }
#pragma omp atomic
    owned[owner] += load;
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

/* Slabs that were a guess of what an engine will have are given up for the grid with the least surface. */
static void forget_guess(md_decomposition *division)
{
  if (!(division->slab > 0.0 && division->slab <= MD_SLAB_ANY)) return;
  division->slab = 0.0;
  md_decomposition_free(division);
}

static md_status rebalance(md_comm *c, const md_model *model, const md_particles *p, double imbalance[2])
{
  md_decomposition *division = &mpi_state_of(c)->division;
  forget_guess(division);
  MD_TRY(md_decomposition_fit(division, &model->box));
  MD_TRY(imbalance_of(c, p, &imbalance[0]));
  MD_TRY(md_comm_agree(c, md_decomposition_tile(division, c->balance.bisects)));
  if (c->balance.bisects) MD_TRY(md_mpi_bisect(c, &model->box, p));
  for (int a = 0; a < model->box.dim; ++a)
    if (!c->balance.bisects && c->balance.axis[a] && division->count[a] > 1)
      MD_TRY(shift_axis(c, &model->box, p, a));
  MD_TRY(md_decomposition_fit(division, &model->box));
  return imbalance_of(c, p, &imbalance[1]);
}

md_status md_mpi_rebalance_if_due(md_comm *c, const md_model *model, const md_particles *p)
{
  mpi_state *s = mpi_state_of(c);
  if (c->balance.every <= 0) return MD_OK;
  /* In a run that goes back, and after reset_timestep, the step is smaller than the last one. */
  const int64_t since = llabs(model->step - s->balanced_at);
  if (s->balanced_at >= 0 && since < c->balance.every) return MD_OK;
  s->balanced_at = model->step;
  int64_t load = md_balance_load(&c->balance, p);
  double most = (double)load, imbalance[2];
  MD_TRY(md_mpi_max(c, &most, 1));
  MD_TRY(md_mpi_sum(c, &load, 1));
  imbalance[0] = imbalance[1] = load > 0 ? most * c->size / (double)load : 1.0;
  const bool moves = most * c->size > c->balance.threshold * (double)load;
  if (moves) MD_TRY(rebalance(c, model, p, imbalance));
  md_balance_note(c, load, imbalance, moves);
  return MD_OK;
}

static md_status set_cuts(md_comm *c, const md_box *box, int axis, int n, const double *fraction)
{
  md_decomposition *division = &mpi_state_of(c)->division;
  forget_guess(division);
  MD_TRY(md_decomposition_tile(division, false));
  MD_TRY(md_decomposition_fit(division, box));
  MD_TRY(md_decomposition_set_cuts(division, axis, n, fraction));
  return md_decomposition_fit(division, box);
}

const md_comm_domains md_mpi_domains = {.decompose = decompose,
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
