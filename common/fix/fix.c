/* The table of fix styles, and how fixes become settings and actions of a model; see fix.h. */
#include "common/fix/fix.h"
#include "common/force/external.h"
#include "common/model.h"
#include "common/ranks/reductions.h"
#include "common/spring/centre.h"
#include "common/step/step.h"
#include "common/swap/swaps.h"
#include "common/wall/wall.h"

#include <stdio.h>
#include <string.h>

/* For every integrator. Several may have groups without a common particle (src/fixes/moved_once.h), if all are velocity
 * Verlet. */
static md_status join_integrator(const md_fix *fix, md_model *model, md_integrator integrator)
{
  const uint32_t bit = md_group_bit(fix->group);
  const bool several = model->integrator != MD_STATIC;
  if (several &&
      (integrator != MD_NVE || model->integrator != MD_NVE || ((model->moving | bit) & MD_GROUP_ALL)))
    return md_error(MD_USAGE,
                    "fix %s: another fix moves the particles already; unfix it first, or let several of nve, "
                    "nve/limit and nvt move groups without a common particle",
                    md_fix_style_of(fix->kind)->name);
  if (several && (model->moving & bit))
    return md_error(MD_USAGE, "fix %s: another fix moves the particles of this group already; unfix it first",
                    md_fix_style_of(fix->kind)->name);
  model->integrator = integrator;
  model->moving = several ? model->moving | bit : bit;
  return MD_OK;
}

/* A temperature among the words of a fix. */
static md_status parse_temperature(const char *word, const char *what, double *temperature)
{
  MD_TRY(md_word_double(word, what, temperature));
  if (*temperature < 0.0) return md_error(MD_USAGE, "%s must be zero or positive, not %.64s", what, word);
  return MD_OK;
}

/* ---- factors of types ---- */

/* Reads the keyword scale at word w with a type and a factor. accepted: keywords, for the message. */
static md_status read_scale(md_fix *fix, const md_words *words, int w, const char *accepted)
{
  const char *name = md_fix_style_of(fix->kind)->name;
  const int n = (int)fix->k[MD_SCALES];
  double *pair = &fix->k[MD_SCALES + 1 + 2 * n];
  int64_t type;
  char what[64];
  if (strcmp(words->word[w], "scale") != 0)
    return md_error(MD_USAGE, "fix %s: unknown keyword '%.64s'; accepted are %s", name, words->word[w],
                    accepted);
  if (w + 2 >= words->n) return md_error(MD_USAGE, "fix %s scale takes a type and a factor", name);
  if (n == MD_SCALES_MAX)
    return md_error(MD_USAGE, "fix %s: at most %d types may have factors", name, MD_SCALES_MAX);
  snprintf(what, sizeof what, "the type of fix %s scale", name);
  MD_TRY(md_word_int64(words->word[w + 1], what, 1, 65535, &type));
  pair[0] = (double)type;
  fix->k[MD_SCALES] = n + 1;
  snprintf(what, sizeof what, "the factor of fix %s scale", name);
  return md_word_positive(words->word[w + 2], what, &pair[1]);
}

static md_status check_scales(const md_fix *fix, const md_model *model)
{
  const double n = fix->k[MD_SCALES];
  const char *name = md_fix_style_of(fix->kind)->name;
  if (!(n >= 0.0 && n <= MD_SCALES_MAX))
    return md_error(MD_USAGE, "fix %s: the number of its factors is not valid", name);
  for (int k = 0; k < (int)n; ++k)
    if (model->ntypes > 0 && fix->k[MD_SCALES + 1 + 2 * k] > model->ntypes)
      return md_error(MD_USAGE, "fix %s scale %g: there are %d types", name, fix->k[MD_SCALES + 1 + 2 * k],
                      model->ntypes);
  return MD_OK;
}

static void copy_scales(const md_fix *fix, md_action *action)
{
  memcpy(&action->k[MD_SCALES], &fix->k[MD_SCALES], (1 + 2 * MD_SCALES_MAX) * sizeof *fix->k);
}

md_status md_fix_wants_verlet(const char *what, const char *name)
{
  return md_error(MD_USAGE, "%s %s needs a fix of velocity Verlet, such as nve, to move the particles", what,
                  name);
}

/* ---- for thermostats that scale the velocities of their group after steps ---- */

