/* Dumps: files of particles, or pictures of them, written at regular steps.
 *
 * One observer (dump.c) serves all styles. It decides when a frame is due and which file it goes to, and it opens
 * and closes files. A style only defines what a frame looks like. A text style has a header and columns:
 * dump_columns.c formats the rows, and dump_rows.c writes them, from all ranks into one file. Other styles write
 * the frame themselves. dump_styles.def lists the styles. The file of a style is dump_<style>.c.
 */
#ifndef MD_SRC_DUMP_DUMP_H
#define MD_SRC_DUMP_DUMP_H

#include "src/density/density.h"
#include "src/files/number_format.h"
#include "src/files/rows.h"
#include "src/image/image.h"
#include "src/output/output_steps.h"
#include "src/sim.h"

typedef struct md_dump md_dump;

/* The particles of one step, as the columns read them: those of this rank, or those whose rows this rank writes. */
typedef struct md_frame {
  const md_model *model;
  md_rows rows;
  bool in_run; /* velocities are in the engine's form: md_model_velocity converts them */
  int64_t step;
  int64_t count; /* particles of the frame, over all ranks */
} md_frame;

typedef enum md_dump_what {
  MD_DUMP_ID,
  MD_DUMP_TYPE,
  MD_DUMP_X,
  MD_DUMP_XS, /* scaled to the box, 0..1 */
  MD_DUMP_V,
  MD_DUMP_F,
  MD_DUMP_MASS,
  MD_DUMP_ELEMENT,
  MD_DUMP_COMPUTE, /* c_ID of the model's computes */
  MD_DUMP_NAMED    /* xu, v_NAME, or c_ID[K] of another compute: one of md_dump_named */
} md_dump_what;

typedef struct md_dump_column {
  char name[72];
  md_dump_what what;
  int axis;                    /* of MD_DUMP_NAMED: its place in the list */
  md_compute compute;          /* of MD_DUMP_COMPUTE */
  double scale;                /* real values are shown times this; 0: as they are */
  char format[MD_FORMAT_SIZE]; /* of this column only; "": none */
} md_dump_column;

/* Values of particles that the rows of a dump show beside the fields of particles, by name
 * (src/formula/particle_values.h). */
typedef struct md_dump_named {
  int n;
  char **name;
  double **value; /* [n][particle] of the frame that is being written */
} md_dump_named;

typedef enum md_dump_operator {
  MD_DUMP_LESS,
  MD_DUMP_LESS_EQUAL,
  MD_DUMP_MORE,
  MD_DUMP_MORE_EQUAL,
  MD_DUMP_EQUAL,
  MD_DUMP_NOT_EQUAL,
  MD_DUMP_EITHER /* one of both is 0, the other not */
} md_dump_operator;

/* A particle is shown if its value and the bound compare so (dump_modify thresh). */
typedef struct md_dump_threshold {
  md_dump_column column;
  md_dump_operator is;
  double bound;
} md_dump_threshold;

typedef struct md_dump_style {
  const char *name;
  /* Reads the words after FILE. MD_USAGE: a word is refused; the message names it. */
  md_status (*parse)(md_dump *, md_sim *, const md_words *) MD_CHECKED;
  /* Text styles: adds the text before and after the rows of a frame. first: the frame is the first in its file.
   * trailer may be NULL. */
  void (*header)(const md_dump *, const md_frame *, bool first, md_text *);
  void (*trailer)(const md_dump *, const md_frame *, md_text *);
  /* Styles with their own kind of file: removes the frames that the mark of a restart does not count. Collective. */
  md_status (*resume)(md_dump *, md_sim *, const md_output_mark *) MD_CHECKED;
  /* The frames that are in its file now; -1: not known. May be NULL. */
  int64_t (*count)(const md_dump *);
  /* Other styles: writes the frame to the file `path`, and takes the data from the view. Collective. */
  md_status (*draw)(md_dump *, md_view *, const char *path) MD_CHECKED;
  /* Frees what the style has of its own, and ends its files. May be NULL. MD_RUNTIME: a file is not complete. */
  md_status (*close)(md_dump *) MD_CHECKED;
  bool rises;     /* the steps of the frames of one file go up */
  bool same_rows; /* the file says once how many rows each of its frames has */
} md_dump_style;

struct md_dump {
  md_observer observer; /* must come first, so that a pointer to it is also a pointer to the dump */
  const md_dump_style *style;
  md_output_steps frames;
  char *path; /* a * stands for the step */
  int pad;    /* minimum number of digits of that step */
  bool append, show_first, sorted, show_time, show_units;
  int precision; /* significant digits where no format is given */
  char format_int[MD_FORMAT_SIZE], format_float[MD_FORMAT_SIZE];
  int ncolumn;
  md_dump_column *column;
  md_dump_named named;
  int nthreshold;
  md_dump_threshold *threshold;
  char region[64]; /* only particles in it are shown; "": everywhere */
  int ntypes;
  char (*element)[12]; /* by type, from 1: a chemical symbol, or in style xyz the number of the type */

