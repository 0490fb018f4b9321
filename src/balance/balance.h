/* The balance of the ranks' work: the words of `balance` and of fix balance. They change no bit of the results. */
#ifndef MD_SRC_BALANCE_BALANCE_H
#define MD_SRC_BALANCE_BALANCE_H

#include "src/sim.h"

/* What the words `weight STYLE ...` ask for, besides weights of groups, which are part of md_balance. */
enum { MD_BALANCE_WEIGHTS = 8 };
typedef struct md_balance_weights {
  int n;
  struct {
    enum { MD_BALANCE_VARIABLE, MD_BALANCE_TIME, MD_BALANCE_NEIGHBOURS } kind;
    char variable[64];
    double factor;
  } of[MD_BALANCE_WEIGHTS];
  char store[64]; /* the property that gets the weights, such as d_NAME; "": none does */
} md_balance_weights;

/* Reads THRESHOLD [shift [AXES [ITERATIONS STOP]]] [weight STYLE ...] from words->word[w] on. MD_USAGE: a word is
 * refused. */
md_status md_balance_read(const md_sim *sim, const char *command, const md_words *words, int w,
                          md_balance *balance, md_balance_weights *weights) MD_CHECKED;

/* Reads all words from words->word[w] on: `weight STYLE ...`, any number of times. MD_USAGE: a word is refused. */
md_status md_balance_read_weights(const md_sim *sim, const char *command, const md_words *words, int w,
                                  md_balance *balance, md_balance_weights *weights) MD_CHECKED;

/* Makes *each the products of the weights by local index, or NULL if there are none; the caller frees it. They are at
 * least 1. Stores them, with those of groups, if that is asked for. Collective. MD_USAGE: a variable or a property is
 * unknown, or a weight is not positive. */
md_status md_balance_weigh(md_sim *sim, const md_balance *balance, const md_balance_weights *weights,
                           double **each) MD_CHECKED;

/* The largest load of a rank over the average, and the load of all ranks. Collective. */
md_status md_balance_now(md_sim *sim, double *imbalance, int64_t *total) MD_CHECKED;

#endif
