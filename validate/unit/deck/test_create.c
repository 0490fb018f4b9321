/* Lattices, regions, create_box, create_atoms and set. Sites and ids are those of LAMMPS, for any number of threads and
 * any division into domains. No site is lost or doubled at a face. Every error has its message. */
#include "validate/unit/support/sim_fixture.h"

#include "common/ranks/domains.h"
#include "src/create/lattice.h"
#include "src/region/region.h"

#include "src/create/permutation.h"

#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

static fixture f;

static int set_up_3(void **state)
{
  (void)state;
  return fixture_begin(&f, 3) == MD_OK ? 0 : -1;
}

static int set_up_2(void **state)
{
  (void)state;
  return fixture_begin(&f, 2) == MD_OK ? 0 : -1;
}

static int tear_down(void **state)
{
  (void)state;
  fixture_end(&f);
  omp_set_num_threads(omp_get_num_procs());
  return 0;
}

static void good(const char *line)
{
  const md_status status = fixture_run(&f, "%s", line);
  if (status != MD_OK) print_error("%s: %s\n", line, md_error_text());
  assert_int_equal(status, MD_OK);
}

static void bad(const char *line, const char *reason)
{
  assert_int_equal(fixture_run(&f, "%s", line), MD_USAGE);
  if (!strstr(md_error_text(), reason))
    print_error("%s: '%s' does not say '%s'\n", line, md_error_text(), reason);
  assert_non_null(strstr(md_error_text(), reason));
}

static void assert_site(int64_t id, double x, double y, double z)
{
  const md_particles *p = &f.sim.particles;
  for (int64_t i = 0; i < p->n; ++i) {
    if (p->id[i] != id) continue;
    assert_true(p->x[0][i] == x);
    assert_true(p->x[1][i] == y);
    if (p->dim == 3) assert_true(p->x[2][i] == z);
    return;
  }
  fail_msg("there is no particle %lld", (long long)id);
}

/* Checks that every id from 1 to n is there once, and that every position is inside the box. If distinct is not 0, each
 * position is at least this far from every other along some axis. */
static void assert_complete(double distinct)
{
  const md_particles *p = &f.sim.particles;
  const md_box *box = &f.sim.model.box;
  char *seen = calloc((size_t)p->n + 1, 1);
  assert_non_null(seen);
  for (int64_t i = 0; i < p->n; ++i) {
    assert_in_range(p->id[i], 1, p->n);
    assert_int_equal(seen[p->id[i]]++, 0);
    for (int d = 0; d < p->dim; ++d) assert_true(p->x[d][i] >= box->lo[d] && p->x[d][i] < box->hi[d]);
  }
  free(seen);
  if (distinct == 0.0) return;
  for (int64_t i = 0; i < p->n; ++i)
    for (int64_t j = 0; j < i; ++j) {
      double most = 0.0;
      for (int d = 0; d < p->dim; ++d) {
        const double apart = fabs(p->x[d][i] - p->x[d][j]);
        most = fmax(most, fmin(apart, box->length[d] - apart));
      }
      assert_true(most > distinct);
    }
}

/* The first ids and the last id of the melt with 4000 atoms in LAMMPS, bit for bit. */
static void test_fcc_as_lammps(void **state)
{
  (void)state;
  good("lattice fcc 0.8442");
  good("region box block 0 10 0 10 0 10");
  good("create_box 1 box");
  good("create_atoms 1 box");
  assert_int_equal(f.sim.particles.n, 4000);
  assert_int_equal(f.sim.model.natoms, 4000);
  assert_int_equal(f.sim.max_id, 4000);
  assert_true(f.sim.model.box.hi[2] == 16.795961913825074);
  assert_site(1, 0.0, 0.0, 0.0);
  assert_site(2, 0.8397980956912536, 0.8397980956912536, 0.0);
  assert_site(3, 0.8397980956912536, 0.0, 0.8397980956912536);
  assert_site(4, 0.0, 0.8397980956912536, 0.8397980956912536);
  assert_site(5, 1.6795961913825073, 0.0, 0.0);
  assert_site(43, 0.8397980956912536, 1.6795961913825073, 0.8397980956912536);
  assert_site(4000, 15.116365722442566, 15.956163818133819, 15.956163818133819);
  assert_complete(0.8);
  assert_string_equal(fixture_log(&f), "Lattice spacing in x,y,z = 1.6795962 1.6795962 1.6795962\n"
                                       "Created orthogonal box = (0 0 0) to (16.795962 16.795962 16.795962)\n"
                                       "Created 4000 atoms\n");
}

