/* Physics errors found by engines, collected so that the same one is named whatever the order of finding:
 * the fault of the smallest ids.
 */
#ifndef MD_COMMON_FAULTS_H
#define MD_COMMON_FAULTS_H

#include "common/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Two particles so close that their impulse leaves the exact range. */
typedef struct md_overlap {
  int64_t a, b; /* a < b; INT64_MAX: none */
  double r2;
} md_overlap;

static inline md_overlap md_overlap_none(void)
{
  md_overlap o = {INT64_MAX, INT64_MAX, 0.0};
  return o;
}

static inline void md_overlap_add(md_overlap *o, int64_t i, int64_t j, double r2)
{
  const int64_t a = i < j ? i : j, b = i < j ? j : i;
  if (a < o->a || (a == o->a && b < o->b)) {
    o->a = a;
    o->b = b;
    o->r2 = r2;
  }
}

/* MD_PHYSICS naming the pair, or MD_OK if there is none. */
md_status md_overlap_status(const md_overlap *o, const md_model *model) MD_CHECKED;

/* A particle that moves too far in one step, is nowhere (NaN), or has left a box without walls. */
typedef struct md_runaway {
  int64_t id; /* INT64_MAX: none */
  int axis;
  double x, v; /* position, and velocity p/m_reference, along the axis */
  double velocity_per_v;
} md_runaway;

static inline md_runaway md_runaway_none(void)
{
  md_runaway f = {INT64_MAX, 0, 0.0, 0.0, 1.0};
  return f;
}

static inline void md_runaway_add(md_runaway *f, int64_t id, int axis, double x, double v,
                                  double velocity_per_v)
{
  if (id < f->id || (id == f->id && axis < f->axis)) {
    const md_runaway found = {id, axis, x, v, velocity_per_v};
    *f = found;
  }
}

md_status md_runaway_status(const md_runaway *f, const md_model *model) MD_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
