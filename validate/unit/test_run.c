/* The run loop and `myriad plan`, with an engine that the test defines: what they print, and what they do not
 * change. */
#include "src/deck/deck.h"
#include "src/plan.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct bench {
  md_sim sim;
  md_log log;
  char *said;
  size_t said_size;
} bench;

/* ---- an engine whose particles stand still ---- */

struct md_engine {
  md_model *model;
  int64_t steps;
};

static struct md_engine the_engine;
static const char *details;
static int64_t created;
/* The number of steps of each call of the engine. */
static int64_t asked[32];
static int calls;

static md_status create(md_engine **engine, md_model *model, md_particles *p, md_comm *comm,
                        const md_engine_options *options)
{
  (void)p, (void)comm, (void)options;
  ++created;
  the_engine = (struct md_engine){.model = model};
  *engine = &the_engine;
  return MD_OK;
}

static md_status advance(md_engine *e, int64_t n)
{
  e->model->step += n;
  e->steps += n;
  assert_true(calls < 32);
  asked[calls++] = n;
  return MD_OK;
}

/* What the run loop measures and lets fixes do, with the step: `p` sums of pairs too, `t` only terms, `a` an action
 * with its first number. */
static char heard[256];

static void hear(char what, int64_t step, double number)
{
  const size_t used = strlen(heard);
  char *end = heard + used;
  if (what == 'a')
    snprintf(end, sizeof heard - used, "a%lld:%g ", (long long)step, number);
  else
    snprintf(end, sizeof heard - used, "%c%lld ", what, (long long)step);
}

/* The temperature of all particles is 4. Sums that are not wanted are wrong. */
static md_status measure(md_engine *e, md_wanted wanted, md_measure *m)
{
  const md_model *model = e->model;
  *m = (md_measure){.count = model->natoms};
  for (int s = 0; s < model->nsummand; ++s) {
    const md_summand *summand = &model->summand[s];
    if (summand->kind != MD_COMPUTE_ke || !(wanted.summands >> s & 1)) continue;
    const double energy = 0.5 * 4.0 * 3.0 * (double)(model->natoms - 1);
    md_wide_add(&m->term[summand->first], (md_int128)(energy / summand->unit[0]));
  }
  hear(wanted.pairs ? 'p' : 't', model->step, 0.0);
  return MD_OK;
}

static md_status act(md_engine *e, const md_action *action)
{
  hear('a', e->model->step, action->k[0]);
  return MD_OK;
}

static md_status download(md_engine *e, double *const force[3])
{
  (void)e, (void)force;
  return MD_OK;
}

static void report(const md_engine *e, md_engine_report *r)
{
  *r = (md_engine_report){.steps = e->steps, .isa = "no", .threads = 1, .bytes = 1000, .details = details};
}

static void destroy(md_engine *e) { (void)e; }

/* The plan of the fake engine: 60 bytes for each particle in two arrays, and 1000000 bytes for any number of particles.
 * It refuses more than 2000000000 particles. If `density` is not 0, the volume must belong to n particles at this
 * density, because cells and lists depend on it. */
static int64_t available;
static double density;

static md_status plan(const md_model *model, int64_t n, const md_engine_options *options, md_engine_plan *p)
{
  double volume = 1.0;
  for (int d = 0; d < model->box.dim; ++d) {
    assert_true(model->box.hi[d] - model->box.lo[d] <= model->box.length[d] * (1.0 + 1e-9));
    assert_true(model->box.hi[d] - model->box.lo[d] >= model->box.length[d] * (1.0 - 1e-9));
    volume *= model->box.length[d];
  }
  if (model->natoms > 0) {
    assert_int_equal(model->natoms, n);
    if (density > 0.0) assert_true(fabs((double)n / volume - density) <= 1e-9 * density);
  }
  assert_true(model->grids.x > 0.0);
  if (model->box.dim == 3) assert_true(0x1p42 * model->grids.x >= 3.0 * model->cutoff);
  if (n > 2000000000) return md_error(MD_RUNTIME, "too many");
  *p = (md_engine_plan){.nitem = 3,
                        .item = {{"positions", 24.0}, {"impulses", 36.0}, {"cells", 1e6 / (double)n}},
                        .bytes = 60.0 + 1e6 / (double)n,
                        .available = available};
  snprintf(p->device, sizeof p->device, "%s", available ? "a machine" : "");
  snprintf(p->method, sizeof p->method, "lists with %d bytes of memory", (int)options->gpu.memory);
  return MD_OK;
}

