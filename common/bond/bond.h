/* Bonds between particles: the styles, their parameters for each type of bond, and which pairs of bonded particles have
 * no pair force.
 *
 * Design. A particle carries its bonds: the ids of its partners and the types of the bonds, in fields that travel with
 * it through sorting, migration and restarts (common/particle_fields.def). Both particles of a bond have it. So each of
 * them evaluates the bond for itself, as the full lists of pairs do, and nothing is scattered. The two forces have the
 * same bits with opposite signs, because a bond's impulse is rounded as that of a pair.
 *
 *   ids -> indices   when an engine has made its cells and ghosts, it finds the partners of its particles among its own
 *                    and the ghosts (partners.h): of several images the nearest. Indices hold until the next rebin. The
 *                    GPU engine finds original indices once (indices.h).
 *   ghosts           reach at least as far as the longest bond, md_model.reach.
 *   exclusions       bond partners, or all particles up to three bonds away, are left out of the pair forces by their
 *                    ids (md_particles.special), where a list is built, or in a loop over pairs.
 *   errors           a bond that is longer than it may be, or whose force is out of range, names both particles and the
 *                    step, as an overlap does (common/faults.h).
 *
 * The longest bond: of a style that ends, its R0; else twice its length at rest, the cutoff of pairs, or what
 * comm_modify cutoff says, whichever is larger.
 *
 * Cost: 10 bytes a slot of a bond, 8 a slot of an excluded id, and 4 of a molecule, for each particle. Trade-off:
 * twice the arithmetic of one-sided bonds, and no message about forces between ranks.
 */
#ifndef MD_COMMON_BOND_BOND_H
#define MD_COMMON_BOND_BOND_H

#include "common/arithmetic/real.h"
#include "common/base/error.h"
#include "common/pair/pair.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MD_BOND_PARAMETERS = 4, MD_BOND_K = 9, MD_BOND_TYPES_MAX = 32 };

/* A style: the host's part of its file. The file has three parts: the name, MD_BOND_STYLE(symbol, "name"); this
 * structure; and md_NAME_force and md_NAME_energy, of r2 and the coefficients k, for each number type
 * (common/arithmetic/real.h). */
typedef struct md_bond_style {
  const char *name;
  const char *summary;
  int nparameter;
  md_pair_parameter parameter[MD_BOND_PARAMETERS];
  bool ends; /* no bond can be longer than reach */
  double (*reach)(const double *parameter);
  double (*force_usual)(const double *parameter); /* a usual force, which the grids must resolve */
  double (*energy_most)(const double *parameter, double reach); /* a bound of the energy of the spring */
  /* Fills k[MD_BOND_K], which is zero before; k[0] is the square of the longest bond. Forces are times `scale`. */
  void (*prepare)(const double *parameter, double reach, double scale, double *k);
} md_bond_style;

/* One symbol for each style, MD_BOND_fene and so on. MD_BOND_KINDS is their number. */
typedef enum md_bond_kind {
#define MD_BOND_STYLE(symbol, name) MD_BOND_##symbol,
#include "common/bond/bond_styles.h"
#undef MD_BOND_STYLE
  MD_BOND_KINDS,
  MD_BOND_NONE = MD_BOND_KINDS
} md_bond_kind;

/* The bonds of a model. */
typedef struct md_bonds {
  int slots;  /* of each particle (md_particles.bonds) */
  int ntypes; /* of bonds; 0: there are no bonds */
  md_bond_kind kind;
  bool set[MD_BOND_TYPES_MAX + 1]; /* by type of bond, 1-based */
  double parameter[MD_BOND_TYPES_MAX + 1][MD_BOND_PARAMETERS];
  bool excluded[3]; /* particles 1, 2 or 3 bonds apart have no pair force */
  double longest;   /* of comm_modify cutoff, or 0 */
  /* derived by md_bonds_prepare */
  double reach; /* of the longest bond; 0: there are none */
  double impulse_k[MD_BOND_TYPES_MAX + 1][MD_BOND_K], force_k[MD_BOND_TYPES_MAX + 1][MD_BOND_K];
} md_bonds;

/* The style's description, or NULL for MD_BOND_NONE. */
const md_bond_style *md_bond_style_of(md_bond_kind kind);

/* The kind with this name; MD_BOND_KINDS if no style has it. */
md_bond_kind md_bond_find(const char *name);

/* Sets the parameters of a type of bond. MD_USAGE: no style, a wrong number of values, or a value out of its domain. */
md_status md_bond_set(md_bonds *bonds, int type, const double *value, int nvalue) MD_CHECKED;

/* Finds bonds->reach. cutoff: of pairs. MD_USAGE: no style, a type without parameters, or bonds that have no end. */
md_status md_bonds_reach(md_bonds *bonds, double cutoff) MD_CHECKED;

/* Fills the coefficients. impulse, force: the scales of forces. */
void md_bonds_prepare(md_bonds *bonds, double impulse, double force);

/* F/r times the scale of the coefficients k, and the energy, for r2 < k[0]. */
#define real double
#define MD_T(name) name
#include "common/bond/bond_styles.h"
#undef real
#undef MD_T

MD_FN double md_bond_force(md_bond_kind kind, double r2, const double *k)
{
  return kind == MD_BOND_fene ? md_fene_force(r2, k) : md_harmonic_force(r2, k);
}

MD_FN double md_bond_energy(md_bond_kind kind, double r2, const double *k)
{
  return kind == MD_BOND_fene ? md_fene_energy(r2, k) : md_harmonic_energy(r2, k);
}

/* The components of a bond's force are below this, in the unit of their scale; a larger one is an error. */
#define MD_BOND_RANGE 0x1p52

/* A bond as one of its particles sees it. delta: from the partner. */
typedef struct md_bond_term {
  double delta[3], r2;
  double f; /* force over distance, times the scale */
} md_bond_term;

/* Fills t->f. Returns false if the bond is too long, or its force is out of range. delta and r2 are there. */
MD_FN bool md_bond_evaluate(md_bond_kind kind, const double *k, int dim, md_bond_term *t)
{
  if (!(t->r2 < k[0])) return false;
  t->f = md_bond_force(kind, t->r2, k);
  bool good = true;
  for (int d = 0; d < 3 && d < dim; ++d) good = good && fabs(t->f * t->delta[d]) < MD_BOND_RANGE;
  return good;
}

#ifdef __cplusplus
}
#endif
#endif
