/* `myriad check`: finds all faults of a deck in one reading; see check.h.
 *
 * 1. Each command goes to its handler as in a run, but nothing is created, run or written (sim->planning).
 * 2. A handler that fails has found a problem. The check records it and continues with the next line.
 * 3. What the faulty line should have made is now missing. Later lines that use it would fail too, which says
 *    nothing about these lines. So the check makes a stand-in (a box, the value 1 for a variable, group all for a
 *    group) and remembers the missing name.
 * 4. When a later line fails, its message decides. The message quotes the word that it refuses. If this word is a
 *    missing name, or came from a stand-in, the line is not judged. Otherwise it is a problem of its own. A line
 *    whose message quotes no word, and which uses a stand-in, is not judged either, nor is a formula that has no
 *    value for the stand-ins, such as 1/(count(all)-1).
 *
 * A formula of a variable may name what later lines make: a compute, a fix, a group, masses. It is evaluated when the
 * variable is defined, and if something is missing then, again at the next run.
 *
 * A line that cannot read a file which an earlier line writes is not judged: nothing is written here.
 *
 * A handler reports only the first word that it refuses. The columns of thermo_style and dump are lists of
 * independent words, so the check tries each word alone and reports all faulty ones.
 *
 * Lines are checked in the order of the file. Loops of `next` are followed, within a limit (src/script/script.h). Of
 * the branches of an `if`, the one that is taken is checked, and the others are looked at (src/script/glance.h). Cost:
 * that of reading the deck and its data files.
 */
#include "src/deck/check.h"
#include "src/commands/preview.h"
#include "src/create/create.h"
#include "src/files/file_uses.h"
#include "src/fixes/external.h"
#include "src/fixes/fix_vary.h"
#include "src/region/users.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORD_MAX = 256 };

/* Half the side of the stand-in box, which is so large that nothing in a deck lies outside. */
static const double far = 1e9;

static const char blanks[] = " \t\r\n\"'";

/* Word k (from 0) of a line as it stands in the deck, truncated to WORD_MAX; "" if the line has fewer words. */
static void word_of(const char *text, int k, char word[WORD_MAX])
{
  for (;; --k) {
    text += strspn(text, blanks);
    const size_t n = strcspn(text, blanks);
    if (k == 0) {
      snprintf(word, WORD_MAX, "%.*s", (int)(n < WORD_MAX ? n : WORD_MAX - 1), text);
      return;
    }
    text += n;
  }
}

static bool has_word(const char *text, const char *word)
{
  char found[WORD_MAX];
  for (int k = 0;; ++k) {
    word_of(text, k, found);
    if (found[0] == '\0') return false;
    if (strcmp(found, word) == 0) return true;
  }
}

/* ---- missing names ---- */

static bool is_missing(const md_check *c, char kind, const char *name)
{
  for (int64_t k = 0; k < c->nname; ++k)
    if (c->name[k].kind == kind && strcmp(c->name[k].text, name) == 0) return true;
  return false;
}

static md_status out_of_memory(void) { return md_error(MD_RUNTIME, "out of memory while a deck is checked"); }

static md_status add_missing(md_check *c, char kind, const char *name)
{
  if (name[0] == '\0' || is_missing(c, kind, name)) return MD_OK;
  md_check_name *larger = realloc(c->name, (size_t)(c->nname + 1) * sizeof *larger);
  if (larger) c->name = larger;
  char *copy = larger ? strdup(name) : NULL;
  if (!copy) return out_of_memory();
  c->name[c->nname++] = (md_check_name){kind, copy};
  return MD_OK;
}

/* A variable may be defined again, and correctly then. */
static void forget_missing(md_check *c, char kind, const char *name)
{
  for (int64_t k = 0; k < c->nname; ++k) {
    if (c->name[k].kind != kind || strcmp(c->name[k].text, name) != 0) continue;
    free(c->name[k].text);
    c->name[k] = c->name[--c->nname];
    return;
  }
}

