/* Reads a deck and runs its commands; see deck.h.
 *
 * 1. The source on top of the stack (src/script/source.h) gives the next command.
 * 2. The comment is removed.
 * 3. Variables are replaced (src/formula/variable.h). This comes before splitting, so that a variable may hold several
 *    words. Text inside quotes is not changed.
 * 4. The text is split into words.
 * 5. The handler from the command table gets the words, after their number was checked. The handler may choose the
 *    way through the deck (src/script/script.h).
 *
 * This is the order of LAMMPS ("Parsing rules for input scripts" in its manual), with two differences. A quote
 * opens only at the beginning of a word, so don't and 5' are plain words. A line that cannot be understood is an
 * error.
 *
 * Time and memory are proportional to the longest command, which is at most 1 MiB. Longer input is refused while
 * it is read.
 */
#include "src/deck/deck.h"
#include "common/ranks/reductions.h"
#include "src/backwards/frame.h"
#include "src/deck/check.h"
#include "src/deck/quote.h"
#include "src/deck/suffix.h"
#include "src/restart/resume.h"
#include "src/script/glance.h"

#include <stdlib.h>
#include <string.h>

/* Length of the UTF-8 character at `at`; 0: the bytes are not UTF-8. */
static size_t utf8_length(const unsigned char *at)
{
  const size_t length = *at < 0x80                  ? 1
                        : *at >= 0xc2 && *at < 0xe0 ? 2
                        : *at >= 0xe0 && *at < 0xf0 ? 3
                        : *at >= 0xf0 && *at < 0xf5 ? 4
                                                    : 0;
  for (size_t k = 1; k < length; ++k)
    if ((at[k] & 0xc0) != 0x80) return 0;
  return length;
}

static md_status check_text(const char *text)
{
  for (const unsigned char *at = (const unsigned char *)text; *at;) {
    const size_t length = utf8_length(at);
    if (length == 0) return md_error(MD_USAGE, "byte 0x%02x is not text in UTF-8: is this file a deck?", *at);
    at += length;
  }
  return MD_OK;
}

/* Takes the word that begins at `at`. *word is its text without quotes, ended with NUL; *after is the place after
 * it. */
static md_status take_word(char *text, char *at, char **word, char **after)
{
  const size_t mark = md_quote_mark(text, at);
  char *end;
  if (mark == 0) {
    end = at;
    while (*end && !md_is_blank(*end)) ++end;
    *word = at;
    *after = *end ? end + 1 : end;
    *end = '\0';
    return MD_OK;
  }
  const char *closed = md_quote_end(at, mark);
  if (!closed) return md_error(MD_USAGE, "the quote before '%.32s' is never closed", at + mark);
  end = at + (closed - at);
  if (*end && !md_is_blank(*end))
    return md_error(MD_USAGE, "the closing quote before '%.32s' must be followed by a blank", end);
  *word = at + mark;
  *after = *end ? end + 1 : end;
  end[-(ptrdiff_t)mark] = '\0';
  return MD_OK;
}

md_status md_words_split(char *text, md_words *words)
{
  int capacity = 0;
  for (char *at = text; *at;) {
    if (md_is_blank(*at)) {
      ++at;
      continue;
    }
    if (words->n == capacity) {
      capacity = capacity ? 2 * capacity : 16;
      char **larger = realloc(words->word, (size_t)capacity * sizeof *larger);
      if (!larger) return md_error(MD_RUNTIME, "out of memory for the words of a line");
      words->word = larger;
    }
    MD_TRY(take_word(text, at, &words->word[words->n], &at));
    ++words->n;
  }
  return MD_OK;
}

static bool wrong_words(const md_command *command, int n)
{
  return n < command->least || (command->most >= 0 && n > command->most);
}

/* Whether --resume leaves out this command, because the restart or a file already holds its effect. Before the first
 * run, edits of particles are not left out, because the state there is compared with the state of the interrupted deck.
 * change_box, replicate and read_dump are never left out, because they change the box. */
static bool is_left_out(const md_sim *sim, const char *name)
{
  static const char *const edits[] = {"delete_atoms", "displace_atoms", "set", "velocity"};
  static const char *const files[] = {"write_data", "write_dump", "write_restart"};
  for (size_t k = 0; k < sizeof edits / sizeof edits[0]; ++k)
    if (sim->history.nrun > 0 && strcmp(name, edits[k]) == 0) return true;
  for (size_t k = 0; k < sizeof files / sizeof files[0]; ++k)
    if (strcmp(name, files[k]) == 0) return true;
  return false;
}

/* Is the command an output of the deck, or one without an effect on it? They are left out for a frame
 * (src/backwards/frame.h). */
