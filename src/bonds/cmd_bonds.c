/* The commands bond_style, bond_coeff and special_bonds; common/bond/bond.h describes bonds.
 *
 * Reference: the LAMMPS manual, under these names.
 */
#include "src/sim.h"

#include <string.h>

static md_status need_bonds(const md_sim *sim, const char *command)
{
  if (sim->model.bonded) return MD_OK;
  return md_error(MD_USAGE, "%s needs particles with bonds: add `atom_style bond` before the box", command);
}

md_status md_do_bond_style(md_sim *sim, const md_words *words)
{
  md_bonds *bonds = &sim->model.bonds;
  const char *name = words->word[0];
  const bool none = strcmp(name, "none") == 0;
  const md_bond_kind kind = none ? MD_BOND_NONE : md_bond_find(name);
  MD_TRY(need_bonds(sim, "bond_style"));
  if (!none && kind == MD_BOND_KINDS)
    return md_error(MD_USAGE, "unknown bond style '%.64s'; accepted are fene, harmonic, none", name);
  if (words->n > 1)
    return md_error(MD_USAGE, "bond_style %s takes no further argument, not '%.64s'", name, words->word[1]);
  if (kind != bonds->kind) memset(bonds->set, 0, sizeof bonds->set);
  bonds->kind = kind;
  return MD_OK;
}

md_status md_do_bond_coeff(md_sim *sim, const md_words *words)
{
  md_bonds *bonds = &sim->model.bonds;
  double value[MD_BOND_PARAMETERS + 1];
  int first, last;
  MD_TRY(md_sim_need_box(sim, "bond_coeff"));
  MD_TRY(need_bonds(sim, "bond_coeff"));
  if (bonds->ntypes == 0) return md_error(MD_USAGE, "bond_coeff: the box has no types of bonds");
  MD_TRY(md_word_types(words->word[0], bonds->ntypes, &first, &last));
  const int n = words->n - 1;
  if (n > MD_BOND_PARAMETERS)
    return md_error(MD_USAGE, "bond_coeff takes at most %d numbers, not %d", MD_BOND_PARAMETERS, n);
  for (int k = 0; k < n; ++k) MD_TRY(md_word_double(words->word[1 + k], "bond_coeff", &value[k]));
  for (int type = first; type <= last; ++type) MD_TRY(md_bond_set(bonds, type, value, n));
  return MD_OK;
}

/* The factors of a word that stands for all three. NULL: another word. */
static const double *factors_of(const char *word)
{
  static const struct {
    const char *name;
    double factor[3];
  } known[] = {{"fene", {0.0, 1.0, 1.0}}, {"charmm", {0.0, 0.0, 0.0}}, {"dreiding", {0.0, 0.0, 1.0}}};
  for (size_t k = 0; k < sizeof known / sizeof *known; ++k)
    if (strcmp(word, known[k].name) == 0) return known[k].factor;
  return NULL;
}

static md_status take_factors(bool excluded[3], const double *factor)
{
  for (int k = 0; k < 3; ++k) {
    if (factor[k] != 0.0 && factor[k] != 1.0)
      return md_error(
          MD_USAGE,
          "special_bonds: the factor %g is not available: particles that bonds connect interact as a "
          "pair (1) or do not (0)",
          factor[k]);
    excluded[k] = factor[k] == 0.0;
  }
  return MD_OK;
}

/* Reads lj, coul or lj/coul, with three factors after it. There are no charges, so that those of coul are only
 * checked. */
static md_status read_factors(const md_words *words, int at, bool excluded[3])
{
  double factor[3];
  if (at + 3 >= words->n) return md_error(MD_USAGE, "special_bonds %s needs three factors", words->word[at]);
  for (int k = 0; k < 3; ++k) {
    MD_TRY(md_word_double(words->word[at + 1 + k], "special_bonds", &factor[k]));
    if (!(factor[k] >= 0.0 && factor[k] <= 1.0))
      return md_error(MD_USAGE, "special_bonds: a factor is within 0 and 1, not %s", words->word[at + 1 + k]);
  }
  return strcmp(words->word[at], "coul") == 0 ? MD_OK : take_factors(excluded, factor);
}

static md_status read_switch(const md_words *words, int at)
{
  bool yes;
  if (at + 1 >= words->n) return md_error(MD_USAGE, "special_bonds %s needs yes or no", words->word[at]);
  MD_TRY(md_word_bool(words->word[at + 1], "special_bonds", &yes));
  if (!yes) return MD_OK;
  return md_error(MD_USAGE, "special_bonds %s yes: there are no angles and dihedrals", words->word[at]);
}

md_status md_do_special_bonds(md_sim *sim, const md_words *words)
{
  bool excluded[3];
  memcpy(excluded, sim->model.bonds.excluded, sizeof excluded);
  for (int at = 0; at < words->n;) {
    const char *word = words->word[at];
    if (factors_of(word)) {
      MD_TRY(take_factors(excluded, factors_of(word)));
      at += 1;
    } else if (strcmp(word, "lj") == 0 || strcmp(word, "coul") == 0 || strcmp(word, "lj/coul") == 0) {
      MD_TRY(read_factors(words, at, excluded));
      at += 4;
    } else if (strcmp(word, "angle") == 0 || strcmp(word, "dihedral") == 0) {
      MD_TRY(read_switch(words, at));
      at += 2;
    } else
      return md_error(
          MD_USAGE,
          "special_bonds: unknown keyword '%.64s'; accepted are fene, charmm, dreiding, lj, coul, "
          "lj/coul, angle no, dihedral no",
          word);
  }
  memcpy(sim->model.bonds.excluded, excluded, sizeof excluded);
  return MD_OK;
}
