/* Files that may be restarts; see candidates.h. */
#include "src/restart/candidates.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void md_candidates_free(md_candidates *all)
{
  for (int64_t k = 0; k < all->n; ++k) free(all->list[k].path);
  free(all->list);
}

static md_status add(md_candidates *all, const char *folder, const char *name)
{
  if (all->n == all->capacity) {
    const int64_t capacity = all->capacity ? 2 * all->capacity : 16;
    md_candidate *larger = realloc(all->list, (size_t)capacity * sizeof *larger);
    if (!larger) return md_error(MD_RUNTIME, "out of memory for the names of restarts");
    all->list = larger;
    all->capacity = capacity;
  }
  const size_t size = strlen(folder) + strlen(name) + 1;
  char *path = malloc(size);
  if (!path) return md_error(MD_RUNTIME, "out of memory for the names of restarts");
  snprintf(path, size, "%s%s", folder, name);
  for (int64_t k = 0; k < all->n; ++k)
    if (strcmp(all->list[k].path, path) == 0) {
      free(path);
      return MD_OK;
    }
  all->list[all->n++] = (md_candidate){.path = path};
  return MD_OK;
}

/* Whether `name` is the first n characters of `before`, then digits, then `after`. */
static bool is_numbered(const char *name, const char *before, size_t n, const char *after)
{
  if (strncmp(name, before, n) != 0) return false;
  const size_t digits = strspn(name + n, "0123456789");
  return digits > 0 && strcmp(name + n + digits, after) == 0;
}

md_status md_candidates_add(md_candidates *all, const char *pattern)
{
  struct stat about;
  const char *star = strchr(pattern, '*');
  if (!star) return stat(pattern, &about) == 0 ? add(all, "", pattern) : MD_OK;
  const char *slash = strrchr(pattern, '/');
  /* With a * in the name of a folder, the files cannot be found by listing one folder. */
  if (slash && slash > star) return MD_OK;
  char folder[1024] = "";
  if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(slash + 1 - pattern), pattern);
  const char *name = slash ? slash + 1 : pattern;
  DIR *directory = opendir(*folder ? folder : ".");
  md_status status = MD_OK;
  for (struct dirent *entry; directory && status == MD_OK && (entry = readdir(directory));)
    if (is_numbered(entry->d_name, name, (size_t)(star - name), star + 1))
      status = add(all, folder, entry->d_name);
  if (directory) closedir(directory);
  return status;
}
