/* Centres of mass of groups in every step, for fixes on forces such as spring. C and CUDA.
 *
 * A centre of mass needs places that go on beyond periodic faces. No engine keeps these. Instead the sum of the places
 * of each type is followed as a whole:
 *
 *   1  S, the sum of the places in the box, in whole quanta of positions, is exact, and the same for all engines.
 *   2  Where a particle goes through a face, S jumps by a side L. The sum U = S + k L does not, if k counts the jumps.
 *   3  From step to step U changes by W, the sum of the displacements by the velocities that moved the particles. So k
 *      changes by the whole number next to (S before + W - S now)/L. W may be wrong by a quarter of a side; it is wrong
 *      by roundings alone, unless a fix changes velocities in the middle of a drift.
 *   4  Types have masses, so that the centre of mass follows from the sums U of the types.
 *
 * In a tilted box the places are those in the parallelepiped, and L is an edge: a jump along z is also one of xz along
 * x and yz along y. The jumps along z are counted first, and taken out of what is counted along y and x.
 *
 * A box whose sides change takes particles along: S before is then stretched as the box is, and W as the drift was. k
 * counts sides of the present length, as the image flags of LAMMPS do.
 *
 * k is 0 when the fix begins. Where it is not, and the number of particles of the type in the group changes, the run
 * ends: the jumps of a single particle are not known. The fix's state has S and k, and restarts hold it. All numbers
 * follow from exact sums, so that they have the same bits for every engine and number of ranks, and a run back finds
 * the same k.
 *
 * Trade-off: no word for a particle, and no work where engines wrap positions; in return a type counts, and not a
 * particle, so that masses must be by type, and few types. Cost: a pass over particles and a reduction in each step,
 * before the forces of the fix.
 */
#ifndef MD_COMMON_SPRING_CENTRE_H
#define MD_COMMON_SPRING_CENTRE_H

#include "common/faults.h"
#include "common/ranks/comm.h"
#include "common/step/step.h"

/* Terms of a particle: 1, its place and its displacement along each axis. Groups of a fix. */
enum { MD_CENTRE_TYPES = 8, MD_CENTRE_TERMS = 7, MD_CENTRE_GROUPS = 2 };

/* Where the state of a fix has what it follows. First come whether it knows a step, that step, and where the box began
 * then and its sides. For each group and type follow S along each axis, k along each axis, and the number of
 * particles. */
enum {
  MD_CENTRE_KNOWN = 0,
  MD_CENTRE_STEP = 1,
  MD_CENTRE_LO = 2,
  MD_CENTRE_LENGTH = 5,
  MD_CENTRE_FOLLOWED = 8,
  MD_CENTRE_STATE = MD_CENTRE_FOLLOWED + MD_CENTRE_GROUPS * MD_CENTRE_TYPES * MD_CENTRE_TERMS
};

/* The numbers of the terms of a group. */
typedef struct md_centre {
  uint32_t group, moving; /* bits of the group, and of the groups that move by their velocities */
  int dim;
  double lo[3], length[3], offset[3], tilt[3]; /* of md_box_place */
  double per_quantum, time; /* quanta of positions in sigma; of a step, negative in a run back */
} md_centre;

/* The terms of particle p, of the group, in whole quanta. p->x may be any image. */
MD_FN void md_centre_terms(const md_centre *c, const md_particle *p, int64_t term[MD_CENTRE_TERMS])
{
  const double time = p->group & c->moving ? c->time * p->velocity_per_v : 0.0;
  for (int k = 0; k < MD_CENTRE_TERMS; ++k) term[k] = k == 0;
  double x[3] = {p->x[0], p->x[1], p->x[2]};
  md_box_place(c->lo, c->length, c->offset, c->tilt, x);
  for (int d = 0; d < 3 && d < c->dim; ++d) {
    term[1 + d] = md_count((x[d] - c->lo[d]) * c->per_quantum);
    term[4 + d] = md_count(p->v[d] * time * c->per_quantum);
  }
}

#ifdef __cplusplus
extern "C" {
#endif

/* The sums of a fix over the particles of a rank. */
typedef struct md_centre_sums {
  md_wide sum[MD_CENTRE_GROUPS][MD_CENTRE_TYPES][MD_CENTRE_TERMS];
} md_centre_sums;

/* The numbers of the terms of a group, of a prepared model. */
md_centre md_centre_of(const md_model *model, uint32_t group);

/* The number of actions from `action` on, of n, that belong to the same fix: at most MD_CENTRE_GROUPS. */
int md_centre_actions(const md_force_action *action, int n);

/* Sums over the particles of the groups of `parts` actions. */
void md_centre_sum(const md_model *model, const md_force_action *action, int parts, const md_particles *p,
                   int threads, md_centre_sums *sums);

/* Gives the `parts` actions of a fix their numbers from the sums of this rank, which count `unit` of a term, at the
 * positions after step `step`. Collective. MD_PHYSICS: a sum does not go on from the step before. */
md_status md_centre_take(md_model *model, md_comm *comm, int64_t step, md_centre_sums *sums, double unit,
                         md_force_action *action, int parts) MD_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
