/* Sub-styles of pair styles hybrid and hybrid/overlay: which types use them, and their coefficients; see hybrid.h. */
#include "common/pair/hybrid/hybrid.h"

#include <stdio.h>
#include <stdlib.h>

const char *md_hybrid_refuses(md_pair_kind kind)
{
  const md_pair_style *style = md_pair_style_of(kind);
  if (!style) return "it is no pair style with forces";
  if (style->hybrid) return "a sub-style cannot have sub-styles itself";
  if (style->density) return "its forces need the density of all particles, not of pairs of types";
  if (style->three_body) return "its forces need all neighbours of a particle, not pairs of types";
  if (style->rc_parameter == MD_NO_CUTOFF) return "it has no cutoff, and acts between all particles";
  return NULL;
}

static size_t at(const md_pair *pair, int i, int j) { return (size_t)i * (size_t)pair->ntypes + (size_t)j; }

static md_status allocate(md_pair *pair, int ntypes)
{
  const long long types2 = (long long)ntypes * ntypes;
  free(pair->parameter);
  free(pair->set);
  free(pair->uses);
  pair->ntypes = ntypes;
  pair->parameter = NULL;
  pair->set = NULL;
  pair->uses = NULL;
  MD_TRY(md_array_new_zero(&pair->parameter, types2 * MD_PAIR_PARAMETERS, sizeof(double), "pair parameters"));
  MD_TRY(md_array_new_zero(&pair->set, types2, 1, "pair parameters"));
  return md_array_new_zero(&pair->uses, types2, sizeof *pair->uses, "pair parameters");
}

static md_status start_all(md_pair *pair, int ntypes, const md_sub_style *sub, int n)
{
  const char *name = md_pair_style_of(pair->kind)->name;
  int frictions = 0;
  MD_TRY(md_array_new_zero(&pair->sub, n, sizeof *pair->sub, "sub-styles"));
  for (int s = 0; s < n; ++s) pair->sub[s].kind = MD_PAIR_NONE;
  pair->nsub = n;
  for (int s = 0; s < n; ++s) {
    const char *reason = md_hybrid_refuses(sub[s].kind);
    const md_pair_style *style = md_pair_style_of(sub[s].kind);
    if (reason)
      return md_error(MD_USAGE, "pair style %s cannot have the sub-style %s: %s", name,
                      style ? style->name : "none", reason);
    MD_TRY(md_pair_start(&pair->sub[s], sub[s].kind, ntypes, sub[s].value, sub[s].nvalue));
    frictions += style->dissipative;
  }
  if (frictions > 1)
    return md_error(MD_USAGE, "pair style %s: at most one sub-style may be dpd or dpd/tstat, not %d", name,
                    frictions);
  return allocate(pair, ntypes);
}

md_status md_hybrid_start(md_pair *pair, md_pair_kind kind, int ntypes, const md_sub_style *sub, int n)
{
  if (n < 1 || n > MD_HYBRID_MOST)
    return md_error(MD_USAGE, "pair style %s takes 1 to %d sub-styles, not %d", md_pair_style_of(kind)->name,
                    MD_HYBRID_MOST, n);
  md_pair_free(pair);
  pair->kind = kind;
  const md_status status = start_all(pair, ntypes, sub, n);
  if (status != MD_OK) md_pair_free(pair);
  return status;
}

md_status md_hybrid_settle(md_pair *pair, int ntypes)
{
  for (int s = 0; s < pair->nsub; ++s) MD_TRY(md_pair_settle(&pair->sub[s], ntypes));
  return allocate(pair, ntypes);
}

void md_hybrid_use(md_pair *pair, int s, int i, int j)
{
  int64_t *uses = &pair->uses[at(pair, i - 1, j - 1)];
  if (pair->kind != MD_PAIR_hybrid_overlay || s == MD_HYBRID_NONE) *uses = 0;
  if (s != MD_HYBRID_NONE) *uses |= INT64_C(1) << s;
  pair->uses[at(pair, j - 1, i - 1)] = *uses;
  pair->set[at(pair, i - 1, j - 1)] = pair->set[at(pair, j - 1, i - 1)] = 1;
}

