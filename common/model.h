/* The model: everything about the physics that an engine needs, and nothing about how an engine computes it.
 *
 * The deck fills the first part of md_model. md_model_prepare() checks this part, chooses the grids of exact
 * arithmetic, and derives the second part. Engines take a prepared model.
 *
 * Grids (common/arithmetic/exact.h). Each has one quantum, a power of two. The quanta are chosen once for each run,
 * from the model and never from particles:
 *   x   positions. 2^53 x covers the box and its periodic images, so that differences, images and ghosts are exact. In
 *       three dimensions 2^42 x is also at least three cutoffs, so that an engine may keep positions modulo 2^42 x. The
 *       exception is a short timestep or a heavy type, whose drifts need more digits.
 *   v   impulses and momenta, as p/m_reference. Half a quantum is at most MD_IMPULSE_ERROR of the impulse of a pair at
 *       its usual distance (md_pair_length). 2^53 v covers the speed limit; if no v does both, momenta are wide.
 *   f, e, w   forces for output, energies, virials: the fine quanta (common/arithmetic/exact.h) of their sums.
 *       The largest term, that of the closest pair whose impulse is in range, is at most 2^50 coarse quanta. f is
 *       about 2^-46 of the usual force of a pair.
 *   k   kinetic energies, likewise. 2^60 coarse quanta cover the speed limit.
 * Along an axis with a face that follows the particles, the box for these choices reaches from -room to room
 * (md_box_forget_room), so that they do not depend on where the particles are at the moment.
 * Without a cutoff the usual force is that of the whole system, from the number of particles, their mass and their
 * extent at the first run.
 *
 * Masses are by type, or each particle has its own (`massed`, md_particles.mass). In a model with masses of their own
 * the grids follow from the least and the largest mass of all particles, and `mass` is the largest one for every type.
 * md_inertia_of is the one place that answers which mass a particle has, and what follows from it.
 *
 * The engines sum impulses. The impulse of a pair, h F/m_reference (h: the length of a kick), is rounded once to a
 * multiple of v, and both partners get it with opposite signs. While an engine runs, a velocity array holds
 * p/m_reference. So the total momentum never changes by a bit, for any masses. If all masses are the same,
 * p/m_reference is the velocity itself.
 *
 * Wide momenta. If masses are far apart, or the timestep is very short, 53 bits do not reach from the rounding of an
 * impulse to the speed limit. Then each momentum has a second word, md_particles.v_low:
 *
 *   momentum  =  v, a multiple of v_step[type]  +  v_low quanta of grids.v, at most half a v_step
 *
 * v_step[type] is the least power of two of which 2^53 cover the momenta of the type. Drifts use v alone. Cost: 8 dim
 * bytes for each particle, and kernels that are not fused.
 */
#ifndef MD_COMMON_MODEL_H
#define MD_COMMON_MODEL_H

#include "common/arithmetic/exact.h"
#include "common/base/error.h"
#include "common/bond/bond.h"
#include "common/box.h"
#include "common/compute/compute.h"
#include "common/fix/fix.h"
#include "common/groups.h"
#include "common/molecules.h"
#include "common/pair/dissipative/dissipative.h"
#include "common/pair/pair.h"
#include "common/pair/tail.h"
#include "common/particles.h"
#include "common/step/motion.h"
#include "common/subtypes.h"
#include "common/units.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MD_TYPES_MAX = 1024, MD_EXCLUDED_MAX = 64, MD_SUMMANDS_MAX = MD_COMPUTES_MAX + MD_FIXES_MAX };

/* Bounds of accuracy. md_model_prepare keeps them or refuses the model. They say how much rounding may change the
 * impulse of a pair at its usual distance, and the displacement of the lightest type in a step at its usual speed;
 * both as a fraction. */
#define MD_IMPULSE_ERROR 1e-10
#define MD_DRIFT_ERROR 1e-6

typedef enum md_integrator {
  MD_STATIC,          /* no integrator: particles do not move */
  MD_NVE,             /* velocity Verlet: kick h/2, drift, force, kick h/2 */
  MD_LEAPFROG,        /* kick, drift, as in the CS267 homework */
  MD_LEAPFROG_MIRROR, /* drift, kick: the exact time reversal of MD_LEAPFROG */
} md_integrator;

