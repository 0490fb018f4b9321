/* Opening without blocking, and then as usual; see open_file.h.
 *
 * A FIFO opened to write without blocking fails as long as no reader has it open. Opened to read, it opens at once;
 * then reading says whether there is a writer: nothing comes (end of file), or nothing yet (EAGAIN).
 */
#include "common/base/open_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 2000, LOOK_MS = 20 };

const char *md_open_reason(int reason)
{
  return reason == ENXIO ? "it is a pipe (or a socket), and there is no program at its other end"
                         : strerror(reason);
}

static bool is_fifo(int file)
{
  struct stat about;
  return fstat(file, &about) == 0 && S_ISFIFO(about.st_mode);
}

static void wait_a_little(void) { nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL); }

/* The file is closed if that fails. */
static FILE *stream_of(int file, const char *mode)
{
  FILE *stream = fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK) == 0 ? fdopen(file, mode) : NULL;
  const int reason = errno;
  if (!stream) close(file);
  errno = reason;
  return stream;
}

FILE *md_open_write(const char *path, bool append)
{
  const int flags = O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC | (append ? O_APPEND : O_TRUNC);
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
  return file < 0 ? NULL : stream_of(file, append ? "a" : "w");
}

/* Waits for a writer. *first: a byte that had to be read to find it, or EOF. */
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
