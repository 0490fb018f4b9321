/* The box in a minimisation with fix box/relax: sides that the minimiser changes as it moves particles.
 *
 * The unknowns are strains s of the axes, or one for all axes, from the box at the beginning. With the sides L0 and the
 * volume V0 of a reference, at first that box, L = (1 + s) L0, and what is minimised is
 *
 *   E = U + p (V - V0) + sum of V0 (P_d - p) ((L_d/L0_d)^2 - 1)/2
 *   -dE/ds_d = (W_d - p V)/(1 + s_d) - V0 (P_d - p) (1 + s_d)
 *
 * with the pressures P_d of the fix, their mean p, and the virial W_d of the pairs, sum of x_d f_d. At the minimum
 * W_d/V is P_d if all pressures are the same, or the box is that of the reference, which nreset brings about.
 *
 * A line search begins at places and in a box that are kept. A state on it follows from these alone: places go
 * with the box, then along the direction, and then to the grid. So the way there changes no bit, and a way back is
 * exact.
 *
 * Cost: a vector more, and for each evaluation a sum over pairs for the virial.
 * References: Parrinello and Rahman, J. Appl. Phys. 52 (1981) 7182; the LAMMPS manual, fix box/relax.
 */
#ifndef MD_SRC_MINIMIZE_RELAX_H
#define MD_SRC_MINIMIZE_RELAX_H

#include "src/minimize/minimizer.h"

/* Takes the present box for the reference, if a fix relaxes it. m->sim is set. */
void md_min_relax_begin(md_minimizer *m);

/* Finds the energy and the forces of the strains from the virial of the present places, in m->relax.energy and
 * m->force.box. Collective. */
md_status md_min_relax_evaluate(md_minimizer *m) MD_CHECKED;

/* Keeps the present places and box as those at which a line search begins. */
void md_min_relax_keep(md_minimizer *m);

/* Gives the box and the particles the state at `to` of the line search. MD_PHYSICS: the box is too small or too
 * large. */
md_status md_min_relax_move(md_minimizer *m, double to) MD_CHECKED;

/* Takes the present box for the reference where nreset says so. m->iterations is the iteration that begins. */
void md_min_relax_reset(md_minimizer *m);

/* The largest alpha with which the direction changes the box no more than vmax; infinity: any. */
double md_min_relax_most(const md_minimizer *m);

#endif
