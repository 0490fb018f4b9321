/* Opening files without blocking (O_NONBLOCK), which is switched off again afterwards, and locks; see open_file.h.
 *
 * Writing: opening a FIFO fails as long as no reader has it open. So it is tried again and again. Reading: opening a
 * FIFO succeeds at once. Then a read tells whether there is a writer: it gives end of file if there is none, and
 * EAGAIN if there is one that has written nothing yet.
 *
 * Locks are those of flock: the kernel ends them with the process, however it ends. They are advice: they stop only
 * programs that ask for them too. A file system without locks is used without them. A file is made empty after it was
 * locked, so that a program that is refused destroys nothing.
 */
#include "common/base/open_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 2000, LOCK_PATIENCE_MS = 3000, LOOK_MS = 20 };

const char *md_open_reason(int reason)
{
  if (reason == ENXIO) return "it is a pipe (or a socket), and there is no program at its other end";
  if (reason == EWOULDBLOCK) return "another run is writing it";
  return strerror(reason);
}

char *md_path_for_mpi(const char *path)
{
  const char *folder = path[0] == '/' ? "" : "./";
  const size_t size = strlen(folder) + strlen(path) + 1;
  char *name = malloc(size);
  if (name) snprintf(name, size, "%s%s", folder, path);
  return name;
}

static bool is_fifo(int file)
{
  struct stat about;
  return fstat(file, &about) == 0 && S_ISFIFO(about.st_mode);
}

static void wait_a_little(void) { nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL); }

/* Makes a blocking stream of an open file. If that fails, closes the file and keeps errno. */
static FILE *stream_of(int file, const char *mode)
{
  FILE *stream = fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK) == 0 ? fdopen(file, mode) : NULL;
  const int reason = errno;
  if (!stream) close(file);
  errno = reason;
  return stream;
}

bool md_lock_file(int file)
{
  struct stat about;
  if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) return true;
  int waited = 0;
  while (flock(file, LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR)) {
    if (waited >= LOCK_PATIENCE_MS) {
      errno = EWOULDBLOCK;
      return false;
    }
    wait_a_little();
    waited += LOOK_MS;
  }
  return true;
}

/* Prepares a file that was opened to be written: perhaps locks it, and makes it empty if it is not appended to. */
static bool take(int file, bool append, bool lock)
{
  struct stat about;
  if (lock && !md_lock_file(file)) return false;
  return append || fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || ftruncate(file, 0) == 0;
}

static FILE *open_write(const char *path, bool append, bool lock)
{
  const int flags = O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC | (append ? O_APPEND : 0);
  int file = open(path, flags, 0666);
  for (int waited = 0; file < 0 && errno == ENXIO && waited < PATIENCE_MS; waited += LOOK_MS) {
    struct stat about;
    if (stat(path, &about) == 0 && !S_ISFIFO(about.st_mode)) {
      errno = ENXIO;
      break;
    }
    wait_a_little();
    file = open(path, flags, 0666);
  }
  if (file >= 0 && !take(file, append, lock)) {
    const int reason = errno;
    close(file);
    errno = reason;
    return NULL;
  }
  return file < 0 ? NULL : stream_of(file, append ? "a" : "w");
}

FILE *md_open_write(const char *path, bool append) { return open_write(path, append, true); }

FILE *md_open_shared(const char *path, bool append) { return open_write(path, append, false); }

/* Waits for a writer of a FIFO. *first: a byte that was read while looking for the writer, or EOF. */
static bool has_writer(int file, int *first)
{
  *first = EOF;
  for (int waited = 0; waited < PATIENCE_MS; waited += LOOK_MS) {
    unsigned char byte;
    const ssize_t got = read(file, &byte, 1);
    if (got == 1) *first = byte;
    if (got == 1 || (got < 0 && errno == EAGAIN)) return true;
    wait_a_little();
  }
  return false;
}

FILE *md_open_read(const char *path)
{
  const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return NULL;
  int first = EOF;
  if (is_fifo(file) && !has_writer(file, &first)) {
    close(file);
    errno = ENXIO;
    return NULL;
  }
  FILE *stream = stream_of(file, "r");
  if (stream && first != EOF) ungetc(first, stream);
  return stream;
}
