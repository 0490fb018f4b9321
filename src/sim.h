/* The simulation: the model, the particles, and everything else that the commands of a deck set up.
 *
 * A session (src/library/session.h) makes one md_sim and gives it a communicator, an engine, a log and options. Each
 * command's handler (src/deck/command.h) then reads and changes it. The command `run` (src/run) gives the model and the
 * particles to the engine.
 */
#ifndef MD_SRC_SIM_H
#define MD_SRC_SIM_H

#include "common/engine.h"
#include "src/deck/command.h"
#include "src/deck/history.h"
#include "src/files/file_uses.h"
#include "src/formula/variable.h"
#include "src/log.h"
#include "src/minimize/settings.h"
#include "src/output/observer.h"
#include "src/script/script.h"
#include "src/thermo/thermo.h"

enum { MD_BASIS_MAX = 64 };

/* Has a fix halt ended the present run, or all runs of the deck? */
typedef enum md_halted { MD_HALT_NONE, MD_HALT_RUN, MD_HALT_ALL } md_halted;

/* A lattice of sites. Site m of cell (i, j, k) is at
 *   scale * ((i + basis[m][0]) edge[0] + (j + basis[m][1]) edge[1] + (k + basis[m][2]) edge[2]) + cell * origin,
 * in sigma. If the lattice is rectangular, edge[d] is side[d] along axis d. */
typedef struct md_lattice {
  bool set;
  bool rectangular;
  double cell[3];                /* the length of one lattice unit along each axis, sigma */
  double side[3];                /* of a rectangular lattice, in units of scale */
  double edge[3][3];             /* edges of the repeated cell in the axes of the box, in units of scale */
  double scale;                  /* sigma */
  double origin[3];              /* in units of cell */
  int nbasis;                    /* 0 for lattice none: units only, no sites */
  double basis[MD_BASIS_MAX][3]; /* fractions of a cell */
} md_lattice;

typedef struct md_region md_region;             /* src/region/region.h */
typedef struct md_host_compute md_host_compute; /* src/computes/host_compute.h */
typedef struct md_id_values md_id_values;       /* src/properties/id_values.h */

/* The name that the deck gave to a fix. The model holds the fixes in the same order, except output fixes, which are
 * observers (src/averages). */
typedef struct md_fix_name {
  char id[64];
  bool output;
  struct md_fix_name *next;
} md_fix_name;

/* A command that this program accepts and ignores, after a note about it was printed. */
typedef struct md_explained {
  char name[64];
  struct md_explained *next;
} md_explained;

/* The state of `myriad plan` and `myriad check`. For `plan`, the deck is followed up to its first run. That run
 * then prints what it would need, and does not start (plan.h). */
typedef struct md_planning {
  bool on;
  int64_t particles; /* number to plan for; 0: as many as the deck makes */
  int64_t ranks;     /* number to plan for; 0: one */
  bool done;         /* the plan has been printed: the rest of the deck is not read */
  bool checking;     /* commands are checked and not executed, `run` included (src/deck/check.h) */
} md_planning;

/* Restarts that are written during a run, as the command `restart` asks. */
typedef struct md_restarts {
  int64_t every; /* steps; 0: none */
  char *name[2]; /* used in turn; in a name with *, the step replaces the *, and there is no second name */
  int next;
  int64_t last_step; /* of the last restart; -1: none */
  int64_t last_run;  /* of the last restart: the number of runs, with its own */
  double seconds;    /* longest time that one restart took to write */
  char stop[256];    /* file for a run that is stopped, if the deck gives no names */
  char last[1024];   /* the file written last */
} md_restarts;

typedef struct md_check md_check;
typedef struct md_resume md_resume;
typedef struct md_still md_still;
typedef struct md_stop md_stop;

typedef struct md_last_tensor {
  bool known;
  int of; /* the compute of the pressure */
  double value[MD_TENSOR];
} md_last_tensor;

/* A formula may give a number of a fix for the positions after step model->step. It may only read what is known of a
 * step that is still to come, and its box is that of these positions. */
