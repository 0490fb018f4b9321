/* The commands fix and unfix: integrators, thermostat, walls.
 *
 * A fix writes its settings into the model, where the engines find them, and is remembered by its ID so that
 * unfix can take them back. The table of styles at the end is the only list of them. */
#include "src/commands/ranks.h"
#include "src/particles/lattice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A style's apply() gets the words behind the style's name and changes the model only if it succeeds. */
typedef struct fix_style {
  const char *name;
  const char *usage;
  md_status (*apply)(md_sim *sim, md_fix *fix, const md_words *words);
  void (*undo)(md_sim *sim, const md_fix *fix);
} fix_style;

static md_status no_more_words(const md_fix *fix, const md_words *words, int n)
{
  if (words->n == n) return MD_OK;
  if (words->n > n) return md_error(MD_USAGE, "fix %s: unexpected '%.64s'", fix->style, words->word[n]);
  return md_error(MD_USAGE, "fix %s takes %d arguments behind its name, not %d", fix->style, n, words->n);
}

static md_status set_integrator(md_sim *sim, const md_fix *fix, md_integrator integrator)
{
  if (sim->model.integrator != MD_STATIC)
    return md_error(MD_USAGE, "fix %s: another fix moves the particles already; unfix it first", fix->style);
  sim->model.integrator = integrator;
  return MD_OK;
}

static void clear_integrator(md_sim *sim, const md_fix *fix)
{
  (void)fix;
  sim->model.integrator = MD_STATIC;
  sim->model.float_drift = false;
}

static md_status apply_nve(md_sim *sim, md_fix *fix, const md_words *words)
{
  MD_TRY(no_more_words(fix, words, 0));
  return set_integrator(sim, fix, MD_NVE);
}

static md_status apply_leapfrog(md_sim *sim, md_fix *fix, const md_words *words)
{
  bool mirror = false, float_drift = false;
  for (int k = 0; k < words->n; k += 2) {
    const char *keyword = words->word[k], *value = k + 1 < words->n ? words->word[k + 1] : "";
    if (strcmp(keyword, "mirror") == 0) {
      MD_TRY(md_word_bool(value, "mirror", &mirror));
    } else if (strcmp(keyword, "drift") == 0) {
      float_drift = strcmp(value, "float") == 0;
      if (!float_drift && strcmp(value, "grid") != 0)
        return md_error(MD_USAGE, "fix nve/leapfrog drift takes grid or float, not '%.64s'", value);
    } else {
      return md_error(
          MD_USAGE,
          "fix nve/leapfrog: unknown keyword '%.64s'; accepted are mirror yes|no and drift grid|float",
          keyword);
    }
  }
  if (mirror && float_drift)
    return md_error(MD_USAGE, "fix nve/leapfrog: drift float cannot be reversed; use mirror with drift grid");
  MD_TRY(set_integrator(sim, fix, mirror ? MD_LEAPFROG_MIRROR : MD_LEAPFROG));
  sim->model.float_drift = float_drift;
  return MD_OK;
}

static md_status read_temperature(const char *word, const char *what, double *t)
{
  MD_TRY(md_word_double(word, what, t));
  if (*t < 0.0) return md_error(MD_USAGE, "%s must be zero or positive, not %.64s", what, word);
  return MD_OK;
}

static md_status apply_langevin(md_sim *sim, md_fix *fix, const md_words *words)
{
  if (sim->model.langevin.on) return md_error(MD_USAGE, "fix langevin: there is one already; unfix it first");
  MD_TRY(no_more_words(fix, words, 4));
  md_langevin langevin = {.on = true};
  int64_t seed;
  MD_TRY(read_temperature(words->word[0], "Tstart of fix langevin", &langevin.t_start));
  MD_TRY(read_temperature(words->word[1], "Tstop of fix langevin", &langevin.t_stop));
  MD_TRY(md_word_positive(words->word[2], "damp of fix langevin", &langevin.damp));
  MD_TRY(md_word_int64(words->word[3], "the seed of fix langevin", 1, INT64_MAX, &seed));
  langevin.seed = (uint64_t)seed;
  sim->model.langevin = langevin;
  return MD_OK;
}

static void undo_langevin(md_sim *sim, const md_fix *fix)
{
  (void)fix;
  sim->model.langevin = (md_langevin){.on = false};
}

