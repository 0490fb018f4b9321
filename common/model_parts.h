/* What the files of the model share, and nothing else needs: model.c prepares a model, model_scales.c finds what its
 * grids must resolve, model_box.c chooses the grid of positions and changes the box, model_particles.c brings particles
 * to the grids.
 */
#ifndef MD_COMMON_MODEL_PARTS_H
#define MD_COMMON_MODEL_PARTS_H

#include "common/model.h"

/* Values of pairs are below this. Quanta are powers of two above the largest values, and the end of the doubles has
 * none. */
#define MD_PAIR_LARGEST 0x1p960

/* The usual sizes of forces and energies, from pair style and thermostat. Zero: unknown, because there is neither. */
typedef struct md_scales {
  double strongest, weakest;   /* force of a pair at its usual distance, over the types that interact */
  double weak_fix, strong_fix; /* usual forces of fixes, if all are known and there are no others */
  double energy;       /* largest of that force times the distance, and of the thermostat's temperature */
  double least_energy; /* the same of the weakest pair */
  double lightest;     /* the smallest mass */
  double shortest;     /* the smallest usual distance of types */
  double length;       /* a usual length: the cutoff, or the size of a system without a cutoff */
} md_scales;

/* The scales of a model whose masses and pairs are complete. unit_k: coefficients for forces in units of force. */
md_scales md_scales_of(const md_model *model, const double *unit_k);

/* MD_USAGE: a usual force is not a number, or is too large for the grids. */
md_status md_scales_check(const md_model *model, const md_scales *s) MD_CHECKED;

/* The smallest mass of all types, or of all particles. */
double md_lightest_mass(const md_model *model);

/* The pair style's name, for messages. */
const char *md_model_pair_name(const md_model *model);

/* Makes the box the one from which the grids follow: it gets its room, if it has none, and faces that follow the
 * particles lie at the end of the room. */
void md_model_take_room(md_model *model);

/* Chooses the move limit and the grid of positions, and rounds box, walls and tilt factors to it. MD_USAGE: the
 * timestep is too short for the box, a wall is outside the box, or a side is too thin. */
md_status md_model_prepare_box(md_model *model, const md_scales *s) MD_CHECKED;

/* Must periodic sides be at least two cutoffs during the run? */
bool md_model_needs_two_cutoffs(const md_model *model);

/* The coefficients of the friction and noise among the terms of a head, without the repulsion of the same style.
 * Returns false if there are none. */
bool md_friction_of_term(const double *head, double alone[MD_PAIR_K]);

#endif
