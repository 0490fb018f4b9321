/* What a run that goes back refuses; see check_back.h. */
#include "src/backwards/check_back.h"
#include "src/averages/output_fix.h"
#include "src/dump/dump.h"
#include "src/follow/followed.h"

#include <string.h>

static md_status check_fixes(const md_sim *sim, const char *command)
{
  int f = 0;
  for (const md_fix_name *name = sim->fixes; name; name = name->next) {
    if (name->output) continue;
    const md_fix *fix = &sim->model.fix[f++];
    const md_fix_style *style = md_fix_style_of(fix->kind);
    if (md_fix_is_reversible(fix)) continue;
    return md_error(MD_USAGE, "%s: steps with fix %s (%s) cannot be undone%s%s; unfix it before", command,
                    name->id, style->name, style->forgets ? ", because " : "",
                    style->forgets ? style->forgets : "");
  }
  return MD_OK;
}

md_status md_check_reversible(const md_sim *sim, const char *command)
{
  MD_TRY(check_fixes(sim, command));
  if (md_pair_is_dissipative(&sim->model.pair))
    return md_error(MD_USAGE,
                    "%s: steps with pair style %s cannot be undone, because its friction takes digits of the "
                    "velocities away",
                    command, md_pair_style_of(sim->model.pair.kind)->name);
  if (sim->model.float_drift)
    return md_error(
        MD_USAGE,
        "%s: steps of fix nve/leapfrog with drift float cannot be undone, because it rounds positions; "
        "use it without drift float",
        command);
  if (sim->options.gpu.mixed && strcmp(sim->engine->name, "gpu") == 0)
    return md_error(
        MD_USAGE,
        "%s: steps in mixed precision cannot be undone, because it rounds sums; use package gpu 1 "
        "precision double",
        command);
  return MD_OK;
}

/* jumps: the state becomes that of a restart at once, with the sums of averages. */
static md_status check_outputs(const md_sim *sim, const char *command, bool jumps)
{
  for (const md_observer *o = sim->observers; o; o = o->next) {
    if (md_is_output_fix(o)) {
      const md_output_fix *fix = (const md_output_fix *)o;
      if (fix->style->edit)
        return md_error(MD_USAGE,
                        "%s: fix %s (%s) changes the particles between steps, and a step back cannot undo "
                        "that; unfix it before",
                        command, fix->id, fix->style->name);
      if (fix->style->keeps_step && !(jumps && fix->style->walk && !fix->each))
        return md_error(MD_USAGE, "%s: fix %s (%s) needs step numbers that rise; unfix it before", command,
                        fix->id, fix->style->name);
    } else if (md_dump_needs_rise(o)) {
      return md_error(MD_USAGE,
                      "%s: the file of dump %s, of the style h5md, needs step numbers that rise; undump it "
                      "before, or give it a name with a *, for a file of each step",
                      command, o->id);
    }
  }
  return MD_OK;
}

md_status md_check_back(const md_sim *sim, const char *command)
{
  MD_TRY(md_check_reversible(sim, command));
  return check_outputs(sim, command, false);
}

md_status md_check_jump(const md_sim *sim, const char *command)
{
  MD_TRY(check_outputs(sim, command, true));
  for (const md_observer *o = sim->observers; o; o = o->next)
    if (md_is_follower(o))
      return md_error(
          MD_USAGE, "%s: a compute such as msd follows the particles from step to step; uncompute it before",
          command);
  return MD_OK;
}