static md_status prepare_scaling(const md_fix *fix, const md_model *model)
{
  const char *name = md_fix_style_of(fix->kind)->name;
  if (model->dt == 0.0) return md_error(MD_USAGE, "fix %s needs a timestep above 0", name);
  if (model->integrator != MD_NVE) return md_fix_wants_verlet("fix", name);
  return MD_OK;
}

/* Can the velocities be scaled to another temperature? value: of the fix's temperature. *acts becomes false without a
 * degree of freedom, as of a single particle. MD_PHYSICS: nothing moves. */
static md_status check_scaling(const md_fix *fix, const md_model *model, const double *value, bool *acts)
{
  if (!(value[MD_TEMPERATURE_FREEDOM] > 0.0)) {
    *acts = false;
    return MD_OK;
  }
  if (value[MD_TEMPERATURE_T] > 0.0) return MD_OK;
  return md_error(
      MD_PHYSICS,
      "step %lld: the temperature of fix %s is 0: no particle of the group %s moves, and no factor "
      "gives the velocities another temperature; begin with `velocity all create`",
      (long long)model->step, md_fix_style_of(fix->kind)->name, model->groups.name[fix->group]);
}

/* Adds the energy that the particles have lost by scaling with action->k[0] to the state. value: as above. */
static void account_scaling(md_fix *fix, const md_model *model, const double *value, const md_action *action)
{
  (void)model;
  fix->state[0] += value[MD_TEMPERATURE_KINETIC] * (1.0 - action->k[0] * action->k[0]);
}

/* The energy of account_scaling. */
static double coupled_by_scaling(const md_fix *fix, const md_model *model, const md_step *step,
                                 double freedom)
{
  (void)model;
  (void)step;
  (void)freedom;
  return fix->state[0];
}

/* ---- numbers that variables give ---- */

md_status md_fix_read_varied(md_fix *fix, const char *word, const char *what, double *value)
{
  if (strncmp(word, "v_", 2) != 0) return md_word_double(word, what, value);
  const char *name = md_fix_style_of(fix->kind)->name;
  if (fix->nvaried == MD_VARIED_MAX)
    return md_error(MD_USAGE, "fix %s: at most %d numbers may be variables", name, MD_VARIED_MAX);
  md_varied *varied = &fix->varied[fix->nvaried];
  if (word[2] == '\0' || strlen(word + 2) >= sizeof varied->name)
    return md_error(MD_USAGE, "fix %s: '%.64s' does not name a variable", name, word);
  *varied = (md_varied){.k = (int)(value - fix->k), .scale = 1.0};
  memcpy(varied->name, word + 2, strlen(word + 2) + 1);
  ++fix->nvaried;
  *value = 1.0;
  return MD_OK;
}

md_status md_fix_read_varied_positive(md_fix *fix, const char *word, const char *what, double *value)
{
  if (strncmp(word, "v_", 2) != 0) return md_word_positive(word, what, value);
  MD_TRY(md_fix_read_varied(fix, word, what, value));
  fix->varied[fix->nvaried - 1].positive = true;
  return MD_OK;
}

void md_fix_scale(md_fix *fix, int k, double factor)
{
  fix->k[k] *= factor;
  for (int v = 0; v < fix->nvaried; ++v)
    if (fix->varied[v].k == k) fix->varied[v].scale *= factor;
}

/* ---- for fixes that act on forces ---- */

/* A number among the words of a fix. */
static md_status parse_component(const md_fix *fix, const char *word, double *value)
{
  const char *name = md_fix_style_of(fix->kind)->name;
  if (strncmp(word, "v_", 2) == 0)
    return md_error(
        MD_USAGE,
        "fix %s: '%.64s' would change during a run, which is not available; write ${%.60s} for the "
        "present value of the variable",
        name, word, word + 2);
  char what[64];
  snprintf(what, sizeof what, "a number of fix %s", name);
  return md_word_double(word, what, value);
}

/* A number among the words of a fix that acts on forces, or a variable that gives it. value: among fix->k. */
static md_status parse_varied(md_fix *fix, const char *word, double *value)
{
  char what[64];
  snprintf(what, sizeof what, "a number of fix %s", md_fix_style_of(fix->kind)->name);
  return md_fix_read_varied(fix, word, what, value);
}

