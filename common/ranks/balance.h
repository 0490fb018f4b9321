/* The load of ranks: particles, or their weights where a deck gives some (command balance).
 *
 * Weights are whole numbers of units, so that sums are the same on all ranks.
 */
#ifndef MD_COMMON_RANKS_BALANCE_H
#define MD_COMMON_RANKS_BALANCE_H

#include "common/particles.h"
#include "common/ranks/comm.h"

/* The largest weight that a deck may give, and the units of the weight 1. The product of several weights counts as at
 * most 2^24 units. */
#define MD_BALANCE_MOST 1000.0
#define MD_BALANCE_UNIT 0x1p12

static inline bool md_balance_weighs(const md_balance *b) { return b->ngroup > 0 || b->each; }

/* The load of particle i, in units; without weights 1. */
static inline int64_t md_balance_load_of(const md_balance *b, const md_particles *p, int64_t i)
{
  if (!md_balance_weighs(b)) return 1;
  double weight = b->each ? b->each[i] : 1.0;
  for (int k = 0; k < b->ngroup; ++k)
    if ((p->group ? p->group[i] : MD_GROUP_ALL) & b->group[k]) weight *= b->weight[k];
  return (int64_t)md_max(1.0, md_min(weight * MD_BALANCE_UNIT, 0x1p24));
}

/* The load of all particles of a rank. */
static inline int64_t md_balance_load(const md_balance *b, const md_particles *p)
{
  int64_t load = 0;
  if (!md_balance_weighs(b)) return p->n;
  for (int64_t i = 0; i < p->n; ++i) load += md_balance_load_of(b, p, i);
  return load;
}

#endif
