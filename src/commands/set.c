/* The command `set`: sets the types of selected particles.
 *
 * The result for a particle depends only on its id, its type and the seed. So it is the same for any number of
 * threads and ranks, and for any order of the particles.
 */
#include "common/ranks/reductions.h"
#include "common/rng.h"
#include "src/sim.h"
#include <string.h>

/* The selected particles: those with a type and an id within these bounds. */
typedef struct selection {
  int type_first, type_last;
  int64_t id_first, id_last;
} selection;

/* Reads a range of ids: ID, FIRST*LAST, *LAST, FIRST* or *. */
static md_status read_ids(const char *word, int64_t *first, int64_t *last)
{
  const char *star = strchr(word, '*');
  *first = 1;
  *last = INT64_MAX;
  if (!star) {
    MD_TRY(md_word_int64(word, "particle id", 1, INT64_MAX, first));
    *last = *first;
    return MD_OK;
  }
  char from[32];
  const size_t length = (size_t)(star - word);
  if (length >= sizeof from)
    return md_error(MD_USAGE, "set atom: '%s' is not a range of ids such as 10*20", word);
  memcpy(from, word, length);
  from[length] = '\0';
  if (length > 0) MD_TRY(md_word_int64(from, "first particle id", 1, INT64_MAX, first));
  if (star[1]) MD_TRY(md_word_int64(star + 1, "last particle id", *first, INT64_MAX, last));
  return MD_OK;
}

static md_status read_selection(const md_sim *sim, const char *style, const char *word, selection *s)
{
  *s = (selection){1, sim->model.ntypes, 1, INT64_MAX};
  if (strcmp(style, "type") == 0)
    return md_word_types(word, sim->model.ntypes, &s->type_first, &s->type_last);
  if (strcmp(style, "atom") == 0) return read_ids(word, &s->id_first, &s->id_last);
  if (strcmp(style, "group") == 0) return md_word_group(word);
  return md_error(MD_USAGE, "set: unknown selection '%s'; accepted are type, atom, group", style);
}

/* Sets the type of selected particles, each with probability `fraction`. *count: how many got it, over all ranks. */
static md_status set_type(md_sim *sim, const selection *s, int type, double fraction, uint64_t seed,
                          int64_t *count)
{
  const md_particles *p = &sim->particles;
  int64_t n = 0;
#pragma omp parallel for schedule(static) reduction(+ : n)
  for (int64_t i = 0; i < p->n; ++i) {
    if (p->type[i] < s->type_first || p->type[i] > s->type_last) continue;
    if (p->id[i] < s->id_first || p->id[i] > s->id_last) continue;
    if (fraction < 1.0) {
      const md_random r = md_random_at(seed, (uint64_t)p->id[i], 0, MD_STREAM_TYPE);
      if (md_random_unit53(r.word[0], r.word[1]) >= fraction) continue;
    }
    p->type[i] = (uint16_t)type;
    ++n;
  }
  *count = n;
  return sim->comm->reduce->sum(sim->comm, count, 1);
}

md_status md_do_set(md_sim *sim, const md_words *words)
{
  selection s;
  MD_TRY(md_sim_need_box(sim, "set"));
  MD_TRY(read_selection(sim, words->word[0], words->word[1], &s));
  const char *keyword = words->word[2];
  const bool part = strcmp(keyword, "type/fraction") == 0;
  if (!part && strcmp(keyword, "type") != 0)
    return md_error(MD_USAGE, "set: unknown keyword '%s'; accepted are type, type/fraction", keyword);
  const int end = part ? 6 : 4;
  if (words->n < end)
    return md_error(MD_USAGE, "set %s needs %s", keyword, part ? "a type, a fraction and a seed" : "a type");
  if (words->n > end)
    return md_error(MD_USAGE, "set: unexpected word '%s'; one command sets one keyword", words->word[end]);

  int64_t type, seed = 0, count;
  double fraction = 1.0;
  MD_TRY(md_word_int64(words->word[3], "particle type", 1, sim->model.ntypes, &type));
  if (part) {
    MD_TRY(md_word_double(words->word[4], "fraction", &fraction));
    if (fraction < 0.0 || fraction > 1.0)
      return md_error(MD_USAGE, "set type/fraction: '%s' is not within 0 and 1", words->word[4]);
    MD_TRY(md_word_int64(words->word[5], "seed", 1, INT64_MAX, &seed));
  }
  MD_TRY(set_type(sim, &s, (int)type, fraction, (uint64_t)seed, &count));
  md_log_print(sim->log, "Setting atom values ...\n  %lld settings made for %s\n", (long long)count, keyword);
  return MD_OK;
}
