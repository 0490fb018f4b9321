/* The rungs of the ladder that run on a processor, and the bodies on which they work.
 *
 * A rung is one function in a file of its own. It does one iteration of its study: pulls on all bodies, then
 * velocities, then positions, and in the study `activity` the map. Everything is in single precision, as it was on the
 * GPUs.
 *
 * To add a rung: its file, and its line in LADDER_CPU_RUNGS.
 */
#ifndef MD_OPENMP_LADDER_LADDER_CPU_H
#define MD_OPENMP_LADDER_LADDER_CPU_H

#include "common/ladder/ladder.h"

/* The bodies of one case, which a rung moves. */
typedef struct cpu_bodies {
  int n;
  float dt;
  float *x, *y, *z, *m;
  float *u, *v, *w;    /* velocities */
  float *ax, *ay, *az; /* accelerations */
  unsigned *map;       /* [MAP_CELLS * MAP_CELLS] bodies in each cell of the unit square, rows of equal y */
} cpu_bodies;

/* On how many threads a rung runs: 1, all, or 1, 2, 4 ... up to all. */
typedef enum cpu_threads { CPU_ONE, CPU_ALL, CPU_SWEEP } cpu_threads;

/* R(study, function, name, rung before, threads, title without commas) */
#define LADDER_CPU_RUNGS(R)                                                                                  \
  R("activity", activity_one_core, "cpu-one-core", "", CPU_ONE, "one core of the processor")                 \
  R("activity", activity_openmp, "cpu-openmp", "cpu-one-core", CPU_ALL, "all cores by OpenMP")               \
  R("laboratory", laboratory_sequential, "sequential", "", CPU_ONE, "one core and two plain loops")          \
  R("laboratory", laboratory_omp1, "omp1", "sequential", CPU_SWEEP,                                          \
    "the inner loop in parallel with a reduction")                                                           \
  R("laboratory", laboratory_omp2, "omp2", "omp1", CPU_SWEEP, "the outer loop in parallel")                  \
  R("laboratory", laboratory_omp3, "omp3", "omp2", CPU_SWEEP, "one parallel region for both loops")          \
  R("porting", porting_cpu_thread, "cpu-thread", "", CPU_ONE, "one thread of the processor")

#define LADDER_CPU_DECLARE(study, function, name, before, threads, title) void function(cpu_bodies *b);
LADDER_CPU_RUNGS(LADDER_CPU_DECLARE)
#undef LADDER_CPU_DECLARE

#endif
