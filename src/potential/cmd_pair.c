/* Commands of the pair interaction: pair_style, pair_coeff, pair_modify. common/pair/pair.h has the styles, their
 * parameters and the mixing; this file reads the words. Those of hybrid and hybrid/overlay are read by hybrid_words.c.
 *
 * pair_style may come before the box, when the number of types is unknown. The style is then started for no types
 * and keeps its defaults. md_sim_settle_pair() starts it again when there is a box.
 */
#include "common/base/name_list.h"
#include "src/potential/hybrid_words.h"
#include "src/potential/potential.h"
#include "src/potential/table_file.h"
#include "src/potential/three_body_file.h"
#include "src/sim.h"

#include <string.h>

static md_status unknown_style(const char *name)
{
  char list[512] = "";
  for (int kind = 0; kind < MD_PAIR_KINDS; ++kind)
    md_name_list_add(list, sizeof list, ", ", md_pair_style_of((md_pair_kind)kind)->name);
  return md_error(MD_USAGE, "unknown pair style '%.64s'; accepted are %s, zero, none", name, list);
}

static md_status read_numbers(const md_words *words, int first, const char *what, double *value, int *n)
{
  *n = words->n - first;
  if (*n > MD_PAIR_PARAMETERS)
    return md_error(MD_USAGE, "%s takes at most %d numbers, not %d", what, (int)MD_PAIR_PARAMETERS, *n);
  for (int k = 0; k < *n; ++k) MD_TRY(md_word_double(words->word[first + k], what, &value[k]));
  return MD_OK;
}

/* The numbers of a dissipative style in the order of its parameters: START, STOP, the seed, rc. The deck gives T, or
 * START and STOP, rc, the seed. */
static md_status read_dissipative(const md_words *words, const md_pair_style *style, double *value, int *n)
{
  const bool ramp = style->nparameter == 5; /* dpd/tstat */
  const char *order = ramp ? "Tstart Tstop RC SEED" : "T RC SEED";
  const int rc = ramp ? 3 : 2;
  int64_t seed;
  if (words->n != rc + 2)
    return md_error(MD_USAGE, "pair style %s takes %d numbers, %s, not %d", style->name, rc + 1, order,
                    words->n - 1);
  MD_TRY(md_word_double(words->word[1], "pair_style", &value[0]));
  MD_TRY(md_word_double(words->word[ramp ? 2 : 1], "pair_style", &value[1]));
  MD_TRY(md_word_int64(words->word[rc + 1], "the seed of a pair_style", 1, INT64_C(1) << 53, &seed));
  value[2] = (double)seed;
  *n = 4;
  return md_word_double(words->word[rc], "pair_style", &value[3]);
}

md_status md_pair_read_style(md_sim *sim, const md_words *words, md_sub_style *style)
{
  const md_pair_kind kind = md_pair_find(words->word[0]);
  int n = 2;
  *style = (md_sub_style){.kind = kind};
  if (kind == MD_PAIR_KINDS) return unknown_style(words->word[0]);
  if (md_pair_style_of(kind)->tabulated)
    MD_TRY(md_table_style(words, 1, style->value));
  else if (md_pair_style_of(kind)->dissipative)
    MD_TRY(read_dissipative(words, md_pair_style_of(kind), style->value, &n));
  else
    MD_TRY(read_numbers(words, 1, "pair_style", style->value, &n));
  if (strcmp(words->word[0], "soft") == 0)
    md_sim_explain(sim, "pair_style soft",
                   "the force is A (1 - r/rc), and not that of LAMMPS's soft, A (pi/rc) sin(pi r/rc)");
  style->nvalue = md_pair_add_units(kind, sim->model.units, style->value, n);
  return MD_OK;
}

