/* The division of the box among ranks: grids, cuts, owners, balance, and numbers of ranks that do not fit. No MPI is
 * needed. */
#include "common/ranks/decompose.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static md_box box_of(int dim, double x, double y, double z, bool periodic)
{
  md_box box = {.dim = dim, .lo = {-1.0, 0.0, 2.0}, .length = {x, y, z}};
  for (int d = 0; d < 3; ++d) {
    box.hi[d] = box.lo[d] + box.length[d];
    box.periodic[d] = periodic;
  }
  return box;
}

static void assert_grid(const md_box *box, int ranks, double width, int x, int y, int z)
{
  static const int any[3] = {0, 0, 0};
  int count[3];
  assert_true(md_decomposition_choose(box, ranks, any, width, 0.0, count));
  assert_int_equal(count[0], x);
  assert_int_equal(count[1], y);
  assert_int_equal(count[2], z);
}

static void grids_have_the_least_surface(void **state)
{
  (void)state;
  const md_box cube = box_of(3, 10, 10, 10, true), slab = box_of(3, 40, 40, 5, true),
               square = box_of(2, 10, 10, 1, true), strip = box_of(2, 100, 1, 1, true);
  assert_grid(&cube, 1, 0.0, 1, 1, 1);
  assert_grid(&cube, 2, 0.0, 1, 1, 2);
  assert_grid(&cube, 4, 0.0, 1, 1,
              4); /* as much surface as 1 x 2 x 2 with periodic faces, and fewer neighbours */
  assert_grid(&cube, 8, 0.0, 1, 2, 4); /* likewise */
  assert_grid(&cube, 7, 0.0, 1, 1, 7);
  assert_grid(&cube, 12, 0.0, 1, 3, 4);
  assert_grid(&slab, 8, 0.0, 2, 4, 1);
  assert_grid(&square, 6, 0.0, 2, 3, 1);
  assert_grid(&strip, 6, 0.0, 6, 1, 1);
  /* With fixed faces the first and last domain of a row have one neighbour less. */
  const md_box closed = box_of(3, 10, 10, 10, false);
  assert_grid(&closed, 4, 0.0, 1, 2, 2);
}

static void the_halo_limits_the_grid(void **state)
{
  (void)state;
  static const int any[3] = {0, 0, 0};
  const md_box cube = box_of(3, 10, 10, 10, true);
  int count[3];
  assert_grid(&cube, 4, 3.0, 1, 2, 2);
  assert_grid(&cube, 27, 3.0, 3, 3, 3);
  assert_false(md_decomposition_choose(&cube, 5, any, 3.0, 0.0, count));
  md_decomposition d;
  md_decomposition_init(&d, 5, 0);
  assert_int_equal(md_decomposition_divide(&d, &cube, 3.0), MD_USAGE);
  assert_non_null(strstr(md_error_text(), "4 and 6 ranks fit"));
  assert_non_null(strstr(md_error_text(), "halo of 3"));
  md_decomposition_free(&d);
  md_decomposition_init(&d, 28, 0);
  assert_int_equal(md_decomposition_divide(&d, &cube, 3.0), MD_USAGE);
  assert_non_null(strstr(md_error_text(), "at most 27 ranks fit"));
  md_decomposition_free(&d);
  md_decomposition_init(&d, 4, 0);
  d.wanted[0] = 4;
  assert_int_equal(md_decomposition_divide(&d, &cube, 3.0), MD_USAGE);
  assert_non_null(strstr(md_error_text(), "processors 1 2 2 fits"));
  md_decomposition_free(&d);
}

/* The numbers of ranks that the message names do fit. No number between them fits, nor one above the largest. */
static void near_numbers_fit(void **state)
{
  (void)state;
  static const int any[3] = {0, 0, 0};
  const md_box boxes[] = {box_of(3, 10, 10, 10, true), box_of(2, 20, 9, 1, false), box_of(3, 7, 31, 2, true)};
  for (size_t b = 0; b < sizeof boxes / sizeof boxes[0]; ++b)
    for (int ranks = 2; ranks <= 60; ++ranks) {
      int count[3], below = 0, above = 61;
      char near[MD_NEAR_TEXT], expected[MD_NEAR_TEXT];
      if (md_decomposition_choose(&boxes[b], ranks, any, 3.0, 0.0, count)) continue;
      for (int r = 1; r <= 60; ++r) {
        if (!md_decomposition_choose(&boxes[b], r, any, 3.0, 0.0, count)) continue;
        if (r < ranks) below = r;
        if (r > ranks && r < above) above = r;
      }
      if (above <= 60)
        snprintf(expected, sizeof expected, "%d and %d ranks fit", below, above);
      else
        snprintf(expected, sizeof expected, "at most %d rank%s", below, below == 1 ? " fits" : "s fit");
      md_decomposition_near(&boxes[b], ranks, 3.0, near);
      assert_string_equal(near, expected);
    }
}

static void assert_counts(const md_decomposition *d, int x, int y)
{
  assert_int_equal(d->count[0], x);
  assert_int_equal(d->count[1], y);
}

