/* The pair interactions of a model: the style, its parameters for each pair of types, and the coefficient tables that
 * engines read. The formulas of a style are in its file, common/pair/styles/pair_NAME.h, and pair_styles.h lists the
 * files.
 *
 *   pair_style NAME globals...           defaults of the last nglobal parameters, for all pairs of types
 *   pair_coeff I J parameters...         parameters of the types I and J
 *   md_pair_complete                     mixes the parameters of a missing pair i j from those of i i and j j
 *   md_pair_table                        parameters -> coefficients k[MD_PAIR_K] of the formulas
 *   md_STYLE_force, md_STYLE_energy      formulas of r2 and k
 *
 * Styles without a cutoff act between all pairs of particles, and their forces are proportional to both masses. Their
 * charge is the mass times a constant c of the style and of the caller's scale: k1 = -(m_i c)(m_j c). Their squared
 * distance is softened: r2 = k2 + dx^2 + dy^2 + dz^2, added in this order by fma. Such a style is computed by the
 * engines of openmp/all_pairs/all_pairs.c and gpu/all_pairs, which multiply charges themselves.
 *
 * The formulas of tables (common/pair/tables/table.h) read numbers out of files, which lie beside the coefficients. Two
 * coefficients together are the address of these numbers, so that a copy of the coefficients for another memory is
 * placed again.
 *
 * Styles with a density (common/pair/tables/eam.h) have a potential of tables in place of formulas of r2 and k.
 * pair_coeff gives a file. Three-body styles (common/pair/three_body/three_body.h) have a file too. Their formulas of
 * r2 and k are those of the part between two particles, and the other part is in the potential.
 *
 * The formulas of dissipative styles are those of their energy. The whole force also depends on velocities and random
 * numbers (common/pair/dissipative/dissipative.h). Their pair_style gives START, STOP, the seed and rc, in
 * md_pair.global.
 *
 * Pair styles hybrid and hybrid/overlay have sub-styles, and a row of coefficients for each of them
 * (common/pair/hybrid/hybrid.h).
 */
#ifndef MD_COMMON_PAIR_PAIR_H
#define MD_COMMON_PAIR_PAIR_H

#include "common/arithmetic/real.h"
#include "common/base/error.h"
#include "common/pair/tables/eam.h"
#include "common/pair/tables/table.h"
#include "common/pair/three_body/three_body.h"
#include "common/units.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* MD_PAIR_FORMULA: the coefficient that holds the number of the style, its md_pair_kind. Shared kernels choose the
 * formula by it. The formulas have the others. */
enum {
  MD_PAIR_PARAMETERS = 6,
  MD_PAIR_K = 16,
  MD_PAIR_FORMULA = 15,
  MD_NO_CUTOFF = -1,
  MD_AT_ZERO_ENERGY = -1
};

typedef enum md_mixing { MD_MIX_GEOMETRIC, MD_MIX_ARITHMETIC, MD_MIX_SIXTHPOWER } md_mixing;
typedef enum md_parameter_range { MD_ANY, MD_POSITIVE, MD_NOT_NEGATIVE } md_parameter_range;

typedef struct md_pair_parameter {
  const char *name;
  md_parameter_range range;
} md_pair_parameter;

