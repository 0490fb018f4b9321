/* Files of potentials in memory; see text_file.h. */
#include "src/potential/text_file.h"
#include "common/base/memory.h"
#include "common/base/open_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

md_status md_text_file_wrong(const md_text_file *f, const char *what)
{
  return md_error(MD_USAGE, "%.500s:%d: %s", f->path, f->line, what);
}

static md_status read_all(FILE *file, md_text_file *f)
{
  long size;
  if (fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0)
    return md_error(MD_RUNTIME, "cannot read %.500s", f->path);
  MD_TRY(md_array_new(&f->text, (long long)size + 1, 1, "a file of a potential"));
  const size_t n = fread(f->text, 1, (size_t)size, file);
  f->text[n] = '\0';
  f->at = f->text;
  f->line = 1;
  return n == (size_t)size ? MD_OK : md_error(MD_RUNTIME, "cannot read %.500s", f->path);
}

md_status md_text_file_open(md_sim *sim, const char *path, md_text_file *f)
{
  const char *folder = getenv("LAMMPS_POTENTIALS");
  char other[1024];
  *f = (md_text_file){.path = path};
  MD_TRY(md_sim_use_file(sim, MD_FILE_POTENTIAL, NULL, path));
  FILE *file = md_open_read(path);
  const int reason = errno;
  if (!file && folder && snprintf(other, sizeof other, "%s/%s", folder, path) < (int)sizeof other)
    file = md_open_read(other);
  if (!file) return md_error(MD_USAGE, "cannot read the potential %.500s: %s", path, md_open_reason(reason));
  const md_status status = read_all(file, f);
  (void)fclose(file);
  return status;
}

char *md_text_file_line(md_text_file *f)
{
  char *line = f->at, *end = strchr(line, '\n');
  f->at = end ? end + 1 : line + strlen(line);
  if (end) *end = '\0';
  ++f->line;
  return line;
}

md_status md_text_file_number(md_text_file *f, double *value)
{
  while (isspace((unsigned char)*f->at)) f->line += *f->at++ == '\n';
  char *end;
  *value = strtod(f->at, &end);
  if (!*f->at) return md_text_file_wrong(f, "the file ends before all tables are there");
  if (end == f->at || (*end && !isspace((unsigned char)*end)) || !isfinite(*value))
    return md_text_file_wrong(f, "a finite number is expected here");
  f->at = end;
  return MD_OK;
}

md_status md_text_file_numbers(md_text_file *f, double *value, int64_t n)
{
  for (int64_t k = 0; k < n; ++k) MD_TRY(md_text_file_number(f, &value[k]));
  return MD_OK;
}

md_status md_text_file_table(md_text_file *f, double *value, int64_t n)
{
  MD_TRY(md_text_file_numbers(f, value, n));
  f->at += strspn(f->at, " \t\r\v\f");
  if (*f->at && *f->at != '\n')
    return md_text_file_wrong(
        f, "a table ends within this line: a number before it is missing, or there is one too many");
  return MD_OK;
}

md_status md_text_file_end(md_text_file *f)
{
  char *end;
  while (isspace((unsigned char)*f->at)) f->line += *f->at++ == '\n';
  (void)strtod(f->at, &end);
  return end == f->at ? MD_OK : md_text_file_wrong(f, "there are more numbers than the tables have");
}
