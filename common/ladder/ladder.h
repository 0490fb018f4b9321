/* The ladder: small programs for teaching, which climb from a plain n-body code to a fast one, one change at a time.
 * A *study* is a problem, for example gravity in two dimensions. A *rung* is one version of the code that solves it.
 * This file has what the programs of all processors share: bodies, oracle, tolerances, command line and results.
 *
 *   1. ladder_main() reads the command line, and goes through studies, numbers of bodies and rungs.
 *   2. It makes the bodies of a study, the same on every machine, and their accelerations by the oracle.
 *   3. It calls the program's function climb(), which runs a rung, times it, and compares it with the oracle.
 *   4. It prints a line of results.
 *
 * All studies but cells sum the same pull on a body i over all other bodies j, with the study's softening s:
 *
 *   a_i = sum over j of m_j (x_j - x_i) / (|x_j - x_i|^2 + s)^(3/2)
 *
 * The study cells is another: its forces are of short range, so that the time grows with n and not with its square.
 *
 * Nothing of the engines uses the ladder. An error of the machine, as too little memory, ends the program.
 */
#ifndef MD_COMMON_LADDER_LADDER_H
#define MD_COMMON_LADDER_LADDER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is added to squared distances. */
#define ACTIVITY_SOFTENING 1e-4f
#define ATOMICS_SOFTENING 1e-4f
#define LABORATORY_SOFTENING 1e-9f
#define PORTING_SOFTENING 1e-4f

/* The largest error that a rung may have, as ladder_error() measures it: sums in single precision; the same with an
 * inverse root of fewer digits; sums in double precision. */
#define SINGLE_TOLERANCE 2e-5
#define ROUGH_TOLERANCE 1e-4
#define DOUBLE_TOLERANCE 1e-12

/* Cells of the activity map along x and along y. The map covers the unit square. */
#define MAP_CELLS 256

enum { LADDER_SAMPLES = 512 };

typedef enum ladder_shape {
  SHAPE_SQUARE,  /* uniform in the unit square, z = 0 */
  SHAPE_CUBE,    /* uniform in the unit cube */
  SHAPE_PLUMMER, /* Plummer's star cluster of scale length 1, without the stars beyond 10 */
  SHAPE_DISKS    /* as SHAPE_SQUARE; forces of short range, for which the study has an oracle of its own */
} ladder_shape;

typedef struct ladder_study {
  const char *name;
  ladder_shape shape;
  float softening;
  /* every mass is 1; otherwise masses differ by up to a factor of 3, and their sum is about 1 */
  bool equal_masses;
  const int *sizes; /* numbers of bodies that are run if the command line names none; ends with 0 */
} ladder_study;

/* The bodies of a study, at rest. */
typedef struct ladder_case {
  const ladder_study *study;
  int n;
  float *x, *y, *z, *m;
  float dt;    /* timestep with which a first step moves bodies by about 1e-6 */
  int samples; /* bodies whose accelerations the oracle knows: spread evenly, with the first and the last */
  int *sample;
  double (*acceleration)[3]; /* of sampled bodies */
  double *scale;             /* of sampled bodies: sum over j of the length of each pull */
} ladder_case;

typedef struct ladder_rung {
  const char *study, *name;
  const char *before; /* the rung with which the gain is computed; "" if there is none */
  const char *title;  /* without commas */
  double tolerance;
  int flop;   /* floating-point operations that count for an interaction: 20, in double precision 30 */
  bool sweep; /* run with every count of ladder_program.threads */
} ladder_rung;

typedef struct ladder_result {
  double ms;    /* median time of an iteration */
  int threads;  /* CPU threads, 0 on a GPU */
  double error; /* of ladder_error() */
  bool right;   /* all other checks of the rung have passed */
} ladder_result;

typedef struct ladder_program {
  const char *name;
  const ladder_rung *rungs;
  int rung_count;
  const int *threads; /* what rungs with `sweep` are run with */
  int thread_count;
  /* Runs rungs[rung] on the bodies of `c` and fills `result`. threads: one of the list above, 0 if the rung does not
   * sweep. repeat: the number of timings, whose median is ms. */
  void (*climb)(int rung, const ladder_case *c, int threads, int repeat, ladder_result *result);
} ladder_program;

/* The whole program. Returns its exit status: 0 if all rungs are right, 1 if one is not, 2 for a wrong command line. */
int ladder_main(const ladder_program *program, int argc, char **argv);

/* The largest error of the accelerations (ax, ay, az)[n] among sampled bodies: the length of the difference from the
 * oracle, divided by the sum of the lengths of all pulls on the body. Infinite if one is not a number. az may be null
 * in two dimensions. */
double ladder_error(const ladder_case *c, const double *ax, const double *ay, const double *az);

/* Are positions (x, y, z)[n] those of the case, moved by dt times the velocities (u, v, w)[n], but for rounding? z and
 * w may be null. */
bool ladder_moved(const ladder_case *c, const float *x, const float *y, const float *z, const float *u,
                  const float *v, const float *w);

/* Does map[MAP_CELLS * MAP_CELLS], rows of equal y, hold the exact numbers of positions (x, y)[n] in each cell?
 * Positions outside of the unit square are not counted. */
bool ladder_mapped(const ladder_case *c, const float *x, const float *y, const unsigned *map);

/* Sorts the times, and returns their median. */
double ladder_median(double *time, int count);

/* Memory that the caller frees with free(). Ends the program if there is none. */
void *ladder_allocate(int64_t count, int64_t size);

#ifdef __cplusplus
}
#endif

#endif
