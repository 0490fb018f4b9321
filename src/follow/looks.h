/* When to look at particles again in a run, so that no way through a periodic face is missed.
 *
 * The next look is so soon that a particle with SPEEDS times the pace crosses less than half of the shortest periodic
 * side. The pace is the largest speed of this look, or how fast a particle went since the last one, or half of the pace
 * before, whichever is most. The first looks of a run double their intervals: particles that begin at rest may become
 * fast. */
#ifndef MD_SRC_FOLLOW_LOOKS_H
#define MD_SRC_FOLLOW_LOOKS_H

#include "common/sums/follow.h"
#include "src/sim.h"

typedef struct md_looks {
  int64_t next;  /* step of the next look */
  int64_t last;  /* of the last one of this run; -1: none */
  int64_t begun; /* the step at which looks began: the first one of the run, or that of a restart */
  double pace;   /* length/tau */
} md_looks;

/* Begins a run: with a look at its first step. */
void md_looks_start(md_looks *looks, const md_sim *sim);

/* The largest component of a velocity of this rank's particles that have one of the groups `bit`, at a step of a
 * run. */
double md_looks_speed(const md_sim *sim, uint32_t bit);

/* Chooses the step of the next look. pace: of this rank's particles. Collective. */
md_status md_looks_plan(md_sim *sim, md_looks *looks, const md_follow_pace *pace) MD_CHECKED;

/* Notes a fault of a look: of several the first of a kind, new particles before those that went too far, and the least
 * id, so that every engine has the same. */
void md_looks_note_fault(md_follow_fault *fault, md_follow_wrong kind, int64_t id, int axis);

/* Leaves the fault to the rank that has the first one of all ranks. Collective. */
md_status md_looks_first_fault(md_comm *comm, md_follow_fault *fault) MD_CHECKED;

/* The step of the next look, but at least or at most `step`, for observers (src/output/observer.h). */
int64_t md_looks_due(const md_looks *looks, int64_t step);
int64_t md_looks_due_back(const md_looks *looks, int64_t step);

#endif
