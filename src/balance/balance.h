/* The balance of the ranks' work: the words of `balance` and of fix balance. They change no bit of the results. */
#ifndef MD_SRC_BALANCE_BALANCE_H
#define MD_SRC_BALANCE_BALANCE_H

#include "src/sim.h"

/* Reads N THRESHOLD [shift [AXES [ITERATIONS STOP]]] [weight group ...], the words of fix balance, into *balance.
 * MD_USAGE: a word is refused. */
md_status md_balance_settings(const md_sim *sim, const md_words *words, md_balance *balance) MD_CHECKED;

/* What the words `weight STYLE ...` ask for, besides weights of groups, which are part of md_balance. */
enum { MD_BALANCE_WEIGHTS = 8 };
typedef struct md_balance_weights {
  int n;
  struct {
    enum { MD_BALANCE_VARIABLE, MD_BALANCE_TIME, MD_BALANCE_NEIGHBOURS } kind;
    const char *variable; /* a word of the command */
    double factor;
  } of[MD_BALANCE_WEIGHTS];
} md_balance_weights;

/* Reads all words from words->word[w] on: `weight STYLE ...`, any number of times. MD_USAGE: a word is refused; or it
 * is a weight for which *weights has no place (weights NULL: in a run, only groups have weights). */
md_status md_balance_read_weights(const md_sim *sim, const char *command, const md_words *words, int w,
                                  md_balance *balance, md_balance_weights *weights) MD_CHECKED;

/* Makes *each the products of the weights by local index, or NULL if there are none; the caller frees it. They are at
 * least 1. Collective. MD_USAGE: a variable is unknown, or a weight is not positive. */
md_status md_balance_weigh(md_sim *sim, const md_balance_weights *weights, double **each) MD_CHECKED;

#endif