/* Fills the numbers of md_force_nearest. */
static void fill_force_box(const md_model *model, double box[MD_FORCE_BOX])
{
  for (int d = 0; d < 3; ++d) {
    const bool in = d < model->box.dim;
    box[d] = in ? model->box.lo[d] : 0.0;
    box[3 + d] = in && model->box.periodic[d] ? model->box.length[d] : 0.0;
    box[6 + d] = model->box.triclinic ? model->box.offset[d] : 0.0;
  }
}

/* Images along slanted edges are not those of one coordinate alone. */
static md_status check_right_angles(const md_fix *fix, const md_model *model)
{
  if (!model->box.triclinic) return MD_OK;
  return md_error(MD_USAGE, "fix %s: images in a tilted box are not known; use an orthogonal box",
                  md_fix_style_of(fix->kind)->name);
}

/* A fix that measures no distance along an axis needs images that do not shift it along others: axis[d] says which
 * axes count. */
static md_status check_slant(const md_fix *fix, const md_model *model, const bool axis[3])
{
  static const int of[3] = {1, 2, 2}, along[3] = {0, 0, 1}; /* by tilt factor */
  for (int t = 0; t < 3 && model->box.triclinic; ++t) {
    const double tilt = model->box.tilt[t];
    const char lies = "xyz"[along[t]], across = "xyz"[of[t]];
    if (tilt != 0.0 && axis[along[t]] && !axis[of[t]])
      return md_error(MD_USAGE,
                      "fix %s: distances along %c without %c are not known, because images along %c lie %g "
                      "further along %c in this tilted box",
                      md_fix_style_of(fix->kind)->name, lies, across, across, tilt, lies);
  }
  return MD_OK;
}

/* Fills the numbers of md_shape_wrap. */
static void settle_shape(const md_model *model, double box[SHAPE_BOX])
{
  fill_force_box(model, box);
  for (int t = 0; t < 3; ++t) box[MD_FORCE_BOX + t] = model->box.triclinic ? model->box.tilt[t] : 0.0;
}

md_status md_fix_find_region(md_fix *fix, const md_fix_scope *scope)
{
  const md_fix_style *style = md_fix_style_of(fix->kind);
  if (!fix->region[0]) return MD_OK;
  return style->find_region ? style->find_region(fix, scope)
                            : scope->shape(scope->context, fix->region, &fix->k[MD_FIX_REGION]);
}

md_status md_fix_take_region(md_fix *fix, const char *id, const md_fix_scope *scope)
{
  if (strlen(id) >= sizeof fix->region)
    return md_error(MD_USAGE, "fix %s: '%.64s' is no region", md_fix_style_of(fix->kind)->name, id);
  memcpy(fix->region, id, strlen(id) + 1);
  return md_fix_find_region(fix, scope);
}

/* Three words, after which `region ID` may stand. */
static md_status read_region(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  if (words->n <= 3) return md_fix_takes(fix, words, 3);
  const bool region = words->n >= 5 && strcmp(words->word[3], "region") == 0;
  if (!region || words->n > 5)
    return md_error(MD_USAGE, "fix %s: unexpected '%.64s'; accepted after the force is region ID",
                    md_fix_style_of(fix->kind)->name, words->word[region ? 5 : 3]);
  return md_fix_take_region(fix, words->word[4], scope);
}

/* The number of words must be n. Advises on keywords of LAMMPS that stand after them. */
static md_status check_vector_words(const md_fix *fix, const md_words *words, int n)
{
  if (words->n > n && strcmp(words->word[n], "region") == 0)
    return md_error(
        MD_USAGE,
        "fix %s: the keyword 'region' is not available; `group ID region NAME` names the particles that "
        "are in a region when the line is read",
        md_fix_style_of(fix->kind)->name);
  return md_fix_takes(fix, words, n);
}

/* Three words, numbers, variables or NULL. For word d: k[2 d] becomes 0 for NULL, else 1, and k[2 d + 1] the number. */
static md_status parse_components(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  (void)scope;
  MD_TRY(check_vector_words(fix, words, 3));
  for (int d = 0; d < 3; ++d) {
    fix->k[2 * d] = strcmp(words->word[d], "NULL") != 0;
    if (fix->k[2 * d] != 0.0) MD_TRY(parse_varied(fix, words->word[d], &fix->k[2 * d + 1]));
  }
  return MD_OK;
}

