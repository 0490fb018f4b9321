/* The command `replicate`: the box and its particles, several times along each axis.
 *
 * Copy (i, j, k) of a particle is i, j and k boxes further. Its id is larger by ((k ny + j) nx + i) times the largest
 * id, as in LAMMPS. It keeps type, velocity and groups; of bonds see
 * src/bonds/replicated.h. Copies stay with the rank of their particle until the next run.
 *
 * The lower faces stay. Units: sigma. Memory: the new particles, and nothing else. Reference: the LAMMPS manual,
 * command replicate.
 */
#include "common/base/memory.h"
#include "common/ranks/reductions.h"
#include "src/bonds/replicated.h"
#include "src/box/faces.h"
#include "src/create/create.h"
#include "src/edit/edit.h"
#include "src/follow/images.h"

#include <stdlib.h>
#include <string.h>

static md_status read_counts(const md_sim *sim, const md_words *words, int64_t count[3])
{
  for (int d = 0; d < 3; ++d)
    MD_TRY(md_word_int64(words->word[d], "number of copies", 1, INT64_C(1) << 31, &count[d]));
  if (sim->model.box.dim == 2 && count[2] != 1)
    return md_error(MD_USAGE, "replicate: in two dimensions there is one copy along z, not %s",
                    words->word[2]);
  if (words->n == 4 && strcmp(words->word[3], "bbox") != 0)
    return md_error(MD_USAGE, "replicate: unknown keyword '%s'; accepted is bbox", words->word[3]);
  return MD_OK;
}

/* MD_USAGE: there are too many copies for ids of 64 bits or for the ranks. */
static md_status check_room(md_sim *sim, const int64_t count[3])
{
  const double copies = (double)count[0] * (double)count[1] * (double)count[2];
  if (copies * (double)sim->max_id > 9e18)
    return md_error(MD_USAGE, "replicate: ids end at 2^63 - 1, and %g copies of id %lld go beyond", copies,
                    (long long)sim->max_id);
  if (copies * (double)sim->particles.n > (double)MD_PARTICLES_MAX)
    return md_error(MD_USAGE,
                    "replicate: %g copies of %lld particles are too many for a rank; use more ranks", copies,
                    (long long)sim->particles.n);
  return md_memory_for_particles(sim->comm, &sim->particles, (int64_t)(copies - 1.0) * sim->particles.n);
}

/* Writes the copy with these indices in the grid of boxes after the particles that are there. */
static void copy_particles(md_particles *p, const md_box *box, int64_t n, const int64_t copy[3],
                           int64_t add_to_id)
{
  const int64_t first = p->n;
  p->n += n;
  memcpy(p->type + first, p->type, (size_t)n * sizeof *p->type);
  if (p->massed) memcpy(p->mass + first, p->mass, (size_t)n * sizeof *p->mass);
  if (p->grouped) memcpy(p->group + first, p->group, (size_t)n * sizeof *p->group);
  for (int64_t i = 0; i < n; ++i) p->id[first + i] = p->id[i] + add_to_id;
  for (int d = 0; d < p->dim; ++d) {
    double edges[3] = {0.0, 0.0, 0.0};
    for (int e = 0; e < 3; ++e) md_lattice_shift(box->length, box->tilt, e, (double)copy[e], edges);
    const double shift = edges[d];
    memcpy(p->v[d] + first, p->v[d], (size_t)n * sizeof(double));
    if (p->wide) memcpy(p->v_low[d] + first, p->v_low[d], (size_t)n * sizeof(int64_t));
    for (int64_t i = 0; i < n; ++i) p->x[d][first + i] = p->x[d][i] + shift;
  }
}

/* Rounding may have moved a particle onto or beyond the upper face. */
static void keep_inside(md_particles *p, const md_box *box)
{
  for (int d = 0; d < p->dim; ++d)
    for (int64_t i = 0; i < p->n; ++i) {
      double *x = &p->x[d][i];
      *x = box->periodic[d] ? md_edit_wrap(box, d, *x) : md_min(*x, box->hi[d]);
    }
  md_particles_show(p, box);
}

