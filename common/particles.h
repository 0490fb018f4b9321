/* Particles as a structure of arrays, generated from particle_fields.def.
 *
 * One rank's particles: [0, n) are owned, [n, n + nghost) are copies of periodic images or of other ranks'
 * particles, of which only x, type and id are kept. Local indices are 32 bit (one rank holds at most 2^31 - 64
 * particles and ghosts together); ids and global counts are 64 bit. In two dimensions component 2 is NULL.
 * Order is free: nothing that is computed may depend on it.
 */
#ifndef MD_COMMON_PARTICLES_H
#define MD_COMMON_PARTICLES_H

#include "common/base/error.h"
#include "common/box.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MD_PARTICLES_MAX INT64_C(2147483584)

typedef struct md_particles {
  int dim;
  int64_t n;        /* owned */
  int64_t nghost;   /* behind them */
  int64_t capacity; /* elements allocated in each array */
  int64_t *id;
  uint16_t *type;
  double *x[3];
  double *v[3];
  bool wide;         /* with second words of momenta: set by md_particles_widen */
  int64_t *v_low[3]; /* NULL unless wide */
  double v_low_unit; /* momentum that a count of v_low stands for; 0 as long as all are zero */
  void *spare[3];    /* dim arrays of 8-byte elements: see md_particles_spare */
  int64_t spare_capacity;
} md_particles;

/* An empty set for dim 2 or 3. Free with md_particles_free. */
void md_particles_init(md_particles *p, int dim);
void md_particles_free(md_particles *p);

/* Makes room for `capacity` particles, keeping the first n + nghost. Grows geometrically when called for
 * growth by little; errors: MD_RUNTIME out of memory, naming the need. */
md_status md_particles_reserve(md_particles *p, int64_t capacity) MD_CHECKED;

/* Gives momenta a second word, all zero, or takes it away; nothing if it is so already. MD_RUNTIME: out of memory. */
md_status md_particles_widen(md_particles *p, bool wide) MD_CHECKED;

/* Puts the owned particles into the box along its periodic axes, by any number of boxes, exactly. */
void md_particles_wrap(md_particles *p, const md_box *box);

/* Makes the spare arrays as large as the fields, so that spare[d] may change places with x[d] or v[d]. What they held
 * is lost if they had another size. Their users: permutations, and engines between two rebins. */
md_status md_particles_spare(md_particles *p) MD_CHECKED;

/* Permutes every field of the owned particles: new[k] = old[order[k]], k < n; order is a permutation of
 * [0, n). As many fields at a time as there are spare arrays, which are swapped in. */
md_status md_particles_permute(md_particles *p, const int32_t *order) MD_CHECKED;

/* order[k] = local index of the particle with the k-th smallest id. The caller frees *order. */
md_status md_particles_order_by_id(const md_particles *p, int32_t **order) MD_CHECKED;

/* All fields of particle i as md_particles_bytes() bytes, for messages; and back, into a place there is room for. */
void md_particles_pack(const md_particles *p, int64_t i, void *record);
void md_particles_unpack(md_particles *p, int64_t i, const void *record);

/* Bytes per owned particle of the fields above, for dim 2 or 3. */
int md_particles_bytes(int dim, bool wide);

#ifdef __cplusplus
}
#endif
#endif
