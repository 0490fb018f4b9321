/* What the edits of particles share; see edit.h. */
#include "src/edit/edit.h"
#include "common/arithmetic/rng.h"
#include "common/ranks/reductions.h"
#include "src/box/faces.h"
#include "src/fixes/anchors.h"
#include "src/fixes/centres.h"
#include "src/follow/followed.h"
#include "src/follow/images.h"
#include "src/formula/particle_values.h"
#include "src/properties/id_values.h"

#include <stdlib.h>
#include <string.h>

md_status md_edit_number(md_sim *sim, const char *word, const char *what, double *value)
{
  if (strncmp(word, "v_", 2) != 0) return md_word_double(word, what, value);
  return md_variables_formula(sim->variables, word, value);
}

md_status md_edit_values(md_sim *sim, const char *word, const char *what, md_formula_value *value)
{
  *value = (md_formula_value){.one = 0.0};
  if (strncmp(word, "v_", 2) != 0 || !md_variables_is_atom(sim->variables, word + 2))
    return md_edit_number(sim, word, what, &value->one);
  MD_TRY(md_comm_agree(sim->comm, md_array_new(&value->each, sim->particles.n, sizeof *value->each, what)));
  const md_status status = md_particle_values_of(sim, word, value->each);
  if (status != MD_OK) {
    free(value->each);
    value->each = NULL;
  }
  return status;
}

md_status md_edit_units(const char *command, const char *word, bool *in_lattice_units)
{
  *in_lattice_units = strcmp(word, "lattice") == 0;
  if (*in_lattice_units || strcmp(word, "box") == 0) return MD_OK;
  return md_error(MD_USAGE, "%s units: '%s' is not box or lattice", command, word);
}

md_status md_edit_axis(const md_sim *sim, const char *command, const char *word, int *axis)
{
  const int dim = sim->model.box.dim;
  for (*axis = 0; *axis < dim; ++*axis)
    if (word[0] == "xyz"[*axis] && word[1] == '\0') return MD_OK;
  return md_error(MD_USAGE, "%s: '%s' is not an axis; accepted are %s", command, word,
                  dim == 3 ? "x, y and z" : "x and y");
}

double md_edit_wrap(const md_box *box, int d, double x)
{
  if (!box->periodic[d] || !isfinite(x) || box->triclinic) return x;
  if (x < box->lo[d] || x >= box->hi[d]) x -= floor((x - box->lo[d]) / box->length[d]) * box->length[d];
  if (x < box->lo[d]) x += box->length[d];
  return x >= box->hi[d] ? box->lo[d] : x;
}

/* Is x inside of the faces of axis d that do not follow the particles? */
static bool is_inside(const md_box *box, int d, double x)
{
  return (x >= box->lo[d] || md_box_face_follows(box, d, 0)) &&
         (x <= box->hi[d] || md_box_face_follows(box, d, 1)) && isfinite(x);
}

md_status md_edit_follow(md_sim *sim)
{
  /* After a run, the particles of a deck that is resumed are still those of its beginning. */
  return sim->resume && sim->history.nrun > 0 ? MD_OK : md_faces_follow(sim);
}

md_status md_edit_keep(md_sim *sim, const md_box *box)
{
  md_particles *p = &sim->particles;
  bool may_fail = sim->model.anchored;
  for (int d = 0; d < box->dim; ++d) may_fail = may_fail || !box->periodic[d];
  if (!may_fail) return MD_OK;
  MD_TRY(md_comm_agree(sim->comm, md_particles_spare(p)));
  for (int d = 0; d < p->dim && p->n > 0; ++d) memcpy(p->spare[d], p->x[d], (size_t)p->n * sizeof(double));
  return MD_OK;
}

md_status md_edit_check_inside(md_sim *sim, const char *command)
{
  const md_box *box = &sim->model.box;
  const md_particles *p = &sim->particles;
  int64_t least = INT64_MAX, at = -1;
  int axis = 0;
  /* After a run, the particles of a deck that is resumed are still those of its beginning. */
  if (sim->resume && sim->history.nrun > 0) return MD_OK;
  for (int d = 0; d < p->dim; ++d)
    for (int64_t i = 0; i < p->n && !box->periodic[d]; ++i)
      if (!is_inside(box, d, p->x[d][i]) && p->id[i] < least) {
        least = p->id[i];
        at = i;
        axis = d;
      }
  md_status status = MD_OK;
  if (at >= 0) {
    status = md_error(MD_USAGE, "%s: particle %lld is at %c = %g, outside of the box, %g to %g", command,
                      (long long)least, 'x' + axis, p->x[axis][at], box->lo[axis], box->hi[axis]);
    md_error_about(least, least);
  }
  return md_comm_agree(sim->comm, status);
}