/* A style: the host's part of its file. */
typedef struct md_pair_style {
  const char *name;
  const char *other_name; /* a second name that LAMMPS has for the style, or NULL */
  const char *summary;
  int nparameter;
  int nglobal;         /* the last nglobal parameters may be given to pair_style as defaults */
  int global_required; /* the number of these that must be given; the others are NaN then: the style's choice */
  int nunit;  /* the last 2 of these are constants of units, not given by decks: md_pair_add_units; or 0 */
  int nfixed; /* the first nfixed of these hold for all pairs of types: pair_coeff does not take them */
  int rc_parameter; /* the index of the cutoff, or MD_NO_CUTOFF */
  /* The usual distance of two particles is length_factor times this parameter. The force at this distance decides the
   * grids (common/model.c). Without a cutoff: the distance at which the force is largest. MD_AT_ZERO_ENERGY: the
   * distance at which attraction becomes repulsion, where the energy passes zero; if there is none, length_factor times
   * the cutoff, or less if the force decays before that.
   */
  int length_parameter;
  double length_factor;
  bool takes_shift; /* pair_modify shift has a meaning */
  bool dissipative; /* a style of common/pair/dissipative/dissipative.h: its force depends on velocities */
  bool density;     /* a style of common/pair/tables/eam.h: its numbers are in md_pair.eam */
  bool three_body;  /* a style of common/pair/three_body/three_body.h: its numbers are in md_pair.three */
  bool tabulated;   /* a style of common/pair/tables/table.h: its numbers are in md_pair.tables */
  bool hybrid;      /* a style of common/pair/hybrid/hybrid.h: its numbers are in md_pair.sub */
  bool by_type; /* the first two parameters are each of a type, and those of a type with itself are equal */
  bool needs_no_coeff; /* the style is complete without any pair_coeff */
  md_pair_parameter parameter[MD_PAIR_PARAMETERS];
  /* The distance at which a pair of types stops to interact, if that is not the parameter rc itself, else NULL. */
  double (*reach)(const double *parameter);
  /* The integral of r^2 U(r) from the cutoff on, without shift, for the tail correction (tail.h). NULL: the style takes
   * none. */
  double (*tail)(const double *parameter);
  /* Returns the reason why these parameters do not go together, or NULL if they do. The pointer is NULL for a style
   * that takes all combinations. */
  const char *(*refuse)(const double *parameter);
  /* Fills the parameters ab of a pair of types from those of each type with itself, a and b. NULL: LAMMPS has no rule,
   * and all pairs of types must be given. */
  void (*mix)(const double *a, const double *b, md_mixing mixing, double *ab);
  /* Fills k[MD_PAIR_K], which is zero before; k[0] is rc^2. The formulas then give forces times scale, and energies
   * without it. Without a cutoff: k[0] is infinite, k[1] is the charge c of a unit mass, and k[4] the energy of unit
   * masses; md_pair_table then takes the masses in. */
  void (*prepare)(const double *parameter, bool shift, double scale, double *k);
} md_pair_style;

/* One symbol for each style, MD_PAIR_lj_cut and so on. MD_PAIR_KINDS is their number. */
typedef enum md_pair_kind {
#define MD_PAIR_STYLE(symbol, name) MD_PAIR_##symbol,
#include "common/pair/pair_styles.h"
#undef MD_PAIR_STYLE
  MD_PAIR_KINDS,
  MD_PAIR_NONE = MD_PAIR_KINDS
} md_pair_kind;

/* Stand for all styles that share kernels, and for those with sub-styles, which share others, where a kernel has the
 * style as a template argument. */
enum { MD_PAIR_SHARED_STYLE = MD_PAIR_KINDS, MD_PAIR_HYBRID_STYLE };

typedef struct md_pair {
  md_pair_kind kind;  /* MD_PAIR_NONE: particles do not interact */
  double zero_cutoff; /* of pair_style zero, which has this kind too; 0: pair_style none */
  int ntypes;
  bool shift, tail; /* of pair_modify */
  md_mixing mixing;
  double global[MD_PAIR_PARAMETERS]; /* of pair_style, in the order of the last nglobal parameters */
  double *parameter;                 /* [ntypes*ntypes][MD_PAIR_PARAMETERS], symmetric */
  unsigned char *set;                /* [ntypes*ntypes] by pair_coeff (1), mixed (2), or not yet (0) */
  md_eam *eam;          /* the potential of a style with a density; NULL until pair_coeff has given it */
  md_three_body *three; /* the potential of a three-body style; NULL until pair_coeff has given it */
  md_tables *tables;    /* of a tabulated style; NULL until pair_coeff has given one */
  int nsub;             /* of hybrid and hybrid/overlay: */
  struct md_pair *sub;  /* the sub-styles [nsub], none of which has sub-styles */
  int64_t *uses;        /* [ntypes*ntypes], symmetric: bit s is set if sub-style s acts between these types */
} md_pair;

