/* The inner loops of the OpenMP engine: building the list, forces, energies, and moving. They are compiled once for
 * each instruction set (kernels.c), and the set is chosen at run time. All instances give the same bits.
 *
 * The list. A block is 8 consecutive particles in cell order, and each of its particles has a lane. Row r of the
 * block's list holds the r-th neighbour of each of the 8 particles: entry[8 r + lane]. Lanes with fewer neighbours
 * are filled up with the index of the far particle.
 *
 *      lane     0  1  2  3  4  5  6  7
 *      row 0    *  *  *  *  *  *  *  *     entry[0 .. 7]       *  index of a neighbour
 *      row 1    *  *  .  *  *  .  *  *     entry[8 .. 15]      .  index of the far particle
 *      row 2    *  .  .  *  .  .  .  *     entry[16 .. 23]
 *
 * Half lists have another layout (half_kernels.h).
 *
 * Trade-off: because each particle has its own lane, no lane writes the force of another particle. There are no
 * conflicts and no reductions, and the layout is the same for one neighbour or a hundred. But lists are full: each
 * pair is evaluated twice, and the filling of short lanes is evaluated too.
 */
#ifndef MD_OPENMP_FORCE_KERNELS_H
#define MD_OPENMP_FORCE_KERNELS_H

#include "common/bond/partners.h"
#include "common/faults.h"
#include "common/model.h"
#include "common/pair/tables/density.h"
#include "common/step/step.h"
#include "openmp/cells.h"

/* Particles of a block, blocks of a chunk, and particles of a chunk. */
enum { BLOCK = 8, CHUNK_BLOCKS = 8, CHUNK = BLOCK * CHUNK_BLOCKS };

/* The coordinates of the far particle, to which entries without a neighbour point. It is beyond any cutoff, and its
 * squared distance is finite in single precision. */
#define MD_FAR 0x1p60

/* Asks for the cache line at p, which need not exist. A function of its own that only does this must be inlined: gcc
 * takes it for one without effects. */
MD_FN void fetch_line(const void *p) { __builtin_prefetch(p, 0, 3); }

/* A growing array of list entries; each thread has one. */
typedef struct arena {
  int32_t *entry;
  int64_t used, capacity;
  int32_t *lane[BLOCK];  /* scratch: neighbours of each lane, for the block that is being built */
  int64_t lane_capacity; /* of each lane */
} arena;

/* What list building needs. Positions are in single precision, relative to the domain's corner. reach2 is large
 * enough for their rounding (openmp/rebin.c: single_reach2). */
typedef struct list_args {
  int dim;
  const float *x[3]; /* owned, in cell order */
  int64_t n;
  float reach2; /* list radius and rounding, squared */
  const cell_grid *grid;
  const cell_index *owned; /* order[k] = k */
  const cell_index *ghost;
  const float *ghost_x[3]; /* in cell order; order[k] + n is the ghost's index */
  int32_t far;         /* index of the far particle, or for half lists of the first of BLOCK far particles */
  int64_t first, last; /* half lists only: the particles of the thread of the chunk */
  const int64_t *id;   /* of owned particles and ghosts */
  int nexcluded;       /* ids that are left out of the list of particle i: excluded[k][i], k < nexcluded */
  int64_t *const *excluded;
  /* Exclusions by molecules: the molecules and groups of owned particles and ghosts. molecule: NULL if there are none;
   * group: NULL if there is only `all`. */
  const md_molecules *molecules;
  const double *molecule;
  const uint32_t *group;
} list_args;

/* What forces and measuring need. Measuring also needs two factors: per_e takes energies to coarse quanta of
 * grids.e, and per_w takes virials from the table's scale to coarse quanta of grids.w. Forces for output need their
 * quantum. */
typedef struct force_args {
  const double *x[3];
  const double *k;     /* coefficient table */
  const int32_t *type; /* subtypes, 0-based, owned and ghosts; NULL with one */
  int ntypes;
  double per_e, per_w; /* only for measuring */
  double quantum;      /* only for output: grids.f */
  /* Only for forces with their virial, that of impulses: its rounder, and whether its components are wanted. */
  double virial_rounder;
  bool axes;
  int64_t n; /* owned */
  /* Half lists only: records of all particles; pairs at most as near get no impulse. */
  const double *record; /* x, y, z, and the 0-based type, or for a style with a density the slope */
  int64_t *sum;         /* impulse in quanta, and number of terms */
  double near2;
} force_args;

