/* Pair styles: parameters by pair of types, mixing, coefficient tables; see pair.h. */
#include "common/pair/pair.h"
#include "common/pair/formulas.h"
#include "common/pair/hybrid/hybrid.h"

#include <stdio.h>
#include <stdlib.h>

/* Of the styles with a density. */
static void density_prepare(const double *parameter, bool shift, double scale, double *k)
{
  (void)shift;
  (void)scale;
  k[0] = parameter[0] * parameter[0];
}

/* Of the three-body styles; md_pair_row adds the coefficients of the potential. */
static void three_body_prepare(const double *parameter, bool shift, double scale, double *k)
{
  (void)shift;
  (void)parameter;
  k[1] = scale;
}

/* Of the dissipative styles. */
static void dissipative_coefficients(double a, double gamma, double rc, double scale, double *k)
{
  k[0] = rc * rc;
  k[1] = scale * a;
  k[2] = 1.0 / rc;
  k[3] = rc * rc * 1e-12;
  k[4] = 0.5 * a * rc;
  k[5] = scale * gamma;
  k[6] = scale * sqrt(2.0 * gamma);
}

/* LAMMPS's rules: an energy and a distance of a pair from those of each type with itself. */
static double mix_energy(md_mixing mixing, double ei, double ej, double si, double sj)
{
  const double mean = sqrt(ei * ej), si3 = si * si * si, sj3 = sj * sj * sj;
  if (mixing != MD_MIX_SIXTHPOWER) return mean;
  return si3 + sj3 > 0.0 ? 2.0 * mean * si3 * sj3 / (si3 * si3 + sj3 * sj3) : 0.0;
}

static double mix_distance(md_mixing mixing, double si, double sj)
{
  const double si3 = si * si * si, sj3 = sj * sj * sj;
  switch (mixing) {
  case MD_MIX_GEOMETRIC: return sqrt(si * sj);
  case MD_MIX_ARITHMETIC: return 0.5 * (si + sj);
  case MD_MIX_SIXTHPOWER: break;
  }
  return cbrt(sqrt(0.5 * (si3 * si3 + sj3 * sj3)));
}

/* For a style whose parameters are an energy, the length that it belongs to, and n - 2 more that mix as lengths do. */
static void mix_energy_and_lengths(int n, const double *a, const double *b, md_mixing mixing, double *ab)
{
  ab[0] = mix_energy(mixing, a[0], b[0], a[1], b[1]);
  for (int p = 1; p < n; ++p) ab[p] = mix_distance(mixing, a[p], b[p]);
}

#define MD_PAIR_HOST
#include "common/pair/pair_styles.h"
#undef MD_PAIR_HOST

static const md_pair_style *const styles[] = {
#define MD_PAIR_STYLE(symbol, label) &symbol##_style,
#include "common/pair/pair_styles.h"
#undef MD_PAIR_STYLE
};

const md_pair_style *md_pair_style_of(md_pair_kind kind)
{
  return kind < MD_PAIR_KINDS ? styles[kind] : NULL;
}

md_pair_kind md_pair_find(const char *name)
{
  int kind = 0;
  while (kind < MD_PAIR_KINDS && strcmp(styles[kind]->name, name) != 0 &&
         !(styles[kind]->other_name && strcmp(styles[kind]->other_name, name) == 0))
    ++kind;
  return (md_pair_kind)kind;
}

bool md_pair_shares_kernels(md_pair_kind kind)
{
  switch (kind) {
#define MD_PAIR_HYBRID(symbol) case MD_PAIR_##symbol:
#define MD_PAIR_SHARED(symbol) case MD_PAIR_##symbol:
#include "common/pair/pair_styles.h"
#undef MD_PAIR_SHARED
#undef MD_PAIR_HYBRID
    return true;
  default: return false;
  }
}

/* Checks the domain of a parameter. of_style: the value comes from pair_style. The cutoff of the style must be
 * positive; that of a single pair of types may be 0, so that these types do not interact. */
