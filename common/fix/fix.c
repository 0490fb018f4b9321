/* How fixes become settings and actions of a model; see fix.h. */
#include "common/fix/fix_parts.h"
#include "common/wall/wall.h"

#include <stdio.h>
#include <string.h>

md_status md_fixes_join(md_model *model)
{
  model->integrator = MD_STATIC;
  model->moving = MD_GROUP_ALL;
  model->placed = 0;
  model->float_drift = false;
  model->hottest = 0.0;
  memset(model->wall, 0, sizeof model->wall);
  for (int f = 0; f < model->nfix; ++f)
    MD_TRY(md_fix_style_of(model->fix[f].kind)->join(&model->fix[f], model));
  md_model_find_changes(model);
  return MD_OK;
}

/* Does the fix act after steps, on velocities or on the box? */
static bool acts_after(md_fix_kind kind)
{
  return md_fix_acts_at_end(kind) || md_fix_style_of(kind)->move_box;
}

/* Does the fix act before the drift? */
static bool drifts(const md_fix *fix)
{
  const md_fix_style *style = md_fix_style_of(fix->kind);
  return md_fix_acts_before_drift(fix->kind) && (!style->drifts || style->drifts(fix));
}

/* Does the fix act in the middle of the drift? */
static bool acts_in_drift(const md_fix *fix)
{
  return md_fix_acts_in_middle(fix->kind) &&
         !(acts_after(fix->kind) && md_fix_style_of(fix->kind)->every(fix) > 0);
}

static md_status check_style(md_fix_kind kind)
{
  const md_fix_style *style = md_fix_style_of(kind);
  const bool middle = md_fix_acts_in_middle(kind) || md_fix_acts_before_drift(kind);
  const bool end = acts_after(kind), force = md_fix_acts_on_forces(kind);
  const int ends = (style->end != NULL) + (style->half != NULL) + (style->choose != NULL);
  if (end == (style->every != NULL) && md_fix_acts_in_middle(kind) == (style->halve != NULL) &&
      md_fix_acts_at_end(kind) == (ends == 1) && (style->look != NULL) == (style->looks != NULL) &&
      !(style->shifts_once && !(md_fix_acts_before_drift(kind) && end)) &&
      (style->move_box || style->relax) == (style->changes != NULL) && (!middle || style->prepare) &&
      (middle || end || !style->prepare) && force == (style->prepare_force != NULL) &&
      (force || (!style->has_energy && style->vector == MD_VECTOR_NONE)))
    return MD_OK;
  return md_error(MD_RUNTIME, "fix %s: its file lacks a part, or has one too many (fix.h)", style->name);
}

/* The temperature of fix_modify temp; NULL: there is none. */
static md_status find_temperature(const md_model *model, const md_fix *fix, const md_compute **temperature)
{
  int index;
  char what[64];
  *temperature = NULL;
  if (!fix->temp[0]) return MD_OK;
  snprintf(what, sizeof what, "the temperature of fix %s", md_fix_style_of(fix->kind)->name);
  MD_TRY(md_compute_temperature(model, what, fix->temp, true, &index));
  *temperature = &model->compute[index];
  return MD_OK;
}

static md_status add_middle(md_model *model, const md_action *action)
{
  if (action->bias.kind == MD_BIAS_SHIFT)
    return md_error(
        MD_USAGE,
        "fix %s acts within steps, where the motion of a centre of mass is not known; take another "
        "temperature than temp/com",
        md_fix_style_of(action->kind)->name);
  if (model->nmiddle == MD_MIDDLES_MAX)
    return md_error(MD_USAGE, "fix %s: at most %d fixes may act within a step",
                    md_fix_style_of(action->kind)->name, MD_MIDDLES_MAX);
  model->middle[model->nmiddle++] = *action;
  return MD_OK;
}

/* Several fixes act in the middle of a drift. One after the other they would be right to first order of the timestep
 * alone; so all but one act in two halves, around that one: the last one with noise. */
static void halve(md_model *model)
{
  int middles = 0, whole = -1;
  for (int a = 0; a < model->nmiddle; ++a) {
    const md_fix_style *style = md_fix_style_of(model->middle[a].kind);
    middles += style->halve != NULL;
    if (style->noisy) whole = a;
  }
  for (int a = 0; a < model->nmiddle && middles > 1; ++a) {
    const md_fix_style *style = md_fix_style_of(model->middle[a].kind);
    if (!style->halve || a == whole) continue;
    style->halve(&model->middle[a]);
    model->middle[a].halves = true;
  }
}