static void move_back(md_particles *p)
{
  for (int d = 0; d < p->dim && p->n > 0; ++d) memcpy(p->x[d], p->spare[d], (size_t)p->n * sizeof(double));
}

md_status md_edit_check_moved(md_sim *sim, const char *command)
{
  const md_status status = md_edit_check_inside(sim, command);
  if (status != MD_OK) move_back(&sim->particles);
  return status;
}

md_status md_edit_move(md_sim *sim, const char *command, uint32_t bit, md_status (*move)(void *context),
                       void *context)
{
  md_particles *p = &sim->particles;
  md_centres_moved centres;
  md_ties ties;
  MD_TRY(md_images_refresh(sim));
  MD_TRY(md_followed_refresh(sim));
  MD_TRY(md_centres_before(sim, &centres));
  MD_TRY(md_edit_keep(sim, &sim->model.box));
  md_status status = md_ties_before(sim, &ties);
  if (status == MD_OK) status = move(context);
  status = md_ties_after(sim, command, &ties, status);
  if (status != MD_OK && sim->model.anchored) move_back(p);
  MD_TRY(status);
  MD_TRY(md_edit_check_moved(sim, command));
  MD_TRY(md_images_place(sim));
  MD_TRY(md_followed_moved(sim));
  MD_TRY(md_centres_after(sim, &centres));
  for (int d = 0; d < p->dim; ++d)
    for (int64_t i = 0; i < p->n; ++i)
      if (md_particles_in_group(p, bit, i)) p->x[d][i] = md_edit_wrap(&sim->model.box, d, p->x[d][i]);
  md_particles_show(p, &sim->model.box);
  return md_edit_follow(sim);
}

md_status md_edit_need_no_wall(const md_sim *sim, const char *command)
{
  for (int d = 0; d < 3; ++d)
    if (sim->model.wall[d][0] || sim->model.wall[d][1])
      return md_error(
          MD_USAGE,
          "%s: there is a fix wall/reflect; unfix it before this command, and give it again after it",
          command);
  return MD_OK;
}

static uint64_t key_of(const md_particles *p, uint64_t seed, int64_t i)
{
  const md_random r = md_random_at(seed, (uint64_t)p->id[i], 0, MD_STREAM_CHOICE);
  return (uint64_t)r.word[0] << 32 | r.word[1];
}

/* Finds the largest key of the `wanted` smallest, byte by byte from the highest: counts the keys with each value of the
 * byte among those that agree with the bytes found so far. */
static md_status largest_key(md_sim *sim, const uint8_t *chosen, int64_t wanted, uint64_t seed,
                             uint64_t *limit)
{
  const md_particles *p = &sim->particles;
  uint64_t found = 0;
  for (int shift = 56; shift >= 0; shift -= 8) {
    int64_t count[256] = {0};
#pragma omp parallel for schedule(static) reduction(+ : count)
    for (int64_t i = 0; i < p->n; ++i) {
      if (!chosen[i]) continue;
      const uint64_t key = key_of(p, seed, i);
      if (shift == 56 || key >> (shift + 8) == found) ++count[key >> shift & 255];
    }
    MD_TRY(sim->comm->reduce->sum(sim->comm, count, 256));
    int byte = 0;
    while (byte < 255 && wanted > count[byte]) wanted -= count[byte++];
    found = found << 8 | (uint64_t)byte;
  }
  *limit = found;
  return MD_OK;
}

md_status md_edit_choose(md_sim *sim, uint8_t *chosen, int64_t wanted, uint64_t seed)
{
  const md_particles *p = &sim->particles;
  uint64_t limit = 0;
  if (wanted > 0) MD_TRY(largest_key(sim, chosen, wanted, seed, &limit));
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i)
    if (chosen[i]) chosen[i] = wanted > 0 && key_of(p, seed, i) <= limit;
  return MD_OK;
}

md_status md_edit_forget_removed(md_sim *sim)
{
  MD_TRY(md_id_values_trim(sim));
  return md_followed_renumber(sim, sim->particles.id);
}
