/* The speculative force of the OpenMP engine: for any delay of messages, the same bits, lists and errors.
 *
 * The communicator has one rank and claims to have two. It answers only after a given number of questions. Until then
 * the positions of ghosts are NaN. */
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"
#include "openmp/openmp.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PIECES = 12, STEPS = PIECES * (PIECES + 1) / 2, NEVER = 1000000 };

/* ---- a communicator that takes its time ---- */

static md_status (*refresh)(md_comm *, const md_box *, md_particles *);
static const md_box *now;
static md_status (*answer)(md_comm *, bool, double *, bool *);
static md_comm_reductions late_reductions;
static md_comm_exchange late_exchange;
static int answer_after, ghosts_after; /* number of questions without an answer */
static int answer_asked, ghosts_asked;
static int64_t unanswered;

static md_status late_answer(md_comm *c, bool wait, double *values, bool *done)
{
  *done = false;
  if (!wait && ++answer_asked <= answer_after) {
    ++unanswered;
    return MD_OK;
  }
  answer_asked = 0;
  return answer(c, wait, values, done);
}

static md_status late_begin(md_comm *c, const md_box *box, md_particles *p)
{
  (void)c;
  now = box;
  ghosts_asked = 0;
  for (int d = 0; d < p->dim; ++d)
    for (int64_t g = 0; g < p->nghost; ++g) p->x[d][p->n + g] = (double)NAN;
  return MD_OK;
}

static md_status late_ghosts(md_comm *c, md_particles *p, bool wait, bool *done)
{
  *done = wait || ++ghosts_asked > ghosts_after;
  return *done ? refresh(c, now, p) : MD_OK;
}

static void be_late(md_comm *c, int answers, int ghosts)
{
  c->size = 2;
  answer = c->reduce->max_next;
  refresh = c->exchange->halo_begin;
  late_reductions = *c->reduce;
  late_reductions.max_next = late_answer;
  late_exchange = *c->exchange;
  late_exchange.halo_begin = late_begin;
  late_exchange.halo_next = late_ghosts;
  c->reduce = &late_reductions;
  c->exchange = &late_exchange;
  answer_after = answers;
  ghosts_after = ghosts;
  answer_asked = 0;
  unanswered = 0;
}

/* ---- a gas of soft discs, with a few collisions and many lists; a fluid, which has half lists ---- */

typedef struct matter {
  int dim, row; /* particles along an axis */
  md_pair_kind kind;
  double cutoff, spacing, mass, dt, speed, skin;
} matter;

static const matter discs = {2, 95, MD_PAIR_repulsive, 0.01, 0.0223606797749979, 0.01, 0.0005, 1.0, 0.01};
static const matter fluid = {3, 14, MD_PAIR_lj_cut, 2.0, 1.12, 1.0, 0.004, 3.0, 0.3};

typedef struct gas {
  const matter *of;
  md_model model;
  md_particles p;
  md_comm *comm;
  md_engine *engine;
} gas;

