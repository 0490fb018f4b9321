/* HDF5 files of all ranks: restarts and H5MD trajectories are written through this, and nothing else includes hdf5.h.
 *
 * Two ways for several ranks to write one file. Together, with an HDF5 library that works over MPI: all ranks have it
 * open, whatever changes its structure is collective, and each writes its part of the arrays by itself. By turns, with
 * any other library: one rank makes the file, and then one after the other opens it, writes its part and closes it.
 * The caller takes the turns; md_h5->together says which way it is. Reading needs neither: every rank opens the file
 * for itself.
 *
 * The format is that of HDF5 1.8, whose structures carry checksums, so that damage to them is found as well.
 * Names are paths inside the file, "particles/x". Shapes are int64_t, the slowest dimension first.
 */
#ifndef MD_SRC_FILES_HDF5_FILE_H
#define MD_SRC_FILES_HDF5_FILE_H

#include "common/ranks/comm.h"
#include <stddef.h>

typedef struct md_h5_file md_h5_file;

typedef enum md_h5_type { MD_H5_INT64, MD_H5_DOUBLE, MD_H5_FLOAT, MD_H5_UINT16, MD_H5_UINT8 } md_h5_type;
typedef enum md_h5_mode { MD_H5_CREATE, MD_H5_CHANGE, MD_H5_READ } md_h5_mode;

enum { MD_H5_DIMS = 3 };

/* An array's shape; chunk[0] > 0: it is stored in chunks of that shape and may grow along dimension 0. */
typedef struct md_h5_shape {
  int n; /* 0: a single value */
  int64_t size[MD_H5_DIMS];
  int64_t chunk[MD_H5_DIMS];
} md_h5_shape;

typedef struct md_h5_library {
  const char *version;         /* "HDF5 1.10.8" and whether it works over MPI */
  bool (*together)(md_comm *); /* several ranks can have one file open to write */

  /* comm: all its ranks together; NULL: this rank alone. MD_RUNTIME says what is wrong with the file. */
  md_status (*open)(md_h5_file **, const char *path, md_h5_mode, md_comm *) MD_CHECKED;
  /* Frees the file in any case and sets it to NULL; NULL is allowed. MD_RUNTIME: disk full, ... */
  md_status (*close)(md_h5_file **) MD_CHECKED;
  /* Everything so far is handed to the system. */
  md_status (*flush)(md_h5_file *) MD_CHECKED;

  bool (*has)(md_h5_file *, const char *name);
  md_status (*group)(md_h5_file *, const char *name) MD_CHECKED;
  /* A second name for an object. */
  md_status (*link)(md_h5_file *, const char *from, const char *to) MD_CHECKED;

  /* Whole small arrays. get: MD_RUNTIME if there is none of that shape. A text is cut to the size of its place. */
  md_status (*put)(md_h5_file *, const char *name, md_h5_type, const md_h5_shape *, const void *) MD_CHECKED;
  md_status (*get)(md_h5_file *, const char *name, md_h5_type, const md_h5_shape *, void *) MD_CHECKED;
  md_status (*put_text)(md_h5_file *, const char *name, const char *text) MD_CHECKED;
  md_status (*get_text)(md_h5_file *, const char *name, char *text, size_t size) MD_CHECKED;

  /* Attributes of an object: n values (n 0: a single one), or a text, or n texts. */
  md_status (*note)(md_h5_file *, const char *object, const char *name, md_h5_type, int n,
                    const void *) MD_CHECKED;
  md_status (*note_text)(md_h5_file *, const char *object, const char *name, int n,
                         const char *const *text) MD_CHECKED;
  md_status (*read_note)(md_h5_file *, const char *object, const char *name, md_h5_type, void *) MD_CHECKED;

  /* Large arrays in parts. The last dimension is contiguous in memory; parts beyond 1 GiB are cut. */
  md_status (*array)(md_h5_file *, const char *name, md_h5_type, const md_h5_shape *) MD_CHECKED;
  md_status (*shape)(md_h5_file *, const char *name, md_h5_shape *) MD_CHECKED;
  md_status (*resize)(md_h5_file *, const char *name, int64_t first_dimension) MD_CHECKED;
  md_status (*write)(md_h5_file *, const char *name, md_h5_type, int n, const int64_t *start,
                     const int64_t *count, const void *) MD_CHECKED;
  md_status (*read)(md_h5_file *, const char *name, md_h5_type, int n, const int64_t *start,
                    const int64_t *count, void *) MD_CHECKED;
} md_h5_library;

/* NULL: this build has no HDF5. */
extern const md_h5_library *const md_h5;

/* Closes a file after what was done with it ended with `status`: that, with its message, or the status of closing.
 * NULL is allowed, also without HDF5. */
md_status md_h5_close_after(md_h5_file **file, md_status status) MD_CHECKED;

/* MD_USAGE if this build has none, saying what `what` needs. */
md_status md_h5_need(const char *what) MD_CHECKED;

#endif
