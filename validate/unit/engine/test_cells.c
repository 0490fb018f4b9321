/* Cells of the openmp engine: every position has a cell in boxes of any size. This includes positions far outside, and
 * NaN. */
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

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_position_has_a_cell)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