static md_status normalise_direction(const md_fix *fix, double direction[3])
{
  const double length =
      sqrt(direction[0] * direction[0] + direction[1] * direction[1] + direction[2] * direction[2]);
  if (!(length > 0.0 && isfinite(length)))
    return md_error(MD_USAGE, "fix %s: the direction must not be 0 0 0", md_fix_style_of(fix->kind)->name);
  for (int d = 0; d < 3; ++d) direction[d] /= length;
  return MD_OK;
}

/* Three words that are a direction, into k0 to k2. */
static md_status parse_direction(md_fix *fix, const md_words *words)
{
  MD_TRY(md_fix_takes(fix, words, 3));
  for (int d = 0; d < 3; ++d) MD_TRY(parse_component(fix, words->word[d], &fix->k[d]));
  return normalise_direction(fix, fix->k);
}

/* A fix that acts on forces is no setting of the model. */
static md_status join_force(const md_fix *fix, md_model *model)
{
  (void)fix;
  (void)model;
  return MD_OK;
}

/* prepare_force of a style whose action has the numbers of the fix. */
static md_status copy_numbers(const md_fix *fix, const md_model *model, md_force_action *action, int *count)
{
  (void)model;
  (void)count;
  memcpy(action->k, fix->k, sizeof action->k);
  return MD_OK;
}

#define MD_FIX_HOST
#include "common/fix/fix_styles.h"
#undef MD_FIX_HOST

static const md_fix_style *const styles[] = {
#define MD_FIX_STYLE(symbol, label) &symbol##_style,
#include "common/fix/fix_styles.h"
#undef MD_FIX_STYLE
};

static const bool acts_in_middle[MD_FIX_KINDS] = {
#define MD_FIX_MIDDLE(symbol) [MD_FIX_##symbol] = true,
#include "common/fix/fix_styles.h"
#undef MD_FIX_MIDDLE
};

static const bool acts_before_drift[MD_FIX_KINDS] = {
#define MD_FIX_DRIFT(symbol) [MD_FIX_##symbol] = true,
#include "common/fix/fix_styles.h"
#undef MD_FIX_DRIFT
};

static const bool acts_on_forces[MD_FIX_KINDS] = {
#define MD_FIX_FORCE(symbol) [MD_FIX_##symbol] = true,
#include "common/fix/fix_styles.h"
#undef MD_FIX_FORCE
};

static const bool acts_at_end[MD_FIX_KINDS] = {
#define MD_FIX_END(symbol) [MD_FIX_##symbol] = true,
#include "common/fix/fix_styles.h"
#undef MD_FIX_END
};

const md_fix_style *md_fix_style_of(md_fix_kind kind) { return styles[kind]; }

md_fix_kind md_fix_find(const char *name)
{
  int kind = 0;
  while (kind < MD_FIX_KINDS && strcmp(styles[kind]->name, name) != 0) ++kind;
  return (md_fix_kind)kind;
}

md_status md_fix_takes(const md_fix *fix, const md_words *words, int n)
{
  const char *name = styles[fix->kind]->name;
  if (words->n == n) return MD_OK;
  if (words->n > n) return md_error(MD_USAGE, "fix %s: unexpected '%.64s'", name, words->word[n]);
  return md_error(MD_USAGE, "fix %s takes %d arguments, not %d; usage: fix ID GROUP %s", name, n, words->n,
                  styles[fix->kind]->usage);
}

md_status md_fixes_join(md_model *model)
{
  model->integrator = MD_STATIC;
  model->moving = MD_GROUP_ALL;
  model->placed = 0;
  model->float_drift = false;
  model->hottest = 0.0;
  memset(model->wall, 0, sizeof model->wall);
  for (int f = 0; f < model->nfix; ++f) MD_TRY(styles[model->fix[f].kind]->join(&model->fix[f], model));
  md_model_find_changes(model);
  return MD_OK;
}

/* Does the fix act after steps, on velocities or on the box? */
static bool acts_after(md_fix_kind kind) { return acts_at_end[kind] || styles[kind]->move_box; }

/* Does the fix act before the drift? */
static bool drifts(const md_fix *fix)
{
  return acts_before_drift[fix->kind] && (!styles[fix->kind]->drifts || styles[fix->kind]->drifts(fix));
}

/* Does the fix act in the middle of the drift? */
static bool acts_in_drift(const md_fix *fix)
{
  return acts_in_middle[fix->kind] && !(acts_after(fix->kind) && styles[fix->kind]->every(fix) > 0);
}

