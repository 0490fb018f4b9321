/* compute orientorder/atom: the bond-orientational order of each particle, Q_l, W_l and the components behind them.
 *
 *      q_lm = (1/n) sum over the n nearest neighbours of Y_lm(direction),    Q_l = sqrt(4 pi/(2l + 1) sum_m |q_lm|^2)
 *      W_l = sum over m1 + m2 + m3 = 0 of (l l l; m1 m2 m3) q_lm1 q_lm2 q_lm3,   hat W_l = W_l/(sum_m |q_lm|^2)^(3/2)
 *
 * where (l l l; m1 m2 m3) is Wigner's 3j symbol. Y_lm is a polynomial of the direction (x, y, z)/r: (x + i y)^m times a
 * polynomial of z, by the recurrence of normalised Legendre functions in l, which is stable. So there are only +, *,
 * division and square roots. m >= 0 is enough, since Y_l-m is (-1)^m times the complex conjugate.
 *
 * Sums go along sorted lists (nearest.h), so that they have the same bits everywhere. Degrees end at 30: Racah's sum
 * for a 3j symbol has an error of 8e-13 there, and of 2e-16 at 12. Cost: the lists, about L^2/2 terms a neighbour for a
 * largest degree L, and about 3 l^2 products for each W_l.
 * References: Steinhardt, Nelson and Ronchetti, Phys. Rev. B 28, 784 (1983); Mickel et al., J. Chem. Phys. 138, 044501
 * (2013); Press et al., Numerical Recipes, section 6.7 (normalised recurrence); Edmonds, Angular Momentum in Quantum
 * Mechanics, equation 3.6.11 (3j); the LAMMPS manual, compute orientorder/atom. */
#include "src/computes/host_compute.h"
#include "src/deck/command.h"
#include "src/order/nearest.h"
#include "src/output/observer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEGREE = 30, TERMS = (MOST_DEGREE + 1) * (MOST_DEGREE + 2) / 2 };

static const double PI = 3.14159265358979323846;

/* Below this Q_l there is no direction to speak of: hat W_l and components are 0, as in LAMMPS. */
static const double NO_ORDER = 1e-6;

typedef struct complex_number {
  double re, im;
} complex_number;

typedef struct compute_order {
  md_host_compute base;
  md_near_search search;
  int ndegree, *degree, largest;
  bool w, w_hat;
  int components;                  /* the degree whose components are shown; -1: none */
  double start[MOST_DEGREE + 1];   /* Y_mm is start[m] (x + i y)^m */
  double up[TERMS], down[TERMS];   /* Y_lm = up (z Y_l-1,m - down Y_l-2,m) */
  double *symbol[MOST_DEGREE + 1]; /* by degree: 3j by m1 + l and m2 + l */
} compute_order;

static int term(int l, int m) { return l * (l + 1) / 2 + m; }

/* ---- tables ---- */