typedef enum md_foretold {
  MD_FORETELLS_NOTHING,
  MD_FORETELLS_PRESENT, /* of the present positions, whose box may be about to change in the next step */
  MD_FORETELLS_LATER    /* of a step to come, after such a change */
} md_foretold;

struct md_sim {
  md_model model;
  md_particles particles;
  md_comm *comm;
  const md_engine_kind *engine;
  md_engine_options options;
  md_planning planning;
  md_log *log;
  md_file_uses *files; /* files that this run reads and writes; NULL: not recorded. Owned by the caller */
  struct md_printed
      *printed; /* files of print (src/files/printed_files.h); NULL: not recorded. Owned by the caller */
  md_variables *variables;
  md_lattice lattice;
  md_region *regions;
  md_host_compute *host_computes; /* computes of the deck that are not in the model */
  struct md_followed *followed;   /* what these follow (src/follow/followed.h), in a list */
  md_fix_name *fixes;             /* in the order of the deck */
  md_id_values *id_values;        /* what fixes keep for each particle */
  struct md_images *images;       /* counts image flags (src/follow/images.h); NULL: the deck has not asked */
  bool unwraps;                   /* a formula of the deck needs image flags */
  bool from_restart;              /* read_restart has made the system */
  bool images_missed;             /* runs or displacements were without image flags */
  md_min_settings minimize;
  int nrestored; /* fixes of the file of read_restart whose state no fix of the deck has taken over yet */
  md_fix restored[MD_FIXES_MAX];
  md_thermo thermo; /* the thermo observer's settings and state (src/thermo/thermo.h) */
  md_explained *explained;
  md_observer *observers; /* dumps and other observers, in the order of the deck */
  bool large_tilt;        /* `box tilt large`: tilt factors beyond half a side are accepted */
  bool has_box;           /* create_box or read_data has run; units, dimension and boundary are now fixed */
  bool has_computed;      /* `computed` belongs to a finished or running run */
  md_computed computed;   /* values of the model's computes at the step that was measured last */
  md_last_tensor tensor;  /* components of the pressure at that step, if it has shown them */
  int64_t max_id;         /* largest id in use on all ranks */
  /* of velocities that have pair velocities (src/particles/pair_velocities.h) */
  uint64_t pair_velocities_mark;
  /* steps of the present run, or piece of one; run_begin of the model is that of ramps */
  int64_t run_first, run_last;
  double run_seconds; /* wall time since the run began, s; the thermo keyword cpu */
  /* of this rank in the last run: seconds of lists and forces; stored neighbours */
  double run_work, run_neighbours;
  double run_builds; /* lists or cells that the engine of the last run has made; the thermo keyword nbuild */
  int64_t piece;     /* steps that the engine runs in one call; adapted from the times of earlier calls */
  md_view *view;     /* of the step that is being observed, for formulas in variables; otherwise NULL */
  md_foretold foretells;
  md_script script; /* the way through the deck */
  md_history history;
  md_restarts restarts;
  md_resume *resume; /* restart from which --resume continues; NULL once it is loaded. Owned by the caller */
  md_still *frame; /* of `myriad frame` (src/backwards/frame.h); NULL: the deck is run. Owned by the caller */
  bool resuming;   /* --resume was given: log files are appended to */
  bool jumps;      /* `resume` is one that seek has chosen (src/backwards/nearest.h) ... */
  int64_t jump_to; /* ... to go from there to this step */
  /* Set while a deck is only searched (src/deck/search.h): receives the words of each command instead of the command's
   * handler. `words` is NULL for a line whose variables cannot be replaced. */
  md_status (*follow)(md_sim *, const md_words *);
  /* collects faults of the deck (src/deck/check.h); NULL: the first one ends it. Owned by the caller */
  md_check *check;
  const char *follow_line; /* the line for which `follow` is called */
  /* The first output of the deck that cannot be written, found in advance (src/commands/preview.h). The first run
   * reports it. */
  md_error_record *preview;
  bool placed_error; /* the message of the present error already names the file and the line */
  md_halted halted;
  bool broken; /* a run or a file of particles has failed, and has left particles of no whole step or file */
  md_stop *stop; /* when to stop before the end of the deck; NULL: never. Owned by the caller */
  bool has_first_energy;
  double first_energy; /* total energy in the first thermo row of the present run */
  /* Random numbers that formulas had drawn before the last thermo row that was due; and, after a restart was loaded,
   * how many they had drawn when it was written. */
  uint64_t drawn_row, drawn;
  /* In a deck that is resumed and does not have the particles of its restart yet: how many more particles there were at
   * the present place than are in memory. Those in memory are of the deck's beginning. */
  int64_t nmissing;
  bool redraws;         /* a restart of a step that was shown was loaded, and this run has not shown it yet */
  bool unshown;         /* the present step of a run is not shown yet: nothing is in files */
  char bars_resume[64]; /* what --resume cannot skip, before this place of the deck; empty: nothing */
};

