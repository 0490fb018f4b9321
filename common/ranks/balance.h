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

/* The weight of particle i: the product of all its weights. */
static inline double md_balance_weight_of(const md_balance *b, const md_particles *p, int64_t i)
{
  double weight = b->each ? b->each[i] : 1.0;
  for (int k = 0; k < b->ngroup; ++k)
    if ((p->group ? p->group[i] : MD_GROUP_ALL) & b->group[k]) weight *= b->weight[k];
  return weight;
}

/* The load of particle i, in units; without weights 1. */
static inline int64_t md_balance_load_of(const md_balance *b, const md_particles *p, int64_t i)
{
  if (!md_balance_weighs(b)) return 1;
  return (int64_t)md_max(1.0, md_min(md_balance_weight_of(b, p, i) * MD_BALANCE_UNIT, 0x1p24));
}

/* Notes a look at the balance. total: the load of all ranks; imbalance: before and after; moved: have cuts moved? */
static inline void md_balance_note(md_comm *c, int64_t total, const double imbalance[2], bool moved)
{
  const double mean = (double)total / (md_balance_weighs(&c->balance) ? MD_BALANCE_UNIT : 1.0) / c->size;
  c->balanced = (md_balanced){imbalance[1], {mean * imbalance[1], moved ? 1.0 : 0.0, imbalance[0]}};
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
