/* Fixes: what a deck's `fix` does to the model, one file for each style (fix_styles.h), for C and CUDA.
 *
 * A style has up to three parts in its file:
 *   1  its name, in the list;
 *   2  for the host: arguments, help, what it promises, and `join`, which puts it into the model. Integrators and walls are
 *      settings of the model, and nothing else;
 *   3  for every engine, if the style acts on particles: a function md_NAME_middle of one particle, called between the two
 *      halves of the drift (step.h), with the numbers that `prepare` made of its arguments.
 * A model with such a style is run by the general passes of each engine, and so are several types of particles on a GPU,
 * several masses, and wide momenta. Any other model is run by fused ones.
 */
#ifndef MD_COMMON_FIX_H
#define MD_COMMON_FIX_H

#include "common/base/error.h"
#include "common/base/words.h"
#include "common/box.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MD_FIXES_MAX = 32, MD_FIX_K = 12, MD_MIDDLES_MAX = 4, MD_ACTION_K = 6 };

/* One symbol per style, MD_FIX_nve, ... and their number. */
typedef enum md_fix_kind {
#define MD_FIX_STYLE(symbol, name) MD_FIX_##symbol,
#include "common/fix_styles.h"
#undef MD_FIX_STYLE
  MD_FIX_KINDS
} md_fix_kind;

/* A fix as the model holds it and restarts keep it. */
typedef struct md_fix {
  md_fix_kind kind;
  double k[MD_FIX_K]; /* arguments, as the style's file numbers them */
  int64_t seed;
} md_fix;

/* What a style acts with in a run: made by its `prepare` when the model is prepared. */
typedef struct md_action {
  md_fix_kind kind;
  double k[MD_ACTION_K];
  uint64_t seed;
} md_action;

/* What arguments may refer to. */
typedef struct md_fix_place {
  const md_box *box;
  double lattice[3]; /* length of a lattice unit along each axis, sigma */
} md_fix_place;

struct md_model;

typedef struct md_fix_style {
  const char *name;
  const char *usage; /* "langevin TSTART TSTOP DAMP SEED" */
  const char *help;  /* lines of at most 100 characters */
  const char *note;  /* printed once where a deck uses the style; NULL: nothing */
  bool needs_box;
  /* What a run with this fix promises. */
  bool conserves_momentum, conserves_energy, reversible;
  /* The words behind the style's name. MD_USAGE: what is wrong with them. */
  md_status (*parse)(md_fix *fix, const md_words *words, const md_fix_place *place);
  /* Puts the fix into the model, whose fixes before it are there. MD_USAGE: two fixes that exclude each other. */
  md_status (*join)(const md_fix *fix, struct md_model *model);
  /* For styles with md_NAME_middle, else NULL: the numbers it needs, of a model whose masses and timestep are known. */
  md_status (*prepare)(const md_fix *fix, const struct md_model *model, md_action *action);
} md_fix_style;

const md_fix_style *md_fix_style_of(md_fix_kind kind);

/* The kind of that name; MD_FIX_KINDS if there is none. */
md_fix_kind md_fix_find(const char *name);

/* Puts all fixes of a model into it, and nothing of fixes that it had before. MD_USAGE as join. */
md_status md_fixes_join(struct md_model *model) MD_CHECKED;

/* Fills model->middle. MD_USAGE as prepare. */
md_status md_fixes_prepare(struct md_model *model) MD_CHECKED;

/* Refuses words that are more or fewer than n. */
md_status md_fix_takes(const md_fix *fix, const md_words *words, int n) MD_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