static md_status apply_enforce2d(md_sim *sim, md_fix *fix, const md_words *words)
{
  MD_TRY(no_more_words(fix, words, 0));
  if (sim->model.box.dim != 2) return md_error(MD_USAGE, "fix enforce2d needs dimension 2");
  md_sim_explain(sim, "fix enforce2d",
                 "in two dimensions particles have no z component; the fix has nothing to do");
  return MD_OK;
}

static void undo_nothing(md_sim *sim, const md_fix *fix)
{
  (void)sim;
  (void)fix;
}

/* xlo, yhi, ...: the axis and the side, or false. */
static bool read_face(const char *word, int *axis, int *side)
{
  if (word[0] < 'x' || word[0] > 'z') return false;
  *axis = word[0] - 'x';
  *side = strcmp(word + 1, "hi") == 0;
  return *side == 1 || strcmp(word + 1, "lo") == 0;
}

static md_status check_face(const md_sim *sim, const md_fix *fix, const char *face, int axis, int side)
{
  const md_model *model = &sim->model;
  if (axis >= model->box.dim)
    return md_error(MD_USAGE, "fix wall/reflect %s: two dimensions have no z walls", face);
  if (model->box.periodic[axis])
    return md_error(MD_USAGE, "fix wall/reflect %s: the box is periodic along %c; use boundary f there", face,
                    "xyz"[axis]);
  if (model->wall[axis][side] || fix->wall[axis][side])
    return md_error(MD_USAGE, "fix wall/reflect %s: there is a wall on that side already", face);
  return MD_OK;
}

/* What a number means is known only after the last word, as in LAMMPS: lattice units unless `units box`. */
static md_status read_wall_units(const md_words *words, bool *in_lattice)
{
  *in_lattice = true;
  for (int k = 0; k + 1 < words->n; k += 2) {
    if (strcmp(words->word[k], "units") != 0) continue;
    const char *value = words->word[k + 1];
    *in_lattice = strcmp(value, "lattice") == 0;
    if (!*in_lattice && strcmp(value, "box") != 0)
      return md_error(MD_USAGE, "fix wall/reflect units '%.64s' is unknown; accepted are box and lattice",
                      value);
  }
  return MD_OK;
}

static md_status read_wall(const md_sim *sim, const char *face, const char *word, int axis, int side,
                           bool in_lattice, double *at)
{
  const md_box *box = &sim->model.box;
  if (strcmp(word, "EDGE") == 0) {
    *at = side ? box->hi[axis] : box->lo[axis];
    return MD_OK;
  }
  if (md_word_double(word, face, at) != MD_OK)
    return md_error(MD_USAGE, "fix wall/reflect %s: '%.64s' is neither EDGE nor a number", face, word);
  if (in_lattice) *at *= md_lattice_unit(sim, axis);
  if (!(*at >= box->lo[axis] && *at <= box->hi[axis]))
    return md_error(
        MD_USAGE,
        "fix wall/reflect %s: the wall at %g (sigma) lies outside the box, which reaches from %g to %g; "
        "numbers are in lattice units unless `units box` is given",
        face, *at, box->lo[axis], box->hi[axis]);
  return MD_OK;
}

static md_status apply_walls(md_sim *sim, md_fix *fix, const md_words *words)
{
  MD_TRY(md_sim_need_box(sim, "fix wall/reflect"));
  if (words->n == 0)
    return md_error(MD_USAGE, "fix wall/reflect needs at least one face: xlo, xhi, ylo, yhi, zlo or zhi");
  bool in_lattice;
  MD_TRY(read_wall_units(words, &in_lattice));
  double at[3][2] = {{0}};
  for (int k = 0; k < words->n; k += 2) {
    const char *face = words->word[k];
    int axis, side;
    const bool units = strcmp(face, "units") == 0;
    if (!units && !read_face(face, &axis, &side))
      return md_error(MD_USAGE,
                      "fix wall/reflect: unknown face '%.64s'; accepted are xlo xhi ylo yhi zlo zhi, and "
                      "units box|lattice",
                      face);
    if (k + 1 == words->n)
      return md_error(MD_USAGE, "fix wall/reflect %s needs %s", face,
                      units ? "box or lattice" : "EDGE or a number");
    if (units) continue;
    MD_TRY(check_face(sim, fix, face, axis, side));
    MD_TRY(read_wall(sim, face, words->word[k + 1], axis, side, in_lattice, &at[axis][side]));
    fix->wall[axis][side] = true;
  }
  for (int d = 0; d < 3; ++d)
    for (int side = 0; side < 2; ++side)
      if (fix->wall[d][side]) {
        sim->model.wall[d][side] = true;
        sim->model.wall_at[d][side] = at[d][side];
      }
  return MD_OK;
}

