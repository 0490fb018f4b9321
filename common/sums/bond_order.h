/* The bond-orientational order of a particle, of compute orientorder/atom. C and CUDA.
 *
 *      q_lm = (1/n) sum over the n nearest neighbours of Y_lm(direction),    Q_l = sqrt(4 pi/(2l + 1) sum_m |q_lm|^2)
 *      W_l = sum over m1 + m2 + m3 = 0 of (l l l; m1 m2 m3) q_lm1 q_lm2 q_lm3,   hat W_l = W_l/(sum_m |q_lm|^2)^(3/2)
 *
 * where (l l l; m1 m2 m3) is Wigner's 3j symbol. Y_lm is a polynomial of the direction (x, y, z)/r: (x + i y)^m times a
 * polynomial of z, by the recurrence of normalised Legendre functions in l, which is stable. So there are only +, *,
 * division and square roots. m >= 0 is enough, since Y_l-m is (-1)^m times the complex conjugate.
 *
 * There are two orders of the loops, with the same bits. The host adds all Y_lm of one neighbour after the other
 * (md_order_add). A GPU makes one q_lm of all neighbours after the other (md_order_sum), so that a thread has one sum,
 * and 40 bytes for each neighbour, in place of a sum for each l and m.
 *
 * Cost: L^2/2 terms a neighbour for a largest degree L, with md_order_sum for each degree; about 3 l^2 products for
 * each W_l. References: Steinhardt, Nelson and Ronchetti, Phys. Rev. B 28, 784 (1983); Mickel et al., J. Chem. Phys.
 * 138, 044501 (2013); Press et al., Numerical Recipes, section 6.7 (normalised recurrence).
 */
#ifndef MD_COMMON_SUMS_BOND_ORDER_H
#define MD_COMMON_SUMS_BOND_ORDER_H

#include "common/arithmetic/real.h"
#include <stdbool.h>
#include <stdint.h>

enum { MD_ORDER_MOST = 30, MD_ORDER_TERMS = (MD_ORDER_MOST + 1) * (MD_ORDER_MOST + 2) / 2 };

typedef struct md_complex {
  double re, im;
} md_complex;

/* What is wanted, and the tables for it. */
typedef struct md_order {
  int ndegree, degree[MD_ORDER_MOST + 1], largest;
  bool w, w_hat;
  int components;                                  /* the degree whose components are wanted; -1: none */
  double start[MD_ORDER_MOST + 1];                 /* Y_mm is start[m] (x + i y)^m */
  double up[MD_ORDER_TERMS], down[MD_ORDER_TERMS]; /* Y_lm = up (z Y_l-1,m - down Y_l-2,m) */
  const double *symbol;                            /* 3j symbols of all degrees, one table after the other */
  /* their number; where that of a degree begins, by m1 + l and m2 + l */
  int64_t symbols, table[MD_ORDER_MOST + 1];
} md_order;

/* Below this Q_l there is no direction to speak of: hat W_l and components are 0, as in LAMMPS. */
#define MD_ORDER_NONE 1e-6

MD_FN int md_order_term(int l, int m) { return l * (l + 1) / 2 + m; }

/* The values of a particle. */
MD_FN int md_order_columns(const md_order *o)
{
  return o->ndegree * (1 + (o->w ? 1 : 0) + (o->w_hat ? 1 : 0)) +
         (o->components < 0 ? 0 : 2 * (2 * o->components + 1));
}

/* The direction of a neighbour, delta from the particle to it. As in LAMMPS, it is that from the neighbour. A neighbour
 * at the same place has none. */
MD_FN void md_order_direction(const double *delta, double r2, double direction[3])
{
  const double per_r = r2 > 0.0 ? -1.0 / sqrt(r2) : 0.0;
  for (int d = 0; d < 3; ++d) direction[d] = delta[d] * per_r;
}

/* From the Legendre functions of l - 1 and l to those of l and l + 1. */
MD_FN void md_order_next(const md_order *o, int l, int m, double z, double *before, double *now)
{
  const int next = md_order_term(l + 1, m);
  const double after = o->up[next] * (z * *now - o->down[next] * *before);
  *before = *now;
  *now = after;
}