static bool is_output(const char *name)
{
  static const char *const outputs[] = {"dump",   "dump_modify", "log",        "restart",      "undump",
                                        "verify", "write_data",  "write_dump", "write_restart"};
  for (size_t k = 0; k < sizeof outputs / sizeof outputs[0]; ++k)
    if (strcmp(name, outputs[k]) == 0) return true;
  return false;
}

/* Reports, before the first run, the outputs after it that cannot be written. */
static md_status report_preview(md_sim *sim)
{
  const md_error_record *preview = sim->preview;
  if (!preview || preview->status == MD_OK) return MD_OK;
  sim->placed_error = true;
  return md_error_restore(preview);
}

/* Executes a command of script control while the deck is only followed. What it cannot do without a run makes the way
 * through the deck unknown; the later reading of the deck reports a fault. */
static md_status follow_control(md_sim *sim, const md_command *command, const md_words *arguments)
{
  if (wrong_words(command, arguments->n) || command->handler(sim, arguments) != MD_OK)
    sim->script.lost = true;
  return MD_OK;
}

static md_status execute(md_sim *sim, const md_words *words)
{
  const md_command *command = md_command_find(words->word[0]);
  const md_words arguments = {words->n - 1, words->word + 1};
  if (sim->follow)
    return md_script_is_control(words->word[0]) ? follow_control(sim, command, &arguments)
                                                : sim->follow(sim, words);
  if (sim->check) ++sim->check->ncommand;
  if (!command) return md_command_unknown(words->word[0]);
  if (wrong_words(command, arguments.n)) return md_command_count(command, arguments.n);
  if (sim->check) return sim->check->execute(sim, command, &arguments);
  const uint64_t deck = sim->history.deck;
  md_history_add(&sim->history, words);
  const uint64_t with = sim->history.deck;
  const bool left_out = is_left_out(sim, command->name);
  if (left_out && sim->resume) {
    md_log_print(sim->log, "Done before: %s\n", command->name);
    return md_resume_leave_out(sim, words);
  }
  if (sim->frame && is_output(command->name) && !md_frame_keeps(sim, words)) {
    md_log_print(sim->log, "Left out for a frame: %s\n", command->name);
    return MD_OK;
  }
  if (md_history_is_run(command->name) || strcmp(command->name, "rerun") == 0) MD_TRY(report_preview(sim));
  const md_left_out before = {.nmeasured = sim->history.nmeasured,
                              .drawn = md_variables_drawn(sim->variables),
                              .natoms = sim->model.natoms};
  const md_status status = command->handler(sim, &arguments);
  /* A command that was refused did nothing. One that executes others may have done a part. */
  if (status != MD_OK && status != MD_STOPPED && sim->history.deck == with) sim->history.deck = deck;
  MD_TRY(status);
  if (left_out) MD_TRY(md_resume_note(sim, &before, words));
  /* pair_style may have come before the box, when the number of types was still unknown. */
  return md_sim_settle_pair(sim);
}

/* `text` is changed. */
static md_status run_text(md_sim *sim, char *text)
{
  md_words words = {0};
  md_status status = md_words_split(text, &words);
  if (status == MD_OK && words.n > 0) {
    md_suffix_drop(sim, &words);
    status = execute(sim, &words);
  }
  free(words.word);
  return status;
}

/* Whether the command is skipped on the way to a label. `myriad check` looks at it all the same. */
static bool is_skipped(const md_sim *sim, const char *text)
{
  return sim->script.label && !md_source_begins_with(text, "label");
}

static bool begins_with_control(const char *text)
{
  char word[16];
  return sscanf(text, "%15s", word) == 1 && md_script_is_control(word);
}

/* Replaces the variables of a command without comment, and executes it. */
static md_status run_replaced(md_sim *sim, const char *text)
{
  char *replaced = NULL;
  const md_status known = md_variables_substitute(sim->variables, text, &replaced);
  sim->follow_line = text;
  if (known != MD_OK && !sim->follow) return known;
  if (known != MD_OK) {
    if (begins_with_control(text)) sim->script.lost = true;
    return sim->follow(sim, NULL);
  }
  if (strcmp(replaced, text) != 0) md_log_echo(sim->log, replaced);
  const md_status status = run_text(sim, replaced);
  free(replaced);
  return status;
}

/* Runs the command in `text`, whose comment begins at `comment_at`. */
static md_status run_command(md_sim *sim, char *text, size_t comment_at)
{
  if (!sim->script.label) md_log_echo(sim->log, text);
  text[comment_at] = '\0';
  MD_TRY(md_deck_check_same(sim, text));
  MD_TRY(check_text(text));
  if (!is_skipped(sim, text)) return run_replaced(sim, text);
  return md_script_is_checked(sim) ? md_glance(text) : MD_OK;
}

/* Without this warning a misspelt -var would silently leave the deck's default in use. */
static void warn_unused(md_sim *sim)
{
  for (int k = 0;; ++k) {
    const char *name = md_variables_unused(sim->variables, k);
    if (!name) break;
    md_log_print(sim->log, "WARNING: -var %.64s was given, but the deck has no variable of that name\n",
                 name);
  }
}

