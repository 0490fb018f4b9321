/* Temporary files that are renamed at the end; see new_file.h.
 *
 * O_EXCL refuses any existing name, also a link. So the number in a temporary name need not be secret, only new.
 * It is computed from the process, the clock and the attempt.
 */
#include "src/files/new_file.h"
#include "common/ranks/reductions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAME_CHARS = 200, NUMBER_BITS = 48, ATTEMPTS = 100 };

bool md_file_is_special(const char *name)
{
  struct stat about;
  return stat(name, &about) == 0 && !S_ISREG(about.st_mode);
}

md_status md_file_need_regular(const char *name, const char *what)
{
  struct stat about;
  if (stat(name, &about) != 0 || S_ISREG(about.st_mode)) return MD_OK;
  return md_error(MD_RUNTIME, "%.500s is %s, and %s can be in a regular file only; give another name", name,
                  S_ISDIR(about.st_mode)    ? "a directory"
                  : S_ISFIFO(about.st_mode) ? "a pipe"
                                            : "a device",
                  what);
}

static md_status failed(const char *path, int reason)
{
  return md_error(MD_RUNTIME, "cannot write %.500s: %s", path, strerror(reason));
}

/* Makes the temporary path of that number; number 0: `name` itself. */
static md_status make_path(const char *name, int64_t number, char **path)
{
  const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
  const size_t folder = (size_t)(base - name), size = strlen(name) + sizeof ".hhhhhhhhhhhh.tmp";
  *path = malloc(size);
  if (!*path) return md_error(MD_RUNTIME, "out of memory for the name of %.500s", name);
  if (number == 0)
    memcpy(*path, name, strlen(name) + 1);
  else
    snprintf(*path, size, "%.*s%.*s.%012llx.tmp", (int)folder, name, NAME_CHARS, base,
             (unsigned long long)number);
  return MD_OK;
}

static int64_t new_number(int attempt)
{
  struct timespec now = {0};
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t z = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)getpid() << 42;
  z = (z + (uint64_t)attempt) * UINT64_C(0x9e3779b97f4a7c15);
  return (int64_t)(z >> (64 - NUMBER_BITS)) | 1;
}

/* Creates the file. *number: the number in its name; 0: `name` is special, and nothing is created. */
static md_status create(const char *name, int64_t *number)
{
  *number = 0;
  if (md_file_is_special(name)) return MD_OK;
  int reason = EEXIST;
  for (int attempt = 0; attempt < ATTEMPTS && reason == EEXIST; ++attempt) {
    char *path;
    const int64_t chosen = new_number(attempt);
    MD_TRY(make_path(name, chosen, &path));
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    reason = file < 0 ? errno : 0;
    if (file >= 0) {
      close(file);
      *number = chosen;
    }
    free(path);
  }
  return reason == 0 ? MD_OK : failed(name, reason);
}

static md_status set(md_new_file *file, const char *name, int64_t number)
{
  *file = (md_new_file){.name = name, .in_place = number == 0};
  return make_path(name, number, &file->path);
}

md_status md_new_file_begin(md_new_file *file, const char *name)
{
  int64_t number;
  MD_TRY(create(name, &number));
  return set(file, name, number);
}

md_status md_new_file_begin_together(md_comm *comm, md_new_file *file, const char *name)
{
  int64_t number = 0;
  MD_TRY(md_comm_agree(comm, comm->rank == 0 ? create(name, &number) : MD_OK));
  MD_TRY(comm->reduce->sum(comm, &number, 1));
  return md_comm_agree(comm, set(file, name, number));
}

md_status md_new_file_end(md_new_file *file, md_status status)
{
  if (!file->in_place) {
    if (status == MD_OK && rename(file->path, file->name) != 0)
      status =
          md_error(MD_RUNTIME, "cannot rename %.500s to %.500s: %s", file->path, file->name, strerror(errno));
    if (status != MD_OK) unlink(file->path);
  }
  md_new_file_forget(file);
  return status;
}

void md_new_file_forget(md_new_file *file)
{
  free(file->path);
  *file = (md_new_file){0};
}
