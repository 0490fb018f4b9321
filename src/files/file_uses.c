/* A list of file uses; each new use is compared with all earlier ones; see file_uses.h.
 *
 * The list stores names. The file of a name is looked up again at each comparison, for two reasons: a file that
 * did not exist may exist now, and a file that is replaced by renaming gets a new inode each time. Only uses that
 * would not agree on one file are compared, so that a loop over thousands of files is cheap.
 */
#include "src/files/file_uses.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct place {
  dev_t device;
  ino_t inode;
} place;

/* The identity of a file, or of the files of a name with *. */
typedef struct identity {
  bool known, exists, in_folder;
  place file, folder;
  const char *name; /* name in the folder; points into the path */
} identity;

typedef struct use {
  md_file_role role;
  char *id, *path; /* id NULL: none; path NULL: the file is `stream` */
  place stream;
  bool ended;
} use;

struct md_file_uses {
  int n;
  use *list;
  md_file_uses *next; /* of another simulation of this process */
};

static md_file_uses *records; /* of all simulations that show theirs */

static const struct {
  const char *name;
  bool lasting, reads;
} roles[] = {
    [MD_FILE_DECK] = {"the deck", true, true},
    [MD_FILE_INCLUDE] = {"a command that reads", false, true},
    [MD_FILE_OUT] = {"the standard output", true, false},
    [MD_FILE_SCREEN] = {"the screen", true, false},
    [MD_FILE_LOG] = {"the log", true, false},
    [MD_FILE_READ_DATA] = {"read_data", false, true},
    [MD_FILE_READ_RESTART] = {"read_restart", false, true},
    [MD_FILE_POTENTIAL] = {"pair_coeff", false, true},
    [MD_FILE_DUMP] = {"dump", true, false},
    [MD_FILE_RESTART] = {"restart", true, false},
    [MD_FILE_WRITE_DATA] = {"write_data", false, false},
    [MD_FILE_WRITE_DUMP] = {"write_dump", false, false},
    [MD_FILE_WRITE_RESTART] = {"write_restart", false, false},
    [MD_FILE_PRINT] = {"print", false, false},
    [MD_FILE_PAIR_WRITE] = {"pair_write", false, false},
    [MD_FILE_FIX] = {"fix", true, false},
    [MD_FILE_FRAME] = {"myriad frame -o", true, false},
};

md_status md_file_uses_new(md_file_uses **uses)
{
  *uses = calloc(1, sizeof **uses);
  return *uses ? MD_OK : md_error(MD_RUNTIME, "out of memory for the names of files");
}

void md_file_uses_show(md_file_uses *uses)
{
  uses->next = records;
  records = uses;
}

static void free_use(use *u)
{
  free(u->id);
  free(u->path);
}

void md_file_uses_free(md_file_uses *uses)
{
  for (md_file_uses **at = &records; *at; at = &(*at)->next)
    if (*at == uses) {
      *at = uses->next;
      break;
    }
  for (int k = 0; uses && k < uses->n; ++k) free_use(&uses->list[k]);
  if (uses) free(uses->list);
  free(uses);
}

static place place_of(const struct stat *about) { return (place){about->st_dev, about->st_ino}; }

static bool same_place(place a, place b) { return a.device == b.device && a.inode == b.inode; }

static bool find_folder(const char *path, place *folder)
{
  const char *slash = strrchr(path, '/');
  char *name = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
  struct stat about;
  const bool found = name && stat(name, &about) == 0;
  if (found) *folder = place_of(&about);
  free(name);
  return found;
}

static identity identify(const char *path)
{
  struct stat about;
  identity it = {.known = true};
  const char *slash = strrchr(path, '/');
  it.name = slash ? slash + 1 : path;
  it.exists = !strchr(path, '*') && stat(path, &about) == 0;
  if (it.exists && !S_ISREG(about.st_mode)) return (identity){.known = false};
  if (it.exists) it.file = place_of(&about);
  it.in_folder = find_folder(path, &it.folder);
  it.known = it.exists || it.in_folder;
  return it;
}

static identity identity_of(const use *u)
{
  if (u->path) return identify(u->path);
  return (identity){.known = true, .exists = true, .file = u->stream};
}

/* Whether `name` is the pattern with a step in place of the *. */
static bool matches(const char *pattern, const char *name)
{
  const char *star = strchr(pattern, '*');
  const size_t before = (size_t)(star - pattern);
  if (strncmp(pattern, name, before) != 0) return false;
  const size_t digits = strspn(name + before, "0123456789");
  return digits > 0 && strcmp(name + before + digits, star + 1) == 0;
}

static bool same_file(const identity *a, const identity *b)
{
  if (!a->known || !b->known) return false;
  if (a->exists && b->exists) return same_place(a->file, b->file);
  if (!a->in_folder || !b->in_folder || !same_place(a->folder, b->folder)) return false;
  if (strcmp(a->name, b->name) == 0) return true;
  const bool many_a = strchr(a->name, '*'), many_b = strchr(b->name, '*');
  return (many_a && !many_b && matches(a->name, b->name)) || (many_b && !many_a && matches(b->name, a->name));
}

static bool is_restart(md_file_role role)
{
  return role == MD_FILE_READ_RESTART || role == MD_FILE_RESTART || role == MD_FILE_WRITE_RESTART;
}

