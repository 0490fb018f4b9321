/* Checks of a restart's content; see restart_check.h.
 *
 * Only values that no deck can set are refused here. The commands and md_model_prepare judge unusual values.
 */
#include "src/restart/restart_check.h"
#include "common/pair/hybrid/hybrid.h"
#include "src/particles/unique_ids.h"

#include <math.h>
#include <stdlib.h>

/* More random numbers than a deck can draw. */
#define DRAWN_MOST (UINT64_C(1) << 62)

static md_status wrong(const char *path, const char *name)
{
  return md_error(MD_RUNTIME, "cannot read %.500s: it is damaged, /%s is not valid", path, name);
}

static bool not_negative(double value) { return isfinite(value) && value >= 0.0; }

/* Whether `value` can be parameter p of a style. NaN stands for the style's own default, where there is one. */
static bool is_parameter(const md_pair_style *style, int p, double value)
{
  const md_parameter_range range = style->parameter[p].range;
  if (isnan(value)) return p >= style->nparameter - style->nglobal + style->global_required;
  return isfinite(value) && !(range == MD_POSITIVE && value <= 0.0) &&
         !(range == MD_NOT_NEGATIVE && value < 0.0);
}

/* The item that is wrong in the coefficients of types i and j; NULL: none. */
static const char *wrong_in_coefficients(const md_pair *pair, int64_t i, int64_t j)
{
  const md_pair_style *style = md_pair_style_of(pair->kind);
  const int64_t a = i * pair->ntypes + j, b = j * pair->ntypes + i;
  const double *value = pair->parameter + a * MD_PAIR_PARAMETERS;
  if (pair->set[a] > 2 || pair->set[a] != pair->set[b]) return "model/pair_set";
  for (int p = 0; p < style->nparameter && pair->set[a]; ++p)
    if (!is_parameter(style, p, value[p])) return "model/pair_coefficients";
  const bool same =
      memcmp(value, pair->parameter + b * MD_PAIR_PARAMETERS, MD_PAIR_PARAMETERS * sizeof *value) == 0;
  return same ? NULL : "model/pair_coefficients";
}

/* A sub-style of a number that is not there, another one for j i than for i j, or several with hybrid. */
static bool wrong_in_uses(const md_pair *pair)
{
  const int64_t types = pair->ntypes, all = (INT64_C(1) << pair->nsub) - 1;
  for (int64_t i = 0; i < types; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      const int64_t uses = pair->uses[i * types + j];
      if (uses != pair->uses[j * types + i] || (uses & ~all) != 0) return true;
      if (pair->kind == MD_PAIR_hybrid && (uses & (uses - 1)) != 0) return true;
    }
  return false;
}

static const char *wrong_in_pair(const md_pair *pair)
{
  const md_pair_style *style = md_pair_style_of(pair->kind);
  if (!style) return NULL;
  const int first = style->nparameter - style->nglobal;
  for (int p = first; p < style->nparameter; ++p)
    if (!is_parameter(style, p, pair->global[p - first])) return "model/pair_defaults";
  const char *found = NULL;
  for (int64_t i = 0; i < pair->ntypes; ++i)
    for (int64_t j = 0; j <= i && !found; ++j) found = wrong_in_coefficients(pair, i, j);
  for (int s = 0; s < pair->nsub && !found; ++s) found = wrong_in_pair(&pair->sub[s]);
  if (!found && pair->nsub > 0 && wrong_in_uses(pair)) found = "model/pair_uses";
  return found;
}

/* Whether `a` is a power of two, as quanta are, or 0: a file that was not written during a run has none. */
static bool may_be_quantum(double a)
{
  int exponent;
  return a == 0.0 || (isfinite(a) && frexp(a, &exponent) == 0.5);
}