static md_status check_style(md_fix_kind kind)
{
  const md_fix_style *style = styles[kind];
  const bool middle = acts_in_middle[kind] || acts_before_drift[kind];
  const bool end = acts_after(kind), force = acts_on_forces[kind];
  const int ends = (style->end != NULL) + (style->half != NULL) + (style->choose != NULL);
  if (end == (style->every != NULL) && acts_at_end[kind] == (ends == 1) &&
      (style->look != NULL) == (style->looks != NULL) &&
      !(style->shifts_once && !(acts_before_drift[kind] && end)) &&
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
  snprintf(what, sizeof what, "the temperature of fix %s", styles[fix->kind]->name);
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
        styles[action->kind]->name);
  if (model->nmiddle == MD_MIDDLES_MAX)
    return md_error(MD_USAGE, "fix %s: at most %d fixes may act within a step", styles[action->kind]->name,
                    MD_MIDDLES_MAX);
  model->middle[model->nmiddle++] = *action;
  return MD_OK;
}

static md_status add_end(md_model *model, int f, const md_action *action, const md_compute *temperature)
{
  const md_fix *fix = &model->fix[f];
  const md_fix_style *style = styles[fix->kind];
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

md_wanted md_fix_end_wants(const md_model *model, const md_fix_end *end)
{
  md_wanted wanted = md_computes_want(&end->compute, 1);
  wanted.impulses = end->parts != MD_PARTS_NONE && model->virial_quantum > 0.0;
  if (end->parts == MD_PARTS_ALL) wanted.virial = true;
  if (end->parts != MD_PARTS_AXES) return wanted;
  const md_wanted tensor = md_computes_want(&end->tensor, 1);
  wanted.tensor = wanted.diagonal = true;
  wanted.summands |= tensor.summands;
  return wanted;
}

/* Adds the actions of fix f on forces. */
static md_status add_forces(md_model *model, int f)
{
  const md_fix *fix = &model->fix[f];
  md_force_action action[MD_FORCES_EACH] = {{.kind = fix->kind}};
  int count = 1;
  MD_TRY(styles[fix->kind]->prepare_force(fix, model, action, &count));
  if (fix->energy) MD_TRY(md_fix_check_energy(model, fix));
  if (model->nforce_action + count > MD_FORCES_MAX)
    return md_error(MD_USAGE, "fix %s: at most %d walls and other actions on forces are accepted",
                    styles[fix->kind]->name, MD_FORCES_MAX);
  for (int k = 0; k < count; ++k) {
    md_force_action *to = &model->force_action[model->nforce_action++];
    *to = action[k];
    to->kind = fix->kind;
    if (to->group == 0) to->group = md_group_bit(fix->group);
    to->fix = f;
    to->part = k;
    to->takes_mean = styles[fix->kind]->takes_mean;
    to->takes_centre = styles[fix->kind]->take_centres && k == 0;
    to->asks = styles[fix->kind]->asks && styles[fix->kind]->asks(fix);
    to->in_region = styles[fix->kind]->takes_region && fix->k[MD_FIX_REGION] != SHAPE_NONE;
    if (!to->in_region) continue;
    memcpy(to->region, &fix->k[MD_FIX_REGION], SHAPE_K * sizeof *fix->k);
    settle_shape(model, to->region + SHAPE_K);
  }
  return MD_OK;
}

md_status md_fix_check_energy(const md_model *model, const md_fix *fix)
{
  const md_fix_style *style = styles[fix->kind];
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
  for (int f = 0; f < model->nfix; ++f) any = any || styles[model->fix[f].kind]->anchors;
  return any;
}

bool md_fix_is_reversible(const md_fix *fix)
{
  const md_fix_style *style = styles[fix->kind];
  if (style->reversible) return !style->reverses || style->reverses(fix);
  return style->undoes && style->undoes(fix);
}

int md_fixes_external(const md_model *model)
{
  int f = 0;
  while (f < model->nfix && !styles[model->fix[f].kind]->external) ++f;
  return f < model->nfix ? f : -1;
}

bool md_fixes_undo_shear(const md_model *model)
{
  bool any = false;
  for (int f = 0; f < model->nfix; ++f)
    any = any || (styles[model->fix[f].kind]->undoes && styles[model->fix[f].kind]->undoes(&model->fix[f]));
  return any;
}

md_status md_fixes_begin_back(md_model *model, int64_t last)
{
  for (int f = 0; f < model->nfix; ++f)
    if (styles[model->fix[f].kind]->begin_back)
      MD_TRY(styles[model->fix[f].kind]->begin_back(&model->fix[f], model, last));
  return MD_OK;
}

/* Keeps the box in *move. */
static void stay(const md_model *model, md_box_move *move)
{
  *move = (md_box_move){.pending = false};
  for (int d = 0; d < 3; ++d) {
    move->lo[d] = model->box.lo[d];
    move->hi[d] = model->box.hi[d];
    move->stretch[d] = 1.0;
    move->tilt[d] = model->box.tilt[d];
  }
}

void md_fixes_shear_to(md_model *model, int64_t step, bool after)
{
  md_box_move *move = &model->move;
  stay(model, move);
  for (int f = 0; f < model->nfix; ++f) {
    const md_fix_style *style = styles[model->fix[f].kind];
    if (style->undoes && style->undoes(&model->fix[f]))
      style->box_at(&model->fix[f], model, step, after, move);
  }
  move->undoes = !after;
  for (int k = 0; k < 3; ++k) move->pending = move->pending || move->tilt[k] != model->box.tilt[k];
}

bool md_fix_couples(const md_fix *fix, int group)
{
  return fix->kind == MD_FIX_spring && fix->k[SPRING_COUPLES] != 0.0 && fix->k[SPRING_OTHER] == group;
}

int md_fix_centre_groups(const md_fix *fix, uint32_t group[2])
{
  if (!styles[fix->kind]->take_centres) return 0;
  group[0] = md_group_bit(fix->group);
  if (fix->kind != MD_FIX_spring || fix->k[SPRING_COUPLES] == 0.0) return 1;
  group[1] = md_group_bit((int)fix->k[SPRING_OTHER]);
  return 2;
}

bool md_fixes_take_centres(const md_model *model)
{
  bool any = false;
  for (int f = 0; f < model->nfix; ++f) any = any || styles[model->fix[f].kind]->take_centres != NULL;
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
      return md_error(MD_USAGE, "fix %s: v_%s is %g, and must be positive", styles[fix->kind]->name,
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
    MD_TRY(styles[fix->kind]->prepare_force(&now, model, action, &count));
    for (int k = first; k < last; ++k) memcpy(row[k].k, action[row[k].part].k, sizeof row[k].k);
  }
  return MD_OK;
}

bool md_fixes_drift_varies(const md_model *model)
{
  for (int f = 0; f < model->nfix; ++f)
    if (model->fix[f].nvaried > 0 && styles[model->fix[f].kind]->vary) return true;
  return false;
}

md_status md_fixes_vary_drifts(md_model *model, md_varied_value value, void *context)
{
  for (int f = 0, m = 0; f < model->nfix; ++f) {
    md_fix *fix = &model->fix[f];
    md_fix now;
    if (fix->nvaried > 0 && styles[fix->kind]->vary) {
      MD_TRY(fix_of_step(fix, value, context, &now));
      styles[fix->kind]->vary(fix, &now, model, &model->middle[m]);
    }
    if (acts_in_drift(fix) || drifts(fix)) ++m;
  }
  return MD_OK;
}

int md_fix_vector_size(const md_model *model, int fix)
{
  const md_force_vector vector = styles[model->fix[fix].kind]->vector;
  int walls = 0;
  if (vector == MD_VECTOR_SPRING) return 4;
  if (vector != MD_VECTOR_WALLS) return vector == MD_VECTOR_NONE ? 0 : 3;
  while (walls < MD_FORCES_EACH && model->fix[fix].k[MD_WALL_K * walls] != 0.0) ++walls;
  return walls;
}

static bool has_place(const md_bias *bias) { return bias->kind >= MD_BIAS_RAMP; }

/* Numbers that follow from the box are made at the beginning of a run. What needs them does not suit a box that
 * changes. */
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
                      styles[model->end[f].action.kind]->name);
  for (int f = 0; f < model->nforce_action; ++f)
    if (model->force_action[f].kind == MD_FIX_indent || model->force_action[f].kind == MD_FIX_drag ||
        model->force_action[f].kind == MD_FIX_wall_region || model->force_action[f].in_region)
      return md_error(MD_USAGE,
                      "fix %s has a place in the box, which would be wrong in a box that a fix changes; use "
                      "only one of the two fixes",
                      styles[model->force_action[f].kind]->name);
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
  bool any = false, changed[3] = {false, false, false};
  for (int f = 0; f < model->nfix; ++f) {
    const md_fix_style *style = styles[model->fix[f].kind];
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
      any = any || axis[d];
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
  return any ? check_places(model) : MD_OK;
}

