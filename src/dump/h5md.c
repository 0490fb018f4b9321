/* What every H5MD file begins with; see h5md.h. */
#include "src/dump/h5md.h"

#include <stdlib.h>

#ifndef MD_VERSION
#define MD_VERSION "0.1"
#endif

md_status md_h5md_begin(md_h5_file *file, const md_model *model)
{
  static const int64_t version[2] = {1, 1};
  const int64_t system = model->box.dim;
  const char *user = getenv("USER"), *author = user && *user ? user : "unknown";
  const char *const creator[] = {"Myriad"}, *const release[] = {MD_VERSION};
  MD_TRY(md_h5->group(file, "h5md"));
  MD_TRY(md_h5->note(file, "h5md", "version", MD_H5_INT64, 2, version));
  MD_TRY(md_h5->group(file, "h5md/author"));
  MD_TRY(md_h5->note_text(file, "h5md/author", "name", 0, &author));
  MD_TRY(md_h5->group(file, "h5md/creator"));
  MD_TRY(md_h5->note_text(file, "h5md/creator", "name", 0, creator));
  MD_TRY(md_h5->note_text(file, "h5md/creator", "version", 0, release));
  MD_TRY(md_h5->group(file, "parameters"));
  return md_h5->note(file, "parameters", "dimension", MD_H5_INT64, 0, &system);
}
