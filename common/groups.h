/* Groups: named sets of particles, on which fixes, computes and dumps act.
 *
 * A particle has a word of 32 bits, md_particles.group: bit g is set if the particle is in group g. Group 0 is `all`.
 * As long as `all` is the only group, no particle has such a word, so that it costs no memory and no time.
 */
#ifndef MD_COMMON_GROUPS_H
#define MD_COMMON_GROUPS_H

#include <stdint.h>

enum { MD_GROUPS_MAX = 32 };

/* The bit of group 0. */
#define MD_GROUP_ALL UINT32_C(1)

typedef struct md_groups {
  int n;                        /* groups, `all` among them */
  char name[MD_GROUPS_MAX][64]; /* "": a group that was deleted */
  int64_t count[MD_GROUPS_MAX]; /* particles of all ranks; not of `all` */
} md_groups;

static inline uint32_t md_group_bit(int group) { return UINT32_C(1) << group; }

#endif
