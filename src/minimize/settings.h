/* Settings of minimisers: what the commands min_style and min_modify say. The defaults are those of LAMMPS. Reference:
 * the LAMMPS manual, commands min_style and min_modify. */
#ifndef MD_SRC_MINIMIZE_SETTINGS_H
#define MD_SRC_MINIMIZE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

/* One symbol for each style, MD_MIN_cg and so on. MD_MIN_KINDS is their number. */
typedef enum md_min_kind {
#define MD_MIN_STYLE(symbol, name) MD_MIN_##symbol,
#include "src/minimize/styles/min_styles.def"
#undef MD_MIN_STYLE
  MD_MIN_KINDS
} md_min_kind;

typedef enum md_min_line { MD_LINE_BACKTRACK, MD_LINE_QUADRATIC, MD_LINE_FORCEZERO } md_min_line;

/* What of the forces is compared with the tolerance: the length of the vector of all forces, the largest force on a
 * particle, or the largest component. */
typedef enum md_min_norm { MD_NORM_TWO, MD_NORM_MAX, MD_NORM_INF } md_min_norm;

typedef enum md_min_integrator {
  MD_EULER_IMPLICIT,
  MD_VERLET,
  MD_LEAPFROG_DAMPED,
  MD_EULER_EXPLICIT
} md_min_integrator;

typedef struct md_min_settings {
  md_min_kind style;
  double dmax; /* the farthest that a particle moves along an axis in an iteration, sigma */
  md_min_line line;
  md_min_norm norm;
  /* Of fire. */
  md_min_integrator integrator;
  int64_t delaystep, vdfmax;
  double tmax, tmin; /* bounds of the timestep, as multiples of the deck's */
  double dtgrow, dtshrink, alpha0, alphashrink;
  bool halfstepback, initialdelay;
} md_min_settings;

static inline md_min_settings md_min_settings_default(void)
{
  return (md_min_settings){.style = MD_MIN_cg,
                           .dmax = 0.1,
                           .line = MD_LINE_QUADRATIC,
                           .norm = MD_NORM_TWO,
                           .integrator = MD_EULER_IMPLICIT,
                           .delaystep = 20,
                           .vdfmax = 2000,
                           .tmax = 10.0,
                           .tmin = 0.02,
                           .dtgrow = 1.1,
                           .dtshrink = 0.5,
                           .alpha0 = 0.25,
                           .alphashrink = 0.99,
                           .halfstepback = true,
                           .initialdelay = true};
}

#endif
