/* Steps that recur: the next multiple of an interval, without overflow. */
#ifndef MD_SRC_STEPS_H
#define MD_SRC_STEPS_H

#include <stdint.h>

/* The first multiple of `every` > 0 that is at least `step` >= 0. INT64_MAX: there is no such multiple. */
static inline int64_t md_step_multiple(int64_t step, int64_t every)
{
  const int64_t over = step % every;
  if (over == 0) return step;
  return step > INT64_MAX - (every - over) ? INT64_MAX : step + (every - over);
}

/* The same, except that the multiple `last` is skipped. `last` is such a multiple, or negative to skip none. */
static inline int64_t md_step_multiple_but(int64_t step, int64_t every, int64_t last)
{
  const int64_t next = md_step_multiple(step, every);
  if (next != last) return next;
  return next > INT64_MAX - every ? INT64_MAX : next + every;
}

/* The same for a run that goes back: the last multiple of `every` that is at most `step`, and not `last`; negative:
 * there is none. */
static inline int64_t md_step_multiple_back(int64_t step, int64_t every, int64_t last)
{
  const int64_t next = step < 0 ? -1 : step - step % every;
  return next == last && next >= 0 ? next - every : next;
}

#endif
