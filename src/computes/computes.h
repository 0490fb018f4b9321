/* Computes by name, c_ID and c_ID[K], for thermo columns and formulas. Those of the model's list are described in
 * common/compute/compute.h, those that the host makes in host_compute.h. */
#ifndef MD_SRC_COMPUTES_COMPUTES_H
#define MD_SRC_COMPUTES_COMPUTES_H

#include "src/sim.h"

/* The letters of an ID. */
#define MD_COMPUTE_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* Does a word name a compute: c_ID, or c_ID[K]? */
bool md_is_compute(const char *name);

/* The compute of such a word, and the place of the named value, from 0. Of one with a tensor: the place in it, or -1
 * for its value c_ID. MD_USAGE: there is none. */
md_status md_compute_named(const md_sim *sim, const char *name, const md_compute **compute,
                           int *value) MD_CHECKED;

/* The tensor (common/tensor.h) of the compute pressure at a place of the model's list, at the step that is being
 * observed, for the column or formula `name`. `myriad check` gets ones. Collective. MD_USAGE: no step is observed, or
 * the temperature of the pressure is relative to a centre of mass. */
md_status md_compute_tensor(md_sim *sim, const char *name, int pressure, const double **tensor) MD_CHECKED;

/* The value of such a word, at the step that is being observed or, between runs, at the one measured last. Collective
 * while a step is observed. MD_USAGE: there is no such value, or it is not known yet. */
md_status md_compute_value(md_sim *sim, const char *name, double *value) MD_CHECKED;

/* Computes take the regions of now (src/region/users.h). MD_USAGE: a region is not there any more. */
md_status md_computes_find_regions(md_sim *sim) MD_CHECKED;

#endif