static md_status check(const md_pair_style *style, int index, double value, bool of_style)
{
  const md_pair_parameter *p = &style->parameter[index];
  const md_parameter_range range = of_style && index == style->rc_parameter ? MD_POSITIVE : p->range;
  if (!isfinite(value) || (range == MD_POSITIVE && value <= 0.0) || (range == MD_NOT_NEGATIVE && value < 0.0))
    return md_error(MD_USAGE, "%s of pair style %s must be %s, not %g", p->name, style->name,
                    range == MD_POSITIVE       ? "positive"
                    : range == MD_NOT_NEGATIVE ? "zero or positive"
                                               : "finite",
                    value);
  return MD_OK;
}

static md_status wrong_count(const md_pair_style *style, int nvalue)
{
  const int least = style->global_required - style->nunit, most = style->nglobal - style->nunit;
  nvalue -= style->nunit;
  if (most == 0) return md_error(MD_USAGE, "pair style %s takes no numbers, not %d", style->name, nvalue);
  char range[32] = "";
  if (least < most) snprintf(range, sizeof range, "%d to ", least);
  return md_error(MD_USAGE, "pair style %s takes %s%d number%s (the first is %s), not %d", style->name, range,
                  most, most > 1 ? "s" : "", style->parameter[style->nparameter - style->nglobal].name,
                  nvalue);
}

int md_pair_add_units(md_pair_kind kind, const md_units *units, double *value, int n)
{
  const md_pair_style *style = md_pair_style_of(kind);
  if (!style || style->nunit == 0) return n;
  value[n++] = units->charges;
  value[n++] = units->angstrom > 0.0 ? units->angstrom : 1.0;
  return n;
}

md_status md_pair_start(md_pair *pair, md_pair_kind kind, int ntypes, const double *value, int nvalue)
{
  const md_pair_style *style = md_pair_style_of(kind);
  if (!style) return md_error(MD_USAGE, "there is no such pair style");
  if (nvalue < style->global_required || nvalue > style->nglobal) return wrong_count(style, nvalue);
  const int first = style->nparameter - style->nglobal;
  for (int g = 0; g < nvalue; ++g) MD_TRY(check(style, first + g, value[g], true));
  const bool shift = pair->shift, tail = pair->tail;
  const md_mixing mixing = pair->mixing;
  md_pair_free(pair);
  pair->kind = kind;
  pair->ntypes = ntypes;
  pair->shift = shift;
  pair->tail = tail;
  pair->mixing = mixing;
  for (int g = 0; g < style->nglobal; ++g) pair->global[g] = g < nvalue ? value[g] : (double)NAN;
  const long long npair = (long long)ntypes * ntypes;
  MD_TRY(md_array_new_zero(&pair->parameter, npair * MD_PAIR_PARAMETERS, sizeof(double), "pair parameters"));
  MD_TRY(md_array_new_zero(&pair->set, npair, 1, "pair parameters"));
  return MD_OK;
}

static double *parameters(const md_pair *pair, int i, int j)
{
  return pair->parameter + ((size_t)i * (size_t)pair->ntypes + (size_t)j) * MD_PAIR_PARAMETERS;
}

static unsigned char *set_flag(const md_pair *pair, int i, int j)
{
  return &pair->set[(size_t)i * (size_t)pair->ntypes + (size_t)j];
}

/* how: the value of md_pair.set. */
static void store(md_pair *pair, int i, int j, const double *value, unsigned char how)
{
  memcpy(parameters(pair, i, j), value, MD_PAIR_PARAMETERS * sizeof(double));
  memcpy(parameters(pair, j, i), value, MD_PAIR_PARAMETERS * sizeof(double));
  *set_flag(pair, i, j) = *set_flag(pair, j, i) = how;
}

static md_status wrong_coefficients(const md_pair_style *style, int least, int most, int nvalue)
{
  char range[32] = "";
  if (least < most) snprintf(range, sizeof range, "%d to ", least);
  return md_error(MD_USAGE, "pair style %s takes %s%d coefficients, not %d", style->name, range, most,
                  nvalue);
}