/* LAMMPS: ids 1, 2, 3 and 442 of `lattice hex 1.14 origin 0.3 0.7 0` in `block -5 12 -4 9`. */
static void test_hex_as_lammps(void **state)
{
  (void)state;
  good("lattice hex 1.14 origin 0.3 0.7 0");
  good("region box block -5 12 -4 9 -0.5 0.5");
  good("create_box 1 box");
  good("create_atoms 1 box");
  assert_int_equal(f.sim.particles.n, 442);
  assert_site(1, -4.2269931971325985, -6.62409393490246, 0.0);
  assert_site(2, -3.22056624543436, -6.62409393490246, 0.0);
  assert_site(3, -2.214139293736123, -6.62409393490246, 0.0);
  assert_site(442, 11.372624554190086, 15.165688745697738, 0.0);
  assert_complete(0.4);
}

/* A box whose sides have too few digits, so that they are a little larger or smaller, still has every site once. */
static void test_rounded_box(void **state)
{
  (void)state;
  good("lattice fcc 0.8442");
  good("region box block 0 16.795962 0 16.7959619 0 16.79596 units box");
  good("create_box 1 box");
  good("create_atoms 1 box");
  assert_int_equal(f.sim.particles.n, 4000);
  assert_complete(0.8);
}

/* A site that would be below the lower face by rounding is put on the face, on a periodic axis and on a fixed one. */
static void test_lower_face(void **state)
{
  (void)state;
  f.sim.model.box.periodic[1] = false;
  good("lattice sc scale 0.1");
  good("region box block 0.30000000000000010 0.7 0.30000000000000010 0.7 0.3 0.7 units box");
  good("create_box 1 box");
  good("create_atoms 1 box");
  assert_int_equal(f.sim.particles.n, 64);
  assert_complete(0.09);
}

static md_particles copy_of(const md_particles *p)
{
  md_particles c;
  md_particles_init(&c, p->dim);
  assert_int_equal(md_particles_reserve(&c, p->n), MD_OK);
  c.n = p->n;
  for (int64_t i = 0; i < p->n; ++i) {
    c.id[i] = p->id[i];
    c.type[i] = p->type[i];
    for (int d = 0; d < p->dim; ++d) {
      c.x[d][i] = p->x[d][i];
      c.v[d][i] = p->v[d][i];
    }
  }
  return c;
}

static void assert_same(const md_particles *a, const md_particles *b)
{
  assert_int_equal(a->n, b->n);
  assert_memory_equal(a->id, b->id, (size_t)a->n * sizeof *a->id);
  assert_memory_equal(a->type, b->type, (size_t)a->n * sizeof *a->type);
  for (int d = 0; d < a->dim; ++d) assert_memory_equal(a->x[d], b->x[d], (size_t)a->n * sizeof *a->x[d]);
}

/* All but the last are made by the ranks in whose domains they are. */
static const char *const ways[] = {"create_atoms 2 box", "create_atoms 2 region half",
                                   "create_atoms 1 grid 3001 seed 9", "create_atoms 1 random 5000 17 half"};
enum { WAYS = sizeof ways / sizeof *ways, BY_DOMAINS = WAYS - 1 };

static void create_with_threads(int threads)
{
  omp_set_num_threads(threads);
  for (int k = 0; k < WAYS; ++k) good(ways[k]);
}

static void test_threads(void **state)
{
  (void)state;
  good("lattice bcc 0.7 origin 0.1 0.2 0.3");
  good("region box block -3 6.5 0 7 0 8");
  good("create_box 2 box");
  good("region half block -1 4 INF INF EDGE 5");
  create_with_threads(1);
  assert_complete(0.0);
  md_particles one = copy_of(&f.sim.particles);
  for (int threads = 2; threads <= 5; ++threads) {
    f.sim.particles.n = 0;
    assert_int_equal(md_sim_count(&f.sim), MD_OK);
    create_with_threads(threads);
    assert_same(&one, &f.sim.particles);
  }
  md_particles_free(&one);
}

/* A communicator with 2 x 1 x 3 domains; this is the number of the present one. */
static int domain_now;

