/* What fixes with flat walls share: wall/lj93, wall/lj126, wall/lj1043 and wall/harmonic. C and CUDA.
 *
 * A wall stands at right angles to an axis. A particle at distance r < cutoff from it, inside, has the potential energy
 * U(r) and is pushed inside by -dU/dr. A particle on the wall or behind it is an error.
 *
 * Numbers of a fix, for its wall m in the order of the deck: k[5 m] is 1 + 2 axis + side, plus 6 if the wall is on the
 * face of the box (EDGE), 0 after the last wall; then place, epsilon, sigma, cutoff.
 * Numbers of an action: k0 axis, k1 -1 below or 1 above, k2 place, k3 cutoff; from k4 on those of the potential.
 */
#ifndef MD_COMMON_WALL_WALL_H
#define MD_COMMON_WALL_WALL_H

#include "common/force/net_force.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MD_WALL_K = 5, MD_WALL_POTENTIAL = 4 };

/* Reads the name of a face (xlo, yhi, ...) into axis and side. False: the word is not such a name. */
bool md_wall_read_face(const char *word, int *axis, int *side);

/* Reads the value of the keyword `units`: lattice or box. MD_USAGE: it is neither. fix: name of the style. */
md_status md_fix_read_units(const char *fix, const char *word, bool *in_lattice) MD_CHECKED;

/* MD_USAGE if the face of the box follows the particles, where no wall can be. name: of the fix; face: its word. */
md_status md_wall_edge_stays(const md_box *box, const char *name, const char *face, int axis,
                             int side) MD_CHECKED;

/* parse and join of a style with walls. */
md_status md_wall_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope) MD_CHECKED;
md_status md_wall_join(const md_fix *fix, md_model *model) MD_CHECKED;

/* The size of the largest force of the walls of a fix. force: of one wall, from its MD_WALL_K numbers. */
double md_wall_largest(const md_fix *fix, double (*force)(const double *wall));

/* usual_force of a style with walls and a sigma. */
double md_wall_usual_force(const md_fix *fix, const md_model *model, double mass);

/* prepare_force of a style with walls. potential: makes the numbers k4 and so on of an action. */
typedef void (*md_wall_potential)(double epsilon, double sigma, double cutoff, double *k);
md_status md_wall_prepare(const md_fix *fix, const md_model *model, md_wall_potential potential,
                          md_force_action *action, int *count) MD_CHECKED;

#ifdef __cplusplus
}
#endif

/* Is the particle within the cutoff of the wall? r: receives its distance. */
MD_FN bool md_wall_reaches(const md_force_action *a, const md_particle *p, md_net_force *n, double *r)
{
  const double x = p->x[(int)a->k[0]];
  *r = a->k[1] < 0.0 ? x - a->k[2] : a->k[2] - x;
  if (!(*r > 0.0)) n->beyond = true;
  return *r > 0.0 && *r < a->k[3];
}

/* Gives the particle a force away from the wall, and the energy. */
MD_FN void md_wall_push(const md_force_action *a, md_net_force *n, double force, double energy)
{
  md_net_force_add(n, (int)a->k[0], -a->k[1] * force);
  n->energy = energy;
}

#endif
