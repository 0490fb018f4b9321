/* Followed particles: where each was first, and its way since then through periodic faces. C and CUDA.
 *
 *      moved = last - first + the edges of the box that it went through
 *
 * A record has two places of a particle, or two velocities: those of the first look and those of the last one. A look
 * compares a place with that of the look before: a change by more than half of a periodic side is a way through a face.
 * After a flip of a sheared box the same way is a sum of other edges.
 * Differences and edges are exact on the position grid, so that every engine has the same records. The sums below are
 * those of compute msd, vacf, com and gyration. Cost: 64 bytes a particle.
 */
#ifndef MD_COMMON_SUMS_FOLLOW_H
#define MD_COMMON_SUMS_FOLLOW_H

#include "common/box.h"
#include "common/sums/each_formulas.h"
#include "common/tensor.h"

typedef struct md_follow_record {
  double first[3], last[3]; /* places in the box, or velocities */
  int32_t through[3];       /* times that it left through the upper face, less those through the lower one */
  int32_t type;             /* 1 and on */
} md_follow_record;

/* What is looked at, and the present box. */
typedef struct md_follow {
  bool velocities; /* records are of velocities */
  uint32_t group;  /* bit of the group that is followed */
  int dim;
  bool periodic[3];
  double length[3], tilt[3];
  int32_t flips[3]; /* since the last look: md_box_flips */
} md_follow;

/* The records of the followed particles of this rank, in the order of ids, which belong to the host. While an engine
 * has them, those of the host are old ones; it brings them back when it is destroyed. */
typedef struct md_follow_set {
  int64_t n;
  int64_t *id;
  md_follow_record *at;
  int64_t *last_look; /* number of the last look at each particle */
  int64_t looks;      /* looks so far; an engine counts its own too */
  bool lost;          /* an engine could not bring them back */
} md_follow_set;

/* How fast particles are: the largest component of a velocity, and the largest change of a coordinate since the look
 * before. */
typedef struct md_follow_pace {
  double speed, moved;
} md_follow_pace;

/* What is wrong with a particle of a look: it is not in the set or has missed looks, or went too far. */
typedef enum md_follow_wrong { MD_FOLLOW_GOOD, MD_FOLLOW_NEW, MD_FOLLOW_FAR } md_follow_wrong;
typedef struct md_follow_fault {
  md_follow_wrong kind;
  int64_t id;
  int axis;
} md_follow_fault;

/* The sums of records. */
typedef enum md_follow_kind {
  MD_FOLLOW_MOMENTS,  /* particles, mass, and mass times displacement */
  MD_FOLLOW_SQUARES,  /* of the displacement less `shift`, along each axis; and their sum */
  MD_FOLLOW_PRODUCTS, /* of both velocities, along each axis; and their sum */
  MD_FOLLOW_PLACES,   /* mass, and mass times place */
  MD_FOLLOW_TENSOR    /* mass times the tensor of the place less `shift` */
} md_follow_kind;
enum { MD_FOLLOW_TERMS = 6 };

typedef struct md_follow_sum {
  md_follow_kind kind;
  double shift[3];
} md_follow_sum;

/* The number of terms of a kind of sums. */
MD_FN int md_follow_terms(md_follow_kind kind)
{
  return kind == MD_FOLLOW_MOMENTS ? 5 : kind == MD_FOLLOW_TENSOR ? MD_TENSOR : 4;
}

/* A look at a particle at x, in the box. Widens *moved to the largest change of a coordinate since the last look.
 * Returns the axis along which it went farther than a quarter of the side, so that a way through a face may be lost; or
 * -1. */
MD_FN int md_follow_look(const md_follow *f, md_follow_record *r, const double x[3], double *moved)
{
  double step[3] = {0.0, 0.0, 0.0};
  int lost = -1;
  r->through[0] += f->flips[MD_XY] * r->through[1] + f->flips[MD_XZ] * r->through[2];
  r->through[1] += f->flips[MD_YZ] * r->through[2];
  /* Bounds that a compiler knows keep the record in registers. */
  for (int d = 0; d < 3; ++d) {
    if (d >= f->dim) continue;
    step[d] = x[d] - r->last[d];
    r->last[d] = x[d];
  }
  for (int d = 2; d >= 0; --d) {
    if (d >= f->dim || !f->periodic[d]) continue;
    for (; step[d] + step[d] > f->length[d]; --r->through[d])
      md_lattice_shift(f->length, f->tilt, d, -1.0, step);
    for (; step[d] + step[d] < -f->length[d]; ++r->through[d])
      md_lattice_shift(f->length, f->tilt, d, 1.0, step);
    *moved = md_max(*moved, fabs(step[d]));
    if (lost < 0 && fabs(step[d]) > 0.25 * f->length[d]) lost = d;
  }
  return lost;
}

/* The displacement since the first look. */
MD_FN void md_follow_displacement(const md_follow *f, const md_follow_record *r, double moved[3])
{
  for (int d = 0; d < 3; ++d) moved[d] = d < f->dim ? r->last[d] - r->first[d] : 0.0;
  for (int d = 0; d < 3; ++d)
    if (d < f->dim) md_lattice_shift(f->length, f->tilt, d, r->through[d], moved);
}

/* The terms of a particle. mass: its mass. */
MD_FN void md_follow_terms_of(const md_follow *f, const md_follow_sum *s, const md_follow_record *r,
                              double mass, double term[MD_FOLLOW_TERMS])
{
  double moved[3];
  md_follow_displacement(f, r, moved);
  for (int t = 0; t < MD_FOLLOW_TERMS; ++t) term[t] = 0.0;
  switch (s->kind) {
  case MD_FOLLOW_MOMENTS:
    term[0] = 1.0;
    term[1] = mass;
    for (int d = 0; d < 3; ++d) term[2 + d] = mass * moved[d];
    break;
  case MD_FOLLOW_SQUARES:
  case MD_FOLLOW_PRODUCTS:
    for (int d = 0; d < 3; ++d) {
      const double way = moved[d] - s->shift[d];
      term[d] = d >= f->dim ? 0.0 : s->kind == MD_FOLLOW_PRODUCTS ? r->last[d] * r->first[d] : way * way;
      term[3] += term[d];
    }
    break;
  case MD_FOLLOW_PLACES:
    term[0] = mass;
    for (int d = 0; d < 3; ++d) term[1 + d] = mass * (r->first[d] + moved[d]);
    break;
  case MD_FOLLOW_TENSOR:
    for (int t = 0; t < MD_TENSOR; ++t) {
      const int a = md_tensor_row(t), b = md_tensor_column(t);
      term[t] = mass * (md_component(r->first, a) + md_component(moved, a) - md_component(s->shift, a)) *
                (md_component(r->first, b) + md_component(moved, b) - md_component(s->shift, b));
    }
    break;
  }
}

#endif
