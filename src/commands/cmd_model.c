/* Commands that set single quantities of the model: units, dimension, boundary, box, atom_style, mass, neighbor,
 * neigh_modify, timestep, reset_timestep.
 */
#include "src/averages/output_fix.h"
#include "src/box/boundary.h"
#include "src/commands/exclude.h"
#include "src/sim.h"

#include <string.h>

static md_status need_no_box(const md_sim *sim, const char *command)
{
  if (!sim->has_box) return MD_OK;
  return md_error(MD_USAGE, "%s must come before create_box or read_data: the box exists already", command);
}

md_status md_do_units(md_sim *sim, const md_words *words)
{
  MD_TRY(need_no_box(sim, "units"));
  const md_units *units = md_units_find(words->word[0]);
  if (!units)
    return md_error(MD_USAGE, "units '%.64s' are unknown; accepted are %s", words->word[0], md_units_names());
  sim->model.units = units;
  sim->model.dt = units->dt;
  sim->model.skin = units->skin;
  return MD_OK;
}

md_status md_do_dimension(md_sim *sim, const md_words *words)
{
  MD_TRY(need_no_box(sim, "dimension"));
  int64_t dim;
  MD_TRY(md_word_int64(words->word[0], "dimension", 2, 3, &dim));
  if (dim == 2 && !sim->model.box.periodic[2])
    return md_error(MD_USAGE, "in two dimensions the boundary along z must be p");
  sim->model.box.dim = (int)dim;
  md_particles_free(&sim->particles);
  md_particles_init(&sim->particles, (int)dim);
  return MD_OK;
}

md_status md_do_boundary(md_sim *sim, const md_words *words)
{
  MD_TRY(need_no_box(sim, "boundary"));
  md_box box = sim->model.box;
  MD_TRY(md_boundary_read(words->word, &box));
  sim->model.box = box;
  return MD_OK;
}

md_status md_do_box(md_sim *sim, const md_words *words)
{
  const bool large = strcmp(words->word[1], "large") == 0;
  if (strcmp(words->word[0], "tilt") != 0)
    return md_error(MD_USAGE, "box: unknown keyword '%.64s'; accepted is tilt", words->word[0]);
  if (!large && strcmp(words->word[1], "small") != 0)
    return md_error(MD_USAGE, "box tilt: '%.64s' is not small or large", words->word[1]);
  sim->large_tilt = large;
  return MD_OK;
}

md_status md_do_atom_style(md_sim *sim, const md_words *words)
{
  MD_TRY(need_no_box(sim, "atom_style"));
  const bool sphere = strcmp(words->word[0], "sphere") == 0, bond = strcmp(words->word[0], "bond") == 0;
  if (!sphere && !bond && strcmp(words->word[0], "atomic") != 0)
    return md_error(
        MD_USAGE,
        "atom_style '%.64s': accepted are atomic (particles with a type, a position and a velocity), "
        "sphere (and a mass of their own) and bond (and bonds)",
        words->word[0]);
  if (words->n > 1)
    return md_error(MD_USAGE, "atom_style: unexpected '%.64s'; usage: atom_style atomic|sphere|bond",
                    words->word[1]);
  sim->model.massed = sphere;
  sim->model.bonded = bond;
  return MD_OK;
}

md_status md_do_mass(md_sim *sim, const md_words *words)
{
  MD_TRY(md_sim_need_box(sim, "mass"));
  if (sim->model.massed)
    return md_error(MD_USAGE,
                    "mass: with atom_style sphere each particle has a mass of its own, and types have none");
  int first, last;
  double mass;
  MD_TRY(md_word_types(words->word[0], sim->model.ntypes, &first, &last));
  MD_TRY(md_word_positive(words->word[1], "the mass", &mass));
  for (int type = first; type <= last; ++type) sim->model.mass[type] = mass * sim->model.units->mvv2e;
  return MD_OK;
}

md_status md_do_neighbor(md_sim *sim, const md_words *words)
{
  double skin;
  MD_TRY(md_word_double(words->word[0], "the skin of neighbor", &skin));
  if (skin < 0.0)
    return md_error(MD_USAGE, "the skin of neighbor must be zero or positive, not %.64s", words->word[0]);
  const char *style = words->word[1];
  if (strcmp(style, "bin") != 0 && strcmp(style, "nsq") != 0 && strcmp(style, "multi") != 0)
    return md_error(MD_USAGE,
                    "neighbor style '%.64s' is unknown; accepted are bin, nsq and multi, all treated as bin",
                    style);
  if (strcmp(style, "bin") != 0)
    md_sim_explain(sim, "neighbor",
                   "the engine chooses how neighbours are found; nsq and multi have no effect");
  sim->model.skin = skin;
  return MD_OK;
}

