/* Errors: every function that can fail returns an md_status, and the compiler warns if a caller ignores it
 * (MD_CHECKED).
 *
 * 1. The function that knows the cause of an error records a message with md_error, once.
 * 2. Its callers pass the status on (MD_TRY), or put a location in front of the message (md_error_prefix).
 * 3. src/main.c prints the message and exits. No function that it calls does so.
 *
 * The values of md_status are the exit statuses of the program. Each thread has one buffer for a message. Engines
 * raise errors outside of parallel regions.
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
  /* A particle left the engine's box through a face that follows the particles. src/run/run.c makes a larger box and
   * repeats the steps, so that the program never returns this status. */
  MD_OUTGROWN = 4,
  MD_STOPPED = 85 /* ended early by a signal or a limit, with a restart file: to be queued again */
} md_status;

/* MD_CHECKED: a caller must use the result. MD_PRINTF: the compiler checks the arguments as it does those of printf. */
#define MD_CHECKED __attribute__((warn_unused_result))
#define MD_PRINTF(format_at, args_at) __attribute__((format(printf, format_at, args_at)))

/* Records a message (printf format, without a newline at its end) and returns `status`. So a function fails with
 * `return md_error(MD_USAGE, "mass must be positive, not %g", m);`. A message longer than MD_ERROR_TEXT is cut off. */
md_status md_error(md_status status, const char *format, ...) MD_PRINTF(2, 3);

/* Compilers and analysers cannot look into a function of another file. This shows them that md_error returns the
 * status that it was given, so that they know that the results of a failed function are not used. */
static inline md_status md_error_returns(md_status recorded, md_status status)
{
  (void)recorded;
  return status;
}
#define md_error(status, ...) md_error_returns(md_error(status, __VA_ARGS__), (status))

/* md_error_about notes the ids of the particles that the recorded message is about, a <= b. md_error_particles gives
 * them, or INT64_MAX for both if the message is about no particle. Ranks use them to agree on the message about the
 * smallest ids. md_error forgets them. */
void md_error_about(int64_t a, int64_t b);
void md_error_particles(int64_t *a, int64_t *b);

/* Puts text in front of the recorded message ("in.melt:12: "). */
void md_error_prefix(const char *format, ...) MD_PRINTF(1, 2);

/* The recorded message of this thread; never NULL. Valid until the next md_error on this thread. */
const char *md_error_text(void);

/* A saved error. Cleaning up after an error may fail too and record another message, but the first message says the
 * cause. MD_ERROR_TEXT: bytes of a message, with its end. */
enum { MD_ERROR_TEXT = 4096 };
typedef struct md_error_record {
  md_status status;
  int64_t about[2];
  char text[MD_ERROR_TEXT];
} md_error_record;

/* Copies the recorded message and its particles to *record, as the message of `status`. */
void md_error_save(md_error_record *record, md_status status);

/* Makes a saved message the recorded one again, with its particles, and returns its status. */
md_status md_error_restore(const md_error_record *record);

/* Makes the call, and returns its status from the present function if it is an error. */
#define MD_TRY(call)                                                                                         \
  do {                                                                                                       \
    md_status md_try_status_ = (call);                                                                       \
    if (md_try_status_ != MD_OK) return md_try_status_;                                                      \
  } while (0)

/* Allocate an array of `count` elements of `element` bytes each; md_array_new_zero sets all bytes to zero. out:
 * address of the pointer that gets the array, unchanged after an error. The caller frees the array with free(). It
 * is aligned to 64 bytes, and from 4 MiB on to 2 MiB. count may be 0. MD_RUNTIME: out of memory; the message names
 * `what` and the size. */
md_status md_array_new(void *out, long long count, unsigned long element, const char *what) MD_CHECKED;
md_status md_array_new_zero(void *out, long long count, unsigned long element, const char *what) MD_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
