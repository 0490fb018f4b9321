/* Output files, plain or gzip; see output_stream.h.
 *
 * A gzip file is one member, because some readers stop after the first member:
 *   header | blocks of deflate ... | trailer: checksum (CRC-32) and length of the text
 *
 * 1. Each piece of text is packed by itself into blocks that end at a byte. So several threads can pack pieces,
 *    and the pieces can be written one after the other.
 * 2. The checksum of text A followed by text B is crc(A) shifted by the length of B, xor crc(B). So each rank
 *    keeps the checksum of its own bytes, shifted by the length of all text after them. The trailer has the xor
 *    over all ranks.
 * 3. A trailer is written after every frame, and the next frame overwrites it. So a program that is killed leaves
 *    a good file, unless it is killed while it writes a frame. In a pipe the writer cannot go back, so the trailer
 *    comes only at the end.
 *
 * Trade-off: gzip level 1. Higher levels gain little, because the last digits of numbers are random: level 6 gives
 * 44 % of the size instead of 46 %, for three times the time.
 *
 * References: RFC 1951, RFC 1952; M. Adler's pigz packs in parallel in the same way.
 */
#include "src/files/output_stream.h"
#include "common/ranks/files.h"
#include "common/ranks/reductions.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { HEADER = 16, TRAILER = 10 };

/* The header of a gzip file. Its empty extra field 'My' marks files of this program, to which it can append. */
static const unsigned char header[HEADER] = {0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 4, 255, 4, 0, 'M', 'y', 0, 0};

struct md_output {
  md_comm *comm;
  md_comm_file *file;
  char *path; /* for messages */
  bool gzip;
  bool empty;
  bool broken; /* a write has failed: no trailer is written */

