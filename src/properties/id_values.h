/* Values of particles by id: numbers that fixes of a deck keep for each particle, such as those of property/atom.
 *
 * The values of a particle are at the home of its id (common/ranks/outbox.h), in the order of ids. They come to the
 * particle's rank when something asks for them. A particle for which nothing was set has zeros.
 *
 * Advantage: engines need no bytes for them, and their steps no work. Cost: to get or to set the values of all
 * particles sends 24 bytes and the values of each particle to homes, and to get them also back; on one rank it is a
 * pass over the particles. Memory: 8 bytes a
 * value, and 8 a particle. Restarts hold the values, as fields of the particles. */
#ifndef MD_SRC_PROPERTIES_ID_VALUES_H
#define MD_SRC_PROPERTIES_ID_VALUES_H

#include "src/sim.h"

struct md_id_values {
  md_sim *sim;
  char name[96]; /* "property/atom p": style and ID of the fix */
  int columns;   /* values of each particle */
  /* a fix has them; else they came from read_restart, for a fix that the deck has not given yet */
  bool claimed;
  const char (
      *property)[64]; /* [columns] names of properties (property.h), which belong to the fix; or NULL */
  int64_t n;          /* particles at this home */
  int64_t *id;        /* [n], in increasing order */
  double *value;      /* [n][columns] */
  md_id_values *next;
};

/* Makes values for a fix. If the restart that read_restart has read holds values of that name, they are taken over.
 * MD_USAGE: these have another number of columns. MD_RUNTIME: out of memory. */
md_status md_id_values_new(md_sim *sim, const char *style, const char *id, int columns,
                           md_id_values **values) MD_CHECKED;
/* Takes values out of the list and frees them; NULL is accepted. */
void md_id_values_free(md_id_values *values);
void md_id_values_free_all(md_sim *sim);

/* Fills value[n][columns], for all particles of this rank. sim->particles must be up to date. Collective. MD_RUNTIME:
 * out of memory. */
md_status md_id_values_get(const md_id_values *values, double *value) MD_CHECKED;
/* Sets the values of the particles of this rank with chosen[i] != 0; NULL: of all, and those of other ids are
 * forgotten. Collective. MD_RUNTIME: out of memory. */
md_status md_id_values_set(md_id_values *values, const uint8_t *chosen, const double *value) MD_CHECKED;
/* The same for one of their columns: value[n]. */
md_status md_id_values_get_column(const md_id_values *values, int column, double *value) MD_CHECKED;
md_status md_id_values_set_column(md_id_values *values, int column, const uint8_t *chosen,
                                  const double *value) MD_CHECKED;

/* All values of the particles of this rank, to set them again when ids have changed. The caller frees *all. Collective.
 * MD_RUNTIME: out of memory. */
md_status md_id_values_get_all(md_sim *sim, double **all) MD_CHECKED;
md_status md_id_values_set_all(md_sim *sim, const double *all) MD_CHECKED;

/* Forgets the values of particles that are no more. Collective. MD_RUNTIME: out of memory. */
md_status md_id_values_trim(md_sim *sim) MD_CHECKED;

/* ---- restarts ---- */

/* A column of values in a restart: "property/atom p/1", and a number for each particle of this rank in the order of
 * sim->particles. */
typedef struct md_id_column {
  char name[96];
  double *value;
} md_id_column;

/* Makes the columns of all values that fixes have. The caller frees them by md_id_columns_free. Collective. MD_RUNTIME:
 * out of memory. MD_USAGE: there are too many. */
md_status md_id_columns_get(md_sim *sim, int *n, md_id_column **column) MD_CHECKED;
/* Takes over the values of columns that were read for sim->particles, in their order. Collective. */
md_status md_id_columns_take(md_sim *sim, int n, const md_id_column *column) MD_CHECKED;
void md_id_columns_free(int n, md_id_column *column);

#endif
