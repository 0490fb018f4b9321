/* Dumps: files of particles or pictures of them, written every so many steps.
 *
 * One observer (dump.c) serves all styles: when a frame is due, which file it goes to, opening and closing. A style
 * only says what a frame looks like: either text, as a header and columns (dump_columns.c formats the rows and
 * dump_rows.c writes them, all ranks into one file), or a drawing. The list of styles stands in dump.c, their files are dump_<style>.c.
 */
#ifndef MD_SRC_OUTPUT_DUMP_H
#define MD_SRC_OUTPUT_DUMP_H

#include "src/files/number_format.h"
#include "src/files/rows.h"
#include "src/sim.h"

typedef struct md_dump md_dump;

/* Particles of one step, as the columns read them: this rank's, or those of which it writes the rows. */
typedef struct md_frame {
  const md_model *model;
  md_rows rows;
  bool in_run; /* velocities are as engines hold them: md_model_velocity gives them */
  int64_t step;
} md_frame;

typedef enum md_dump_what {
  MD_DUMP_ID,
  MD_DUMP_TYPE,
  MD_DUMP_X,
  MD_DUMP_XS, /* scaled to the box, 0..1 */
  MD_DUMP_V,
  MD_DUMP_F,
  MD_DUMP_MASS,
  MD_DUMP_ELEMENT
} md_dump_what;

typedef struct md_dump_column {
  const char *name;
  md_dump_what what;
  int axis;
  char format[MD_FORMAT_SIZE]; /* of this column alone; "" = none */
} md_dump_column;

typedef struct md_dump_style {
  const char *name;
  /* The words behind FILE. MD_USAGE names the token. */
  md_status (*parse)(md_dump *, md_sim *, const md_words *) MD_CHECKED;
  /* Text styles: what stands before and (may be NULL) behind the rows of a frame; `first` frame of its file. */
  void (*header)(const md_dump *, const md_frame *, bool first, md_text *);
  void (*trailer)(const md_dump *, const md_frame *, md_text *);
  /* Styles that go on with a file of their own kind: cuts off what is behind dump->last_step. Collective. */
  md_status (*resume)(md_dump *, md_sim *) MD_CHECKED;
  /* Other styles: writes the frame to the file of that name, fetching what it needs from the view. Collective. */
  md_status (*draw)(const md_dump *, md_view *, const char *path) MD_CHECKED;
} md_dump_style;

struct md_dump {
  md_observer observer; /* first: an observer of a dump is a dump */
  const md_dump_style *style;
  int64_t every;
  char *path; /* with * where the step goes */
  int pad;    /* least digits of that step */
  bool append, show_first, sorted, show_time, show_units;
  int precision; /* significant digits where no format is given */
  char format_int[MD_FORMAT_SIZE], format_float[MD_FORMAT_SIZE];
  int ncolumn;
  md_dump_column *column;
  int ntypes;
  char (*element)[4]; /* by type, from 1 */

  int bins; /* density: pixels along the longer side */
  int axis; /* ... seen along this axis */
  bool logarithmic;
  bool furniture; /* title, axes and a bar of colours round the picture */

  md_output *output; /* the open file of a dump without *, else NULL */
  int64_t run_start; /* first step of the present run */
  int64_t last_step; /* of the last frame; -1: none */
};

extern const md_dump_style md_dump_custom, md_dump_atom, md_dump_extxyz, md_dump_frames, md_dump_density,
    md_dump_h5md;

/* The dump of that id. MD_USAGE: none, listing those there are. */
md_status md_dump_find(md_sim *sim, const char *id, md_dump **dump) MD_CHECKED;

/* Columns (dump_columns.c): replaces them by n named ones, whose names the table must know; MD_USAGE lists it. */
md_status md_dump_set_columns(md_dump *dump, int n, const char *const *name) MD_CHECKED;
md_format_kind md_dump_column_kind(const md_dump_column *column);
bool md_dump_wants_forces(const md_dump *dump);

/* The bytes of rows [first, first + count), one line per particle; several threads may do different rows. */
void md_dump_format_rows(const md_dump *dump, const md_frame *frame, int64_t first, int64_t count,
                         md_text *text);

/* A whole text frame of all ranks to a file (dump_rows.c), on `threads` threads, 0: all. Collective.
 * MD_RUNTIME: disk full, ... */
md_status md_dump_write_frame(const md_dump *dump, const md_frame *frame, md_comm *comm, int threads,
                              md_output *output) MD_CHECKED;

#endif
