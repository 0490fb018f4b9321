/* Loading the GPU engine's library; see gpu_library.h.
 *
 * Library and program call each other's functions and share structures, so both must come from the same sources.
 * Each contains a digest of these sources. The program compares the library's digest before it uses anything else
 * of the library. A program into which the engine was linked (validate/emulator) already has the symbol of the
 * library. A library stays loaded until the program ends.
 */
#include "src/engines/gpu_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libmyriad-gpu.so"
#define SYMBOL "md_gpu"

static const md_gpu_library *loaded;

/* The file that holds this function, if it is a library; NULL: it is the program. */
static const char *own_library(void)
{
  Dl_info info;
  struct link_map *map = NULL;
  if (!dladdr1((const void *)&loaded, &info, (void **)&map, RTLD_DL_LINKMAP) || !map) return NULL;
  return map->l_name[0] ? map->l_name : NULL;
}

/* Gives the folder of the program, or of libmyriad.so, with a slash at its end. folder: room for PATH_MAX bytes. */
static md_status program_folder(char *folder)
{
  if (!realpath(own_library() ? own_library() : "/proc/self/exe", folder))
    return md_error(MD_RUNTIME, "cannot find the program's own folder, to look for " LIBRARY);
  char *slash = strrchr(folder, '/');
  if (slash) slash[1] = '\0';
  return MD_OK;
}

static md_status no_library(const char *path)
{
  return md_error(MD_USAGE,
                  "there is no %s: `make gpu` builds it, where nvcc is found; MYRIAD_GPU_LIBRARY may name "
                  "another file",
                  path);
}

/* Finds the library. path: room for PATH_MAX bytes. */
static md_status find(char *path)
{
  static const char *const places[] = {LIBRARY, "../lib/myriad/" LIBRARY, "myriad/" LIBRARY};
  const char *named = getenv("MYRIAD_GPU_LIBRARY");
  if (named && named[0]) {
    /* dlopen would search the system's folders for a name without a slash. */
    snprintf(path, PATH_MAX, "%s%s", strchr(named, '/') ? "" : "./", named);
    return access(path, F_OK) == 0 ? MD_OK : no_library(path);
  }
  char folder[PATH_MAX];
  MD_TRY(program_folder(folder));
  for (size_t k = 0; k < sizeof places / sizeof places[0]; ++k) {
    if (snprintf(path, PATH_MAX, "%s%s", folder, places[k]) >= PATH_MAX) continue;
    if (access(path, F_OK) == 0) return MD_OK;
  }
  snprintf(path, PATH_MAX, "%.*s%s", (int)(PATH_MAX - sizeof LIBRARY), folder, LIBRARY);
  return no_library(path);
}

/* Opens the library. *library is unchanged after an error. */
static md_status open_library(const char *path, const md_gpu_library **library)
{
  /* It finds the functions of a program by itself, and those of libmyriad.so once these are open to others. */
  if (own_library() && !dlopen(own_library(), RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL))
    return md_error(MD_RUNTIME, "cannot open %s to the GPU engine's library: %s", own_library(), dlerror());
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return md_error(MD_RUNTIME, "the GPU engine's library cannot be loaded: %s; `make gpu` builds it anew",
                    dlerror());
  const md_gpu_library *found = dlsym(handle, SYMBOL);
  if (found && strcmp(found->sources, MD_GPU_SOURCES) == 0) {
    *library = found;
    return MD_OK;
  }
  return md_error(
      MD_RUNTIME,
      "the GPU engine's library %s was built from other sources than this program: `make` builds both", path);
}

md_status md_gpu_library_load(const md_gpu_library **library)
{
  char path[PATH_MAX];
  if (!loaded) loaded = dlsym(RTLD_DEFAULT, SYMBOL);
  if (!loaded) {
    MD_TRY(find(path));
    MD_TRY(open_library(path, &loaded));
  }
  *library = loaded;
  return MD_OK;
}

const md_transport_opener *md_gpu_library_transport(void) { return loaded ? loaded->transport : NULL; }