/* Is `word` a reference to something missing: c_ID, f_ID[2], v_NAME? */
static bool is_missing_reference(const md_check *c, const char *word)
{
  char name[WORD_MAX];
  if (!strchr("cfv", word[0]) || word[0] == '\0' || word[1] != '_') return false;
  snprintf(name, sizeof name, "%s", word + 2);
  name[strcspn(name, "[")] = '\0';
  return is_missing(c, word[0], name);
}

/* Does the line read a variable, a compute or a fix that is missing: $x, ${name}, v_name, c_ID, f_ID? */
static bool reads_missing(const md_check *c, const char *text)
{
  for (const char *at = text; *at; ++at) {
    char name[WORD_MAX] = "";
    const bool starts = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
    char kind = 'v';
    if (at[0] == '$' && at[1] == '{') {
      snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 2, "}"), at + 2);
    } else if (at[0] == '$') {
      name[0] = at[1];
      name[1] = '\0';
    } else if (starts && strchr("cfv", *at) && at[1] == '_') {
      const char *end = at + 2;
      while (isalnum((unsigned char)*end) || *end == '_') ++end;
      snprintf(name, sizeof name, "%.*s", (int)(end - at - 2), at + 2);
      kind = *at;
    }
    if (name[0] && is_missing(c, kind, name)) return true;
  }
  return false;
}

/* Finds the next quoted word of `message` from *at, and moves *at past it. Returns false, with an empty word, if
 * there is none. */
static bool next_quoted(const char *message, const char **at, char word[WORD_MAX])
{
  word[0] = '\0';
  for (; **at; ++*at) {
    const char mark = **at;
    if ((mark != '\'' && mark != '`') || (*at > message && (*at)[-1] != ' ')) continue;
    const char *end = strchr(*at + 1, mark);
    if (!end) continue;
    snprintf(word, WORD_MAX, "%.*s", (int)(end - *at - 1), *at + 1);
    *at = end + 1;
    return true;
  }
  return false;
}

static bool is_one_of(const char *word, const char *const *names, size_t n)
{
  for (size_t k = 0; k < n; ++k)
    if (strcmp(word, names[k]) == 0) return true;
  return false;
}

#define IS_ONE_OF(word, names) is_one_of(word, names, sizeof names / sizeof names[0])

/* A faulty line with one of these commands could have defined anything. */
static const char *const line_makers[] = {"include", "python"};
static const char *const box_makers[] = {"create_box", "read_data", "read_restart"};
static const char *const mass_makers[] = {"mass",         "set",        "read_data",
                                          "read_restart", "pair_style", "pair_coeff"};

/* Does the message quote a missing name? */
static bool names_missing(const md_check *c, const char *command, const char *message)
{
  const char kind = strcmp(command, "unfix") == 0 || strcmp(command, "fix_modify") == 0     ? 'f'
                    : strcmp(command, "undump") == 0 || strcmp(command, "dump_modify") == 0 ? 'd'
                                                                                            : 'r';
  const bool of_compute = strstr(message, "no compute") != NULL;
  char word[WORD_MAX];
  for (const char *at = message; next_quoted(message, &at, word);)
    if (is_missing(c, kind, word) || is_missing(c, 'g', word) || is_missing_reference(c, word) ||
        (of_compute && is_missing(c, 'c', word)))
      return true;
  return false;
}

/* Does the message quote a word that stands in the line itself, and not a word that replaced a variable? */
static bool names_word_of(const char *text, const char *message)
{
  char word[WORD_MAX];
  const char *at = message;
  if (!next_quoted(message, &at, word)) return false;
  return strlen(word) > 2 ? strstr(text, word) != NULL : has_word(text, word);
}

/* Does the message say that a formula which reads something has no value? The stand-ins may be the reason. */
static bool is_of_a_value(const char *message)
{
  char formula[WORD_MAX];
  const char *at = message;
  if (!strstr(message, "division by zero") && !strstr(message, "the result of ")) return false;
  if (!next_quoted(message, &at, formula)) return false;
  for (at = formula; *at; ++at)
    if (isalpha((unsigned char)*at) || *at == '_') return true;
  return false;
}

