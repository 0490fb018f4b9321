/* Fixes: what a deck's `fix` does to the model. C and CUDA.
 *
 * A style has up to three parts in its file:
 *   1  its name, in the list, and the points of a step at which it acts on particles (common/step/step.h);
 *   2  for the host: arguments, help, what it promises, and `join`, which puts it into the model. Integrators and walls
 *      are settings of the model, and nothing else;
 *   3  for every engine, if the style acts on particles: a function of one particle for each of its points.
 *
 * There are four points:
 *   md_NAME_post_force  after the sum of the pair forces on a particle, before each kick, with the numbers that
 *                   `prepare_force` made of the arguments. The force may depend on the particle's position, mass and
 *                   group, and on the mean force of a group (common/force/forces.h). Such a model is run by the general
 *                   passes.
 *   md_NAME_middle  between the two halves of the drift, in every step, with the numbers that `prepare` made of the
 *                   arguments. A model with such a style is run by the general passes of each engine. So are several
 *                   types of particles on a GPU, several masses, and wide momenta. Any other model is run by fused
 *                   passes.
 *   md_NAME_drift   before the drift and after the kick, in every step, with the numbers that `prepare` made. It may
 *                   change the velocity, and add to the shift of the particle, which is whole quanta of positions. It
 *                   knows the impulse of the kick. If it returns false, the particle does not drift by its velocity.
 *                   General passes, as for md_NAME_middle.
 *   md_NAME_end     after a step, with numbers that `end` makes of the values of a compute: of exact sums over all
 *                   particles. Steps are run as without the style, up to the step after which it acts
 *                   (src/fixes/fix_end.h).
 *                   A style with `half` acts before each step too, with numbers that it makes in the same way. One with
 *                   `choose` looks at all particles on the host, and acts on some of them, by their ids.
 *                   Cost: the velocities are completed; a pass over particles for the sums; a reduction over ranks; a
 *                   pass over particles for the action. Engines do these together with what they do anyway: the sums
 *                   where velocities are completed (md_model.awaited), and the action where particles move.
 */
#ifndef MD_COMMON_FIX_FIX_H
#define MD_COMMON_FIX_FIX_H

#include "common/base/error.h"
#include "common/base/words.h"
#include "common/box.h"
#include "common/compute/compute.h"
#include "common/force/shape.h"
#include "common/groups.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A particle may go as far from its anchor, in periodic sides: the nearest image of the anchor ties it. */
#define MD_TIE_MOST 0.4375

enum { MD_FIXES_MAX = 32, MD_FIX_K = 32, MD_MIDDLES_MAX = 4, MD_ACTION_K = 14 };

/* The state of a fix. A style with `half` has its own numbers first. After its action at the end of a step follow, for
 * the half before the next step, whether the values of its compute are known (1.0), and these values. */
enum {
  MD_FIX_OWN = 16,
  MD_FIX_KNOWN = MD_FIX_OWN,
  MD_FIX_VALUES,
  MD_FIX_HALF_STATE = MD_FIX_VALUES + MD_COMPUTE_TERMS,
  /* Of a style with `parts`: these of its values; and more numbers of its own. */
  MD_FIX_PARTS = 6,
  MD_FIX_MORE_AT = MD_FIX_HALF_STATE + MD_FIX_PARTS,
  MD_FIX_MORE = 32,
  MD_FIX_STATE = MD_FIX_MORE_AT + MD_FIX_MORE,
  /* The most numbers of a state of any style. */
  MD_FIX_STATE_MAX = 120
};

/* The parts of the pressure that a style gets after the values of its compute: twice the kinetic energy and the
 * virial, of all axes in the places 0 and 3, or of axis d in the places d and 3 + d. */
enum { MD_PARTS_NONE, MD_PARTS_ALL, MD_PARTS_AXES };

/* Force actions of a model; of one fix, such as one with several walls; numbers of an action; most components of the
 * vector that a fix has for output. */
enum { MD_FORCES_MAX = 32, MD_FORCES_EACH = 6, MD_FORCE_K = 28, MD_FORCE_VECTOR = 6 };

