/* Output fixes: fixes of a deck that only look at the system, such as ave/time and print. They are observers.
 *
 * Several have numbers for others, f_ID: one number, a vector, an array. These change only where the fix looks. At one
 * step output fixes come before the thermo row, in the order of the deck, as in LAMMPS, so that a row shows what they
 * have just found. What they look at has the same bits on all ranks and engines, and their arithmetic is done on all
 * ranks alike. So their numbers and files are the same everywhere too.
 *
 * A style is a line in output_fixes.def and a file fix_NAME.c with a md_output_fix_style. The base writes the file, and
 * keeps state and length of the file in restarts.
 */
#ifndef MD_SRC_AVERAGES_OUTPUT_FIX_H
#define MD_SRC_AVERAGES_OUTPUT_FIX_H

#include "src/averages/values.h"
#include "src/properties/id_values.h"

typedef struct md_output_fix md_output_fix;
typedef struct md_schedule md_schedule; /* src/averages/averaging.h */

/* A walk over the state of a fix: to count its numbers, to save or to load them. So the three always agree. */
typedef struct md_fix_state {
  enum { MD_STATE_COUNT, MD_STATE_SAVE, MD_STATE_LOAD } mode;
  int64_t n, at; /* numbers in all, and so far */
  double *number;
} md_fix_state;

/* Handles n numbers of a state. While loading, false: the state has fewer, and the numbers stay as they are. */
bool md_fix_state_reals(md_fix_state *state, int64_t n, double *value);
/* Handles a whole number of at most 2^53 in size. */
bool md_fix_state_whole(md_fix_state *state, int64_t *value);

typedef struct md_output_fix_style {
  const char *name;
  const char *usage; /* "print N TEXT" */
  const char *help;  /* lines of at most 100 characters */
  size_t size;       /* of the style's struct, which begins with a md_output_fix */
  /* The fix needs consecutive steps: once it has looked at one, reset_timestep and run -N are refused. */
  bool keeps_step;
  /* Reads the words after the name, and sets title, path and values. MD_USAGE: a word is refused. */
  md_status (*parse)(md_output_fix *, md_sim *, const md_words *) MD_CHECKED;
  /* A run begins with `step`, or before any look the present step becomes `step`. Steps before it, such as those of a
   * minimisation, may have been missed. May be NULL. */
  void (*begin)(md_output_fix *, int64_t step);
  /* The first step >= `step` at which the fix looks. NULL: that of its schedule, or it never looks. */
  int64_t (*due)(const md_output_fix *, int64_t step);
  /* The last step <= `step` at which it looks in a run that goes back; negative: never. NULL if it counts on steps that
   * follow each other, or never looks. */
  int64_t (*due_back)(const md_output_fix *, int64_t step);
  /* Looks at the system, and writes to fix->text what goes to the file. Collective. */
  md_status (*look)(md_output_fix *, md_view *) MD_CHECKED;
  /* For a style that changes the particles after some steps of a run, else NULL (src/edit/run_edits.h): the first step
   * >= `step` after which it does; and what it does. The particles are as between two runs then. Collective. */
  int64_t (*edit_due)(const md_output_fix *, int64_t step);
  md_status (*edit)(md_output_fix *, md_sim *) MD_CHECKED;
  /* The number of the present step grows by `by`, which may be negative. NULL: the style has no steps of its own. */
  void (*shift)(md_output_fix *, int64_t by);
  bool edits_first; /* it also changes the particles before the first step of a run that is not resumed */
  /* Handles the state; NULL: there is none. MD_RUNTIME: out of memory. */
  md_status (*walk)(md_output_fix *, md_fix_state *) MD_CHECKED;
  /* Frees what the style has; may be NULL. */
  void (*free)(md_output_fix *);
} md_output_fix_style;

