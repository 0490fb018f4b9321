/* fix property/atom: names properties of particles, i_NAME, d_NAME and mol, which set, read_data, balance and formulas
 * know.
 *
 * Values are kept by id (id_values.h), so that particles keep them wherever they go. Reference: the LAMMPS manual, fix
 * property/atom, of which charges, masses and vectors of particles are not offered. */
#include "src/averages/output_fix.h"
#include "src/computes/computes.h"
#include "src/properties/property.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROPERTIES_MAX = 32, NAME_SIZE = 64 };

typedef struct fix_property {
  md_output_fix base;
  md_id_values *values;
  int n;
  char name[PROPERTIES_MAX][NAME_SIZE];
} fix_property;

static md_status add_name(fix_property *fix, const md_sim *sim, const char *word)
{
  md_property other;
  if (!md_property_is_name(word))
    return md_error(MD_USAGE,
                    "fix property/atom: unknown property '%.64s'; accepted are i_NAME, d_NAME and mol", word);
  if (strlen(word) >= NAME_SIZE || strspn(word, MD_COMPUTE_LETTERS) != strlen(word))
    return md_error(MD_USAGE,
                    "fix property/atom: a name has letters, digits and _, and at most %d, not '%.80s'",
                    NAME_SIZE - 1, word);
  if (strcmp(word, "mol") == 0 && sim->model.bonded)
    return md_error(MD_USAGE, "fix property/atom: particles of atom_style bond have a mol already");
  /* The fix before of this ID, which this one replaces, may have it. */
  bool twice = md_property_find(sim, word, &other) && !md_property_is_of_fix(other.values, fix->base.id);
  for (int k = 0; k < fix->n; ++k) twice = twice || strcmp(fix->name[k], word) == 0;
  if (twice) return md_error(MD_USAGE, "fix property/atom: there is a property %s already", word);
  if (fix->n == PROPERTIES_MAX)
    return md_error(MD_USAGE, "fix property/atom: one fix has at most %d properties", PROPERTIES_MAX);
  memcpy(fix->name[fix->n++], word, strlen(word) + 1);
  return MD_OK;
}

static md_status parse(md_output_fix *base, md_sim *sim, const md_words *words)
{
  fix_property *fix = (fix_property *)base;
  bool yes;
  for (int w = 0; w < words->n; ++w) {
    if (strcmp(words->word[w], "ghost") != 0) {
      MD_TRY(add_name(fix, sim, words->word[w]));
      continue;
    }
    if (++w == words->n) return md_error(MD_USAGE, "fix property/atom ghost needs yes or no");
    MD_TRY(md_word_bool(words->word[w], "fix property/atom ghost", &yes));
    if (yes)
      md_sim_explain(sim, "fix property/atom ghost", "properties are found by id, so that ghosts need none");
  }
  if (fix->n == 0) return md_error(MD_USAGE, "fix property/atom takes names: i_NAME, d_NAME or mol");
  MD_TRY(md_id_values_new(sim, "property/atom", base->id, fix->n, &fix->values));
  fix->values->property = (const char(*)[NAME_SIZE])fix->name;
  return MD_OK;
}

static int64_t due(const md_output_fix *base, int64_t step)
{
  (void)base;
  (void)step;
  return INT64_MAX;
}

static md_status look(md_output_fix *base, md_view *view)
{
  (void)base;
  (void)view;
  return MD_OK;
}

static void free_properties(md_output_fix *base) { md_id_values_free(((fix_property *)base)->values); }

const md_output_fix_style md_fix_property_atom_style = {
    .name = "property/atom",
    .usage = "property/atom i_NAME|d_NAME|mol ... [ghost yes|no]",
    .help = "names properties of particles, whole numbers i_NAME and mol, and real numbers d_NAME, which are "
            "0 at\n"
            "first; set, read_data and balance weight store change them, and formulas and dumps read them",
    .size = sizeof(fix_property),
    .parse = parse,
    .due = due,
    .look = look,
    .free = free_properties,
};
