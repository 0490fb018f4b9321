/* Files that may be restarts; see candidates.h. */
#include "src/restart/candidates.h"

#include <dirent.h>
#include <errno.h>
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

/* There is no file of that name, or it cannot be seen whether there is one, for `reason`. */
static md_status no_file(const char *name, int reason)
{
  if (reason == ENOENT || reason == ENOTDIR) return MD_OK;
  return md_error(MD_RUNTIME, "cannot look for restarts %.500s: %s", name, strerror(reason));
}

/* Adds the files of an open folder whose names are the first n characters of `name`, digits, and `after`. */
static md_status add_numbered(md_candidates *all, DIR *directory, const char *folder, const char *name,
                              size_t n, const char *after)
{
  for (;;) {
    errno = 0;
    const struct dirent *entry = readdir(directory);
    if (!entry) return errno ? no_file(*folder ? folder : ".", errno) : MD_OK;
    if (is_numbered(entry->d_name, name, n, after)) MD_TRY(add(all, folder, entry->d_name));
  }
}

md_status md_candidates_add(md_candidates *all, const char *pattern)
{
  struct stat about;
  const char *star = strchr(pattern, '*');
  if (!star) return stat(pattern, &about) == 0 ? add(all, "", pattern) : no_file(pattern, errno);
  const char *slash = strrchr(pattern, '/');
  /* With a * in the name of a folder, the files cannot be found by listing one folder. */
  if (slash && slash > star) return MD_OK;
  char folder[1024] = "";
  if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(slash + 1 - pattern), pattern);
  const char *name = slash ? slash + 1 : pattern;
  DIR *directory = opendir(*folder ? folder : ".");
  if (!directory) return no_file(pattern, errno);
  const md_status status = add_numbered(all, directory, folder, name, (size_t)(star - name), star + 1);
  closedir(directory);
  return status;
}
