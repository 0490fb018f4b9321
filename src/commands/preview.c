/* Preview of the outputs of a deck; see preview.h. */
#include "src/commands/preview.h"
#include "common/ranks/reductions.h"
#include "src/averages/output_fix.h"
#include "src/deck/deck.h"
#include "src/files/output_stream.h"
#include "src/files/printed_files.h"
#include "src/restart/cmd_restart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool in_vain; /* the deck that is being read has an output that cannot be written */

/* Checks that a file of that name can be written; for a frame no outputs of the deck are written. The part after the
 * last / may contain a * for the step. replaced: the file is replaced when it is complete, which needs a writable
 * folder, even if the file exists. */
static md_status check(const md_sim *sim, const char *path, bool replaced)
{
  struct stat about;
  if (sim->frame) return MD_OK;
  const char *slash = strrchr(path, '/'), *star = strchr(path, '*');
  if (star && slash && star < slash) return MD_OK;
  const bool there = !star && stat(path, &about) == 0;
  if (there && (!S_ISREG(about.st_mode) || !replaced)) return md_output_check_path(path);
  char *other = NULL;
  const size_t size = strlen(path) + 16;
  MD_TRY(md_array_new(&other, (long long)size, 1, "a file name"));
  snprintf(other, size, "%s", path);
  /* The question is whether a new file can be made in the folder. */
  if (there) snprintf(other + (slash ? slash + 1 - path : 0), size, ".myriad-new");
  md_status status = md_output_check_path(other);
  free(other);
  return status;
}

static md_status use(md_sim *sim, md_file_role role, const char *id, const char *path, bool replaced)
{
  MD_TRY(check(sim, path, replaced));
  return md_file_use(sim->files, role, id, path);
}

static md_status use_restarts(md_sim *sim, const md_words *words)
{
  int64_t every;
  char *name[2] = {NULL, NULL};
  /* The command itself reports wrong words later. */
  if (md_restart_read_words(words, &every, name) != MD_OK) return MD_OK;
  md_status status = MD_OK;
  md_file_unuse(sim->files, MD_FILE_RESTART, NULL);
  for (int k = 0; k < 2; ++k) {
    if (name[k] && status == MD_OK) status = use(sim, MD_FILE_RESTART, NULL, name[k], true);
    free(name[k]);
  }
  return status;
}

static md_status use_print(md_sim *sim, const md_words *words)
{
  for (int k = 1; k + 1 < words->n; k += 2)
    if (strcmp(words->word[k], "file") == 0 || strcmp(words->word[k], "append") == 0)
      MD_TRY(use(sim, MD_FILE_PRINT, NULL, words->word[k + 1], false));
  return MD_OK;
}

static md_status use_dump(md_sim *sim, const md_words *words)
{
  const char *id = words->word[0], *path = words->word[4];
  const md_status status = check(sim, path, strcmp(words->word[2], "density") == 0);
  if (status != MD_OK) md_error_prefix("dump %s: ", id);
  return status == MD_OK ? md_file_use(sim->files, MD_FILE_DUMP, id, path) : status;
}

/* The file of an output fix, which replaces a fix of the same id. */
static md_status use_fix(md_sim *sim, const md_words *words)
{
  const char *id = words->word[0];
  md_file_unuse(sim->files, MD_FILE_FIX, id);
  if (!md_output_fix_style_find(words->word[2])) return MD_OK;
  for (int k = 3; k + 1 < words->n; ++k) {
    if (strcmp(words->word[k], "file") != 0 && strcmp(words->word[k], "append") != 0) continue;
    const md_status status = use(sim, MD_FILE_FIX, id, words->word[k + 1], false);
    if (status != MD_OK) md_error_prefix("fix %s: ", id);
    return status;
  }
  return MD_OK;
}

md_status md_preview_files(md_sim *sim, const char *command, const md_words *words)
{
  if (strcmp(command, "clear") == 0) {
    md_file_unuse(sim->files, MD_FILE_DUMP, NULL);
    md_file_unuse(sim->files, MD_FILE_RESTART, NULL);
    md_file_unuse(sim->files, MD_FILE_FIX, NULL);
  }
  if (words->n < 1) return MD_OK;
  const char *first = words->word[0];
  if (strcmp(command, "restart") == 0) return use_restarts(sim, words);
  if (strcmp(command, "print") == 0) return use_print(sim, words);
  if (strcmp(command, "dump") == 0 && words->n >= 5) return use_dump(sim, words);
  if (strcmp(command, "undump") == 0) md_file_unuse(sim->files, MD_FILE_DUMP, first);
  if (strcmp(command, "fix") == 0 && words->n >= 3) return use_fix(sim, words);
  if (strcmp(command, "unfix") == 0) md_file_unuse(sim->files, MD_FILE_FIX, first);
  if (strcmp(command, "write_data") == 0) return use(sim, MD_FILE_WRITE_DATA, NULL, first, true);
  if (strcmp(command, "write_dump") == 0 && words->n >= 3)
    return use(sim, MD_FILE_WRITE_DUMP, NULL, words->word[2], strcmp(words->word[1], "density") == 0);
  if (strcmp(command, "pair_write") == 0 && words->n >= 7)
    return use(sim, MD_FILE_PAIR_WRITE, NULL, words->word[6], false);
  if (strcmp(command, "write_restart") == 0) return use(sim, MD_FILE_WRITE_RESTART, NULL, first, true);
  if (strcmp(command, "read_data") == 0) return md_file_use(sim->files, MD_FILE_READ_DATA, NULL, first);
  if (strcmp(command, "read_restart") == 0) return md_file_use(sim->files, MD_FILE_READ_RESTART, NULL, first);
  if (strcmp(command, "log") != 0) return MD_OK;
  md_file_unuse(sim->files, MD_FILE_LOG, NULL);
  return strcmp(first, "none") == 0 ? MD_OK : use(sim, MD_FILE_LOG, NULL, first, false);
}