/* What impulses of bonds need. k: of types of bonds, 1-based. */
typedef struct bond_args {
  const double *x[3];
  md_bond_kind kind;
  int slots, ntypes;
  const int32_t *const *index; /* partners of slots (md_partners) */
  uint16_t *const *type;       /* types of slots */
  const double (*k)[MD_BOND_K];
} bond_args;

/* What the sums of a style need whose force needs more than distances. slope, kept and scale: pass 2 only. */
typedef struct visit_args {
  const md_model *model;
  const md_eam *eam;          /* with a density: its potential */
  const md_three_body *three; /* of a three-body style: its potential */
  const double *x[3];
  const uint16_t *type; /* subtypes, from 1 */
  const int64_t *id;
  const double *slope;  /* F' of owned particles and ghosts */
  const double *kept;   /* of a three-body style: MD_THREE_SUMS numbers of each of them */
  const double *record; /* half lists only: positions, and in pass 2 slopes */
  int64_t *sum;         /* half lists only */
  double reach2;        /* the largest cutoff, squared */
  double scale;         /* of forces: to impulses, or to coarse quanta of grids.f */
  const double *k;      /* the coefficient table */
  /* Of a dissipative style: also the velocities of owned particles and ghosts. */
  md_dissipation dissipation;
  const double *u[3];
  int64_t total; /* owned and ghosts */
} visit_args;

typedef void (*visited_forces)(const visit_args *, int64_t first, int64_t last, const int32_t *entry,
                               const int32_t *rows, md_overlap *, double (*force)[CHUNK]);
typedef void (*visited_measures)(const visit_args *, int64_t first, int64_t last, const int32_t *entry,
                                 const int32_t *rows, md_overlap *, md_measure *);

/* An action after a step that scales velocities: component d is multiplied by factor[d], and is `most` at most. */
typedef struct scaling {
  double factor[3], most, v_step;
} scaling;

/* What a move needs. */
typedef struct move_args {
  const double *x[3];
  double *to[3], *v[3]; /* to: new positions, in other arrays than x or in x itself */
  const float *from[3]; /* positions from which the list was built, relative to corner */
  double corner[3];
  double kicks;      /* how many times each impulse is given (1 or 2) */
  double quantum;    /* of momenta */
  double time_scale; /* displacement per momentum of a drift, where all masses are equal */
  double scale[3];   /* of `from`: what the box has become since then */
  const md_step *step;
} move_args;

/* The noise of a bath that all particles have alike, between the two halves of a drift: the terms of fix langevin. */
typedef struct bath {
  double keep, noise, v_step;
  uint64_t seed, draw; /* draw: md_model_draw of the step */
  const int64_t *id;
} bath;

/* What the kinetic energies of particles of one mass need: the terms of compute ke. */
typedef struct kinetic_args {
  const double *v[3];
  int dim;
  double velocity_per_v, mass_reference, per_unit;
} kinetic_args;

/* Adds sums over the list entries of a chunk to a measure (kernels.measure). */
typedef double (*pair_measure)(const force_args *, int dim, int64_t first, int64_t last, const int32_t *entry,
                               const int32_t *rows, md_measure *);

/* Forces on the particles of a chunk, and their virial, which is added to a measure (kernels.force_virial). */
typedef double (*pair_force_virial)(const force_args *, int dim, int64_t first, int64_t last,
                                    const int32_t *entry, const int32_t *rows, double (*force)[CHUNK],
                                    md_measure *);

/* Forces on the particles of a chunk (kernels.force). */
typedef double (*pair_force)(const force_args *, int dim, int64_t first, int64_t last, const int32_t *entry,
                             const int32_t *rows, double (*force)[CHUNK]);