/* Is the message only a consequence of an earlier faulty line? */
static bool is_consequence(const md_check *c, const char *text, const char *message)
{
  static const char *const of_pair[] = {"pair_coeff", "pair_modify", "pair_write"},
                           *const of_box[] = {
                               "create_atoms", "create_box", "read_data",    "read_restart",   "set",
                               "fix",          "region",     "mass",         "pair_coeff",     "velocity",
                               "balance",      "run",        "units",        "dimension",      "atom_style",
                               "boundary",     "processors", "delete_atoms", "displace_atoms", "change_box",
                               "replicate"};
  char command[WORD_MAX];
  word_of(text, 0, command);
  if (!md_command_find(command)) return false;
  if (c->no_pair && IS_ONE_OF(command, of_pair)) return true;
  if (c->no_lines && (strstr(message, "undefined variable") || strstr(message, "needs a box"))) return true;
  if (names_missing(c, command, message)) return true;
  if (names_word_of(text, message)) return false;
  return reads_missing(c, text) || ((c->no_box || c->no_lattice) && IS_ONE_OF(command, of_box));
}

/* ---- stand-ins ---- */

/* Calls a handler with the given words and ignores its result. */
static void attempt(md_sim *sim, const char *command, int n, const char *const *words)
{
  char copy[4][WORD_MAX], *word[4];
  for (int k = 0; k < n && k < 4; ++k) {
    snprintf(copy[k], sizeof copy[k], "%s", words[k]);
    word[k] = copy[k];
  }
  md_log *log = sim->log;
  sim->log = &sim->check->silent;
  (void)!(md_command_find(command)->handler(sim, &(md_words){n, word}) == MD_OK);
  sim->log = log;
}

static void replace_box(md_sim *sim)
{
  sim->check->no_box = true;
  md_log *log = sim->log;
  sim->log = &sim->check->silent;
  if (!sim->has_box)
    (void)!(md_box_create(sim, (double[3]){-far, -far, -far}, (double[3]){far, far, far}, NULL,
                          MD_TYPES_MAX) == MD_OK);
  sim->log = log;
}

static void replace_variable(md_sim *sim, const char *name)
{
  attempt(sim, "variable", 2, (const char *[]){name, "delete"});
  attempt(sim, "variable", 3, (const char *[]){name, "index", "1"});
}

/* A word without p counts as fixed, which is enough for later lines. */
static void replace_boundary(md_sim *sim, const char *text)
{
  char word[3][WORD_MAX];
  for (int d = 0; d < 3; ++d) {
    word_of(text, 1 + d, word[d]);
    if (!strchr(word[d], 'p')) snprintf(word[d], WORD_MAX, "f");
  }
  attempt(sim, "boundary", 3, (const char *[]){word[0], word[1], word[2]});
}

/* Makes a stand-in for what the line should have made, as far as later lines need it. */
static md_status stand_in(md_sim *sim, const char *text)
{
  static const char *const definitions[] = {"variable", "region", "group", "fix", "compute", "dump"};
  md_check *c = sim->check;
  char command[WORD_MAX], name[WORD_MAX];
  word_of(text, 0, command);
  word_of(text, 1, name);
  if (md_command_find(command) && !md_history_is_talk(command)) c->no_model = true;
  if (strcmp(command, "lattice") == 0) c->no_lattice = true;
  if (IS_ONE_OF(command, line_makers)) c->no_lines = c->no_model = true;
  if (strcmp(command, "boundary") == 0) replace_boundary(sim, text);
  if (IS_ONE_OF(command, box_makers)) replace_box(sim);
  if (IS_ONE_OF(command, mass_makers)) attempt(sim, "mass", 2, (const char *[]){"*", "1"});
  if (strcmp(command, "pair_style") == 0) {
    c->no_pair = true;
    attempt(sim, "pair_style", 1, (const char *[]){"none"});
  }
  if (!IS_ONE_OF(command, definitions)) return MD_OK;
  if (strcmp(command, "variable") == 0) {
    c->no_model = true;
    replace_variable(sim, name);
  }
  return add_missing(c, command[0], name);
}

/* ---- problems ---- */

