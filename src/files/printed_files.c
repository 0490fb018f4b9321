/* Names of files, and a search for lines; see printed_files.h. */
#include "src/files/printed_files.h"
#include "common/base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_compressed(const char *name)
{
  const size_t n = strlen(name);
  return n > 3 && strcmp(name + n - 3, ".gz") == 0;
}

md_status md_printed_note(md_printed *printed, const char *name, md_printed_file **file)
{
  *file = NULL;
  if (strlen(name) >= MD_PRINTED_NAME || is_compressed(name)) return MD_OK;
  for (int k = 0; k < printed->n; ++k)
    if (strcmp(printed->file[k].name, name) == 0) *file = &printed->file[k];
  if (*file) return MD_OK;
  md_printed_file *more = realloc(printed->file, (size_t)(printed->n + 1) * sizeof *more);
  if (!more) return md_error(MD_RUNTIME, "out of memory for the names of files");
  printed->file = more;
  *file = &more[printed->n++];
  **file = (md_printed_file){.from = -1};
  snprintf((*file)->name, sizeof(*file)->name, "%s", name);
  return MD_OK;
}

void md_printed_free(md_printed *printed)
{
  free(printed->file);
  *printed = (md_printed){0};
}

int64_t md_printed_end(const md_printed_file *file)
{
  struct stat about;
  if (file->from >= 0) return file->from;
  return stat(file->name, &about) == 0 && S_ISREG(about.st_mode) ? (int64_t)about.st_size : -1;
}

/* Whether the next n bytes of the file are the text, and then the end of a line. */
static bool matches(FILE *in, const char *text)
{
  for (; *text; ++text)
    if (getc(in) != (unsigned char)*text) return false;
  return getc(in) == '\n';
}

/* Goes past the end of the present line. False: the file ends. */
static bool skip_line(FILE *in)
{
  int c;
  do c = getc(in);
  while (c != '\n' && c != EOF);
  return c != EOF;
}

/* Is the rest of the file a beginning of the text, of at least one letter? */
static bool is_torn(FILE *in, const char *text)
{
  int c = getc(in);
  if (c == EOF) return false;
  for (; c != EOF; c = getc(in), ++text)
    if (*text == '\0' || c != (unsigned char)*text) return false;
  return true;
}

/* Looks for the text from line to line. *torn: where a beginning of it ends the file; -1: it does not. */
static void search(md_printed_file *file, FILE *in, const char *text, off_t *torn)
{
  off_t at = (off_t)file->from;
  file->from = -1;
  *torn = -1;
  for (bool more = fseeko(in, at, SEEK_SET) == 0; more; at = ftello(in)) {
    if (matches(in, text)) {
      file->from = (int64_t)ftello(in);
      return;
    }
    if (fseeko(in, at, SEEK_SET) == 0 && is_torn(in, text)) *torn = at;
    more = fseeko(in, at, SEEK_SET) == 0 && skip_line(in);
  }
}

md_status md_printed_find(md_printed_file *file, const char *text, bool *found)
{
  FILE *in = file->from >= 0 ? fopen(file->name, "rb") : NULL;
  off_t torn = -1;
  *found = false;
  if (in) {
    search(file, in, text, &torn);
    fclose(in);
  }
  *found = in && file->from >= 0;
  if (!in) file->from = -1;
  if (torn < 0 || truncate(file->name, torn) == 0) return MD_OK;
  return md_error(MD_RUNTIME, "cannot cut %.500s: %s", file->name, strerror(errno));
}
