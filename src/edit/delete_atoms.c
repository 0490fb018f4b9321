/* The command `delete_atoms`.
 *
 * The particles to delete are marked, and then all marked ones are removed at once. What is chosen at random depends on
 * seed and id. Memory: a byte for each particle; overlap: delete_overlaps.c. Reference: the LAMMPS manual, command
 * delete_atoms.
 */
#include "src/edit/delete_atoms.h"
#include "common/arithmetic/rng.h"
#include "common/ranks/reductions.h"
#include "src/create/lattice.h"
#include "src/edit/edit.h"
#include "src/follow/followed.h"
#include "src/group/groups.h"
#include "src/properties/id_values.h"
#include "src/region/region.h"

#include <stdlib.h>
#include <string.h>

typedef struct deletion {
  md_sim *sim;
  char *const *word; /* after the style */
  bool compress;
  uint8_t *gone; /* [particles.n] */
} deletion;

static void mark_region(const md_particles *p, const md_region *region, uint8_t *gone)
{
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) gone[i] = md_region_has(region, p, i);
}

static md_status by_group(deletion *d)
{
  const md_particles *p = &d->sim->particles;
  int group;
  MD_TRY(md_group_find(d->sim, d->word[0], &group));
  for (int64_t i = 0; i < p->n; ++i) d->gone[i] = md_particles_in_group(p, md_group_bit(group), i);
  return MD_OK;
}

static md_status by_region(deletion *d)
{
  const md_region *region;
  MD_TRY(md_region_find(d->sim, d->word[0], &region));
  mark_region(&d->sim->particles, region, d->gone);
  return MD_OK;
}

/* overlap CUTOFF GROUP1 GROUP2 */
static md_status by_overlap(deletion *d)
{
  double cutoff;
  int a, b;
  MD_TRY(md_word_positive(d->word[0], "the cutoff of delete_atoms", &cutoff));
  MD_TRY(md_group_find(d->sim, d->word[1], &a));
  MD_TRY(md_group_find(d->sim, d->word[2], &b));
  if (d->sim->planning.checking) return MD_OK;
  return md_delete_overlaps(d->sim, cutoff, md_group_bit(a), md_group_bit(b), &d->gone);
}

/* porosity REGION FRACTION SEED: each particle in the region with this probability */
static md_status by_porosity(deletion *d)
{
  const md_particles *p = &d->sim->particles;
  const md_region *region;
  double fraction;
  int64_t seed;
  MD_TRY(md_region_find(d->sim, d->word[0], &region));
  MD_TRY(md_word_double(d->word[1], "fraction", &fraction));
  if (fraction < 0.0 || fraction > 1.0)
    return md_error(MD_USAGE, "delete_atoms porosity: '%s' is not within 0 and 1", d->word[1]);
  MD_TRY(md_word_int64(d->word[2], "seed", 1, INT64_MAX, &seed));
  mark_region(p, region, d->gone);
  for (int64_t i = 0; i < p->n; ++i) {
    const md_random r = md_random_at((uint64_t)seed, (uint64_t)p->id[i], 0, MD_STREAM_CHOICE);
    if (fraction < 1.0 && md_random_unit53(r.word[0], r.word[1]) >= fraction) d->gone[i] = 0;
  }
  return MD_OK;
}

static const struct {
  const char *name;
  int words;
  const char *usage;
  md_status (*mark)(deletion *);
} styles[] = {{"group", 1, "a group", by_group},
              {"region", 1, "a region", by_region},
              {"overlap", 3, "a cutoff and two groups", by_overlap},
              {"porosity", 3, "a region, a fraction and a seed", by_porosity}};
enum { STYLES = sizeof styles / sizeof styles[0] };

/* Reads the keywords compress, bond and mol. Of bond and mol, `no` is all there is. */
static md_status read_keywords(const md_words *words, int at, bool *compress)
{
  for (; at < words->n; at += 2) {
    const char *keyword = words->word[at];
    const bool of_molecules = strcmp(keyword, "bond") == 0 || strcmp(keyword, "mol") == 0;
    bool yes;
    if (!of_molecules && strcmp(keyword, "compress") != 0)
      return md_error(MD_USAGE,
                      "delete_atoms: unknown keyword '%s'; accepted are compress yes|no, bond no and mol no",
                      keyword);
    if (at + 1 == words->n) return md_error(MD_USAGE, "delete_atoms %s needs yes or no", keyword);
    MD_TRY(md_word_bool(words->word[at + 1], keyword, &yes));
    if (of_molecules && yes)
      return md_error(MD_USAGE, "delete_atoms %s yes is not available: name all particles of a molecule",
                      keyword);
    if (!of_molecules) *compress = yes;
  }
  return MD_OK;
}

/* Gives ids without gaps. What is kept by ids follows. */
static md_status compress_ids(md_sim *sim)
{
  const md_particles *p = &sim->particles;
  int64_t *old;
  MD_TRY(md_comm_agree(sim->comm, md_array_new(&old, p->n + 1, sizeof *old, "old ids")));
  if (p->n > 0) memcpy(old, p->id, (size_t)p->n * sizeof *old);
  md_status status = md_delete_compress(sim);
  if (status == MD_OK) status = md_followed_renumber(sim, old);
  free(old);
  return status;
}

/* Removes the marked particles; the others may get new ids. */
static md_status remove_marked(deletion *d)
{
  md_sim *sim = d->sim;
  double *all;
  md_particles_remove(&sim->particles, d->gone);
  /* As in LAMMPS, ids stay with atom_style bond: bonds name them. */
  if (!d->compress || sim->model.bonded) return md_edit_forget_removed(sim);
  MD_TRY(md_id_values_get_all(sim, &all));
  md_status status = compress_ids(sim);
  if (status == MD_OK) status = md_id_values_set_all(sim, all);
  free(all);
  return status;
}

static md_status delete_marked(deletion *d, md_status (*mark)(deletion *))
{
  md_sim *sim = d->sim;
  const int64_t before = sim->model.natoms;
  MD_TRY(md_comm_agree(sim->comm, md_array_new_zero(&d->gone, sim->particles.n, 1, "particles to delete")));
  MD_TRY(mark(d));
  if (sim->planning.checking) return MD_OK;
  MD_TRY(remove_marked(d));
  MD_TRY(md_sim_count(sim));
  md_log_print(sim->log, "Deleted %lld atoms, new total = %lld\n", (long long)(before - sim->model.natoms),
               (long long)sim->model.natoms);
  return MD_OK;
}

md_status md_do_delete_atoms(md_sim *sim, const md_words *words)
{
  const char *style = words->word[0];
  int s = 0;
  MD_TRY(md_sim_need_box(sim, "delete_atoms"));
  while (s < STYLES && strcmp(styles[s].name, style) != 0) ++s;
  if (s == STYLES)
    return md_error(MD_USAGE,
                    "delete_atoms: unknown style '%s'; accepted are group, region, overlap, porosity", style);
  if (words->n < 1 + styles[s].words)
    return md_error(MD_USAGE, "delete_atoms %s needs %s", style, styles[s].usage);
  deletion d = {.sim = sim, .word = words->word + 1, .compress = true};
  MD_TRY(read_keywords(words, 1 + styles[s].words, &d.compress));
  const md_status status = delete_marked(&d, styles[s].mark);
  free(d.gone);
  return status;
}
