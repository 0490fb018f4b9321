/* One file of all ranks, through MPI-IO.
 *
 *      | bytes so far | rank 0 | rank 1 | rank 2 |      one append
 *                  f->end
 *
 * 1. Every rank knows where the file ends (f->end).
 * 2. For an append, an exclusive sum over the lengths gives each rank the offset of its bytes.
 * 3. All ranks write at the same time, each at its offset.
 *
 * The ranks agree on errors, so that no rank goes on with a file that another rank could not write. Rank 0 locks the
 * file for all.
 *
 * Trade-off: all ranks write at once. But only regular files have places: a pipe or a device is refused.
 *
 * Cost: two sums and an agreement over ranks an append.
 */
#include "common/base/open_file.h"
#include "mpi/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct md_comm_file {
  MPI_File file;
  char *name;       /* the name for MPI: with a directory */
  const char *path; /* the name that the user gave: the end of `name` */
  int64_t end;      /* offset after the last byte, the same on all ranks */
  int lock;         /* of rank 0: the file, opened once more, and locked; -1: none */
};

static md_status set_name(md_comm_file *f, const char *path)
{
  if (f) f->name = md_path_for_mpi(path);
  if (!f || !f->name) return md_error(MD_RUNTIME, "out of memory while opening %.500s", path);
  f->path = f->name + strlen(f->name) - strlen(path);
  return MD_OK;
}

static md_status failed(const char *path, int code)
{
  int class = MPI_ERR_OTHER, length = 0;
  char text[MPI_MAX_ERROR_STRING] = "";
  MPI_Error_class(code, &class);
  const int known = class == MPI_ERR_NO_SPACE       ? ENOSPC
                    : class == MPI_ERR_ACCESS       ? EACCES
                    : class == MPI_ERR_NO_SUCH_FILE ? ENOENT
                    : class == MPI_ERR_QUOTA        ? EDQUOT
                    : class == MPI_ERR_READ_ONLY    ? EROFS
                                                    : 0;
  if (known) return md_error(MD_RUNTIME, "cannot write %.500s: %s", path, strerror(known));
  MPI_Error_string(code, text, &length);
  return md_error(MD_RUNTIME, "cannot write %.500s: %.300s", path, text);
}

/* Rank 0 refuses a path that is no regular file, because the messages of MPI would say less. A new path is fine. */
static md_status check_kind(md_comm *c, const char *path)
{
  struct stat about;
  if (c->rank != 0 || stat(path, &about) != 0 || S_ISREG(about.st_mode)) return MD_OK;
  return md_error(MD_RUNTIME, "cannot write %.500s: several ranks write to regular files only", path);
}

/* MPI says why a file cannot be opened. */
static md_status lock(md_comm *c, const char *path, md_comm_file *f)
{
  if (c->rank == 0) f->lock = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (f->lock < 0 || md_lock_file(f->lock)) return MD_OK;
  return md_error(MD_RUNTIME, "cannot write %.500s: %s", path, md_open_reason(errno));
}

static void unlock(md_comm_file *f)
{
  if (f->lock >= 0) close(f->lock);
  f->lock = -1;
}

static md_status open_file(md_comm *c, const char *path, bool append, md_comm_file *f)
{
  MD_TRY(md_mpi_agree_surely(c, lock(c, path, f)));
  mpi_state *s = mpi_state_of(c);
  const int code =
      MPI_File_open(s->ranks, f->name, MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &f->file);
  MD_TRY(md_mpi_agree_surely(c, code == MPI_SUCCESS ? MD_OK : failed(f->path, code)));
  MPI_Offset end = 0;
  const int sized = append ? MPI_File_get_size(f->file, &end) : MPI_File_set_size(f->file, 0);
  f->end = end;
  return md_mpi_agree_surely(c, sized == MPI_SUCCESS ? MD_OK : failed(f->path, sized));
}

static md_status file_open(md_comm *c, const char *path, bool append, md_comm_file **file, int64_t *bytes)
{
  MD_TRY(md_mpi_agree_surely(c, check_kind(c, path)));
  md_comm_file *f = calloc(1, sizeof *f);
  if (f) *f = (md_comm_file){.file = MPI_FILE_NULL, .lock = -1};
  md_status status = md_mpi_agree_surely(c, set_name(f, path));
  if (f && status == MD_OK) status = open_file(c, path, append, f);
  if (!f || status != MD_OK) {
    if (f && f->file != MPI_FILE_NULL) MPI_File_close(&f->file);
    if (f) unlock(f);
    if (f) free(f->name);
    free(f);
    return status;
  }
  *bytes = f->end;
  *file = f;
  return MD_OK;
}

/* Writes n bytes at the offset `at`, in pieces whose length fits an int. */
static md_status write_at(md_comm_file *f, int64_t at, const char *bytes, int64_t n)
{
  enum { PIECE = 1 << 30 };
  while (n > 0) {
    const int piece = n < PIECE ? (int)n : PIECE;
    int written = 0;
    MPI_Status about;
    const int code = MPI_File_write_at(f->file, at, bytes, piece, MPI_BYTE, &about);
    if (code != MPI_SUCCESS) return failed(f->path, code);
    MD_MPI(MPI_Get_count(&about, MPI_BYTE, &written));
    if (written != piece) return md_error(MD_RUNTIME, "cannot write %.500s: %s", f->path, strerror(ENOSPC));
    at += piece;
    bytes += piece;
    n -= piece;
  }
  return MD_OK;
}

static md_status file_append(md_comm *c, md_comm_file *f, const void *bytes, int64_t n)
{
  int64_t before = n, total = n;
  MD_TRY(md_mpi_exclusive_sum(c, &before));
  MD_TRY(md_mpi_sum(c, &total, 1));
  if (total == 0) return MD_OK;
  const md_status status = md_mpi_agree_surely(c, write_at(f, f->end + before, bytes, n));
  /* Where the bytes of one rank are missing, the bytes of higher ranks would stand after a hole. So all are cut
   * off. */
  if (status == MD_OK)
    f->end += total;
  else
    MPI_File_set_size(f->file, f->end);
  return status;
}

/* The next append overwrites the bytes after the new end. */
static md_status file_back(md_comm *c, md_comm_file *f, int64_t n)
{
  (void)c;
  f->end -= n;
  return MD_OK;
}

static md_status file_flush(md_comm *c, md_comm_file *f)
{
  const int code = MPI_File_sync(f->file);
  return md_mpi_agree_surely(c, code == MPI_SUCCESS ? MD_OK : failed(f->path, code));
}

static md_status file_close(md_comm *c, md_comm_file *f)
{
  const int code = MPI_File_close(&f->file);
  const md_status status = code == MPI_SUCCESS ? MD_OK : failed(f->path, code);
  unlock(f);
  free(f->name);
  free(f);
  return md_mpi_agree_surely(c, status);
}

static const void *mpi_communicator(md_comm *c) { return &mpi_state_of(c)->ranks; }

const md_comm_files md_mpi_files = {.open = file_open,
                                    .append = file_append,
                                    .back = file_back,
                                    .flush = file_flush,
                                    .close = file_close,
                                    .mpi_communicator = mpi_communicator};