md_status md_pair_set(md_pair *pair, int i, int j, const double *value, int nvalue)
{
  const md_pair_style *style = md_pair_style_of(pair->kind);
  if (!style) return md_error(MD_USAGE, "pair_coeff needs a pair_style first");
  const int least = style->nparameter - style->nglobal, most = style->nparameter - style->nfixed;
  if (style->rc_parameter == MD_NO_CUTOFF && nvalue > 0)
    return md_error(MD_USAGE,
                    "pair style %s has no coefficients of its own for a pair of types, only those of "
                    "pair_style",
                    style->name);
  if (style->density || style->three_body || style->tabulated)
    return md_error(MD_USAGE, "pair style %s takes a file of a potential", style->name);
  if (nvalue < least || nvalue > most) return wrong_coefficients(style, least, most, nvalue);
  double all[MD_PAIR_PARAMETERS] = {0};
  for (int p = 0; p < style->nparameter; ++p) {
    const int at = p < least ? p : p - style->nfixed;
    const bool given = at < nvalue && (p < least || p >= least + style->nfixed);
    all[p] = given ? value[at] : pair->global[p - least];
    if (given) MD_TRY(check(style, p, all[p], false));
  }
  if (style->by_type && i == j && all[0] != all[1])
    return md_error(MD_USAGE, "pair style %s: %s and %s of type %d with itself must be equal", style->name,
                    style->parameter[0].name, style->parameter[1].name, i);
  store(pair, i - 1, j - 1, all, 1);
  return MD_OK;
}

/* A pair of types out of a restart has no table until pair_coeff gives it again. */
static void forget_lost_table(md_pair *pair, int i, int j)
{
  const md_tables *tables = pair->tables;
  const double *p = parameters(pair, i, j);
  const bool there = tables && p[2] < tables->count && p[3] == tables->checksum[(int)p[2]];
  if (!there) *set_flag(pair, i, j) = *set_flag(pair, j, i) = 0;
}

/* Mixes the parameters of a pair of types that has none. */
static md_status mix_types(md_pair *pair, const md_pair_style *style, int i, int j)
{
  if (style->density || style->three_body)
    return md_error(MD_USAGE, "pair style %s: type %d has no potential: add pair_coeff with a file",
                    style->name, (*set_flag(pair, i, i) == 1 ? j : i) + 1);
  if (style->tabulated)
    return md_error(
        MD_USAGE,
        "pair style %s has no table for types %d and %d: add pair_coeff %d %d with a file (restarts "
        "hold none)",
        style->name, i + 1, j + 1, i + 1, j + 1);
  if (i == j || !style->mix || *set_flag(pair, i, i) != 1 || *set_flag(pair, j, j) != 1)
    return md_error(MD_USAGE,
                    "pair style %s has no coefficients for types %d and %d: add pair_coeff %d %d ...",
                    style->name, i + 1, j + 1, i + 1, j + 1);
  double mixed[MD_PAIR_PARAMETERS] = {0};
  style->mix(parameters(pair, i, i), parameters(pair, j, j), pair->mixing, mixed);
  store(pair, i, j, mixed, 2);
  return MD_OK;
}

static double reach(const md_pair_style *style, const double *parameter)
{
  return style->reach ? style->reach(parameter) : parameter[style->rc_parameter];
}

md_status md_pair_complete_types(md_pair *pair, int i, int j)
{
  const md_pair_style *style = md_pair_style_of(pair->kind);
  if (style->tabulated) forget_lost_table(pair, i, j);
  if (*set_flag(pair, i, j) != 1) MD_TRY(mix_types(pair, style, i, j));
  const char *reason = style->refuse ? style->refuse(parameters(pair, i, j)) : NULL;
  if (reason)
    return md_error(MD_USAGE, "pair style %s, types %d and %d: %s", style->name, i + 1, j + 1, reason);
  /* Formulas compare squares, which must be normal numbers. */
  const double rc = style->rc_parameter == MD_NO_CUTOFF ? 0.0 : reach(style, parameters(pair, i, j));
  if (rc == 0.0 || (rc > 0x1p-500 && rc < 0x1p500)) return MD_OK;
  return md_error(
      MD_USAGE,
      "pair style %s, types %d and %d: the cutoff %g is out of range; use units in which it is nearer to 1",
      style->name, i + 1, j + 1, rc);
}