/* pair_style zero RC [nocoeff] [full]: no forces, and a cutoff for computes that count neighbours. */
static md_status take_zero(md_pair *pair, const md_words *words)
{
  double cutoff;
  if (words->n < 2) return md_error(MD_USAGE, "pair_style zero takes a cutoff");
  MD_TRY(md_word_positive(words->word[1], "the cutoff of pair_style zero", &cutoff));
  for (int k = 2; k < words->n; ++k)
    if (strcmp(words->word[k], "nocoeff") != 0 && strcmp(words->word[k], "full") != 0)
      return md_error(
          MD_USAGE,
          "pair_style zero: unknown keyword '%.64s'; accepted are nocoeff and full, which change nothing",
          words->word[k]);
  md_pair_free(pair);
  pair->zero_cutoff = cutoff;
  return MD_OK;
}

md_status md_pair_replace(md_pair *pair, md_pair *made, md_status status)
{
  md_pair_free(status == MD_OK ? pair : made);
  if (status == MD_OK) *pair = *made;
  return status;
}

md_status md_do_pair_style(md_sim *sim, const md_words *words)
{
  md_pair *pair = &sim->model.pair;
  const char *name = words->word[0];
  if (strcmp(name, "none") == 0) {
    if (words->n > 1)
      return md_error(MD_USAGE, "pair_style none takes no further argument, not '%.64s'", words->word[1]);
    md_pair_free(pair);
    return MD_OK;
  }
  if (strcmp(name, "zero") == 0) return take_zero(pair, words);
  const md_pair_style *chosen = md_pair_style_of(md_pair_find(name));
  if (chosen && chosen->hybrid) return md_hybrid_style(sim, words);
  md_sub_style style;
  MD_TRY(md_pair_read_style(sim, words, &style));
  /* As in LAMMPS, a new style starts with its own defaults. */
  md_pair made = {.kind = MD_PAIR_NONE};
  if (style.kind == pair->kind)
    made = (md_pair){.shift = pair->shift, .tail = pair->tail, .mixing = pair->mixing};
  return md_pair_replace(
      pair, &made,
      md_pair_start(&made, style.kind, sim->has_box ? sim->model.ntypes : 0, style.value, style.nvalue));
}

md_status md_sim_settle_pair(md_sim *sim)
{
  md_pair *pair = &sim->model.pair;
  if (!sim->has_box || pair->kind == MD_PAIR_NONE || pair->ntypes == sim->model.ntypes) return MD_OK;
  return md_pair_settle(pair, sim->model.ntypes);
}

md_status md_pair_read_coeff(md_sim *sim, md_pair *pair, const md_words *words)
{
  if (md_pair_is_tabulated(pair)) return md_table_coeff(sim, pair, words);
  int i0, i1, j0, j1, n;
  double value[MD_PAIR_PARAMETERS] = {0};
  MD_TRY(md_word_types(words->word[0], sim->model.ntypes, &i0, &i1));
  MD_TRY(md_word_types(words->word[1], sim->model.ntypes, &j0, &j1));
  MD_TRY(read_numbers(words, 2, "pair_coeff", value, &n));
  if (i0 > j1)
    return md_error(MD_USAGE,
                    "pair_coeff %.64s %.64s sets nothing: write the smaller type first, as in pair_coeff 1 2",
                    words->word[0], words->word[1]);
  for (int i = i0; i <= i1; ++i)
    for (int j = i > j0 ? i : j0; j <= j1; ++j) MD_TRY(md_pair_set(pair, i, j, value, n));
  return MD_OK;
}

/* With pair_style zero. There is nothing to set. */
static md_status zero_coeff(const md_sim *sim, const md_words *words)
{
  int first, last;
  for (int k = 0; k < 2; ++k) MD_TRY(md_word_types(words->word[k], sim->model.ntypes, &first, &last));
  if (words->n > 2)
    return md_error(
        MD_USAGE,
        "pair_coeff: with pair_style zero all types have the cutoff %.15g of pair_style, and none of "
        "their own, not '%.64s'",
        sim->model.pair.zero_cutoff, words->word[2]);
  return MD_OK;
}

