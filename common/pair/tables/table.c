/* Tables of pair style table: splines through the values of a file; see table.h. */
#include "common/pair/tables/table.h"
#include "common/arithmetic/exact.h"
#include "common/base/memory.h"

#include <stdlib.h>

void md_table_values_free(md_table_values *v)
{
  free(v->r);
  free(v->energy);
  free(v->force);
  *v = (md_table_values){0};
}

md_status md_tables_new(md_tables **made, bool spline, int n)
{
  *made = calloc(1, sizeof **made);
  if (!*made) return md_error(MD_RUNTIME, "out of memory: tables");
  (*made)->spline = spline;
  (*made)->n = n;
  return MD_OK;
}

void md_tables_free(md_tables *tables)
{
  if (!tables) return;
  free(tables->row);
  free(tables->checksum);
  free(tables);
}

/* ---- cubic splines ---- */

/* The second derivatives bend[n] of the cubic spline through y at x, whose slopes at both ends are given: Thomas'
 * elimination of the tridiagonal equations of continuous slopes. work: n numbers. */
static void find_bends(const double *x, const double *y, int n, const double slope[2], double *bend,
                       double *work)
{
  double h = x[1] - x[0], rise = (y[1] - y[0]) / h;
  work[0] = 0.5;
  bend[0] = 3.0 / h * (rise - slope[0]);
  for (int i = 1; i < n; ++i) {
    const double next_h = i + 1 < n ? x[i + 1] - x[i] : 0.0;
    const double next = i + 1 < n ? (y[i + 1] - y[i]) / next_h : slope[1];
    const double pivot = 2.0 * (h + next_h) - h * work[i - 1];
    work[i] = next_h / pivot;
    bend[i] = (6.0 * (next - rise) - h * bend[i - 1]) / pivot;
    h = next_h;
    rise = next;
  }
  for (int i = n - 2; i >= 0; --i) bend[i] -= work[i] * bend[i + 1];
}

/* A spline in r. */
typedef struct curve {
  const double *x, *y;
  double *bend;
  int n;
} curve;

static double value_at(const curve *c, double x)
{
  int low = 0, high = c->n - 1;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (c->x[middle] > x)
      high = middle;
    else
      low = middle;
  }
  const double h = c->x[high] - c->x[low], a = (c->x[high] - x) / h, b = (x - c->x[low]) / h;
  return a * c->y[low] + b * c->y[high] +
         ((a * a * a - a) * c->bend[low] + (b * b * b - b) * c->bend[high]) * (h * h) / 6.0;
}

/* ---- rows ---- */

/* Everything that a table is made of: curves of the file, and at the distances x[n], squared, the values y. */
typedef struct making {
  curve energy, force;
  double *x, *u, *f, *bend, *work;
  double inner, rc, step; /* step: of x */
  double slope_of_force[2];
} making;

static void straight(const double *y, double *row)
{
  row[0] = row[1] = 0.0;
  row[2] = y[1] - y[0];
  row[3] = y[0];
}

/* m and n: the bends at both ends, times step^2/6. */
static void curved(const double *y, double m, double n, double *row)
{
  row[0] = n - m;
  row[1] = 3.0 * m;
  row[2] = y[1] - y[0] - 2.0 * m - n;
  row[3] = y[0];
}

static void fill_half(const making *m, const double *y, bool spline, int n, const double slope[2],
                      double *row)
{
  if (spline) find_bends(m->x, y, n, slope, m->bend, m->work);
  const double unit = m->step * m->step / 6.0;
  for (int i = 0; i + 1 < n; ++i, row += MD_TABLE_ROW)
    if (spline)
      curved(y + i, m->bend[i] * unit, m->bend[i + 1] * unit, row);
    else
      straight(y + i, row);
}

/* The slope of F/r by r^2 at one end: from the slope of F there, or by a difference of a tenth of a step. */
static double end_slope(const making *m, bool known, double slope, bool upper)
{
  const double r = upper ? m->rc : m->inner, f = value_at(&m->force, r);
  if (known) return (slope / r - f / (r * r)) / (2.0 * r);
  const double tenth = (upper ? -0.1 : 0.1) * m->step, near = sqrt(r * r + tenth);
  return (value_at(&m->force, near) / near - f / r) / tenth;
}