static md_status add_problem(md_check *c, const char *message)
{
  char **larger = realloc(c->problem, (size_t)(c->nproblem + 1) * sizeof *larger);
  if (!larger) return out_of_memory();
  c->problem = larger;
  const size_t size = strlen(c->deck) + strlen(message) + 32;
  char *text = malloc(size);
  if (!text) return out_of_memory();
  snprintf(text, size, "%s:%lld: %s", c->deck, (long long)c->line, message);
  /* A loop may come to the same fault again. */
  for (int64_t k = 0; k < c->nproblem; ++k)
    if (strcmp(c->problem[k], text) == 0) {
      free(text);
      return MD_OK;
    }
  c->problem[c->nproblem++] = text;
  return MD_OK;
}

static md_status add_line(md_check_lines *lines, int64_t line)
{
  if (lines->n > 0 && lines->line[lines->n - 1] == line) return MD_OK;
  int64_t *larger = realloc(lines->line, (size_t)(lines->n + 1) * sizeof *larger);
  if (!larger) return out_of_memory();
  lines->line = larger;
  lines->line[lines->n++] = line;
  return MD_OK;
}

/* Records the present error message as a problem of the line, or the line as not judged. */
static md_status note(md_check *c, const char *text)
{
  const char *message = md_error_text();
  const bool awaits = c->all && c->awaits;
  c->awaits = false;
  if (awaits) return add_line(&c->awaited, c->line);
  if (is_consequence(c, text, message)) return add_line(&c->after, c->line);
  return c->all && is_of_a_value(message) ? add_line(&c->unknown, c->line) : add_problem(c, message);
}

static md_status wrong(md_sim *sim, md_status status, const char *text)
{
  md_check *c = sim->check;
  char command[WORD_MAX];
  word_of(text, 0, command);
  if (status != MD_USAGE && (status != MD_RUNTIME || !sim->planning.checking)) return status;
  /* Variables are replaced before the command is known, but an unknown command is the more useful message. */
  if (command[0] && !md_command_find(command)) status = md_command_unknown(command);
  if (c->nproblem == 0) c->first_status = status;
  MD_TRY(note(c, text));
  sim->planning.checking = true;
  return stand_in(sim, text);
}

/* ---- commands ---- */

/* The index of the argument that names a group; -1: the command has none. */
static int place_of_group(const char *command, const md_words *arguments)
{
  static const char *const first[] = {"velocity", "displace_atoms", "change_box"};
  if (IS_ONE_OF(command, first)) return 0;
  if (strcmp(command, "fix") == 0 || strcmp(command, "dump") == 0) return 1;
  const bool selects = strcmp(command, "set") == 0 || strcmp(command, "delete_atoms") == 0;
  if (selects && strcmp(arguments->word[0], "group") == 0) return 1;
  return -1;
}

/* Replaces a missing group in the arguments by `all`. Returns whether it did. */
static bool use_all(const md_check *c, const char *command, const md_words *arguments)
{
  static char all[] = "all";
  const int at = place_of_group(command, arguments);
  if (at < 0 || !is_missing(c, 'g', arguments->word[at])) return false;
  arguments->word[at] = all;
  return true;
}

/* The index of the first argument of a list whose words can be tried one by one; 0: the command has no such list. */
static int first_of_list(const char *command, const md_words *arguments)
{
  if (strcmp(command, "thermo_style") == 0 && strcmp(arguments->word[0], "custom") == 0) return 1;
  if (strcmp(command, "dump") == 0 && strcmp(arguments->word[2], "custom") == 0) return 5;
  return 0;
}

static md_status try_alone(md_sim *sim, const md_command *command, const md_words *arguments, int first,
                           int k)
{
  char *word[6];
  memcpy(word, arguments->word, (size_t)first * sizeof *word);
  word[first] = arguments->word[k];
  MD_TRY(command->handler(sim, &(md_words){first + 1, word}));
  if (strcmp(command->name, "dump") == 0) attempt(sim, "undump", 1, (const char *[]){word[0]});
  return MD_OK;
}

