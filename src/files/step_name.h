/* Step names: file names with a * for the step, as in LAMMPS. melt.*.data is melt.1200.data at step 1200. */
#ifndef MD_SRC_FILES_STEP_NAME_H
#define MD_SRC_FILES_STEP_NAME_H

#include "common/base/error.h"
#include <stdio.h>
#include <string.h>

/* Replaces the first * of `name`, if there is one, by the step with at least `digits` digits. The caller frees
 * *out. MD_RUNTIME: out of memory; *out is unchanged. */
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
