/* Myriad as a library: libmyriad.so. One header, in C, for C and C++.
 *
 *   myriad *m;
 *   const char *words[] = {"-log", "none", "--threads", "4"};
 *   if (myriad_open(4, words, &m) != MYRIAD_OK) { puts(myriad_error()); return 1; }
 *   myriad_file(m, "in.melt");                     a deck
 *   myriad_command(m, "run 1000");                 a line of a deck
 *   myriad_number(m, "etotal", &energy);
 *   myriad_gather(m, "x", 3, x);                   [natoms][3], in the order of ids
 *   myriad_close(m);
 *
 * A simulation gives the same bits as the program with the same commands. Every function returns a status, and never
 * ends the process. After an error myriad_error() has the message that the program would print.
 *
 * What an error leaves: a command that is refused (MYRIAD_USAGE) leaves the simulation as the command found it, unless
 * its help says otherwise. A run that fails leaves particles that are no whole state, and so does read_data or
 * read_dump after a wrong line: from then on only the command clear and myriad_close are accepted, and others return
 * MYRIAD_USAGE. A run that was interrupted (MYRIAD_STOPPED) ends at a whole step.
 *
 * Threads: several simulations may be open, one after the other or at the same time. Calls from several threads wait
 * for one another. Ranks: under mpirun a simulation is that of all ranks, and all ranks must make the same calls in the
 * same order, with the same arguments. A rank that fails alone ends all ranks, as in the program. MPI is started if the
 * process has not started it, and stays until the process ends.
 *
 * Functions of fix external are called within a run. They may not call this library.
 *
 * An argument that is NULL, and must not be, is MYRIAD_USAGE. Arrays of particles may be NULL if there are none.
 *
 * Names are those of decks. Units are those of the deck's command units. Text arguments are copied.
 */
#ifndef MYRIAD_H
#define MYRIAD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct myriad myriad;

/* The statuses; those of the program. */
enum {
  MYRIAD_OK = 0,
  MYRIAD_RUNTIME = 1, /* files, memory, devices */
  MYRIAD_USAGE = 2,   /* an argument or a command */
  MYRIAD_PHYSICS = 3, /* NaN, a lost particle, an overlap */
  MYRIAD_STOPPED = 85 /* a run was interrupted */
};

/* The message of the last call of this thread that failed; never NULL, valid until the next call of this thread. */
const char *myriad_error(void);

/* The version of the library, such as "0.1"; static. */
const char *myriad_version(void);

/* Opens a simulation. words: the options of the program's command line (`myriad --help`), except -in, --resume and
 * --walltime, without the name of the program. Without options the log goes to the standard output and to log.myriad.
 * *m: receives the simulation, to be closed by myriad_close, or NULL after an error. */
int myriad_open(int nwords, const char *const *words, myriad **m);

/* Closes a simulation: its files are complete afterwards. m may be NULL. The first error of closing is returned, and
 * the simulation is closed all the same. */
int myriad_close(myriad *m);

/* This process ends with an error of its own. myriad_close then waits for the other ranks for some seconds only. If
 * they do not come, it ends them. */
void myriad_fail(myriad *m);

/* Executes one command, several commands, or those of a file, until the first error or the command quit. Lines are
 * joined by &, and commands such as jump and label work within a text, as in a deck. */
int myriad_command(myriad *m, const char *line);
int myriad_commands(myriad *m, const char *text);
int myriad_file(myriad *m, const char *path);

/* If `on` is not 0, SIGINT interrupts the commands of this simulation from now on: a run ends within about a second,
 * with MYRIAD_STOPPED. Signals are handled so during commands only. */
void myriad_interruptible(myriad *m, int on);

/* ---- numbers ---- */

/* The value of a thermo keyword ("temp"), a compute ("c_ID", "c_ID[2]"), a fix ("f_ID[1][2]"), a variable ("v_NAME"),
 * or a formula of these in the language of variables. Quantities of a state are those of the step that was measured
 * last, as in formulas of a deck: command "run 0" measures the present one. What no run has measured, and a compute
 * that is made of particles, such as reduce, is found of the present state. MYRIAD_USAGE: it is unknown, or not known
 * yet. */
int myriad_number(myriad *m, const char *formula, double *value);

/* The vector or the array of a compute, a fix or a variable of style vector: "c_ID", "f_ID", "v_NAME".
 * *rows, *columns: receive its size, columns = 1 for a vector. value: NULL, or room for capacity numbers, which gets
 * the rows one after the other. MYRIAD_USAGE: there is no such vector or array, or it is larger than the room. */
