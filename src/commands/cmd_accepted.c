/* Commands that decks for LAMMPS contain and that have no effect here: newton, comm_modify, comm_style, atom_modify,
 * timer, suffix, run_style. Of comm_modify, cutoff is the longest bond of a style that does not end.
 *
 * Their words are checked all the same. Each command prints once, in the log, that it has no effect.
 */
#include "src/deck/suffix.h"
#include "src/sim.h"

#include <stdio.h>
#include <string.h>

/* Whether `word` is one of the n names. */
static bool is_one_of(const char *word, const char *const *names, int n)
{
  for (int k = 0; k < n; ++k)
    if (strcmp(word, names[k]) == 0) return true;
  return false;
}

md_status md_do_newton(md_sim *sim, const md_words *words)
{
  bool on;
  for (int k = 0; k < words->n; ++k) MD_TRY(md_word_bool(words->word[k], "newton", &on));
  md_sim_explain(
      sim, "newton",
      "has no effect here: forces are equal and opposite to the last bit, however pairs are divided");
  return MD_OK;
}

static md_status check_comm_modify(md_sim *sim, const char *keyword, const char *value)
{
  double number;
  bool yes;
  if (strcmp(keyword, "mode") == 0) {
    if (strcmp(value, "single") == 0 || strcmp(value, "multi") == 0) return MD_OK;
    return md_error(MD_USAGE, "comm_modify mode '%.64s' is unknown; accepted are single and multi", value);
  }
  if (strcmp(keyword, "cutoff") == 0) {
    MD_TRY(md_word_double(value, "comm_modify cutoff", &number));
    if (number < 0.0)
      return md_error(MD_USAGE, "comm_modify cutoff must be zero or positive, not %.64s", value);
    sim->model.bonds.longest = number;
    return MD_OK;
  }
  if (strcmp(keyword, "vel") == 0) return md_word_bool(value, "comm_modify vel", &yes);
  if (strcmp(keyword, "group") == 0) return md_word_group(value);
  return md_error(MD_USAGE, "comm_modify: unknown keyword '%.64s'; accepted are mode, cutoff, vel and group",
                  keyword);
}

md_status md_do_comm_modify(md_sim *sim, const md_words *words)
{
  if (words->n % 2 != 0)
    return md_error(MD_USAGE, "comm_modify takes pairs of a keyword and a value; '%.64s' stands alone",
                    words->word[words->n - 1]);
  for (int k = 0; k < words->n; k += 2) MD_TRY(check_comm_modify(sim, words->word[k], words->word[k + 1]));
  md_sim_explain(sim, "comm_modify",
                 "ghosts reach exactly as far as the forces need; cutoff only says how long a bond may be");
  return MD_OK;
}

md_status md_do_comm_style(md_sim *sim, const md_words *words)
{
  const char *style = words->word[0];
  if (strcmp(style, "brick") != 0 && strcmp(style, "tiled") != 0)
    return md_error(MD_USAGE, "comm_style '%.64s' is unknown; accepted are brick and tiled", style);
  md_sim_explain(sim, "comm_style",
                 "has no effect here: `balance` alone says whether domains are a grid or bricks");
  return MD_OK;
}

