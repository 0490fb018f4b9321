/* The bin of a distance (common/sums/distances.h): that of a root and a product in double precision, also on the
 * edges of bins and beside them, for few bins and for many, and for lengths of any size. */
#include "common/sums/distances.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static int plain_bin(double r2, double cutoff, double per_bin, int bins)
{
  const double at = sqrt(r2) * per_bin;
  return r2 < cutoff * cutoff && at < bins ? (int)at : -1;
}

/* Squares around that of r: the nearest double, and up to two beside it on either side. */
static void compare_around(double r, double cutoff, int bins)
{
  const double per_bin = bins / cutoff, square = r * r;
  double r2 = nextafter(nextafter(square, 0.0), 0.0);
  for (int k = 0; k < 5; ++k, r2 = nextafter(r2, (double)INFINITY))
    assert_int_equal(md_distance_bin(r2, cutoff, per_bin, bins), plain_bin(r2, cutoff, per_bin, bins));
}

static void bins_are_those_of_double_precision(void **state)
{
  static const int numbers[] = {1, 7, 40, 100, 3000, 1 << 20};
  static const double cutoffs[] = {2.5, 0.03, 1e-24, 3e5, 1e30};
  (void)state;
  for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; ++n)
    for (size_t c = 0; c < sizeof cutoffs / sizeof cutoffs[0]; ++c) {
      const int bins = numbers[n];
      const double width = cutoffs[c] / bins;
      for (int k = 0; k < 3000; ++k) {
        const int bin = (int)((int64_t)k * bins / 3000);
        compare_around(bin * width, cutoffs[c], bins);
        compare_around((bin + 1e-7 * (k % 7 - 3)) * width, cutoffs[c], bins);
        compare_around((bin + k / 3000.0) * width, cutoffs[c], bins);
      }
      compare_around(cutoffs[c], cutoffs[c], bins);
      compare_around(1.0001 * cutoffs[c], cutoffs[c], bins);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(bins_are_those_of_double_precision)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
