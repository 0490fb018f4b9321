/* The observer of every dump, and the commands dump, undump and write_dump; see dump.h.
 *
 * Frames are written at the steps divisible by N, as in LAMMPS. Each step is written once, even if one run ends
 * and the next begins with it. `dump_modify first yes` adds the step at which the first run starts.
 *
 * A file name with * makes one file for each frame. Otherwise the file is opened when a run starts, before any
 * step is computed. It stays open over the runs of a deck, and is flushed at the end of each run. All ranks write
 * into one file (src/files/output_stream.h).
 */
#include "src/dump/dump.h"
#include "common/base/name_list.h"
#include "common/ranks/reductions.h"
#include "src/dump/elements.h"
#include "src/files/step_name.h"
#include "src/group/groups.h"
#include "src/steps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static const md_dump_style *const styles[] = {
#define MD_DUMP_STYLE(name) &md_dump_##name,
#include "src/dump/dump_styles.def"
#undef MD_DUMP_STYLE
};

enum { STYLES = sizeof styles / sizeof styles[0] };

static int64_t due(md_observer *observer, int64_t step)
{
  const md_dump *dump = (const md_dump *)observer;
  if (dump->only >= 0) return step <= dump->only && dump->last_step < 0 ? dump->only : INT64_MAX;
  if (dump->show_first && dump->last_step < 0 && step <= dump->run_start) return dump->run_start;
  if (dump->frames.variable[0]) return step > dump->frames.next ? step : dump->frames.next;
  return md_step_multiple_but(step, dump->frames.every, dump->last_step);
}

static int64_t due_back(md_observer *observer, int64_t step)
{
  const md_dump *dump = (const md_dump *)observer;
  if (dump->only >= 0) return step >= dump->only && dump->last_step < 0 ? dump->only : -1;
  if (dump->show_first && dump->last_step < 0 && step >= dump->run_start) return dump->run_start;
  return md_step_multiple_back(step, dump->frames.every, dump->last_step);
}

/* Is one file open during runs? The only frame of a dump has a file of its own, so that a run that ends before it
 * leaves no empty one. */
static bool has_stream(const md_dump *dump)
{
  return !dump->style->draw && !strchr(dump->path, '*') && dump->only < 0;
}

static md_status open_files(md_dump *dump, md_sim *sim, int64_t step)
{
  if (dump->output) return MD_OK;
  if (has_stream(dump)) return md_output_open(sim->comm, &dump->output, dump->path, dump->append);
  if (sim->comm->rank != 0) return MD_OK;
  char *path;
  MD_TRY(md_step_name(dump->path, step, dump->pad, &path));
  const md_status status = md_output_check_path(path);
  free(path);
  return status;
}

/* Puts the dump's name in front of an error message, and gives all ranks the same status. */
static md_status agree(md_dump *dump, md_sim *sim, md_status status)
{
  if (status != MD_OK) md_error_prefix("dump %s: ", dump->observer.id);
  return md_comm_agree(sim->comm, status);
}

/* No restart says how long a file of one step was that was there before. */
static md_status check(md_observer *observer, md_sim *sim)
{
  md_dump *dump = (md_dump *)observer;
  if (sim->resuming && dump->append && strchr(dump->path, '*'))
    return md_error(
        MD_USAGE,
        "dump %s: with --resume, a frame would be twice in a file %.300s that was there before: leave "
        "`append yes` out",
        observer->id, dump->path);
  return md_dump_check_columns(dump, sim);
}

static md_status start(md_observer *observer, md_sim *sim)
{
  md_dump *dump = (md_dump *)observer;
  dump->run_start = sim->model.step;
  observer->appends = dump->append && !strchr(dump->path, '*');
  md_status status = md_output_steps_next(sim, "dump_modify every", &dump->frames);
  if (status == MD_OK) status = open_files(dump, sim, dump->run_start);
  return agree(dump, sim, status);
}

int64_t md_dump_count(const md_dump *dump, const md_model *model)
{
  return md_model_group_count(model, dump->observer.group);
}

