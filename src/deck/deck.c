/* Reads a deck and runs its commands; see deck.h.
 *
 * 1. Lines are joined into one command while they end with & or stand inside triple quotes. The reader follows
 *    quotes and the comment sign letter by letter.
 * 2. The comment is removed.
 * 3. Variables are replaced (variable.h). This comes before splitting, so that a variable may hold several words.
 *    Text inside quotes is not changed.
 * 4. The text is split into words.
 * 5. The handler from the command table gets the words, after their number was checked.
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
#include "src/deck/check.h"
#include "src/deck/quote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COMMAND_MAX = 1 << 20 };

typedef enum quoting { PLAIN, SINGLE, DOUBLE, TRIPLE, COMMENT } quoting;

typedef struct deck {
  FILE *file;
  int64_t line;       /* number of the last line that was read */
  int64_t first_line; /* of the command */
  bool end;
  char *text; /* COMMAND_MAX + 1 bytes */
  size_t n;
  size_t scanned;    /* text[0, scanned) was scanned ... */
  quoting state;     /* ... and the scan ended in this state */
  size_t comment_at; /* place where the comment begins, or n */
} deck;

/* Appends one line of the file, without its line end. */
static md_status read_line(deck *d)
{
  ++d->line;
  const size_t begin = d->n;
  int c;
  while ((c = getc_unlocked(d->file)) != EOF && c != '\n') {
    if (d->n >= COMMAND_MAX) return md_error(MD_USAGE, "the line is longer than 1 MiB: is this file a deck?");
    if ((c < ' ' && c != '\t' && c != '\r') || c == 127)
      return md_error(MD_USAGE, "byte 0x%02x on line %lld is not text: is this file a deck?", (unsigned)c,
                      (long long)d->line);
    d->text[d->n++] = (char)c;
  }
  if (ferror(d->file)) return md_error(MD_RUNTIME, "cannot read the deck: %s", strerror(errno));
  d->end = c == EOF;
  if (d->n > begin && d->text[d->n - 1] == '\r') --d->n;
  d->text[d->n] = '\0';
  if (d->line == 1 && strncmp(d->text, "\xef\xbb\xbf", 3) == 0) memset(d->text, ' ', 3);
  return MD_OK;
}

/* Follows quotes and comments through text[scanned, n). */
static void scan(deck *d)
{
  for (size_t i = d->scanned; i < d->n && d->state != COMMENT; ++i) {
    const char *at = d->text + i;
    const bool triple = strncmp(at, "\"\"\"", 3) == 0;
    switch (d->state) {
    case PLAIN: {
      const size_t mark = md_quote_mark(d->text, at);
      if (*at == '#') {
        d->state = COMMENT;
        d->comment_at = i;
      } else if (mark) {
        d->state = mark == 3 ? TRIPLE : *at == '"' ? DOUBLE : SINGLE;
        i += mark - 1;
      }
      break;
    }
    case SINGLE:
      if (*at == '\'') d->state = PLAIN;
      break;
    case DOUBLE:
      if (*at == '"') d->state = PLAIN;
      break;
    case TRIPLE:
      if (triple) {
        d->state = PLAIN;
        i += 2;
      }
      break;
    case COMMENT: break;
    }
  }
  d->scanned = d->n;
}

/* Returns whether the text ends with &, and removes the & and the blanks after it. */
static bool take_continuation(deck *d)
{
  size_t n = d->n;
  while (n > 0 && md_is_blank(d->text[n - 1])) --n;
  if (n == 0 || d->text[n - 1] != '&') return false;
  d->n = d->scanned = n - 1;
  d->text[d->n] = '\0';
  return true;
}

/* Text in triple quotes keeps its line ends. */
static md_status keep_line_end(deck *d)
{
  if (d->n >= COMMAND_MAX) return md_error(MD_USAGE, "text in triple quotes is longer than 1 MiB");
  d->text[d->n++] = '\n';
  d->text[d->n] = '\0';
  d->scanned = d->n;
  return MD_OK;
}

/* Reads the next command, which may span several lines. */
static md_status read_command(deck *d)
{
  d->n = d->scanned = 0;
  d->state = PLAIN;
  d->first_line = d->line + 1;
  bool continued = false;
  do {
    const size_t before = d->n;
    MD_TRY(read_line(d));
    if (continued && d->end && d->n == before && d->state != COMMENT)
      return md_error(MD_USAGE, d->state == TRIPLE
                                    ? "triple quotes are opened here and never closed"
                                    : "the command is continued with & but the deck ends there");
    scan(d);
    if (d->state == TRIPLE) MD_TRY(keep_line_end(d));
    continued = d->state == TRIPLE || take_continuation(d);
  } while (continued && !(d->end && d->state == COMMENT));
  if (d->state != COMMENT) d->comment_at = d->n;
  return MD_OK;
}

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

/* Takes the word that begins at `at`. *word is its text without quotes, ended with NUL; *behind is the place after
 * it. */
static md_status take_word(char *text, char *at, char **word, char **behind)
{
  const size_t mark = md_quote_mark(text, at);
  char *end;
  if (mark == 0) {
    end = at;
    while (*end && !md_is_blank(*end)) ++end;
    *word = at;
    *behind = *end ? end + 1 : end;
    *end = '\0';
    return MD_OK;
  }
  const char *closed = md_quote_end(at, mark);
  if (!closed) return md_error(MD_USAGE, "the quote before '%.32s' is never closed", at + mark);
  end = at + (closed - at);
  if (*end && !md_is_blank(*end))
    return md_error(MD_USAGE, "the closing quote before '%.32s' must be followed by a blank", end);
  *word = at + mark;
  *behind = *end ? end + 1 : end;
  end[-(ptrdiff_t)mark] = '\0';
  return MD_OK;
}

