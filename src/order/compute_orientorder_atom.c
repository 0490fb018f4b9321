/* compute orientorder/atom: the bond-orientational order of each particle, Q_l, W_l and the components after them
 * (common/sums/bond_order.h).
 *
 * Sums go along sorted lists (nearest.h), so that they have the same bits everywhere. An engine may do this in place
 * (common/sums/environment.h). Degrees end at 30: Racah's sum for a 3j symbol has an error of 8e-13 there, and of 2e-16
 * at 12.
 * Cost: the lists, about L^2/2 terms a neighbour for a largest degree L, and about 3 l^2 products for each W_l.
 * References: Edmonds, Angular Momentum in Quantum Mechanics, equation 3.6.11 (3j); the LAMMPS manual, compute
 * orientorder/atom. */
#include "common/sums/bond_order.h"
#include "common/sums/environment.h"
#include "src/computes/host_compute.h"
#include "src/deck/command.h"
#include "src/order/nearest.h"
#include "src/output/observer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct compute_order {
  md_host_compute base;
  md_near_search search;
  md_order order;
  double *symbol;             /* those of the order */
  md_environment environment; /* for engines */
} compute_order;

/* ---- tables ---- */

static void make_recurrence(md_order *o)
{
  double square = 1.0 / (4.0 * 3.14159265358979323846);
  for (int m = 0; m <= o->largest; ++m) {
    if (m > 0) square *= (2.0 * m + 1.0) / (2.0 * m);
    o->start[m] = (m % 2 ? -1.0 : 1.0) * sqrt(square);
    for (int l = m + 1; l <= o->largest; ++l) {
      const double below = l - 1.0;
      o->up[md_order_term(l, m)] = sqrt((4.0 * l * l - 1.0) / ((double)l * l - (double)m * m));
      o->down[md_order_term(l, m)] = sqrt((below * below - (double)m * m) / (4.0 * below * below - 1.0));
    }
  }
}

/* Racah's sum for three equal degrees. f: factorials. */
static double symbol_of(int l, int m1, int m2, const double *f)
{
  const int m3 = -m1 - m2;
  double sum = 0.0;
  for (int k = 0; k <= l; ++k) {
    if (l - m1 - k < 0 || l + m2 - k < 0 || m1 + k < 0 || k - m2 < 0) continue;
    const double below = f[k] * f[l - k] * f[l - m1 - k] * f[l + m2 - k] * f[m1 + k] * f[k - m2];
    sum += (k % 2 ? -1.0 : 1.0) / below;
  }
  const double before = f[l] * f[l] * f[l] / f[3 * l + 1] * f[l + m1] * f[l - m1] * f[l + m2] * f[l - m2];
  return (m3 % 2 ? -1.0 : 1.0) * sqrt(before * f[l + m3] * f[l - m3]) * sum;
}

static void make_symbols(int l, double *symbol)
{
  const int width = 2 * l + 1;
  double factorial[3 * MD_ORDER_MOST + 2] = {1.0};
  for (int k = 1; k < 3 * MD_ORDER_MOST + 2; ++k) factorial[k] = k * factorial[k - 1];
  for (int m1 = -l; m1 <= l; ++m1)
    for (int m2 = -l; m2 <= l; ++m2)
      if (abs(m1 + m2) <= l) symbol[(m1 + l) * width + m2 + l] = symbol_of(l, m1, m2, factorial);
}

/* A degree that is wanted twice has two tables of symbols, of which the last one is used. */
static md_status make_tables(compute_order *c)
{
  md_order *o = &c->order;
  for (int k = 0; k < o->ndegree; ++k) {
    const int l = o->degree[k], width = 2 * l + 1;
    if (l > o->largest) o->largest = l;
    o->table[l] = o->symbols;
    o->symbols += o->w || o->w_hat ? (int64_t)width * width : 0;
  }
  make_recurrence(o);
  MD_TRY(md_array_new_zero(&c->symbol, o->symbols + 1, sizeof *c->symbol, "3j symbols"));
  o->symbol = c->symbol;
  for (int k = 0; k < o->ndegree && o->symbols > 0; ++k)
    make_symbols(o->degree[k], c->symbol + o->table[o->degree[k]]);
  return MD_OK;
}

/* ---- words ---- */

static md_status set_degrees(compute_order *c, int n, char *const *word)
{
  int64_t l;
  c->order.ndegree = n;
  for (int k = 0; k < n; ++k) {
    MD_TRY(md_word_int64(word[k], "a degree of compute orientorder/atom", 0, MD_ORDER_MOST, &l));
    c->order.degree[k] = (int)l;
  }
  return MD_OK;
}

static md_status read_degrees(compute_order *c, const md_words *words, int *at)
{
  int64_t n;
  MD_TRY(md_word_int64(words->word[*at + 1], "the number of degrees", 1, MD_ORDER_MOST + 1, &n));
  if (*at + 2 + n > words->n)
    return md_error(MD_USAGE, "compute orientorder/atom: degrees %d is followed by fewer than %d degrees",
                    (int)n, (int)n);
  MD_TRY(set_degrees(c, (int)n, words->word + *at + 2));
  *at += 2 + (int)n;
  return MD_OK;
}