/* The style's description, or NULL for MD_PAIR_NONE. */
const md_pair_style *md_pair_style_of(md_pair_kind kind);

/* The kind with this name, or this other name; MD_PAIR_KINDS if no style has it. */
md_pair_kind md_pair_find(const char *name);

/* Does the style with a cutoff share kernels with others (pair_styles.h)? */
bool md_pair_shares_kernels(md_pair_kind kind);

/* Puts constants of units after the n numbers that a deck gives to a style, value[MD_PAIR_PARAMETERS + 2]: the energy
 * of two elementary charges times their distance, and an Angstrom. Returns how many numbers there are. */
int md_pair_add_units(md_pair_kind kind, const md_units *units, double *value, int n);

/* Gives *pair a style, without parameters of pairs. value: nvalue defaults of the last nglobal parameters. shift, tail
 * and mixing stay. The caller frees with md_pair_free. MD_USAGE: a wrong number of values, or a value out of its
 * domain. MD_RUNTIME: out of memory. */
md_status md_pair_start(md_pair *pair, md_pair_kind kind, int ntypes, const double *value,
                        int nvalue) MD_CHECKED;

/* Sets the parameters of the types i and j (1-based), in both orders. MD_USAGE: as above, or no style yet. */
md_status md_pair_set(md_pair *pair, int i, int j, const double *value, int nvalue) MD_CHECKED;

/* Mixes the parameters of missing pairs of types. MD_USAGE: a missing pair cannot be mixed, and the message names the
 * pair_coeff to add; or the style refuses the parameters of a pair. */
md_status md_pair_complete(md_pair *pair) MD_CHECKED;

/* The same for one pair of 0-based types. */
md_status md_pair_complete_types(md_pair *pair, int i, int j) MD_CHECKED;

/* Gives *pair another number of types, and takes all parameters of pairs away. The style keeps its defaults.
 * MD_RUNTIME: out of memory. */
md_status md_pair_settle(md_pair *pair, int ntypes) MD_CHECKED;

/* Frees the arrays, and makes *pair one without a style. */
void md_pair_free(md_pair *pair);

/* Is there a style, and is it one without a cutoff? */
bool md_pair_is_all(const md_pair *pair);

/* Is there a style, and is it one with a density? */
bool md_pair_has_density(const md_pair *pair);

/* Is there a style, and is it a three-body one? md_pair_has_passes: or one with a density; the forces of both are found
 * in two passes. */
bool md_pair_is_three_body(const md_pair *pair);
bool md_pair_has_passes(const md_pair *pair);

/* Is there a style, and is it a dissipative one, or does it have a dissipative sub-style? md_pair_dissipative_of: that
 * style, of which there is one at most; or NULL. */
bool md_pair_is_dissipative(const md_pair *pair);
const md_pair *md_pair_dissipative_of(const md_pair *pair);

/* Does the force of a pair of particles need more than their distance: densities, angles or velocities? */
bool md_pair_needs_more(const md_pair *pair);

/* The larger of the temperatures of a dissipative style; 0 for other styles. */
double md_pair_hottest(const md_pair *pair);

/* Gives a pair of a style with a density its potential, which the pair then owns, for the types that have an element.
 */
void md_pair_take_potential(md_pair *pair, md_eam *eam);

/* The same for a three-body style. */
void md_pair_take_three_body(md_pair *pair, md_three_body *three);

/* Is there a style, and is it a tabulated one? */
bool md_pair_is_tabulated(const md_pair *pair);

/* Gives a pair of a tabulated style a table that ends at rc, for all pairs of types i <= j with i0 <= i <= i1 and
 * j0 <= j <= j1, 1-based. MD_USAGE: rc is not within the values, or these are not fit for splines. MD_RUNTIME: out of
 * memory. */