bool md_hybrid_uses(const md_pair *pair, int s, int i, int j) { return pair->uses[at(pair, i, j)] >> s & 1; }

/* As in LAMMPS, a pair of types without pair_coeff is mixed if both types have the same single sub-style. */
static md_status find_use(md_pair *pair, int i, int j)
{
  const int64_t of_i = pair->uses[at(pair, i, i)], of_j = pair->uses[at(pair, j, j)];
  const bool single = of_i != 0 && (of_i & (of_i - 1)) == 0;
  if (i == j || pair->set[at(pair, i, i)] != 1 || pair->set[at(pair, j, j)] != 1 || of_i != of_j || !single)
    return md_error(
        MD_USAGE,
        "pair style %s has no coefficients for types %d and %d: add pair_coeff %d %d STYLE ..., or "
        "pair_coeff %d %d none; only types that both have the same single sub-style are mixed",
        md_pair_style_of(pair->kind)->name, i + 1, j + 1, i + 1, j + 1, i + 1, j + 1);
  pair->uses[at(pair, i, j)] = pair->uses[at(pair, j, i)] = of_i;
  pair->set[at(pair, i, j)] = pair->set[at(pair, j, i)] = 2;
  return MD_OK;
}

static md_status not_used(const md_pair *pair, int s)
{
  const char *name = md_pair_style_of(pair->sub[s].kind)->name;
  int count = 0, number = 0;
  for (int t = 0; t < pair->nsub; ++t) {
    count += pair->sub[t].kind == pair->sub[s].kind;
    if (t == s) number = count;
  }
  char of_several[16] = "";
  if (count > 1) snprintf(of_several, sizeof of_several, " %d", number);
  return md_error(
      MD_USAGE,
      "pair style %s: no pair of types uses the sub-style %s%s: add pair_coeff I J %s%s ..., or take it "
      "out of pair_style",
      md_pair_style_of(pair->kind)->name, name, of_several, name, of_several);
}

md_status md_hybrid_complete(md_pair *pair)
{
  int64_t used = 0;
  for (int i = 0; i < pair->ntypes; ++i)
    for (int j = i; j < pair->ntypes; ++j) {
      if (pair->set[at(pair, i, j)] != 1) MD_TRY(find_use(pair, i, j));
      used |= pair->uses[at(pair, i, j)];
      for (int s = 0; s < pair->nsub; ++s)
        if (md_hybrid_uses(pair, s, i, j)) MD_TRY(md_pair_complete_types(&pair->sub[s], i, j));
    }
  for (int s = 0; s < pair->nsub; ++s)
    if (!(used >> s & 1)) return not_used(pair, s);
  return MD_OK;
}

double md_hybrid_cutoff(const md_pair *pair)
{
  double rc = 0.0;
  for (int i = 0; i < pair->ntypes; ++i)
    for (int j = 0; j < pair->ntypes; ++j)
      for (int s = 0; s < pair->nsub; ++s)
        if (md_hybrid_uses(pair, s, i, j)) rc = md_max(rc, md_pair_reach(&pair->sub[s], i, j));
  return rc;
}

/* Of several terms: where their energy together passes zero, or else the longest of their usual distances. */
double md_hybrid_length(const md_pair *pair, int i, int j, double energy)
{
  double k[MD_HYBRID_MOST * MD_PAIR_K], rc = 0.0, length = 0.0;
  int n = 0;
  for (int s = 0; s < pair->nsub; ++s) {
    const md_pair *sub = &pair->sub[s];
    if (!md_hybrid_uses(pair, s, i, j)) continue;
    md_pair_row(sub, i, j, false, 1.0, k + n++ * MD_PAIR_K);
    rc = md_max(rc, md_pair_reach(sub, i, j));
    length = md_max(length, md_pair_length(sub, i, j, energy));
  }
  const double zero = n > 1 ? md_pair_zero_of_energy(k, n, MD_PAIR_K, rc) : 0.0;
  return zero > 0.0 ? zero : length;
}

