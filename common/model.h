/* The model: everything about the physics that an engine needs, and nothing about how it is executed.
 *
 * The deck fills the first part; md_model_prepare() checks it, chooses the grids of exact arithmetic and
 * derives the second part. Engines take a prepared model as const.
 *
 * Grids (exact.h). One quantum each, a power of two, chosen once per run from box, timestep and pair style:
 *   x   positions: 2^53 x covers the box and its periodic images, so differences, images and ghosts are exact;
 *       in three dimensions 2^42 x is at least three cutoffs too, so that an engine may keep positions modulo that.
 *   v   impulses and velocities: 2^53 v covers the speed that carries a particle across a quarter of the
 *       longest side in one step; anything faster is an error.
 *   f, e, w   forces for output, energies, virials: 2^50 of each covers the closest approach whose impulse
 *       is in range.
 * The engines sum *impulses*: each pair's h F/m_reference (h the length of a kick) is rounded once to a
 * multiple of v and given to both partners with opposite signs. A velocity array holds p/m_reference while an
 * engine runs, so that the total momentum never changes by a bit, whatever the masses; with one mass that is
 * the velocity itself.
 */
#ifndef MD_COMMON_MODEL_H
#define MD_COMMON_MODEL_H

#include "common/box.h"
#include "common/error.h"
#include "common/exact.h"
#include "common/pair.h"
#include "common/particles.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MD_TYPES_MAX = 1024 };

typedef enum md_integrator {
  MD_STATIC,          /* no fix: particles do not move */
  MD_NVE,             /* velocity Verlet: kick h/2, drift, force, kick h/2 */
  MD_LEAPFROG,        /* kick, drift, as in the CS267 homework */
  MD_LEAPFROG_MIRROR, /* drift, kick: the exact time reversal of MD_LEAPFROG */
} md_integrator;

typedef struct md_langevin {
  bool on;
  double t_start, t_stop; /* temperature at the first and last step of a run */
  double damp;            /* tau */
  uint64_t seed;
} md_langevin;

typedef struct md_grids {
  double x, v, f, e, w, k; /* k: kinetic energies */
} md_grids;

typedef struct md_model {
  md_box box;
  int ntypes;
  double mass[MD_TYPES_MAX + 1]; /* by type; 0 = not set */
  md_pair pair;
  md_integrator integrator;
  md_langevin langevin;
  bool wall[3][2]; /* a reflecting wall below, above */
  double wall_at[3][2];
  bool float_drift; /* positions are plain doubles, rounded as x + v dt rounds: see fix nve/leapfrog */
  double dt;
  double skin;                /* of `neighbor`: a hint to engines, never changes a result */
  int64_t natoms;             /* over all ranks */
  int64_t step;               /* of the current state */
  int64_t run_begin, run_end; /* of the present run, for ramps */

  /* derived by md_model_prepare */
  md_grids grids;
  double mass_reference;                   /* the heaviest type's */
  double velocity_per_v[MD_TYPES_MAX + 1]; /* m_reference/m by type: velocity = v * this */
  bool one_mass;
  double cutoff;        /* largest, 0 without a pair style */
  double kick_time;     /* h: dt/2 for MD_NVE, dt for the leapfrogs */
  double *impulse_k;    /* [ntypes*ntypes][MD_PAIR_K], forces in quanta of v per kick */
  double *force_k;      /* forces in quanta of f; energies in energy units */
  double close2;        /* pairs nearer than this squared distance may have impulses beyond MD_ROUND_RANGE */
  double *overlap2;     /* by pair of types: below this one the impulse leaves every range, [ntypes*ntypes] */
  double move_limit;    /* the largest exact displacement along one axis in one step */
  double langevin_keep; /* v' = keep v + noise[type] (u - 1/2), at the temperature below */
} md_model;

void md_model_init(md_model *model);
void md_model_free(md_model *model);

/* Checks the deck's part and derives the rest; rounds the box and walls to the position grid.
 * MD_USAGE: no box, missing masses or coefficients, a cutoff above half a periodic side, wall outside the
 * box, ... */
md_status md_model_prepare(md_model *model) MD_CHECKED;

/* Puts particles on the model's grids: positions rounded and wrapped, v := velocity m/m_reference rounded.
 * MD_PHYSICS: NaN, a particle outside a fixed box (the id is named). Idempotent on a prepared state. */
md_status md_model_enter(const md_model *model, md_particles *particles) MD_CHECKED;

/* v back to velocities: the exact inverse of md_model_enter. */
void md_model_leave(const md_model *model, md_particles *particles);

/* The skin that engines are to begin with: the deck's, but a skin beyond the cutoff only makes work. */
double md_model_skin(const md_model *model);

/* Langevin temperature at a step of the present run (linear ramp). */
double md_model_langevin_temperature(const md_model *model, int64_t step);

/* What is measured of a state: exact sums over the particles of one rank. */
typedef struct md_measure {
  md_wide pair_energy2; /* twice the sum over pairs, in quanta of e */
  md_wide virial2;      /* twice the sum of r.f over pairs, in quanta of w */
  md_wide kinetic;      /* in quanta of k */
  md_wide momentum[3];  /* in quanta of v times m_reference */
  int64_t count;        /* particles */
} md_measure;

void md_measure_merge(md_measure *a, const md_measure *b);

/* Thermodynamic state from a measure over all ranks. Energies and pressure as in LAMMPS, `units lj`. */
typedef struct md_thermo_state {
  double temperature, kinetic, potential, virial, pressure; /* energies: totals, not per particle */
  double momentum[3];
} md_thermo_state;
md_thermo_state md_measure_thermo(const md_model *model, const md_measure *measure);

#ifdef __cplusplus
}
#endif
#endif
