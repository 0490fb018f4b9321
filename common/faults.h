/* Faults: the two physics errors that an engine finds while it computes forces or moves particles.
 *
 * overlap:  a pair so near that its impulse is out of range; a bond that is too long, or whose impulse is out of range;
 *           or a fix whose force on a particle is out of range, as behind a wall.
 * runaway:  a particle that moves too far in a step, or has left the box.
 *
 * A step may have many faults, and threads find them in any order. Each `_add` function keeps the fault of the smallest
 * ids, so that the message does not depend on threads, ranks or engine. The `_status` function makes the message.
 */
#ifndef MD_COMMON_FAULTS_H
#define MD_COMMON_FAULTS_H

#include "common/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An overlap: two particles so near that their impulse leaves the exact range, or a fix and a particle. */
typedef struct md_overlap {
  int64_t a, b; /* ids, a < b; INT64_MAX: there is no overlap. a < 0: md_overlap_of_fix */
  double r2;    /* squared distance, softened without a cutoff (common/pair/pair.h), or MD_OVERLAP_OF_BOND */
} md_overlap;

/* Stands for the squared distance of a pair of particles whose bond is the error. */
#define MD_OVERLAP_OF_BOND (-1.0)

static inline md_overlap md_overlap_none(void)
{
  md_overlap o = {INT64_MAX, INT64_MAX, 0.0};
  return o;
}

/* Stands for an id in an overlap of a fix and a particle. fix: index in model->fix. */
static inline int64_t md_overlap_of_fix(int fix) { return -1 - (int64_t)fix; }

/* Notes the overlap of the particles with ids i and j, in any order, unless *o has smaller ids. */
static inline void md_overlap_add(md_overlap *o, int64_t i, int64_t j, double r2)
{
  const int64_t a = i < j ? i : j, b = i < j ? j : i;
  if (a < o->a || (a == o->a && b < o->b)) {
    o->a = a;
    o->b = b;
    o->r2 = r2;
  }
}

/* MD_OK if *o is no overlap. MD_PHYSICS otherwise: the message names the pair, and md_error_particles gives its ids. */
md_status md_overlap_status(const md_overlap *o, const md_model *model) MD_CHECKED;

/* A runaway: a particle that moves too far in one step, has a position or velocity that is not finite, or has left the
 * box through a face that is neither periodic nor a wall. */
typedef struct md_runaway {
  int64_t id; /* INT64_MAX: there is no runaway */
  int axis;
  double x, v;           /* position, and p/m_reference (model.h), along the axis */
  double velocity_per_v; /* the velocity is v times this */
} md_runaway;

static inline md_runaway md_runaway_none(void)
{
  md_runaway f = {INT64_MAX, 0, 0.0, 0.0, 1.0};
  return f;
}

/* Notes a runaway, unless *f has a smaller id, or the same id and a smaller axis. */
static inline void md_runaway_add(md_runaway *f, int64_t id, int axis, double x, double v,
                                  double velocity_per_v)
{
  if (id < f->id || (id == f->id && axis < f->axis)) {
    const md_runaway found = {id, axis, x, v, velocity_per_v};
    *f = found;
  }
}

/* MD_OK if *f is no runaway. MD_PHYSICS otherwise: the message names the particle and says what to do, and
 * md_error_particles gives its id. */
md_status md_runaway_status(const md_runaway *f, const md_model *model) MD_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
