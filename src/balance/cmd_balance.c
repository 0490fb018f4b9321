/* The command balance, which moves the cuts between the domains of ranks, and its words, which fix balance shares. The
 * new cuts are found in mpi/domains.c (shift) and mpi/bricks.c (rcb), from the loads of common/ranks/balance.h.
 * Reference: the LAMMPS manual, command balance. */
#include "common/ranks/balance.h"
#include "common/ranks/domains.h"
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"
#include "src/balance/balance.h"
#include "src/box/faces.h"

#include <stdlib.h>
#include <string.h>

static bool is_number(const char *word)
{
  char *end;
  (void)strtod(word, &end);
  return end != word && !*end;
}

static md_status read_axes(const md_sim *sim, const char *word, const char *command, bool axis[3])
{
  for (int d = 0; d < 3; ++d) axis[d] = false;
  for (const char *c = word; *c; ++c) {
    const int d = *c - 'x';
    if (d < 0 || d >= sim->model.box.dim || axis[d])
      return md_error(MD_USAGE,
                      "%s shift: '%.16s' does not name axes of the box; write %s or some of them, each once",
                      command, word, sim->model.box.dim == 2 ? "x, y" : "x, y, z");
    axis[d] = true;
  }
  return MD_OK;
}

static md_status check_bisection(const md_sim *sim, const char *command)
{
  if (sim->comm->size > 1 && sim->model.box.triclinic)
    return md_error(MD_USAGE, "%s rcb: domains of a tilted box are layers along its axes; take shift",
                    command);
  return MD_OK;
}

/* Reads rcb, or shift [AXES [ITERATIONS STOP]], at words->word[*w], and moves *w past them. */
static md_status read_style(const md_sim *sim, const md_words *words, const char *command, bool axis[3],
                            bool *bisects, int *w)
{
  /* LAMMPS finds the cuts by iterations. Here they are found at once, so these numbers are only checked. */
  int64_t iterations;
  double stop;
  const int n = words->n;
  for (int d = 0; d < 3; ++d) axis[d] = d < sim->model.box.dim;
  if (*w == n || strcmp(words->word[*w], "weight") == 0) return MD_OK;
  if (strcmp(words->word[*w], "rcb") == 0) {
    ++*w;
    *bisects = true;
    return check_bisection(sim, command);
  }
  if (strcmp(words->word[*w], "shift") != 0)
    return md_error(MD_USAGE, "%s: unknown style '%.64s'; accepted are shift and rcb", command,
                    words->word[*w]);
  if (++*w == n || strcmp(words->word[*w], "weight") == 0) return MD_OK;
  MD_TRY(read_axes(sim, words->word[(*w)++], command, axis));
  if (*w < n && is_number(words->word[*w]))
    MD_TRY(md_word_int64(words->word[(*w)++], "iterations of balance shift", 1, INT32_MAX, &iterations));
  if (*w < n && is_number(words->word[*w]))
    MD_TRY(md_word_double(words->word[(*w)++], "the stop threshold of balance shift", &stop));
  return MD_OK;
}

static md_status read_threshold(const char *word, const char *command, double *threshold)
{
  MD_TRY(md_word_double(word, "the imbalance above which cuts move", threshold));
  if (*threshold > 0.0) return MD_OK;
  return md_error(
      MD_USAGE, "%s: the threshold, the largest load of a rank over the average, must be positive, not %.64s",
      command, word);
}

md_status md_balance_read(const md_sim *sim, const char *command, const md_words *words, int w,
                          md_balance *balance, md_balance_weights *weights)
{
  MD_TRY(read_threshold(words->word[w++], command, &balance->threshold));
  MD_TRY(read_style(sim, words, command, balance->axis, &balance->bisects, &w));
  return md_balance_read_weights(sim, command, words, w, balance, weights);
}

/* ---- cuts that the deck gives ---- */

/* Does the word name an axis, for x|y|z uniform | FRACTION ...? */
static bool is_axis(const char *word) { return word[0] >= 'x' && word[0] <= 'z' && !word[1]; }