/* Where the numbers of a fix or an action have factors of types: how many, then type and factor of each. Where those of
 * a fix have the region of its particles (common/force/shape.h). */
enum { MD_SCALES = 4, MD_SCALES_MAX = 4, MD_FIX_REGION = 20 };

/* Where the numbers of an action have the mean of the forces on its group, if the style takes it. */
enum { MD_FORCE_MEAN = 6 };

/* Numbers of a fix that variables give; rows of numbers that are made in advance, of a step each. */
enum { MD_VARIED_MAX = 8, MD_FORCE_ROWS = 65 };

/* A number of a fix that is the value of a variable of style equal at each step. */
typedef struct md_varied {
  int k;        /* index among the numbers */
  double scale; /* the number is this times the value */
  bool positive;
  char name[56];
} md_varied;

/* One symbol for each style, MD_FIX_nve and so on. MD_FIX_KINDS is their number. */
typedef enum md_fix_kind {
#define MD_FIX_STYLE(symbol, name) MD_FIX_##symbol,
#include "common/fix/fix_styles.h"
#undef MD_FIX_STYLE
  MD_FIX_KINDS
} md_fix_kind;

/* The function of a fix external: what myriad_fix_external takes (src/library/myriad.h). */
typedef int md_external_function(void *caller, int64_t step, int64_t n, const int64_t *id,
                                 const double *const x[3], double *const f[3], double *energy,
                                 double virial[6]);

/* A fix, as the model and restart files hold it. */
typedef struct md_fix {
  md_fix_kind kind;
  int group;          /* number of the group of particles on which it acts (common/groups.h) */
  double k[MD_FIX_K]; /* arguments, as the style's file numbers them */
  int64_t seed;
  bool energy; /* its energy counts as potential energy of the system: fix_modify energy yes */
  /* what changes during runs, as the style's file numbers it; restarts hold it */
  double state[MD_FIX_STATE_MAX];
  bool virial; /* the virial that fix external is given counts for the pressure: fix_modify virial yes */
  /* Of fix external, pf/callback: what gives the forces, and its first argument; NULL: not given. No restart has it. */
  md_external_function *function;
  void *caller;
  char temp[64];   /* ID of its temperature: fix_modify temp; "": that of its group */
  char region[64]; /* ID of the region of which it has numbers (md_fix_find_region); "": none */
  int nvaried;     /* the numbers that variables give; their k are those of no particular step */
  md_varied varied[MD_VARIED_MAX];
} md_fix;

/* The numbers with which a fix acts on particles. The style's `prepare` makes them when the model is prepared; for
 * md_NAME_end, `end` adds those of a step. The style's file says what each of them is. */
typedef struct md_action {
  md_fix_kind kind;
  uint32_t group; /* bit of the group */
  double k[MD_ACTION_K];
  md_bias bias; /* of the fix's temperature: what a thermostat does not change */
  uint64_t seed;
  bool halves; /* of md_NAME_middle: it acts in two halves, before the others and after them (md_step_act) */
} md_action;

/* Of md_NAME_end: does it multiply velocities, without their bias (md_step_scaled), and by which numbers of the action?
 * Engines may do such an action together with the next step. */
typedef enum md_scaling {
  MD_SCALES_NOT,
  MD_SCALES_ALIKE, /* all components by k[0] */
  MD_SCALES_AXES   /* component d by k[d] */
} md_scaling;

/* The numbers with which a fix acts on the force on a particle. The style's `prepare_force` makes them when the model
 * is prepared. A fix may have several, such as one for each of its walls. */
typedef struct md_force_action {
  md_fix_kind kind;
  uint32_t group;  /* bit of the group; 0 from prepare_force: that of the fix */
  int fix;         /* index in model->fix */
  int part;        /* number of the action among those of the fix, from 0 */
  bool takes_mean; /* before it acts, k[MD_FORCE_MEAN] and the next two become the mean force on its group */
  /* Before it acts, the centres of mass of the fix's groups give numbers (common/spring/centre.h). */
  bool takes_centre;
  /* Before it acts, k0 becomes whether it acts at this step, and its function may be called
   * (common/force/external.h). */
  bool asks;
  bool in_region; /* it acts on particles in this region only (common/force/shape.h) */
  double region[SHAPE_K + SHAPE_BOX];
  double k[MD_FORCE_K];
} md_force_action;