static void make_recurrence(compute_order *c)
{
  double square = 1.0 / (4.0 * PI);
  for (int m = 0; m <= c->largest; ++m) {
    if (m > 0) square *= (2.0 * m + 1.0) / (2.0 * m);
    c->start[m] = (m % 2 ? -1.0 : 1.0) * sqrt(square);
    for (int l = m + 1; l <= c->largest; ++l) {
      const double below = l - 1.0;
      c->up[term(l, m)] = sqrt((4.0 * l * l - 1.0) / ((double)l * l - (double)m * m));
      c->down[term(l, m)] = sqrt((below * below - (double)m * m) / (4.0 * below * below - 1.0));
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

static md_status make_symbols(compute_order *c, int l)
{
  const int width = 2 * l + 1;
  double factorial[3 * MOST_DEGREE + 2] = {1.0};
  if (c->symbol[l]) return MD_OK;
  for (int k = 1; k < 3 * MOST_DEGREE + 2; ++k) factorial[k] = k * factorial[k - 1];
  MD_TRY(md_array_new_zero(&c->symbol[l], (int64_t)width * width, sizeof(double), "3j symbols"));
  for (int m1 = -l; m1 <= l; ++m1)
    for (int m2 = -l; m2 <= l; ++m2)
      if (abs(m1 + m2) <= l) c->symbol[l][(m1 + l) * width + m2 + l] = symbol_of(l, m1, m2, factorial);
  return MD_OK;
}

static md_status make_tables(compute_order *c)
{
  for (int k = 0; k < c->ndegree; ++k)
    if (c->degree[k] > c->largest) c->largest = c->degree[k];
  make_recurrence(c);
  for (int k = 0; k < c->ndegree; ++k)
    if (c->w || c->w_hat) MD_TRY(make_symbols(c, c->degree[k]));
  return MD_OK;
}

/* ---- words ---- */

static md_status set_degrees(compute_order *c, int n, char *const *word)
{
  int64_t l;
  free(c->degree);
  c->ndegree = n;
  MD_TRY(md_array_new_zero(&c->degree, n, sizeof *c->degree, "degrees"));
  for (int k = 0; k < n; ++k) {
    MD_TRY(md_word_int64(word[k], "a degree of compute orientorder/atom", 0, MOST_DEGREE, &l));
    c->degree[k] = (int)l;
  }
  return MD_OK;
}

static md_status read_degrees(compute_order *c, const md_words *words, int *at)
{
  int64_t n;
  MD_TRY(md_word_int64(words->word[*at + 1], "the number of degrees", 1, MOST_DEGREE + 1, &n));
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
    return md_error(MD_USAGE, "compute orientorder/atom: '%.64s' has no value behind it", keyword);
  if (strcmp(keyword, "degrees") == 0) return read_degrees(c, words, at);
  const char *value = words->word[*at + 1];
  *at += 2;
  if (strcmp(keyword, "wl") == 0) return md_word_bool(value, "compute orientorder/atom wl", &c->w);
  if (strcmp(keyword, "wl/hat") == 0)
    return md_word_bool(value, "compute orientorder/atom wl/hat", &c->w_hat);
  if (strcmp(keyword, "chunksize") == 0) return md_word_int64(value, "chunksize", 1, INT64_MAX, &number);
  if (strcmp(keyword, "components") != 0)
    return md_error(
        MD_USAGE,
        "compute orientorder/atom: unknown keyword '%.64s'; accepted are cutoff, nnn, degrees, wl, "
        "wl/hat, components, chunksize",
        keyword);
  MD_TRY(md_word_int64(value, "compute orientorder/atom components", 0, MOST_DEGREE, &number));
  c->components = (int)number;
  return MD_OK;
}

static md_status check_components(const compute_order *c)
{
  if (c->components < 0) return MD_OK;
  for (int k = 0; k < c->ndegree; ++k)
    if (c->degree[k] == c->components) return MD_OK;
  return md_error(MD_USAGE, "compute orientorder/atom: components %d is none of its degrees", c->components);
}

static md_status parse(md_host_compute *base, md_sim *sim, const md_words *words)
{
  compute_order *c = (compute_order *)base;
  char *const usual[] = {"4", "6", "8", "10", "12"};
  c->search = (md_near_search){.group = base->group, .most = 12};
  c->components = -1;
  MD_TRY(md_sim_need_box(sim, "compute orientorder/atom"));
  if (sim->model.box.dim != 3)
    return md_error(MD_USAGE, "compute orientorder/atom is for three dimensions; in two, take hexorder/atom");
  MD_TRY(set_degrees(c, 5, usual));
  for (int at = 0; at < words->n;) MD_TRY(read_keyword(c, words, &at));
  MD_TRY(check_components(c));
  base->columns = c->ndegree * (1 + c->w + c->w_hat) + (c->components < 0 ? 0 : 2 * (2 * c->components + 1));
  base->vector = base->columns > 1;
  return make_tables(c);
}

/* ---- one particle ---- */

/* Adds the Y_lm of a neighbour, m >= 0, to sum. */
static void add_harmonics(const compute_order *c, const md_near *near, complex_number *sum)
{
  /* As in LAMMPS, the direction is that from the neighbour. A neighbour at the same place has none. */
  const double per_r = near->r2 > 0.0 ? -1.0 / sqrt(near->r2) : 0.0;
  const double x = near->delta[0] * per_r, y = near->delta[1] * per_r, z = near->delta[2] * per_r;
  complex_number power = {1.0, 0.0};
  for (int m = 0; m <= c->largest; ++m) {
    double before = 0.0, now = c->start[m];
    for (int l = m; l <= c->largest; ++l) {
      complex_number *s = &sum[term(l, m)];
      s->re += now * power.re;
      s->im += now * power.im;
      if (l == c->largest) break;
      const int next = term(l + 1, m);
      const double after = c->up[next] * (z * now - c->down[next] * before);
      before = now;
      now = after;
    }
    power = (complex_number){power.re * x - power.im * y, power.re * y + power.im * x};
  }
}

/* The q_lm of a degree for all m, at [m + l]; returns the sum of their squares. */
static double spread(const complex_number *sum, int l, double n, complex_number *q)
{
  double squares = 0.0;
  for (int m = 0; m <= l; ++m) {
    const complex_number s = {sum[term(l, m)].re / n, sum[term(l, m)].im / n};
    const double sign = m % 2 ? -1.0 : 1.0;
    q[l + m] = s;
    q[l - m] = m == 0 ? s : (complex_number){sign * s.re, -sign * s.im};
    squares += (m == 0 ? 1.0 : 2.0) * (s.re * s.re + s.im * s.im);
  }
  return squares;
}

/* W_l is real, since q_l-m is conjugate to q_lm. */
static double third_order(const compute_order *c, int l, const complex_number *q)
{
  const int width = 2 * l + 1;
  double sum = 0.0;
  for (int m1 = -l; m1 <= l; ++m1)
    for (int m2 = -l; m2 <= l; ++m2) {
      if (abs(m1 + m2) > l) continue;
      const complex_number a = q[m1 + l], b = q[m2 + l], d = q[l - m1 - m2];
      const complex_number ab = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
      sum += c->symbol[l][(m1 + l) * width + m2 + l] * (ab.re * d.re - ab.im * d.im);
    }
  return sum;
}

static void find_degree(const compute_order *c, int k, const complex_number *sum, double n, double *each)
{
  complex_number q[2 * MOST_DEGREE + 1] = {{0.0, 0.0}};
  const int l = c->degree[k];
  const double squares = spread(sum, l, n, q), order = sqrt(4.0 * PI / (2.0 * l + 1.0) * squares);
  const double w = c->w || c->w_hat ? third_order(c, l, q) : 0.0;
  const bool ordered = order >= NO_ORDER;
  each[k] = order;
  if (c->w) each[c->ndegree + k] = w;
  if (c->w_hat) each[c->ndegree * (1 + c->w) + k] = ordered ? w / (squares * sqrt(squares)) : 0.0;
  if (l != c->components || !ordered) return;
  double *component = each + c->ndegree * (1 + c->w + c->w_hat);
  for (int m = 0; m <= 2 * l; ++m) {
    component[2 * m] = q[m].re / sqrt(squares);
    component[2 * m + 1] = q[m].im / sqrt(squares);
  }
}

/* Particles with too few neighbours keep zeros, as in LAMMPS. */
static void find_one(const compute_order *c, const md_near_list *list, double *each)
{
  complex_number sum[TERMS] = {{0.0, 0.0}};
  if (list->n == 0 || list->n < c->search.most) return;
  for (int64_t k = 0; k < list->n; ++k) add_harmonics(c, &list->at[k], sum);
  for (int k = 0; k < c->ndegree; ++k) find_degree(c, k, sum, (double)list->n, each);
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

static void free_tables(md_host_compute *base)
{
  compute_order *c = (compute_order *)base;
  free(c->degree);
  for (int l = 0; l <= MOST_DEGREE; ++l) free(c->symbol[l]);
}

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
    .free = free_tables,
};
