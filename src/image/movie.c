/* Movies: pictures as PPM through a socket to ffmpeg, which this file starts; see image.h.
 *
 * ffmpeg reads from a socket and not from a pipe, because a write to a socket can fail without a signal. It has a
 * process group of its own, so that an interrupt from the keyboard does not end it before the last picture. If this
 * program ends, however it does, ffmpeg completes the file. A run that goes on from a restart begins another file,
 * because a movie cannot grow: its name has the step of the last picture before.
 */
#include "src/image/image.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ; /* POSIX leaves this declaration to the program */

struct md_movie {
  int socket;
  pid_t pid;
};

static bool found_in_path(const char *program)
{
  char name[1024];
  const char *path = getenv("PATH");
  for (const char *at = path; at && *at;) {
    const size_t n = strcspn(at, ":");
    if ((size_t)snprintf(name, sizeof name, "%.*s/%s", (int)n, at, program) < sizeof name &&
        access(name, X_OK) == 0)
      return true;
    at += n + (at[n] == ':');
  }
  return false;
}

md_status md_movie_check(const char *path)
{
  const char *ending = strrchr(path, '.');
  if (!ending || strchr(ending, '/') || ending[1] == '\0')
    return md_error(
        MD_USAGE, "dump movie: file name '%.300s' has no ending, such as .mp4 or .mkv, which says the format",
        path);
  if (found_in_path("ffmpeg")) return MD_OK;
  return md_error(MD_USAGE,
                  "dump movie needs the program ffmpeg, which is not in PATH; dump image writes pictures, "
                  "of which a movie can be made elsewhere");
}

/* The name of the file, after "file:", so that no part of it means anything else to ffmpeg. */
static md_status file_name(const md_image *image, const char *path, char *name, size_t size)
{
  const char *ending = strrchr(path, '.');
  const int n = image->continued_at < 0 ? snprintf(name, size, "file:%s", path)
                                        : snprintf(name, size, "file:%.*s.%lld%s", (int)(ending - path), path,
                                                   (long long)image->continued_at, ending);
  return (size_t)n < size ? MD_OK : md_error(MD_USAGE, "dump movie: the file name is too long");
}

/* Most players, those of browsers too, know only films whose colours have half the resolution (yuv420p), which needs
 * even sizes. ffmpeg would choose the full one, as the pictures have it. */
static bool has_half_colours(const md_image *image, const char *path)
{
  static const char *const endings[] = {".mp4", ".m4v", ".mov", ".mkv", ".webm"};
  const char *ending = strrchr(path, '.');
  if (image->width % 2 != 0 || image->height % 2 != 0) return false;
  for (size_t k = 0; k < sizeof endings / sizeof endings[0]; ++k)
    if (strcmp(ending, endings[k]) == 0) return true;
  return false;
}

static md_status spawn(const md_image *image, const char *path, int input, pid_t *pid)
{
  char file[2048], from[32], to[32], bits[32];
  MD_TRY(file_name(image, path, file, sizeof file));
  snprintf(from, sizeof from, "%.9g", image->frame_rate);
  snprintf(to, sizeof to, "%.9g", image->frame_rate);
  snprintf(bits, sizeof bits, "%lldk", (long long)image->bit_rate);
  const char *word[20] = {"ffmpeg", "-v",  "error", "-y", "-r", from, "-f",   "image2pipe",
                          "-c:v",   "ppm", "-i",    "-",  "-r", to,   "-b:v", bits};
  int n = 16;
  if (has_half_colours(image, path)) {
    word[n++] = "-pix_fmt";
    word[n++] = "yuv420p";
  }
  word[n] = file;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int reason =
      posix_spawnp(pid, word[0], &actions, &attributes, (char *const *)(uintptr_t)word, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return reason == 0 ? MD_OK : md_error(MD_RUNTIME, "dump movie: cannot start ffmpeg: %s", strerror(reason));
}

static md_status begin(md_image *image, const char *path)
{
  int end[2];
  md_movie *movie = calloc(1, sizeof *movie);
  if (!movie || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, end) != 0) {
    free(movie);
    return md_error(MD_RUNTIME, "dump movie: cannot make a socket: %s", strerror(errno));
  }
  const md_status status = spawn(image, path, end[0], &movie->pid);
  close(end[0]);
  movie->socket = end[1];
  if (status == MD_OK) {
    image->movie = movie;
    return MD_OK;
  }
  close(end[1]);
  free(movie);
  return status;
}

static md_status send_all(const md_movie *movie, const void *bytes, size_t n)
{
  for (const char *at = bytes; n > 0;) {
    const ssize_t sent = send(movie->socket, at, n, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0)
      return md_error(MD_RUNTIME,
                      "dump movie: ffmpeg has ended early; it may not write a file with this ending, or "
                      "the disk is full");
    at += sent;
    n -= (size_t)sent;
  }
  return MD_OK;
}

md_status md_movie_add(md_image *image, const char *path, const md_canvas *canvas)
{
  char head[64];
  if (!image->movie) MD_TRY(begin(image, path));
  snprintf(head, sizeof head, "P6\n%d %d\n255\n", canvas->width, canvas->height);
  MD_TRY(send_all(image->movie, head, strlen(head)));
  return send_all(image->movie, canvas->rgb, 3 * (size_t)canvas->width * (size_t)canvas->height);
}

md_status md_movie_end(md_image *image)
{
  md_movie *movie = image->movie;
  int how = 0;
  if (!movie) return MD_OK;
  image->movie = NULL;
  close(movie->socket);
  pid_t ended;
  while ((ended = waitpid(movie->pid, &how, 0)) < 0 && errno == EINTR)
    ;
  free(movie);
  if (ended >= 0 && WIFEXITED(how) && WEXITSTATUS(how) == 0) return MD_OK;
  return md_error(MD_RUNTIME, "dump movie: ffmpeg failed; its messages say why");
}