/* Sets the cuts along the axis at words->word[*w], and moves *w past its fractions. */
static md_status set_cuts(md_sim *sim, const md_words *words, int *w)
{
  const int axis = words->word[(*w)++][0] - 'x';
  double fraction[MD_BALANCE_CUTS], last = 0.0;
  int n = 0;
  if (axis >= sim->model.box.dim)
    return md_error(MD_USAGE, "balance z: there are no cuts along z in two dimensions");
  if (*w < words->n && strcmp(words->word[*w], "uniform") == 0) {
    ++*w;
    return sim->comm->domains->set_cuts(sim->comm, &sim->model.box, axis, -1, NULL);
  }
  for (; *w < words->n && is_number(words->word[*w]); ++n, ++*w) {
    if (n == MD_BALANCE_CUTS)
      return md_error(MD_USAGE, "balance: at most %d cuts are accepted", MD_BALANCE_CUTS);
    const char *word = words->word[*w];
    MD_TRY(md_word_double(word, "a cut of balance", &fraction[n]));
    if (!(fraction[n] > last && fraction[n] < 1.0))
      return md_error(MD_USAGE, "balance: cuts must increase, between 0 and 1: '%.64s'", word);
    last = fraction[n];
  }
  if (sim->planning.checking) return MD_OK; /* the deck may be meant for another number of ranks */
  return sim->comm->domains->set_cuts(sim->comm, &sim->model.box, axis, n, fraction);
}

md_status md_balance_now(md_sim *sim, double *imbalance, int64_t *total)
{
  md_comm *comm = sim->comm;
  *total = md_balance_load(&comm->balance, &sim->particles);
  double most = (double)*total;
  MD_TRY(comm->reduce->max(comm, &most, 1));
  MD_TRY(comm->reduce->sum(comm, total, 1));
  *imbalance = *total > 0 ? most * comm->size / (double)*total : 1.0;
  return MD_OK;
}

/* balance x|y|z ...: the cuts of all axes that are named. */
static md_status cut_as_given(md_sim *sim, const md_words *words)
{
  for (int w = 1; w < words->n;) {
    if (!is_axis(words->word[w]))
      return md_error(MD_USAGE, "balance: unexpected '%.64s' after cuts", words->word[w]);
    MD_TRY(set_cuts(sim, words, &w));
  }
  return sim->comm->exchange->migrate(sim->comm, &sim->model, &sim->particles);
}

/* balance shift: imbalance[0] and [1] are those before and after. */
static md_status shift(md_sim *sim, double imbalance[2])
{
  md_comm *comm = sim->comm;
  int64_t total;
  /* Particles of a restart are not yet with their owners. */
  MD_TRY(comm->exchange->migrate(comm, &sim->model, &sim->particles));
  MD_TRY(md_balance_now(sim, &imbalance[0], &total));
  imbalance[1] = imbalance[0];
  if (imbalance[0] <= comm->balance.threshold) return MD_OK;
  MD_TRY(comm->domains->rebalance(comm, &sim->model, &sim->particles, imbalance));
  return comm->exchange->migrate(comm, &sim->model, &sim->particles);
}

md_status md_do_balance(md_sim *sim, const md_words *words)
{
  md_comm *comm = sim->comm;
  double imbalance[2], *each = NULL;
  md_balance_weights weights = {0};
  md_balance balance = {0};
  int64_t total;
  MD_TRY(md_sim_need_box(sim, "balance"));
  const bool gives_cuts = words->n > 1 && is_axis(words->word[1]);
  if (gives_cuts) {
    MD_TRY(read_threshold(words->word[0], "balance", &balance.threshold));
  } else {
    MD_TRY(md_balance_read(sim, "balance", words, 0, &balance, &weights));
    if (sim->planning.checking) return MD_OK; /* a variable may need particles */
  }
  MD_TRY(md_faces_follow(sim)); /* commands before may have moved particles */
  if (!gives_cuts) MD_TRY(md_balance_weigh(sim, &balance, &weights, &each));
  const md_balance kept = comm->balance;
  balance.each = each;
  comm->balance = balance;
  md_status status = gives_cuts ? md_balance_now(sim, &imbalance[0], &total) : shift(sim, imbalance);
  if (gives_cuts && status == MD_OK) status = cut_as_given(sim, words);
  if (gives_cuts && status == MD_OK) status = md_balance_now(sim, &imbalance[1], &total);
  comm->balance = kept;
  free(each);
  md_particles_show(&sim->particles, &sim->model.box);
  MD_TRY(status);
  md_log_print(sim->log, "Balance: %s of a rank over the average %.4g, now %.4g\n",
               md_balance_weighs(&balance) ? "largest weight" : "most particles", imbalance[0], imbalance[1]);
  return MD_OK;
}