static void sixth(md_comm *comm, const md_box *box, double lo[3], double hi[3])
{
  (void)comm;
  const int parts[3] = {2, 1, 3}, at[3] = {domain_now % 2, 0, domain_now / 2};
  for (int d = 0; d < 3; ++d) {
    lo[d] = box->lo[d] + box->length[d] * at[d] / parts[d];
    hi[d] = at[d] + 1 == parts[d] ? box->hi[d] : box->lo[d] + box->length[d] * (at[d] + 1) / parts[d];
  }
}

/* Each domain creates the particles that a single domain creates inside its bounds. */
static void test_domains(void **state)
{
  (void)state;
  good("lattice bcc 0.7 origin 0.1 0.2 0.3");
  good("region box block -3 6.5 0 7 0 8");
  good("create_box 2 box");
  good("region half block -1 4 INF INF EDGE 5");
  const md_comm_domains *const whole = f.sim.comm->domains;
  md_comm_domains sixths = *whole;
  sixths.domain = sixth;
  for (int k = 0; k < BY_DOMAINS; ++k) {
    f.sim.particles.n = 0;
    assert_int_equal(md_sim_count(&f.sim), MD_OK);
    good(ways[k]);
    md_particles all = copy_of(&f.sim.particles);
    int32_t *at = calloc((size_t)all.n + 1, sizeof *at);
    assert_non_null(at);
    for (int64_t i = 0; i < all.n; ++i) at[all.id[i]] = (int32_t)i;
    int64_t found = 0;
    f.sim.comm->domains = &sixths;
    for (domain_now = 0; domain_now < 6; ++domain_now) {
      double lo[3], hi[3];
      sixth(f.sim.comm, &f.sim.model.box, lo, hi);
      md_particles *p = &f.sim.particles;
      p->n = 0;
      f.sim.model.natoms = f.sim.max_id = 0;
      good(ways[k]);
      for (int64_t i = 0; i < p->n; ++i)
        for (int d = 0; d < 3; ++d) {
          assert_true(p->x[d][i] >= lo[d] && p->x[d][i] < hi[d]);
          assert_true(p->x[d][i] == all.x[d][at[p->id[i]]]);
        }
      found += p->n;
    }
    f.sim.comm->domains = whole;
    assert_int_equal(found, all.n);
    md_particles_free(&all);
    free(at);
  }
}

/* Three of the 1000 sites of the reference homework (n 1000, density 0.0005), bit for bit. */
static void test_grid_as_homework(void **state)
{
  (void)state;
  good("region box block 0 0.70710678118654757 0 0.70710678118654757 -0.5 0.5 units box");
  good("create_box 1 box");
  good("create_atoms 1 grid 1000");
  assert_int_equal(f.sim.particles.n, 1000);
  assert_site(1 + 1 + 32 * 13, 0.04285495643554834, 0.29998469504883835, 0.0);
  assert_site(1 + 3 + 32 * 29, 0.08570991287109668, 0.64282434653322507, 0.0);
  assert_complete(0.02);
}

static void test_grid_shuffled(void **state)
{
  (void)state;
  good("region box block 0 1 0 1 -0.5 0.5 units box");
  good("create_box 1 box");
  good("create_atoms 1 grid 1000 seed 3");
  assert_complete(0.02);
  int64_t in_place = 0;
  for (int64_t i = 0; i < 1000; ++i) in_place += f.sim.particles.id[i] == i + 1;
  assert_true(in_place < 10);
}

static void test_grid_3d(void **state)
{
  (void)state;
  good("region box block 0 1 0 2 0 3 units box");
  good("create_box 1 box");
  good("create_atoms 1 grid 30");
  /* 4 sites along x and y, and two layers. */
  assert_site(1, 0.2, 0.4, 1.0);
  assert_site(30, 0.4, 1.6, 2.0);
  assert_complete(0.1);
}

static void test_permutation(void **state)
{
  (void)state;
  for (uint64_t n = 1; n < 300; n += n < 40 ? 1 : 37) {
    char seen[300] = {0};
    const md_permutation p = md_permutation_of(n, 5);
    for (uint64_t k = 0; k < n; ++k) {
      const uint64_t to = md_permute(&p, k);
      assert_true(to < n);
      assert_int_equal(seen[to]++, 0);
    }
  }
  const md_permutation a = md_permutation_of(1000, 1), b = md_permutation_of(1000, 2);
  int same = 0;
  for (uint64_t k = 0; k < 1000; ++k) same += md_permute(&a, k) == md_permute(&b, k);
  assert_true(same < 10);
}