  md_density density;
  md_image *image; /* of image and movie; else NULL */
  bool furniture;  /* title, scales and colour bar around a picture */

  md_output *output; /* the open file, if the name has no *; otherwise NULL */
  int64_t run_start; /* first step of the present run */
  int64_t last_step; /* step of the last frame; -1: none */
  int64_t only;      /* the step of its only frame; -1: it shows those of `frames` */
  int64_t rows;      /* of styles whose frames all have the same rows: how many; -1: not known yet */
  uint64_t ids;      /* of h5md: the hash of the ids of the rows, once `rows` is known */
  int64_t nframes;   /* of h5md: frames in its file; -1: not known yet */
};

#define MD_DUMP_STYLE(name) extern const md_dump_style md_dump_##name;
#include "src/dump/dump_styles.def"
#undef MD_DUMP_STYLE

/* Changes settings of a dump: keywords of dump_modify, each with its values. MD_USAGE: a word is refused. */
md_status md_dump_change(md_sim *sim, md_dump *dump, const md_words *words) MD_CHECKED;

/* Is the observer a dump to one file in which steps go up? */
bool md_dump_needs_rise(const md_observer *observer);

/* Adds a dump of the words of write_dump, GROUP STYLE FILE ARGUMENTS ..., that writes the frame of one step in a run.
 * Collective. MD_USAGE: a word is refused. */
md_status md_dump_once(md_sim *sim, const md_words *words, int64_t step) MD_CHECKED;

/* Finds the dump with the id `id`. MD_USAGE: there is none; the message lists the dumps. */
md_status md_dump_find(md_sim *sim, const char *id, md_dump **dump) MD_CHECKED;

/* Are the values of all columns there? Those of computes become those of the computes that have their IDs now.
 * MD_USAGE: no. */
md_status md_dump_check_columns(md_dump *dump, md_sim *sim) MD_CHECKED;

/* Replaces the columns by the n named ones (dump_columns.c). MD_USAGE: a name is unknown; the message lists the
 * known ones. */
md_status md_dump_set_columns(md_dump *dump, md_sim *sim, int n, const char *const *name) MD_CHECKED;
/* The column of a name, for rows and thresholds. MD_USAGE: the name is unknown; the message lists the known ones. */
md_status md_dump_find_column(md_dump *dump, md_sim *sim, const char *name,
                              md_dump_column *column) MD_CHECKED;
/* The number in a column for particle i of the frame's rows; of an element, its type. */
double md_dump_value(const md_dump_column *column, const md_frame *frame, int64_t i);
/* The number of particles of the group that a dump shows, over all ranks. */
int64_t md_dump_count(const md_dump *dump, const md_model *model);
/* The rows of this rank of the dump's group, after md_view_particles, in the order of ids. *chosen: the caller frees
 * it; rows may point at it. MD_RUNTIME: out of memory. */
md_status md_dump_rows(const md_dump *dump, md_view *view, md_rows *rows, int32_t **chosen) MD_CHECKED;
/* The same with named values, and only those that pass thresholds and region (dump_select.c). *count: the rows of all
 * ranks. Collective. MD_USAGE: a named value is not known. MD_RUNTIME: out of memory. */
md_status md_dump_select(md_dump *dump, md_view *view, md_rows *rows, int32_t **chosen,
                         int64_t *count) MD_CHECKED;
/* Frees the values of named columns that md_dump_select has found. */
void md_dump_forget_named(md_dump *dump);
/* The keywords thresh and region of dump_modify; as the others in dump_modify.c. */
md_status md_dump_set_threshold(md_sim *sim, md_dump *dump, char **arg, int left, int *used) MD_CHECKED;
md_status md_dump_set_region(md_sim *sim, md_dump *dump, char **arg, int left, int *used) MD_CHECKED;
/* The kind of format that a column takes. */
md_format_kind md_dump_column_kind(const md_dump_column *column);
/* Whether a column of the dump shows forces. */
bool md_dump_wants_forces(const md_dump *dump);

/* Adds rows [first, first + count) to the text, one line for each particle. Several threads may format different
 * rows. */
void md_dump_format_rows(const md_dump *dump, const md_frame *frame, int64_t first, int64_t count,
                         md_text *text);

/* Writes a text frame of all ranks to a file (dump_rows.c), with `threads` threads; 0: all. Collective.
 * MD_RUNTIME: the write failed, for example because the disk is full. */
md_status md_dump_write_frame(const md_dump *dump, const md_frame *frame, md_comm *comm, int threads,
                              md_output *output) MD_CHECKED;

#endif