/* The vector that a fix which acts on forces has for output: the sums over its particles. */
typedef enum md_force_vector {
  MD_VECTOR_NONE,
  MD_VECTOR_BEFORE,   /* of the force before the fix acts: three values */
  MD_VECTOR_GIVEN,    /* of the force of the fix: three values */
  MD_VECTOR_REACTION, /* of minus the force of the fix: three values */
  MD_VECTOR_WALLS,    /* the same along the normal of each wall: one value for each action */
  MD_VECTOR_SPRING    /* of the force of the first action: three values; its size, negative if it pushes */
} md_force_vector;

/* A fix that acts after steps. Derived when the model is prepared. */
typedef struct md_fix_end {
  int fix;          /* index in model->fix */
  int64_t every;    /* it acts after the steps that are multiples of this */
  md_action action; /* as `prepare` made it */
  /* the temperature of fix_modify temp; else the style's `measures`, of the fix's group */
  md_compute compute;
  int drift;         /* index in model->middle of its md_NAME_drift; -1: it has none */
  int parts;         /* MD_PARTS_NONE and so on */
  md_compute tensor; /* of MD_PARTS_AXES */
} md_fix_end;

/* The box, the lattice and the regions, to which the arguments of a fix may refer. */
typedef struct md_fix_scope {
  const md_box *box;
  const void *context; /* of `block` */
  /* Fills kind and faces of a bias of the region with this ID. MD_USAGE: there is none, or it is not a block. */
  md_status (*block)(const void *context, const char *id, md_bias *bias);
  /* Fills the numbers of a shape with the region of this ID. MD_USAGE: there is none, or its style is no shape. */
  md_status (*shape)(const void *context, const char *id, double k[SHAPE_K]);
  /* The number of the group with this name. MD_USAGE: there is none. */
  md_status (*group)(const void *context, const char *name, int *group);
  double lattice[3]; /* length of a lattice unit along each axis, sigma */
  int64_t step;      /* of the present state */
} md_fix_scope;

/* What a fix says that changes the box in minimisations. */
typedef struct md_relax {
  bool moves[3], coupled[3]; /* axes that change, and those that change alike */
  double target[3];          /* pressures */
  int64_t every;             /* iterations after which the strain counts anew; 0: never */
  double most;               /* change of a side in an iteration */
  uint32_t carried;          /* bits of the groups whose particles go with the box */
  bool pointed;              /* the box changes around `point`, and not its centre */
  double point[3];
} md_relax;

struct md_model;
struct md_step;
struct md_particles;
struct md_comm;

enum { MD_CHOSEN_MAX = 64 };

