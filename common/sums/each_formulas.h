/* Values of particles, their bins, and the terms of their sums. C and CUDA.
 *
 *   value / quantum  =  whole quanta  +  rest         rest in 2^-30 parts of a quantum, rounded
 *
 * The quantum is a power of two that the largest value of all particles gives (src/chunks/chunk_sums.c). Integers are
 * added, so that sums have the same bits in any order. Cost: two products for each value, 16 bytes a sum.
 */
#ifndef MD_COMMON_SUMS_EACH_FORMULAS_H
#define MD_COMMON_SUMS_EACH_FORMULAS_H

#include "common/compute/measure.h"
#include "common/sums/each.h"

/* The parts of a quantum. */
enum { MD_EACH_REST_BITS = 30 };
#define MD_EACH_REST 0x1p30

/* m v^2 of a velocity without what is no heat. */
MD_FN double md_each_heat(double mass, const double *v, int dim)
{
  double v2 = 0.0;
  for (int d = 0; d < dim; ++d) v2 = fma(v[d], v[d], v2);
  return mass * v2;
}

/* a[axis]. An index that is only known when a kernel runs would put a into memory. */
MD_FN double md_component(const double a[3], int axis) { return axis == 0 ? a[0] : axis == 1 ? a[1] : a[2]; }

/* when: MD_COMPARE_LESS and the like. */
MD_FN double md_comparison(int when, double a, double b)
{
  const int is = a < b ? MD_COMPARE_LESS : a > b ? MD_COMPARE_GREATER : MD_COMPARE_EQUAL;
  return when & is ? 1.0 : 0.0;
}

/* Does an operation on the last numbers of n stacks: a[i] becomes that of b[i] and a[i], or of a[i] alone. compares:
 * may it be a comparison? */
MD_FN void md_each_operate(const md_each_step *s, bool compares, int n, const double *b, double *a)
{
  switch (s->op) {
  case MD_OP_PLUS:
    for (int i = 0; i < n; ++i) a[i] = b[i] + a[i];
    break;
  case MD_OP_MINUS:
    for (int i = 0; i < n; ++i) a[i] = b[i] - a[i];
    break;
  case MD_OP_TIMES:
    for (int i = 0; i < n; ++i) a[i] = b[i] * a[i];
    break;
  case MD_OP_DIVIDE:
    for (int i = 0; i < n; ++i) a[i] = b[i] / a[i];
    break;
  case MD_OP_COMPARE:
    for (int i = 0; i < n && compares; ++i) a[i] = md_comparison(s->axis, b[i], a[i]);
    break;
  case MD_OP_SQUARE:
    for (int i = 0; i < n; ++i) a[i] = a[i] * a[i];
    break;
  case MD_OP_ROOT:
    for (int i = 0; i < n; ++i) a[i] = sqrt(a[i]);
    break;
  case MD_OP_SIZE:
    for (int i = 0; i < n; ++i) a[i] = fabs(a[i]);
    break;
  case MD_OP_NEGATE:
    for (int i = 0; i < n; ++i) a[i] = -a[i];
    break;
  default: break;
  }
}

/* Is the result of an operation finite? If not, the formula has no value. */
MD_FN bool md_each_finite(double result) { return fabs(result) <= 0x1.fffffffffffffp1023; }

/* The value of a formula; no number, if the result of an operation is not finite. The stack lies in four variables,
 * because an index that is only known when a kernel runs would put it into memory. near: the values that the neighbours
 * of the particle give (md_each_near), or NULL if the formula has none. */
MD_FN double md_each_formula(const md_each_code *code, const md_particle *p, const double *near,
                             const double x[3], const double v[3])
{
  double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
  for (int k = 0; k < code->n; ++k) {
    const md_each_step *s = &code->step[k];
    if (s->op < MD_OP_PLUS) {
      d = c;
      c = b;
      b = a;
      a = s->op == MD_OP_NUMBER                ? s->number
          : s->op == MD_OP_TYPE                ? p->type
          : s->op == MD_OP_MASS                ? p->mass / s->number
          : s->op == MD_OP_PLACE               ? md_component(x, s->axis)
          : near && s->op == MD_OP_ENVIRONMENT ? near[s->axis]
          : near && s->op == MD_OP_ID          ? (double)p->id
                                               : md_component(v, s->axis);
      continue;
    }
    md_each_operate(s, near != NULL, 1, &b, &a);
    if (s->op < MD_OP_SQUARE) {
      b = c;
      c = d;
    }
    if (!md_each_finite(a)) return (double)NAN;
  }
  return a;
}

/* What the neighbours of a particle give for a value, if the engine has put the address of such values into *e.
 * index: of the particle among these. */
MD_FN const double *md_each_near(const md_each *e, int64_t index)
{
  return e->code.value ? e->code.value + index * e->code.columns : NULL;
}

/* The value of a particle at x, in the box, with the velocity v. near: as above. */
MD_FN double md_each_value(const md_each *e, const md_particle *p, const double *near, const double x[3],
                           const double v[3], int dim)
{
  switch (e->kind) {
  case MD_EACH_TYPE: return p->type;
  case MD_EACH_MASS: return p->mass / e->divisor * e->factor;
  case MD_EACH_PLACE: return md_component(x, e->axis);
  case MD_EACH_VELOCITY: return md_component(v, e->axis);
  case MD_EACH_HEAT: return md_each_heat(p->mass, v, dim) / e->divisor * e->factor;
  case MD_EACH_FORMULA: return md_each_formula(&e->code, p, near, x, v);
  case MD_EACH_COMPUTE: return p->group & e->of_group ? md_compute_each(e->compute, p, v, dim) : 0.0;
  }
  return 0.0;
}

/* The size of a value for the largest one: infinite if it is not a number. */
MD_FN double md_each_size(double value)
{
  const double size = fabs(value);
  return size <= 0x1.fffffffffffffp1023 ? size : (double)INFINITY;
}

/* Whole quanta of a value, and the rest. The product has the bits of the quotient, because the quantum is a power of
 * two. */
MD_FN void md_each_terms(double value, double quantum, int64_t *whole, int64_t *rest)
{
  const double quanta = value * md_inverse_power(quantum), rounded = rint(quanta);
  *whole = md_count(rounded);
  *rest = md_count((quanta - rounded) * MD_EACH_REST);
}

/* The place of x among n bins, or -1 for none. */
MD_FN int64_t md_bin_of(double x, double first, double per, int64_t n, const bool keep[2])
{
  const double at = floor((x - first) * per);
  if (at < 0.0) return keep[0] ? 0 : -1;
  if (at >= (double)n) return keep[1] ? n - 1 : -1;
  return (int64_t)at;
}

/* The bin along one axis of a particle at this place, in the box; -1: it is in none. */
MD_FN int64_t md_layer_at(const md_layers *l, double place)
{
  const double at = l->reduced ? (place - l->lo) / l->length : place;
  return md_bin_of(at, l->first, l->per, l->n, l->keep);
}

/* The bin of a value; -1: it is in none. */
MD_FN int64_t md_value_bin(const md_value_counts *c, double value)
{
  const int64_t last = c->bins - 1;
  if (value < c->lo || value > c->hi) {
    if (c->beyond == MD_BEYOND_IGNORE) return -1;
    return value < c->lo ? 0 : last;
  }
  int64_t bin = (int64_t)((value - c->lo) * c->per);
  if (bin > last) bin = last;
  return c->beyond == MD_BEYOND_EXTRA && bin < last ? bin + 1 : bin;
}

#endif