static md_status read_keyword(compute_order *c, const md_words *words, int *at)
{
  const char *keyword = words->word[*at];
  int64_t number;
  bool near;
  MD_TRY(md_near_read(words, "compute orientorder/atom", at, &c->search, &near));
  if (near) return MD_OK;
  if (*at + 1 == words->n)
    return md_error(MD_USAGE, "compute orientorder/atom: '%.64s' has no value after it", keyword);
  if (strcmp(keyword, "degrees") == 0) return read_degrees(c, words, at);
  const char *value = words->word[*at + 1];
  *at += 2;
  if (strcmp(keyword, "wl") == 0) return md_word_bool(value, "compute orientorder/atom wl", &c->order.w);
  if (strcmp(keyword, "wl/hat") == 0)
    return md_word_bool(value, "compute orientorder/atom wl/hat", &c->order.w_hat);
  if (strcmp(keyword, "chunksize") == 0) return md_word_int64(value, "chunksize", 1, INT64_MAX, &number);
  if (strcmp(keyword, "components") != 0)
    return md_error(
        MD_USAGE,
        "compute orientorder/atom: unknown keyword '%.64s'; accepted are cutoff, nnn, degrees, wl, "
        "wl/hat, components, chunksize",
        keyword);
  MD_TRY(md_word_int64(value, "compute orientorder/atom components", 0, MD_ORDER_MOST, &number));
  c->order.components = (int)number;
  return MD_OK;
}

static md_status check_components(const compute_order *c)
{
  if (c->order.components < 0) return MD_OK;
  for (int k = 0; k < c->order.ndegree; ++k)
    if (c->order.degree[k] == c->order.components) return MD_OK;
  return md_error(MD_USAGE, "compute orientorder/atom: components %d is none of its degrees",
                  c->order.components);
}

static md_status parse(md_host_compute *base, md_sim *sim, const md_words *words)
{
  compute_order *c = (compute_order *)base;
  char *const usual[] = {"4", "6", "8", "10", "12"};
  c->search = (md_near_search){.group = base->group, .most = 12};
  c->order.components = -1;
  MD_TRY(md_sim_need_box(sim, "compute orientorder/atom"));
  if (sim->model.box.dim != 3)
    return md_error(MD_USAGE, "compute orientorder/atom is for three dimensions; in two, take hexorder/atom");
  MD_TRY(set_degrees(c, 5, usual));
  for (int at = 0; at < words->n;) MD_TRY(read_keyword(c, words, &at));
  MD_TRY(check_components(c));
  base->columns = md_order_columns(&c->order);
  base->vector = base->columns > 1;
  return make_tables(c);
}

/* ---- values ---- */

/* Particles with too few neighbours keep zeros, as in LAMMPS. */
static void find_one(const compute_order *c, const md_near_list *list, double *each)
{
  const md_order *o = &c->order;
  md_complex sum[MD_ORDER_TERMS] = {{0.0, 0.0}}, q[MD_ORDER_MOST + 1] = {{0.0, 0.0}};
  if (list->n == 0 || list->n < c->search.most) return;
  for (int64_t k = 0; k < list->n; ++k) {
    double direction[3];
    md_order_direction(list->at[k].delta, list->at[k].r2, direction);
    md_order_add(o, direction, sum);
  }
  for (int k = 0; k < o->ndegree; ++k) {
    const double n = (double)list->n;
    for (int l = o->degree[k], m = 0; m <= l; ++m) {
      const md_complex s = sum[md_order_term(l, m)];
      q[m] = (md_complex){s.re / n, s.im / n};
    }
    md_order_values(o, k, q, each);
  }
}

static const md_environment *environment(md_host_compute *base, const md_sim *sim)
{
  compute_order *c = (compute_order *)base;
  c->environment = (md_environment){.kind = MD_ENVIRONMENT_ORDER,
                                    .cutoff = md_near_with_cutoff(sim, c->search).cutoff,
                                    .group = md_group_bit(base->group),
                                    .other = MD_GROUP_ALL,
                                    .columns = base->columns,
                                    .most = c->search.most,
                                    .order = &c->order};
  return &c->environment;
}

static md_status find(md_host_compute *base, md_view *view)
{
  const compute_order *c = (compute_order *)base;
  const int64_t n = view->sim->particles.n;
  const md_near_search search = md_near_with_cutoff(view->sim, c->search);
  md_near_list *lists;
  MD_TRY(md_near_make(view->sim, &search, &lists));
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; ++i) find_one(c, &lists[i], base->each + i * base->columns);
  md_near_free(lists, n);
  return MD_OK;
}

static void free_tables(md_host_compute *base) { free(((compute_order *)base)->symbol); }

const md_host_compute_style md_compute_orientorder_atom_style = {
    .name = "orientorder/atom",
    .usage = "orientorder/atom [cutoff R] [nnn N|NULL] [degrees N L1 ... LN] [wl yes|no] [wl/hat yes|no] "
             "[components L] [chunksize N]",
    .help =
        "bond-orientational order of each particle, from its N nearest neighbours (12) or all within R:\n"
        "Q_l for each degree l (4 6 8 10 12), then W_l, then hat W_l, then the normalised q_lm, re and im,\n"
        "for m from -L to L; degrees up to 30; chunksize changes nothing",
    .size = sizeof(compute_order),
    .parse = parse,
    .find = find,
    .environment = environment,
    .free = free_tables,
};