struct md_output_fix {
  md_observer observer; /* must come first; its id is "fix" and a blank before that of the fix */
  const md_output_fix_style *style;
  char id[64];
  md_values values;
  md_schedule *schedule; /* of its looks, which the base follows; NULL: `begin` and `due` find them */
  /* a value or several of each particle, f_ID or f_ID[K]; NULL: none. The style frees them */
  md_id_values *each;
  char *path;     /* of the file; NULL: none */
  char *title;    /* its first lines, with newlines */
  char *line[3];  /* title1, title2 and title3 of the deck; NULL: not given */
  bool append;    /* to a file that is there */
  bool overwrite; /* each text replaces the one before, after the title */
  md_text text;   /* to write after `look` */
  md_output *output;
  int64_t last_step; /* of the last look; -1: none; INT64_MAX: it had another number, before reset_timestep */
  int64_t made_at;   /* the step when it was defined, or its number since reset_timestep */
  int64_t runs;      /* runs of the deck that had begun when the fix was defined */
};

#define MD_OUTPUT_FIX(symbol) extern const md_output_fix_style md_fix_##symbol##_style;
#include "src/averages/output_fixes.def"
#undef MD_OUTPUT_FIX

/* The style with this name; NULL: there is none. */
const md_output_fix_style *md_output_fix_style_find(const char *name);
/* The style number k, from 0; NULL beyond the last. */
const md_output_fix_style *md_output_fix_style_at(int k);

/* Makes a fix of the style, the ID and the place in the list of the fix `old`, which it removes. After an error in the
 * words the old one is still there. MD_USAGE: a word is refused. MD_RUNTIME: the file of the old one is not complete.
 * Collective. */
md_status md_output_fix_replace(md_sim *sim, md_output_fix *old, int group, const md_words *words) MD_CHECKED;

/* Makes an output fix of the words after its style, and puts it among the observers, before all that are none. After
 * an error there is no such fix. MD_USAGE: a word is refused. Collective. */
md_status md_output_fix_new(md_sim *sim, const md_output_fix_style *style, const char *id, int group,
                            const md_words *words) MD_CHECKED;

/* The output fix with an id of n letters; NULL: there is none. */
md_output_fix *md_output_fix_find(const md_sim *sim, const char *id, size_t n);

/* The column of the values for each particle that a name f_ID or f_ID[K] says, from 0, and its fix; NULL: the name is
 * of no such value. */
md_output_fix *md_output_fix_each(const md_sim *sim, const char *name, int *column);

/* Is the observer an output fix? */
bool md_is_output_fix(const md_observer *observer);

/* Removes the fix and closes its file. MD_RUNTIME: the file could not be completed. */
md_status md_output_fix_remove(md_sim *sim, md_output_fix *fix) MD_CHECKED;

/* The number of the present step will be `step`. MD_USAGE: a fix has looked at steps that must follow each other.
 * command: which changes the number. */
md_status md_output_fixes_reset(md_sim *sim, const char *command, int64_t step) MD_CHECKED;

/* Does an output fix count on steps that follow each other? */
bool md_output_fixes_keep_step(const md_sim *sim);

/* Can output fixes go on from a restart at once, as if the run in which it was written had just come there? Those that
 * count on steps take their sums from its n marks. nrun: the runs of the deck that had begun then, which are those of
 * the present deck. MD_USAGE: a fix has no sums there. */
md_status md_output_fixes_check_jump(const md_sim *sim, int64_t nrun, const md_output_mark *mark,
                                     int64_t n) MD_CHECKED;
/* Takes these sums. Files stay as they are. MD_RUNTIME: sums do not suit their fix. */
md_status md_output_fixes_jump(md_sim *sim, const md_output_mark *mark, int64_t n) MD_CHECKED;

/* Takes the value of the keyword title1, title2 or title3. MD_USAGE: it is another keyword; `accepted` lists those of
 * the style. */
md_status md_output_fix_read_title(md_output_fix *fix, const char *keyword, const char *value,
                                   const char *accepted) MD_CHECKED;
/* Makes the title of n <= 3 lines: those of the deck, or else the standard ones, which are freed. */
md_status md_output_fix_set_title(md_output_fix *fix, int n, md_text *standard) MD_CHECKED;

/* Copies a text; *copy is freed before. MD_RUNTIME: out of memory. */
md_status md_output_fix_copy(const char *text, char **copy) MD_CHECKED;

#endif