md_status md_deck_is_same(md_sim *sim, const void *bytes, size_t n, bool *same)
{
  *same = true;
  if (sim->comm->size == 1) return MD_OK;
  uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
  for (const unsigned char *c = bytes; n-- > 0; ++c) hash = (hash ^ *c) * UINT64_C(0x100000001b3);
  const double high = (double)(hash >> 32), low = (double)(hash & UINT64_C(0xffffffff));
  double extremes[4] = {high, low, -high, -low};
  MD_TRY(sim->comm->reduce->max(sim->comm, extremes, 4));
  *same = extremes[0] == -extremes[2] && extremes[1] == -extremes[3];
  return MD_OK;
}

md_status md_deck_check_same(md_sim *sim, const char *text)
{
  bool same;
  MD_TRY(md_deck_is_same(sim, text, strlen(text), &same));
  if (same) return MD_OK;
  return md_error(
      MD_USAGE,
      "the ranks disagree about the deck: rank %d has '%.200s', another has something else; give all "
      "of them the same deck and -var",
      sim->comm->rank, text);
}

/* Gives a fault to `myriad check`, if it collects them. `text` is the faulty command. */
static md_status judge(md_sim *sim, md_status status, const char *text)
{
  return status == MD_OK || !sim->check ? status : sim->check->wrong(sim, status, text);
}

/* Reads and runs the next command of the source on top. If faults are collected, a faulty command does not end the
 * deck. */
static md_status next_command(md_sim *sim)
{
  md_source *source = sim->script.source;
  md_status status = md_source_read(source);
  const bool readable = status == MD_OK;
  if (sim->check) {
    snprintf(sim->check->deck, sizeof sim->check->deck, "%s", source->name);
    sim->check->line = source->first_line;
  }
  if (readable && !(source->end && source->n == 0))
    status = run_command(sim, source->text, source->comment_at);
  const bool judged = status != MD_OK && sim->check;
  status = judge(sim, status, readable ? source->text : "");
  if (judged && !readable) source->end = true;
  return status;
}

/* The end of the file came before the label that a jump asked for. */
static md_status miss_label(md_sim *sim)
{
  md_script *script = &sim->script;
  md_source *source = script->source;
  const md_status status =
      md_error(MD_USAGE, "jump: there is no label '%.64s' in %.300s", script->label, source->name);
  free(script->label);
  script->label = NULL;
  source->first_line = script->asked_at > 0 ? script->asked_at : source->line;
  if (sim->check) sim->check->line = source->first_line;
  if (!sim->follow) return judge(sim, status, "jump");
  script->lost = true;
  return MD_OK;
}

/* Reads the source on top of the stack to its end. */
static md_status read_source(md_sim *sim)
{
  md_script *script = &sim->script;
  md_status status = MD_OK;
  while (status == MD_OK && !script->source->end && !sim->planning.done && !script->quit)
    status = next_command(sim);
  const bool ended = status == MD_OK && !script->quit && !sim->planning.done;
  return ended && script->label ? miss_label(sim) : status;
}

md_status md_deck_line(md_sim *sim, const char *line)
{
  md_script *script = &sim->script;
  if (script->nesting == MD_NESTING_MAX)
    return md_error(MD_USAGE, "commands within commands, and files within files, are more than %d deep",
                    MD_NESTING_MAX);
  char *text = strdup(line);
  if (!text) return md_error(MD_RUNTIME, "out of memory for a command");
  ++script->nesting;
  const md_status status = run_command(sim, text, md_source_comment(text));
  --script->nesting;
  const md_status judged = judge(sim, status, text);
  free(text);
  return judged;
}

md_status md_deck_look(md_sim *sim, const char *line) { return judge(sim, md_glance(line), line); }

md_status md_deck_file(md_sim *sim, FILE *file, const char *name)
{
  md_script *script = &sim->script;
  md_source source;
  md_status status = md_comm_agree(sim->comm, md_source_open(&source, file, name, script->source != NULL));
  source.below = script->source;
  script->source = &source;
  ++script->nesting;
  if (status == MD_OK) status = read_source(sim);
  if (status != MD_OK && !sim->placed_error)
    md_error_prefix("%s:%lld: ", source.name ? source.name : name, (long long)source.first_line);
  --script->nesting;
  script->source = source.below;
  md_source_close(&source);
  return status;
}

md_status md_deck_run(md_sim *sim, FILE *file, const char *name)
{
  sim->script.quit = sim->script.pass_jump = false;
  md_status status = md_deck_file(sim, file, name);
  if (status == MD_OK) status = md_deck_check_same(sim, "(the end of the deck)");
  if (status == MD_OK && !sim->planning.done) warn_unused(sim);
  return status;
}
