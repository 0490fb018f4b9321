/* Where the particle with a given id is: a map from ids to 32-bit values, for reading files in any order.
 *
 * As long as all ids are at most `expected`, which is what programs write, the table is an array indexed by id:
 * 4 bytes a particle. The first larger id turns it into a hash table with open addressing, 24 to 48 bytes.
 */
#ifndef MD_SRC_PARTICLES_ID_TABLE_H
#define MD_SRC_PARTICLES_ID_TABLE_H

#include "common/base/error.h"
#include <stdint.h>

typedef struct md_id_table {
  int64_t nslot;
  int64_t used;
  int64_t *key;   /* NULL while the id is the slot; 0 = free */
  int32_t *value; /* 0 = absent */
} md_id_table;

/* An empty table for about `expected` ids. MD_RUNTIME: out of memory. */
md_status md_id_table_init(md_id_table *table, int64_t expected) MD_CHECKED;
void md_id_table_free(md_id_table *table);

/* The place of an id's value, to change it (not to 0); NULL if the id (any number) is absent. */
int32_t *md_id_table_find(const md_id_table *table, int64_t id);

/* Adds an absent id >= 1 with a value other than 0. MD_RUNTIME: out of memory. */
md_status md_id_table_add(md_id_table *table, int64_t id, int32_t value) MD_CHECKED;

#endif
