/* Counting particles for tail corrections; see tail_count.h. Cost: a pass over the particles, and a reduction. */
#include "src/potential/tail_count.h"
#include "src/sums/masses.h"

md_status md_tail_count(md_sim *sim)
{
  md_model *model = &sim->model;
  bool open = false;
  if (!md_pair_has_tail(&model->pair)) return MD_OK;
  for (int d = 0; d < model->box.dim; ++d) open = open || !model->box.periodic[d];
  if (open)
    md_sim_explain(sim, "pair_modify tail",
                   "the corrections take the whole box as filled evenly, also beyond faces that are not "
                   "periodic");
  return md_types_count(sim, MD_GROUP_ALL, model->count);
}
