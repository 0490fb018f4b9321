/* Data files: the box, masses, positions and velocities as text, in LAMMPS's format (atom_style atomic). */
#ifndef MD_SRC_PARTICLES_DATA_FILE_H
#define MD_SRC_PARTICLES_DATA_FILE_H

#include "src/sim.h"
#include <stdio.h>

/* Makes the box and the particles of a data file. Every rank has the file open at its beginning; `name` is for
 * messages. Each rank reads its share, and keeps particles from anywhere in the box until a run begins.
 * Collective, with the same status on every rank. MD_USAGE: the file has an error ("name:line: ..."). MD_RUNTIME:
 * unreadable, or out of memory. */
md_status md_data_read(md_sim *sim, FILE *file, const char *name) MD_CHECKED;

/* Writes the present state to a data file: first to a temporary file, which is then renamed. So the file is
 * complete or absent. A device or a pipe is written directly. Collective. MD_RUNTIME: the file cannot be written;
 * the message says why. */
md_status md_data_write(md_sim *sim, const char *name) MD_CHECKED;

#endif
