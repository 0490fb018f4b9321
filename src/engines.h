/* The engine table: what --engine accepts. */
#ifndef MD_SRC_ENGINES_H
#define MD_SRC_ENGINES_H

#include "common/engine.h"

extern const md_engine_kind *const md_engines[];
extern const int md_engines_count;

/* NULL if there is none of that name. */
const md_engine_kind *md_engine_find(const char *name);

#endif
