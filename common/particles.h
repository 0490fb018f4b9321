/* The particles of one rank, as a structure of arrays, one array for each field of particle_fields.def.
 *
 *   index   0 ....................... n ........................ n + nghost ......... capacity
 *             owned particles           ghosts: x, type, id        room
 *
 * Ghosts are copies: periodic images, or particles of other ranks. Local indices have 32 bits, so that a rank holds at
 * most 2^31 - 64 particles and ghosts together. Ids and global counts have 64 bits. In two dimensions component 2 is
 * NULL. Particles may be in any order, and no result may depend on it.
 */
#ifndef MD_COMMON_PARTICLES_H
#define MD_COMMON_PARTICLES_H

#include "common/base/error.h"
#include "common/box.h"
#include "common/groups.h"
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MD_PARTICLES_MAX INT64_C(2147483584)

/* The most slots of a particle for bonds, and for ids of particles with which it does not interact as a pair. */
enum { MD_BONDS_MAX = 8, MD_SPECIALS_MAX = 32 };

typedef struct md_particles {
  int dim;
  int64_t n;        /* owned particles */
  int64_t nghost;   /* ghosts, after the owned particles */
  int64_t capacity; /* elements of each array */
  int64_t *id;
  uint16_t *type;
  double *x[3];
  double *v[3];
  bool wide;         /* momenta have second words: set by md_particles_widen */
  int64_t *v_low[3]; /* NULL unless wide */
  double v_low_unit; /* the momentum of a quantum of v_low; 0 as long as all v_low are zero */
  bool has_v_pair;   /* pair forces depend on velocities: set by md_particles_make_v_pair */
  /* The velocities after the last drift, on which the forces at the present positions depend; also of ghosts, once the
   * engine has fetched them. NULL unless has_v_pair. What changes velocities or adds particles between runs takes the
   * arrays away, and the next run begins with the velocities that it finds. */
  double *v_pair[3];
  bool grouped;        /* there are groups besides `all`: set by md_particles_make_groups */
  uint32_t *group;     /* bits of groups (groups.h); NULL unless grouped: all particles are in `all` only */
  bool massed;         /* particles have masses of their own: set by md_particles_make_masses */
  double *mass;        /* NULL unless massed: masses are by type (md_mass_of in model.h) */
  bool anchored;       /* a fix ties particles to places: set by md_particles_make_anchors */
  double *anchor[3];   /* NULL unless anchored */
  bool pushed;         /* the program around gives forces: set by md_particles_make_external */
  double *external[3]; /* these forces; NULL unless pushed */
  bool bonded;         /* atom_style bond: set by md_particles_make_bonds */
  uint32_t *molecule;  /* NULL unless bonded */
  int bonds;           /* slots for bonds of each particle; free ones hold 0, and are the last */
  int64_t *bond[MD_BONDS_MAX];       /* ids of partners */
  uint16_t *bond_type[MD_BONDS_MAX]; /* from 1 */
  int specials; /* slots for ids without a pair force; free ones hold 0, and are the last */
  int64_t *special[MD_SPECIALS_MAX]; /* made for each run by src/bonds/special.c */
  void *spare[3];                    /* dim arrays of 8-byte elements: see md_particles_spare */
  int64_t spare_capacity;
} md_particles;

/* Makes *p empty, for dim 2 or 3. Free with md_particles_free, which makes *p empty again. */
void md_particles_init(md_particles *p, int dim);
void md_particles_free(md_particles *p);

/* Makes room for `capacity` particles, and keeps the first n + nghost. The arrays grow by an eighth at least, so that
 * many calls for little more room are cheap. MD_RUNTIME: out of memory, and the message says how much is needed; or
 * more than MD_PARTICLES_MAX. */
md_status md_particles_reserve(md_particles *p, int64_t capacity) MD_CHECKED;

/* Makes *to a copy of the owned particles of *from, without ghosts. `to` is empty, or an earlier copy, and has its own
 * arrays. MD_RUNTIME: out of memory. */
md_status md_particles_copy(md_particles *to, const md_particles *from) MD_CHECKED;

/* Gives momenta second words, all zero, or takes them away. Does nothing if p->wide is `wide` already. MD_RUNTIME: out
 * of memory. */
md_status md_particles_widen(md_particles *p, bool wide) MD_CHECKED;

/* Gives particles the velocities of pair forces, all 0 as long as they are not set, or takes them away. Does nothing if
 * has_v_pair is `there` already. MD_RUNTIME: out of memory. */
md_status md_particles_make_v_pair(md_particles *p, bool there) MD_CHECKED;

/* Takes the velocities of pair forces away, because velocities are new. */
void md_particles_forget_v_pair(md_particles *p);

/* Gives particles words of groups, with the bit of `all` alone. Does nothing if they have words already. MD_RUNTIME:
 * out of memory. */