md_status md_pair_complete(md_pair *pair)
{
  const md_pair_style *style = md_pair_style_of(pair->kind);
  if (!style) return MD_OK;
  if ((style->density && !pair->eam) || (style->three_body && !pair->three))
    return md_error(MD_USAGE,
                    "pair style %s has no potential: add pair_coeff with a file (restarts hold none)",
                    style->name);
  if (style->hybrid) return md_hybrid_complete(pair);
  if (style->needs_no_coeff)
    for (int i = 0; i < pair->ntypes; ++i)
      for (int j = i; j < pair->ntypes; ++j)
        if (*set_flag(pair, i, j) != 1) store(pair, i, j, pair->global, 1);
  for (int i = 0; i < pair->ntypes; ++i)
    for (int j = i; j < pair->ntypes; ++j) MD_TRY(md_pair_complete_types(pair, i, j));
  return MD_OK;
}

md_status md_pair_settle(md_pair *pair, int ntypes)
{
  const md_pair_style *style = md_pair_style_of(pair->kind);
  if (style->hybrid) return md_hybrid_settle(pair, ntypes);
  double value[MD_PAIR_PARAMETERS];
  memcpy(value, pair->global, sizeof value);
  int n = 0;
  while (n < style->nglobal && !isnan(value[n])) ++n;
  return md_pair_start(pair, pair->kind, ntypes, value, n);
}

void md_pair_free(md_pair *pair)
{
  free(pair->parameter);
  free(pair->set);
  md_eam_free(pair->eam);
  md_three_body_free(pair->three);
  md_tables_free(pair->tables);
  for (int n = 0; n < pair->nsub; ++n) md_pair_free(&pair->sub[n]);
  free(pair->sub);
  free(pair->uses);
  *pair = (md_pair){.kind = MD_PAIR_NONE};
}

bool md_pair_is_all(const md_pair *pair)
{
  const md_pair_style *style = md_pair_style_of(pair->kind);
  return style && style->rc_parameter == MD_NO_CUTOFF;
}

bool md_pair_has_density(const md_pair *pair)
{
  const md_pair_style *style = md_pair_style_of(pair->kind);
  return style && style->density;
}

bool md_pair_is_three_body(const md_pair *pair)
{
  const md_pair_style *style = md_pair_style_of(pair->kind);
  return style && style->three_body;
}

bool md_pair_has_passes(const md_pair *pair)
{
  return md_pair_has_density(pair) || md_pair_is_three_body(pair);
}

const md_pair *md_pair_dissipative_of(const md_pair *pair)
{
  const md_pair_style *style = md_pair_style_of(pair->kind);
  if (style && style->dissipative) return pair;
  for (int s = 0; s < pair->nsub; ++s)
    if (md_pair_dissipative_of(&pair->sub[s])) return &pair->sub[s];
  return NULL;
}

bool md_pair_is_dissipative(const md_pair *pair) { return md_pair_dissipative_of(pair); }

bool md_pair_needs_more(const md_pair *pair)
{
  return md_pair_has_passes(pair) || md_pair_is_dissipative(pair);
}

double md_pair_hottest(const md_pair *pair)
{
  const md_pair *of = md_pair_dissipative_of(pair);
  return of ? md_max(of->global[0], of->global[1]) : 0.0;
}

void md_pair_take_potential(md_pair *pair, md_eam *eam)
{
  const double value[MD_PAIR_PARAMETERS] = {eam->cutoff, md_eam_checksum(eam)};
  if (pair->eam != eam) md_eam_free(pair->eam);
  pair->eam = eam;
  for (int i = 0; i < pair->ntypes; ++i)
    for (int j = i; j < pair->ntypes; ++j)
      if (eam->element[i] >= 0 && eam->element[j] >= 0) store(pair, i, j, value, 1);
}

void md_pair_take_three_body(md_pair *pair, md_three_body *three)
{
  if (pair->three != three) md_three_body_free(pair->three);
  pair->three = three;
  memset(pair->set, 0, (size_t)pair->ntypes * (size_t)pair->ntypes);
  for (int i = 0; i < pair->ntypes; ++i)
    for (int j = i; j < pair->ntypes; ++j) {
      const int a = three->element[i], b = three->element[j];
      if (a < 0 || b < 0) continue;
      const double value[MD_PAIR_PARAMETERS] = {md_three_reach(three, a, b), three->checksum};
      store(pair, i, j, value, 1);
    }
}

