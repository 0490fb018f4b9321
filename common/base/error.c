/* The error message buffer and checked allocation; see error.h. */
#include "common/base/error.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static _Thread_local char text[MD_ERROR_TEXT];
static _Thread_local int64_t about[2] = {INT64_MAX, INT64_MAX};

md_status(md_error)(md_status status, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  md_error_about(INT64_MAX, INT64_MAX);
  return status;
}

void md_error_about(int64_t a, int64_t b)
{
  about[0] = a;
  about[1] = b;
}

void md_error_particles(int64_t *a, int64_t *b)
{
  *a = about[0];
  *b = about[1];
}

void md_error_prefix(const char *format, ...)
{
  char old[MD_ERROR_TEXT];
  memcpy(old, text, sizeof old);
  va_list args;
  va_start(args, format);
  const int used = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (used >= 0 && used < MD_ERROR_TEXT) snprintf(text + used, sizeof text - (size_t)used, "%s", old);
}

const char *md_error_text(void) { return text; }

void md_error_save(md_error_record *record, md_status status)
{
  record->status = status;
  memcpy(record->about, about, sizeof about);
  memcpy(record->text, text, sizeof text);
}

md_status md_error_restore(const md_error_record *record)
{
  memcpy(about, record->about, sizeof about);
  memcpy(text, record->text, sizeof text);
  return record->status;
}

static md_status array_new(void *out, long long count, unsigned long element, const char *what, int zero)
{
  const unsigned long large_page = 1UL << 21;
  if (count < 0 || (unsigned long long)count > (SIZE_MAX - large_page) / element)
    return md_error(MD_RUNTIME, "%s: %lld elements are more than memory can address", what, count);
  const unsigned long bytes = (unsigned long)count * element;
  const unsigned long alignment = bytes >= 2 * large_page ? large_page : 64;
  const unsigned long size = (bytes + alignment) / alignment * alignment;
  void *memory = aligned_alloc(alignment, size);
  if (!memory)
    return md_error(MD_RUNTIME,
                    "out of memory: %s needs %.3f GB for %lld elements; use fewer particles or more ranks",
                    what, (double)size * 1e-9, count);
#ifdef MADV_HUGEPAGE
  /* Asks for large pages: sorting writes to hundreds of places in turn, a pass reads a dozen arrays, and a processor
   * remembers too few addresses of small pages for that. An error is ignored, because a system without large pages
   * works too. The rest after the last whole large page stays in small pages. */
  if (alignment == large_page) (void)madvise(memory, bytes / large_page * large_page, MADV_HUGEPAGE);
#endif
  if (zero) memset(memory, 0, size);
  memcpy(out, &memory, sizeof memory);
  return MD_OK;
}

md_status md_array_new(void *out, long long count, unsigned long element, const char *what)
{
  return array_new(out, count, element, what, 0);
}

md_status md_array_new_zero(void *out, long long count, unsigned long element, const char *what)
{
  return array_new(out, count, element, what, 1);
}
