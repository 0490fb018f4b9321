/* A small simulation and a run without physics, for tests of observers. Particles do not move. A fake engine gives
 * forces, and velocities are stored as p/m_reference, as during a run. */
#ifndef MD_VALIDATE_UNIT_SUPPORT_FAKE_RUN_H
#define MD_VALIDATE_UNIT_SUPPORT_FAKE_RUN_H

#include "src/formula/particle_values.h"
#include "src/sim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static md_sim sim;
static md_log fake_log;
static char *log_text;
static size_t log_size;
static char directory[] = "/tmp/test-myriad-XXXXXX";

/* Forces are 100 i + d on local particle i. */
static md_status fake_download(md_engine *engine, double *const force[3])
{
  (void)engine;
  for (int d = 0; force && d < sim.particles.dim; ++d)
    for (int64_t i = 0; i < sim.particles.n; ++i) force[d][i] = 100.0 * (double)i + d;
  return MD_OK;
}

static const md_engine_kind fake_kind = {.name = "fake", .download = fake_download};

/* A 2D box of 4 x 2, or 3D of 4 x 2 x 8, from the origin, with two types of masses 1 and 2. */
static void start_sim(int dim)
{
  fake_log = (md_log){.file = open_memstream(&log_text, &log_size)};
  assert_int_equal(md_sim_init(&sim), MD_OK);
  sim.log = &fake_log;
  sim.engine = &fake_kind;
  md_variables_set_particles(sim.variables, &md_particle_values);
  assert_int_equal(md_comm_serial(&sim.comm), MD_OK);
  const double length[3] = {4.0, 2.0, dim == 3 ? 8.0 : 1.0};
  md_model *m = &sim.model;
  m->box = (md_box){.dim = dim, .periodic = {false, true, true}};
  for (int d = 0; d < 3; ++d) m->box.hi[d] = m->box.length[d] = length[d];
  if (dim == 2) m->box.lo[2] = -0.5;
  if (dim == 2) m->box.hi[2] = 0.5;
  m->ntypes = 2;
  for (int t = 1; t <= 2; ++t) {
    m->mass[t] = t;
    m->velocity_per_v[t] = 1.0 / t;
  }
  m->dt = 0.25;
  sim.has_box = true;
  md_particles_free(&sim.particles);
  md_particles_init(&sim.particles, dim);
}

static void stop_sim(void)
{
  md_comm *comm = sim.comm;
  md_sim_free(&sim);
  comm->destroy(comm);
  fclose(fake_log.file);
  free(log_text);
  log_text = NULL;
}

static void add_particle(int64_t id, int type, const double *x, const double *v)
{
  md_particles *p = &sim.particles;
  assert_int_equal(md_particles_reserve(p, p->n + 1), MD_OK);
  p->id[p->n] = id;
  p->type[p->n] = (uint16_t)type;
  for (int d = 0; d < p->dim; ++d) {
    p->x[d][p->n] = x[d];
    p->v[d][p->n] = v[d];
  }
  sim.model.natoms = ++p->n;
}

/* Runs a handler on a line of words separated by single blanks; '~' stands for a blank inside a word. */
static md_status command(md_command_handler handler, const char *line)
{
  char copy[512], *word[32];
  snprintf(copy, sizeof copy, "%s", line);
  md_words words = {0, word};
  char *rest;
  for (char *w = strtok_r(copy, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
    for (char *c = w; *c; ++c)
      if (*c == '~') *c = ' ';
    word[words.n++] = w;
  }
  return handler(&sim, &words);
}

#define assert_refused(call, words)                                                                          \
  do {                                                                                                       \
    assert_int_not_equal(call, MD_OK);                                                                       \
    if (!strstr(md_error_text(), words)) fail_msg("\"%s\" is not in: %s", words, md_error_text());           \
  } while (0)

/* Takes n steps, and shows every state to the observers that are due. */
static inline md_status fake_run(int64_t n)
{
  sim.model.run_begin = sim.model.step;
  sim.model.run_end = sim.model.step + n;
  for (md_observer *o = sim.observers; o; o = o->next)
    if (o->start) MD_TRY(o->start(o, &sim));
  for (;; ++sim.model.step) {
    for (md_observer *o = sim.observers; o; o = o->next) {
      if (o->due(o, sim.model.step) != sim.model.step) continue;
      md_view view = {.sim = &sim, .kind = &fake_kind, .engine = (md_engine *)&sim, .step = sim.model.step};
      sim.view = &view;
      const md_status status = o->observe(o, &view);
      if (status != MD_OK) print_error("%s\n", md_error_text());
      sim.view = NULL;
      md_view_close(&view);
      MD_TRY(status);
    }
    if (sim.model.step == sim.model.run_end) break;
  }
  for (md_observer *o = sim.observers; o; o = o->next)
    if (o->finish) MD_TRY(o->finish(o, &sim));
  return MD_OK;
}

static const char *log_so_far(void)
{
  fflush(fake_log.file);
  return log_text;
}

/* Makes a directory for the files of the tests, and enters it. */
static inline int enter_directory(void **state)
{
  (void)state;
  return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static inline int leave_directory(void **state)
{
  (void)state;
  char line[64];
  snprintf(line, sizeof line, "rm -rf %s", directory);
  return chdir("/") == 0 && system(line) == 0 ? 0 : -1;
}

#endif
