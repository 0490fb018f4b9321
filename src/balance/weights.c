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
#include "src/formula/particle_values.h"
#include "src/group/groups.h"
#include "src/properties/property.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static md_status read_positive(const char *word, const char *what, double *value)
{
  MD_TRY(md_word_positive(word, what, value));
  if (*value <= MD_BALANCE_MOST) return MD_OK;
  return md_error(MD_USAGE, "%s is %.64s; at most %g is accepted", what, word, MD_BALANCE_MOST);
}

/* group N NAME WEIGHT ...: *w stands at N, and then after the last weight. */
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

/* var v_NAME, time F, neigh F or store NAME: *w stands after the style. */
static md_status read_other(const char *command, const char *style, const md_words *words, int *w,
                            md_balance_weights *weights)
{
  const char *word = words->word[(*w)++];
  if (strlen(word) >= sizeof weights->store - 2)
    return md_error(MD_USAGE, "%s weight %s: the name '%.80s' is too long", command, style, word);
  if (strcmp(style, "store") == 0) {
    snprintf(weights->store, sizeof weights->store, "%s%.61s", strncmp(word, "d_", 2) == 0 ? "" : "d_", word);
    return MD_OK;
  }
  if (weights->n == MD_BALANCE_WEIGHTS)
    return md_error(MD_USAGE, "%s: at most %d weights are accepted", command, MD_BALANCE_WEIGHTS);
  const int k = weights->n++;
  if (strcmp(style, "var") == 0) {
    weights->of[k].kind = MD_BALANCE_VARIABLE;
    snprintf(weights->of[k].variable, sizeof weights->of[k].variable, "%s",
             word + (strncmp(word, "v_", 2) == 0 ? 2 : 0));
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
    const bool other = strcmp(style, "var") == 0 || strcmp(style, "time") == 0 ||
                       strcmp(style, "neigh") == 0 || strcmp(style, "store") == 0;
    if (!group && !other)
      return md_error(MD_USAGE,
                      "%s weight: unknown style '%.64s'; accepted are group, var, time, neigh, store",
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

/* Gives the property of `store` the products of all weights. */
static md_status store(md_sim *sim, const md_balance *balance, const char *name, const double *each)
{
  const md_particles *p = &sim->particles;
  md_property property;
  md_balance all = *balance;
  double *weight;
  MD_TRY(md_property_need(sim, "balance weight store", name, &property));
  MD_TRY(md_comm_agree(sim->comm, md_array_new(&weight, p->n + 1, sizeof *weight, "weights of particles")));
  all.each = each;
  for (int64_t i = 0; i < p->n; ++i) weight[i] = md_balance_weight_of(&all, p, i);
  const md_status status = md_id_values_set_column(property.values, property.column, NULL, weight);
  free(weight);
  return status;
}

static md_status fill_products(md_sim *sim, const md_balance_weights *weights, double *product)
{
  double *value;
  for (int64_t i = 0; i < sim->particles.n; ++i) product[i] = 1.0;
  MD_TRY(md_comm_agree(sim->comm,
                       md_array_new(&value, sim->particles.n + 1, sizeof *value, "weights of particles")));
  md_status status = MD_OK;
  for (int k = 0; k < weights->n && status == MD_OK; ++k) status = multiply(sim, weights, k, value, product);
  free(value);
  return status;
}

md_status md_balance_weigh(md_sim *sim, const md_balance *balance, const md_balance_weights *weights,
                           double **each)
{
  *each = NULL;
  md_status status = MD_OK;
  if (weights->n > 0)
    status = md_comm_agree(sim->comm,
                           md_array_new(each, sim->particles.n + 1, sizeof **each, "weights of particles"));
  if (status == MD_OK && weights->n > 0) status = fill_products(sim, weights, *each);
  if (status == MD_OK && weights->store[0]) status = store(sim, balance, weights->store, *each);
  if (status == MD_OK) return MD_OK;
  free(*each);
  *each = NULL;
  return status;
}
