/* A table of ids: a map from ids to 32-bit values, for files that name particles in any order.
 *
 * The table is an array indexed by id as long as all ids are at most `expected`, which is usual: 4 bytes a
 * particle. The first larger id turns it into a hash table with open addressing: 24 to 48 bytes a particle.
 */
#ifndef MD_SRC_PARTICLES_ID_TABLE_H
#define MD_SRC_PARTICLES_ID_TABLE_H

#include "common/base/error.h"
#include <stdint.h>

typedef struct md_id_table {
  int64_t nslot;
  int64_t used;
  int64_t *key;   /* NULL while the table is an array; 0: free slot */
  int32_t *value; /* 0: absent */
} md_id_table;

/* Makes an empty table for about `expected` ids. MD_RUNTIME: out of memory. */
md_status md_id_table_init(md_id_table *table, int64_t expected) MD_CHECKED;
void md_id_table_free(md_id_table *table);

/* The address of the value of an id, to read or change it (not to 0). NULL: the id, any number, is absent. */
int32_t *md_id_table_find(const md_id_table *table, int64_t id);

/* Adds an absent id >= 1 with a value other than 0. MD_RUNTIME: out of memory. */
md_status md_id_table_add(md_id_table *table, int64_t id, int32_t value) MD_CHECKED;

#endif