/* Records each word of a list that is refused. *found: at least one was refused. */
static md_status judge_list(md_sim *sim, const md_command *command, const md_words *arguments, bool *found)
{
  md_check *c = sim->check;
  const int first = first_of_list(command->name, arguments);
  *found = false;
  for (int k = first; first > 0 && k < arguments->n; ++k) {
    if (try_alone(sim, command, arguments, first, k) != MD_USAGE) continue;
    *found = true;
    char text[3 * WORD_MAX];
    snprintf(text, sizeof text, "%s %.200s %.200s", command->name, arguments->word[0], arguments->word[k]);
    MD_TRY(note(c, text));
  }
  if (*found && strcmp(command->name, "dump") == 0) MD_TRY(add_missing(c, 'd', arguments->word[0]));
  return MD_OK;
}

/* Values of computes that are not known before a run. */
static md_computed stand_in_values(const md_model *model)
{
  md_computed computed = {.n = model->ncompute};
  for (int c = 0; c < computed.n; ++c)
    for (int k = 0; k < MD_COMPUTE_TERMS; ++k) computed.value[c][k] = 1.0;
  return computed;
}

static md_status evaluate(md_sim *sim, const char *formula, bool atom)
{
  double one, *each;
  if (!atom) return md_variables_formula(sim->variables, formula, &one);
  MD_TRY(md_array_new(&each, sim->particles.n, sizeof *each, "the values of a formula"));
  const md_status status = md_variables_each(sim->variables, formula, each);
  free(each);
  return status;
}

/* Refuses a formula that cannot be evaluated, whatever runs come before it. */
static md_status judge_formula(md_sim *sim, const char *formula, bool atom)
{
  const bool had_computed = sim->has_computed;
  sim->has_computed = true;
  if (!had_computed) sim->computed = stand_in_values(&sim->model);
  const md_status status = evaluate(sim, formula, atom);
  sim->has_computed = had_computed;
  /* A variable may be defined, and the box made, before the formula is evaluated. */
  const char *text = md_error_text();
  const bool later = strstr(text, "undefined variable") || strstr(text, "needs a box") || is_of_a_value(text);
  return status == MD_OK || later ? MD_OK : status;
}

/* Does the message say that something is missing which a later line may make? */
static bool is_made_later(const char *message)
{
  return strstr(message, "there is no such compute") || strstr(message, "there is no such fix") ||
         strstr(message, "unknown group") || strstr(message, "there is no region") ||
         strstr(message, "needs the mass of type");
}

static void free_formula(md_check_formula *f)
{
  free(f->text);
  free(f->formula);
}

static md_status judge_at_run(md_check *c, const md_words *arguments, bool atom)
{
  for (int64_t k = 0; k < c->nlater; ++k)
    if (c->later[k].line == c->line && strcmp(c->later[k].deck, c->deck) == 0) return MD_OK;
  md_check_formula *larger = realloc(c->later, (size_t)(c->nlater + 1) * sizeof *larger);
  if (!larger) return out_of_memory();
  c->later = larger;
  md_check_formula *f = &c->later[c->nlater];
  const size_t size = strlen(arguments->word[0]) + strlen(arguments->word[2]) + 32;
  *f = (md_check_formula){
      .line = c->line, .text = malloc(size), .formula = strdup(arguments->word[2]), .atom = atom};
  if (!f->text || !f->formula) {
    free_formula(f);
    return out_of_memory();
  }
  memcpy(f->deck, c->deck, sizeof f->deck);
  snprintf(f->text, size, "variable %s equal %s", arguments->word[0], f->formula);
  ++c->nlater;
  return MD_OK;
}

/* The formula of a variable that a line defines. */
static md_status judge_variable(md_sim *sim, const md_words *arguments)
{
  const bool atom = arguments->n == 3 && strcmp(arguments->word[1], "atom") == 0;
  if (!atom && (arguments->n != 3 || strcmp(arguments->word[1], "equal") != 0)) return MD_OK;
  const md_status status = judge_formula(sim, arguments->word[2], atom);
  return status == MD_USAGE && is_made_later(md_error_text()) ? judge_at_run(sim->check, arguments, atom)
                                                              : status;
}

