/* The C interface; see myriad.h. Each function takes a lock, so that calls from several threads wait for one another,
 * and sets the OpenMP threads of the simulation for as long as it works. The thread that has the lock may call a
 * function of fix external, whose own calls are refused. Meanwhile the thread has the locale "C", because numbers have
 * a point there, whatever the locale of the process is.
 *
 * Commands are read as a deck from a file in memory, so that they are what they are in a deck: lines joined by &,
 * triple quotes, jumps within the text. A command costs the megabyte of a deck's longest line while it is read, and a
 * few microseconds.
 */
#include "src/library/myriad.h"
#include "common/base/open_file.h"
#include "common/base/timer.h"
#include "common/force/external.h"
#include "common/ranks/reductions.h"
#include "src/averages/values.h"
#include "src/computes/host_compute.h"
#include "src/deck/deck.h"
#include "src/engines/open_comm.h"
#include "src/library/fields.h"
#include "src/library/present.h"
#include "src/library/session.h"
#include "src/library/version.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct myriad {
  char **words; /* of the command line, copied */
  int nwords;
  md_command_line line;
  md_comm *comm;
  md_session session;
  bool interruptible;
  bool failed; /* the process ends with an error of its own: myriad_fail */
  char *text;  /* what myriad_text gave last */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool has_lock;
static locale_t plain, of_caller; /* the locale "C", and the one that the caller's thread had */

static void take_lock(void)
{
  pthread_mutex_lock(&lock);
  has_lock = true;
  if (!plain) plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  of_caller = uselocale(plain);
}

static void release_lock(void)
{
  uselocale(of_caller);
  has_lock = false;
  pthread_mutex_unlock(&lock);
}

static md_status refuse_within(void)
{
  return md_error(MD_USAGE, "a function of fix external may not call the library, which waits for it");
}

/* What a call answers to an argument that is NULL and must not be. */
static int refuse_null(const char *what) { return (int)md_error(MD_USAGE, "%s is NULL", what); }

/* Is an array NULL whose size follows the number of particles? Without particles it may be. */
static bool lacks(const myriad *m, const void *array)
{
  return !array && m && m->session.sim.model.natoms > 0;
}

const char *myriad_error(void) { return md_error_text(); }
const char *myriad_version(void) { return MD_VERSION; }

/* ---- opening and closing ---- */

static md_status copy_words(myriad *m, int n, const char *const *words)
{
  m->words = calloc((size_t)n + 1, sizeof *m->words);
  if (!m->words) return md_error(MD_RUNTIME, "out of memory for the options of a simulation");
  for (; m->nwords < n; ++m->nwords) {
    m->words[m->nwords] = strdup(words[m->nwords]);
    if (!m->words[m->nwords]) return md_error(MD_RUNTIME, "out of memory for the options of a simulation");
  }
  return MD_OK;
}

static md_status open_simulation(myriad *m, int n, const char *const *words)
{
  m->line = (md_command_line){.library = true, .started = md_time()};
  MD_TRY(copy_words(m, n, words));
  MD_TRY(md_open_comm(&m->comm));
  MD_TRY(md_comm_agree(m->comm, md_command_line_read(m->nwords, m->words, &m->line)));
  MD_TRY(md_session_open(&m->session, m->comm, &m->line));
  m->session.stop.plain = true;
  return MD_OK;
}

/* Closes what open_simulation has opened. */
static md_status close_simulation(myriad *m, md_status status)
{
  bool alone = false;
  if (m->session.open) md_log_flush(&m->session.log);
  if (m->session.comm) status = md_session_close(&m->session, status, &alone);
  if (m->comm) m->comm->destroy(m->comm);
  for (int k = 0; k < m->nwords; ++k) free(m->words[k]);
  free(m->words);
  free(m->text);
  free(m);
  return status;
}