md_status md_dump_rows(const md_dump *dump, md_view *view, md_rows *rows, int32_t **chosen)
{
  const md_particles *p = &view->sim->particles;
  *chosen = NULL;
  MD_TRY(md_view_order(view));
  *rows = (md_rows){p, p->n, view->order, md_dump_wants_forces(dump) ? view->force : NULL, 0, NULL};
  if (dump->observer.group == 0) return MD_OK;
  MD_TRY(md_array_new(chosen, p->n, sizeof **chosen, "the particles of a group"));
  rows->n = 0;
  for (int64_t k = 0; k < p->n; ++k)
    if (p->group[view->order[k]] & md_group_bit(dump->observer.group)) (*chosen)[rows->n++] = view->order[k];
  rows->order = *chosen;
  return MD_OK;
}

static md_status write_rows(md_dump *dump, md_view *view, const md_rows *rows, int64_t count,
                            const char *path)
{
  md_sim *sim = view->sim;
  const md_frame frame = {.model = &sim->model,
                          .rows = *rows,
                          .in_run = view->engine != NULL,
                          .step = view->step,
                          .count = count};
  const int threads = sim->options.threads;
  if (dump->output) return md_dump_write_frame(dump, &frame, sim->comm, threads, dump->output);
  md_output *output;
  MD_TRY(md_output_open(sim->comm, &output, path, dump->append));
  const md_status status = md_dump_write_frame(dump, &frame, sim->comm, threads, output);
  return md_output_end(&output, status);
}

/* The number of rows in the first line of a file of frames; -1: it has no such line. */
static int64_t rows_of_file(const char *path)
{
  char line[64], *end = line;
  gzFile file = gzopen(path, "rb");
  const bool read = file && gzgets(file, line, sizeof line);
  const long long rows = read ? strtoll(line, &end, 10) : -1;
  if (file) gzclose(file);
  return end > line ? rows : -1;
}

/* A format that says once how many rows all frames have. Collective. */
static md_status check_rows(md_dump *dump, md_comm *comm, int64_t count)
{
  if (!dump->style->same_rows || !dump->output) return MD_OK;
  if (md_output_empty(dump->output)) dump->rows = count;
  if (dump->rows < 0) {
    double rows = comm->rank == 0 ? (double)rows_of_file(dump->path) : -1.0;
    MD_TRY(comm->reduce->max(comm, &rows, 1));
    dump->rows = (int64_t)rows;
  }
  if (dump->rows == count) return MD_OK;
  return md_error(
      MD_RUNTIME,
      "cannot add to %.500s: its frames have %lld particles, and this one %lld; with a * in its name each "
      "frame has a file of its own",
      dump->path, (long long)dump->rows, (long long)count);
}

static md_status write_text(md_dump *dump, md_view *view, const char *path)
{
  md_rows rows;
  int32_t *chosen;
  int64_t count;
  md_status status = md_dump_select(dump, view, &rows, &chosen, &count);
  if (!dump->sorted && !chosen) rows.order = NULL;
  if (status == MD_OK) status = check_rows(dump, view->sim->comm, count);
  if (status == MD_OK) status = write_rows(dump, view, &rows, count, path);
  md_dump_forget_named(dump);
  free(chosen);
  return status;
}

static md_status observe(md_observer *observer, md_view *view)
{
  md_dump *dump = (md_dump *)observer;
  md_sim *sim = view->sim;
  if (!dump->style->draw) MD_TRY(md_view_particles(view));
  if (md_dump_wants_forces(dump)) MD_TRY(md_view_forces(view));
  char *path = NULL;
  md_status status = agree(dump, sim, md_step_name(dump->path, view->step, dump->pad, &path));
  if (status == MD_OK)
    status = agree(dump, sim,
                   dump->style->draw ? dump->style->draw(dump, view, path) : write_text(dump, view, path));
  free(path);
  MD_TRY(status);
  dump->last_step = view->step;
  return agree(dump, sim, md_output_steps_next(sim, "dump_modify every", &dump->frames));
}

static md_status finish(md_observer *observer, md_sim *sim)
{
  md_dump *dump = (md_dump *)observer;
  return agree(dump, sim, dump->output ? md_output_flush(dump->output) : MD_OK);
}

