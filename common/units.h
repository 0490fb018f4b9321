/* Systems of units: their constants, and the defaults that go with them.
 *
 * Inside the program there is one convention. Lengths, times, velocities and energies are in the deck's units, and a
 * mass is in energy time^2/length^2. Then F = m a, K = m v^2/2 and all other formulas need no factors. So masses are
 * converted where a deck or a file gives them, and back where they are shown. Temperatures and pressures stay in the
 * deck's units; a formula with a temperature takes boltz T for it, and a pressure is an energy over a volume times
 * nktv2p.
 *
 * The names and values of the constants are those of LAMMPS (29 Sep 2021), so that both programs compute the same
 * motion. Reference: the LAMMPS manual, command units.
 */
#ifndef MD_COMMON_UNITS_H
#define MD_COMMON_UNITS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct md_units {
  const char *name;
  double boltz;  /* Boltzmann's constant: energy of a unit of temperature */
  double mvv2e;  /* energy time^2/length^2 in a unit of mass */
  double nktv2p; /* pressure in a unit of energy over a unit of volume */
  double mv2d;   /* density in a unit of mass over a unit of volume */
  double speed;  /* a usual speed of particles, for models whose forces say too little: about that of a gas */
  double dt, skin;   /* the defaults of timestep and neighbor */
  double nanosecond; /* in units of time; 0: times have no fixed unit */
  /* Names of the units; "": reduced. */
  const char *length, *time, *energy, *mass, *velocity, *force;
  double electronvolt; /* in units of energy; 0: energies have no fixed unit */
  double charges;      /* two elementary charges: their energy times their distance; in reduced units 1 */
  double angstrom;     /* in units of length; 0: likewise */
} md_units;

/* Those of `units lj`, the default. */
extern const md_units md_units_lj;

/* The units of this name, or NULL. */
const md_units *md_units_find(const char *name);

/* The names that exist, for messages. */
const char *md_units_names(void);

/* A mass of the program in the deck's unit. It is a number with few digits if one gives the mass: that of the deck. */
double md_units_mass(const md_units *units, double mass);

#ifdef __cplusplus
}
#endif
#endif
