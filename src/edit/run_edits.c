/* Changes of the particles within a run; see run_edits.h. */
#include "src/edit/run_edits.h"
#include "src/averages/output_fix.h"
#include "src/follow/images.h"

static md_output_fix *next_editor(md_observer *from)
{
  for (md_observer *o = from; o && md_is_output_fix(o); o = o->next)
    if (((md_output_fix *)o)->style->edit) return (md_output_fix *)o;
  return NULL;
}

int64_t md_edits_due(const md_sim *sim, int64_t step)
{
  int64_t due = INT64_MAX;
  for (md_output_fix *f = next_editor(sim->observers); f; f = next_editor(f->observer.next)) {
    const int64_t wanted = f->style->edit_due(f, step);
    if (wanted < due) due = wanted;
  }
  return due;
}

static md_status apply(md_sim *sim, md_output_fix *fix)
{
  md_status status = fix->style->edit(fix, sim);
  if (status != MD_OK) md_error_prefix("fix %s: ", fix->id);
  if (status == MD_OK) status = md_sim_count(sim);
  return status;
}

md_status md_edits_apply(md_sim *sim)
{
  const int64_t step = sim->model.step;
  for (md_output_fix *f = next_editor(sim->observers); f; f = next_editor(f->observer.next))
    if (f->style->edit_due(f, step) == step) MD_TRY(apply(sim, f));
  return md_images_edited(sim);
}

md_status md_edits_begin(md_sim *sim)
{
  for (md_output_fix *f = next_editor(sim->observers); f; f = next_editor(f->observer.next))
    if (f->style->edits_first) MD_TRY(apply(sim, f));
  return MD_OK;
}