/* Sets the defaults. The caller then sets comm, engine, log, planning and other options. MD_RUNTIME: out of
 * memory. */
md_status md_sim_init(md_sim *sim) MD_CHECKED;
/* Drops errors of files that cannot be completed: md_sim_end_observers, before it, returns them. */
void md_sim_free(md_sim *sim);

/* Ends and removes all dumps and output fixes. Collective. MD_RUNTIME: a file cannot be completed. */
md_status md_sim_end_observers(md_sim *sim) MD_CHECKED;

/* Removes everything that commands have made, and sets the defaults again (the command clear). Kept are the log, the
 * variables, the way through the deck, its history, the engine and its options. Collective. MD_RUNTIME: a file of a
 * dump or a fix cannot be completed. */
md_status md_sim_clear(md_sim *sim) MD_CHECKED;

/* Prints a note about a command that is accepted and ignored, once for each `name`. */
void md_sim_explain(md_sim *sim, const char *name, const char *text);

/* Puts the observer after all others. The simulation then owns it. */
void md_sim_append_observer(md_sim *sim, md_observer *observer);

/* Counts natoms and max_id over all ranks. To call after particles were created, read or removed. Collective. */
md_status md_sim_count(md_sim *sim) MD_CHECKED;

/* Are all ids exact as doubles, which values of particles are? */
static inline bool md_sim_ids_are_exact(const md_sim *sim) { return sim->max_id <= INT64_C(1) << 53; }

/* Calls md_file_use (src/files/file_uses.h) on rank 0, unless the deck is only planned or checked. Collective. */
md_status md_sim_use_file(md_sim *sim, md_file_role role, const char *id, const char *path) MD_CHECKED;

/* MD_USAGE, with a message that says what is missing, if there is no box yet. `command` names the caller in the
 * message. */
md_status md_sim_need_box(const md_sim *sim, const char *command) MD_CHECKED;

/* MD_USAGE if sim->foretells: what a formula calls `name` is not known of a step that is still to come. */
md_status md_sim_need_present(const md_sim *sim, const char *name) MD_CHECKED;

/* Returns the link that points at the fix with the ID of n letters, or the link at the end of the list. index: receives
 * the number of fixes of the model before this entry. */
md_fix_name **md_sim_find_fix(md_sim *sim, const char *id, size_t n, int *index);

/* MD_USAGE: there is no fix with this ID; the message of `command` lists those that there are. */
md_status md_sim_unknown_fix(const md_sim *sim, const char *command, const char *id);

/* If pair_style came before the box, starts the model's pair style for the types of the box (src/potential/cmd_pair.c).
 * Otherwise does nothing. src/deck/deck.c calls it after every command. MD_RUNTIME: out of memory. */
md_status md_sim_settle_pair(md_sim *sim) MD_CHECKED;

/* Value of the thermo keyword `name` in the present state (src/thermo/thermo_keywords.c), for the columns of the log
 * and for formulas. *known is false if there is no such keyword. MD_USAGE: the keyword needs a run, and there was none
 * yet. */
md_status md_sim_keyword(md_sim *sim, const char *name, double *value, bool *known) MD_CHECKED;

#endif