/* A style: the host's part of its file. All strings are static. */
typedef struct md_fix_style {
  const char *name;
  const char *usage; /* "langevin TSTART TSTOP DAMP SEED" */
  const char *help;  /* lines of at most 100 characters */
  const char *note;  /* is printed once where a deck uses the style; NULL: no note */
  bool needs_box;    /* the fix must come after the command that makes the box */
  bool all_only;     /* only the group `all` is accepted */
  /* What a run with this fix promises. */
  bool conserves_momentum, conserves_energy, reversible;
  bool (*reverses)(const md_fix *fix); /* of a style that is reversible: is this fix? NULL: yes */
  /* why it is not reversible: "what it does to information", the end of a sentence; or NULL */
  const char *forgets;
  /* Fills fix->k and fix->seed from the words after the style's name. MD_USAGE: the message says what is wrong with
   * the words. */
  md_status (*parse)(md_fix *fix, const md_words *words, const md_fix_scope *scope);
  /* Puts the fix into the settings of the model, which already hold the fixes before it. MD_USAGE: two fixes exclude
   * each other. */
  md_status (*join)(const md_fix *fix, struct md_model *model);
  /* Fills the numbers that stay the same in a run. Needed with md_NAME_middle, allowed with md_NAME_end, else NULL.
   * The masses and the timestep of the model are known; but a check of a deck has no particles. MD_USAGE: the model
   * does not suit the fix. */
  md_status (*prepare)(const md_fix *fix, const struct md_model *model, md_action *action);
  /* With md_NAME_middle: makes its action one of half of the time. */
  void (*halve)(md_action *action);
  bool noisy; /* with md_NAME_middle: it has random numbers; a second half gets others than the first */
  /* For a style with md_NAME_post_force, else NULL: fills the numbers k of *count actions, at most MD_FORCES_EACH.
   * *count is 1 before the call. */
  md_status (*prepare_force)(const md_fix *fix, const struct md_model *model, md_force_action *action,
                             int *count);
  /* With md_NAME_post_force: a usual size of the force on a particle of this mass. Where no pair and no bond acts,
   * these decide the quantum of momenta. NULL: nothing is known of it. */
  double (*usual_force)(const md_fix *fix, const struct md_model *model, double mass);
  bool not_minimized; /* it does not act in a minimisation, as in LAMMPS; with md_NAME_post_force */
  bool takes_temp;    /* fix_modify temp is accepted */
  bool takes_region;  /* k from MD_FIX_REGION on has the region of its particles, or SHAPE_NONE */
  /* For another style that has numbers of fix->region: fills them. The errors are those of the scope's functions. */
  md_status (*find_region)(md_fix *, const md_fix_scope *);
  bool takes_mean; /* its action needs the mean of the forces on its group (common/force/forces.h) */
  /* Makes the numbers of its actions of the centres of mass of their groups, and the masses of these
   * (common/spring/centre.h), or NULL: it needs none. */
  void (*take_centres)(const md_fix *fix, const double centre[][3], const double *mass,
                       md_force_action *action);
  /* A command between runs has moved the centre of mass of its group. Or the fix begins to follow it, and the way is
   * that from positions in the box to unwrapped ones. Or NULL. */
  void (*displaced)(md_fix *fix, const double way[3]);
  /* reset_timestep adds `steps` to the number of the step: so do the steps in the state. NULL: it has none. */
  void (*shift)(md_fix *fix, int64_t steps);
  /* The timestep before `step` was `ratio` times that after it: times in the state go on. NULL: it has none. */
  void (*retime)(md_fix *fix, int64_t step, double ratio);
  /* its action needs the place where each particle was when the fix began (src/fixes/anchors.h) */
  bool anchors;
  bool external; /* the program around the library gives its forces (common/force/external.h) */
  bool (*asks)(const md_fix *fix); /* does its action ask before it acts? NULL: no */
  md_force_vector vector;
  bool has_energy; /* md_NAME_post_force says the potential energy of a particle */
  /* Does the energy of the fix change where a position along this axis is taken at another image? NULL: along no axis.
   * The energy is refused if the axis is periodic. */
  bool (*energy_needs_image)(const md_fix *fix, int axis);
  /* For a style with md_NAME_end, else NULL and unset. The style acts after the steps whose numbers are multiples of
   * every(fix). 0, of a style that has md_NAME_middle too: it acts there instead. */
  int64_t (*every)(const md_fix *fix);
  md_scaling scaling;       /* what md_NAME_end does */
  md_compute_kind measures; /* a compute of one or several values, without arguments */
  /* Fills the other numbers of the action after step model->step, from the values of the compute. step: the one that
   * begins now, with which md_step_ramp (common/step/step.h) gives the present value of a ramp. All ranks call `end`
   * with the same values. *acts, true before the call: false if nothing is to be done. MD_PHYSICS: the state does not
   * suit the fix. */
  md_status (*end)(const md_fix *fix, const struct md_model *model, const struct md_step *step,
                   const double *value, md_action *action, bool *acts);
  /* After `end`, where the fix acts: keeps in fix->state what the action does to the values; or NULL. */
  void (*account)(md_fix *fix, const struct md_model *model, const double *value, const md_action *action);
  /* In place of `end`, for a style that acts before and after each step, `every` being 1. It may change fix->state, on
   * all ranks alike, and makes of the values what they are after its action. done: 1 before a step, 0 after it; a
   * ramp has the value of the step's end by md_step_ramp with it. */
  md_status (*half)(md_fix *fix, const struct md_model *model, const struct md_step *step, int64_t done,
                    double *value, md_action *action, bool *acts);
  /* An integrator: what it does after a step is a part of that step, before all other fixes that act after it. */
  bool integrates;
  int (*parts)(const md_fix *fix); /* the parts of the pressure that it gets; NULL: MD_PARTS_NONE */
  /* For a style that changes the box: marks the axes. */
  void (*changes)(const md_fix *fix, const struct md_model *model, bool axis[3]);
  /* Of a style that changes the box in minimisations alone, instead of `move_box`. */
  void (*relax)(const md_fix *fix, md_relax *relax);
  /* The same as `changes` for tilt factors, or NULL. */
  void (*shears)(const md_fix *fix, bool tilt[3]);
  /* The flow of the box that the fix shears, or NULL. MD_USAGE: its rate is not constant. */
  md_status (*flow)(const md_fix *fix, const struct md_model *model, md_flow *flow);
  /* For a style that changes the box, after `end` or `half`, or in place of both: changes the faces of the next step's
   * box in *move, which fixes before may have changed. before: the step is about to begin. value: of the compute, if it
   * has one. MD_USAGE, MD_PHYSICS: the box that results is none. */
  md_status (*move_box)(md_fix *fix, const struct md_model *model, bool before, const double *value,
                        md_box_move *move);
  /* At the beginning of a run. goes_on: of the rest of one, after a restart or an edit of the particles. Or NULL. */
  void (*begin)(md_fix *fix, const struct md_model *model, bool goes_on);
  /* For a style that changes tilt factors alone, or NULL: can its steps be undone? Then begin_back is for the beginning
   * of a run back from model->step to step `last`, MD_USAGE: it does not know the box there. box_at changes in *move
   * the tilt factors to those after a step, or those with which the forces of that step are found. */
  bool (*undoes)(const md_fix *fix);
  md_status (*begin_back)(md_fix *fix, const struct md_model *model, int64_t last);
  void (*box_at)(const md_fix *fix, const struct md_model *model, int64_t step, bool after,
                 md_box_move *move);
  /* In place of `end`, for a style that acts on particles that it chooses, as they are after the step: fills *n <=
   * MD_CHOSEN_MAX actions, each of which is `first` with other numbers. particles: of this rank, current. It may change
   * fix->state, on all ranks alike. Collective. MD_USAGE: the model does not suit the fix. */
  md_status (*choose)(md_fix *fix, const struct md_model *model, const struct md_particles *particles,
                      struct md_comm *comm, const md_action *first, md_action *action, int *n);
  /* Before `end` and `half`, and before the compute is measured, or NULL: keeps in fix->state sums over the particles,
   * as they are after the step, and with look_forces of the forces on them, which are dim arrays in energy/length.
   * `looks` says whether the fix needs that. Collective. */
  md_status (*look)(md_fix *fix, const struct md_model *model, const struct md_particles *particles,
                    double *const force[3], struct md_comm *comm);
  bool (*looks)(const md_fix *fix);
  bool look_forces;
  bool (*drifts)(const md_fix *fix); /* has it md_NAME_drift? NULL: if its style has */
  /* Its md_NAME_drift acts in the step after its action, or after its half before a step, alone. fix->state[0] is 1.0
   * until then, and `prepare` makes the numbers of it from fix->state. */
  bool shifts_once;
  /* After the action of `end` the energy that the particles have lost is added to fix->state[0], from the values of
   * the compute before and after it, which must be a temperature. Cost: those sums twice. */
  bool tallies;
  /* For a style with md_NAME_drift, some numbers of which variables may give: then each step is run by itself, and this
   * makes the numbers of its action. now: the fix with the values of the variables after the step. */
  void (*vary)(md_fix *fix, const md_fix *now, const struct md_model *model, md_action *action);
  int nstate; /* numbers of fix->state that restarts hold */
  /* A number of the fix for output, f_ID, or NULL. It is no sum over particles. */
  double (*scalar)(const md_fix *fix);
  bool extensive; /* that number grows with the number of particles */
  /* The energy that the fix has taken from the particles, or NULL: f_ID, ecouple. freedom: of its temperature. For a
   * style that does not act after steps it has no value. */
  double (*coupled)(const md_fix *fix, const struct md_model *model, const struct md_step *step,
                    double freedom);
  bool counts_freedom; /* that energy follows from the degrees of freedom, whose number must stay */
} md_fix_style;