int myriad_open(int nwords, const char *const *words, myriad **m)
{
  if (!m) return refuse_null("the place of a simulation");
  *m = NULL;
  if (nwords < 0) return (int)md_error(MD_USAGE, "the number of options of a simulation is %d", nwords);
  for (int k = 0; k < nwords; ++k)
    if (!words || !words[k]) return refuse_null("an option of a simulation");
  if (has_lock) return (int)refuse_within();
  *m = calloc(1, sizeof **m);
  if (!*m) return (int)md_error(MD_RUNTIME, "out of memory for a simulation");
  take_lock();
  const int threads = omp_get_max_threads();
  md_status status = open_simulation(*m, nwords, words);
  if (status != MD_OK) {
    md_error_record record;
    md_error_save(&record, status);
    (void)close_simulation(*m, status);
    status = md_error_restore(&record);
    *m = NULL;
  }
  omp_set_num_threads(threads);
  release_lock();
  return (int)status;
}

int myriad_close(myriad *m)
{
  if (!m) return MD_OK;
  if (has_lock) return (int)refuse_within();
  take_lock();
  md_status status = md_log_status(&m->session.log);
  if (status == MD_OK && m->failed && m->comm->size > 1)
    status = md_error(MD_RUNTIME, "rank %d ended with an error of its own", m->comm->rank);
  status = close_simulation(m, status);
  release_lock();
  return (int)status;
}

void myriad_fail(myriad *m)
{
  if (m) m->failed = true;
}

/* ---- entering and leaving a call ---- */

/* What a call does: a function with its arguments. */
typedef md_status (*work)(myriad *, void *);

static md_status refuse_broken(void)
{
  return md_error(MD_USAGE,
                  "the last command that failed, a run or one that reads particles, has left particles "
                  "that are not those of a whole step or file; use the command clear to begin again");
}

/* Does the work of a call. `always`: also if the last run has failed. */
static int call(myriad *m, bool always, work function, void *arguments)
{
  if (!m) return (int)md_error(MD_USAGE, "there is no simulation: it was not opened, or is closed");
  if (has_lock) return (int)refuse_within();
  take_lock();
  const int threads = omp_get_max_threads();
  omp_set_num_threads(m->session.sim.options.threads);
  if (m->interruptible) md_stop_interrupts_begin();
  const md_status status = m->session.sim.broken && !always ? refuse_broken() : function(m, arguments);
  if (m->interruptible) md_stop_interrupts_end();
  md_log_flush(&m->session.log);
  omp_set_num_threads(threads);
  release_lock();
  return (int)status;
}

/* All ranks must ask the same. what: the function, and its text. values: n numbers that each rank gives, or NULL. */
static md_status check_same(myriad *m, const char *what, const char *text, const double *values, int64_t n)
{
  md_sim *sim = &m->session.sim;
  char asked[256];
  bool same, same_values = true;
  snprintf(asked, sizeof asked, "%s %.200s", what, text);
  MD_TRY(md_deck_is_same(sim, asked, strlen(asked), &same));
  if (same && values) MD_TRY(md_deck_is_same(sim, values, (size_t)n * sizeof *values, &same_values));
  if (same && same_values) return MD_OK;
  return md_error(MD_USAGE, "the ranks disagree: rank %d calls %s%s, and another has something else",
                  m->comm->rank, asked, same ? " with its own numbers" : "");
}

/* ---- commands ---- */

typedef struct commands {
  FILE *file;
  const char *name;
} commands;

/* A deck may have ended within a jump, or by quit: the next one begins anew. */
static void begin_anew(md_sim *sim)
{
  free(sim->script.label);
  sim->script.label = NULL;
  sim->script.quit = sim->script.pass_jump = false;
  sim->placed_error = false;
}

static md_status run_commands(myriad *m, void *arguments)
{
  const commands *c = arguments;
  begin_anew(&m->session.sim);
  return md_deck_file(&m->session.sim, c->file, c->name);
}

/* Is `clear` the only word? */
static bool is_clear(const char *text)
{
  char word[8], more[2];
  return sscanf(text, "%7s %1s", word, more) == 1 && strcmp(word, "clear") == 0;
}

static int run_text(myriad *m, const char *text, const char *name)
{
  commands c = {.name = name};
  if (!text) return refuse_null("a text of commands");
  if (*text == '\0') return MD_OK;
  char *copy = strdup(text);
  c.file = copy ? fmemopen(copy, strlen(copy), "r") : NULL;
  const int status = c.file ? call(m, is_clear(text), run_commands, &c)
                            : (int)md_error(MD_RUNTIME, "out of memory for commands");
  if (c.file) fclose(c.file);
  free(copy);
  return status;
}