static bool mark(md_observer *observer, md_output_mark *mark)
{
  const md_dump *dump = (const md_dump *)observer;
  struct stat about;
  snprintf(mark->id, sizeof mark->id, "%s", observer->id);
  if ((size_t)snprintf(mark->file, sizeof mark->file, "%s", dump->path) >= sizeof mark->file) return false;
  mark->bytes = dump->output && stat(dump->path, &about) == 0 ? (int64_t)about.st_size : -1;
  mark->frames = dump->style->count ? dump->style->count(dump) : -1;
  mark->last_step = dump->last_step;
  mark->gzip = dump->output ? md_output_state(dump->output) : (md_gzip_state){.length = -1};
  return true;
}

/* Cuts off the frames after the restart, because the resumed run writes them again. */
static md_status resume(md_observer *observer, md_sim *sim, const md_output_mark *mark)
{
  md_dump *dump = (md_dump *)observer;
  if (strcmp(dump->path, mark->file) == 0 || sim->frame) dump->last_step = mark->last_step;
  if (strcmp(dump->path, mark->file) != 0) return MD_OK;
  if (dump->style->resume) return agree(dump, sim, dump->style->resume(dump, sim, mark));
  if (!has_stream(dump) || mark->bytes < 0) return MD_OK;
  dump->append = true;
  md_status status = MD_OK;
  if (sim->comm->rank == 0 && truncate(dump->path, (off_t)mark->bytes) != 0)
    status = md_error(MD_RUNTIME, "cannot cut %.500s: %s", dump->path, strerror(errno));
  MD_TRY(agree(dump, sim, status));
  return agree(dump, sim, md_output_resume(sim->comm, &dump->output, dump->path, &mark->gzip));
}

/* Ends the files of a dump. The first error is the one to report. */
static md_status close_files(md_dump *dump)
{
  const md_status status = md_output_close(&dump->output);
  md_error_record first;
  md_error_save(&first, status);
  const md_status own = dump->style && dump->style->close ? dump->style->close(dump) : MD_OK;
  return status != MD_OK ? md_error_restore(&first) : own;
}

static void free_dump(md_dump *dump)
{
  free(dump->path);
  free(dump->column);
  free(dump->element);
  free(dump->threshold);
  for (int k = 0; k < dump->named.n; ++k) free(dump->named.name[k]);
  free(dump->named.name);
  free(dump->named.value);
  free(dump);
}

static md_status destroy(md_observer *observer)
{
  md_dump *dump = (md_dump *)observer;
  const md_status status = close_files(dump);
  if (status != MD_OK) md_error_prefix("dump %s: ", observer->id);
  free_dump(dump);
  return status;
}

/* Destroys a dump after an error, which remains the one to report. */
static void drop(md_dump *dump)
{
  md_error_record before;
  md_error_save(&before, MD_OK);
  if (destroy(&dump->observer) != MD_OK) (void)md_error_restore(&before);
}

static bool is_dump(const md_observer *observer) { return observer->destroy == destroy; }

bool md_dump_needs_rise(const md_observer *observer)
{
  const md_dump *dump = (const md_dump *)observer;
  return is_dump(observer) && dump->style->rises && !strchr(dump->path, '*');
}

static bool ends_in(const char *path, const char *suffix)
{
  const size_t n = strlen(path), m = strlen(suffix);
  return n >= m && strcmp(path + n - m, suffix) == 0;
}

/* LAMMPS's styles NAME/gz and NAME/mpiio write what NAME does here: into one file, and compressed by its name. */
static md_status find_style(const char *name, const md_dump_style **style)
{
  char accepted[256] = "";
  const size_t n = strlen(name) - (ends_in(name, "/gz")      ? strlen("/gz")
                                   : ends_in(name, "/mpiio") ? strlen("/mpiio")
                                                             : 0);
  for (int s = 0; s < STYLES; ++s) {
    *style = styles[s];
    if (strlen(styles[s]->name) == n && memcmp(name, styles[s]->name, n) == 0) return MD_OK;
    md_name_list_add(accepted, sizeof accepted, ", ", styles[s]->name);
  }
  return md_error(MD_USAGE, "dump: unknown style '%.80s'; accepted are %s", name, accepted);
}