/* The style of a kind below MD_FIX_KINDS; static. */
const md_fix_style *md_fix_style_of(md_fix_kind kind);

/* The kind with this name; MD_FIX_KINDS if no style has it. */
md_fix_kind md_fix_find(const char *name);

/* Makes the settings of the model anew from its list of fixes. Nothing remains of fixes that are no longer in the list.
 * MD_USAGE as for join. */
md_status md_fixes_join(struct md_model *model) MD_CHECKED;

/* The error, MD_USAGE, of a fix or a pair style (`what`) that goes together with velocity Verlet alone. */
md_status md_fix_wants_verlet(const char *what, const char *name) MD_CHECKED;

/* Finds the flow of the box, for computes and engines. MD_USAGE: its rate is beyond the speed limit. */
md_status md_fixes_find_flow(struct md_model *model) MD_CHECKED;

/* Fills model->middle, model->force_action and model->end, and their numbers. md_computes_prepare comes before.
 * MD_USAGE: as for prepare; more than MD_MIDDLES_MAX fixes act within a step; more than MD_FORCES_MAX walls and other
 * actions on forces; too many sums; an energy that needs images. */
md_status md_fixes_prepare(struct md_model *model) MD_CHECKED;

/* The numbers with which the fix acts after step model->step; before: before the next one, if its style has `half`.
 * measure: of all ranks, with the sums that end->compute wants; NULL before a step whose values are known. *acts: false
 * if the fix has nothing to do. MD_PHYSICS: as for `end`. */
