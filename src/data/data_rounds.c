/* Sections of a data file whose lines are divided among the ranks, in rounds:
 *
 * 1. Each rank reads a part of the section's text, a few megabytes, after the parts of lower ranks. The lines that
 *    begin in the part belong to the rank.
 * 2. The ranks count their lines. Then each rank knows the numbers of its lines in the section and in the file.
 * 3. Each rank parses its lines, and sends each of them to the rank that a hash of the particle's id names.
 * 4. That rank keeps what the line says.
 *
 * Advantage: no text is read twice, no rank holds more than its share, and of all errors of a round the one on the
 * first line is reported, the same as with one rank. One rank uses the same code.
 */
#include "common/base/memory.h"
#include "common/ranks/exchange.h"
#include "common/ranks/outbox.h"
#include "common/ranks/reductions.h"
#include "src/data/data_reader.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a section's text, for one rank in one round. */
enum { PART_MAX = 1 << 22 };

/* The part of a section's text that one rank reads in one round. */
typedef struct part {
  char *bytes;
  int64_t offset;       /* place of bytes[0] in the file */
  int64_t n;            /* number of bytes that were read */
  int64_t begin, end;   /* range of bytes where its lines begin; the first begins at `begin` */
  int64_t lines, texts; /* number of lines, and of lines that are not empty */
  bool zeros;           /* the bytes contain a zero */
} part;

/* The place of all ranks in a section. */
typedef struct place {
  int64_t first;     /* place of the section's text in the file */
  int64_t offset;    /* place of this round's first part */
  int64_t part_size; /* bytes */
  int64_t line;      /* number of lines of the file before this round */
  int64_t k;         /* number of lines of the section before this round, without empty ones */
  int64_t after[2];  /* end of the section's last line, and that line's number; 0 on ranks without it */
} place;

/* The number of lines of a section. */
static int64_t lines_of(const reader *r, const section_kind *s)
{
  return s->of_bonds ? r->header.nbonds : r->header.natoms;
}

/* Reads the bytes of a part. It also reads the byte before it, which tells whether a line begins at the part, and
 * the bytes up to the end of the last line. */
static md_status load_part(reader *r, const place *at, part *p)
{
  const int64_t own = at->offset + r->sim->comm->rank * at->part_size;
  const int64_t before = own > at->first;
  p->offset = own - before;
  p->n = 0;
  p->end = before + at->part_size;
  if (p->offset < r->size) {
    if (fseeko(r->file, (off_t)p->offset, SEEK_SET) != 0) return md_data_cannot_read(r);
    p->n = (int64_t)fread(p->bytes, 1, (size_t)(p->end + LINE_SIZE), r->file);
    if (ferror(r->file)) return md_data_cannot_read(r);
  }
  const char *newline = before && p->n > 0 ? memchr(p->bytes, '\n', (size_t)p->n) : NULL;
  p->begin = !before ? 0 : newline ? newline - p->bytes + 1 : p->n;
  p->zeros = p->n > 0 && memchr(p->bytes, '\0', (size_t)p->n);
  return MD_OK;
}

/* The end of the line that begins at `at`: the place of its newline, or the end of the bytes. */
static int64_t line_end(const part *p, int64_t at)
{
  const char *newline = memchr(p->bytes + at, '\n', (size_t)(p->n - at));
  return newline ? newline - p->bytes : p->n;
}

/* Whether a line is not empty. A damaged line counts as not empty, so that it is parsed and reported. */
static bool is_text(const part *p, int64_t at, int64_t end)
{
  if (end - at >= LINE_SIZE || (p->zeros && memchr(p->bytes + at, '\0', (size_t)(end - at)))) return true;
  while (at < end && isspace((unsigned char)p->bytes[at])) ++at;
  return at < end && p->bytes[at] != '#';
}

static void count_lines(part *p)
{
  p->lines = p->texts = 0;
  for (int64_t at = p->begin; at < p->end && at < p->n;) {
    const int64_t end = line_end(p, at);
    ++p->lines;
    p->texts += is_text(p, at, end);
    at = end + 1;
  }
}

/* Takes the line from `at` to `end` with the checks of read_text, and splits it. */
static md_status take_line(reader *r, part *p, int64_t at, int64_t end)
{
  if (p->zeros && memchr(p->bytes + at, '\0', (size_t)md_data_smaller(end - at, LINE_SIZE)))
    return md_data_zero_byte(r);
  if (end - at >= LINE_SIZE) return md_data_too_long(r);
  p->bytes[end] = '\0';
  r->text = p->bytes + at;
  r->end = false;
  md_data_split(r);
  return MD_OK;
}

/* Parses the lines of a part into records. Its first line is line `line` of the file, and line k of the section. */
static md_status parse_part(reader *r, const section_kind *s, part *p, int64_t line, place *where, int64_t k,
                            record *records, int64_t *n)
{
  const int64_t lines = lines_of(r, s);
  *n = 0;
  for (int64_t at = p->begin; k < lines && at < p->end && at < p->n; ++line) {
    const int64_t end = line_end(p, at), next = end + 1;
    if (is_text(p, at, end)) {
      r->line = line;
      MD_TRY(take_line(r, p, at, end));
      MD_TRY(md_data_check_line(r, s->name, k, lines, s->few, s->many, s->columns));
      records[*n].line = line;
      MD_TRY(s->parse(r, &records[*n]));
      ++*n;
      if (s->of_bonds) {
        records[*n] = records[*n - 1];
        records[*n].id = records[*n - 1].partner;
        records[*n].partner = records[*n - 1].id;
        ++*n;
      }
      if (++k == lines) {
        where->after[0] = p->offset + md_data_smaller(next, p->n);
        where->after[1] = line;
      }
    }
    at = next;
  }
  return MD_OK;
}