/* The quanta of all grids; see above. */
typedef struct md_grids {
  double x, v;
  double f, e, w, k; /* fine quanta; MD_FINE of them are a coarse quantum */
} md_grids;

/* The largest change by one rounding, as a fraction of a usual value. 0: unknown, because there are no forces. */
typedef struct md_resolution {
  double drift;   /* of the displacement in a step, for the heaviest type at its usual speed */
  double impulse; /* of the impulse of a usual pair: the weakest, or a 16th of the strongest */
  double weakest; /* of the impulse of the weakest pair */
  double speed;   /* of the usual speed of the lightest type, by the energy of the weakest pair */
} md_resolution;

/* The pairs that neigh_modify exclude leaves out, whatever their coefficients. */
typedef struct md_exclusions {
  int ntypes, ngroups;
  int types[MD_EXCLUDED_MAX][2];  /* [ntypes] pairs of types, from 1 */
  int groups[MD_EXCLUDED_MAX][2]; /* [ngroups] pairs of groups */
  md_molecules molecules;         /* pairs that their molecules exclude; only if bonded */
} md_exclusions;

typedef struct md_model {
  const md_units *units; /* static */
  md_box box;
  int ntypes;
  double mass[MD_TYPES_MAX + 1]; /* by type, 1-based; 0: not set. Not in the deck's unit: units.h */
  bool massed; /* particles have masses of their own, for pair styles without a cutoff only */
  double mass_least, mass_most; /* if massed, of all particles, from src/sums/masses.h; 0: there are none */
  md_pair pair;
  md_exclusions exclusions;
  bool anchored; /* particles have anchors, for fix spring/self */
  bool pushed;   /* particles have external forces, for fix external */
  bool bonded;   /* atom_style bond: particles may have bonds */
  md_bonds bonds;
  md_groups groups;
  int ncompute;
  md_compute compute[MD_COMPUTES_MAX]; /* the standard ones, then the deck's own */
  int nfix;
  md_fix fix[MD_FIXES_MAX]; /* in the order of the deck; md_fixes_join makes the fields down to `hottest` */
  md_integrator integrator;
  uint32_t moving;      /* bits of the groups that the integrator moves */
  uint32_t placed;      /* bits of the groups that fixes move in place of the integrator */
  bool wall[3][2];      /* a reflecting wall below, above */
  double wall_at[3][2]; /* sigma */
  bool float_drift;     /* positions are plain doubles, rounded as x + v dt rounds: see fix nve/leapfrog */
  double hottest;       /* the highest temperature of a thermostat, as an energy, or 0 */
  double dt;
  double skin;     /* of `neighbor`: a hint to engines, never changes a result */
  bool has_v_pair; /* of a restart: particles have velocities of pair forces (particles.h) */
  int64_t natoms;  /* over all ranks */
  /* For pair styles without a cutoff, from src/particles/extent.h. */
  double total_mass;               /* of all particles; 0: unknown */
  double extent;                   /* root mean square distance from the mean position, sigma; 0: unknown */
  int64_t extent_natoms;           /* the number of particles of which it is the extent */
  int64_t count[MD_TYPES_MAX + 1]; /* for tail corrections: particles by type, 1-based, over all ranks */
  int64_t step;                    /* of the current state */
  int64_t draw_shift;              /* md_model_draw is the step and this; reset_timestep changes it */
  bool backwards;                  /* the present run goes back: each step undoes one, and its number falls */
  int64_t run_begin, run_end;      /* of the present run, for ramps */
  md_box_move move;                /* the change of the box in the next step */
  md_flow flow;                    /* of a sheared box; md_fixes_find_flow sets it */

  /* derived by md_model_prepare */
  md_tail tail;
  md_grids grids;
  double mass_reference;                   /* m_reference, the largest mass */
  double velocity_per_v[MD_TYPES_MAX + 1]; /* m_reference/m by type: velocity = v * this */
  bool one_mass;
  bool wide;                       /* momenta have a second word */
  double v_step[MD_TYPES_MAX + 1]; /* by type: v is a multiple of this; grids.v unless wide */
  md_resolution resolution;
  double cutoff;        /* the largest of all pairs, 0 without forces of pairs */
  double reach;         /* the largest of cutoff and bonds: how far a particle may act on another one */
  double kick_time;     /* h: dt/2 for MD_NVE, dt for the leapfrogs */
  md_subtypes subtypes; /* types as excluded groups divide them; md_model_divide makes them */
  double *impulse_k;    /* [md_pair_rows][MD_PAIR_K], forces as impulses of a kick in quanta of v */
  /* impulse_scale: the impulse of a unit of force by one kick, in quanta of v. force_scale: a unit of force in coarse
   * quanta of f */
  double impulse_scale, force_scale;
  double virial_quantum; /* of the virial of impulses: an impulse times a length; 0: the model has none */
  double *force_k;  /* [md_pair_rows][MD_PAIR_K], forces in coarse quanta of f, energies in energy units */
  double close2;    /* squared distance: the impulse of a nearer pair may be beyond MD_ROUND_RANGE */
  double *overlap2; /* [md_model_subtypes^2], squared distance: a nearer pair is an overlap */
  /* Without a cutoff: the range of impulses (common/pair/all_pairs.h) as a force, in coarse quanta of f. */
  double force_range;
  double speed_limit; /* the largest velocity along one axis */
  double speed_most;  /* the largest speed limit that a shorter timestep may give */
  double move_limit;  /* the largest displacement along one axis in one step: a few cutoffs, or less */
  int nmiddle;
  md_action middle[MD_MIDDLES_MAX]; /* actions of fixes between the two halves of a drift, in this order */
  int nforce_action;
  md_force_action force_action[MD_FORCES_MAX]; /* actions of fixes on forces, in the order of the deck */
  /* The same where variables give numbers of fixes: [force_rows][nforce_action], a row for each step from force_first
   * on in the direction of the run, which the program fills before the engine runs there (md_forces_at). 0 rows: the
   * numbers do not change. */
  int force_rows;
  int64_t force_first;
  md_force_action *force_row;
  int nsummand, nterm; /* the terms that computes and fixes need, each once; nterm sums in all */
  md_summand summand[MD_SUMMANDS_MAX];
  md_compute tensor[MD_COMPUTES_MAX]; /* by index of a compute pressure: its pressure/tensor */
  /* The sums that the program asks for after the next run of an engine, before it does anything else: an engine may
   * sum them on the way. Nothing is wanted unless a fix acts there. */
  md_wanted awaited;
  /* How many times as long as a periodic side the cutoff may be with the program's engine; 0: MD_SIDES_MOST. */
  double sides_most;
  int nend;
  md_fix_end end[MD_FIXES_MAX]; /* fixes that act after steps: integrators, then others */
} md_model;

