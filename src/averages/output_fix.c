/* Output fixes: making, observing, writing and resuming them; see output_fix.h.
 *
 * The file is opened when a run starts, and begins with the title. Each text is given to the system at once, so that a
 * reader may follow the file. Rank 0 writes, as all ranks have the same text.
 */
#include "src/averages/output_fix.h"
#include "common/ranks/reductions.h"
#include "src/averages/averaging.h"
#include "src/formula/value_ranges.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const md_output_fix_style *const styles[] = {
#define MD_OUTPUT_FIX(symbol) &md_fix_##symbol##_style,
#include "src/averages/output_fixes.def"
#undef MD_OUTPUT_FIX
};
enum { STYLES = sizeof styles / sizeof styles[0] };

/* With "fix " before it, the id has room in that of the observer. */
enum { ID_LONGEST = 59 };

const md_output_fix_style *md_output_fix_style_at(int k) { return k < STYLES ? styles[k] : NULL; }

const md_output_fix_style *md_output_fix_style_find(const char *name)
{
  int k = 0;
  while (k < STYLES && strcmp(styles[k]->name, name) != 0) ++k;
  return md_output_fix_style_at(k);
}

md_status md_output_fix_copy(const char *text, char **copy)
{
  free(*copy);
  *copy = strdup(text);
  return *copy ? MD_OK : md_error(MD_RUNTIME, "out of memory for a fix");
}

md_status md_output_fix_read_title(md_output_fix *fix, const char *keyword, const char *value,
                                   const char *accepted)
{
  const int k = strncmp(keyword, "title", 5) == 0 ? keyword[5] - '1' : -1;
  if (k >= 0 && k < 3 && keyword[6] == '\0') return md_output_fix_copy(value, &fix->line[k]);
  return md_error(MD_USAGE,
                  "fix %s: unknown keyword '%.64s'; accepted are %s, title1, title2 and title3 TEXT",
                  fix->style->name, keyword, accepted);
}

md_status md_output_fix_set_title(md_output_fix *fix, int n, md_text *standard)
{
  md_text text = {0};
  md_status status = MD_OK;
  for (int line = 0; line < n; ++line) {
    if (status == MD_OK) status = md_text_status(&standard[line]);
    if (fix->line[line])
      md_text_string(&text, fix->line[line]);
    else
      md_text_add(&text, standard[line].bytes, standard[line].n);
    md_text_string(&text, "\n");
    md_text_free(&standard[line]);
  }
  md_text_add(&text, "", 1);
  if (status == MD_OK) status = md_text_status(&text);
  if (status == MD_OK) status = md_output_fix_copy(text.bytes, &fix->title);
  md_text_free(&text);
  return status;
}

/* ---- state ---- */

bool md_fix_state_reals(md_fix_state *state, int64_t n, double *value)
{
  const int64_t at = state->at;
  if (state->mode == MD_STATE_LOAD && n > state->n - at) return false;
  state->at += n;
  if (n > 0 && state->mode == MD_STATE_SAVE) memcpy(state->number + at, value, (size_t)n * sizeof *value);
  if (n > 0 && state->mode == MD_STATE_LOAD) memcpy(value, state->number + at, (size_t)n * sizeof *value);
  return true;
}

bool md_fix_state_whole(md_fix_state *state, int64_t *value)
{
  double number = (double)*value;
  if (!md_fix_state_reals(state, 1, &number)) return false;
  *value = (int64_t)number;
  return true;
}

static md_status save_state(md_output_fix *fix, md_output_mark *mark)
{
  md_fix_state state = {.mode = MD_STATE_COUNT};
  if (!fix->style->walk) return MD_OK;
  MD_TRY(fix->style->walk(fix, &state));
  MD_TRY(md_array_new(&mark->state, state.at, sizeof *mark->state, "the state of a fix"));
  mark->nstate = state.at;
  state = (md_fix_state){MD_STATE_SAVE, mark->nstate, 0, mark->state};
  return fix->style->walk(fix, &state);
}

static md_status load_state(md_output_fix *fix, const md_output_mark *mark)
{
  md_fix_state state = {MD_STATE_LOAD, mark->nstate, 0, mark->state};
  if (!fix->style->walk) return MD_OK;
  MD_TRY(fix->style->walk(fix, &state));
  if (state.at == state.n) return MD_OK;
  return md_error(MD_RUNTIME, "the restart lacks the sums of this fix; it was written by another deck");
}

/* ---- the file ---- */

static md_status put(md_output_fix *fix)
{
  MD_TRY(md_text_status(&fix->text));
  MD_TRY(md_output_write_once(fix->output, &fix->text));
  return md_output_settle(fix->output);
}

