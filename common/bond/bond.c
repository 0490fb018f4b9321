/* Bond styles and their parameters; see bond.h. */
#include "common/bond/bond.h"

#include <string.h>

#define MD_BOND_HOST
#include "common/bond/bond_styles.h"
#undef MD_BOND_HOST

static const md_bond_style *const styles[] = {
#define MD_BOND_STYLE(symbol, name) &symbol##_style,
#include "common/bond/bond_styles.h"
#undef MD_BOND_STYLE
};

const md_bond_style *md_bond_style_of(md_bond_kind kind)
{
  return kind < MD_BOND_KINDS ? styles[kind] : NULL;
}

md_bond_kind md_bond_find(const char *name)
{
  int kind = 0;
  while (kind < MD_BOND_KINDS && strcmp(styles[kind]->name, name) != 0) ++kind;
  return (md_bond_kind)kind;
}

md_status md_bond_set(md_bonds *bonds, int type, const double *value, int nvalue)
{
  const md_bond_style *style = md_bond_style_of(bonds->kind);
  if (!style) return md_error(MD_USAGE, "bond_coeff needs a bond_style first");
  if (nvalue != style->nparameter)
    return md_error(MD_USAGE, "bond style %s takes %d numbers (%s), not %d", style->name, style->nparameter,
                    style->summary, nvalue);
  for (int k = 0; k < nvalue; ++k) {
    const md_pair_parameter *p = &style->parameter[k];
    if (!isfinite(value[k]) || value[k] < 0.0 || (p->range == MD_POSITIVE && value[k] == 0.0))
      return md_error(MD_USAGE, "bond style %s: %s must be %s, not %g", style->name, p->name,
                      p->range == MD_POSITIVE ? "positive" : "zero or positive", value[k]);
    bonds->parameter[type][k] = value[k];
  }
  bonds->set[type] = true;
  return MD_OK;
}

md_status md_bonds_reach(md_bonds *bonds, double cutoff)
{
  const md_bond_style *style = md_bond_style_of(bonds->kind);
  bonds->reach = 0.0;
  if (bonds->ntypes == 0) return MD_OK;
  if (!style) return md_error(MD_USAGE, "there are bonds, and no bond_style");
  for (int t = 1; t <= bonds->ntypes; ++t) {
    if (!bonds->set[t])
      return md_error(MD_USAGE, "bond type %d has no parameters: add `bond_coeff %d ...`", t, t);
    bonds->reach = md_max(bonds->reach, style->reach(bonds->parameter[t]));
  }
  if (style->ends) return MD_OK;
  bonds->reach = md_max(bonds->reach, md_max(cutoff, bonds->longest));
  if (bonds->reach > 0.0) return MD_OK;
  return md_error(MD_USAGE, "bond style %s: say how long a bond may be, by `comm_modify cutoff R`",
                  style->name);
}

void md_bonds_prepare(md_bonds *bonds, double impulse, double force)
{
  const md_bond_style *style = md_bond_style_of(bonds->kind);
  memset(bonds->impulse_k, 0, sizeof bonds->impulse_k);
  memset(bonds->force_k, 0, sizeof bonds->force_k);
  for (int t = 1; t <= bonds->ntypes; ++t) {
    style->prepare(bonds->parameter[t], bonds->reach, impulse, bonds->impulse_k[t]);
    style->prepare(bonds->parameter[t], bonds->reach, force, bonds->force_k[t]);
  }
}
