/* Errors: every function that can fail returns an md_status the compiler makes its caller look at.
 *
 * The message is written once, where the cause is known, by md_error(); callers only pass the status
 * on (MD_TRY) or put a location in front of it (md_error_prefix). Nobody below src/main.c prints or
 * exits. The status values are the program's exit statuses.
 *
 * The message lives in one buffer per thread; the engines raise errors outside parallel regions.
 */
#ifndef MD_COMMON_BASE_ERROR_H
#define MD_COMMON_BASE_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum md_status {
  MD_OK = 0,
  MD_RUNTIME = 1, /* files, memory, devices */
  MD_USAGE = 2,   /* the command line or the deck */
  MD_PHYSICS = 3, /* NaN, lost particle, overlap, a sum out of its exact range */
  MD_STOPPED = 85 /* ended before its time by a signal or a limit, with a restart: to be queued again */
} md_status;

#define MD_CHECKED __attribute__((warn_unused_result))
#define MD_PRINTF(format_at, args_at) __attribute__((format(printf, format_at, args_at)))

/* Records a message (printf format, no trailing newline) and returns `status`, so that a failing
 * function reads `return md_error(MD_USAGE, "mass must be positive, not %g", m);`. */
md_status md_error(md_status status, const char *format, ...) MD_PRINTF(2, 3);

/* Compilers and analysers cannot look into another file's function: this tells them that md_error returns what
 * it was given, and so that the results of a failed function are not used. */
static inline md_status md_error_returns(md_status recorded, md_status status)
{
  (void)recorded;
  return status;
}
#define md_error(status, ...) md_error_returns(md_error(status, __VA_ARGS__), (status))

/* The particles the recorded message is about, a <= b, so that ranks can agree on that of the smallest;
 * *a = *b = INT64_MAX if it is about none. md_error forgets them. */
void md_error_about(int64_t a, int64_t b);
void md_error_particles(int64_t *a, int64_t *b);

/* Puts text in front of the recorded message ("in.melt:12: "). */
void md_error_prefix(const char *format, ...) MD_PRINTF(1, 2);

/* The recorded message, never NULL; valid until the next md_error on this thread. */
const char *md_error_text(void);

/* An error that is kept while cleaning up, which may fail as well: the first message says why. */
enum { MD_ERROR_TEXT = 2048 };
typedef struct md_error_record {
  md_status status;
  int64_t about[2];
  char text[MD_ERROR_TEXT];
} md_error_record;

/* Copies the present message, as that of `status`. */
void md_error_save(md_error_record *record, md_status status);

/* Makes a saved message the present one, with the particles it is about, and returns its status. */
md_status md_error_restore(const md_error_record *record);

#define MD_TRY(call)                                                                                         \
  do {                                                                                                       \
    md_status md_try_status_ = (call);                                                                       \
    if (md_try_status_ != MD_OK) return md_try_status_;                                                      \
  } while (0)

/* malloc/calloc/realloc of count elements that fail with a message naming `what` and the size.
 * *out is untouched on failure. The caller frees with free(). Memory is 64-byte aligned for
 * md_array_new; md_array_new does not zero. */
md_status md_array_new(void *out, long long count, unsigned long element, const char *what) MD_CHECKED;
md_status md_array_new_zero(void *out, long long count, unsigned long element, const char *what) MD_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