/* An empty model: three periodic dimensions, no types, no pair style, no fixes. Free with md_model_free, which frees
 * what the model owns and not the structure itself. */
void md_model_init(md_model *model);
void md_model_free(md_model *model);

/* Checks the deck's part of the model and derives the rest. Rounds box and walls to the position grid. Moves faces that
 * follow the particles outwards, to where engines have them. MD_USAGE: no box, missing masses or coefficients, a cutoff
 * above half a periodic side, a wall outside the box, a bound of accuracy that cannot be kept, and others. MD_RUNTIME:
 * out of memory. */
md_status md_model_prepare(md_model *model) MD_CHECKED;

/* MD_USAGE: a tilted box has faces that follow the particles, is not periodic along both axes of a tilt factor, or has
 * a tilt factor that is too large or, in two dimensions, of z. */
md_status md_box_check_tilt(const md_box *box) MD_CHECKED;

/* The types of an engine's tables: subtypes, or the types themselves. */
static inline int md_model_subtypes(const md_model *model)
{
  return model->subtypes.n > 0 ? model->subtypes.n : model->ntypes;
}

/* The pair style with these types. */
static inline const md_pair *md_model_pair(const md_model *model)
{
  return model->subtypes.n > 0 ? &model->subtypes.pair : &model->pair;
}

/* The 0-based subtype of a particle of this type, with this word of groups. */
static inline int md_subtype(const md_model *model, int type, uint32_t group)
{
  const md_subtypes *s = &model->subtypes;
  return s->n == 0 ? type - 1 : type - 1 + model->ntypes * s->class_of[md_pattern_of(s, group)];
}

/* The same of particle or ghost i. */
static inline int md_subtype_of(const md_model *model, const md_particles *p, int64_t i)
{
  return md_subtype(model, p->type[i], p->group ? p->group[i] : MD_GROUP_ALL);
}

/* The numbers in a coefficient table of the model. */
int64_t md_model_pair_numbers(const md_model *model);

