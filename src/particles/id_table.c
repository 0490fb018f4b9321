/* The map from ids to values; see id_table.h. The hash table has a power of two of slots, and doubles when it is
 * half full. It uses a multiplicative hash and linear probing. */
#include "src/particles/id_table.h"

#include <stdlib.h>

md_status md_id_table_init(md_id_table *table, int64_t expected)
{
  *table = (md_id_table){.nslot = expected};
  return md_array_new_zero(&table->value, expected, sizeof *table->value, "the table of ids");
}

void md_id_table_free(md_id_table *table)
{
  free(table->key);
  free(table->value);
  *table = (md_id_table){0};
}

/* The slot that holds the id, or the free one where it belongs. */
static int64_t probe(const md_id_table *table, int64_t id)
{
  const uint64_t mask = (uint64_t)table->nslot - 1;
  uint64_t hash = (uint64_t)id * UINT64_C(0x9e3779b97f4a7c15);
  hash ^= hash >> 32;
  int64_t slot = (int64_t)(hash & mask);
  while (table->key[slot] != 0 && table->key[slot] != id) slot = (int64_t)((uint64_t)(slot + 1) & mask);
  return slot;
}

int32_t *md_id_table_find(const md_id_table *table, int64_t id)
{
  if (id < 1 || (!table->key && id > table->nslot)) return NULL;
  const int64_t slot = table->key ? probe(table, id) : id - 1;
  return table->value[slot] ? &table->value[slot] : NULL;
}

/* Moves all entries into a new hash table with at least four slots for each entry. */
static md_status rehash(md_id_table *table)
{
  md_id_table larger = {.nslot = 64};
  while (larger.nslot < 4 * table->used) larger.nslot *= 2;
  MD_TRY(md_array_new_zero(&larger.key, larger.nslot, sizeof *larger.key, "the table of ids"));
  if (md_array_new_zero(&larger.value, larger.nslot, sizeof *larger.value, "the table of ids") != MD_OK) {
    free(larger.key);
    return MD_RUNTIME;
  }
  for (int64_t old = 0; old < table->nslot; ++old) {
    if (table->value[old] == 0) continue;
    const int64_t id = table->key ? table->key[old] : old + 1;
    const int64_t slot = probe(&larger, id);
    larger.key[slot] = id;
    larger.value[slot] = table->value[old];
  }
  larger.used = table->used;
  md_id_table old = *table;
  *table = larger;
  md_id_table_free(&old);
  return MD_OK;
}

md_status md_id_table_add(md_id_table *table, int64_t id, int32_t value)
{
  if (table->key ? 2 * (table->used + 1) > table->nslot : id > table->nslot) MD_TRY(rehash(table));
  const int64_t slot = table->key ? probe(table, id) : id - 1;
  if (table->key) table->key[slot] = id;
  table->value[slot] = value;
  ++table->used;
  return MD_OK;
}