/* From (x + i y)^m to the next power. */
MD_FN md_complex md_order_turned(md_complex power, const double direction[3])
{
  const double x = direction[0], y = direction[1];
  const md_complex turned = {power.re * x - power.im * y, power.re * y + power.im * x};
  return turned;
}

/* Adds the Y_lm of a neighbour, m >= 0, to sum[MD_ORDER_TERMS]. */
MD_FN void md_order_add(const md_order *o, const double direction[3], md_complex *sum)
{
  md_complex power = {1.0, 0.0};
  for (int m = 0; m <= o->largest; ++m) {
    double before = 0.0, now = o->start[m];
    for (int l = m; l <= o->largest; ++l) {
      md_complex *s = &sum[md_order_term(l, m)];
      s->re += now * power.re;
      s->im += now * power.im;
      if (l < o->largest) md_order_next(o, l, m, direction[2], &before, &now);
    }
    power = md_order_turned(power, direction);
  }
}

/* The sum of Y_lm over n neighbours. power: the m-th power of each, which becomes the next one. */
MD_FN md_complex md_order_sum(const md_order *o, int l, int m, int n, const double (*direction)[3],
                              md_complex *power)
{
  md_complex sum = {0.0, 0.0};
  for (int j = 0; j < n; ++j) {
    double before = 0.0, now = o->start[m];
    for (int k = m; k < l; ++k) md_order_next(o, k, m, direction[j][2], &before, &now);
    sum.re += now * power[j].re;
    sum.im += now * power[j].im;
    power[j] = md_order_turned(power[j], direction[j]);
  }
  return sum;
}

/* q_lm for any m, from those with m >= 0. */
MD_FN md_complex md_order_component(const md_complex *q, int m)
{
  if (m >= 0) return q[m];
  const double sign = m % 2 != 0 ? -1.0 : 1.0;
  const md_complex mirrored = {sign * q[-m].re, -sign * q[-m].im};
  return mirrored;
}

/* W_l is real, since q_l-m is conjugate to q_lm. */
MD_FN double md_order_third(const md_order *o, int l, const md_complex *q)
{
  const double *symbol = o->symbol + o->table[l];
  const int width = 2 * l + 1;
  double sum = 0.0;
  for (int m1 = -l; m1 <= l; ++m1)
    for (int m2 = -l; m2 <= l; ++m2) {
      if (m1 + m2 > l || m1 + m2 < -l) continue;
      const md_complex a = md_order_component(q, m1), b = md_order_component(q, m2);
      const md_complex c = md_order_component(q, -m1 - m2);
      const md_complex ab = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
      sum += symbol[(m1 + l) * width + m2 + l] * (ab.re * c.re - ab.im * c.im);
    }
  return sum;
}

/* The values of degree number k, in each[], which was all 0. q: q_lm for m from 0 to l. */
MD_FN void md_order_values(const md_order *o, int k, const md_complex *q, double *each)
{
  const int l = o->degree[k];
  double squares = 0.0, *column = each + o->ndegree;
  for (int m = 0; m <= l; ++m) squares += (m == 0 ? 1.0 : 2.0) * (q[m].re * q[m].re + q[m].im * q[m].im);
  const double order = sqrt(4.0 * 3.14159265358979323846 / (2.0 * l + 1.0) * squares);
  const double w = o->w || o->w_hat ? md_order_third(o, l, q) : 0.0, root = sqrt(squares);
  const bool ordered = order >= MD_ORDER_NONE;
  each[k] = order;
  if (o->w) {
    column[k] = w;
    column += o->ndegree;
  }
  if (o->w_hat) {
    column[k] = ordered ? w / (squares * root) : 0.0;
    column += o->ndegree;
  }
  if (l != o->components || !ordered) return;
  for (int m = -l; m <= l; ++m) {
    const md_complex c = md_order_component(q, m);
    column[2 * (m + l)] = c.re / root;
    column[2 * (m + l) + 1] = c.im / root;
  }
}

#endif
