/* The model: everything about the physics that an engine needs, and nothing about how it is executed.
 *
 * The deck fills the first part; md_model_prepare() checks it, chooses the grids of exact arithmetic and
 * derives the second part. Engines take a prepared model as const.
 *
 * Grids (exact.h). One quantum each, a power of two, chosen once per run from the model and never from particles:
 *   x   positions: 2^53 x covers the box and its periodic images, so differences, images and ghosts are exact.
 *       In three dimensions 2^42 x is at least three cutoffs too, so that an engine may keep positions modulo that,
 *       unless the drifts of a short timestep or of a heavy type need more digits.
 *   v   impulses and momenta, as p/m_reference: half a quantum is at most MD_IMPULSE_ERROR of the impulse of a
 *       pair at its usual distance (md_pair_length), and 2^53 v covers the speed limit if both can be had.
 *   f, e, w   forces for output, energies, virials: the fine quanta (exact.h) of sums whose largest term, that of the
 *       closest approach whose impulse is in range, is 2^50 coarse ones. f is 2^-46 of a usual pair's force.
 *   k   kinetic energies, likewise: 2^60 coarse quanta cover the speed limit.
 * The engines sum *impulses*: each pair's h F/m_reference (h the length of a kick) is rounded once to a
 * multiple of v and given to both partners with opposite signs. A velocity array holds p/m_reference while an
 * engine runs, so that the total momentum never changes by a bit, whatever the masses; with one mass that is
 * the velocity itself.
 *
 * Wide momenta. With masses far apart, or a very short timestep, 53 bits do not reach from the rounding of an impulse
 * to the speed limit. Each momentum then has a second word, md_particles.v_low: v is a multiple of v_step[type], the
 * least power of two of which 2^53 cover that type's momenta, and v_low counts the quanta that remain, at most half a
 * v_step. Drifts use v alone. Cost: 8 dim bytes a particle, and kernels that are not fused.
 */
#ifndef MD_COMMON_MODEL_H
#define MD_COMMON_MODEL_H

#include "common/base/error.h"
#include "common/box.h"
#include "common/exact.h"
#include "common/fix.h"
#include "common/pair.h"
#include "common/particles.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MD_TYPES_MAX = 1024 };

/* Bounds of accuracy, which md_model_prepare keeps or refuses: how much rounding may change the impulse of a pair at
 * its usual distance, and the displacement of the lightest type in a step at its usual speed. */
#define MD_IMPULSE_ERROR 1e-10
#define MD_DRIFT_ERROR 1e-6

typedef enum md_integrator {
  MD_STATIC,          /* no fix: particles do not move */
  MD_NVE,             /* velocity Verlet: kick h/2, drift, force, kick h/2 */
  MD_LEAPFROG,        /* kick, drift, as in the CS267 homework */
  MD_LEAPFROG_MIRROR, /* drift, kick: the exact time reversal of MD_LEAPFROG */
} md_integrator;

typedef struct md_grids {
  double x, v;
  double f, e, w, k; /* fine quanta; MD_FINE of them are a coarse one */
} md_grids;

/* Relative to the size of what each grid counts, the most that one rounding changes; 0: unknown, without forces. */
typedef struct md_resolution {
  double drift;   /* of a step's displacement, of the heaviest type at its usual speed */
  double impulse; /* of a pair at its usual distance; of the weakest pair, down to a 16th of the strongest */
  double speed;   /* of the usual speed of the lightest type */
} md_resolution;

typedef struct md_model {
  md_box box;
  int ntypes;
  double mass[MD_TYPES_MAX + 1]; /* by type; 0 = not set */
  md_pair pair;
  int nfix;
  md_fix fix[MD_FIXES_MAX]; /* in the order of the deck; md_fixes_join makes the next lines of them */
  md_integrator integrator;
  bool wall[3][2];      /* a reflecting wall below, above */
  double wall_at[3][2]; /* sigma; infinite: the face of the box, until the model is prepared */
  bool float_drift;     /* positions are plain doubles, rounded as x + v dt rounds: see fix nve/leapfrog */
  double hottest;       /* the highest temperature of a thermostat, or 0 */
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
  bool wide;                       /* momenta have a second word */
  double v_step[MD_TYPES_MAX + 1]; /* by type: the grid of v; grids.v unless wide */
  md_resolution resolution;
  double cutoff;      /* largest, 0 without a pair style */
  double kick_time;   /* h: dt/2 for MD_NVE, dt for the leapfrogs */
  double *impulse_k;  /* [ntypes*ntypes][MD_PAIR_K], forces in quanta of v per kick */
  double *force_k;    /* forces in coarse quanta of f; energies in energy units */
  double close2;      /* pairs nearer than this squared distance may have impulses beyond MD_ROUND_RANGE */
  double *overlap2;   /* by pair of types: below this one the impulse leaves every range, [ntypes*ntypes] */
  double speed_limit; /* along one axis, */
  double speed_most;  /* and what a shorter timestep could make of it */
  double
      move_limit; /* the largest displacement along one axis in one step: a few cutoffs, or the speed limit's */
  int nmiddle;
  md_action middle[MD_MIDDLES_MAX]; /* what acts between the two halves of a drift, in this order */
} md_model;

void md_model_init(md_model *model);
void md_model_free(md_model *model);

/* Checks the deck's part and derives the rest; rounds the box and walls to the position grid.
 * MD_USAGE: no box, missing masses or coefficients, a cutoff above half a periodic side, wall outside the
 * box, a bound of accuracy that cannot be kept, ... */
md_status md_model_prepare(md_model *model) MD_CHECKED;

/* Puts particles on the model's grids: positions rounded and wrapped, v := velocity m/m_reference rounded.
 * MD_PHYSICS: NaN, a particle outside a fixed box (the id is named). MD_RUNTIME: no memory for second words.
 * Idempotent on a prepared state. */
md_status md_model_enter(const md_model *model, md_particles *particles) MD_CHECKED;

/* v back to velocities, of which md_model_enter makes the same momenta again. Where a double cannot hold them, v_low
 * keeps what md_model_enter must add, in quanta. */
void md_model_leave(const md_model *model, md_particles *particles);

/* The velocity of particle i along axis d while an engine runs. */
double md_model_velocity(const md_model *model, const md_particles *particles, int d, int64_t i);

/* Cutoff and skin together are at most so many cutoffs: the position grid leaves room for ghosts that far beyond a box. */
#define MD_REACH_CUTOFFS 4.0

/* The skin that engines are to begin with: the deck's, but a skin beyond the cutoff only makes work. */
double md_model_skin(const md_model *model);

/* What is measured of a state: exact sums over the particles of one rank. */
typedef struct md_measure {
  md_wide pair_energy2; /* twice the sum over pairs, in fine quanta of e */
  md_wide virial2;      /* twice the sum of r.f over pairs, in fine quanta of w */
  md_wide kinetic;      /* in fine quanta of k */
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