/* At a run everything is there. A problem is one of the line that defined the variable. */
static md_status judge_later(md_sim *sim)
{
  md_check *c = sim->check;
  char deck[sizeof c->deck];
  const int64_t line = c->line;
  md_status status = MD_OK;
  memcpy(deck, c->deck, sizeof deck);
  for (int64_t k = 0; k < c->nlater; ++k) {
    md_check_formula *f = &c->later[k];
    memcpy(c->deck, f->deck, sizeof c->deck);
    c->line = f->line;
    const md_status judged = status == MD_OK ? judge_formula(sim, f->formula, f->atom) : MD_OK;
    if (judged != MD_OK && c->nproblem == 0) c->first_status = judged;
    if (judged != MD_OK) status = note(c, f->text);
    free_formula(f);
  }
  c->nlater = 0;
  memcpy(c->deck, deck, sizeof deck);
  c->line = line;
  return status;
}

/* After the command clear nothing is missing but variables. */
static void forget_system(md_check *c)
{
  int64_t kept = 0;
  c->no_box = c->no_lattice = c->no_pair = c->no_model = false;
  for (int64_t k = 0; k < c->nname; ++k) {
    if (c->name[k].kind == 'v')
      c->name[kept++] = c->name[k];
    else
      free(c->name[k].text);
  }
  c->nname = kept;
}

/* Finishes a line that was accepted. narrowed: use_all replaced its group by `all`. */
static md_status accept(md_sim *sim, const md_command *command, const md_words *arguments, bool narrowed)
{
  md_check *c = sim->check;
  if (strcmp(command->name, "pair_style") == 0) c->no_pair = false;
  if (strcmp(command->name, "lattice") == 0) c->no_lattice = false;
  if (strcmp(command->name, "clear") == 0) forget_system(c);
  if (strcmp(command->name, "thermo_style") == 0) c->no_columns = false;
  if (strcmp(command->name, "variable") == 0) return judge_variable(sim, arguments);
  if (!narrowed || strcmp(command->name, "fix") != 0) return md_sim_settle_pair(sim);
  /* Two equal fixes on different groups are allowed, but on the group all only one is. So the fix is removed
   * again. */
  attempt(sim, "unfix", 1, (const char *[]){arguments->word[0]});
  return add_missing(c, 'f', arguments->word[0]);
}

/* Did the line fail because it reads a file which is not there yet, and which an earlier line writes? */
static bool awaits_file(const md_check *c, const md_words *arguments)
{
  const char *message = md_error_text();
  if (!strstr(message, "cannot read ") && !strstr(message, "cannot open ") && !strstr(message, "no file "))
    return false;
  for (int k = 0; k < arguments->n; ++k)
    if (access(arguments->word[k], F_OK) != 0 && md_file_is_written(c->written, arguments->word[k]))
      return true;
  return false;
}

/* Records the files of a command. Which of them are wrong, the preview and the command itself say. */
static md_status record_files(md_sim *sim, const md_command *command, const md_words *arguments)
{
  md_check *c = sim->check;
  md_file_uses *of_run = sim->files;
  if (!c->written) MD_TRY(md_file_uses_new(&c->written));
  sim->files = c->written;
  (void)!(md_preview_files(sim, command->name, arguments) == MD_OK);
  sim->files = of_run;
  return MD_OK;
}

static md_status execute(md_sim *sim, const md_command *command, const md_words *arguments)
{
  md_check *c = sim->check;
  md_log *log = sim->log;
  bool found = false;
  if (sim->planning.checking) sim->log = &c->silent;
  const bool narrowed = use_all(c, command->name, arguments);
  if (strcmp(command->name, "variable") == 0 && is_missing(c, 'v', arguments->word[0])) {
    attempt(sim, "variable", 2, (const char *[]){arguments->word[0], "delete"});
    forget_missing(c, 'v', arguments->word[0]);
  }
  md_status status = command->handler(sim, arguments);
  c->awaits = status != MD_OK && awaits_file(c, arguments);
  if (c->all && status == MD_OK) status = record_files(sim, command, arguments);
  if (status == MD_OK) {
    status = sim->planning.checking ? accept(sim, command, arguments, narrowed) : md_sim_settle_pair(sim);
  } else if (status == MD_USAGE) {
    md_error_record first;
    md_error_save(&first, status);
    sim->planning.checking = true;
    if (c->nproblem == 0) c->first_status = status;
    const md_status judged = judge_list(sim, command, arguments, &found);
    status = judged != MD_OK || found ? judged : md_error_restore(&first);
  }
  sim->log = log;
  return status;
}