bool md_pair_is_tabulated(const md_pair *pair)
{
  const md_pair_style *style = md_pair_style_of(pair->kind);
  return style && style->tabulated;
}

md_status md_pair_add_table(md_pair *pair, const int i[2], const int j[2], const md_table_values *values,
                            double rc)
{
  const double first = values->r[0], last = values->r[values->n - 1];
  if (!(rc > first && rc <= last))
    return md_error(MD_USAGE,
                    "pair style table: the cutoff %g must be within the table, above %g and up to %g", rc,
                    first, last);
  if (!pair->tables) MD_TRY(md_tables_new(&pair->tables, pair->global[0] > 0.0, (int)pair->global[1]));
  MD_TRY(md_tables_add(pair->tables, values, rc));
  const int number = pair->tables->count - 1;
  const double value[MD_PAIR_PARAMETERS] = {
      rc, first, number, pair->tables->checksum[number], pair->global[0], pair->global[1]};
  for (int a = i[0]; a <= i[1]; ++a)
    for (int b = a > j[0] ? a : j[0]; b <= j[1]; ++b) store(pair, a - 1, b - 1, value, 1);
  return MD_OK;
}

static int64_t numbers_of(const md_tables *tables)
{
  return tables ? (int64_t)(tables->n - 1) * 2 * MD_TABLE_ROW * tables->count : 0;
}

int64_t md_pair_table_numbers(const md_pair *pair)
{
  int64_t numbers = numbers_of(pair->tables);
  for (int s = 0; s < pair->nsub; ++s) numbers += numbers_of(pair->sub[s].tables);
  return numbers;
}

void md_pair_copy_tables(const md_pair *pair, double *to)
{
  if (pair->tables) memcpy(to, pair->tables->row, (size_t)numbers_of(pair->tables) * sizeof *to);
  for (int s = 0; s < pair->nsub; ++s) {
    md_pair_copy_tables(&pair->sub[s], to);
    to += numbers_of(pair->sub[s].tables);
  }
}

static void set_address(double *k, double address)
{
  k[5] = floor(address * 0x1p-24) * 0x1p24;
  k[6] = address - k[5];
}

static void set_table_addresses(const md_tables *tables, double *k, int64_t n, const double *data)
{
  const double bytes = (double)(tables->n - 1) * 2 * MD_TABLE_ROW * sizeof(double);
  for (int64_t row = 0; row < n; ++row, k += MD_PAIR_K)
    if (k[0] > 0.0) set_address(k, (double)(uintptr_t)data + k[7] * bytes);
}

void md_pair_set_addresses(const md_pair *pair, double *k, int64_t n, const void *tables, const void *rows,
                           int bytes)
{
  const int64_t types2 = (int64_t)pair->ntypes * pair->ntypes;
  const double *data = tables;
  if (pair->tables) set_table_addresses(pair->tables, k, n, data);
  for (int s = 0; s < pair->nsub; ++s) {
    const md_tables *of_sub = pair->sub[s].tables;
    if (of_sub && (s + 1) * types2 < n)
      set_table_addresses(of_sub, k + (s + 1) * types2 * MD_PAIR_K, types2, data);
    data += numbers_of(of_sub);
  }
  for (int64_t row = 0; row < n && row < types2 && pair->nsub > 0; ++row, k += MD_PAIR_K)
    set_address(k, (double)(uintptr_t)rows + k[7] * MD_PAIR_K * bytes);
}

double md_pair_least2(const double *k)
{
  const md_pair_style *style = styles[(int)k[MD_PAIR_FORMULA]];
  if (!(k[0] > 0.0)) return 0.0;
  if (style->tabulated) return k[2];
  double least2 = 0.0;
  const double *term = style->hybrid ? md_hybrid_first(k) : NULL;
  for (int t = 0; term && t < (int)k[MD_HYBRID_TERMS]; ++t, term += (int64_t)k[MD_HYBRID_STRIDE])
    least2 = md_max(least2, md_pair_least2(term));
  return least2;
}