/* Checks keyword words[k] and its value: a count, yes or no, or a width. */
static md_status check_neigh_modify(md_sim *sim, const md_words *words, int k)
{
  const char *keyword = words->word[k];
  static const char *const counts[] = {"every", "delay", "one", "page"};
  int count = 0;
  while (count < 4 && strcmp(counts[count], keyword) != 0) ++count;
  const bool flag = strcmp(keyword, "check") == 0 || strcmp(keyword, "once") == 0;
  const bool size = strcmp(keyword, "binsize") == 0;
  if (count == 4 && !flag && !size)
    return md_error(
        MD_USAGE,
        "neigh_modify: unknown keyword '%.64s'; accepted are every N, delay N, check yes|no, "
        "once no, one N, page N, binsize W, exclude type I J, exclude group A B, exclude molecule/intra "
        "or molecule/inter G, exclude none",
        keyword);
  if (k + 1 == words->n) return md_error(MD_USAGE, "neigh_modify %s needs a value", keyword);
  const char *value = words->word[k + 1];
  bool yes = false;
  int64_t n;
  if (count < 4) return md_word_int64(value, keyword, strcmp(keyword, "delay") == 0 ? 0 : 1, INT64_MAX, &n);
  if (size) {
    double width;
    MD_TRY(md_word_double(value, "neigh_modify binsize", &width));
    if (width < 0.0)
      return md_error(MD_USAGE, "neigh_modify binsize must be zero or positive, not %.64s", value);
    sim->options.cell_size = width;
    return MD_OK;
  }
  MD_TRY(md_word_bool(value, keyword, &yes));
  if (yes && strcmp(keyword, "once") == 0)
    return md_error(MD_USAGE, "neigh_modify once yes would let pairs be missed; only once no is accepted");
  return MD_OK;
}

static md_status take_neigh_modify(md_sim *sim, const md_words *words, bool *only_excludes)
{
  *only_excludes = true;
  for (int k = 0; k < words->n; ++k) {
    if (strcmp(words->word[k], "exclude") == 0) {
      MD_TRY(md_exclude(sim, words, &k));
      continue;
    }
    *only_excludes = false;
    MD_TRY(check_neigh_modify(sim, words, k++));
  }
  return MD_OK;
}

md_status md_do_neigh_modify(md_sim *sim, const md_words *words)
{
  bool only_excludes;
  const md_exclusions before = sim->model.exclusions;
  const double width = sim->options.cell_size;
  const md_status status = take_neigh_modify(sim, words, &only_excludes);
  if (status != MD_OK) {
    sim->model.exclusions = before;
    sim->options.cell_size = width;
    return status;
  }
  if (only_excludes) return MD_OK;
  md_sim_explain(sim, "neigh_modify",
                 "lists are rebuilt whenever the largest displacement requires it; every, delay and check "
                 "have no effect");
  return MD_OK;
}

static void retime_fix(md_fix *fix, int64_t step, double ratio)
{
  const md_fix_style *style = md_fix_style_of(fix->kind);
  if (style->retime) style->retime(fix, step, ratio);
}

md_status md_do_timestep(md_sim *sim, const md_words *words)
{
  md_model *model = &sim->model;
  double dt;
  MD_TRY(md_word_double(words->word[0], "the timestep", &dt));
  if (dt < 0.0) return md_error(MD_USAGE, "the timestep must be zero or positive, not %.64s", words->word[0]);
  /* With a timestep of 0 no time passes, and the steps before count with the timestep that comes after it. */
  const double ratio = dt > 0.0 && model->dt > 0.0 ? model->dt / dt : 1.0;
  for (int f = 0; f < model->nfix; ++f) retime_fix(&model->fix[f], model->step, ratio);
  for (int f = 0; f < sim->nrestored; ++f) retime_fix(&sim->restored[f], model->step, ratio);
  model->dt = dt;
  return MD_OK;
}

static void shift_fix(md_fix *fix, int64_t steps)
{
  const md_fix_style *style = md_fix_style_of(fix->kind);
  if (style->shift) style->shift(fix, steps);
}

md_status md_do_reset_timestep(md_sim *sim, const md_words *words)
{
  md_model *model = &sim->model;
  int64_t step;
  MD_TRY(md_word_int64(words->word[0], "the step of reset_timestep", 0, INT64_MAX, &step));
  MD_TRY(md_output_fixes_reset(sim, "reset_timestep", step));
  for (int f = 0; f < model->nfix; ++f) shift_fix(&model->fix[f], step - model->step);
  for (int f = 0; f < sim->nrestored; ++f) shift_fix(&sim->restored[f], step - model->step);
  md_model_set_step(model, step);
  return MD_OK;
}