md_status md_fix_end_action(struct md_model *model, const md_fix_end *end, const struct md_measure *measure,
                            bool before, md_action *action, bool *acts) MD_CHECKED;

/* Makes the numbers of actions before the drift anew, when a resumed run has filled the states of fixes. */
md_status md_fixes_take_state(struct md_model *model) MD_CHECKED;

/* Will a fix that acts after steps shift particles in the next step? The end of that step is told by the second
 * function. */
bool md_fixes_shift(const struct md_model *model);
md_status md_fixes_end_shift(struct md_model *model) MD_CHECKED;

/* The sums that the fix needs. */
md_wanted md_fix_end_wants(const struct md_model *model, const md_fix_end *end);

/* Does the fix know the values of its compute for the half before the next step? */
bool md_fix_end_knows(const struct md_model *model, const md_fix_end *end);

/* Makes the fix forget the values it knows if they are not those of the measure, which is as for md_fix_end_action,
 * but for their rounding: a command between two runs has changed the particles, or the compute. */
void md_fix_end_compare(struct md_model *model, const md_fix_end *end, const struct md_measure *measure);

/* The energy that fix f of a prepared model has taken from the particles; 0 if its style does not say that. */
double md_fix_coupled(const struct md_model *model, int f);

/* Does fix f say which energy it has taken from the particles? */
bool md_fix_is_coupled(const struct md_model *model, int f);

/* Adds the energy that an action has taken from the particles, between two measures of all ranks, to the state of the
 * fix, whose style tallies it. */
void md_fix_end_tally(struct md_model *model, const md_fix_end *end, const struct md_measure *before,
                      const struct md_measure *after);