/* Whether two uses of one file are allowed: both read it, or the old use has ended and the new one reads or replaces
 * its file. A file may be replaced by the same role, and a restart by another restart. */
static bool agrees(const use *old, const use *new)
{
  if (roles[old->role].reads && roles[new->role].reads) return true;
  if (roles[new->role].reads && old->ended) return true;
  return old->ended && (old->role == new->role || (is_restart(old->role) && is_restart(new->role)));
}

static md_status conflict(const use *old, const use *new, bool of_another)
{
  const char *const old_id = old->id ? old->id : "", *const new_id = new->id ? new->id : "";
  if (roles[new->role].reads)
    return md_error(MD_USAGE, "%.300s is still written by %s%s%.64s%s; end that before the file is read",
                    new->path ? new->path : "a file", roles[old->role].name, *old_id ? " " : "", old_id,
                    of_another ? " of another simulation" : "");
  return md_error(
      MD_USAGE,
      "%s%s%.64s would write to %.300s, which is the file of %s%s%.64s%s%s%.300s; choose another name",
      roles[new->role].name, *new_id ? " " : "", new_id, new->path ? new->path : "a file",
      roles[old->role].name, *old_id ? " " : "", old_id, of_another ? " of another simulation" : "",
      old->path ? ", " : "", old->path ? old->path : "");
}

/* Other simulations must not write to the file meanwhile. A log may be shared, as that of the one before often is. */
static md_status compare_with_others(const md_file_uses *uses, const use *new, const identity *it)
{
  for (const md_file_uses *r = records; r; r = r->next)
    for (int k = 0; k < r->n && r != uses; ++k) {
      const use *old = &r->list[k];
      const bool log = old->role == MD_FILE_LOG && new->role == MD_FILE_LOG;
      if (old->ended || log || roles[old->role].reads) continue;
      const identity other = identity_of(old);
      if (same_file(&other, it)) return conflict(old, new, true);
    }
  return MD_OK;
}

/* Whether a use says nothing that an earlier one does not say. */
static bool is_repeated(const use *old, const use *new)
{
  return old->role == new->role && old->ended &&new->ended && !old->id && !new->id &&
         old->path &&new->path &&strcmp(old->path, new->path) == 0;
}

/* Takes the words of *new, unless it fails. */
static md_status add(md_file_uses *uses, use *new)
{
  const identity it = identity_of(new);
  bool repeated = false;
  MD_TRY(compare_with_others(uses, new, &it));
  for (int k = 0; k < uses->n; ++k) {
    const use *old = &uses->list[k];
    /* Most uses of a loop agree, and need no look at the file. */
    if (!agrees(old, new)) {
      const identity other = identity_of(old);
      if (same_file(&other, &it)) return conflict(old, new, false);
    }
    repeated = repeated || is_repeated(old, new);
  }
  /* A loop of the deck uses a file over and over. */
  if (repeated) {
    free_use(new);
    return MD_OK;
  }
  use *larger = realloc(uses->list, (size_t)(uses->n + 1) * sizeof *larger);
  if (!larger) return md_error(MD_RUNTIME, "out of memory for the names of files");
  uses->list = larger;
  uses->list[uses->n++] = *new;
  return MD_OK;
}

md_status md_file_use(md_file_uses *uses, md_file_role role, const char *id, const char *path)
{
  if (!uses) return MD_OK;
  use new = {.role = role, .id = id ? strdup(id) : NULL, .path = strdup(path), .ended = !roles[role].lasting};
  md_status status =
      new.path && (new.id || !id) ? MD_OK : md_error(MD_RUNTIME, "out of memory for a file's name");
  if (status == MD_OK) status = add(uses, &new);
  if (status != MD_OK) free_use(&new);
  return status;
}

md_status md_file_use_stream(md_file_uses *uses, md_file_role role, FILE *file)
{
  struct stat about;
  if (!uses || fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode)) return MD_OK;
  return add(uses, &(use){.role = role, .stream = place_of(&about)});
}

bool md_file_was_used(const md_file_uses *uses, md_file_role role, const char *path)
{
  const identity it = identify(path);
  for (int k = 0; uses && k < uses->n; ++k) {
    const identity other = identity_of(&uses->list[k]);
    if (uses->list[k].role == role && same_file(&other, &it)) return true;
  }
  return false;
}

bool md_file_is_shared(const md_file_uses *uses, md_file_role role, const char *path)
{
  const identity it = identify(path);
  for (const md_file_uses *r = uses ? records : NULL; r; r = r->next)
    for (int k = 0; k < r->n && r != uses; ++k) {
      const identity other = identity_of(&r->list[k]);
      if (r->list[k].role == role && !r->list[k].ended && same_file(&other, &it)) return true;
    }
  return false;
}

bool md_file_is_written(const md_file_uses *uses, const char *path)
{
  const identity it = identify(path);
  for (int k = 0; uses && k < uses->n; ++k) {
    const identity other = identity_of(&uses->list[k]);
    if (!roles[uses->list[k].role].reads && same_file(&other, &it)) return true;
  }
  return false;
}

void md_file_unuse(md_file_uses *uses, md_file_role role, const char *id)
{
  for (int k = 0; uses && k < uses->n; ++k) {
    use *u = &uses->list[k];
    if (u->role == role && (!id || (u->id && strcmp(u->id, id) == 0))) u->ended = true;
  }
}
