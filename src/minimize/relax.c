/* The box in a minimisation; see relax.h. */
#include "src/minimize/relax.h"
#include "src/measure.h"

/* The mean pressure of the axes that change, as an energy in a volume. */
static double mean_target(const md_minimizer *m)
{
  const md_relax *said = &m->relax.said;
  double sum = 0.0;
  int n = 0;
  for (int d = 0; d < 3; ++d) {
    if (!said->moves[d]) continue;
    sum += said->target[d];
    ++n;
  }
  return sum / n / m->sim->model.units->nktv2p;
}

/* What the pressure of an axis is above the mean. */
static double beyond_mean(const md_minimizer *m, int d)
{
  return m->relax.said.target[d] / m->sim->model.units->nktv2p - mean_target(m);
}

static double stretch(const md_minimizer *m, int d) { return 1.0 + m->relax.strain[m->relax.of[d]]; }

/* Axes that change alike, beside others, have the mean of their forces. */
static void share_forces(md_minimizer *m)
{
  const md_relax *said = &m->relax.said;
  double sum = 0.0;
  int n = 0;
  for (int d = 0; d < 3; ++d) {
    sum += said->coupled[d] ? m->force.box[d] : 0.0;
    n += said->coupled[d];
  }
  for (int d = 0; d < 3; ++d)
    if (said->coupled[d]) m->force.box[d] = sum / n;
}

/* Energy and forces from the virials that are known. */
static void find_forces(md_minimizer *m)
{
  md_min_relax *r = &m->relax;
  const double volume = md_box_volume(&m->sim->model.box), p = mean_target(m);
  const double reference = md_box_volume(&r->reference);
  r->energy = p == 0.0 ? 0.0 : p * (volume - reference);
  for (int d = 0; d < 3; ++d) m->force.box[d] = 0.0;
  for (int d = 0; d < 3; ++d) {
    if (!r->said.moves[d]) continue;
    const double by = stretch(m, d), strained = reference * beyond_mean(m, d);
    const double first = r->first.length[d] / r->reference.length[d];
    r->energy += 0.5 * strained * (by * by * first * first - 1.0);
    m->force.box[r->of[d]] += (r->virial[d] - p * volume) / by - strained * by * first * first;
  }
  if (!r->together) share_forces(m);
  m->sim->model.fix[r->fix].state[0] = r->energy;
}

void md_min_relax_begin(md_minimizer *m)
{
  const md_model *model = &m->sim->model;
  md_min_relax *r = &m->relax;
  if (!r->on) return;
  for (int d = 0; d < 3; ++d)
    if (!r->said.pointed) r->said.point[d] = 0.5 * (model->box.lo[d] + model->box.hi[d]);
  r->first = r->reference = model->box;
  r->together = true;
  for (int d = 0; d < model->box.dim; ++d) r->together = r->together && r->said.coupled[d];
  for (int d = 0; d < 3; ++d) r->of[d] = r->together ? 0 : d;
}

md_status md_min_relax_evaluate(md_minimizer *m)
{
  const md_model *model = &m->sim->model;
  md_measure measure;
  if (!m->relax.on) return MD_OK;
  MD_TRY(md_measure_ranks(m->run->kind, m->run->engine, m->sim->comm, model, (md_wanted){.tensor = true},
                          &measure));
  for (int d = 0; d < 3; ++d)
    m->relax.virial[d] = 0.5 * md_wide_value(&measure.tensor2[d], model->grids.w) + measure.fix_virial[d] +
                         md_model_tail_virial(model);
  find_forces(m);
  return MD_OK;
}

void md_min_relax_keep(md_minimizer *m)
{
  md_particles *p = &m->sim->particles;
  md_min_relax *r = &m->relax;
  double *const *start = m->vector[r->start].x;
  r->box = m->sim->model.box;
  for (int d = 0; d < 3; ++d) r->strain_before[d] = r->strain[d];
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    double x[3] = {0.0, 0.0, 0.0};
    for (int d = 0; d < p->dim; ++d) x[d] = p->x[d][i];
    md_box_wrap(&r->box, x);
    for (int d = 0; d < p->dim; ++d) start[d][i] = x[d];
  }
}

/* The faces at the present strains. At those of the beginning they are exactly the ones of then. */
static md_status move_faces(md_minimizer *m)
{
  md_model *model = &m->sim->model;
  const md_min_relax *r = &m->relax;
  model->move = (md_box_move){.pending = true};
  for (int d = 0; d < 3; ++d) {
    const int s = r->of[d];
    const bool moves = r->said.moves[d] && r->strain[s] != r->strain_before[s];
    const double c = r->said.point[d], by = moves ? stretch(m, d) : 1.0;
    model->move.lo[d] = moves ? c + (r->first.lo[d] - c) * by : r->box.lo[d];
    model->move.hi[d] = moves ? c + (r->first.hi[d] - c) * by : r->box.hi[d];
  }
  const md_status status = md_model_check_move(model);
  if (status == MD_OK) md_model_take_box(model);
  model->move.pending = false;
  return status;
}

md_status md_min_relax_move(md_minimizer *m, double to)
{
  md_min_relax *r = &m->relax;
  md_model *model = &m->sim->model;
  md_particles *p = &m->sim->particles;
  const double *along = m->vector[MD_MIN_U].box;
  for (int d = 0; d < 3; ++d) r->strain[d] = r->strain_before[d] + to * along[d];
  MD_TRY(move_faces(m));
  for (int d = 0; d < p->dim; ++d) {
    const double *u = m->vector[MD_MIN_U].x[d], *start = m->vector[r->start].x[d];
    const double before = r->box.lo[d], now = model->box.lo[d], by = model->box.length[d] / r->box.length[d];
    double *x = p->x[d];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; ++i) {
      const bool carried = ((p->group ? p->group[i] : MD_GROUP_ALL) & r->said.carried) != 0;
      const double at = carried ? now + (start[i] - before) * by : start[i];
      x[i] = md_round_to(at + to * u[i], model->grids.x);
    }
  }
  return MD_OK;
}

void md_min_relax_reset(md_minimizer *m)
{
  md_min_relax *r = &m->relax;
  if (!r->on || r->said.every == 0 || m->iterations % r->said.every != 0) return;
  const double before = r->energy;
  r->reference = m->sim->model.box;
  find_forces(m);
  const double change = r->energy - before;
  m->energy += md_thermo_is_normed(m->sim) ? change / (double)m->sim->model.natoms : change;
}

double md_min_relax_most(const md_minimizer *m)
{
  double largest = 0.0;
  if (!m->relax.on) return (double)INFINITY;
  for (int d = 0; d < 3; ++d) largest = md_max(largest, fabs(m->vector[MD_MIN_U].box[d]));
  return m->relax.said.most / largest;
}
