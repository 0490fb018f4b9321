/* Fixes that act on the force on a particle, before each kick: walls, gravity, indenters, constraints. C and CUDA.
 *
 * 1. An engine sums the impulses of the pairs on a particle, which are whole numbers of quanta (common/model.h).
 * 2. md_forces_act lets the fixes act on this sum, in the order of the deck, as in LAMMPS. A fix adds a force, or
 *    replaces components of the sum. Each term is rounded once to whole quanta, so that the sum is exact.
 * 3. The engine kicks the particle by the result.
 *
 * A fix may tie particles to places of their own, their anchors.
 *
 * A fix may take the mean force of its group. Then the actions before it act on all particles first. The forces on the
 * group, whole quanta, are added up on all ranks, and the actions from this one on follow. An engine needs the impulses
 * of all particles in arrays for that. A fix may take centres of mass in the same way (common/spring/centre.h).
 *
 * The program around the library may give the forces of a fix (external.h). They are a field of the particles. An
 * action that asks stops an engine as one that takes a mean does, because a function of that program is called.
 *
 * A force depends on position, mass and group of the particle alone, or through a mean on those of all. On periodic
 * axes it is the same for all images. So the kick after a step and the kick before the next step are equal, every
 * engine and rank computes the same bits, and a run with reversed velocities returns to its beginning.
 *
 * Output. Engines hand out the forces of pairs. md_forces_output adds the fixes on the host: the forces of dumps are
 * then those that kick the particles, and the sums are the energies and vectors f_ID of the fixes.
 *
 * Variables of style equal may give numbers of a fix. Then each step has its own row of actions (md_forces_at), made in
 * advance from the number of the step alone. The rows of a kick are those of the step to which the positions belong.
 *
 * Trade-off: forces that change with velocity do not fit, because they would need other kicks. A mean stops
 * what an engine does at once: OpenMP keeps impulses in arrays, and the host waits for a GPU in each step. Output takes
 * a download of positions and forces; in return no engine has kernels for it.
 * Cost: a pass over particles for each force; no cost for models without such a fix.
 */
#ifndef MD_COMMON_FORCE_FORCES_H
#define MD_COMMON_FORCE_FORCES_H

#include "common/faults.h"
#include "common/force/forced.h"
#include "common/ranks/comm.h"
#include "common/spring/centre.h"
#include "common/step/step.h"

/* Does an action act on a particle? */
MD_FN bool md_forces_acts(const md_force_action *a, const md_particle *p)
{
  if (!(p->group & a->group)) return false;
  if (!a->in_region) return true;
  double x[3] = {p->x[0], p->x[1], p->x[2]};
  md_shape_wrap(a->region + SHAPE_K, x);
  return md_shape_contains(a->region, x);
}

/* Lets n actions act on the force on a particle. Returns the index in model->fix of the first fix whose force is out of
 * range, or -1. */