/* Between 0 and 1. */
static double some(uint64_t *state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

static void fill(gas *g)
{
  const matter *s = g->of;
  const int64_t row = s->row, n = g->model.natoms;
  uint64_t state = 1;
  md_particles_init(&g->p, s->dim);
  assert_int_equal(md_particles_reserve(&g->p, n), MD_OK);
  g->p.n = n;
  for (int64_t i = 0; i < n; ++i) {
    g->p.id[i] = i + 1;
    g->p.type[i] = 1;
    const int64_t place[3] = {i % row, i / row % row, i / row / row};
    const double jitter = s->dim == 2 ? 0.4 : 0.1;
    for (int d = 0; d < 3 && d < s->dim; ++d) {
      g->p.x[d][i] = s->spacing * ((double)place[d] + 0.3 + jitter * some(&state));
      g->p.v[d][i] = s->speed * (2.0 * some(&state) - 1.0);
    }
  }
}

static void begin(gas *g, const matter *s, bool open, md_integrator integrator, double skin, int threads)
{
  const double side = s->spacing * s->row;
  md_model *m = &g->model;
  g->of = s;
  md_model_init(m);
  m->box = (md_box){.dim = 2, .hi = {side, side, 0.5}, .lo = {0.0, 0.0, -0.5}, .length = {side, side, 1.0}};
  if (s->dim == 3)
    m->box =
        (md_box){.dim = 3, .hi = {side, side, side}, .lo = {0.0, 0.0, 0.0}, .length = {side, side, side}};
  m->box.periodic[0] = m->box.periodic[2] = true;
  m->box.periodic[1] = !open;
  m->ntypes = 1;
  m->mass[1] = s->mass;
  assert_int_equal(md_pair_start(&m->pair, s->kind, 1, &s->cutoff, 1), MD_OK);
  if (s->dim == 3) assert_int_equal(md_pair_set(&m->pair, 1, 1, (const double[]){1.0, 1.0, 2.0}, 3), MD_OK);
  m->integrator = integrator;
  m->dt = s->dt;
  m->skin = skin;
  m->natoms = s->dim == 2 ? s->row * s->row : s->row * s->row * s->row;
  assert_int_equal(md_model_prepare(m), MD_OK);
  fill(g);
  assert_int_equal(md_model_enter(m, &g->p), MD_OK);
  assert_int_equal(md_comm_serial(&g->comm), MD_OK);
  const md_engine_options options = {.threads = threads};
  assert_int_equal(md_engine_openmp.create(&g->engine, m, &g->p, g->comm, &options), MD_OK);
}

static void end(gas *g)
{
  md_engine_openmp.destroy(g->engine);
  g->comm->destroy(g->comm);
  md_particles_free(&g->p);
  md_model_free(&g->model);
}

static int64_t lists(const gas *g)
{
  md_engine_report report;
  md_engine_openmp.report(g->engine, &report);
  return report.rebins;
}

static void assert_same(gas *a, gas *b)
{
  int32_t *of_a, *of_b;
  assert_int_equal(md_engine_openmp.download(a->engine, NULL), MD_OK);
  assert_int_equal(md_engine_openmp.download(b->engine, NULL), MD_OK);
  assert_int_equal(md_particles_order_by_id(&a->p, &of_a), MD_OK);
  assert_int_equal(md_particles_order_by_id(&b->p, &of_b), MD_OK);
  for (int64_t k = 0; k < a->p.n; ++k)
    for (int d = 0; d < a->of->dim; ++d) {
      assert_memory_equal(&a->p.x[d][of_a[k]], &b->p.x[d][of_b[k]], sizeof(double));
      assert_memory_equal(&a->p.v[d][of_a[k]], &b->p.v[d][of_b[k]], sizeof(double));
    }
  free(of_a);
  free(of_b);
}

/* The run has several pieces. So some kicks are completed before the answer that says that the lists are stale. */
static void run_in_pieces(gas *g)
{
  for (int piece = 1; piece <= PIECES; ++piece)
    assert_int_equal(md_engine_openmp.run(g->engine, piece), MD_OK);
}

static void compare(const matter *s, md_integrator integrator, double skin, int threads)
{
  static const int after[][2] = {{0, 0}, {1, 0},     {3, 1},     {0, 2},
                                 {2, 5}, {4, NEVER}, {NEVER, 0}, {NEVER, NEVER}};
  gas prompt, late;
  begin(&prompt, s, false, integrator, skin, threads);
  run_in_pieces(&prompt);
  const int64_t expected = lists(&prompt);
  assert_true(expected > 5);
  for (size_t k = 0; k < sizeof after / sizeof after[0]; ++k) {
    begin(&late, s, false, integrator, skin, threads);
    be_late(late.comm, after[k][0], after[k][1]);
    run_in_pieces(&late);
    assert_int_equal(lists(&late), expected);
    assert_true(after[k][0] == 0 || unanswered >= STEPS - PIECES);
    assert_same(&prompt, &late);
    end(&late);
  }
  end(&prompt);
}

static void the_time_of_messages_does_not_matter(void **state)
{
  (void)state;
  for (int threads = 1; threads <= 2; ++threads) {
    compare(&discs, MD_LEAPFROG, discs.skin, threads);
    compare(&discs, MD_NVE, discs.skin, threads);
    compare(&discs, MD_NVE, 0.1 * discs.skin, threads); /* new lists in every step */
    compare(&fluid, MD_NVE, fluid.skin, threads);
  }
}

/* A particle leaves a box with fixed faces. The other ranks learn of it a step later. */
static void a_fault_is_that_of_its_step(void **state)
{
  (void)state;
  char expected[512];
  gas prompt, late;
  begin(&prompt, &discs, true, MD_LEAPFROG, discs.skin, 1);
  assert_int_equal(md_engine_openmp.run(prompt.engine, 10 * STEPS), MD_PHYSICS);
  strncpy(expected, md_error_text(), sizeof expected - 1);
  expected[sizeof expected - 1] = '\0';
  assert_non_null(strstr(expected, "particle"));
  end(&prompt);
  for (int after = 0; after <= 8; after += 4) {
    begin(&late, &discs, true, MD_LEAPFROG, discs.skin, 1);
    be_late(late.comm, after, after);
    assert_int_equal(md_engine_openmp.run(late.engine, 10 * STEPS), MD_PHYSICS);
    assert_string_equal(md_error_text(), expected);
    end(&late);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_time_of_messages_does_not_matter),
      cmocka_unit_test(a_fault_is_that_of_its_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
