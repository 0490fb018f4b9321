/* Forces that the program around the library gives; see external.h. */
#include "common/force/external.h"
#include "common/force/forces.h"
#include "common/ranks/long_sums.h"

#include <stdlib.h>
#include <string.h>

enum { GIVEN = 1 + MD_TENSOR }; /* the energy and the components of the virial */

/* ---- positions inside the box ---- */

/* The position of particle i inside the box. */
static void place(const md_centre *box, const md_particles *p, int64_t i, double x[3])
{
  for (int d = 0; d < 3; ++d) x[d] = d < p->dim ? p->x[d][i] : 0.0;
  md_box_place(box->lo, box->length, box->offset, box->tilt, x);
}

static bool are_inside(const md_centre *box, const md_particles *p)
{
  bool inside = true;
  for (int64_t i = 0; i < p->n && inside; ++i) {
    double x[3];
    place(box, p, i, x);
    for (int d = 0; d < p->dim; ++d) inside = inside && x[d] == p->x[d][i];
  }
  return inside;
}

/* Makes x[] the positions inside the box: the arrays of the particles, or copies in own[], which the caller frees. */
static md_status find_places(const md_model *model, const md_particles *p, double *own[3], const double *x[3])
{
  const md_centre box = md_centre_of(model, MD_GROUP_ALL);
  const bool inside = are_inside(&box, p);
  for (int d = 0; d < p->dim && !inside; ++d)
    MD_TRY(md_array_new(&own[d], p->n, sizeof *own[d], "positions for fix external"));
  for (int64_t i = 0; i < p->n && !inside; ++i) {
    double at[3];
    place(&box, p, i, at);
    for (int d = 0; d < p->dim; ++d) own[d][i] = at[d];
  }
  for (int d = 0; d < p->dim; ++d) x[d] = inside ? p->x[d] : own[d];
  return MD_OK;
}

/* ---- calls ---- */

static md_status call(const md_model *model, const md_particles *p, int64_t step, const md_fix *fix,
                      double given[GIVEN])
{
  double *own[3] = {NULL, NULL, NULL}, *f[3] = {NULL, NULL, NULL};
  const double *x[3] = {NULL, NULL, NULL};
  md_status status = find_places(model, p, own, x);
  for (int d = 0; d < p->dim; ++d) {
    f[d] = p->external[d];
    if (p->n > 0) memset(f[d], 0, (size_t)p->n * sizeof *f[d]);
  }
  if (status == MD_OK && fix->function(fix->caller, step, p->n, p->id, x, f, &given[0], &given[1]) != 0)
    status =
        md_error(MD_RUNTIME, "step %lld: the function of fix external returned an error", (long long)step);
  for (int d = 0; d < 3; ++d) free(own[d]);
  for (int k = 0; k < GIVEN && status == MD_OK; ++k)
    if (!(fabs(given[k]) < MD_FORCE_OUTPUT_RANGE))
      status = md_error(MD_RUNTIME, "step %lld: the %s that the function of fix external gives is %g",
                        (long long)step, k == 0 ? "energy" : "virial", given[k]);
  return status;
}

/* Makes of the numbers of this rank the sums over ranks. */
static md_status sum_over_ranks(md_comm *comm, double given[GIVEN])
{
  md_long_sum sum[GIVEN] = {{.terms = 0}};
  for (int k = 0; k < GIVEN; ++k) md_long_add(&sum[k], given[k]);
  MD_TRY(md_long_sums_over_ranks(comm, sum, GIVEN));
  for (int k = 0; k < GIVEN; ++k) given[k] = md_long_value(&sum[k]);
  return MD_OK;
}

md_status md_external_call(const md_model *model, md_comm *comm, const md_particles *p, int64_t step,
                           md_fix *fix)
{
  double given[GIVEN] = {0.0};
  fix->state[MD_EXTERNAL_KNOWN] = 0.0;
  MD_TRY(md_comm_agree(comm, call(model, p, step, fix, given)));
  MD_TRY(sum_over_ranks(comm, given));
  memcpy(&fix->state[MD_EXTERNAL_ENERGY], given, sizeof given);
  fix->state[MD_EXTERNAL_KNOWN] = 1.0;
  fix->state[MD_EXTERNAL_STEP] = (double)step;
  return MD_OK;
}

md_status md_external_ask(md_model *model, md_comm *comm, const md_particles *p, int64_t step,
                          md_force_action *action)
{
  md_fix *fix = &model->fix[action->fix];
  action->k[0] = md_external_acts(fix, step) ? 1.0 : 0.0;
  return md_external_is_due(fix, step) ? md_external_call(model, comm, p, step, fix) : MD_OK;
}

md_status md_external_start(md_model *model, md_comm *comm, const md_particles *p)
{
  const int f = md_fixes_external(model);
  if (f < 0) return MD_OK;
  model->fix[f].state[MD_EXTERNAL_KNOWN] = 0.0;
  return md_external_is_due(&model->fix[f], model->step)
             ? md_external_call(model, comm, p, model->step, &model->fix[f])
             : MD_OK;
}
