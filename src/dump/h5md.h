/* What every H5MD 1.1 file begins with; https://nongnu.org/h5md. */
#ifndef MD_SRC_DUMP_H5MD_H
#define MD_SRC_DUMP_H5MD_H

#include "common/model.h"
#include "src/hdf5/hdf5_file.h"

/* Writes into a new file:
 *   /h5md         version of the format, author (the user's name, or unknown), creator
 *   /parameters   attribute dimension: 2 or 3, of the system
 * MD_RUNTIME: a write failed. Collective if the file is open on several ranks. */
md_status md_h5md_begin(md_h5_file *file, const md_model *model) MD_CHECKED;

#endif