static const md_engine_kind planner = {.name = "planner",
                                       .create = create,
                                       .run = advance,
                                       .measure = measure,
                                       .act = act,
                                       .download = download,
                                       .plan = plan,
                                       .report = report,
                                       .destroy = destroy};
static const md_engine_kind planless = {.name = "planless"};

/* ---- decks ---- */

static char directory[] = "/tmp/test-myriad-XXXXXX";

static int enter_directory(void **state)
{
  (void)state;
  return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave_directory(void **state)
{
  (void)state;
  return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static int set_up(void **state)
{
  bench *b = calloc(1, sizeof *b);
  if (!b || md_sim_init(&b->sim) != MD_OK || md_comm_serial(&b->sim.comm) != MD_OK) return -1;
  b->sim.log = &b->log;
  b->sim.engine = &planner;
  b->sim.planning.on = true;
  details = NULL;
  created = 0;
  calls = 0;
  heard[0] = '\0';
  available = INT64_C(6000000000);
  density = 0.0;
  if (setenv("MYRIAD_MEMORY", "off", 1) != 0) return -1;
  *state = b;
  return 0;
}

static int tear_down(void **state)
{
  bench *b = *state;
  b->sim.comm->destroy(b->sim.comm);
  md_sim_free(&b->sim);
  free(b->said);
  free(b);
  return 0;
}

/* Runs a deck as main does. The output goes to the stream of the screen. */
static md_status run_deck(bench *b, const char *text)
{
  free(b->said);
  b->said = NULL;
  b->log.screen = open_memstream(&b->said, &b->said_size);
  FILE *file = tmpfile();
  assert_non_null(b->log.screen);
  assert_non_null(file);
  assert_int_equal(fputs(text, file) >= 0, 1);
  rewind(file);
  md_status status = md_deck_run(&b->sim, file, "deck");
  fclose(file);
  if (status == MD_OK && b->sim.planning.on && !b->sim.planning.done) status = md_plan_print(&b->sim);
  fclose(b->log.screen);
  return status;
}

static void assert_runs(bench *b, const char *text)
{
  if (run_deck(b, text) != MD_OK) fail_msg("%s\n%s", text, md_error_text());
}

static void assert_said(const bench *b, const char *words)
{
  if (!strstr(b->said, words)) fail_msg("\"%s\" is not in:\n%s", words, b->said);
}

static void assert_refused(bench *b, const char *text, const char *message)
{
  assert_int_equal(run_deck(b, text), MD_USAGE);
  assert_string_equal(md_error_text(), message);
}

/* 1000 particles in a box of 1000. */
#define GAS                                                                                                  \
  "region b block 0 10 0 10 0 10\ncreate_box 1 b\nmass 1 1\ncreate_atoms 1 random 1000 1 NULL\n"             \
  "pair_style lj/cut 2.5\npair_coeff 1 1 1 1\nfix 1 all nve\n"

static const char table[] = "Plan of engine planner for 1000 particles in 3 dimensions, cutoff 2.5\n"
                            "Neighbours: lists with 5242880 bytes of memory\n\n"
                            "item                             | bytes per particle |        total\n"
                            "--------------------------------------------------------------------\n"
                            "positions                        |              24.00 |     23.4 KiB\n"
                            "impulses                         |              36.00 |     35.2 KiB\n"
                            "cells                            |            1000.00 |    976.6 KiB\n"
                            "all                              |            1060.00 |      1.0 MiB\n\n"
                            "Memory available: 5.6 GiB on a machine\n"
                            "Largest number of particles that fits: 99983333\n"
                            "Memory of the host: 58.00 bytes per particle, 56.6 KiB for all ranks\n";

static void plan_stands_in_for_the_first_run(void **state)
{
  bench *b = *state;
  density = 1.0;
  b->sim.options.gpu.memory = 5242880;
  assert_runs(b, GAS "print before\nrun 100 upto\nprint behind\nnonsense\n");
  assert_said(b, "before\n");
  const char *at = strstr(b->said, "Plan of");
  assert_non_null(at);
  assert_string_equal(at, table);
  assert_true(b->sim.planning.done);
  assert_int_equal(created, 0);
  assert_int_equal(b->sim.model.step, 0);
}

static void plan_of_a_deck_without_a_run(void **state)
{
  bench *b = *state;
  b->sim.options.gpu.memory = 5242880;
  assert_runs(b, GAS);
  const char *at = strstr(b->said, "Plan of");
  assert_non_null(at);
  assert_string_equal(at, table);
}

static void plan_for_other_numbers(void **state)
{
  bench *b = *state;
  density = 1.0;
  b->sim.planning.particles = 50000000;
  assert_runs(b, GAS "run 1\n");
  assert_said(b, "for 50000000 particles in 3 dimensions");
  assert_said(b, "\npositions                        |              24.00 |      1.1 GiB\n");
  assert_said(b, "\ncells                            |               0.02 |    976.6 KiB\n");
  assert_said(b, "that fits: 99983333\n");
  assert_null(strstr(b->said, "do not fit"));
}

static void plan_for_more_than_fit(void **state)
{
  bench *b = *state;
  density = 1.0;
  b->sim.planning.particles = 2 * 99983333 + 1;
  assert_runs(b, GAS "run 1\n");
  assert_said(b, "\n199966667 particles do not fit: they need at least 3 ranks, each with such memory\n");
}

static void plan_up_to_what_a_rank_takes(void **state)
{
  bench *b = *state;
  density = 1.0;
  available = INT64_C(1) << 40;
  b->sim.planning.particles = INT64_C(1000000000);
  assert_runs(b, GAS "run 1\n");
  assert_said(b, "Memory available: 1.0 TiB on a machine\n");
  assert_said(b, "that fits: 2000000000\n");
}

static void plan_without_known_memory(void **state)
{
  bench *b = *state;
  available = 0;
  assert_runs(b, GAS "run 1\n");
  assert_said(b, "\nMemory available: unknown\n");
  assert_null(strstr(b->said, "that fits"));
}

static void plan_where_nothing_fits(void **state)
{
  bench *b = *state;
  available = 1000;
  assert_runs(b, GAS "run 1\n");
  assert_said(b, "Memory available: 1000.0 B on a machine\nLargest number of particles that fits: 0\n");
}

/* Ids, types, positions and velocities have 58 bytes, and groups 4. */
static void plan_says_what_the_host_holds(void **state)
{
  bench *b = *state;
  assert_int_equal(setenv("MYRIAD_MEMORY", "2", 1), 0);
  b->sim.planning.particles = 1000000;
  assert_runs(b, GAS "group g id 1\nrun 1\n");
  assert_said(b, "\nMemory of the host: 62.00 bytes per particle, 59.1 MiB for all ranks; ");
  const char *at = strstr(b->said, " are available (MYRIAD_MEMORY), for ");
  assert_non_null(at);
  const long long fit = strtoll(strstr(at, "for ") + 4, NULL, 10), whole = (INT64_C(1) << 31) / 62;
  assert_true(fit > whole / 2 && fit <= whole);
}

static void plan_in_two_dimensions(void **state)
{
  bench *b = *state;
  density = 8.0;
  b->sim.planning.particles = 4000;
  assert_runs(b, "dimension 2\nregion b block 0 5 0 10 -0.5 0.5\ncreate_box 1 b\nmass 1 1\n"
                 "create_atoms 1 random 400 1 NULL\nrun 1\n");
  assert_said(b, "for 4000 particles in 2 dimensions, cutoff 0\n");
}

static void plan_writes_no_files(void **state)
{
  bench *b = *state;
  assert_runs(b, "log a.log\n" GAS
                 "log b.log append\nprint text file c.txt\nprint more append c.txt\nwrite_data d.data\n"
                 "dump 1 all custom 1 e.dump id x\ndump 2 all density 1 f.png 10\ndump 3 all atom 1 g.*.gz\n"
                 "dump_modify 1 append yes\nrun 10\n");
  for (int k = 0; k < 3; ++k) {
    static const char *const notes[] = {"Note: log: nothing is written", "Note: print: nothing is written",
                                        "Note: write_data: nothing is written"};
    assert_said(b, notes[k]);
  }
  assert_said(b, "\ntext\n");
  assert_null(b->log.file);
  DIR *here = opendir(".");
  assert_non_null(here);
  for (struct dirent *entry = readdir(here); entry; entry = readdir(here))
    if (entry->d_name[0] != '.') fail_msg("%s was written", entry->d_name);
  closedir(here);
}

static void plan_needs_a_deck_that_could_run(void **state)
{
  bench *b = *state;
  assert_refused(b, "run 1\n", "deck:1: run needs a box: use create_box or read_data first");
  assert_refused(b, "", "plan needs a box: use create_box or read_data first");
  assert_refused(b, "region b block 0 9 0 9 0 9\ncreate_box 1 b\nmass 1 1\nrun 1\n",
                 "deck:4: plan: the deck has made no particles; say --particles N");
  assert_false(b->sim.planning.done);
  assert_refused(b, "create_atoms 1 single 1 1 1\nrun ten\n",
                 "deck:2: the number of steps must be a whole number, not 'ten'");
  /* Without particles of the deck there is no density to keep. */
  b->sim.planning.particles = 7;
  b->sim.particles.n = 0;
  assert_runs(b, "run 1\n");
  assert_said(b, "for 7 particles");
}

static void engines_without_a_plan_say_so(void **state)
{
  bench *b = *state;
  assert_int_equal(md_plan_check(&b->sim), MD_OK);
  b->sim.engine = &planless;
  assert_int_equal(md_plan_check(&b->sim), MD_USAGE);
  const char *start = "engine planless has no plan; engines of this build that have one:";
  assert_int_equal(strncmp(md_error_text(), start, strlen(start)), 0);
  assert_null(strstr(md_error_text(), "naive"));
}

static void details_of_the_engine_end_the_summary(void **state)
{
  bench *b = *state;
  b->sim.planning.on = false;
  assert_runs(b, GAS "run 3\n");
  assert_int_equal(created, 1);
  const char *memory = "Memory: 1.0 bytes per particle\n\n";
  const char *at = strstr(b->said, memory);
  assert_non_null(at);
  assert_string_equal(at, memory);
  details = "kernel | calls\nforce  | 100 %\n";
  assert_runs(b, "run 2\n");
  at = strstr(b->said, memory);
  assert_non_null(at);
  assert_string_equal(at + strlen(memory), "kernel | calls\nforce  | 100 %\n\n");
}

/* The beginning of each piece costs an engine about as much as a step. */
static void fast_steps_are_soon_run_in_long_pieces(void **state)
{
  bench *b = *state;
  b->sim.planning.on = false;
  assert_runs(b, GAS "thermo 1000\nrun 1000\n");
  const int64_t expected[] = {1, 8, 64, 512, 415};
  assert_int_equal(calls, 5);
  assert_memory_equal(asked, expected, sizeof expected);
  /* The next run begins with the length of pieces that this run found. */
  assert_runs(b, "run 1000\n");
  assert_int_equal(calls, 6);
  assert_int_equal(asked[5], 1000);
}

static void fixes_act_after_their_steps(void **state)
{
  bench *b = *state;
  b->sim.planning.on = false;
  assert_runs(b,
              GAS "fix a all temp/rescale 4 1 1 0 1\nfix b all temp/rescale 6 16 16 0 1\nthermo 6\nrun 12\n");
  assert_string_equal(heard, "p0 t4 a4:0.5 t6 a6:2 p6 t8 a8:0.5 t12 a12:0.5 t12 a12:2 p12 ");
  heard[0] = '\0';
  assert_runs(b, "run 0\nunfix a\nrun 6\n");
  assert_string_equal(heard, "p12 p12 t18 a18:2 p18 ");
  /* Inside its window a fix does nothing. */
  heard[0] = '\0';
  assert_runs(b, "unfix b\nfix c all temp/rescale 2 4.5 4.5 1 1\nrun 3\n");
  assert_string_equal(heard, "p18 t20 p21 ");
}

static void a_deck_without_such_fixes_measures_nothing_more(void **state)
{
  bench *b = *state;
  b->sim.planning.on = false;
  assert_runs(b, GAS "fix 2 all langevin 1 1 1 5\nthermo 6\nrun 12\n");
  assert_string_equal(heard, "p0 p6 p12 ");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(plan_stands_in_for_the_first_run),
      TEST(plan_of_a_deck_without_a_run),
      TEST(plan_for_other_numbers),
      TEST(plan_for_more_than_fit),
      TEST(plan_up_to_what_a_rank_takes),
      TEST(plan_without_known_memory),
      TEST(plan_where_nothing_fits),
      TEST(plan_says_what_the_host_holds),
      TEST(plan_in_two_dimensions),
      TEST(plan_writes_no_files),
      TEST(plan_needs_a_deck_that_could_run),
      TEST(engines_without_a_plan_say_so),
      TEST(details_of_the_engine_end_the_summary),
      TEST(fast_steps_are_soon_run_in_long_pieces),
      TEST(fixes_act_after_their_steps),
      TEST(a_deck_without_such_fixes_measures_nothing_more),
  };
  return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