/* Does a fix of the model need anchors, or centres of mass? */
bool md_fixes_anchor(const struct md_model *model);
bool md_fixes_take_centres(const struct md_model *model);

/* The bits of the groups whose centres of mass a fix takes, in the order of its parts. Returns their number, 0 to 2. */
int md_fix_centre_groups(const md_fix *fix, uint32_t group[2]);

/* The index of fix external in model->fix; -1: there is none. */
int md_fixes_external(const struct md_model *model);

/* Can steps with the fix be undone? */
bool md_fix_is_reversible(const md_fix *fix);

/* Does a fix shear the box, whose steps can be undone? */
bool md_fixes_undo_shear(const struct md_model *model);

/* Sets fix->region and its numbers. For use in `parse`. MD_USAGE: the ID is too long, or as below. */
md_status md_fix_take_region(md_fix *fix, const char *id, const md_fix_scope *scope) MD_CHECKED;

/* Fills the numbers that are those of fix->region, which may be another region of that ID now. MD_USAGE: there is no
 * such region, or the fix cannot have one of its style. */
md_status md_fix_find_region(md_fix *fix, const md_fix_scope *scope) MD_CHECKED;

/* The beginning of a run back to step `last`, and before the box is undone. MD_USAGE: a fix does not know the box of
 * these steps. */
md_status md_fixes_begin_back(struct md_model *model, int64_t last) MD_CHECKED;

/* Makes model->move the change from the box to that of a step: after it; or where its forces are found, which undoes a
 * change. It is pending if the boxes are different. */
void md_fixes_shear_to(struct md_model *model, int64_t step, bool after);

/* Does the fix have this group as a second one? */
bool md_fix_couples(const md_fix *fix, int group);

/* Does variable give one of the numbers of a fix? */
bool md_fixes_vary(const struct md_model *model);

/* Fills a row of model->force_action's length with the numbers of a step. Of a fix with varied numbers they are made
 * anew by prepare_force from value(context, fix, v), which gives number v its value. MD_USAGE: as for these, or a
 * number that must be positive is not. */
typedef md_status (*md_varied_value)(void *context, const md_fix *fix, int v, double *value);
md_status md_fixes_fill_row(const struct md_model *model, md_varied_value value, void *context,
                            md_force_action *row) MD_CHECKED;

/* Do variables give numbers of an action before the drift? md_fixes_vary_drifts makes those of the step that begins
 * now, model->step being its end. MD_USAGE: as for `value`. */
bool md_fixes_drift_varies(const struct md_model *model);
md_status md_fixes_vary_drifts(struct md_model *model, md_varied_value value, void *context) MD_CHECKED;

/* Is number k of the fix given by a variable? */
static inline bool md_fix_varies(const md_fix *fix, int k)
{
  for (int v = 0; v < fix->nvaried; ++v)
    if (fix->varied[v].k == k) return true;
  return false;
}

/* MD_USAGE if the energy of a fix is not known in this box, or the style has none. */
md_status md_fix_check_energy(const struct md_model *model, const md_fix *fix) MD_CHECKED;

/* The number of components of the fix's vector for output; 0: it has none. */
int md_fix_vector_size(const struct md_model *model, int fix);

/* For parse of a style that acts on forces: reads a number into *value, which is among fix->k, or v_NAME. Then the
 * number is the value of that variable at each step; *value is 1. MD_USAGE: the word is neither; too many variables.
 * what: as for md_word_double. */
md_status md_fix_read_varied(md_fix *fix, const char *word, const char *what, double *value) MD_CHECKED;
md_status md_fix_read_varied_positive(md_fix *fix, const char *word, const char *what,
                                      double *value) MD_CHECKED;

/* Multiplies number k of a fix, also where a variable gives it. */
void md_fix_scale(md_fix *fix, int k, double factor);

/* MD_USAGE if the fix has not exactly n words after its name. For use in parse. */
md_status md_fix_takes(const md_fix *fix, const md_words *words, int n) MD_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
