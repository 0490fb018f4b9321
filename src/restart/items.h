/* The items of a restart but the arrays of particles: one list of them is followed to write a file, to read a file, and
 * to hash, so that the three always agree. All items together have one checksum, which depends on their order.
 *
 * A new item: a function of the list in items.c, and a line in docs/reference/restarts.md. Files of earlier programs do
 * not have it: it is read from a version of the format on, or where the file has it.
 */
#ifndef MD_SRC_RESTART_ITEMS_H
#define MD_SRC_RESTART_ITEMS_H

#include "src/restart/restart.h"

/* Writes the items, the version of the format and the checksum to a new file. MD_RUNTIME: a write failed. */
md_status md_restart_write_items(md_h5_file *file, const char *path, md_restart *r) MD_CHECKED;

/* Reads them; *r owns what md_restart_free frees, also after an error. MD_RUNTIME: the file is no restart, of another
 * version of the format, or damaged. */
md_status md_restart_read_items(md_h5_file *file, const char *path, md_restart *r) MD_CHECKED;

/* A hash of the physics of a prepared model, to compare two models. */
uint64_t md_restart_model_hash(const md_model *model);

/* The same without the groups, because a group that no fix has does not matter for the way of the particles, and
 * without a box that fixes change. */
uint64_t md_restart_course_hash(const md_model *model);

#endif