/* Copies of bonds and molecules, after those of the particles. */
static md_status copy_bonds(md_sim *sim, int64_t n, const int64_t count[3], const int8_t *shift,
                            int64_t molecules)
{
  const int64_t copies = count[0] * count[1] * count[2];
  if ((double)copies * (double)molecules > (double)UINT32_MAX)
    return md_error(MD_USAGE,
                    "replicate: numbers of molecules end at 2^32 - 1, and %lld copies of %lld go beyond",
                    (long long)copies, (long long)molecules);
  md_bonds_replicate(&sim->particles, n, count, sim->max_id, shift, molecules);
  return MD_OK;
}

static md_status make_copies(md_sim *sim, const int64_t count[3])
{
  md_particles *p = &sim->particles;
  const int64_t n = p->n, copies = count[0] * count[1] * count[2];
  p->nghost = 0;
  MD_TRY(md_comm_agree(sim->comm, check_room(sim, count)));
  MD_TRY(md_comm_agree(sim->comm, md_particles_reserve(p, n * copies)));
  int8_t *shift = NULL;
  int64_t molecules = 0;
  md_status status = sim->model.bonded ? md_bonds_find_shifts(sim, &shift, &molecules) : MD_OK;
  for (int64_t c = 1; c < copies && n > 0 && status == MD_OK; ++c) {
    const int64_t copy[3] = {c % count[0], c / count[0] % count[1], c / (count[0] * count[1])};
    copy_particles(p, &sim->model.box, n, copy, c * sim->max_id);
  }
  if (status == MD_OK && sim->model.bonded) status = copy_bonds(sim, n, count, shift, molecules);
  free(shift);
  return status;
}

/* MD_USAGE: particles have something that their copies would not have. */
static md_status check_values(const md_sim *sim)
{
  if (md_images_others(sim))
    return md_error(MD_USAGE,
                    "replicate: fixes keep values of particles, which copies would not have: give such fixes "
                    "after replicate");
  if (sim->model.anchored)
    return md_error(
        MD_USAGE, "replicate: fix spring/self ties particles to places, which copies would not have: give it "
                  "after replicate");
  if (sim->model.pushed)
    return md_error(MD_USAGE, "replicate: fix external has forces on particles, which copies would not have: "
                              "give it after replicate");
  return MD_OK;
}

/* Gives the box its new upper faces, and the tilt factors that the same lattice has then. */
static md_status enlarge_box(md_sim *sim, const int64_t count[3], const double hi[3])
{
  md_box *box = &sim->model.box;
  for (int d = 0; d < 3; ++d) {
    box->hi[d] = hi[d];
    box->length[d] = hi[d] - box->lo[d];
  }
  if (box->triclinic) {
    const double *t = box->tilt;
    const double tilt[3] = {t[MD_XY] * (double)count[1], t[MD_XZ] * (double)count[2],
                            t[MD_YZ] * (double)count[2]};
    MD_TRY(md_box_tilt(sim, box, tilt));
  }
  return MD_OK;
}

md_status md_do_replicate(md_sim *sim, const md_words *words)
{
  md_box *box = &sim->model.box;
  int64_t count[3];
  double hi[3];
  char text[MD_BOX_TEXT];
  MD_TRY(md_sim_need_box(sim, "replicate"));
  MD_TRY(read_counts(sim, words, count));
  MD_TRY(md_edit_need_no_wall(sim, "replicate"));
  MD_TRY(check_values(sim));
  for (int d = 0; d < 3; ++d) {
    hi[d] = box->lo[d] + (double)count[d] * box->length[d];
    MD_TRY(md_box_check(box->lo[d], hi[d], d));
  }
  MD_TRY(md_sim_count(sim));
  if (!sim->planning.checking) MD_TRY(make_copies(sim, count));
  md_images_forget(sim);
  MD_TRY(enlarge_box(sim, count, hi));
  keep_inside(&sim->particles, box);
  if (md_box_follows(box)) md_faces_begin(box);
  MD_TRY(md_sim_count(sim));
  md_box_text(box, text);
  md_log_print(sim->log, "Replicating atoms ...\n  %s\n  %lld atoms\n", text, (long long)sim->model.natoms);
  return MD_OK;
}
