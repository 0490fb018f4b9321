/* Pair interactions of a model: the style, its parameters for each pair of types, and the coefficient tables
 * the engines read. The formulas themselves are in pair_<style>.h, listed in pair_styles.h.
 *
 * A style's parameters come from `pair_style NAME globals...` (defaults for every pair: the last nglobal
 * parameters) and `pair_coeff I J parameters...`. A missing pair i j is mixed from i i and j j.
 */
#ifndef MD_COMMON_PAIR_H
#define MD_COMMON_PAIR_H

#include "common/base/error.h"
#include "common/real.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MD_PAIR_PARAMETERS = 4, MD_PAIR_K = 8 };

typedef enum md_mixing { MD_MIX_GEOMETRIC, MD_MIX_ARITHMETIC, MD_MIX_SIXTHPOWER } md_mixing;
typedef enum md_parameter_range { MD_ANY, MD_POSITIVE, MD_NOT_NEGATIVE } md_parameter_range;

typedef struct md_pair_parameter {
  const char *name;
  md_parameter_range range;
} md_pair_parameter;

typedef struct md_pair_style {
  const char *name;
  const char *summary;
  int nparameter;
  int nglobal;         /* the last nglobal parameters may be given to pair_style as defaults */
  int global_required; /* so many of them must be given there; the rest default to NaN = style's choice */
  int rc_parameter;    /* which one is the cutoff */
  /* The distance at which forces are of the usual size: so much of this parameter. Grids are chosen by the force
   * there (model.c). */
  int length_parameter;
  double length_factor;
  bool takes_shift;    /* pair_modify shift has a meaning */
  bool needs_no_coeff; /* complete without any pair_coeff */
  md_pair_parameter parameter[MD_PAIR_PARAMETERS];
  /* Why these parameters together make no sense, or NULL; may be NULL itself. */
  const char *(*refuse)(const double *parameter);
  void (*mix)(const double *a, const double *b, md_mixing mixing, double *ab);
  /* Fills k[MD_PAIR_K]; k[0] = rc^2. Forces come out multiplied by scale, energies never. */
  void (*prepare)(const double *parameter, bool shift, double scale, double *k);
} md_pair_style;

/* One symbol per style, MD_PAIR_lj_cut, ... and their number. */
typedef enum md_pair_kind {
#define MD_PAIR_STYLE(symbol, name) MD_PAIR_##symbol,
#include "common/pair_styles.h"
#undef MD_PAIR_STYLE
  MD_PAIR_KINDS,
  MD_PAIR_NONE = MD_PAIR_KINDS
} md_pair_kind;

typedef struct md_pair {
  md_pair_kind kind; /* MD_PAIR_NONE: an ideal gas */
  int ntypes;
  bool shift;
  md_mixing mixing;
  double global[MD_PAIR_PARAMETERS]; /* of pair_style, in the order of the last nglobal parameters */
  double *parameter;                 /* [ntypes*ntypes][MD_PAIR_PARAMETERS], symmetric */
  unsigned char *set;                /* [ntypes*ntypes] by pair_coeff (1), mixed (2), or not yet (0) */
} md_pair;

/* The style's description, or NULL for MD_PAIR_NONE. */
const md_pair_style *md_pair_style_of(md_pair_kind kind);

/* The kind of that name; MD_PAIR_KINDS if there is none. */
md_pair_kind md_pair_find(const char *name);

/* Starts a style (nvalue <= nglobal defaults). MD_USAGE: wrong count or a value out of its domain. */
md_status md_pair_start(md_pair *pair, md_pair_kind kind, int ntypes, const double *value,
                        int nvalue) MD_CHECKED;

/* Sets the pair of types i j (1-based) and j i. MD_USAGE as above. */
md_status md_pair_set(md_pair *pair, int i, int j, const double *value, int nvalue) MD_CHECKED;

/* Mixes what is missing. MD_USAGE: a pair whose own types are not set, naming the pair_coeff to add. */
md_status md_pair_complete(md_pair *pair) MD_CHECKED;

void md_pair_free(md_pair *pair);

/* Largest cutoff over all pairs, 0 without a style. After md_pair_complete. */
double md_pair_cutoff(const md_pair *pair);

/* The usual distance of two particles of 0-based types i and j, inside the cutoff; 0 if they do not interact. */
double md_pair_length(const md_pair *pair, int i, int j);

/* The coefficient table [ntypes*ntypes][MD_PAIR_K] for 0-based types i*ntypes + j. Caller owns it. */
void md_pair_table(const md_pair *pair, double scale, double *k);

/* The formulas for one pair, for engines that are not in a hurry, and tests: F/r times the table's scale,
 * and U, at squared distance r2; zero at and beyond the cutoff. */
double md_pair_force(md_pair_kind kind, double r2, const double *k);
double md_pair_energy(md_pair_kind kind, double r2, const double *k);

#ifdef __cplusplus
}
#endif
#endif
