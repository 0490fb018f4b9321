/* fix store/state: keeps values that the particles of a group have now, or at every N-th step.
 *
 * With N 0 they are kept when the fix is defined. Values that are only known at an output of a run, such as fx and
 * most computes, are kept at the first step of the next run instead. They are kept by id (id_values.h). Reference: the
 * LAMMPS manual, fix store/state. */
#include "src/averages/output_fix.h"
#include "src/follow/images.h"
#include "src/formula/particle_values.h"
#include "src/steps.h"

#include <stdlib.h>
#include <string.h>

typedef struct fix_store_state {
  md_output_fix base;
  int64_t every; /* 0: once */
  int64_t first; /* of every 0: the step to look at; -1: it was done, or no run has begun */
  bool waits;    /* of every 0: nothing is kept yet */
  int n;
  char (*name)[64]; /* [n] */
} fix_store_state;

/* Is the value known between runs? */
static bool is_known_now(const char *name)
{
  return !strchr("cfv", name[0]) || (name[1] != '_' && name[0] != 'f') || strncmp(name, "f_", 2) == 0;
}

/* Is the value a place in units of the box's edges: xs, ys or zs? */
static bool is_scaled(const char *name)
{
  return name[0] >= 'x' && name[0] <= 'z' && strcmp(name + 1, "s") == 0;
}

static md_status fill(md_sim *sim, const char *name, double *value)
{
  if (!is_scaled(name)) return md_images_or_values(sim, name, value);
  for (int64_t i = 0; i < sim->particles.n; ++i)
    value[i] = md_particle_scaled(&sim->particles, &sim->model.box, name[0] - 'x', i);
  return MD_OK;
}

static md_status keep(fix_store_state *fix, md_sim *sim)
{
  const md_particles *p = &sim->particles;
  const uint32_t bit = md_group_bit(fix->base.observer.group);
  double *value = NULL, *all = NULL;
  md_status status = md_array_new(&value, p->n + 1, sizeof *value, "values of particles");
  if (status == MD_OK)
    status = md_array_new_zero(&all, p->n * fix->n + 1, sizeof *all, "values of particles");
  status = md_comm_agree(sim->comm, status);
  for (int k = 0; k < fix->n && status == MD_OK; ++k) {
    status = fill(sim, fix->name[k], value);
    for (int64_t i = 0; i < p->n && status == MD_OK; ++i)
      if (md_particles_in_group(p, bit, i)) all[i * fix->n + k] = value[i];
  }
  if (status == MD_OK) status = md_id_values_set(fix->base.each, NULL, all);
  free(value);
  free(all);
  return status;
}

static md_status read_name(fix_store_state *fix, md_sim *sim, const char *word)
{
  if (strcmp(word, "com") == 0)
    return md_error(MD_USAGE,
                    "fix store/state com is not available: take the centre of mass away by formulas");
  if (md_images_has(word)) MD_TRY(md_images_begin(sim));
  if (strlen(word) >= sizeof *fix->name ||
      !(is_scaled(word) || md_images_has(word) || md_particle_values_has(sim, word)))
    return md_error(
        MD_USAGE,
        "fix store/state: '%.80s' is no value of particles; accepted are id type mass x y z xs ys zs vx vy "
        "vz fx fy fz, " MD_IMAGE_NAMES ", c_ID, c_ID[K], f_ID, f_ID[K], d_NAME, i_NAME, mol and v_NAME of "
        "style atom",
        word);
  memcpy(fix->name[fix->n++], word, strlen(word) + 1);
  return MD_OK;
}

static md_status parse(md_output_fix *base, md_sim *sim, const md_words *words)
{
  fix_store_state *fix = (fix_store_state *)base;
  if (words->n < 2) return md_error(MD_USAGE, "fix store/state takes N, and values of particles such as x");
  MD_TRY(md_sim_need_box(sim, "fix store/state"));
  MD_TRY(md_word_int64(words->word[0], "N of fix store/state", 0, INT64_MAX, &fix->every));
  MD_TRY(md_array_new_zero(&fix->name, words->n - 1, sizeof *fix->name, "names of values"));
  for (int w = 1; w < words->n; ++w) MD_TRY(read_name(fix, sim, words->word[w]));
  MD_TRY(md_id_values_new(sim, "store/state", base->id, fix->n, &base->each));
  fix->first = -1;
  int64_t there = base->each->n;
  MD_TRY(sim->comm->reduce->sum(sim->comm, &there, 1));
  bool known = true;
  for (int k = 0; k < fix->n; ++k) known = known && is_known_now(fix->name[k]);
  fix->waits = fix->every == 0 && there == 0 && !known;
  /* Values of a restart stay. */
  return known && there == 0 && !sim->planning.checking ? keep(fix, sim) : MD_OK;
}

static void begin(md_output_fix *base, int64_t step)
{
  fix_store_state *fix = (fix_store_state *)base;
  fix->first = fix->waits ? step : -1;
}

static int64_t due(const md_output_fix *base, int64_t step)
{
  const fix_store_state *fix = (const fix_store_state *)base;
  if (fix->every > 0) return md_step_multiple(step, fix->every);
  return fix->first >= step ? fix->first : INT64_MAX;
}

static int64_t due_back(const md_output_fix *base, int64_t step)
{
  const fix_store_state *fix = (const fix_store_state *)base;
  if (fix->every > 0) return md_step_multiple_back(step, fix->every, -1);
  return fix->first <= step ? fix->first : -1;
}

static md_status look(md_output_fix *base, md_view *view)
{
  fix_store_state *fix = (fix_store_state *)base;
  fix->first = -1;
  fix->waits = false;
  MD_TRY(md_view_particles(view));
  return keep(fix, view->sim);
}

static md_status walk(md_output_fix *base, md_fix_state *state)
{
  fix_store_state *fix = (fix_store_state *)base;
  int64_t waits = fix->waits;
  if (md_fix_state_whole(state, &waits)) fix->waits = waits != 0;
  return MD_OK;
}

static void free_values(md_output_fix *base)
{
  md_id_values_free(base->each);
  free(((fix_store_state *)base)->name);
}

const md_output_fix_style md_fix_store_state_style = {
    .name = "store/state",
    .usage = "store/state N VALUE ...",
    .help =
        "keeps values of each particle of the group, f_ID, or f_ID[K] if there are several: with N 0 "
        "those of when\n"
        "the fix is defined, or of the next run's first step for values that only a run knows, such as "
        "fx and\n"
        "c_ID; else those of every N-th step. VALUE is as for ave/atom, or xs, ys or zs: places in units of\n"
        "the box's edges, or xu, ix and the like",
    .size = sizeof(fix_store_state),
    .parse = parse,
    .begin = begin,
    .due = due,
    .due_back = due_back,
    .look = look,
    .walk = walk,
    .free = free_values,
};