/* Fills a coefficient table, as md_pair_table, for subtypes. Excluded pairs have no force and no energy. */
void md_model_pair_table(const md_model *model, double scale, double *k);

/* The same for the types of the deck, whatever their groups: [md_pair_rows(&model->pair)][MD_PAIR_K]. */
void md_model_type_table(const md_model *model, double scale, double *k);

/* The room of a box with faces that follow the particles is the least power of two that is at least 64 times the reach
 * of the box, and 1024 cutoffs. The reach is the largest coordinate of these faces, and the longest side. In a box that
 * fixes change the room is at least 16 times the reach, and the coordinates of all faces count.
 * md_model_prepare chooses a room if there is none. A room stays, so that one run continues another with the same
 * grids. md_box_forget_room takes it away if it is less than twice the reach. */
void md_box_forget_room(md_box *box);

/* Puts the faces that follow the particles to where engines have them: at the distance of (an eighth of the side and
 * two cutoffs) times 2^grown from those of the box `shown`, beyond the walls, and not beyond the room. In a model
 * without particles that distance is 0. For a prepared model; md_model_prepare does it with grown = 0 and the box that
 * it was given. */
void md_model_widen_box(md_model *model, const md_box *shown, int grown);

/* The number of the state n steps further on in the direction of the present run. */
static inline int64_t md_model_step_after(const md_model *model, int64_t n)
{
  return model->backwards ? model->step - n : model->step + n;
}

/* The box that output shows: that of the next step if a fix has changed it after this one. */
md_box md_model_shown_box(const md_model *model);

/* Makes the box that of model->move, as engines do in the drift of the step. */
void md_model_take_box(md_model *model);

/* Sets box->changes from the list of fixes. */
void md_model_find_changes(md_model *model);

/* Rounds the faces of model->move to the grid. MD_PHYSICS: the box would be beyond its room, or shorter than two
 * cutoffs along an axis. */
md_status md_model_check_move(md_model *model) MD_CHECKED;

/* Puts particles on the grids of a prepared model: rounds and wraps positions, and makes momenta of velocities, v :=
 * velocity m/m_reference, rounded. MD_PHYSICS: a particle outside the box, above the speed limit or with a NaN; the
 * message names the particle of the smallest id. MD_RUNTIME: no memory for second words. Positions that are on the grid
 * already do not change. */
md_status md_model_enter(const md_model *model, md_particles *particles) MD_CHECKED;

/* Makes velocities of momenta, and moves the particles of a tilted box to where they are shown. md_model_enter makes
 * the same momenta of them again. If momenta are wide, v_low keeps the quanta that a velocity as a double lacks, and
 * md_model_enter adds them. */
void md_model_leave(const md_model *model, md_particles *particles);

/* The mass of particle i: its own, or that of its type. */
static inline double md_mass_of(const md_model *model, const md_particles *p, int64_t i)
{
  return p->mass ? p->mass[i] : model->mass[p->type[i]];
}

/* The same in the deck's unit. */
static inline double md_shown_mass_of(const md_model *model, const md_particles *p, int64_t i)
{
  return md_mass_of(model, p, i) / model->units->mvv2e;
}

/* No particles, with the fields that those of the model have. */
static inline md_particles md_model_fields(const md_model *model)
{
  md_particles p;
  md_particles_init(&p, model->box.dim);
  p.wide = model->wide;
  p.has_v_pair = model->has_v_pair;
  p.grouped = model->groups.n > 1;
  p.massed = model->massed;
  p.anchored = model->anchored;
  p.pushed = model->pushed;
  p.bonded = model->bonded;
  p.bonds = model->bonds.slots;
  return p;
}

/* The inertia of particle i, of a prepared model. */
static inline md_inertia md_inertia_of(const md_model *model, const md_particles *p, int64_t i)
{
  const int type = p->type[i];
  if (!p->mass) return (md_inertia){model->mass[type], model->v_step[type], model->velocity_per_v[type]};
  return md_inertia_of_mass(p->mass[i], model->mass_reference, model->grids.v,
                            model->wide ? model->speed_limit : 0.0);
}

/* The velocity of particle i along axis d while an engine runs. */
double md_model_velocity(const md_model *model, const md_particles *particles, int d, int64_t i);

