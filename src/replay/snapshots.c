/* Reading text dumps; see snapshots.h.
 *
 * A snapshot is a list of items, `ITEM: NAME` and the lines of it, and ends with ITEM: ATOMS and its rows (the LAMMPS
 * manual, dump). zlib reads gzip files and plain ones alike. Cost: one pass over the file; the rows of snapshots that
 * are left out are read too, because their length is not known. */
#include "src/replay/snapshots.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { LINE = 65536 };

struct md_snapshots {
  int npath, at; /* files, and the number of the next one to open */
  char **path;
  gzFile file;
  char *line;
  int64_t number; /* of the line that was read last */
  md_snapshot now;
  int64_t rows_left;
  int64_t first_number; /* number of the line before the first row ... */
  z_off_t first_row;    /* ... and where that row begins */
  char *titles;         /* the text that `column` points into */
  char **word;          /* [ncolumn] of a row */
};

md_status md_snapshots_wrong(const md_snapshots *s, const char *message)
{
  return md_error(MD_USAGE, "%.500s:%lld: %s", s->path[s->at - 1], (long long)s->number, message);
}

static md_status open_next(md_snapshots *s)
{
  if (s->file) gzclose(s->file);
  errno = 0;
  s->file = gzopen(s->path[s->at], "rb");
  if (!s->file)
    return md_error(MD_RUNTIME, "cannot open %.500s: %s", s->path[s->at],
                    errno ? strerror(errno) : "out of memory");
  ++s->at;
  s->number = 0;
  return MD_OK;
}

static void free_columns(md_snapshots *s)
{
  free(s->now.column);
  free(s->titles);
  free(s->word);
  s->now.column = s->word = NULL;
  s->titles = NULL;
}

md_status md_snapshots_check_files(int n, char *const *path)
{
  for (int k = 0; k < n; ++k)
    if (access(path[k], R_OK) != 0)
      return md_error(MD_RUNTIME, "cannot open %.500s: %s", path[k], strerror(errno));
  return MD_OK;
}

md_status md_snapshots_open(md_snapshots **snapshots, int n, char *const *path)
{
  md_snapshots *s = calloc(1, sizeof *s);
  *snapshots = s;
  if (!s) return md_error(MD_RUNTIME, "out of memory for a dump");
  MD_TRY(md_array_new(&s->line, LINE, 1, "a line of a dump"));
  MD_TRY(md_array_new_zero(&s->path, n, sizeof *s->path, "the names of dumps"));
  for (; s->npath < n; ++s->npath)
    if (!(s->path[s->npath] = strdup(path[s->npath])))
      return md_error(MD_RUNTIME, "out of memory for a dump");
  /* Not after hours, when the files before have been read. */
  MD_TRY(md_snapshots_check_files(n, path));
  return open_next(s);
}

void md_snapshots_close(md_snapshots *s)
{
  if (!s) return;
  if (s->file) gzclose(s->file);
  free_columns(s);
  for (int k = 0; k < s->npath; ++k) free(s->path[k]);
  free(s->path);
  free(s->line);
  free(s);
}

/* Reads a line without its end. *more = false: the file has ended. */
static md_status read_line(md_snapshots *s, bool *more)
{
  int reason;
  *more = gzgets(s->file, s->line, LINE) != NULL;
  if (!*more) {
    const char *text = gzerror(s->file, &reason);
    if (gzeof(s->file) && (reason == Z_OK || reason == Z_STREAM_END)) return MD_OK;
    return md_error(MD_RUNTIME, "cannot read %.500s: %s", s->path[s->at - 1],
                    reason == Z_ERRNO ? strerror(errno) : text);
  }
  ++s->number;
  const size_t n = strlen(s->line);
  if (n + 1 == LINE && s->line[n - 1] != '\n') return md_snapshots_wrong(s, "the line is too long");
  /* A number that is cut off is another number. */
  if (n > 0 && s->line[n - 1] != '\n')
    return md_snapshots_wrong(s, "the file ends within a line: it is cut off, or its last line needs an end");
  s->line[strcspn(s->line, "\r\n")] = '\0';
  return MD_OK;
}

/* Reads a line that must be there. */
static md_status need_line(md_snapshots *s)
{
  bool more;
  MD_TRY(read_line(s, &more));
  return more ? MD_OK : md_snapshots_wrong(s, "the file ends within a snapshot");
}

static md_status read_whole(md_snapshots *s, const char *what, int64_t *value)
{
  char *end;
  MD_TRY(need_line(s));
  errno = 0;
  *value = strtoll(s->line, &end, 10);
  if (end != s->line && errno == 0 && *value >= 0 && end[strspn(end, " \t")] == '\0') return MD_OK;
  return md_error(MD_USAGE, "%.500s:%lld: '%.80s' is no %s", s->path[s->at - 1], (long long)s->number,
                  s->line, what);
}

