/* Commands about the ranks of a run: processors, balance, and the settings of fix balance. None of them changes a
 * bit of the results.
 */
#include "common/ranks/domains.h"
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"
#include "src/commands/ranks.h"

#include <string.h>

md_status md_do_processors(md_sim *sim, const md_words *words)
{
  const int size = sim->comm->size;
  int grid[3] = {0, 0, 0};
  int64_t ranks = 1;
  if (sim->has_box) return md_error(MD_USAGE, "processors must come before create_box or read_data");
  for (int d = 0; d < 3; ++d) {
    int64_t p;
    if (strcmp(words->word[d], "*") == 0) continue;
    MD_TRY(md_word_int64(words->word[d], "each of processors Px Py Pz (a count, or *)", 1, INT32_MAX, &p));
    if (d == 2 && p > 1 && sim->model.box.dim == 2)
      return md_error(MD_USAGE, "processors: Pz must be 1 or * in two dimensions");
    grid[d] = (int)p;
    ranks = ranks > size ? ranks : ranks * p;
  }
  if (words->n > 3)
    return md_error(MD_USAGE, "processors: unknown keyword '%.64s'; only Px Py Pz are accepted",
                    words->word[3]);
  if (sim->planning.checking) return MD_OK; /* the deck may be meant for another number of ranks */
  const bool all = grid[0] && grid[1] && grid[2];
  if (ranks < 1 || size % ranks != 0 || (all && ranks != size))
    return md_error(
        MD_USAGE,
        "processors %.16s %.16s %.16s does not fit the %d rank%s of this run; write processors * * *",
        words->word[0], words->word[1], words->word[2], size, size == 1 ? "" : "s");
  sim->comm->domains->fix_grid(sim->comm, grid);
  return MD_OK;
}

/* words: [shift [AXES [ITERATIONS STOP]]] */
static md_status read_shift(const md_sim *sim, const md_words *words, const char *command, bool axis[3])
{
  for (int d = 0; d < 3; ++d) axis[d] = d < sim->model.box.dim;
  if (words->n == 0) return MD_OK;
  if (strcmp(words->word[0], "shift") != 0)
    return md_error(MD_USAGE, "%s: unknown style '%.64s'; accepted is shift", command, words->word[0]);
  if (words->n == 1) return MD_OK;
  for (int d = 0; d < 3; ++d) axis[d] = false;
  for (const char *c = words->word[1]; *c; ++c) {
    const int d = *c - 'x';
    if (d < 0 || d >= sim->model.box.dim || axis[d])
      return md_error(MD_USAGE,
                      "%s shift: '%.16s' does not name axes; write x, y, z or some of them, each once",
                      command, words->word[1]);
    axis[d] = true;
  }
  /* LAMMPS finds the cuts by iterations. Here they are found at once, so these numbers are only checked. */
  int64_t iterations;
  double stop;
  if (words->n > 4) return md_error(MD_USAGE, "%s shift: unexpected '%.64s'", command, words->word[4]);
  if (words->n > 2)
    MD_TRY(md_word_int64(words->word[2], "iterations of balance shift", 1, INT32_MAX, &iterations));
  if (words->n > 3) MD_TRY(md_word_double(words->word[3], "the stop threshold of balance shift", &stop));
  return MD_OK;
}

static md_status read_threshold(const char *word, const char *command, double *threshold)
{
  MD_TRY(md_word_double(word, "the imbalance above which cuts move", threshold));
  if (*threshold >= 1.0) return MD_OK;
  return md_error(
      MD_USAGE, "%s: the threshold, most particles of a rank over the average, must be at least 1, not %.64s",
      command, word);
}

md_status md_ranks_balance_settings(const md_sim *sim, const md_words *words, md_balance *balance)
{
  if (words->n < 2)
    return md_error(MD_USAGE, "fix balance takes N and THRESHOLD, and perhaps shift [AXES], not %d word%s",
                    words->n, words->n == 1 ? "" : "s");
  MD_TRY(md_word_int64(words->word[0], "the number of steps between looks at the balance", 1, INT64_MAX,
                       &balance->every));
  MD_TRY(read_threshold(words->word[1], "fix balance", &balance->threshold));
  const md_words rest = {words->n - 2, words->word + 2};
  return read_shift(sim, &rest, "fix balance", balance->axis);
}

md_status md_do_balance(md_sim *sim, const md_words *words)
{
  md_comm *comm = sim->comm;
  double threshold, imbalance[2] = {1.0, 1.0};
  const md_balance kept = comm->balance;
  MD_TRY(md_sim_need_box(sim, "balance"));
  MD_TRY(read_threshold(words->word[0], "balance", &threshold));
  const md_words rest = {words->n - 1, words->word + 1};
  MD_TRY(read_shift(sim, &rest, "balance", comm->balance.axis));
  double most = (double)sim->particles.n;
  md_status status = comm->reduce->max(comm, &most, 1);
  const double present = sim->model.natoms > 0 ? most * comm->size / (double)sim->model.natoms : 1.0;
  if (status == MD_OK && present > threshold) {
    status = comm->domains->rebalance(comm, &sim->model, &sim->particles, imbalance);
    if (status == MD_OK) status = comm->exchange->migrate(comm, &sim->model, &sim->particles);
  } else {
    imbalance[1] = present;
  }
  comm->balance = kept;
  MD_TRY(status);
  md_log_print(sim->log, "Balance: most particles of a rank over the average %.4g, now %.4g\n", present,
               imbalance[1]);
  return MD_OK;
}