static md_status add_end(md_model *model, int f, const md_action *action, const md_compute *temperature)
{
  const md_fix *fix = &model->fix[f];
  const md_fix_style *style = md_fix_style_of(fix->kind);
  md_fix_end *end = &model->end[model->nend++];
  *end = (md_fix_end){.fix = f,
                      .drift = drifts(fix) ? model->nmiddle - 1 : -1,
                      .every = style->every(fix),
                      .action = *action,
                      .compute = {.kind = style->measures, .group = fix->group, .bias = action->bias}};
  if (style->parts) end->parts = style->parts(fix);
  if (style->parts) end->compute.group = 0;
  /* A tally is of the group on which the fix acts, whatever that of its temperature. */
  if (style->tallies && action->bias.kind == MD_BIAS_SHIFT)
    return md_error(MD_USAGE,
                    "fix %s with tally yes cannot have a temperature of style temp/com; use tally no",
                    style->name);
  if (temperature && !style->tallies) end->compute = *temperature;
  if (end->compute.kind == MD_COMPUTE_temp_deform && !temperature) {
    MD_TRY(md_compute_take_flow(model, &end->compute));
    end->action.bias = end->compute.bias;
  }
  if (temperature && style->counts_freedom && temperature->bias.kind == MD_BIAS_BLOCK)
    return md_error(MD_USAGE,
                    "fix %s: the number of particles in the region of its temperature %s changes, and with "
                    "it the degrees of freedom; use a temperature without a region",
                    style->name, temperature->id);
  if (style->measures == MD_COMPUTE_KINDS) return MD_OK;
  MD_TRY(md_compute_join(model, &end->compute));
  if (end->parts != MD_PARTS_AXES) return MD_OK;
  end->tensor = (md_compute){.kind = MD_COMPUTE_pressure_tensor, .bias = end->compute.bias};
  return md_compute_join(model, &end->tensor);
}

/* Adds the actions of fix f on forces. */
static md_status add_forces(md_model *model, int f)
{
  const md_fix *fix = &model->fix[f];
  const md_fix_style *style = md_fix_style_of(fix->kind);
  md_force_action action[MD_FORCES_EACH] = {{.kind = fix->kind}};
  int count = 1;
  MD_TRY(style->prepare_force(fix, model, action, &count));
  if (fix->energy) MD_TRY(md_fix_check_energy(model, fix));
  if (model->nforce_action + count > MD_FORCES_MAX)
    return md_error(MD_USAGE, "fix %s: at most %d walls and other actions on forces are accepted",
                    style->name, MD_FORCES_MAX);
  for (int k = 0; k < count; ++k) {
    md_force_action *to = &model->force_action[model->nforce_action++];
    *to = action[k];
    to->kind = fix->kind;
    if (to->group == 0) to->group = md_group_bit(fix->group);
    to->fix = f;
    to->part = k;
    to->takes_mean = style->takes_mean;
    to->takes_centre = style->take_centres && k == 0;
    to->asks = style->asks && style->asks(fix);
    to->in_region = style->takes_region && fix->k[MD_FIX_REGION] != SHAPE_NONE;
    if (!to->in_region) continue;
    memcpy(to->region, &fix->k[MD_FIX_REGION], SHAPE_K * sizeof *fix->k);
    md_shape_grow(to->region, md_model_margin(model));
    MD_TRY(md_fix_settle_shape(fix, model, to->region + SHAPE_K));
  }
  return MD_OK;
}

md_status md_fix_check_energy(const md_model *model, const md_fix *fix)
{
  const md_fix_style *style = md_fix_style_of(fix->kind);
  if (style->external) return MD_OK;
  if (!style->has_energy) return md_error(MD_USAGE, "fix %s has no energy", style->name);
  for (int d = 0; d < model->box.dim; ++d)
    if (model->box.periodic[d] && style->energy_needs_image && style->energy_needs_image(fix, d))
      return md_error(
          MD_USAGE,
          "fix %s: its energy is not known, because its force is along %c, where the box is periodic; "
          "use boundary f there",
          style->name, "xyz"[d]);
  return MD_OK;
}

bool md_fixes_anchor(const md_model *model)
{
  bool any = false;
  for (int f = 0; f < model->nfix; ++f) any = any || md_fix_style_of(model->fix[f].kind)->anchors;
  return any;
}

bool md_fix_is_reversible(const md_fix *fix)
{
  const md_fix_style *style = md_fix_style_of(fix->kind);
  if (style->reversible) return !style->reverses || style->reverses(fix);
  return style->undoes && style->undoes(fix);
}

int md_fixes_external(const md_model *model)
{
  int f = 0;
  while (f < model->nfix && !md_fix_style_of(model->fix[f].kind)->external) ++f;
  return f < model->nfix ? f : -1;
}

bool md_fixes_take_centres(const md_model *model)
{
  bool any = false;
  for (int f = 0; f < model->nfix; ++f)
    any = any || md_fix_style_of(model->fix[f].kind)->take_centres != NULL;
  return any;
}

