/* The naive engine, which computes all pairs in O(n^2); see naive.c. */
#ifndef MD_SRC_ENGINES_NAIVE_H
#define MD_SRC_ENGINES_NAIVE_H

#include "common/engine.h"

extern const md_engine_kind md_engine_naive;

#endif
