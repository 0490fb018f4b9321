/* HDF5 files that all ranks write: restarts and H5MD trajectories. No other file includes hdf5.h.
 *
 * There are two ways for several ranks to write one file; md_h5->together says which one applies:
 *   - Together, if the HDF5 library works over MPI. All ranks have the file open. Changes of its structure are
 *     collective. Each rank writes its part of the arrays by itself.
 *   - By turns, with any other library. One rank makes the file. Then the ranks, one after the other, open it, write
 *     their part and close it. The caller organises the turns.
 * Reading needs neither: every rank opens the file for itself.
 *
 * The functions are in a library of their own, libmyriad-hdf5.so, which is loaded when the first of them is needed
 * (src/files/part.h): HDF5 brings dozens of libraries, and most runs use none of them.
 *
 * The format is that of HDF5 1.8. Its structures carry checksums, so that damage to them is found too. Names are
 * paths inside the file, such as "particles/x". Shapes are int64_t, the slowest dimension first.
 */
#ifndef MD_SRC_HDF5_HDF5_FILE_H
#define MD_SRC_HDF5_HDF5_FILE_H

#include "common/ranks/comm.h"
#include <stddef.h>

typedef struct md_h5_file md_h5_file;

typedef enum md_h5_type {
  MD_H5_INT64,
  MD_H5_DOUBLE,
  MD_H5_FLOAT,
  MD_H5_UINT32,
  MD_H5_UINT16,
  MD_H5_UINT8
} md_h5_type;
typedef enum md_h5_mode { MD_H5_CREATE, MD_H5_CHANGE, MD_H5_READ } md_h5_mode;

enum { MD_H5_DIMS = 3 };

/* The shape of an array. chunk[0] > 0: the array is stored in chunks of that shape, and may grow along dimension
 * 0. */
typedef struct md_h5_shape {
  int n; /* 0: a single value */
  int64_t size[MD_H5_DIMS];
  int64_t chunk[MD_H5_DIMS];
} md_h5_shape;

typedef struct md_h5_library {
  const char *sources;         /* digest of the sources of this library (src/files/part.h) */
  const char *version;         /* such as "HDF5 1.10.8", and whether it works over MPI */
  bool (*together)(md_comm *); /* whether several ranks can have one file open to write */

  /* Opens a file. comm: its ranks open the file together; NULL: only this rank. MD_RUNTIME: the message says what
   * is wrong with the file. */
  md_status (*open)(md_h5_file **, const char *path, md_h5_mode, md_comm *) MD_CHECKED;
  /* Closes the file, frees it in any case and sets it to NULL. NULL is allowed. MD_RUNTIME: a write failed, for
   * example because the disk is full. */
  md_status (*close)(md_h5_file **) MD_CHECKED;
  /* Gives all data so far to the system. */
  md_status (*flush)(md_h5_file *) MD_CHECKED;

  bool (*has)(md_h5_file *, const char *name);
  md_status (*group)(md_h5_file *, const char *name) MD_CHECKED;
  /* Makes a second name `to` for the object `from`. */
  md_status (*link)(md_h5_file *, const char *from, const char *to) MD_CHECKED;

  /* Whole small arrays. get: MD_RUNTIME if there is no array of that shape and type. get_text truncates a text to
   * `size`. */
  md_status (*put)(md_h5_file *, const char *name, md_h5_type, const md_h5_shape *, const void *) MD_CHECKED;
  md_status (*get)(md_h5_file *, const char *name, md_h5_type, const md_h5_shape *, void *) MD_CHECKED;
  md_status (*put_text)(md_h5_file *, const char *name, const char *text) MD_CHECKED;
  md_status (*get_text)(md_h5_file *, const char *name, char *text, size_t size) MD_CHECKED;

  /* Attributes of an object: n values or n texts; n = 0: a single one, without a dimension. */
  md_status (*note)(md_h5_file *, const char *object, const char *name, md_h5_type, int n,
                    const void *) MD_CHECKED;
  md_status (*note_text)(md_h5_file *, const char *object, const char *name, int n,
                         const char *const *text) MD_CHECKED;
  /* A single text of variable length. h5py reads it as a str, and one of note_text as bytes. */
  md_status (*note_word)(md_h5_file *, const char *object, const char *name, const char *text) MD_CHECKED;
  md_status (*read_note)(md_h5_file *, const char *object, const char *name, md_h5_type, void *) MD_CHECKED;

  /* Large arrays, in parts [start, start + count). The last dimension is contiguous in memory. Parts above 1 GiB
   * are transferred in pieces. */
  md_status (*array)(md_h5_file *, const char *name, md_h5_type, const md_h5_shape *) MD_CHECKED;
  md_status (*shape)(md_h5_file *, const char *name, md_h5_shape *) MD_CHECKED;
  md_status (*resize)(md_h5_file *, const char *name, int64_t first_dimension) MD_CHECKED;
  md_status (*write)(md_h5_file *, const char *name, md_h5_type, int n, const int64_t *start,
                     const int64_t *count, const void *) MD_CHECKED;
  md_status (*read)(md_h5_file *, const char *name, md_h5_type, int n, const int64_t *start,
                    const int64_t *count, void *) MD_CHECKED;
} md_h5_library;

/* The one symbol of the library. */
extern const md_h5_library md_hdf5;

/* NULL: not loaded, or not here. Set by md_h5_load. */
extern const md_h5_library *md_h5;

/* Whether there is a library to load. */
bool md_h5_is_here(void);

/* Closes a file after work that ended with `status`. Returns this status with its message, or, if it is MD_OK, the
 * status of closing. NULL is allowed, also if the library is not loaded. */
md_status md_h5_close_after(md_h5_file **file, md_status status) MD_CHECKED;

/* Loads the library, once. Must come before the first use of md_h5. MD_USAGE: there is none. MD_RUNTIME: it cannot be
 * loaded, or was built from other sources. The message says what to do. */
md_status md_h5_load(void) MD_CHECKED;

/* The same; the message also says that `what` needs it. */
md_status md_h5_need(const char *what) MD_CHECKED;

#endif
