/* Names of files, and a search for lines; see printed_files.h. */
#include "src/files/printed_files.h"
#include "common/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

bool md_printed_has(md_printed_file *file, const char *text)
{
  FILE *in = file->from >= 0 ? fopen(file->name, "rb") : NULL;
  off_t at = (off_t)file->from;
  file->from = -1;
  if (!in) return false;
  for (bool more = fseeko(in, at, SEEK_SET) == 0; more && file->from < 0; at = ftello(in)) {
    if (matches(in, text))
      file->from = (int64_t)ftello(in);
    else
      more = fseeko(in, at, SEEK_SET) == 0 && skip_line(in);
  }
  fclose(in);
  return file->from >= 0;
}