int64_t md_pair_rows(const md_pair *pair) { return (int64_t)pair->ntypes * pair->ntypes * (1 + pair->nsub); }

/* Vectors read the address in a head, also if there is no interaction. */
void md_pair_exclude(const md_pair *pair, double *k, int i, int j)
{
  const int64_t types = pair->ntypes;
  for (int s = 0; s <= pair->nsub; ++s, k += types * types * MD_PAIR_K)
    for (int side = 0; side < 2; ++side) {
      double *row = k + (side ? j * types + i : i * types + j) * MD_PAIR_K;
      memset(row, 0, (pair->nsub > 0 ? 1 : MD_PAIR_K) * sizeof *row);
    }
}

double md_pair_cutoff(const md_pair *pair)
{
  const md_pair_style *style = md_pair_style_of(pair->kind);
  double rc = 0.0;
  if (style && style->hybrid) return md_hybrid_cutoff(pair);
  if (style && style->rc_parameter != MD_NO_CUTOFF)
    for (int i = 0; i < pair->ntypes; ++i)
      for (int j = 0; j < pair->ntypes; ++j) rc = md_max(reach(style, parameters(pair, i, j)), rc);
  return rc;
}

double md_pair_zero_of_energy(const double *k, int n, int64_t stride, double rc)
{
  bool attracts = false;
  for (double r = 0.9 * rc; r > 0.01 * rc; r *= 1.0 - 0x1p-6) {
    double energy = 0.0;
    for (int t = 0; t < n; ++t) {
      const double *row = k + t * stride;
      energy += md_pair_energy((md_pair_kind)row[MD_PAIR_FORMULA], r * r, row);
    }
    if (attracts && energy > 0.0) return r;
    attracts = attracts || energy < 0.0;
  }
  return 0.0;
}

double md_pair_reach(const md_pair *pair, int i, int j)
{
  return reach(md_pair_style_of(pair->kind), parameters(pair, i, j));
}

/* The size of F r of one row. */
static double work(const double *k, double r)
{
  return fabs(md_pair_force((md_pair_kind)k[MD_PAIR_FORMULA], r * r, k) * r) * r;
}

/* The usual distance under a force of one sign. A force that decays may be far below what particles meet at the
 * distance `from`, which follows from the cutoff alone. So the search goes inwards from there. It stops where F r is at
 * least 1/16 of the usual energy, or 2^-8 of the largest F r if that is less. */
static double decayed_length(const double *k, double from, double rc, double energy)
{
  const double step = 1.0 - 0x1p-6;
  double most = 0.0, r = from;
  for (double at = from; at > 0.01 * rc; at *= step) most = md_max(most, work(k, at));
  const double enough = md_min(0x1p-4 * energy, 0x1p-8 * most);
  while (r > 0.01 * rc && work(k, r) < enough) r *= step;
  return r;
}

double md_pair_length(const md_pair *pair, int i, int j, double energy)
{
  const md_pair_style *style = md_pair_style_of(pair->kind);
  if (!style) return 0.0;
  if (style->hybrid) return md_hybrid_length(pair, i, j, energy);
  const double *p = parameters(pair, i, j);
  if (style->rc_parameter == MD_NO_CUTOFF) return style->length_factor * p[style->length_parameter];
  const double rc = reach(style, p);
  if (style->length_parameter != MD_AT_ZERO_ENERGY)
    return md_min(style->length_factor * p[style->length_parameter], 0.9 * rc);
  double k[MD_PAIR_K];
  md_pair_row(pair, i, j, false, 1.0, k);
  const double zero = md_pair_zero_of_energy(k, 1, MD_PAIR_K, rc);
  return md_min(zero > 0.0 ? zero : decayed_length(k, style->length_factor * rc, rc, energy), 0.9 * rc);
}

