/* The command `replicate`: the box and its particles, several times along each axis.
 *
 * Copy (i, j, k) of a particle is i, j and k boxes further, counted from its unwrapped place if there are image flags.
 * So a molecule that goes through a face stays whole. The id of a copy is larger by ((k ny + j) nx + i) times the
 * largest id, as in LAMMPS. It keeps type, velocity and groups; of bonds see src/bonds/replicated.h.
 *
 * On several ranks the particles are shared out equally first. Of many copies each rank makes a share, of all
 * particles: a unit cell may have fewer particles than there are ranks. Not with image flags or bonds, which are found
 * by the ids of the particles. Copies stay with the rank that makes them until the next run.
 *
 * The lower faces stay. Units: sigma. Memory: the new particles, and with image flags 24 bytes for each. Reference: the
 * LAMMPS manual, command replicate.
 */
#include "common/base/memory.h"
#include "common/ranks/reductions.h"
#include "src/bonds/replicated.h"
#include "src/box/faces.h"
#include "src/create/create.h"
#include "src/edit/edit.h"
#include "src/follow/images.h"
#include "src/particles/share.h"

#include <math.h>
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

/* What is copied: n particles of a box; and how often, along each axis and in all. This rank makes the copies [first,
 * end). flag: their image flags, or NULL; place: with flags, their unwrapped places. */
typedef struct originals {
  int64_t n, count[3], copies, first, end;
  md_box box;
  double *flag[3], *place[3];
} originals;

static void free_originals(originals *of)
{
  for (int d = 0; d < 3; ++d) {
    free(of->flag[d]);
    free(of->place[d]);
  }
}

/* Does each rank make some copies of all particles, and not all copies of some? */
static bool shares_copies(const md_sim *sim, double copies)
{
  const double enough = 8.0 * sim->comm->size; /* then ranks differ by at most an eighth of their particles */
  return sim->comm->size > 1 && copies >= enough && !sim->model.bonded && !md_images_are_kept(sim);
}

/* Makes room for the particles of a rank, before any of them goes to another one. MD_USAGE: there are too many copies
 * for ids of 64 bits or for the ranks. */
static md_status make_room(md_sim *sim, const int64_t count[3])
{
  const double copies = (double)count[0] * (double)count[1] * (double)count[2];
  const double natoms = (double)sim->model.natoms, ranks = sim->comm->size;
  const double own =
      shares_copies(sim, copies) ? natoms * ceil(copies / ranks) : ceil(natoms / ranks) * copies;
  if (copies * (double)sim->max_id > 9e18)
    return md_error(MD_USAGE, "replicate: ids end at 2^63 - 1, and %g copies of id %lld go beyond", copies,
                    (long long)sim->max_id);
  if (own > (double)MD_PARTICLES_MAX)
    return md_error(MD_USAGE, "replicate: %g copies of %lld particles are too many for %s; use more ranks",
                    copies, (long long)sim->model.natoms, sim->comm->size == 1 ? "a rank" : "these ranks");
  MD_TRY(md_memory_for_particles(sim->comm, &sim->particles, (int64_t)own - sim->particles.n));
  return md_particles_reserve(&sim->particles, (int64_t)own);
}

/* Shares out the work: the particles, or the copies. */
static md_status share_out(md_sim *sim, originals *of)
{
  md_comm *comm = sim->comm;
  of->copies = of->count[0] * of->count[1] * of->count[2];
  of->first = 0;
  of->end = of->copies;
  MD_TRY(md_particles_share(comm, &sim->particles));
  if (shares_copies(sim, (double)of->copies)) {
    MD_TRY(md_particles_gather(comm, &sim->particles));
    of->first = md_share_begin(of->copies, comm->size, comm->rank);
    of->end = md_share_begin(of->copies, comm->size, comm->rank + 1);
  }
  of->n = sim->particles.n;
  return MD_OK;
}

static void indices_of(const originals *of, int64_t c, int64_t copy[3])
{
  copy[0] = c % of->count[0];
  copy[1] = c / of->count[0] % of->count[1];
  copy[2] = c / (of->count[0] * of->count[1]);
}

/* The unwrapped place of particle i in the copy c. */
static void unwrapped(const originals *of, int64_t c, int64_t i, double x[3])
{
  int64_t copy[3];
  indices_of(of, c, copy);
  for (int d = 0; d < 3; ++d) x[d] = of->place[d][i];
  for (int e = 0; e < 3; ++e) md_lattice_shift(of->box.length, of->box.tilt, e, (double)copy[e], x);
}

static md_status find_flags(md_sim *sim, originals *of)
{
  md_status status = MD_OK;
  if (!md_images_are_kept(sim)) return MD_OK;
  for (int d = 0; d < 3 && status == MD_OK; ++d)
    status = md_array_new(&of->place[d], of->n + 1, sizeof *of->place[d], "unwrapped places");
  MD_TRY(md_comm_agree(sim->comm, status));
  MD_TRY(md_images_flags(sim, of->flag));
  for (int64_t i = 0; i < of->n; ++i) {
    double x[3] = {0.0, 0.0, 0.0};
    for (int d = 0; d < sim->particles.dim; ++d) x[d] = sim->particles.x[d][i];
    for (int e = 0; e < 3; ++e) md_lattice_shift(of->box.length, of->box.tilt, e, of->flag[e][i], x);
    for (int d = 0; d < 3; ++d) of->place[d][i] = x[d];
  }
  return MD_OK;
}

