/* The engine table: what --engine accepts. */
#ifndef MD_SRC_ENGINES_ENGINES_H
#define MD_SRC_ENGINES_ENGINES_H

#include "common/engine.h"

typedef struct md_engine_entry {
  const char *name;
  const md_engine_kind *kind; /* NULL: in the GPU engine's library */
} md_engine_entry;

/* The first is the default. */
extern const md_engine_entry md_engines[];
extern const int md_engines_count;

/* NULL if there is none of that name. */
const md_engine_entry *md_engine_find(const char *name);

/* *kind: the engine, whose library is loaded first if it has one. MD_USAGE, MD_RUNTIME: it is not here, with what to
 * do. */
md_status md_engine_get(const md_engine_entry *entry, const md_engine_kind **kind) MD_CHECKED;

#endif
