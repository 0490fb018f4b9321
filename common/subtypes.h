/* Subtypes: types of particles, divided by groups whose pairs do not interact.
 *
 * neigh_modify exclude group A B leaves pairs of particles out of the pair forces. An engine chooses the coefficients
 * of a pair by the types of both particles, and a row of zeros is no interaction. When a run begins, a group that has
 * all particles of some types, and none of the others, is known by these types. Other groups divide types: each
 * combination of them that some particle has is a class, and
 *
 *   subtype  =  type + ntypes * class     (both from 0)
 *
 * Engines take subtypes in the place of types for the rows of tables. Rows of excluded pairs are zero. For a
 * style with a density each subtype is an element of its own, and the tables of excluded pairs of elements are zero. So
 * it is for three-body styles.
 *
 * Trade-off: no kernel and no list knows of groups, and all engines have the same bits. In return an excluded pair
 * within the cutoff costs as much as one that interacts. A model without groups that divide has no subtypes and no
 * cost.
 * Cost: (ntypes classes)^2 rows of each table; with groups, 4 bytes a ghost of the host.
 */
#ifndef MD_COMMON_SUBTYPES_H
#define MD_COMMON_SUBTYPES_H

#include "common/base/error.h"
#include "common/groups.h"
#include "common/pair/pair.h"

#ifdef __cplusplus
extern "C" {
#endif

struct md_model;

/* Groups that divide types, and their combinations. */
enum { MD_DIVIDING_MAX = 8, MD_PATTERNS = 1 << MD_DIVIDING_MAX };

typedef struct md_subtypes {
  int n;      /* subtypes; 0: they are the types */
  int ngroup; /* groups that divide, group[0, ngroup) */
  int group[MD_DIVIDING_MAX];
  int nclass;
  int pattern[MD_PATTERNS];  /* by class: bit g says whether its particles are in group[g] */
  int class_of[MD_PATTERNS]; /* by pattern; 0 for a pattern that no particle has */
  uint32_t *whole; /* [ntypes + 1], by type from 1: the groups, by bit, that all of its particles have */
  md_pair pair;    /* the model's pair style, with subtypes as types; its `tables` are those of the model */
} md_subtypes;

/* The combination of the dividing groups that a word of groups has. */
static inline int md_pattern_of(const md_subtypes *s, uint32_t group)
{
  int pattern = 0;
  for (int g = 0; g < s->ngroup; ++g) pattern |= (int)(group >> s->group[g] & 1u) << g;
  return pattern;
}

/* The groups of the particles of all ranks, by bit: those that some particle of a type has, and those that some
 * particle of it has not. */
typedef struct md_memberships {
  uint32_t *some, *missing; /* [ntypes + 1], by type from 1 */
} md_memberships;

/* Finds the dividing groups of a model, of its pairs of excluded groups. MD_USAGE: there are more than
 * MD_DIVIDING_MAX. */
md_status md_subtypes_groups(const struct md_model *model, const md_memberships *memberships,
                             md_subtypes *subtypes) MD_CHECKED;

/* Divides the types of a prepared model, if it has excluded groups, or excluded types and a style with a density or
 * three bodies, and makes its tables anew. has[pattern]: some particle of any rank has the pattern. MD_USAGE: there
 * would be more than MD_TYPES_MAX subtypes, or too many elements. MD_RUNTIME: out of memory. */
md_status md_model_divide(struct md_model *model, const md_memberships *memberships,
                          const bool has[MD_PATTERNS]) MD_CHECKED;

/* Frees what the structure owns; then there are no subtypes. */
void md_subtypes_free(md_subtypes *subtypes);

#ifdef __cplusplus
}
#endif
#endif