int myriad_array(myriad *m, const char *name, int64_t capacity, int64_t *rows, int64_t *columns,
                 double *value);

/* The text that ${NAME} stands for. *text: is valid until the next call with this simulation. */
int myriad_text(myriad *m, const char *name, const char **text);

/* Number of particles of all ranks; the present step; rank and number of ranks. */
int64_t myriad_natoms(const myriad *m);
int64_t myriad_step(const myriad *m);
int myriad_rank(const myriad *m);
int myriad_ranks(const myriad *m);

/* The box. Tilt factors are those of LAMMPS, 0 in a box with right angles. */
typedef struct myriad_box {
  int dimension;
  int periodic[3];
  double lo[3], hi[3];
  double xy, xz, yz;
} myriad_box;

/* MYRIAD_USAGE: there is no box yet. */
int myriad_get_box(myriad *m, myriad_box *box);

/* ---- particles ---- */

/* The ids of all particles in increasing order, [natoms], on every rank. */
int myriad_ids(myriad *m, int64_t *id);

/* Gathers a field of all particles, in the order of ids, on every rank: value [natoms][columns].
 *   x, v, f            3 columns; 0 along z in two dimensions
 *   type, mass         1 column
 *   a formula          1 column: what a variable of style atom may have, such as "vx", "c_ID[2]", "v_NAME", "x*vy-y*vx"
 * f and formulas are found of the present positions, for the price of a run of 0 steps; nothing is printed, and the
 * trajectory does not change. MYRIAD_USAGE: the field is unknown, or has other columns. */
int myriad_gather(myriad *m, const char *field, int columns, double *value);

/* Sets x, v, type or mass of all particles, from an array as that of myriad_gather. A position beyond periodic faces
 * is wrapped, and counted by image flags, msd and springs as the command displace_atoms counts it. MYRIAD_USAGE: a
 * position is outside of a fixed face, or a number is none; nothing is changed then. */
int myriad_scatter(myriad *m, const char *field, int columns, const double *value);

/* The particles of this rank as they lie in memory, without a copy. Read only: valid until the next call with this
 * simulation. Any order. x[2] and v[2] are NULL in two dimensions. */
typedef struct myriad_local {
  int64_t n;
  const int64_t *id;
  const uint16_t *type;
  const double *x[3], *v[3];
} myriad_local;

int myriad_get_local(myriad *m, myriad_local *local);

/* ---- forces of the program: fix external ---- */

/* Gives the forces of step `step`. n: particles of this rank; it may be 0. id: [n], in any order. x: three arrays [n],
 * positions inside the box. f: three arrays [n] to be filled, which hold 0; of particles outside of the fix's group
 * they do not count. x[2] and f[2] are NULL in two dimensions. energy, virial: 0, to be filled with the part of this
 * rank; the virial is the sum of r_a f_b, xx yy zz xy xz yz, in units of energy. The arrays are valid during the call.
 * Returns 0; anything else ends the run with MYRIAD_RUNTIME.
 * So that engines and numbers of ranks give the same bits, and a run back returns, forces must depend on the step, ids
 * and positions alone, and not on the order of particles. */
typedef int myriad_external(void *caller, int64_t step, int64_t n, const int64_t *id,
                            const double *const x[3], double *const f[3], double *energy, double virial[6]);

/* Gives a fix external of mode pf/callback its function, and the first argument of that. It is called when a run
 * begins, also one of 0 steps, and for each step of it that is a multiple of Ncall; on all ranks, and also for a look
 * at forces between runs. The function stays until the fix is defined again. MYRIAD_USAGE: there is no such fix. */
int myriad_fix_external(myriad *m, const char *fix, myriad_external *function, void *caller);

/* Sets the forces of a fix external of mode pf/array. force: [natoms][3], in the order of ids, the same on all ranks.
 * They stay until they are set again. MYRIAD_USAGE: there is no such fix, or a force is no finite number. */
int myriad_fix_external_forces(myriad *m, const char *fix, const double *force);

/* Sets energy and virial of a fix external of mode pf/array, of all ranks together. virial: as above, or NULL: 0. */
int myriad_fix_external_energy(myriad *m, const char *fix, double energy, const double *virial);

#ifdef __cplusplus
}
#endif
#endif
