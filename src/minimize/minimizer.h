/* A minimiser: it moves the particles of all ranks towards a minimum of the potential energy E(x).
 *
 * A style (src/minimize/styles/min_styles.def) decides along which vector u, with a component for each particle and
 * axis, and how far:
 *
 *   iterate: sums of the forces  ->  direction, length  ->  md_minimizer_move: x += Q(a u), energy and forces there
 *
 * Q rounds to the grid of positions, so that a move back is exact, and no start has to be kept. Energy and forces come
 * from the engine of the run, and fixes on forces act as in output: a move creates an engine for the new places. All
 * decisions come from energies, exact sums and largest values over all ranks. So every engine, for any number of
 * threads and ranks, takes the same path to the same bits.
 *
 * Vectors: those of the style (a direction, forces before) are arrays by the present local index. An engine may order
 * the particles anew, and particles may go to another rank. Between two engines the vectors are therefore in the order
 * of ids, and their rows travel as the particles do.
 *
 * Trade-off: engines need nothing new for a minimisation. In return each evaluation makes its cells or lists anew, and
 * particles go to a GPU and back.
 * Cost of an evaluation: a new engine; a pass over pairs for the energy and one for the forces; two sorts by id; for a
 * vector 8 dim bytes a particle, twice while particles move.
 */
#ifndef MD_SRC_MINIMIZE_MINIMIZER_H
#define MD_SRC_MINIMIZE_MINIMIZER_H

#include "src/run/run.h"

/* Why a minimisation ends. The texts are those of LAMMPS. */
typedef enum md_min_stop {
  MD_MIN_GOES_ON,
  MD_MIN_MAXITER,
  MD_MIN_MAXEVAL,
  MD_MIN_ETOL,
  MD_MIN_FTOL,
  MD_MIN_NOT_DOWNHILL,
  MD_MIN_ZERO_ALPHA,
  MD_MIN_ZERO_FORCE,
  MD_MIN_ZERO_QUADRATIC,
  MD_MIN_UPHILL_STEPS,
  MD_MIN_STOPPED /* by a signal or the limit of time */
} md_min_stop;

/* The vectors of the styles. u, the direction: of a line search, or the velocity of a damped dynamics. g: the forces at
 * the beginning of the iteration before. After those of the style: the places that a relaxed box needs. */
enum { MD_MIN_U, MD_MIN_G, MD_MIN_VECTORS = 3 };

/* A vector: a component for each particle and axis, and one for each strain of the box (relax.h), else 0. */
typedef struct md_min_vector {
  double *x[3]; /* by local index */
  double box[3];
} md_min_vector;

/* The box, if a fix relaxes it. */
typedef struct md_min_relax {
  bool on;
  int fix; /* its index in the model */
  md_relax said;
  int start;        /* number of the vector that keeps places */
  md_box first;     /* of the strain 0 */
  md_box reference; /* of the energy 0 */
  md_box box;       /* at the beginning of the line search */
  bool together;    /* one strain for all axes */
  int of[3];        /* the strain of an axis */
  double strain[3];
  double strain_before[3];
  double virial[3]; /* of the present places, by axis */
  double energy;
} md_min_relax;

typedef struct md_minimizer {
  md_run *run;
  md_sim *sim;
  const md_min_settings *set;
  double etol, ftol;
  int64_t most_iterations, most_evaluations;
  bool dynamics; /* u is the velocity of the particles */
  bool stale;    /* the velocities of the particles are not yet u */
  int nvector;
  md_min_vector vector[MD_MIN_VECTORS];
  md_view view;        /* of the present places */
  md_min_vector force; /* its arrays belong to the view */
  md_min_relax relax;
  /* at the present places and before this iteration; as thermo_modify norm says */
  double energy, energy_before;
  int64_t iterations, evaluations;
  double alpha;  /* of the last line search */
  double looked; /* when the last iteration ended: a time of md_time */
  md_min_stop stop;
} md_minimizer;

/* A style. All functions are collective. */
typedef struct md_min_style {
  const char *name;
  bool dynamics;
  int nvector;
  /* Iterates until m->stop says why it ends. */
  md_status (*iterate)(md_minimizer *m);
} md_min_style;

#define MD_MIN_STYLE(symbol, name) extern const md_min_style md_min_##symbol;
#include "src/minimize/styles/min_styles.def"
#undef MD_MIN_STYLE

/* Allocates the vectors, all zero, and evaluates the present state with the engine of the run. m->run, sim, set,
 * dynamics, nvector and, if a fix relaxes the box, relax.on, fix, said and start are set. md_minimizer_end must follow,
 * also after an error. MD_RUNTIME: out of memory.
 * MD_PHYSICS: particles overlap. */
md_status md_minimizer_begin(md_minimizer *m) MD_CHECKED;
void md_minimizer_end(md_minimizer *m);

/* Moves all particles by Q(to u) - Q(from u), adds (kick/mass) f to u, with the forces before the move, and evaluates
 * energy and forces at the new places. `from` is what an earlier move in the same direction was given as `to`, or 0.
 * m->view, forces and vectors by local index are then new. With a relaxed box u also changes its strains, and particles
 * go with it.
 * MD_PHYSICS: a particle leaves a box that is not periodic, particles overlap, or the box is too small. Collective. */
md_status md_minimizer_move(md_minimizer *m, double from, double to, double kick) MD_CHECKED;

/* u += (t/mass) f. */
void md_minimizer_kick(md_minimizer *m, double t);

/* The sums over particles and axes of a[k] b[k], for n <= 4 pairs of vectors. Exact and then rounded once; then the
 * terms of strains are added. Collective. */
typedef struct md_min_product {
  const md_min_vector *a, *b;
} md_min_product;
md_status md_minimizer_products(const md_minimizer *m, int n, const md_min_product *of,
                                double *sum) MD_CHECKED;

/* The largest |component| of a vector, without strains. Collective. */
md_status md_minimizer_largest(const md_minimizer *m, const md_min_vector *vector,
                               double *largest) MD_CHECKED;

/* The square of a norm of the forces. Collective. */
md_status md_minimizer_norm(const md_minimizer *m, md_min_norm norm, double *square) MD_CHECKED;

/* Is the change of the energy in this iteration below the tolerance? */
bool md_minimizer_energy_is_steady(const md_minimizer *m);

/* Sets m->stop if the forces are below the tolerance. Collective. */
md_status md_minimizer_test_forces(md_minimizer *m) MD_CHECKED;

/* The beginning of an iteration, which is a step of the deck. False, and m->stop is set: there are no more. */
bool md_minimizer_next(md_minimizer *m);

/* The end of an iteration after which others follow: shows the step to the observers that are due, and looks at signals
 * and the limit of time. Collective. */
md_status md_minimizer_show(md_minimizer *m) MD_CHECKED;

/* Shows the last step to all observers. Collective. */
md_status md_minimizer_show_last(md_minimizer *m) MD_CHECKED;

#endif