  /* Only for gzip: */
  bool begun;       /* the file has its header */
  bool open_ended;  /* there is text after the last trailer */
  bool can_go_back; /* the file is no pipe */
  int64_t tail;     /* bytes of a trailer at the end of the file */
  uint32_t crc;     /* checksum of this rank's part */
  md_gzip_state whole;
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

/* Packs in[0..n) into blocks of deflate that end at a byte, and appends them to *out. None of them is marked as
 * the last block. */
static bool pack_blocks(md_text *out, const char *in, size_t n)
{
  z_stream z = {0};
  enum { LEVEL = 1, RAW_WINDOW = -15, MEMORY = 9, FLUSH_BYTES = 16 };
  if (n > UINT_MAX || deflateInit2(&z, LEVEL, Z_DEFLATED, RAW_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
    return false;
  const size_t bound = deflateBound(&z, (uLong)n) + FLUSH_BYTES;
  char *room = bound <= UINT_MAX ? md_text_reserve(out, bound) : NULL;
  bool done = false;
  if (room) {
    z.next_in = (Bytef *)(uintptr_t)in;
    z.avail_in = (uInt)n;
    z.next_out = (Bytef *)room;
    z.avail_out = (uInt)bound;
    done = deflate(&z, Z_SYNC_FLUSH) == Z_OK && z.avail_in == 0 && z.avail_out > 0;
    out->n += z.total_out;
  }
  deflateEnd(&z);
  return done;
}

static uint32_t crc_of(const char *bytes, size_t n)
{
  uLong crc = crc32(0L, Z_NULL, 0);
  for (size_t at = 0; at < n;) {
    const size_t part = n - at < (1u << 30) ? n - at : (1u << 30);
    crc = crc32(crc, (const Bytef *)bytes + at, (uInt)part);
    at += part;
  }
  return (uint32_t)crc;
}

/* The checksum of text a followed by text b, where n is the length of b. */
static uint32_t crc_after(uint32_t a, uint32_t b, int64_t n)
{
  return (uint32_t)crc32_combine(a, b, (z_off_t)n);
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

static uint32_t read_little_endian(const unsigned char *at)
{
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put_little_endian(unsigned char *at, uint32_t value)
{
  for (int k = 0; k < 4; ++k) at[k] = (unsigned char)(value >> (8 * k));
}

/* Reads the trailer of a file. state->length -1: another program wrote the file, and a new member is appended to
 * it. */
static md_status read_state(const char *path, md_gzip_state *state)
{
  unsigned char begin[HEADER] = {0}, end[TRAILER] = {0};
  *state = (md_gzip_state){.length = -1};
  FILE *file = fopen(path, "rb");
  if (!file) return md_error(MD_RUNTIME, "cannot read %.500s, to add to it: %s", path, strerror(errno));
  const bool ours = fread(begin, 1, HEADER, file) == HEADER && memcmp(begin, header, HEADER) == 0;
  const bool read = ours && fseek(file, -TRAILER, SEEK_END) == 0 && fread(end, 1, TRAILER, file) == TRAILER;
  fclose(file);
  if (!ours) return MD_OK;
  if (!read || end[0] != 3 || end[1] != 0)
    return md_error(MD_RUNTIME,
                    "cannot add to %.500s: its last frame is not complete, because a program was killed "
                    "while it wrote that frame; zcat can save the complete part",
                    path);
  state->crc = read_little_endian(end + 2);
  state->length = read_little_endian(end + 6);
  return MD_OK;
}

static void go_on_from(md_output *o, const md_gzip_state *state)
{
  o->begun = true;
  o->tail = TRAILER;
  o->whole = *state;
  if (o->comm->rank == 0) o->crc = state->crc;
}

/* Finds the state of a gzip file to which text is appended. Collective. */
static md_status adopt(md_output *o)
{
  md_gzip_state state = {0};
  MD_TRY(md_comm_agree(o->comm, o->comm->rank == 0 ? read_state(o->path, &state) : MD_OK));
  int64_t told[2] = {o->comm->rank == 0 ? state.crc : 0, o->comm->rank == 0 ? state.length : 0};
  MD_TRY(o->comm->reduce->sum(o->comm, told, 2));
  state = (md_gzip_state){.crc = (uint32_t)told[0], .length = told[1]};
  if (state.length >= 0) go_on_from(o, &state);
  return MD_OK;
}

static md_status open_plain(md_comm *comm, md_output **output, const char *path, bool append)
{
  md_output *o = calloc(1, sizeof *o);
  if (o) o->path = strdup(path);
  md_status status = md_comm_agree(comm, o && o->path ? MD_OK : out_of_memory("opening", path));
  int64_t bytes = 0;
  if (status == MD_OK) status = comm->files->open(comm, path, append, &o->file, &bytes);
  if (status != MD_OK) {
    free_output(o);
    return status;
  }
  struct stat about;
  o->comm = comm;
  o->gzip = ends_in_gz(path);
  o->empty = bytes == 0;
  o->can_go_back = comm->size > 1 || (stat(path, &about) == 0 && S_ISREG(about.st_mode));
  *output = o;
  return MD_OK;
}

/* Closes an output whose opening failed halfway, and returns the error of opening. */
static md_status give_up(md_output **output, md_status status)
{
  md_error_record first;
  md_error_save(&first, status);
  (*output)->broken = true;
  if (md_output_close(output) != MD_OK) (void)md_error_restore(&first);
  return md_error_restore(&first);
}

md_status md_output_open(md_comm *comm, md_output **output, const char *path, bool append)
{
  MD_TRY(open_plain(comm, output, path, append));
  md_output *o = *output;
  const md_status status = o->gzip && append && !o->empty && o->can_go_back ? adopt(o) : MD_OK;
  return status == MD_OK ? MD_OK : give_up(output, status);
}

md_status md_output_resume(md_comm *comm, md_output **output, const char *path, const md_gzip_state *state)
{
  if (state->length < 0) return md_output_open(comm, output, path, true);
  MD_TRY(open_plain(comm, output, path, true));
  if (!(*output)->gzip || (*output)->empty) return MD_OK;
  go_on_from(*output, state);
  /* The bytes there may be the beginning of text that overwrote the trailer. */
  (*output)->open_ended = true;
  return MD_OK;
}

bool md_output_empty(const md_output *output) { return output->empty; }

static md_status append_bytes(md_output *o, const void *bytes, size_t n)
{
  const md_status status = o->comm->files->append(o->comm, o->file, bytes, (int64_t)n);
  if (status != MD_OK) o->broken = true;
  return status;
}

/* Prepares a gzip file for more text: writes its header, or goes back to the place of the trailer. */
static md_status begin_more(md_output *o)
{
  if (o->tail > 0) MD_TRY(o->comm->files->back(o->comm, o->file, o->tail));
  o->tail = 0;
  o->open_ended = true;
  if (o->begun) return MD_OK;
  o->begun = true;
  return append_bytes(o, header, o->comm->rank == 0 ? HEADER : 0);
}

/* Adds this rank's part of the next write, with its length and checksum, to the state. *any: some rank writes
 * something. */
static md_status count_in(md_output *o, int64_t length, uint32_t crc, bool *any)
{
  int64_t total = length, before = length;
  if (o->comm->size > 1) {
    MD_TRY(o->comm->reduce->sum(o->comm, &total, 1));
    MD_TRY(o->comm->reduce->exclusive_sum(o->comm, &before));
  } else {
    before = 0;
  }
  *any = total > 0;
  if (!*any) return MD_OK;
  o->crc = crc_after(o->crc, 0, total) ^ crc_after(crc, 0, total - before - length);
  o->whole.length += total;
  return begin_more(o);
}

static md_status packed_status(const md_output_piece *piece, int n)
{
  for (int k = 0; k < n; ++k) MD_TRY(md_text_status(&piece[k].text));
  return MD_OK;
}

/* Writes the pieces: of a single rank one by one, of several ranks joined into one. */
static md_status append_pieces(md_output *o, const md_output_piece *piece, int n)
{
  if (o->comm->size == 1) {
    for (int k = 0; k < n; ++k) MD_TRY(append_bytes(o, piece[k].text.bytes, piece[k].text.n));
    return MD_OK;
  }
  md_text all = {0};
  for (int k = 0; k < n; ++k) md_text_add(&all, piece[k].text.bytes, piece[k].text.n);
  md_status status = md_comm_agree(o->comm, md_text_status(&all));
  if (status == MD_OK) status = append_bytes(o, all.bytes, all.n);
  md_text_free(&all);
  return status;
}

md_status md_output_write_packed(md_output *output, const md_output_piece *piece, int n)
{
  MD_TRY(md_comm_agree(output->comm, packed_status(piece, n)));
  int64_t length = 0;
  uint32_t crc = 0;
  for (int k = 0; k < n; ++k) {
    if (output->gzip) crc = crc_after(crc, piece[k].crc, piece[k].length);
    length += piece[k].length;
  }
  if (length > 0) output->empty = false;
  bool any = true;
  if (output->gzip) MD_TRY(count_in(output, length, crc, &any));
  return any ? append_pieces(output, piece, n) : MD_OK;
}

void md_output_pack(const md_output *output, md_output_piece *piece)
{
  md_text *text = &piece->text;
  piece->length = (int64_t)text->n;
  piece->crc = 0;
  if (!output->gzip || text->failed || text->n == 0) return;
  md_text packed = {0};
  piece->crc = crc_of(text->bytes, text->n);
  if (!pack_blocks(&packed, text->bytes, text->n)) packed.failed = true;
  free(text->bytes);
  *text = packed;
}

md_status md_output_write(md_output *output, const char *bytes, size_t n)
{
  md_output_piece piece = {.length = (int64_t)n};
  if (output->gzip && n > 0) {
    piece.crc = crc_of(bytes, n);
    if (!pack_blocks(&piece.text, bytes, n)) piece.text.failed = true;
    const md_status status = md_output_write_packed(output, &piece, 1);
    md_text_free(&piece.text);
    return status;
  }
  piece.text.bytes = (char *)(uintptr_t)bytes;
  piece.text.n = n;
  return md_output_write_packed(output, &piece, 1);
}

md_status md_output_write_once(md_output *output, md_text *text)
{
  MD_TRY(md_comm_agree(output->comm, md_text_status(text)));
  if (text->n > 0) output->empty = false;
  const md_status status = md_output_write(output, text->bytes, output->comm->rank == 0 ? text->n : 0);
  text->n = 0;
  return status;
}

/* Computes the xor of all ranks' checksums: the sum over ranks counts each bit, and its lowest bit is the xor. */
static md_status sum_crc(md_output *o)
{
  enum { BITS = 32 };
  int64_t bit[BITS];
  o->whole.crc = o->crc;
  if (o->comm->size == 1) return MD_OK;
  for (int k = 0; k < BITS; ++k) bit[k] = o->crc >> k & 1;
  MD_TRY(o->comm->reduce->sum(o->comm, bit, BITS));
  o->whole.crc = 0;
  for (int k = 0; k < BITS; ++k) o->whole.crc |= (uint32_t)(bit[k] & 1) << k;
  return MD_OK;
}

/* Writes an empty block that is marked as the last one, and the trailer. */
static md_status end_member(md_output *o)
{
  if (!o->gzip || !o->open_ended || o->broken) return MD_OK;
  if (o->tail > 0) MD_TRY(begin_more(o));
  MD_TRY(sum_crc(o));
  unsigned char end[TRAILER] = {3, 0};
  put_little_endian(end + 2, o->whole.crc);
  put_little_endian(end + 6, (uint32_t)o->whole.length);
  MD_TRY(append_bytes(o, end, o->comm->rank == 0 ? TRAILER : 0));
  o->tail = TRAILER;
  o->open_ended = false;
  return MD_OK;
}

md_status md_output_settle(md_output *output)
{
  if (output->can_go_back) MD_TRY(end_member(output));
  /* With several ranks nothing is buffered. */
  return output->comm->size == 1 ? output->comm->files->flush(output->comm, output->file) : MD_OK;
}

md_gzip_state md_output_state(const md_output *output)
{
  const md_gzip_state none = {.length = -1};
  return output->gzip && output->begun && !output->open_ended ? output->whole : none;
}

md_status md_output_flush(md_output *output)
{
  if (output->can_go_back) MD_TRY(end_member(output));
  return output->comm->files->flush(output->comm, output->file);
}

md_status md_output_close(md_output **output)
{
  md_output *o = *output;
  if (!o) return MD_OK;
  *output = NULL;
  md_error_record first;
  const md_status ended = end_member(o);
  md_error_save(&first, ended);
  const md_status closed = o->comm->files->close(o->comm, o->file);
  free_output(o);
  return ended != MD_OK ? md_error_restore(&first) : closed;
}

md_status md_output_end(md_output **output, md_status status)
{
  md_error_record first;
  md_error_save(&first, status);
  const md_status closed = md_output_close(output);
  return status != MD_OK ? md_error_restore(&first) : closed;
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
