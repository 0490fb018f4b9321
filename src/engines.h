/* The engine table: what --engine accepts. */
#ifndef MD_SRC_ENGINES_H
#define MD_SRC_ENGINES_H

#include "common/engine.h"

extern const md_engine_kind *const md_engines[];
extern const int md_engines_count;

/* NULL if there is none of that name. */
const md_engine_kind *md_engine_find(const char *name);

/* The engines that this build was made without. */
typedef struct md_engine_left_out {
  const char *name;
  const char *needs; /* what it takes to have it */
} md_engine_left_out;

/* Ends with a name of NULL. */
extern const md_engine_left_out md_engines_left_out[];

#endif
