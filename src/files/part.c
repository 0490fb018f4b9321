/* Parts of the program that are libraries of their own; see part.h. */
#define _GNU_SOURCE /* dladdr1 */
#include "src/files/part.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The file that holds this function, if it is a library; NULL: it is the program. */
static const char *own_library(void)
{
  static const char here;
  Dl_info info;
  struct link_map *map = NULL;
  if (!dladdr1(&here, &info, (void **)&map, RTLD_DL_LINKMAP) || !map) return NULL;
  return map->l_name[0] ? map->l_name : NULL;
}

/* Gives the folder of the program, or of libmyriad.so, with a slash at its end. folder: room for PATH_MAX bytes. */
static bool program_folder(char *folder)
{
  if (!realpath(own_library() ? own_library() : "/proc/self/exe", folder)) return false;
  char *slash = strrchr(folder, '/');
  if (slash) slash[1] = '\0';
  return true;
}

/* Finds the library. path: room for PATH_MAX bytes; if there is no library, the first place where one may be. */
static bool find(const md_part *part, char *path)
{
  static const char *const places[] = {"", "../lib/myriad/", "myriad/"};
  const char *named = getenv(part->variable);
  if (named && named[0]) {
    /* dlopen would search the system's folders for a name without a slash. */
    snprintf(path, PATH_MAX, "%s%s", strchr(named, '/') ? "" : "./", named);
    return access(path, F_OK) == 0;
  }
  char folder[PATH_MAX];
  if (!program_folder(folder)) folder[0] = '\0';
  for (size_t k = 0; k < sizeof places / sizeof places[0]; ++k) {
    if (snprintf(path, PATH_MAX, "%s%s%s", folder, places[k], part->file) >= PATH_MAX) continue;
    if (access(path, F_OK) == 0) return true;
  }
  snprintf(path, PATH_MAX, "%.*s%s", (int)(PATH_MAX - strlen(part->file) - 1), folder, part->file);
  return false;
}

/* Opens the library. *loaded is unchanged after an error. */
static md_status open_library(const md_part *part, const char *path, const void **loaded)
{
  /* It finds the functions of a program by itself, and those of libmyriad.so once these are open to others. */
  if (own_library() && !dlopen(own_library(), RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL))
    return md_error(MD_RUNTIME, "cannot open %s to %s: %s", own_library(), part->name, dlerror());
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return md_error(MD_RUNTIME, "%s cannot be loaded: %s; %s", part->name, dlerror(), part->made);
  const void *found = dlsym(handle, part->symbol);
  const char *sources = NULL;
  if (found) memcpy(&sources, found, sizeof sources);
  if (sources && strcmp(sources, MD_SOURCES) == 0) {
    *loaded = found;
    return MD_OK;
  }
  return md_error(MD_RUNTIME, "%s %s was built from other sources than this program: `make` builds both",
                  part->name, path);
}

md_status md_part_load(md_part *part)
{
  char path[PATH_MAX];
  if (!part->loaded) part->loaded = dlsym(RTLD_DEFAULT, part->symbol);
  if (part->loaded) return MD_OK;
  if (find(part, path)) return open_library(part, path, &part->loaded);
  return md_error(MD_USAGE, "there is no %s: %s; %s may name another file", path, part->made, part->variable);
}

bool md_part_is_here(const md_part *part)
{
  char path[PATH_MAX];
  return part->loaded || dlsym(RTLD_DEFAULT, part->symbol) || find(part, path);
}
