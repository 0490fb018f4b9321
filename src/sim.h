/* The simulation a deck builds up: the model, the particles, and the program around them. */
#ifndef MD_SRC_SIM_H
#define MD_SRC_SIM_H

#include "common/engine.h"
#include "src/deck/command.h"
#include "src/deck/history.h"
#include "src/deck/variable.h"
#include "src/files/file_uses.h"
#include "src/log.h"
#include "src/output/observer.h"
#include "src/output/thermo.h"

enum { MD_BASIS_MAX = 64 };

/* A lattice: site m of cell i is at (side (i + basis[m])) scale + cell origin on each axis, sigma. */
typedef struct md_lattice {
  bool set;
  double cell[3];                /* the length that lattice units stand for, sigma */
  double side[3];                /* sides of the repeated cell, in units of scale */
  double scale;                  /* sigma */
  double origin[3];              /* in units of cell */
  int nbasis;                    /* 0 for lattice none: units only, no sites */
  double basis[MD_BASIS_MAX][3]; /* fractions of a cell */
} md_lattice;

typedef enum md_region_shape { MD_REGION_BLOCK, MD_REGION_CYLINDER, MD_REGION_SPHERE } md_region_shape;

typedef struct md_region {
  char id[64];
  md_region_shape shape;
  double lo[3], hi[3];      /* of the block that encloses it, sigma; may be infinite */
  double centre[3], radius; /* of a sphere or cylinder, sigma */
  int axis;                 /* of a cylinder */
  struct md_region *next;
} md_region;

/* A fix as the deck named it; what it does stands in the model. */
typedef struct md_fix {
  char id[64];
  char style[32];
  bool wall[3][2]; /* the faces a wall/reflect put its walls on, as in the model */
  struct md_fix *next;
} md_fix;

/* A command without meaning here that has been explained. */
typedef struct md_explained {
  char name[64];
  struct md_explained *next;
} md_explained;

/* `myriad plan`: the deck is followed up to its first run, which says what it would need instead (plan.h). */
typedef struct md_planning {
  bool on;
  int64_t particles; /* to plan for; 0: those of the deck */
  int64_t ranks;     /* to plan for; 0: one */
  bool done;         /* the plan has been printed: the rest of the deck is not read */
  bool checking;     /* commands are checked and not done, run included (check.h) */
} md_planning;

/* Restarts written while a run goes on: the command `restart`. */
typedef struct md_restarts {
  int64_t every; /* steps; 0: none */
  char *name[2]; /* in turn; one with * becomes the step, and then there is no other */
  int next;
  int64_t last_step; /* of the last one; -1: none */
  double seconds;    /* the longest that writing one took */
  char stop[256];    /* the file of a run that is stopped, without names from the deck */
  char last[1024];   /* the file written last */
} md_restarts;

typedef struct md_check md_check;
typedef struct md_resume md_resume;
typedef struct md_stop md_stop;

struct md_sim {
  md_model model;
  md_particles particles;
  md_comm *comm;
  const md_engine_kind *engine;
  md_engine_options options;
  md_planning planning;
  md_log *log;
  md_file_uses *files; /* that this run reads and writes; NULL: not noted. The caller's */
  md_variables *variables;
  md_lattice lattice;
  md_region *regions;
  md_fix *fixes;
  md_thermo thermo; /* the thermo observer's settings and state (thermo.h) */
  md_explained *explained;
  md_observer *observers; /* dumps and others, in the deck's order */
  bool has_box;           /* create_box or read_data has run; units, dimension, boundary are closed then */
  bool has_thermo;        /* last_thermo is of a finished or running run */
  md_thermo_state last_thermo;
  int64_t max_id;     /* largest id in use over all ranks */
  double run_seconds; /* wall time since the run began, for thermo's cpu */
  int64_t piece;      /* steps that the engine runs at a time, as learned from earlier ones */
  md_view *view;      /* of the step being observed, for formulas in variables; else NULL */
  md_history history;
  md_restarts restarts;
  md_resume
      *resume;   /* --resume: what the deck goes on from, until it has got there; then NULL. The caller's */
  bool resuming; /* --resume was given: logs are added to */
  /* Set while a deck is only searched (search.h): gets the words of each command, or NULL for a line whose variables
   * cannot be replaced, instead of the command's handler. */
  md_status (*follow)(md_sim *, const md_words *);
  md_check
      *check; /* faults of the deck are collected here (check.h); NULL: the first ends it. The caller's */
  const char *follow_line; /* the line that follow is called for */
  /* What the deck will ask for in vain, seen beforehand (preview.h); reported when the first run begins. */
  md_error_record *preview;
  bool placed_error; /* the present error says where in the deck it is */
  md_stop *stop;     /* when to end before the deck does; NULL: never. The caller's */
  bool has_first_energy;
  double first_energy; /* total energy of the present run's first thermo row */
};

/* Fills in defaults; comm, engine, log, planning and other options are the caller's to set. MD_RUNTIME: out of
 * memory. */
md_status md_sim_init(md_sim *sim) MD_CHECKED;
void md_sim_free(md_sim *sim);

/* Says a note about an accepted command without meaning here, once per name. */
void md_sim_explain(md_sim *sim, const char *name, const char *text);

/* After particles were created, read or removed: counts natoms and max_id over ranks. */
md_status md_sim_count(md_sim *sim) MD_CHECKED;

/* md_file_use (file_uses.h), by rank 0, and not where the deck is only planned for. Collective. */
md_status md_sim_use_file(md_sim *sim, md_file_role role, const char *id, const char *path) MD_CHECKED;

/* Errors that say what is missing, for handlers. */
md_status md_sim_need_box(const md_sim *sim, const char *command) MD_CHECKED;

/* Starts the model's pair style for the box's types if pair_style came before the box (cmd_pair.c); otherwise
 * does nothing. deck.c calls it after every command; MD_RUNTIME: out of memory. */
md_status md_sim_settle_pair(md_sim *sim) MD_CHECKED;

/* Runs n steps from the present state (run.c): prepare, create the engine, loop over observers, report. Ramps go from
 * step `start` to step `stop`; -1: from the run's first to its last. MD_STOPPED: ended before its time. */
md_status md_sim_run(md_sim *sim, int64_t n, int64_t start, int64_t stop) MD_CHECKED;

/* Thermo keyword `name` of the present state (thermo_keywords.c): for the log's columns and for formulas. *known is
 * false if there is no such keyword. MD_USAGE: needs a run that has not happened. */
md_status md_sim_keyword(md_sim *sim, const char *name, double *value, bool *known) MD_CHECKED;

#endif
