/* Host computes: computes that are made of the downloaded particles when something asks for them, such as reduce and
 * rdf. Those of common/compute are sums that engines make in place, which is faster; these may read any value of the
 * particles, and offer vectors and arrays. Some of them ask the engine first for counts or sums that it makes in place
 * (docs/architecture.md), and need no download then.
 *
 * A value belongs to a step that a run shows. It is found once a step. Between runs the last one found is offered. All
 * ranks have the same, from exact sums, counts, and least and largest values.
 *
 * A compute may also, or only, have values for each particle (LAMMPS's per-atom computes). A rank has those of its own
 * particles, in the order of sim->particles. They exist only while a step is shown: md_host_compute_update makes them,
 * and other parts read them as c_ID or c_ID[K] by md_particle_values_of (src/formula/particle_values.h).
 *
 * A style is a line in host_computes.def and a file compute_NAME.c. Cost: particles come from the engine, which on a
 * GPU copies them to the host.
 */
#ifndef MD_SRC_COMPUTES_HOST_COMPUTE_H
#define MD_SRC_COMPUTES_HOST_COMPUTE_H

#include "src/averages/values.h"

typedef struct md_host_compute md_host_compute;

typedef struct md_host_compute_style {
  const char *name, *usage;
  const char *help; /* lines of at most 100 characters */
  size_t size;      /* of the style's struct, which begins with a md_host_compute */
  /* Reads the words after the name, and says in `values` what there will be. MD_USAGE: a word is refused. */
  md_status (*parse)(md_host_compute *, md_sim *, const md_words *) MD_CHECKED;
  /* Finds the values by the engine, without its particles, before `find`. *found = false: `find` must do it. Or NULL.
   * Collective. */
  md_status (*find_in_place)(md_host_compute *, md_view *, bool *found) MD_CHECKED;
  /* Finds the values. The view has its particles, and compute->each is all 0. Collective. */
  md_status (*find)(md_host_compute *, md_view *) MD_CHECKED;
  /* What an engine needs to know to make the values of particles in place (common/sums/environment.h), in memory of the
   * compute; NULL: it cannot make them. Or NULL. The same on all ranks. */
  const md_environment *(*environment)(md_host_compute *, const md_sim *);
  bool between; /* `find` takes a view without an engine too: values of particles are known between runs */
  void (*free)(md_host_compute *); /* what the style has; may be NULL */
} md_host_compute_style;

struct md_host_compute {
  char id[64];
  int group;
  int other_group; /* of neighbours or partners; 0: all particles */
  const md_host_compute_style *style;
  md_values values;
  int columns; /* values for each particle; 0: none */
  bool vector; /* they are c_ID[1] to c_ID[columns], else c_ID; for one column only */
  /* [particles of this rank][columns] of the step that is shown, or NULL. Made before `find` fills it */
  double *each;
  bool fresh; /* the values are those of the step that is shown */
  bool known; /* they are those of the step that was shown last */
  md_host_compute *next;
};

#define MD_HOST_COMPUTE(symbol) extern const md_host_compute_style md_compute_##symbol##_style;
#include "src/computes/host_computes.def"
#undef MD_HOST_COMPUTE

/* The style with this name; NULL: there is none. */
const md_host_compute_style *md_host_compute_style_find(const char *name);
/* The style number k, from 0; NULL beyond the last. */
const md_host_compute_style *md_host_compute_style_at(int k);

/* Makes a compute of the words after its style. MD_USAGE: a word is refused; there is no such compute then. */
md_status md_host_compute_new(md_sim *sim, const md_host_compute_style *style, const char *id, int group,
                              const md_words *words) MD_CHECKED;

/* The compute with an id of n letters; NULL: there is none. */
md_host_compute *md_host_compute_find(const md_sim *sim, const char *id, size_t n);

/* Takes a compute out of the list and frees it. */
void md_host_compute_remove(md_sim *sim, md_host_compute *compute);

/* The column of the values for each particle that a name c_ID or c_ID[K] says, from 0, and its compute; NULL: the name
 * is of no such value. */
md_host_compute *md_host_compute_each(const md_sim *sim, const char *name, int *column);

/* What an engine needs to make the values of particles in place, or NULL. The same on all ranks. */
const md_environment *md_host_compute_environment(md_host_compute *compute, const md_sim *sim);

/* Finds the values of the step that is shown, unless they are there. Between runs they are those of the step that was
 * shown last, if an output asked for them there. Collective. MD_USAGE: none did; or there are values for each particle,
 * and no step is shown. */
md_status md_host_compute_update(md_sim *sim, md_host_compute *compute) MD_CHECKED;

/* Another step is shown: values are found again when they are asked for. */
void md_host_computes_show(md_sim *sim);

/* The step that was shown ends: values of each particle are freed. */
void md_host_computes_end(md_sim *sim);

void md_host_computes_free(md_sim *sim);

#endif
