/* What an engine adds up or counts of a value of each particle, in place: sums over bins along axes (fix ave/chunk),
 * and counts by value (fix ave/histo). each_formulas.h has the formulas. Cost: a pass over the particles. */
#ifndef MD_COMMON_SUMS_EACH_H
#define MD_COMMON_SUMS_EACH_H

#include "common/model.h"
#include "common/sums/environment.h"

/* A value that engines can make of each particle. */
typedef enum md_each_kind {
  MD_EACH_TYPE,
  MD_EACH_MASS,
  MD_EACH_PLACE,    /* one coordinate, in the box */
  MD_EACH_VELOCITY, /* one component */
  MD_EACH_HEAT,     /* m v^2 */
  MD_EACH_COMPUTE,  /* the value of a compute with one value for each particle */
  MD_EACH_FORMULA   /* of these: a variable of style atom */
} md_each_kind;

/* A formula as steps on a stack of numbers: an operand is put onto it; an operation takes the last one or two numbers
 * and puts its result in their place.
 *
 *      sqrt(vx^2 + vy^2)   ->   vx  square  vy  square  plus  root
 */
typedef enum md_each_op {
  MD_OP_NUMBER,
  MD_OP_TYPE,
  MD_OP_MASS,
  MD_OP_PLACE,
  MD_OP_VELOCITY,
  MD_OP_ENVIRONMENT, /* a value that neighbours give (environment.h) */
  MD_OP_ID,          /* only beside such a value, as MD_OP_COMPARE */
  MD_OP_PLUS,        /* operations on two numbers from here ... */
  MD_OP_MINUS,
  MD_OP_TIMES,
  MD_OP_DIVIDE,
  MD_OP_COMPARE,
  MD_OP_SQUARE, /* ... and on one from here */
  MD_OP_ROOT,
  MD_OP_SIZE,
  MD_OP_NEGATE
} md_each_op;

typedef struct md_each_step {
  md_each_op op;
  int axis;      /* of a place or velocity; of an environment: the column */
  double number; /* the number; of masses: divisor */
} md_each_step;

/* Bits of the axis of a comparison, whose result is 1 or 0: when it is 1. */
enum { MD_COMPARE_LESS = 1, MD_COMPARE_EQUAL = 2, MD_COMPARE_GREATER = 4 };

/* MD_EACH_DEPTH: most numbers on the stack. */
enum { MD_EACH_STEPS = 12, MD_EACH_DEPTH = 4 };
typedef struct md_each_code {
  int n, depth, columns; /* steps; numbers on the stack at most; of the environment */
  md_each_step step[MD_EACH_STEPS];
  const md_environment *environment; /* that operands are of; NULL: none. As long as the engine lives */
  const double *value;               /* its values, [particle][columns]: of the engine */
} md_each_code;

typedef struct md_each {
  md_each_kind kind;
  int axis;                /* of a coordinate or component; beyond the dimensions the value is 0 */
  md_compute_kind compute; /* and the bits of its group. Other particles have the value 0 */
  uint32_t of_group;
  double divisor, factor; /* of masses and heat: the value is divided by one, and multiplied with the other */
  md_each_code code;      /* of a formula */
} md_each;

/* Bins along an axis of a box that is not tilted. */
typedef struct md_layers {
  int axis;
  bool reduced;      /* places are parts of the box */
  double lo, length; /* of the box; with `reduced` only */
  double first, per; /* where the first bin begins; bins per length */
  int64_t n;         /* bins */
  bool keep[2];      /* particles below, and above, all bins count to the outermost one, else to none */
} md_layers;

/* Sums of values over the particles in each bin. Of several axes the last one is the fastest. */
enum { MD_BINS_AXES = 3, MD_BINS_VALUES = 8 };
typedef struct md_bins {
  uint32_t groups; /* bits of groups; particles in all of them count */
  int naxis, nvalue;
  int64_t n; /* bins in all */
  md_layers along[MD_BINS_AXES];
  md_each value[MD_BINS_VALUES];
  double quantum[MD_BINS_VALUES];
} md_bins;

/* Counts of particles by their value. */
typedef enum md_beyond { MD_BEYOND_IGNORE, MD_BEYOND_END, MD_BEYOND_EXTRA } md_beyond;
typedef struct md_value_counts {
  md_each value;
  uint32_t group; /* bit of a group */
  double lo, hi, per;
  int64_t bins;
  md_beyond beyond; /* what becomes of values below lo or above hi */
} md_value_counts;

/* Before the bins: values in bins, and those in none. */
enum { MD_VALUES_COUNTED, MD_VALUES_MISSING, MD_VALUES_BINS };

#endif
