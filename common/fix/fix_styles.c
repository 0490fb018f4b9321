/* The table of fix styles, what their files share, and questions to the table; see fix.h and fix_styles.h. */
#include "common/fix/fix_parts.h"
#include "common/force/external.h"
#include "common/ranks/long_sums.h"
#include "common/rotation.h"
#include "common/spring/centre.h"
#include "common/swap/swaps.h"

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

static void halve_first(md_action *action) { action->k[0] *= 0.5; }

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

/* Fills the numbers of md_force_nearest. They are made at the beginning of a run, and would be those of another box
 * later: MD_USAGE if a fix changes the box. */
static md_status fill_force_box(const md_fix *fix, const md_model *model, double box[MD_FORCE_BOX])
{
  if (md_box_is_changed(&model->box))
    return md_error(MD_USAGE,
                    "fix %s has a place in the box, which would be wrong in a box that a fix changes; use "
                    "only one of the two fixes",
                    md_fix_style_of(fix->kind)->name);
  for (int d = 0; d < 3; ++d) {
    const bool in = d < model->box.dim;
    box[d] = in ? model->box.lo[d] : 0.0;
    box[3 + d] = in && model->box.periodic[d] ? model->box.length[d] : 0.0;
    box[6 + d] = model->box.triclinic ? model->box.offset[d] : 0.0;
  }
  return MD_OK;
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

md_status md_fix_settle_shape(const md_fix *fix, const md_model *model, double box[SHAPE_BOX])
{
  MD_TRY(fill_force_box(fix, model, box));
  for (int t = 0; t < 3; ++t) box[MD_FORCE_BOX + t] = model->box.triclinic ? model->box.tilt[t] : 0.0;
  return MD_OK;
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

/* usual_force of a style whose numbers k0 to k2 are a force. */
static double size_of_force(const md_fix *fix, const md_model *model, double mass)
{
  (void)model;
  (void)mass;
  return md_max(fabs(fix->k[0]), md_max(fabs(fix->k[1]), fabs(fix->k[2])));
}

/* The same for numbers as parse_components fills them. */
static double size_of_components(const md_fix *fix, const md_model *model, double mass)
{
  double most = 0.0;
  (void)model;
  (void)mass;
  for (int d = 0; d < 3; ++d)
    if (fix->k[2 * d] == 1.0) most = md_max(most, fabs(fix->k[2 * d + 1]));
  return most;
}

/* usual_force of a style that only takes forces away. */
static double no_force(const md_fix *fix, const md_model *model, double mass)
{
  (void)fix;
  (void)model;
  (void)mass;
  return 0.0;
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

bool md_fix_acts_in_middle(md_fix_kind kind) { return acts_in_middle[kind]; }

bool md_fix_acts_before_drift(md_fix_kind kind) { return acts_before_drift[kind]; }

bool md_fix_acts_on_forces(md_fix_kind kind) { return acts_on_forces[kind]; }

bool md_fix_acts_at_end(md_fix_kind kind) { return acts_at_end[kind]; }

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
