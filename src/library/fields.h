/* Fields of all particles as arrays in the order of ids, on every rank; see myriad.h. All functions are collective. */
#ifndef MD_SRC_LIBRARY_FIELDS_H
#define MD_SRC_LIBRARY_FIELDS_H

#include "src/sim.h"

/* The ids of all particles in increasing order: id [natoms]. MD_RUNTIME: out of memory. */
md_status md_fields_ids(md_sim *sim, int64_t *id) MD_CHECKED;

/* Gathers a field: value [natoms][columns]. Errors: as myriad_gather. */
md_status md_fields_gather(md_sim *sim, const char *name, int columns, double *value) MD_CHECKED;

/* Sets a field from value [natoms][columns]. Errors: as myriad_scatter. */
md_status md_fields_scatter(md_sim *sim, const char *name, int columns, const double *value) MD_CHECKED;

/* Sets the forces of fix external from force [natoms][3]. Errors: as myriad_fix_external_forces. */
md_status md_fields_push(md_sim *sim, const double *force) MD_CHECKED;

#endif