/* Evaluates the variables that give numbers of fixes. */
static md_status try_varied(md_sim *sim)
{
  md_check *c = sim->check;
  if (c->no_model) return MD_OK;
  c->no_model = true;
  MD_TRY(md_fix_vary(sim, 0));
  c->no_model = false;
  return MD_OK;
}

md_status md_check_run(md_sim *sim, int64_t n)
{
  md_check *c = sim->check;
  if (!c->no_model) {
    c->no_model = true;
    const md_box shown = sim->model.box;
    MD_TRY(md_regions_take(sim));
    MD_TRY(md_model_prepare(&sim->model));
    if (md_box_follows(&shown)) sim->model.box = shown;
    c->no_model = false;
  }
  MD_TRY(md_external_check(sim));
  for (md_observer *o = sim->observers; o; o = o->next)
    if (o->check) MD_TRY(o->check(o, sim));
  sim->model.step += n;
  if (!sim->has_computed) sim->computed = stand_in_values(&sim->model);
  sim->has_computed = true;
  MD_TRY(judge_later(sim));
  MD_TRY(try_varied(sim));
  if (c->no_columns) return MD_OK;
  c->no_columns = true;
  MD_TRY(md_thermo_try(sim));
  c->no_columns = false;
  return MD_OK;
}

void md_check_begin(md_check *check, md_sim *sim, bool all)
{
  *check = (md_check){.all = all, .execute = execute, .wrong = wrong};
  sim->check = check;
  sim->planning.on = true;
  sim->planning.checking = all;
}

static void print_lines(md_log *log, const char *why, const md_check_lines *lines)
{
  if (lines->n == 0) return;
  md_log_print(log, "%s: line%s", why, lines->n == 1 ? "" : "s");
  for (int64_t k = 0; k < lines->n; ++k)
    md_log_print(log, "%s %lld", k > 0 ? "," : "", (long long)lines->line[k]);
  md_log_print(log, "\n");
}

static void print_problems(const md_check *c, md_log *log)
{
  for (int64_t k = 0; k < c->nproblem; ++k) md_log_print(log, "%s\n", c->problem[k]);
  print_lines(log, "Not checked, because they read files that the deck itself writes", &c->awaited);
  print_lines(log, "Not checked, because they use what such or faulty lines above would make", &c->after);
  print_lines(log, "Not checked, because a run decides whether their formulas have values", &c->unknown);
}

md_status md_check_print(const md_check *c, md_log *log)
{
  print_problems(c, log);
  if (c->nproblem == 0)
    md_log_print(log, "No problem in %lld commands\n", (long long)c->ncommand);
  else
    md_log_print(log, "%lld problem%s in %lld commands\n", (long long)c->nproblem,
                 c->nproblem == 1 ? "" : "s", (long long)c->ncommand);
  MD_TRY(md_log_status(log));
  return c->nproblem == 0 ? MD_OK : md_error(MD_USAGE, "%s", "");
}

md_status md_check_status(const md_check *c, md_log *log)
{
  if (c->nproblem == 0) return MD_OK;
  if (c->nproblem == 1) return md_error(c->first_status, "%s", c->problem[0]);
  print_problems(c, log);
  return md_error(c->first_status, "%s: %lld problems, which are listed above", c->deck,
                  (long long)c->nproblem);
}

void md_check_free(md_check *c)
{
  for (int64_t k = 0; k < c->nproblem; ++k) free(c->problem[k]);
  for (int64_t k = 0; k < c->nname; ++k) free(c->name[k].text);
  for (int64_t k = 0; k < c->nlater; ++k) free_formula(&c->later[k]);
  free(c->later);
  free(c->problem);
  free(c->name);
  md_file_uses_free(c->written);
  free(c->awaited.line);
  free(c->after.line);
  free(c->unknown.line);
  *c = (md_check){0};
}
