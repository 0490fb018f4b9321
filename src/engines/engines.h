/* The engine table: the engines that --engine accepts, each a md_engine_kind (common/engine.h). An engine for pair
 * styles without a cutoff is found from there. */
#ifndef MD_SRC_ENGINES_ENGINES_H
#define MD_SRC_ENGINES_ENGINES_H

#include "common/engine.h"

typedef struct md_engine_entry {
  const char *name;
  const md_engine_kind *kind; /* NULL: the engine is in the GPU engine's library */
} md_engine_entry;

/* The table. Its first entry is the default. */
extern const md_engine_entry md_engines[];
extern const int md_engines_count;

/* Finds an engine by name. NULL: there is none. */
const md_engine_entry *md_engine_find(const char *name);

/* The engine that computes a prepared model if `kind` was chosen: for a pair style without a cutoff that of
 * kind->all_pairs, and openmp in the place of an engine for which the box is too small (md_engine_kind.sides_most). */
const md_engine_kind *md_engine_for(const md_engine_kind *kind, const md_model *model,
                                    const md_engine_options *options, int ranks);

/* How many times as long as a periodic side the cutoff may be at most (md_engine_kind.sides_most). */
double md_engine_sides_most(const md_engine_kind *kind, const md_engine_options *options, int ranks);

/* Gives the engine of an entry in *kind, and loads its library first if it has one. MD_USAGE, MD_RUNTIME: the
 * engine is not available; the message says what to do. */
md_status md_engine_get(const md_engine_entry *entry, const md_engine_kind **kind) MD_CHECKED;

#endif