static md_status open_file(md_output_fix *fix, md_sim *sim)
{
  if (!fix->path || fix->output) return MD_OK;
  MD_TRY(md_output_open(sim->comm, &fix->output, fix->path, fix->append));
  md_text_string(&fix->text, fix->title);
  /* The first look appends the title: before it, nothing may be added to a file whose length no restart says. */
  return fix->append ? MD_OK : put(fix);
}

/* Cuts the file after the title. */
static md_status rewind_file(md_output_fix *fix, md_sim *sim)
{
  MD_TRY(md_output_close(&fix->output));
  md_status status = MD_OK;
  if (sim->comm->rank == 0 && truncate(fix->path, (off_t)strlen(fix->title)) != 0)
    status = md_error(MD_RUNTIME, "cannot cut %.500s: %s", fix->path, strerror(errno));
  MD_TRY(md_comm_agree(sim->comm, status));
  return md_output_open(sim->comm, &fix->output, fix->path, true);
}

static md_status write_text(md_output_fix *fix, md_sim *sim)
{
  if (fix->output && fix->text.n > 0) {
    if (fix->overwrite) MD_TRY(rewind_file(fix, sim));
    MD_TRY(put(fix));
  }
  fix->text.n = 0;
  return MD_OK;
}

/* ---- the observer ---- */

static md_status name_in_error(const md_output_fix *fix, md_status status)
{
  if (status != MD_OK) md_error_prefix("fix %s: ", fix->id);
  return status;
}

static int64_t due(md_observer *observer, int64_t step)
{
  const md_output_fix *fix = (const md_output_fix *)observer;
  const int64_t from = step == fix->last_step ? step + 1 : step;
  if (fix->schedule) return md_schedule_due(fix->schedule, from);
  return fix->style->due ? fix->style->due(fix, from) : INT64_MAX;
}

static int64_t due_back(md_observer *observer, int64_t step)
{
  const md_output_fix *fix = (const md_output_fix *)observer;
  if (!fix->style->due_back) return -1;
  return fix->style->due_back(fix, step == fix->last_step ? step - 1 : step);
}

static md_status start(md_observer *observer, md_sim *sim)
{
  md_output_fix *fix = (md_output_fix *)observer;
  if (fix->schedule) md_schedule_catch_up(fix->schedule, sim->model.step);
  if (fix->style->begin) fix->style->begin(fix, sim->model.step);
  observer->appends = fix->path && fix->append;
  return name_in_error(fix, open_file(fix, sim));
}

static md_status observe(md_observer *observer, md_view *view)
{
  md_output_fix *fix = (md_output_fix *)observer;
  fix->last_step = view->step;
  md_status status = fix->style->look(fix, view);
  if (status == MD_OK) status = write_text(fix, view->sim);
  return name_in_error(fix, status);
}

static md_status finish(md_observer *observer, md_sim *sim)
{
  md_output_fix *fix = (md_output_fix *)observer;
  (void)sim;
  return name_in_error(fix, fix->output ? md_output_flush(fix->output) : MD_OK);
}

static bool mark(md_observer *observer, md_output_mark *mark)
{
  md_output_fix *fix = (md_output_fix *)observer;
  struct stat about;
  snprintf(mark->id, sizeof mark->id, "%s", observer->id);
  const int length = fix->path ? snprintf(mark->file, sizeof mark->file, "%s", fix->path) : 0;
  if (length < 0 || (size_t)length >= sizeof mark->file) return false;
  mark->bytes = fix->output && fix->path && stat(fix->path, &about) == 0 ? (int64_t)about.st_size : -1;
  /* What is written anew may become shorter. */
  if (fix->overwrite && mark->bytes > 0) mark->bytes = 0;
  mark->frames = -1;
  mark->last_step = fix->last_step;
  mark->gzip = fix->output ? md_output_state(fix->output) : (md_gzip_state){.length = -1};
  return save_state(fix, mark) == MD_OK;
}

static md_status resume(md_observer *observer, md_sim *sim, const md_output_mark *mark)
{
  md_output_fix *fix = (md_output_fix *)observer;
  MD_TRY(name_in_error(fix, load_state(fix, mark)));
  fix->last_step = mark->last_step;
  if (!fix->path || strcmp(fix->path, mark->file) != 0 || mark->bytes < 0) return MD_OK;
  md_status status = MD_OK;
  if (sim->comm->rank == 0 && !fix->overwrite && truncate(fix->path, (off_t)mark->bytes) != 0)
    status = md_error(MD_RUNTIME, "cannot cut %.500s: %s", fix->path, strerror(errno));
  MD_TRY(name_in_error(fix, md_comm_agree(sim->comm, status)));
  if (fix->append && mark->last_step < 0) md_text_string(&fix->text, fix->title);
  return name_in_error(fix, md_output_resume(sim->comm, &fix->output, fix->path, &mark->gzip));
}

