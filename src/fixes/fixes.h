/* Values of fixes by name, f_ID and f_ID[K], for columns and formulas: energies and vectors of fixes that act on
 * forces, and the energy that a thermostat has taken. */
#ifndef MD_SRC_FIXES_FIXES_H
#define MD_SRC_FIXES_FIXES_H

#include "src/sim.h"

/* Does a word name a value of a fix: f_ID, or f_ID[K]? */
bool md_is_fix_value(const char *name);

/* The fix of such a word, as an index in model->fix, and the component of its vector, from 0; -1: its energy. An
 * index of -1: it is a value of an output fix (src/averages). MD_USAGE: there is no such fix or value. */
md_status md_fix_named(md_sim *sim, const char *name, int *fix, int *component) MD_CHECKED;

/* The value of such a word, at the step that is being observed. Collective. MD_USAGE: there is no such value, or no
 * step is being observed. */
md_status md_fix_value(md_sim *sim, const char *name, double *value) MD_CHECKED;

/* Fixes take the regions of now (src/region/users.h). MD_USAGE: a region is not there any more, or is of a style that
 * the fix cannot have. */
md_status md_fixes_find_regions(md_sim *sim) MD_CHECKED;

#endif