/* Removes a variable whose definition is not understood, because its value is unknown from here on. */
static void forget_variable(md_sim *sim)
{
  char name[64] = "", word[16] = "";
  if (sscanf(sim->follow_line, "%15s %63s", word, name) != 2 || strcmp(word, "variable") != 0) return;
  char delete[] = "delete";
  if (md_variables_define(sim->variables, 2, (char *[]){name, delete}) != MD_OK) return;
}

/* All ranks know the files of print. */
static md_status note_print(md_sim *sim, const md_words *words)
{
  md_status status = MD_OK;
  md_printed_file *file;
  for (int k = 1; k + 1 < words->n && sim->printed; k += 2)
    if (strcmp(words->word[k], "screen") != 0 && status == MD_OK)
      status = md_printed_note(sim->printed, words->word[k + 1], &file);
  return md_comm_agree(sim->comm, status);
}

/* The end of a word in a command, or in a command within quotes. */
static size_t word_length(const char *text) { return strcspn(text, " \t'\""); }

/* Notes the files of a print that begins here, whose words only the run knows. */
static md_status note_words(md_sim *sim, const char *text)
{
  md_printed_file *file;
  bool names = false;
  while (*text && *text != '\n') {
    char name[MD_PRINTED_NAME] = "";
    const size_t n = word_length(text);
    if (n > 0 && n < sizeof name) memcpy(name, text, n);
    if (names && n > 0 && !strchr(name, '$')) MD_TRY(md_printed_note(sim->printed, name, &file));
    if (n > 0) names = strcmp(name, "append") == 0 || strcmp(name, "file") == 0;
    text += n > 0 ? n : 1;
  }
  return MD_OK;
}

/* The same for each print in a text, at its beginning or after a quote. */
static md_status note_prints(md_sim *sim, const char *text)
{
  const char *at = text, *end = text;
  for (; sim->printed && (at = strstr(at, "print")) != NULL; at += 5) {
    for (end = at; end > text && (end[-1] == ' ' || end[-1] == '\t'); --end) continue;
    const bool begins = end == text || end[-1] == '\'' || end[-1] == '"';
    if (begins && word_length(at) == 5) MD_TRY(note_words(sim, at));
  }
  return MD_OK;
}

/* A command of which only the run knows whether it is reached. */
static md_status note_lost(md_sim *sim, const md_words *words)
{
  md_status status = MD_OK;
  for (int k = 1; k < words->n && status == MD_OK; ++k) status = note_prints(sim, words->word[k]);
  MD_TRY(md_comm_agree(sim->comm, status));
  const md_words after = {words->n - 1, words->word + 1};
  return strcmp(words->word[0], "print") == 0 ? note_print(sim, &after) : MD_OK;
}

/* The commands between the pieces of `run N every M 'COMMAND' ...`. One whose words only the run knows, such as an `if`
 * about a temperature, says nothing about the way through the deck after the run. */
static md_status follow_pieces(md_sim *sim, const md_words *words)
{
  const bool lost = sim->script.lost;
  int at = 1;
  while (at < words->n && strcmp(words->word[at], "every") != 0) ++at;
  for (int k = at + 2; k < words->n; ++k) {
    if (strcmp(words->word[k], "NULL") != 0) MD_TRY(md_deck_line(sim, words->word[k]));
    sim->script.lost = lost;
  }
  return MD_OK;
}

static md_status follow(md_sim *sim, const md_words *words)
{
  if (!words) {
    if (!sim->script.lost) forget_variable(sim);
    return md_comm_agree(sim->comm, note_prints(sim, sim->follow_line));
  }
  if (sim->script.lost) return note_lost(sim, words);
  const char *command = words->word[0];
  const md_words after = {words->n - 1, words->word + 1};
  if (strcmp(command, "run") == 0) return follow_pieces(sim, &after);
  if (strcmp(command, "variable") == 0) {
    if (after.n < 2 || md_variables_define(sim->variables, after.n, after.word) != MD_OK)
      forget_variable(sim);
    return MD_OK;
  }
  const md_status status =
      md_comm_agree(sim->comm, sim->comm->rank == 0 ? md_preview_files(sim, command, &after) : MD_OK);
  if (status != MD_OK) in_vain = true;
  if (status == MD_OK && strcmp(command, "print") == 0) return note_print(sim, &after);
  return status;
}

md_status md_deck_preview(md_sim *probe, FILE *deck, const char *name, md_error_record *found)
{
  in_vain = false;
  probe->follow = follow;
  const md_status status = md_deck_run(probe, deck, name);
  probe->follow = NULL;
  /* Other errors are reported by the later reading of the deck. */
  md_error_save(found, in_vain ? status : MD_OK);
  if (fseek(deck, 0, SEEK_SET) == 0) return MD_OK;
  return md_error(MD_RUNTIME, "the deck %.500s cannot be read twice: %s", name, strerror(errno));
}