int myriad_command(myriad *m, const char *line) { return run_text(m, line, "command"); }
int myriad_commands(myriad *m, const char *text) { return run_text(m, text, "commands"); }

static md_status run_file(myriad *m, void *arguments)
{
  commands *c = arguments;
  c->file = md_open_read(c->name);
  const int reason = errno;
  md_status status = MD_OK;
  if (!c->file) status = md_error(MD_RUNTIME, "cannot read the deck %s: %s", c->name, md_open_reason(reason));
  status = md_comm_agree(m->comm, status);
  if (status == MD_OK) status = run_commands(m, c);
  if (c->file) fclose(c->file);
  return status;
}

int myriad_file(myriad *m, const char *path)
{
  commands c = {.name = path};
  if (!path) return refuse_null("the name of a deck");
  return call(m, false, run_file, &c);
}

void myriad_interruptible(myriad *m, int on)
{
  if (m) m->interruptible = on != 0;
}

/* ---- numbers ---- */

typedef struct numbers {
  const char *name;
  int64_t capacity, *rows, *columns;
  double *value;
  const char **text;
} numbers;

/* Does the name begin with that of a compute which is found when it is asked for? */
static bool is_asked_for(const md_sim *sim, const char *name)
{
  return strncmp(name, "c_", 2) == 0 && md_host_compute_find(sim, name + 2, strcspn(name + 2, "[")) != NULL;
}

static md_status find_number(md_sim *sim, void *context)
{
  const numbers *n = context;
  return md_comm_agree(sim->comm, md_variables_formula(sim->variables, n->name, n->value));
}

static md_status find(md_sim *sim, const char *name, md_status (*look)(md_sim *, void *), void *arguments)
{
  return is_asked_for(sim, name) ? md_present_show(sim, look, arguments)
                                 : md_present_find(sim, look, arguments);
}

static md_status number(myriad *m, void *arguments)
{
  MD_TRY(check_same(m, "number", ((const numbers *)arguments)->name, NULL, 0));
  return find(&m->session.sim, ((const numbers *)arguments)->name, find_number, arguments);
}

int myriad_number(myriad *m, const char *formula, double *value)
{
  numbers n = {.name = formula, .value = value};
  if (!formula || !value) return refuse_null("the formula of a number, or the place of its value,");
  return call(m, false, number, &n);
}

static md_status need_room(const numbers *n)
{
  if (!n->value || *n->rows * *n->columns <= n->capacity) return MD_OK;
  return md_error(MD_USAGE, "%.80s has %lld by %lld numbers, and there is room for %lld", n->name,
                  (long long)*n->rows, (long long)*n->columns, (long long)n->capacity);
}

/* Copies columns `first` and on of an array whose columns are vectors. */
static md_status copy_columns(md_sim *sim, const numbers *n)
{
  char column[128];
  md_vector vector;
  for (int64_t c = 0; c < *n->columns; ++c) {
    snprintf(column, sizeof column, "%.100s[%lld]", n->name, (long long)c + 1);
    MD_TRY(md_value_vector(sim, column, &vector));
    *n->rows = vector.n;
    MD_TRY(need_room(n));
    for (int64_t r = 0; n->value && r < vector.n; ++r)
      n->value[r * *n->columns + c] = vector.at[r * vector.stride];
  }
  return MD_OK;
}

static md_status find_array(md_sim *sim, void *context)
{
  const numbers *n = context;
  md_vector vector;
  *n->columns = md_values_columns(sim, n->name);
  if (*n->columns > 0) return copy_columns(sim, n);
  *n->columns = 1;
  MD_TRY(md_value_vector(sim, n->name, &vector));
  const double *at = vector.at ? vector.at : vector.own;
  *n->rows = vector.n;
  MD_TRY(need_room(n));
  for (int64_t r = 0; n->value && r < vector.n; ++r) n->value[r] = at[r * vector.stride];
  return MD_OK;
}