/* Random positions are uniform: mean and variance of 20000 coordinates on [2, 4). They do not depend on other
 * particles. */
static void test_random(void **state)
{
  (void)state;
  good("region box block 2 4 0 1 -0.5 0.5 units box");
  good("create_box 1 box");
  good("create_atoms 1 random 20000 12 NULL");
  assert_complete(0.0);
  const md_particles *p = &f.sim.particles;
  double mean = 0.0, square = 0.0;
  for (int64_t i = 0; i < p->n; ++i) {
    mean += p->x[0][i] / 20000.0;
    square += (p->x[0][i] - 3.0) * (p->x[0][i] - 3.0) / 20000.0;
  }
  assert_true(fabs(mean - 3.0) < 4.0 * sqrt(1.0 / 3.0 / 20000.0));
  assert_true(fabs(square - 1.0 / 3.0) < 0.01);
  const double x7 = p->x[0][6];
  assert_int_equal(p->id[6], 7);
  f.sim.particles.n = 0;
  assert_int_equal(md_sim_count(&f.sim), MD_OK);
  good("create_atoms 1 random 7 12 NULL");
  assert_true(p->x[0][6] == x7);
}

static void test_region_faces(void **state)
{
  (void)state;
  good("lattice sc 1.0");
  good("region box block 0 10 0 10 0 10");
  good("create_box 2 box");
  good("region slab block 2 4 EDGE INF INF EDGE");
  good("create_atoms 2 region slab");
  assert_int_equal(f.sim.particles.n, 3 * 10 * 10);
  for (int64_t i = 0; i < f.sim.particles.n; ++i) assert_int_equal(f.sim.particles.type[i], 2);
}

/* A radius in lattice units has the unit of the first axis across the cylinder. */
static void test_round_regions(void **state)
{
  (void)state;
  const md_region *r;
  good("lattice sc scale 1.0 spacing 2 3 4");
  good("region a sphere 1 1 1 2");
  assert_int_equal(md_region_find(&f.sim, "a", &r), MD_OK);
  assert_true(md_region_contains(r, (double[3]){2.0, 3.0, 8.0}, 3));
  assert_false(md_region_contains(r, (double[3]){2.0, 3.0, 8.000001}, 3));
  assert_true(md_region_contains(r, (double[3]){2.0, 3.0, 99.0}, 2)); /* at z = 0 */
  good("region b cylinder x 1 1 2 0 5 units box side in");
  assert_int_equal(md_region_find(&f.sim, "b", &r), MD_OK);
  assert_true(md_region_contains(r, (double[3]){5.0, 1.0, 3.0}, 3));
  assert_false(md_region_contains(r, (double[3]){5.1, 1.0, 3.0}, 3));
  assert_false(md_region_contains(r, (double[3]){4.0, 2.9, 2.9}, 3));
  good("region c cylinder x 0 0 2 0 1");
  assert_int_equal(md_region_find(&f.sim, "c", &r), MD_OK);
  assert_true(r->k[3] == 6.0 && r->lo[1] == -6.0 && r->hi[2] == 6.0 && r->hi[0] == 2.0);
}

static void test_single(void **state)
{
  (void)state;
  good("lattice sc scale 2.0");
  good("region box block 0 5 0 5 0 5");
  good("create_box 1 box");
  good("create_atoms 1 single 1 2 3");
  good("create_atoms 1 single 1 2 3 units box");
  assert_site(1, 2.0, 4.0, 6.0);
  assert_site(2, 1.0, 2.0, 3.0);
  bad("create_atoms 1 single 5 0 0", "outside the box");
  bad("create_atoms 1 single 0 0 -0.1", "outside the box");
  bad("create_atoms 1 single 0 0 0 units sigma", "'sigma'");
  bad("create_atoms 1 single 0 0", "needs 3 words");
}

static int64_t count_type(int type)
{
  int64_t n = 0;
  for (int64_t i = 0; i < f.sim.particles.n; ++i) n += f.sim.particles.type[i] == type;
  return n;
}

