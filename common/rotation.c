/* The rotation of a body, by elimination with pivots on the diagonal; see rotation.h. A body on a line leaves one pivot
 * of zero, and one at a point three. */
#include "common/rotation.h"

#include <math.h>

/* One step of elimination: subtracts the row of the pivot from the rows below. */
static void eliminate(double m[3][4], int pivot)
{
  for (int row = pivot + 1; row < 3; ++row) {
    const double factor = m[row][pivot] / m[pivot][pivot];
    for (int k = pivot; k < 4; ++k) m[row][k] -= factor * m[pivot][k];
  }
}

/* Moves the largest diagonal element of rows and columns `from` .. 2 to place `from`. order: of the unknowns. */
static void choose_pivot(double m[3][4], int from, int order[3])
{
  int best = from;
  for (int k = from + 1; k < 3; ++k)
    if (fabs(m[k][k]) > fabs(m[best][best])) best = k;
  for (int k = 0; k < 4; ++k) {
    const double keep = m[from][k];
    m[from][k] = m[best][k];
    m[best][k] = keep;
  }
  for (int row = 0; row < 3; ++row) {
    const double keep = m[row][from];
    m[row][from] = m[row][best];
    m[row][best] = keep;
  }
  const int keep = order[from];
  order[from] = order[best];
  order[best] = keep;
}

/* Finds the first n unknowns after elimination; x has the others. share: of the right-hand side. */
static void substitute(double m[3][4], int n, double share, double x[3])
{
  for (int row = n - 1; row >= 0; --row) {
    x[row] = share * m[row][3];
    for (int k = row + 1; k < 3; ++k) x[row] -= m[row][k] * x[k];
    x[row] /= m[row][row];
  }
}

/* Of a body on a line, whose inertia has two pivots: takes the part along the line from x, because the equations leave
 * it open. */
static void take_spin_away(double m[3][4], double x[3])
{
  double line[3] = {0.0, 0.0, 1.0}, along = 0.0, square = 0.0;
  substitute(m, 2, 0.0, line);
  for (int k = 0; k < 3; ++k) {
    along += x[k] * line[k];
    square += line[k] * line[k];
  }
  for (int k = 0; k < 3; ++k) x[k] -= along / square * line[k];
}

void md_rotation_of(const double inertia[6], const double angular[3], double omega[3])
{
  double m[3][4] = {{inertia[0], inertia[3], inertia[4], angular[0]},
                    {inertia[3], inertia[1], inertia[5], angular[1]},
                    {inertia[4], inertia[5], inertia[2], angular[2]}};
  int order[3] = {0, 1, 2}, rank = 0;
  double first = 0.0, x[3] = {0.0};
  for (; rank < 3; ++rank) {
    choose_pivot(m, rank, order);
    if (rank == 0) first = fabs(m[0][0]);
    if (!(fabs(m[rank][rank]) > 1e-10 * first)) break;
    eliminate(m, rank);
  }
  substitute(m, rank, 1.0, x);
  if (rank == 2) take_spin_away(m, x);
  for (int k = 0; k < 3; ++k) omega[order[k]] = x[k];
}