static md_status array(myriad *m, void *arguments)
{
  md_sim *sim = &m->session.sim;
  const numbers *n = arguments;
  MD_TRY(check_same(m, n->value ? "array" : "the size of an array,", n->name, NULL, 0));
  if (!md_is_value_name(n->name))
    return md_error(MD_USAGE, "'%.80s' is no name of an array; accepted are c_ID, f_ID and v_NAME", n->name);
  return find(sim, n->name, find_array, arguments);
}

int myriad_array(myriad *m, const char *name, int64_t capacity, int64_t *rows, int64_t *columns,
                 double *value)
{
  numbers n = {.name = name, .capacity = capacity, .rows = rows, .columns = columns, .value = value};
  if (!name || !rows || !columns) return refuse_null("the name of an array, or the place of its size,");
  *rows = *columns = 0;
  return call(m, false, array, &n);
}

static md_status text_of(myriad *m, void *arguments)
{
  const numbers *n = arguments;
  char *text = NULL;
  MD_TRY(md_comm_agree(m->comm, md_variables_text(m->session.sim.variables, n->name, &text)));
  free(m->text);
  m->text = text;
  *n->text = text;
  return MD_OK;
}

int myriad_text(myriad *m, const char *name, const char **text)
{
  numbers n = {.name = name, .text = text};
  if (!name || !text) return refuse_null("the name of a variable, or the place of its text,");
  *text = NULL;
  return call(m, false, text_of, &n);
}

int64_t myriad_natoms(const myriad *m) { return m ? m->session.sim.model.natoms : 0; }
int64_t myriad_step(const myriad *m) { return m ? m->session.sim.model.step : 0; }
int myriad_rank(const myriad *m) { return m ? m->comm->rank : 0; }
int myriad_ranks(const myriad *m) { return m ? m->comm->size : 0; }

static md_status get_box(myriad *m, void *arguments)
{
  myriad_box *to = arguments;
  MD_TRY(md_sim_need_box(&m->session.sim, "the size of a box"));
  const md_box box = md_model_shown_box(&m->session.sim.model);
  *to =
      (myriad_box){.dimension = box.dim, .xy = box.tilt[MD_XY], .xz = box.tilt[MD_XZ], .yz = box.tilt[MD_YZ]};
  for (int d = 0; d < 3; ++d) {
    to->periodic[d] = box.periodic[d];
    to->lo[d] = box.lo[d];
    to->hi[d] = box.hi[d];
  }
  return MD_OK;
}

int myriad_get_box(myriad *m, myriad_box *box)
{
  return box ? call(m, false, get_box, box) : refuse_null("the place of a box");
}

/* ---- particles ---- */

typedef struct particles_call {
  const char *field;
  int columns;
  int64_t *id;
  double *get;
  const double *set;
} particles_call;

static md_status ids(myriad *m, void *arguments)
{
  return md_fields_ids(&m->session.sim, ((particles_call *)arguments)->id);
}

int myriad_ids(myriad *m, int64_t *id)
{
  particles_call c = {.id = id};
  if (lacks(m, id)) return refuse_null("the array of ids");
  return call(m, false, ids, &c);
}

static md_status gather(myriad *m, void *arguments)
{
  const particles_call *c = arguments;
  MD_TRY(check_same(m, "gather", c->field, NULL, 0));
  return md_fields_gather(&m->session.sim, c->field, c->columns, c->get);
}

int myriad_gather(myriad *m, const char *field, int columns, double *value)
{
  particles_call c = {.field = field, .columns = columns, .get = value};
  if (!field || lacks(m, value)) return refuse_null("the name of a field, or its array,");
  return call(m, false, gather, &c);
}

static md_status scatter(myriad *m, void *arguments)
{
  const particles_call *c = arguments;
  MD_TRY(check_same(m, "scatter", c->field, c->set, c->set ? c->columns * m->session.sim.model.natoms : 0));
  return md_fields_scatter(&m->session.sim, c->field, c->columns, c->set);
}

int myriad_scatter(myriad *m, const char *field, int columns, const double *value)
{
  particles_call c = {.field = field, .columns = columns, .set = value};
  if (!field || lacks(m, value)) return refuse_null("the name of a field, or its array,");
  return call(m, false, scatter, &c);
}