static const char *wrong_in_box(const md_box *box)
{
  for (int d = 0; d < 3; ++d)
    if (!isfinite(box->lo[d]) || !isfinite(box->hi[d]) || !(box->lo[d] < box->hi[d])) return "model/box_hi";
  for (int k = 0; k < 3; ++k)
    if (!isfinite(box->tilt[k])) return "model/box_tilt";
  for (int d = 0; d < 3; ++d) {
    if (!not_negative(box->margin[d])) return "model/box_margins";
    if (!isfinite(box->bound[d][0]) || !isfinite(box->bound[d][1])) return "model/box_bounds";
  }
  if (!may_be_quantum(box->room)) return "model/box_room";
  return NULL;
}

static const char *wrong_in_grids(const md_model *m)
{
  const md_grids *g = &m->grids;
  const double quantum[] = {g->x, g->v, g->f, g->e, g->w, g->k};
  _Static_assert(sizeof quantum == sizeof *g, "every grid is looked at");
  for (size_t k = 0; k < sizeof quantum / sizeof *quantum; ++k)
    if (!may_be_quantum(quantum[k])) return "model/grids";
  if (m->wide && m->grids.v == 0.0) return "model/grids";
  for (int t = 1; t <= m->ntypes; ++t) {
    const double ratio = m->wide ? m->v_step[t] / m->grids.v : 1.0;
    if (!may_be_quantum(m->v_step[t]) || !(ratio >= 1.0 && ratio <= 0x1p61)) return "model/velocity_steps";
  }
  return NULL;
}

static const char *wrong_in_bonds(const md_bonds *b)
{
  const md_bond_style *style = md_bond_style_of(b->kind);
  if (!not_negative(b->longest)) return "model/bond_longest";
  for (int t = 1; t <= b->ntypes; ++t)
    for (int k = 0; b->set[t] && k < style->nparameter; ++k)
      if (!not_negative(b->parameter[t][k])) return "model/bond";
  return NULL;
}

static const char *wrong_in_model(const md_model *m)
{
  for (int t = 1; t <= m->ntypes; ++t) {
    if (!not_negative(m->mass[t])) return "model/mass";
    if (!not_negative(m->velocity_per_v[t]) || m->velocity_per_v[t] == 0.0) return "model/velocity_per_v";
  }
  if (!not_negative(m->dt)) return "model/timestep";
  if (!not_negative(m->skin)) return "model/skin";
  if (!not_negative(m->mass_reference)) return "model/mass_reference";
  if (m->massed && !not_negative(m->speed_limit)) return "model/speed_limit";
  for (int f = 0; f < m->nfix; ++f) {
    for (int k = 0; k < MD_FIX_K; ++k)
      if (!isfinite(m->fix[f].k[k])) return "model/fix";
    for (int k = 0; k < MD_FIX_STATE_MAX; ++k)
      if (!isfinite(m->fix[f].state[k])) return "model/fix";
  }
  const char *found = wrong_in_box(&m->box);
  if (!found) found = wrong_in_grids(m);
  if (!found && m->bonded) found = wrong_in_bonds(&m->bonds);
  return found ? found : wrong_in_pair(&m->pair);
}

/* Is the step one of a run from a to b, forwards or back? */
static bool is_between(int64_t step, int64_t a, int64_t b)
{
  return a <= b ? a <= step && step <= b : b <= step && step <= a;
}

/* The numbers of random numbers only grow. The last run of the history has not ended. */
static const char *wrong_in_draws(const md_restart *r)
{
  const md_history *h = &r->history;
  const int64_t ended = r->under_way ? h->nrun - 1 : h->nrun;
  uint64_t before = 0;
  if (r->drawn > DRAWN_MOST || r->drawn_row > r->drawn) return "run/drawn";
  for (int64_t k = 0; k < ended; before = h->run[k++].drawn)
    if (h->run[k].drawn < before || h->run[k].drawn > r->drawn) return "run/drawn";
  before = 0;
  for (int64_t k = 0; h->measured_drawn && k < h->nmeasured; ++k) {
    if (h->measured_drawn[k] < before || h->measured_drawn[k] > r->drawn) return "run/measured_drawn";
    before = h->measured_drawn[k];
  }
  md_left_out last = {0};
  for (int64_t k = 0; k < h->nleft; last = h->left[k++]) {
    const md_left_out *c = &h->left[k];
    if (c->nrun < last.nrun || c->nrun > h->nrun || c->nmeasured < last.nmeasured ||
        c->nmeasured > h->nmeasured || c->drawn < last.drawn || c->drawn > r->drawn || c->natoms < -1)
      return "run/left_out_commands";
  }
  return NULL;
}