static void undo_walls(md_sim *sim, const md_fix *fix)
{
  for (int d = 0; d < 3; ++d)
    for (int side = 0; side < 2; ++side)
      if (fix->wall[d][side]) sim->model.wall[d][side] = false;
}

static md_status apply_balance(md_sim *sim, md_fix *fix, const md_words *words)
{
  md_balance balance = {0};
  (void)fix;
  if (sim->comm->balance.every > 0)
    return md_error(MD_USAGE, "fix balance: another fix balance is at work already; unfix it first");
  MD_TRY(md_ranks_balance_settings(sim, words, &balance));
  sim->comm->balance = balance;
  return MD_OK;
}

static void undo_balance(md_sim *sim, const md_fix *fix)
{
  (void)fix;
  sim->comm->balance = (md_balance){0};
}

static const fix_style styles[] = {
    {"nve", "nve", apply_nve, clear_integrator},
    {"nve/leapfrog", "nve/leapfrog [mirror yes|no] [drift grid|float]", apply_leapfrog, clear_integrator},
    {"langevin", "langevin TSTART TSTOP DAMP SEED", apply_langevin, undo_langevin},
    {"balance", "balance N THRESHOLD [shift [AXES]]", apply_balance, undo_balance},
    {"enforce2d", "enforce2d", apply_enforce2d, undo_nothing},
    {"wall/reflect", "wall/reflect FACE EDGE|POSITION ... [units box|lattice]", apply_walls, undo_walls},
};
enum { STYLES = sizeof styles / sizeof styles[0] };

static const fix_style *find_style(const char *name)
{
  for (int s = 0; s < STYLES; ++s)
    if (strcmp(styles[s].name, name) == 0) return &styles[s];
  return NULL;
}

static md_status unknown_style(const char *name)
{
  char list[512];
  int used = 0;
  for (int s = 0; s < STYLES; ++s) {
    const int n =
        snprintf(list + used, sizeof list - (size_t)used, "%s%s", s > 0 ? "; " : "", styles[s].usage);
    if (n < 0 || n >= (int)sizeof list - used) break;
    used += n;
  }
  list[used] = '\0';
  return md_error(MD_USAGE, "unknown fix style '%.32s'; accepted are: %s", name, list);
}

/* The link that points at the fix of that ID, or at the list's end. */
static md_fix **find_fix(md_sim *sim, const char *id)
{
  md_fix **link = &sim->fixes;
  while (*link && strcmp((*link)->id, id) != 0) link = &(*link)->next;
  return link;
}

md_status md_do_fix(md_sim *sim, const md_words *words)
{
  const char *id = words->word[0], *name = words->word[2];
  md_fix **link = find_fix(sim, id);
  if (*link)
    return md_error(MD_USAGE, "fix %s exists already (%s): unfix it first, or choose another ID", id,
                    (*link)->style);
  if (strlen(id) >= sizeof(*link)->id)
    return md_error(MD_USAGE, "the fix ID '%.64s' is longer than %zu letters", id, sizeof(*link)->id - 1);
  MD_TRY(md_word_group(words->word[1]));
  const fix_style *style = find_style(name);
  if (!style) return unknown_style(name);
  md_fix *fix = calloc(1, sizeof *fix);
  if (!fix) return md_error(MD_RUNTIME, "out of memory for fix %s", id);
  memcpy(fix->id, id, strlen(id) + 1);
  snprintf(fix->style, sizeof fix->style, "%s", style->name);
  const md_words behind = {words->n - 3, words->word + 3};
  const md_status status = style->apply(sim, fix, &behind);
  if (status == MD_OK)
    *link = fix;
  else
    free(fix);
  return status;
}

md_status md_do_unfix(md_sim *sim, const md_words *words)
{
  md_fix **link = find_fix(sim, words->word[0]);
  md_fix *fix = *link;
  if (!fix) return md_error(MD_USAGE, "unfix: there is no fix '%.64s'", words->word[0]);
  find_style(fix->style)->undo(sim, fix);
  *link = fix->next;
  free(fix);
  return MD_OK;
}