md_status md_pair_add_table(md_pair *pair, const int i[2], const int j[2], const md_table_values *values,
                            double rc) MD_CHECKED;

/* The numbers of all tables of a style, or of its sub-styles: how many there are, and a copy of them one after the
 * other. */
int64_t md_pair_table_numbers(const md_pair *pair);
void md_pair_copy_tables(const md_pair *pair, double *to);

/* Makes the first n rows of a coefficient table ready for another memory. tables: the address of the numbers of
 * md_pair_copy_tables there. rows: the address of the whole coefficient table there, with numbers of `bytes` bytes. */
void md_pair_set_addresses(const md_pair *pair, double *k, int64_t n, const void *tables, const void *rows,
                           int bytes);

/* The square of the distance below which a row of coefficients has no values, and particles overlap; 0: none. */
double md_pair_least2(const double *k);

/* The rows of a coefficient table: ntypes^2, and with sub-styles as many again for each of them. */
int64_t md_pair_rows(const md_pair *pair);

/* Takes the interaction of the 0-based types i and j out of a coefficient table. */
void md_pair_exclude(const md_pair *pair, double *k, int i, int j);

/* The largest cutoff of all pairs of types, 0 without a style and for a style without a cutoff. For use after
 * md_pair_complete. */
double md_pair_cutoff(const md_pair *pair);

/* The distance at which 0-based types of a style with a cutoff and without sub-styles stop to interact. */
double md_pair_reach(const md_pair *pair, int i, int j);

/* The usual distance of two particles of 0-based types i and j. It is inside the cutoff; 0 if there is no
 * interaction. Without a cutoff: the distance of the largest force; 0 if the force has no largest value. energy:
 * a usual one of a particle. */
double md_pair_length(const md_pair *pair, int i, int j, double energy);

/* Fills the coefficient table k[md_pair_rows][MD_PAIR_K], MD_PAIR_FORMULA included, which belongs to the caller. The
 * row of 0-based types i and j is i*ntypes + j. Rows may hold addresses in the table, which must not move then. mass:
 * by type, from 1. scale: of forces. */
void md_pair_table(const md_pair *pair, const double *mass, double scale, double *k);

/* Fills the row k[MD_PAIR_K] of 0-based types of a style with a cutoff and without sub-styles. */
void md_pair_row(const md_pair *pair, int i, int j, bool shift, double scale, double *k);

/* The distance below rc at which the energy of n rows together, with `stride` numbers from one to the next, becomes
 * that of a repulsion from that of an attraction; 0: there is none. */
double md_pair_zero_of_energy(const double *k, int n, int64_t stride, double rc);

/* For a style without a cutoff: the coefficients of unit masses, k[MD_PAIR_K], in which k[1] is the charge c of a unit
 * mass. scale: of forces. */
void md_pair_unit_coefficients(const md_pair *pair, double scale, double *k);

/* The charge of a unit mass, for a style without a cutoff: k1 of a pair is minus the product of the two charges, each
 * a mass times this. scale: of forces. */
double md_pair_charge(const md_pair *pair, double scale);

/* k2 of a style without a cutoff, with which softened squared distances begin; 0 for other styles. */
double md_pair_softening2(const md_pair *pair);

/* The formulas for one pair at squared distance r2: F/r times the scale of the table, and the energy U. k: the row of
 * the table. Both are zero at the cutoff and beyond. These functions choose the style at every call, which is slow; the
 * openmp and gpu engines have kernels of their own. Both are 0 for a style with a density. The force of a dissipative
 * style is the part without velocities, and that of a three-body style the part between two particles. */
double md_pair_force(md_pair_kind kind, double r2, const double *k);
double md_pair_energy(md_pair_kind kind, double r2, const double *k);

#ifdef __cplusplus
}
#endif
#endif
