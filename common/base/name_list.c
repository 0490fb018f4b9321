/* Lists of names in messages; see name_list.h. */
#include "common/base/name_list.h"

#include <stdio.h>
#include <string.h>

static const char more[] = "...";

void md_name_list_add(char *text, size_t size, const char *separator, const char *name)
{
  const size_t used = strlen(text), end = strlen(more);
  const char *before = used > 0 ? separator : "";
  if (used >= end && strcmp(text + used - end, more) == 0) return;
  if (used + strlen(before) + strlen(name) + strlen(separator) + end < size)
    snprintf(text + used, size - used, "%s%s", before, name);
  else
    snprintf(text + used, size - used, "%s%s", before, more);
}