static const char *wrong_in_run(const md_restart *r)
{
  const md_model *m = &r->model;
  const md_history *h = &r->history;
  if (m->step < 0) return "run/step";
  if (m->run_begin < 0) return "run/begin";
  if (m->run_end < 0) return "run/end";
  if (r->has_energy && !isfinite(r->first_energy)) return "run/first_energy";
  for (int64_t k = 0; k < h->nrun; ++k)
    if (h->run[k].first < 0 || h->run[k].last < 0 || h->run[k].halted < MD_HALT_NONE ||
        h->run[k].halted > MD_HALT_ALL || h->run[k].natoms < -1)
      return "run/runs";
  const char *found = wrong_in_draws(r);
  if (found) return found;
  if (!r->under_way) return NULL;
  if (h->nrun < 1 || !is_between(m->step, h->run[h->nrun - 1].first, h->run[h->nrun - 1].last))
    return "run/step";
  return is_between(m->step, m->run_begin, m->run_end) ? NULL : "run/begin";
}

static const char *wrong_in_outputs(const md_restart *r)
{
  for (int64_t k = 0; k < r->noutput; ++k)
    if (r->output[k].bytes < -1 || r->output[k].last_step < -1 || !r->output[k].id[0]) return "output";
  return NULL;
}

md_status md_restart_check(const md_restart *r, const char *path)
{
  const char *found = wrong_in_model(&r->model);
  if (!found) found = wrong_in_run(r);
  if (!found) found = wrong_in_outputs(r);
  return found ? wrong(path, found) : MD_OK;
}

md_status md_restart_check_particles(const md_restart *r, const md_particles *p, const char *path)
{
  int64_t names = 0, places = 0;
#pragma omp parallel for schedule(static) reduction(+ : names, places)
  for (int64_t i = 0; i < p->n; ++i) {
    names += p->type[i] < 1 || p->type[i] > r->model.ntypes || p->id[i] < 1;
    for (int k = 0; k < p->bonds; ++k)
      names += p->bond[k][i] < 0 || (p->bond[k][i] > 0) != (p->bond_type[k][i] > 0) ||
               p->bond_type[k][i] > r->model.bonds.ntypes;
    bool good = !p->mass || (isfinite(p->mass[i]) && p->mass[i] > 0.0);
    for (int d = 0; d < p->dim; ++d) good = good && isfinite(p->x[d][i]) && isfinite(p->v[d][i]);
    for (int d = 0; d < p->dim && p->has_v_pair; ++d) good = good && isfinite(p->v_pair[d][i]);
    places += !good;
  }
  if (names > 0)
    return md_error(MD_RUNTIME,
                    "cannot read %.500s: %lld particles have a type, an id or a bond that cannot be", path,
                    (long long)names);
  if (places > 0)
    return md_error(MD_RUNTIME,
                    "cannot read %.500s: %lld particles have a position, a velocity or a mass that cannot be",
                    path, (long long)places);
  return MD_OK;
}

md_status md_restart_check_ids(md_comm *comm, const md_particles *p, const char *path)
{
  int64_t twice;
  MD_TRY(md_ids_find_twice(comm, p, &twice));
  if (twice == 0) return MD_OK;
  return md_error(MD_RUNTIME, "cannot read %.500s: it is damaged, particle id %lld occurs twice", path,
                  (long long)twice);
}