/* Notes the velocities of owned particle i after a drift, on which pair forces depend. Only if they do. */
static inline void md_model_note_velocity(const md_model *model, md_particles *p, int64_t i)
{
  for (int d = 0; d < p->dim; ++d) p->v_pair[d][i] = md_model_velocity(model, p, d, i);
}

/* What the random forces of all pairs share at the positions after `step` steps. For dissipative styles. */
md_dissipation_course md_model_dissipation_course(const md_model *model);

/* Runs round positions to a grid: a particle that began on the surface of a region, or on the border of a bin, must not
 * be outside after that. Where these select particles they are larger by this, four quanta. 0 before the first run. */
static inline double md_model_margin(const md_model *model) { return 4.0 * model->grids.x; }

/* What random numbers of a step are counted by: the steps that were done, so that none comes again after
 * reset_timestep. */
static inline uint64_t md_model_draw(const md_model *model)
{
  return (uint64_t)model->step + (uint64_t)model->draw_shift;
}

/* Gives the present state the number `step`. Random numbers go on. A state that read_data has brought, or that no run
 * has changed, is of step 0: it gets those of the new step. */
static inline void md_model_set_step(md_model *model, int64_t step)
{
  if (model->step > 0) model->draw_shift = (int64_t)(md_model_draw(model) - (uint64_t)step);
  model->step = step;
}

static inline md_dissipation md_model_dissipation(const md_model *model, int64_t step)
{
  const md_dissipation_course course = md_model_dissipation_course(model);
  return md_dissipation_at(&course, step);
}

/* Number of particles in a group, over all ranks. */
static inline int64_t md_model_group_count(const md_model *model, int group)
{
  return group == 0 ? model->natoms : model->groups.count[group];
}

/* The most that cutoff and skin together may be, in cutoffs. The position grid leaves room for ghosts beyond the box up
 * to this distance. */
#define MD_REACH_CUTOFFS 4.0

/* The skin that engines begin with, sigma: that of the deck, but at most the cutoff, because a larger skin only makes
 * more work. */
double md_model_skin(const md_model *model);

/* A measure of a state: exact sums over the particles of one rank, from which computes take their values. */
typedef struct md_measure {
  md_wide pair_energy2;       /* twice the energy of pairs, in fine quanta e */
  md_wide bond_energy2;       /* the same of bonds */
  md_wide virial2;            /* twice the sum of r.f over pairs and bonds; its unit: md_virial_of */
  md_wide tensor2[MD_TENSOR]; /* twice the sums of r_a f_b over pairs and bonds, likewise */
  md_wide term[MD_TERMS_MAX]; /* of the summands of the model */
  int64_t count;              /* number of particles */
  double fix_energy; /* of the fixes whose energy counts (common/force/forces.h); engines leave it 0 */
  /* sums of r_a f_b of fix external (common/force/external.h); engines leave it 0 */
  double fix_virial[MD_TENSOR];
} md_measure;

/* The rounder of terms of the virial of impulses (common/compute/impulse_virial.h); 0: the model has none. */
static inline double md_impulse_virial_rounder(const md_model *model)
{
  return MD_ROUND * model->virial_quantum;
}

/* The virial of a measure of which `wanted` was wanted: a sum, or a component, of virial2 or tensor2. */
static inline double md_virial_of(const md_model *model, md_wanted wanted, const md_wide *twice)
{
  if (!wanted.impulses) return 0.5 * md_wide_value(twice, model->grids.w);
  return 0.5 * md_wide_value(twice, model->virial_quantum / MD_FINE) / model->impulse_scale;
}

/* The energy of all bonds, of the measure of all ranks. */
static inline double md_bond_energy_of(const md_model *model, const md_measure *measure)
{
  return 0.5 * md_wide_value(&measure->bond_energy2, model->grids.e);
}

/* The tail correction of the energy in the present volume, and of the virial along an axis. */
static inline double md_model_tail_energy(const md_model *model)
{
  if (model->tail.energy == 0.0) return 0.0;
  const md_box box = md_model_shown_box(model);
  return model->tail.energy / md_box_volume(&box);
}

static inline double md_model_tail_virial(const md_model *model)
{
  if (model->tail.pressure == 0.0) return 0.0;
  const md_box box = md_model_shown_box(model);
  return model->tail.pressure / md_box_volume(&box);
}

/* Adds the measure b, of other particles, to a. */
void md_measure_merge(const md_model *model, md_measure *a, const md_measure *b);

#ifdef __cplusplus
}
#endif
#endif