static void test_set(void **state)
{
  (void)state;
  good("region box block 0 1 0 1 0 1");
  good("create_box 4 box");
  good("create_atoms 1 random 10000 1 NULL");
  good("set atom 101*200 type 2");
  good("set atom 9000* type 2");
  good("set atom 1 type 3");
  assert_int_equal(count_type(2), 100 + 1001);
  good("set type 2*3 type 4");
  assert_int_equal(count_type(4), 1102);
  good("set type 1 type/fraction 2 0.35 4711");
  const int64_t chosen = count_type(2);
  assert_true(llabs(chosen - 3114) < 200);
  char line[64];
  snprintf(line, sizeof line, "  %lld settings made for type/fraction\n", (long long)chosen);
  assert_non_null(strstr(fixture_log(&f), line));

  /* Types go by id, in any order of the particles. */
  md_particles before = copy_of(&f.sim.particles);
  int32_t *reversed = calloc(10000, sizeof *reversed);
  assert_non_null(reversed);
  for (int32_t i = 0; i < 10000; ++i) reversed[i] = 9999 - i;
  for (int64_t i = 0; i < 10000; ++i)
    if (f.sim.particles.type[i] == 2) f.sim.particles.type[i] = 1;
  assert_int_equal(md_particles_permute(&f.sim.particles, reversed), MD_OK);
  good("set type 1 type/fraction 2 0.35 4711");
  assert_int_equal(md_particles_permute(&f.sim.particles, reversed), MD_OK);
  assert_same(&before, &f.sim.particles);
  md_particles_free(&before);
  free(reversed);

  good("set group all type/fraction 3 1.0 5");
  assert_int_equal(count_type(3), 10000);
  good("set group all type/fraction 1 0.0 5");
  assert_int_equal(count_type(3), 10000);
}

static void test_set_refuses(void **state)
{
  (void)state;
  bad("set type 1 type 1", "needs a box");
  good("region box block 0 1 0 1 0 1");
  good("create_box 2 box");
  bad("set type 3 type 1", "'3'");
  bad("set colour 1 type 1", "'colour'");
  bad("set type 1 charge 1", "'charge'");
  bad("set type 1 type 3", "particle type");
  bad("set type 1 type/fraction 2 1.5 4", "'1.5'");
  bad("set type 1 type/fraction 2 0.5", "a seed");
  bad("set type 1 type 2 type", "set type needs a type");
  bad("set type 1 type/subset 2 9 1", "9 of 0 particles cannot be chosen");
  bad("set type 1 image 0 1.5 0", "image flag of set");
  bad("set type 1 image 0 1", "three whole numbers");
  bad("set type 1 type 1 vx", "set vx needs a velocity");
  bad("set atom 5*2 type 1", "last particle id");
  bad("set group some type 1", "unknown group 'some'");
}

static void test_lattice_refuses(void **state)
{
  (void)state;
  bad("lattice cubic 1", "'cubic'");
  bad("lattice sq 1", "needs dimension 2");
  bad("lattice fcc 0", "positive");
  bad("lattice fcc nan", "'nan'");
  bad("lattice fcc 1 origin 0 0", "needs 3 more words");
  bad("lattice fcc 1 origin 0 1.0 0", "1.0 is not a fraction");
  bad("lattice fcc 1 orient x 1 1 0", "right angles");
  bad("lattice fcc 1 orient w 1 1 0", "'w'");
  bad("lattice fcc 1 basis 0 0 0", "custom only");
  bad("lattice fcc 1 twist 3", "'twist'");
  bad("lattice custom 1", "at least one");
  bad("lattice custom 1 a1 0 1 0 basis 0 0 0", "in a plane");
  bad("lattice custom 1 basis 0 0 0 basis 0 0 0", "twice");
  bad("lattice none density 1", "no sites");
  bad("lattice none 1 origin 0 0 0", "'origin'");
  assert_false(f.sim.lattice.set);
}