static void fill_rows(making *m, const md_tables *tables, const md_table_values *v, double *row)
{
  const int n = tables->n;
  /* The values of the file itself, if they are at the same distances. */
  const bool same = !tables->spline && v->by_square && v->n == n && m->rc == v->r[n - 1];
  for (int i = 0; i < n; ++i) {
    m->x[i] = m->inner * m->inner + i * m->step;
    const double r = same ? v->r[i] : sqrt(m->x[i]);
    m->u[i] = same ? v->energy[i] : value_at(&m->energy, r);
    m->f[i] = same ? v->force[i] / r : value_at(&m->force, r) / r;
  }
  const double of_u[2] = {-0.5 * m->f[0], -0.5 * m->f[n - 1]};
  const bool whole = m->rc == v->r[v->n - 1];
  const double of_f[2] = {end_slope(m, v->has_slopes, v->slope[0], false),
                          end_slope(m, v->has_slopes && whole, v->slope[1], true)};
  fill_half(m, m->f, tables->spline, n, of_f, row);
  fill_half(m, m->u, tables->spline, n, of_u, row + (int64_t)(n - 1) * MD_TABLE_ROW);
}

/* work: 4 n numbers, n being the larger of both numbers of values. */
static void make(const md_tables *tables, const md_table_values *v, double rc, double *work, int64_t n,
                 double *row)
{
  const int last = v->n - 1;
  making m = {.energy = {v->r, v->energy, work, v->n},
              .force = {v->r, v->force, work + n, v->n},
              .work = work + 2 * n,
              .x = work + 3 * n,
              .u = work + 4 * n,
              .f = work + 5 * n,
              .bend = work + 6 * n,
              .inner = v->r[0],
              .rc = rc,
              .step = (rc * rc - v->r[0] * v->r[0]) / (tables->n - 1)};
  const double of_energy[2] = {-v->force[0], -v->force[last]};
  double of_force[2] = {(v->force[1] - v->force[0]) / (v->r[1] - v->r[0]),
                        (v->force[last] - v->force[last - 1]) / (v->r[last] - v->r[last - 1])};
  for (int e = 0; e < 2 && v->has_slopes; ++e) of_force[e] = v->slope[e];
  find_bends(v->r, v->energy, v->n, of_energy, m.energy.bend, m.work);
  find_bends(v->r, v->force, v->n, of_force, m.force.bend, m.work);
  fill_rows(&m, tables, v, row);
}

static md_status grow(md_tables *t, int64_t numbers)
{
  double *row = realloc(t->row, (size_t)(numbers * (t->count + 1)) * sizeof *row);
  if (row) t->row = row;
  double *checksum = realloc(t->checksum, (size_t)(t->count + 1) * sizeof *checksum);
  if (checksum) t->checksum = checksum;
  return row && checksum ? MD_OK : md_error(MD_RUNTIME, "out of memory: tables");
}

md_status md_tables_add(md_tables *t, const md_table_values *v, double rc)
{
  const int64_t numbers = (int64_t)(t->n - 1) * 2 * MD_TABLE_ROW, most = t->n > v->n ? t->n : v->n;
  double *work = NULL;
  MD_TRY(grow(t, numbers));
  MD_TRY(md_array_new(&work, 7 * most, sizeof *work, "tables"));
  double *row = t->row + numbers * t->count;
  make(t, v, rc, work, most, row);
  free(work);
  uint64_t sum = UINT64_C(0xcbf29ce484222325);
  for (int64_t k = 0; k < numbers; ++k) {
    if (!isfinite(row[k])) return md_error(MD_USAGE, "the splines of a table are not finite");
    sum = (sum ^ (uint64_t)md_bits(row[k])) * UINT64_C(0x100000001b3);
  }
  t->checksum[t->count++] = (double)(sum >> 11);
  return MD_OK;
}
