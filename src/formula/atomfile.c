/* Variables of style atomfile; see atomfile.h.
 *
 * A set is a line with a number N, and N lines `ID VALUE`; empty lines and what stands after # do not count. Values
 * are kept sorted by id, 16 bytes each, on every rank, and found by bisection. Reference: the LAMMPS manual, variable.
 */
#include "src/formula/atomfile.h"
#include "common/base/open_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024 };

typedef struct entry {
  int64_t id;
  double value;
} entry;

struct md_atomfile {
  FILE *file;
  char *path;
  int64_t line, n;
  entry *list; /* [n] by id */
};

static md_status wrong(const md_atomfile *f, const char *message)
{
  return md_error(MD_USAGE, "%.300s:%lld: %s", f->path, (long long)f->line, message);
}

/* Reads the next line that says something. *ended: there is none. */
static md_status read_line(md_atomfile *f, char text[LINE], bool *ended)
{
  *ended = false;
  while (fgets(text, LINE, f->file)) {
    ++f->line;
    if (!strchr(text, '\n') && !feof(f->file)) return wrong(f, "the line is too long");
    text[strcspn(text, "#\r\n")] = '\0';
    if (text[strspn(text, " \t")] != '\0') return MD_OK;
  }
  *ended = true;
  if (!ferror(f->file)) return MD_OK;
  return md_error(MD_RUNTIME, "cannot read %.300s: %s", f->path, strerror(errno));
}

static md_status read_entry(md_atomfile *f, entry *e)
{
  char text[LINE], *end, *last;
  bool ended;
  MD_TRY(read_line(f, text, &ended));
  if (ended) return wrong(f, "the file ends within a set");
  errno = 0;
  e->id = strtoll(text, &end, 10);
  e->value = strtod(end, &last);
  if (errno == ERANGE || end == text || last == end || last[strspn(last, " \t")] != '\0' || e->id < 1 ||
      !isfinite(e->value))
    return wrong(f, "a line of a set has a positive id and a value");
  return MD_OK;
}

static int by_id(const void *a, const void *b)
{
  const entry *p = a, *q = b;
  return (p->id > q->id) - (p->id < q->id);
}

md_status md_atomfile_next(md_atomfile *f, bool *ended)
{
  char text[LINE], *end;
  MD_TRY(read_line(f, text, ended));
  if (*ended) return MD_OK;
  const long long n = strtoll(text, &end, 10);
  if (end == text || end[strspn(end, " \t")] != '\0' || n < 0)
    return wrong(f, "a set begins with the number of its lines");
  free(f->list);
  f->list = NULL;
  f->n = 0;
  MD_TRY(md_array_new(&f->list, n, sizeof *f->list, "the values of a variable"));
  for (; f->n < n; ++f->n) MD_TRY(read_entry(f, &f->list[f->n]));
  if (n > 1) qsort(f->list, (size_t)n, sizeof *f->list, by_id);
  for (int64_t k = 1; k < n; ++k)
    if (f->list[k].id == f->list[k - 1].id) return wrong(f, "the set that ends here has an id twice");
  return MD_OK;
}

static md_status begin(md_atomfile *f, const char *path)
{
  bool ended;
  f->path = strdup(path);
  if (!f->path) return md_error(MD_RUNTIME, "out of memory for a variable");
  f->file = md_open_read(path);
  if (!f->file) return md_error(MD_RUNTIME, "cannot read %.300s: %s", path, md_open_reason(errno));
  MD_TRY(md_atomfile_next(f, &ended));
  return ended ? md_error(MD_USAGE, "there is no set of values in the file %.300s", path) : MD_OK;
}

md_status md_atomfile_open(md_atomfile **made, const char *path)
{
  *made = calloc(1, sizeof **made);
  if (!*made) return md_error(MD_RUNTIME, "out of memory for a variable");
  const md_status status = begin(*made, path);
  if (status == MD_OK) return MD_OK;
  md_atomfile_close(*made);
  *made = NULL;
  return status;
}

void md_atomfile_close(md_atomfile *f)
{
  if (!f) return;
  if (f->file) fclose(f->file);
  free(f->path);
  free(f->list);
  free(f);
}

double md_atomfile_value(const md_atomfile *f, int64_t id)
{
  const entry wanted = {.id = id};
  const entry *found = f->n > 0 ? bsearch(&wanted, f->list, (size_t)f->n, sizeof wanted, by_id) : NULL;
  return found ? found->value : 0.0;
}