static void free_fix(md_output_fix *fix)
{
  if (fix->style->free) fix->style->free(fix);
  md_text_free(&fix->text);
  free(fix->path);
  free(fix->title);
  for (int line = 0; line < 3; ++line) free(fix->line[line]);
  free(fix);
}

static md_status destroy(md_observer *observer)
{
  md_output_fix *fix = (md_output_fix *)observer;
  const md_status status = name_in_error(fix, md_output_close(&fix->output));
  free_fix(fix);
  return status;
}

bool md_is_output_fix(const md_observer *observer) { return observer->destroy == destroy; }

/* ---- the list ---- */

/* After the other output fixes, and before dumps. */
static void insert(md_sim *sim, md_output_fix *fix)
{
  md_observer **at = &sim->observers;
  while (*at && md_is_output_fix(*at)) at = &(*at)->next;
  fix->observer.next = *at;
  *at = &fix->observer;
}

static md_status read_words(md_sim *sim, md_output_fix *fix, const md_words *words)
{
  md_words written;
  md_status status = md_value_ranges_write(sim, words, &written);
  if (status == MD_OK) status = fix->style->parse(fix, sim, &written);
  if (status == MD_OK && fix->schedule) md_schedule_begin(fix->schedule, sim->model.step);
  md_value_ranges_free(&written);
  MD_TRY(status);
  if (fix->overwrite && (!fix->path || strstr(fix->path, ".gz")))
    return md_error(MD_USAGE, "fix %s overwrite needs a file, and one that is not gzipped", fix->style->name);
  /* For a frame a fix counts, and writes nothing. */
  if (sim->frame) {
    free(fix->path);
    fix->path = NULL;
  }
  if (!fix->path) return MD_OK;
  return md_sim_use_file(sim, MD_FILE_FIX, fix->id, fix->path);
}

/* Makes a fix that is not in the list. */
static md_status make(md_sim *sim, const md_output_fix_style *style, const char *id, int group,
                      const md_words *words, md_output_fix **made)
{
  md_output_fix *fix = calloc(1, style->size);
  if (!fix) return md_error(MD_RUNTIME, "out of memory for fix %s", id);
  if (strlen(id) > ID_LONGEST) {
    free(fix);
    return md_error(MD_USAGE, "the ID of a fix %s has at most %d letters, not '%.80s'", style->name,
                    ID_LONGEST, id);
  }
  fix->style = style;
  fix->last_step = -1;
  fix->made_at = sim->model.step;
  fix->runs = sim->history.nrun;
  snprintf(fix->id, sizeof fix->id, "%s", id);
  snprintf(fix->observer.id, sizeof fix->observer.id, "fix %.59s", id);
  fix->observer.group = group;
  fix->observer.due = due;
  fix->observer.due_back = due_back;
  fix->observer.start = start;
  fix->observer.observe = observe;
  fix->observer.finish = finish;
  fix->observer.mark = mark;
  fix->observer.resume = resume;
  fix->observer.destroy = destroy;
  const md_status status = read_words(sim, fix, words);
  if (status != MD_OK) {
    md_file_unuse(sim->files, MD_FILE_FIX, id);
    free_fix(fix);
    return status;
  }
  *made = fix;
  return MD_OK;
}

md_status md_output_fix_new(md_sim *sim, const md_output_fix_style *style, const char *id, int group,
                            const md_words *words)
{
  md_output_fix *fix;
  MD_TRY(make(sim, style, id, group, words, &fix));
  insert(sim, fix);
  return MD_OK;
}

/* Takes the fix out of the list. Returns the link where it was. */
static md_observer **take_out(md_sim *sim, md_output_fix *fix)
{
  md_observer **at = &sim->observers;
  while (*at != &fix->observer) at = &(*at)->next;
  *at = fix->observer.next;
  md_file_unuse(sim->files, MD_FILE_FIX, fix->id);
  return at;
}

static void put_back(md_observer **at, md_output_fix *fix)
{
  fix->observer.next = *at;
  *at = &fix->observer;
}