/* Slabs are preferred if they are thick enough, if `processors` leaves the grid free, and if no cut has been moved. */
static void slabs_may_be_preferred(void **state)
{
  (void)state;
  const md_box square = box_of(2, 12, 12, 1, false);
  md_decomposition d;
  md_decomposition_init(&d, 4, 0);
  assert_int_equal(md_decomposition_divide(&d, &square, 0.5), MD_OK);
  assert_counts(&d, 2, 2);
  d.slab = 3.1;
  assert_int_equal(md_decomposition_divide(&d, &square, 0.5), MD_OK);
  assert_counts(&d, 2, 2);
  d.slab = 2.9;
  d.fraction[0][1] = 0.4;
  assert_int_equal(md_decomposition_divide(&d, &square, 0.5), MD_OK);
  assert_counts(&d, 2, 2);
  d.fraction[0][1] = 0.5;
  assert_int_equal(md_decomposition_divide(&d, &square, 0.5), MD_OK);
  assert_counts(&d, 1, 4);
  d.fraction[1][1] = 0.3;
  assert_int_equal(md_decomposition_divide(&d, &square, 0.5), MD_OK);
  assert_counts(&d, 1, 4);
  assert_true(d.fraction[1][1] == 0.3);
  d.wanted[0] = 2;
  assert_int_equal(md_decomposition_divide(&d, &square, 0.5), MD_OK);
  assert_counts(&d, 2, 2);
  md_decomposition_free(&d);
}

/* Every point has one owner, and its domain contains it. */
static void every_point_has_one_owner(void **state)
{
  (void)state;
  const md_box box = box_of(3, 7, 11, 13, true);
  md_decomposition d[12];
  for (int r = 0; r < 12; ++r) {
    md_decomposition_init(&d[r], 12, r);
    assert_int_equal(md_decomposition_divide(&d[r], &box, 1.0), MD_OK);
    assert_int_equal(md_decomposition_rank(&d[r], d[r].index), r);
  }
  for (int k = 0; k < 5000; ++k) {
    double x[3];
    for (int a = 0; a < 3; ++a)
      x[a] = box.lo[a] + box.length[a] * fmod(0.5 + k * (0.7548776662 + 0.1 * a), 1.0);
    if (k == 0)
      for (int a = 0; a < 3; ++a) x[a] = box.hi[a];
    if (k == 1)
      for (int a = 0; a < 3; ++a) x[a] = d[0].cut[a][d[0].count[a] / 2];
    const int owner = md_decomposition_owner(&d[0], 3, x);
    const md_decomposition *o = &d[owner];
    for (int a = 0; a < 3; ++a) {
      assert_true(x[a] >= o->cut[a][o->index[a]]);
      assert_true(x[a] < o->cut[a][o->index[a] + 1] || (o->index[a] == o->count[a] - 1 && x[a] == box.hi[a]));
    }
  }
  for (int r = 0; r < 12; ++r) md_decomposition_free(&d[r]);
}

static void cuts_follow_the_particles(void **state)
{
  (void)state;
  enum { BINS = 100 };
  const md_box box = box_of(2, 1, 10, 1, true);
  int64_t histogram[BINS] = {0};
  md_decomposition d;
  md_decomposition_init(&d, 4, 1);
  assert_int_equal(md_decomposition_divide(&d, &box, 0.5), MD_OK);
  assert_int_equal(d.count[1], 4);
  /* All particles are in the upper half, evenly: the cuts go to 5/8, 6/8, 7/8. */
  for (int b = BINS / 2; b < BINS; ++b) histogram[b] = 8;
  md_decomposition_shift(&d, &box, 1, histogram, BINS);
  for (int k = 1; k < 4; ++k) assert_true(fabs(d.fraction[1][k] - (0.5 + k / 8.0)) < 1e-12);
  assert_int_equal(md_decomposition_fit(&d, &box), MD_OK);
  assert_true(fabs(d.cut[1][1] - 6.25) < 1e-12);
  /* All particles are at one place: domains stay as thick as the halo, 0.05 of the box. */
  memset(histogram, 0, sizeof histogram);
  histogram[BINS - 1] = 1000;
  md_decomposition_shift(&d, &box, 1, histogram, BINS);
  for (int k = 0; k < 4; ++k) assert_true(d.fraction[1][k + 1] - d.fraction[1][k] > 0.05 * (1.0 - 1e-5));
  assert_true(d.fraction[1][1] > 0.84);
  /* A later division for the same halo keeps the cuts; a thicker halo moves them apart. */
  const double kept = d.fraction[1][1];
  assert_int_equal(md_decomposition_divide(&d, &box, 0.5), MD_OK);
  assert_true(fabs(d.fraction[1][1] - kept) < 1e-6);
  assert_int_equal(md_decomposition_divide(&d, &box, 2.0), MD_OK);
  for (int k = 0; k < 4; ++k) assert_true(d.fraction[1][k + 1] - d.fraction[1][k] > 0.2 * (1.0 - 1e-5));
  md_decomposition_free(&d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(grids_have_the_least_surface),
      cmocka_unit_test(the_halo_limits_the_grid),
      cmocka_unit_test(near_numbers_fit),
      cmocka_unit_test(slabs_may_be_preferred),
      cmocka_unit_test(every_point_has_one_owner),
      cmocka_unit_test(cuts_follow_the_particles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