md_status md_particles_make_groups(md_particles *p) MD_CHECKED;

/* Is particle i in the group with this bit (groups.h)? */
static inline bool md_particles_in_group(const md_particles *p, uint32_t bit, int64_t i)
{
  return bit == MD_GROUP_ALL || (p->grouped && (p->group[i] & bit) != 0);
}

/* Gives particles masses of their own, all 0 as long as they are not set. Does nothing if they have masses already.
 * MD_RUNTIME: out of memory. */
md_status md_particles_make_masses(md_particles *p) MD_CHECKED;

/* Gives particles anchors, which are NaN as long as they are not set, or takes them away. Does nothing if
 * p->anchored is `anchored` already. MD_RUNTIME: out of memory. */
md_status md_particles_make_anchors(md_particles *p, bool anchored) MD_CHECKED;

/* Gives particles the forces of fix external, which are 0 as long as they are not set, or takes them away. Does nothing
 * if p->pushed is `pushed` already. MD_RUNTIME: out of memory. */
md_status md_particles_make_external(md_particles *p, bool pushed) MD_CHECKED;

/* Gives particles a molecule, and at least `bonds` slots for bonds, all free as long as they are not set.
 * bonds: 0 to MD_BONDS_MAX. MD_RUNTIME: out of memory. */
md_status md_particles_make_bonds(md_particles *p, int bonds) MD_CHECKED;

/* Makes the number of slots for ids without a pair force. Those that are there keep their ids, and new ones are free.
 * MD_RUNTIME: out of memory. */
md_status md_particles_make_specials(md_particles *p, int specials) MD_CHECKED;

/* Particle i, which is new, has no molecule, no bonds, no anchor and no external force. */
static inline void md_particles_set_alone(md_particles *p, int64_t i)
{
  if (p->bonded) p->molecule[i] = 0;
  for (int d = 0; d < p->dim && p->anchored; ++d) p->anchor[d][i] = (double)NAN;
  for (int d = 0; d < p->dim && p->pushed; ++d) p->external[d][i] = 0.0;
  for (int k = 0; k < p->bonds; ++k) p->bond[k][i] = p->bond_type[k][i] = 0;
  for (int k = 0; k < p->specials; ++k) p->special[k][i] = 0;
}

/* Wraps the positions of owned particles into the box along its periodic axes, from any distance. Exact. */
void md_particles_wrap(md_particles *p, const md_box *box);

/* The place of particle i in the parallelepiped of a tilted box, as LAMMPS shows it; of another box its place. In two
 * dimensions z is 0. */
static inline void md_particle_shown(const md_particles *p, const md_box *box, int64_t i, double x[3])
{
  for (int d = 0; d < 3; ++d) x[d] = d < p->dim ? p->x[d][i] : 0.0;
  md_box_show(box, x);
}

/* Where particle i is shown along an axis, in units of the box's edges. In two dimensions z is 0. */
double md_particle_scaled(const md_particles *p, const md_box *box, int axis, int64_t i);

/* Moves the owned particles of a tilted box to where they are shown. Exact: md_particles_wrap moves them back. */
void md_particles_show(md_particles *p, const md_box *box);

/* Sets *lo and *hi to the least and the largest of x[i], i < n; of none that is a number, to infinity and -infinity. */
void md_particles_extent(const double *x, int64_t n, double *lo, double *hi);

/* Makes the spare arrays as large as those of the fields, so that spare[d] may change places with x[d] or v[d]. If
 * their size changes, their contents are lost. Permutations use them, and engines do between two rebins. MD_RUNTIME:
 * out of memory. */
md_status md_particles_spare(md_particles *p) MD_CHECKED;

/* Permutes every field of the owned particles: new[k] = old[order[k]], k < n. order: a permutation of [0, n). Copies
 * dim fields at a time to the spare arrays, which then take the places of these fields. MD_RUNTIME: out of memory. */
md_status md_particles_permute(md_particles *p, const int32_t *order) MD_CHECKED;

/* Removes the owned particles with gone[i] != 0. The others keep their order. There are no ghosts then. */
void md_particles_remove(md_particles *p, const uint8_t *gone);

/* Makes an array with order[k] = local index of the particle with the k-th smallest id. The caller frees *order.
 * MD_RUNTIME: out of memory. */
md_status md_particles_order_by_id(const md_particles *p, int32_t **order) MD_CHECKED;

/* Write all fields of particle i to a record of md_particles_bytes() bytes, for messages; and read them back into place
 * i, which must be below the capacity. */
void md_particles_pack(const md_particles *p, int64_t i, void *record);
void md_particles_unpack(md_particles *p, int64_t i, const void *record);

/* The bytes of all fields of one owned particle, with the fields that *like has. Only its flags and numbers of
 * components are read. */
int md_particles_bytes(const md_particles *like);

#ifdef __cplusplus
}
#endif
#endif