bool md_fixes_vary(const md_model *model)
{
  for (int f = 0; f < model->nfix; ++f)
    if (model->fix[f].nvaried > 0) return true;
  return false;
}

/* The fix with the numbers of a step. */
static md_status fix_of_step(const md_fix *fix, md_varied_value value, void *context, md_fix *now)
{
  *now = *fix;
  for (int v = 0; v < fix->nvaried; ++v) {
    const md_varied *varied = &fix->varied[v];
    double of_step;
    MD_TRY(value(context, fix, v, &of_step));
    now->k[varied->k] = varied->scale * of_step;
    if (varied->positive && !(of_step > 0.0))
      return md_error(MD_USAGE, "fix %s: v_%s is %g, and must be positive", md_fix_style_of(fix->kind)->name,
                      varied->name, of_step);
  }
  return MD_OK;
}

md_status md_fixes_fill_row(const md_model *model, md_varied_value value, void *context, md_force_action *row)
{
  memcpy(row, model->force_action, (size_t)model->nforce_action * sizeof *row);
  for (int first = 0, last; first < model->nforce_action; first = last) {
    const md_fix *fix = &model->fix[row[first].fix];
    for (last = first + 1; last < model->nforce_action && row[last].fix == row[first].fix;) ++last;
    if (fix->nvaried == 0) continue;
    md_force_action action[MD_FORCES_EACH] = {{.kind = fix->kind}};
    md_fix now;
    int count = 1;
    MD_TRY(fix_of_step(fix, value, context, &now));
    MD_TRY(md_fix_style_of(fix->kind)->prepare_force(&now, model, action, &count));
    for (int k = first; k < last; ++k) memcpy(row[k].k, action[row[k].part].k, sizeof row[k].k);
  }
  return MD_OK;
}

bool md_fixes_drift_varies(const md_model *model)
{
  for (int f = 0; f < model->nfix; ++f)
    if (model->fix[f].nvaried > 0 && md_fix_style_of(model->fix[f].kind)->vary) return true;
  return false;
}

md_status md_fixes_vary_drifts(md_model *model, md_varied_value value, void *context)
{
  for (int f = 0, m = 0; f < model->nfix; ++f) {
    md_fix *fix = &model->fix[f];
    const md_fix_style *style = md_fix_style_of(fix->kind);
    md_fix now;
    if (fix->nvaried > 0 && style->vary) {
      MD_TRY(fix_of_step(fix, value, context, &now));
      style->vary(fix, &now, model, &model->middle[m]);
    }
    if (acts_in_drift(fix) || drifts(fix)) ++m;
  }
  return MD_OK;
}

int md_fix_vector_size(const md_model *model, int fix)
{
  const md_force_vector vector = md_fix_style_of(model->fix[fix].kind)->vector;
  int walls = 0;
  if (vector == MD_VECTOR_SPRING) return 4;
  if (vector != MD_VECTOR_WALLS) return vector == MD_VECTOR_NONE ? 0 : 3;
  while (walls < MD_FORCES_EACH && model->fix[fix].k[MD_WALL_K * walls] != 0.0) ++walls;
  return walls;
}

static bool has_place(const md_bias *bias) { return bias->kind >= MD_BIAS_RAMP; }

/* Numbers that follow from the box are made at the beginning of a run. What needs them does not suit a box whose sides
 * change. Temperatures with a place do not depend on tilt factors, or refuse them. */
static md_status check_places(const md_model *model)
{
  for (int c = 0; c < model->ncompute; ++c)
    if (has_place(&model->compute[c].bias))
      return md_error(MD_USAGE,
                      "compute %s has a place in the box, which would be wrong in a box that a fix changes; "
                      "uncompute it, or unfix that fix",
                      model->compute[c].id);
  for (int f = 0; f < model->nend; ++f)
    if (has_place(&model->end[f].action.bias))
      return md_error(MD_USAGE,
                      "fix %s has a region of the box, which would be wrong in a box that a fix changes; use "
                      "only one of the two fixes",
                      md_fix_style_of(model->end[f].action.kind)->name);
  return MD_OK;
}

/* Does a triclinic box suit a fix that changes it? */
static md_status check_shear(const md_model *model, const md_fix_style *style)
{
  const md_box *box = &model->box;
  bool shears = false;
  for (int k = 0; k < 3; ++k) shears = shears || box->shears[k];
  if (shears && !box->triclinic)
    return md_error(MD_USAGE,
                    "fix %s changes a tilt factor, and the box is orthogonal: use change_box all triclinic",
                    style->name);
  if (fabs(box->tilt[MD_YZ]) > 0.5 * box->length[1])
    return md_error(MD_USAGE, "fix %s: the tilt factor yz, %g, must be at most half of the box along y",
                    style->name, box->tilt[MD_YZ]);
  return MD_OK;
}