/* Checks the words of atom_modify after the keyword words[*k], and moves *k to the last of them. */
static md_status check_atom_modify(const md_words *words, int *k)
{
  static const char *const maps[] = {"yes", "array", "hash"};
  const char *keyword = words->word[*k];
  const bool sort = strcmp(keyword, "sort") == 0, map = strcmp(keyword, "map") == 0;
  bool yes;
  int64_t every;
  double width;
  if (*k + (sort ? 2 : 1) >= words->n)
    return md_error(MD_USAGE, "atom_modify %.64s needs %s", keyword, sort ? "two numbers" : "a value");
  const char *value = words->word[++*k];
  if (map && is_one_of(value, maps, 3)) return MD_OK;
  if (map)
    return md_error(MD_USAGE, "atom_modify map '%.64s' is unknown; accepted are yes, array and hash", value);
  /* The group may be made later. */
  if (strcmp(keyword, "first") == 0) return MD_OK;
  if (strcmp(keyword, "id") == 0) {
    MD_TRY(md_word_bool(value, "atom_modify id", &yes));
    return yes ? MD_OK : md_error(MD_USAGE, "atom_modify id no: particles always have ids here");
  }
  if (!sort)
    return md_error(MD_USAGE, "atom_modify: unknown keyword '%.64s'; accepted are id, map, first and sort",
                    keyword);
  MD_TRY(md_word_int64(value, "the steps of atom_modify sort", 0, INT64_MAX, &every));
  MD_TRY(md_word_double(words->word[++*k], "the width of atom_modify sort", &width));
  if (width >= 0.0) return MD_OK;
  return md_error(MD_USAGE, "atom_modify sort: the width must be zero or positive, not %g", width);
}

md_status md_do_atom_modify(md_sim *sim, const md_words *words)
{
  for (int k = 0; k < words->n; ++k) MD_TRY(check_atom_modify(words, &k));
  md_sim_explain(sim, "atom_modify",
                 "has no effect here: ids are always kept, and the engine sorts the particles");
  return MD_OK;
}

md_status md_do_timer(md_sim *sim, const md_words *words)
{
  static const char *const alone[] = {"off", "loop", "normal", "full", "sync", "nosync"};
  for (int k = 0; k < words->n; ++k) {
    const char *word = words->word[k];
    if (is_one_of(word, alone, 6)) continue;
    if (!is_one_of(word, (const char *const[]){"timeout", "every"}, 2))
      return md_error(
          MD_USAGE,
          "timer: unknown keyword '%.64s'; accepted are off, loop, normal, full, sync, nosync, timeout off "
          "and every N",
          word);
    if (k + 1 == words->n) return md_error(MD_USAGE, "timer %s needs a value", word);
    int64_t every;
    if (strcmp(word, "every") == 0)
      MD_TRY(md_word_int64(words->word[k + 1], "the steps of timer every", 0, INT64_MAX, &every));
    else if (strcmp(words->word[k + 1], "off") != 0)
      return md_error(MD_USAGE, "timer timeout %.64s: --walltime on the command line limits the time",
                      words->word[k + 1]);
    ++k;
  }
  md_sim_explain(sim, "timer", "has no effect here: every run prints where its time went");
  return MD_OK;
}

md_status md_do_suffix(md_sim *sim, const md_words *words)
{
  const char *first = words->word[0];
  const bool hybrid = strcmp(first, "hybrid") == 0;
  if (words->n != (hybrid ? 3 : 1))
    return md_error(MD_USAGE, "suffix takes one word, or hybrid and two styles, not %d", words->n);
  const bool on_or_off = strcmp(first, "on") == 0 || strcmp(first, "off") == 0;
  for (int k = hybrid ? 1 : 0; k < words->n && !on_or_off; ++k)
    if (!is_one_of(words->word[k], md_suffix_names, MD_SUFFIXES))
      return md_error(
          MD_USAGE,
          "suffix '%.64s' is unknown; accepted are on, off, gpu, intel, kk, omp, opt and hybrid A B",
          words->word[k]);
  md_suffix_explain(sim);
  return MD_OK;
}

md_status md_do_run_style(md_sim *sim, const md_words *words)
{
  const char *style = words->word[0];
  if (strcmp(style, "verlet") != 0)
    return md_error(
        MD_USAGE,
        "run_style '%.64s' is not available, only verlet: all forces are evaluated at every step, as they "
        "are all of short range",
        style);
  if (words->n > 1) return md_error(MD_USAGE, "run_style verlet: unexpected '%.64s'", words->word[1]);
  md_sim_explain(sim, "run_style", "has no effect here: steps are those of velocity Verlet as it is");
  return MD_OK;
}