/* Splits `text` in place. The caller frees words->word, whose strings lie in `text`. */
static md_status split(char *text, md_words *words)
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

static md_status wrong_count(const md_command *command, int n)
{
  char range[64];
  if (command->most == command->least)
    snprintf(range, sizeof range, "%d", command->least);
  else if (command->most < 0)
    snprintf(range, sizeof range, "at least %d", command->least);
  else
    snprintf(range, sizeof range, "%d to %d", command->least, command->most);
  const bool one = command->least == 1 && command->most <= 1;
  return md_error(MD_USAGE, "%s takes %s argument%s, not %d; usage: %s", command->name, range, one ? "" : "s",
                  n, command->usage);
}

/* Whether --resume skips this command, because the restart or a file already holds its effect. Before the first
 * run, edits of particles are not skipped, because the state there is compared with the state of the interrupted deck.
 * change_box and replicate are never skipped, because they change the box. */
static bool is_done_before(const md_sim *sim, const char *name)
{
  static const char *const edits[] = {"delete_atoms", "displace_atoms", "set", "velocity"};
  static const char *const files[] = {"write_data", "write_restart"};
  if (!sim->resume) return false;
  for (size_t k = 0; k < sizeof edits / sizeof edits[0]; ++k)
    if (sim->history.nrun > 0 && strcmp(name, edits[k]) == 0) return true;
  for (size_t k = 0; k < sizeof files / sizeof files[0]; ++k)
    if (strcmp(name, files[k]) == 0) return true;
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

static md_status execute(md_sim *sim, const md_words *words)
{
  if (sim->follow) return sim->follow(sim, words);
  if (sim->check) ++sim->check->ncommand;
  const md_command *command = md_command_find(words->word[0]);
  if (!command) return md_command_unknown(words->word[0]);
  const md_words arguments = {words->n - 1, words->word + 1};
  if (arguments.n < command->least || (command->most >= 0 && arguments.n > command->most))
    return wrong_count(command, arguments.n);
  if (sim->check) return sim->check->execute(sim, command, &arguments);
  md_history_add(&sim->history, words);
  if (is_done_before(sim, command->name)) {
    md_log_print(sim->log, "Done before: %s\n", command->name);
    return MD_OK;
  }
  if (strcmp(command->name, "run") == 0) MD_TRY(report_preview(sim));
  MD_TRY(command->handler(sim, &arguments));
  /* pair_style may have come before the box, when the number of types was still unknown. */
  return md_sim_settle_pair(sim);
}

static md_status run_text(md_sim *sim, char *text)
{
  md_words words = {0};
  md_status status = split(text, &words);
  if (status == MD_OK && words.n > 0) status = execute(sim, &words);
  free(words.word);
  return status;
}

static md_status run_command(md_sim *sim, deck *d)
{
  md_log_echo(sim->log, d->text);
  d->text[d->comment_at] = '\0';
  MD_TRY(md_deck_check_same(sim, d->text));
  MD_TRY(check_text(d->text));
  char *replaced = NULL;
  const md_status known = md_variables_substitute(sim->variables, d->text, &replaced);
  sim->follow_line = d->text;
  if (known != MD_OK) return sim->follow ? sim->follow(sim, NULL) : known;
  if (strcmp(replaced, d->text) != 0) md_log_echo(sim->log, replaced);
  const md_status status = run_text(sim, replaced);
  free(replaced);
  return status;
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

md_status md_deck_check_same(md_sim *sim, const char *text)
{
  if (sim->comm->size == 1) return MD_OK;
  uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
  for (const char *c = text; *c; ++c) hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
  const double high = (double)(hash >> 32), low = (double)(hash & UINT64_C(0xffffffff));
  double extremes[4] = {high, low, -high, -low};
  MD_TRY(sim->comm->reduce->max(sim->comm, extremes, 4));
  if (extremes[0] == -extremes[2] && extremes[1] == -extremes[3]) return MD_OK;
  return md_error(
      MD_USAGE,
      "the ranks disagree about the deck: rank %d has `%.200s`, another has something else; give all "
      "of them the same deck and -var",
      sim->comm->rank, text);
}

/* Reads and runs the next command. If faults are collected, a faulty command does not end the deck. */
static md_status next_command(md_sim *sim, deck *d, const char *name)
{
  md_status status = read_command(d);
  const bool readable = status == MD_OK;
  if (sim->check) {
    sim->check->deck = name;
    sim->check->line = d->first_line;
  }
  if (readable && !(d->end && d->n == 0)) status = run_command(sim, d);
  if (status == MD_OK || !sim->check) return status;
  status = sim->check->wrong(sim, status, readable ? d->text : "");
  if (!readable) d->end = true;
  return status;
}

md_status md_deck_run(md_sim *sim, FILE *file, const char *name)
{
  deck d = {.file = file};
  MD_TRY(md_array_new(&d.text, COMMAND_MAX + 1, 1, "a line of the deck"));
  d.text[0] = '\0';
  md_status status = MD_OK;
  while (status == MD_OK && !d.end && !sim->planning.done) status = next_command(sim, &d, name);
  if (status == MD_OK) status = md_deck_check_same(sim, "(the end of the deck)");
  if (status != MD_OK && !sim->placed_error)
    md_error_prefix("%s:%lld: ", name, (long long)d.first_line);
  else if (status == MD_OK && !sim->planning.done)
    warn_unused(sim);
  free(d.text);
  return status;
}
