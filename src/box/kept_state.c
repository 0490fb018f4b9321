/* Keeping a state of a run, and going back to it; see kept_state.h. */
#include "src/box/kept_state.h"
#include "common/ranks/reductions.h"
#include "src/box/faces.h"

#include <stdlib.h>
#include <string.h>

md_status md_kept_state_save(md_kept_state *kept, const md_sim *sim)
{
  if (!kept->model) {
    MD_TRY(md_array_new(&kept->model, 1, sizeof *kept->model, "the state of a run"));
    md_particles_init(&kept->particles, sim->particles.dim);
  }
  *kept->model = sim->model;
  return md_particles_copy(&kept->particles, &sim->particles);
}

/* Do two boxes have the same faces? */
static bool same(const md_box *a, const md_box *b)
{
  return memcmp(a->lo, b->lo, sizeof a->lo) == 0 && memcmp(a->hi, b->hi, sizeof a->hi) == 0;
}

md_status md_kept_state_restore(md_kept_state *kept, md_sim *sim)
{
  md_model *model = &sim->model;
  const md_box before = model->box;
  *model = *kept->model;
  MD_TRY(md_comm_agree(sim->comm, md_particles_copy(&sim->particles, &kept->particles)));
  do MD_TRY(md_faces_widen(sim, ++kept->grown));
  while (same(&model->box, &before) && kept->grown < 64);
  return same(&model->box, &before) ? MD_OUTGROWN : MD_OK;
}

void md_kept_state_free(md_kept_state *kept)
{
  if (!kept->model) return;
  md_particles_free(&kept->particles);
  free(kept->model);
}