typedef struct kernels {
  const char *isa;
  int lanes; /* how many candidates for the list one vector tests */
  /* Builds the list of the particles [first, last), a chunk, and appends it to the arena. rows[b]: number of rows of
   * block b. *inner: true if the list can hold no ghost. Returns false if out of memory. */
  bool (*list)(const list_args *, int64_t first, int64_t last, arena *, int32_t *rows, bool *inner);
  /* Forces on the particles [first, last), a chunk with the list `entry`, `rows`. force[d][i - first] gets the sum
   * on particle i, in quanta of the table's scale. Returns the least squared distance of the chunk's pairs. */
  pair_force force[MD_PAIR_KINDS];
  /* The same, and the virial of impulses (common/compute/impulse_virial.h), or its components along the axes. */
  pair_force_virial force_virial[MD_PAIR_KINDS];
  /* The same for output: forces as fine sums (common/arithmetic/exact.h), in energy/length. */
  pair_force output[MD_PAIR_KINDS];
  /* Adds the energies and virials of all list entries of the chunk [first, last) to the measure. So both particles
   * of a pair add the pair once. Returns the least squared distance of the chunk's pairs. */
  pair_measure measure[MD_PAIR_KINDS];
  /* The same for the components of the virial. */
  pair_measure tensor[MD_PAIR_KINDS];
  /* The same for half lists in three dimensions (half_kernels.h). rows[2 (i - first)] and the next one: vectors of both
   * parts of the row of i. The forces are added to the records of a.sum, and if m is not NULL, the virial of impulses
   * to it, as half_impulse_virial adds it alone. tensor: components of the virial. */
  bool (*half_list)(const list_args *, int64_t first, int64_t last, arena *, int32_t *rows, bool *inner);
  double (*half_force)(const force_args *, md_pair_kind, int64_t first, int64_t last, const int32_t *entry,
                       const int32_t *rows, md_measure *m);
  double (*half_impulse_virial)(const force_args *, md_pair_kind, int64_t first, int64_t last,
                                const int32_t *entry, const int32_t *rows, md_measure *);
  double (*half_measure)(const force_args *, md_pair_kind, bool tensor, int64_t first, int64_t last,
                         const int32_t *entry, const int32_t *rows, md_measure *);
  int half_lanes; /* entries of a vector of the list */
  /* Multiplies the velocities of the chunk [first, last). */
  void (*scale)(const scaling *, int dim, double *const v[3], int64_t first, int64_t last);
  /* Adds the kinetic energies of the chunk [first, last) to the sum. Returns false, and adds nothing, if one of them
   * is beyond the range of vectors. */
  bool (*kinetic)(const kinetic_args *, int64_t first, int64_t last, md_wide *sum);
  /* Kicks and drifts the chunk [first, last), with walls, without a thermostat, for one mass. A change of the box may
   * carry all particles along axes or none, and tilts nothing. impulse[d][i - first]
   * is the impulse on particle i; impulse NULL: no kick. *largest2 becomes the larger of itself and the squared
   * displacements from `from`. Returns false if a particle of the chunk has moved beyond the limit, is NaN, or has
   * left the box. Then too all particles were kicked, so that the caller can name the one of the smallest id. */
  bool (*move)(const move_args *, const double *const *impulse, int64_t first, int64_t last,
               double *largest2);
  /* The same with a bath, for a box that does not change. Returns false, and changes nothing, if a particle of the
   * chunk meets a wall, has moved beyond the limit, is NaN, or has left the box. */
  bool (*move_in_bath)(const move_args *, const bath *, const double *const *impulse, int64_t first,
                       int64_t last, double *largest2);
  /* Adds the impulses of bonds on the particles of a chunk. Returns false, and changes nothing, if a partner is lost,
   * a bond is too long, or an impulse is too large for the fast rounding. */
  bool (*bonds)(const bond_args *, int dim, int64_t first, int64_t last, double (*force)[CHUNK]);
  /* For a style with a density: the densities at the particles of a chunk, in quanta. */
  void (*density)(const visit_args *, int64_t first, int64_t last, const int32_t *entry, const int32_t *rows,
                  int64_t *count);
  /* For a three-body style: the sums over the legs of the particles of a chunk. */
  void (*three_body_sums)(const visit_args *, int64_t first, int64_t last, const int32_t *entry,
                          const int32_t *rows, int64_t (*sum)[MD_THREE_SUMS]);
  /* For a style whose force needs more than distances: the same sums as above, in which pairs that overlap are left out
   * and noted. Energies of embeddings are the caller's. */
  visited_forces visited_force, visited_output;
  visited_measures visited_measure, visited_tensor;
  /* The same for half lists and a density of one element. half_density adds the densities to the first words of
   * the records of a.sum; half_density_force adds impulses to the records as half_force does. */
  void (*half_density)(const visit_args *, int64_t first, int64_t last, const int32_t *entry,
                       const int32_t *rows);
  void (*half_density_force)(const visit_args *, int64_t first, int64_t last, const int32_t *entry,
                             const int32_t *rows, md_overlap *);
  void (*half_density_measure)(const visit_args *, bool tensor, int64_t first, int64_t last,
                               const int32_t *entry, const int32_t *rows, md_overlap *, md_measure *);
} kernels;

/* The kernels of the instruction set `isa`, or (isa NULL) of the best one that build and processor have. Static.
 * Returns NULL if they have no set of this name. */
const kernels *kernels_choose(const char *isa);

#endif