static md_status check_path(const md_dump *dump)
{
  const char *path = dump->path;
  const char *star = strchr(path, '*');
  if (path[0] == '\0') return md_error(MD_USAGE, "dump: the file name is empty");
  if (star && strchr(star + 1, '*'))
    return md_error(MD_USAGE, "dump: file name '%.300s' has more than one *", path);
  if (strchr(path, '%'))
    return md_error(
        MD_USAGE,
        "dump: file name '%.300s' has a %%; a file per processor is not offered, all write into one", path);
  if (ends_in(path, ".bin") || ends_in(path, ".zst"))
    return md_error(
        MD_USAGE,
        "dump: file name '%.300s' asks for a binary or zstd file; accepted are text, and gzip by .gz", path);
  if (dump->style == &md_dump_density && !ends_in(path, ".png") && !ends_in(path, ".txt") &&
      !ends_in(path, ".h5"))
    return md_error(MD_USAGE, "dump density: file name '%.300s' must end in .png, .txt or .h5", path);
  if (dump->style == &md_dump_h5md && ends_in(path, ".gz"))
    return md_error(MD_USAGE, "dump h5md: file name '%.300s' asks for gzip, which HDF5 files are not", path);
  return MD_OK;
}

/* words: ID all STYLE N FILE arguments... */
static md_status read_words(md_sim *sim, const md_words *words, md_dump *dump)
{
  if (strlen(words->word[0]) >= sizeof dump->observer.id)
    return md_error(MD_USAGE, "dump: the id '%.80s' is longer than %zu characters", words->word[0],
                    sizeof dump->observer.id - 1);
  snprintf(dump->observer.id, sizeof dump->observer.id, "%s", words->word[0]);
  MD_TRY(md_group_find(sim, words->word[1], &dump->observer.group));
  MD_TRY(find_style(words->word[2], &dump->style));
  MD_TRY(md_word_int64(words->word[3], "the number of steps between dump frames", 1, INT64_MAX,
                       &dump->frames.every));
  dump->path = strdup(words->word[4]);
  dump->ntypes = sim->model.ntypes;
  dump->element = calloc((size_t)dump->ntypes + 1, sizeof *dump->element);
  if (!dump->path || !dump->element) return md_error(MD_RUNTIME, "dump: out of memory");
  for (int t = 1; t <= dump->ntypes; ++t)
    snprintf(dump->element[t], sizeof dump->element[t], "%s", md_element_default(t));
  MD_TRY(check_path(dump));
  if (ends_in(words->word[2], "/gz") && !ends_in(dump->path, ".gz"))
    return md_error(MD_USAGE, "dump %s: the file name must end in .gz, not '%.300s'", words->word[2],
                    dump->path);
  const md_words rest = {words->n - 5, words->word + 5};
  return dump->style->parse(dump, sim, &rest);
}

/* Makes a dump of the words ID GROUP STYLE N FILE arguments... The caller owns *dump. */
static md_status new_dump(md_sim *sim, const md_words *words, md_dump **dump)
{
  md_dump *made = calloc(1, sizeof *made);
  if (!made) return md_error(MD_RUNTIME, "dump: out of memory");
  *made = (md_dump){.sorted = true,
                    .furniture = true,
                    .precision = MD_DIGITS_MAX,
                    .last_step = -1,
                    .only = -1,
                    .rows = -1,
                    .nframes = -1};
  made->observer.due = due;
  made->observer.due_back = due_back;
  made->observer.check = check;
  made->observer.start = start;
  made->observer.observe = observe;
  made->observer.finish = finish;
  made->observer.mark = mark;
  made->observer.resume = resume;
  made->observer.destroy = destroy;
  const md_status status = read_words(sim, words, made);
  *dump = made;
  if (status == MD_OK) return MD_OK;
  drop(made);
  *dump = NULL;
  return status;
}