static void test_region_refuses(void **state)
{
  (void)state;
  bad("region a ellipsoid 0 0 0 1 1 1", "'ellipsoid'");
  bad("region a sphere 0 0 0", "usage: region ID sphere X Y Z RADIUS");
  bad("region a sphere 0 0 0 -1", "region radius must be positive");
  bad("region a cylinder z 0 0 0 0 1", "region radius must be positive");
  bad("region a sphere 0 0 INF 1", "region centre");
  bad("region a sphere 0 0 0 1 1 1", "unknown keyword '1'");
  bad("region a block 0 1 0 1 0", "needs 6 words after its style, not 5");
  bad("region a cylinder w 0 0 1 0 1", "'w' is not x, y or z");
  bad("region a cylinder z 0 0 1 2 1", "above");
  bad("region a cylinder z 0 0 1 0 EDGE", "EDGE needs a box");
  good("region ball sphere 0 0 0 1");
  bad("create_box 1 ball", "create_box needs a region of style block");
  bad("region a block 0 1 0 1 2 1", "above");
  bad("region a block 0 1 0 1 0 EDGE", "EDGE needs a box");
  bad("region a block 0 1 0 1 0 x", "'x'");
  bad("region a block 0 1 0 1 0 1 side up", "'up'");
  bad("region a block 0 1 0 1 0 1 units", "needs lattice or box");
  bad("region a block 0 1 0 1 0 1 move 1", "region move takes three variables");
  good("region a block 0 1 0 1 0 1");
  bad("region a block 0 1 0 1 0 1", "defined already");
  bad("create_box 1 b", "known are ball, a");
}

static void test_box_refuses(void **state)
{
  (void)state;
  good("region unbounded block 0 1 0 INF 0 1");
  good("region flat block 0 1 0 1 1 1");
  good("region box block 0 1 0 1 0 1");
  bad("create_atoms 1 box", "needs a box");
  bad("create_box 1 unbounded", "finite");
  bad("create_box 1 flat", "increasing");
  bad("create_box 0 box", "from 1 to 1024");
  bad("create_box 1025 box", "from 1 to 1024");
  good("create_box 1 box");
  bad("create_box 1 box", "already");
}

static void test_create_refuses(void **state)
{
  (void)state;
  good("region box block 0 1e9 0 1e9 0 1e9 units box");
  good("create_box 1 box");
  bad("create_atoms 1 box", "no lattice sites");
  good("lattice none 1");
  bad("create_atoms 1 box", "no lattice sites");
  good("lattice sc 1");
  bad("create_atoms 1 box", "too many");
  good("lattice sc scale 1e-9");
  bad("create_atoms 1 box", "too small");
  bad("create_atoms 2 box", "particle type");
  bad("create_atoms 1 ball", "'ball'");
  bad("create_atoms 1 box please", "'please'");
  bad("create_atoms 1 region none", "no region 'none'");
  bad("create_atoms 1 random 5 0 NULL", "seed");
  bad("create_atoms 1 random -5 1 NULL", "number of particles");
  bad("create_atoms 1 random 4000000000000 1 NULL", "too many");
  bad("create_atoms 1 grid 9223372036854775807", "too many");
  bad("create_atoms 1 grid 5 sown 1", "'sown'");
  good("region outside block -2 -1 0 1 0 1 units box");
  bad("create_atoms 1 random 5 1 outside", "no volume");
  f.sim.max_id = INT64_MAX - 3;
  bad("create_atoms 1 grid 4", "ids end");
  good("create_atoms 1 grid 3");
  assert_int_equal(f.sim.max_id, INT64_MAX);
}

static void test_two_dimensions_refuse(void **state)
{
  (void)state;
  bad("lattice fcc 1", "needs dimension 3");
  bad("lattice custom 1 basis 0 0 0.5", "two dimensions");
  good("region high block 0 1 0 1 1 2");
  bad("create_box 1 high", "z = 0");
}

int main(void)
{
#define IN_3(test) cmocka_unit_test_setup_teardown(test, set_up_3, tear_down)
#define IN_2(test) cmocka_unit_test_setup_teardown(test, set_up_2, tear_down)
  const struct CMUnitTest tests[] = {
      IN_3(test_fcc_as_lammps),    IN_2(test_hex_as_lammps),   IN_3(test_rounded_box),
      IN_3(test_lower_face),       IN_3(test_threads),         IN_3(test_domains),
      IN_2(test_grid_as_homework), IN_2(test_grid_shuffled),   IN_3(test_grid_3d),
      IN_3(test_permutation),      IN_2(test_random),          IN_3(test_region_faces),
      IN_3(test_round_regions),    IN_3(test_single),          IN_3(test_set),
      IN_3(test_set_refuses),      IN_3(test_lattice_refuses), IN_3(test_region_refuses),
      IN_3(test_box_refuses),      IN_3(test_create_refuses),  IN_2(test_two_dimensions_refuse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
