/* Pair styles hybrid and hybrid/overlay: several pair styles in one model.
 *
 * The styles are the sub-styles of the model's pair style. Each of them is an md_pair of its own, with its parameters,
 * shift, mixing and tables. md_pair.uses says which of them act between two types: with hybrid one or none, with
 * hybrid/overlay any number. A sub-style has a cutoff. Its force depends on the distance alone; only one sub-style may
 * be dissipative (common/pair/dissipative/dissipative.h), and then all terms of a pair are added by md_hybrid_term.
 *
 * The coefficient table has 1 + nsub planes of ntypes^2 rows:
 *
 *   plane 0       the heads, one for each pair of types
 *   plane 1 + s   the rows of sub-style s; k0 = 0 where the types do not use it
 *
 * The terms of a pair of types are its rows in the planes of sub-styles. A head has these coefficients:
 *   k0 = the largest rc^2 of a term                              k5 + k6 = the address of the first term
 *   k1 = the number of planes from the first to the last term    k7 = the row of the first term in the whole table
 *   k2 = the numbers between a row and that of the next plane    k8 = the address of the head
 *   k3 = nsub
 * Vectors of pairs go through all planes, because their lanes have different terms. They find the planes by k8, which
 * needs double precision; k5 and k6 are whole numbers that single precision has too, as those of tables
 * (common/pair/tables/table.h).
 *
 * Exactness: F/r of the terms is added in double precision in the order of sub-styles, and the sum is rounded to whole
 * quanta once, as the force of one style. Every engine adds in this order. A term beyond its own cutoff is left out, or
 * added as zero, which is the same. With one term the sum is the term, so that hybrid has the same bits as the style
 * alone.
 *
 * Trade-off: a head costs a load before those of the terms. A plane for each sub-style takes more memory than lists of
 * terms would, but tables are small.
 * Reference: the LAMMPS manual, pair_style hybrid.
 */
#ifndef MD_COMMON_PAIR_HYBRID_HYBRID_H
#define MD_COMMON_PAIR_HYBRID_HYBRID_H

#include "common/pair/dissipative/dissipative.h"

#ifdef __cplusplus
extern "C" {
#endif

/* MD_HYBRID_MOST: the largest number of sub-styles. The others: coefficients of a head. */
enum {
  MD_HYBRID_MOST = 16,
  MD_HYBRID_TERMS = 1,
  MD_HYBRID_STRIDE = 2,
  MD_HYBRID_SUBS = 3,
  MD_HYBRID_ADDRESS = 8,
  MD_HYBRID_NONE = -1
};

/* A sub-style, and the numbers that md_pair_start takes. */
typedef struct md_sub_style {
  md_pair_kind kind;
  double value[MD_PAIR_PARAMETERS + 2];
  int nvalue;
} md_sub_style;

/* Why a style cannot be a sub-style, or NULL if it can. */
const char *md_hybrid_refuses(md_pair_kind kind);

/* Gives *pair the style hybrid or hybrid/overlay with n sub-styles, in which no pair of types has coefficients. The
 * caller frees with md_pair_free. MD_USAGE: as md_pair_start, too many sub-styles, or one that cannot be. MD_RUNTIME:
 * out of memory. */
md_status md_hybrid_start(md_pair *pair, md_pair_kind kind, int ntypes, const md_sub_style *sub,
                          int n) MD_CHECKED;

/* Lets sub-style s act between the types i and j (1-based), of which it has the coefficients: with hybrid in place of
 * another one. MD_HYBRID_NONE: no sub-style acts between them. */
void md_hybrid_use(md_pair *pair, int s, int i, int j);

/* The functions of common/pair/pair.h with the same names (md_pair_complete and so on), for these styles. */
md_status md_hybrid_complete(md_pair *pair) MD_CHECKED;
md_status md_hybrid_settle(md_pair *pair, int ntypes) MD_CHECKED;
double md_hybrid_cutoff(const md_pair *pair);
double md_hybrid_length(const md_pair *pair, int i, int j, double energy);
void md_hybrid_table(const md_pair *pair, double scale, double *k);

/* Does sub-style s act between the 0-based types i and j? */
bool md_hybrid_uses(const md_pair *pair, int s, int i, int j);

/* What a pair of particles contributes, if a sub-style is dissipative: the sum of its terms in the order of sub-styles.
 * Arguments as of md_dissipative_force(); head: of the types. */
md_pair_term md_hybrid_term(const md_dissipation *d, const double *head, int64_t a, int64_t b,
                            const double *delta, const double *u, int dim, double r2);

/* The row of the dissipative sub-style among the terms of a head; NULL: these types have none. */
const double *md_hybrid_dissipative_row(const double *head);

/* The first term of a head, in double or in single precision. */
MD_FN const double *md_hybrid_first(const double *head)
{
  return (const double *)(uintptr_t)(head[5] + head[6]);
}

MD_FN const float *md_hybrid_first_single(const float *head)
{
  return (const float *)((uintptr_t)head[5] + (uintptr_t)head[6]);
}

#ifdef __cplusplus
}
#endif
#endif