MD_FN int md_forces_act(const md_force_action *action, int n, const md_particle *p, md_net_force *net)
{
  for (int k = 0; k < n; ++k) {
    const md_force_action *a = &action[k];
    if (!md_forces_acts(a, p)) continue;
#define MD_FIX_FORCE(symbol)                                                                                 \
  if (a->kind == MD_FIX_##symbol) md_##symbol##_post_force(a, p, net);
#include "common/fix/fix_styles.h"
#undef MD_FIX_FORCE
    if (net->beyond) return a->fix;
  }
  return -1;
}

/* Lets n actions act on the impulse on a particle. impulse: whole quanta. scale: quanta in a unit of force. anchor,
 * external: of the particle, or NULL. Returns as md_forces_act. */
MD_FN int md_forces_on_impulse(const md_force_action *action, int n, double scale, const md_particle *p,
                               const double *anchor, const double *external, int dim, double impulse[3])
{
  md_net_force net = {{0.0, 0.0, 0.0}, scale, true, false, {0.0, 0.0, 0.0}, 0.0, 0.0, anchor, external};
  for (int d = 0; d < dim; ++d) net.f[d] = impulse[d];
  const int fault = md_forces_act(action, n, p, &net);
  for (int d = 0; d < dim; ++d) impulse[d] = net.f[d];
  return fault;
}

/* The actions at the positions after step `step`, nforce_action of them. */
MD_FN md_force_action *md_forces_row(const md_model *model, int64_t step)
{
  const int64_t row = model->backwards ? model->force_first - step : step - model->force_first;
  const int64_t last = model->force_rows - 1;
  return model->force_row + (row < 0 ? 0 : row > last ? last : row) * model->nforce_action;
}
static inline md_force_action *md_forces_at(md_model *model, int64_t step)
{
  return model->force_rows > 0 ? md_forces_row(model, step) : model->force_action;
}

/* The index of the first action from `first` on that takes a mean or centres of mass, or asks; n: there is none. */
MD_FN int md_forces_next_mean(const md_force_action *action, int first, int n)
{
  while (first < n && !action[first].takes_mean && !action[first].takes_centre && !action[first].asks)
    ++first;
  return first;
}

/* The bits of the groups on which n actions act. */
MD_FN uint32_t md_forces_groups(const md_force_action *action, int n)
{
  uint32_t groups = 0;
  for (int k = 0; k < n; ++k) groups |= action[k].group;
  return groups;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Fills the anchor of particle i, and returns it; NULL: particles have none. */
static inline const double *md_forces_anchor(const md_particles *p, int64_t i, double anchor[3])
{
  for (int d = 0; d < 3; ++d) anchor[d] = p->anchored && d < p->dim ? p->anchor[d][i] : 0.0;
  return p->anchored ? anchor : NULL;
}

/* Fills the external force on particle i, and returns it; NULL: particles have none. */
static inline const double *md_forces_external(const md_particles *p, int64_t i, double external[3])
{
  for (int d = 0; d < 3; ++d) external[d] = p->pushed && d < p->dim ? p->external[d][i] : 0.0;
  return p->pushed ? external : NULL;
}

/* For engines of the host: lets n actions act on the impulses on particle i. Notes a force out of range. */
static inline void md_forces_on_particle(const md_model *model, const md_force_action *action, int n,
                                         const md_particles *p, int64_t i, double impulse[3],
                                         md_overlap *overlap)
{
  const md_particle one = md_particle_of(model, p, i);
  double anchor[3], external[3];
  const int fix = md_forces_on_impulse(action, n, model->impulse_scale, &one, md_forces_anchor(p, i, anchor),
                                       md_forces_external(p, i, external), p->dim, impulse);
  if (fix >= 0) md_overlap_add(overlap, md_overlap_of_fix(fix), p->id[i], 0.0);
}

/* The impulses of all particles of a rank: dim arrays of n integers, or of n whole numbers as doubles; the other is
 * NULL. */
typedef struct md_impulses {
  int64_t *const *whole;
  double *const *real;
} md_impulses;

/* Lets the actions from `first` on act on the impulses of all particles after step `step`, and takes the means that
 * they need. Particles on which no fix acts keep all digits, also beyond 2^53. Collective if an action takes a mean. */
md_status md_forces_on_impulses(md_model *model, md_comm *comm, const md_particles *p, int64_t step,
                                int first, md_impulses impulse, int threads, md_overlap *overlap) MD_CHECKED;

/* Gives an action the mean of the forces on its group. sum: over the particles of this rank, for each axis, in quanta
 * of `quantum` units of the net force. Collective. */
md_status md_forces_take_mean(md_comm *comm, const md_model *model, md_wide sum[3], double quantum,
                              md_force_action *action) MD_CHECKED;

/* For a minimisation: drops the actions of fixes that LAMMPS does not apply there. */
void md_forces_keep_minimized(md_model *model);

/* Notes forces out of range at the present positions, those after step `step`, and changes nothing. */
void md_forces_find_fault(md_model *model, const md_particles *p, int64_t step, md_overlap *overlap);

/* Lets the fixes act on the forces of pairs on the particles of this rank after step model->step, dim arrays, and sums
 * their output over all ranks. forced: by fix, receives its energy and vector; NULL: they are not wanted.
 * MD_PHYSICS: a force is out of range; the message names fix and particle. Collective. */
md_status md_forces_output(md_model *model, md_comm *comm, const md_particles *p, double *const force[3],
                           md_forced *forced) MD_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
