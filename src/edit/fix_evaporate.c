/* fix evaporate: deletes M particles of its group that are in a region, after every N-th step.
 *
 * Which ones depends on seed, step and ids (md_edit_choose). Molecules are not deleted as a whole. Cost: a pass over
 * the particles, and the beginning of a run (src/edit/run_edits.h). Reference: the LAMMPS manual, fix evaporate. */
#include "common/arithmetic/rng.h"
#include "common/base/memory.h"
#include "common/ranks/reductions.h"
#include "src/averages/output_fix.h"
#include "src/edit/edit.h"
#include "src/region/region.h"
#include "src/steps.h"

#include <stdlib.h>
#include <string.h>

typedef struct fix_evaporate {
  md_output_fix base;
  int64_t every, most, seed;
  char region[64];
  double deleted; /* so far */
} fix_evaporate;

static md_status read_molecule(const md_words *words)
{
  bool yes;
  if (words->n == 4) return MD_OK;
  if (words->n != 6 || strcmp(words->word[4], "molecule") != 0)
    return md_error(MD_USAGE, "fix evaporate: unexpected '%.64s'; accepted is molecule no", words->word[4]);
  MD_TRY(md_word_bool(words->word[5], "fix evaporate molecule", &yes));
  return yes ? md_error(MD_USAGE,
                        "fix evaporate molecule yes: it deletes single particles; accepted is molecule no")
             : MD_OK;
}

static md_status parse(md_output_fix *base, md_sim *sim, const md_words *words)
{
  fix_evaporate *fix = (fix_evaporate *)base;
  const md_region *region;
  if (words->n < 4)
    return md_error(MD_USAGE, "fix evaporate takes N, M, a region and a seed, not %d word%s", words->n,
                    words->n == 1 ? "" : "s");
  MD_TRY(md_sim_need_box(sim, "fix evaporate"));
  MD_TRY(md_word_int64(words->word[0], "N of fix evaporate", 1, INT64_MAX, &fix->every));
  MD_TRY(md_word_int64(words->word[1], "M of fix evaporate", 1, INT64_MAX, &fix->most));
  MD_TRY(md_region_find(sim, words->word[2], &region));
  memcpy(fix->region, region->id, sizeof fix->region);
  MD_TRY(md_word_int64(words->word[3], "the seed of fix evaporate", 1, INT64_MAX, &fix->seed));
  MD_TRY(read_molecule(words));
  base->values = (md_values){.scalar = &fix->deleted};
  return MD_OK;
}

static int64_t edit_due(const md_output_fix *base, int64_t step)
{
  return md_step_multiple(step, ((const fix_evaporate *)base)->every);
}

static md_status evaporate(fix_evaporate *fix, md_sim *sim, uint8_t *gone)
{
  const md_particles *p = &sim->particles;
  const md_random r = md_random_at((uint64_t)fix->seed, 0, md_model_draw(&sim->model), MD_STREAM_EVAPORATE);
  const uint64_t seed = (uint64_t)r.word[0] << 32 | r.word[1];
  const md_region *region;
  int64_t count = 0;
  MD_TRY(md_region_find(sim, fix->region, &region));
  for (int64_t i = 0; i < p->n; ++i) {
    gone[i] =
        md_particles_in_group(p, md_group_bit(fix->base.observer.group), i) && md_region_has(region, p, i);
    count += gone[i];
  }
  MD_TRY(sim->comm->reduce->sum(sim->comm, &count, 1));
  const int64_t wanted = count < fix->most ? count : fix->most;
  if (wanted == 0) return MD_OK;
  if (wanted < count) MD_TRY(md_edit_choose(sim, gone, wanted, seed));
  fix->deleted += (double)wanted;
  md_particles_remove(&sim->particles, gone);
  return md_edit_forget_removed(sim);
}

static md_status edit(md_output_fix *base, md_sim *sim)
{
  uint8_t *gone;
  MD_TRY(md_comm_agree(sim->comm, md_array_new_zero(&gone, sim->particles.n, 1, "particles to delete")));
  const md_status status = evaporate((fix_evaporate *)base, sim, gone);
  free(gone);
  return status;
}

static md_status walk(md_output_fix *base, md_fix_state *state)
{
  (void)md_fix_state_reals(state, 1, &((fix_evaporate *)base)->deleted);
  return MD_OK;
}

const md_output_fix_style md_fix_evaporate_style = {
    .name = "evaporate",
    .usage = "evaporate N M REGION SEED [molecule no]",
    .help = "deletes M particles of the group that are in the region, after every N-th step, or all if "
            "there are fewer.\n"
            "f_ID: how many so far. The run prepares itself anew at each such step",
    .size = sizeof(fix_evaporate),
    .parse = parse,
    .edit_due = edit_due,
    .edit = edit,
    .walk = walk,
};