static int compare_lines(const void *a, const void *b)
{
  const record *left = a, *right = b;
  return (left->line > right->line) - (left->line < right->line);
}

/* Keeps records in the order of their lines, so that the second of two equal ids is reported. */
static md_status keep_all(reader *r, const section_kind *s, record *records, int64_t n)
{
  bool sorted = true;
  for (int64_t k = 1; k < n; ++k) sorted = sorted && records[k - 1].line < records[k].line;
  if (!sorted) qsort(records, (size_t)n, sizeof *records, compare_lines);
  for (int64_t k = 0; k < n; ++k) {
    r->line = records[k].line;
    MD_TRY(s->keep(r, &records[k]));
  }
  return MD_OK;
}

/* Sends records to the homes of their ids, which keep them. The same status on every rank. */
static md_status hand_out(reader *r, const section_kind *s, const record *records, int64_t n)
{
  md_comm *comm = r->sim->comm;
  int32_t *to = NULL;
  void *received = NULL;
  int64_t count;
  MD_TRY(md_comm_agree(comm, md_array_new(&to, n, sizeof *to, "lines of a data file")));
  for (int64_t k = 0; k < n; ++k) to[k] = md_home_of(comm, records[k].id);
  md_status status =
      comm->exchange->sparse_exchange(comm, n, to, records, sizeof *records, &received, &count);
  free(to);
  /* No agreement after a failed exchange, because other ranks may still be in the exchange. */
  if (status == MD_OK) status = md_comm_agree(comm, keep_all(r, s, received, count));
  free(received);
  return status;
}

/* Parses a part and sends its records to their ranks. The first line that cannot be parsed is an error. An earlier
 * line may have an error that only its keeper finds, and then that error is reported. */
static md_status parse_and_keep(reader *r, const section_kind *s, part *p, int64_t line, place *where,
                                int64_t k)
{
  md_comm *comm = r->sim->comm;
  record *records = NULL;
  int64_t n, kept_at, other;
  MD_TRY(md_comm_agree(comm, md_array_new(&records, (s->of_bonds ? 2 : 1) * p->texts, sizeof *records,
                                          "lines of a data file")));
  const md_status parsed = md_comm_agree(comm, parse_part(r, s, p, line, where, k, records, &n));
  md_error_record first;
  md_error_save(&first, parsed);
  md_status status = hand_out(r, s, records, n);
  free(records);
  if (parsed != MD_OK) {
    md_error_particles(&kept_at, &other);
    if (status == MD_OK || kept_at > first.about[0]) status = md_error_restore(&first);
  }
  return status;
}

static md_status read_round(reader *r, const section_kind *s, part *p, place *where)
{
  md_comm *comm = r->sim->comm;
  MD_TRY(md_comm_agree(comm, load_part(r, where, p)));
  count_lines(p);
  int64_t lines_before = p->lines, texts_before = p->texts, total[2] = {p->lines, p->texts};
  MD_TRY(comm->reduce->exclusive_sum(comm, &lines_before));
  MD_TRY(comm->reduce->exclusive_sum(comm, &texts_before));
  MD_TRY(comm->reduce->sum(comm, total, 2));
  MD_TRY(parse_and_keep(r, s, p, where->line + lines_before + 1, where, where->k + texts_before));
  where->line += total[0];
  where->k += total[1];
  where->offset += comm->size * where->part_size;
  return MD_OK;
}

/* Continues after the last line of the section. */
static md_status resume(reader *r, place *where)
{
  md_comm *comm = r->sim->comm;
  MD_TRY(comm->reduce->sum(comm, where->after, 2));
  r->line = where->after[1];
  return md_comm_agree(comm, fseeko(r->file, (off_t)where->after[0], SEEK_SET) == 0 ? MD_OK
                                                                                    : md_data_cannot_read(r));
}

static md_status read_rounds(reader *r, const section_kind *s, part *p, place *where)
{
  const int64_t lines = lines_of(r, s);
  while (where->k < lines && where->offset < r->size) MD_TRY(read_round(r, s, p, where));
  if (where->k >= lines) return resume(r, where);
  r->line = where->line + 1;
  r->end = true;
  return md_data_check_line(r, s->name, where->k, lines, s->few, s->many, s->columns);
}

/* Reads the lines of a section. The same status on every rank. */
md_status md_data_read_lines(reader *r, const section_kind *s)
{
  md_comm *comm = r->sim->comm;
  if (lines_of(r, s) == 0) return MD_OK;
  double size = (double)r->size;
  MD_TRY(comm->reduce->max(comm, &size, 1));
  r->size = (int64_t)size;
  place where = {.first = (int64_t)ftello(r->file), .line = r->line};
  where.offset = where.first;
  /* At least two rounds, so that all ranks have lines. */
  where.part_size = md_data_smaller(PART_MAX, (r->size - where.first) / (2 * (int64_t)comm->size) + 1);
  part p = {0};
  MD_TRY(md_comm_agree(comm,
                       md_array_new(&p.bytes, where.part_size + LINE_SIZE + 2, 1, "a part of a data file")));
  const md_status status = read_rounds(r, s, &p, &where);
  free(p.bytes);
  return status;
}
