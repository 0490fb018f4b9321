/* Checked plain and gzip files; see output_stream.h.
 *
 * gzip level 1: digits of random numbers hardly compress better at higher levels (44 % instead of 46 % of the size at
 * level 6, for three times the time).
 */
#include "src/output_stream.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

struct md_output {
  FILE *file;
  char *path;
  bool gzip;
  bool empty;
  int reason; /* errno of the first failed write, 0: none */
};

static md_status failed(const char *path, int reason)
{
  return md_error(MD_RUNTIME, "cannot write %.500s: %s", path, strerror(reason));
}

static bool ends_in_gz(const char *path)
{
  const size_t n = strlen(path);
  return n > 3 && strcmp(path + n - 3, ".gz") == 0;
}

/* Packs in[0..n) as one gzip member behind what *out holds. */
static bool gzip_member(md_text *out, const char *in, size_t n)
{
  z_stream z = {0};
  enum { LEVEL = 1, GZIP_WINDOW = 15 + 16, MEMORY = 9 };
  if (n > UINT_MAX || deflateInit2(&z, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
    return false;
  const size_t bound = deflateBound(&z, (uLong)n);
  char *room = bound <= UINT_MAX ? md_text_reserve(out, bound) : NULL;
  bool done = false;
  if (room) {
    z.next_in = (Bytef *)(uintptr_t)in;
    z.avail_in = (uInt)n;
    z.next_out = (Bytef *)room;
    z.avail_out = (uInt)bound;
    done = deflate(&z, Z_FINISH) == Z_STREAM_END;
    out->n += z.total_out;
  }
  deflateEnd(&z);
  return done;
}

md_status md_output_open(md_output **output, const char *path, bool append)
{
  md_output *o = calloc(1, sizeof *o);
  char *copy = strdup(path);
  if (!o || !copy) {
    free(o);
    free(copy);
    return md_error(MD_RUNTIME, "out of memory while opening %.500s", path);
  }
  o->path = copy;
  o->gzip = ends_in_gz(path);
  o->file = fopen(path, append ? "ab" : "wb");
  if (!o->file) {
    const md_status status = failed(path, errno);
    free(copy);
    free(o);
    return status;
  }
  struct stat about;
  o->empty = fstat(fileno(o->file), &about) != 0 || about.st_size == 0;
  *output = o;
  return MD_OK;
}

bool md_output_empty(const md_output *output) { return output->empty; }

static md_status give_up(md_output *output)
{
  if (!output->reason) output->reason = errno ? errno : EIO;
  return failed(output->path, output->reason);
}

static md_status write_raw(md_output *output, const char *bytes, size_t n)
{
  if (n == 0) return MD_OK;
  output->empty = false;
  errno = 0;
  return fwrite(bytes, 1, n, output->file) == n ? MD_OK : give_up(output);
}

md_status md_output_write(md_output *output, const char *bytes, size_t n)
{
  if (!output->gzip || n == 0) return write_raw(output, bytes, n);
  md_text packed = {0};
  md_status status;
  if (gzip_member(&packed, bytes, n))
    status = write_raw(output, packed.bytes, packed.n);
  else
    status = md_error(MD_RUNTIME, "out of memory while compressing %.500s", output->path);
  md_text_free(&packed);
  return status;
}

void md_output_pack(const md_output *output, md_text *text)
{
  if (!output->gzip || text->failed || text->n == 0) return;
  md_text packed = {0};
  if (!gzip_member(&packed, text->bytes, text->n)) packed.failed = true;
  free(text->bytes);
  *text = packed;
}

md_status md_output_write_packed(md_output *output, const md_text *text)
{
  MD_TRY(md_text_status(text));
  return write_raw(output, text->bytes, text->n);
}

md_status md_output_flush(md_output *output)
{
  errno = 0;
  return fflush(output->file) == 0 ? MD_OK : give_up(output);
}

md_status md_output_close(md_output **output)
{
  md_output *o = *output;
  if (!o) return MD_OK;
  *output = NULL;
  errno = 0;
  md_status status = MD_OK;
  if (fclose(o->file) != 0 || o->reason) status = give_up(o);
  free(o->path);
  free(o);
  return status;
}

md_status md_output_check_path(const char *path)
{
  struct stat about;
  if (stat(path, &about) == 0) {
    if (S_ISDIR(about.st_mode)) return failed(path, EISDIR);
    return access(path, W_OK) == 0 ? MD_OK : failed(path, errno);
  }
  const char *slash = strrchr(path, '/');
  char *directory = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
  if (!directory) return md_error(MD_RUNTIME, "out of memory while checking %.500s", path);
  md_status status = MD_OK;
  if (stat(directory, &about) != 0)
    status = md_error(MD_RUNTIME, "cannot write %.500s: the directory %.500s does not exist; make it first",
                      path, directory);
  else if (!S_ISDIR(about.st_mode))
    status = failed(path, ENOTDIR);
  else if (access(directory, W_OK | X_OK) != 0)
    status = failed(path, errno);
  free(directory);
  return status;
}
