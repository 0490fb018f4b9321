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
  md_comm *comm;
  md_comm_file *file;
  char *path; /* for messages */
  bool gzip;
  bool empty;
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

static md_status out_of_memory(const char *doing, const char *path)
{
  return md_error(MD_RUNTIME, "out of memory while %s %.500s", doing, path);
}

static void free_output(md_output *output)
{
  if (output) free(output->path);
  free(output);
}

md_status md_output_open(md_comm *comm, md_output **output, const char *path, bool append)
{
  md_output *o = calloc(1, sizeof *o);
  if (o) o->path = strdup(path);
  md_status status = md_comm_agree(comm, o && o->path ? MD_OK : out_of_memory("opening", path));
  int64_t bytes = 0;
  if (status == MD_OK) status = comm->file_open(comm, path, append, &o->file, &bytes);
  if (status != MD_OK) {
    free_output(o);
    return status;
  }
  o->comm = comm;
  o->gzip = ends_in_gz(path);
  o->empty = bytes == 0;
  *output = o;
  return MD_OK;
}

bool md_output_empty(const md_output *output) { return output->empty; }

/* `status`: whether this rank's bytes could be made. */
static md_status append_bytes(md_output *output, md_status status, const char *bytes, size_t n)
{
  MD_TRY(md_comm_agree(output->comm, status));
  if (n > 0) output->empty = false;
  return output->comm->file_append(output->comm, output->file, bytes, (int64_t)n);
}

md_status md_output_write(md_output *output, const char *bytes, size_t n)
{
  if (!output->gzip) return append_bytes(output, MD_OK, bytes, n);
  md_text packed = {0};
  const bool done = n == 0 || gzip_member(&packed, bytes, n);
  const md_status status =
      append_bytes(output, done ? MD_OK : out_of_memory("compressing", output->path), packed.bytes, packed.n);
  md_text_free(&packed);
  return status;
}

md_status md_output_write_once(md_output *output, md_text *text)
{
  MD_TRY(md_comm_agree(output->comm, md_text_status(text)));
  if (text->n > 0) output->empty = false;
  const md_status status = md_output_write(output, text->bytes, output->comm->rank == 0 ? text->n : 0);
  text->n = 0;
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

md_status md_output_write_packed(md_output *output, const md_text *text, int n)
{
  md_status status = MD_OK;
  for (int k = 0; k < n && status == MD_OK; ++k) status = md_text_status(&text[k]);
  if (output->comm->size == 1) {
    for (int k = 0; k < n && status == MD_OK; ++k)
      status = append_bytes(output, MD_OK, text[k].bytes, text[k].n);
    return status;
  }
  md_text all = {0};
  for (int k = 0; k < n && status == MD_OK; ++k) md_text_add(&all, text[k].bytes, text[k].n);
  if (status == MD_OK) status = md_text_status(&all);
  status = append_bytes(output, status, all.bytes, all.n);
  md_text_free(&all);
  return status;
}

md_status md_output_flush(md_output *output) { return output->comm->file_flush(output->comm, output->file); }

md_status md_output_close(md_output **output)
{
  md_output *o = *output;
  if (!o) return MD_OK;
  *output = NULL;
  const md_status status = o->comm->file_close(o->comm, o->file);
  free_output(o);
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