md_status md_do_dump(md_sim *sim, const md_words *words)
{
  md_dump *dump;
  MD_TRY(md_sim_need_box(sim, "dump"));
  for (const md_observer *o = sim->observers; o; o = o->next)
    if (strcmp(o->id, words->word[0]) == 0)
      return md_error(MD_USAGE, "dump: the id %s is in use; choose another, or undump it first", o->id);
  MD_TRY(new_dump(sim, words, &dump));
  const md_status status = md_sim_use_file(sim, MD_FILE_DUMP, dump->observer.id, dump->path);
  if (status != MD_OK) {
    drop(dump);
    return status;
  }
  md_sim_append_observer(sim, &dump->observer);
  return MD_OK;
}

/* ---- write_dump ---- */

static md_status write_present(md_sim *sim, md_dump *dump)
{
  md_view view = {.sim = sim, .step = sim->model.step};
  MD_TRY(md_sim_use_file(sim, MD_FILE_WRITE_DUMP, NULL, dump->path));
  md_status status = start(&dump->observer, sim);
  if (status == MD_OK) status = observe(&dump->observer, &view);
  if (status == MD_OK) status = finish(&dump->observer, sim);
  md_view_close(&view);
  return status;
}

/* Makes the dump of the words of write_dump, without those from `modify` on. */
static md_status dump_of_words(md_sim *sim, const md_words *words, int n, md_dump **dump)
{
  static char id[] = "write_dump", every[] = "1";
  char **word;
  MD_TRY(md_array_new(&word, n + 2, sizeof *word, "the words of write_dump"));
  word[0] = id;
  word[1] = words->word[0];
  word[2] = words->word[1];
  word[3] = every;
  for (int k = 2; k < n; ++k) word[k + 2] = words->word[k];
  const md_status status = new_dump(sim, &(md_words){n + 2, word}, dump);
  free(word);
  return status;
}

/* The same with all words: those after `modify` are words of dump_modify. */
static md_status modified_dump(md_sim *sim, const md_words *words, md_dump **dump)
{
  int n = 3;
  while (n < words->n && strcmp(words->word[n], "modify") != 0) ++n;
  MD_TRY(dump_of_words(sim, words, n, dump));
  if (n + 1 >= words->n) return MD_OK;
  const md_status status = md_dump_change(sim, *dump, &(md_words){words->n - n - 1, words->word + n + 1});
  if (status != MD_OK) drop(*dump);
  return status;
}

md_status md_do_write_dump(md_sim *sim, const md_words *words)
{
  md_dump *dump;
  MD_TRY(md_sim_need_box(sim, "write_dump"));
  MD_TRY(modified_dump(sim, words, &dump));
  const md_status status = sim->planning.on ? MD_OK : write_present(sim, dump);
  if (status == MD_OK) return md_comm_agree(sim->comm, destroy(&dump->observer));
  drop(dump);
  return status;
}

md_status md_dump_once(md_sim *sim, const md_words *words, int64_t step)
{
  md_dump *dump;
  MD_TRY(modified_dump(sim, words, &dump));
  dump->only = step;
  md_sim_append_observer(sim, &dump->observer);
  return md_sim_use_file(sim, MD_FILE_WRITE_DUMP, NULL, dump->path);
}

md_status md_dump_find(md_sim *sim, const char *id, md_dump **dump)
{
  char known[512] = "";
  for (md_observer *o = sim->observers; o; o = o->next) {
    if (!is_dump(o)) continue;
    *dump = (md_dump *)o;
    if (strcmp(o->id, id) == 0) return MD_OK;
    md_name_list_add(known, sizeof known, " ", o->id);
  }
  return md_error(MD_USAGE, "there is no dump '%.80s'; dumps are: %s", id, known[0] ? known : "none");
}

md_status md_do_undump(md_sim *sim, const md_words *words)
{
  md_dump *dump;
  MD_TRY(md_dump_find(sim, words->word[0], &dump));
  md_observer **at = &sim->observers;
  while (*at != &dump->observer) at = &(*at)->next;
  *at = dump->observer.next;
  const md_status status = close_files(dump);
  if (status != MD_OK) md_error_prefix("undump %s: ", words->word[0]);
  md_file_unuse(sim->files, MD_FILE_DUMP, words->word[0]);
  free_dump(dump);
  return status;
}
