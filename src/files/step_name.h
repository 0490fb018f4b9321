/* Names of files of one step, LAMMPS's way: with a * for the step, melt.*.data of step 1200 is melt.1200.data. */
#ifndef MD_SRC_FILES_STEP_NAME_H
#define MD_SRC_FILES_STEP_NAME_H

#include "common/base/error.h"
#include <stdio.h>
#include <string.h>

/* The name with its first *, if any, replaced by the step in at least `digits` digits. The caller frees *out.
 * MD_RUNTIME: out of memory, *out is untouched. */
static inline md_status md_step_name(const char *name, int64_t step, int digits, char **out)
{
  const char *star = strchr(name, '*');
  const size_t size = strlen(name) + (size_t)digits + 24;
  MD_TRY(md_array_new(out, (long long)size, 1, "a file name"));
  if (star)
    snprintf(*out, size, "%.*s%0*lld%s", (int)(star - name), name, digits, (long long)step, star + 1);
  else
    snprintf(*out, size, "%s", name);
  return MD_OK;
}

#endif