md_status md_fixes_find_flow(md_model *model)
{
  model->flow = (md_flow){.group = 0};
  for (int f = 0; f < model->nfix; ++f) {
    const md_fix_style *style = styles[model->fix[f].kind];
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
      if (styles[model->fix[model->end[e].fix].kind]->integrates == (pass == 0)) ordered[n++] = model->end[e];
  memcpy(model->end, ordered, (size_t)n * sizeof *ordered);
}

md_status md_fixes_prepare(md_model *model)
{
  model->nmiddle = model->nforce_action = model->nend = 0;
  model->force_rows = 0;
  for (int f = 0; f < model->nfix; ++f) {
    const md_fix *fix = &model->fix[f];
    const md_fix_kind kind = fix->kind;
    MD_TRY(check_style(kind));
    md_action action = {.kind = kind, .group = md_group_bit(fix->group), .seed = (uint64_t)fix->seed};
    const md_compute *temperature;
    MD_TRY(find_temperature(model, fix, &temperature));
    if (temperature) action.bias = temperature->bias;
    if (styles[kind]->prepare) MD_TRY(styles[kind]->prepare(fix, model, &action));
    const bool end = acts_after(kind) && !acts_in_drift(fix);
    if (acts_in_drift(fix) || drifts(fix)) MD_TRY(add_middle(model, &action));
    if (acts_on_forces[kind]) MD_TRY(add_forces(model, f));
    if (end) MD_TRY(add_end(model, f, &action, temperature));
  }
  order_ends(model);
  return check_changes(model);
}

enum { FIX_VALUES = MD_COMPUTE_TERMS + MD_FIX_PARTS };

/* The numbers that the fix gets of a measure. */
static void evaluate(const md_model *model, const md_fix_end *end, const md_measure *measure, double *value)
{
  const md_wanted wanted = md_fix_end_wants(model, end);
  const double tail = md_model_tail_virial(model);
  double *part = value + MD_COMPUTE_TERMS;
  md_compute_evaluate(model, &end->compute, measure, value);
  if (end->parts == MD_PARTS_ALL) {
    part[0] = 2.0 * value[MD_TEMPERATURE_KINETIC];
    part[3] = md_virial_of(model, wanted, &measure->virial2) + md_trace(measure->fix_virial) + 3.0 * tail;
  }
  for (int d = 0; d < model->box.dim && end->parts == MD_PARTS_AXES; ++d) {
    const md_summand *s = &model->summand[end->tensor.summand];
    part[d] = 2.0 * md_wide_value(&measure->term[s->first + d], s->unit[d]);
    part[3 + d] = md_virial_of(model, wanted, &measure->tensor2[d]) + measure->fix_virial[d] + tail;
  }
}

bool md_fix_end_knows(const md_model *model, const md_fix_end *end)
{
  const md_fix *fix = &model->fix[end->fix];
  return styles[fix->kind]->half && fix->state[MD_FIX_KNOWN] == 1.0;
}

void md_fix_end_compare(md_model *model, const md_fix_end *end, const md_measure *measure)
{
  double *state = model->fix[end->fix].state, value[FIX_VALUES] = {0.0};
  evaluate(model, end, measure, value);
  /* The temperature follows from its energy. Fixes that scale velocities keep the energy alone. */
  for (int k = MD_TEMPERATURE_KINETIC; k < FIX_VALUES; ++k) {
    const double known = state[MD_FIX_VALUES + k];
    if (!(fabs(value[k] - known) <= 1e-9 * fabs(known))) state[MD_FIX_KNOWN] = 0.0;
  }
}

/* Lets a fix change the box of the next step. */
static md_status move_box(md_model *model, md_fix *fix, bool before, const double *value)
{
  md_box_move move = model->move;
  if (!move.pending) stay(model, &move);
  MD_TRY(styles[fix->kind]->move_box(fix, model, before, value, &move));
  const bool pending = model->move.pending;
  model->move = move;
  MD_TRY(md_model_check_move(model));
  model->move.pending = pending;
  for (int d = 0; d < model->box.dim; ++d)
    if (model->move.lo[d] != model->box.lo[d] || model->move.hi[d] != model->box.hi[d] ||
        move.stretch[d] != 1.0)
      model->move.pending = true;
  for (int k = 0; k < 3; ++k)
    if (model->move.tilt[k] != model->box.tilt[k]) model->move.pending = true;
  return MD_OK;
}

md_status md_fix_end_action(md_model *model, const md_fix_end *end, const md_measure *measure, bool before,
                            md_action *action, bool *acts)
{
  md_fix *fix = &model->fix[end->fix];
  const md_fix_style *style = styles[fix->kind];
  const md_step step = md_step_of(model);
  double value[FIX_VALUES] = {0.0};
  if (measure)
    evaluate(model, end, measure, value);
  else if (style->half)
    memcpy(value, fix->state + MD_FIX_VALUES, sizeof value);
  *action = end->action;
  *acts = true;
  if (action->bias.kind == MD_BIAS_SHIFT)
    memcpy(action->bias.k, value + MD_TEMPERATURE_FLOW, 3 * sizeof *value);
  if (style->half)
    MD_TRY(style->half(fix, model, &step, before, value, action, acts));
  else if (style->end)
    MD_TRY(style->end(fix, model, &step, value, action, acts));
  else
    *acts = false;
  if (style->account && *acts) style->account(fix, model, value, action);
  if (style->shifts_once && (*acts || before) && end->drift >= 0)
    MD_TRY(style->prepare(fix, model, &model->middle[end->drift]));
  if (style->move_box) MD_TRY(move_box(model, fix, before, value));
  if (!style->half) return MD_OK;
  fix->state[MD_FIX_KNOWN] = before ? 0.0 : 1.0;
  memcpy(fix->state + MD_FIX_VALUES, value, sizeof value);
  return MD_OK;
}

md_status md_fixes_take_state(md_model *model)
{
  for (int f = 0, m = 0; f < model->nfix; ++f) {
    const md_fix *fix = &model->fix[f];
    if (drifts(fix)) MD_TRY(styles[fix->kind]->prepare(fix, model, &model->middle[m]));
    if (acts_in_drift(fix) || drifts(fix)) ++m;
  }
  return MD_OK;
}

bool md_fixes_shift(const md_model *model)
{
  for (int e = 0; e < model->nend; ++e) {
    const md_fix *fix = &model->fix[model->end[e].fix];
    if (styles[fix->kind]->shifts_once && fix->state[0] == 1.0) return true;
  }
  return false;
}

md_status md_fixes_end_shift(md_model *model)
{
  for (int e = 0; e < model->nend; ++e) {
    md_fix *fix = &model->fix[model->end[e].fix];
    if (!styles[fix->kind]->shifts_once || fix->state[0] != 1.0) continue;
    fix->state[0] = 0.0;
    MD_TRY(styles[fix->kind]->prepare(fix, model, &model->middle[model->end[e].drift]));
  }
  return MD_OK;
}

void md_fix_end_tally(md_model *model, const md_fix_end *end, const md_measure *before,
                      const md_measure *after)
{
  double was[MD_COMPUTE_TERMS] = {0.0}, is[MD_COMPUTE_TERMS] = {0.0};
  md_compute_evaluate(model, &end->compute, before, was);
  md_compute_evaluate(model, &end->compute, after, is);
  model->fix[end->fix].state[0] += was[MD_TEMPERATURE_KINETIC] - is[MD_TEMPERATURE_KINETIC];
}

/* The index among those that act after steps; model->nend: it does not. */
static int find_end(const md_model *model, int f)
{
  int e = 0;
  while (e < model->nend && model->end[e].fix != f) ++e;
  return e;
}

bool md_fix_is_coupled(const md_model *model, int f)
{
  const md_fix *fix = &model->fix[f];
  return styles[fix->kind]->coupled && styles[fix->kind]->every(fix) > 0;
}

double md_fix_coupled(const md_model *model, int f)
{
  if (!md_fix_is_coupled(model, f)) return 0.0;
  const md_fix *fix = &model->fix[f];
  const md_step step = md_step_of(model);
  const md_compute *compute = &model->end[find_end(model, f)].compute;
  return styles[fix->kind]->coupled(fix, model, &step, md_temperature_freedom(model, compute));
}