md_status md_output_fix_replace(md_sim *sim, md_output_fix *old, int group, const md_words *words)
{
  md_output_fix *fix;
  md_error_record why;
  md_observer **at = take_out(sim, old);
  const md_status status = make(sim, old->style, old->id, group, words, &fix);
  if (status == MD_OK) {
    put_back(at, fix);
    return destroy(&old->observer);
  }
  put_back(at, old);
  md_error_save(&why, status);
  /* No other use can have taken the file meanwhile. */
  if (old->path) MD_TRY(md_sim_use_file(sim, MD_FILE_FIX, old->id, old->path));
  return md_error_restore(&why);
}

md_output_fix *md_output_fix_find(const md_sim *sim, const char *id, size_t n)
{
  for (md_observer *o = sim->observers; o && md_is_output_fix(o); o = o->next) {
    md_output_fix *fix = (md_output_fix *)o;
    if (strlen(fix->id) == n && memcmp(fix->id, id, n) == 0) return fix;
  }
  return NULL;
}

md_output_fix *md_output_fix_each(const md_sim *sim, const char *name, int *column)
{
  md_output_fix *fix = NULL;
  if (strncmp(name, "f_", 2) == 0) fix = md_output_fix_find(sim, name + 2, strcspn(name + 2, "["));
  if (!fix || !fix->each) return NULL;
  const char *bracket = strchr(name, '[');
  char *end = NULL;
  const long k = bracket ? strtol(bracket + 1, &end, 10) : 1;
  if (bracket ? strcmp(end, "]") != 0 || k < 1 || k > fix->each->columns : fix->each->columns > 1)
    return NULL;
  *column = (int)k - 1;
  return fix;
}

md_status md_output_fix_remove(md_sim *sim, md_output_fix *fix)
{
  (void)take_out(sim, fix);
  return destroy(&fix->observer);
}

/* ---- jumps ---- */

bool md_output_fixes_keep_step(const md_sim *sim)
{
  for (const md_observer *o = sim->observers; o && md_is_output_fix(o); o = o->next)
    if (((const md_output_fix *)o)->style->keeps_step) return true;
  return false;
}

/* The mark of the fix among n; NULL: there is none. */
static const md_output_mark *mark_of(const md_output_fix *fix, const md_output_mark *mark, int64_t n)
{
  int64_t k = 0;
  while (k < n && strcmp(mark[k].id, fix->observer.id) != 0) ++k;
  return k < n && mark[k].nstate > 0 ? &mark[k] : NULL;
}

md_status md_output_fixes_check_jump(const md_sim *sim, int64_t nrun, const md_output_mark *mark, int64_t n)
{
  for (const md_observer *o = sim->observers; o && md_is_output_fix(o); o = o->next) {
    const md_output_fix *fix = (const md_output_fix *)o;
    if (fix->style->keeps_step && (fix->runs >= nrun || !mark_of(fix, mark, n)))
      return md_error(MD_USAGE, "it does not hold the sums of fix %s (%s)", fix->id, fix->style->name);
  }
  return MD_OK;
}

md_status md_output_fixes_jump(md_sim *sim, const md_output_mark *mark, int64_t n)
{
  for (md_observer *o = sim->observers; o && md_is_output_fix(o); o = o->next) {
    md_output_fix *fix = (md_output_fix *)o;
    const md_output_mark *then = mark_of(fix, mark, n);
    if (!fix->style->keeps_step || !then) continue;
    MD_TRY(name_in_error(fix, load_state(fix, then)));
    fix->last_step = then->last_step;
  }
  return MD_OK;
}

md_status md_output_fixes_reset(md_sim *sim, const char *command, int64_t step)
{
  for (md_observer *o = sim->observers; o && md_is_output_fix(o); o = o->next) {
    const md_output_fix *fix = (const md_output_fix *)o;
    if (fix->style->keeps_step && (fix->last_step >= 0 || fix->made_at != sim->model.step))
      return md_error(MD_USAGE,
                      "%s: this changes the step, and fix %s (%s) needs steps that follow each other: unfix "
                      "it before, or give it after",
                      command, fix->id, fix->style->name);
  }
  for (md_observer *o = sim->observers; o && md_is_output_fix(o); o = o->next) {
    md_output_fix *fix = (md_output_fix *)o;
    if (fix->schedule) md_schedule_begin(fix->schedule, step);
    if (fix->style->keeps_step && fix->style->begin) fix->style->begin(fix, step);
    if (fix->style->shift) fix->style->shift(fix, step - sim->model.step);
    /* Another step than the last look, also if it has the same number. */
    if (fix->last_step >= 0) fix->last_step = INT64_MAX;
    fix->made_at = step;
  }
  return MD_OK;
}
