/* Cells of the openmp engine: every position has a cell in boxes of any size. This includes positions far outside, and
 * NaN. */
#include "common/cell_counts.h"
#include "openmp/cells.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_every_position_has_a_cell(void **state)
{
  (void)state;
  static const double sides[] = {1e-300, 1e-3, 1.0, 1e15, 1e200, 9e307, DBL_MAX};
  double x[] = {0.0, 0.5, -1e300, 1e300, -DBL_MAX, DBL_MAX, (double)INFINITY, -(double)INFINITY, (double)NAN};
  enum { N = sizeof x / sizeof x[0] };
  double *const position[3] = {x, x, x};
  for (size_t k = 0; k < sizeof sides / sizeof sides[0]; ++k)
    for (int dim = 2; dim <= 3; ++dim)
      for (int inset = 0; inset < 2; ++inset) {
        const double hi = sides[k], lo = k % 2 ? -hi : 0.0;
        const cell_grid grid = cell_grid_of(dim, (double[3]){lo, lo, lo}, (double[3]){hi, hi, hi}, 1.0, N);
        cell_index index = {0};
        double seconds[2] = {0.0, 0.0};
        for (int d = 0; d < dim; ++d) assert_in_range(grid.count[d], 3, 200);
        assert_int_equal(cell_index_build(&index, &grid, position, N, inset, seconds), MD_OK);
        for (int i = 0; i < N; ++i) assert_in_range(index.cell[i], 0, grid.ncell - 1);
        assert_int_equal(index.start[0], 0);
        assert_int_equal(index.start[grid.ncell], N);
        cell_index_free(&index);
      }
}

/* A bar is divided along its length, and a cube evenly; cells are never narrower than the width, nor too many. */
static void test_counts_of_cells(void **state)
{
  (void)state;
  static const struct {
    int dim;
    double side[3], most;
    int64_t count[3];
  } cases[] = {
      {3, {7.0, 7.0, 5000.5}, 1e6, {7, 7, 5000}},    {3, {7.0, 7.0, 5000.5}, 1e4, {7, 7, 157}},
      {3, {100.0, 100.0, 100.0}, 1e4, {13, 25, 25}}, {3, {0.0, 3.2, 1e9}, 1e9, {1, 3, MD_CELLS_ALONG}},
      {2, {9.0, 8.0, 7.0}, 1e3, {9, 8, 1}},          {3, {1e300, 1e300, 1e300}, 64.0, {4, 4, 4}},
      {3, {0.5, 0.5, 0.5}, 0.0, {1, 1, 1}},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
    int64_t count[3];
    const int64_t all = md_cell_counts(cases[k].dim, cases[k].side, 1.0, cases[k].most, count);
    for (int d = 0; d < 3; ++d) assert_int_equal(count[d], cases[k].count[d]);
    assert_int_equal(all, count[0] * count[1] * count[2]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_position_has_a_cell),
                                     cmocka_unit_test(test_counts_of_cells)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