void md_pair_row(const md_pair *pair, int i, int j, bool shift, double scale, double *k)
{
  memset(k, 0, MD_PAIR_K * sizeof *k);
  md_pair_style_of(pair->kind)->prepare(parameters(pair, i, j), shift, scale, k);
  if (pair->three) {
    const md_three_body *t = pair->three;
    memcpy(k, t->phi[t->element[i] * t->nelement + t->element[j]], MD_PAIR_K * sizeof *k);
    k[1] = scale;
  }
  k[MD_PAIR_FORMULA] = (double)pair->kind;
  if (pair->tables) set_table_addresses(pair->tables, k, 1, pair->tables->row);
}

void md_pair_table(const md_pair *pair, const double *mass, double scale, double *k)
{
  const md_pair_style *style = md_pair_style_of(pair->kind);
  if (style->hybrid) {
    md_hybrid_table(pair, scale, k);
    return;
  }
  for (int i = 0; i < pair->ntypes; ++i)
    for (int j = 0; j < pair->ntypes; ++j, k += MD_PAIR_K) {
      md_pair_row(pair, i, j, pair->shift, scale, k);
      if (style->rc_parameter != MD_NO_CUTOFF) continue;
      const double charge = k[1];
      k[1] = -((mass[i + 1] * charge) * (mass[j + 1] * charge));
      k[4] *= mass[i + 1] * mass[j + 1];
    }
}

void md_pair_unit_coefficients(const md_pair *pair, double scale, double *k)
{
  memset(k, 0, MD_PAIR_K * sizeof *k);
  md_pair_style_of(pair->kind)->prepare(pair->parameter, pair->shift, scale, k);
}

double md_pair_charge(const md_pair *pair, double scale)
{
  double k[MD_PAIR_K];
  md_pair_unit_coefficients(pair, scale, k);
  return k[1];
}

double md_pair_softening2(const md_pair *pair)
{
  if (!md_pair_is_all(pair)) return 0.0;
  double k[MD_PAIR_K];
  md_pair_unit_coefficients(pair, 1.0, k);
  return k[2];
}

/* Adds the terms of a head in the order of sub-styles, as all engines do. */
static double sum_of_terms(double (*of)(md_pair_kind, double, const double *), double r2, const double *k)
{
  const double *term = md_hybrid_first(k);
  double sum = 0.0;
  for (int t = 0; t < (int)k[MD_HYBRID_TERMS]; ++t, term += (int64_t)k[MD_HYBRID_STRIDE])
    sum += of((md_pair_kind)term[MD_PAIR_FORMULA], r2, term);
  return sum;
}

double md_pair_force(md_pair_kind kind, double r2, const double *k)
{
  if (!(r2 < k[0])) return 0.0;
  switch (kind) {
#define MD_PAIR_ALL(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_DISSIPATIVE(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_THREE_BODY(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_SHARED(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_CUT(symbol)                                                                                  \
  case MD_PAIR_##symbol:                                                                                     \
    return md_##symbol##_force(r2, k);
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
#undef MD_PAIR_ALL
#undef MD_PAIR_DISSIPATIVE
#undef MD_PAIR_THREE_BODY
#undef MD_PAIR_SHARED
#define MD_PAIR_HYBRID(symbol) case MD_PAIR_##symbol:
#include "common/pair/pair_styles.h"
#undef MD_PAIR_HYBRID
    return sum_of_terms(md_pair_force, r2, k);
  default: break;
  }
  return 0.0;
}

double md_pair_energy(md_pair_kind kind, double r2, const double *k)
{
  if (!(r2 < k[0])) return 0.0;
  switch (kind) {
#define MD_PAIR_ALL(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_DISSIPATIVE(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_THREE_BODY(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_SHARED(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_CUT(symbol)                                                                                  \
  case MD_PAIR_##symbol:                                                                                     \
    return md_##symbol##_energy(r2, k);
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
#undef MD_PAIR_ALL
#undef MD_PAIR_DISSIPATIVE
#undef MD_PAIR_THREE_BODY
#undef MD_PAIR_SHARED
#define MD_PAIR_HYBRID(symbol) case MD_PAIR_##symbol:
#include "common/pair/pair_styles.h"
#undef MD_PAIR_HYBRID
    return sum_of_terms(md_pair_energy, r2, k);
  default: break;
  }
  return 0.0;
}