/* Are all tilt factors of a triclinic box 0? They stay so where only its sides change. */
static bool is_upright(const md_box *box)
{
  return box->tilt[MD_XY] == 0.0 && box->tilt[MD_XZ] == 0.0 && box->tilt[MD_YZ] == 0.0;
}

/* Do the fixes that change the box suit the model? */
static md_status check_changes(const md_model *model)
{
  bool changed[3] = {false, false, false};
  for (int f = 0; f < model->nfix; ++f) {
    const md_fix_style *style = md_fix_style_of(model->fix[f].kind);
    bool axis[3] = {false, false, false};
    if (!style->changes) continue;
    MD_TRY(check_shear(model, style));
    if ((style->parts || style->relax) && md_box_follows(&model->box))
      return md_error(
          MD_USAGE,
          "fix %s needs the volume of the box in each step, and a face that follows the particles (boundary "
          "s or m) has its place only in steps that are shown: use boundary f or p",
          style->name);
    style->changes(&model->fix[f], model, axis);
    for (int d = 0; d < 3; ++d) {
      if (axis[d] && changed[d])
        return md_error(MD_USAGE, "fix %s: two fixes would change the box along %c", style->name, "xyz"[d]);
      changed[d] = changed[d] || axis[d];
      if (axis[d] && !(d < model->box.dim && model->box.periodic[d]))
        return md_error(MD_USAGE, "fix %s: the box is not periodic along %c, and only periodic axes change",
                        style->name, "xyz"[d]);
    }
    if (style->move_box && model->integrator != MD_NVE) return md_fix_wants_verlet("fix", style->name);
    if (model->box.triclinic && !style->shears && !(style->relax && is_upright(&model->box)))
      return md_error(MD_USAGE, "fix %s: the box is triclinic; change_box all ortho gives it right angles",
                      style->name);
    if (md_pair_is_all(&model->pair))
      return md_error(
          MD_USAGE,
          "fix %s: pair style %s needs a box that is not periodic, and only a periodic box can change",
          style->name, md_pair_style_of(model->pair.kind)->name);
  }
  return md_box_sides_change(&model->box) ? check_places(model) : MD_OK;
}

md_status md_fixes_find_flow(md_model *model)
{
  model->flow = (md_flow){.group = 0};
  for (int f = 0; f < model->nfix; ++f) {
    const md_fix_style *style = md_fix_style_of(model->fix[f].kind);
    if (style->flow) MD_TRY(style->flow(&model->fix[f], model, &model->flow));
  }
  return MD_OK;
}

/* Those of integrators come first, else in the order of the deck: as LAMMPS ends the step of all integrators before any
 * other fix acts at the end of the step. */
static void order_ends(md_model *model)
{
  md_fix_end ordered[MD_FIXES_MAX];
  int n = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (int e = 0; e < model->nend; ++e)
      if (md_fix_style_of(model->fix[model->end[e].fix].kind)->integrates == (pass == 0))
        ordered[n++] = model->end[e];
  memcpy(model->end, ordered, (size_t)n * sizeof *ordered);
}

md_status md_fixes_prepare(md_model *model)
{
  model->nmiddle = model->nforce_action = model->nend = 0;
  model->force_rows = 0;
  for (int f = 0; f < model->nfix; ++f) {
    const md_fix *fix = &model->fix[f];
    const md_fix_kind kind = fix->kind;
    const md_fix_style *style = md_fix_style_of(kind);
    MD_TRY(check_style(kind));
    md_action action = {.kind = kind, .group = md_group_bit(fix->group), .seed = (uint64_t)fix->seed};
    const md_compute *temperature;
    MD_TRY(find_temperature(model, fix, &temperature));
    if (temperature) action.bias = temperature->bias;
    if (style->prepare) MD_TRY(style->prepare(fix, model, &action));
    const bool end = acts_after(kind) && !acts_in_drift(fix);
    if (acts_in_drift(fix) || drifts(fix)) MD_TRY(add_middle(model, &action));
    if (md_fix_acts_on_forces(kind)) MD_TRY(add_forces(model, f));
    if (end) MD_TRY(add_end(model, f, &action, temperature));
  }
  halve(model);
  order_ends(model);
  return check_changes(model);
}

md_status md_fixes_take_state(md_model *model)
{
  for (int f = 0, m = 0; f < model->nfix; ++f) {
    const md_fix *fix = &model->fix[f];
    if (drifts(fix)) MD_TRY(md_fix_style_of(fix->kind)->prepare(fix, model, &model->middle[m]));
    if (acts_in_drift(fix) || drifts(fix)) ++m;
  }
  return MD_OK;
}
