/* Data files: the box, masses, positions and velocities as text, in LAMMPS's format (atom_style
 * atomic; or sphere, or bond with its bonds). */
#ifndef MD_SRC_DATA_DATA_FILE_H
#define MD_SRC_DATA_DATA_FILE_H

#include "src/properties/id_values.h"
#include <stdio.h>

/* A section with values of a fix property/atom (read_data fix): its title, and where they go. */
enum { MD_DATA_FIXES = 4, MD_DATA_VALUES = 8 };
typedef struct md_data_fix {
  char section[64];
  md_id_values *values; /* of at most MD_DATA_VALUES properties */
  bool done;
} md_data_fix;

/* The keywords of read_data. All zero: none is given. */
typedef struct md_data_options {
  bool add;          /* to the box and the particles that are there; the box is extended to hold the file's */
  bool merge;        /* with add: ids of the file must not be those of particles that are there */
  int64_t id_offset; /* is added to the ids of the file */
  int64_t molecule_offset;  /* is added to its numbers of molecules */
  int64_t type_offset;      /* is added to its types */
  int64_t bond_type_offset; /* the same for types of bonds */
  int64_t extra_types;      /* further types of the box */
  double shift[3];          /* is added to positions and bounds, sigma */
  uint32_t group;           /* bits of groups that its particles join */
  bool no_coefficients;     /* its pair coefficients are not used */
  int nfix;
  md_data_fix fix[MD_DATA_FIXES];
} md_data_options;

/* Makes the box and the particles of a data file. options: NULL: none. Every rank has the file open at its beginning;
 * `name` is for messages. Each rank reads its share, and keeps particles from anywhere in the box until a run begins.
 * Collective, with the same status on every rank. MD_USAGE: the file has an error ("name:line: ..."). MD_RUNTIME:
 * unreadable, or out of memory. */
md_status md_data_read(md_sim *sim, FILE *file, const char *name, const md_data_options *options) MD_CHECKED;

/* Writes the present state to a data file: first to a temporary file, which is then renamed. So the file is
 * complete or absent. A device or a pipe is written directly. Collective. MD_RUNTIME: the file cannot be written;
 * the message says why. */
md_status md_data_write(md_sim *sim, const char *name) MD_CHECKED;

#endif
