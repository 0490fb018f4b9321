/* The words `weight STYLE ...` of balance: how much work a particle is.
 *
 * Weights of groups go into md_balance (common/ranks/comm.h), because they hold in runs too. A variable gives each
 * particle a weight. The times and the neighbours of the last run give all particles of a rank the same one: the
 * rank's share per particle, over that of the rank with the least. A factor below 1 brings these weights nearer to
 * each other, as LAMMPS does.
 * Reference: the LAMMPS manual, command balance.
 */
#include "common/ranks/balance.h"
#include "common/ranks/reductions.h"
#include "src/balance/balance.h"
#include "src/commands/groups.h"
#include "src/formula/particle_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static md_status read_positive(const char *word, const char *what, double *value)
{
  MD_TRY(md_word_positive(word, what, value));
  if (*value <= MD_BALANCE_MOST) return MD_OK;
  return md_error(MD_USAGE, "%s is %.64s; at most %g is accepted", what, word, MD_BALANCE_MOST);
}

/* group N NAME WEIGHT ...: *w stands at N, and then behind the last weight. */
static md_status read_groups(const md_sim *sim, const char *command, const md_words *words, int *w,
                             md_balance *balance)
{
  int64_t n;
  MD_TRY(md_word_int64(words->word[(*w)++], "the number of groups of a weight", 1, MD_BALANCE_GROUPS, &n));
  if (*w + 2 * n > words->n)
    return md_error(MD_USAGE, "%s weight group: %lld groups need a name and a weight each", command,
                    (long long)n);
  for (; n > 0; --n, *w += 2) {
    int group;
    if (balance->ngroup == MD_BALANCE_GROUPS)
      return md_error(MD_USAGE, "%s: at most %d groups may have weights", command, MD_BALANCE_GROUPS);
    MD_TRY(md_group_find(sim, words->word[*w], &group));
    balance->group[balance->ngroup] = md_group_bit(group);
    MD_TRY(read_positive(words->word[*w + 1], "a weight of a group", &balance->weight[balance->ngroup++]));
  }
  return MD_OK;
}

/* var v_NAME, time F or neigh F: *w stands behind the style. */
static md_status read_other(const char *command, const char *style, const md_words *words, int *w,
                            md_balance_weights *weights)
{
  const char *word = words->word[(*w)++];
  if (weights->n == MD_BALANCE_WEIGHTS)
    return md_error(MD_USAGE, "%s: at most %d weights are accepted", command, MD_BALANCE_WEIGHTS);
  const int k = weights->n++;
  if (strcmp(style, "var") == 0) {
    weights->of[k].kind = MD_BALANCE_VARIABLE;
    weights->of[k].variable = strncmp(word, "v_", 2) == 0 ? word + 2 : word;
    return MD_OK;
  }
  weights->of[k].kind = strcmp(style, "time") == 0 ? MD_BALANCE_TIME : MD_BALANCE_NEIGHBOURS;
  return read_positive(word, "the factor of a weight", &weights->of[k].factor);
}

md_status md_balance_read_weights(const md_sim *sim, const char *command, const md_words *words, int w,
                                  md_balance *balance, md_balance_weights *weights)
{
  while (w < words->n) {
    if (strcmp(words->word[w], "weight") != 0)
      return md_error(MD_USAGE, "%s: unexpected '%.64s'; accepted is weight STYLE ...", command,
                      words->word[w]);
    if (w + 2 >= words->n) return md_error(MD_USAGE, "%s weight: a style and its value are missing", command);
    const char *style = words->word[w + 1];
    const bool group = strcmp(style, "group") == 0;
    const bool other = strcmp(style, "var") == 0 || strcmp(style, "time") == 0 || strcmp(style, "neigh") == 0;
    if (!group && !other)
      return md_error(MD_USAGE, "%s weight: unknown style '%.64s'; accepted are group, var, time, neigh",
                      command, style);
    if (other && !weights)
      return md_error(MD_USAGE,
                      "%s weight %s: in a run only groups have weights; the command balance takes it",
                      command, style);
    w += 2;
    MD_TRY(group ? read_groups(sim, command, words, &w, balance)
                 : read_other(command, style, words, &w, weights));
  }
  return MD_OK;
}

/* ---- values ---- */

/* The weight of all particles of this rank from its share of a work; 1 if the share is unknown. */
static md_status weight_of_rank(md_sim *sim, double work, double factor, double *weight)
{
  const double own = work > 0.0 && sim->particles.n > 0 ? work / (double)sim->particles.n : 0.0;
  double bounds[2] = {own, own > 0.0 ? -own : -(double)INFINITY}; /* the largest, and minus the smallest */
  MD_TRY(sim->comm->reduce->max(sim->comm, bounds, 2));
  const double most = bounds[0], least = -bounds[1];
  *weight = 1.0;
  if (!(own > 0.0) || !(most > least)) return MD_OK;
  /* LAMMPS: the largest weight becomes `factor` times as large, and those between in proportion. */
  *weight = md_max(1.0, (least + (own - least) / (most - least) * (most * factor - least)) / least);
  return MD_OK;
}

static md_status multiply(md_sim *sim, const md_balance_weights *weights, int k, double *value, double *each)
{
  const int64_t n = sim->particles.n;
  if (weights->of[k].kind != MD_BALANCE_VARIABLE) {
    const bool time = weights->of[k].kind == MD_BALANCE_TIME;
    double weight;
    MD_TRY(weight_of_rank(sim, time ? sim->run_work : sim->run_neighbours, weights->of[k].factor, &weight));
    for (int64_t i = 0; i < n; ++i) each[i] *= weight;
    return MD_OK;
  }
  char name[128];
  snprintf(name, sizeof name, "v_%s", weights->of[k].variable);
  MD_TRY(md_particle_values_of(sim, name, value));
  double wrong = 0.0;
  for (int64_t i = 0; i < n; ++i) {
    if (!(value[i] > 0.0 && value[i] <= MD_BALANCE_MOST)) wrong = 1.0;
    each[i] *= value[i];
  }
  MD_TRY(sim->comm->reduce->max(sim->comm, &wrong, 1));
  if (wrong == 0.0) return MD_OK;
  return md_error(MD_USAGE, "balance weight var %.64s: weights must be positive, and at most %g",
                  weights->of[k].variable, MD_BALANCE_MOST);
}

md_status md_balance_weigh(md_sim *sim, const md_balance_weights *weights, double **each)
{
  *each = NULL;
  if (weights->n == 0) return MD_OK;
  const int64_t n = sim->particles.n;
  double *product = NULL, *value = NULL;
  md_status status = md_array_new(&product, n + 1, sizeof *product, "weights of particles");
  if (status == MD_OK) status = md_array_new(&value, n + 1, sizeof *value, "weights of particles");
  status = md_comm_agree(sim->comm, status);
  for (int64_t i = 0; i < n && status == MD_OK; ++i) product[i] = 1.0;
  for (int k = 0; k < weights->n && status == MD_OK; ++k) status = multiply(sim, weights, k, value, product);
  free(value);
  if (status == MD_OK)
    *each = product;
  else
    free(product);
  return status;
}
