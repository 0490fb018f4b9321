/* The files of a single rank, through the C library. After a failed write, every later call that fails and the closing
 * report the reason of the first failure. */
#include "common/base/open_file.h"
#include "src/engines/serial_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct md_comm_file {
  FILE *file;
  char *path;
  int reason; /* errno of the first failed write; 0: none */
};

static md_status cannot_write(const char *path, int reason)
{
  return md_error(MD_RUNTIME, "cannot write %.500s: %s", path, strerror(reason));
}

static md_status give_up(md_comm_file *f)
{
  if (!f->reason) f->reason = errno ? errno : EIO;
  return cannot_write(f->path, f->reason);
}

static md_status file_open(md_comm *c, const char *path, bool append, md_comm_file **file, int64_t *bytes)
{
  (void)c;
  md_comm_file *f = calloc(1, sizeof *f);
  char *copy = strdup(path);
  if (!f || !copy) {
    free(f);
    free(copy);
    return md_error(MD_RUNTIME, "out of memory while opening %.500s", path);
  }
  f->path = copy;
  f->file = md_open_write(path, append);
  if (!f->file) {
    const md_status status = md_error(MD_RUNTIME, "cannot write %.500s: %s", path, md_open_reason(errno));
    free(copy);
    free(f);
    return status;
  }
  struct stat about;
  *bytes = fstat(fileno(f->file), &about) == 0 ? (int64_t)about.st_size : 0;
  *file = f;
  return MD_OK;
}

static md_status file_append(md_comm *c, md_comm_file *f, const void *bytes, int64_t n)
{
  (void)c;
  if (n == 0) return MD_OK;
  errno = 0;
  return fwrite(bytes, 1, (size_t)n, f->file) == (size_t)n ? MD_OK : give_up(f);
}

static md_status file_back(md_comm *c, md_comm_file *f, int64_t n)
{
  (void)c;
  errno = 0;
  const int descriptor = fileno(f->file), flags = fcntl(descriptor, F_GETFL);
  /* With O_APPEND a write goes to the end of the file, wherever the position is. */
  if (fflush(f->file) != 0 || flags < 0) return give_up(f);
  if ((flags & O_APPEND) && fcntl(descriptor, F_SETFL, flags & ~O_APPEND) != 0) return give_up(f);
  return fseeko(f->file, -(off_t)n, SEEK_END) == 0 ? MD_OK : give_up(f);
}

static md_status file_flush(md_comm *c, md_comm_file *f)
{
  (void)c;
  errno = 0;
  return fflush(f->file) == 0 ? MD_OK : give_up(f);
}

static md_status file_close(md_comm *c, md_comm_file *f)
{
  (void)c;
  errno = 0;
  md_status status = MD_OK;
  if (fclose(f->file) != 0 || f->reason) status = give_up(f);
  free(f->path);
  free(f);
  return status;
}

static const void *mpi_communicator(md_comm *c)
{
  (void)c;
  return NULL;
}

const md_comm_files md_serial_files = {.open = file_open,
                                       .append = file_append,
                                       .back = file_back,
                                       .flush = file_flush,
                                       .close = file_close,
                                       .mpi_communicator = mpi_communicator};