/* Gives all copies the image flags that lead to their unwrapped places in the new box. */
static md_status set_flags(md_sim *sim, const originals *of)
{
  const md_particles *p = &sim->particles;
  const md_box *box = &sim->model.box;
  double *flag[3] = {NULL, NULL, NULL};
  md_status status = MD_OK;
  for (int d = 0; d < 3 && status == MD_OK; ++d)
    status = md_array_new(&flag[d], p->n + 1, sizeof *flag[d], "image flags");
  status = md_comm_agree(sim->comm, status);
  for (int64_t k = 0; k < p->n && status == MD_OK; ++k) {
    double way[3], through[3];
    unwrapped(of, of->first + k / of->n, k % of->n, way);
    for (int d = 0; d < 3 && d < p->dim; ++d) way[d] -= p->x[d][k];
    md_lattice_take(box->dim, box->periodic, box->length, box->tilt, way, through);
    for (int d = 0; d < 3; ++d) flag[d][k] = through[d];
  }
  if (status == MD_OK) status = md_images_set(sim, NULL, flag);
  for (int d = 0; d < 3; ++d) free(flag[d]);
  return status;
}

/* Moves the particles of the copy c of this rank, from 0, to their cells in the grid of boxes. */
static void move_copy(md_particles *p, const originals *of, int64_t c)
{
  int64_t copy[3];
  indices_of(of, of->first + c, copy);
  for (int64_t i = 0; i < of->n; ++i) {
    double edges[3] = {0.0, 0.0, 0.0};
    for (int e = 0; e < 3; ++e) {
      const double cell = (double)copy[e] + (of->flag[e] ? of->flag[e][i] : 0.0), n = (double)of->count[e];
      md_lattice_shift(of->box.length, of->box.tilt, e, cell - n * floor(cell / n), edges);
    }
    for (int d = 0; d < 3 && d < p->dim; ++d) p->x[d][c * of->n + i] = p->x[d][i] + edges[d];
  }
}

/* Writes the copy c of this rank after the particles that are there. */
static void copy_particles(md_particles *p, const originals *of, int64_t c, int64_t max_id)
{
  const int64_t first = p->n, n = of->n;
  p->n += n;
  memcpy(p->type + first, p->type, (size_t)n * sizeof *p->type);
  if (p->massed) memcpy(p->mass + first, p->mass, (size_t)n * sizeof *p->mass);
  if (p->grouped) memcpy(p->group + first, p->group, (size_t)n * sizeof *p->group);
  for (int64_t i = 0; i < n; ++i) p->id[first + i] = p->id[i] + (of->first + c) * max_id;
  for (int d = 0; d < p->dim; ++d) {
    memcpy(p->v[d] + first, p->v[d], (size_t)n * sizeof(double));
    if (p->wide) memcpy(p->v_low[d] + first, p->v_low[d], (size_t)n * sizeof(int64_t));
  }
  move_copy(p, of, c);
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

static md_status check_molecules(const originals *of, int64_t molecules)
{
  if ((double)of->copies * (double)molecules <= (double)UINT32_MAX) return MD_OK;
  return md_error(MD_USAGE,
                  "replicate: numbers of molecules end at 2^32 - 1, and %lld copies of %lld go beyond",
                  (long long)of->copies, (long long)molecules);
}

/* The particles themselves become the first copy of this rank, and are moved last. */
static md_status make_copies(md_sim *sim, originals *of)
{
  md_particles *p = &sim->particles;
  p->nghost = 0;
  MD_TRY(md_comm_agree(sim->comm, make_room(sim, of->count)));
  MD_TRY(share_out(sim, of));
  int32_t *shift = NULL;
  int64_t molecules = 0;
  MD_TRY(find_flags(sim, of));
  if (sim->model.bonded) md_images_explain_missed(sim, "replicate");
  md_status status = sim->model.bonded
                         ? md_bonds_find_shifts(sim, of->place[0] ? of->place : p->x, &shift, &molecules)
                         : MD_OK;
  if (status == MD_OK) status = check_molecules(of, molecules);
  for (int64_t c = 1; c < of->end - of->first && of->n > 0 && status == MD_OK; ++c)
    copy_particles(p, of, c, sim->max_id);
  if (status == MD_OK) {
    move_copy(p, of, 0);
    for (int64_t i = 0; i < of->n; ++i) p->id[i] += of->first * sim->max_id;
  }
  if (status == MD_OK && sim->model.bonded)
    md_bonds_replicate(&sim->particles, of->n, of->count, sim->max_id, shift, molecules);
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

static md_status replicate(md_sim *sim, originals *of, const double hi[3])
{
  md_box *box = &sim->model.box;
  if (!sim->planning.checking) MD_TRY(make_copies(sim, of));
  md_images_forget(sim);
  MD_TRY(enlarge_box(sim, of->count, hi));
  keep_inside(&sim->particles, box);
  if (md_box_follows(box)) md_faces_begin(box);
  MD_TRY(md_sim_count(sim));
  return of->place[0] ? set_flags(sim, of) : MD_OK;
}

md_status md_do_replicate(md_sim *sim, const md_words *words)
{
  md_box *box = &sim->model.box;
  double hi[3];
  char text[MD_BOX_TEXT];
  MD_TRY(md_sim_need_box(sim, "replicate"));
  originals of = {.box = *box};
  MD_TRY(read_counts(sim, words, of.count));
  MD_TRY(md_edit_need_no_wall(sim, "replicate"));
  MD_TRY(check_values(sim));
  for (int d = 0; d < 3; ++d) {
    hi[d] = box->lo[d] + (double)of.count[d] * box->length[d];
    MD_TRY(md_box_check(box->lo[d], hi[d], d));
  }
  MD_TRY(md_sim_count(sim));
  const md_status status = replicate(sim, &of, hi);
  free_originals(&of);
  MD_TRY(status);
  md_box_text(box, text);
  md_log_print(sim->log, "Replicating atoms ...\n  %s\n  %lld atoms\n", text, (long long)sim->model.natoms);
  return MD_OK;
}