md_status md_do_pair_coeff(md_sim *sim, const md_words *words)
{
  MD_TRY(md_sim_need_box(sim, "pair_coeff"));
  md_pair *pair = &sim->model.pair;
  if (pair->zero_cutoff > 0.0) return zero_coeff(sim, words);
  if (pair->kind == MD_PAIR_NONE)
    return md_error(MD_USAGE, "pair_coeff needs a pair_style other than none first");
  MD_TRY(md_sim_settle_pair(sim));
  if (md_pair_has_density(pair)) return md_potential_coeff(sim, words);
  if (md_pair_is_three_body(pair)) return md_three_body_coeff(sim, words);
  if (pair->nsub > 0) return md_hybrid_coeff(sim, words);
  return md_pair_read_coeff(sim, pair, words);
}

static md_status set_shift(md_pair *pair, const char *word)
{
  bool shift;
  MD_TRY(md_word_bool(word, "pair_modify shift", &shift));
  const md_pair_style *style = md_pair_style_of(pair->kind);
  if (shift && md_pair_is_all(pair))
    return md_error(MD_USAGE,
                    "pair_modify shift yes: pair style %s has no cutoff, at which its energy would be zero",
                    style->name);
  if (shift && style->tabulated)
    return md_error(MD_USAGE, "pair_modify shift yes: pair style %s has the energies of its file",
                    style->name);
  if (shift && !style->takes_shift)
    return md_error(MD_USAGE,
                    "pair_modify shift yes: the energy of pair style %s is zero at its cutoff already",
                    style->name);
  pair->shift = shift;
  return MD_OK;
}

static md_status set_mixing(md_pair *pair, const char *word)
{
  if (strcmp(word, "geometric") == 0)
    pair->mixing = MD_MIX_GEOMETRIC;
  else if (strcmp(word, "arithmetic") == 0)
    pair->mixing = MD_MIX_ARITHMETIC;
  else if (strcmp(word, "sixthpower") == 0)
    pair->mixing = MD_MIX_SIXTHPOWER;
  else
    return md_error(MD_USAGE,
                    "pair_modify mix '%.64s' is unknown; accepted are geometric, arithmetic and sixthpower",
                    word);
  return MD_OK;
}

static md_status set_tail(md_pair *pair, const char *word)
{
  bool tail;
  MD_TRY(md_word_bool(word, "pair_modify tail", &tail));
  const md_pair_style *style = md_pair_style_of(pair->kind);
  if (tail && !style->tail)
    return md_error(MD_USAGE,
                    "pair_modify tail yes: pair style %s has no tail correction; lj/cut, lj96/cut, mie/cut, "
                    "buck and born have one",
                    style->name);
  pair->tail = tail;
  return MD_OK;
}

md_status md_pair_modify(md_pair *pair, const md_words *words)
{
  md_pair now = *pair; /* changed as a whole, or not at all */
  for (int k = 0; k < words->n; k += 2) {
    const char *keyword = words->word[k];
    const bool shift = strcmp(keyword, "shift") == 0, mix = strcmp(keyword, "mix") == 0;
    if (!shift && !mix && strcmp(keyword, "tail") != 0)
      return md_error(
          MD_USAGE,
          "pair_modify: unknown keyword '%.64s'; accepted are shift yes|no, mix "
          "geometric|arithmetic|sixthpower, tail yes|no, and with pair style hybrid first pair STYLE [N]",
          keyword);
    if (k + 1 == words->n) return md_error(MD_USAGE, "pair_modify %s needs a value", keyword);
    const char *value = words->word[k + 1];
    MD_TRY(shift ? set_shift(&now, value) : mix ? set_mixing(&now, value) : set_tail(&now, value));
  }
  if (now.shift && now.tail)
    return md_error(MD_USAGE, "pair_modify: shift yes and tail yes do not go together");
  *pair = now;
  return MD_OK;
}

md_status md_do_pair_modify(md_sim *sim, const md_words *words)
{
  md_pair *pair = &sim->model.pair;
  if (pair->kind == MD_PAIR_NONE)
    return md_error(MD_USAGE, "pair_modify needs a pair_style other than none first");
  return pair->nsub > 0 ? md_hybrid_modify(sim, words) : md_pair_modify(pair, words);
}