static md_status get_local(myriad *m, void *arguments)
{
  myriad_local *local = arguments;
  const md_particles *p = &m->session.sim.particles;
  *local = (myriad_local){.n = p->n, .id = p->id, .type = p->type};
  for (int d = 0; d < p->dim; ++d) {
    local->x[d] = p->x[d];
    local->v[d] = p->v[d];
  }
  return MD_OK;
}

int myriad_get_local(myriad *m, myriad_local *local)
{
  return local ? call(m, false, get_local, local) : refuse_null("the place of the particles");
}

/* ---- fix external ---- */

typedef struct external_call {
  const char *id;
  bool calls; /* of mode pf/callback */
  myriad_external *function;
  void *caller;
  const double *force;
  double energy;
  const double *virial;
} external_call;

/* The fix with the ID and the mode of the call. */
static md_status find_external(md_sim *sim, const external_call *c, md_fix **fix)
{
  int index;
  const md_fix_name *name = *md_sim_find_fix(sim, c->id, strlen(c->id), &index);
  if (!name || name->output || !md_fix_style_of(sim->model.fix[index].kind)->external)
    return md_error(MD_USAGE, "there is no fix external with the ID '%.64s'", c->id);
  *fix = &sim->model.fix[index];
  if (c->calls == ((*fix)->k[MD_EXTERNAL_CALLS] > 0.0)) return MD_OK;
  return md_error(MD_USAGE, "fix %s external is of mode %s, and gets %s", name->id,
                  c->calls ? "pf/array" : "pf/callback",
                  c->calls ? "an array of forces, no function" : "its forces and its energy from a function");
}

static md_status set_function(myriad *m, void *arguments)
{
  const external_call *c = arguments;
  md_fix *fix;
  MD_TRY(find_external(&m->session.sim, c, &fix));
  fix->function = c->function;
  fix->caller = c->caller;
  ++m->session.sim.history.edits; /* no restart before has this course */
  return MD_OK;
}

int myriad_fix_external(myriad *m, const char *fix, myriad_external *function, void *caller)
{
  external_call c = {.id = fix, .calls = true, .function = function, .caller = caller};
  if (!fix) return refuse_null("the ID of a fix");
  return call(m, false, set_function, &c);
}

static md_status set_forces(myriad *m, void *arguments)
{
  const external_call *c = arguments;
  md_fix *fix;
  MD_TRY(
      check_same(m, "fix_external_forces", c->id, c->force, c->force ? 3 * m->session.sim.model.natoms : 0));
  MD_TRY(find_external(&m->session.sim, c, &fix));
  return md_fields_push(&m->session.sim, c->force);
}

int myriad_fix_external_forces(myriad *m, const char *fix, const double *force)
{
  external_call c = {.id = fix, .force = force};
  if (!fix || lacks(m, force)) return refuse_null("the ID of a fix, or its array of forces,");
  return call(m, false, set_forces, &c);
}

static md_status set_energy(myriad *m, void *arguments)
{
  const external_call *c = arguments;
  md_fix *fix;
  bool finite = isfinite(c->energy);
  MD_TRY(find_external(&m->session.sim, c, &fix));
  for (int k = 0; k < MD_TENSOR && c->virial; ++k) finite = finite && isfinite(c->virial[k]);
  if (!finite) return md_error(MD_USAGE, "fix %.64s: energy and virial must be finite numbers", c->id);
  fix->state[MD_EXTERNAL_ENERGY] = c->energy;
  for (int k = 0; k < MD_TENSOR; ++k) fix->state[MD_EXTERNAL_VIRIAL + k] = c->virial ? c->virial[k] : 0.0;
  ++m->session.sim.history.edits; /* no restart before has this course */
  return MD_OK;
}

int myriad_fix_external_energy(myriad *m, const char *fix, double energy, const double *virial)
{
  external_call c = {.id = fix, .energy = energy, .virial = virial};
  if (!fix) return refuse_null("the ID of a fix");
  return call(m, false, set_energy, &c);
}
