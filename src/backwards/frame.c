/* One frame of the trajectory of a deck; see frame.h. */
#include "src/backwards/frame.h"
#include "src/backwards/check_back.h"
#include "src/backwards/nearest.h"
#include "src/deck/deck.h"
#include "src/dump/dump.h"

#include <stdlib.h>
#include <string.h>

static bool is_between(int64_t step, int64_t a, int64_t b)
{
  return a <= b ? a <= step && step <= b : b <= step && step <= a;
}

bool md_frame_is_in(const md_still *still, int64_t first, int64_t last)
{
  return is_between(still->step, first, last);
}

/* Where the words of a dump custom, or of a write_dump custom, have the file's name; NULL: they are another command. */
static char **file_of_custom(const md_words *words)
{
  const bool lasts = strcmp(words->word[0], "dump") == 0;
  const int style = lasts ? 3 : 2, file = lasts ? 5 : 3;
  if (!lasts && strcmp(words->word[0], "write_dump") != 0) return NULL;
  return file < words->n && strcmp(words->word[style], "custom") == 0 ? &words->word[file] : NULL;
}

bool md_frame_keeps(md_sim *sim, const md_words *words)
{
  static char nothing[] = "/dev/null";
  const bool modifies = strcmp(words->word[0], "dump_modify") == 0 || strcmp(words->word[0], "undump") == 0;
  for (const md_observer *o = sim->observers; o && modifies; o = o->next)
    if (strcmp(o->id, words->word[1]) == 0) return true;
  bool reads = false;
  for (int k = 1; k < words->n; ++k) reads = reads || strstr(words->word[k], "v_");
  if (!reads || !strstr(words->word[0], "dump")) return false;
  char **file = file_of_custom(words);
  if (file)
    *file = nothing;
  else
    md_variables_hide_draws(sim->variables);
  return file != NULL;
}

/* Did a fix have sums, which count on steps that go up? */
static bool has_sums(const md_restart *r)
{
  for (int64_t k = 0; k < r->noutput; ++k)
    if (r->output[k].nstate > 0) return true;
  return false;
}

/* Does a way lead from the restart to the step? */
static bool leads_there(const md_sim *sim, const md_restart *r, int64_t to)
{
  const md_history *h = &r->history;
  const md_run_record *last = &h->run[h->nrun - 1];
  for (int64_t k = 0; k + 1 < h->nrun; ++k)
    if (is_between(to, h->run[k].first, h->run[k].last)) return false;
  if (md_resume_holds(r, to)) return true;
  if (is_between(to, last->first, last->last)) return md_nearest_is_reversible(sim, r) && !has_sums(r);
  return last->first <= last->last && to > last->last;
}

int64_t md_frame_cost(const md_sim *sim, const md_restart *r)
{
  const int64_t to = sim->frame->step;
  if (!leads_there(sim, r, to)) return INT64_MAX;
  const int64_t away = llabs(to - r->model.step), reading = md_nearest_reading(sim);
  const int64_t whole = llabs(to - r->history.run[0].first);
  return whole > reading && away < whole - reading ? away + reading : INT64_MAX;
}

/* Does the name end in `end`, perhaps with .gz after? */
static bool ends_in(const char *name, const char *end)
{
  size_t n = strlen(name);
  const size_t m = strlen(end);
  if (n >= 3 && strcmp(name + n - 3, ".gz") == 0) n -= 3;
  return n >= m && strncmp(name + n - m, end, m) == 0;
}

static bool is_data(const md_still *still)
{
  return still->output.n == 1 && ends_in(still->output.word[0], ".data");
}

/* What stands after the file name, for a file whose name says its format. */
static const char *style_of(const char *file)
{
  static const char *const known[][2] = {{".xyz", "extxyz"},
                                         {".extxyz", "extxyz"},
                                         {".h5", "h5md position velocity"},
                                         {".png", "image type type"},
                                         {".ppm", "image type type"}};
  for (size_t k = 0; k < sizeof known / sizeof known[0]; ++k)
    if (ends_in(file, known[k][0])) return known[k][1];
  return "custom id type x y z vx vy vz";
}

/* Makes the dump of a style and its arguments, {style, arguments ...}, for the group all. */
static md_status add_styled(md_sim *sim, const md_still *still, const md_words *styled)
{
  static char all[] = "all";
  md_words words = {styled->n + 2, NULL};
  MD_TRY(md_array_new(&words.word, words.n, sizeof *words.word, "the words of a frame"));
  words.word[0] = all;
  words.word[1] = styled->word[0];
  words.word[2] = still->output.word[0];
  for (int k = 1; k < styled->n; ++k) words.word[k + 2] = styled->word[k];
  const md_status status = md_dump_once(sim, &words, still->step);
  free(words.word);
  return status;
}

/* MD_USAGE: a picture or a film is asked for by its name, in a format that is not here. */
static md_status check_format(const char *file)
{
  static const char *const others[] = {".jpg", ".jpeg", ".gif", ".tif", ".tiff",
                                       ".bmp", ".pdf",  ".svg", ".mp4", ".avi"};
  for (size_t k = 0; k < sizeof others / sizeof others[0]; ++k)
    if (ends_in(file, others[k]))
      return md_error(MD_USAGE, "myriad frame: %s: pictures are .png or .ppm", file);
  return MD_OK;
}

static md_status add_dump(md_sim *sim, const md_still *still)
{
  MD_TRY(check_format(still->output.word[0]));
  if (still->output.n > 1)
    return add_styled(sim, still, &(md_words){still->output.n - 1, still->output.word + 1});
  char text[64];
  md_words words = {0};
  snprintf(text, sizeof text, "%s", style_of(still->output.word[0]));
  md_status status = md_words_split(text, &words);
  if (status == MD_OK) status = add_styled(sim, still, &words);
  free(words.word);
  return status;
}

md_status md_frame_begin(md_sim *sim, int64_t *from)
{
  md_still *still = sim->frame;
  *from = sim->resume ? sim->resume->restart.model.step : sim->model.step;
  const long long steps = llabs(still->step - *from);
  if (still->step < *from) MD_TRY(md_check_back(sim, "myriad frame"));
  md_log_print(sim->log, "Frame of step %lld: from %s, step %lld, %lld steps %s\n", (long long)still->step,
               sim->resume ? sim->resume->path : "the beginning of the run", (long long)*from, steps,
               still->step < *from ? "back" : "forward");
  if (is_data(still) || still->added) return MD_OK;
  still->added = true;
  return add_dump(sim, still);
}

md_status md_frame_end(md_sim *sim)
{
  md_still *still = sim->frame;
  if (sim->model.step != still->step) return MD_OK; /* fix halt has ended this run before it */
  if (is_data(still)) MD_TRY(md_do_write_data(sim, &still->output));
  still->done = sim->script.quit = true;
  return MD_OK;
}

md_status md_frame_check(const md_sim *sim)
{
  if (sim->frame->done) return MD_OK;
  return md_error(MD_USAGE, "myriad frame: no run of this deck has step %lld; it ends at step %lld",
                  (long long)sim->frame->step, (long long)sim->model.step);
}