static md_status read_box(md_snapshots *s)
{
  if (strstr(s->line, " xy "))
    return md_snapshots_wrong(s, "the box is tilted, which read_dump and rerun do not take");
  for (int d = 0; d < 3; ++d) {
    char *end;
    MD_TRY(need_line(s));
    s->now.lo[d] = strtod(s->line, &end);
    const char *second = end;
    s->now.hi[d] = strtod(second, &end);
    if (second == s->line || end == second || end[strspn(end, " \t")] != '\0' ||
        !(s->now.lo[d] <= s->now.hi[d]))
      return md_snapshots_wrong(s, "a line of BOX BOUNDS has the two ends of the box");
  }
  return MD_OK;
}

/* Takes the names of columns after `ITEM: ATOMS`, which end the header. */
static md_status read_columns(md_snapshots *s)
{
  free_columns(s);
  s->titles = strdup(s->line + strlen("ITEM: ATOMS"));
  if (!s->titles) return md_error(MD_RUNTIME, "out of memory for a dump");
  const int most = (int)strlen(s->titles) / 2 + 1;
  MD_TRY(md_array_new(&s->now.column, most, sizeof *s->now.column, "the columns of a dump"));
  MD_TRY(md_array_new(&s->word, most, sizeof *s->word, "the columns of a dump"));
  s->now.ncolumn = 0;
  char *rest = s->titles;
  for (char *word; (word = strtok_r(rest, " \t", &rest));) s->now.column[s->now.ncolumn++] = word;
  if (s->now.ncolumn == 0) return md_snapshots_wrong(s, "ITEM: ATOMS names no columns");
  s->rows_left = s->now.n;
  s->first_row = gztell(s->file);
  s->first_number = s->number;
  return MD_OK;
}

/* Reads the items up to the rows; the first line is there. */
static md_status read_header(md_snapshots *s)
{
  bool has_step = false, has_number = false, has_box = false;
  for (;;) {
    if (strcmp(s->line, "ITEM: UNITS") == 0 || strcmp(s->line, "ITEM: TIME") == 0) {
      MD_TRY(need_line(s));
    } else if (strcmp(s->line, "ITEM: TIMESTEP") == 0) {
      MD_TRY(read_whole(s, "step", &s->now.step));
      has_step = true;
    } else if (strcmp(s->line, "ITEM: NUMBER OF ATOMS") == 0) {
      MD_TRY(read_whole(s, "number of atoms", &s->now.n));
      has_number = true;
    } else if (strncmp(s->line, "ITEM: BOX BOUNDS", strlen("ITEM: BOX BOUNDS")) == 0) {
      MD_TRY(read_box(s));
      has_box = true;
    } else if (strncmp(s->line, "ITEM: ATOMS", strlen("ITEM: ATOMS")) == 0) {
      if (!has_step || !has_number || !has_box)
        return md_snapshots_wrong(s, "TIMESTEP, NUMBER OF ATOMS and BOX BOUNDS must come before ITEM: ATOMS");
      return read_columns(s);
    } else {
      return md_snapshots_wrong(s, "this is no item of a text dump of style custom or atom");
    }
    MD_TRY(need_line(s));
  }
}

md_status md_snapshots_next(md_snapshots *s, const md_snapshot **snapshot)
{
  bool more;
  *snapshot = NULL;
  while (s->rows_left > 0) {
    MD_TRY(need_line(s));
    --s->rows_left;
  }
  MD_TRY(read_line(s, &more));
  while (!more && s->at < s->npath) {
    MD_TRY(open_next(s));
    MD_TRY(read_line(s, &more));
  }
  if (!more) return MD_OK;
  MD_TRY(read_header(s));
  *snapshot = &s->now;
  return MD_OK;
}

md_status md_snapshots_row(md_snapshots *s, char ***word)
{
  int n = 0;
  MD_TRY(need_line(s));
  --s->rows_left;
  char *rest = s->line;
  for (char *next; (next = strtok_r(rest, " \t", &rest)); ++n)
    if (n < s->now.ncolumn) s->word[n] = next;
  *word = s->word;
  return n == s->now.ncolumn
             ? MD_OK
             : md_snapshots_wrong(s, "the number of words in the row is not that of the columns");
}

md_status md_snapshots_end(md_snapshots *s)
{
  bool more;
  if (s->rows_left > 0) return MD_OK; /* --resume reads no rows */
  MD_TRY(read_line(s, &more));
  if (!more || s->line[0] == '\0' || strncmp(s->line, "ITEM:", strlen("ITEM:")) == 0) return MD_OK;
  return md_snapshots_wrong(s, "there are more rows than NUMBER OF ATOMS says");
}

md_status md_snapshots_rewind(md_snapshots *s)
{
  if (gzseek(s->file, s->first_row, SEEK_SET) < 0)
    return md_error(MD_RUNTIME, "cannot read %.500s again", s->path[s->at - 1]);
  s->rows_left = s->now.n;
  s->number = s->first_number;
  return MD_OK;
}