static void fill_plane(const md_pair *pair, int s, double scale, double *k)
{
  const md_pair *sub = &pair->sub[s];
  for (int i = 0; i < pair->ntypes; ++i)
    for (int j = 0; j < pair->ntypes; ++j, k += MD_PAIR_K) {
      if (md_hybrid_uses(pair, s, i, j)) md_pair_row(sub, i, j, sub->shift, scale, k);
      k[MD_PAIR_FORMULA] = (double)sub->kind;
    }
}

/* The head at row p of the table. */
static void fill_head(const md_pair *pair, int64_t p, double *table)
{
  const int64_t types2 = (int64_t)pair->ntypes * pair->ntypes;
  double *head = table + p * MD_PAIR_K;
  int first = pair->nsub, last = -1;
  for (int s = 0; s < pair->nsub; ++s) {
    const double rc2 = table[(p + (s + 1) * types2) * MD_PAIR_K];
    if (!(rc2 > 0.0)) continue;
    head[0] = md_max(head[0], rc2);
    if (last < 0) first = s;
    last = s;
  }
  head[MD_HYBRID_TERMS] = last < 0 ? 0.0 : (double)(last - first + 1);
  head[MD_HYBRID_STRIDE] = (double)(types2 * MD_PAIR_K);
  head[MD_HYBRID_SUBS] = pair->nsub;
  head[7] = (double)(last < 0 ? p : p + (first + 1) * types2);
  head[MD_HYBRID_ADDRESS] = (double)(uintptr_t)head;
  head[MD_PAIR_FORMULA] = (double)pair->kind;
}

void md_hybrid_table(const md_pair *pair, double scale, double *k)
{
  const int64_t types2 = (int64_t)pair->ntypes * pair->ntypes;
  memset(k, 0, (size_t)md_pair_rows(pair) * MD_PAIR_K * sizeof *k);
  for (int s = 0; s < pair->nsub; ++s) fill_plane(pair, s, scale, k + (s + 1) * types2 * MD_PAIR_K);
  for (int64_t p = 0; p < types2; ++p) fill_head(pair, p, k);
  md_pair_set_addresses(pair, k, types2, NULL, k, sizeof *k);
}

static bool is_dissipative(const double *row)
{
  return md_pair_style_of((md_pair_kind)row[MD_PAIR_FORMULA])->dissipative;
}

const double *md_hybrid_dissipative_row(const double *head)
{
  const double *k = md_hybrid_first(head);
  for (int t = 0; t < (int)head[MD_HYBRID_TERMS]; ++t, k += (int64_t)head[MD_HYBRID_STRIDE])
    if (k[0] > 0.0 && is_dissipative(k)) return k;
  return NULL;
}

md_pair_term md_hybrid_term(const md_dissipation *d, const double *head, int64_t a, int64_t b,
                            const double *delta, const double *u, int dim, double r2)
{
  const double *k = md_hybrid_first(head);
  double force = 0.0, energy = 0.0;
  for (int t = 0; r2 < head[0] && t < (int)head[MD_HYBRID_TERMS]; ++t, k += (int64_t)head[MD_HYBRID_STRIDE]) {
    const md_pair_kind kind = (md_pair_kind)k[MD_PAIR_FORMULA];
    if (!(r2 < k[0])) continue;
    force += is_dissipative(k) ? md_dissipative_force(d, k, a, b, delta, u, dim, r2).f
                               : md_pair_force(kind, r2, k);
    energy += md_pair_energy(kind, r2, k);
  }
  return md_pair_term_of(force, energy, delta, dim, 1.0);
}
